"""What is inside a network that reads strings: its states depth by depth, their clusters, and how far back it looks.

    states_by_depth(net, tokens)                  what comes out of every depth of RegularGPT (paper 002, o^(l))
    elements_by_depth(machine, tokens, chunk)     the element of the transition monoid that each of them should hold
    parts_by_depth(machine, tokens, chunk)        the elements that each of them is made of, one depth below
    on_a_plane(points_by_depth)                   all of them on one plane, by PCA (Fig. 3)
    clusters_found(points)                        how many clusters points form, by scikit-learn
    purity(labels, truth)                         whether the clusters are the elements
    cumulative_gradient(net, tokens, position)    the share of the gradient from each position on (Fig. 4)

Source: paper 002 (Chi, Fan, Rudnicky, Ramadge 2023), Sec. 7.3 and 7.4.

Letters: B batch, T time, D width, c chunk (the paper's C), l depth, S positions that a depth still has; n states of a
machine, m elements of its transition monoid; N points.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import torch
from sklearn.cluster import AgglomerativeClustering
from sklearn.decomposition import PCA
from sklearn.metrics import pairwise_distances, silhouette_score
from sklearn.metrics.cluster import contingency_matrix
from torch import Tensor, nn
from torch.func import functional_call

from lrnnlab.analysis_kernels import receptive_field
from lrnnlab.automata import MooreMachine, transition_monoid
from lrnnlab.models.net import Net
from lrnnlab.models.chunk_masks import depth_count, kept_positions
from lrnnlab.models.regular_gpt import PADDING, RegularGPT
from lrnnlab.models.relu_rnn import ReluRNN


@torch.no_grad()
def states_by_depth(net: RegularGPT, tokens: Tensor) -> list[np.ndarray]:
    """o^(l) of paper 002 for tokens (B,T): one array (B,S,D) a depth, float64.

    In the form of a tree depth l has the S = ceil(T / c^(l+1)) positions ``chunk_masks.kept_positions``, with masks
    all T.

    >>> net = RegularGPT(2, 2, width=8, heads=2)
    >>> [states.shape for states in states_by_depth(net, torch.zeros(3, 11, dtype=torch.int64))]
    [(3, 6, 8), (3, 3, 8), (3, 2, 8), (3, 1, 8)]
    """
    return [states.double().numpy(force=True) for states in net.hidden(tokens)]


def elements_by_depth(machine: MooreMachine, tokens: Tensor, chunk: int = 2, form: str = "tree") -> list[np.ndarray]:
    """What each state of ``states_by_depth`` should hold: the numbers (B,S) of elements of the transition monoid.

    At depth l position i stands for the action of the last c^(l+1) tokens up to i; of fewer at the start of the string,
    as if it were filled up with identities.  Elements are numbered as in ``automata.transition_monoid``, so 0 is the
    identity.  ValueError for a form that is neither ``"tree"`` nor ``"masks"``, a chunk below 2 or an unknown token.

    >>> from lrnnlab.automata.languages import language
    >>> parity = language("Parity").machine
    >>> [found.tolist() for found in elements_by_depth(parity, torch.tensor([[1, 1, 0, 1, 0, 0, 1]]))]
    [[[1, 1, 1, 1]], [[0, 0]], [[0]]]
    """
    _check_form(form)
    T, word, found = tokens.shape[1], tokens.numpy(force=True), []
    machine.run(word)  # complains of a token that is none
    elements = transition_monoid(machine).elements
    actions = machine.transitions[word]  # (B,T,n): where the token leads each state
    for depth in range(depth_count(T, chunk)):
        actions = _composed(actions, chunk, chunk**depth)
        kept = kept_positions(T, chunk, depth) if form == "tree" else slice(None)
        found.append(_numbers(actions[:, kept], elements))
    return found


def parts_by_depth(machine: MooreMachine, tokens: Tensor, chunk: int = 2, form: str = "tree") -> list[np.ndarray]:
    """What each state of ``states_by_depth`` is made of: (B,S,c) tokens at depth 0, then elements of the depth below.

    The earliest comes first; -1 stands for what would lie before the string.  Arguments, numbers and errors are those of
    ``elements_by_depth``.

    >>> from lrnnlab.automata.languages import language
    >>> parity = language("Parity").machine
    >>> [found.tolist() for found in parts_by_depth(parity, torch.tensor([[1, 1, 0, 1, 0]]))]
    [[[[-1, 1], [1, 0], [1, 0]]], [[[-1, 1], [1, 1]]], [[[1, 0]]]]
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


def _numbers(actions: np.ndarray, elements: np.ndarray) -> np.ndarray:
    """Actions (B,S,n) -> their places among elements (m,n), (B,S)."""
    place = {element.tobytes(): number for number, element in enumerate(elements)}
    distinct, which = np.unique(actions.reshape(-1, actions.shape[-1]), axis=0, return_inverse=True)
    return np.array([place[row.tobytes()] for row in distinct])[which.reshape(actions.shape[:-1])]


