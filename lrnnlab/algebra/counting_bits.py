"""Paper 003, Proposition 3.2: linear Transformers recognise counter languages, and the bits that takes.

One layer with equal keys and v = 1, -1 compares two counts: y = a's less b's, divided by the length n if normalised.
The paper assumes finite precision (Sec. 1).  But whoever recognises Dyck-1 must tell n/2 + 1 beginnings of n/2 brackets
apart, so log2 n bits are needed by anything, and the counter takes about as many.  Normalised, the margin shrinks as
1/n besides.  A layer sees the counts, not the past: that no prefix was negative takes a second one.

Letters: n length of a word, d depth, k kinds of brackets, y output; a grid of b bits has the step 2^-b.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, product
from math import log2

import numpy as np

from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.algebra.fast_weights import outputs
from lrnnlab.algebra.rational_recurrence import BALANCE


def margin(n: int, rule: str) -> Fraction:
    """The least |y| that is not 0 after n letters, over all words of n letters over {a, b}.

    >>> margin(4, "sum"), margin(4, "normalised")
    (Fraction(2, 1), Fraction(1, 2))
    """
    finals = (outputs(BALANCE, word, rule)[-1, 0] for word in product((0, 1), repeat=n))
    return min(abs(y) for y in finals if y)


def merged_at(bits: int) -> int:
    """The least even n where an excess of one pair, y = 2/n, is rounded to 0 on the grid of step 2^-bits.

    >>> merged_at(3)
    32
    """
    return next(n for n in range(2, 2 ** (bits + 3) + 1, 2) if round(Fraction(2, n) * 2**bits) == 0)


def balanced(text: str) -> bool:
    """Whether taking out "()" again and again leaves nothing.

    >>> balanced("(())()"), balanced("())(")
    (True, False)
    """
    while "()" in text:
        text = text.replace("()", "")
    return not text


def bits_needed(longest: int = 7, rule: str = "normalised", stuck: int = 24) -> Evidence:
    """The margin is 2/n (1/n for odd n) normalised and 2 (1) if not; any recogniser of Dyck-1 needs log2(n/2 + 1) bits.

    longest : all words of up to so many letters.   rule : of the first step; with ``"sum"`` the evidence fails.
    stuck : binary digits of the counter of the last step, 24 for float32.   Source: paper 003, Prop. 3.2 and Sec. 1.

    >>> bits_needed().holds, [step.holds for step in bits_needed(rule="sum").steps]
    (True, [False, True, True, True, True, True])
    """
    lengths = range(1, longest + 1)
    least = {n: 2 - n % 2 for n in lengths}
    shrinks = [n for n in lengths if margin(n, rule) != Fraction(least[n], n)]
    stays = [n for n in lengths if margin(n, "sum") != least[n]]
    same = [(d, e) for d, e in combinations(range(9), 2) if balanced("(" * d + ")" * d) == balanced("(" * e + ")" * d)]
    values = {n: len({outputs(BALANCE, word)[-1, 0] for m in range(1, n + 1) for word in product((0, 1), repeat=m)} | {0})
              for n in (4, 7)}  # fmt: skip
    grid = {bits: merged_at(bits) for bits in range(1, 9)}
    full = np.float32(2**stuck)
    steps = (
        Step("normalised: the margin between equal and unequal counts is 1/n or 2/n", not shrinks,
             f"all words of 1..{longest} letters, other at n = {shrinks}"),
        Step("unnormalised it is 1 or 2, however long the word", not stays, f"other at n = {stays}"),
        Step("the beginnings (^d, d = 0..n/2, are told apart by )^d: n/2 + 1 states, for any recogniser", not same,
             f"{len(list(combinations(range(9), 2)))} pairs up to d = 8, not told apart: {same}"),
        Step("the counter is not far above: 2n + 1 values after up to n letters",
             all(count == 2 * n + 1 for n, count in values.items()),
             f"{values}: {log2(2 * 7 + 1):.1f} bits at n = 7, where {log2(7 / 2 + 1):.1f} are needed"),
        Step("on a grid of b bits an excess of one pair is lost at n = 2^(b+2)",
             all(n == 2 ** (bits + 2) for bits, n in grid.items()), f"{grid}"),
        Step("and a float32 counter stands still at 2^24",
             bool(full + np.float32(1) == full and full - np.float32(1) != full), f"2^{stuck} + 1 = {int(full + np.float32(1))}"),
    )  # fmt: skip
    claim = "Counting is exact with about log2 n bits, and impossible with a number of bits that does not grow."
    return Evidence("Proposition 3.2, its bits", claim, "exhaustive", steps, {"merged": grid, "bits": log2(longest)})


def excesses(words: np.ndarray, k: int) -> np.ndarray:
    """The first layer: how many of each kind are open after each token, (S, T) -> (S, T, k); 2i opens kind i.

    >>> excesses(np.array([[0, 2, 1, 1]]), 2).tolist()
    [[[1, 0], [1, 1], [0, 1], [-1, 1]]]
    """
    values = np.stack([np.where(np.arange(2 * k) // 2 == i, 1 - 2 * (np.arange(2 * k) % 2), 0) for i in range(k)], 1)
    return values[words].cumsum(1)


def two_layers(counts: np.ndarray) -> np.ndarray:
    """Whether the word is a shuffle of balanced ones: counts 0 at the end, and no ReLU(-count) summed by layer two.

    (S, T, k) -> (S,) bool.

    >>> two_layers(excesses(np.array([[0, 1], [1, 0]]), 1)).tolist()
    [True, False]
    """
    below = np.maximum(-counts, 0).cumsum(1)
    return ~(counts[:, -1].any(-1) | below[:, -1].any(-1))


def one_layer(counts: np.ndarray) -> np.ndarray:
    """The same without the second layer: only that the counts are 0 at the end."""
    return ~counts[:, -1].any(-1)


def proposition_3_2(k: int = 2, longest: int = 6, recognise: Callable = two_layers) -> Evidence:
    """Two unnormalised layers recognise Shuffle-k exactly; with ``one_layer`` the evidence fails.

    Every word of up to ``longest`` tokens, against taking out pairs kind by kind.  ValueError for more than 10^6 words.
    Source: paper 003, Prop. 3.2 (Shuffle-Dyck); the second layer is not in the paper.

    >>> proposition_3_2().holds, [step.holds for step in proposition_3_2(recognise=one_layer).steps]
    (True, [True, False, True])
    """
    if k < 1 or (2 * k) ** longest > 10**6:
        raise ValueError(f"(2 * {k})^{longest} words are too many; at most 10^6, and k >= 1")
    counts_wrong, wrong, misled = 0, [], 0
    for n in range(1, longest + 1):
        words = np.stack(np.unravel_index(np.arange((2 * k) ** n), (2 * k,) * n), -1)
        counts = excesses(words, k)
        some = slice(None, None, max(1, len(words) // 200))  # fractions are slow
        for word, row in zip(words[some], counts[some]):
            one_kind = [token for token in word if token < 2]
            counts_wrong += bool(one_kind) and outputs(BALANCE, one_kind)[-1, 0] != row[-1, 0]
        for word, says in zip(words, recognise(counts)):
            kinds = ["".join("()"[token % 2] for token in word if token // 2 == i) for i in range(k)]
            if bool(says) != all(map(balanced, kinds)):
                wrong.append("".join("()[]{}<>"[token] for token in word))
        misled += int((one_layer(counts) & ~two_layers(counts)).sum())
    steps = (
        Step("one layer with v = 1, -1 for a kind's brackets and 0 for others outputs the excess of that kind",
             not counts_wrong, f"200 words of each length: {counts_wrong} wrong"),
        Step(f"zero excess at the end and a zero sum of ReLU(-excess): exactly Shuffle-{k}", not wrong,
             f"every word of 1..{longest} tokens, {len(wrong)} wrong{': ' + wrong[0] if wrong else ''}"),
        Step("the second layer is needed: words that end at zero and were negative before", misled > 0,
             f"{misled} words"),
    )  # fmt: skip
    return Evidence("Proposition 3.2", f"Linear Transformers recognise Shuffle-{k}.", "exhaustive", steps)
