"""Finite machines, the languages of the book, and the algebra of what a machine can remember.

>>> parity = MooreMachine(transitions=[[0, 1], [1, 0]], outputs=[0, 1], initial=0, symbols=("0", "1"))
>>> parity.answer([1, 1, 0, 1])
array([1, 0, 0, 1])
>>> equivalent(parity, language("Parity").machine) is None  # else a word that they answer differently
True
>>> classify(parity).aperiodic  # it counts modulo 2, and no aperiodic machine can
False
"""

from lrnnlab.automata.algebra import Classification, Monoid, classify, transition_monoid
from lrnnlab.automata.extraction import Extracted, lstar
from lrnnlab.automata.languages import Language, language
from lrnnlab.automata.machines import NO_LABEL, MooreMachine, equivalent, minimise, one_hot_transitions

__all__ = [
    "NO_LABEL", "Classification", "Extracted", "Language", "Monoid", "MooreMachine", "classify", "equivalent",
    "language", "lstar", "minimise", "one_hot_transitions", "transition_monoid",
]  # fmt: skip
