"""Paper 002, Lemma 1: two layers with a ReLU between them multiply two 0/1 matrices, exactly.  When do fewer units do?

Hidden unit (i, j, k) is ReLU(A_ik + B_kj - 1), for bits the product A_ik B_kj; the second layer adds up over k.  This
is n^3 units for every pair of 0/1 matrices.  A machine has only as many matrices as its words have actions, so one
unit for each pair of actions does as well, m^2 of them: fewer where m^2 < n^3.

Letters: n size of the matrices, the states of a machine (the paper's |Q|); m actions of words, the size of its
transition monoid; A, B matrices, the action of the earlier and of the later word; W1, W2 weights.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from lrnnlab.automata import Monoid, transition_monoid
from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.automata.languages import language

TASKS = ("Parity", "(aa)*", "Sum(5)", "EvenPair(2)", "EvenPair(5)", "ModArith(5)", "D_2", "D_3", "D_4", "D_12",
         "Tomita 3", "Tomita 4", "Tomita 5", "Tomita 6", "S_3", "A_5")  # fmt: skip
FEWER = ("Parity", "(aa)*", "Sum(5)", "EvenPair(2)", "EvenPair(5)", "Tomita 5", "Tomita 6", "S_3", "A_5")


def flat(matrices: np.ndarray) -> np.ndarray:
    """Flat(X), row after row: (..., n, n) -> (..., n^2); entry (i, j), from 1, lands at (i-1) n + j.

    >>> flat(np.array([[1, 0], [1, 0]])).tolist()
    [1, 0, 1, 0]
    """
    return matrices.reshape(*matrices.shape[:-2], -1)


def first_weights(n: int) -> np.ndarray:
    """W1 of Eq. 3, (2 n^2, n^3) of 0 and 1, with the paper's indices from 1.  ValueError for n < 1.

    >>> first_weights(2)[:2].tolist()                    # what A_11 and A_12 feed
    [[1, 0, 1, 0, 0, 0, 0, 0], [0, 1, 0, 1, 0, 0, 0, 0]]
    """
    if n < 1:
        raise ValueError(f"matrices have at least one row, got n={n}")
    z = np.arange(1, 2 * n * n + 1)[:, None, None, None]
    i, j, k = np.ogrid[1 : n + 1, 1 : n + 1, 1 : n + 1]
    reads = (z == (i - 1) * n + k) | (z == (n + k - 1) * n + j)  # (2 n^2, n, n, n)
    return reads.reshape(2 * n * n, n**3).astype(np.int64)


def listed_weights(n: int) -> np.ndarray:
    """W1 as the loops of the paper's listing fill it (App. D.1), with indices from 0.

    >>> bool((listed_weights(3) == first_weights(3)).all())
    True
    """
    W1 = np.zeros((2 * n * n, n**3), dtype=np.int64)
    for i, j, k in itertools.product(range(n), repeat=3):
        unit = (i * n + j) * n + k
        W1[i * n + k, unit] = W1[n * n + k * n + j, unit] = 1
    return W1


def second_weights(n: int) -> np.ndarray:
    """W2 = I (n^2) x 1 (n), Kronecker: (n^3, n^2), adds the n products of each entry.

    >>> second_weights(2).sum(axis=0).tolist()
    [2, 2, 2, 2]
    """
    return np.kron(np.eye(n * n, dtype=np.int64), np.ones((n, 1), dtype=np.int64))


def two_layers(A: np.ndarray, B: np.ndarray, W1: np.ndarray, W2: np.ndarray, bias: int = 1) -> np.ndarray:
    """ReLU([Flat A, Flat B] W1 - bias) W2 as matrices again: (..., n, n) twice -> (..., n, n).

    >>> A, B = np.array([[1, 0], [1, 0]]), np.array([[0, 1], [1, 0]])
    >>> two_layers(A, B, first_weights(2), second_weights(2)).tolist()
    [[0, 1], [0, 1]]
    """
    x = np.concatenate([flat(A), flat(B)], axis=-1)
    return (np.maximum(x @ W1 - bias, 0) @ W2).reshape(A.shape)


def compose(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The same network without its zero weights: sum_k ReLU(A_ik + B_kj - 1), for (..., n, n) that broadcast.

    >>> J = np.ones((3, 3), dtype=int)
    >>> compose(J, J)[0].tolist(), compose(3 * J, 3 * J)[0].tolist()    # the lemma asks for bits: 3 times 3 is not 5
    ([3, 3, 3], [15, 15, 15])
    """
    return np.maximum(hidden_sums(A, B), 0).sum(axis=-1)


