"""Hints and solutions of the exercises, as text: ``chapters/chNN.md`` says them once, for the notebook and for ``hint``.

A section is an exercise, a paragraph a hint, from faint to strong; the solution goes to the end of the section::

    ## 04.2

    **Question.** Above or below 1?           (only of a prediction: what its panel asks)

    **Hint.** At 90 degrees the angle's cosine is 0.

    **Hint.** Where does the state point two steps later?

    **Solution.** Far below: $(1 - r^2)/(1 + r^2)$.

A chapter's notebook ends on a copy of them, folded: a cell that begins with :data:`MARK`, which ``lrnnlab book build``
writes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

MARK = "<!-- From lrnnlab/chapters/ch{}.md, by lrnnlab book build: change it there. -->"
_MARKED = re.compile(re.escape(MARK).replace(re.escape("{}"), r"(\d\d)"))
_SECTION = re.compile(r"^## (\d\d\.\d+)$", re.MULTILINE)
_PART = re.compile(r"^\*\*(Question|Hint|Solution)\.\*\*\s", re.MULTILINE)
_FOLD = "<details><summary>{}</summary>\n\n{}\n\n</details>"


class Text(str):
    """A text that a notebook shows as Markdown, and everything else as it is."""

    def _repr_markdown_(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Worked:
    """What is said of one exercise, in Markdown: hints from faint to strong, the solution, a prediction's question."""

    hints: tuple[str, ...]
    solution: str
    question: str = ""


def worked(chapter: str) -> dict[str, Worked]:
    """The exercises of a chapter by their ids.  ValueError where it has no file, or one of another form.

    >>> worked("01")["01.6"].hints[0]
    'Look at $(abab)^*$ in the table of killer words.'
    """
    file = Path(__file__).parent / "chapters" / f"ch{chapter}.md"
    if not chapter.isalnum() or not file.is_file():
        raise ValueError(f"no chapter {chapter!r} has exercises; ids look like '01.5'")
    return parsed(file.read_text(encoding="utf-8"), file.name)


def parsed(text: str, name: str) -> dict[str, Worked]:
    """The sections of a file's text; ``name`` is for the ValueError that names a section of another form.

    >>> parsed("## 01.1\\n\\n**Hint.** Count.\\n\\n**Solution.** Two.\\n", "ch01.md")["01.1"].solution
    'Two.'
    """
    _, *sections = _SECTION.split(text)
    found = {}
    for id, section in zip(sections[::2], sections[1::2]):
        before, *parts = _PART.split(section)
        kinds, texts = parts[::2], [part.strip() for part in parts[1::2]]
        form = re.fullmatch("(Question )?(Hint )+Solution", " ".join(kinds))
        if before.strip() or not form or not all(texts) or id in found:
            raise ValueError(f"{name}, section {id}: one, with hints, then one solution, is asked for; it has "
                             f"{' '.join([before.strip(), *kinds]).strip() or 'nothing'!r}")  # fmt: skip
        asks = kinds[0] == "Question"
        found[id] = Worked(tuple(texts[asks:-1]), texts[-1], texts[0] if asks else "")
    return found


def folded(chapter: str) -> str:
    r"""The cell that shows them at the end of a chapter: all hints under one line to click, each solution under its own.

    >>> folded("00").split("\n\n")[1:3]
    ['<details><summary>Hints</summary>', '**1.** Keep one number and bring it up to date at each digit.']
    """
    found = {id.partition(".")[2]: one for id, one in worked(chapter).items()}
    hints = "\n\n".join(f"**{n}.** {' '.join(one.hints)}" for n, one in found.items())
    solutions = (_FOLD.format(f"Solution of {n}", one.solution) for n, one in found.items())
    return "\n\n".join([MARK.format(chapter), _FOLD.format("Hints", hints), *solutions])


def refolded(text: str) -> str:
    """The text of a Markdown cell: written anew if it is such a copy, else as it is.

    >>> refolded("## Exercises"), refolded(MARK.format("00")) == folded("00")
    ('## Exercises', True)
    """
    found = _MARKED.match(text)
    return folded(found[1]) if found else text
