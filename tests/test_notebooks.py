"""Every committed notebook says what its source says, and a fresh run of it says what is committed.

Two checks, each with a kernel of its own (on two cores: at once), because each sees what the other does not: nbval
compares words and whole numbers to the letter, computed with the arithmetic of this processor; ``lrnnlab.book.check``
compares pictures, floats, widgets and what was never run, computed with the sums of a plainer processor, so that
nothing is committed that only its author's machine says.  (``lrnnlab book check --arithmetic all`` has more of them.)
"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lrnnlab.book import check, drift, nbval

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


@pytest.fixture(scope="module")
def nbval_runs():
    """nbval on every notebook, one after the other, in processes of their own while this one makes the other check."""
    pool = ThreadPoolExecutor(1)
    yield {path: pool.submit(nbval, [path], ROOT / "tests" / "nbval_sanitize.cfg") for path in NOTEBOOKS}
    pool.shutdown(cancel_futures=True)


@pytest.mark.usefixtures("nbval_runs")
@every_notebook
def test_a_fresh_run_with_other_arithmetic_gives_what_is_committed(notebook):
    problems = check(notebook, say=print, arithmetic="plain")
    _fail_with(problems, f"lrnnlab book check {notebook.stem} --arithmetic plain")


@every_notebook
def test_passes_nbval(notebook, nbval_runs):
    result = nbval_runs[notebook].result()
    _fail_with([f"nbval on {notebook.name}:\n{result.stdout}{result.stderr}"] if result.returncode else [])


def _fail_with(lines, command=None):
    """What is wrong, and the command that says it again or mends it; no traceback, which would be of this file."""
    if lines:
        pytest.fail("\n".join([*map(str, lines), *([f"(alone: {command})"] if command else [])]), pytrace=False)
