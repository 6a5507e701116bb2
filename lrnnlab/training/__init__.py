"""Training: one loop (``train``), restarts until a model is accepted (``fit``), and how often a model is right (``evaluate``).

All randomness comes from generators (``rng``), and sums are taken in the same order on any number of threads
(``deterministic``), so that a run gives the same numbers every time.
"""

from lrnnlab.tasks.levels import whole_string_accuracy
from lrnnlab.training.determinism import deterministic, rng
from lrnnlab.training.evaluation import Evaluation, evaluate
from lrnnlab.training.loop import Trained, early_stopping, train
from lrnnlab.training.recipes import Mend, Phase, Recipe
from lrnnlab.training.restarts import Fit, fit

__all__ = [
    "Evaluation", "Fit", "Mend", "Phase", "Recipe", "Trained", "deterministic", "early_stopping", "evaluate", "fit", "rng",
    "train", "whole_string_accuracy",
]  # fmt: skip
