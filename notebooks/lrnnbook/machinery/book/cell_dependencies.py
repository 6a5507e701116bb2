"""Which cells of a chapter depend on which: the cells that a widget needs, and cells that could not run again.

A chapter takes minutes from top to bottom, its widgets seconds: the site needs only the widgets.  And a reader runs single
cells again when all have run: what a cell reads must not have been bound anew since.
"""

import ast
import builtins
import contextlib
import dis
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

from nbformat import NotebookNode

from lrnnbook.content.exercises.building import MAGIC
from lrnnbook.machinery.book.running import is_code
from lrnnbook.machinery.book.sync import read_source


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
    """What a cell does to which global names, as far as its text says.  Changed in place counts what comes first in a statement
    that is only a call (``rows.append(1)``, ``fit(model)``, but not ``print``), and what is assigned into (``table["a"] = 1``).
    """
    tree = ast.parse(MAGIC.sub("", code))
    imported = {(alias.asname or alias.name).partition(".")[0] for node in ast.walk(tree)
                if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names}  # fmt: skip
    changes = {name for node in ast.walk(tree) for name in _changed_by(node)} - imported
    binds = {node.target.id for node in ast.walk(tree) if isinstance(node, ast.NamedExpr)}  # from within loops, too
    reads, later = _read(compile(tree, "cell", "exec"), binds)
    known = set(dir(builtins)) - binds
    return Names(*map(frozenset, (binds, reads - known, later - known, changes, imported)))


def _read(block: CodeType, binds: set[str]) -> tuple[set[str], set[str]]:
    """The names that a piece of bytecode reads before it binds them, and those that its functions read; adds to ``binds``."""
    reads: set[str] = set()
    later: set[str] = set()
    for step in dis.get_instructions(block):
        if step.opname.startswith("STORE_NAME"):
            binds.add(step.argval)
        elif step.opname in {"LOAD_NAME", "LOAD_GLOBAL"} and step.argval not in binds:
            reads.add(step.argval)
        elif step.opname == "LOAD_CONST" and isinstance(step.argval, CodeType):
            at_once, inside = _read(step.argval, set())
            loops = step.argval.co_name.endswith("comp>") or step.argval.co_name == "<genexpr>"
            reads |= at_once - binds if loops else set()
            later |= inside if loops else at_once | inside
    return reads, later


def bound_again(codes: Sequence[str]) -> list[tuple[int, str, int]]:
    """(cell, name, later cell): the cell, run again alone, would read what the later one has put under the name."""
    cells = [names(code) for code in codes]
    binders: dict[str, list[int]] = {}
    imported: set[str] = set()
    for i, cell in enumerate(cells):
        for name in cell.binds - (cell.imported & imported):  # a build cell brings its imports: the same thing again
            binders.setdefault(name, []).append(i)
        imported |= cell.imported
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
    codes = {i: MAGIC.sub("", cell.source) for i, cell in enumerate(notebook.cells) if is_code(cell)}
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
