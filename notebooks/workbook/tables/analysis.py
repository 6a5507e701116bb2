"""What is inside a network: how products of blocks grow, how states spread, what a depth holds, how far back it looks.

    random_blocks, log10_products, growth_per_step, overflow_step    products of blocks (paper 000, Eq. 6 and 7)
    eigenvalues, head_automata                                       the blocks of one model
    within_between, centre_scores, way_to_error, crossing            states of a class, and when they are misread
    linear_probe                                                     what a linear reading finds in states
    states_by_depth, elements_by_depth, parts_by_depth               the depths of RegularGPT (paper 002, Sec. 7.3)
    on_a_plane, clusters_found, purity                               points, and whether their clusters are the elements
    receptive_field, gradient_by_token, cumulative_gradient          the gradient by every position (paper 002, Fig. 4)

Arrays in, arrays out; nothing is drawn here.

Letters: B batch, T time, V vocabulary, C classes, D model width, h blocks, b block size, p the norm, k steps;
A transition; c chunk (paper 002's C), l depth, S positions that a depth still has; n states of a machine, m elements of
its transition monoid; N points; d_in and d_out columns.  ||A||_1 is the operator norm, the largest column sum of
absolute values.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from sklearn.cluster import AgglomerativeClustering
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import pairwise_distances, silhouette_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import Tensor, nn
from torch.func import functional_call

from lrnnlab.automata import NO_LABEL, MooreMachine, transition_monoid
from lrnnlab.models import Net
from lrnnlab.models.chunk_masks import depth_count, kept_positions
from lrnnlab.models.regular_gpt import PADDING, RegularGPT
from lrnnlab.models.relu_rnn import ReluRNN

FLOAT32_MAX = float(np.finfo(np.float32).max)
FLOAT32_TINY = float(np.finfo(np.float32).smallest_subnormal)
KINDS = ("worst", "positive", "permutation", "softmax", "gaussian", "signs")


def random_blocks(kind: str, steps: int, p: float, b: int, seed: int = 0) -> np.ndarray:
    """(steps, b, b) float64 blocks that obey Eq. 6: no column has a p-norm above 1."""
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
    made: dict[str, Callable] = {"positive": np.abs, "gaussian": np.asarray, "signs": np.sign}
    raw = made[kind](raw)
    return raw / np.linalg.norm(raw, p, axis=1, keepdims=True)


def log10_products(blocks: np.ndarray) -> np.ndarray:
    """log10 ||A_k ... A_1||_1 for k = 0..K, from blocks (..., K, b, b): (..., K + 1), 0 for the empty product."""
    *many, K, b, _ = blocks.shape
    logs, product = np.zeros((*many, K + 1)), np.broadcast_to(np.eye(b), (*many, b, b))
    for k in range(K):
        product = blocks[..., k, :, :] @ product
        size = np.abs(product).sum(-2).max(-1)  # (...)
        with np.errstate(divide="ignore"):
            logs[..., k + 1] = logs[..., k] + np.log10(size)
        product = product / np.where(size > 0, size, 1)[..., None, None]
    return logs


def growth_per_step(p: float, b: int) -> float:
    """b^(1 - 1/p), the most by which one step can grow the state's 1-norm under Eq. 6."""
    _check_norm(p, b)
    return b ** (1 - 1 / p)


def overflow_step(p: float, b: int) -> int | None:
    """The first k at which b^(k (1 - 1/p)) is larger than any float32; None if it never is (p = 1, or b = 1).

    This is the exact statement.  Whoever multiplies in float32 may see it one step later or earlier, because the factor
    is rounded first: at p = 1.2, b = 8 the factor is sqrt 2 and sqrt 2 ^ 256 = 2^128 is just too large, but the
    float32 next to sqrt 2 is smaller by 2.4e-8, its 256th power still fits, and infinity comes at step 257
    (``overflow_observed``).

    >>> overflow_step(1.2, 8), overflow_step(1, 8)
    (256, None)
    """
    _check_norm(p, b)
    share = (p - 1) / p if p < math.inf else 1.0  # near p = 1 the rounded 1 - 1/p would be far off, or 0
    slope = share * math.log2(b)  # in float64: a relative error of 1e-16, the nearest tie is 6e-8 away
    return math.floor(math.log2(FLOAT32_MAX) / slope) + 1 if slope > 0 else None


