"""Training: one loop (``train``), beginning again until a model is accepted (``fit``), and how often a model is right.

The same numbers every time: all randomness comes from generators, and all runs on one thread (``steady``).
"""

from lrnnlab.training.determinism import deterministic, rng
from lrnnlab.training.evaluation import evaluate
from lrnnlab.training.loop import Trained, early_stopping, share_right, train, with_seed
from lrnnlab.training.recipes import Mend, Phase, Recipe
from lrnnlab.training.restarts import Fit, fit, impurity

__all__ = [
    "Fit",
    "Mend",
    "Phase",
    "Recipe",
    "Trained",
    "deterministic",
    "early_stopping",
    "evaluate",
    "fit",
    "impurity",
    "rng",
    "share_right",
    "train",
    "with_seed",
]  # fmt: skip
