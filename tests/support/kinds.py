"""The kinds of submissions of a rehearsal: a function of a :class:`Scene` each, -> what is handed in, the points it earned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from planted import Handout, Plant


@dataclass(frozen=True)
class Scene:
    """The released notebook and its answers, planted ones, the running number, and places outside by their words (CANARY ...)."""

    handout: Handout
    plants: list[Plant]
    number: int
    places: dict[str, str] = field(default_factory=dict)

    @property
    def task(self) -> str:
        """The task that this number is about."""
        return self.ids[self.number % len(self.ids)]

    @property
    def ids(self) -> list[str]:
        return [task.id for task in self.handout.problem_set.tasks if task.functions]

    @property
    def function(self) -> str:
        return next(task.functions[0] for task in self.handout.problem_set.tasks if task.id == self.task)

    @property
    def answer(self) -> str:
        return self.handout.answers[self.task]

    def with_answer(self, source: str | None) -> NotebookNode:
        """All solved, but this in place of the answer to ``task``."""
        return self.handout.notebook(**{self.task.replace(".", "_"): source})

    def with_first(self, source: str) -> NotebookNode:
        """All solved, and a cell of the student's own in front."""
        notebook = self.handout.notebook()
        notebook.cells.insert(0, new_code_cell(source))
        return notebook

    def with_last(self, source: str) -> NotebookNode:
        """Nothing solved, and a cell of the student's own at the end: what it defines is what is graded."""
        notebook = self.handout.notebook(**{id.replace(".", "_"): None for id in self.ids})
        notebook.cells.append(new_code_cell(source))
        return notebook

    def place(self, notebook: NotebookNode) -> int:
        """Where the answer to ``task`` stands."""
        id = self.task.replace(".", "_")
        marks = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]
        return marks.index(id)

    @property
    def full(self) -> int:
        return self.handout.points()

    @property
    def others(self) -> int:
        return self.handout.points(self.task)


Made = tuple[NotebookNode | bytes | None, int]  # a notebook, a file's bytes or nothing at all; and the points it earned


def right(scene: Scene) -> Made:
    return scene.handout.notebook(), scene.full


def right_in_other_style(scene: Scene) -> Made:
    other = {plant.task.replace(".", "_"): plant.source for plant in scene.plants if plant.what.startswith("right")}
    return scene.handout.notebook(**other), scene.full


def planted(scene: Scene) -> Made:
    plant = scene.plants[scene.number % len(scene.plants)]
    notebook = scene.handout.notebook(**{plant.task.replace(".", "_"): plant.source})
    return notebook, scene.handout.points(plant.task) + plant.points


def everything_wrong(scene: Scene) -> Made:
    wrong = {}
    for plant in scene.plants:
        if not plant.what.startswith("right") and plant.points == 0:
            wrong[plant.task.replace(".", "_")] = plant.source
    kept = [id for id in scene.ids if id.replace(".", "_") not in wrong]
    return scene.handout.notebook(**wrong), scene.full - scene.handout.points(*kept)


def hard_coded(scene: Scene) -> Made:
    found = [plant for plant in scene.plants if "hard-coded" in plant.what]
    notebook = scene.handout.notebook(**{plant.task.replace(".", "_"): plant.source for plant in found})
    return notebook, scene.handout.points(*(plant.task for plant in found)) + sum(plant.points for plant in found)


def untouched(scene: Scene) -> Made:
    return scene.handout.released, 0


def partly(scene: Scene) -> Made:
    return scene.with_answer(None), scene.others


def cell_deleted(scene: Scene) -> Made:
    notebook = scene.handout.notebook()
    del notebook.cells[scene.place(notebook)]
    return notebook, scene.others


def tests_deleted(scene: Scene) -> Made:
    notebook = scene.handout.notebook()
    notebook.cells = [cell for cell in notebook.cells if not cell.metadata.get("nbgrader", {}).get("locked")]
    return notebook, scene.full


def metadata_lost(scene: Scene) -> Made:
    notebook = scene.handout.notebook()
    for cell in notebook.cells:
        cell.metadata.clear()
    notebook.metadata.clear()
    return notebook, scene.full


def cell_doubled(scene: Scene) -> Made:
    notebook = scene.handout.notebook()
    at = scene.place(notebook)
    notebook.cells.insert(at, notebook.cells[at].copy())
    return notebook, scene.full


def stub_after_answer(scene: Scene) -> Made:
    """The copy at the end is the empty one: the last definition counts, as it does in a notebook."""
    notebook = scene.handout.notebook()
    notebook.cells.append(scene.handout.released.cells[scene.place(notebook)].copy())
    return notebook, scene.others


def cell_split(scene: Scene) -> Made:
    notebook = scene.handout.notebook()
    at = scene.place(notebook)
    helper = f"def _inner_{scene.number}(*arguments):\n    return _{scene.function}(*arguments)"
    renamed = scene.answer.replace(f"def {scene.function}(", f"def _{scene.function}(")
    notebook.cells[at : at + 1] = [new_code_cell(text) for text in (
        renamed, helper, f"def {scene.function}(*arguments):\n    return _inner_{scene.number}(*arguments)",
    )]  # fmt: skip
    return notebook, scene.full


def renamed(scene: Scene) -> Made:
    return scene.with_answer(scene.answer.replace(f"def {scene.function}(", f"def {scene.function}_1(")), scene.others


def order_mixed(scene: Scene) -> Made:
    notebook = scene.handout.notebook()
    notebook.cells.reverse()
    return notebook, scene.full


def magics(scene: Scene) -> Made:
    return scene.with_first("%matplotlib inline\n!pip install numpy\nimport numpy as np"), scene.full


def not_python(scene: Scene) -> Made:
    return scene.with_answer(f"def {scene.function}(:\n    return"), scene.others


def half_a_file(scene: Scene) -> Made:
    text = nbformat.writes(scene.handout.notebook()).encode()
    return text[: len(text) // 2], 0


def folder_without_notebook(scene: Scene) -> Made:
    return None, 0


KINDS: tuple[Callable[[Scene], Made], ...] = (
    right, right_in_other_style, planted, partly, everything_wrong, hard_coded, untouched, cell_deleted, tests_deleted,
    metadata_lost, cell_doubled, stub_after_answer, cell_split, renamed, order_mixed, magics, not_python, half_a_file,
    folder_without_notebook,
)  # fmt: skip
