"""Which family of transitions can compute a finite machine, in how many layers, with which words as witness; exact weights.

Exact arithmetic (fractions, SymPy) where it can be; nothing here trains or draws, or knows of torch, tasks or models.
"""

from lrnnlab.expressivity.construction import Constructed, construct
from lrnnlab.expressivity.prediction import FAMILIES, Prediction, predict
from lrnnlab.expressivity.robustness import Counterexample

__all__ = ["FAMILIES", "Constructed", "Counterexample", "Prediction", "construct", "predict"]
