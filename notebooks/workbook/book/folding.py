"""Which code is folded, in JupyterLab and on a page: what its author hides, the imports, and what only draws."""

from __future__ import annotations

import ast

from nbformat import NotebookNode

DRAWS = {"explore", "figure", "table"}  # explore(...), show.figure(...), show.table(...)
READS = {"recorded", "read"}  # ch08.recorded(...), records.read(...)
HIDDEN = {"hide-input", "hide_input"}  # tags of other makers of books


def folded(cell: NotebookNode) -> str:
    """What the closed fold over a cell's code says; empty where the code stays in view.

    Folded are cells that carry Jupyter's own ``jupyter: {source_hidden: true}`` or one of the tags of :data:`HIDDEN`;
    cells that import (and compare versions, warm up, say that they are ready) and do nothing else; and cells that only
    draw: they call ``show.figure(...)``, ``show.table(...)`` or ``explore(...)``, or make a widget, perhaps if or for
    each of something, and beside that they read records, name constants and print a sentence.
    ``source_hidden: false`` keeps a cell open.

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
    try:
        body = ast.parse(cell.source).body
    except SyntaxError:  # a magic
        body = []
    if any(map(_imports, body)) and all(_imports(part) or _greets(part) for part in body):
        return f"Code: imports, {lines}"
    if any(map(_draws, body)) and all(_draws(part) or _stands_by(part) for part in body):
        return f"Code of the picture, {lines}"
    return f"Code, {lines}" if hidden or HIDDEN & set(cell.metadata.get("tags", ())) else ""


def fold(notebook: NotebookNode) -> NotebookNode:
    """The notebook, in which Jupyter's own mark now stands at each code cell that is :func:`folded`."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and folded(cell):
            cell.metadata["jupyter"] = NotebookNode(source_hidden=True)
    return notebook


def _imports(part: ast.stmt) -> bool:
    return isinstance(part, ast.Import | ast.ImportFrom)


def _greets(part: ast.stmt) -> bool:
    """A constant, the comparison of versions, or a call such as ``print`` or ``scans.warm``."""
    if isinstance(part, ast.If):
        return all(isinstance(one, ast.Raise) for one in part.body) and not part.orelse
    value = getattr(part, "value", None)
    return isinstance(value, ast.Constant) or (isinstance(part, ast.Expr) and isinstance(value, ast.Call))


def _draws(part: ast.stmt) -> bool:
    if isinstance(part, ast.If | ast.For):
        return all(map(_draws, part.body)) and not part.orelse
    if isinstance(part, ast.Assign):
        return _called(part) in DRAWS or (bool(_called(part)) and ast.unparse(part.targets[0]).endswith("_widget"))
    return isinstance(part, ast.Expr) and _called(part) in DRAWS


def _stands_by(part: ast.stmt) -> bool:
    """A name in a line of its own, which shows it; a constant; records that are read; a sentence that is printed."""
    value = getattr(part, "value", None)
    if isinstance(part, ast.Expr):
        return isinstance(value, ast.Name) or _called(part) == "print"
    if not isinstance(part, ast.Assign):
        return False
    return _called(part) in READS or not any(isinstance(one, ast.Call | ast.Name) for one in ast.walk(part.value))


def _called(part: ast.stmt) -> str:
    """The name of the function that a line calls, without what it belongs to; empty where it calls none."""
    call = getattr(part, "value", None)
    return getattr(call.func, "attr", getattr(call.func, "id", "")) if isinstance(call, ast.Call) else ""
