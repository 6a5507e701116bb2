"""Which cells of a chapter depend on which: the cells that a widget needs, and cells that could not run again.

A chapter takes minutes from top to bottom, its widgets seconds: the site needs only the widgets.  And a reader runs single
cells again when all have run: what a cell reads must not have been bound anew since.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import symtable
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from workbook.book.running import is_code
from workbook.book.sync import read_source


@dataclass(frozen=True)
class Names:
    """The global names of one cell: those it ``binds``, ``reads`` from cells before it, reads ``later`` (in the body of a
    function), and ``changes`` in place; ``imported`` are bound."""

    binds: frozenset[str]
    reads: frozenset[str]
    later: frozenset[str]
    changes: frozenset[str]
    imported: frozenset[str]


def names(code: str) -> Names:
    """What a cell does to which global names, as far as its text says.

    Changed in place counts what stands first in a statement that is only a call (``rows.append(1)``, ``fit(model)``,
    but not ``print``), and what is assigned into (``table["a"] = 1``).
    """
    tree, walk = ast.parse(code), _Walk()
    walk.visit(tree)
    changes = {name for node in ast.walk(tree) for name in _changed_by(node)} - walk.imported
    known = set(dir(builtins)) - walk.binds
    return Names(*map(frozenset, (walk.binds, walk.reads - known, walk.later - known, changes, walk.imported)))


class _Walk(ast.NodeVisitor):
    """Visit statements in the order in which they run; a branch that may be left out binds nothing for what follows."""

    def __init__(self) -> None:
        self.binds, self.bound, self.reads, self.later, self.imported = (set() for _ in range(5))
        self.loops: list[set[str]] = []  # the names of comprehensions around, which are no globals

    def visit_Name(self, node: ast.Name) -> None:
        if any(node.id in loop for loop in self.loops):
            return
        if not isinstance(node.ctx, ast.Load):
            self._bind(node.id)
        elif node.id not in self.bound:
            self.reads.add(node.id)

    def _bind(self, name: str) -> None:
        self.binds.add(name)
        self.bound.add(name)

    def _all(self, *parts: ast.AST | list | None) -> None:
        for part in parts:
            for node in part if isinstance(part, list) else [part]:
                if node is not None:
                    self.visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._all(node.value, node.targets)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._all(node.value, node.target)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self._all(node.value, node.target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name) and node.target.id not in self.bound:
            self.reads.add(node.target.id)
        self._all(node.value, node.target)

    def visit_For(self, node: ast.For) -> None:
        self._all(node.iter, node.target, node.body, node.orelse)  # a loop over nothing is not thought of

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        before = set(self.bound)
        self._all(node.body)
        then, self.bound = self.bound, before
        self._all(node.orelse)
        self.bound &= then

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self._bind((alias.asname or alias.name).partition(".")[0])
            self.imported.add((alias.asname or alias.name).partition(".")[0])

    visit_ImportFrom = visit_Import

    def visit_ListComp(self, node: Any) -> None:
        loops = node.generators
        self.visit(loops[0].iter)
        self.loops.append({one.id for loop in loops for one in ast.walk(loop.target) if isinstance(one, ast.Name)})
        for loop in loops:
            self._all(None if loop is loops[0] else loop.iter, loop.ifs)
        self._all(*(getattr(node, part, None) for part in ("key", "value", "elt")))
        self.loops.pop()

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    def visit_Lambda(self, node: ast.Lambda | ast.FunctionDef | ast.ClassDef) -> None:
        arguments = getattr(node, "args", None)
        self._all(getattr(node, "decorator_list", None), getattr(node, "bases", None))
        if arguments is not None:
            self._all(arguments.defaults, arguments.kw_defaults)
        inner = symtable.symtable(ast.unparse(node), "cell", "exec")
        found = {symbol.get_name() for table in _inside(inner) for symbol in table.get_symbols() if symbol.is_global()}
        self.later |= found - set().union(*self.loops)
        if hasattr(node, "name"):
            self._bind(node.name)

    visit_FunctionDef = visit_ClassDef = visit_Lambda


def _inside(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _inside(child)


def bound_again(codes: Sequence[str]) -> list[tuple[int, str, int]]:
    """(cell, name, later cell): the cell, run again alone, would read what the later one has put under the name."""
    cells = [names(code) for code in codes]
    binders: dict[str, list[int]] = {}
    for i, cell in enumerate(cells):
        for name in cell.binds:
            binders.setdefault(name, []).append(i)
    found = []
    for i, cell in enumerate(cells):
        used = any(cell.binds & (other.reads | other.later) for other in (*cells[:i], *cells[i + 1 :]))
        for name in sorted(cell.reads | cell.later):
            # What only functions read that nobody else uses, and the cell binds itself, is there when it runs again.
            alone = name not in cell.reads and name in cell.binds and not used
            first = i if name in cell.reads else i + 1
            there = name in cell.reads or name in cell.binds or binders.get(name, [i])[0] < i
            after = [j for j in binders.get(name, ()) if j >= first]
            if after and there and not alone:
                found.append((i, name, after[-1]))
    return found


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
    """Positions of the cells that cell ``last`` needs, itself included, in their order."""
    cells = [names(code) for code in codes[: last + 1]]
    imports = frozenset().union(*(cell.imported for cell in cells))  # show.figure(...) does not change show
    wanted, kept = set(cells[last].reads | cells[last].later), [last]
    for i in range(last - 1, -1, -1):
        if wanted & (cells[i].binds | (cells[i].changes - imports)):
            wanted = (wanted - cells[i].binds) | cells[i].reads | cells[i].later
            kept.append(i)
    return kept[::-1]


def widget_cells(notebook: NotebookNode) -> dict[int, str]:
    """Position -> name, of the cells that show a widget: their last word is a name like ``a_widget``."""
    found = {}
    for i, cell in enumerate(notebook.cells):
        lines = cell.source.split() if is_code(cell) else []
        if lines and lines[-1].isidentifier() and lines[-1].endswith("_widget"):
            found[i] = lines[-1]
    return found


def widgets(source: Path, only: Iterable[str] | None = None) -> dict[str, Any]:
    """Name -> widget of a chapter (those of ``only``, or all), made by running the cells they need, in this process."""
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
