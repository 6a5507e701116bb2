"""lrnnlab: linear recurrent networks and formal languages, the library behind the workbook.

Almost every model here is one equation::

    x_t = A_t x_{t-1} + b_t,      y_t = h(x_t)

``scans`` runs it, ``automata`` and ``tasks`` ask questions of it, ``models`` say what A_t and b_t are, ``training``
fits and measures, ``verification`` proves, and ``expressivity`` predicts what a family of transitions can compute.
Ten names are given here; each is loaded when it is used::

    from lrnnlab import build, evaluate, snap, task, train, verify

    parity = task("sum", 2)
    made = train(build("lstm", parity, width=16), parity, steps=200, lr=1e-2)
    print(evaluate(made.net, parity, length=100).accuracy_last)

What is wrong in an argument is refused by a ``ValueError`` or ``TypeError`` that names it and shows what came.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = ["build", "evaluate", "extract", "linear_scan", "predict", "quantise", "snap", "task", "train", "verify"]

if TYPE_CHECKING:  # what an editor reads
    from lrnnlab.expressivity import predict
    from lrnnlab.models import build, snap
    from lrnnlab.scans import linear_scan
    from lrnnlab.tasks import task
    from lrnnlab.training import evaluate, train
    from lrnnlab.verification import extract, quantise, verify
else:
    ROOMS = {
        "extract": "verification", "predict": "expressivity", "linear_scan": "scans", "task": "tasks", "build": "models",
        "snap": "models", "evaluate": "training", "train": "training", "quantise": "verification", "verify": "verification",
    }  # fmt: skip

    def __getattr__(name: str):
        """One of the ten names; only its room, and what that needs, is loaded."""
        if name in ROOMS:
            return getattr(import_module(f"lrnnlab.{ROOMS[name]}"), name)
        raise AttributeError(f"module 'lrnnlab' has no attribute {name!r}; it gives {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
