"""Answers planted beside each problem set (``planted_ps1.py``) to test its tests: right ones in another style, wrong ones."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

from lrnnbook.machinery.book.building import give_ids
from lrnnbook.machinery.book.sync import read_source
from lrnnbook.machinery.grading.releasing import student_version
from lrnnbook.machinery.grading.sets import ProblemSet, find, load


@dataclass(frozen=True)
class Plant:
    """One planted answer to one task (its id), and the points that the task must get for it."""

    task: str
    points: int
    what: str
    source: str


def plants(name: str) -> list[Plant]:
    """The planted answers of a problem set, in order.  ValueError where its file is missing.

    One with ``instead``, old words -> new words, is its task's right one before it, with these words changed."""
    source = find(name)
    planted = source.with_name(f"planted_{load(source).name}.py")
    if not planted.is_file():
        raise ValueError(f"{planted.name} does not exist: each problem set has planted answers beside it")
    found, right = [], {}
    for cell in read_source(planted).cells:
        if about := dict(cell.metadata.get("planted", {})):
            source = right[about["task"]] if "instead" in about else cell.source
            right |= {about["task"]: source} if about["what"].startswith("right") else {}
            for old, new in about.pop("instead", {}).items():
                if source.count(old) != 1:
                    raise ValueError(f"{planted.name}: {old!r} is in the answer {source.count(old)} times")
                source = source.replace(old, new)
            found.append(Plant(**about, source=source))
    return found


@dataclass(frozen=True)
class Handout:
    """A released notebook and answers to fill it with: ``answers`` maps each task to the source that solves it."""

    problem_set: ProblemSet
    released: dict
    answers: dict[str, str]

    @classmethod
    def of(cls, name: str) -> Handout:
        problem_set = load(find(name))
        answers = {_task(cell): cell.source for cell in problem_set.notebook.cells
                   if cell.metadata.get("nbgrader", {}).get("solution")}  # fmt: skip
        return cls(problem_set, student_version(problem_set), answers)

    def points(self, *lost: str) -> int:
        """All points that tests give, but those of the tasks ``lost``."""
        return sum(points for task in self.problem_set.tasks if task.id not in lost for _, _, points in task.tests)

    def notebook(self, **changed: str | None):
        """The release with every task solved, but ``ps1_1="..."`` put in place of that answer (None: left as it is)."""
        notebook = deepcopy(self.released)
        for cell in notebook.cells:
            mark = cell.metadata.get("nbgrader", {})
            if mark.get("solution"):
                source = changed.get(mark["grade_id"], self.answers[_task(cell)])
                cell.source = cell.source if source is None else source
        give_ids(notebook.cells, [], self.problem_set.name)
        return notebook


def _task(cell) -> str:
    return ".".join(cell.metadata["nbgrader"]["grade_id"].split("_")[:2])
