"""Where inputs and their answers come from: one protocol, one registry.

>>> task("sum", 5).targets(task("sum", 5).read("0324")[None])
tensor([[0, 3, 0, 4]])
>>> import torch
>>> task("shift", length=256).training_batch(4, torch.Generator().manual_seed(0)).inputs.shape
torch.Size([4, 256, 3])

``TASKS`` maps each name to what makes the task; ``lrnnlab.tasks.base`` has the protocol.  A task about a language is
``Task(language, ask, draw)``: which language, when an answer is asked, how strings are drawn.  To add one, enter what
makes it: ``TASKS["lasttwo"] = last_two_equal``, a function without arguments that returns a task.  Data of the
long-range arena, read or generated, are in ``lrnnlab.tasks.long_range``.
"""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypeVar, overload

from lrnnlab.automata.languages import GROUPS, group
from lrnnlab.tasks import regular
from lrnnlab.tasks.base import BaseTask
from lrnnlab.tasks.batch import Batch
from lrnnlab.tasks.counter_languages import COUNTER_TASKS
from lrnnlab.tasks.language_task import Task
from lrnnlab.tasks.long_range.listops import ListOps, ListOpsSubTrees
from lrnnlab.tasks.long_range.pathfinder import Pathfinder, PathfinderSegmentation
from lrnnlab.tasks.numbers import atomic, atomic_levels, continuous  # noqa: F401  (chapters say tasks.atomic)
from lrnnlab.tasks.numbers.atomic import ATOMIC
from lrnnlab.tasks.regular import EvenPair, MachineTask, ModArith, StateTracking, Sum, WordProblem
from lrnnlab.validation import checked, named, numbered

__all__ = [
    "TASKS", "BaseTask", "Batch", "EvenPair", "ListOps", "MachineTask", "ModArith", "Pathfinder", "StateTracking", "Sum", "Task",
    "WordProblem", "task",
]  # fmt: skip

TASKS: dict[str, Callable[..., BaseTask]] = {
    # paper 000: an answer at every position (ModArith: at every number)
    "sum": Sum, "evenpair": EvenPair, "modarith": ModArith,
    # paper 002: one answer a string
    **regular.STRING_TASKS,
    # paper 003: strings of a language, an answer at every position; its Parity is called by what it asks
    **{("prefix_parity" if name == "parity" else name): made for name, made in COUNTER_TASKS.items()},
    # paper 004: numbers; the long-range arena's and paper 004's trees and pictures
    **ATOMIC, "listops": ListOps, "listops_subtrees": ListOpsSubTrees, "pathfinder": Pathfinder,
    "pathfinder_segmentation": partial(PathfinderSegmentation, 32),
    # word problems of groups
    **{name.lower(): partial(regular.group, name.lower()) for name in GROUPS},
}  # fmt: skip

YOURS: dict[str, Callable[..., BaseTask]] = {
    "regex": regular.expression, "machine": MachineTask, "states": StateTracking, "group": WordProblem,
}  # fmt: skip

Given = TypeVar("Given", bound=BaseTask)
# What ``task`` makes a ``Task`` of, for who completes or checks a call.
TaskName = Literal[
    "sum", "evenpair", "modarith", "even_pairs", "modular_arithmetic", "modular_arithmetic_prefix", "parity",
    "cycle_navigation", "d_2", "d_3", "d_4", "d_12", "tomita_1", "tomita_2", "tomita_3", "tomita_4", "tomita_5", "tomita_6",
    "tomita_7", "s_3", "a_4", "s_4", "s_5", "q_8", "a_5", "regex", "machine", "states", "group",
]  # fmt: skip


@overload
def task(name: TaskName, *arguments: Any, length: int | None = None, **options: Any) -> Task: ...
@overload
def task(name: str, *arguments: Any, length: int | None = None, **options: Any) -> BaseTask: ...
@overload
def task(name: Given) -> Given: ...
@checked
def task(name: str | BaseTask, *arguments: Any, length: int | None = None, **options: Any) -> BaseTask:
    """The task called ``name``; arguments and options go to what makes it.

    Parameters
    ----------
    name : str or BaseTask
        One of ``TASKS``, or as its language is called, ``Sum(7)`` or ``Tomita 3``; or ``z_7`` and ``s_5``, groups; or ``regex``,
        ``machine``, ``states`` and ``group``, for a regular expression, a ``MooreMachine``, the states of one, permutations of
        your own (``{"s": (1, 0, 2), "t": (1, 2, 0)}``).  A task that is made already comes back.
    length : int, optional
        Another training length.

    Examples
    --------
    >>> task("sum", 7), task("parity", p=0.9), task("tomita_3"), task("shift", length=256).train_length
    (Sum(7), Parity(0.9), Tomita 3, 256)
    >>> task("s_3").classes, task("regex", "(ab)*").name
    (6, '(ab)*')
    """
    if isinstance(name, BaseTask):
        if arguments or options or length is not None:
            raise ValueError(f"{name} is made already and takes nothing more, got {arguments=}, {options=}, {length=}")
        return name
    known: dict[str, Callable[..., BaseTask]] = {**TASKS, **YOURS}
    numbers: tuple = ()
    if name in known or not group(name):
        plain, numbers = (name, ()) if name in known else numbered(name)
        name = named("task", plain, [*sorted(TASKS), *YOURS], ", z_M and s_N")
    make = known.get(name) or partial(regular.group, name)
    try:
        inspect.signature(make).bind(*numbers, *arguments, **options)
    except TypeError as error:
        raise ValueError(f"task {name!r}: {error}") from None
    found = make(*numbers, *arguments, **options)
    return found if length is None else found.with_length(length)
