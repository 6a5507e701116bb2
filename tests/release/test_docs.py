"""Every example in a docstring runs and prints what it says."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import lrnnlab

MODULES = sorted(
    found.name for found in pkgutil.walk_packages(lrnnlab.__path__, "lrnnlab.") if not found.name.endswith(".__main__")
)


class Finder(doctest.DocTestFinder):
    """Finds what a decorator has wrapped, too: doctest takes it to belong where the decorator does."""

    def _from_module(self, module, object):
        return super()._from_module(module, inspect.unwrap(object) if callable(object) else object)


def examples(name):
    """The docstrings of a module that hold examples."""
    found = Finder(exclude_empty=True).find(importlib.import_module(name))
    return [test for test in found if test.examples]


@pytest.mark.parametrize("name", ["lrnnlab", *MODULES])
def test_examples(name):
    if name.startswith("lrnnlab.scans.triton"):
        pytest.importorskip("triton")
    runner, said = doctest.DocTestRunner(), []
    for test in examples(name):
        runner.run(test, out=said.append)
    assert not runner.failures, "".join(said)


def test_examples_are_found():
    """The collection itself works: these modules have examples, and a wrong one is noticed."""
    assert {"lrnnlab.scans", "lrnnlab.models.base", "lrnnlab.training", "lrnnlab.automata"} <= set(MODULES)
    for name in ("lrnnlab.scans", "lrnnlab.training.loop", "lrnnlab.automata.machines"):
        assert examples(name)
    decorated = {"lrnnlab.scans": "linear_scan", "lrnnlab.training.evaluation": "evaluate", "lrnnlab.training.restarts": "fit"}
    for name, function in decorated.items():
        assert f"{name}.{function}" in {test.name for test in examples(name)}
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    assert doctest.DocTestRunner().run(wrong, out=lambda text: None).failed == 1
