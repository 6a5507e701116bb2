"""The text of the chapters: what it tells a reader to call is there, and every renderer reads it alike."""

import ast
import builtins
import re
from pathlib import Path

import jupytext
import pytest

from lrnnbook.content.exercises.hints import HEADER
from lrnnbook.machinery.book.cell_dependencies import names
from lrnnbook.machinery.book.running import is_code
from lrnnbook.machinery.copies import chapters_in

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
CHAPTERS = chapters_in(NOTEBOOKS / "py", ".py")
SOURCES = [*CHAPTERS, *sorted((NOTEBOOKS / "assignments").rglob("*.py"))]
CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
FORMULA = re.compile(r"\$\$.+?\$\$|(?<!\\)\$[^$]+\$", re.DOTALL)
BLOCK_MARK = re.compile(r"\n[ \t]*(?:>|[-+*]\s|[-+]|#|\d+[.)]\s)")  # a renderer may begin a quotation, list or heading
RUN_IN_HEAD = re.compile(r"^(?!\s*(?:>\s*)?$|\s*[-*>|]*\s*$)[^\n]+\n(?=(?:> )?\*\*[A-Z][^*\n]*\.\*\*)", re.MULTILINE)


def texts(source):
    return [cell.source for cell in jupytext.read(source).cells if cell.cell_type == "markdown"]


def defined(source):
    """The names that the cells bind, and Python's own."""
    codes = [cell.source for cell in jupytext.read(source).cells if is_code(cell)]
    return set(dir(builtins)).union(*(names(code).binds for code in codes))


def told(text):
    """The functions that a text calls by their bare names, in code that is Python."""
    for _, code in CODE.findall(text):
        try:
            tree = ast.parse(code.strip(), mode="eval")
        except SyntaxError:
            continue
        yield from (node.func.id for node in ast.walk(tree)
                    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))  # fmt: skip


def broken_formulas(text):
    """Formulas of which a later line begins like a quotation, a list or a heading: renderers disagree where they end."""
    prose = CODE.sub(lambda found: "x" * len(found[0]), text)
    return [found[0] for found in FORMULA.finditer(prose) if BLOCK_MARK.search(found[0])]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_what_the_text_tells_a_reader_to_call_is_defined_in_the_chapter(chapter):
    called = {name for text in texts(chapter) for name in told(text)}
    assert {"hint", "solution"} <= called or not any(map(HEADER.search, texts(chapter)))
    assert called <= defined(chapter)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_no_formula_is_broken_by_a_sign_that_begins_a_line(source):
    assert [one for text in texts(source) for one in broken_formulas(text)] == []


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_every_step_of_a_proof_begins_a_paragraph(source):
    assert [found[0] for text in texts(source) for found in RUN_IN_HEAD.finditer(text)] == []


@pytest.mark.parametrize("text, broken", [
    ("> so $x = y$ and\n> $z$", 0), ("> so $x =\n> y$", 1), ("$a\n+ b$", 1), ("$$a\n-b$$", 1), ("$$\na\n$$", 0),
    ("costs `$5`\n> and $x$", 0), ("$x =\n2. y$", 1), ("$x =\n2.5$", 0),
])  # fmt: skip
def test_a_broken_formula_is_seen(text, broken):
    assert len(broken_formulas(text)) == broken


@pytest.mark.parametrize("text, runs_on", [
    ("**Step 1.** One.\n**Step 2.** Two.", True), ("**Step 1.** One.\n\n**Step 2.** Two.", False),
    ("> **A.** One.\n>\n> **B.** Two.", False), ("> **A.** One.\n> **B.** Two.", True),
    ("we say\n**never** so", False),
])  # fmt: skip
def test_a_step_that_runs_on_is_seen(text, runs_on):
    assert bool(RUN_IN_HEAD.search(text)) == runs_on
