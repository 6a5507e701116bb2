"""``lrnnlab course new | release | grade | marks | validate``."""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from lrnnbook.machinery.arguments import Parser
from lrnnbook.machinery.grading.sanitize import tell


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``lrnnlab course ...``; 0 where all is well, 1 where something was found, 2 where the call is wrong."""
    options = _parser().parse_args(argv)
    try:
        verbs = {"new": _new, "release": _release, "grade": _grade, "marks": _marks, "validate": _validate}
        return verbs[options.verb](options)
    except ValueError as error:
        tell(f"lrnnlab course: {error}", sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="lrnnlab course", description="Problem sets: hand out, take in, mark.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    new = verbs.add_parser("new", help="write a source of your own, with two tasks of each kind, outside the repository")
    new.add_argument("name", help="ps and a number, as in ps8 or ps8_mine")
    new.add_argument("--out", type=Path, default=Path(), help="the folder to write it to (here)")
    release = verbs.add_parser("release", help="make the students' notebook, without solutions and hidden tests")
    release.add_argument("set", help="ps0 to ps7, or the path of a source")
    release.add_argument("--out", type=Path, required=True, help="the folder to write it to")
    release.add_argument("--source", action="store_true", help="for nbgrader's folder source: with solutions and tests")
    release.add_argument("--wheel", default="", help="where students get the package (https://...whl); default: a file beside the notebook")
    release.add_argument("--secret", default="", help="a word that draws other inputs for the tests; grade needs the same")
    grade = verbs.add_parser("grade", help="grade a folder of submissions: marks.csv and a page for each student")
    grade.add_argument("folder", type=Path, help="holds NAME.ipynb or NAME/ps1.ipynb for each student; or the zip that Moodle "
                       "or Canvas gives")
    grade.add_argument("--set", help="ps0 to ps7, or the path of a source; default: what the submissions say")
    grade.add_argument("--out", type=Path, help="where marks and feedback go; default: the folder's name and -marks")
    grade.add_argument("--jobs", type=int, default=2, help="submissions at a time (2)")
    grade.add_argument("--seconds", type=int, default=10, help="computing time of one cell or one call (10)")
    grade.add_argument("--memory", type=int, default=1024, help="MiB for all its processes together (1024)")
    grade.add_argument("--unfenced", action="store_true", help="run submissions with your own rights, without a fence")
    grade.add_argument("--show-hidden", action="store_true",
                       help="feedback tells on which input a hidden test failed, and what it wanted")
    grade.add_argument("--alike", action="store_true", help="list answers that look alike, to read: for sets that build")
    grade.add_argument("--secret", default="", help="the word that the set was released with")
    marks = verbs.add_parser("marks", help="add up what you wrote into marks.csv, put it on the pages; into Moodle's or Canvas's table")
    marks.add_argument("folder", type=Path, help="the folder that grade wrote, with marks.csv")
    marks.add_argument("--into", type=Path, metavar="WORKSHEET.csv", help="the platform's own export: a filled copy of it and a zip "
                       "of pages to upload are written beside marks.csv")  # fmt: skip
    marks.add_argument("--column", default="", help="the export's column that takes the points (Moodle's Grade; Canvas's 'ps1 (87568)')")
    validate = verbs.add_parser("validate", help="before hand-in: what a grader would choke on, in plain words")
    validate.add_argument("file", type=Path)
    return parser


def _new(options: argparse.Namespace) -> int:
    from lrnnbook.machinery.grading.releasing import new

    path = new(options.name, options.out)
    tell(f"{path}: write over it, then lrnnlab course release {path} --out handout, and grade submissions.zip --set {path}")
    return 0


def _release(options: argparse.Namespace) -> int:
    from lrnnbook.machinery.grading import fence
    from lrnnbook.machinery.grading.gradebook import rehearse
    from lrnnbook.machinery.grading.releasing import release
    from lrnnbook.machinery.grading.sets import load, source_of

    if options.set.endswith(".py"):  # a teacher's own, which nobody has graded yet
        rehearse(load(source_of(options.set), options.secret), fence.find(unfenced=True))
    tell(release(options.set, options.out, source=options.source, secret=options.secret, wheel=options.wheel))
    if not (options.source or options.wheel or [*options.out.glob("lrnnlab-*.whl")]):
        tell(f"students without the workbook need the wheel, too; in its folder: pip wheel --no-deps --wheel-dir {options.out} .", sys.stderr)
    return 0


def _grade(options: argparse.Namespace) -> int:
    from lrnnbook.machinery.grading import fence
    from lrnnbook.machinery.grading.alike import alike
    from lrnnbook.machinery.grading.gradebook import assignment_of, grade_folder
    from lrnnbook.machinery.grading.grading import OWN_FAULT
    from lrnnbook.machinery.grading.sets import find, source_of

    folder = options.folder.resolve()
    if not folder.name:
        raise ValueError(f"{options.folder} is no folder of submissions")
    out = options.out or folder.with_name(f"{folder.stem if folder.is_file() else folder.name}-marks")
    seconds = options.seconds
    limits = fence.Limits(seconds, 12 * seconds, 6 * seconds, 60 * seconds, memory=options.memory << 20)
    within = fence.find(options.unfenced, limits)
    tell(within.describe())
    began = time.perf_counter()
    source = source_of(options.set) if options.set else find(assignment_of(folder))
    reports = grade_folder(folder, source, out, within, jobs=options.jobs, say=tell, show_hidden=options.show_hidden,
                           secret=options.secret)  # fmt: skip
    for said in alike(reports) if options.alike else ():
        tell(said)
    tell(f"{len(reports)} graded in {time.perf_counter() - began:.0f} s: {out / 'marks.csv'}, {out / 'feedback'}")
    return int(any(report.problem.startswith(OWN_FAULT) for report in reports))


def _marks(options: argparse.Namespace) -> int:
    from lrnnbook.machinery.grading import lms
    from lrnnbook.machinery.grading.gradebook import TASK, update

    table, pages = update(options.folder)
    tell(f"{len(table)} rows added up, {sum(map(bool, table['adjust']))} of them with points by hand: {options.folder / 'marks.csv'}")
    if options.into:
        name = next((column for column in table.columns if TASK.fullmatch(column)), "ps").partition(".")[0]
        for said in lms.fill(options.into, table, pages, options.folder, name, options.column):
            tell(said)
    return 0


def _validate(options: argparse.Namespace) -> int:
    from lrnnbook.machinery.grading.validator import report

    return int(not report(options.file))
