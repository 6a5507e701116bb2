"""Why does label smoothing decide whether ``release`` extrapolates?  Six ways to train the same network on Sum(5).

Not a table of paper 000: a question that its released code raises when it is trained fast (AdamW, 3e-3).  All rows are
the released column rule, one layer, 500 steps, no check on long strings:

=================  ================================================================================================
row                what differs
=================  ================================================================================================
``plain``          cross-entropy, AdamW with torch's defaults (beta_2 = 0.999), no clipping
``smoothing``      labels smoothed by 0.1
``squared``        a squared loss on the logits
``short_memory``   cross-entropy, beta_2 = 0.99: Adam forgets the large gradients of the beginning
``clipped``        cross-entropy, gradients clipped to norm 1: there are no large gradients to remember
``clipped_short``  both
=================  ================================================================================================
"""

from __future__ import annotations

from typing import Any

from lrnnlab.tables import lrnn_training
from lrnnlab.tables.table import PROTOCOLS, Setting, Table
from lrnnlab.tables.text import accuracies, accuracy
from lrnnlab.training import Phase, Recipe

ROWS = ("plain", "smoothing", "squared", "short_memory", "clipped", "clipped_short")
STEPS = 500

_LOSS: dict[str, dict[str, Any]] = {"smoothing": {"smoothing": 0.1}, "squared": {"loss": "squared"}}


def setting(row: str, task: str, budget: str) -> Setting:
    """The setting of one row; all budgets are the same.

    >>> setting("squared", "sum", "live").recipe.phases[0].loss
    'squared'
    """
    phase = Phase(steps=STEPS, lr=3e-3, warmup=100, weight_decay=0.01, **_LOSS.get(row, {}))
    betas = (0.9, 0.99 if row in ("short_memory", "clipped_short") else 0.999)
    clip = 1.0 if row in ("clipped", "clipped_short") else None
    recipe = Recipe((phase,), batch=64, betas=betas, clip=clip, average=0.98)
    return Setting("block_diagonal", {"rule": "release", "p": 1.2}, recipe)


TABLE = Table("lrnn/smoothing", ROWS, ("sum",), setting, lrnn_training.measure, accuracy, accuracies, seeds=5,
              score=lambda record: record["metrics"]["accuracy_all"], protocols=PROTOCOLS, modulus=5)  # fmt: skip
