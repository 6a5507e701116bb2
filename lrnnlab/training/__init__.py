"""Training: one loop (``train``), restarts until a model is accepted (``fit``), and how often a model is right (``evaluate``).

All randomness comes from generators (``rng``), and sums are taken in the same order on any number of threads
(``deterministic``), so that a run gives the same numbers every time.
"""

from lrnnlab.training.determinism import deterministic, rng
from lrnnlab.training.evaluation import evaluate
from lrnnlab.training.loop import Trained, TrainState, early_stopping, share_right, train, with_seed
from lrnnlab.training.recipes import Mend, Phase, Recipe
from lrnnlab.training.restarts import Fit, fit

__all__ = [
    "Fit", "Mend", "Phase", "Recipe", "TrainState", "Trained", "deterministic", "early_stopping", "evaluate", "fit", "rng",
    "share_right", "train", "with_seed",
]  # fmt: skip
