"""Paper 003, Proposition 3.4: what one layer of a linear Transformer can know of a word, and what that excludes.

Without positions and with W_0 = 0 the sums of Eq. 2 and 4 do not see an order: the output is a function of how often
each token occurred, and of the last token, which makes the query.  After n tokens of V kinds that is one of
V C(n + V - 2, V - 1) configurations, (V - 1) log2 n + O(1) bits.  So two words with equal counts and last tokens get the
same answer: ((1() and 1((() do, and reset Dyck-1 asks for 0 and 1.  The delta rule (Eq. 8) keeps them apart.

Letters: V tokens, n length of a word; W fast weights; a word is a tuple of tokens.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import pairwise, product
from math import comb, log2

import numpy as np

from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.algebra.fast_weights import FastLayer, outputs, random_layer, table

BRACKETS = "()1"  # tokens 0, 1, 2
PAIR = ("((1()", "1((()")


def configurations(V: int, n: int) -> int:
    """How many pairs (counts of V tokens that sum to n, a token that occurs in them) there are.

    >>> [configurations(3, n) for n in (1, 2, 3, 4)]
    [3, 9, 18, 30]
    """
    return V * comb(n + V - 2, V - 1)


def configuration(word: tuple[int, ...]) -> tuple:
    """What one layer can see of a word: its tokens, sorted, and the last one."""
    return tuple(sorted(word)), word[-1]


def proposition_3_4(V: int = 3, longest: int = 4, rule: str = "normalised", layers: int = 3, seed: int = 0) -> Evidence:
    """One layer's output depends on the configuration alone, and tells all configurations apart if weights are general.

    rule : ``"sum"`` or ``"normalised"``; with ``"delta"`` the evidence fails.   ValueError for V < 2.
    Source: paper 003, Prop. 3.4, made exact.

    >>> proposition_3_4().holds, [step.holds for step in proposition_3_4(rule="delta").steps]
    (True, [False, True, False, True])
    """
    if V < 2:
        raise ValueError(f"with fewer than 2 tokens there is nothing to count, got V={V}")
    draw, split, told = np.random.default_rng(seed), 0, []
    for _ in range(layers):
        layer = random_layer(draw, V, 3, 2)
        seen = defaultdict(set)
        for n in range(1, longest + 1):
            for word in product(range(V), repeat=n):
                seen[configuration(word)].add(tuple(outputs(layer, word, rule)[-1]))
        split += sum(len(found) > 1 for found in seen.values())
        told.append(len({(len(key[0]), *next(iter(found))) for key, found in seen.items()}))
    counted = [len({configuration(word) for word in product(range(V), repeat=n)}) for n in range(1, longest + 1)]
    formula = [configurations(V, n) for n in range(1, longest + 1)]
    growth = [log2(configurations(V, 2**e)) - (V - 1) * e for e in (10, 20)]
    limit = log2(V) - log2(np.prod(range(1, V)))
    steps = (
        Step("equal counts and equal last token: equal output", not split,
             f"{layers} random layers, every word of up to {longest} tokens: {split} configurations with two outputs"),
        Step("there are V C(n + V - 2, V - 1) configurations", counted == formula, f"n = 1..{longest}: {counted}"),
        Step("a general layer tells all of them apart: the count cannot be lowered",
             not split and max(told) == sum(formula), f"{told} outputs of {sum(formula)} configurations"),
        Step("that is (V - 1) log2 n + O(1) bits", abs(growth[1] - limit) <= abs(growth[0] - limit) < 0.01,
             f"log2 less (V - 1) log2 n at n = 2^10, 2^20: {growth[0]:.5f}, {growth[1]:.5f}; limit {limit:.5f}"),
    )  # fmt: skip
    return Evidence("Proposition 3.4", "One layer of a linear Transformer knows the counts and the last token.",
                    "exhaustive", steps, {"configurations": formula})  # fmt: skip


def depth_since_reset(text: str) -> int:
    """How many brackets are open since the last 1.

    >>> [depth_since_reset(text) for text in PAIR]
    [0, 2]
    """
    part = text.rpartition("1")[2]
    return part.count("(") - part.count(")")


def twice(layer: FastLayer, second: FastLayer, word: tuple[int, ...], rule: str) -> np.ndarray:
    """Two layers: the second one's values are its table's entry times the first one's output; the last output.

    A small stand-in for a second layer that is enough to see an order.
    """
    first = outputs(layer, word, rule)[:, 0]
    keys, queries = second.keys[list(word)], second.queries[list(word)]
    values = second.values[list(word)] * first[:, None]
    unrolled = FastLayer(keys, queries, values, second.strengths[list(word)])
    return outputs(unrolled, tuple(range(len(word))), rule)[-1]


def reset_dyck_1(pair: tuple[str, str] = PAIR, rule: str = "sum", layers: int = 20, seed: int = 0) -> Evidence:
    """No one-layer linear Transformer labels reset Dyck-1: two words, two depths, one output.

    pair : the words, over ( ) 1.   rule : with ``"delta"`` the evidence fails.   Source: paper 003, Table 2.

    >>> reset_dyck_1().holds, [step.holds for step in reset_dyck_1(rule="delta").steps]
    (True, [True, True, False, True])
    >>> [step.holds for step in reset_dyck_1(pair=("((1()", "1(()(")).steps]
    [False, True, False, True]
    """
    words = [tuple(BRACKETS.index(char) for char in text) for text in pair]
    draw = np.random.default_rng(seed)
    made = [random_layer(draw, 3, 3, 2) for _ in range(layers)]
    rules = ("sum", "normalised") if rule != "delta" else (rule,)
    apart = [sum(bool((outputs(layer, words[0], each)[-1] != outputs(layer, words[1], each)[-1]).any()) for layer in made)
             for each in rules]  # fmt: skip
    deep = sum(bool((twice(a, b, words[0], rule) != twice(a, b, words[1], rule)).any()) for a, b in pairwise(made))
    kept = delta_resets()
    steps = (
        Step("the two words have the same counts and the same last token", configuration(words[0]) == configuration(
             words[1]), f"{pair[0]} and {pair[1]}"),
        Step("their depths since the reset are not both 0, nor both positive: reset Dyck-1 wants two labels",
             len({depth_since_reset(text) > 0 for text in pair}) == 2, f"depths {[*map(depth_since_reset, pair)]}"),
        Step("one layer gives them one output, difference exactly 0: whatever reads it is wrong on one", not any(apart),
             f"{layers} random layers, {', '.join(rules)}: {apart} differ"),
        Step("two layers can tell them apart, and one delta rule with beta = 1, v = 0 at the reset",
             deep > 0 and len(kept) == 2, f"{deep} of {layers - 1} pairs of layers; delta rule: {sorted(map(str, kept))}"),
    )  # fmt: skip
    return Evidence("Table 2, reset Dyck-1", "No one-layer linear Transformer recognises reset Dyck-1.", "exact", steps)


def delta_resets(pair: tuple[str, str] = PAIR, leak: Fraction = Fraction(1, 100)) -> set[Fraction]:
    """What ``reset_counter`` says after each word of the pair, rounded to whole numbers: two values if it resets.

    >>> sorted(map(str, delta_resets()))
    ['0', '2']
    """
    layer = reset_counter(leak)
    words = [tuple(BRACKETS.index(char) for char in text) for text in pair]
    return {Fraction(round(outputs(layer, word, "delta")[-1, 0])) for word in words}


def reset_counter(leak: Fraction) -> FastLayer:
    """One delta-rule head that counts ( and ) with a leak, and forgets at 1: key 1, beta = leak, v = +-1/leak; beta = 1.

    >>> reset_counter(Fraction(1, 4)).values[:, 0].tolist()
    [Fraction(4, 1), Fraction(-4, 1), Fraction(0, 1)]
    """
    return table([[1]] * 3, [[1]] * 3, [[1 / leak], [-1 / leak], [0]], [leak, leak, 1])
