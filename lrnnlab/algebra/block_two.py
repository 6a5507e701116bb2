"""Why a block of size 2 changes everything: it forgets in one direction and remembers in the other (paper 000, Eq. 5).

A gate on one number is constant or keeps all states apart.  From two numbers on there are gates that do neither, A not
zero and det A = 0, and with them one layer stores the first symbol, which no diagonal layer with finitely many states
can, nor any layer whose transitions are all invertible.

Letters: M modulus, s a symbol, b block size, T number of operands; A_s, Bu_s transition and drive of symbol s.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import sympy as sp

from lrnnlab.automata import classify
from lrnnlab.algebra.arithmetic_blocks import even_pair, first_symbol, subtraction_expressions, subtraction_strings
from lrnnlab.algebra.cascades import pair_up
from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.automata.languages import language
from lrnnlab.algebra.words import spelled, value


def block_two(M: int = 5, corner: Fraction = Fraction(-1), operands: int = 249, samples: int = 300,
              seed: int = 0) -> Evidence:  # fmt: skip
    """A_s = [[1, -s/(M-1)], [0, 0]], Bu_s = (s/(M-1), 1) stores the first symbol; with a turn it subtracts.

    corner : factor of the upper right entry; anything but -1 forgets, and the evidence fails.
    The search over all words is exact (M = 2 or 5 for EvenPair, 5 for a-b-c); the float64 check runs ``samples`` random
    expressions of up to ``operands`` numbers, the readout being 2 times the first number less the angle.

    >>> block_two().holds, block_two(corner=0).holds
    (True, False)
    """
    s, r = sp.symbols("s r")
    A, drive = sp.Matrix([[1, corner * r], [0, 0]]), sp.Matrix([r, 1])
    empty, full = A * sp.zeros(2, 1) + drive, A * sp.Matrix([s, 1]) + drive
    kept = sp.simplify(full - sp.Matrix([s, 1])) == sp.zeros(2, 1)
    block = first_symbol(M, corner=corner)
    columns = {tuple(map(abs, column)) for token in range(M) for column in zip(*block.rule(token, ())[0])}
    pairs = pair_up(even_pair(M), language(f"EvenPair({M})").machine)[1]
    expressions = pair_up(subtraction_expressions(), language("a-b-c mod 5, expressions").machine)[1]
    strings = pair_up(subtraction_strings(), language("a-b-c mod 5").machine)[1]
    wrong = _float_errors(5, corner, operands, samples, np.random.default_rng(seed))
    steps = (
        Step("from 0 symbol r leads to (r, 1); a state (s, 1) stays as it is, whatever r", kept and empty == drive,
             f"(s, 1) goes to ({sp.simplify(full[0])}, {full[1]})"),
        Step("A_r is neither zero nor invertible: no gate on one number is like that", A.det() == 0 and A.rank() == 1,
             f"det = {A.det()}, rank {A.rank()}"),
        Step("each column has one entry, at most 1: p-norm at most 1 for every p (Eq. 6)",
             all(sum(map(bool, column)) <= 1 and max(column) <= 1 for column in columns),
             f"largest entry {max(map(max, columns))}"),
        Step(f"with the last symbol beside it: EvenPair({M}), beside its automaton over all words",
             pairs is None and kept, _said(pairs, kept)),
        Step("with a turn of 72 degrees: a-b-c-... mod 5 on expressions, exact in Q(w)", expressions is None and kept,
             _said(expressions, kept)),
        Step("on every string of tokens, well-formed or not, a block of size 3 is exact", strings is None,
             _said(strings)),
        Step(f"in float64: random expressions of up to {operands} operands", not wrong,
             f"{len(wrong)} wrong of {samples}"
             + (f", shortest {min(wrong, key=len)[:40]}" if wrong else "")),
    )  # fmt: skip
    return Evidence("Block size 2", "One layer of blocks of size 2 stores the first symbol and does a-b-c-... mod 5.",
                    "sampled", steps, {"columns": sorted(columns)})  # fmt: skip


def _said(clash, kept=True):
    if not kept:
        return "not run: the block does not store"
    return "no two words confused" if clash is None else f"confuses {clash}"


def _float_errors(M, corner, longest, samples, draw):
    """The expressions answered wrongly; all run side by side, each read off after its own length."""
    lengths, operands = draw.integers(1, longest + 1, samples), draw.integers(M, size=(samples, longest))
    x, turned, answers = np.zeros((samples, 2)), np.ones(samples, complex), np.zeros(samples, int)
    for t, operand in enumerate(operands.T, 1):
        r = operand / (M - 1)
        x = np.stack((x[:, 0] + float(corner) * r * x[:, 1] + r, np.ones(samples)), axis=1)
        turned *= np.exp(2j * np.pi * operand / M)
        read = 2 * np.rint(x[:, 0] * (M - 1)) - np.rint(np.angle(turned) * M / (2 * np.pi))
        answers = np.where(lengths == t, read % M, answers)
    words = [row[:T] for row, T in zip(operands.tolist(), lengths)]
    return [spelled(word) for word, answer in zip(words, answers) if answer != value(word, M)]


def signed_permutations(b: int) -> Iterable[np.ndarray]:
    """The 2^b b! integer blocks with one entry +-1 in each row and column.

    For p < 2 they are the only blocks under Eq. 6 with |det A| = 1 (chapter 02, Theorem 3).

    >>> len(list(signed_permutations(3)))
    48
    """
    for order in itertools.permutations(range(b)):
        for signs in itertools.product((1, -1), repeat=b):
            yield np.eye(b, dtype=int)[list(order)] * np.array(signs)


def invertible_only(name: str = "EvenPair(2)", models: int = 200, seed: int = 0) -> Evidence:
    """Layers whose transitions are all invertible (orthogonal, rotations) cannot do EvenPair with finitely many states.

    Every token then permutes the states, so 0^m does nothing for m the least common multiple of the orders, and 0^m 1
    ends where 1 ends (0 and 1: the first two tokens).  ``models`` random signed permutations of size 3 with integer
    starts show it.  The evidence fails where the two words have one answer; ValueError for a language of one token.

    >>> invertible_only().holds, invertible_only("Parity").holds
    (True, False)
    """
    draw, blocks, m = np.random.default_rng(seed), list(signed_permutations(3)), 12  # orders 1, 2, 3, 4, 6
    machine, apart = language(name).machine, 0
    if machine.num_symbols < 2:
        raise ValueError(f"two tokens are needed, {name} has {machine.num_symbols}")
    for _ in range(models):
        zero, one = (blocks[k] for k in draw.integers(len(blocks), size=2))
        x = draw.integers(-5, 6, 3)
        apart += (one @ np.linalg.matrix_power(zero, m) @ x != one @ x).any()
    answers = [int(machine.answer(word)[-1]) for word in ((0,) * m + (1,), (1,))]
    moves = machine.transitions[:, machine.reachable()]
    merged = [v for v in range(machine.num_symbols) if len(set(moves[v].tolist())) < moves.shape[1]]
    steps = (
        Step("invertible transitions: 0^m 1 ends where 1 ends", not apart,
             f"m = {m}, {apart} of {models} random models differ"),
        Step("the answers differ", answers[0] != answers[1], f"0^{m} 1: {answers[0]}, 1: {answers[1]}"),
        Step("some token merges states of the smallest machine, so its actions are no group",
             not classify(machine).group and bool(merged), f"merging: {[machine.symbols[v] for v in merged]}"),
    )  # fmt: skip
    return Evidence("Invertible transitions",
                    f"No layer of invertible transitions with finitely many states does {name}.",
                    "sampled", steps, {"m": m})  # fmt: skip
