"""Every public function says the types of all that it takes, and of what it gives."""

import ast
from pathlib import Path

import pytest

import lrnnlab

ROOT = Path(lrnnlab.__file__).parent


def public(tree):
    """The functions of a module that it does not hide, and those of its public classes."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public(node)
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node


def untyped(source):
    """What is missing, as ``function: argument``, or ``function: return``."""
    for function in public(ast.parse(source)):
        given = function.args
        named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
        named += [one for one in (given.vararg, given.kwarg) if one is not None]
        missing = [one.arg for one in named if one.annotation is None and one.arg not in ("self", "cls")]
        yield from (f"{function.name}: {name}" for name in missing + ["return"] * (function.returns is None))


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_public_functions_are_typed(path):
    assert not list(untyped(path.read_text(encoding="utf-8")))


def test_an_untyped_function_is_noticed():
    assert list(untyped("def f(x, *, y: int, **z): ...")) == ["f: x", "f: z", "f: return"]
    assert list(untyped("class A:\n    def f(self, *x) -> int: ...")) == ["f: x"]
    assert not list(untyped("def _f(x): ...\nclass _A:\n    def f(self, x): ...\ndef g(x: int) -> int: ..."))