def overflow_observed(p: float, b: int, limit: int = 100_000) -> int | None:
    """The step at which x <- b^(1 - 1/p) x, done in float32 from x = 1, reaches infinity; None if not by ``limit``."""
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
    """Scores (B, T, C), largest for the class of the nearest centre: 2 x.m - m.m, m the class's mean at position t."""
    states, labels = _labelled(states, labels)
    member = (labels[..., None] == np.arange(C)).swapaxes(0, 1).swapaxes(1, 2).astype(float)  # (T, C, B)
    with np.errstate(invalid="ignore"):
        means = member @ states.swapaxes(0, 1) / member.sum(2, keepdims=True)  # (T, C, D)
    return 2 * (states.swapaxes(0, 1) @ means.swapaxes(1, 2)).swapaxes(0, 1) - (means**2).sum(2)


def way_to_error(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far each string has gone from its class's mean (0) to a wrong answer (1): ``way`` (B, T), and ``lead`` (T,).
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
    laws: dict[str, Callable] = {"power": np.log, "exponential": np.asarray}
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


def linear_probe(states: np.ndarray, labels: np.ndarray) -> float:
    """How often a logistic regression of standardised ``states`` (B, T, D) says ``labels`` (B, T).

    It is fitted on the first half of the strings and scored on the others.  Where all classes have the same mean it
    finds nothing, however well they lie apart: the gradient of its loss is zero where its weights are.

    >>> corners = np.array([[[1, 1], [-1, 1], [-1, -1], [1, -1]]] * 20)
    >>> linear_probe(corners, np.array([[0, 1, 0, 1]] * 20)), linear_probe(corners, np.array([[0, 0, 1, 1]] * 20))
    (0.5, 1.0)
    """
    if states.ndim != 3 or states.shape[:2] != labels.shape or len(labels) < 2:
        raise ValueError(f"a probe takes states (B, T, D) and labels (B, T) of two strings or more, got {states.shape} and "
                         f"{labels.shape}")  # fmt: skip
    half = len(labels) // 2
    seen, fresh = ((states[part].reshape(-1, states.shape[-1]), labels[part].ravel())
                   for part in (slice(half), slice(half, None)))  # fmt: skip
    return float(make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(*seen).score(*fresh))


def _labelled(states, labels):
    states, labels = np.asarray(states, dtype=np.float64), np.asarray(labels)
    if states.ndim != 3 or labels.shape != states.shape[:2]:
        raise ValueError(f"need states (B, T, D) and labels (B, T), got {states.shape} and {labels.shape}")
    return states, labels


def head_automata(
    transitions: np.ndarray, initial: Any, symbols: Sequence[str] | None = None
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


@torch.no_grad()
def states_by_depth(net: RegularGPT, tokens: Tensor) -> list[np.ndarray]:
    """o^(l) of paper 002 for tokens (B,T): one array (B,S,D) a depth, float64."""
    return [states.double().numpy(force=True) for states in net.hidden(tokens)]


def elements_by_depth(machine: MooreMachine, tokens: Tensor, chunk: int = 2, form: str = "tree") -> list[np.ndarray]:
    """What each state of ``states_by_depth`` should hold: the numbers (B,S) of elements of the transition monoid."""
    _check_form(form)
    T, word, found = tokens.shape[1], tokens.numpy(force=True), []
    machine.run(word)  # complains of a token that is none
    monoid = transition_monoid(machine)
    actions = machine.transitions[word]  # (B,T,n): where the token leads each state
    for depth in range(depth_count(T, chunk)):
        actions = _composed(actions, chunk, chunk**depth)
        kept = kept_positions(T, chunk, depth) if form == "tree" else slice(None)
        found.append(monoid.numbers(actions[:, kept]))
    return found


def parts_by_depth(machine: MooreMachine, tokens: Tensor, chunk: int = 2, form: str = "tree") -> list[np.ndarray]:
    """What each state of ``states_by_depth`` is made of: (B,S,c) tokens at depth 0, then elements of the depth below.
    """
    _check_form(form)
    T, below, found = tokens.shape[1], tokens.numpy(force=True), []
    for depth, elements in enumerate(elements_by_depth(machine, tokens, chunk, "masks")):
        ends = np.asarray(kept_positions(T, chunk, depth)) if form == "tree" else np.arange(T)
        at = ends[:, None] - chunk**depth * np.arange(chunk)[::-1]
        found.append(np.where(at < 0, -1, below[:, at.clip(0)]))
        below = elements
    return found


def _check_form(form: str) -> None:
    if form not in PADDING:
        raise ValueError(f"form is one of {', '.join(PADDING)}, got {form!r}")


def _composed(actions: np.ndarray, chunk: int, step: int) -> np.ndarray:
    """Position i gets the action of positions i - (c-1) step, ..., i - step, i, the earliest first; (B,T,n)."""
    B, T, n = actions.shape
    found = actions
    for j in range(1, chunk):
        missing = min(j * step, T)
        before = np.broadcast_to(np.arange(n), (B, missing, n))  # identities
        earlier = np.concatenate([before, actions[:, : T - missing]], axis=1)
        found = np.take_along_axis(found, earlier, axis=-1)
    return found


def on_a_plane(points_by_depth: Sequence[np.ndarray]) -> tuple[list[np.ndarray], float]:
    """Points (N_l,D) of all depths in the coordinates of one PCA of them all, (N_l,2) each; and what share of their
    variance these coordinates hold."""
    pca = PCA(2, svd_solver="full").fit(np.concatenate(points_by_depth))
    return [pca.transform(points) for points in points_by_depth], float(pca.explained_variance_ratio_.sum())


class Clusters(NamedTuple):
    """What :func:`clusters_found` returns: ``labels`` (N,) in 0..count-1, and the silhouette ``score``."""

    labels: np.ndarray
    count: int  # type: ignore[assignment]  # a tuple has a method of this name
    score: float


def clusters_found(points: np.ndarray, most: int = 20) -> Clusters:
    """The clusters of points (N,D) by Ward's rule, as many of 2..``most`` as have the largest mean silhouette."""
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or not points.size or most < 2:
        raise ValueError(
            f"points are (N, D) numbers, N and D > 0, and most is 2 or more, got {points.shape} and {most}"
        )
    distinct, same = np.unique(points, axis=0, return_inverse=True)
    if len(distinct) < 3:  # nothing to choose
        return Clusters(same.reshape(-1), len(distinct), float(len(distinct) - 1))
    apart, best = pairwise_distances(points), Clusters(same, 0, -np.inf)
    for count in range(2, min(most, len(distinct), len(points) - 1) + 1):
        labels = AgglomerativeClustering(count, linkage="ward").fit_predict(points)
        score = float(silhouette_score(apart, labels, metric="precomputed"))
        best = max(best, Clusters(labels, count, score), key=lambda found: found.score)
    return best


def purity(labels: np.ndarray, truth: np.ndarray) -> float:
    """The share of points (N,) that have the commonest truth of their cluster.

    It is 1 also if the clusters are finer than the truth: ``purity(truth, labels)`` tells.  ValueError unless both are
    (N,) and N > 0.

    >>> purity([0, 0, 0, 1, 1], [7, 7, 8, 8, 8])
    0.8
    """
    labels, truth = np.asarray(labels), np.asarray(truth)
    if labels.shape != truth.shape or labels.ndim != 1 or not len(labels):
        raise ValueError(f"labels and truth are (N,), N > 0, got {labels.shape} and {truth.shape}")
    return float(contingency_matrix(labels, truth).max(1).sum() / len(labels))


def receptive_field(model: Callable[[Tensor], Tensor], inputs: Tensor, position: int = -1) -> np.ndarray:
    """(T,) the size of d output[position] / d input[t], averaged over the batch.

    The size is the Frobenius norm of the (d_out, d_in) matrix of derivatives; for a linear layer of one channel it is
    |K_{position-t}| (paper 004, Sec. 2.3: d y_k / d u_{k-j} = K_j).

    Parameters
    ----------
    model : callable
        inputs (B, T, d_in) -> outputs (B, T', d_out).  Strings must not see each other (no batch norm in training).
    inputs : Tensor, (B, T, d_in)
        Where the derivative is taken.
    position : int
        Which of the T' outputs.

    Returns
    -------
    array, (T,)
        The sizes.

    Raises
    ------
    ValueError
        For inputs of another shape, or a position that the outputs do not have.

    Examples
    --------
    >>> receptive_field(lambda u: u.cumsum(1) * 2, torch.zeros(3, 4, 1), position=2).tolist()
    [2.0, 2.0, 2.0, 0.0]
    """
    if inputs.ndim != 3 or not inputs.is_floating_point() or not inputs.numel():
        raise ValueError(f"inputs are real numbers (B, T, d_in), got {tuple(inputs.shape)} of {inputs.dtype}")
    leaf = inputs.detach().clone().requires_grad_()
    outputs = model(leaf)
    if not -outputs.shape[1] <= position < outputs.shape[1]:
        raise ValueError(f"the model has {outputs.shape[1]} output positions, got position={position}")
    size = inputs.new_zeros(inputs.shape[:2])
    for column in outputs[:, position].sum(0):  # of one string each, as strings do not see each other
        (slope,) = torch.autograd.grad(column, leaf, retain_graph=True)
        size += slope.square().sum(-1)
    return size.sqrt().mean(0).numpy(force=True)


def gradient_by_token(net: nn.Module, tokens: Tensor, position: int = -1) -> np.ndarray:
    """(position + 1,) the size of the derivative of the logits at ``position`` by the vector of each token."""
    T = tokens.shape[1]
    if not -T <= position < T:
        raise ValueError(f"the strings have {T} positions, got position={position}")
    nothing, run = _nudged(net, tokens[:, : position % T + 1])
    return receptive_field(run, nothing).astype(np.float64)


def cumulative_gradient(net: nn.Module, tokens: Tensor, position: int = -1) -> np.ndarray:
    """The share of the gradient from each position on, of the answer at ``position``: (position + 1,), from 1 down."""
    share = gradient_by_token(net, tokens, position)[::-1].cumsum()[::-1]
    return share / share[0] if share[0] > 0 else share


def _nudged(net: Any, tokens: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    """Zeros (B,T,d), and the logits (B,T',C) as a function of what is added to the vectors of the tokens."""
    if isinstance(net, Net) and not isinstance(net.embedding, nn.Embedding):
        raise ValueError("a gradient by token needs a net with encoder='embedding', got encoder='linear'")
    width = net.network.input_size if isinstance(net, ReluRNN) else net.embedding.weight.shape[1]
    nothing = next(net.parameters()).new_zeros(*tokens.shape, width)

    def run(nudge: Tensor) -> Tensor:
        if isinstance(net, Net):
            logits = _one_symbol_a_place(net, tokens, nudge)
        else:
            with _added(net, nudge):
                logits = net(tokens)
        return logits.unsqueeze(1) if logits.ndim == 2 else logits

    return nothing, run


def _one_symbol_a_place(net: Net, tokens: Tensor, nudge: Tensor) -> Tensor:
    """Its first layer looks vectors up by symbol; so every place of every string gets a symbol of its own."""
    own = copy.copy(net)  # shares all weights
    own.vocab_size = tokens.numel()
    places = torch.arange(tokens.numel(), device=tokens.device).view_as(tokens)
    return functional_call(own, {"encoder.weight": (net.embedding(tokens) + nudge).flatten(0, 1)}, (places,))


@contextmanager
def _added(net: Any, nudge: Tensor):
    """Within, ``nudge`` is added to what the embedding gives, or to the one-hot inputs of an RNN without one."""
    if isinstance(net, ReluRNN):
        hook = net.network.register_forward_pre_hook(lambda _, given: (given[0] + nudge, *given[1:]))
    else:
        hook = net.embedding.register_forward_hook(lambda _, given, vectors: vectors + nudge)
    try:
        yield
    finally:
        hook.remove()
