"""Public names: each in its room's ``__all__``, typed, described for numpydoc; and every example in a docstring runs."""

import doctest
import importlib
import importlib.util
import inspect
import pkgutil
import re
import warnings
from typing import get_args

import pytest

import lrnnbook
import lrnnlab
from lrnnlab.models import MODELS, Net, NetName, build, reads_numbers
from lrnnlab.tasks import TASKS, YOURS, Task, TaskName, task

docscrape = pytest.importorskip("numpydoc.docscrape")
ROOMS = ("scans", "automata", "expressivity", "tasks", "models", "training", "verification")
NAMES = [(room, name) for room in ROOMS for name in getattr(importlib.import_module(f"lrnnlab.{room}"), "__all__", ())]
MODULES = sorted(found.name for package in (lrnnlab, lrnnbook)
                 for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."))  # fmt: skip


def test_they_can_be_held_in_mind():
    assert len(set(NAMES)) == len(NAMES) <= 75  # layers have a page of their own, lrnnlab.models.layers


def test_no_name_means_two_things():
    meant, hidden = {}, []
    for module in map(importlib.import_module, ("lrnnlab", *(name for name in MODULES if not name.endswith("__main__")))):
        for name in getattr(module, "__all__", ()):
            meant.setdefault(name, {})[id(getattr(module, name))] = module.__name__
            if module.__name__.startswith("lrnnlab") and importlib.util.find_spec(f"{module.__name__}.{name}"):
                hidden.append(f"{module.__name__}.{name}")  # a module that nobody can reach
    assert not {name: sorted(homes.values()) for name, homes in meant.items() if len(homes) > 1} and not hidden


def test_an_editor_knows_which_names_make_what():
    tasks = {name for name, make in TASKS.items() if isinstance(make(), Task)}
    assert set(get_args(TaskName)) == tasks | {"s_5"} | set(YOURS)  # of the groups without end, the one that the field uses
    assert isinstance(task("s_5"), Task)
    assert set(get_args(NetName)) == {name for name in MODELS if reads_numbers(name)}
    assert all(isinstance(build(name, vocab_size=2, classes=2), Net) for name in get_args(NetName))


def faults(thing):
    """What a reader of the docstring, or of the signature, would miss or stumble over."""
    text = inspect.cleandoc(thing.__doc__ or "")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            read = docscrape.NumpyDocString(text)
        except (UserWarning, ValueError) as error:
            return [f"numpydoc: {error}"]
    given = [] if getattr(thing, "_is_protocol", False) else inspect.signature(thing).parameters.values()  # nobody makes one
    told = [name.strip().lstrip("*") for entry in read["Parameters"] for name in entry.name.split(",")]
    found = [f"no parameter of the signature: {name}" for name in told if name not in {one.name for one in given}]
    found += [f"told twice: {name}" for name in sorted(set(told)) if told.count(name) > 1]
    found += [f"no words: {entry.name}" for entry in read["Parameters"] if not entry.desc]
    found += [f"no type: {one.name}" for one in given if one.annotation is one.empty and one.name not in ("self", "cls")]
    if inspect.isfunction(thing):
        found += ["no type: what it returns"] * (inspect.signature(thing).return_annotation is inspect.Signature.empty)
        found += ["no example"] * (">>>" not in text)
    return found + ["says nothing"] * (not text)


@pytest.mark.parametrize("room", ROOMS)
def test_each_is_typed_and_described(room):
    there = importlib.import_module(f"lrnnlab.{room}")
    things = {name: inspect.unwrap(getattr(there, name)) for name in getattr(there, "__all__", ()) if callable(getattr(there, name))}
    wrong = {name: faults(thing) for name, thing in things.items()}
    assert not {name: found for name, found in wrong.items() if found}


class Finder(doctest.DocTestFinder):
    """Finds what a decorator has wrapped, too: doctest takes it to belong where the decorator does."""

    def _from_module(self, module, object):
        return super()._from_module(module, inspect.unwrap(object) if callable(object) else object)


@pytest.mark.parametrize("room", sorted({".".join(name.split(".")[:2]) for name in MODULES}))
def test_examples(room):
    runner, said = doctest.DocTestRunner(), []
    for name in MODULES:
        triton = re.match(r"lrnnlab\.scans\.triton", name) and importlib.util.find_spec("triton") is None
        if (name == room or name.startswith(f"{room}.")) and not name.endswith("__main__") and not triton:
            for test in Finder(exclude_empty=True).find(importlib.import_module(name)):
                runner.run(test, out=said.append)
    assert not runner.failures, "".join(said)
