"""The static site: two chapters built from what is committed, and every fault of a page planted and found."""

import argparse
import base64
import errno
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from html import unescape
from itertools import product
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from packaging.specifiers import SpecifierSet
from PIL import Image

from workbook.book import BookError, main
from workbook.book.cell_dependencies import names, needed, widget_cells, widgets
from workbook.book.command import add_arguments
from workbook.book.folding import folded
from workbook.book.outputs import WIDGET_VIEW
from workbook.book.site import build, building, faults
from workbook.book.site.faults import read
from workbook.book.site.flipbooks import book_html, flipbook
from workbook.book.site.launch_buttons import BRANCH, INSTALL
from workbook.book.site.pages import Place, body, contents, framed, mathml
from workbook.book.site.searching import sections
from workbook.book.site.style import sheet
from workbook.book.sync import drift, source_of
from workbook.chapters.ch02 import growth, growth_sentence
from workbook.show.output import few_colours
from workbook.show.widgets import explore

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
TWO = NOTEBOOKS[:2]
P, B = [1.0, 1.1, 1.2, 2.0], [2, 8]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    build(TWO, folder, books=False)
    return folder


def test_the_package_has_pages_beside_the_chapters(tmp_path, monkeypatch):
    """One module stands for all: the whole package takes pdoc half a minute."""
    whole = building.reference
    monkeypatch.setattr(building, "reference", lambda: whole("lrnnlab", "lrnnlab.scans", "!lrnnlab.", "lrnnlab.validation"))
    build(TWO[:1], tmp_path / "site", books=False, api=True)
    assert 'href="api/lrnnlab.html"' in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    page = (tmp_path / "site" / "api" / "lrnnlab" / "errors.html").read_text(encoding="utf-8")
    assert "whole_number" in page or "def" in page
    assert [str(fault) for fault in faults(tmp_path / "site")] == []


# --- the book's own pages --------------------------------------------------------------------------------------------


def test_the_pages_have_no_fault(site):
    assert [str(fault) for fault in faults(site)] == []


def test_every_picture_of_the_notebooks_arrives_with_its_words(site):
    for notebook in TWO:
        shown = read(site / f"{notebook.stem}.html")
        stored = [output.data["text/html"] for cell in nbformat.read(notebook, 4).cells
                  for output in cell.get("outputs", []) if "text/html" in output.get("data", {})]  # fmt: skip
        assert sum(html.count("<img ") for html in stored) == len(shown.pictures) > 0
        assert all(len(alt) > 40 for alt in shown.pictures)


def test_formulas_are_mathml_with_their_latex_beside(site):
    text = (site / "01_subtraction.html").read_text(encoding="utf-8")
    assert text.count("<math ") == text.count('alttext="') > 100 and "$$" not in text


def test_the_index_leads_to_every_page_and_neighbours_to_each_other(site):
    first, second = (f"{notebook.stem}.html" for notebook in TWO)
    assert set(read(site / "index.html").links) == {first, second}
    assert second in read(site / first).links and first in read(site / second).links
    assert "02_block_diagonal_lrnn.html" not in read(site / first).links  # has no page here: plain text


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_formula_of_the_book_can_be_converted(notebook):
    assert body(nbformat.read(notebook, 4))


