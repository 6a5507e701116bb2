"""Sanitise student text before it is shown; every page, table and line on a terminal goes through :func:`clean`.

A message or a file's name may hold megabytes, line breaks, the escape sequences of a terminal, characters that turn
the direction of writing round, halves of a character that no encoding can write, and a spreadsheet's formulas.
"""

import hashlib
import os
import re
import sys
from typing import TextIO

ROOM = 400  # characters of one note
_MARKED = re.compile(r" \[[0-9a-f]{12}\]$")  # what `label` appends
_FORMULA = re.compile(r"(^|;)(\s*)(?=[=+\-@'])")


def clean(text: object, room: int = ROOM) -> str:
    """One line of at most ``room`` characters, where what is not printable is escaped.

    >>> clean("\\x1b[2J two\\nlines \\u202e \\ud800")
    '\\\\x1b[2J two lines \\\\u202e \\\\ud800'
    >>> clean("x" * 10**7, 8)
    'xxxxx...'
    """
    text = str(text)
    begin = " ".join(text[: 4 * room].split())
    begin = "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in begin)
    cut = len(begin) > room or len(text) > 4 * room
    return f"{begin[: room - 3]}..." if cut else begin


def block(text: str) -> str:
    """Lines of code or of words, indented as they were, where what is not printable is escaped.

    >>> block("if x:\\n\\treturn '\\x1b'")
    "if x:\\n    return '\\\\x1b'"
    """
    lines = text.expandtabs(4).splitlines()
    return "\n".join("".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in line) for line in lines)


def label(name: str, marked: bool = False) -> str:
    """The name of a file or folder as a student's name: printable, at most 214 bytes, not hidden, and no two alike.

    A usual name stays as it is; any other, and a ``marked`` one, is cleaned and gets a sum of its bytes.

    >>> label("Jürgen"), label("J\\udcfcrgen")
    ('Jürgen', 'J\\\\udcfcrgen [7339bca0462e]')
    """
    shown = clean(name, 200).encode()[:200].decode(errors="ignore")
    if shown == name and name[:1] not in (".", "") and not _MARKED.search(name) and not marked:
        return name
    return f"{shown.lstrip('.') or 'dots'} [{hashlib.sha256(os.fsencode(name)).hexdigest()[:12]}]"


def cell(text: object) -> str:
    """A text for a table: clean, and no spreadsheet takes it, or what follows a separator in it, for a formula.

    >>> cell("=1+1"), cell("a;=1"), cell("a-b")
    ("'=1+1", "a;'=1", 'a-b')
    """
    return _FORMULA.sub(r"\1\2'", clean(text))


def tell(text: object, stream: TextIO | None = None) -> None:
    """Print one clean line, at once, whatever the terminal can write."""
    stream = stream or sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    print(clean(text).encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)
