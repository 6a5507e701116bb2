"""What a table (or figure) of a paper is, and what one run of it is: the only kind of each.

A module of this folder ends in ``TABLE = load("NAME", measure)``: its YAML says what it has and how that is trained, the
paper's numbers in ``papers/``, and the module says what a run measures.  All else is the same for every table and stands here,
in ``plans``, in ``runner`` and in ``results``: what there is and what not, other names for rows, fingerprints and paths of
records, how many runs go at a time and where, resuming, and the spread over seeds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch

from lrnnlab import tasks
from lrnnlab.models import Net, build
from lrnnlab.training import Mend, Phase, Recipe
from workbook.tables.declared import Declared, there

BUDGETS = ("live", "desk", "paper")
PLAIN = ("seeds", "protocols", "modulus", "clock", "scored")  # of a declaration, as they are
PROTOCOLS = ("ours", "paper")


@dataclass(frozen=True)
class Setting:
    """A cell of paper 000's tables at one budget: the model, how it is trained, and what ends its training."""

    model: str
    options: dict
    recipe: Recipe
    stop: str = "recipe"
    check_every: int = 50

    @classmethod
    def of_plain(cls, plain: Mapping) -> Setting:
        """From plain data, of which what has a default may be left out."""
        recipe = dict(plain["recipe"])
        recipe["phases"] = tuple(Phase(**phase) for phase in recipe["phases"])
        if recipe.get("mend"):
            recipe["mend"] = Mend(**{**recipe["mend"], "phase": Phase(**recipe["mend"]["phase"])})
        return cls(**{**plain, "recipe": Recipe(**{**recipe, "betas": tuple(recipe.get("betas", Recipe.betas))})})

    def plain(self) -> dict:
        """As plain data.  What recipes learned late is left out where it is not used, so that earlier records stay good."""
        plain = asdict(self)
        recipe = plain["recipe"]
        late = [(recipe, "mend"), *((phase, name) for phase in recipe["phases"] for name in ("prune", "length"))]
        late += [(recipe["mend"]["phase"], "length")] if recipe["mend"] else []
        for part, name in late:
            if part[name] is None:
                del part[name]
        return plain


@dataclass(frozen=True)
class Run:
    """One cell of a table with one seed: what is trained or measured, and then recorded.

    Parameters
    ----------
    experiment, task, row, budget, protocol : str
        Names in the table.
    seed : int
        Of everything that is drawn.
    setting : Setting or plain data
        All that decides the outcome besides the seed.
    modulus : int, optional
        Of the task, in the tables of paper 000 whose tasks have one.
    """

    experiment: str
    task: str
    row: str
    seed: int
    budget: str
    protocol: str
    setting: Any
    modulus: int | None = None

    def config(self) -> dict:
        """All that decides the outcome, as plain data."""
        found = {**asdict(self), "setting": getattr(self.setting, "plain", lambda: self.setting)()}
        if self.modulus is None:
            del found["modulus"]
        return json.loads(json.dumps(found, default=list))

    steady = True  # on one thread, so that its numbers depend on nothing beside

    def says(self) -> dict:
        """What names it in its record."""
        return {name: getattr(self, name) for name in ("experiment", "task", "row", "seed", "budget", "protocol")}

    @property
    def table(self) -> Table:
        """The table that it is a run of."""
        from workbook.tables import registry as plans  # which imports every table

        return plans.get(self.experiment)

    @property
    def clock(self) -> bool:
        """Whether seconds are the result."""
        return self.table.clock

    def measure(self, progress: bool = False, checkpoint: Path | None = None) -> dict:
        """What its table measures."""
        return self.table.measure(self, progress, checkpoint)

    def enough(self, record: dict) -> bool:
        """Any record of this configuration will do."""
        return True

    @property
    def device(self) -> str:
        """What the setting asks for: ``cpu``, unless it names another."""
        return self.setting.get("device", "cpu") if isinstance(self.setting, dict) else "cpu"

    def build_task(self) -> tasks.Task:
        """The task of a ``Setting``."""
        return tasks.task(self.task, self.modulus)

    def build_model(self, seed: int | None = None) -> Net:
        """The untrained model of a ``Setting``, with the weights of ``seed`` (the run's own if absent)."""
        task, seed = self.build_task(), self.seed if seed is None else seed
        sizes = {"vocab_size": task.vocab_size, "classes": task.classes}
        return build(self.setting.model, seed=seed, **sizes, **self.setting.options)


