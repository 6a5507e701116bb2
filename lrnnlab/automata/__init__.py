"""Finite machines, the languages of the book, and the algebra of what a machine can remember."""

from lrnnlab.automata.algebra import Classification, Monoid, classify, transition_monoid
from lrnnlab.automata.extraction import Extracted, extract
from lrnnlab.automata.languages import Language, language
from lrnnlab.automata.machines import NO_LABEL, MooreMachine, equivalent, minimise, one_hot_transitions

__all__ = [
    "NO_LABEL", "Classification", "Extracted", "Language", "Monoid", "MooreMachine", "classify", "equivalent", "extract",
    "language", "minimise", "one_hot_transitions", "transition_monoid",
]  # fmt: skip
