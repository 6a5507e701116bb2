"""Parity in one layer of paper 003's two extensions, and of its e-LSTM: explicit weights, run for long.

Recurrent Delta (Eq. 9), key size 1, so that phi(k) = phi(q) = 1 and y_t = W_t: the gate sigmoid(+-40) writes at a 1 and
not at a 0, and what it writes is v = 1 - tanh(y_{t-1}) / tanh(1): 0 becomes 1, 1 becomes 0.  The pair {0, 1} attracts.

SRWM (Eq. 10-12), n = 4: with keys and queries so large that softmax picks one column, Eq. 12 says "copy column j of W
into column i".  Column 1, which the token 1 = e_1 reads and overwrites, is A (y = 1, copy column 2 next) or B (y = 0, copy
column 3 next); column 2 holds B and column 3 holds A.  The token 0 = -e_1 + e_4 answers 1 - y(column 1) and writes
nothing, its learning rate being sigmoid(-b).

e-LSTM (Eq. 17-19): c -> tanh(0.6 - 4 c) at a 1, its gate open, and c at a 0: an element-wise recurrence is enough if the
new value may depend on c.  Table 1's "computationally limited" e-LSTM has 100/100 on parity.

Letters: T time, n size of a head, r = 3n + 1 rows of an SRWM's W; W fast weights, y, q, k, v, beta as in the paper, b the
large number of the construction; c an e-LSTM's state.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from lrnnlab.algebra.delta_spectrum import softmax
from lrnnlab.algebra.evidence import Evidence, Step

ONE = np.tanh(1.0)


def sigmoid(x):
    """1 / (1 + e^-x), for -700 < x < 700."""
    return 1 / (1 + np.exp(-x))


def recurrent_delta(bits: np.ndarray, gate: float = 40.0, start: float = 0.0, feedback: float = -1 / ONE) -> np.ndarray:
    """The outputs y (T,) of the one-number Recurrent Delta; gate : the size of the logit of beta.

    feedback : the weight of tanh(y_{t-1}) in v, whose constant part is 1.

    >>> recurrent_delta(np.array([1, 0, 1, 1])).round(6).tolist()
    [1.0, 1.0, 0.0, 1.0]
    """
    W, found = start, np.empty(len(bits))
    rates = sigmoid(np.array([-gate, gate])).tolist()
    for t, bit in enumerate(bits.tolist()):
        W = W + rates[bit] * (1 + feedback * float(np.tanh(W)) - W)
        found[t] = W
    return found


def multiplier(feedback: float = -1 / ONE) -> float:
    """The slope of y -> f(f(y)) on the cycle {0, 1}, f(y) = 1 + feedback tanh(y): below 1 in size it attracts.

    >>> round(multiplier(), 3)
    0.724
    """
    return float(feedback**2 * (1 - ONE**2))


def share_right(found: np.ndarray, bits: np.ndarray, level: float = 0.5) -> float:
    """The share of prefixes whose output is on the right side of ``level``."""
    return float(((found > level) == bits.cumsum() % 2).mean())


def recurrent_parity(gate: float = 40.0, feedback: float = -1 / ONE, T: int = 100_000, seed: int = 0) -> Evidence:
    """One Recurrent Delta layer of key size 1 computes parity, and errors die out.

    gate, feedback : with a gate of 3, or without the feedback, the evidence fails.   Source: paper 003, Eq. 9, Table 1.

    >>> recurrent_parity(T=2000).holds, [step.holds for step in recurrent_parity(gate=3.0, T=2000).steps]
    (True, [True, False, False, True])
    >>> [step.holds for step in recurrent_parity(feedback=0.0, T=2000).steps]
    [False, False, True, True]
    """
    bits = np.random.default_rng(seed).integers(0, 2, T)
    found = recurrent_delta(bits, gate, feedback=feedback)
    cycle = 1 + feedback * np.tanh([0.0, 1.0])
    ends = [float(recurrent_delta(np.ones(40, int), gate, start, feedback)[-1]) for start in (-0.2, 0.0, 0.2)]
    apart = max(ends) - min(ends)
    soft = {size: share_right(recurrent_delta(bits[:2000], size), bits[:2000]) for size in (6.0, 3.0)}
    steps = (
        Step("a 1 takes y = 0 to 1 and y = 1 to 0", bool(np.abs(cycle - [1, 0]).max() < 1e-15),
             f"0 -> {cycle[0]:g}, 1 -> {cycle[1]:g}"),
        Step(f"so every prefix of {T} random bits is right", share_right(found, bits) == 1,
             f"share {share_right(found, bits):.3f}, largest error {np.abs(found - bits.cumsum() % 2).max():.2g}"),
        Step("the cycle attracts: its multiplier is below 1, and a disturbance is gone after 40 ones",
             multiplier(feedback) < 1 and apart < 1e-2, f"{multiplier(feedback):.3f}; of 0.4 are left {apart:.2g}"),
        Step("the gate need not be that large: logits of 6 do, of 3 do not", soft[6.0] == 1 > soft[3.0],
             f"shares of 2000 prefixes {soft}"),
    )  # fmt: skip
    return Evidence("Parity by recurrence", "One Recurrent Delta layer computes parity.", "numerical", steps)


def srwm_weights(b: float = 120.0) -> np.ndarray:
    """W_0 (13, 4): rows y (4), q (4), k (4), beta (1); columns A, B, A, and that of the token 0.

    >>> srwm_weights()[[0, 5, 6, 8, 12]].T.tolist()    # y, q's second and third, k's first, beta
    [[1.0, 120.0, 0.0, 120.0, 120.0], [0.0, 0.0, 120.0, 120.0, 120.0], [1.0, 120.0, 0.0, 120.0, 120.0], [1.0, 0.0, 0.0, 0.0, 0.0]]
    """
    A, B, zero = np.zeros((3, 13))
    A[[0, 5, 8, 12]] = 1, b, b, b  # y = 1; q picks column 2, k column 1, beta nearly 1
    B[[6, 8, 12]] = b, b, b  # y = 0; q picks column 3
    zero[0] = 1
    return np.stack([A, B, A, zero], 1)


TOKENS = np.array([[-1.0, 0, 0, 1], [1.0, 0, 0, 0]])  # x of the tokens 0 and 1


def srwm(bits: np.ndarray, W: np.ndarray) -> np.ndarray:
    """The first number of y (T,) of an SRWM with one learning rate, Eq. 10-12, in float64.

    >>> srwm(np.array([1, 0, 1, 1]), srwm_weights()) > 0.5
    array([ True,  True, False,  True])
    """
    n, found = W.shape[1], np.empty(len(bits))
    for t, bit in enumerate(bits.tolist()):
        z = W @ TOKENS[bit]
        q, k = softmax(z[n : 3 * n].reshape(2, n))
        W = W + np.outer(sigmoid(z[-1]) * (W @ (q - k)), k)
        found[t] = z[0]
    return found


def srwm_parity(b: float = 120.0, T: int = 20_000, longest: int = 8, W: np.ndarray | None = None) -> Evidence:
    """One SRWM layer of n = 4 computes parity: its matrix copies its own columns.

    b : with a small one the evidence fails.   W : other weights.   Source: paper 003, Eq. 10-12, Table 1.

    >>> srwm_parity(T=500).holds, [step.holds for step in srwm_parity(b=2.0, T=500).steps]
    (True, [False, False, False])
    """
    W = srwm_weights(b) if W is None else W
    z = W @ TOKENS[1]
    q, k = softmax(z[4:12].reshape(2, 4))
    once = W + np.outer(sigmoid(z[-1]) * (W @ (q - k)), k)
    copied = np.column_stack([W[:, 1], W[:, 1:]])
    wrong = 0
    for word in product((0, 1), repeat=longest):
        bits = np.array(word)
        wrong += share_right(srwm(bits, W), bits) < 1
    bits = np.random.default_rng(0).integers(0, 2, T)
    off = np.abs(srwm(bits, W) - bits.cumsum() % 2).max()
    steps = (
        Step("at the token 1, Eq. 12 copies column 2 into column 1", bool(np.abs(once - copied).max() < 1e-12),
             f"largest difference {np.abs(once - copied).max():.2g}"),
        Step("the output is the parity, after every prefix", not wrong, f"all 2^{longest} strings, {wrong} wrong"),
        Step(f"and after each of {T} random bits", bool(off < 1e-12), f"largest error {off:.2g}"),
    )  # fmt: skip
    return Evidence("Parity by self-reference", "One SRWM layer computes parity.", "numerical", steps)


def e_lstm(bits: np.ndarray, gate: float = 40.0, weight: float = -4.0, bias: float = 0.6) -> np.ndarray:
    """The states c (T,) of a one-number e-LSTM, Eq. 17-19: f = sigmoid(+-gate), z = tanh(bias + weight c), c_0 = 0.

    >>> (e_lstm(np.array([1, 0, 1, 1])) > 0).tolist()
    [True, True, False, True]
    """
    c, found = 0.0, np.empty(len(bits))
    forget = sigmoid(np.array([gate, -gate])).tolist()
    for t, bit in enumerate(bits.tolist()):
        c = forget[bit] * c + (1 - forget[bit]) * float(np.tanh(bias + weight * c))
        found[t] = c
    return found


def e_lstm_parity(weight: float = -4.0, T: int = 20_000, seed: int = 0) -> Evidence:
    """An element-wise recurrence computes parity if what it writes depends on c; with weight 0 (a QRNN) it does not.

    Source: paper 003, App. C.3, against "computationally limited".

    >>> e_lstm_parity(T=1000).holds, [step.holds for step in e_lstm_parity(weight=0.0, T=1000).steps]
    (True, [False, False])
    """
    bits = np.random.default_rng(seed).integers(0, 2, T)
    found = e_lstm(bits, weight=weight)
    cycle = e_lstm(np.ones(101, int), weight=weight)[-3:]
    steps = (
        Step("1s make c alternate between a positive and a negative number", bool(cycle[0] * cycle[1] < 0),
             f"c = {cycle.round(4).tolist()} at last"),
        Step("so the sign of c is the parity", share_right(found, bits, 0.0) == 1,
             f"share right {share_right(found, bits, 0.0):.3f} of {T} prefixes"),
    )  # fmt: skip
    return Evidence("Parity, element by element", "One e-LSTM unit computes parity.", "numerical", steps)
