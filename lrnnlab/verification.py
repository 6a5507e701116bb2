"""A snapped model is a finite automaton: prove what it computes, or give the shortest string on which it is wrong.

The states of all blocks of all layers are one-hot, so together they are a tuple of small integers, the *joint
state*.  Breadth-first search over the pairs (joint state, state of the task's automaton) either closes without a
wrong answer, which proves the model right on every string of every length, or meets a wrong answer, and the path to
it is a shortest counter-example.  Sampling cannot do this: a model may be right on a million random symbols and wrong
on a string of fifteen.

A model with one layer and a linear readout allows a shorter way.  Its state is a tuple of one-hots, on which LayerNorm
is one fixed affine map, so every block ("head") adds its own term to the logits.  A few heads suffice for the proof if
their margin is larger than all the others together could ever take away; heads that only make noise need not be
followed, and what remains is small enough to read.

Letters: V vocabulary, C classes, Q states of the task's automaton, h blocks, n block size; a joint state is a row of
(layers h) integers in 0..n-1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional as F

from lrnnlab.automata import MooreMachine, build
from lrnnlab.models import BlockDiagonal, SequenceModel
from lrnnlab.training import steady_arithmetic

AT_ONCE = 4096  # joint states moved by one call of the model


@dataclass(frozen=True)
class Verdict:
    """What the search found.

    ``proved``: the search closed and no answer was wrong: right on every string of every length.
    ``counterexample``: a shortest string on which the last answer is wrong, else None.
    ``closed``: no pair was left unexplored.  ``pairs``, ``joint_states``: how many were reached.
    ``heads``: the blocks that had to be followed (counted from 0); None if all were.
    """

    closed: bool
    counterexample: tuple[int, ...] | None
    pairs: int
    joint_states: int
    heads: tuple[int, ...] | None = None

    @property
    def proved(self) -> bool:
        return self.closed and self.counterexample is None

    def __str__(self) -> str:
        size = f"{self.joint_states:,} joint states, {self.pairs:,} pairs"
        if self.heads is not None:
            size = f"heads {', '.join(map(str, self.heads))}: {size}"
        if self.counterexample is not None:
            return f"refuted by a string of {len(self.counterexample)} symbols ({size} seen)"
        return f"proved for every string of every length ({size})" if self.closed else f"not decided ({size} seen)"


def verify(model: SequenceModel, specification: MooreMachine, limit: int = 1_000_000) -> Verdict:
    """Compare a snapped ``model`` with ``specification`` (-1 where no answer is asked for) on all strings.

    ``limit`` bounds the pairs that are explored; beyond it the verdict is "not decided".
    Raises ``ValueError`` if the model is not snapped.

    >>> from lrnnlab.models import build, snap
    >>> from lrnnlab.tasks import Sum
    >>> untrained = build("block_diagonal", vocab_size=2, classes=2, h=2, b=2, rule="softmax", drive="none",
    ...                   start="first", seed=1)
    >>> verify(snap(untrained), Sum(2).specification).proved
    False
    """
    for number, layer in enumerate(model.layers, 1):
        if not isinstance(layer, BlockDiagonal) or layer.rule != "hard":
            raise ValueError(f"verify takes a snapped model; layer {number} is {_describe(layer)}")
    if specification.num_symbols != model.vocab_size:
        raise ValueError(f"the model reads {model.vocab_size} symbols, the automaton {specification.num_symbols}")
    with steady_arithmetic(), torch.no_grad():
        if len(model.layers) == 1 and len(model.head) == 1:
            return _by_heads(model, specification, limit)
        return _Search(model, specification).run(limit)


def _describe(layer) -> str:
    return (
        f"a block-diagonal layer with rule {layer.rule!r}" if isinstance(layer, BlockDiagonal) else type(layer).__name__
    )


class _Search:
    """Breadth-first over pairs, one whole generation at a time; the model moves many joint states in one call."""

    def __init__(self, model: SequenceModel, specification: MooreMachine):
        self.model, self.specification = model, specification
        self.shapes = [(layer.h, layer.b) for layer in model.layers]
        first = np.concatenate([layer.x0.argmax(-1).numpy() for layer in model.layers]).astype(np.uint8)
        self.joint = {first.tobytes(): 0}
        self.rows = [first]
        self.moves: list[np.ndarray] = []  # per explored joint state: (V, 2) of (next joint state, class shown)
        self.cameby = {(0, specification.initial): None}

    def run(self, limit: int) -> Verdict:
        generation = list(self.cameby)
        while generation:
            self._explore(max(joint for joint, _ in generation))
            following = []
            for pair in generation:
                joint, state = pair
                for token, (after, shown) in enumerate(self.moves[joint].tolist()):
                    wanted = int(self.specification.transitions[token, state])
                    due = int(self.specification.outputs[wanted])
                    if due >= 0 and shown != due:
                        return self._verdict(False, (*self._path(pair), token))
                    if (after, wanted) not in self.cameby:
                        self.cameby[after, wanted] = (pair, token)
                        following.append((after, wanted))
            if len(self.cameby) > limit:
                return self._verdict(False, None)
            generation = following
        return self._verdict(True, None)

    def _explore(self, last: int) -> None:
        """Let the model move every joint state up to number ``last`` that it has not moved yet, on every token."""
        V, stop = self.model.vocab_size, last + 1
        for start in range(len(self.moves), stop, AT_ONCE):
            rows = np.stack(self.rows[start : min(start + AT_ONCE, stop)])
            moves = np.empty((len(rows), V, 2), np.int64)
            for token in range(V):
                after, shown = self._step(rows, token)
                moves[:, token, 1] = shown
                for i, row in enumerate(after):
                    key = row.tobytes()
                    if key not in self.joint:
                        self.joint[key] = len(self.rows)
                        self.rows.append(row)
                    moves[i, token, 0] = self.joint[key]
            self.moves.extend(moves)

    def _step(self, rows: np.ndarray, token: int) -> tuple[np.ndarray, np.ndarray]:
        state, start = [], 0
        for h, n in self.shapes:
            indices = torch.from_numpy(rows[:, start : start + h].astype(np.int64))
            state.append(F.one_hot(indices, n).float())
            start += h
        state, logits = self.model.step(state, torch.full((len(rows),), token))
        after = np.concatenate([x.argmax(-1).numpy() for x in state], axis=1).astype(np.uint8)
        return after, logits.argmax(-1).numpy()

    def _path(self, pair) -> list[int]:
        tokens = []
        while self.cameby[pair] is not None:
            pair, token = self.cameby[pair]
            tokens.append(token)
        return tokens[::-1]

    def _verdict(self, closed: bool, counterexample) -> Verdict:
        return Verdict(closed, counterexample, len(self.cameby), len(self.rows))


@dataclass(frozen=True)
class HeadTables:
    """A snapped one-layer model with a linear readout, as tables.

    ``moves`` (h, V, n): where each state of each head goes.  ``start`` (h,).  ``votes`` (h, n, C): what each head in
    each state adds to the logits, beside the constant ``bias`` (C,).
    """

    moves: np.ndarray
    start: np.ndarray
    votes: np.ndarray
    bias: np.ndarray

    def reachable(self, head: int) -> np.ndarray:
        """The states (sorted) that this head can ever be in."""
        seen, edge = {int(self.start[head])}, [int(self.start[head])]
        while edge:
            edge = [s for s in set(self.moves[head][:, edge].ravel().tolist()) if s not in seen]
            seen.update(edge)
        return np.array(sorted(seen))


def head_tables(model: SequenceModel) -> HeadTables:
    """Read the tables off a snapped one-layer model with ``head="linear"``; ``ValueError`` for any other model.

    >>> from lrnnlab.models import build, snap
    >>> model = build("block_diagonal", vocab_size=3, classes=2, h=2, b=4, rule="softmax", drive="none",
    ...               start="first", head="linear")
    >>> head_tables(snap(model)).moves.shape
    (2, 3, 4)
    """
    layer = model.layers[0]
    if len(model.layers) != 1 or len(model.head) != 1 or getattr(layer, "rule", None) != "hard":
        raise ValueError("head tables need a snapped model with one layer and a linear readout")
    with torch.no_grad():
        A, _ = layer.transition(model.symbol_inputs())  # (V, h, n, n)
        h, n = layer.h, layer.b
        base = layer.x0.flatten()
        bias = model.readout(base)
        changed = base.repeat(h * n, 1).view(h, n, h, n)
        for k in range(h):
            changed[k, :, k] = torch.eye(n)
        votes = model.readout(changed.flatten(2)) - bias  # (h, n, C): relative to x_0
    return HeadTables(
        A.argmax(-2).permute(1, 0, 2).numpy(),
        layer.x0.argmax(-1).numpy(),
        votes.double().numpy(),
        bias.double().numpy(),
    )


MARGIN = 1e-3  # while heads are left out a logit must win by this much, so that rounding cannot change the answer


def _by_heads(model: SequenceModel, specification: MooreMachine, limit: int) -> Verdict:
    """Follow more and more heads, those with the loudest votes first, until the margin is proved."""
    tables = head_tables(model)
    spread = np.array([np.ptp(tables.votes[k, tables.reachable(k)], axis=0).max() for k in range(len(tables.start))])
    order = np.argsort(-spread, kind="stable")
    for count in range(1, len(order) + 1):
        followed = np.sort(order[:count])
        if tables.moves.shape[2] ** count * specification.num_states > limit * 100:
            return Verdict(False, None, 0, 0)
        verdict = _follow(tables, specification, followed)
        if verdict.proved or count == len(order):
            return verdict
    raise AssertionError("a model has at least one head")


def _follow(tables: HeadTables, specification: MooreMachine, heads: np.ndarray) -> Verdict:
    """Breadth-first over (states of ``heads``, state of the automaton); the others may vote as badly as they can."""
    n, Q, complete = tables.moves.shape[2], specification.num_states, len(heads) == len(tables.start)
    doubt = np.zeros(
        (len(tables.bias),) * 2
    )  # doubt[c, d]: the least that the other heads add to logit c minus logit d
    for k in set(range(len(tables.start))) - set(heads.tolist()):
        votes = tables.votes[k, tables.reachable(k)]
        doubt += (votes[:, :, None] - votes[:, None, :]).min(0)
    unit = n ** np.arange(len(heads))
    seen = np.zeros(n ** len(heads) * Q, bool)
    generation = np.array([int(tables.start[heads] @ unit) * Q + specification.initial])
    seen[generation] = True
    generations = [generation]
    while len(generation):
        joint, state = generation // Q, generation % Q
        digits = joint[:, None] // unit % n  # (pairs, heads)
        reached = []
        for token in range(specification.num_symbols):
            after = tables.moves[heads, token, digits]  # (pairs, heads)
            wanted = specification.transitions[token, state]
            due = specification.outputs[wanted]
            wrong = (due >= 0) & (_lead(tables, heads, after, due, doubt) <= (0.0 if complete else MARGIN))
            if wrong.any():
                path = _backwards(tables, specification, heads, generations, generation[wrong.argmax()])
                count = len(np.unique(np.flatnonzero(seen) // Q))
                return Verdict(False, (*path, token) if complete else None, int(seen.sum()), count)
            reached.append((after @ unit) * Q + wanted)
        generation = np.unique(np.concatenate(reached))
        generation = generation[~seen[generation]]
        seen[generation] = True
        generations.append(generation)
    followed = None if complete else tuple(heads.tolist())
    return Verdict(True, None, int(seen.sum()), len(np.unique(np.flatnonzero(seen) // Q)), followed)


def _lead(tables: HeadTables, heads: np.ndarray, states: np.ndarray, due: np.ndarray, doubt: np.ndarray) -> np.ndarray:
    """By how much the due class wins in each row, at least, whatever the heads that are not followed say."""
    logits = tables.bias + tables.votes[heads, states].sum(1)  # (pairs, C)
    rows, due = np.arange(len(due)), np.maximum(due, 0)
    lead = logits[rows, due][:, None] - logits + doubt[due]
    lead[rows, due] = np.inf
    return lead.min(1)


def _backwards(
    tables: HeadTables, specification: MooreMachine, heads: np.ndarray, generations: list, pair
) -> list[int]:
    """The tokens that lead to ``pair``, a member of the last generation."""
    n, Q, unit, tokens = (
        tables.moves.shape[2],
        specification.num_states,
        tables.moves.shape[2] ** np.arange(len(heads)),
        [],
    )
    for earlier in reversed(generations[:-1]):
        digits = (earlier // Q)[:, None] // unit % n
        for token in range(specification.num_symbols):
            after = (tables.moves[heads, token, digits] @ unit) * Q + specification.transitions[token, earlier % Q]
            found = np.flatnonzero(after == pair)
            if len(found):
                tokens.append(token)
                pair = earlier[found[0]]
                break
    return tokens[::-1]


def heads_machine(tables: HeadTables, heads: tuple[int, ...], symbols: tuple[str, ...]) -> MooreMachine:
    """What some heads of a snapped model do together: the reachable tuples of their states, as one machine.

    A state shows the class that these heads vote for, and is named by the heads' states; with the heads of a proved
    :class:`Verdict` this is the automaton that the network has learned.

    >>> from lrnnlab.models import build, snap
    >>> model = build("block_diagonal", vocab_size=3, classes=2, h=2, b=4, rule="softmax", drive="none",
    ...               start="first", head="linear")
    >>> heads_machine(head_tables(snap(model)), (0, 1), ("a", "b", "c")).num_symbols
    3
    """
    chosen = np.array(heads)

    def step(states, token):
        return tuple(int(s) for s in tables.moves[chosen, token, np.array(states)])

    def vote(states):
        return int((tables.bias + tables.votes[chosen, np.array(states)].sum(0)).argmax())

    start = tuple(int(s) for s in tables.start[chosen])
    return build(start, symbols, step, vote, name=lambda states: "".join(map(str, states)))
