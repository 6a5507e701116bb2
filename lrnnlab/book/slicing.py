"""The widgets of a chapter without the rest of it: the cells that a widget needs, and no others.

A chapter takes two minutes from top to bottom, its widgets take seconds: a static page that shows them at other values,
and a browser that moves their sliders, need only the widgets.
"""

from __future__ import annotations

import ast
import contextlib
import io
import symtable
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from lrnnlab.book.drifting import read_source
from lrnnlab.book.running import is_code


@dataclass(frozen=True)
class Names:
    """The global names of one cell: those it ``binds``, ``reads``, and ``changes`` in place; ``imported`` are bound."""

    binds: frozenset[str]
    reads: frozenset[str]
    changes: frozenset[str]
    imported: frozenset[str]


def names(code: str) -> Names:
    """What a cell does to which global names, as far as its text says.

    Changed in place counts what stands first in a statement that is only a call (``rows.append(1)``, ``fit(model)``,
    but not ``print``), and what is assigned into (``table["a"] = 1``).  A function that changes its argument and
    returns something is not seen.

    >>> found = names("import math\\ndef area(r): return math.pi * r * scale\\nrows.append(area(2))")
    >>> sorted(found.binds), sorted(found.reads), sorted(found.changes)
    (['area', 'math'], ['area', 'math', 'rows', 'scale'], ['rows'])
    """
    tree = ast.parse(code)
    table = symtable.symtable(ast.unparse(_Generators().visit(ast.parse(code))), "cell", "exec")
    top = {symbol.get_name(): symbol for symbol in table.get_symbols()}
    binds = {name for name, symbol in top.items() if symbol.is_assigned() or symbol.is_imported()}
    reads = {name for name, symbol in top.items() if symbol.is_referenced()}
    reads |= {symbol.get_name() for inner in _inside(table) for symbol in inner.get_symbols() if symbol.is_global()}
    imported = {name for name, symbol in top.items() if symbol.is_imported()}
    nodes = list(ast.walk(tree))
    reads |= {one.target.id for one in nodes if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name)}
    changes = {name for node in nodes for name in _changed_by(node)} - imported
    return Names(frozenset(binds), frozenset(reads), frozenset(changes), frozenset(imported))


class _Generators(ast.NodeTransformer):
    """Comprehensions as generators: Python 3.12 and later count the names of a comprehension's loop with those around it."""

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp) -> ast.AST:
        return self.generic_visit(ast.GeneratorExp(node.elt, node.generators))

    visit_SetComp = visit_ListComp

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        return self.generic_visit(ast.GeneratorExp(ast.Tuple([node.key, node.value], ast.Load()), node.generators))


def _inside(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _inside(child)


def _changed_by(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        if isinstance(call.func, ast.Name):
            return [one.id for one in call.args if isinstance(one, ast.Name)] if call.func.id != "print" else []
        return _root(call.func)
    targets = {ast.Assign: "targets", ast.AugAssign: "target", ast.Delete: "targets"}.get(type(node))
    if targets is None:
        return []
    found = getattr(node, targets)
    found = found if isinstance(found, list) else [found]
    return [name for one in found if not isinstance(one, ast.Name) for name in _root(one)]


def _root(node: ast.AST) -> list[str]:
    """``table`` of ``table["a"].rows``."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return [node.id] if isinstance(node, ast.Name) else []


def needed(codes: Sequence[str], last: int) -> list[int]:
    """Positions of the cells that cell ``last`` needs, itself included, in their order.

    >>> needed(["a = 1", "b = slow()", "c = a + 1", "print(c)"], 3)
    [0, 2, 3]
    """
    cells = [names(code) for code in codes[: last + 1]]
    imports = frozenset().union(*(cell.imported for cell in cells))  # show.figure(...) does not change show
    wanted, kept = set(cells[last].reads), [last]
    for i in range(last - 1, -1, -1):
        if wanted & (cells[i].binds | (cells[i].changes - imports)):
            wanted = (wanted - cells[i].binds) | cells[i].reads
            kept.append(i)
    return kept[::-1]


def widget_cells(notebook: NotebookNode) -> dict[int, str]:
    """Position among all cells -> name, of the cells that show a widget: their last word is a name like ``a_widget``.

    >>> from nbformat.v4 import new_code_cell, new_notebook
    >>> widget_cells(new_notebook(cells=[new_code_cell("a = 1"), new_code_cell("a_widget = a\\na_widget")]))
    {1: 'a_widget'}
    """
    found = {}
    for i, cell in enumerate(notebook.cells):
        lines = cell.source.split() if is_code(cell) else []
        if lines and lines[-1].isidentifier() and lines[-1].endswith("_widget"):
            found[i] = lines[-1]
    return found


def widgets(source: Path, only: Iterable[str] | None = None) -> dict[str, Any]:
    """Name -> widget of a chapter, made by running the cells they need, in this process; what they print is dropped.

    ``only`` : names; default: all of them.  What a cell raises is raised.

    >>> sorted(widgets(Path("notebooks/py/03_parallel_scans.py")))  # doctest: +SKIP
    ['race_widget', 'schedule_widget', 'times_widget']
    """
    notebook = read_source(Path(source))
    places = {i: name for i, name in widget_cells(notebook).items() if only is None or name in set(only)}
    codes = {i: cell.source for i, cell in enumerate(notebook.cells) if is_code(cell)}
    order = list(codes)
    kept = {order[j] for i in places for j in needed(list(codes.values()), order.index(i))}
    space: dict[str, object] = {"__name__": "__main__"}
    found = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for i in sorted(kept):
            exec(compile(codes[i], f"{Path(source).name}, cell {i + 1}", "exec"), space)  # noqa: S102  (the book's own)
            if i in places:
                found[places[i]] = space[places[i]]
    return found
