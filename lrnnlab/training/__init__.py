"""Training: one loop (``train``), restarts until a model is accepted (``fit``), and how often a model is right (``evaluate``).

All randomness comes from generators (``rng``), and sums are taken in the same order on any number of threads
(``deterministic``), so that a run gives the same numbers every time.

>>> from lrnnlab.models import build
>>> from lrnnlab.tasks import task
>>> parity = task("sum", 2)
>>> net = build("block_diagonal", parity, rule="softmax", drive="none", start="first", gain=4.0, head="linear")
>>> made = train(net, parity, steps=200, lr=1e-2, weight_decay=1.0, clip=1.0, progress=False)
>>> evaluate(made.net, parity, length=20, strings=64).accuracy_last
1.0
"""

from lrnnlab.tasks.batch import whole_string_accuracy
from lrnnlab.training.engine import Trained, deterministic, rng
from lrnnlab.training.evaluation import Evaluation, evaluate
from lrnnlab.training.loop import early_stopping, train
from lrnnlab.training.restarts import Fit, Mend, Phase, Recipe, fit

__all__ = [
    "Evaluation", "Fit", "Mend", "Phase", "Recipe", "Trained", "deterministic", "early_stopping", "evaluate", "fit", "rng",
    "train", "whole_string_accuracy",
]  # fmt: skip
