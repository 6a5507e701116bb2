"""Where strings and their answers come from.

>>> task = get("sum", 5)
>>> task.targets(task.read("0324")[None])
tensor([[0, 3, 0, 4]])

``TASKS`` maps a name to a class.  To add a task, write a ``Task`` (the head of ``lrnnlab.tasks.base`` shows one whole)
and enter it: ``TASKS["parity"] = Parity``.  ``STRING_TASKS`` has those with one answer a string (paper 002),
``COUNTER_TASKS`` those with strings of a language only (paper 003), ``ATOMIC`` those of numbers (paper 004, Table 1);
data of the long-range arena, read or generated, are in ``lrnnlab.tasks.long_range``.
"""

from lrnnlab.errors import checked
from lrnnlab.tasks.arithmetic import EvenPair, ModArith, ModularTask, Sum
from lrnnlab.tasks.atomic import ATOMIC
from lrnnlab.tasks.base import Batch, Task
from lrnnlab.tasks.continuous import ContinuousTask
from lrnnlab.tasks.counter_languages import COUNTER_TASKS
from lrnnlab.tasks.levels import best_of_checks
from lrnnlab.tasks.listops import ListOps, ListOpsSubTrees
from lrnnlab.tasks.pathfinder import Pathfinder, PathfinderSegmentation
from lrnnlab.tasks.positive_strings import PositiveTask
from lrnnlab.tasks.recognition import STRING_TASKS
from lrnnlab.tasks.string_base import StringTask
from lrnnlab.tasks.whole_strings import blind_levels, whole_string_accuracy

__all__ = [
    "ATOMIC", "COUNTER_TASKS", "STRING_TASKS", "TASKS", "Batch", "ContinuousTask", "EvenPair", "ListOps",
    "ListOpsSubTrees", "ModArith", "ModularTask", "Pathfinder", "PathfinderSegmentation", "PositiveTask", "StringTask",
    "Sum", "Task", "best_of_checks", "blind_levels", "get", "whole_string_accuracy",
]  # fmt: skip

TASKS = {"sum": Sum, "evenpair": EvenPair, "modarith": ModArith}


@checked
def get(name: str, modulus=5):
    """The task called ``name``; ``modulus`` matters to the tasks that have one.  ValueError lists the legal names.

    >>> get("modarith", 7)
    ModArith(7)
    """
    if name not in TASKS:
        raise ValueError(f"no task is called {name!r}; the tasks are {', '.join(sorted(TASKS))}")
    kind = TASKS[name]
    return kind(modulus) if issubclass(kind, ModularTask) else kind()
