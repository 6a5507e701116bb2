"""The judges of chapter 10's exercises; hints and solutions are in ch10.md."""

import math

import numpy as np

from lrnnbook.content.exercises.judging import CannotJudge, call, claim, numbers, one_number, shown
from lrnnbook.content.exercises.prediction import prediction
from lrnnbook.content.tables.lrnn_fading import first_below
from lrnnlab.automata import MooreMachine
from lrnnlab.automata.parsing import my_machine
from lrnnlab.expressivity.prediction import predict


def _typed(answer) -> MooreMachine:
    if not isinstance(answer, str):
        raise CannotJudge(f"the answer should be a regular expression, got {shown(answer)}")
    try:
        return my_machine(answer, "ab")
    except ValueError as error:
        raise CannotJudge(str(error)) from None


def _two_families(answer) -> None:
    machine = _typed(answer)
    signed, positive = predict(machine, "signed"), predict(machine, "non-negative")
    claim(signed.layers == 1, f"gates in [-1, 1]: {signed.verdict}")
    claim(positive.least is None, f"gates in [0, 1]: {positive.verdict}")


def _reflection(answer) -> None:
    for i, j, Q in ((0, 1, 2), (0, 2, 3), (3, 1, 5)):
        given = numbers(call(answer, i, j, Q), (Q, Q), f"the matrix for i = {i}, j = {j}, Q = {Q}", real=True)
        swapped = np.eye(Q)
        swapped[[i, j]] = swapped[[j, i]]
        claim(np.allclose(given, swapped), f"for i = {i}, j = {j}, Q = {Q} the matrix does not exchange the two: "
              + shown(given.tolist()))  # fmt: skip


def _positions(answer) -> None:
    given = numbers(answer, (2,), "the two positions").tolist()
    found = [int(t) for t in np.flatnonzero(np.diff(np.cos(0.02 * np.arange(400)) > 0)) + 1][:2]
    for what, one, right in zip(("wrong for the first time", "right again"), given, found):
        claim(one == right, f"the sign is not {what} at {one:g}: when is the phase off by a quarter turn, and by three?")


def _first_below(answer) -> None:
    for right in ([1] * 30, [1] * 20 + [0] * 20, [0] + [1] * 30, [1, 0] + [1] * 30, [1] * 9 + [0], [1] * 98 + [0, 0]):
        found, wanted = call(answer, list(right)), first_below(np.array(right, float), 0.85, 10)
        text = f"{sum(right)} ones of {len(right)}, the first zero at position {right.index(0) + 1 if 0 in right else None}"
        claim(found == wanted, f"for {text} it returns {shown(found)}")


def _shares(answer) -> None:
    for given in numbers(answer, (2,), "the two shares").tolist():
        claim(math.isclose(given, 1 / 3, abs_tol=0.004), f"{shown(answer)}: how many permutations have the right sign?")


def _restarts(answer) -> None:
    def step(state, token):
        after = 1.01 * (state + token)
        return after, round(after) % 3

    for codes, tokens in (((0.0, 1.0, 2.0), [1, 2, 2, 1, 1] * 20), ((3.0, 1.0, 2.0), [2, 1] * 30), ((0.0, 1.0, 2.0), [])):
        state, wanted = 0.0, []
        for token in tokens:
            wanted.append(step(state, token)[1])
            state = codes[wanted[-1]]
        found = call(answer, step, 0.0, codes, list(tokens))
        claim(list(found) == wanted, f"for {len(tokens)} tokens and the codes {codes} the answers are {shown(found)}")


def _tabulates(answer) -> None:
    arrows = {(0, 0): 1, (0, 1): 2, (1, 0): 0, (1, 1): 1, (2, 0): 2, (2, 1): 0}
    for strings in ([[0, 1, 1, 0], [1, 0, 1]], [[1, 1]], []):
        states, wanted = [], {}
        for tokens in strings:
            states.append([])
            q = 0
            for token in tokens:
                before, q = q, arrows[q, token]
                wanted[before, token] = q
                states[-1].append(q)
        found = call(answer, [list(tokens) for tokens in strings], [list(row) for row in states])
        claim(found == wanted, f"for the strings {strings} with the states {states} the table is {shown(found)}")


def _by_depth(answer) -> None:
    machine = _typed(answer)
    reflections, phases = predict(machine, "reflections"), predict(machine, "complex")
    claim(reflections.layers == 1, f"products of reflections: {reflections.verdict}")
    claim(phases.layers != 1, f"complex phases: {phases.verdict}")
    claim(phases.layers is not None, f"complex phases: {phases.verdict}, and the number should be known")


EXERCISES = (
    ("10.1", _first_below), ("10.2", _reflection),
    ("10.3", one_number(3, "{}: how many exchanges of two points, one after the other, make this permutation, and do fewer?")),
    prediction("10.4", ("1", "2", "3", "none"), "3"),
    ("10.5", _two_families), ("10.7", _by_depth), ("10.8", _positions), ("10.9", _shares),
    ("10.10", _restarts),
    ("10.11", one_number(122, "{}: count the letters that can be read from each code, and from the start")),
    ("10.12", _tabulates),
)  # fmt: skip
