"""lrnnlab: linear recurrent networks and formal languages, the library behind the workbook.

Almost every model here is one equation::

    x_t = A_t x_{t-1} + b_t,      y_t = h(x_t)

``scans`` runs it, ``automata`` and ``tasks`` ask questions of it, ``models`` say what A_t and b_t are, ``training``
fits and measures, ``verification`` proves, and ``expressivity`` predicts what a family of transitions can compute.
The first hour needs seven names, which are loaded when they are used::

    from lrnnlab import build, evaluate, snap, task, train, verify

    parity = task("sum", 2)
    made = train(build("lstm", parity, width=16), parity, steps=200, rate=1e-2)
    print(evaluate(made.net, parity, length=100).accuracy_last)

What is wrong in an argument is refused by a ``ValueError`` or ``TypeError`` that names it and shows what came.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = ["build", "evaluate", "linear_scan", "snap", "task", "train", "verify"]

if TYPE_CHECKING:  # what an editor reads
    from lrnnlab.models import build, snap
    from lrnnlab.scans import linear_scan
    from lrnnlab.tasks import task
    from lrnnlab.training import evaluate, train
    from lrnnlab.verification import verify
else:

    def __getattr__(name: str):
        """One of the seven names, from the first room, from the bottom, that has it."""
        rooms = ("scans", "tasks", "models", "training", "verification") if name in __all__ else ()
        for room in rooms:
            there = import_module(f"lrnnlab.{room}")
            if name in there.__all__:
                return getattr(there, name)
        raise AttributeError(f"module 'lrnnlab' has no attribute {name!r}; it gives {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
