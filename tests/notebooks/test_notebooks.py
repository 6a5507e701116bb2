"""Each notebook says what its source says, and a fresh run by nbval, with a plainer processor's sums, what is committed."""

import base64
import re
import subprocess
import sys
from collections import Counter
from html import unescape
from pathlib import Path

import nbformat
import pytest
import warm

from lrnnbook.content.show.output import WIDGET
from lrnnbook.machinery.book import check_notebook, drift
from lrnnbook.machinery.book.running import kernel_environment
from lrnnbook.machinery.book.sync import source_of, twin_of
from lrnnbook.machinery.copies import chapters_in

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = chapters_in(ROOT / "notebooks")
SOURCES = chapters_in(ROOT / "notebooks" / "py", ".py")

every_notebook = pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)


def test_there_are_notebooks():
    assert NOTEBOOKS, "notebooks/*.ipynb is empty: a suite that finds no notebook must not pass"


def test_every_source_has_its_notebook_and_every_notebook_its_source():
    assert NOTEBOOKS == [*map(twin_of, SOURCES)] and SOURCES == [*map(source_of, NOTEBOOKS)]


def test_the_folder_shows_the_sittings_and_what_goes_deeper_lies_below():
    shown, deeper = ([path.stem for path in sorted(folder.glob("*.ipynb"))] for folder in (ROOT / "notebooks", ROOT / "notebooks" / "deeper"))
    assert [stem[:3] for stem in shown[:-1]] == [f"{number:02d}_" for number in range(11)] and shown[-1] == "glossary"
    assert all(re.match(r"\d\d[a-z]_", stem) for stem in deeper) and len(shown) + len(deeper) == len(NOTEBOOKS)


@every_notebook
def test_every_link_of_a_text_leads_to_a_file(notebook):
    """And so does one of a map, which is an output."""
    page = nbformat.read(notebook, 4)
    texts = [cell.source for cell in page.cells if cell.cell_type == "markdown"]
    texts += [data["text/markdown"] for cell in page.cells for output in cell.get("outputs", ())
              if "text/markdown" in (data := output.get("data", {}))]  # fmt: skip
    files = [found for text in texts for found in re.findall(r"\]\(([^()#\s:]+\.\w+)(?:#[^)]*)?\)", text)]
    assert files and not [file for file in files if not (notebook.parent / file).is_file()]


@every_notebook
def test_says_what_its_source_says(notebook):
    differences = drift(source_of(notebook), notebook)
    _fail_with(differences, f"lrnnlab book build {notebook.stem}")


RAW = re.compile(r"(?<!\w)[A-Za-z]_(?:\d+|[a-z])(?!\w)|\w\^\w|\bR2\b|[<>]=|(?<![\w)*])\*\w[^*<]*\*")
SHOWN_ONCE = re.compile(r"<figcaption[^>]*>(.*?)</figcaption>|<caption[^>]*>(.*?)</caption>|<img[^>]* alt=\"([^\"]*)\"", re.S)


def pages(notebook):
    """The HTML that its cells show."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            yield "".join(output.get("data", {}).get("text/html", ""))


def raw(html):
    """Mathematics and emphasis that a page shows as they are typed; code may."""
    return RAW.findall(unescape(re.sub(r"<[^>]*>", "  ", re.sub(r"<code>.*?</code>|<img[^>]*>", "", html, flags=re.DOTALL))))


@every_notebook
def test_captions_and_alternative_texts_stand_once_and_mathematics_is_typeset(notebook):
    shown = list(pages(nbformat.read(notebook, 4)))
    texts = Counter("".join(found) for html in shown for found in SHOWN_ONCE.findall(html))
    _fail_with([f"stands {count} times: {text}" for text, count in texts.items() if count > 1])
    _fail_with([f"not typeset: {', '.join(found)}" for html in shown if (found := raw(html))])


def test_what_is_not_typeset_is_seen():
    typed = "<th>S_3</th><td>10^5, R2 &gt;= .9</td><caption>*Not* so, x_t of `A_t`</caption>"
    assert raw(typed) == ["S_3", "0^5", "R2", ">=", "*Not*", "x_t", "A_t"]
    assert raw("<td>S<sub>3</sub>, (aa)* and (abab)*</td><code>A_t</code><img alt='x_t'>") == []


@pytest.fixture(scope="module")
def warm_python():
    with warm.python(kernel_environment("plain")) as program:
        yield program


@pytest.mark.thorough
@every_notebook
def test_a_fresh_run_with_other_arithmetic_gives_what_is_committed(notebook, warm_python, monkeypatch):
    monkeypatch.setattr(sys, "executable", warm_python)  # of nbval, and of the kernel that it starts
    problems = check_notebook(notebook, say=print, arithmetic="plain")
    _fail_with(problems, f"lrnnlab book check {notebook.stem} --arithmetic plain")


@pytest.mark.parametrize("notebook", [path for path in NOTEBOOKS if not re.match(r"\d\d[a-z]_", path.stem)], ids=lambda path: path.stem)
def test_nbval_alone_and_strict_finds_nothing(notebook):
    """As anybody runs it: no plugin of ours, no sanitizing, nothing in the environment.  (The check of a lettered notebook
    makes nbval's own comparison, too.)"""
    call = [sys.executable, "-m", "pytest", "--nbval", "-o", "addopts=", "-p", "no:cacheprovider", "-p", "no:xdist", "-q", notebook.name]
    told = subprocess.run(call, cwd=notebook.parent, capture_output=True, text=True, check=False)
    assert told.returncode == 0 and re.search(r"^\d+ passed in", told.stdout, re.M), told.stdout + told.stderr


IMAGE = re.compile(r'<img alt="[^"]+" src="data:image/png;base64,([^"]+)"')
LARGEST_STILL = 60_000  # bytes


@every_notebook
def test_a_panel_s_stored_output_shows_how_it_opens(notebook):
    """A picture of it that says what it shows; of a prediction, what there is to choose from."""
    for cell in nbformat.read(notebook, 4).cells:
        for data in (output.get("data", {}) for output in cell.get("outputs", ())):
            if data.get("text/plain") == WIDGET:
                still = data.get("text/html", "")
                assert "<li>" in still if cell.source.rstrip().endswith(")") else IMAGE.search(still), cell.source
                assert all(len(base64.b64decode(found)) <= LARGEST_STILL for found in IMAGE.findall(still)), cell.source


def _fail_with(lines, command=None):
    """What is wrong, and the command that says it again or mends it; no traceback, which would be of this file."""
    if lines:
        pytest.fail("\n".join([*map(str, lines), *([f"(alone: {command})"] if command else [])]), pytrace=False)
