"""Call a widget's figure function over the whole range of its controls, as the tests of the chapters' pictures do."""

import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

from workbook.book.widget_sweep import ARGUMENT_ERRORS


def places(*, samples: int = 12, seed: int = 0, **ranges: Any) -> Iterator[dict[str, Any]]:
    """Every corner of the ranges, then ``samples`` places inside, the same for the same seed.

    A range is what ipywidgets makes a control of: a tuple ``(low, high)`` or ``(low, high, step)`` is a slider (whole
    numbers where both ends are), any other sequence a table of values, anything else a fixed value.

    >>> [place["p"] for place in places(p=(1, 3), samples=0)]
    [1, 3]
    >>> list(places(p=[1.0, 1.2, 2.0], block=8, samples=1, seed=0))[:2]
    [{'p': 1.0, 'block': 8}, {'p': 2.0, 'block': 8}]
    """
    ends = [dict.fromkeys((values[0], values[1] if _is_slider(values) else values[-1])) if _varies(values) else [values]
            for values in ranges.values()]  # fmt: skip
    for corner in itertools.product(*ends):
        yield dict(zip(ranges, corner))
    draw = random.Random(seed)
    for _ in range(samples):
        yield {name: _inside(values, draw) for name, values in ranges.items()}


def sweep(
    function: Callable, *, samples: int = 12, seed: int = 0, **ranges: Any
) -> list[tuple[dict[str, Any], Exception]]:
    """Call ``function`` at all :func:`places`; return the arguments at which it raised, each with what it raised.

    A figure it returns is drawn (mathtext and scales fail no sooner) and closed.

    >>> sweep(lambda n, d: n / d, n=[2], d=[0, 1], samples=0)
    [({'n': 2, 'd': 0}, ZeroDivisionError('division by zero'))]
    """
    from matplotlib import pyplot
    from matplotlib.figure import Figure

    raised: list[tuple[dict[str, Any], Exception]] = []
    for arguments in places(samples=samples, seed=seed, **ranges):
        open_before = set(pyplot.get_fignums())
        try:
            figure = function(**arguments)
            if isinstance(figure, Figure):
                figure.canvas.draw()
        except ARGUMENT_ERRORS as error:
            raised.append((arguments, error))
        finally:  # also the figure of a function that raised half way
            for number in set(pyplot.get_fignums()) - open_before:
                pyplot.close(number)
    return raised


def _varies(values) -> bool:
    return isinstance(values, (tuple, list, range)) and len(values) > 0


def _is_slider(values) -> bool:
    return isinstance(values, tuple) and len(values) in (2, 3)


def _inside(values, draw: random.Random):
    if not _varies(values):
        return values
    if not _is_slider(values):
        return draw.choice(values)
    low, high, *step = values
    whole = all(isinstance(v, int) for v in values)
    if not step:
        return draw.randint(low, high) if whole else draw.uniform(low, high)
    value = low + step[0] * draw.randint(0, int((high - low) / step[0] + 1e-9))
    return value if whole else min(value, high)
