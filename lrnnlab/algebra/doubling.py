"""PScan, the parallel scan of paper 000 (Sec. 3.4, App. A.2), on paper: its schedule in letters, its work, its depth.

The schedule runs here on words, as in the paper's listing A.2.1: "A3A2" is a product of matrices, and a state is the
set of words that add up to it.  So equality with the loop is an identity in free, non-commuting letters.

Letters: T inputs, L = 2^ceil(log2(T+1)) positions (x_0 in front, zeros behind), h blocks, b block size, P processors.
"""

from __future__ import annotations

import math
from fractions import Fraction

from lrnnlab.algebra.evidence import Evidence, Step

PRINTED = (  # App. A.2.1, seq_len = 7, and Fig. 1
    (("A1",), ("A3",), ("A5",), ("A7",)),
    (("A2", "A3A2"), ("A6", "A7A6")),
    (("A4", "A5A4", "A6A5A4", "A7A6A5A4"),),
)


def levels(T: int) -> int:
    """ceil(log2(T + 1)), the depth of the scan.  ValueError for T < 1.

    >>> [levels(T) for T in (1, 7, 8, 500)]
    [1, 3, 4, 9]
    """
    if T < 1:
        raise ValueError(f"a scan needs at least one input, got T={T}")
    return T.bit_length()


def split_level(groups: list[list[str]]) -> tuple[list[list[str]], list[list[str]], int]:
    """One step of listing A.2.1: (the words this level needs, what is left for the next, products formed).

    >>> split_level([["A1"], ["A2"], ["A3"]])
    ([['A1'], ['A3']], [['A2', 'A3A2']], 1)
    """
    needed, even = groups[::2], groups[1::2]
    longer = [[word + run[-1] for word in odd] for odd, run in zip(needed[1:], even)]
    return needed, [run + more for run, more in zip(even, longer)], sum(map(len, longer))


def schedule(T: int) -> tuple[list[list[list[str]]], int]:
    """(levels, products): the words each level needs, group by group, for T = 2^k - 1 matrices, and products formed.

    ValueError if T + 1 is not a power of two.

    >>> schedule(3)
    ([[['A1'], ['A3']], [['A2', 'A3A2']]], 1)
    """
    if T < 1 or T & (T + 1):
        raise ValueError(f"the schedule needs 2^k - 1 matrices, got {T}: pad first")
    groups, table, products = [[f"A{i}"] for i in range(1, T + 1)], [], 0
    while groups:
        needed, groups, formed = split_level(groups)
        table.append(needed)
        products += formed
    return table, products


def listing_levels(T: int) -> int:
    """How often the loop of listing A.2.1 runs: ceil(log2(seq_len)).

    >>> [listing_levels(T) for T in (1, 3, 7)]
    [0, 2, 3]
    """
    return math.ceil(math.log2(T))


def pscan_schedule(T: int = 7, printed: tuple = PRINTED) -> Evidence:
    """The words of Fig. 1 and App. A.2.1 are what the algorithm produces; and where the listing's loop falls short.

    >>> pscan_schedule().holds, pscan_schedule(printed=PRINTED[:2]).holds
    (True, False)
    """
    table, _ = schedule(T)
    short = [t for t in (2**k - 1 for k in range(1, 11)) if listing_levels(t) != levels(t)]
    steps = (
        Step("the levels are those printed",
             [list(map(tuple, level)) for level in table] == [list(level) for level in printed],
             "; ".join(str(level) for level in table)),
        Step("the depth is ceil(log2(T + 1)): ceil(log2 L) with x_0 counted, as the paper says",
             len(table) == levels(T), f"{len(table)} levels for T = {T}"),
        Step("A.2.1's loop runs ceil(log2(seq_len)) times: too few for seq_len = 1 only (A.2.2 has it right)",
             short == [1], f"2^k - 1 up to 1023: wrong at {short}, {listing_levels(1)} levels instead of {levels(1)}"),
    )  # fmt: skip
    claim = "The doubling schedule needs the products that the paper prints."
    return Evidence("PScan's schedule", claim, "exact", steps, {"levels": table})  # fmt: skip


def loop_words(T: int) -> list[frozenset[str]]:
    """x_0, ..., x_T of x_t = A_t x_(t-1) + u_t as sets of words.

    >>> sorted(loop_words(2)[2])
    ['A2A1u0', 'A2u1', 'u2']
    """
    states = [frozenset({"u0"})]
    for t in range(1, T + 1):
        states.append(frozenset({f"A{t}{word}" for word in states[-1]} | {f"u{t}"}))
    return states


def scan_words(T: int) -> list[frozenset[str]]:
    """The same states by PScan: at each level the second half of a group receives product times last of the first half.

    Padding carries no letters.

    >>> scan_words(5) == loop_words(5)
    True
    """
    L = 1 << levels(T)
    x = [{f"u{t}"} if t <= T else set() for t in range(L)]
    for level, groups in enumerate(schedule(L - 1)[0]):
        half = 1 << level
        for group, words in enumerate(groups):
            first = 2 * half * group
            last = x[first + half - 1]
            for place, product in enumerate(words):
                x[first + half + place] |= {product + word for word in last}
    return [frozenset(state) for state in x[: T + 1]]


