"""The worked examples that paper 003 prints (Sec. 4.1, App. C.2), worked again.

Letters: none; a text is a string of brackets, bits or letters.
"""

from __future__ import annotations

from itertools import product

from lrnnlab.algebra.evidence import Evidence, Step


def shuffle_2_code(text: str) -> str:
    """App. C.2's own legend: 0 both closed, 1 type 0 ( open, 2 type 1 [ open, 3 both.

    >>> shuffle_2_code("([])")
    '1310'
    """
    opened = [(text[:end].count("(") - text[:end].count(")"), text[:end].count("[") - text[:end].count("]"))
              for end in range(1, len(text) + 1)]  # fmt: skip
    return "".join(str((first > 0) + 2 * (second > 0)) for first, second in opened)


def flags_as_number(text: str) -> str:
    """The pair of flags read as a binary number, type 0 first: the code of the text's other reading.

    >>> flags_as_number("([])")
    '2320'
    """
    return shuffle_2_code(text).translate(str.maketrans("12", "21"))


def parity_code(text: str) -> str:
    """T where the 1s so far are even, else F.

    >>> parity_code("0100")
    'TFFF'
    """
    return "".join("FT"[text[:end].count("1") % 2 == 0] for end in range(1, len(text) + 1))


def next_symbols(text: str) -> str:
    """The next symbol of a^n b^n: N while it may be a or b, S at the end.

    >>> next_symbols("aabb")
    'NNbS'
    """
    n = text.count("a")
    return "N" * n + "b" * (n - 1) + "S"


def printed(shuffle_2: str = "1310", parity: str = "0100") -> Evidence:
    """What the examples should be.  With the paper's 2320 for ([]), or 0010 for the parity input, the evidence fails.

    >>> printed().holds, [step.holds for step in printed(shuffle_2="2320", parity="0010").steps]
    (True, [False, True, False, True])
    """
    brackets = [text for text in map("".join, product("()[]", repeat=4)) if shuffle_2_code(text) == "2320"
                and all(text.count(pair[0]) == text.count(pair[1]) for pair in ("()", "[]"))]  # fmt: skip
    steps = (
        Step("([]) is coded 1310 by the legend of App. C.2 (printed: 2320)", shuffle_2_code("([])") == shuffle_2,
             shuffle_2_code("([])")),
        Step("2320 is the code of [()], or the flags of ([]) read as a binary number",
             "[()]" in brackets and flags_as_number("([])") == "2320", f"coded 2320: {', '.join(brackets)}"),
        Step("TFFF is the parity of 0100, not of 0010", parity_code(parity) == "TFFF",
             f"{parity}: {parity_code(parity)}; 0010: {parity_code('0010')}"),
        Step("aaabbb is answered NNNbbS", next_symbols("aaabbb") == "NNNbbS", next_symbols("aaabbb")),
    )  # fmt: skip
    return Evidence("Appendix C.2, examples", "One of the printed examples contradicts its legend.", "exhaustive", steps)
