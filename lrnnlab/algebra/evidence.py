"""What a check of a theorem returns: its steps, whether each holds, and what was computed to see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

HOW = ("symbolic", "exact", "exhaustive", "sampled", "numerical")


@dataclass(frozen=True)
class Step:
    """One step: the sentence it claims, whether the computation agrees, and what was computed."""

    says: str
    holds: bool
    shown: str


@dataclass(frozen=True)
class Evidence:
    """All steps of one theorem.

    name : as in the paper or the book.      claim : the statement, one or two sentences.
    how : the weakest kind of check among the steps: ``"symbolic"`` (an identity in free symbols), ``"exact"``
        (integers, fractions, algebraic numbers), ``"exhaustive"`` (every case of a finite set), ``"sampled"`` (random
        cases) or ``"numerical"`` (floating point).
    data : what a picture or a table of the result needs.

    >>> found = Evidence("Lemma", "2 + 2 = 4", "exact", (Step("the sum is four", 2 + 2 == 4, "2 + 2 = 4"),))
    >>> found.holds, found.table()
    (True, [{'step': 1, 'claim': 'the sum is four', 'holds': 'yes', 'computed': '2 + 2 = 4'}])
    """

    name: str
    claim: str
    how: str
    steps: tuple[Step, ...]
    data: Mapping = field(default_factory=dict)

    def __post_init__(self):
        if self.how not in HOW:
            raise ValueError(f"evidence is {', '.join(HOW)}, got {self.how!r}")
        if not self.steps:
            raise ValueError(f"{self.name}: evidence needs at least one step, got none")

    @property
    def holds(self) -> bool:
        """Every step holds."""
        return all(step.holds for step in self.steps)

    def table(self) -> list[dict]:
        """One row a step, for ``show.table``."""
        return [
            {"step": number, "claim": step.says, "holds": "yes" if step.holds else "NO", "computed": step.shown}
            for number, step in enumerate(self.steps, 1)
        ]

    def __str__(self) -> str:
        lines = [f"{self.name} ({self.how}): {'holds' if self.holds else 'FAILS'}. {self.claim}"]
        lines += [f"  {n}. [{'x' if s.holds else ' '}] {s.says}: {s.shown}" for n, s in enumerate(self.steps, 1)]
        return "\n".join(lines)
