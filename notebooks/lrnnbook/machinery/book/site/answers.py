"""Exercises that a page without a kernel judges itself, in the place of what their cells say: a field, and the engine's verdict."""

import re

from lrnnbook.content.chapters import golf
from lrnnbook.content.exercises.checking import find
from lrnnbook.content.show.interactive import Moving

ANSWERED = re.compile(r"""^(?:check\("(\d\d\.\d+)", |puzzle\("(\w+)", )""", re.MULTILINE)
FIELDS = {  # the judge's name in Python -> which judge of answer.js, what it asks for, what its picture shows
    "_five_words": ("words", "five words of digits, such as 0 13 244", "the machine's five states, and which of the words lead to each"),
    "_leaning": ("matrix", "two rows of two numbers, such as 1 0; 0 1", "how far apart the two states are, from step 0 to 500"),
}


def field(code: str) -> Moving | None:
    """The field in which the exercise of a cell is answered on a page, or None."""
    id, hole = found.groups() if (found := ANSWERED.search(code)) else ("", "")
    if hole:
        return golf.panel(hole)
    judge = getattr(find(id), "test", None) if id else None
    if (name := getattr(judge, "__name__", "")) not in FIELDS:
        return None
    kind, asks, shows = FIELDS[name]
    alt = f"A field for the answer to exercise {int(id[3:])}: {asks}. It is judged as you type; the picture shows {shows}."
    return Moving("answer", {"kind": kind, "asks": asks, "shows": shows}, {"text": ""}, alt)
