"""Docstrings that describe parameters are read by numpydoc: one parameter an entry, and each one that there is."""

import importlib
import inspect
import pkgutil
import re
import warnings

import pytest

import lrnnlab

docscrape = pytest.importorskip("numpydoc.docscrape")

MODULES = sorted(
    found.name for found in pkgutil.walk_packages(lrnnlab.__path__, "lrnnlab.") if not found.name.endswith(".__main__")
)
TWO = re.compile(r"\w+ : .*\S {2,}\*{0,2}\w[\w, ]* : ")  # ``name : ...   name : ...``


def public(module):
    """(name, function, class or property) of what a module defines and does not hide, and of what its classes do."""
    for name, thing in vars(module).items():
        if name.startswith("_") or not callable(thing) or getattr(thing, "__module__", "") != module.__name__:
            continue
        if inspect.isclass(thing):
            yield name, thing
            for method, what in vars(thing).items():
                what = getattr(what, "__func__", what)  # of a class method
                if not method.startswith("_") and (inspect.isfunction(what) or isinstance(what, property)):
                    yield f"{name}.{method}", what
        elif inspect.isfunction(inspect.unwrap(thing)):
            yield name, thing


def faults(thing):
    """What numpydoc, or a reader, would stumble over in the docstring of ``thing``."""
    text = inspect.cleandoc(thing.__doc__ or "")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            read = docscrape.NumpyDocString(text)
        except (UserWarning, ValueError) as error:
            return [f"numpydoc: {error}"]
    lines = [line for line in text.splitlines() if not line.lstrip().startswith((">>>", "..."))]
    found = [f"two parameters in one line: {line.strip()}" for line in lines if TWO.search(line)]
    try:
        there = set(inspect.signature(inspect.unwrap(thing)).parameters)
    except (TypeError, ValueError):  # of a property, or of what is not Python's
        there = set()
    told = [name.strip().lstrip("*") for entry in read["Parameters"] for name in entry.name.split(",")]
    found += [f"no parameter of the signature: {name}" for name in told if name not in there]
    found += [f"told twice: {name}" for name in sorted(set(told)) if told.count(name) > 1]
    started = [line.partition(" : ")[0] for line in lines if " : " in line]
    hidden = [name.strip() for start in started for name in start.split(",")]
    found += [f"outside of Parameters: {name}" for name in hidden if name in there - set(told)]
    return found + [f"no words: {entry.name}" for entry in read["Parameters"] if not entry.desc]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings_are_read_by_numpydoc(name):
    if name.startswith("lrnnlab.scans.triton"):
        pytest.importorskip("triton")
    wrong = {what: faults(thing) for what, thing in public(importlib.import_module(name))}
    assert not {what: found for what, found in wrong.items() if found}


def test_public_names_are_found():
    """Of decorated functions, data classes, methods, class methods and properties too."""
    names = {f"{name}.{what}" for name in ("lrnnlab.scans", "lrnnlab.models.block_diagonal", "lrnnlab.training.recipes")
             for what, _ in public(importlib.import_module(name))}  # fmt: skip
    assert names >= {
        "lrnnlab.scans.linear_scan", "lrnnlab.training.recipes.Phase", "lrnnlab.models.block_diagonal.BlockDiagonal",
        "lrnnlab.models.block_diagonal.BlockDiagonal.of_width", "lrnnlab.models.block_diagonal.BlockDiagonal.width",
        "lrnnlab.models.block_diagonal.BlockDiagonal.transition",
    }  # fmt: skip


HEAD = "What it does.\n\nParameters\n----------\n"
WRONG = {
    HEAD + "x : D.      y : N.": "two parameters in one line",
    HEAD + "x : int\n    D.\nz : int\n    N.": "no parameter of the signature: z",
    HEAD + "x : int\n    D.\n\nA sentence that numpydoc takes for a parameter.": "no parameter of the signature",
    HEAD + "x : int\n    D.\n\nParameters\n----------\ny : int\n    N.": "numpydoc:",
    HEAD + "x : int\n    D.\nx : int\n    D.": "told twice: x",
    HEAD + "x : D.": "no words: x",
    "What it does.\n\nx : how large.": "outside of Parameters: x",
    "What it does.\n\nx, y : how large.": "outside of Parameters: y",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_docstring_is_noticed(text):
    def function(x, y):
        return x, y

    function.__doc__ = HEAD + "x : int\n    D.  (The papers' d.)\ny : int\n    N.\n\nReturns\n-------\ntuple\n    Both."
    assert faults(function) == []
    function.__doc__ = text
    assert any(found.startswith(WRONG[text]) for found in faults(function)), faults(function)
