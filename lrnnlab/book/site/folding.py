"""Which code a page folds: what its author hides in JupyterLab, the imports, and what only draws."""

from __future__ import annotations

import ast

from nbformat import NotebookNode

DRAWS = {"explore", "figure"}  # explore(...), show.figure(...)
HIDDEN = {"hide-input", "hide_input"}  # tags of other makers of books


def folded(cell: NotebookNode) -> str:
    """What the closed fold over a cell's code says; empty where the code stays in view.

    Folded are cells that carry Jupyter's own ``jupyter: {source_hidden: true}`` or one of the tags of :data:`HIDDEN`;
    cells that import (and compare versions, warm up, say that they are ready) and do nothing else; and cells that
    only call ``show.figure(...)`` or ``explore(...)``.  ``source_hidden: false`` keeps a cell open.

    Parameters
    ----------
    cell : NotebookNode
        A code cell.

    Examples
    --------
    >>> from nbformat.v4 import new_code_cell
    >>> folded(new_code_cell("import torch\\nprint('ready')"))
    'Code: imports, 2 lines'
    >>> folded(new_code_cell("import torch\\nx = torch.ones(2)"))
    ''
    """
    lines = f"{cell.source.count(chr(10)) + 1} lines" if "\n" in cell.source else "1 line"
    hidden = cell.metadata.get("jupyter", {}).get("source_hidden")
    if hidden is False or not cell.source.strip():
        return ""
    if hidden or HIDDEN & set(cell.metadata.get("tags", ())):
        return f"Code, {lines}"
    try:
        body = ast.parse(cell.source).body
    except SyntaxError:  # a magic: its author wants it seen
        return ""
    if any(map(_imports, body)) and all(_imports(part) or _greets(part) for part in body):
        return f"Code: imports, {lines}"
    if any(map(_draws, body)) and all(_draws(part) or _names(part) for part in body):
        return f"Code of the picture, {lines}"
    return ""


def _imports(part: ast.stmt) -> bool:
    return isinstance(part, ast.Import | ast.ImportFrom)


def _greets(part: ast.stmt) -> bool:
    """A constant, the comparison of versions, or a call such as ``print`` or ``scans.warm``."""
    if isinstance(part, ast.If):
        return all(isinstance(one, ast.Raise) for one in part.body) and not part.orelse
    value = getattr(part, "value", None)
    return isinstance(value, ast.Constant) or (isinstance(part, ast.Expr) and isinstance(value, ast.Call))


def _draws(part: ast.stmt) -> bool:
    call = getattr(part, "value", None)
    if not isinstance(part, ast.Expr | ast.Assign) or not isinstance(call, ast.Call):
        return False
    return getattr(call.func, "attr", getattr(call.func, "id", "")) in DRAWS


def _names(part: ast.stmt) -> bool:
    """The widget's name in a line of its own, which shows it."""
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Name)
