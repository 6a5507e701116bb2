"""Wrong answers planted for the exercises, and right ones in another style."""

import cmath
import functools
import math
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import sympy as sp
import torch
from right_answers import one_kernel

from lrnnbook.content.chapters import ch03
from lrnnbook.content.exercises import ch01


def odd_angles(N, S):
    """Modes and weights of a one-hot at S, written out."""
    angles = [math.pi * (2 * n + 1) / (2 * N) for n in range(N)]
    return [complex(math.cos(a), math.sin(a)) for a in angles], [cmath.exp(-1j * a * S) / N for a in angles]


def blocks(goes):
    """Blocks of a table, entry by entry: 1 where the column's state goes to the row's."""
    states = range(len(goes[0]))
    return [[[int(row[j] == i) for j in states] for i in states] for row in goes]


def carried(text):
    """One number, brought up to date at each digit."""
    made, x = [], 0
    for digit in text:
        x = (x + int(digit)) % 5
        made.append(x)
    return made


def neighbours(x):
    return np.stack([-x[1::2], x[0::2]], 1).ravel()


def halves(x):
    return np.concatenate([-x[len(x) // 2 :], x[: len(x) // 2]])


def head_states(theta, gamma, xi, B, u, angles=lambda theta: np.repeat(theta, 2), pairs=neighbours):
    """A head by Eq. 19: the angle of each coordinate, and how it is paired."""
    x, states, turn = np.zeros(len(B)), [], np.asarray(angles(theta))
    for u_t in u:
        x = gamma * (x * np.cos(turn) + pairs(x) * np.sin(turn)) + xi * B @ u_t
        states.append(x)
    return np.array(states)


def start_of(A):
    return np.eye(A.shape[2])[np.zeros(A.shape[1], int)]


def run(A, tokens, start=None):
    """The states of all heads, with one product a head."""
    x, states = start_of(A) if start is None else np.full(A.shape[1:3], start), []
    for token in tokens:
        x = np.einsum("hij,hj->hi", A[token], x)
        states.append(x)
    return states


def power(A, tokens):
    """The first columns of the products of the blocks."""
    return functools.reduce(lambda product, token: A[token] @ product, tokens, np.eye(A.shape[2]))[..., 0]


def searched(A, answer, machine, key=lambda states, q: (states, q), last=0, longest=10**6):
    """A search over strings: by default breadth first over pairs."""
    strings, seen = [[]], set()
    while strings:
        string = strings.pop(last)
        for token in range(len(A)):
            after, states, q = [*string, token], (0,) * A.shape[1], machine.initial
            for letter in after:
                states = tuple(int(A[letter, k, :, s].argmax()) for k, s in enumerate(states))
                q = int(machine.transitions[letter, q])
            if answer(states) != machine.outputs[q]:
                return after
            if key(states, q) not in seen and len(after) < longest:
                seen.add(key(states, q))
                strings.append(after)
    return None


def by_levels(A, answer, machine):
    """All pairs that strings of one length lead to, length by length, each with a string as text."""
    level = seen = {((0,) * A.shape[1], machine.initial): ""}
    while level:
        step = {}
        for (states, q), string in level.items():
            for v in range(len(A)):
                moved = np.take_along_axis(A[v].argmax(1), np.array(states)[:, None], 1)[:, 0]
                step.setdefault((tuple(moved), machine.transitions[v, q]), string + str(v))
        for (states, q), string in step.items():
            if answer(list(states)) != machine.outputs[q]:
                return np.array([int(letter) for letter in string])
        level = {pair: string for pair, string in step.items() if pair not in seen}
        seen = {**seen, **level}
    return None


def doubled(a, b, how):
    """The scan by doubling: right, or with one of three faults."""
    a, b, shift, passes = list(a), list(b), 1, math.ceil(math.log2(len(a))) - (how == "too few" and len(a) % 2)
    for _ in range(passes):
        places = range(shift, len(a)) if how == "in place" else range(len(a) - 1, shift - 1, -1)
        for t in places:
            gate = a[t] * a[t - shift]
            b[t] = (gate if how == "a first" else a[t]) * b[t - shift] + b[t]
            a[t] = gate
        shift *= 2
    return b


def triple_layer(n, bias=-2.0, copies=1):
    """A unit for each (i, k, m, j), filled by a loop."""
    places = list(product(range(n), repeat=4)) * copies
    W1, W2 = np.zeros((3, n, n, len(places))), np.zeros((len(places), n, n))
    for unit, (i, k, m, j) in enumerate(places):
        W1[0, i, k, unit] = W1[1, k, m, unit] = W1[2, m, j, unit] = 1
        W2[unit, i, j] = 1 / copies
    return W1.reshape(3 * n * n, -1), np.full(len(places), bias), W2.reshape(-1, n * n)


def binomial(n, k):
    return math.prod(range(n - k + 1, n + 1)) // math.factorial(k)


def best_weight(N, k):
    """1 over the product of all differences of the extrema of T_(N-1) on [0, 1] to the k-th."""
    nodes = (1 - np.cos(math.pi * np.arange(N) / (N - 1))) / 2
    return float(1 / np.prod(nodes[k] - np.delete(nodes, k)))


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
    "00.1": [
        lambda text: [int(digit) % 5 for digit in text], lambda text: sum(map(int, text)) % 5,
        lambda text: [sum(map(int, text[:t])) for t in range(1, len(text) + 1)],
        lambda text: [sum(map(int, text[:t])) % 5 for t in range(len(text))], lambda text: carried(text)[::-1], "0304",
    ],
    "00.2": [
        ["0", "1", "2", "3"], ["0", "1", "2", "3", "32"], ["0", "1", "2", "3", "x"], ["4"] * 5, "01234", [0, 1, 2, 3, 4],
    ],
    "00.3": ["about 80 %", "about 50 %", "about 96 %, as 24 of 25 arrows are", 0.2],
    "00.4": [
        [[1, 0], [0, 1]], [[0.1, 0.9], [0.9, 0.1]], [[0.5, 0.5], [0.5, 0.5]], [[0.999, 0.001], [0.001, 0.999]],
        [[0.9, 0.2], [0.2, 0.9]], [[1.1, -0.1], [-0.1, 1.1]], [0.9, 0.1], [[0.9 + 5j, 0.1], [0.1, 0.9]],
    ],
    "01.3": [
        "4-4-4-4", "-".join("4" * 9), "3" + "-4" * 9, "4" + "-0" * 9, "4-0-1" + "-0" * 8, "0" + "-4" * 40, "5-0", "", 12,
    ],
    "01.9": [
        ("0-0", "1-1"),  # one value, but not with a number in front
        ("0-1", "2-1"), ("2-2", "2-2"), ("0-0", "4-4"), ("0", "2"), "0-0", ("0-0", 2), ("0-0-0", "2-2-0"),
    ],
    "01.10": [400, 401, 799, 801, 2001, 800.5, "800 pieces", [800, 800], 800j, "1/0", ""],
    "01.6": [("abab", "baab"), ("abba", "abab"), ("abba", "baab"), ("ab", "ba"), ("", ""), "abab", ("abab", "cccc")],
    "01.11": ["yes", "no: two letters do not commute", "no", True, 2],
    "01.7": [
        {s: ([[1, 0], [0, 1]], [s / 4, 0]) for s in range(5)},  # adds up
        {s: ([[0, 0], [0, 0]], [s / 4, 0]) for s in range(5)},  # the last letter, 0 too
        {0: ([[1]], [0]), **{s: ([[0]], [s]) for s in range(1, 5)}},  # not divided by 4
        {0: (np.eye(4, k=1), [0] * 4), **{s: (np.zeros((4, 4)), [s / 4] * 4) for s in range(1, 5)}},  # forgets it after four
        {0: 1}, [1, 2], {0: (1, 2), 1: 0, 2: 0, 3: 0, 4: 0},
    ],
    "01.12": [1, 3, 5, 1.5, "two", float("nan")],
    "01.14": [
        ["Sum(5)"], ch01.DEARER[:-1], (*ch01.DEARER, "Tomita 5"), {"Parity", "(aa)*"}, ["Sum", "A_5"], "Sum(5)", [5], [],
    ],
    "02.1": [
        lambda goes: np.array(blocks(goes)).swapaxes(1, 2),  # where states come from
        lambda goes: blocks([[(j + 1) % len(row) for j in row] for row in goes]),
        lambda goes: [np.eye(len(row)) for row in goes], lambda goes: blocks(goes)[0], lambda goes: goes, 5,
    ],
    "02.6": [
        [[1, 1], [1, 1]], [[0.5, 0.5], [0.5, 0.5]], np.array([[1, 1], [1, -1]]) / 2**0.5, np.eye(2), [[1, 0]], [1, 2],
    ],
    "02.10": [1.0023, 1.0022, 1, 2, 0.9, -1, "one"],
    "02.7": ["after about 150", "never: the norm is kept", 15, "soon"],
    "02.11": [
        lambda e, s: math.floor(math.log(s) / math.log(1 - e)) + 1, lambda e, s: math.log(s) / math.log(1 - e),
        lambda e, s: math.floor(math.log(s) / math.log(1 - e)), lambda e, s: int((1 - s) / e), lambda e, s: int(math.log(1 / s) / e), lambda e, s: -1, lambda e, s: None, 68,
    ],
    "02.14": [(6, 12, 30, 360), (5, 5, 5, 5), (3, 4, 5, 8), (2, 4, 5, 9), (3, 4, 5), 5, "3, 4, 5, 9"],
    "03.1": [(1, 2, 3), (1e16, -1e16, 1 + 7j), (0.1, 0.2, 0.3), (1e308, 1e308, -1e308), (1e16, 1, 1, 1), (1e16, 1, -1), "1e16", 1e16],
    "03.2": [
        lambda second, first: (first[0] + second[0], max(first[1], second[1])),
        lambda first, second: (first[0] + second[0], max(first[1] + second[0], second[1])),  # the other order
        lambda second, first: (0, 0), lambda second, first: 5, lambda second, first: second[2], 7,
    ],
    "03.4": [16, 32, 15, "17!"],
    "03.7": [
        lambda n: n, lambda n: n - 2, lambda n: n / 2, lambda n: 0, lambda n: n - 1 if n < 50 else n // 2, 7,
        lambda n: "n - 1",
    ],
    "03.9": [
        lambda a, b: doubled(a, b, "a first"), lambda a, b: doubled(a, b, "too few"), lambda a, b: doubled(a, b, "in place"),
        lambda a, b: np.cumsum(b), lambda a, b: np.cumprod(a) * np.cumsum(b / np.cumprod(a)) + 1,
        lambda a, b: np.cumprod(a) * np.cumsum(b / np.cumprod(a)),  # divides by 0 at a reset
        lambda a, b: b[:-1], 3,
    ],
    "03.5": [(17047, 2182087), (17049, 2182087), (17048, 2182086), (17048, 17048), 17048, "P"],
    "03.6": [142, 20_000, 1, "root"],
    "03.11": [(2, 128, 40), (4, 1, 16384), (2, 128, 4096), (16, 128, 4096), (2, 1, 4), (16384, 1, 2), 2, "b = 2"],
    "03.8": ["no NaN", "NaN at fewer steps", "NaN at as many steps", "NaN", 272],
    "04.8": [
        partial(head_states, angles=lambda theta: np.tile(theta, 2)),  # the bug itself
        partial(head_states, angles=lambda theta: np.tile(theta, 2), pairs=halves),  # pairs that are no neighbours
        partial(head_states, angles=lambda theta: -np.repeat(theta, 2)),
        lambda theta, gamma, xi, B, u: head_states(theta, gamma, xi * gamma, B, u),
        lambda theta, gamma, xi, B, u: head_states(theta, gamma, xi, B, u)[-1], lambda theta: 0, "np.repeat",
    ],
    "04.3": [1, 0.001, 10, 0.13, "0.1", (0.1,)],
    "04.10": [np.eye(2), -np.eye(2), [[0, -1], [1, 0]], [[-1, 1], [0, 1]], [[2, 0], [0, -0.5]], [[1j, 0], [0, 1j]], "diag"],
    "04.2": [lambda c, gamma, Tr: math.sqrt(1 / (c * gamma**2 + Tr)), lambda c, gamma, Tr: math.sqrt(c / (gamma**2 + Tr)),
             lambda c, gamma, Tr: -math.sqrt(c / (c * gamma**2 + Tr)), lambda c: 1, "c"],
    "04.6": [
        lambda decays: [math.sqrt(1 - d**2) for d in decays], lambda decays: [1] * 40,
        lambda decays: [1 - d for d in decays],
        lambda decays: [1], lambda decays: [1j] * 40,
    ],
    "04.5": [(2, 35), (0.5, 35), (1, 10), (1, 100), (0, 50), 35, ("t", 35)],
    "04.11": [1, 0.2, 50, "below"],
    "04.12": [
        lambda t: (2**0.5, 0), lambda t: (10 * math.cos(0.7 * t), 10 * math.sin(0.7 * t)),
        lambda t: (2**0.5 * math.cos(0.7 * t), -(2**0.5) * math.sin(0.7 * t)), lambda t: 1,
    ],
    "05.9": [["K0", "K1", "K2", "k0", "k1"], ["k0", "K0", "K1", "K2", "k1"], ["K0"] * 5, "K0K1", [1, 2, 3, 4, 5]],
    "05.10": [[[0, 1], [0, 0]], [[1, 0], [0, 1]], [[1, 1], [0, 2]], [[1, 2], [3, 4]], [1, 2], [[0.5, 1], [0, 0.5]]],
    "05.3": [lambda N: N, lambda N: N - 1, lambda N: 2 * N, lambda N: (N,), "N + 1"],
    "05.5": [
        lambda S, L: ([1.0], [1.0]), lambda S, L: ([], []), lambda S, L: [1, 2],
        lambda S, L: odd_angles(L, S),  # too many
    ],
    "05.6": [3, 5, 7, "four"],
    "05.12": [
        lambda a, b, same: -0.5j * a * b, lambda a, b, same: -0.5j * (2 if same else 1) * a * b,
        lambda a, b, same: 0.5j * (1 if same else 2) * a * b, lambda a, b, same: (1 if same else 2) * a * b,
        lambda a: a, 3,
    ],
    "05.7": [4, 5, 8, 9, "seven", 6.5],
    "05.8": [
        lambda r, m, j: r**j, lambda r, m, j: m * r**j, lambda r, m, j: math.comb(j + m, m) * r**j,
        lambda r, m, j: r ** (m * j), lambda r, m, j: [1], 3,
    ],
    "06.1": [(4, -5, 1), (1, 1, 1), (0, 0, 1), (4, Fraction(16, 3), Fraction(4, 3)), [1, 2], "abc", [4, -5.3333, 1.3333],
             (4, float("nan"), 1), (4, 1j, 1)],
    "06.9": [
        lambda N, k: best_weight(N, k) * (-1) ** (N - 1), lambda N, k: abs(best_weight(N, k)),
        lambda N, k: best_weight(N, k) * (1 + (k % (N - 1) == 0)), lambda N, k: best_weight(N, k) * (N - 1) / N,
        lambda N: 2 ** (2 * N - 3), 7,
    ],
    "06.2": [lambda N: (N, N - 1), lambda N: (N - 1, N - 1), lambda N: (N - 2, N - 2), lambda N: N - 1, (3, 2)],
    "06.3": [1, 2, 3.3, -3.364, 4, "a"],
    "06.6": [9, 15, 1, 10, "eleven"],
    "06.7": [(11, 56), (28, 28), (3, 28), (32, 32), (180, 180), 11, "none"],
    "06.4": [(8, 8), (5.5, 12), (9.5, 10), (6.1, 10), 5.5, "5.5, 10"],
    "06.10": [1, 8, 31, 22, "16"],
    "06.12": [lambda L: L // 2, lambda L: (L + 1) / 2, lambda L: L, lambda L: -(-L // 2), lambda L: None, 5],
    "06.13": [
        [1] * 400, np.eye(400)[0], (-1.0) ** STEPS, np.where(STEPS // 8 % 2, 1, -1), np.where(STEPS // 16 % 2, 4, -4),
        np.where(np.arange(1000) // 16 % 2, 1, -1), np.sign(np.sin(STEPS)), [], [[1]], "1" * 400,
    ],
    "06.14": [
        lambda lam: 0, lambda lam: 1 / (1 - lam), lambda lam: -math.log(1 - lam), lambda lam: 88.7 / -math.log(lam),
        lambda lam: -math.log(lam), 7,
    ],
    "07.2": ["it stays", "a bit more than a quarter", "half"],
    "07.3": [
        lambda found, wanted: 1 - ((found - wanted) ** 2).mean() / ((wanted - wanted.mean(0)) ** 2).mean(),
        lambda found, wanted: 1 - ((found - wanted) ** 2).mean() / (wanted**2).mean(),
        lambda found, wanted: 1 - ((found - wanted) ** 2).mean() / found.var() if found.var() else 0.0, 1,
    ],
    "07.6": [(0, 1, 2, 4), (0, 3, 6, 9), (5, 4, 3, 2), (9, 10, 11, 12), 4],
    "07.4": [lambda t, L: 2 * (t - L), lambda t, L: t - L, lambda t, L: 2 * L - 1 - t, 3],
    "07.7": [64, 15, 48, "sixteen"],
    "07.10": [math.log(512), 512 / 0.01, math.log(512) / 0.1, "large"],
    "07.8": [("MIPS", "SolveFixed"), ("SelectFixed", "CumMax"), ("Solve", "Select"), ("SolveFixed", "Reverse"),
              "SolveFixed", ("Solved", "MIPS"), 2],
    "07.11": [0.94, 0.969, 1 / 3, "a third"],
    "07.5": [
        lambda A: one_kernel(A.T), lambda A: one_kernel(A)[::-1], lambda A: np.pad(A.ravel(), (0, 2 * len(A))),
        lambda A: A, 7,
    ],
    "08.1": [500, 499, 250, "501 nodes"],
    "08.6": [{0, 2, 4}, {2}, {2, 4, 6}, set(), {"2", "4"}, 2],
    "08.3": [
        lambda n: triple_layer(n, bias=-1), lambda n: triple_layer(n, bias=-2.01), lambda n: triple_layer(n)[::-1],
        lambda n: triple_layer(n, copies=2), lambda n: (triple_layer(n)[0], 0, 0), lambda n: None,
        lambda A, B, C: A @ B @ C, lambda n: [np.zeros((3 * n * n, 1)), np.zeros(1), np.ones((1, n * n))], 4,
    ],
    "08.7": ["ss", "s", "sst", "sts", "", "xy", 3],
    "08.8": ["Parity", "Tomita 5", "D_2", "S_3", "Tomita 9", 4],
    "08.11": [lambda l: 2**l, lambda l: (l + 1) * 2**l + 1, lambda l: 4**l, lambda l: l * 2**l, "(l + 1) 2^l"],
    "08.12": [Fraction(1, 4), Fraction(1, 8), 0.16, "a sixth"],
    "08.2": ["about half", "most, not all", "none", 1],
    "08.13": [(4, 2), (2, 2), (1, 1), (2,), "2 and 1"],
    "08.14": [512 / (64 * 1.5), 8, 2, "four"],
    "09.7": [
        lambda *parts: at_once(*parts), lambda W, keys, values, betas, size: at_once(W, keys, values, betas, 2),
        lambda W, keys, values, betas, size: at_once(W, keys, values, np.ones(len(keys)), 1),
        lambda W, keys, values, betas, size: W + (betas[:, None] * values).T @ keys, "one by one",
    ],
    "09.8": [
        lambda n, size: math.comb(n + size - 1, size - 1), lambda n, size: math.comb(n + size - 2, size - 1),
        lambda n, size: size**n, lambda n, size: n * math.comb(n + size - 2, size - 1), lambda n, size: None, 30,
        lambda n, size: size * math.comb(n + size - 2, size - 1),  # without positions: the formula of step 2
    ],
    "09.2": [
        ("((1)", "1(()"), ("(1()", "(1()"), (")(1(", "1)(("), ("((1()", "1((()"), ("(1((", "1((("),
        "(1()", ("abcd", "dcba"),
    ],
    "09.3": [
        [(0, 1)], [(0, 1), (1, 1), (2, 1), (3, 1)], [(0, 1), (0, -1)] * 5, [(0, 1), (1, -1), (2, 1), (3, -1)],
        [(6, 1)], [(0, 2)], "abc", [],
    ],
    "09.4": [10, 12, 8, "11th"],
    "09.6": [
        ((1, 0), (0, 1)), ((1, 0), (1, 0)), ((1, 0), (math.cos(TURN / 2), math.sin(TURN / 2))), ((2, 0), (1, 1.7)),
        ((0, 0), (0, 0)), [1, 0], [(1, 0), (0.5 + 9j, math.sqrt(0.75))],
    ],
    "09.5": [310, 1000, 500, "600 or so"],
    "09.9": [((0, 1), (2, 0)), ((1, 1), (2, 0.5)), ((1, 1), (1, 0)), ((1, 2), (2, 0)), ((1, 0), (2, 0)), (1, 1), "x"],
    "09.10": [0, 5, 3, "two", 6],
    "09.11": [
        lambda g, M: g**M, lambda g, M: sum(g**j for j in range(M + 1)), lambda g, M: (1 - g**M), lambda g, M: M,
        lambda g, M: (1 - g ** (M + 1)) / (1 - g), lambda g, M: 1 / (1 - g), 3,
        lambda g, M: 0 if g == 1 else (1 - g**M) / (1 - g),
    ],
    "10.14": [lambda right: None, lambda right: 10, lambda right: right.index(0) + 1 if 0 in right else None, 3],
    "10.8": [lambda i, j, Q: np.eye(Q), lambda i, j, Q: -np.eye(Q), lambda i, j, Q: [[0, 1], [1, 0]], "swap"],
    "10.3": [6, 4, 2, "three"],
    "10.4": ["1", "2", "none"],
    "10.5": ["(a|b)*a", "(aaa|b)*", "a*b*", 3, "(("],
    "10.6": ["(b|ab*a)*", "(a|b)*ab", "a(a|b)*", "((a|b)(a|bb))*", 3, "(("],
    "10.10": [(78, 235), (79, 314), (157, 314)],
    "10.12": [lambda step, start, codes, tokens: [step(start, token)[1] for token in tokens], lambda step, start, codes, tokens: [], "loop"],
    "10.13": [120, 60, 14_400, "many"],
    "10.15": [lambda strings, states: {}, lambda strings, states: {(0, t): q for x, y in zip(strings, states) for t, q in zip(x, y)}, "table"],
    "10.2": ["2 reflections, DeltaNet, LSTM", "Elman, LSTM, softmax blocks", "2 reflections, LSTM, one-hot columns", "LSTM"],
    "10.11": [(1, 1 / 3), (1 / 6, 1 / 3), (0.5, 0.5), 2],
}  # fmt: skip
WRONG |= {  # the right step with another example; every other step is tried in test_answers
    "01.5": [(3, (0.5, 1, [2, 3])), (3, (-1, 0, [1, -1])), (3, (0, 1, [1])), (3, (2, 0, [])), (3, (2, 0, [math.inf])), (3, (0.5, 1)), 3],
    "01.8": [(4, (5, 1, 3)), (4, (4, 1, 5)), (4, (4, 0.5, 2.5)), (4, (1, 0, 0)), (4, 4)],
    "01.15": [(2, ([[1, 2], [3, 4]], [0, 0], [1, 2])), (2, ([[1, 0], [0, 4]], [0, 0], [1, 2])), (2, ([[1, 2], [3, 4]], [0, 1], [0, 1])),
              (2, ([[1, 2, 3]], [0], [1])), (2, [[0, 1], [1, 0]])],
    "02.5": [(3, [1, 0]), (3, [0, 0]), (3, []), (3, [[1, 1], [1, 1]]), (3, "v")],
    "04.9": [(1, (0, 360)), (1, (1, 1)), (1, (0, math.inf)), (1, 0)],
    "05.11": [(4, (0, 1)), (4, (0, 64)), (4, (63, 64)), (4, (32, 32)), (4, (32, 34)), (4, (64, 9)), (4, (1.5, 60)), (4, (math.nan, 33))],
    "06.11": [(3, 0.3), (3, 0), (3, -1), (3, math.nan)],
    "07.9": [(5, lambda A, b: b), (5, lambda A, b: 0 * b), (5, lambda A, b: A @ b), (5, lambda A, b: 1), (5, 1)],
    "08.9": [(2, [[1, 0]]), (2, [[1, 2, 0], [0, 1, 2]]), (2, [[1, 5]]), (2, [[0, 0.5]]), (2, [[0]]), (2, [1, 0])],
    "10.9": [(4, (1, 1)), (4, (0, 1)), (4, (0.5, 0)), (4, (-0.5, 1)), (4, (0.5, math.inf)), (4, 0.5)],
}  # fmt: skip
OTHER_STYLE = {
    "00.4": [[[0.95, 0.05], [0.05, 0.95]], [[0.9, 0.02], [0.1, 0.98]]],
    "01.3": ["4-4-0-0-0-0-0-0-0-1", "4-3" + "-0" * 8],
    "01.9": [["1-3", "3-1"], ("3-0", "1-2")],
    "01.5": [[3, (2j, 0, np.array([0]))], ("3", (0.5, -1, [-2]))],
    "01.8": [[4, np.array([6, 1, 4])], (4, (2, 1, 0))],
    "01.15": [(2, (np.array([[1, 2, 0], [3, 4, 0], [0, 0, 5]]), [1, 1, 0], [2, 2, 9]))],
    "02.5": [(3, np.array([0.1, -5, 2])), (3, torch.ones(8)), (3, (1j, 1))],
    "04.9": [(1, (sp.pi, -sp.pi)), (1.0, [1, 1 - 4 * np.pi])],
    "05.11": [(4, (31, 33)), (4, (1, 63))],
    "06.11": [(3, Fraction(1, 3)), (3, "1/2")],
    "07.9": [(5, np.linalg.solve), (5, lambda A, b: A @ b / 3)],
    "08.9": [(2, [[0, 0], [1, 1]]), (2, np.array([[1, 2, 0], [1, 0, 2]]))],
    "10.9": [(4, (Fraction(1, 2), 1)), (4, [0.9, -3])],
    "02.10": [1.00222],
    "03.1": [[np.float32(1e8), np.float32(-1e8), np.float32(1)], [1.0, 1e20, -1e20], np.array([-(2.0**60), 2.0**60, 3.0])],
    "04.5": [[1.0, 34.5], np.array([0.95, 30])],
    "04.11": [0.02],
    "05.10": [[[2, 1], [0, 2]], np.array([[3, 1], [-1, 1]]), [[-1, 5], [0, -1]]],
    "06.7": [[12, 30], np.array([8.0, 25.0])],
    "06.4": [(6, 10), (5, 10.5)],
    "07.6": [[0, 1, 2, 3], np.array([8, 9, 10, 11])],
    "08.6": [[4, 2], frozenset({2, 4})],
    "08.12": [0.1667, 0.167, "1/6", ".1667"],
    "09.2": [{"1(()", "(1()"}, np.array(["(1()", "1(()"])],
    "09.9": [[[2, 0.5], [2, 0]], ((1, -1), (2, 0))],
    "00.1": [carried, lambda text: np.cumsum([int(digit) for digit in text]) % 5],
    "00.2": [("", "1", "11", "111", "1111"), {"41", "40", "30", "20", "10"}],
    "01.10": [800.0, np.int64(800), "800", " 800.0 ", torch.tensor(800), 800 + 0j],
    "01.6": [["abba", "baba"], ("baba", "abba")],
    "01.7": [{0: ([[1]], [0]), **{s: (np.zeros((1, 1)), [s / 4]) for s in range(1, 5)}}],
    "01.14": [list(ch01.DEARER[::-1]), set(ch01.DEARER)],
    "02.1": [
        lambda goes: blocks(goes), lambda goes: torch.nn.functional.one_hot(torch.tensor(goes)).mT.float(),
        lambda goes: [np.eye(len(row))[:, row] for row in goes],
    ],
    "02.6": [[[1 / sp.sqrt(2)] * 2] * 2, [[0.8, 0.8], [0.6, 0.6]], -np.ones((2, 2)) / 2**0.5, torch.full((2, 2), 0.7071, dtype=torch.float64)],
    "02.11": [lambda e, s: next(t for t in range(10**6) if (1 - e) ** (t + 1) <= s)],
    "03.2": [lambda s, f: np.array([s[0] + f[0], np.maximum(s[0] + f[1], s[1])])],
    "03.7": [lambda n: ch03.tree_counts(n)[0], lambda n: np.float64(n - 1), lambda n: n - 1 / 3],
    "03.9": [
        lambda a, b: doubled(a, b, "right"),
        lambda a, b: [sum(b[s] * np.prod(a[s + 1 : t + 1]) for s in range(t + 1)) for t in range(len(a))],
    ],
    "04.8": [head_states, partial(head_states, angles=lambda theta: [a for a in theta for _ in "xy"])],
    "04.10": [((1, 0), (0, -1)), np.array([[0.6, 0.8], [0.8, -0.6]]), torch.tensor([[0, 1], [1, 0]]),
             [[sp.cos(1), sp.sin(1)], [sp.sin(1), -sp.cos(1)]]],
    "04.2": [lambda c, gamma, Tr: 1 / np.sqrt(gamma**2 + Tr / c)],
    "04.6": [lambda decays: np.concatenate([[-1.0], np.sqrt(1 - np.square(decays[1:]))])],
    "04.12": [lambda t: -(2**0.5) * np.array([np.cos(0.7 * t + 0.1), np.sin(0.7 * t + 0.1)]),
              lambda t: 2**0.5 * np.array([np.cos(0.7 * t), np.sin(0.7 * t)] if t < 1000 else [1, 0])],
    "05.9": [("K0", "K1", "K2", "k1", "k0")],
    "05.3": [lambda N: sum(z.imag > -1e-9 for z in np.roots([1, *[0] * (2 * N - 1), -1]))],
    "05.5": [lambda S, L: odd_angles(-(-max(S + 1, L - S) // 2), S)],
    "05.12": [lambda a, b, same: a * b / 2j * (2 - same)],
    "05.8": [lambda r, m, j: np.power(r, j) * math.prod(range(j + 1, j + m)) / math.prod(range(1, m))],
    "06.9": [lambda N, k: best_weight(N, k)],
    "06.2": [lambda N: [float(N - 1), N - 2.0], lambda N: np.array([N - 1, N - 2])],
    "06.12": [lambda L: math.ceil((L + 1) / 2), lambda L: min(max(S + 1, L - S) for S in range(L))],
    "06.13": [np.where(STEPS // 16 % 2, -1.0, 1.0), np.sin(2 * np.pi * STEPS / 32).tolist()],
    "06.14": [lambda lam: math.log(1 / (1 - lam)) / abs(math.log(lam)), lambda lam: np.emath.logn(lam, 1 - lam)],
    "07.3": [lambda found, wanted: 1 - np.sum((found - wanted) ** 2) / np.sum((wanted - wanted.mean()) ** 2)],
    "07.4": [lambda t, L: t - (2 * L - 1 - t)],
    "07.10": [624, 100 * np.log(512)],
    "07.8": [["solve_fixed", "mips"], ("Solve Fixed", "MIPS")],
    "08.3": [triple_layer, lambda n: [torch.tensor(part) for part in triple_layer(n)]],
    "08.7": ["ts"],
    "08.8": ["Tomita 4", "EvenPair(5)"],
    "08.11": [lambda l: (l + 1) * 2.0**l, lambda l: sum(2**l for _ in range(l + 1))],
    "09.7": [lambda W, keys, values, betas, size: at_once(W, keys, values, betas, 1), triangular],
    "09.8": [lambda n, size: size * binomial((n - 1) // 2 + size - 1, size - 1) * binomial(n // 2 + size - 1, n // 2)],
    "09.3": [[(letter, 1) for letter in range(5)], np.array([[letter, -1] for letter in range(6)])],
    "09.6": [np.array([[0, 1], [math.sin(TURN), math.cos(TURN)]]), [[1, 0], [-0.5, math.sqrt(0.75)]],
             [(1, 0), (sp.Rational(1, 2), sp.sqrt(3) / 2)]],
    "09.5": [np.log(500) / -np.log(0.99), 600, Fraction(630)],
    "09.11": [lambda g, M: M if g == 1 else (1 - g**M) / (1 - g), lambda g, M: np.polyval([1] * M, float(g))],
    "10.14": [lambda right: next((t for t in range(1, len(right) + 1) if np.mean(right[max(0, t - 10) : t]) < 0.85), None)],
    "10.8": [lambda i, j, Q: np.eye(Q)[[j if q == i else i if q == j else q for q in range(Q)]].tolist()],
    "10.5": ["b*(ab*ab*)*"],
    "10.6": ["(ba)*", "(ab)*(a|())", "(aa|bb)*"],
}  # fmt: skip
