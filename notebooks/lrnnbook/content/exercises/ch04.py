"""The judges of chapter 04's exercises; hints and solutions are in ch04.md."""

import math

import numpy as np
from scipy.linalg import block_diag

from lrnnbook.content.exercises.building import Build
from lrnnbook.content.exercises.judging import CannotJudge, call, claim, numbers, one_number, shown, wrong_step
from lrnnbook.content.exercises.prediction import prediction


def _turn(theta: float) -> np.ndarray:
    return np.array([[math.cos(theta), -math.sin(theta)], [math.sin(theta), math.cos(theta)]])


def mean_square(alpha, gamma, A, B, c, steps=12, runs=2000):  # x_t = alpha (gamma A x_{t-1} + B u_t), |x_1|^2 = c
    rng = np.random.default_rng(0)
    x = rng.standard_normal((runs, len(A)))
    x *= np.sqrt(c) / np.linalg.norm(x, axis=1, keepdims=True)
    sizes = [c]
    for _ in range(steps - 1):
        u = rng.standard_normal((runs, B.shape[1]))
        x = alpha * (gamma * x @ A.T + u @ B.T)
        sizes.append((x**2).sum(1).mean())
    return np.array(sizes)


def join(first, second):
    (gamma, theta, z), (gamma2, theta2, z2) = first, second
    return gamma * gamma2, theta + theta2, gamma2 * np.exp(1j * theta2) * z + z2


def _mean_square(answer) -> None:
    """Exactly where nothing is drawn; else within 12 percent of alpha^2 (gamma^2 s + Tr B^T B), 5 standard errors or more."""
    turn, nothing, drive = _turn(0.7), np.zeros((2, 3)), np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]])
    for alpha, gamma, A, B, c, steps in ((1, 1, np.eye(2), nothing, 1, 1), (1, 0.5, np.eye(2), nothing, 4, 2), (2, 0.5, turn, nothing, 9, 3),
                                         (0.5, 0, np.eye(2), drive, 1, 2), (2, 0.5, turn, drive, 4, 3), (0.9, 0.9, np.eye(2), drive, 4, 5)):
        given = numbers(call(answer, alpha, gamma, A, B, c, steps, 4000), (steps,), "the mean squared lengths", real=True)
        due = [c]
        for _ in range(steps - 1):
            due.append(alpha**2 * (gamma**2 * due[-1] + (B**2).sum()))
        off = np.abs(given - due) > (0.12 if B.any() else 1e-6) * np.array(due)
        about = "about " * bool(B.any())
        claim(not off.any(), f"alpha = {alpha:g}, gamma = {gamma:g}, A = {A.round(2).tolist()}, B = {B.tolist()}, c = {c:g}: at t = "
                             f"{off.argmax() + 1} the mean of |x|^2 is {given[off.argmax()]:.3g}, and should be {about}{due[off.argmax()]:.3g}")  # fmt: skip
    numbers(call(answer, 1, 1, np.eye(2), nothing, 1), (12,), "without steps and runs, the mean squared lengths of 12 steps", real=True)


def _letter(answer) -> None:
    for c, gamma, trace in ((4, 0.9, 1), (9, 0.5, 2), (0.25, 0.99, 0.5), (1, 0.3, 3)):
        alpha = float(numbers(call(answer, c, gamma, trace), (), "alpha", real=True))
        after = alpha**2 * (gamma**2 * c + trace)
        claim(alpha > 0 and math.isclose(after, c, rel_tol=1e-6),
              f"c = {c:g}, gamma = {gamma:g}, Tr = {trace:g}: with alpha = {alpha:.4g} the mean square goes from {c:g} to {after:.4g} in one step")


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
    many = [np.array([[0.5, 1.0], [0.0, 1.5], [1.0, 2.0]]), np.array([[0.25, 0.5], [1.0, -1.0], [3.0, 4.0]])]
    given = call(answer, *map(tuple, many))  # each part an array of two steps
    claim(isinstance(given, (tuple, list)) and len(given) == 3, f"of two triples of arrays a triple should come, got {shown(given)}")
    for name, part, due in zip(("gamma", "theta", "z"), given, join(*many)):
        both = numbers(part, (2,), f"of triples of arrays of two steps, {name}")
        claim(np.allclose(both, due), f"of triples of arrays of two steps, {name} is {shown(both)}, and should be {shown(due)}")


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


def _two_angles(answer) -> None:
    first, second = numbers(answer, (2,), "the two angles", real=True)
    claim(math.isfinite(first) and math.isfinite(second), f"an angle is finite, got {shown(answer)}")
    claim(not np.isclose(first, second), "two equal angles give one S")
    claim(np.allclose(_turn(first), _turn(second)), f"turns by {first:g} and by {second:g} (radians) are two rotations")


EXERCISES = (
    ("04.8", _turned_states), prediction("04.3", (0.001, 0.01, 0.1, 1, 10, 100, 1000), 0.1),
    ("04.10", _mirror), ("04.6", _scales), ("04.5", _climb_read),
    ("04.2", _letter),
    ("04.11", one_number((1 - 0.99**4) / (1 + 0.99**4),  # the limit for decay and correlation 0.99 at 90 degrees
                         "{} is too little, by more than 10 percent", "{} is too much, by more than 10 percent", within=0.1)),
    ("04.12", _loud_input),
    ("04.9", wrong_step(1, {
        2: "the diagonal of a skew matrix is 0, and step 5 of Lemma 1 gives the determinant",
        3: "the exponential of a real number is positive",
        4: "by step 3 no exponential has a negative determinant",
    }, _two_angles)),
)  # fmt: skip
BUILDS = {
    "mean_square": Build("04.1", _mean_square, mean_square,
                         "an experiment that no lemma can argue with; two pictures of this chapter are now yours"),
    "join": Build("04.7", _operator, join,
                  "it is associative, so 4,096 steps take 12 levels; the same three lines run every LRU and every RotRNN"),
}  # fmt: skip
