"""Why does label smoothing decide whether ``release`` extrapolates?  Six ways to train the same network on Sum(5).

Not a table of paper 000: a question that its released code raises when it is trained fast (AdamW, 3e-3).  All rows
are the released column rule, one layer, 500 steps, AdamW and (but ``squared``) cross-entropy, no check on long
strings; ``DIFFERS`` says what else they have.
"""

from __future__ import annotations

from lrnnlab.tables import lrnn_training
from lrnnlab.tables.table import PROTOCOLS, Setting, Table
from lrnnlab.tables.text import accuracies, accuracy
from lrnnlab.training import Phase, Recipe

DIFFERS: dict[str, tuple[dict, float, float | None]] = {  # row: of the loss, Adam's beta_2, norm that gradients are cut to
    "plain": ({}, 0.999, None), "smoothing": ({"smoothing": 0.1}, 0.999, None), "squared": ({"loss": "squared"}, 0.999, None),
    "short_memory": ({}, 0.99, None),  # Adam forgets the large gradients of the beginning
    "clipped": ({}, 0.999, 1.0),  # there are no large gradients to remember
    "clipped_short": ({}, 0.99, 1.0),
}  # fmt: skip
ROWS = tuple(DIFFERS)
STEPS = 500


def setting(row: str, task: str, budget: str) -> Setting:
    """The setting of one row; all budgets are the same.

    >>> setting("squared", "sum", "live").recipe.phases[0].loss
    'squared'
    """
    loss, beta, clip = DIFFERS[row]
    phase = Phase(steps=STEPS, lr=3e-3, warmup=100, weight_decay=0.01, **loss)
    recipe = Recipe((phase,), batch=64, betas=(0.9, beta), clip=clip, average=0.98)
    return Setting("block_diagonal", {"rule": "release", "p": 1.2}, recipe)


TABLE = Table("lrnn/smoothing", ROWS, ("sum",), setting, lrnn_training.measure, accuracy, accuracies, seeds=range(5),
              score=lambda record: record["metrics"]["accuracy_all"], protocols=PROTOCOLS, modulus=5)  # fmt: skip
