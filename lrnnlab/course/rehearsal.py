"""A rehearsal: made-up submissions of every kind (:mod:`lrnnlab.course.kinds`), and the marks they must get.

``rehearse`` writes them to a folder, grades them as ``lrnnlab course grade`` does, and returns every mark that is not
as expected.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from lrnnlab.course.attacks import KINDS
from lrnnlab.course.kinds import Made, Scene
from lrnnlab.course.marking import grade_folder
from lrnnlab.course.planted import Handout, plants
from lrnnlab.course.sandbox import DEFAULT, Limits
from lrnnlab.course.server import Server
from lrnnlab.course.sets import find

CANARY = "untouched"


def write(kind: Callable[[Scene], Made], scene: Scene, folder: Path) -> tuple[str, int]:
    """Write one submission; return the student's name and the points earned."""
    student = f"{scene.number:03d}_{kind.__name__.strip('_')}"
    made, points = kind(scene)
    if made is None:
        (folder / student).mkdir()
    elif isinstance(made, bytes):
        (folder / f"{student}.ipynb").write_bytes(made)
    else:
        text = json.dumps(made)
        if scene.number % 2:  # both ways to lay out a folder
            (folder / student).mkdir()
            (folder / student / f"{scene.handout.problem_set.name}.ipynb").write_text(text, encoding="utf-8")
        else:
            (folder / f"{student}.ipynb").write_text(text, encoding="utf-8")
    return student, points


def rehearse(
    name: str,
    count: int,
    jobs: int = 1,
    *,
    limits: Limits = DEFAULT,
    kinds: Sequence = KINDS,
    root: Path | None = None,
    servers: Sequence[Server] = (),
    say: Callable[[str], None] | None = None,
) -> list[str]:
    """Make ``count`` submissions, kind after kind, grade them, and say which marks are not as they must be.

    >>> rehearse("ps1", 200, jobs=2)  # doctest: +SKIP
    []
    """
    source, handout, planted_ones = find(name, root), Handout.of(name, root), plants(name, root)
    with tempfile.TemporaryDirectory(prefix="lrnnlab-rehearsal-") as place:
        folder, marks, canary = Path(place) / "submitted", Path(place) / "marks", Path(place) / "canary"
        folder.mkdir()
        canary.write_text(CANARY)
        due = dict(write(kinds[number % len(kinds)],
                         Scene(handout, planted_ones, number // len(kinds) + number, source.resolve(), marks, canary),
                         folder) for number in range(count))  # fmt: skip
        reports = grade_folder(folder, source, marks, jobs=jobs, limits=limits, servers=servers, say=say)
        wrong = [f"{report.student}: {report.points} points, and should have {due[report.student]}"
                 for report in reports if report.points != due[report.student]]  # fmt: skip
        if len(reports) != count:
            wrong.append(f"{count} submissions, {len(reports)} reports")
        if not canary.is_file() or canary.read_text() != CANARY:
            wrong.append("a file outside was changed")
        return wrong
