"""Paper 002, Sec. 3.4: when RegularGPT is cheaper than a Transformer.  Rounds are whole, attention is a small part.

The paper compares attention only, T C K log_C T with T^2 L, and finds K < 3.11 L for T = 512, C = 128.  But there are
ceil(log_C T) = 2 rounds of K layers, so K < 2 L; and the projections and the feed-forward network, which every layer
has, cost far more than attention at this length.

Letters: T time, C chunk size (the paper's; not classes), K layers in a round, L layers of the Transformer, d width
(the paper's hidden size); a flop is one multiplication or one addition, keys how many keys a query is compared with.
"""

from __future__ import annotations

from fractions import Fraction
from math import log

from lrnnlab.algebra.evidence import Evidence, Step

VOCABULARY = 50257  # GPT-2's; with it the parameter counts of Table 5 come out
PERPLEXITY = {  # Table 3, K = 6, trained at 512: test lengths 512, 1024, ..., 8192
    32: (32.06, 32.03, 791.74, 812.00, 818.49),
    64: (30.17, 30.30, 30.56, 30.80, 1175.91),
    128: (28.80, 28.94, 29.14, 29.25, 29.41),
    256: (27.90, 34.38, 34.85, 35.11, 35.42),
}


def rounds(T: int, C: int) -> int:
    """ceil(log_C T) in whole numbers, at least 1.  ValueError for C < 2 or T < 1.

    >>> rounds(512, 128), rounds(512, 2), rounds(513, 2)
    (2, 9, 10)
    """
    if C < 2 or T < 1:
        raise ValueError(f"needs a chunk size C >= 2 and a length T >= 1, got C={C}, T={T}")
    depth = 1
    while C**depth < T:
        depth += 1
    return depth


def printed_threshold(T: int, C: int) -> float:
    """K / L below which the paper calls RegularGPT cheaper, with log_C T as a real number.

    >>> round(printed_threshold(512, 128), 2)
    3.11
    """
    return T / (C * log(T, C))


def threshold(T: int, C: int) -> Fraction:
    """The same with whole rounds: T / (C ceil(log_C T)).

    >>> threshold(512, 128), threshold(512, 64), round(printed_threshold(512, 64), 2)
    (Fraction(2, 1), Fraction(4, 1), 5.33)
    """
    return Fraction(T, C * rounds(T, C))


def layer_flops(d: int, keys: int | Fraction) -> int | Fraction:
    """Flops of one layer for one token: 24 d^2 for Q, K, V, O (4 d^2 weights) and the two of 4 d (8 d^2); 4 d a key.

    >>> layer_flops(768, 0), layer_flops(768, 512) - layer_flops(768, 0)
    (14155776, 1572864)
    """
    return 24 * d * d + 4 * d * keys


def whole_threshold(T: int, C: int, d: int) -> Fraction:
    """K / L below which whole layers of RegularGPT, C keys a query, are cheaper than those of a Transformer, T keys.

    >>> round(float(whole_threshold(512, 128, 768)), 3)
    0.541
    """
    return Fraction(layer_flops(d, T), rounds(T, C) * layer_flops(d, C))


def parameters(K: int, d: int = 768) -> int:
    """Weights of K layers (12 d^2 each) and of the embedding that is also the read-out; no biases.

    >>> parameters(6), parameters(12)
    (81064704, 123532032)
    """
    return 12 * K * d * d + VOCABULARY * d


def cost_table(T: int = 512, d: int = 768, chunks=(32, 64, 128, 256)) -> list[dict]:
    """For each chunk size: rounds, window C^rounds, and the three thresholds on K / L.

    >>> cost_table(chunks=(64,))
    [{'C': 64, 'rounds': 2, 'window': 4096, 'printed': 5.33, 'attention': 4.0, 'whole layers': 0.548}]
    """
    return [
        {"C": C, "rounds": rounds(T, C), "window": C ** rounds(T, C), "printed": round(printed_threshold(T, C), 2),
         "attention": float(threshold(T, C)), "whole layers": round(float(whole_threshold(T, C, d)), 3)}
        for C in chunks
    ]  # fmt: skip


def cost(T: int = 512, C: int = 128, d: int = 768, claimed: float = 2) -> Evidence:
    """The threshold on K / L: printed, with whole rounds, and with whole layers; and the windows against Table 3.

    claimed : K / L with whole rounds; 3.11 as printed fails.  Source: paper 002, Sec. 3.4, Sec. 6, Tables 3 and 5.

    >>> cost().holds, [step.holds for step in cost(claimed=3.11).steps]
    (True, [True, False, True, True, True, True, True])
    """
    real, whole, layers = printed_threshold(T, C), threshold(T, C), whole_threshold(T, C, d)
    full, bare = layer_flops(d, T), layer_flops(d, 0)
    causal = layer_flops(d, Fraction(T + 1, 2))
    shares = [1 - Fraction(bare, found) for found in (full, causal)]
    windows = {c: c ** rounds(512, c) for c in PERPLEXITY}
    lengths = [512 * 2**k for k in range(5)]
    cliffs = {c: next((length for length, found in zip(lengths, row) if found > 10 * row[0]), None)
              for c, row in PERPLEXITY.items()}  # fmt: skip
    due = {c: next((length for length in lengths if length > window), None) for c, window in windows.items()}
    even = 6 * d + 2 * C  # T from which K = L pays, while two rounds do
    steps = (
        Step("the printed arithmetic: T / (C log_C T) = 3.11", round(real, 2) == 3.11, f"{real:.4f}"),
        Step("but rounds are whole: K < T / (C ceil(log_C T)) L", whole == claimed,
             f"log_{C} {T} = {log(T, C):.2f}, so {rounds(T, C)} rounds: K < {whole} L"),
        Step("the model meant has 81M (K = 6) and 123M (K = 12) parameters: 12 K d^2 + 50257 d, with d = 768",
             [parameters(K) // 10**6 for K in (6, 12)] == [81, 123], f"{parameters(6)}, {parameters(12)}"),
        Step("attention is a small part of a layer, a tenth at most", 0 < shares[1] < shares[0] <= Fraction(1, 10),
             f"projections and feed-forward {bare} flops a token, attention {full - bare} over all {T} keys "
             f"({float(shares[0]):.1%}), {float(causal - bare):.0f} over the causal ones ({float(shares[1]):.1%})"),
        Step("counted in whole layers K must be below L: with K = L RegularGPT is dearer", layers < 1,
             f"K < {float(layers):.3f} L"),
        Step("with K = L it pays from T = 6 d + 2 C on, while there are two rounds",
             rounds(even, C) == 2 and whole_threshold(even, C, d) == 1 and whole_threshold(even - 1, C, d) < 1,
             f"T = {even}"),
        Step("trained at 512, C^ceil(log_C 512) letters are seen: 1024 for C = 32, 4096 for C = 64; beyond, the "
             "perplexity of Table 3 explodes, and nowhere else", windows[32] == 1024 and windows[64] == 4096
             and cliffs == due, f"windows {windows}, first length beyond {cliffs}"),
    )  # fmt: skip
    claim = f"At T = {T}, C = {C}: K < {whole} L for attention alone, K < {float(layers):.2f} L for whole layers."
    return Evidence("Cost", claim, "exact", steps, {"printed": real, "attention": whole, "whole layers": layers})
