"""``lrnnlab course release | grade | validate``."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``lrnnlab course ...``; 0 where all is well, 1 where something was found, 2 where the call is wrong.

    >>> main(["validate", "there is none.ipynb"])
    1. must be put right: there is no file there is none.ipynb
    1
    """
    options = _parser().parse_args(argv)
    try:
        verbs = {"release": _release, "grade": _grade, "validate": _validate}
        return verbs[options.verb](options)
    except ValueError as error:
        print(f"lrnnlab course: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lrnnlab course", description="Problem sets: hand out, take in, mark.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    release = verbs.add_parser("release", help="make the students' notebook, without solutions and hidden tests")
    release.add_argument("set", help="ps1, ps2, ps3, or the path of a source")
    release.add_argument("--out", type=Path, required=True, help="the folder to write it to")
    grade = verbs.add_parser("grade", help="grade a folder of submissions: marks.csv and a page for each student")
    grade.add_argument("folder", type=Path, help="holds NAME.ipynb or NAME/ps1.ipynb for each student")
    grade.add_argument("--set", help="ps1, ps2, ps3, or the path of a source; default: what the submissions say")
    grade.add_argument("--out", type=Path, help="where marks and feedback go; default: the folder's name and -marks")
    grade.add_argument("--jobs", type=int, default=2, help="submissions at a time (2)")
    grade.add_argument("--seconds", type=int, default=10, help="computing time of one cell or one call (10)")
    grade.add_argument("--memory", type=int, default=1024, help="MiB for all its processes together (1024)")
    grade.add_argument("--image", default="", help="of Docker or Podman, to run submissions in, where there is no bubblewrap")
    grade.add_argument("--unfenced", action="store_true", help="run submissions without any fence, with your own rights")
    validate = verbs.add_parser("validate", help="before hand-in: what a grader would choke on, in plain words")
    validate.add_argument("file", type=Path)
    return parser


def _release(options: argparse.Namespace) -> int:
    from lrnnlab.course.releasing import release

    print(release(options.set, options.out))
    return 0


def _grade(options: argparse.Namespace) -> int:
    from lrnnlab.course import fence
    from lrnnlab.course.marking import assignment_of, grade_folder
    from lrnnlab.course.sandbox import Limits
    from lrnnlab.course.sets import find

    folder = options.folder.resolve()
    out = options.out or folder.with_name(f"{folder.name}-marks")
    seconds = options.seconds
    limits = Limits(seconds, 12 * seconds, 6 * seconds, 60 * seconds, memory=options.memory << 20)
    within = fence.find(options.image, options.unfenced, limits)
    print(within.describe())
    began = time.perf_counter()
    reports = grade_folder(
        folder, find(options.set or assignment_of(folder)), out, within, jobs=options.jobs,
        say=lambda line: print(line, flush=True),
    )  # fmt: skip
    print(f"{len(reports)} graded in {time.perf_counter() - began:.0f} s: {out / 'marks.csv'}, {out / 'feedback'}")
    return 0


def _validate(options: argparse.Namespace) -> int:
    from lrnnlab.course.validating import report, validate

    findings = validate(options.file)
    print(report(findings))
    return int(bool(findings))
