"""Hints and solutions of the exercises, as text: ``chNN.md`` says them once, for the notebook and for ``hint``.

A section is an exercise, a paragraph a hint, from faint to strong; the solution goes to the end of the section::

    ## 04.2

    **Question.** Above or below 1?           (only of a prediction: what its panel asks)

    **Hint.** At 90 degrees the angle's cosine is 0.

    **Hint.** Where does the state point two steps later?

    **Solution.** Far below: $(1 - r^2)/(1 + r^2)$.

An exercise is in the section that it is about: a paragraph that begins as :data:`HEADER` says, the cell that asks for
the answer where one does, and a cell that begins with :data:`MARK`, which ``lrnnlab book build`` fills with the hints,
folded.  The chapter's last section is a cell that begins with :data:`LISTED`: ``build`` lists the exercises there, and
folds their solutions below.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MARK = "<!-- Exercise {}: from notebooks/lrnnbook/content/exercises/ch{}.md, by lrnnlab book build; change it there. -->"
LISTED = "<!-- The exercises of this chapter, listed by lrnnlab book build. -->"
HEADER = re.compile(r"^\*\*Exercise (?P<number>\d+)\*\* (?P<stars>★{1,3}) \*\((?P<minutes>\d+) min, (?P<points>\d+) points?: "
                    r"(?P<teaches>[^*]+)\)\*\s", re.MULTILINE)  # fmt: skip
_MARKED = re.compile(r"<!-- Exercise (\d\d\.\d+): ")
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
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
    """The exercises of a chapter by their ids.  ValueError where it has no file, or one of another form."""
    file = Path(__file__).parent / f"ch{chapter}.md"
    if not chapter.isalnum() or not file.is_file():
        raise ValueError(f"no chapter {chapter!r} has exercises; ids look like '01.10'")
    return parsed(file.read_text(encoding="utf-8"), file.name)


def parsed(text: str, name: str) -> dict[str, Worked]:
    """The sections of a file's text; ``name`` is for the ValueError that names a section of another form."""
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


def folded(id: str) -> str:
    r"""The cell that follows an exercise: each of its hints under a line to click."""
    chapter, hints = id.partition(".")[0], _of(id).hints
    names = ["Hint"] if len(hints) == 1 else [f"Hint {n}" for n, _ in enumerate(hints, 1)]
    return "\n\n".join([MARK.format(id, chapter), *map(_FOLD.format, names, hints)])


def _of(id: str) -> Worked:
    chapter = id.partition(".")[0]
    one = worked(chapter).get(id)
    if one is None:
        raise ValueError(f"ch{chapter}.md has no section {id!r}")
    return one


def listed(texts: Sequence[str]) -> str:
    """The cell that lists a chapter's exercises, from the texts of its Markdown cells, with their solutions folded below."""
    rows, place, sums = [], "", [0, 0]
    for found in re.finditer(f"{_HEADING.pattern}|{HEADER.pattern}", "\n\n".join(texts), re.MULTILINE):
        if found["number"] is None:
            place = f"[{found[1]}](#{found[1].replace(' ', '-')})"
            continue
        sums = [sums[0] + int(found["minutes"]), sums[1] + int(found["points"])]
        rows.append(f"| {found['number']} | {place} | {found['stars']} | {found['minutes']} | {found['points']} | "
                    f"{' '.join(found['teaches'].split())} |")  # fmt: skip
    many = "1 exercise" if len(rows) == 1 else f"{len(rows)} exercises"
    head = ["| exercise | section | difficulty | minutes | points | you will learn |", "|---|---|---|---|---|---|"]
    table = "\n".join([LISTED, "", f"{many}, {sums[1]} points, about {sums[0]} minutes:", "", *head, *rows])
    ids = (found[1] for text in texts if (found := _MARKED.match(text)))
    return "\n\n".join([table, *(_FOLD.format(f"Solution of {id}", _of(id).solution) for id in ids)])


def refolded(texts: Sequence[str]) -> list[str]:
    """The texts of a chapter's Markdown cells, with those that a build writes written anew."""
    ours = [(_MARKED.match(text), text) for text in texts]
    return [folded(found[1]) if found else listed(texts) if text.startswith(LISTED) else text for found, text in ours]
