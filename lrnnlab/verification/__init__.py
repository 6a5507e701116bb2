"""A snapped model is a finite automaton: prove what it computes, or give the shortest string on which it is wrong.

Breadth-first search over what the network is in (the states of its blocks, one-hot) together with the state of the
task's automaton either closes without a wrong answer, which proves the model right on every string of every length, or
meets a wrong answer, and the path to it is a shortest counter-example.  Sampling cannot do this: a model may be right
on a million random symbols and wrong on a string of fifteen.

The plain product of all blocks' states is too large to search.  Two things make it small: lower layers count only by
what they make the last layer do (``below``), and with a linear readout most heads of the last layer need not be
followed at all (``search``).
"""

from __future__ import annotations

import numpy as np
import torch

from lrnnlab.automata import MooreMachine
from lrnnlab.errors import checked
from lrnnlab.models import BlockDiagonal, Net
from lrnnlab.training import steady_arithmetic
from lrnnlab.verification.below import live_part, reach
from lrnnlab.verification.reading import HeadTables, head_tables, heads_machine, learned_machine
from lrnnlab.verification.search import Search, Verdict, reachable, votes

__all__ = ["HeadTables", "Verdict", "head_tables", "heads_machine", "learned_machine", "verify"]

LOWER = 200_000  # at most so many states of the layers under the last


@checked
def verify(
    model: Net,
    specification: MooreMachine,
    limit: int = 1_000_000,
    wanted: int = 1,
    depth: int | None = None,
) -> Verdict:
    """Compare a snapped ``model`` with ``specification`` (-1 where no answer is asked for) on all strings, or on all of
    up to ``depth`` symbols.

    ``limit`` bounds the pairs that a search explores; beyond it the verdict is "not decided".  With ``wanted`` > 1 the
    search goes on until it has met so many wrong strings.
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
            kind = type(layer).__name__
            found = f"a block-diagonal layer with rule {layer.rule!r}" if isinstance(layer, BlockDiagonal) else kind
            raise ValueError(f"verify takes a snapped model; layer {number} is {found}")
        block, last = model.blocks[number - 1], number == len(model.layers)
        if block.place != "pre" or block.gate.kind != "none" or block.ff is not None or block.residual == last:
            raise ValueError(f"verify takes the stack of paper 000; block {number} has place {block.place!r}, gate "
                             f"{block.gate.kind!r}, residual={block.residual}, feed-forward {block.ff}")  # fmt: skip
    if model.pool != "none":
        raise ValueError(f"verify takes a model that answers at every position, got pool {model.pool!r}")
    if specification.num_symbols != model.vocab_size:
        raise ValueError(f"the model reads {model.vocab_size} symbols, the automaton {specification.num_symbols}")
    with steady_arithmetic(), torch.no_grad():
        below = reach(model, live_part(specification), LOWER)
        if below is None:
            return Verdict(False, (), 0, LOWER)
        everything = np.arange(model.layers[-1].h)
        if len(model.head) == 1:
            verdict = _some_heads(model, specification, below, limit, depth)
            if verdict is not None:
                return verdict
        return Search(model, specification, below, everything).run(limit, wanted=wanted, depth=depth)


def _some_heads(model, specification, below, limit, depth) -> Verdict | None:
    """Follow more and more heads, the loudest first, while some are left out; None if that proves nothing."""
    ballots, h = votes(model), model.layers[-1].h
    heard = [ballots[0][k, reachable(model, below, k)] for k in range(h)]  # (reachable states, C) each
    order = np.argsort([-np.ptp(v, axis=0).max() for v in heard], kind="stable")
    for count in range(1, h):
        least = sum((v[:, :, None] - v[:, None, :]).min(0) for v in (heard[k] for k in order[count:]))
        search = Search(model, specification, below, np.sort(order[:count]))
        verdict = search.run(limit, least, ballots, depth=depth)
        if verdict.proved or (depth is not None and verdict.depth >= depth):
            return verdict
        if verdict.pairs > limit:  # more heads would only mean more pairs
            return None
    return None
