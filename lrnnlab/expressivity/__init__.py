"""Which family of transitions can compute a finite machine, in how many layers, with which words as witness; exact weights.

Exact arithmetic (fractions, SymPy) where it can be; nothing here trains or draws, or knows of torch, tasks or models.

>>> from lrnnlab.automata import language
>>> found = predict(language("Parity").machine, "non-negative")
>>> found.verdict, found.counterexample.words(1)  # such a layer forgets which of the two it has read, as n grows
('no number of layers', ((1, 1, 1), (1, 1)))
>>> predict(language("Parity").machine, "signed").verdict, construct(language("Parity").machine, "signed").family
('one layer', 'signed')
"""

from lrnnlab.expressivity.construction import Constructed, construct
from lrnnlab.expressivity.prediction import FAMILIES, Prediction, predict
from lrnnlab.expressivity.robustness import Counterexample

__all__ = ["FAMILIES", "Constructed", "Counterexample", "Prediction", "construct", "predict"]
