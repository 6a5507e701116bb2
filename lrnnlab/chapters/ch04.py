"""The exercises of chapter 04 (rotations) that a cell can check."""

from __future__ import annotations

import math

import numpy as np

from lrnnlab.course.exercises import Exercise
from lrnnlab.course.judging import CannotJudge, call, claim, number, numbers, shown
from lrnnlab.course.predicting import prediction
from lrnnlab.algebra.coloured_input import stationary_norm
from lrnnlab.algebra.rotation_layer import Head


def _second_norm(answer) -> None:
    claim(number(answer) == 1, f"put c = 4 into the last line of Lemma 3: it does not give {shown(answer)}")


def _coloured(answer) -> None:
    given, truth = number(answer), stationary_norm(0.99, math.pi / 2, 0.99)
    claim(given <= 1.1 * truth, f"{given:g} is too much, by more than 10 percent")
    claim(given >= 0.9 * truth, f"{given:g} is too little, by more than 10 percent")


def _operator(answer) -> None:
    trial = np.random.default_rng(3)
    for _ in range(50):
        drawn = trial.uniform((0.1, -2, -2, -2), (0.9, 2, 2, 2), (3, 4)).round(1).tolist()
        triples = [(gamma, theta, complex(*z)) for gamma, theta, *z in drawn]
        state = 0
        for gamma, theta, z in triples:
            state = gamma * np.exp(1j * theta) * state + z
        left = _triple(answer, _triple(answer, *triples[:2]), triples[2])
        right = _triple(answer, triples[0], _triple(answer, *triples[1:]))
        for name, found in (("from the left", left), ("from the right", right)):
            claim(np.isclose(found[2], state), f"the triples {shown(triples)}, folded {name}, give {found[2]:.4g}; "
                                               f"the state is {state:.4g}")  # fmt: skip


def _triple(operator, first, second) -> tuple:
    gamma, theta, z = numbers(call(operator, first, second), (3,), "the triple").tolist()
    return gamma.real, theta.real, z


def _loud_input(answer) -> None:
    given = np.array([numbers(call(answer, t), (2,), f"the input at t = {t}") for t in range(2000)], dtype=float)
    lengths = (given**2).sum(1)
    worst = int(np.abs(lengths - 2).argmax())
    claim(np.allclose(lengths, 2), f"at t = {worst} the input's squared length is {lengths[worst]:.4g}, not 2")
    head = Head(0.99, np.array([0.7]), np.eye(2), np.eye(2), np.eye(2))
    reached = float((head.states(given)[-1] ** 2).sum())
    claim(reached > 190, f"the squared norm reaches {reached:.3g}")


def _scales(answer) -> None:
    decays = np.random.default_rng(5).uniform(0.1, 0.999, 40).tolist()
    scales = numbers(call(answer, decays), (40,), "the scales").tolist()
    norm = 0.0
    for t, (decay, scale) in enumerate(zip(decays, scales), 1):
        if isinstance(scale, complex):
            raise CannotJudge(f"xi_{t} is {scale}, and should be a real number")
        norm = decay**2 * norm + scale**2
        claim(math.isclose(norm, 1), f"E||x_{t}||^2 is {norm:.4f}")


EXERCISES = (
    Exercise(
        "04.1", 1, 5, "to put numbers into a printed lemma", _second_norm, ("Put it in.",),
        "1, for any $\\gamma$ and trace: $\\alpha^2(\\gamma^2 \\cdot 4 + \\mathrm{Tr})$ with $\\alpha^2 = "
        "1/(4\\gamma^2 + "
        "\\mathrm{Tr})$.",
        lambda: 1,
    ),
    Exercise(
        "04.2", 1, 5, "to predict what correlated input does to a rotating state", _coloured,
        ("At 90 degrees the angle's cosine is 0.", "Where does the state point two steps later? And the input?"),
        "Far below: $(1 - r^2)/(1 + r^2)$ with $r = 0.9801$, about 0.020. After two steps the state has "
        "turned by 180°, "
        "and the input, which has hardly changed, takes away what it gave.",
        lambda: (1 - 0.9801**2) / (1 + 0.9801**2),
    ),
    Exercise(
        "04.3", 2, 10, "the scan's operator for decay and turn", _operator,
        ("First turn and shrink by both, then add.", "Decays multiply, angles add."),
        "`lambda a, b: (a[0] * b[0], a[1] + b[1], b[0] * np.exp(1j * b[1]) * a[2] + b[2])`.",
        lambda: lambda a, b: (a[0] * b[0], a[1] + b[1], b[0] * np.exp(1j * b[1]) * a[2] + b[2]),
    ),
    Exercise(
        "04.4", 2, 10, "that the norm's theorem needs white input", _loud_input,
        ("What does the state do between two inputs?",),
        "Turn with the state: $u_t = \\sqrt 2\\,(\\cos 0.7t,\\ \\sin 0.7t)$. Then every input arrives in the "
        "direction of the "
        "state, and lengths add up to $\\sqrt2\\,\\xi/(1 - \\gamma)$, with $\\xi^2 = (1 - \\gamma^2)/2$: squared, "
        "$(1 + \\gamma)/(1 - \\gamma) = 199$.",
        lambda: lambda t: (math.sqrt(2) * math.cos(0.7 * t), math.sqrt(2) * math.sin(0.7 * t)),
    ),
    Exercise(
        "04.5", 2, 10, "a constant norm with a decay that depends on time", _scales,
        ("What must the first scale be?",),
        "$\\xi_1 = 1$, and $\\xi_t = \\sqrt{1 - \\gamma_t^2}$ later: from $s_t = \\gamma_t^2 s_{t-1} + "
        "\\xi_t^2$. Nothing "
        "else is needed, so such a layer may choose $\\gamma_t$ by its input's position, and its rotation too.",
        lambda: lambda decays: [1, *(math.sqrt(1 - decay**2) for decay in decays[1:])],
    ),
    prediction(
        "04.8", 1, 5, "what rounding does to a norm that is kept",
        "cos 1 and sin 1 are rounded to bfloat16 (8 binary digits), and this rotation is applied 1,000 times, without "
        "further rounding. A vector of length 1: how long is it afterwards, to the nearest power of ten?",
        (0.001, 0.01, 0.1, 1, 10, 100, 1000),
        0.1,
        ("A rounded number is off by up to one part in 512.", "What is $(1 - 0.002)^{1000}$?"),
        "Rounded, $\\cos^2 + \\sin^2$ is 0.996 and no longer 1, so each step multiplies the length by 0.998, and "
        "1,000 steps by 0.13. At other angles the sum is above 1 and the vector grows. A rotation keeps the norm only "
        "as well as its numbers are stored.",
    ),
)  # fmt: skip
