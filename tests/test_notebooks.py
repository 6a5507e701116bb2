"""Every committed notebook says what its source says, and a fresh run of it says what is committed.

Each chapter runs once, by nbval (``lrnnlab.book.strict``): words and whole numbers are compared to the letter,
pictures, floats, widgets and what was never run as :mod:`lrnnlab.book` says.  It runs with the sums of a plainer
processor, so that nothing is committed that only its author's machine says.  (``lrnnlab book check --arithmetic all``
has more of them.)
"""

from pathlib import Path

import pytest

from lrnnlab.book import check, drift

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SOURCES = sorted((ROOT / "notebooks" / "py").glob("*.py"))

every_notebook = pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)


def test_there_are_notebooks():
    assert NOTEBOOKS, "notebooks/*.ipynb is empty: a suite that finds no notebook must not pass"


def test_every_source_has_its_notebook_and_every_notebook_its_source():
    assert [path.stem for path in NOTEBOOKS] == [path.stem for path in SOURCES]


@every_notebook
def test_says_what_its_source_says(notebook):
    differences = drift(ROOT / "notebooks" / "py" / f"{notebook.stem}.py", notebook)
    _fail_with(differences, f"lrnnlab book build {notebook.stem}")


@every_notebook
def test_a_fresh_run_with_other_arithmetic_gives_what_is_committed(notebook):
    problems = check(notebook, say=print, arithmetic="plain")
    _fail_with(problems, f"lrnnlab book check {notebook.stem} --arithmetic plain")


def _fail_with(lines, command=None):
    """What is wrong, and the command that says it again or mends it; no traceback, which would be of this file."""
    if lines:
        pytest.fail("\n".join([*map(str, lines), *([f"(alone: {command})"] if command else [])]), pytrace=False)
