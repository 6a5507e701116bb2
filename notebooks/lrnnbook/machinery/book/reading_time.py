"""How long a chapter takes to read, counted from its words, formulas, lines of code and pictures; and its exercises.

The rates are set, not measured: half the speed at which plain English is read silently, and what looking twice at a
formula, a line or a picture takes.  What is folded away does not count, and exercises, which say their own minutes by the
rule of ``notebooks/TEACHING.md``, are summed apart.
"""

import re
from collections.abc import Sequence

from nbformat import NotebookNode

from lrnnbook.content.exercises.hints import HEADER
from lrnnbook.machinery.book.running import HIDDEN

WORDS = 120  # a minute
SECONDS = {"formula": 5, "displayed formula": 20, "line of code": 5, "picture or table": 60}
_LONG = r"(?:\d+ h)?\s?(?:\d+ min)?"
_SAID = re.compile(rf"(\*It\s+takes\*\s+about\s){_LONG}\s+to\s+read(?:\s+and\s+{_LONG}\s+for\s+the\s+exercises)?")
_DISPLAYED, _FORMULA, _WORD = re.compile(r"\$\$.+?\$\$", re.DOTALL), re.compile(r"\$[^$]+\$"), re.compile(r"[^\W\d_][\w'’-]*")
_ASKS = re.compile(r"^(?:(?:check|guess)\(|%%build )", re.MULTILINE)
_DRAWS = re.compile(r"\b(?:figure|table|explore)\(|_widget$", re.MULTILINE)


def reading(cells: Sequence[NotebookNode]) -> int:
    """Minutes, to the nearest five, that the cells of a chapter take to read once with care."""
    words, seconds = 0, 0
    for cell in cells:
        if cell.cell_type == "markdown" and not cell.source.startswith("<!--"):
            exercise = HEADER.search(cell.source)
            text = _SAID.sub(" ", cell.source[: exercise.start() if exercise else None])  # what is written is not counted
            text, displayed = _DISPLAYED.subn(" ", text)
            text, formulas = _FORMULA.subn(" ", text)
            words += len(_WORD.findall(text))
            seconds += SECONDS["displayed formula"] * displayed + SECONDS["formula"] * formulas
        elif cell.cell_type == "code" and not _ASKS.search(cell.source):
            lines = 0 if HIDDEN in cell.metadata.get("tags", ()) else sum(map(bool, map(str.strip, cell.source.splitlines())))
            seconds += SECONDS["line of code"] * lines + SECONDS["picture or table"] * bool(_DRAWS.search(cell.source))
    return 5 * round((words / WORDS + seconds / 60) / 5)


def exercising(cells: Sequence[NotebookNode]) -> int:
    """Minutes of the exercises in the cells of a chapter: the sum of what they say."""
    return sum(int(found["minutes"]) for cell in cells if cell.cell_type == "markdown" for found in HEADER.finditer(cell.source))


def said(minutes: int) -> str:
    """Minutes as a text says them: ``55 min``, ``1 h``, ``1 h 40 min``."""
    hours, rest = divmod(minutes, 60)
    return " ".join([f"{hours} h"] * (hours > 0) + [f"{rest} min"] * (rest > 0))


def timed(text: str, read: int, exercises: int) -> str:
    """A text in which ``*It takes* about ... to read and ... for the exercises`` gives these minutes."""
    both = f"{said(read)} to read" + f" and {said(exercises)} for the exercises" * (exercises > 0)
    return _SAID.sub(rf"\g<1>{both}", text)
