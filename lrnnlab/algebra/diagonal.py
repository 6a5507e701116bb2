"""Paper 000, Proposition 2 (an input-dependent diagonal LRNN cannot represent subtraction): what is proved.

As for Proposition 1 the proof needs that equal values have equal states; a diagonal layer with a readout of its own
choice computes subtraction, if its states may grow without end.  With finitely many states it cannot, and that is
Theorem D: x(p u v w) = x(p v u w) whenever all letters of u and v are in w.

Letters: M modulus; A_c, Bu_c transition and drive of letter c, z the initial state, x state, h readout; p, u, v, w
words; R the finite set of states of a channel, a and b its gate x <- a x + b, c its centre.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import sympy as sp

from lrnnlab.algebra.cascades import universal_layer
from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.automata.languages import language, read
from lrnnlab.algebra.subtraction import letter_gates, symbolic_state
from lrnnlab.algebra.words import spelled, value

ORDERS = (1, 2, 3, 4, 5, 6, 12)

# language: p, u, v, w; then p u v w and p v u w end in one state of every finite diagonal layer
KILLERS = {
    "a-b-c mod 5": ("", "0-", "1-", "0-1"),
    "ModArith(5)": ("", "0-", "1-", "0-1"),
    **dict.fromkeys(("EvenPair(2)", "EvenPair(5)", "Tomita 3"), ("", "0", "1", "01")),
    **dict.fromkeys(("D_2", "D_3", "D_4", "D_12", "(abab)*"), ("", "a", "b", "ab")),
    "Tomita 4": ("", "00", "1", "01"),
    **dict.fromkeys(("S_3", "S_4", "A_4", "A_5"), ("", "s", "t", "st")),
    "Q_8": ("", "i", "j", "ij"),
}


def proposition_2(M: int = 5, commutative: bool = True) -> Evidence:
    """The paper's derivation (appendix A.1), and a diagonal layer with a readout that computes subtraction exactly.

    ``commutative=False`` gives the letters transitions that do not commute, where the derivation breaks.  The
    counter-example is one channel: A_s = M, Bu_s = s for a number, A = 1, Bu = 0 for the minus, z = 1; h reads the
    digits of x in base M after the leading 1.  Source: paper 000, Prop. 2, Eqs. 8 and 9.

    >>> proof = proposition_2()
    >>> proof.holds, proof.data["difference"]
    (True, A_-*A_0*Bu_1 - A_-*A_1*Bu_0 + A_0*Bu_- - A_1*Bu_- + Bu_0 - Bu_1)
    >>> [step.holds for step in proposition_2(commutative=False).steps]
    [False, False, True, True, True]
    """
    z, gates = sp.Symbol("z", commutative=False), letter_gates(commutative=commutative)
    states = {word: symbolic_state(word, z, gates) for word in ("0-1", "1-0", "0-0-1", "0-1-0")}
    short, long = (sp.expand(states[a] - states[b]) for a, b in (("1-0", "0-1"), ("0-1-0", "0-0-1")))
    printed = _equation_8(gates)
    words = [word for n in range(1, 6) for word in product(range(M), repeat=n)]
    reached = {word: _store(word, M) for word in words}
    wrong = [word for word in words if _read_off(reached[word], M) != value(word, M)]
    steps = (
        Step("diagonal transitions commute, so z drops out of x(1-0) - x(0-1) and Eq. 8 is left",
             sp.expand(short - printed) == 0, f"{short}"),
        Step("x(0-1-0) - x(0-0-1), Eq. 9, is the same expression: it cannot be both zero and not zero",
             sp.expand(long - short) == 0, f"difference of the two: {sp.expand(long - short)}"),
        Step("the values ask for both: 0-1 differs from 1-0, and 0-0-1 equals 0-1-0",
             value((0, 1), M) != value((1, 0), M) and value((0, 0, 1), M) == value((0, 1, 0), M),
             f"modulo {M}: {value((0, 1), M)}, {value((1, 0), M)}; {value((0, 0, 1), M)}, {value((0, 1, 0), M)}"),
        Step("used in silence: equal values must have equal states. A readout may map two states to one answer",
             reached[0, 0, 1] != reached[0, 1, 0] and value((0, 0, 1), M) == value((0, 1, 0), M),
             f"x({spelled((0, 0, 1))}) = {reached[0, 0, 1]}, x({spelled((0, 1, 0))}) = {reached[0, 1, 0]}, "
             f"both read as {_read_off(reached[0, 0, 1], M)}"),
        Step("one diagonal channel and a readout are right on every expression of 1 to 5 operands; it stores them all",
             not wrong and len(set(reached.values())) == len(words),
             f"{len(wrong)} wrong of {len(words)}; {len(set(reached.values()))} states"),
    )  # fmt: skip
    claim = ("With diagonal transitions and 'equal values = equal states', "
             "x(0-1) != x(1-0) and x(0-0-1) = x(0-1-0) cannot both hold.")  # fmt: skip
    return Evidence("Proposition 2", claim, "exhaustive", steps, {"difference": short})


def _equation_8(gates):
    """Right side minus left side as printed, in the printed order of the factors."""
    u = {letter: sp.Symbol(f"Bu_{letter}", commutative=False) for letter in "01-"}
    left, right = (gates[b] * gates["-"] * u[a] + gates[b] * u["-"] + u[b] for a, b in ("01", "10"))
    return sp.expand(right - left)


def _store(operands, M):
    """The state after a-b-c-...: a number s does x <- M x + s, a minus nothing, and x starts at 1."""
    x = 1
    for operand in operands:
        x = M * x + operand
    return x


def _read_off(x, M):
    operands = []
    while x > 1:
        x, operand = divmod(x, M)
        operands.append(operand)
    return value(operands[::-1], M)


def theorem_d(
    p: str = "", u: str = "0-", v: str = "1-", w: str = "0-1", samples: int = 5000, seed: int = 0
) -> Evidence:
    """One diagonal layer (real or complex) with finitely many states ends alike after p u v w and p v u w.

    The steps of the proof in free symbols; ``samples`` random channels (turns of order 1..12 about one centre, resets)
    in whole numbers and in complex128; the universal layers; and gates with infinitely many states, which do not obey.
    It needs all letters of u and v in w: leave one out, and the evidence fails.

    >>> theorem_d().holds, theorem_d(w="0-").holds
    (True, False)
    """
    letters = sorted(set(p + u + v + w))
    first, second = ([letters.index(char) for char in word] for word in (p + u + v + w, p + v + u + w))
    missing = sorted(set(u + v) - set(w))
    channels = _random_channels(len(letters), samples, np.random.default_rng(seed))
    apart = int((_whole(channels, first) != _whole(channels, second)).sum())
    distance = np.abs(_complex(channels, first) - _complex(channels, second)).max()
    layers = [universal_layer(letters, N) for N in ORDERS]
    told = [N for N, layer in zip(ORDERS, layers) if layer.run(first)[-1] != layer.run(second)[-1]]
    endless = _endless(len(letters), samples, np.random.default_rng(seed))
    generic = float(np.median(np.abs(_affine(*endless, first) - _affine(*endless, second))))
    steps = (
        *_proof_steps(),
        Step("all letters of u and v are in w", not missing, f"u v: {u + v}, w: {w}, missing: {missing or 'none'}"),
        Step("random finite channels, in whole numbers: the two words end in the same state", not apart,
             f"{apart} of {samples} differ"),
        Step("the same channels in complex128, each about a centre of its own", distance < 1e-12,
             f"largest distance {distance:.1e}"),
        Step("so do the universal layers, hence every layer with turns of these orders", not told,
             f"orders {ORDERS}; told apart by {told or 'none'}"),
        Step("finiteness is needed: channels with gates at random inside the unit disc tell the words apart",
             generic > 1e-6, f"median distance {generic:.1e}"),
    )  # fmt: skip
    return Evidence("Theorem D", "In one diagonal layer with finitely many states x(p u v w) = x(p v u w) "
                    "if all letters of u and v are in w.", "sampled", steps,
                    {"words": (p + u + v + w, p + v + u + w), "generic": generic})  # fmt: skip


def _proof_steps():
    a, b, e, c, y, z, S = sp.symbols("a b e c y z S")
    n = sp.Symbol("n", positive=True)
    drive = sp.solve(sp.Eq(a * S + n * b, S), b)[0]  # the sum over R is the same before and after
    moved = sp.expand(a * (c + z) + c * (1 - a) - c)
    both = [sp.expand(c + second * first * (z - c)) for first, second in ((a, e), (e, a))]
    return (
        Step("a gate is constant (a = 0, a reset) or keeps states apart, so it permutes the finite set R",
             sp.expand((a * y + b) - (a * z + b) - a * (y - z)) == 0, "(a y + b) - (a z + b) = a (y - z)"),
        Step("a permutation of R keeps the centroid c = S/n where it is",
             sp.simplify(a * S / n + drive - S / n) == 0, f"a S + n b = S gives b = {drive} and a c + b = c"),
        Step("about c the gate multiplies by a; the sum of |x - c|^2 over R stays, hence |a| = 1: a turn",
             moved == a * z, f"c + z goes to c + {moved}"),
        Step("turns about one centre commute", both[0] == both[1], "c + a e (z - c) in both orders"),
    )  # fmt: skip


def _random_channels(V, samples, draw):
    """Order and rings (samples,), and for each token a turn and whether it resets, to which ring and angle."""
    order, rings = draw.integers(1, 13, samples), draw.integers(1, 4, samples)
    resets = draw.random((samples, V)) < draw.choice([0, 0.3, 0.6], (samples, 1))
    angle, ring = draw.integers(0, order[:, None], (samples, V)), draw.integers(0, rings[:, None], (samples, V))
    centre = draw.normal(size=samples) + 1j * draw.normal(size=samples)
    return order, rings, resets, angle, ring, centre


def _whole(channels, word):
    """(samples, 2): ring and angle after the word, whole numbers."""
    order, _, resets, angle, ring, _ = channels
    state = np.zeros((len(order), 2), dtype=np.int64)
    for token in word:
        turned = np.stack((state[:, 0], (state[:, 1] + angle[:, token]) % order), axis=1)
        reset = np.stack((ring[:, token], angle[:, token]), axis=1)
        state = np.where(resets[:, token, None], reset, turned)
    return state


def _complex(channels, word):
    """The same channels as x <- a x + b in complex128."""
    order, rings, resets, angle, ring, centre = channels
    unit = np.exp(2j * np.pi * angle / order[:, None])
    a = np.where(resets, 0, unit)
    points = centre[:, None] + (ring + 1) / rings[:, None] * unit
    return _affine(a, np.where(resets, points, centre[:, None] * (1 - unit)), word, centre + 1 / rings)


def _endless(V, samples, draw):
    """Gates a of modulus below 1 and drives b at random, (samples, V) each."""
    a = np.sqrt(draw.random((samples, V))) * np.exp(2j * np.pi * draw.random((samples, V)))
    return a, draw.normal(size=(samples, V)) + 1j * draw.normal(size=(samples, V))


def _affine(a, b, word, x=0):
    for token in word:
        x = a[:, token] * x + b[:, token]
    return x


def killer_words(name: str, parts: tuple[str, str, str, str] | None = None) -> Evidence:
    """Two words that end in one state of every finite diagonal layer, and that the language answers differently.

    parts : p, u, v, w, if not those of ``KILLERS``.  ValueError for a language without an entry.

    >>> found = killer_words("a-b-c mod 5")
    >>> found.holds, found.data["words"], found.data["answers"]
    (True, ('0-1-0-1', '1-0-0-1'), (3, 0))
    """
    if parts is None and name not in KILLERS:
        raise ValueError(f"no killer words are stored for {name!r}; there are some for {', '.join(KILLERS)}")
    p, u, v, w = parts or KILLERS[name]
    words = (p + u + v + w, p + v + u + w)
    letters = sorted(set(words[0]))
    tokens = [[letters.index(char) for char in word] for word in words]
    layers = [universal_layer(letters, N) for N in ORDERS]
    told = [N for N, layer in zip(ORDERS, layers) if layer.run(tokens[0])[-1] != layer.run(tokens[1])[-1]]
    found = language(name)
    answers = tuple(int(found.machine.answer(read(found.machine, word))[-1]) for word in words)
    steps = (
        Step("all letters of u and v are in w", set(u + v) <= set(w), f"u = {u}, v = {v}, w = {w}"),
        Step("universal layers end in the same state", not told, f"orders {ORDERS}; told apart by {told or 'none'}"),
        Step("the answers differ", answers[0] != answers[1], f"{words[0]}: {answers[0]}, {words[1]}: {answers[1]}"),
        Step("a definition that shares no code with the machine agrees", answers == tuple(map(found.oracle, words)),
             found.says),
    )  # fmt: skip
    return Evidence(f"Killer words for {name}", "No readout of one diagonal layer with finitely many states is right.",
                    "exhaustive", steps, {"words": words, "answers": answers})  # fmt: skip


def killer_table() -> list[dict]:
    """One row a language, for ``show.table``.

    >>> killer_table()[0]
    {'task': 'a-b-c mod 5', 'word': '0-1-0-1', 'answer': 3, 'other word': '1-0-0-1', 'other answer': 0, 'holds': 'yes'}
    """
    rows = []
    for name in KILLERS:
        found = killer_words(name)
        (word, other), (answer, second) = found.data["words"], found.data["answers"]
        rows.append({"task": name, "word": word, "answer": answer, "other word": other, "other answer": second,
                     "holds": "yes" if found.holds else "NO"})  # fmt: skip
    return rows
