"""Quotients: the smaller machines that a machine can be read as, such as the sign of a permutation in S_3; and which of
them a net tracks that fails on the machine.

Letters: Q states, V tokens, B blocks; a congruence is a partition of the states that every token respects.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from lrnnlab.automata.machines import MooreMachine, minimise
from lrnnlab.validation import checked, whole_number


@dataclass(frozen=True, eq=False)
class Quotient:
    """``blocks`` (Q,): to which state of ``machine`` each state of the minimised machine goes; its answer is that state.
    """

    machine: MooreMachine
    blocks: np.ndarray


@checked
def quotients(machine: MooreMachine, limit: int = 2000) -> list[Quotient]:
    """All quotients of the minimised machine, small ones first: from one state to all of them.

    A congruence is made by pairs of states that it puts together: those made by one pair first, then what they make
    together.  ValueError if there are more than ``limit`` (n states that every token resets have as many as n points
    have partitions); with a limit of 0 only those of single pairs are made, and no error.
    """
    small = minimise(machine)
    whole_number(limit, 0, "limit")
    states = range(small.num_states)
    made = {joined(small, tuple(states), [pair]) for pair in combinations(states, 2)}
    found, queue = {tuple(states)} | made, sorted(made)
    for one in queue if limit else ():
        for other in made:
            pairs = [(q, block) for q, block in enumerate(other) if one[q] != one[block]]
            if pairs and (both := joined(small, one, pairs)) not in found:
                found.add(both)
                queue.append(both)
        if len(found) > limit:
            raise ValueError(f"the machine has more than {limit} quotients")
    return [_quotient(small, np.array(blocks)) for blocks in sorted(found, key=lambda row: (len(set(row)), row))]


def joined(machine: MooreMachine, blocks: tuple[int, ...], pairs: list[tuple[int, int]]) -> tuple[int, ...]:
    """The least congruence that contains another and puts each of ``pairs`` together.

    A congruence is written as the least state of the block of each state.
    """
    parent, moves, queue = list(blocks), machine.transitions.tolist(), list(pairs)

    def root(q):
        while parent[q] != q:
            q = parent[q]
        return q

    for q, r in queue:
        q, r = sorted((root(q), root(r)))
        if q != r:
            parent[r] = q
            queue += [(move[q], move[r]) for move in moves]
    return tuple(map(root, range(len(parent))))


def _quotient(small, blocks):
    kinds, numbers = np.unique(blocks, return_inverse=True)
    names = tuple(" ".join(np.array(small.names)[numbers == number]) for number in range(len(kinds)))
    return Quotient(MooreMachine(numbers[small.transitions[:, kinds]], np.arange(len(kinds)),
                                 int(numbers[small.initial]), small.symbols, names), numbers)  # fmt: skip


@dataclass(frozen=True, eq=False)
class QuotientScore:
    """How a net's answers are right in one quotient."""

    blocks: np.ndarray
    accuracy: float
    majority: float
    chance: float

    @property
    def size(self) -> int:
        """The number of blocks, which are the quotient's states."""
        return int(self.blocks.max()) + 1


@checked
def quotient_scores(predicted: Any, truth: Any, known: Iterable) -> list[QuotientScore]:
    """How often answers are right in each quotient of a machine whose states they name; one score a quotient.

    A net may answer a third of S_3's states right and yet never leave the right sign: its own answers say what it tracks.
    ``predicted`` and ``truth`` are states, in arrays of one shape; a quotient is the block of every state, (Q,) numbers
    0..B-1, or has that as ``blocks``.
    """
    given, right = np.asarray(predicted), np.asarray(truth)
    found = []
    for quotient in known:
        blocks = np.asarray(getattr(quotient, "blocks", quotient))
        one, other = blocks[given], blocks[right]
        shares = [np.bincount(part.ravel(), minlength=blocks.max() + 1) / part.size for part in (one, other)]
        found.append(QuotientScore(blocks, float((one == other).mean()), float(shares[1].max()),
                                   float(shares[0] @ shares[1])))  # fmt: skip
    return found
