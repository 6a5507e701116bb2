"""Which machines attention can follow by counting, with no margin that lasts: a program of counts (C-RASP) for its states.

A layer of attention averages over the tokens so far, so it can compare how often each came: a sum over the prefix with a
threshold at zero, whose margin falls like 1/t.  So a bounded answer has no margin that lasts (Hahn 2020), and yet
transformers that were trained on short strings are often right on long ones, where such a program exists
(arXiv:2410.02140).

Criterion.  In a strongly connected part of the machine let every letter (later: letter and class of the state before it)
have a weight such that the weights of every loop sum to zero; then the sum since the part was entered tells a *potential*
of the state.  States of equal potentials form a class; with classes in place of one, weights may depend on them, and so on
until no class splits.  If the class before a letter and the letter tell the state after it, a program of counts does.
The weights are those of the decider released with "Algebraic Decomposition Theory for Transformer Length Generalization"
(Yang et al. 2026, github.com/bveseli/state-tracking-crasp, src/regex_generation/decider.py), which does not read the last
letter; here it is read.  Whether counts can do more than this, we did not check.

Letters: Q states, V tokens, w a weight, phi a potential.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import null_space
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from lrnnlab.automata import MooreMachine, minimise
from lrnnlab.validation import checked


@checked
def states_told_by_counts(machine: MooreMachine) -> bool:
    """Whether counts of letters tell the state of the minimised machine after every letter.

    >>> from lrnnlab.automata.languages import language
    >>> [states_told_by_counts(language(name).machine) for name in ("D_3", "Tomita 2", "Parity")]
    [True, True, False]
    """
    small = minimise(machine)
    moves, Q = small.transitions, small.num_states
    ends = np.tile(np.arange(Q), len(moves)), moves.ravel()
    part = connected_components(csr_matrix((np.ones(len(ends[0])), ends), (Q, Q)), connection="strong")[1]
    classes, before = part, 0
    while classes.max() + 1 > before:
        before, classes = classes.max() + 1, _split(moves, part, classes)
    return all(len(set(move[classes == c])) == 1 for move in moves for c in set(classes))


def _split(moves: np.ndarray, part: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The classes (Q,) that the potentials of all balanced weights of (letter, class) split."""
    V, Q = moves.shape
    rows = []  # of a system that says: the potential after a letter is that before it and the weight, on the arrows of a part
    for v, q in zip(*np.nonzero(part[moves] == part)):
        row = np.zeros(Q + V * Q)
        row[moves[v, q]] += 1
        row[q] -= 1
        row[Q + v * Q + classes[q]] -= 1
        rows.append(row)
    potentials = null_space(rows)[:Q] if rows else np.zeros((Q, 0))
    first = [np.flatnonzero(part == p)[0] for p in part]
    told = np.round(np.column_stack([classes, potentials - potentials[first]]), 6)
    return np.unique(told + 0.0, axis=0, return_inverse=True)[1].reshape(-1)
