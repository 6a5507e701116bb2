"""How long a chapter takes to read: counted, from its words, formulas, lines of code and pictures.

The rates are set, not measured: half the speed at which plain English is read silently, and what looking twice at a
formula, a line or a picture takes.  What is folded away and the exercises, which say their own minutes, do not count.
"""

import re
from collections.abc import Sequence

from nbformat import NotebookNode

from workbook.book.running import HIDDEN
from workbook.exercises.hints import HEADER

WORDS = 120  # a minute
SECONDS = {"formula": 5, "displayed formula": 20, "line of code": 5, "picture or table": 60}
_SAID = re.compile(r"(\*It\s+takes\*\s+about\s)(?:\d+ h)?\s?(?:\d+ min)?(?=\s+to\s+read)")
_DISPLAYED, _FORMULA, _WORD = re.compile(r"\$\$.+?\$\$", re.DOTALL), re.compile(r"\$[^$]+\$"), re.compile(r"[^\W\d_][\w'’-]*")
_ASKS = re.compile(r"^(?:check|predict)\(", re.MULTILINE)
_DRAWS = re.compile(r"\b(?:figure|table|explore)\(|_widget$", re.MULTILINE)


def reading(cells: Sequence[NotebookNode]) -> int:
    """Minutes, to the nearest five, that the cells of a chapter take to read once with care.
    """
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


def timed(text: str, minutes: int) -> str:
    """A text in which ``*It takes* about ... to read`` says so many minutes.
    """
    hours, rest = divmod(minutes, 60)
    said = " ".join([f"{hours} h"] * (hours > 0) + [f"{rest} min"] * (rest > 0))
    return _SAID.sub(rf"\g<1>{said}", text)
