"""Which family of transitions can compute a finite machine, in how many layers, with which words as witness; exact weights.

Exact arithmetic (fractions, SymPy) where it can be; nothing here trains or draws, or knows of torch, tasks or models.
"""

from lrnnlab.expressivity.prediction import FAMILIES, Prediction, predict
from lrnnlab.expressivity.robustness import Counterexample
from lrnnlab.expressivity.weights import Weights, exact_weights

__all__ = ["FAMILIES", "Counterexample", "Prediction", "Weights", "exact_weights", "predict"]
