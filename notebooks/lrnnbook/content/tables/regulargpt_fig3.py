"""Figure 3 of paper 002 (Chi, Fan, Rudnicky, Ramadge 2023, Sec. 7.3): do RegularGPT's states form clusters?

Letters: B batch, T time, D width, c chunk (the paper's C), l depth, N states that are looked at.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from lrnnbook.content.tables.regulargpt_table1 import make_network, training_of
from lrnnbook.content.tables.table import by_setting, load, options
from lrnnbook.content.tables.word_actions import cluster_count
from lrnnlab.automata import MooreMachine, transition_monoid
from lrnnlab.automata.languages import language
from lrnnlab.models.layers.attention import RegularGPT, depth_count, kept_positions
from lrnnlab.tasks import Task
from lrnnlab.tasks.regular import STRING_TASKS
from lrnnlab.training import rng
from lrnnlab.training.curriculum import train_strings
from lrnnlab.training.evaluation import accuracy_at_lengths


def build_task(name: str) -> Task:
    """The task of that name."""
    return Task(language("S_3"), "last") if name == "s_3" else STRING_TASKS[name]()


def measure(setting: dict, seed: int, **how: Any) -> dict:
    """Train, and look at the states: ``metrics``, ``depths``, ``points`` and ``training``."""
    task = build_task(setting["task"])
    net: Any = make_network("regulargpt_c2", task, seed=seed, **setting["options"])
    training, cpu = {}, 0.0
    if setting["training"]:
        made = train_strings(net, task, generator=rng(seed, "fig3/train"), **how,
                             **options(setting["training"]))  # fmt: skip
        training, cpu = {**training_of(made), **made.summary()}, made.cpu_seconds
    strings = task.sample(setting["strings"], setting["length"], rng(seed, "fig3/look"))
    accuracy = accuracy_at_lengths(net, task, [setting["length"]], strings=256, generator=rng(seed, "fig3/test"))
    found = look(net.eval(), task, strings.tokens, setting["shown"])
    found["metrics"]["accuracy"] = accuracy[setting["length"]]
    return {**found, "training": training, "cpu_seconds": round(cpu, 2)}


def look(net: RegularGPT, task: Task, tokens: torch.Tensor, shown: int) -> dict:
    """The states of strings (B,T) and their clusters: ``metrics`` (all depths together), ``depths`` and ``points``."""
    states = [_first(found, shown) for found in states_by_depth(net, tokens)]
    given = task.machine, tokens, net.chunk, net.form
    elements = [_first(found[..., None], shown)[:, 0] for found in elements_by_depth(*given)]
    words = [min(net.chunk ** (l + 1), tokens.shape[1]) for l in range(len(states))]
    found = gathered(task.machine, words, states, elements)
    parts, points = np.concatenate([_first(found, shown) for found in parts_by_depth(*given)]), found["points"]
    same = np.unique(np.column_stack([np.array(points["depth"]) == 0, parts]), axis=0, return_inverse=True)[1].reshape(-1)
    found["metrics"]["made_of"] = round(purity(same, points["cluster"]), 4)
    return {**found, "points": {**points, "parts": parts.tolist()}}


def gathered(machine: MooreMachine, words: Sequence[int], states: Sequence[np.ndarray],
             elements: Sequence[np.ndarray]) -> dict:  # fmt: skip
    """Clusters of all states together: ``metrics``, and for each group of them ``depths`` and ``points``."""
    together, truth = clusters_found(np.concatenate(states)), np.concatenate(elements)
    plane, variance = on_a_plane(states)
    depth = np.repeat(range(len(states)), [len(group) for group in states])
    depths = [{"word": word, "points": len(states[l]), "predicted": cluster_count(machine, word),
               **compared(together.labels[depth == l], elements[l])} for l, word in enumerate(words)]  # fmt: skip
    x, y = np.concatenate(plane).T.round(3)
    points = {"depth": depth, "element": truth, "cluster": together.labels, "x": x, "y": y}
    metrics = {**compared(together.labels, truth), "silhouette": round(together.score, 4), "variance": round(variance, 4)}
    return {"metrics": metrics, "depths": depths, "points": {name: column.tolist() for name, column in points.items()}}


def compared(labels: np.ndarray, elements: np.ndarray) -> dict:
    """Clusters (N,) against the elements (N,) of the same states."""
    return {"present": len(np.unique(elements)), "found": len(np.unique(labels)),
            "purity": round(purity(labels, elements), 4), "wholeness": round(purity(elements, labels), 4)}  # fmt: skip


def _first(states: np.ndarray, shown: int) -> np.ndarray:
    """(B,S,D) -> (at most ``shown``, D): the last position of every string, then the one before, ..."""
    return states[:, ::-1].swapaxes(0, 1).reshape(-1, states.shape[-1])[:shown]


@torch.no_grad()
def states_by_depth(net: RegularGPT, tokens: Tensor) -> list[np.ndarray]:
    """o^(l) of paper 002 for tokens (B,T): one array (B,S,D) a depth, float64."""
    return [states.double().numpy(force=True) for states in net.hidden(tokens)]


def elements_by_depth(machine: MooreMachine, tokens: Tensor, chunk: int = 2, form: str = "tree") -> list[np.ndarray]:
    """What each state of ``states_by_depth`` should hold: the numbers (B,S) of elements of the transition monoid."""
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
    """What each state of ``states_by_depth`` is made of: (B,S,c) tokens at depth 0, then elements of the depth below."""
    T, below, found = tokens.shape[1], tokens.numpy(force=True), []
    for depth, elements in enumerate(elements_by_depth(machine, tokens, chunk, "masks")):
        ends = np.asarray(kept_positions(T, chunk, depth)) if form == "tree" else np.arange(T)
        at = ends[:, None] - chunk**depth * np.arange(chunk)[::-1]
        found.append(np.where(at < 0, -1, below[:, at.clip(0)]))
        below = elements
    return found


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
    from sklearn.decomposition import PCA  # scikit-learn takes a second to load

    pca = PCA(2, svd_solver="full").fit(np.concatenate(points_by_depth))
    return [pca.transform(points) for points in points_by_depth], float(pca.explained_variance_ratio_.sum())


class Clusters(NamedTuple):
    """What :func:`clusters_found` returns: ``labels`` (N,) in 0..count-1, and the silhouette ``score``."""

    labels: np.ndarray
    count: int  # type: ignore[assignment]  # a tuple has a method of this name
    score: float


def clusters_found(points: np.ndarray, most: int = 20) -> Clusters:
    """The clusters of points (N,D) by Ward's rule, as many of 2..``most`` as have the largest mean silhouette."""
    from sklearn.cluster import AgglomerativeClustering
    from sklearn.metrics import pairwise_distances, silhouette_score

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
    """The share of points (N,) that have the commonest truth of their cluster."""
    from sklearn.metrics.cluster import contingency_matrix

    return float(contingency_matrix(labels, truth).max(1).sum() / len(labels))


TABLE = load("regulargpt/fig3", by_setting(measure))
