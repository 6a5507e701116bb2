"""The judges of chapter 10's exercises; hints and solutions are in ch10.md."""

import math

import numpy as np
import torch

from lrnnbook.content.exercises import contracts
from lrnnbook.content.exercises.building import Build
from lrnnbook.content.exercises.judging import CannotJudge, call, claim, numbers, one_number, shown, wrong_step
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
    claim(phases.layers != 1, f"complex gates: {phases.verdict}")
    claim(phases.layers is not None, f"complex gates: {phases.verdict}, and the number should be known")


# --- what is built ----------------------------------------------------------------------------------------------------


def two_reflections(k, beta):  # directions (2, V, h, n), strengths (2, V, h) -> a matrix for each letter and head, (V, h, n, n)
    k = torch.nn.functional.normalize(k, dim=-1)
    first, second = torch.eye(k.shape[-1]) - beta[..., None, None] * k.unsqueeze(-1) * k.unsqueeze(-2)
    return second @ first


class my_rule(torch.nn.Module):
    """Two whole reflections a letter."""

    def __init__(self, letters):
        super().__init__()
        self.k = torch.nn.Parameter(torch.randn(2, letters, 8, 4))

    def forward(self):
        return two_reflections(self.k, torch.full(self.k.shape[:-1], 2.0))


def _product(directions: np.ndarray, strengths: list[float]) -> np.ndarray:
    first, second = (np.eye(len(one)) - strength * np.outer(one, one) for one, strength in zip(directions, strengths))
    return second @ first


def _two_reflections(answer) -> None:
    draw = np.random.default_rng(3)
    for (V, h, n), strong in (((1, 1, 2), True), ((1, 1, 2), False), ((2, 1, 3), False), ((3, 2, 4), False)):
        k = torch.from_numpy(draw.normal(size=(2, V, h, n)).round(1)).requires_grad_()
        beta = torch.from_numpy(np.full((2, V, h), 2.0) if strong else draw.uniform(0.2, 2, (2, V, h)).round(1)).requires_grad_()
        made = contracts.run(answer, k, beta)
        given = numbers(made, (V, h, n, n), f"the matrices of {V} letters and {h} heads", real=True)
        for v, head in np.ndindex(V, h):
            directions, strengths = k[:, v, head].detach().numpy(), beta[:, v, head].tolist()
            lengths = np.linalg.norm(directions, axis=1)
            wanted = _product(directions / lengths[:, None], strengths)
            unit = any(np.allclose(given[v, head], _product(directions / size, strengths)) for size in (1, float(k.detach().norm())))
            why = f" (the directions have the lengths {lengths.round(2).tolist()}: divide each by its own)" * unit
            claim(np.allclose(given[v, head], wanted, atol=1e-5), f"directions {directions.tolist()}, strengths {strengths}: you get "
                  f"{given[v, head].round(3).tolist()}, and should get {wanted.round(3).tolist()}{why}")  # fmt: skip
    claim(isinstance(made, torch.Tensor) and made.requires_grad, f"no gradient flows to the directions: {contracts.STAY}")
    for name, found in zip(("directions", "strengths"), torch.autograd.grad(made.square().sum() + made.sum(), (k, beta), allow_unused=True)):
        claim(found is not None and found.any(), f"no gradient flows to the {name}")
    contracts.keeps_float32(call(answer, torch.ones(2, 1, 1, 2), torch.ones(2, 1, 1)), "matrices")


def _my_rule(answer) -> None:
    draw = np.random.default_rng(4)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        for letters in (1, 2, 5):
            rule, many = call(answer, letters), f"{letters} letter{'s' * (letters > 1)}"
            if not isinstance(rule, torch.nn.Module):
                raise CannotJudge(f"a torch.nn.Module is asked for, got {shown(rule)}")
            A = call(rule)
            given = numbers(A, (letters, None, None, None), f"the matrices of {many}", real=True)
            claim(given.shape[2] == given.shape[3], f"{many}: the matrices have the shape {given.shape}: (letters, h, n, n) is asked for")
            claim(np.array_equal(given, numbers(call(rule), given.shape)), f"{many}: asked twice, the rule gives two answers")
            claim(letters == 1 or not np.allclose(given[0], given[1]), f"{many}: the first two have the same matrices")
            weights = dict(rule.named_parameters())
            claim(weights, "the rule has no weights: keep them as torch.nn.Parameter")
            claim(isinstance(A, torch.Tensor) and A.requires_grad, f"no gradient flows from the matrices to the weights: {contracts.STAY}")
            found = torch.autograd.grad((A * torch.from_numpy(draw.normal(size=A.shape)).to(A)).sum(), list(weights.values()), allow_unused=True)
            for name, slope in zip(weights, found):
                claim(slope is not None and slope.any(), f"{many}: no gradient flows to the weight {name}")
            contracts.keeps_float32(A, "matrices")
            x = np.ones((*given.shape[1:3], 1), np.float32)
            for t in range(500):
                x = given[draw.integers(letters)].astype(np.float32) @ x
                claim(np.abs(x).max() < 1e6, f"{many}: after {t + 1} of them a state has grown from 1 to {np.abs(x).max():.2g}")


BUILDS = {
    "two_reflections": Build("10.1", _two_reflections, two_reflections, "with both strengths 2 the lengths of all states stay as they "
                             "are, and the product turns them: what one reflection cannot do."),
    "my_rule": Build("10.7", _my_rule, my_rule, "matrices for any alphabet, trained through every weight, and no state grows beyond "
                     "bounds in 500 letters. What it can hold is another question: bet before you train it."),
}  # fmt: skip


def _marks_first(answer) -> None:
    a, b = numbers(answer, (2,), "(a, b)", real=True)
    claim(0 <= a <= 1 and math.isfinite(b), f"a gate is in [0, 1] and a state is finite, got {shown(answer)}")
    claim(abs(a * b) > 1e-6, f"the first position has x = {b:g}, and so has the second")  # if a > 0, later ones are further away
    claim(a < 1, f"with a = {a:g} the state grows without a bound")


EXERCISES = (
    ("10.14", _first_below), ("10.8", _reflection),
    ("10.3", one_number(3, "{}: how many exchanges of two points, one after the other, make this permutation, and do fewer?")),
    prediction("10.4", ("1", "2", "3", "none"), "3"),
    ("10.5", _two_families), ("10.6", _by_depth), ("10.10", _positions), ("10.11", _shares),
    ("10.12", _restarts),
    ("10.13", one_number(122, "{}: count the letters that can be read from each code, and from the start")),
    ("10.15", _tabulates),
    ("10.9", wrong_step(4, {
        1: "both end in 1; the first begins with 0 and the second with 1",
        2: "the loop 01 has both letters, so each round multiplies what came before by a number below 1",
        3: "it would add the same amount in every round, and 0 and 1 may each be read for ever, too; so it stays where it was",
        5: "what holds for one layer more, whatever is below, holds for all",
    }, _marks_first)),
    prediction("10.2", ("2 reflections, DeltaNet, LSTM", "Elman, LSTM, softmax blocks", "Elman, LSTM, one-hot columns", "2 reflections, LSTM, one-hot columns"),
               "Elman, LSTM, one-hot columns"),
)  # fmt: skip
