"""Where inputs and their answers come from: one protocol, one registry.

>>> task("sum", 5).targets(task("sum", 5).read("0324")[None])
tensor([[0, 3, 0, 4]])
>>> import torch
>>> task("shift", length=256).training_batch(4, torch.Generator().manual_seed(0)).inputs.shape
torch.Size([4, 256, 3])

``TASKS`` maps each name to what makes the task; ``lrnnlab.tasks.base`` says what a task is (``BaseTask``).  To add one,
write a ``Task`` (the head of ``lrnnlab.tasks.base`` shows one whole) and enter it: ``TASKS["lasttwo"] = LastTwoEqual``.
Data of the long-range arena, read or generated, are in ``lrnnlab.tasks.long_range``.
"""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from lrnnlab.automata.languages import GROUPS
from lrnnlab.tasks.arithmetic import EvenPair, ModArith, ModularTask, Sum
from lrnnlab.tasks.atomic import ATOMIC
from lrnnlab.tasks.base import BaseTask, Batch, Task
from lrnnlab.tasks.continuous import ContinuousTask
from lrnnlab.tasks.counter_languages import COUNTER_TASKS
from lrnnlab.tasks.levels import best_of_checks, blind_levels, whole_string_accuracy
from lrnnlab.tasks.listops import ListOps, ListOpsSubTrees
from lrnnlab.tasks.machine_tasks import MachineTask, StateTracking, WordProblem, group
from lrnnlab.tasks.pathfinder import Pathfinder, PathfinderSegmentation
from lrnnlab.tasks.positive_strings import PositiveTask
from lrnnlab.tasks.string_tasks import STRING_TASKS, StringTask, expression
from lrnnlab.validation import checked

__all__ = [
    "ATOMIC", "COUNTER_TASKS", "STRING_TASKS", "TASKS", "BaseTask", "Batch", "ContinuousTask", "EvenPair", "ListOps",
    "ListOpsSubTrees", "MachineTask", "ModArith", "ModularTask", "Pathfinder", "PathfinderSegmentation", "PositiveTask",
    "StateTracking", "StringTask", "Sum", "Task", "WordProblem", "best_of_checks", "blind_levels", "expression", "group",
    "task", "whole_string_accuracy",
]  # fmt: skip

TASKS: dict[str, Callable[..., BaseTask]] = {
    # paper 000: an answer at every position (ModArith: at every number)
    "sum": Sum, "evenpair": EvenPair, "modarith": ModArith,
    # paper 002: one answer a string
    **STRING_TASKS,
    # paper 003: strings of a language, an answer at every position; its Parity is called by what it asks
    **{("prefix_parity" if name == "parity" else name): made for name, made in COUNTER_TASKS.items()},
    # paper 004: numbers; the long-range arena's and paper 004's trees and pictures
    **ATOMIC, "listops": ListOps, "listops_subtrees": ListOpsSubTrees, "pathfinder": Pathfinder,
    "pathfinder_segmentation": partial(PathfinderSegmentation, 32),
    # word problems of groups
    **{name.lower(): partial(group, name.lower()) for name in GROUPS},
}  # fmt: skip


@checked
def task(name: str | BaseTask, *arguments: Any, length: int | None = None, **options: Any) -> BaseTask:
    """The task called ``name``; arguments and options go to what makes it, ``length`` is another training length.

    Besides the names of ``TASKS``: ``task("z_7")``, a cyclic group; ``task("regex", "(ab)*")``, a regular expression;
    ``task("machine", machine)``, any ``MooreMachine``;
    ``task("states", machine)``, the states of one; ``task("group", {"s": (1, 0, 2), "t": (1, 2, 0)})``, any
    permutations.  ValueError for a name that is none, or an option that the task does not have.

    >>> task("sum", 7), task("parity", p=0.9), task("tomita_3"), task("shift", length=256).train_length
    (Sum(7), Parity(0.9), Tomita 3, 256)
    >>> task("s_3").classes, task("regex", "(ab)*").name
    (6, '(ab)*')
    """
    if isinstance(name, BaseTask):
        if arguments or options or length is not None:
            raise ValueError(f"{name} is made already and takes nothing more, got {arguments=}, {options=}, {length=}")
        return name
    own: dict[str, Callable] = {"regex": expression, "machine": MachineTask, "states": StateTracking,
                                "group": WordProblem}
    every: dict[str, Callable] = {**TASKS, **own}
    make = every.get(name) or (partial(group, name) if name.startswith("z_") else None)
    if make is None:
        raise ValueError(f"no task is called {name!r}; the tasks are {', '.join(sorted(TASKS))}; and z_M for a cyclic "
                         "group, regex, machine, states and group for one of your own")
    try:
        inspect.signature(make).bind(*arguments, **options)
    except TypeError as error:
        raise ValueError(f"task {name!r}: {error}") from None
    found = make(*arguments, **options)
    return found if length is None else found.with_length(length)
