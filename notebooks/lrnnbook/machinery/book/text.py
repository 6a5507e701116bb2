"""What in a text is compared exactly, what within a tolerance, and what not at all."""

import math
import re

# Replaced by a constant on both sides before comparing: they change from run to run and claim nothing.
SANITIZE = (
    (r"\b0x[0-9a-fA-F]{6,}", "ADDRESS"),
    (r"\S*ipykernel_\d+\S*", "IPYKERNEL"),
    (r"\bT_[0-9a-f]{5}(?![0-9a-f])", "STYLER"),  # the random id of a pandas Styler table
    # Both signs for micro.  No "min": a table of mean, min, max over seeds would lose its numbers.  Blanks go too:
    # columns shift with the digits.  "0s" and "1s" are letters of a word.
    (r"(?:[ \t]*(?<![\w.])(?![01]s\b)\d+(?:\.\d+)?[ \t\u00a0]?(?:ns|us|\u00b5s|\u03bcs|ms|s|sec|seconds?|minutes?)\b)+", " TIME"),
)

# 0.5, -1.25e-3, 2e8, .5, 1,999.5; not the 3.11 of version 3.11.7, not the 2.0 of v2.0, not "5." at the end of a sentence.
WHOLE = r"(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)"
FLOAT = rf"(?<![\w.])[-+]?(?:{WHOLE}\.\d+(?:[eE][-+]?\d+)?|\.\d+|\d+[eE][-+]?\d+(?!\w))(?!\d|\.\d)"

_FLOAT = re.compile(rf"[ \t]*({FLOAT})[ \t]*")
_BLANKS = re.compile(r"[ \t]+")


def sanitize(text: str) -> str:
    """``text`` with addresses, kernel paths and timings made constant."""
    for pattern, replacement in SANITIZE:
        text = re.sub(pattern, replacement, text)
    return text


def difference(committed: str, fresh: str, rtol: float = 1e-2, atol: float = 1e-9) -> tuple[str, str] | None:
    """None where two texts say the same, else ``(kind, message)``, kind ``"text"`` or ``"number"``: floats may differ by
    ``atol + rtol * |committed|``; integers and words must be equal; runs of blanks count as one."""
    (words, floats), (fresh_words, fresh_floats) = _words_and_floats(committed), _words_and_floats(fresh)
    if words != fresh_words:
        return "text", _first_difference(committed, fresh)
    for a, b in zip(floats, fresh_floats):
        old, new = (float(one.replace(",", "")) for one in (a, b))
        if not math.isclose(old, new, rel_tol=0, abs_tol=atol + rtol * abs(old)):
            return "number", f"committed {a}, fresh run {b} (rtol {rtol:g}, atol {atol:g})"
    return None


def _words_and_floats(text: str) -> tuple[list[str], list[str]]:
    pieces = _FLOAT.split(sanitize(text))
    return [_BLANKS.sub(" ", words) for words in pieces[::2]], pieces[1::2]


def _first_difference(committed: str, fresh: str) -> str:
    old, new = committed.splitlines(), fresh.splitlines()
    for a, b in zip(old, new):
        if _words_and_floats(a)[0] != _words_and_floats(b)[0]:
            return f"committed {a[:200]!r}, fresh run {b[:200]!r}"
    return f"committed {len(old)} lines, the last {old[-1:]}; fresh run {len(new)} lines, the last {new[-1:]}"
