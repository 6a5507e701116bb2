"""What stands behind the notebooks, in two parts; ``lrnnlab`` is the library and knows nothing of either.

``content`` grows with the book: tables of recorded runs, pictures (``show``), chapters, exercises.  ``machinery`` does not:
the book's build and site, grading, benchmarks, the command.  A notebook writes ``from lrnnbook import show, tables``.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lrnnbook.content import chapters, exercises, show, tables

__all__ = ["chapters", "exercises", "show", "tables"]


def __getattr__(name: str):
    """A part of the content, loaded when it is asked for: the command and a student's fence do without most."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.content.{name}")