@dataclass(frozen=True)
class Table:
    """A table or figure of a paper, declared.

    Parameters
    ----------
    name : str
        Such as ``"lrnn/table2"``.
    rows, tasks, budgets : tuple of str
        What there is.
    configure : callable
        ``configure(row, task, budget)``: the setting of a cell that is there; ask :meth:`setting`.
    measure : callable
        ``measure(run, progress, checkpoint)``: what was found, as parts of a record; ``"metrics"`` is one.  It shows
        bars if ``progress``, and goes on from the file ``checkpoint``, if that is not None, after a kill.
    line : callable
        A record in a few words.
    text : callable
        Records as text, beside the paper's own numbers where it has some.
    score : callable, optional
        The share (of 1) that a record says.
    scored : str
        What it is a share of.
    printed : callable, optional
        ``printed(row, task)``: what the paper has there, as text.
    aliases : dict
        Other names of rows.
    extra : dict
        Tasks that only one budget has, by budget.
    only : dict
        By budget, the only tasks that it has.
    columns : dict
        By budget, the tasks of a plan that names none, where they are not ``tasks``: the lengths that the paper has.
    seeds : sequence of int
        Those that a plan has if none are named.
    protocols : tuple of str
        What ``for_protocol`` knows.
    for_protocol : callable
        ``for_protocol(setting, protocol)``: the setting as that protocol has it.
    modulus : int, optional
        Of its tasks.
    clock : bool
        True where seconds are the result: then one run goes at a time.
    declared : Declared, optional
        What its YAML says, if it has one.
    """

    name: str
    rows: tuple[str, ...]
    tasks: tuple[str, ...]
    configure: Callable[[str, str, str], Any]
    measure: Callable[[Run, bool, Path | None], dict]
    line: Callable[[dict], str]
    text: Callable[[Sequence[dict]], str]
    budgets: tuple[str, ...] = BUDGETS
    score: Callable[[dict], float] | None = None
    scored: str = "right past the training length"
    printed: Callable[[str, str], str] | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    seeds: Sequence[int] = (0,)
    protocols: tuple[str, ...] = ("ours",)
    for_protocol: Callable[[Any, str], Any] = lambda found, protocol: found
    modulus: int | None = None
    clock: bool = False
    declared: Declared | None = None

    def setting(self, row: str, task: str, budget: str) -> Any:
        """The setting of one cell; ``row`` may be an alias.  ``ValueError`` for a row, task or budget that is not there."""
        row = self.aliases.get(row, row)
        there(row, self.rows, "row", self.name)
        there(budget, self.budgets, "budget", self.name)
        there(task, self.tasks_at(budget), f"task at the budget {budget}:", self.name)
        return self.configure(row, task, budget)

    def tasks_at(self, budget: str) -> tuple[str, ...]:
        """The tasks that a budget has."""
        return self.only.get(budget) or (*self.tasks, *self.extra.get(budget, ()))


def load(
    name: str, measure: Callable[[Run, bool, Path | None], dict], make: Callable[[dict], Any] | None = None, **options: Any
) -> Table:  # fmt: skip
    """The table that ``NAME.yaml`` declares (see :mod:`workbook.tables.declared`); ``options`` are those of a ``Table``.
    """
    from workbook.tables import results  # which reads tables

    said = Declared(name)
    found, extra = said.found, {task for tasks in said.extra.values() for task in tasks}
    printed = partial(results.printed, name, found["score"]) if "score" in found else None
    return Table(**{
        "name": name, "rows": tuple(said.rows), "tasks": tuple(task for task in said.tasks if task not in extra),
        "budgets": tuple(said.budgets), "extra": said.extra, "only": said.only, "columns": said.columns,
        "aliases": found.get("aliases", {}),
        "configure": (lambda *cell: make(said.setting(*cell))) if make else said.setting, "measure": measure,
        "line": partial(results.line, found), "text": results.text,
        "declared": said, "score": results.score(found), "printed": printed,
        **{key: found[key] for key in PLAIN if key in found}, **options,
    })  # fmt: skip


def gpu_if_wanted(setting: dict, what: str) -> None:
    """``ValueError``, which says ``what`` asks for one, where the setting's device is a GPU that torch does not see.
    """
    if setting.get("device") == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"{what} needs a GPU, and torch sees none")


def by_setting(measure: Callable[..., dict]) -> Callable[[Run, bool, Path | None], dict]:
    """What a ``Table`` wants, of ``measure(setting, seed, progress=..., checkpoint=...)``."""

    def measured(run: Run, progress: bool, checkpoint: Path | None) -> dict:
        return measure(run.setting, run.seed, progress=progress, checkpoint=checkpoint)

    return measured


def alone(measure: Callable[..., dict]) -> Callable[[Run, bool, Path | None], dict]:
    """What a ``Table`` wants, of ``measure(setting, seed)``, which trains nothing."""
    return lambda run, progress, checkpoint: measure(run.setting, run.seed)
