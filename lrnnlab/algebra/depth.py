"""What more diagonal layers buy: Theorem D', and cascades that attain it.

Theorem D'.  With l diagonal layers (a gate sees the token and all lower states) and finitely many states every group
inside the transition monoid is solvable, of derived length at most l.  Proof.  On layer 1 each channel is permuted by
affine maps of a finite set, turns about one centre: the group acts there through an abelian group.  What acts trivially
below acts on the next layer, over each fixed lower state, again by turns about one centre; and so on.
``groups.solvable_cascade`` is the converse for groups: l layers are enough.

Letters: G a group, l layers, T time, B words; a, c, S as in ``mod_arith_cascade``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np

from lrnnlab.automata import classify, equivalent
from lrnnlab.algebra.cascades import Channel, DiagonalCascade, as_machine, pair_up
from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.algebra.groups import derived_series, solvable_cascade
from lrnnlab.automata.languages import GROUPS, language
from lrnnlab.algebra.one_layer import possible_in_one_diagonal_layer

NEEDED = {"S_3": 2, "Q_8": 2, "A_4": 2, "S_4": 3, "A_5": None}
POWERS = (1, 2, 4, 3)  # of 2, modulo 5; so times d turns by LOGS[d]
LOGS = {1: 0, 2: 1, 4: 2, 3: 3}


def group_cascade(name: str) -> DiagonalCascade:
    """The cascade of one of ``languages.GROUPS``; ValueError for A_5, which has none.

    >>> group_cascade("S_4").depth
    3
    """
    if name not in GROUPS:
        raise ValueError(f"no group is called {name!r}; there are {', '.join(GROUPS)}")
    return solvable_cascade(name, GROUPS[name], list(GROUPS[name].values()))


def mod_arith_cascade() -> DiagonalCascade:
    """ModArith(5) in three diagonal layers, right on every string of tokens.

    The value is S = a + c: a the finished terms, c the growing one.  Layer 1: three channels, c without its zeros as a
    power of 2 (turns of order 4, + and - reset it), whether c has met a zero (reset only), and the parity of the time.
    Layer 2 copies "met a zero" at even and at odd times, so that its value one step ago is still there.  Layer 3 turns
    S by what the token adds: c - c/d for a number d, -c for a zero that is the first one, +1, -1 or nothing for + - ×.

    >>> cascade, machine = mod_arith_cascade(), language("ModArith(5)").machine
    >>> cascade.depth, pair_up(cascade, machine)[1]
    (3, None)
    """
    PLUS, MINUS = 5, 6

    def power(token, lower):
        if token in (PLUS, MINUS):
            return "reset", 0 if token == PLUS else LOGS[4]  # c = 1, c = -1
        return "turn", LOGS.get(token, 0)

    def met_zero(token, lower):
        return {0: ("reset", 1), PLUS: ("reset", 0), MINUS: ("reset", 0)}.get(token, ("turn", 0))

    def copy(parity):
        return lambda token, lower: ("reset", lower[0][1]) if lower[0][2] == parity else ("turn", 0)

    def value(token, lower):
        (k, zero, parity), copies = lower
        if token >= PLUS:
            return "turn", {PLUS: 1, MINUS: -1}.get(token, 0)
        if token == 0:
            return "turn", 0 if copies[1 - parity] else -POWERS[k]
        return "turn", 0 if zero else POWERS[k] - POWERS[(k - LOGS[token]) % 4]

    return DiagonalCascade("three diagonal layers", (*"01234", "+", "-", "×"), (
        (Channel(4, power), Channel(1, met_zero, rings=2), Channel(2, lambda token, lower: ("turn", 1))),
        (Channel(1, copy(0), rings=2), Channel(1, copy(1), rings=2)),
        (Channel(5, value, start=1),)))  # fmt: skip


def random_cascade(layers: int, draw: np.random.Generator, resets: float = 0.1) -> DiagonalCascade:
    """One channel of order 2 a layer, three tokens; each gate, for each token and lower state, is drawn at random.

    >>> random_cascade(2, np.random.default_rng(0)).depth
    2
    """

    def channel(depth):
        lower = product(((0,), (1,)), repeat=depth)
        table = {(token, state): ("reset" if draw.random() < resets else "turn", int(draw.integers(2)))
                 for state in lower for token in range(3)}  # fmt: skip
        return Channel(2, lambda token, below: table[token, below])

    return DiagonalCascade("random", ("a", "b", "c"), tuple((channel(depth),) for depth in range(layers)))


def theorem_d_prime(needed: Mapping[str, int | None] = NEEDED, words: int = 2000, length: int = 40,
                    seed: int = 0) -> Evidence:  # fmt: skip
    """Groups need exactly as many diagonal layers as their derived length; A_5 has no number of layers.

    needed : the layers claimed for each group (None: none are enough); a wrong claim makes the evidence fail.
    Each cascade runs beside the group on all words (states paired off) and on ``words`` random ones of ``length``.

    >>> theorem_d_prime().holds, theorem_d_prime({"S_4": 2}).holds
    (True, False)
    """
    draw, steps, data = np.random.default_rng(seed), [], {}
    for name, layers in needed.items():
        orders = [len(group) for group in derived_series(list(GROUPS[name].values()))]
        found = classify(language(name).machine).derived_length
        data[name] = orders
        if layers is None or found is None:
            steps.append(Step(f"{name}: its derived series never ends, so no number of layers is enough",
                              layers is None and found is None and orders[-1] == orders[-2] > 1,
                              f"orders {orders}, {layers or 'no number of'} layers claimed"))  # fmt: skip
        else:
            tokens = draw.integers(len(GROUPS[name]), size=(words, length))
            steps.append(_group_step(name, layers, found, orders, tokens))
    verdicts = {name: possible_in_one_diagonal_layer(language(name).machine).possible for name in needed}
    cascade, machine = mod_arith_cascade(), language("ModArith(5)").machine
    answers, clash = pair_up(cascade, machine)
    right = clash is None and equivalent(as_machine(cascade, answers), machine) is None
    longest = {
        layers: max(_longest(random_cascade(layers, draw)) for _ in range(27 // layers**2)) for layers in (1, 2, 3)
    }
    steps += [
        Step("one layer is not enough for any", not any(verdicts.values()), "the two laws of ``one_layer`` fail"),
        Step("ModArith(5) needs more than one layer; three are enough, beside its automaton over all words",
             right and cascade.depth == 3 and not possible_in_one_diagonal_layer(machine).possible,
             f"{len(answers)} states of the layers, {machine.num_states} of the automaton"),
        Step("random cascades of 1, 2, 3 layers with resets: derived length at most the number of layers",
             all(found <= layers for layers, found in longest.items()), f"longest found: {list(longest.values())}"),
    ]  # fmt: skip
    return Evidence("Theorem D'", "With l diagonal layers and finitely many states every group in the monoid "
                    "has derived length at most l; solvable groups attain it.", "sampled",
                    tuple(steps), data)  # fmt: skip


def _group_step(name, layers, found, orders, tokens):
    cascade, machine = group_cascade(name), language(name).machine
    answers, clash = pair_up(cascade, machine)
    if clash is not None:
        return Step(f"{name}: the cascade keeps the elements of the group apart", False, f"confuses {clash}")
    bijection = len(answers) == machine.num_states == len(set(answers.values()))
    reached = as_machine(cascade, answers).answer(tokens)[:, -1]
    right = [machine.names[element] for element in reached] == _carried(name, tokens)
    drift = max(
        np.abs(cascade.values(word)[-1] - cascade.points(cascade.run(word)[-1])).max() for word in tokens[:5].tolist()
    )
    return Step(f"{name}: derived length {found}, {layers} layers, every state one element of the group",
                bijection and right and found == layers == cascade.depth and bool(drift < 1e-9),
                f"orders {orders}; {len(answers)} states; {len(tokens)} words of {tokens.shape[1]} tokens "
                f"{'right' if right else 'WRONG'}; in complex128 within {drift:.0e}")  # fmt: skip


def _carried(name, tokens):
    """The permutation of each word (B, T), its points carried one token at a time, as the machine spells it."""
    generators = np.array(list(GROUPS[name].values()))  # (V, n)
    reached = np.tile(np.arange(generators.shape[1]), (len(tokens), 1))  # (B, n)
    for column in tokens.T:
        reached = np.take_along_axis(generators[column], reached, axis=1)
    return ["".join(map(str, row)) for row in reached]


def _longest(cascade):
    """The derived length of all that a cascade can do: every state shows itself."""
    machine = as_machine(cascade, {})
    found = classify(replace(machine, outputs=np.arange(machine.num_states))).derived_length
    return np.inf if found is None else found
