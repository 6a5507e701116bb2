"""Paper 000, Proposition 1, "an input-independent LRNN is inconsistent in representing subtraction": what is proved.

The proposition needs that equal values have equal states.  With any read-out h it fails, as two counter-examples show;
what remains true is Theorem A (``storage``): such a layer must store the whole expression.

Letters: M modulus; A transition, Bu_c what letter c adds, z the initial state, x state, h read-out.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import sympy as sp

from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.algebra.words import Layer, check_modulus, positional, value


def symbolic_state(letters: str, start: sp.Expr, gates: Mapping[str, sp.Expr] | None = None) -> sp.Expr:
    """x <- A x + Bu_c over the letters, in non-commuting symbols; ``gates`` gives a letter an A of its own.

    >>> symbolic_state("0-", sp.Symbol("z", commutative=False))
    A*Bu_0 + A**2*z + Bu_-
    """
    A = sp.Symbol("A", commutative=False)
    x = start
    for letter in letters:
        x = sp.expand((gates or {}).get(letter, A) * x + sp.Symbol(f"Bu_{letter}", commutative=False))
    return x


def letter_gates(letters: str = "01-", commutative: bool = False) -> dict[str, sp.Expr]:
    """An A_c for each letter c: what a layer with input-dependent transitions has.

    >>> letter_gates("01")
    {'0': A_0, '1': A_1}
    """
    return {letter: sp.Symbol(f"A_{letter}", commutative=commutative) for letter in letters}


def proposition_1(M: int = 5, gates: Mapping[str, sp.Expr] | None = None) -> Evidence:
    """The paper's derivation step by step, and the hypothesis that it uses in silence.

    M : the modulus (with 2 the first demand is empty).   gates : another transition for some letters, to see where the
    derivation needs one A (``letter_gates()``).  Source: paper 000, Prop. 1.

    >>> proof = proposition_1()
    >>> proof.holds, proof.how, len(proof.steps)
    (True, 'symbolic', 5)
    >>> [step.holds for step in proposition_1(gates=letter_gates()).steps]
    [True, True, False, True, True]
    """
    check_modulus(M)
    z, A = (sp.Symbol(name, commutative=False) for name in "zA")
    g = {letter: (gates or {}).get(letter, A) for letter in "01-"}
    u = {letter: sp.Symbol(f"Bu_{letter}", commutative=False) for letter in "01-"}

    def printed(a, b, x):  # the paper's line for "a-b" from state x: A^3 x + A^2 Bu_a + A Bu_- + Bu_b
        return sp.expand(g[b] * g["-"] * (g[a] * x + u[a]) + g[b] * u["-"] + u[b])

    states = {word: symbolic_state(word, z, gates) for word in ("0-1", "1-0", "0-", "0-0-1", "0-1-0")}
    short = sp.expand(states["0-1"] - states["1-0"])
    long = sp.expand(states["0-0-1"] - states["0-1-0"])
    layer, equal = positional(M), ((0, 0, 1), (0, 1, 0))
    numbers = [int(layer.state(word)[0]) for word in equal]
    answers = [decode_positional(number, M) for number in numbers]
    steps = (
        Step("x(0-1) and x(1-0) are the printed sums",
             all(sp.expand(states[f"{a}-{b}"] - printed(a, b, z)) == 0 for a, b in ("01", "10")),
             f"x(0-1) = {states['0-1']}"),
        Step("x(0-0-1) and x(0-1-0) are the same sums, started from x(0-) instead of z",
             all(sp.expand(states[f"0-{a}-{b}"] - printed(a, b, states["0-"])) == 0 for a, b in ("01", "10")),
             f"x(0-) = {states['0-']}"),
        Step("the two differences are equal, so x(0-1) != x(1-0) and x(0-0-1) = x(0-1-0) contradict each other",
             sp.expand(short - long) == 0 and not short.has(z), f"x(0-1) - x(1-0) = {short}"),
        Step("the values ask for both: 0-1 differs from 1-0, and 0-0-1 equals 0-1-0",
             value((0, 1), M) != value((1, 0), M) and value(equal[0], M) == value(equal[1], M),
             f"modulo {M}: {value((0, 1), M)}, {value((1, 0), M)}; {value(equal[0], M)}, {value(equal[1], M)}"),
        Step("used in silence: equal values must have equal states. A read-out h may map two states to one answer",
             numbers[0] != numbers[1] and answers == [value(word, M) for word in equal],
             f"base {M + 2}: x(0-0-1) = {numbers[0]}, x(0-1-0) = {numbers[1]}, both answer {answers[0]}"),
    )  # fmt: skip
    claim = ("With one A for all letters and 'equal values = equal states', "
             "x(0-1) != x(1-0) and x(0-0-1) = x(0-1-0) cannot both hold.")  # fmt: skip
    return Evidence("Proposition 1", claim, "symbolic", steps, {"difference": short})


def counterexample_sum(M: int = 5, length: int = 500, samples: int = 200, seed: int = 0, A: int = 1) -> Evidence:
    """Sum(M) by one constant scalar A = 1, Bu_s = s and the read-out h(x) = x mod M, in exact integers.

    Every string of up to 5 digits, and ``samples`` random ones of ``length``; bits for the largest state of that
    length.  Another A shows that the check can fail.  Source: against paper 000, Sec. 4.4.

    >>> counterexample_sum().data
    {'states': 2001, 'bits': 11}
    """
    check_modulus(M)

    def right(digits):
        x = 0
        for digit in digits:
            x = A * x + digit
        return x % M == sum(digits) % M

    short = [word for n in range(1, 6) for word in itertools.product(range(M), repeat=n)]
    random = np.random.default_rng(seed).integers(M, size=(samples, length)).tolist()
    wrong_short, wrong = sum(not right(word) for word in short), sum(not right(word) for word in random)
    states = (M - 1) * length + 1
    steps = (
        Step("right on every string of 1 to 5 digits", not wrong_short, f"{wrong_short} wrong of {len(short)}"),
        Step(f"right on random strings of {length} digits", not wrong, f"{wrong} wrong of {samples}"),
        Step("the state fits few bits: it grows like log2 of the length", 2 ** (states - 1).bit_length() >= states,
             f"{states} states, {(states - 1).bit_length()} bits"),
    )  # fmt: skip
    data = {"states": states, "bits": (states - 1).bit_length()}
    return Evidence("Counter-example: Sum", f"x <- {A} x + s with h(x) = x mod {M} computes Sum({M}).", "sampled",
                    steps, data)  # fmt: skip


def decode_positional(number: int, M: int) -> int:
    """The read-out of ``positional``: reads the letters of the expression off the state and subtracts.

    Like any read-out it answers on every state; where no expression leads there the answer means nothing.

    >>> decode_positional(93, 5)                         # digits 1 6 2 in base 7 are the letters 0 - 1
    4
    """
    operands = [0]
    while number:
        number, digit = divmod(number, M + 2)
        if digit != M + 1:  # not a '-'
            operands.append(digit - 1)
    return (2 * operands[-1] - sum(operands)) % M


def counterexample_subtraction(
    M: int = 5, operands: int = 119, samples: int = 200, seed: int = 0, layer: Layer | None = None
) -> Evidence:
    """a-b-c-... modulo M by one constant scalar A = M + 2 and a read-out of digits, in exact integers.

    Every expression of up to 4 operands and ``samples`` random ones of up to ``operands``; bits against the n log2 M
    that Theorem A asks for.  ``layer`` puts another layer under the same read-out.

    >>> counterexample_subtraction().data                # bits of the largest state, and those that no layer can save
    {'bits': 666, 'needed': 277}
    """
    check_modulus(M)
    layer, draw = layer or positional(M), np.random.default_rng(seed)
    short = [word for n in range(1, 5) for word in itertools.product(range(M), repeat=n)]
    random = [draw.integers(M, size=n).tolist() for n in draw.integers(1, operands + 1, size=samples)]
    wrong_short, wrong = (
        sum(decode_positional(int(layer.state(word)[0]), M) != value(word, M) for word in words)
        for words in (short, random)
    )
    bits = int(layer.state([M - 1] * operands)[0]).bit_length()
    needed = (M**operands - 1).bit_length()
    steps = (
        Step("right on every expression of 1 to 4 operands", not wrong_short, f"{wrong_short} wrong of {len(short)}"),
        Step(f"right on random expressions of up to {operands} operands", not wrong, f"{wrong} wrong of {samples}"),
        Step("bits grow like the length, as Theorem A demands", bits >= needed,
             f"{bits} bits for {operands} operands; {operands} log2 {M} = {needed} are needed"),
    )  # fmt: skip
    return Evidence("Counter-example: subtraction",
                    f"x <- {M + 2} x + letter with a read-out of base-{M + 2} digits computes a-b-c-... mod {M}.",
                    "sampled", steps, {"bits": bits, "needed": needed})  # fmt: skip
