"""Every machine of two letters and two, three or four states, asked of the predictor for each family of transitions.

What its rows and metrics are is said in ``ladder_atlas.yaml``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from lrnnbook.content.tables.table import by_setting, load
from lrnnlab.automata import MooreMachine
from lrnnlab.expressivity import predict

NEVER, OPEN, SOME = "-", "?", "s"


def tables(states: int) -> Iterator[tuple[int, ...]]:
    """Where each state goes by a and by b, state by state, of all machines with ``states`` states; see ``ladder_atlas.yaml``.

    >>> len(list(tables(2))), len(list(tables(3)))
    (12, 216)
    """

    def grown(found: tuple[int, ...], seen: int) -> Iterator[tuple[int, ...]]:
        if len(found) == 2 * states:
            if seen == states:
                yield found
        elif len(found) // 2 < seen:  # else a state comes before anything leads to it
            for to in range(min(seen + 1, states)):
                yield from grown((*found, to), max(seen, to + 1))

    return grown((), 1)


def machine(table: tuple[int, ...]) -> MooreMachine:
    """The machine of such a table, which answers with its state."""
    return MooreMachine(np.reshape(table, (-1, 2)).T, np.arange(len(table) // 2), 0, ("a", "b"))


def sign(machine: MooreMachine, family: str) -> str:
    """What is known of a machine, as one sign."""
    found = predict(machine, family)
    if found.layers is not None:
        return str(found.layers)
    return NEVER if found.least is None else OPEN if found.verdict == "not decided" else SOME


def measure(setting: dict, seed: int, **how: Any) -> dict:
    """The verdicts of one family on all machines of one size, and how many there are of each."""
    found = "".join(sign(machine(table), setting["family"]) for table in tables(setting["states"]))
    share = {sign: found.count(sign) / len(found) for sign in ("1", NEVER, OPEN)}
    metrics = {"kept": 1 - share[NEVER] - share[OPEN], "one": share["1"], "never": share[NEVER], "open": share[OPEN]}
    return {"metrics": metrics | {"machines": len(found)}, "verdicts": found}


TABLE = load("ladder/atlas", by_setting(measure))
