"""A class of made-up hand-ins as Moodle and Canvas give them, and each platform's own table to fill.

From the zip to the filled tables, with the seconds of each step::

    python tests/support/hand_ins.py [--set ps1] [--count 40] [--jobs 2]
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import shutil
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import kinds
import nbformat
from kinds import Scene
from planted import Handout, plants

from lrnnbook.machinery.grading.command import main as course

FIRST = ("Ann", "Bo Öz", "Cem", "Dörte", "Eve", "Finn", "Gil Ann")
LAST = ("Lee", "O'Neil", "Öztürk", "Lee-Park", "Diaz", "van der Berg")
OFTEN = (kinds.right, kinds.planted, kinds.right_in_other_style, kinds.partly, kinds.everything_wrong, kinds.untouched,
         kinds.renamed, kinds.cell_doubled)  # fmt: skip
HOSTILE = """import builtins, glob, os, pathlib, sys
class Same:
    def __eq__(self, other): return True
    def __array__(self, *more): return __import__("numpy").array(2001)
def {function}(*arguments):
    seen = [path for top in ("/work", "/home", "/root", "/tmp") for path in glob.glob(top + "/**/ps*_*.py", recursive=True)]
    for name in ("expect", "claim"):
        for module in list(sys.modules.values()):
            if hasattr(module, name): setattr(module, name, lambda *a, **k: None)
    try:
        for path in ("/marks.csv", *glob.glob("/tmp/**/marks.csv", recursive=True)): pathlib.Path(path).write_text("16")
    except OSError: pass
    if seen: os._exit(0)
    return Same()
"""
DATE = "Thursday, 12 November 2026, 4:05 PM"


@dataclass(frozen=True)
class HandIn:
    """One student's: the file, what it is worth, and an earlier upload of it, if there was one."""

    first: str
    last: str
    id: int
    points: int
    data: bytes
    suffix: str = ".ipynb"
    late: bool = False
    earlier: bytes | None = None

    @property
    def folder(self) -> str:
        """Moodle's: only the last upload is in it."""
        return f"{self.first} {self.last}_{self.id}_assignsubmission_file_"

    def files(self, name: str) -> Iterator[tuple[str, bytes]]:
        """Canvas's: an upload again has a larger number, and the browser's ``-1``."""
        who = "".join(letter for letter in f"{self.last}{self.first}".lower() if letter.isalnum())
        late = "LATE_" * self.late
        if self.earlier is not None:
            yield f"{who}_{self.id}_{80_000 + self.id}_{name}.ipynb", self.earlier
        yield f"{who}_{late}{self.id}_{90_000 + self.id}_{name}{'-1' * (self.earlier is not None)}{self.suffix}", self.data


def made(count: int, name: str = "ps1") -> list[HandIn]:
    """``count`` of them, at least 8: the first eight are right, hostile, endless, zipped, saved by Colab, empty, handed in twice, late."""
    handout, planted = Handout.of(name), plants(name)
    found = []
    for number in range(count):
        first, last = FIRST[number % len(FIRST)], LAST[number % len(LAST)]  # the 43rd would have the first one's name
        scene = Scene(handout, planted, number)
        book, points = OFTEN[number % len(OFTEN)](scene)
        more = {"late": number % 5 == 2 or number == 7}
        if number == 1:
            book, points = scene.with_answer(HOSTILE.format(function=scene.function)), scene.others
            book.metadata["lrnnlab"]["assignment"] = "../../evil"
        elif number == 2:
            book, points = scene.with_answer(f"def {scene.function}(*more):\n    while True:\n        pass\n"), scene.others
        elif number in (0, 3, 4, 6):
            book, points = kinds.right(scene)
        data = json.dumps(colab(book) if number == 4 else book).encode()
        if number == 3:
            data, more["suffix"] = zipped({f"{name}/{name}.ipynb": data}), ".zip"
        elif number == 5:
            data, points = b"", 0
        elif number % 7 == 6:
            more["earlier"] = nbformat.writes(handout.released).encode()
        found.append(HandIn(first, last, 4711 + number, points, data, **more))
    return found


