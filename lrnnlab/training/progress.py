"""The bar that a training shows while it runs."""

from __future__ import annotations

import os
import sys

from tqdm.auto import tqdm


def progress_bar(steps: int, show: bool = True, desc: str | None = None) -> tqdm:
    """A bar of at most ``steps`` steps: drawn often where somebody looks on, seldom into a file, and never unless ``show``.
    """
    notebook = "ipykernel" in sys.modules
    widget = any(kind.__name__ == "tqdm_notebook" for kind in getattr(tqdm, "__mro__", ()))
    bar = tqdm(
        total=steps,
        desc=desc,
        unit="step",
        disable=not show or bool(os.environ.get("TQDM_DISABLE")),  # which the bar of a notebook does not ask for itself
        leave=notebook,
        mininterval=0.2 if notebook or sys.stderr.isatty() else 10.0,  # a log file wants a line now and then, no film
        **({"display": False} if widget else {}),
    )
    if widget and not bar.disable:
        from IPython.display import display

        # The widget alone, without the text that a notebook would keep of it: no second run gives that again.
        bundle = bar.container._repr_mimebundle_()
        display({mime: shown for mime, shown in bundle.items() if mime != "text/plain"}, raw=True)
    return bar


def advance(bar: tqdm, steps: int, loss: float, **more: int) -> None:
    """Show how many steps are done, and the loss."""
    bar.set_postfix(loss=f"{loss:.3f}", refresh=False, **more)
    bar.n = steps
    bar.update(0)


def finish(bar: tqdm) -> None:
    """Training is done, be it before the last step: the bar is full.  tqdm takes a bar that is not full for a failure.
    """
    bar.total = bar.n
    if hasattr(bar, "container"):  # a notebook's, whose picture has a length of its own
        bar.container.children[1].max = bar.n