def pscan_equals_loop(longest: int = 33) -> Evidence:
    """PScan and the loop give the same sums of words for every T up to ``longest``: an identity for any matrices.

    >>> pscan_equals_loop().holds
    True
    """
    wrong = [T for T in range(1, longest + 1) if scan_words(T) != loop_words(T)]
    step = Step("the same words in every state, padding included", not wrong,
                f"T = 1..{longest}: {len(wrong)} differ; x_3 = {' + '.join(sorted(scan_words(3)[3]))}")  # fmt: skip
    return Evidence("PScan equals the loop", f"All states agree for T = 1..{longest}.", "symbolic", (step,))


def matrix_products(T: int) -> int:
    """Matrix-matrix products of PScan: (L/2) log2 L - (L - 1), for the L/2 words of each level less the given letters.

    >>> matrix_products(7), matrix_products(500)
    (5, 1793)
    """
    L = 1 << levels(T)
    return L // 2 * levels(T) - (L - 1)


def multiplications(T: int, b: int, h: int = 1) -> dict[str, int]:
    """Scalar multiplications: of the loop (b^2 h T), of PScan's matrix products (b^3 each) and of its applications.

    Each level applies L/2 products to a vector, b^2 each.  ValueError for a size below 1.

    >>> multiplications(500, 8)
    {'loop': 32000, 'products': 918016, 'applications': 147456}
    """
    if b < 1 or h < 1:
        raise ValueError(f"blocks need a size and a number of at least 1, got b={b}, h={h}")
    half = 1 << (levels(T) - 1)
    return {
        "loop": b**2 * h * T,
        "products": b**3 * h * matrix_products(T),
        "applications": b**2 * h * half * levels(T),
    }


def modelled_time(T: int, b: int, h: int, P: int) -> tuple[Fraction, Fraction]:
    """(loop, PScan): max(work / P, depth) with one multiplication per processor and tick; depth T and ceil(log2(T+1)).

    ValueError for P < 1.

    >>> [float(t) for t in modelled_time(500, 8, 8, P=1000)]
    [500.0, 8523.776]
    """
    if P < 1:
        raise ValueError(f"at least one processor is needed, got P={P}")
    count = multiplications(T, b, h)
    scan = count["products"] + count["applications"]
    return max(Fraction(count["loop"], P), Fraction(T)), max(Fraction(scan, P), Fraction(levels(T)))


def break_even(T: int, b: int, h: int) -> int:
    """The least number of processors with which PScan is faster than the loop in this model.

    ValueError for T < 3, where both have the same depth.

    >>> break_even(500, 8, 8), break_even(40, 8, 8), break_even(500, 1, 8)
    (17048, 15668, 66)
    """
    if T < 3:
        raise ValueError(f"with T={T} inputs the loop is as shallow as PScan, which is never faster")
    count = multiplications(T, b, h)
    scan = count["products"] + count["applications"]
    # PScan does more work than the loop, so it wins only where the loop is held up by its depth: scan / P < T.
    return scan // T + 1


def pscan_cost(T: int = 500, b: int = 8, h: int = 8, largest: int = 10, offset: int = 1) -> Evidence:
    """Depth ceil(log2(T + 1)), but work of order b^3 h T log T: O(b^3 h log T) of Sec. 3.4 is the time with P = L/2.

    ``largest``: schedules up to 2^largest positions are counted.  offset : the claimed count is
    (L/2) log2 L - (L - offset); anything but 1 fails.

    >>> pscan_cost().data
    {'products': 1793, 'ratio_products': 28.688, 'ratio': 33.296, 'depth': 9, 'break_even': 17048}
    """
    sizes = [2**k for k in range(1, largest + 1)]
    counted = [schedule(L - 1)[1] for L in sizes]
    formula = [L // 2 * (L.bit_length() - 1) - (L - offset) for L in sizes]
    count, depth, least = multiplications(T, b, h), levels(T), break_even(T, b, h)
    products, total = count["products"] / count["loop"], (count["products"] + count["applications"]) / count["loop"]
    half = 1 << (depth - 1)
    paper = (b**3 + b**2) * h * depth
    before, after = modelled_time(T, b, h, max(least - 1, 1)), modelled_time(T, b, h, least)
    steps = (
        Step("matrix-matrix products: (L/2) log2 L - (L - 1)", counted == formula, f"L = 2..{sizes[-1]}: {counted}"),
        Step("the depth is logarithmic", depth == math.ceil(math.log2(T + 1)), f"{depth} levels instead of {T} steps"),
        Step("the work is not: many times the loop's multiplications", b == 1 or total > products > 1,
             f"{products:.1f} times for the products alone, {total:.1f} times with their applications"),
        Step("the paper's O(b^3 h log T) is the time with one processor for two positions",
             modelled_time(T, b, h, half)[1] <= paper,
             f"P = {half}: {float(modelled_time(T, b, h, half)[1]):.0f} ticks <= (b^3 + b^2) h log2 L = {paper}"),
        Step("so with max(work / P, depth) PScan wins from some P on", before[1] >= before[0] and after[1] < after[0],
             f"P = {least}: {float(after[1]):.2f} < {float(after[0]):.0f}"),
    )  # fmt: skip
    data = {"products": matrix_products(T), "ratio_products": round(products, 3), "ratio": round(total, 3),
            "depth": depth, "break_even": least}  # fmt: skip
    return Evidence(
        "PScan's cost", f"T = {T}, b = {b}: {total:.1f} times the work in {depth} levels.", "exact", steps, data
    )
