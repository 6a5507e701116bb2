"""The steps of a proof as a table."""

from __future__ import annotations

from lrnnlab import show
from lrnnlab.algebra.evidence import Evidence
from lrnnlab.show.names import mathematical


def steps(proof: Evidence) -> None:
    """Display the steps of a proof, each with what was computed for it.

    >>> from lrnnlab.algebra.evidence import Step
    >>> steps(Evidence("Sum", "2 + 2 = 4", "exact", (Step("it is 4", 2 + 2 == 4, "4"),)))  # doctest: +SKIP
    """
    rows = [{**row, "claim": mathematical(row["claim"]), "computed": mathematical(row["computed"])}
            for row in proof.table()]  # fmt: skip
    show.table(rows, caption=f"{proof.name}, {'every step holds' if proof.holds else 'NOT every step holds'} "
                             f"({proof.how} check): {proof.claim}")  # fmt: skip
