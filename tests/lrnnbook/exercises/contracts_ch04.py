"""Chapter 04's builds: right answers of different style, and wrong ones with a part of what they are told."""

import cmath

import numpy as np

from lrnnbook.content.exercises.ch04 import mean_square


def run_by_run(alpha, gamma, A, B, c, steps=12, runs=2000):
    """One run after the other, with states as columns."""
    draw, squares = np.random.default_rng(5), np.zeros(steps)
    for _ in range(runs):
        x = draw.normal(size=len(A))
        x = x / np.sqrt((x @ x) / c)
        for t in range(steps):
            squares[t] += x @ x
            x = alpha * (gamma * A @ x + B @ draw.normal(size=B.shape[1]))
    return squares / runs


def in_one_draw(alpha, gamma, A, B, c, steps=12, runs=2000):
    """All inputs drawn at once, signs in place of Gaussian numbers, from one start."""
    u = np.random.default_rng(6).choice([-1.0, 1.0], size=(steps, runs, B.shape[1]))
    x, sizes = np.tile([c**0.5, *[0] * (len(A) - 1)], (runs, 1)), []
    for inputs in u:
        sizes.append(float(np.einsum("ij,ij->i", x, x).mean()))
        x = (gamma * np.einsum("nm,rm->rn", A, x) + inputs @ B.T) * alpha
    return sizes


def alpha_on_the_state_alone(alpha, gamma, A, B, c, steps=12, runs=2000):
    return mean_square(1, alpha * gamma, A, B, c, steps, runs)


def same_input_at_every_step(alpha, gamma, A, B, c, steps=12, runs=2000):
    draw = np.random.default_rng(0)
    x = draw.standard_normal((runs, len(A)))
    x *= np.sqrt(c) / np.linalg.norm(x, axis=1, keepdims=True)
    u, sizes = draw.standard_normal((runs, B.shape[1])), [c]
    for _ in range(steps - 1):
        x = alpha * (gamma * x @ A.T + u @ B.T)
        sizes.append((x**2).sum(1).mean())
    return sizes


def by_steps(first, second):
    """Polar: the decay and the angle as one complex number."""
    factor = first[0] * np.exp(1j * first[1]) * second[0] * np.exp(1j * second[1])
    return np.abs(factor), first[1] + second[1], second[0] * (np.cos(second[1]) + 1j * np.sin(second[1])) * first[2] + second[2]


RIGHT = {
    "mean_square": [run_by_run, in_one_draw],
    "join": [by_steps, lambda a, b: [a[0] * b[0], a[1] + b[1], a[2] * b[0] * np.exp(b[1] * 1j) + b[2]]],
}
WRONG = {
    "mean_square": [
        (alpha_on_the_state_alone, "alpha = 0.5, gamma = 0,"),
        (same_input_at_every_step, "at t = 3 the mean of |x|^2"),
        (lambda alpha, gamma, A, B, c, steps, runs=9: mean_square(alpha, gamma, A, B, c, steps, runs=runs), "missing 1 required"),
        (lambda *given: np.sqrt(mean_square(*given)), "at t = 1 the mean of |x|^2 is 2, and should be 4"),
        (lambda alpha, gamma, A, B, c, steps=12, runs=2000: mean_square(alpha, gamma, A, B, c, steps + 1, runs)[1:], "at t = 1"),
    ],
    "join": [
        (lambda a, b: (a[0] * b[0], a[1] + b[1], a[0] * np.exp(1j * a[1]) * b[2] + a[2]), "the state is"),
        (lambda a, b: (a[0] + b[0], a[1] + b[1], b[0] * np.exp(1j * b[1]) * a[2] + b[2]), "folded from the right"),
        (lambda a, b: (a[0] * b[0], a[1] + b[1], b[0] * cmath.exp(1j * b[1]) * a[2] + b[2]), "raised"),
    ],
}
