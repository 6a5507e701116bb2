"""The judges of chapter 04's exercises; hints and solutions are in ch04.md."""

import math

import numpy as np
from scipy.linalg import block_diag

from lrnnbook.content.exercises.judging import CannotJudge, call, claim, numbers, one_number, shown
from lrnnbook.content.exercises.prediction import prediction


def _turn(theta: float) -> np.ndarray:
    return np.array([[math.cos(theta), -math.sin(theta)], [math.sin(theta), math.cos(theta)]])


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
    given = call(operator, first, second)
    gamma, theta, z = numbers(given, (3,), "the triple").tolist()
    if gamma.imag or theta.imag:
        raise CannotJudge(f"gamma and theta should be real, got {shown(given)}")
    return gamma.real, theta.real, z


def _loud_input(answer) -> None:
    given = np.array([numbers(call(answer, t), (2,), f"the input at t = {t}", real=True) for t in range(2000)])
    lengths = (given**2).sum(1)
    worst = int(np.abs(lengths - 2).argmax())
    claim(np.allclose(lengths, 2), f"at t = {worst} the input's squared length is {lengths[worst]:.4g}, not 2")
    x, reached = np.zeros(2), 0.0
    for u in given:
        x = 0.99 * _turn(0.7) @ x + math.sqrt((1 - 0.99**2) / 2) * u
        reached = max(reached, float(x @ x))
    claim(reached > 190, f"the squared norm reaches {reached:.3g}")


def _scales(answer) -> None:
    decays = np.random.default_rng(5).uniform(0.1, 0.999, 40).tolist()
    scales = numbers(call(answer, decays), (40,), "the scales", real=True).tolist()
    norm = 0.0
    for t, (decay, scale) in enumerate(zip(decays, scales), 1):
        norm = decay**2 * norm + scale**2
        claim(math.isclose(norm, 1, rel_tol=1e-5), f"E||x_{t}||^2 is {norm:.6g}, and should be 1")  # float32 will do


def _mirror(answer) -> None:
    D = numbers(answer, (2, 2), "D").astype(complex)
    claim(np.allclose(D @ D, np.eye(2)), f"D D is {shown((D @ D).real.round(9).tolist())}, and should be I")
    determinant = np.linalg.det(D).real
    claim(np.isclose(determinant, -1), f"det D is {determinant:.4g}, and should be -1")
    for theta in (0.3, 1.1, 2.5):
        turned, back = _turn(theta), _turn(-theta)
        seen = D @ turned @ D
        found = shown(seen.real.round(3).tolist())
        claim(np.allclose(seen, back), f"for theta = {theta:g} D R(theta) D is {found}, which is no rotation by -theta")


def _turned_states(answer) -> None:
    draw = np.random.default_rng(6)
    for theta in ([0.4], [0.4, 0.4], [0.4, 1.1], [2.0, 0.3, 1.2]):
        n = 2 * len(theta)
        B, u = draw.integers(-3, 4, (n, 2)).astype(float), draw.integers(-3, 4, (4, 2)).astype(float)
        A, x, states = block_diag(*map(_turn, theta)), np.zeros(n), []
        for u_t in u:
            x = 0.9 * A @ x + 0.5 * B @ u_t
            states.append(x)
        given = numbers(call(answer, np.array(theta), 0.9, 0.5, B, u), (4, n), "the states", real=True)
        t = next((t for t in range(4) if not np.allclose(given[t], states[t])), None)
        claim(t is None, f"angles {theta}, gamma = 0.9, xi = 0.5: x_{(t or 0) + 1} is {given[t or 0].round(3).tolist()}, "
                         f"and should be {states[t or 0].round(3).tolist()}")  # fmt: skip


def _climb_read(answer) -> None:
    power, step = numbers(answer, (2,), "the power and the step", real=True).tolist()
    steeper = "steeper" if power > 1 else "less steep"
    claim(abs(power - 1) <= 0.1, f"a line of the power {power:g} would be {steeper} than that of the picture")
    half = math.log(0.5) / (2 * math.log(0.99))
    claim(abs(step / half - 1) <= 0.2, f"at step {step:g} it is {'above' if step > half else 'below'} one half")


EXERCISES = (
    ("04.1", _turned_states), ("04.2", _operator), prediction("04.3", (0.001, 0.01, 0.1, 1, 10, 100, 1000), 0.1),
    ("04.5", _mirror), ("04.8", _scales), ("04.9", _climb_read),
    ("04.7", one_number(1, "put c = 4 into the last line of Lemma 3: it does not give {}", within=1e-9)),
    ("04.10", one_number((1 - 0.99**4) / (1 + 0.99**4),  # the limit for decay and correlation 0.99 at 90 degrees
                         "{} is too little, by more than 10 percent", "{} is too much, by more than 10 percent", within=0.1)),
    ("04.11", _loud_input),
)  # fmt: skip
