"""Digests of the code that a run goes through: to tell whether a record was made by what would make it today.

*Of ours*: each name that a definition uses is looked up in its module, or where that imports it from, and so on; of a mapping
of names (``MODELS``), only the entries that a table names.  The files in which definitions lie do not count.  *Of others* (a
model of your own): the files of the module that defines it and of those that it imports.  Comments, docstrings, annotations
and what is raised do not count.
"""

import ast
import hashlib
import json
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from types import CodeType
from typing import Any

OURS = ("lrnnlab", "lrnnbook")
LEFT_OUT = {
    "lrnnlab.validation",
    "lrnnlab.files",
    "lrnnbook.content.tables.code",
    "lrnnbook.content.tables.declared",
    "lrnnbook.content.tables.records",
}  # no number depends on these
LIBRARIES = [sysconfig.get_path(one) for one in ("stdlib", "purelib", "platlib")]
DO_NOT_COUNT = ("annotation", "returns", "ctx", "type_params", "type_comment")


def same(source: str | None, now: str, known: list[str]) -> bool:
    """Whether the code of a record (None: older than digests) is known to give the same numbers as today's, ``now``."""
    return source == now or (now in known and (source is None or source in known))


def of_table(module: str, said: Any) -> str:
    """A digest of all that a table's module leads to; ``said`` is its declaration, which names models and tasks."""
    roots = [*((module, name) for name in _bound(module)), ("lrnnlab.training", "deterministic")]
    return _digest(_reached(roots, frozenset(_words(said))))


def of_others(registries: Iterable[Mapping[str, Any]], said: Any) -> str | None:
    """A digest of the code of the models and tasks that ``said`` names and the package does not ship; None if there are none."""
    makers = [(name, part) for one in registries for name, maker in one.items() for part in _parts(maker)]
    others = [(name, part.__module__) for name, part in makers if _is_others(getattr(part, "__module__", None))]
    words = {*_words(said)} if others else set()
    todo = seen = {module for name, module in others if name in words}
    while todo:
        todo = {one for module in todo for one in _imported(module) if _is_others(one)} - seen
        seen = seen | todo
    return _digest(text for module in seen for text in _whole(module)) if seen else None


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted({*texts})).encode(errors="surrogatepass")).hexdigest()[:16]


def _words(said: Any) -> Iterator[str]:
    """All strings in nested plain data, keys too."""
    if isinstance(said, str):
        yield said
    elif isinstance(said, (Mapping, list, tuple)):
        for one in (*said, *said.values()) if isinstance(said, Mapping) else said:
            yield from _words(one)


def _parts(maker: Any) -> Iterator[Any]:
    """The functions and classes that make a model: two of ``partial(network, MyRule)``."""
    if isinstance(maker, partial):
        for part in (maker.func, *maker.args, *maker.keywords.values()):
            yield from _parts(part)
    else:
        yield maker


def _is_others(module: str | None) -> bool:
    """Whether a module is neither of this package, nor Python's, nor an installed one's."""
    if module is None or module.partition(".")[0] in OURS:
        return False
    if module == "__main__":
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is not None and not any(Path(file).is_relative_to(one) for one in LIBRARIES)


def _imported(module: str) -> set[str]:
    """The modules that a module imports."""
    tree = _tree(module) or ast.Module([], [])
    found = [
        source
        for one in ast.walk(tree)
        if isinstance(one, (ast.Import, ast.ImportFrom))
        for _, source in _imports(one, module)
    ]
    return {name for source in found for name in (source[0], ".".join(filter(None, source)))}


def _whole(module: str) -> Iterator[str]:
    """The code of somebody else's module: its file, or, in a notebook, the compiled code of its definitions."""
    tree = _tree(module)
    if tree is not None:
        yield json.dumps(_plain(tree, set()))
    for name, one in [] if tree else [*vars(sys.modules[module]).items()]:
        if getattr(one, "__module__", None) == module:
            for part in vars(one).values() if isinstance(one, type) else [one]:
                yield from (f"{name} {text}" for text in _compiled(getattr(part, "__code__", None)))


def _compiled(code: CodeType | None) -> Iterator[str]:
    if code is not None:
        yield repr(
            (
                code.co_name,
                code.co_code,
                code.co_names,
                [one for one in code.co_consts if not isinstance(one, CodeType)],
            )
        )
        for one in code.co_consts:
            yield from _compiled(one if isinstance(one, CodeType) else None)


