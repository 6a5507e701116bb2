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

__version__ = "0.1.0"

_HOMES = {
    "build": "models", "evaluate": "training.evaluation", "linear_scan": "scans",
    "snap": "models", "task": "tasks", "train": "training", "verify": "verification",
}  # fmt: skip
__all__ = sorted(_HOMES)


def __getattr__(name: str):
    """One of the seven names, from the room where it lives."""
    if name not in _HOMES:
        raise AttributeError(f"module 'lrnnlab' has no attribute {name!r}; it gives {', '.join(__all__)}")
    return getattr(import_module(f"lrnnlab.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
