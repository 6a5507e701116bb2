"""What a table (or figure) of a paper is, and what one run of it is: the only kind of each.

A module of this folder ends in ``TABLE = load("NAME", measure)``: ``NAME.yaml`` says what it has, how that is trained, what its
rows and metrics are, and what differs from the paper; ``papers/`` has the paper's numbers; the module, what a run measures.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from lrnnbook.content.tables import code, own
from lrnnbook.content.tables.declared import Declared, require_known
from lrnnlab import tasks
from lrnnlab.models import Net, build
from lrnnlab.training import Mend, Phase, Recipe, Trained, train

BUDGETS = ("live", "desk", "paper")
PLAIN = ("seeds", "protocols", "modulus", "clock", "scored", "aliases")  # of a declaration, as they are
PROTOCOLS = ("ours", "paper")
WORDS = {"rate": "lr", "recurrent_rate": "recurrent_lr", "decay": "weight_decay", "batch": "batch_size"}  # recorded -> train's
TRAINING = ("steps", "rate", "recurrent_rate", "schedule", "decay", "warmup", "watch_every")  # of a setting, for train
MODULES = {  # of all tables, in order: where each is loaded
    "lrnn/table2": "lrnn_training", "lrnn/smoothing": "lrnn_training", "lrnn/baseline_rates": "lrnn_training",
    "lrnn/fig1": "lrnn_fig1", "lrnn/growth": "lrnn_growth", "lrnn/speed": "lrnn_speed", "lrnn/fading": "lrnn_fading",
    "lrnn/film": "lrnn_film", "dlr/table2": "dlr_table2", "dlr/table1": "dlr_table1", "dlr/width": "dlr_table1",
    "dlr/longer": "dlr_table1", "dlr/table3": "dlr_table3", "dlr/kernels": "dlr_kernels", "dlr/table5": "dlr_table5",
    "rotrnn/fig3": "rotrnn_fig3", "rotrnn/table1": "surrogate_data", "dlr/table4": "surrogate_data",
    "lra/levels": "long_range_levels", "regulargpt/table1": "regulargpt_table1", "regulargpt/table2": "regulargpt_table1",
    "regulargpt/fig3": "regulargpt_fig3", "regulargpt/fig4": "regulargpt_fig4", "regulargpt/table3": "regulargpt_table3",
    "fwp/table1": "fwp_training", "fwp/table2": "fwp_training", "fwp/negative": "fwp_negative", "fwp/search": "fwp_search",
    "ladder/models_x_tasks": "ladder", "ladder/gated": "ladder", "ladder/protocols": "ladder_protocols",
    "ladder/restart": "ladder_restart", "ladder/random": "ladder_random", "ladder/strings": "ladder_strings",
    "ladder/depth": "ladder_depth", "ladder/atlas": "ladder_atlas",
}  # fmt: skip
NAMES = tuple(MODULES)
LOADED: dict[str, Table] = {}


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
        recipe = options(plain["recipe"])
        recipe["phases"] = tuple(Phase(**phase) for phase in recipe["phases"])
        if recipe.get("mend"):
            recipe["mend"] = Mend(**{**recipe["mend"], "phase": Phase(**recipe["mend"]["phase"])})
        return cls(**{**plain, "recipe": Recipe(**{**recipe, "betas": tuple(recipe.get("betas", Recipe.betas))})})

    def plain(self) -> dict:
        """As plain data.  What recipes learned late is left out where it is not used, so that earlier records stay good."""
        recorded, plain = {new: old for old, new in WORDS.items()}, asdict(self)
        plain["recipe"] = recipe = {recorded.get(name, name): value for name, value in plain["recipe"].items()}
        late = [(recipe, "mend"), *((phase, name) for phase in recipe["phases"] for name in ("prune", "length", "enough"))]
        late += [(recipe["mend"]["phase"], name) for name in ("length", "enough") if recipe["mend"]]
        for part, name in late:
            if part[name] is None:
                del part[name]
        return plain


@dataclass(frozen=True)
class Run:
    """One cell of a table with one seed: what is trained or measured, and then recorded.

    ``setting`` is all that decides the outcome besides the seed: a :class:`Setting`, or plain data.
    """

    experiment: str
    task: str
    row: str
    seed: int
    budget: str
    protocol: str
    setting: Any
    modulus: int | None = None  # of the task, in the tables of paper 000 whose tasks have one
    folder: str | None = None  # of the YAML and the modules of one's own
    steady = True  # sums in a fixed order, so that its numbers depend on nothing beside

    def __post_init__(self) -> None:
        if self.folder is not None:
            own.enter(self.folder, {"task": self.task, **(self.setting if isinstance(self.setting, dict) else vars(self.setting))})

    def __reduce__(self) -> tuple:  # made anew in another process, which then knows one's own modules
        return type(self), tuple(getattr(self, one.name) for one in fields(self))

    def config(self) -> dict:
        """All that decides the outcome, as plain data."""
        found = {**asdict(self), "setting": getattr(self.setting, "plain", lambda: self.setting)()}
        del found["folder"]
        if self.modulus is None:
            del found["modulus"]
        if (others := code.of_others(own.REGISTRIES.values(), found)) is not None:  # a model of your own changes under its name
            found["code"] = others
        return json.loads(json.dumps(found, default=list))

    def says(self) -> dict:
        """What names it in its record."""
        return {name: getattr(self, name) for name in ("experiment", "task", "row", "seed", "budget", "protocol")}

    def source(self) -> str:
        """A digest of the code that it goes through."""
        return source(self.experiment)

    @property
    def clock(self) -> bool:
        """Whether seconds are the result."""
        return get(self.experiment).clock

    def measure(self, progress: bool = False, checkpoint: Path | None = None) -> dict:
        """What its table measures; ``ValueError`` where it wants a GPU that torch does not see."""
        if self.device == "cuda" and not torch.cuda.is_available():
            raise ValueError(f"{self.experiment} of {self.task} at the budget {self.budget} needs a GPU, and torch sees none")
        return get(self.experiment).measure(self, progress, checkpoint)

    def enough(self, record: dict) -> bool:
        """Any record of this configuration will do."""
        return True

    @property
    def device(self) -> str:
        """What the setting asks for: ``cpu``, unless it names another."""
        return self.setting.get("device", "cpu") if isinstance(self.setting, dict) else "cpu"

    def build_task(self) -> tasks.Task:
        """The task of a ``Setting``."""
        found = tasks.task(self.task, self.modulus)
        assert isinstance(found, tasks.Task), found
        return found

    def build_model(self, seed: int | None = None) -> Net:
        """The untrained model of a ``Setting``, with the weights of ``seed`` (the run's own if absent): ``fit`` asks by seed."""
        task, seed = self.build_task(), self.seed if seed is None else seed
        sizes: dict[str, Any] = {"vocab_size": task.vocab_size, "classes": task.classes}
        return build(self.setting.model, seed=seed, **sizes, **self.setting.options)


@dataclass(frozen=True)
class Table:
    """A table or figure of a paper, declared: what there is, the setting of each cell, and what a run measures."""

    name: str  # such as "lrnn/table2"
    rows: tuple[str, ...]
    tasks: tuple[str, ...]
    configure: Callable[[str, str, str], Any]  # (row, task, budget) -> the setting of a cell that is there
    measure: Callable[[Run, bool, Path | None], dict]  # (run, progress, checkpoint) -> parts of a record, also "metrics"
    declared: Declared
    budgets: tuple[str, ...] = BUDGETS
    scored: str = "right past the training length"  # what the score is a share of
    aliases: Mapping[str, str] = field(default_factory=dict)  # other names of rows
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # tasks that only one budget has
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by budget, the only tasks that it has
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by budget, what a plan has that names no tasks
    seeds: Sequence[int] = (0,)  # that a plan has if none are named
    protocols: tuple[str, ...] = ("ours",)
    for_protocol: Callable[[Any, str], Any] = lambda found, protocol: found
    modulus: int | None = None  # of its tasks
    clock: bool = False  # True where seconds are the result: then one run goes at a time
    text: Callable[[Sequence[dict]], str] | None = None  # of records, in place of what the YAML shows
    make: Callable[[dict], Any] = lambda found: found  # what is set -> the setting

    def setting(self, row: str, task: str, budget: str) -> Any:
        """The setting of one cell; ``row`` may be an alias.  ``ValueError`` for a row, task or budget that is not there."""
        row = self.aliases.get(row, row)
        require_known(row, self.rows, "row", self.name)
        require_known(budget, self.budgets, "budget", self.name)
        require_known(task, self.tasks_at(budget), f"task at the budget {budget}:", self.name)
        return self.configure(row, task, budget)

    def tasks_at(self, budget: str) -> tuple[str, ...]:
        """The tasks that a budget has."""
        return self.only.get(budget) or (*self.tasks, *self.extra.get(budget, ()))


def get(name: str) -> Table:
    """The table of that name, whose module is loaded, or that a ``.yaml`` of your own adds to; ``ValueError`` lists the names.

    >>> get("lrnn/table2").tasks
    ('sum', 'evenpair', 'modarith')
    """
    if name.endswith(".yaml"):
        return _like(Declared(name, tables=MODULES))
    if name not in MODULES:
        raise ValueError(f"no experiment {name!r}; there are {', '.join(MODULES)}")
    if name not in LOADED:
        import_module(f"lrnnbook.content.tables.{MODULES[name]}")
    return LOADED[name]


@cache
def source(name: str) -> str:
    """A digest of the code that the runs of a table go through."""
    said = get(name).declared
    return code.of_table(f"lrnnbook.content.tables.{MODULES[name]}", [said.found, said.tasks, said.rows])


def load(name: str, measure: Callable[..., dict], make: Callable[[dict], Any] = lambda found: found, **options: Any) -> Table:
    """The table that ``NAME.yaml`` declares; ``make`` turns its settings into what ``measure`` takes, see ``by_setting``."""
    LOADED[name] = Table(**{"name": name, "measure": measure, "make": make, **_parts(Declared(name), make), **options})
    return LOADED[name]


def _parts(said: Declared, make: Callable[[dict], Any]) -> dict[str, Any]:
    """The parts of a table that its YAML says."""
    extra = {task for tasks in said.extra.values() for task in tasks}
    return {
        "rows": tuple(said.rows), "tasks": tuple(task for task in said.tasks if task not in extra),
        "configure": lambda *cell: make(said.setting(*cell)), "declared": said,
        "budgets": tuple(said.budgets), "extra": said.extra, "only": said.only, "columns": said.columns,
        **{key: said.found[key] for key in PLAIN if key in said.found},
    }  # fmt: skip


def _like(said: Declared) -> Table:
    """A table with the rows and tasks of a file of one's own; its runs are measured, recorded and shown as the table's are."""
    table = get(said.found["like"])
    keys = {key for sets in (table.declared.found.get("setting", {}), *table.declared.rows.values(), *table.declared.tasks.values())
            for key in sets}  # fmt: skip
    for name, sets in {**said.rows, **said.tasks}.items():
        for key in own.REGISTRIES.keys() & sets.keys() - keys:
            raise ValueError(f"{said.file.name}: {name}: {table.name} has no {key!r} that could be set, got {sets[key]!r}")
    return replace(table, **{"aliases": {}, **_parts(said, table.make)})


def by_setting(measure: Callable[..., dict]) -> Callable[[Run, bool, Path | None], dict]:
    """What a ``Table`` wants, of ``measure(setting, seed, progress=..., checkpoint=...)``."""
    return lambda run, progress, checkpoint: measure(run.setting, run.seed, progress=progress, checkpoint=checkpoint)


def options(setting: Mapping, names: Iterable[str] | None = None) -> dict:
    """What is recorded of training (of it ``names``, where it is there), in the words of ``train`` and ``Recipe``."""
    return {WORDS.get(name, name): setting[name] for name in names or setting if name in setting}


def trained_by(setting: dict, net: torch.nn.Module, draw: Callable, loss: Callable, generator: torch.Generator,
               watch: Callable | None = None, **how: Any) -> Trained:  # fmt: skip
    """``net`` after training as a setting says, watched ``looks`` times; ``how``: ``progress`` and ``checkpoint``."""
    looks: dict[str, Any] = {"watch": watch} if watch else {}
    if "looks" in setting:
        looks["watch_every"] = max(setting["steps"] // setting["looks"], 1)
    return train(net.to(setting.get("device", "cpu")), draw, loss, generator=generator, **options(setting, TRAINING), **looks, **how)


def outcome(made: Trained, metrics: dict, **parts: Any) -> dict:
    """A record's parts of a net that was trained: its metrics, with steps and weights counted, and what else there is."""
    counted = {"steps": made.steps, "finished": made.finished, "parameters": parameters(made.net)}
    return {"metrics": {**metrics, **counted}, **parts, "cpu_seconds": round(made.cpu_seconds, 3)}


def parameters(net: torch.nn.Module) -> int:
    """How many numbers a net has learned."""
    return sum(parameter.numel() for parameter in net.parameters())
