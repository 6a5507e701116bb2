"""Numbers behind the pictures: how products of blocks grow, where eigenvalues lie, how far states spread.

Arrays in, arrays out; nothing is drawn here.  Source of the claims: paper 000 (Fan, Chi, Rudnicky 2024), Eq. 6-7.

Letters: B batch, T time, V vocabulary, C classes, D model width, h blocks, b block size, p the norm, k steps; A transition.
||A||_1 is the operator norm, the largest column sum of absolute values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lrnnlab.automata import NO_LABEL, MooreMachine

FLOAT32_MAX = float(np.finfo(np.float32).max)
FLOAT32_TINY = float(np.finfo(np.float32).smallest_subnormal)
KINDS = ("worst", "positive", "permutation", "softmax", "gaussian", "signs")


def random_blocks(kind: str, steps: int, p: float, b: int, seed: int = 0) -> np.ndarray:
    """(steps, b, b) float64 blocks that obey Eq. 6: no column has a p-norm above 1.

    ``worst`` is b^(-1/p) 11^T, the block whose powers grow fastest; ``positive``, ``gaussian`` and ``signs`` are
    independent entries (|N|, N(0,1), +-1) with every column divided by its p-norm; ``permutation`` moves basis
    vectors; ``softmax`` has columns softmax(N(0,1)), of 1-norm exactly 1.  ValueError for another kind, b < 1, p < 1.

    >>> random_blocks("worst", 1, p=1, b=2)[0].tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    _check_norm(p, b)
    if kind not in KINDS:
        raise ValueError(f"no kind of block {kind!r}; there are {', '.join(KINDS)}")
    if kind == "worst":
        return np.full((steps, b, b), b ** (-1 / p))
    draw = np.random.default_rng(seed)
    if kind == "permutation":
        return np.eye(b)[draw.permuted(np.tile(np.arange(b), (steps, 1)), axis=1)]
    raw = draw.standard_normal((steps, b, b))
    if kind == "softmax":
        powers = np.exp(raw - raw.max(1, keepdims=True))
        return powers / powers.sum(1, keepdims=True)
    raw = {"positive": np.abs, "gaussian": np.asarray, "signs": np.sign}[kind](raw)
    return raw / np.linalg.norm(raw, p, axis=1, keepdims=True)


def log10_products(blocks: np.ndarray) -> np.ndarray:
    """log10 ||A_k ... A_1||_1 for k = 0..K, from blocks (..., K, b, b): (..., K + 1), 0 for the empty product.

    Each product is divided by its norm before the next step and the logarithms are added, so nothing overflows or
    vanishes on the way.  A product that is zero has norm -inf from there on.

    >>> log10_products(np.array([[[2.0]], [[5.0]]])).round(3).tolist()
    [0.0, 0.301, 1.0]
    """
    *many, K, b, _ = blocks.shape
    logs, product = np.zeros((*many, K + 1)), np.broadcast_to(np.eye(b), (*many, b, b))
    for k in range(K):
        product = blocks[..., k, :, :] @ product
        size = np.abs(product).sum(-2).max(-1)  # (...)
        with np.errstate(divide="ignore"):
            logs[..., k + 1] = logs[..., k] + np.log10(size)
        product = product / np.where(size > 0, size, 1)[..., None, None]
    return logs


def product_growth(kind: str, steps: int, p: float, b: int, seed: int = 0) -> np.ndarray:
    """(steps + 1,) log10 of ||A_k ... A_1||_1 for k = 0..steps random blocks of one kind (``random_blocks``).

    For ``worst`` it is k (1 - 1/p) log10 b, and no product of blocks that obey Eq. 6 has a larger norm: a column's
    1-norm is at most b^(1 - 1/p) times its p-norm.

    >>> bool(abs(10 ** product_growth("worst", 2, p=2, b=4)[2] - 4) < 1e-9)
    True
    """
    return log10_products(random_blocks(kind, steps, p, b, seed))


def growth_per_step(p: float, b: int) -> float:
    """b^(1 - 1/p), the most by which one step can grow the state's 1-norm under Eq. 6.

    >>> round(growth_per_step(1.2, 8), 4)
    1.4142
    """
    _check_norm(p, b)
    return b ** (1 - 1 / p)


def overflow_step(p: float, b: int) -> int | None:
    """The first k at which b^(k (1 - 1/p)) is larger than any float32; None if it never is (p = 1, or b = 1).

    This is the exact statement.  Whoever multiplies in float32 may see it one step later or earlier, because the factor
    is rounded first: at p = 1.2, b = 8 the factor is sqrt 2 and sqrt 2 ^ 256 = 2^128 is just too large, but the
    float32 next to sqrt 2 is smaller by 1.7e-8, its 256th power still fits, and infinity comes at step 257
    (``overflow_observed``).

    >>> overflow_step(1.2, 8), overflow_step(1, 8)
    (256, None)
    """
    slope = math.log2(growth_per_step(p, b))  # in float64: a relative error of 1e-16, the nearest tie is 6e-8 away
    return math.floor(math.log2(FLOAT32_MAX) / slope) + 1 if slope > 0 else None


