"""Training: one loop (``train``), beginning again until a model is accepted (``fit``), and how often a model is right.

The same numbers every time: all randomness comes from generators, and all runs on one thread (``steady``).
"""

from lrnnlab.training.determinism import steady_arithmetic, stream
from lrnnlab.training.evaluation import evaluate
from lrnnlab.training.loop import Trained, settled, share_right, train, with_seed
from lrnnlab.training.recipes import Mend, Phase, Recipe
from lrnnlab.training.restarts import Fit, fit, impurity

__all__ = [
    "Fit", "Mend", "Phase", "Recipe", "Trained", "evaluate", "fit", "impurity", "settled", "share_right",
    "steady_arithmetic", "stream", "train", "with_seed",
]  # fmt: skip
