"""What the contracts of chapter 06 are tried on: right ones of another style, and wrong ones with a word of what they are told."""

from fractions import Fraction

import numpy as np
import sympy as sp


def multiplied_out(nodes, S):
    weights = []
    for i, node in enumerate(nodes):
        coefficients, scale = [Fraction(1)], Fraction(1)
        for other in nodes[:i] + nodes[i + 1 :]:
            shifted = [Fraction(0), *coefficients]
            coefficients = [a - other * b for a, b in zip(shifted, [*coefficients, Fraction(0)])]
            scale *= node - other
        weights.append(coefficients[S] / scale)
    return weights


def by_sympy(nodes, S):
    """The Vandermonde system, solved as one."""
    N = len(nodes)
    system = sp.Matrix(N, N, lambda k, i: sp.Rational(nodes[i].numerator, nodes[i].denominator) ** k)
    return [Fraction(int(w.p), int(w.q)) for w in system.LUsolve(sp.Matrix([int(k == S) for k in range(N)]))]


def roots(L):
    return np.exp(2j * np.pi * np.arange(L) / L)


def by_fft(L, S):
    """The half-turned grid: its weights are a Fourier transform of the one-hot, then turned."""
    nodes = roots(L) * np.exp(0.3j)
    return list(nodes), list(np.fft.fft(np.eye(L)[S]) / L * np.exp(-0.3j * S))


RIGHT = {
    "real_weights": [multiplied_out, by_sympy],
    "circle_weights": [by_fft, lambda L, S: np.array([roots(L), np.exp(-2j * np.pi * np.arange(L) * S / L) / L])],
}
WRONG = {
    "real_weights": [
        (lambda nodes, S: multiplied_out(nodes, len(nodes) - 1), "S = 0: the kernel is"),  # the last shift, whatever is asked
        (lambda nodes, S: [-w for w in multiplied_out(nodes, S)], "the kernel is -1, and should be 1"),
        (lambda nodes, S: [float(w) for w in multiplied_out(nodes, S)], "floats are rounded, fractions are asked for"),
        (lambda nodes, S: multiplied_out(nodes, S)[:-1], "should be real numbers of shape (1,)"),
    ],
    "circle_weights": [
        (lambda L, S: (roots(L), roots(L) ** S / L), "L = 3, S = 1: at lag 1 the kernel is"),  # turned the other way
        (lambda L, S: (roots(L), np.ones(L) / L), "L = 2, S = 1: at lag 0 the kernel is 1, and should be 0"),
        (lambda L, S: (np.zeros(L), np.ones(L) / L), "a node has size 0, and is not on the circle"),
        (lambda L, S: np.ones(L), "the nodes and the weights at L = 1, S = 0"),
    ],
}  # fmt: skip
