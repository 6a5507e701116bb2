"""In and out of a learning platform: whose a hand-in of Moodle's or Canvas's is, and their own tables, filled.

Moodle calls a student's folder ``Ann Lee_4712_assignsubmission_file`` (older ones end in ``_``; without folders a file's name
follows), Canvas a file ``leeann_LATE_102_90211_ps1.ipynb``: the student, the student's id, the number of the upload.  What comes
after these is the student's to choose, so a name is read from its front.
"""

import html
import io
import math
import os
import re
import zipfile
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lrnnlab.files import put

if TYPE_CHECKING:
    import pandas as pd

MOODLE = re.compile(r"(?P<name>.+?)_(?P<id>[0-9]+)_assignsubmission_(?:file|onlinetext)(?:_.*)?", re.DOTALL)
CANVAS = re.compile(r"(?P<name>[^_]+)_(?P<late>LATE_)?(?P<id>[0-9]+)_(?P<upload>[0-9]+)_.+", re.DOTALL)
PACKED = (".ipynb", ".zip")


@dataclass(frozen=True)
class Name:
    """What a platform's name of a hand-in says; ``upload`` grows with each new hand-in of Canvas's."""

    student: str
    id: str
    late: bool = False
    upload: int = 0


def whose(name: str) -> Name | None:
    """What the name of a hand-in says, where it is a platform's.

    >>> whose("leeann_LATE_102_90211_ps1.ipynb")
    Name(student='leeann (102)', id='102', late=True, upload=90211)
    >>> whose("Ann Lee_4712_assignsubmission_file_").student, whose("ann.ipynb")
    ('Ann Lee (4712)', None)
    """
    found = MOODLE.fullmatch(name) or CANVAS.fullmatch(name)
    about = found.groupdict() if found else {}
    return Name(f"{about['name']} ({about['id']})", about["id"], bool(about.get("late")), int(about.get("upload", 0))) if found else None


def table(path: Path) -> "tuple[pd.DataFrame, str]":
    """A table of text, and what separates its columns: a comma, or a semicolon as a spreadsheet writes it.  ValueError if it is none."""
    import pandas as pd

    text = path.read_bytes().decode("utf-8-sig")
    sep = max(",;\t", key=text.partition("\n")[0].count)
    found = pd.read_csv(io.StringIO(text), sep=sep, dtype=str, header=None, keep_default_na=False)
    found = found[(found != "").any(axis=1)]  # a spreadsheet leaves rows of separators alone
    return found.set_axis(found.iloc[0], axis=1).iloc[1:], sep


def fill(worksheet: Path, marks: "pd.DataFrame", pages: dict[str, Path], out: Path, name: str, column: str = "") -> list[str]:
    """Write the platform's own export with points and comments in it, and a zip of pages named as it takes them back, to ``out``.

    What was done comes back in sentences.  ValueError where the export has no column for ids, or not one for the points."""
    grades, sep = table(worksheet)
    once = [title for title, count in Counter(grades).items() if count == 1]
    students = {id: student for student, id in marks["id"].items() if id}
    found = [grades[title].str.extract(r"([0-9]+)\s*$")[0] for title in [one for one in ("Identifier", "ID") if one in once] or once]
    ids = max(found, key=lambda ids: ids.isin(students).sum())
    lines = grades.index[ids.isin(students)]
    if lines.empty:
        raise ValueError(f"no column of {worksheet} holds an id of the marks ({', '.join(list(students)[:3]) or 'which have none'})")
    own = [title for title in once if title == (column or "Grade") or (not column and re.match(rf"{name}\b.*\([0-9]+\)$", title, re.I))]
    if len(own) != 1:
        raise ValueError(f"which column takes the points? --column says it; there are {', '.join(map(repr, once))}")
    theirs = marks.loc[[students[id] for id in ids[lines]]]
    grades.loc[lines, own[0]] = theirs["points"].str.replace(".", "," if sep == ";" else ".").values
    if "Feedback comments" in once:
        said = theirs["comment"].mask(theirs["comment"] == "", theirs["problem"])
        grades.loc[lines, "Feedback comments"] = said.map(partial(html.escape, quote=False)).values  # Moodle reads HTML
    filled, packed = out / f"{worksheet.stem}-filled.csv", io.BytesIO()
    put(filled, grades.to_csv(index=False, sep=sep, lineterminator="\r\n").encode("utf-8-sig"))
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for student, handed_in in marks["handed_in"].items():
            stem, suffix = os.path.splitext(handed_in or f"{student}.ipynb")
            if student in pages:
                archive.write(pages[student], f"{stem}.html" if suffix.casefold() in PACKED else f"{handed_in}/{name}_feedback.html")
    put(filled.with_name(f"{worksheet.stem}-feedback.zip"), packed.getvalue())
    says = [f"{len(lines)} of {len(grades)} lines filled, in {own[0]!r}: {filled}; pages to upload: {worksheet.stem}-feedback.zip"]
    without = [student for student in marks.index if student not in set(theirs.index)]
    says += [f"without a line: {', '.join(without)}"] if without else []
    total = grades[grades.iloc[:, 0].str.strip().str.startswith("Points Possible")][own[0]] if "Maximum Grade" not in once else grades["Maximum Grade"]
    most = {float(text.replace(",", ".")) for text in total if re.fullmatch(r"[0-9]+([.,][0-9]*)?", text)}
    possible = float(theirs["possible"].iloc[0])
    says += [f"the platform's maximum is {limit:g}, the set's {possible:g}: make them equal" for limit in sorted(most - {possible})]
    taken = (0, max(most)) if most and "Maximum Grade" in once else (-math.inf, math.inf)
    says += [f"Moodle will leave out {student}: {points} points are less than 0, or more than its maximum"
             for student, points in theirs["points"].items() if not taken[0] <= float(points) <= taken[1]]  # fmt: skip
    locked = theirs.index[grades.get("Grade can be changed", ids)[lines] == "No"]
    says += [f"Moodle will leave out {student}, whose grade cannot be changed there" for student in locked]
    written = 0 if "Feedback comments" in once else (theirs["comment"] != "").sum()
    return says + [f"the comments ({written}) are on the pages alone: there is no column 'Feedback comments'"] * bool(written)