def hidden_sums(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """What each hidden unit sees, A_ik + B_kj - 1: (..., n, n) twice -> (..., n, n, n), places i, j, k.

    >>> hidden_sums(np.eye(2), np.eye(2))[0, 0].tolist()
    [1.0, -1.0]
    """
    return A[..., :, None, :] + np.swapaxes(B, -1, -2)[..., None, :, :] - 1


def triples(W1: np.ndarray, W2: np.ndarray, n: int) -> list[tuple | None]:
    """For each hidden unit the (i, j, k), from 0, such that it adds A_ik, B_kj and feeds (AB)_ij only; else None.

    >>> triples(first_weights(2), second_weights(2), 2)[:3]
    [(0, 0, 0), (0, 0, 1), (0, 1, 0)]
    """
    found = []
    for reads, feeds in zip(W1.T, W2):
        places, targets = np.flatnonzero(reads).tolist(), np.flatnonzero(feeds).tolist()
        fits = len(places) == 2 and len(targets) == 1 and reads.sum() == 2 and feeds.sum() == 1
        if not (fits and places[0] < n * n <= places[1]):
            found.append(None)
            continue
        (i, k), (other, j) = divmod(places[0], n), divmod(places[1] - n * n, n)
        found.append((i, j, k) if k == other and targets == [i * n + j] else None)
    return found


def lemma_1(
    largest: int = 5, bias: int = 1, first: Callable = first_weights, pairs: int = 200, seed: int = 0
) -> Evidence:
    """Lemma 1, with "=" where the paper writes "approximately": exact for every pair of 0/1 matrices.

    largest : sizes n = 2..largest.   bias, first : another bias, another W1, to see it fail.   pairs : random ones for
    each n > 2.  Steps 1 and 3 together are the proof for these n; step 5 multiplies.  ValueError for largest < 2.
    Source: paper 002, Sec. 7.2, App. C and D.

    >>> lemma_1().holds, [step.holds for step in lemma_1(bias=0).steps]
    (True, [False, True, True, False, False, True])
    """
    if largest < 2:
        raise ValueError(f"the paper's example has n = 2, got largest={largest}")
    draw, sizes = np.random.default_rng(seed), range(2, largest + 1)
    weights = {n: (first(n), second_weights(n)) for n in sizes}
    every = np.array(list(itertools.product((0, 1), repeat=4))).reshape(16, 2, 2)
    left, right = np.indices((16, 16)).reshape(2, -1)
    cases = {2: (every[left], every[right])}
    cases |= {n: draw.integers(2, size=(2, pairs, n, n)) for n in sizes[1:]}
    wrong = {n: int((two_layers(A, B, *weights[n], bias) != A @ B).any((1, 2)).sum()) for n, (A, B) in cases.items()}
    bits = [(a, b, max(a + b - bias, 0)) for a in (0, 1) for b in (0, 1)]
    loose = [n for n in sizes if sorted(t or () for t in triples(*weights[n], n))
             != list(itertools.product(range(n), repeat=3))]  # fmt: skip
    listed = [n for n in sizes if not np.array_equal(weights[n][0], listed_weights(n))]
    A, B = np.array([[1, 0], [1, 0]]), np.array([[0, 1], [1, 0]])
    seen = np.concatenate([flat(A), flat(B)]) @ weights[2][0]
    hidden = np.maximum(seen - bias, 0)
    shown = [seen.tolist(), hidden.tolist(), (hidden @ weights[2][1]).tolist()]
    places = {first: sorted((i - 1) * 3 + j for i in range(first, first + 3) for j in range(first, first + 3))
              for first in (0, 1)}  # fmt: skip
    steps = (
        Step("ReLU(a + b - 1) = ab for the four pairs of bits", all(out == a * b for a, b, out in bits),
             ", ".join(f"{a}{b}: {out}" for a, b, out in bits)),
        Step("Eq. 3 and the listing fill the same W1", not listed, f"n = 2..{largest}, differ for {listed}"),
        Step("each of the n^3 hidden units adds one A_ik to one B_kj and feeds (AB)_ij: with step 1, AB for all bits",
             not loose, f"n = 2..{largest}, not for {loose}"),
        Step("the printed example: sums, hidden units, Flat(AB)",
             shown == [[1, 1, 2, 0, 1, 1, 2, 0], [0, 0, 1, 0, 0, 0, 1, 0], [0, 1, 0, 1]],
             "; ".join(" ".join(map(str, row)) for row in shown)),
        Step(f"all 256 pairs for n = 2 and {pairs} random pairs for each larger n: no error at all",
             not any(wrong.values()), f"wrong pairs: {wrong}"),
        Step("(i-1) n + j needs i, j from 1: with the paper's [n] = 0..n-1 (Sec. 1) places become negative",
             places[1] == list(range(1, 10)) and places[0][0] == -3,
             f"n = 3: {places[1][0]}..{places[1][-1]} from 1, {places[0][0]}..{places[0][-1]} from 0"),
    )  # fmt: skip
    claim = "ReLU([Flat A, Flat B] W1 - 1) W2 = Flat(AB) for all 0/1 matrices A, B."
    return Evidence("Lemma 1", claim, "sampled", steps, {"hidden": shown[1]})


def multiplication_table(monoid: Monoid) -> np.ndarray:
    """(m, m) int: entry (a, b) is the number of the action "first a, then b".

    >>> multiplication_table(transition_monoid(language("Parity").machine)).tolist()
    [[0, 1], [1, 0]]
    """
    number = {element.tobytes(): place for place, element in enumerate(monoid.elements)}
    rows = [monoid.elements[:, element] for element in monoid.elements]  # (b, state): element a first, then b
    return np.array([[number[product.tobytes()] for product in row] for row in rows])


def product_gates(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights of ReLU([a, b] W1 - 1) W2 for one-hot a and b: (2m, m^2), (m^2, m); one AND gate for each pair.

    >>> W1, W2 = product_gates(np.array([[0, 1], [1, 0]]))
    >>> (np.maximum(np.array([0, 1, 0, 1]) @ W1 - 1, 0) @ W2).tolist()    # swap after swap: the identity
    [1, 0]
    """
    m = len(table)
    one = np.eye(m, dtype=np.int64)
    return np.concatenate([np.repeat(one, m, axis=1), np.tile(one, m)]), one[table.ravel()]


def gate_counts(names=TASKS) -> list[dict]:
    """For each task: states n, actions m, the n^3 units of Lemma 1, the m^2 AND gates, and whether these are fewer.

    >>> gate_counts(["Sum(5)"])
    [{'task': 'Sum(5)', 'states': 5, 'actions': 5, 'n^3': 125, 'm^2': 25, 'fewer': True}]
    """
    machines = {name: language(name).machine for name in names}
    sizes = {name: (found.num_states, len(transition_monoid(found))) for name, found in machines.items()}
    return [
        {"task": name, "states": n, "actions": m, "n^3": n**3, "m^2": m * m, "fewer": m * m < n**3}
        for name, (n, m) in sizes.items()
    ]


def and_gates(built=("Parity", "Sum(5)", "S_3", "D_2", "Tomita 3"), fewer=FEWER, width: int = 256) -> Evidence:
    """m^2 AND gates over one-hot actions do what Lemma 1 does; where they are fewer, and what fits the paper's model.

    built : tasks whose gates are built and tried on every pair.   fewer : the tasks of ``TASKS`` where m^2 < n^3; name
    others to see it fail.   width : of the model; its feed-forward layer has 4 width hidden units (paper 002, Table 4).
    Groups are asked which element a word makes, so m = n; S_3 on three points has m^2 = 36 > 27.

    >>> and_gates().holds, [step.holds for step in and_gates(fewer=(*FEWER, "D_2")).steps]
    (True, [True, True, False, True])
    """
    wrong, unlike = {}, {}
    for name in built:
        monoid = transition_monoid(language(name).machine)
        table, one = multiplication_table(monoid), np.eye(len(monoid), dtype=np.int64)
        a, b = np.indices(table.shape).reshape(2, -1)
        W1, W2 = product_gates(table)
        made = np.maximum(np.concatenate([one[a], one[b]], axis=1) @ W1 - 1, 0) @ W2
        rows = np.eye(monoid.elements.shape[1], dtype=np.int64)[monoid.elements]  # (m, n, n), Eq. 2
        wrong[name] = int((made != one[table[a, b]]).any(1).sum())
        unlike[name] = int((compose(rows[a], rows[b]) != rows[table[a, b]]).any((1, 2)).sum())
    counts = gate_counts()
    found = tuple(row["task"] for row in counts if row["fewer"])
    states = {row["task"]: row["states"] for row in counts if row["task"] in ("ModArith(5)", "D_12")}
    steps = (
        Step("one AND gate for each pair of actions gives the one-hot of their product, for every pair",
             not any(wrong.values()), f"wrong pairs: {wrong}"),
        Step("and Lemma 1 on the matrices of Eq. 2 gives the matrix of the same action", not any(unlike.values()),
             f"wrong pairs: {unlike}"),
        Step("fewer than n^3 for these tasks only", found == tuple(fewer), ", ".join(found)),
        Step(f"ModArith(5) and D_12 need more than the {4 * width} hidden units of width {width}, and [Flat A, Flat B] "
             f"more than {width} numbers: trained models do something else",
             all(n**3 > 4 * width and 2 * n * n > width for n in states.values()),
             "; ".join(f"{name}: {n**3} and {2 * n * n}" for name, n in states.items())),
    )  # fmt: skip
    claim = "m^2 AND gates over one-hot actions compose two words; they are fewer than n^3 iff m < n^(3/2)."
    return Evidence("AND gates", claim, "exhaustive", steps, {"counts": counts})