def overflow_observed(p: float, b: int, limit: int = 100_000) -> int | None:
    """The step at which x <- b^(1 - 1/p) x, done in float32 from x = 1, reaches infinity; None if not by ``limit``.

    The state (1, ..., 1) is an eigenvector of the worst block, so this is what its entries do.

    >>> overflow_observed(1.2, 8)
    257
    """
    factor, x = np.float32(growth_per_step(p, b)), np.float32(1)
    with np.errstate(over="ignore"):
        for k in range(1, limit + 1):
            x = x * factor
            if np.isinf(x):
                return k
    return None


def eigenvalues(A: np.ndarray) -> np.ndarray:
    """The eigenvalues of blocks A (..., b, b) as complex128 (..., b), largest modulus first.

    >>> eigenvalues(np.array([[0.0, 1.0], [0.5, 0.0]])).round(3).tolist()
    [(0.707+0j), (-0.707+0j)]
    """
    found = np.linalg.eigvals(np.asarray(A, dtype=np.float64)).astype(np.complex128)
    order = np.lexsort((-found.imag, -found.real, -np.abs(found).round(12)), axis=-1)
    return np.take_along_axis(found, order, axis=-1)


def within_between(
    states: np.ndarray, labels: np.ndarray, quantile: float | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """How tightly the states of one class sit together, and how far apart the classes are, position by position.

    states (B, T, D), labels (B, T) with -1 for "no label".  Returns ``within`` (T,), the mean distance of a state to
    the centre of its class at that position (or that quantile of the distances), and ``between`` (T,), the least
    distance of two class centres; distances are Euclidean, in the units of the states.  NaN where a position has no
    labelled state, or only one class.

    >>> within, between = within_between(np.array([[[0.0]], [[2.0]], [[9.0]]]), np.array([[0], [0], [1]]))
    >>> within.round(3).tolist(), between.tolist()
    ([0.667], [8.0])
    """
    states, labels = _labelled(states, labels)
    within, between = np.full(states.shape[1], np.nan), np.full(states.shape[1], np.nan)
    for t in range(states.shape[1]):
        groups = [states[labels[:, t] == c, t] for c in np.unique(labels[:, t]) if c != NO_LABEL]
        centres = np.array([group.mean(0) for group in groups])
        if groups:
            away = np.concatenate([np.linalg.norm(g - c, axis=1) for g, c in zip(groups, centres)])
            within[t] = away.mean() if quantile is None else np.quantile(away, quantile)
        if len(groups) > 1:
            gaps = np.linalg.norm(centres[:, None] - centres[None], axis=-1)
            between[t] = gaps[np.triu_indices(len(groups), 1)].min()
    return within, between


def centre_scores(states: np.ndarray, labels: np.ndarray, C: int) -> np.ndarray:
    """Scores (B, T, C) whose largest names the nearest centre of a class: 2 x.m - m.m, m the class's mean at position t.

    states (B, T, D), labels (B, T) in 0..C-1, or -1.  NaN in the column of a class that no string has at that position.

    >>> centre_scores(np.array([[[0.0]], [[2.0]], [[9.0]]]), np.array([[0], [0], [1]]), 2)[:, 0].argmax(1).tolist()
    [0, 0, 1]
    """
    states, labels = _labelled(states, labels)
    member = (labels[..., None] == np.arange(C)).swapaxes(0, 1).swapaxes(1, 2).astype(float)  # (T, C, B)
    with np.errstate(invalid="ignore"):
        means = member @ states.swapaxes(0, 1) / member.sum(2, keepdims=True)  # (T, C, D)
    return 2 * (states.swapaxes(0, 1) @ means.swapaxes(1, 2)).swapaxes(0, 1) - (means**2).sum(2)


def way_to_error(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far each string has gone from its class's mean (0) to a wrong answer (1): ``way`` (B, T), and ``lead`` (T,).

    scores (B, T, C), the largest of which is the answer; labels (B, T), -1 for "no label", whose way is NaN.  A string
    leads class c by s_own - s_c.  Its way is 1 - lead / (mean lead of its class at that position), the largest over c:
    above 1 exactly where another class has the larger score.  A mean lead that is not positive makes it infinite.
    ``lead`` is the least mean lead of a class over another.  For ``centre_scores`` the way is the distance from the
    centre, taken along the line to another centre, over half their gap, and the lead is the least gap squared.

    >>> way, lead = way_to_error(np.array([[[0.0, 1.0]], [[0.0, 3.0]], [[5.0, 0.0]]]), np.array([[1], [1], [0]]))
    >>> way.ravel().tolist(), lead.tolist()
    ([0.5, -0.5, 0.0], [2.0])
    """
    scores, labels = _labelled(scores, labels)
    way, lead = np.full(labels.shape, np.nan), np.full(labels.shape[1], np.inf)
    for t in range(labels.shape[1]):
        for k in set(labels[:, t].tolist()) - {NO_LABEL}:
            mine = labels[:, t] == k
            leads = scores[mine, t, k, None] - np.delete(scores[mine, t], k, axis=1)  # (strings, C - 1)
            leads = leads[:, ~np.isnan(leads[0])]
            mean = leads.mean(0)
            with np.errstate(divide="ignore", invalid="ignore"):
                way[mine, t] = np.where(mean > 0, 1 - leads / mean, np.inf).max(1, initial=-np.inf)
            lead[t] = mean.min(initial=lead[t])
    return way, lead


def crossing(curve: np.ndarray, first: int, last: int, level: float, law: str = "better") -> tuple[str, float]:
    """The law fitted to positions ``first``..``last`` of a curve (T,), and where it reaches ``level`` (inf: never).

    Laws, by least squares of log y: ``power`` y = a t^c, ``exponential`` y = a e^(ct); ``better`` has the smaller
    residual.  One that does not rise never gets there.  ValueError unless there are three positions, all positive.

    >>> law, at = crossing(0.01 * np.arange(1, 41) ** 0.5, 10, 40, level=1.0)
    >>> law, round(at)
    ('power', 10000)
    """
    laws = {"power": np.log, "exponential": np.asarray}
    if law not in (*laws, "better"):
        raise ValueError(f"no law {law!r}; there are {', '.join(laws)}, better")
    t, y = np.arange(first, last + 1), np.asarray(curve, dtype=float)[max(first, 1) - 1 : last]
    if len(y) < 3 or len(y) != len(t) or not ((y > 0) & np.isfinite(y)).all():
        raise ValueError(f"positions {first}..{last} of {len(curve)} are not three or more positive numbers: {y}")
    found = []
    for name in laws if law == "better" else [law]:
        (slope, start), left, *_ = np.polyfit(laws[name](t), np.log(y), 1, full=True)
        x = (math.log(level) - start) / slope if slope > 1e-12 else math.inf
        x = math.inf if x > 700 and name == "power" else math.exp(x) if name == "power" else x
        found.append((float(left[0]), name, x))
    return min(found)[1:]


def _labelled(states, labels):
    states, labels = np.asarray(states, dtype=np.float64), np.asarray(labels)
    if states.ndim != 3 or labels.shape != states.shape[:2]:
        raise ValueError(f"need states (B, T, D) and labels (B, T), got {states.shape} and {labels.shape}")
    return states, labels


def head_automata(
    transitions: np.ndarray, initial: Sequence[int], symbols: Sequence[str] | None = None
) -> list[MooreMachine]:
    """Each block of a snapped model as an automaton without answers, cut down to the states it can reach.

    transitions (V, h, b, b): one-hot columns, [v, i, to, from]; initial (h,): each block's first state; symbols: V
    names of the tokens, default "0", "1", ...  State names are the numbers of the basis vectors.  ValueError unless
    every column is one-hot.

    >>> swap = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]])
    >>> [machine.names for machine in head_automata(swap[None, None], [0])]
    [('0', '1')]
    """
    transitions, initial = np.asarray(transitions), np.asarray(initial)
    if transitions.ndim != 4 or transitions.shape[2] != transitions.shape[3]:
        raise ValueError(f"transitions must be (V, h, b, b), got {transitions.shape}")
    V, h, b, _ = transitions.shape
    if initial.shape != (h,) or initial.dtype.kind not in "iu":
        raise ValueError(f"initial must be {h} whole numbers, one per block, got {initial.tolist()}")
    wrong = np.argwhere(((transitions != 0) & (transitions != 1)).any(2) | (transitions.sum(2) != 1))
    if len(wrong):
        v, head, column = wrong[0]
        raise ValueError(f"column {column} of block {head} for token {v} is not one-hot: "
                         f"{transitions[v, head, :, column].tolist()}; snap the model first")
    symbols = tuple(map(str, range(V))) if symbols is None else tuple(symbols)
    return [_reachable(MooreMachine(moves, np.full(b, NO_LABEL), int(start), symbols))
            for moves, start in zip(transitions.argmax(2).swapaxes(0, 1), initial)]  # moves (V, b)


def _reachable(machine):
    """The machine on its reachable states alone; these keep their names and their order."""
    keep = np.sort(machine.reachable())
    number = {int(state): i for i, state in enumerate(keep)}
    moves = np.vectorize(number.__getitem__)(machine.transitions[:, keep])
    return MooreMachine(moves, machine.outputs[keep], number[machine.initial], machine.symbols,
                        tuple(machine.names[state] for state in keep))


def _check_norm(p, b):
    if not p >= 1:
        raise ValueError(f"the column norm needs p >= 1, got p={p}")
    if b < 1:
        raise ValueError(f"a block needs at least size 1, got b={b}")
