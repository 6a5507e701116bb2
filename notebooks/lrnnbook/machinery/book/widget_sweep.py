"""Move a widget's controls through their values: a headless run of a notebook draws the first of each alone."""

import itertools
from typing import Any

# What a figure function raises on arguments it cannot draw.  Anything else (memory, files, imports) is no finding
# about the arguments and goes through.
ARGUMENT_ERRORS = (
    ArithmeticError, AssertionError, AttributeError, LookupError, NameError, RuntimeError, TypeError, ValueError,
)  # fmt: skip


MAX_VALUES = 9  # of one control; of a longer one the ends and what lies evenly between


def sweep_explorers(namespace: dict[str, Any]) -> list[str]:
    """Move every control of every ``Explorer`` among ``namespace``'s values from one end to the other; say what raised."""
    from lrnnbook.content.show.widgets import Explorer

    explorers, seen = {}, set()
    for name, value in list(namespace.items()):  # a widget that ends a cell is also _, __ and _9: once is enough
        if isinstance(value, Explorer) and id(value) not in seen:
            seen.add(id(value))
            explorers[name] = value
    return [f"{name}: {fault}" for name, explorer in explorers.items() for fault in _move_controls(explorer)]


def _move_controls(explorer) -> list[str]:
    opened, faults = explorer.values, []
    tables = {name: _offered(control) for name, control in explorer.controls.items()}
    ends = [dict.fromkeys((values[0], values[-1])) for values in tables.values()]
    wanted = [{**opened, name: value} for name, values in tables.items() for value in values]
    for values in [*wanted, *(dict(zip(tables, corner)) for corner in itertools.product(*ends)), opened]:
        for name, control in explorer.controls.items():
            try:
                control.value = values[name]
            except ARGUMENT_ERRORS as error:
                faults.append(f"{explorer.values} raised {type(error).__name__}: {error}")
    return list(dict.fromkeys(faults))


def _offered(control) -> list:
    """Values of a control that offers some; for a text box what it holds, nothing, and nonsense."""
    if hasattr(control, "options"):
        values = [option[1] if isinstance(option, tuple) else option for option in control.options]
        step = (len(values) - 1) / (MAX_VALUES - 1)
        return values if len(values) <= MAX_VALUES else [values[round(step * i)] for i in range(MAX_VALUES)]
    return [control.value, "", "\N{SNOWMAN}"]
