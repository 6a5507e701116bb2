"""What cells say of themselves: a badge says how strong a step is, and a measured number is printed, not that it is small."""

import ast
import re
from pathlib import Path

import jupytext
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from lrnnbook.machinery.copies import chapters_in

SOURCES = [path for path in chapters_in(Path(__file__).parents[2] / "notebooks" / "py", ".py") if path.stem[0].isdigit()]
# In the name of a step, or as a word of its own: **Step 2 (all cases).** ... **Sample:** fifty draws.
BADGE = re.compile(r"\*\*[^*\n]*\((all cases|sample)\b|\*\*(all\s+cases|sample)\b", re.IGNORECASE)
ASKS = {
    "all cases": re.compile(r"\bsp\.(symbols|Symbol|MatrixSymbol|Function)\("),
    "sample": re.compile(r"default_rng|randMatrix|randint|randn|Generator\(|\bdraw|\bseed"),
}


def tags(cell):
    return {tag for tag in cell.metadata.get("tags", ()) if tag.startswith("proof-")}


def unearned(cells):
    """The badges whose cells, with those of the same proof before them, have not what the badge asks for."""
    for i, cell in enumerate(cells):
        badges = BADGE.findall(cell.source) if cell.cell_type == "markdown" else []
        below = next((j for j in range(i + 1, len(cells)) if cells[j].cell_type == "markdown"), len(cells))
        proof = set().union(*map(tags, cells[i + 1 : below]))
        run = [other.source for other in cells[:below] if proof & tags(other)]
        for badge in (" ".join((named or alone).lower().split()) for named, alone in badges):
            if proof and not ASKS[badge].search("\n".join(run)):
                yield badge, cell.source


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_a_badge_is_earned(source):
    assert list(unearned(jupytext.read(source).cells)) == []


@pytest.mark.parametrize("text, code, earned", [
    ("**Step 1 (all cases).** So.", "x = sp.Symbol('x')", True), ("**Step 1 (all cases).** So.", "x = range(5)", False),
    ("So it is. **All\ncases.**", "x = range(5)", False), ("**Step 2 (all 25 cases).** So.", "x = range(5)", True),
    ("**Sample:** six leaks.", "x = (10, 30)", False), ("**Step 4 (sample).**", "draw = np.random.default_rng(0)", True),
    ("**All $n \\le 6$.**", "x = range(7)", True),
])  # fmt: skip
def test_an_unearned_badge_is_seen(text, code, earned):
    cells = [new_markdown_cell(text), new_code_cell(code, metadata={"tags": ["proof-one"]})]
    assert (list(unearned(cells)) == []) == earned


def thresholds(code):
    """The formatted values of a cell that are a comparison by size, as in ``f"below .1: {error < 0.1}"``, whole or in bool()."""
    for node in ast.walk(ast.parse(re.sub(r"\A%%.*\n", "", code))):  # without the magic of a build cell
        inner = node.value if isinstance(node, ast.FormattedValue) else None
        while isinstance(inner, ast.Call):
            inner = inner.args[0] if inner.args else inner.func.value if isinstance(inner.func, ast.Attribute) else None
        parts = inner.values if isinstance(inner, ast.BoolOp) else [inner]
        if any(isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.Lt | ast.Gt | ast.LtE | ast.GtE) for part in parts):
            yield ast.unparse(node.value)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_cells_print_numbers_and_not_that_they_are_small(source):
    assert [found for cell in jupytext.read(source).cells if cell.cell_type == "code" for found in thresholds(cell.source)] == []


@pytest.mark.parametrize("code, seen", [
    ('print(f"below .1: {error < 0.1}")', True), ('print(f"all: {bool((x.abs() < 1).all())}")', True),
    ('print(f"{a > 1 and b < 2}")', True), ('print(f"error {error:.2g}, the same: {a == b}")', False),
    ('print(f"{many} net{\'s\' * (many > 1)}")', False), ('print(f"{sum(x > 0.9 for x in found)} of 8")', False),
])  # fmt: skip
def test_a_printed_threshold_is_seen(code, seen):
    assert bool(list(thresholds(code))) == seen
