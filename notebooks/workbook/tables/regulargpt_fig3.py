"""Figure 3 of paper 002 (Chi, Fan, Rudnicky, Ramadge 2023, Sec. 7.3): do RegularGPT's states form clusters?

The paper trains on strings of up to 40 symbols, takes o^(l) of all depths on a string of 500, and shows them on a
plane by PCA: 2 clusters for Parity, 5 for Cycle Navigation.  It counts by eye.  What the count should be is algebra:
depth l shows the actions of words of 2^(l+1) letters, so as many clusters as elements of the transition monoid that
such words realise (``algebra.clusters``).  In both tasks of the paper these are as many as states at every depth, and
all actions commute; so here is a third, where the order matters and words of two letters realise fewer:

    parity, cycle_navigation    the paper's
    s_3                         which of the 6 permutations of three things a word of swaps (s) and turns (t) makes

Rows: ``regulargpt_c2``, and ``untrained``, the same net before its first step.

A record has, for each depth, up to 120 states of 64 strings of 500 symbols, in the form of the tree: their place on
the plane, the element that the word below them realises, and their cluster.  The rule that counts clusters knows
nothing of the task: the states of all depths together, in all D dimensions, by Ward's rule, as many clusters as have
the largest mean silhouette (``analysis.clusters_found``); a depth has those of them that its states are
in.  Beside them, for each depth and for all,

    predicted, present    elements that words of that length realise; those that the chosen states show
    purity                the share of states that have the commonest element of their cluster
    wholeness             the other way round: the share of states that are in the commonest cluster of their element

Both shares are 1 exactly if clusters and elements are the same.  A third, ``made_of``, is the share of states that are
in the commonest cluster of those that are made of the same two halves.

Letters: B batch, T time, D width, c chunk (the paper's C), l depth, N states that are looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lrnnlab.automata import MooreMachine
from lrnnlab.automata.languages import language
from lrnnlab.models.regular_gpt import RegularGPT
from lrnnlab.tasks.string_tasks import STRING_TASKS, StringTask
from lrnnlab.training.curriculum import train_strings
from lrnnlab.training.determinism import rng
from lrnnlab.training.evaluation import accuracy_at_lengths
from workbook.tables.analysis import (
    clusters_found,
    elements_by_depth,
    on_a_plane,
    parts_by_depth,
    purity,
    states_by_depth,
)
from workbook.tables.regulargpt_table1 import make_network, training_of
from workbook.tables.table import by_setting, load
from workbook.tables.word_actions import cluster_count


class Permutations(StringTask):
    """Which permutation of three things a word is: s swaps the first two, t turns all three; the order matters."""

    symbols, classes, rule = ("s", "t"), 6, language("S_3").machine

    def answer(self, tokens: Any) -> int:
        return language("S_3").oracle(self.write(tokens))


def build_task(name: str) -> StringTask:
    """The task of that name.

    >>> build_task("s_3").classes
    6
    """
    return Permutations() if name == "s_3" else STRING_TASKS[name]()


def measure(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> dict:
    """Train, and look at the states: ``metrics``, ``depths``, ``points`` and ``training``.

    >>> found = measure({**TABLE.setting("untrained", "parity", "live"), "length": 8, "strings": 6}, seed=0)
    >>> [depth["word"] for depth in found["depths"]], len(found["points"]["x"])
    ([2, 4, 8], 42)
    """
    task = build_task(setting["task"])
    net: Any = make_network("regulargpt_c2", task, seed=seed, **setting["options"])
    training, cpu = {}, 0.0
    if setting["training"]:
        made = train_strings(net, task, generator=rng(seed, "fig3/train"), progress=progress, checkpoint=checkpoint,
                             **setting["training"])  # fmt: skip
        training, cpu = {**training_of(made), **made.summary()}, made.cpu_seconds
    strings = task.sample(setting["strings"], setting["length"], rng(seed, "fig3/look"))
    accuracy = accuracy_at_lengths(net, task, [setting["length"]], strings=256, generator=rng(seed, "fig3/test"))
    found = look(net.eval(), task, strings.tokens, setting["shown"])
    found["metrics"]["accuracy"] = accuracy[setting["length"]]
    return {**found, "training": training, "cpu_seconds": round(cpu, 2)}


def look(net: RegularGPT, task: StringTask, tokens: torch.Tensor, shown: int) -> dict:
    """The states of strings (B,T) and their clusters: ``metrics`` (all depths together), ``depths`` and ``points``.

    Of each depth at most ``shown`` states are taken: the last position of every string, then the one before, ...
    """
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
    """Clusters (N,) against the elements (N,) of the same states; see the module's head.

    >>> compared(np.array([0, 0, 1]), np.array([4, 4, 4]))
    {'present': 1, 'found': 2, 'purity': 1.0, 'wholeness': 0.6667}
    """
    return {"present": len(np.unique(elements)), "found": len(np.unique(labels)),
            "purity": round(purity(labels, elements), 4), "wholeness": round(purity(elements, labels), 4)}  # fmt: skip


def _first(states: np.ndarray, shown: int) -> np.ndarray:
    """(B,S,D) -> (at most ``shown``, D): the last position of every string, then the one before, ..."""
    return states[:, ::-1].swapaxes(0, 1).reshape(-1, states.shape[-1])[:shown]


TABLE = load("regulargpt/fig3", by_setting(measure))