def on_a_plane(points_by_depth: Sequence[np.ndarray], dimensions: int = 2) -> tuple[list[np.ndarray], float]:
    """Points (N_l,D) of all depths in the coordinates of one PCA of them all, (N_l,2) each; and what share of their
    variance these coordinates hold.

    >>> points = [np.array([[0.0, 0, 0], [0, 3, 4]]), np.array([[0.0, 6, 8]])]
    >>> placed, share = on_a_plane(points)
    >>> [np.abs(p[:, 0]).round(6).tolist() for p in placed], round(share, 6)
    ([[5.0, 0.0], [5.0]], 1.0)
    """
    pca = PCA(dimensions, svd_solver="full").fit(np.concatenate(points_by_depth))
    return [pca.transform(points) for points in points_by_depth], float(pca.explained_variance_ratio_.sum())


class Clusters(NamedTuple):
    """What :func:`clusters_found` returns: ``labels`` (N,) in 0..count-1, and the silhouette ``score``."""

    labels: np.ndarray
    count: int
    score: float


def clusters_found(points: np.ndarray, most: int = 20) -> Clusters:
    """The clusters of points (N,D) by Ward's rule, as many of 2..``most`` as have the largest mean silhouette.

    A point's silhouette is (b - a) / max(a, b), a its mean distance to its own cluster, b to the next: 1 for clusters
    that are points, about 0 for none.  So nobody says how many there are, nor how far apart, but one cluster is never
    found unless all points are the same; a low ``score`` tells that there are none.  Points of single words, again and
    again the same, are clusters of their own: put all depths together, as paper 002 does.  Clusters and silhouettes are
    scikit-learn's.  ValueError unless points are (N,D) and N > 0, or for ``most`` below 2.

    >>> found = clusters_found(np.array([[0.0], [0.1], [5.0], [5.2], [9.0], [9.1]]))
    >>> found.count, len(set(found.labels[:2].tolist()))
    (3, 1)
    """
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


def cumulative_gradient(net: nn.Module, tokens: Tensor, position: int = -1) -> np.ndarray:
    """The share of the gradient from each position on, of the answer at ``position``: (position + 1,), from 1 down.

    The string is taken to end at ``position``.  Entry t is the sum over positions t ... position of the size of the
    derivative of all logits by the vector of that token, divided by the sum over all; sizes are means over the batch.
    So a straight line says that every token counts alike.  A network that looks at nothing has 0 everywhere.  Source:
    paper 002, Sec. 7.4 and Fig. 4, where zeros are added to the embeddings, by which the derivative is taken, too.

    Parameters
    ----------
    net : Module
        RegularGPT, RelativeTransformer, ReluRNN, or any ``Net``, such as the block-diagonal LRNN.
    tokens : Tensor, (B,T)
        The strings.
    position : int
        Of the answer.

    Returns
    -------
    array, (position + 1,)
        The shares.

    Raises
    ------
    ValueError
        For a position outside the string.

    Examples
    --------
    >>> from lrnnlab.models import build
    >>> net = build("block_diagonal", vocab_size=2, classes=2)
    >>> found = cumulative_gradient(net, torch.zeros(1, 6, dtype=torch.int64), position=3)
    >>> found.shape, float(found[0])
    ((4,), 1.0)
    """
    T = tokens.shape[1]
    if not -T <= position < T:
        raise ValueError(f"the strings have {T} positions, got position={position}")
    nothing, run = _nudged(net, tokens[:, : position % T + 1])
    field = receptive_field(run, nothing).astype(np.float64)
    share = field[::-1].cumsum()[::-1]
    return share / share[0] if share[0] > 0 else share


def _nudged(net: nn.Module, tokens: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    """Zeros (B,T,d), and the logits (B,T',C) as a function of what is added to the vectors of the tokens."""
    width = net.network.input_size if isinstance(net, ReluRNN) else net.embedding.weight.shape[1]
    nothing = next(net.parameters()).new_zeros(*tokens.shape, width)

    def run(nudge: Tensor) -> Tensor:
        if isinstance(net, Net):
            return _one_symbol_a_place(net, tokens, nudge)
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
def _added(net: nn.Module, nudge: Tensor):
    """Within, ``nudge`` is added to what the embedding gives, or to the one-hot inputs of an RNN without one."""
    if isinstance(net, ReluRNN):
        hook = net.network.register_forward_pre_hook(lambda _, given: (given[0] + nudge, *given[1:]))
    else:
        hook = net.embedding.register_forward_hook(lambda _, given, vectors: vectors + nudge)
    try:
        yield
    finally:
        hook.remove()