def test_a_folder_of_somebody_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("years")
    with pytest.raises(BookError, match="holds 'thesis.txt', which is not a site of ours"):
        build(TWO, tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "years"


@pytest.mark.parametrize("kind", ["a file", "a file below", "a folder of git", "a link", "the folder is a link", "the new folder is one",
                                  "the folder is a file"])  # fmt: skip
def test_what_was_added_to_a_site_is_left_alone(site, tmp_path, kind):
    """Also in a folder that we made: a site that is published by git has more in it than pages."""
    place, thesis = tmp_path / "site", tmp_path / "thesis"
    shutil.copytree(site, place)
    thesis.mkdir()
    (thesis / "one.txt").write_text("years")
    if kind == "a link":
        (place / "thesis").symlink_to(thesis)
    elif kind == "the folder is a link":
        place.rename(tmp_path / "elsewhere")
        place.symlink_to(tmp_path / "elsewhere")
    elif kind == "the new folder is one":
        (tmp_path / ".site.lrnnlab-new").symlink_to(thesis)
    elif kind == "the folder is a file":
        shutil.rmtree(place)
        place.write_text("years")
    else:
        added = place / {"a file": "CNAME", "a file below": "notebooks/mine.ipynb", "a folder of git": ".git/HEAD"}[kind]
        added.parent.mkdir(exist_ok=True)
        added.write_text("years")
    before = everything(tmp_path)
    with pytest.raises(BookError, match="not a site of ours|is a link"):
        build(TWO[:1], place, books=False)
    assert everything(tmp_path) == before


def everything(folder):
    return {path.relative_to(folder): path.is_symlink() or (path.is_file() and path.read_bytes()) for path in folder.rglob("*")}


SAVED = {  # metadata.widgets as one or the other program has saved it
    "Colab": {"application/vnd.jupyter.widget-state+json": {"0ab": {"model_module": "@jupyter-widgets/controls", "state": {}}}},
    "JupyterLab": {"application/vnd.jupyter.widget-state+json": {"state": {}, "version_major": 2, "version_minor": 0}},
    "another type": {"application/vnd.example+json": {"state": {}}},
    "ipywidgets 5": {"state": {"0ab": {"views": []}}, "version": "1.1.2"},
    "empty": {}, "nothing": None, "a list": [],
}  # fmt: skip


@pytest.mark.parametrize("program", SAVED)
def test_a_notebook_saved_elsewhere_becomes_a_page_and_is_told(site, tmp_path, program):
    path = tmp_path / "notebooks" / TWO[0].name
    (path.parent / "py").mkdir(parents=True)
    shutil.copy(source_of(TWO[0]), path.parent / "py")
    saved = json.loads(TWO[0].read_text(encoding="utf-8"))
    saved["metadata"]["widgets"] = SAVED[program]
    path.write_text(json.dumps(saved), encoding="utf-8")
    told = set(drift(source_of(path), path)) - set(drift(source_of(path), TWO[0]))
    assert told == {"the twin holds what Colab or JupyterLab saved of its widgets, which a build leaves out"}
    build([path], tmp_path / "site", books=False)
    build(TWO[:1], tmp_path / "wanted", books=False)
    assert content(tmp_path / "site") == content(tmp_path / "wanted")


def test_building_twice_gives_the_same_files_and_keeps_none_of_the_old(site, tmp_path):
    build([TWO[0], NOTEBOOKS[4]], tmp_path, books=False)
    assert (tmp_path / f"{NOTEBOOKS[4].stem}.html").is_file()
    build(TWO, tmp_path, books=False)
    assert content(tmp_path) == content(site)


def content(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_full_disk_leaves_the_old_site_as_it_was(tmp_path, monkeypatch):
    build(TWO[:1], tmp_path / "site", books=False)
    before, write_bytes = content(tmp_path), Path.write_bytes

    def full(path, data):
        if path.name == "index.html":
            raise OSError(errno.ENOSPC, "No space left on device")
        write_bytes(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        build(TWO, tmp_path / "site", books=False)
    assert content(tmp_path) == before and [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_site_that_cannot_be_put_in_its_place_leaves_the_old_one_there(tmp_path, monkeypatch):
    build(TWO[:1], tmp_path / "site", books=False)
    before, rename = content(tmp_path), Path.rename

    def refused(path, target):
        if path.name.endswith("new"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(PermissionError):
        build(TWO, tmp_path / "site", books=False)
    assert content(tmp_path) == before and [path.name for path in tmp_path.iterdir()] == ["site"]


KILLED = """
import os, signal, sys
from pathlib import Path
from urllib.parse import unquote
from workbook.book.site import build

verb, last, notebook, out = sys.argv[1:]
real = getattr(Path, verb)


def until(path, *more):
    if path.name.endswith(last):
        os.kill(os.getpid(), signal.SIGKILL)
    return real(path, *more)


setattr(Path, verb, until)
build([Path(notebook)], Path(out), books=False)
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
@pytest.mark.parametrize("verb, last", [("write_bytes", "index.html"), ("rename", "lrnnlab-new")])
def test_a_site_that_is_killed_leaves_the_old_one_to_the_next(site, tmp_path, verb, last):
    """Killed while the last page is written, and between the two steps that put the new site in the old one's place."""
    build([TWO[0], NOTEBOOKS[4]], tmp_path / "site", books=False)
    before = content(tmp_path)
    call = [sys.executable, "-c", KILLED, verb, last, str(TWO[0]), str(tmp_path / "site")]
    assert subprocess.run(call, timeout=300).returncode == -signal.SIGKILL
    [whole] = [folder for folder in tmp_path.iterdir() if content(folder) == before]
    assert whole.name == ("site" if verb == "write_bytes" else ".site.lrnnlab-old")
    with pytest.raises(FileNotFoundError):
        build([tmp_path / "none.ipynb"], tmp_path / "site")
    assert content(tmp_path / "site") == before
    build(TWO, tmp_path / "site", books=False)
    assert content(tmp_path) == content(site) and [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_site_is_not_taken_from_under_our_feet(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BookError, match="you are in it"):
        build(TWO, Path("."), books=False)


@pytest.mark.parametrize("views", [True, False], ids=["with its view", "without"])
def test_a_widget_that_jupyterlab_saved_is_named_and_not_shown(tmp_path, capsys, views):
    saved, stem = nbformat.read(NOTEBOOKS[1], 4), NOTEBOOKS[1].stem
    i = next(i for i, cell in enumerate(saved.cells) if "interactive panel" in str(cell.get("outputs", "")))
    output = next(one for one in saved.cells[i].outputs if "interactive panel" in str(one))
    output.data = {"text/plain": "Explorer(children=(Box(children=(Dropdown(description='task'"}
    output.data |= {WIDGET_VIEW: {"model_id": "1f", "version_major": 2, "version_minor": 0}} if views else {}
    (tmp_path / "notebooks" / "py").mkdir(parents=True)
    nbformat.write(saved, tmp_path / "notebooks" / f"{stem}.ipynb")
    assert main(["site", "--root", str(tmp_path), "--out", str(tmp_path / "site"), "01"]) == 1
    said = capsys.readouterr().err
    assert f"{stem}, cell {i + 1} (In [" in said and f"lrnnlab book build {stem} mends it" in said
    assert not (tmp_path / "site").exists()


def test_a_picture_pasted_into_a_text_cell_is_named(tmp_path):
    cells = [new_markdown_cell("# Title\n\n![a sheet](attachment:a.png)", attachments={"a.png": {"image/png": ""}})]
    nbformat.write(new_notebook(cells=cells), tmp_path / "one.ipynb")
    with pytest.raises(BookError, match="one: the pasted picture attachment:a.png"):
        build([tmp_path / "one.ipynb"], tmp_path / "site", books=False)


@pytest.mark.parametrize("call", ["site 00 --out {}", "site --out {} 00", "--out {} site 00"])
def test_the_command(tmp_path, capsys, call):
    options = call.format(tmp_path / "site").split()
    assert main([*options, "--root", str(ROOT)]) == 0
    assert "index.html: no problem" in capsys.readouterr().out
    assert not (tmp_path / "site" / "01_subtraction.html").exists()


@pytest.mark.parametrize("repository", [None, "some-one/workbook.book"])
def test_a_page_can_be_run_elsewhere(tmp_path, repository):
    build(TWO, tmp_path, books=False, repository=repository)
    for notebook in TWO:
        links = [link for link in read(tmp_path / f"{notebook.stem}.html").links if f"{notebook.stem}.ipynb" in link]
        whole, copy = (nbformat.read(path, 4) for path in (notebook, tmp_path / "notebooks" / notebook.name))
        if repository:
            first = copy.cells.pop(0).source
            assert f"https://github.com/{repository} " in first and len(links) == 3
            assert f"github/{repository}/blob/colab/{notebook.name}" in links[0]
            assert f"gh/{repository}/HEAD?labpath=notebooks%2F{notebook.name}" in links[1]
        assert copy == whole and links[-1] == f"notebooks/{notebook.name}"
    assert [str(fault) for fault in faults(tmp_path)] == []


def test_a_repository_is_an_owner_and_a_name(tmp_path, capsys):
    call = ["site", "00", "--root", str(ROOT), "--out", str(tmp_path / "site"), "--repository", "https://github.com/a/b"]
    assert main(call) == 1 and "owner/name" in capsys.readouterr().err
    assert not (tmp_path / "site").exists()


def test_colab_s_first_cell_does_nothing_where_the_workbook_is_and_installs_it_elsewhere(monkeypatch):
    """Its commands are written down and not run: there is no network."""
    from IPython.core.interactiveshell import InteractiveShell

    shell, asked = InteractiveShell(), []
    monkeypatch.setattr(shell, "system", asked.append)
    monkeypatch.setattr(shell, "run_line_magic", lambda name, line, *_: asked.append(f"{name} {line}"))
    cell, path = INSTALL.format(repository="someone/book"), list(sys.path)
    try:
        shell.run_cell(cell).raise_error()
        assert asked == [] and sys.path == path
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        shell.run_cell(cell).raise_error()
        assert sys.path == ["lrnnlab_workbook", *path]
    finally:
        sys.path[:] = path
    clone, install = (call.split() for call in asked)
    assert clone[:2] == ["git", "clone"] and clone[-2:] == ["https://github.com/someone/book", "lrnnlab_workbook"]
    assert install[:2] == ["pip", "install"] and install[-2:] == ["-e", "./lrnnlab_workbook"]


def test_what_github_and_binder_are_told_can_be_done():
    job = yaml.safe_load((ROOT / ".github" / "workflows" / "site.yml").read_text())["jobs"]["site"]
    *made, last = [step["run"] for step in job["steps"] if "run" in step and "env" not in step]
    program, verb, *call = last.replace("${{ github.repository }}", "owner/name").split()
    book = argparse.ArgumentParser()
    add_arguments(book)
    options = book.parse_args(call)
    assert made[0] == "python bootstrap.py env" and (program, verb) == (".venv/bin/lrnnlab", "book")
    [path] = [step["with"]["path"] for step in job["steps"] if "path" in step.get("with", {})]
    assert (options.verb, str(options.out), options.repository) == ("site", path, "owner/name")
    after = ROOT / ".binder" / "postBuild"
    assert os.access(after, os.X_OK) and subprocess.run(["bash", "-n", after]).returncode == 0
    wanted = re.search(r'requires-python = "(.+)"', (ROOT / "pyproject.toml").read_text())[1]
    version = (ROOT / ".binder" / "runtime.txt").read_text().strip().removeprefix("python-")
    assert SpecifierSet(wanted).contains(version)


def test_the_workflow_puts_the_notebooks_where_colab_is_sent(site, tmp_path):
    """Its step is run, and pushes into a repository of this machine."""
    job = yaml.safe_load((ROOT / ".github" / "workflows" / "site.yml").read_text())["jobs"]["site"]
    [step] = [step for step in job["steps"] if "env" in step]
    (tmp_path / "build").mkdir()
    shutil.copytree(site, tmp_path / "build" / "site")
    subprocess.run(["git", "init", "-q", "--bare", "remote"], cwd=tmp_path, check=True)
    for _ in range(2):  # the second time the branch is there
        shutil.rmtree(tmp_path / "build" / "colab", ignore_errors=True)
        environ = {**os.environ, "REMOTE": str(tmp_path / "remote")}
        subprocess.run(["bash", "-e", "-c", step["run"]], cwd=tmp_path, env=environ, check=True)
    listed = subprocess.run(["git", "ls-tree", "--name-only", BRANCH], cwd=tmp_path / "remote", capture_output=True, text=True, check=True)
    assert listed.stdout.split() == [notebook.name for notebook in TWO]
    assert str(yaml.safe_load((ROOT / ".github" / "workflows" / "site.yml").read_text())["permissions"]["contents"]) == "write"


# --- colours, keyboard, telephones -----------------------------------------------------------------------------------


def luminance(colour):
    """WCAG's relative luminance of #rrggbb, #rgb or "white"."""
    colour = {"white": "#ffffff"}.get(colour, colour).removeprefix("#")
    colour = "".join(2 * digit for digit in colour) if len(colour) == 3 else colour
    parts = (int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def pairs(css):
    """theme -> {(selector, colour of text, background)}; where a rule has no background, both of the page's."""
    dark = "".join(re.findall(r"@media screen and \(prefers-color-scheme: dark\) {\n(.*?)^}", css, re.DOTALL | re.MULTILINE))
    light, found = re.sub(r"@media [^{]*{\n.*?^}", "", css, flags=re.DOTALL | re.MULTILINE), {}
    for theme, text in (("light", light), ("dark", light + dark)):
        known = dict(re.findall(r"--(\w+): (#\w+)", text))  # what comes later counts
        rules = dict(re.findall(r"^ *([^{}@]+?) {([^{}]*)}", text, re.MULTILINE))
        found[theme] = set()
        for selector, rule in rules.items():
            said = dict(re.findall(r"(?:^|[;\s])(color|background(?:-color)?): *(#\w+|var\(--\w+\)|white)", rule))
            if "color" not in said:
                continue
            own = said.get("background", said.get("background-color"))
            colours = [known[c[6:-1]] if c.startswith("var") else c for c in (said["color"], own) if c]
            behind = colours[1:] or [known["paper"], known["tint"]]
            found[theme] |= {(selector, colours[0], one) for one in behind}
    return found


def test_every_text_can_be_read_in_both_themes():
    for theme, found in pairs(sheet()).items():
        assert len(found) > 80, theme
        assert {one for one in found if contrast(*one[1:]) < 4.5} == set(), theme
    light, dark = ({one for one in found if ".highlight" in one[0]} for found in pairs(sheet()).values())
    assert len({colour for _, colour, _ in light}) > 6 and not light & dark


@pytest.mark.parametrize("rule", [
    "a { color: #999999; }\n", ".x { color: #ffffff; background: #eeeeee; }\n", ":root { --way: #bbbbbb; }\n",
    "@media screen and (prefers-color-scheme: dark) {\n.highlight .k { color: #0000ff }\n}\n",
])  # fmt: skip
def test_a_pale_text_is_seen(rule):
    found = pairs(sheet() + rule)
    assert any(contrast(*one[1:]) < 4.5 for one in found["light"] | found["dark"])


def test_contrast_by_hand():
    assert contrast("#000", "white") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.478, abs=1e-3)


def test_landmarks_and_headers_have_names_of_their_own(site):
    for page in site.glob("*.html"):
        html = page.read_text(encoding="utf-8")
        landmarks = re.findall(r'<nav[^>]* aria-label="([^"]+)"', html)
        assert len(landmarks) == len(set(landmarks)) == (0 if page.name == "index.html" else 3)
        assert not re.search(r"<th\b[^>]*>\s*</th>", html)
    table = "| | paper |\n|---|---|\n| a | 1 |"
    assert "<th></th>" not in body(new_notebook(cells=[new_markdown_cell(table)]))


# --- contents, folds, search -----------------------------------------------------------------------------------------


def test_the_contents_lead_to_every_section(site):
    for notebook in TWO:
        html = (site / f"{notebook.stem}.html").read_text(encoding="utf-8")
        wanted = re.findall(r'<h[23] id="([^"]*)"', html)
        listed = html.partition('<nav class="contents"')[2].partition("</nav>")[0]
        assert [unquote(at) for at in re.findall(r'href="#([^"]*)"', listed)] == list(map(unescape, wanted)) and len(wanted) > 5
    assert contents("<h1>A</h1>") == ""


def test_a_section_with_a_formula_in_its_heading_is_listed_too():
    text = "## 1 What it can\n\n## 2 What it cannot: $(aa)^*$"
    html = body(new_notebook(cells=[new_markdown_cell(text)]))
    listed = contents(html)
    assert "ns0" not in html and listed.count("<li") == html.count("<h2 ") == 2 and listed.count('<math alttext="(aa)^*"') == 1


@pytest.mark.parametrize(
    "code, said",
    [
        ("import math", "Code: imports, 1 line"),
        ("import math\nfrom lrnnlab import scans\nA = '0.1'\nif A:\n    raise ValueError\nscans.warm()", "Code: imports, 6 lines"),
        ("import math\nx = math.pi", ""),
        ("import math\nx = math.exp(1)", ""),
        ("import math\n\ndef f():\n    pass", ""),
        ("print('ready')", ""),
        ("show.figure(\n    f(7), alt='A.'\n)", "Code of the picture, 3 lines"),
        ("a_widget = explore(f, {'p': [1]})\na_widget", "Code of the picture, 2 lines"),
        ("show.table(f())", "Code of the picture, 1 line"),
        ("here = ch08.recorded('a/b')\nif here:\n    show.figure(f(here))\nprint('so')", "Code of the picture, 4 lines"),
        ("a_widget = ch02.a_widget(net)\na_widget", "Code of the picture, 2 lines"),
        ("opened = {'p': 1.2}\nshow.figure(f(**opened))", "Code of the picture, 2 lines"),
        ("net = train()\nshow.figure(f(net))", ""),
        ("for seed in range(2):\n    net = train(seed)\n    show.figure(f(net))", ""),
        ("show.table(f())\nassert sure", ""),
        ("a = 1\na", ""),
        ("%timeit f()", ""),
        ("", ""),
    ],
)
def test_what_only_imports_or_draws_is_folded(code, said):
    assert folded(new_code_cell(code)) == said


@pytest.mark.parametrize(
    "metadata, code, said",
    [
        ({"jupyter": {"source_hidden": True}}, "x = 1", "Code, 1 line"),
        ({"tags": ["hide-input"]}, "x = 1\ny = 2", "Code, 2 lines"),
        ({"jupyter": {"source_hidden": False}}, "import math", ""),
        ({"jupyter": {"outputs_hidden": True}}, "x = 1", ""),
    ],
)
def test_a_cell_s_own_word_comes_first(metadata, code, said):
    assert folded(new_code_cell(code, metadata=metadata)) == said


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_chapter_opens_on_its_text(notebook):
    first = next(cell for cell in nbformat.read(notebook, 4).cells if cell.cell_type == "code")
    assert folded(first).startswith("Code: imports")


def test_a_fold_holds_the_code_and_not_its_output():
    cell = new_code_cell("import math\nprint('ready')", outputs=[new_output("stream", text="ready")])
    fold, _, rest = body(new_notebook(cells=[cell])).partition("</details>")
    assert fold.count("<details") == 1 and "math" in fold and "math" not in rest and ">ready" in rest


def test_the_search_finds_every_section_by_its_words(site):
    start, end = "var BOOK = ", ";\n"
    text = (site / "search.js").read_text(encoding="utf-8")
    book = json.loads(text.removeprefix(start).removesuffix(end))
    assert [page[0] for page in book] == [f"{notebook.stem}.html" for notebook in TWO]
    for file, title, parts in book:
        page = read(site / file)
        assert {id for id, _, _ in parts if id} <= set(page.ids) and parts[0][1] == title
        assert all("import " not in words for _, _, words in parts)
    assert any("finite automaton" in words for _, _, words in book[0][2])


def test_words_of_a_section():
    html = '<h2 id="a">One <em>more</em><a class="anchor-link" href="#a">#</a></h2><p>x<sub>1</sub></p><table><td>a</td><td>b</td></table>'
    assert sections(html) == [["a", "One more", "x1 a b"]]
    assert sections("<p>Before.</p>") == [["", "", "Before."]]
    math = "<p>If <math><mi>λ</mi><mn>1</mn></math> holds</p><pre>code</pre>"
    assert sections(math) == [["", "", "If λ1 holds"]]


# --- formulas --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "latex, holds",
    [
        (r"\|v\|_p \le 1", ["‖", "≤"]),
        (r"a < b", ["&lt;"]),
        (r"\tfrac{1}{2}", ["<mfrac"]),
        (r"\begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix}", ["<mtable", "<mtr"]),
        (r"x \in \mathbb{R}^n \text{ for all } n", ["ℝ", "for"]),
        (r"\sum_{k=0}^{\infty} \lambda^k", ["∑", "∞", "λ"]),
    ],
)
def test_mathml(latex, holds):
    from html import unescape
    from xml.etree import ElementTree

    made = mathml(latex)
    tree = ElementTree.fromstring(made)  # well-formed, or browsers guess
    assert tree.get("alttext") == latex
    for part in holds:
        assert part in made or part in unescape(made)


@pytest.mark.parametrize("latex", [r"\nosuchcommand", r"a_b_c", r"\left( x"])
def test_a_formula_that_cannot_be_converted_is_named(latex):
    with pytest.raises(BookError) as caught:
        mathml(latex)
    assert latex in str(caught.value).replace("\\\\", "\\")


def test_bars_in_a_table_stay_double():
    text = "| rule | norm |\n|---|---|\n| ours | $\\|v\\|_p$ |"
    assert body(new_notebook(cells=[new_markdown_cell(text)])).count("<mi>‖</mi>") == 2


# --- flipbooks -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def widget():
    return explore(growth, {"p": P, "b": B}, initial={"p": 1.1}, sentence=growth_sentence, alt="Growth of products.")


def test_a_flipbook_shows_what_the_widget_would(widget):
    before = widget.values, widget.image.value
    book = flipbook(widget)
    assert (widget.values, widget.image.value) == before
    assert [control.values for control in book.controls] == [tuple(map(str, P)), tuple(map(str, B))]
    assert [control.opens for control in book.controls] == [1, 0] and book.opens == 2
    for (p, b), frame in zip(product(P, B), book.frames, strict=True):
        widget.controls["p"].value, widget.controls["b"].value = p, b
        assert (frame.png, frame.sentence) == (widget.image.value, widget.sentence.value)
        assert frame.alt.startswith(f"Growth of products. Here p = {p}, b = {b}.") and "<" not in frame.alt
    widget.controls["p"].value, widget.controls["b"].value = P[1], B[0]


@pytest.mark.parametrize("most", [1, 2, 3, 4, 7, 30])
def test_a_long_slider_is_thinned_and_keeps_where_it_opens(most):
    many = explore(growth, {"p": [1 + i / 100 for i in range(31)], "b": B}, initial={"p": 1.04, "b": 8}, alt="Growth.")
    book = flipbook(many, most=most)
    assert 1 <= len(book.frames) <= most and "Here p = 1.04, b = 8." in book.frames[book.opens].alt


def test_a_control_whose_pictures_are_refused_is_not_moved():
    """A typed word of one task is none of another's: then the next control goes with the slider."""

    def draw(p, task, word, b):
        if task == "other":
            raise ValueError("no word of this task")
        return growth(p, b)

    book = flipbook(explore(draw, {"p": P, "task": ["own", "other"], "word": "ab", "b": B}, alt="Growth."))
    assert [control.name for control in book.controls] == ["p", "b"] and book.others == {"task": "own", "word": "ab"}
    alone = flipbook(explore(draw, {"p": P, "task": ["own", "other"], "word": "ab", "b": [2]}, alt="Growth."))
    assert [control.name for control in alone.controls] == ["p"] and len(alone.frames) == len(P)


def test_a_page_s_books_are_thinned_to_what_it_may_weigh(widget):
    book = flipbook(explore(growth, {"p": P, "b": [2, 3, 4, 8]}, initial={"b": 4}, alt="Growth."))
    weight = building._weight(book)
    assert building._within({"a": book}, weight) == {"a": book}
    less = building._within({"a": book, "b": flipbook(widget)}, weight)
    assert building._weight(less["a"]) < weight and building._weight(less["a"]) + building._weight(less["b"]) <= weight
    assert less["a"].frames[less["a"].opens] == book.frames[book.opens]
    least = building._within({"a": book}, 0)["a"]
    assert len(least.frames) == 2 * len(P) and least.frames[least.opens] == book.frames[book.opens]


def test_its_page_has_a_label_for_each_control_one_picture_shown_and_words_for_each(widget, tmp_path):
    book = flipbook(explore(growth, {"p": P, "b": {"two": 2, "eight": 8}}, initial={"b": 8}, alt="Growth of products."))
    for name in ("style.css", "page.js"):
        (tmp_path / name).touch()
    files = [f"{n}.png" for n in range(len(book.frames))]
    for name, frame in zip(files, book.frames):
        (tmp_path / name).write_bytes(few_colours(frame.png))
        assert len(few_colours(frame.png)) < len(frame.png)
    html = book_html(book, files, "growth_widget")
    (tmp_path / "a.html").write_text(framed(f"<h1>A</h1>{html}", Place("a.html", "A"), None, None), encoding="utf-8")
    (tmp_path / "index.html").write_text("<h1>I</h1>")
    assert faults(tmp_path) == []
    assert html.count('class="frame">') == 1 and html.count('class="frame" hidden>') == html.count("loading=lazy") == 7
    assert html.count('type="range"') == 1 and html.count("<option ") == 2 and '<option value="1" selected>eight' in html
    assert len(set(read(tmp_path / "a.html").pictures)) == 2 * len(P)
    assert len(set(re.findall(r' width="(\d+)" height="\d+"', html))) == 1


def test_nothing_to_choose_is_an_error():
    with pytest.raises(ValueError, match="nothing to choose"):
        flipbook(explore(growth, {"p": [1.2], "b": [8]}, alt="Growth."))


# --- the cells that a widget needs -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "codes, kept",
    [
        (["a = 1", "b = slow()", "def f(): return a", "f_widget = f\nf_widget"], [0, 2, 3]),
        (["rows = []", "rows.append(1)", "a = rows\na"], [0, 1, 2]),
        (["t = {}", "t['k'] = 2", "t.x = 3", "print(t)", "t"], [0, 1, 2, 4]),
        (["a = 1", "a = 2", "a"], [1, 2]),  # the last one counts
        (["a = 1", "a += 1", "a"], [0, 1, 2]),  # and what it is made of
        (["import show", "show.figure(1)", "show"], [0, 2]),  # a module is not changed by its functions
        (["net = 0", "fit(net)", "net"], [0, 1, 2]),
        (["a = 1", "def f(a): return a", "f"], [1, 2]),  # the argument a is another a
        (["a = 1", "def f(): return [a for b in range(3)]", "f"], [0, 1, 2]),
        (["for i in range(3): pass", "i"], [0, 1]),
        (["net = 1", "print([0 for net in range(3)])", "net"], [0, 2]),  # a loop of its own, also where Python inlines it
        (["net = 1", "[net for net in range(3)]", "{net: 1 for net in range(3)}\n{net for net in range(3)}"], [2]),
    ],
)
def test_needed_cells(codes, kept):
    assert needed(codes, len(codes) - 1) == kept


def test_names_of_a_class_and_a_lambda():
    found = names("class Net(Base):\n    size = width\n    def f(self):\n        return lambda x: x + shift")
    assert found.binds == {"Net"} and {"Base", "width", "shift"} <= found.reads | found.later


def test_a_chapter_s_widgets_are_made_without_the_rest(tmp_path):
    source = tmp_path / "07_sample.py"
    source.write_text(
        "# %% [markdown]\n# # A\n\n# %%\nfrom workbook.show.widgets import explore\n"
        "from workbook.chapters.ch02 import growth\n\n# %%\nraise SystemExit('slow')\n\n"
        "# %%\nprint('dropped')\na_widget = explore(growth, {'p': [1.0, 2.0], 'b': [2]}, alt='Growth.')\na_widget\n")  # fmt: skip
    made = widgets(source)
    assert list(made) == ["a_widget"] and made["a_widget"].values == {"p": 1.0, "b": 2}
    assert widgets(source, only=[]) == {}


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_widget_of_the_book_is_found_by_its_name(notebook):
    stored = nbformat.read(notebook, 4)
    panels = [i for i, cell in enumerate(stored.cells) if "interactive panel" in str(cell.get("outputs", ""))]
    shown = [i for i in panels if "predict(" not in stored.cells[i].source]  # a prediction has no picture to leaf through
    assert list(widget_cells(stored)) == shown


# --- planted faults --------------------------------------------------------------------------------------------------


def picture(alt):
    file = io.BytesIO()
    Image.new("RGB", (4, 4)).save(file, "PNG")
    return f'<img {alt} src="data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}">'


@pytest.mark.parametrize(
    "html, kinds",
    [
        ("", []),
        (picture('alt="A square."'), []),
        (picture(""), ["alt"]),
        (picture('alt=" "'), ["alt"]),
        (picture('alt="No description has been provided for this image"'), ["alt"]),
        ("<svg></svg>", ["alt"]),
        ('<svg aria-label="A line."></svg>', []),
        ('<input type="range" id="p">', ["alt"]),
        ('<label for="p">p</label><input type="range" id="p">', []),
        ('<a href="gone.html">x</a>', ["link"]),
        ('<a href="#gone">x</a>', ["link"]),
        ('<a href="a.html#here">x</a><p id="here">', []),
        ('<a href="a.html#her%65">x</a><p id="here">', []),
        ('<a href="02_b.ipynb">x</a>', ["link"]),
        ('<img alt="A square." src="gone.png">', ["link"]),
        ('<a href="https://example.org">x</a>', []),  # a link may lead out; a page may not fetch
        ('<script src="https://example.org/mathjax.js"></script>', ["network"]),
        ('<img alt="A square." src="//example.org/a.png">', ["network"]),
        ("<p>$$x^2$$</p>", ["mathematics"]),
        (r"<p>so $\lambda = 1$ holds</p>", ["mathematics"]),
        (r"<pre>$$x$$ \lambda</pre>", []),
        ("<p>5 $ and 6 $</p>", []),
        ('<p id="p"></p><p id="p"></p>', ["id"]),
        ("<h1>Two</h1>", ["heading"]),
    ],
)
def test_a_planted_fault_is_found_and_nothing_else(tmp_path, html, kinds):
    (tmp_path / "a.html").write_text(f"<h1>A</h1>{html}", encoding="utf-8")
    assert [fault.kind for fault in faults(tmp_path)] == kinds


def test_nothing_to_check_is_no_success(tmp_path):
    with pytest.raises(ValueError, match="no page"):
        faults(tmp_path)


def test_a_bare_picture_of_a_notebook_is_found_on_its_page(tmp_path):
    bare = new_output("display_data", {"image/png": "iVBORw0KGgo="})
    notebook = new_notebook(cells=[new_markdown_cell("# A"), new_code_cell("show()", outputs=[bare])])
    (tmp_path / "a.html").write_text(framed(body(notebook), Place("a.html", "A"), None, None), encoding="utf-8")
    for name in ("style.css", "page.js"):
        (tmp_path / name).touch()
    (tmp_path / "index.html").write_text("<h1>I</h1>")
    assert [fault.kind for fault in faults(tmp_path)] == ["alt"]
