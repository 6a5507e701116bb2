"""Wrong answers planted for the exercises of chapters 05 to 10, and right ones in another style."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import sympy as sp
import torch


def triple_layer(n, bias=-2.0, copies=1):
    """A unit for each (i, k, m, j), filled by a loop."""
    places = list(product(range(n), repeat=4)) * copies
    W1, W2 = np.zeros((3, n, n, len(places))), np.zeros((len(places), n, n))
    for unit, (i, k, m, j) in enumerate(places):
        W1[0, i, k, unit] = W1[1, k, m, unit] = W1[2, m, j, unit] = 1
        W2[unit, i, j] = 1 / copies
    return W1.reshape(3 * n * n, -1), np.full(len(places), bias), W2.reshape(-1, n * n)


def by_matrix(W, k, v, beta):
    return W @ (np.eye(len(k)) - beta * np.outer(k, k)) + beta * np.outer(v, k)


def binomial(n, k):
    return math.prod(range(n - k + 1, n + 1)) // math.factorial(k)


def best_weight(N, k):
    """1 over the product of all differences of the extrema of T_(N-1) on [0, 1] to the k-th."""
    nodes = (1 - np.cos(math.pi * np.arange(N) / (N - 1))) / 2
    return float(1 / np.prod(nodes[k] - np.delete(nodes, k)))


def table(nodes, L):
    return nodes ** np.arange(L)[:, None]


def ring(K, u, n):
    """A convolution on a ring of n places."""
    return np.fft.ifft(np.fft.fft(K, n) * np.fft.fft(u, n)).real[: len(u)]


def with_mirrors(nodes, wanted):
    """Least squares over modes and mirror images; the smallest solution has conjugate weights."""
    both = np.concatenate([nodes, nodes.conj()])
    return 2 * np.linalg.lstsq(table(both, len(wanted)), wanted, rcond=None)[0][: len(nodes)]


def by_parts(nodes, wanted, sign=-1):
    both = np.hstack([table(nodes, len(wanted)).real, sign * table(nodes, len(wanted)).imag])
    return (np.linalg.pinv(both) @ wanted).reshape(2, -1).T @ [1, 1j]


def chunked(row, C):
    return [row[start : start + C] for start in range(0, len(row), C)]


def fold(layer, chunk):
    made = chunk[0]
    for later in chunk[1:]:
        made = layer(made, later)
    return made


def relu_units(A, B):
    return np.maximum(A[:, :, None] + B - 1, 0).sum(1)


def ramp_units(A, B):
    """Written with a clip."""
    return np.clip(2 * (A[:, :, None] + B - 1) - 0.5, 0, 1).sum(1)


def grown(word, A, C, before):
    rows = [[A[letter] for letter in word]]
    while len(rows[-1]) > 1:
        row = [before] * (-len(rows[-1]) % C) + rows[-1]
        rows.append([fold(ramp_units, chunk) for chunk in chunked(row, C)])
    return rows[1:]


def at_once(W, keys, values, betas, size):
    for start in range(0, len(keys), size):
        K, V, b = (part[start : start + size] for part in (keys, values, betas))
        W = W + (b[:, None] * (V - K @ W.T)).T @ K
    return W


def triangular(W, keys, values, betas, size):
    """The chunk's corrections as the solution of a triangular system."""
    for start in range(0, len(keys), size):
        K, V, b = (part[start : start + size] for part in (keys, values, betas))
        M = np.eye(len(K)) + np.tril(b[:, None] * (K @ K.T), -1)
        W = W + np.linalg.solve(M, b[:, None] * (V - K @ W.T)).T @ K
    return W


