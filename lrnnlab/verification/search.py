"""Breadth-first search over (lower state, states of some last-layer heads, state of the task's automaton).

With all heads followed the search is the network itself, and a wrong answer is a counter-example.  With a linear readout
fewer may do: LayerNorm on a tuple of one-hots is one fixed affine map, so every head adds its own term to the logits,
and the heads that are not followed can take away no more than a known amount.  If the followed ones win by more than
that everywhere, the proof is done; the others only make noise.

Letters: V vocabulary, C classes, Q states of the automaton, h heads, n states of a head, K heads followed, R lower states;
a *place* is one number for (lower state, head states, automaton state).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional as F

from lrnnlab.automata import MooreMachine
from lrnnlab.models import Net
from lrnnlab.verification.below import Below, quotient

MARGIN = 1e-3  # while heads are left out a logit must win by this much, so that rounding cannot change the answer


@dataclass(frozen=True)
class Verdict:
    """What the search found.

    ``proved``: the search closed and no answer was wrong: right on every string of every length.
    ``counterexamples``: strings on which the last answer is wrong, shortest first; ``counterexample`` the first.
    ``closed``: no pair was left unexplored.  ``pairs``, ``joint_states``: how many were reached.
    ``heads``: the last layer's blocks that had to be followed (counted from 0); None if all were.
    ``depth``: all strings of up to so many symbols were covered.
    """

    closed: bool
    counterexamples: tuple[tuple[int, ...], ...]
    pairs: int
    joint_states: int
    heads: tuple[int, ...] | None = None
    depth: int = 0

    @property
    def proved(self) -> bool:
        return self.closed and not self.counterexamples

    @property
    def counterexample(self) -> tuple[int, ...] | None:
        return self.counterexamples[0] if self.counterexamples else None

    def __str__(self) -> str:
        size = f"{self.joint_states:,} joint states, {self.pairs:,} pairs"
        if self.heads is not None:
            size = f"heads {', '.join(map(str, self.heads))}: {size}"
        if self.counterexample is not None:
            return f"refuted by a string of {len(self.counterexample)} symbols ({size} seen)"
        if self.closed:
            return f"proved for every string of every length ({size})"
        return f"right on every string of up to {self.depth} symbols, not decided beyond ({size} seen)"


def votes(model: Net) -> tuple[np.ndarray, np.ndarray]:
    """What each state of each last-layer head adds to the logits (h, n, C), beside the constant (C,).

    For a linear readout only; the votes are relative to x_0.
    """
    layer = model.layers[-1]
    h, n, base = layer.h, layer.b, layer.x0.flatten()
    bias = model.readout(base)
    changed = base.repeat(h * n, 1).view(h, n, h, n)
    for k in range(h):
        changed[k, :, k] = torch.eye(n)
    return (model.readout(changed.flatten(2)) - bias).double().numpy(), bias.double().numpy()


class Search:
    """One search; ``heads`` are followed, the others may vote as badly as they can."""

    def __init__(self, model: Net, specification: MooreMachine, below: Below, heads: np.ndarray):
        layer = model.layers[-1]
        self.model, self.specification, self.heads = model, specification, heads
        self.below, self.n, self.Q = quotient(below, heads), layer.b, specification.num_states
        self.complete = len(heads) == layer.h
        self.unit = self.n ** np.arange(len(heads))  # a tuple of head states as one number
        self.joints = self.n ** len(heads)
        self.start = int(layer.x0.argmax(-1).numpy()[heads] @ self.unit) * self.Q + specification.initial

    def run(self, limit: int, least: np.ndarray | None = None, ballots=None, wanted: int = 1,
            depth: int | None = None) -> Verdict:
        """``ballots`` = :func:`votes` and ``least`` (C, C), what the others add at least to logit c minus logit d,
        are needed unless all heads are followed; ``wanted``: search on until so many wrong strings are met, or
        all of ``depth`` symbols have been seen."""
        seen = generation = np.array([self.start])
        tree, wrong_strings = [], []  # of each generation: where each member came from, and by which token
        while len(generation) and (depth is None or len(tree) < depth):
            reached, parents = [], []
            for token in range(self.specification.num_symbols):
                origin, after = self.move(generation, token)
                reached.append(after)
                parents.append(origin * self.specification.num_symbols + token)
            places, first = np.unique(np.concatenate(reached), return_index=True)
            parents = np.concatenate(parents)[first]
            wrong = self._wrong(places, least, ballots)
            if wrong.any() and not self.complete:
                return self._verdict(False, (), seen, tree)
            for parent in parents[wrong][: wanted - len(wrong_strings)]:
                wrong_strings.append(self._path(tree, parent))
            if len(wrong_strings) >= wanted:
                return self._verdict(False, wrong_strings, seen, tree)
            new = ~np.isin(places, seen, assume_unique=True)
            generation = places[new]
            tree.append(parents[new])
            seen = np.union1d(seen, generation)
            if len(seen) > limit:
                return self._verdict(False, wrong_strings, seen, tree)
        return self._verdict(not len(generation), wrong_strings, seen, tree)

    def move(self, places: np.ndarray, token: int) -> tuple[np.ndarray, np.ndarray]:
        """(numbers of the places from which the token may follow, the places it leads to)."""
        lower, joint, state = self.split(places)
        origin = np.flatnonzero(self.below.follow[lower, token] >= 0)
        lower, joint, state = lower[origin], joint[origin], state[origin]
        digits = joint[:, None] // self.unit % self.n  # (m, K)
        table = self.below.tables[self.below.kind[lower, token]]  # (m, K, n)
        digits = np.take_along_axis(table, digits[..., None], 2)[..., 0].astype(np.int64)
        lower = self.below.follow[lower, token]
        wanted = self.specification.transitions[token, state]
        return origin, (lower * self.joints + digits @ self.unit) * self.Q + wanted

    def split(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(lower state, head states as one number, automaton state)."""
        return places // self.Q // self.joints, places // self.Q % self.joints, places % self.Q

    def shown(self, joints: np.ndarray) -> np.ndarray:
        """The class the network answers with, for tuples of all heads' states; all heads must be followed."""
        joints, back = np.unique(joints, return_inverse=True)
        digits = torch.from_numpy(joints[:, None] // self.unit % self.n)
        return self.model.readout(F.one_hot(digits, self.n).float().flatten(1)).argmax(-1).numpy()[back.reshape(-1)]

    def _wrong(self, places: np.ndarray, least, ballots) -> np.ndarray:
        _, joint, state = self.split(places)
        due = self.specification.outputs[state]
        wrong = np.zeros(len(places), bool)
        asked = np.flatnonzero(due >= 0)
        if not len(asked):
            return wrong
        if self.complete:
            wrong[asked] = self.shown(joint[asked]) != due[asked]
            return wrong
        (each, bias), due = ballots, due[asked]
        logits = bias + each[self.heads, joint[asked, None] // self.unit % self.n].sum(1)  # (m, C)
        rows = np.arange(len(due))
        lead = logits[rows, due][:, None] - logits + least[due]
        lead[rows, due] = np.inf
        wrong[asked] = lead.min(1) <= MARGIN
        return wrong

    def _path(self, tree: list[np.ndarray], parent: int) -> tuple[int, ...]:
        """The tokens that lead to ``parent`` (a member of the last generation and a token, as one number)."""
        V, tokens = self.specification.num_symbols, []
        for members in reversed([np.zeros(1, np.int64), *tree]):
            tokens.append(int(parent % V))
            parent = members[parent // V]
        return tuple(tokens[::-1])

    def _verdict(self, closed: bool, wrong, seen: np.ndarray, tree: list) -> Verdict:
        joint_states = len(np.unique(seen // self.Q))
        followed = None if self.complete else tuple(self.heads.tolist())
        return Verdict(closed, tuple(wrong), len(seen), joint_states, followed, len(tree))


def reachable(model: Net, below: Below, head: int) -> np.ndarray:
    """The states (sorted) that one head of the last layer can ever be in."""
    small, layer = quotient(below, np.array([head])), model.layers[-1]
    n, seen = layer.b, np.array([int(layer.x0[head].argmax())])
    edge = seen
    while len(edge):
        lower, state = edge // n, edge % n
        table = small.tables[small.kind[lower], 0]  # (m, V, n); -1 picks some row, dropped below
        after = np.take_along_axis(table, state[:, None, None], 2)[..., 0].astype(np.int64)
        places = (small.follow[lower] * n + after)[small.follow[lower] >= 0]
        edge = np.setdiff1d(places, seen)
        seen = np.union1d(seen, edge)
    return np.unique(seen % n)
