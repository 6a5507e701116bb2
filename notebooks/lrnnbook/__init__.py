"""What the notebooks call, in two parts; ``lrnnlab`` is the library and knows nothing of either.

``content`` grows with the book: tables of recorded runs, pictures (``show``), chapters, exercises.  ``machinery`` does not:
the book's build and site, grading, benchmarks, the command.  A notebook writes ``from lrnnbook import show, tables``.
"""

from importlib import import_module
from typing import TYPE_CHECKING

import lrnnlab

if TYPE_CHECKING:
    from lrnnbook.content import chapters, exercises, show, tables

__all__ = ["chapters", "exercises", "needs", "show", "tables"]


def __getattr__(name: str):
    """A part of the content, loaded when it is asked for: the command and a student's fence do without most."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return import_module(f"{__name__}.content.{name}")
    except ModuleNotFoundError as error:
        raise without_extra(error) from error


def needs(version: str) -> None:
    """RuntimeError unless the installed ``lrnnlab`` is of the ``version`` (its first numbers) that a notebook was written for.

    >>> needs("0.1")
    """
    if f"{lrnnlab.__version__}.".startswith(f"{version}."):
        return
    raise RuntimeError(f"this notebook needs lrnnlab {version}, here is {lrnnlab.__version__}: run bootstrap.py")


def without_extra(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """The error of a package that comes with the extra ``book``, with what to type; any other as it is."""
    if str(error.name).partition(".")[0] in ("lrnnlab", "lrnnbook"):
        return error
    said = f"the book needs {error.name}, which is not installed: pip install 'lrnnlab[book]'"
    return ModuleNotFoundError(said, name=error.name)