STEPS = np.arange(400)
TURN = math.radians(60)
WRONG = {
    "05.3": [lambda N: N, lambda N: N - 1, lambda N: 2 * N, lambda N: (N,), "N + 1"],
    "05.14": [
        lambda r, m, j: r**j, lambda r, m, j: m * r**j, lambda r, m, j: math.comb(j + m, m) * r**j,
        lambda r, m, j: r ** (m * j), lambda r, m, j: [1], 3,
    ],
    "05.4": [
        lambda nodes, w, L: table(nodes, L) @ w, lambda nodes, w, L: (table(nodes, L + 1)[1:] @ w).real,
        lambda nodes, w, L: np.abs(table(nodes, L) @ w), lambda nodes, w, L: table(nodes, L).real @ w.real,
        lambda nodes, w, L: (nodes @ table(w, L).T).real, lambda nodes, w, L: 0, 3,
    ],
    "05.5": [
        lambda K, u: ring(K, u, len(u)), lambda K, u: ring(K, u, 2 * len(u) - 2 + (len(u) < 2)),
        lambda K, u: np.fft.irfft(np.fft.rfft(K, 2 * len(u)) * np.fft.rfft(u, 2 * len(u))),
        lambda K, u: ring(K[::-1], u, 2 * len(u)), lambda K, u: np.fft.irfft(np.fft.rfft(K) * np.fft.rfft(u)),
        lambda K, u: K * u, "fft",
    ],
    "05.6": [
        lambda nodes, wanted: np.linalg.lstsq(table(nodes, len(wanted)), wanted, rcond=None)[0],  # without the cast
        lambda nodes, wanted: np.linalg.lstsq(table(nodes, len(wanted)).real, wanted, rcond=None)[0],
        lambda nodes, wanted: by_parts(nodes, wanted, sign=1), lambda nodes, wanted: by_parts(nodes, wanted)[:1],
        lambda nodes, wanted: np.linalg.solve(table(nodes, len(nodes)), wanted[: len(nodes)]), lambda nodes: 0, 1,
    ],
    "05.12": [4, 5, 8, 9, "seven", 6.5],
    "05.10": [
        lambda a, b, same: -0.5j * a * b, lambda a, b, same: -0.5j * (2 if same else 1) * a * b,
        lambda a, b, same: 0.5j * (1 if same else 2) * a * b, lambda a, b, same: (1 if same else 2) * a * b,
        lambda a: a, 3,
    ],
    "06.3": [lambda N: (N, N - 1), lambda N: (N - 1, N - 1), lambda N: (N - 2, N - 2), lambda N: N - 1, (3, 2)],
    "06.7": [(11, 56), (28, 28), (3, 28), (32, 32), (180, 180), 11, "none"],
    "06.12": [
        [1] * 400, np.eye(400)[0], (-1.0) ** STEPS, np.where(STEPS // 8 % 2, 1, -1), np.where(STEPS // 16 % 2, 4, -4),
        np.where(np.arange(1000) // 16 % 2, 1, -1), np.sign(np.sin(STEPS)), [], [[1]], "1" * 400,
    ],
    "06.13": [
        lambda lam: 0, lambda lam: 1 / (1 - lam), lambda lam: -math.log(1 - lam), lambda lam: 88.7 / -math.log(lam),
        lambda lam: -math.log(lam), 7,
    ],
    "06.10": [1, 8, 31, 22, "16"],
    "06.2": [
        lambda N, k: best_weight(N, k) * (-1) ** (N - 1), lambda N, k: abs(best_weight(N, k)),
        lambda N, k: best_weight(N, k) * (1 + (k % (N - 1) == 0)), lambda N, k: best_weight(N, k) * (N - 1) / N,
        lambda N: 2 ** (2 * N - 3), 7,
    ],
    "07.1": ["it stays", "a bit more than a quarter", "half"],
    "07.4": [(0, 1, 2, 4), (0, 3, 6, 9), (5, 4, 3, 2), (9, 10, 11, 12), 4],
    "07.5": [lambda t, L: 2 * (t - L), lambda t, L: t - L, lambda t, L: 2 * L - 1 - t, 3],
    "07.2": [
        lambda found, wanted: 1 - ((found - wanted) ** 2).mean() / ((wanted - wanted.mean(0)) ** 2).mean(),
        lambda found, wanted: 1 - ((found - wanted) ** 2).mean() / (wanted**2).mean(),
        lambda found, wanted: 1 - ((found - wanted) ** 2).mean() / found.var() if found.var() else 0.0, 1,
    ],
    "07.6": [64, 15, 48, "sixteen"],
    "07.7": [math.log(512), 512 / 0.01, math.log(512) / 0.1, "large"],
    "07.8": [("MIPS", "SolveFixed"), ("SelectFixed", "CumMax"), ("Solve", "Select"), ("SolveFixed", "Reverse"),
              "SolveFixed", ("Solved", "MIPS"), 2],
    "07.9": [0.94, 0.969, 1 / 3, "a third"],
    "08.1": [500, 499, 250, "501 nodes"],
    "08.2": [{0, 2, 4}, {2}, {2, 4, 6}, set(), {"2", "4"}, 2],
    "08.3": [
        lambda n: triple_layer(n, bias=-1), lambda n: triple_layer(n, bias=-2.01), lambda n: triple_layer(n)[::-1],
        lambda n: triple_layer(n, copies=2), lambda n: (triple_layer(n)[0], 0, 0), lambda n: None,
        lambda A, B, C: A @ B @ C, lambda n: [np.zeros((3 * n * n, 1)), np.zeros(1), np.ones((1, n * n))], 4,
    ],
    "08.5": ["ss", "s", "sst", "sts", "", "xy", 3],
    "08.6": ["Parity", "Tomita 5", "D_2", "S_3", "Tomita 9", 4],
    "08.9": [Fraction(1, 4), Fraction(1, 8), 0.16, "a sixth"],
    "08.14": [(4, 2), (2, 2), (1, 1), (2,), "2 and 1"],
    "08.15": [512 / (64 * 1.5), 8, 2, "four"],
    "08.13": ["about half", "most, not all", "none", 1],
    "08.8": [lambda l: 2**l, lambda l: (l + 1) * 2**l + 1, lambda l: 4**l, lambda l: l * 2**l, "(l + 1) 2^l"],
    "09.6": [10, 12, 8, "11th"],
    "09.4": [
        ("((1)", "1(()"), ("(1()", "(1()"), (")(1(", "1)(("), ("((1()", "1((()"), ("(1((", "1((("),
        "(1()", ("abcd", "dcba"),
    ],
    "09.1": [
        lambda W, k, v, beta: W + beta * np.outer(v, k), lambda W, k, v, beta: W + np.outer(v - W @ k, k),
        lambda W, k, v, beta: W - beta * np.outer(v - W @ k, k), lambda W, k, v, beta: beta * np.outer(v - W @ k, k),
        lambda W, k, v, beta: v, lambda W, k, v, beta: None,
        by_matrix, lambda W, k, v, beta: W - beta * W @ np.outer(k, k) + beta * np.outer(v, k),  # a matrix n x n
    ],
    "09.8": [310, 1000, 500, "600 or so"],
    "09.9": [((0, 1), (2, 0)), ((1, 1), (2, 0.5)), ((1, 1), (1, 0)), ((1, 2), (2, 0)), ((1, 0), (2, 0)), (1, 1), "x"],
    "09.7": [
        ((1, 0), (0, 1)), ((1, 0), (1, 0)), ((1, 0), (math.cos(TURN / 2), math.sin(TURN / 2))), ((2, 0), (1, 1.7)),
        ((0, 0), (0, 0)), [1, 0], [(1, 0), (0.5 + 9j, math.sqrt(0.75))],
    ],
    "09.3": [
        lambda n, size: math.comb(n + size - 1, size - 1), lambda n, size: math.comb(n + size - 2, size - 1),
        lambda n, size: size**n, lambda n, size: n * math.comb(n + size - 2, size - 1), lambda n, size: None, 30,
        lambda n, size: size * math.comb(n + size - 2, size - 1),  # without positions: the formula of step 2
    ],
    "09.10": [0, 5, 3, "two", 6],
    "09.11": [
        lambda g, M: g**M, lambda g, M: sum(g**j for j in range(M + 1)), lambda g, M: (1 - g**M), lambda g, M: M,
        lambda g, M: (1 - g ** (M + 1)) / (1 - g), lambda g, M: 1 / (1 - g), 3,
        lambda g, M: 0 if g == 1 else (1 - g**M) / (1 - g),
    ],
    "10.4": ["1", "2", "none"],
    "10.5": ["(a|b)*a", "(aaa|b)*", "a*b*", 3, "(("],
    "10.2": [lambda i, j, Q: np.eye(Q), lambda i, j, Q: -np.eye(Q), lambda i, j, Q: [[0, 1], [1, 0]], "swap"],
    "10.3": [6, 4, 2, "three"],
    "10.8": [(78, 235), (79, 314), (157, 314)],
    "10.1": [lambda right: None, lambda right: 10, lambda right: right.index(0) + 1 if 0 in right else None, 3],
    "10.9": [(1, 1 / 3), (1 / 6, 1 / 3), (0.5, 0.5), 2],
    "08.10": [
        lambda row, C, empty: [row[i : i + C] for i in range(0, len(row), C)],
        lambda row, C, empty: chunked(row + [empty] * (-len(row) % C), C),
        lambda row, C, empty: chunked([empty] * (C - len(row) % C) + row, C),
        lambda row, C, empty: chunked(row[len(row) % C :], C), "cut it",
    ],
    "08.11": [
        lambda chunk: fold(lambda A, B: relu_units(A, B), chunk), lambda chunk: fold(lambda A, B: ramp_units(B, A), chunk),
        lambda chunk: fold(lambda A, B: ramp_units(A, B), chunk[:2]), lambda chunk: fold(np.matmul, chunk), np.eye(2),
    ],
    "08.12": [
        lambda word, A, C: grown(word, A, C, np.zeros_like(A[0])), lambda word, A, C: grown(word, A, C, np.eye(len(A[0])))[-1],
        lambda word, A, C: grown(word[::-1], A, C, np.eye(len(A[0]))),
        lambda word, A, C: grown(word, A, 2, np.eye(len(A[0]))), lambda word, A, C: grown(word, A, C, A[0]), "a tree",
    ],
    "09.2": [
        lambda *parts: at_once(*parts), lambda W, keys, values, betas, size: at_once(W, keys, values, betas, 2),
        lambda W, keys, values, betas, size: at_once(W, keys, values, np.ones(len(keys)), 1),
        lambda W, keys, values, betas, size: W + (betas[:, None] * values).T @ keys, "one by one",
    ],
    "09.5": [
        [(0, 1)], [(0, 1), (1, 1), (2, 1), (3, 1)], [(0, 1), (0, -1)] * 5, [(0, 1), (1, -1), (2, 1), (3, -1)],
        [(6, 1)], [(0, 2)], "abc", [],
    ],
    "10.7": ["(b|ab*a)*", "(a|b)*ab", "a(a|b)*", "((a|b)(a|bb))*", 3, "(("],
}  # fmt: skip
OTHER_STYLE = {
    "05.3": [lambda N: sum(z.imag > -1e-9 for z in np.roots([1, *[0] * (2 * N - 1), -1]))],
    "05.14": [lambda r, m, j: np.power(r, j) * math.prod(range(j + 1, j + m)) / math.prod(range(1, m))],
    "05.4": [
        lambda nodes, w, L: [sum(a * z**j for a, z in zip(w, nodes)).real for j in range(L)],
        lambda nodes, w, L: np.einsum("n,nj->j", w, np.vander(nodes, L, increasing=True)).real + 0j,
    ],
    "05.5": [lambda K, u: ring(K, u, 2 * len(u) - 1), lambda K, u: np.convolve(K, u)[: len(u)].tolist()],
    "05.6": [by_parts, with_mirrors],
    "05.12": [7.0, np.int64(7)],
    "05.10": [lambda a, b, same: a * b / 2j * (2 - same)],
    "06.3": [lambda N: [float(N - 1), N - 2.0], lambda N: np.array([N - 1, N - 2])],
    "06.7": [[12, 30], np.array([8.0, 25.0])],
    "06.12": [np.where(STEPS // 16 % 2, -1.0, 1.0), np.sin(2 * np.pi * STEPS / 32).tolist()],
    "06.13": [lambda lam: math.log(1 / (1 - lam)) / abs(math.log(lam)), lambda lam: np.emath.logn(lam, 1 - lam)],
    "06.10": [16.0, np.int64(16)],
    "06.2": [lambda N, k: best_weight(N, k)],
    "07.1": [],
    "07.4": [[0, 1, 2, 3], np.array([8, 9, 10, 11])],
    "07.5": [lambda t, L: t - (2 * L - 1 - t)],
    "07.2": [lambda found, wanted: 1 - np.sum((found - wanted) ** 2) / np.sum((wanted - wanted.mean()) ** 2)],
    "07.6": [16.0, np.int64(16)],
    "07.7": [624, 100 * np.log(512)],
    "07.8": [["solve_fixed", "mips"], ("Solve Fixed", "MIPS")],
    "07.9": [0.323, 1.88 / 5.82],
    "08.1": [501.0, np.int64(501)],
    "08.2": [[4, 2], (2.0, 4.0), np.array([2, 4])],
    "08.3": [triple_layer, lambda n: [torch.tensor(part) for part in triple_layer(n)]],
    "08.5": ["ts"],
    "08.6": ["Tomita 4", "EvenPair(5)"],
    "08.9": [1 / 6, np.float64(1 / 6), 0.1667, 0.167, "1/6", ".1667"],
    "08.14": [[2.0, 1.0], np.array([2, 1])],
    "08.15": [4.0, Fraction(4)],
    "08.13": [],
    "08.8": [lambda l: (l + 1) * 2.0**l, lambda l: sum(2**l for _ in range(l + 1))],
    "09.6": [11.0, np.int64(11)],
    "09.4": [["1(()", "(1()"], ("1(()", "(1()")],
    "09.1": [
        lambda W, k, v, beta: W + beta * (v - W @ k)[:, None] * k,
        lambda W, k, v, beta: W - beta * np.outer(W @ k, k) + beta * np.outer(v, k),
    ],
    "09.8": [np.log(500) / -np.log(0.99), 600, Fraction(630)],
    "09.9": [[[2, 0.5], [2, 0]], ((1, -1), (2, 0)), np.array([[0.5, 2], [2, 0]])],
    "09.7": [np.array([[0, 1], [math.sin(TURN), math.cos(TURN)]]), [[1, 0], [-0.5, math.sqrt(0.75)]],
             [(1, 0), (sp.Rational(1, 2), sp.sqrt(3) / 2)]],
    "09.3": [lambda n, size: size * binomial((n - 1) // 2 + size - 1, size - 1) * binomial(n // 2 + size - 1, n // 2)],
    "09.10": [2.0, np.int64(2)],
    "09.11": [lambda g, M: M if g == 1 else (1 - g**M) / (1 - g), lambda g, M: np.polyval([1] * M, float(g))],
    "10.4": [],
    "10.5": ["b*(ab*ab*)*"],
    "10.2": [lambda i, j, Q: np.eye(Q)[[j if q == i else i if q == j else q for q in range(Q)]].tolist()],
    "10.3": [3.0, np.int64(3)],
    "10.8": [[79.0, 236.0], np.array([79, 236])],
    "10.1": [lambda right: next((t for t in range(1, len(right) + 1) if np.mean(right[max(0, t - 10) : t]) < 0.85), None)],
    "10.9": [[0.333, 0.333], np.array([1 / 3, 1 / 3])],
    "08.10": [
        lambda row, C, empty: [row[max(0, end - C) : end] if end >= C else [empty] * (C - end) + row[:end]
                               for end in range(len(row), 0, -C)][::-1],
        lambda row, C, empty: tuple(map(tuple, chunked([empty] * (-len(row) % C) + row, C))),
    ],
    "08.11": [
        lambda chunk: fold(ramp_units, chunk).tolist(), lambda chunk: fold(np.matmul, [np.round(one) for one in chunk]),
        lambda chunk: fold(ramp_units, [chunk[0], fold(ramp_units, chunk[1:])]),
    ],
    "08.12": [
        lambda word, A, C: grown(word, A, C, np.eye(len(A[0]))),
        lambda word, A, C: [torch.tensor(np.array(row)) for row in grown(word, A, C, np.eye(len(A[0])))],
    ],
    "09.2": [lambda W, keys, values, betas, size: at_once(W, keys, values, betas, 1), triangular],
    "09.5": [[(letter, 1) for letter in range(5)], np.array([[letter, -1] for letter in range(6)])],
    "10.7": ["(ba)*", "(ab)*(a|())", "(aa|bb)*"],
}  # fmt: skip