def _tree(module: str) -> ast.Module | None:
    """The parsed file of a module; None where there is none."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None and module != "__main__":
        try:
            spec = find_spec(module)
        except ImportError:  # of what is above it
            return None
        file = spec and spec.origin
    return ast.parse(Path(file).read_bytes()) if file and file.endswith(".py") else None


@cache
def _bound(module: str) -> dict[str, list[Any]]:
    """What binds each name of a module of ours: a statement, or the module and the name that are imported."""
    tree = _tree(module) if module.partition(".")[0] in OURS else None
    if tree is None:
        return {}
    found: dict[str, list[Any]] = {}
    for statement in _statements(tree.body):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            for name, source in _imports(statement, module):
                found.setdefault(name, []).append(source)
        else:
            names = [
                one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
            ]
            for name in [statement.name] if hasattr(statement, "name") else names or [""]:
                found.setdefault(name, []).append(statement)
    return found


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, also those within ``if`` and ``try``."""
    for one in body:
        if isinstance(one, (ast.If, ast.Try)):
            yield from _statements([*one.body, *one.orelse, *getattr(one, "finalbody", [])])
        elif not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)):  # a docstring
            yield one


def _imports(statement: ast.Import | ast.ImportFrom, module: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Name -> the module, and what of it (``""``: the module itself)."""
    for one in statement.names:
        if isinstance(statement, ast.Import):
            yield one.asname or one.name.partition(".")[0], (one.name if one.asname else one.name.partition(".")[0], "")
        else:
            above = module.rsplit(".", statement.level)[0] if statement.level else ""
            yield one.asname or one.name, (".".join(filter(None, (above, statement.module))), one.name)


def _reached(roots: list[tuple[str, str]], words: frozenset[str]) -> Iterator[str]:
    """The texts of all definitions to which ``roots`` lead; of registries, of the entries that ``words`` name."""
    todo, seen = [*roots], {*roots}
    while todo:
        module, name = todo.pop()
        for what in _bound(module).get(name, ()) if module not in LEFT_OUT else ():
            found: list[tuple[str, str]] = []
            if isinstance(what, tuple):
                found = [what if what[1] in _bound(what[0]) else (".".join(filter(None, what)), "")]
            for node in _asked_for(what, words) if isinstance(what, ast.AST) else ():
                text, uses = _read(node)
                yield text
                found += [place for use in uses for place in _places(module, *use)]
                found += [
                    source
                    for one in ast.walk(node)
                    if isinstance(one, ast.ImportFrom)
                    for _, source in _imports(one, module)
                ]
            todo += {*found} - seen
            seen.update(found)


def _places(module: str, name: str, attribute: str) -> Iterator[tuple[str, str]]:
    """Where ``name``, or ``name.attribute`` of a module that is called ``name``, is bound."""
    yield module, name
    for what in _bound(module).get(name, ()):
        if attribute and isinstance(what, tuple):
            yield ".".join(filter(None, what)), attribute


def _asked_for(statement: ast.AST, words: frozenset[str]) -> Iterator[ast.AST]:
    """A definition; of a registry only the entries that ``words`` name, and those without a name (``**others``)."""
    value = getattr(statement, "value", None)
    if not isinstance(value, ast.Dict) or not any(isinstance(key, ast.Constant) for key in value.keys):
        yield statement
    else:
        for key, one in zip(value.keys, value.values):
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str) or key.value in words:
                yield one


@cache
def _read(node: ast.AST) -> tuple[str, frozenset[tuple[str, str]]]:
    """A definition without what does not count, as text; and the names, and attributes of names, that it uses."""
    uses: set[tuple[str, str]] = set()
    return json.dumps(_plain(node, uses)), frozenset(uses)


def _plain(node: Any, uses: set[tuple[str, str]]) -> Any:
    """A tree as plain data; adds to ``uses`` the names, and attributes of names, that it reads."""
    if isinstance(node, list):
        return [_plain(one, uses) for one in node if not isinstance(one, (ast.Import, ast.ImportFrom))]
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.Raise):
        return ["Raise"]
    if isinstance(node, ast.Name):
        uses.add((node.id, ""))
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        uses.add((node.value.id, node.attr))
    fields = {
        name: value for name, value in ast.iter_fields(node) if value not in (None, []) and name not in DO_NOT_COUNT
    }
    documented = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
        fields["body"] = node.body[1:]
    return [type(node).__name__, *([name, _plain(value, uses)] for name, value in fields.items())]
