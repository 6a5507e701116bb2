"""Reading a snapped model: its heads as tables, and what it has learned as one machine.

Letters: V vocabulary, C classes, h heads (blocks of the last layer), n states of a head.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch

from lrnnlab.automata import NO_LABEL, MooreMachine, minimise
from lrnnlab.automata.machines import coarsest
from lrnnlab.models import Net
from lrnnlab.training import deterministic
from lrnnlab.verification.search import Search, absent, contributions
from lrnnlab.verification.semantics.lower_layers import check_snapped, live_part, reach


@dataclass(frozen=True)
class HeadTables:
    """A snapped one-layer model with a linear readout, as tables.

    ``moves`` (h, V, n): where each state of each head goes.  ``start`` (h,).  ``contributions`` (h, n, C): what each
    head in each state adds to the logits, beside the constant ``bias`` (C,).
    """

    moves: np.ndarray
    start: np.ndarray
    contributions: np.ndarray
    bias: np.ndarray


def head_tables(model: Net) -> HeadTables:
    """Read the tables off a snapped one-layer model with ``head="linear"``; ``ValueError`` for any other model.

    >>> from lrnnlab.models import build, snap
    >>> model = build("block_diagonal", vocab_size=3, classes=2, h=2, b=4, rule="softmax", drive="none",
    ...               start="first", head="linear")
    >>> head_tables(snap(model)).moves.shape
    (2, 3, 4)
    """
    check_snapped(model)
    layer = model.layers[0]
    if len(model.layers) != 1 or len(model.head) != 1:
        found = f"{len(model.layers)} layers, a readout of {len(model.head)} parts"
        raise ValueError(f"head tables need a snapped model with one layer and a linear readout; got {found}")
    with torch.no_grad():
        A, _ = layer.transition(model.symbol_inputs())  # (V, h, n, n)
        each, bias, _ = contributions(model)
    return HeadTables(A.argmax(-2).permute(1, 0, 2).numpy(), layer.x0.argmax(-1).numpy(), each, bias)


def heads_machine(tables: HeadTables, heads: tuple[int, ...] | None, symbols: tuple[str, ...]) -> MooreMachine:
    """What some heads of a snapped model (None: all) do together: the reachable tuples of their states, as one machine.

    A state shows the class with the largest sum of these heads' contributions, and is named by the heads' states; with
    the heads of a proved ``Verdict`` this is the automaton that the network has learned.

    >>> from lrnnlab.models import build, snap
    >>> model = build("block_diagonal", vocab_size=3, classes=2, h=2, b=4, rule="softmax", drive="none",
    ...               start="first", head="linear")
    >>> heads_machine(head_tables(snap(model)), (0, 1), ("a", "b", "c")).num_symbols
    3
    """
    every = range(len(tables.start))
    if heads is not None and not set(heads) <= set(every):
        raise ValueError(f"the model has heads 0..{len(every) - 1}, got {tuple(heads)}")
    chosen = np.array(every if heads is None else heads, dtype=np.int64)

    def step(states, token):
        return tuple(int(s) for s in tables.moves[chosen, token, np.array(states)])

    def largest(states):
        return int((tables.bias + tables.contributions[chosen, np.array(states)].sum(0)).argmax())

    start = tuple(int(s) for s in tables.start[chosen])
    return MooreMachine.from_rule(start, symbols, step, largest, name=lambda states: "".join(map(str, states)))


def learned_machine(model: Net, specification: MooreMachine, *, limit: int = 1_000_000) -> MooreMachine:
    """The smallest machine that answers as the snapped ``model`` does wherever ``specification`` asks.

    Nothing of the specification's answers is used, only where it asks.  Equal (``==``) to the specification exactly if
    the model is right on all strings, where the specification is minimised and asks nothing of the empty string, as
    ``task.specification`` is.  ``ValueError`` if the model has more than ``limit`` states, if rounding could change the
    answers, and for whatever :func:`verify` refuses.

    >>> from lrnnlab.models import build, snap
    >>> from lrnnlab.tasks import Sum
    >>> model = build("block_diagonal", vocab_size=2, classes=2, h=1, b=2, rule="softmax", drive="none", start="first")
    >>> learned_machine(snap(model), Sum(2).specification) == Sum(2).specification
    False
    """
    asked = minimise(replace(specification, outputs=(specification.outputs >= 0).astype(np.int64), names=()))
    check_snapped(model, specification)
    with deterministic(), torch.no_grad():
        below = reach(model, live_part(specification), limit)
        if below is None:
            raise ValueError(f"the layers under the last have more than {limit} states")
        search = Search(model, asked, below, np.arange(model.layers[-1].h))
        places = edge = search.start
        while len(edge):
            reached = np.unique(np.concatenate([search.move(edge, token)[1] for token in range(asked.num_symbols)]))
            edge = reached[absent(reached, places)]
            places = np.union1d(places, edge)
            if len(places) > limit:
                raise ValueError(f"the model has more than {limit} states where it is asked about")
        _, joint, state = search.split(places)
        shown = np.full(len(places), NO_LABEL)
        here = asked.outputs[state] == 1  # elsewhere a tie is nobody's business
        shown[here] = search.shown(joint[here])
    found = search.verdict(True, (), places, [])
    if not found.robust:
        raise ValueError(str(found))
    follow = np.full((len(places), asked.num_symbols), -1)
    for token in range(asked.num_symbols):
        origin, after = search.move(places, token)
        follow[origin, token] = np.searchsorted(places, after)
    group = coarsest(np.unique(shown, return_inverse=True)[1], follow)
    first = np.unique(group, return_index=True)[1]
    dead = len(first)  # where nothing is asked any more
    to = np.where(follow[first] >= 0, group[follow[first]], dead)
    transitions = np.column_stack([to.T, np.full(asked.num_symbols, dead)])
    outputs = [*shown[first], NO_LABEL]
    start = int(group[np.searchsorted(places, search.start)[0]])
    return minimise(MooreMachine(transitions, np.array(outputs), start, specification.symbols))
