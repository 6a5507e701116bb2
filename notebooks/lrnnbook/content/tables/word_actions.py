"""Paper 002, Sec. 7.3: the actions that words of a given length have, counted exactly, and how they compose.

Depth l of RegularGPT shows the actions of words of exactly C^(l+1) letters, so its clusters are at least the elements of
the transition monoid that such words realise.  With S_k the set for length k, S_(k+1) = S_k S_1: one table of the monoid
gives them all.  Chapter 08 has the proofs and the counts by task.

Letters: V tokens, n states; m elements of the monoid; k length of the words.
"""

import numpy as np

from lrnnlab.automata import Monoid, MooreMachine, transition_monoid
from lrnnlab.automata.languages import counter, language


def cycle_navigation() -> MooreMachine:
    """Steps of -1, 0 and +1 around a circle of five places; the answer is the place (paper 002, Sec. 5.1 and 7.3)."""
    return counter(5, "-0+", adds=(-1, 0, 1))


def machine_of(name: str) -> MooreMachine:
    """A language of the book, or "Cycle Navigation"."""
    return cycle_navigation() if name == "Cycle Navigation" else language(name).machine


def multiplication_table(monoid: Monoid) -> np.ndarray:
    """(m, m) int: entry (a, b) is the number of the action "first a, then b"."""
    return monoid.numbers(monoid.elements[:, monoid.elements]).T  # (b, a, state): element a first, then b


def appended(machine: MooreMachine) -> tuple[np.ndarray, np.ndarray]:
    """The monoid's elements (m, n), the identity first, and right (V, m): the number of "element, then token"."""
    monoid = transition_monoid(machine)
    return monoid.elements, monoid.numbers(machine.transitions[:, monoid.elements])


def realised(right: np.ndarray, longest: int) -> np.ndarray:
    """(longest + 1, m) bool: row k marks the elements that words of exactly k tokens realise; right as in ``appended``."""
    found = np.zeros((longest + 1, right.shape[1]), dtype=bool)
    found[0, 0] = True
    for k in range(longest):
        found[k + 1, right[:, found[k]]] = True
    return found


def cluster_count(machine: MooreMachine, length: int) -> int:
    """How many actions words of exactly ``length`` tokens have: the clusters that a depth that sees them must show."""
    return int(realised(appended(machine)[1], length)[length].sum())