def colab(book: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook as Colab saves it: ids are metadata, an older format, who ran what."""
    book.nbformat_minor = 0
    book.metadata |= {"colab": {"provenance": []}, "language_info": {"name": "python"}}
    for number, cell in enumerate(book.cells):
        del cell["id"]
        cell.metadata |= {"id": f"aBc{number:03}", "executionInfo": {"status": "ok", "user": {"displayName": "Eve", "userId": "1"}}}
    return book


def zipped(files: dict[str, bytes | str]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def moodle(hand_ins: list[HandIn], name: str = "ps1") -> tuple[dict[str, bytes], str]:
    """The files by name, and the grading worksheet; the last student handed nothing in."""
    rows = [["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Grade can be changed",
             "Last modified (submission)", "Last modified (grade)", "Feedback comments"]]  # fmt: skip
    for one in hand_ins:
        rows.append([f"Participant {one.id}", f"{one.first} {one.last}", f"{one.id}@uni.example", "Submitted for grading", "",
                     f"{Handout.of(name).problem_set.points}.00", "Yes", DATE, "-", ""])  # fmt: skip
    rows.append(["Participant 9999", "Zoë Nobody", "9999@uni.example", "No submission", "", rows[-1][5], "Yes", "-", "-", ""])
    return {f"{one.folder}/{name}{one.suffix}": one.data for one in hand_ins}, as_csv(rows)


def canvas(hand_ins: list[HandIn], name: str = "ps1") -> tuple[dict[str, bytes], str]:
    """The files by name, and the gradebook; the last student handed nothing in."""
    rows = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", f"{name} (87568)", "ps2 (87570)"],
            ["    Points Possible", "", "", "", "", f"{Handout.of(name).problem_set.points}", "14"]]  # fmt: skip
    rows += [[f"{one.last}, {one.first}", f"{one.id}", f"s{one.id}", f"u{one.id}", "1", "", "3"] for one in hand_ins]
    rows.append(["Nobody, Zoë", "9999", "s9999", "u9999", "1", "", ""])
    return {file: data for one in hand_ins for file, data in one.files(name)}, as_csv(rows)


SHAPES = {"moodle": moodle, "canvas": canvas}


def as_csv(rows: list[list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="hand_ins.py", description=__doc__.partition("\n")[0])
    parser.add_argument("--set", default="ps1", help="ps1 to ps5")
    parser.add_argument("--count", type=int, default=40, help="how many (40)")
    parser.add_argument("--jobs", type=int, default=2, help="submissions at a time (2)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lrnnlab-class-") as place:
        folder, took = Path(place), {}

        def timed(step: str, *words: object) -> None:
            began = time.perf_counter()
            if course([str(word) for word in words]):
                sys.exit(f"{step} went wrong")
            took[step] = time.perf_counter() - began

        fence = [] if shutil.which("bwrap") else ["--unfenced"]
        hand_ins = made(options.count, options.set)
        timed("release", "release", options.set, "--out", folder / "handout")
        for shape, files_of in SHAPES.items():
            files, table = files_of(hand_ins, options.set)
            (folder / f"{shape}.zip").write_bytes(zipped(files))
            (folder / f"{shape}.csv").write_text(table, encoding="utf-8")
            marks = folder / f"{shape}-marks"
            timed(f"grade {shape}.zip", "grade", folder / f"{shape}.zip", "--out", marks, "--jobs", options.jobs, *fence)
            timed(f"fill {shape}.csv", "marks", marks, "--into", folder / f"{shape}.csv")
            with (marks / "marks.csv").open(encoding="utf-8", newline="") as file:
                got = {row["id"]: row["points"] for row in csv.DictReader(file)}
            wrong = [one for one in hand_ins if got.get(str(one.id)) != str(one.points)]
            if wrong or len(got) != len(hand_ins):
                sys.exit(f"{shape}: {len(got)} rows, and {len(wrong)} with other points than earned")
        print(f"\n{options.count} hand-ins of {options.set}, {options.jobs} at a time, all with the points that they earned:")
        print(*(f"{seconds:8.1f} s  {step}" for step, seconds in took.items()), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
