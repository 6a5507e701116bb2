"""Breadth-first search over (lower state, states of some last-layer heads, state of the task's automaton).

With all heads followed the search is the network itself, and a wrong answer is a counter-example.  With a linear
readout fewer may do: LayerNorm on a tuple of one-hots is one fixed affine map, so every head adds its own term to the
logits, and the heads that are not followed can take away no more than a known amount.  Where the contributions of the
followed ones lead by more than this bound on the rest in every state, the proof is done.

A place is packed into 64 bits where all places fit into them, and into Python's integers, which have no limit, where
they do not.

Letters: V vocabulary, C classes, Q states of the automaton, h heads, n states of a head, K heads followed, R lower
states; a *place* is one number for (lower state, head states, automaton state).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from lrnnlab.automata import MooreMachine
from lrnnlab.models import Net
from lrnnlab.verification.semantics.carried import PLACES, certificate
from lrnnlab.verification.semantics.lower_layers import LowerMachine, quotient
from lrnnlab.verification.semantics.rounding import Bounds


@dataclass(frozen=True)
class Verdict:
    """What the search found.

    ``proved``: the search closed, no answer was wrong, and rounding cannot change that: right on every string of every
    length.
    ``counterexamples``: strings on which the last answer is wrong, shortest first; ``counterexample`` the first.  The
    model itself has been asked each of them, and was wrong.
    ``exhausted``: no pair was left unexplored.  ``pairs``, ``joint_states``: how many were reached.
    ``heads``: the last layer's blocks that had to be followed (counted from 0); None if all were.
    ``depth``: all strings of up to so many symbols were covered (once it is exhausted, of every length).
    ``column_lead``, ``logit_lead``: by how much at least the largest entry of a column, and the largest logit, leads
    the second where a string can lead to.  (Where heads were left out: a column of those followed or below, and the
    right logit, whatever states the others are in.)
    ``rounding``: what rounding can take of a column's lead and of a logit's, at most.  ``robust``: it takes neither.
    ``unknown``: operations for which no bound of rounding is known; then nothing is robust.  ``about``: of what net in what
    type this is the verdict; none has a mode of training.  (Of a quantised net: both
    leads are those of the state where rounding can take the most of them; a column's lead is a chosen code's.)
    ``certificate``: of what is proved in at most 20,000 pairs, these pairs as JSON, for others to check
    (:func:`lrnnlab.verification.check_certificate`).
    """

    exhausted: bool
    counterexamples: tuple[tuple[int, ...], ...]
    pairs: int
    joint_states: int
    heads: tuple[int, ...] | None = None
    depth: int = 0
    column_lead: float = np.inf
    logit_lead: float = np.inf
    rounding: tuple[float, float] = (0.0, 0.0)
    unknown: str = ""
    about: str = ""
    certificate: str = field(default="", repr=False, compare=False)

    @property
    def robust(self) -> bool:
        return self.column_lead > self.rounding[0] and self.logit_lead > self.rounding[1]

    @property
    def proved(self) -> bool:
        return self.exhausted and not self.counterexamples and self.robust

    @property
    def counterexample(self) -> tuple[int, ...] | None:
        return self.counterexamples[0] if self.counterexamples else None

    def __str__(self) -> str:
        size = f"{self.about}{': ' * bool(self.about)}{self.joint_states:,} joint states, {self.pairs:,} pairs"
        if self.heads is not None:
            size = f"heads {', '.join(map(str, self.heads))}: {size}"
        if self.counterexample is not None:
            return f"refuted by a string of {len(self.counterexample)} symbols ({size} seen)"
        leads = f"columns lead by {self.column_lead:.2g}, logits by {self.logit_lead:.2g}"
        if not self.robust:
            if self.unknown:
                return f"not decided: no bound of rounding is known for {self.unknown} ({size} seen)"
            columns, logits = self.rounding
            return f"not decided: {leads}, and rounding may take {columns:.2g} and {logits:.2g} ({size} seen)"
        if self.exhausted:
            return f"proved for every string ({size}; {leads})"
        return f"right on every string of up to {self.depth} symbols, not decided beyond ({size} seen)"


def contributions(model: Net) -> tuple[np.ndarray, np.ndarray, float]:
    """What each state of each last-layer head adds to the logits (h, n, C), beside the constant (C,), relative to x_0;
    and what rounding can take of the difference of two logits.

    For a linear readout only.  LayerNorm finds the same mean and variance in every tuple of one-hots, so n inputs, all
    heads in one state, tell what it makes of each entry, and the largest of each entry bound the errors.
    """
    last: Any
    layer, (last,) = model.layers[-1], model.head
    h, n = layer.h, layer.b
    with Bounds() as bounds:
        z = model.final_norm(torch.eye(n, dtype=last.weight.dtype).repeat(1, h))
    worst = bounds.put(z.abs().amax(0), bounds.of(z).amax(0))
    with bounds:
        logits = last(worst)
    weight, seen = last.weight.double().unflatten(1, (h, n)), z.double().unflatten(1, (h, n))
    each = torch.einsum("chi,jhi->hjc", weight, seen)
    base = each[torch.arange(h), layer.x0.argmax(-1)]  # (h, C)
    return (each - base[:, None]).numpy(), (last.bias.double() + base.sum(0)).numpy(), bounds.apart(logits)


class Search:
    """One search; ``heads`` are followed, the others may be in the states that harm most."""

    def __init__(self, model: Net, specification: MooreMachine, below: LowerMachine, heads: np.ndarray):
        layer = model.layers[-1]
        self.model, self.specification, self.heads = model, specification, heads
        self.below, self.n, self.Q = quotient(below, heads), layer.b, specification.num_states
        self.complete = len(heads) == layer.h
        self.joints = self.n ** len(heads)
        fits = len(self.below.follow) * self.joints * self.Q < 2**63
        self.unit = np.array([self.n**k for k in range(len(heads))], np.int64 if fits else object)
        states = layer.x0.argmax(-1).numpy()[heads]
        self.start = (states[None] @ self.unit) * self.Q + specification.initial  # (1,)
        self.column_lead, self.logit_lead, self.logit_rounding = below.lead, np.inf, 0.0

    def run(self, limit: int, rest: np.ndarray | None = None, each: tuple[np.ndarray, np.ndarray, float] | None = None,
            wanted: int = 1, depth: int | None = None) -> Verdict:
        """Follow the strings, shortest first, until no new place is reached or more than ``limit`` are seen.

        Where heads are left out, ``each`` is what :func:`contributions` returns, and ``rest`` [c, d] (C, C) bounds from below
        what they add to logit c minus logit d, whatever their states.
        """
        seen = generation = self.start
        tree, wrong_strings = [], []  # of each generation: where each member came from, and by which token
        while len(generation) and (depth is None or len(tree) < depth):
            reached, parents = [], []
            for token in range(self.specification.num_symbols):
                origin, after = self.move(generation, token)
                reached.append(after)
                parents.append(origin * self.specification.num_symbols + token)
            places, first = np.unique(np.concatenate(reached), return_index=True)
            came = np.concatenate(parents)[first]
            wrong = self._wrong(places, rest, each)
            if wrong.any() and not self.complete:
                return self.verdict(False, (), seen, tree)
            for parent in came[wrong][: wanted - len(wrong_strings)]:
                wrong_strings.append(self._path(tree, parent))
            if len(wrong_strings) >= wanted:
                return self.verdict(False, wrong_strings, seen, tree)
            new = absent(places, seen)
            generation = places[new]
            tree.append(came[new])
            seen = np.sort(np.concatenate([seen, generation]))  # many times as fast as a union
            if len(seen) > limit:
                return self.verdict(False, wrong_strings, seen, tree)
        verdict = self.verdict(not len(generation), wrong_strings, seen, tree)
        return replace(verdict, certificate=self._certificate(seen, each)) if verdict.proved else verdict

    def _certificate(self, places: np.ndarray, each: Any) -> str:
        """What the places reached say, once the search is closed, as JSON."""
        if len(places) > PLACES:
            return ""
        after = np.full((self.specification.num_symbols, len(places)), -1, places.dtype)
        for token, row in enumerate(after):
            origin, to = self.move(places, token)
            row[origin] = to // self.Q
        joint = self.split(places)[1]
        if self.complete:
            said = self.shown(joint)
        else:
            said = (each[1] + each[0][self.heads, self.digits(joint)].sum(1)).argmax(1)
        return certificate(self.model, self.specification, int(self.start[0]) // self.Q, places, after, said)

    def move(self, places: np.ndarray, token: int) -> tuple[np.ndarray, np.ndarray]:
        """(numbers of the places from which the token may follow, the places it leads to)."""
        lower, joint, state = self.split(places)
        origin = np.flatnonzero(self.below.follow[lower, token] >= 0)
        lower, joint, state = lower[origin], joint[origin], state[origin]
        here = self.below.kind[lower, token][:, None], np.arange(len(self.heads)), self.digits(joint)
        self.column_lead = min(self.column_lead, self.below.leads[here].min(initial=np.inf))
        lower = self.below.follow[lower, token].astype(self.unit.dtype)
        wanted = self.specification.transitions[token, state]
        return origin, (lower * self.joints + self.below.tables[here].astype(np.int64) @ self.unit) * self.Q + wanted

    def split(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(lower state, head states as one number, automaton state)."""
        lower, state = places // self.Q // self.joints, places % self.Q
        return lower.astype(np.int64), places // self.Q % self.joints, state.astype(np.int64)

    def digits(self, joint: np.ndarray) -> np.ndarray:
        """Head states as one number (m,) -> (m, K)."""
        return (joint[:, None] // self.unit % self.n).astype(np.int64)

    def shown(self, joints: np.ndarray) -> np.ndarray:
        """The class the network answers with, for tuples of all heads' states; all heads must be followed."""
        joints, back = np.unique(joints, return_inverse=True)
        x = F.one_hot(torch.from_numpy(self.digits(joints)), self.n).flatten(1).to(self.model.embedding.weight)
        with Bounds() as bounds:
            logits = self.model.head(self.model.final_norm(x))
        self.logit_rounding = max(self.logit_rounding, bounds.apart(logits))
        first, second = F.pad(logits, (0, 1), value=-torch.inf).topk(2).values.double().unbind(-1)
        self.logit_lead = min(self.logit_lead, float((first - second).min()))
        return logits.argmax(-1).numpy()[back.reshape(-1)]

    def _wrong(self, places: np.ndarray, rest, each) -> np.ndarray:
        _, joint, state = self.split(places)
        due = self.specification.outputs[state]
        wrong = np.zeros(len(places), bool)
        asked = np.flatnonzero(due >= 0)
        if not len(asked):
            return wrong
        if self.complete:
            wrong[asked] = self.shown(joint[asked]) != due[asked]
            return wrong
        (added, bias, self.logit_rounding), due = each, due[asked]
        logits = bias + added[self.heads, self.digits(joint[asked])].sum(1)  # (m, C)
        rows = np.arange(len(due))
        lead = logits[rows, due][:, None] - logits + rest[due]
        lead[rows, due] = np.inf
        self.logit_lead = min(self.logit_lead, lead.min())
        wrong[asked] = lead.min(1) <= self.logit_rounding
        return wrong

    def _path(self, tree: list[np.ndarray], parent: int) -> tuple[int, ...]:
        """The tokens that lead to ``parent`` (a member of the last generation and a token, as one number)."""
        V, tokens = self.specification.num_symbols, []
        for members in reversed([np.zeros(1, np.int64), *tree]):
            tokens.append(int(parent % V))
            parent = members[parent // V]
        return tuple(tokens[::-1])

    def verdict(self, exhausted: bool, wrong: Iterable[tuple[int, ...]], seen: np.ndarray, tree: list) -> Verdict:
        """What has been found so far."""
        joint_states = len(np.unique(seen // self.Q))
        followed = None if self.complete else tuple(self.heads.tolist())
        return Verdict(
            exhausted, tuple(wrong), len(seen), joint_states, followed, len(tree), float(self.column_lead),
            float(self.logit_lead), (self.below.rounding, self.logit_rounding),
        )  # fmt: skip


def absent(places: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Which of ``places`` are not ``among``; both sorted, without repetition, ``among`` not empty."""
    at = np.searchsorted(among, places)
    return among[np.minimum(at, len(among) - 1)] != places


def reachable(model: Net, below: LowerMachine, head: int) -> np.ndarray:
    """The states (sorted) that one head of the last layer can ever be in; all of them, if rounding could matter."""
    small, layer = quotient(below, np.array([head])), model.layers[-1]
    n, seen = layer.b, np.array([int(layer.x0[head].argmax())])
    edge = seen
    while len(edge):
        lower, state = edge // n, edge % n
        here = small.kind[lower], 0, state[:, None]  # (m, V); -1 picks some row, dropped below
        follows = small.follow[lower] >= 0
        if (small.leads[here][follows] <= small.rounding).any():
            return np.arange(n)
        places = (small.follow[lower] * n + small.tables[here])[follows]
        edge = np.setdiff1d(places, seen)
        seen = np.union1d(seen, edge)
    return np.unique(seen % n)
