"""Paper 002, Sec. 7.2: how layers of chunk size 2 compose the actions of longer and longer words; what that takes.

Layer l reads position i and position i - 2^l and composes them, so that after it position i holds the action of the
2^(l+1) letters that end there.  The paper says neither what stands at i - 2^l < 0 (``padding``) nor which matrices stay
0/1 under products (``closure``).

Letters: T time, V tokens, n states of the machine; A actions as matrices with one-hot rows (Eq. 2); l layer, from 0;
r_k the learned scalars of Eq. 1; a layer is a function (earlier, later) -> action of both.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from lrnnlab.automata import MooreMachine, one_hot_transitions
from lrnnlab.algebra.chunk_composition import compose
from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.automata.languages import language

NEVER = -np.inf


def row_transitions(machine: MooreMachine) -> np.ndarray:
    """(V, n, n) int, Eq. 2: row s of matrix v is the one-hot of the state that token v leads to from s.

    >>> row_transitions(language("Parity").machine).tolist()
    [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]
    """
    return one_hot_transitions(machine).swapaxes(1, 2).astype(np.int64)


def words(machine: MooreMachine, length: int) -> np.ndarray:
    """Every word of ``length`` tokens, (V^length, length), in dictionary order.  ValueError for more than 2^16.

    >>> words(language("Parity").machine, 2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    V = machine.num_symbols
    if length < 1 or V**length > 1 << 16:
        raise ValueError(f"{V}^{length} words: choose length >= 1 and at most {1 << 16} words")
    return np.stack(np.unravel_index(np.arange(V**length), (V,) * length), axis=-1)


def attention_bias(T: int, layer: int, r: Sequence[float]) -> np.ndarray:
    """Eq. 1, (T, T): query m sees key n with r_k if m - n = k C^layer, else -inf; C = len(r).

    >>> attention_bias(4, 1, (-np.inf, 0.0)).argmax(axis=1)[2:].tolist()    # the head that looks 2 places back
    [0, 1]
    """
    back = np.subtract.outer(np.arange(T), np.arange(T))
    step = len(r) ** layer
    found = np.full((T, T), NEVER)
    for k, scalar in enumerate(r):
        found[back == k * step] = scalar
    return found


def recursion(leaves: np.ndarray, layer: Callable = compose, pad: np.ndarray | None = None) -> np.ndarray:
    """The outputs of all layers, chunk size 2: leaves (..., T, n, n) -> (L + 1, ..., T, n, n), the leaves first.

    L = ceil(log2 T).   layer(earlier, later), both (..., T, n, n), composes two words.   pad (n, n) stands at the
    positions before the first; the identity if not given.  ValueError for leaves of another shape.

    >>> swap = row_transitions(language("Parity").machine)[[1, 1, 1]]
    >>> recursion(swap)[-1][:, 0].tolist()               # row 0 after 1, 11, 111: where state 0 is led
    [[0, 1], [1, 0], [0, 1]]
    """
    if leaves.ndim < 3 or not leaves.shape[-3] or leaves.shape[-1] != leaves.shape[-2]:
        raise ValueError(f"leaves are square matrices (..., T, n, n) with T >= 1, got {leaves.shape}")
    *batch, T, n, _ = leaves.shape
    pad = np.eye(n, dtype=leaves.dtype) if pad is None else pad
    outputs, back = [leaves], 1
    while back < T:
        later = outputs[-1]
        filler = np.broadcast_to(pad, (*batch, back, n, n))
        outputs.append(layer(np.concatenate([filler, later[..., :-back, :, :]], axis=-3), later))
        back *= 2
    return np.stack(outputs)


def states_read(actions: np.ndarray, machine: MooreMachine, column: bool = False) -> np.ndarray:
    """The state after each prefix: the place of the largest number in row q_0 (``column``: in column q_0) of an action.

    (..., n, n) -> (...) int; -1 where the whole row is 0 and nothing can be read.

    >>> parity = language("Parity").machine
    >>> states_read(recursion(row_transitions(parity)[[1, 0, 1]])[-1], parity).tolist()
    [1, 1, 0]
    """
    seen = actions[..., :, machine.initial] if column else actions[..., machine.initial, :]
    return np.where(seen.any(axis=-1), seen.argmax(axis=-1), -1)


def action_matrices(machine: MooreMachine, tokens: np.ndarray) -> np.ndarray:
    """The slow oracle: the matrix (Eq. 2) of each prefix, by following every state; (..., T) -> (..., T, n, n).

    >>> action_matrices(language("Parity").machine, np.array([1, 1]))[-1].tolist()
    [[1, 0], [0, 1]]
    """
    n = machine.num_states
    state, found = np.broadcast_to(np.arange(n), (*tokens.shape[:-1], n)), []
    for t in range(tokens.shape[-1]):
        state = machine.transitions[tokens[..., t, None], state]
        found.append(state)
    return np.eye(n, dtype=np.int64)[np.stack(found, axis=-2)]


def head_weights(T: int, layer: int, r: Sequence[float]) -> np.ndarray:
    """Softmax of Eq. 1 over the keys that a query has, whatever its content; a row of zeros for a query without any.

    >>> head_weights(3, 0, (-np.inf, 0.0)).tolist()
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    shares = np.exp(attention_bias(T, layer, r))  # learned scalars are small: no overflow to guard against
    total = shares.sum(axis=1, keepdims=True)
    return np.divide(shares, total, out=np.zeros_like(shares), where=total > 0)


def padding(
    name: str = "Tomita 3", longest: int = 8, pad: np.ndarray | None = None, layer: Callable = compose
) -> Evidence:
    """The recursion is right at every position if identities stand before the string; the paper leaves that out.

    name : a language.   longest : every string of up to so many tokens.   pad : another matrix
    than the identity, layer : another product, to see it fail.  Source: paper 002, Eq. 1 and Sec. 7.2.

    >>> padding().holds
    True
    >>> [step.holds for step in padding(pad=np.zeros((5, 5), dtype=int)).steps]
    [True, True, False, True, True]
    """
    machine, T = language(name).machine, 16
    tables, depth = row_transitions(machine), int(np.log2(T))
    itself, back = ([head_weights(T, place, r) for place in range(depth)] for r in ((0.0, NEVER), (NEVER, 0.0)))
    looks = all(np.array_equal(own, np.eye(T)) and np.array_equal(other, np.eye(T, k=-(2**place)))
                for place, (own, other) in enumerate(zip(itself, back)))  # fmt: skip
    empty = [int((~other.any(axis=1)).sum()) for other in back]
    strings = words(machine, longest)
    layers = recursion(tables[strings], layer, pad)
    right = action_matrices(machine, strings)
    wrong = int((layers[-1] != right).any((-1, -2)).sum())
    short = [length for length in range(1, longest)
             if (recursion(tables[strings[:, :length]], layer, pad)[-1] != right[:, :length]).any()]  # fmt: skip
    windows = [place for place, found in enumerate(layers) if 2**place <= longest
               and (found[:, 2**place - 1 :] != _windows(machine, strings, 2**place)).any()]  # fmt: skip
    zeros = recursion(tables[strings], compose, np.zeros_like(tables[0]))[-1]
    lost, full = int((states_read(zeros, machine) == -1).sum()), 2 ** (len(layers) - 1)
    steps = (
        Step("r_0 alone looks at position i, r_1 alone at i - 2^l, with weight 1 whatever the content", looks,
             f"T = {T}, layers 0..{depth - 1}"),
        Step("at the first 2^l positions the second head has no key at all: a softmax over nothing",
             empty == [2**place for place in range(depth)], f"{empty} positions of {T}"),
        Step("with the identity there, the last layer holds the action of every prefix", not wrong and not short,
             f"{name}, {strings.size} prefixes of all words of {longest}: {wrong} wrong; shorter words wrong: {short}"),
        Step("after layer l position i holds the action of the 2^(l+1) letters that end there", not windows,
             f"layers {list(range(len(layers)))} of leaves and outputs, wrong: {windows}"),
        Step("with zeros there only positions whose 2^L letters all exist can be read",
             lost == strings[:, : full - 1].size,
             f"{lost} of {strings.size} prefixes have an empty row"),
    )  # fmt: skip
    claim = "With identities before the string, ceil(log2 T) layers give the action of every prefix."
    return Evidence("Recursion and padding", claim, "exhaustive", steps, {"lost": lost / strings.size})


def _windows(machine, strings, size):
    """The actions of all windows of ``size`` letters, (S, T - size + 1, n, n)."""
    cut = np.lib.stride_tricks.sliding_window_view(strings, size, axis=1)
    return action_matrices(machine, cut)[..., -1, :, :]


def matrices(n: int, most: int, least: int = 0) -> np.ndarray:
    """All n x n matrices of 0 and 1 with ``least`` to ``most`` ones in each row, (S, n, n).

    >>> len(matrices(3, 1, 1)), len(matrices(3, 1)), len(matrices(2, 2))
    (27, 64, 16)
    """
    rows = [row for row in itertools.product((0, 1), repeat=n) if least <= sum(row) <= most]
    return np.array(list(itertools.product(rows, repeat=n)))


def closure(n: int = 3, most: int = 1) -> Evidence:
    """Lemma 1 can be iterated on one-hot rows, and on rows with at most a 1, but not on all 0/1 matrices.

    n : size, 2 or 3.   most : ones allowed in a row; with 2 the products leave 0/1.  Source: against paper 002,
    Sec. 7.2, which applies Lemma 1 to its own outputs.

    >>> closure().holds, [step.holds for step in closure(most=2).steps]
    (True, [True, False, True, True])
    """
    if n not in (2, 3):
        raise ValueError(f"all pairs of matrices are tried for n = 2 and 3, got n={n}")
    total, partial, every = matrices(n, 1, 1), matrices(n, most), matrices(2, 2)
    outside = int((~(compose(total[:, None], total).sum(-1) == 1).all(-1)).sum())
    products = compose(partial[:, None], partial)
    leaves = int(((products > 1).any((-1, -2)) | (products.sum(-1) > most).any(-1)).sum())
    not_bits = int((compose(every[:, None], every) > 1).any((-1, -2)).sum())
    J = np.ones((n, n), dtype=np.int64)
    once = compose(J, J)
    twice = compose(once, once)
    steps = (
        Step("one-hot rows times one-hot rows: one-hot rows, so Eq. 2 may be iterated", not outside,
             f"n = {n}, {len(total) ** 2} pairs, {outside} leave"),
        Step(f"so do rows with at most {most} one: a sink may be a row of zeros and needs no state of its own",
             not leaves, f"{len(partial) ** 2} pairs, {leaves} leave"),
        Step("of all 0/1 matrices many products are not 0/1", not_bits > 0, f"n = 2: {not_bits} of {len(every) ** 2}"),
        Step("and then the network is wrong: f(J^2, J^2) is not J^4 for the matrix J of ones",
             bool((once == J @ J).all() and (twice != once @ once).all()),
             f"n = {n}: f(J, J) = {once[0, 0]}, f(J^2, J^2) = {twice[0, 0]}, J^4 = {(once @ once)[0, 0]}"),
    )  # fmt: skip
    claim = "Lemma 1 may be iterated on matrices whose rows hold at most a single 1."
    return Evidence("Closure", claim, "exhaustive", steps)
