"""The exercises of chapter 08 (working memory in depth) that a cell can check."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from lrnnlab.automata import classify, equivalent
from lrnnlab.course.exercises import Exercise
from lrnnlab.course.judging import CannotJudge, call, claim, number, numbers, shown
from lrnnlab.course.predicting import prediction
from lrnnlab.models.chunk_masks import kept_positions
from lrnnlab.algebra.chunk_composition import flat
from lrnnlab.algebra.chunk_cost import threshold
from lrnnlab.algebra.clusters import cluster_count, machine_of
from lrnnlab.algebra.composition_order import printed_machine
from lrnnlab.algebra.error_correction import reach
from lrnnlab.automata.languages import LANGUAGES, language
from lrnnlab.algebra.recursion import matrices


def _nodes(answer) -> None:
    given, nodes = number(answer), sum(len(kept_positions(500, 2, depth)) for depth in range(9))
    claim(given >= nodes, f"{given:g} is too few: is every letter under a node, and the last one of an odd row too?")
    claim(given <= nodes, f"{given:g} is too many: the letters are not counted, nor what only pads a row")


def _twice(answer) -> None:
    if not isinstance(answer, (set, frozenset, list, tuple, np.ndarray)):
        raise CannotJudge(f"a set of distances is asked for, got {shown(answer)}")
    given = set(numbers(list(answer), (None,), "the distances").tolist())
    routes = [first + second for first in (0, 1, 2) for second in (0, 2, 4)]
    for distance in sorted(given):
        ways = "one route" if routes.count(distance) == 1 else "no route at all"
        claim(routes.count(distance) == 2, f"the distance {distance:g} comes by {ways}")
    claim(given == {one for one in routes if routes.count(one) == 2}, "not all: another one comes by two routes")


def _triple(answer) -> None:
    draw = np.random.default_rng(0)
    for n in (2, 3):
        layer = call(answer, n)
        if not isinstance(layer, (tuple, list)) or len(layer) != 3:
            raise CannotJudge(f"W1, c and W2 are asked for, and n = {n} gave {shown(layer)}")
        W1 = numbers(layer[0], (3 * n * n, None), "W1")
        units = W1.shape[1]
        c, W2 = numbers(layer[1], (units,), "c"), numbers(layer[2], (units, n * n), "W2")
        claim(units <= n**4, f"n = {n}: {units} hidden units, and fewer do")
        maps = matrices(n, 1, 1)
        for A, B, C in maps[draw.integers(len(maps), size=(300, 3))]:
            made = np.maximum(np.concatenate([flat(A), flat(B), flat(C)]) @ W1 + c, 0) @ W2
            claim(np.allclose(made, flat(A @ B @ C)),
                  f"{A.tolist()}, {B.tolist()}, {C.tolist()} gave {shown(made.round(3).reshape(n, n))}")  # fmt: skip


def _word(answer) -> None:
    if not isinstance(answer, str) or not set(answer) <= set("st") or not answer:
        raise CannotJudge(f"a text of the letters s and t is asked for, got {shown(answer)}")
    machine = machine_of("S_3")
    forward, backward = ([machine.symbols.index(letter) for letter in text] for text in (answer, answer[::-1]))
    claim(machine.answer(forward)[-1] != machine.answer(backward)[-1],
          f"{answer!r} and, backwards, {answer[::-1]!r} have one answer: there the printed order is right")  # fmt: skip
    claim(len(answer) == 2, f"{answer!r} is one, but not the shortest")


def _harmless(answer) -> None:
    if not isinstance(answer, str):
        raise CannotJudge(f"the name of a language is asked for, got {shown(answer)}")
    if answer not in LANGUAGES:
        raise CannotJudge(f"the book knows no language {shown(answer)}; names are written as in 'Tomita 5' and 'D_2'")
    machine = language(answer).machine
    claim(not classify(machine).commutative, f"the letters of {answer} commute")
    differ = equivalent(machine, printed_machine(machine))
    where = "".join(machine.symbols[token] for token in differ or ())
    claim(differ is None, f"the printed order errs on {where!r} of {answer}")


def _reach(answer) -> None:
    right = abs(number(answer) - reach(3)) <= 1e-3
    claim(right, f"put g = 3 into the margin that you have proved: it is not {shown(answer)}")


def _clusters(answer) -> None:
    given = numbers(answer, (2,)).tolist()
    for name, count in zip(("Tomita 5", "(aa)*"), given):
        due = cluster_count(machine_of(name), 8)
        claim(count == due, f"{name}: not {count:g}; which actions have words of 8 letters?")


def _threshold(answer) -> None:
    given = number(answer)
    claim(given == threshold(512, 64), f"not {given:g}: how many whole depths do 512 letters take?")


def _triple_layer(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    i, k, l, j = np.indices((n,) * 4).reshape(4, -1)  # one hidden unit for each
    W1, W2 = np.zeros((3 * n * n, n**4)), np.zeros((n**4, n * n))
    for matrix, (row, column) in enumerate(((i, k), (k, l), (l, j))):
        W1[matrix * n * n + row * n + column, range(n**4)] = 1
    W2[range(n**4), i * n + j] = 1
    return W1, np.full(n**4, -2), W2


EXERCISES = (
    Exercise(
        "08.1", 1, 5, "how large the tree is", _nodes, ("Halve 500, and round up, until 1.",),
        "$250 + 125 + 63 + 32 + 16 + 8 + 4 + 2 + 1 = 501$.",
        lambda: 501,
    ),
    Exercise(
        "08.2", 1, 5, "why steps must be powers of the chunk", _twice, ("Write down $\\{0, 1, 2\\} + \\{0, 2, 4\\}$.",),
        "$\\{2, 4\\}$: $2 = 2 + 0 = 0 + 2$ and $4 = 2 + 2 = 0 + 4$.",
        lambda: {2, 4},
    ),
    Exercise(
        "08.3", 2, 15, "what larger chunks cost", _triple, ("When do three bits add up to 3?",),
        "$\\mathrm{ReLU}(A_{ik} + B_{kl} + C_{lj} - 2)$ is the product of three bits, and one needs it for all $(i, "
        "j, k, l)$: $n^4$ units. So the unit of $(i, k, l, j)$ has three ones in its column of $W_1$, its bias is "
        "$-2$, and it adds to place $(i, j)$. Chunks of $C$ take $n^{C+1}$ units; that is the price of fewer depths.",
        lambda: _triple_layer,
    ),
    Exercise(
        "08.4", 1, 5, "where the order of composition shows", _word, ("Which two permutations do not commute?",),
        "`st` or `ts`.",
        lambda: "st",
    ),
    Exercise(
        "08.5", 2, 10, "when the order of composition does not matter", _harmless,
        ("An action is a product of letters' actions.", "Which question has the same answer from both ends of a word?"),
        "The printed order makes $A_{u_T} \\cdots A_{u_1}$; if letters' matrices commute, that is $A_{u_1} \\cdots "
        "A_{u_T}$. `EvenPair(2)` asks whether the first letter equals the last, and so does the answer to the "
        "mirrored word: its actions do not commute, its *answers* do not care. `Tomita 4` (no 000) is another.",
        lambda: "EvenPair(2)",
    ),
    Exercise(
        "08.6", 2, 15, "how a second ReLU removes errors", _reach, ("What is $s$ at least, what at most?",),
        "$\\frac14 - \\frac1{4g}$ with $g = 3$: $\\frac16$. Two ones give $s \\ge 1 - 2e = \\frac12 + \\frac1{2g}$, "
        "where both ReLUs are on and differ by 1; all else gives $s \\le \\frac12 - \\frac1{2g}$, where both are "
        "off.",
        lambda: Fraction(1, 6),
    ),
    Exercise(
        "08.7", 1, 5, "how the length of words limits clusters", _clusters,
        ("How many 0s can a word of 8 letters with an even number of 1s have?",),
        "2 and 1: the length fixes the parity of the number of 0s and 1s together, so only (even, even) and (odd, "
        "odd) are left; and $a^8$ is one word.",
        lambda: (2, 1),
    ),
    Exercise(
        "08.9", 1, 5, "what whole depths do to a count of costs", _threshold, ("Two depths.",),
        "$512/(64 \\cdot 2) = 4$. (Printed with $\\log_{64} 512 = 1.5$ it would be $5.33$.)",
        lambda: 4,
    ),
    prediction(
        "08.11", 1, 5, "what a layer that knows a machine does at depths it was never used at",
        "The net of section 6 has read strings of up to 40 bits, in six depths. Now 32 strings of 2,048 bits, eleven "
        "depths: how many answers are right?", ("about half", "most, not all", "all"), "all",
        ("Section 7 looks at the depths 6, 7 and 8.",),
        "Its states fall into the same two places after every depth, so the eleventh use of the layer gets what the "
        "second one got. Small errors do not add up: the layer puts states back to their places.",
    ),
)  # fmt: skip
