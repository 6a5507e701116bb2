"""Where strings and their answers come from.

>>> task = get("sum", 5)
>>> task.targets(task.read("0324")[None])
tensor([[0, 3, 0, 4]])

``TASKS`` maps a name to a class.  To add a task, write a ``Task`` (the head of ``lrnnlab.tasks.base`` shows one whole)
and enter it: ``TASKS["parity"] = Parity``.
"""

from lrnnlab.tasks.arithmetic import EvenPair, ModArith, ModularTask, Sum
from lrnnlab.tasks.base import Batch, Task
from lrnnlab.tasks.levels import best_of_checks

__all__ = ["TASKS", "Batch", "EvenPair", "ModArith", "ModularTask", "Sum", "Task", "best_of_checks", "get"]

TASKS = {"sum": Sum, "evenpair": EvenPair, "modarith": ModArith}


def get(name, modulus=5):
    """The task called ``name``; ``modulus`` matters to the tasks that have one.  ValueError lists the legal names.

    >>> get("modarith", 7)
    ModArith(7)
    """
    if name not in TASKS:
        raise ValueError(f"no task is called {name!r}; the tasks are {', '.join(sorted(TASKS))}")
    kind = TASKS[name]
    return kind(modulus) if issubclass(kind, ModularTask) else kind()
