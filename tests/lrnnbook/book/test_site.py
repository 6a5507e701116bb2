"""The book as pages: built by Sphinx from what is committed, read in a browser that has no network."""

import argparse
import base64
import doctest
import io
import json
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from itertools import product
from pathlib import Path

import nbformat
import pytest
import yaml
from browser import CUT, artefacts, violations
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from packaging.specifiers import SpecifierSet
from PIL import Image

from lrnnbook.content.chapters.ch02 import growth, growth_sentence
from lrnnbook.content.show.output import WIDGET, table_html
from lrnnbook.content.show.widgets import explore
from lrnnbook.machinery.book import BookError
from lrnnbook.machinery.book.command import add_arguments
from lrnnbook.machinery.book.outputs import WIDGET_VIEW
from lrnnbook.machinery.book.running import KERNEL
from lrnnbook.machinery.book.site import BRANCH, INSTALL, build_site
from lrnnbook.machinery.book.site.extension import mathml
from lrnnbook.machinery.book.site.flipbooks import book_html, flipbook
from lrnnbook.machinery.book.site.pages import ROOMS, equations_page, researchers_page
from lrnnbook.machinery.book.site.rendered import LOOK, WIDTHS, dead_links, drawn_faults, faults, pages_of
from lrnnbook.machinery.book.sync import source_of
from lrnnbook.machinery.copies import chapters_in, place
from lrnnlab.models import equations

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOKS = chapters_in(ROOT / "notebooks")
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "site.yml").read_text())["jobs"]["site"]
P, B = [1.0, 1.1, 1.2, 2.0], [2, 8]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The whole book, without the pictures of its widgets, and what Sphinx found wrong."""
    folder = tmp_path_factory.mktemp("site") / "pages"
    return folder, build_site(NOTEBOOKS, folder, books=False, repository="someone/lrnnlab")


@pytest.fixture(scope="module")
def pages(site):
    return {path.relative_to(site[0]).as_posix(): path.read_text(encoding="utf-8") for path in pages_of(site[0])}


def address(notebook):
    return place(notebook).with_suffix(".html").as_posix()


# --- what stands on the pages ----------------------------------------------------------------------------------------


def test_sphinx_finds_nothing_wrong(site):
    assert site[1] == []


def test_no_link_and_no_picture_leads_nowhere(site):
    """What Sphinx does not look at: those in outputs."""
    assert dead_links(site[0], pages_of(site[0])) == []


def test_every_layer_has_its_equation_on_one_page():
    """In a section, not in the head, and once."""
    head, *sections = equations_page().split("\n## ")
    page, steps = "".join(sections), [step for _, step in equations.FED_BACK.values()]
    for one in [*equations.EQUATIONS.values(), *steps, *equations.ATTENTION.values(), *equations.NETS.values()]:
        assert page.count(f"def {getattr(one, 'func', one).__name__}(") == 1
    assert "def outputs_of(" in head


def test_a_researcher_can_type_each_room_as_it_stands():
    """Each section from a fresh start; every public name is there with a sentence."""
    _, *sections = re.split(r"^(lrnnlab\.[\w.]+)\n-+$", researchers_page(), flags=re.MULTILINE)
    assert sections[::2] == ROOMS[1:]
    for room, section in zip(sections[::2], sections[1::2]):
        typed = doctest.DocTestParser().get_doctest(section, {"__name__": "__main__"}, room, None, 0)
        assert typed.examples and not doctest.DocTestRunner(verbose=False).run(typed).failed
        for name in import_module(room).__all__:
            assert re.search(rf"`{name}`: \S.*[.:?]", section), name


def test_every_picture_of_the_notebooks_arrives_with_its_words(pages):
    for notebook in NOTEBOOKS:
        stored = [alt for cell in nbformat.read(notebook, 4).cells for output in cell.get("outputs", [])
                  for alt in re.findall(r'<img alt="([^"]+)"', output.get("data", {}).get("text/html", ""))]  # fmt: skip
        page = pages[address(notebook)]
        assert all(f'alt="{alt}"' in page for alt in stored) and (stored or notebook.stem[2] != "_")  # of a sitting


def test_formulas_are_mathml_and_none_is_left_as_text(pages):
    for notebook in NOTEBOOKS:
        page = pages[address(notebook)]
        assert page.count("<math ") == page.count("alttext=") > 0
        text = re.sub(r"<(pre|code|script|title)\b.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
        assert not re.search(r"\$\$|\\(?:begin|frac|lambda|mathbf|sum)\b", text)


def test_every_public_name_of_the_library_has_its_place(pages):
    for room in ROOMS:
        page = pages[f"api/{room}.html"]
        for name in getattr(import_module(room), "__all__", ()):
            thing = getattr(import_module(room), name)
            assert f'id="{room}.{name}"' in page or not callable(thing), f"{room}.{name}"
    for page in ("glossary", "researchers"):
        assert 'href="api/lrnnlab.models.layers.html#lrnnlab.models.layers.LRU"' in pages[f"{page}.html"]


# --- where a page can be run -----------------------------------------------------------------------------------------


def test_a_page_can_be_run_elsewhere_and_downloaded(site, pages):
    for notebook in NOTEBOOKS:
        page, name = pages[address(notebook)], place(notebook).as_posix()
        assert f"https://colab.research.google.com/github/someone/lrnnlab/blob/{BRANCH}/notebooks/{name}" in page
        assert f"https://mybinder.org/v2/gh/someone/lrnnlab/{BRANCH}?urlpath=lab/tree/notebooks/{name}" in page
        assert f'href="{"../" * name.count("/")}_sources/{name}"' in page
        whole, copy = (nbformat.read(path, 4) for path in (notebook, site[0] / "_sources" / name))
        assert "https://github.com/someone/lrnnlab " in copy.cells.pop(0).source and copy == whole


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
        assert sys.path == ["lrnnlab_workbook", "lrnnlab_workbook/notebooks", *path]
    finally:
        sys.path[:] = path
    clone, install = (call.split() for call in asked)
    assert clone[:2] == ["git", "clone"] and clone[-2:] == ["https://github.com/someone/book", "lrnnlab_workbook"]
    assert install[:2] == ["pip", "install"] and install[-2:] == ["-e", "./lrnnlab_workbook"]


def test_what_github_and_binder_are_told_can_be_done():
    *made, last = [step["run"] for step in WORKFLOW["steps"] if "run" in step and "env" not in step]
    program, verb, *call = last.replace("${{ github.repository }}", "owner/name").split()
    book = argparse.ArgumentParser()
    add_arguments(book)
    options = book.parse_args(call)
    assert made[0] == "python bootstrap.py env" and (program, verb) == (".venv/bin/lrnnlab", "book")
    [path] = [step["with"]["path"] for step in WORKFLOW["steps"] if "path" in step.get("with", {})]
    assert (options.verb, str(options.out), options.repository) == ("site", path, "owner/name")
    after = ROOT / ".binder" / "postBuild"
    assert os.access(after, os.X_OK) and subprocess.run(["bash", "-n", after]).returncode == 0
    wanted = re.search(r'requires-python = "(.+)"', (ROOT / "pyproject.toml").read_text())[1]
    version = (ROOT / ".binder" / "runtime.txt").read_text().strip().removeprefix("python-")
    assert SpecifierSet(wanted).contains(version)


def test_the_workflow_puts_the_notebooks_where_colab_is_sent(site, tmp_path):
    """Its step is run in a small checkout, and pushes into a repository of this machine."""
    [step] = [step for step in WORKFLOW["steps"] if "env" in step]
    (tmp_path / "notebooks" / "deeper").mkdir(parents=True)
    shown = [f"notebooks/{place(next(path for path in NOTEBOOKS if path.parent.name == folder)).as_posix()}" for folder in ("notebooks", "deeper")]
    for file in ("README.md", *shown):
        shutil.copy(ROOT / file, tmp_path / file)
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@localhost"]
    for call in (["init", "-q", "--bare", "remote"], ["init", "-q"], ["add", "README.md", "notebooks"], ["commit", "-qm", "all"]):
        subprocess.run([*git, *call], cwd=tmp_path, check=True)
    shutil.copytree(site[0], tmp_path / "build" / "site")
    for _ in range(2):  # the second time the branch is there
        environ = {**os.environ, "REMOTE": str(tmp_path / "remote")}
        subprocess.run(["bash", "-e", "-c", step["run"]], cwd=tmp_path, env=environ, check=True)
    for file in shown:
        there = subprocess.run(["git", "show", f"{BRANCH}:{file}"], cwd=tmp_path / "remote", capture_output=True, text=True, check=True)
        assert "git clone --quiet" in there.stdout
    listed = subprocess.run(["git", "ls-tree", "--name-only", BRANCH], cwd=tmp_path / "remote", capture_output=True, text=True, check=True)
    assert listed.stdout.split() == ["README.md", "notebooks"]


# --- planted faults --------------------------------------------------------------------------------------------------


def notebook(folder, *cells, name="01_one"):
    """A book of one chapter, in a repository of its own."""
    path = folder / "notebooks" / f"{name}.ipynb"
    source_of(path).parent.mkdir(parents=True, exist_ok=True)
    path.parent.mkdir(exist_ok=True)
    source_of(path).write_text("# %% [markdown]\n# # One\n", encoding="utf-8")
    nbformat.write(new_notebook(cells=list(cells), metadata={"kernelspec": KERNEL}), path)
    return path


LONG = "print('a message that goes on and on, so far that no page is wide enough to hold it in one line of code')"
ODD = """# One

It asks.

> For every $p$
> $$\\mathbb C \\subset \\mathbf 1 \\subset \\mathcal A$$
> and then $$x^2$$ on.

- in a list, $a$
  $$\\frac12$$

$$SUM$$

[gone](02_gone.ipynb) [gone](02_gone.ipynb#Where) [b](#Gone) [c](#Here) $\\nosuchcommand$ `lrnnlab.scans.gone` `lrnnlab.scans`

<details><summary>Solution</summary>

It is.

</details>

After it, inline $SUM$, and `a.longlonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglong.name`.

## Here
""".replace("SUM", " + ".join(f"x_{{{i}}}" for i in range(40)))


def small_site(notebooks, folder, **how):
    """A site without widgets' pictures and with one room of the library: each takes Sphinx a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lrnnbook.machinery.book.site.pages.ROOMS", ["lrnnlab.scans"])
        return build_site(notebooks, folder, books=False, **how)


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """The site of one chapter that has what pages were once wrong at, and what Sphinx says of it."""
    folder, words = tmp_path_factory.mktemp("odd"), {"answer": 3, "word": "1-0-0-1", "first": "never", "then": "never"}
    tables = [table_html([words, words], "Words."), table_html([{f"column {i}": i for i in range(30)}], "Wide.")]
    shown = [new_output("stream", name="stdout", text=f"{LONG}\n\n  short\n{'x' * 300}\n"),
             *(new_output("display_data", {"text/html": one, "text/plain": "t"}) for one in tables)]  # fmt: skip
    asked = [new_output("display_data", {"text/plain": WIDGET, "text/html": "<p>A still."})]
    cells = [new_code_cell(LONG, execution_count=1, outputs=shown), new_code_cell('guess("02.7", it)', execution_count=2, outputs=asked)]
    told = small_site([notebook(folder, new_markdown_cell(ODD), *cells)], folder / "site")
    return folder / "site", "\n".join(told)


def test_dead_links_and_formulas_that_cannot_be_set_are_found(odd):
    for fault in ("02_gone.ipynb", "Gone", "nosuchcommand", "lrnnlab.scans.gone"):
        assert odd[1].count(fault) >= 1, odd[1]
    assert "'Here'" not in odd[1] and "target not found: lrnnlab.scans " not in odd[1]


def test_a_deeper_page_knows_which_chapters_are_there(tmp_path):
    """A link to one that is not among the pages is a text."""
    deeper = "# And\n\n[up](../01_one.ipynb) [beside](01b_two.ipynb) [gone](../02_gone.ipynb) [lost](01c_lost.ipynb) [dead](../01_one.ipynb#Nowhere)"
    made = {"01_one": "# One\n\n[down](deeper/01a_and.ipynb)", "deeper/01a_and": deeper, "deeper/01b_two": "# Two"}
    paths = [notebook(tmp_path, new_markdown_cell(text), name=name) for name, text in made.items()]
    assert "ipynb" not in "\n".join(small_site(paths, tmp_path / "site", whole=False))
    assert dead_links(tmp_path / "site", pages_of(tmp_path / "site")) == [  # the index shows how a page begins
        "deeper/01a_and.html: the link ../01_one.html#Nowhere leads nowhere", "index.html: the link 01_one.html#Nowhere leads nowhere",
    ]  # fmt: skip
    page = (tmp_path / "site" / "deeper" / "01a_and.html").read_text(encoding="utf-8")
    assert re.findall(r'<span class="absent">(?:<span[^>]*>)?(\w+)<', page) == ["gone", "lost"]
    assert re.findall(r'<a class="reference internal" href="([^"]*)">(?:<span[^>]*>)?(?:up|beside)<', page) == ["../01_one.html", "01b_two.html"]


def picture(kind="PNG"):
    file = io.BytesIO()
    Image.effect_noise((64, 64), 9).save(file, kind)
    return base64.b64encode(file.getvalue()).decode()


@pytest.mark.parametrize("data", [
    {"image/png": "cut base64!"}, {"image/png": picture()[:400]}, {"image/png": base64.b64encode(b"a text").decode()}, {"image/png": ""},
    {"image/jpeg": picture("JPEG")[:-401]}, {"application/pdf": "%"}, {"image/svg+xml": "<svg><g></svg>"}, {"text/html": {"a": 1}},
    {"image/png": 5}, None, {"text/html": f'<figure><img alt="A." src="data:image/png;base64,{picture()[:400]}"></figure>'},
])  # fmt: skip
def test_a_damaged_output_is_named_with_its_notebook(tmp_path, data):
    path = notebook(tmp_path, new_markdown_cell("# One"), new_code_cell("w", execution_count=1))
    book = json.loads(path.read_text())
    book["cells"][1]["outputs"] = [{"output_type": "display_data", "metadata": {}, "data": data}]
    path.write_text(json.dumps(book))
    with pytest.raises(BookError, match=r"01_one"):
        build_site([path], tmp_path / "site", books=False)
    assert not (tmp_path / "site").exists()


@pytest.mark.parametrize("cell, said", [
    (new_code_cell("w", execution_count=1, outputs=[new_output("display_data", {
        "text/plain": "Explorer(children=(Box(", WIDGET_VIEW: {"model_id": "1f"}})]), "lrnnlab book build 01_one mends"),
    (new_markdown_cell("![a sheet](attachment:a.png)"), "the pasted picture 'a.png'"),
])  # fmt: skip
def test_what_no_page_can_show_is_named(tmp_path, cell, said):
    with pytest.raises(BookError, match=said):
        build_site([notebook(tmp_path, new_markdown_cell("# One"), cell)], tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_a_folder_of_somebody_else_is_left_alone_and_nothing_is_deleted(site, tmp_path):
    path = notebook(tmp_path, new_markdown_cell("# One\n\nIt asks."))
    (tmp_path / "thesis.txt").write_text("years")
    with pytest.raises(BookError, match="holds something that is no site"):
        build_site([path], tmp_path)
    for _ in range(2):
        small_site([path], tmp_path / "site")
        (tmp_path / "site" / "CNAME").write_text("years")
    assert (tmp_path / "site" / "CNAME").read_text() == (tmp_path / "thesis.txt").read_text() == "years"


@pytest.mark.parametrize("latex, holds", [
    (r"\|v\|_p \le 1", "‖≤"), (r"\tfrac{1}{2}", ["<mfrac"]), (r"x \in \mathbb{R}^n \text{ for all } n", ["ℝ", "for"]),
    (r"\begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix}", ["<mtable", "<mtr"]), (r"\sum_{k=0}^{\infty} \lambda^k", "∑∞λ"),
])  # fmt: skip
def test_mathml(latex, holds):
    from html import unescape
    from xml.etree import ElementTree

    made = mathml(latex)
    assert ElementTree.fromstring(made).get("alttext") == latex  # well-formed, or browsers guess
    assert all(part in unescape(made) for part in holds)


# --- in a browser ----------------------------------------------------------------------------------------------------


# Of each picture: the share of the width it was drawn for, at which its letters are 9 points high or more.
SHARES = """() => [...document.querySelectorAll(".bd-article figure img")].filter(one => one.clientWidth && one.style.width)
  .map(one => one.clientWidth / parseFloat(one.style.width))"""


SHORT = "index.html", "00_start_here.html", "lrnnlab.automata.html"


def faults_for_all(page, seen):
    """What is wrong with a page, as it is drawn now, for those who see little or hear it, in the colours of both themes."""
    if page.evaluate("document.scrollingElement.scrollWidth > innerWidth"):
        yield "is wider than its window"
    if min(page.evaluate(SHARES), default=1) < 0.8:
        yield "has a picture whose letters are too small"
    yield from (f"is cut: {one}" for one in page.evaluate(CUT) if "pst-secondary-sidebar" not in one)  # a drawer
    page.wait_for_function("performance.now() > resized + 500")  # so late the theme lets a keyboard scroll what is too wide
    yield from violations(page, seen)
    page.emulate_media(color_scheme="dark")
    page.locator("html[data-theme=dark]").wait_for(state="attached")
    yield from violations(page, seen, colours_only=True)
    page.emulate_media(color_scheme="light")


def test_a_reader_of_any_page_trips_over_nothing(visit, site):
    """Every page at both widths for who sees it, and for who does not at the last of them: of two pages one is narrow, and of the
    short pages, which come twice, each is."""
    page, seen, found = visit(site[0] / "index.html", reduced_motion="reduce"), {}, []
    page.add_init_script("window.resized = 0; addEventListener('resize', () => { resized = performance.now(); });")
    for file in (one for one in pages_of(site[0]) for _ in range(2 if one.name in SHORT else 1)):
        faults = [*drawn_faults(page, file), *faults_for_all(page, seen)]
        if faults:
            page.screenshot(path=artefacts() / f"site_{file.stem}.png")
        found += [(file.name, one) for one in faults]
    assert found == [] and len(seen) > 50 and dead_links(site[0], pages_of(site[0])) == []


def test_what_pages_were_wrong_at_is_shown_whole(browser, odd):
    """Display formulas within paragraphs, letters of other forms, long lines, wide tables, folds, links to what is not there."""
    file = odd[0] / "01_one.html"
    [dead, *others] = faults(browser, odd[0], [file])
    assert "#Gone" in dead and [one for one in others if "nosuchcommand" not in one] == []
    page = browser.new_page()
    page.goto(file.as_uri())
    text = page.locator("article").inner_text()
    assert "ℂ⊂𝟏⊂𝒜" in re.sub(r"\s", "", text) and "$$" not in text
    assert page.locator(".cell_input pre").first.evaluate("""one => {
      getSelection().selectAllChildren(one);
      return getSelection().toString().trim();
    }""") == LONG  # what is copied has no arrows in it
    assert page.locator(".absent").all_inner_texts() == ["gone", "gone"]
    page.close()


SCROLLS = '<div style="width: 200px; overflow-x: auto; {}"><p style="white-space: nowrap">A text that is wide enough to be cut.</div>'
FADES = "mask-image: linear-gradient(90deg, #000, transparent)"
PICTURE = f'<img alt="A." src="data:image/png;base64,{picture()}">'
PLANTED = {
    "is cut at the right without a sign": SCROLLS.format(""),
    "is cut": '<div style="width: 200px; overflow: hidden"><p style="white-space: nowrap">A text that is wide enough to be cut.</div>',
    "is cut above or below": '<div style="height: 30px; overflow: hidden"><p>Far<p>too<p>long</div>',
    "reaches out of its frame": '<pre style="width: 100px; border: 1px solid">A line of code that is longer than its frame</pre>',
    "shows unset LaTeX": "<p>costs $x$",
    "shows C without its double-struck form": '<math alttext="C"><mi mathvariant="double-struck">C</mi></math>',
    "has columns that touch": "<table cellspacing=0><tr><td style='padding: 0'>31<td style='padding: 0'>never</table>",
    "has no space below it": "<details style='margin: 0'><summary>Solution</summary><p>It is.</details><div>Next</div>",
    "is a picture that cannot be drawn": '<img alt="Broken." src="data:image/png;base64,AAAA">',
}
SOUND = [SCROLLS.format(FADES), "<p><code>$x$</code><pre>$ ls</pre>", '<math><mi mathvariant="normal">C</mi></math>', PICTURE,
         "<table cellpadding=8><tr><td>31<td>never</table>", "<details><summary>S</summary></details><p style='margin-top: 9px'>Next"]  # fmt: skip


@pytest.mark.parametrize("kinds, html", [*(([kind], html) for kind, html in PLANTED.items()), *(([], html) for html in SOUND)])
def test_a_planted_fault_is_seen_and_a_sound_page_is_not_blamed(browser, kinds, html):
    page = browser.new_page()
    page.set_content(f'<!doctype html><article class="bd-article" style="width: 600px">{html}</article>')
    assert [kind for kind, _ in page.evaluate(LOOK)] == kinds
    page.close()


@pytest.mark.parametrize("width, scheme", [(WIDTHS[0], "dark"), (WIDTHS[1], "light")])
def test_an_answer_is_judged_on_the_page(visit, tmp_path, width, scheme):
    """Of an exercise, and of a hole of golf, in the place of what the cell says of an answer that is not there."""
    untried = new_output("display_data", {"text/plain": "not tried yet"})
    codes = 'check("00.2", my_words)', 'check("00.4", my_matrix)', 'puzzle("z_6", start=[...],\n       A={})', 'check("00.1", my_sums)'
    cells = [new_code_cell(code, execution_count=n + 1, outputs=[untried]) for n, code in enumerate(codes)]
    small_site([notebook(tmp_path, new_markdown_cell("# One"), *cells, name="deeper/01a_one")], tmp_path / "site", whole=False)
    page = visit(tmp_path / "site/deeper/01a_one.html", width, scheme)
    words, matrix, golf = (page.get_by_role("textbox", name=name) for name in ("five words", "two rows", "your entry"))
    said = page.locator(".moving-picture").get_by_role("status")
    assert "not tried yet" in said.first.inner_text() and page.get_by_text("not tried yet").count() == 3
    words.press_sequentially("0 1 2 3 12")
    assert "'3' and '12' may end in one state" in said.first.inner_text()
    words.press("Backspace")
    assert "'1' and '1' may end in one state" in said.first.inner_text()
    words.fill("0 1 2 3 4")
    matrix.fill("[[0.95, 0.05], [0.05, 0.95]]")
    golf.fill("start: 1 0\n0: 1 0; 0 1\n1: 0 -1; 1 1")
    assert [" ".join(one.split()[:3]) for one in said.all_inner_texts()] == ["\u2713 right", "\u2713 right", "Proved: 2 numbers"]
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width
    assert violations(page) == []


def test_dead_links_are_seen(tmp_path):
    (tmp_path / "other.html").write_text('<h2 id="a b">A</h2>')
    links = {"other.html": 0, "other.html#a%20b": 0, "#here": 0, "https://x.org/y": 0, "mailto:a@b.c": 0,
             "gone.html": 1, "other.html#gone": 1, "#gone": 1, "#other.ipynb": 1, "gone/a.png": 1}  # fmt: skip
    for link, dead in links.items():
        (tmp_path / "one.html").write_text(f'<p id="here"><a href="{link}">x</a><script>a = \'href="no"\'</script>')
        assert len(dead_links(tmp_path, [tmp_path / "one.html"])) == dead, link


def test_a_prediction_is_made_before_its_answer_is_seen(visit, odd):
    page = visit(odd[0] / "01_one.html", WIDTHS[0])
    asked = page.locator(".predict")
    fold, verdict, choices = asked.locator("details"), asked.locator(".verdict"), asked.get_by_role("radio")
    assert choices.count() == 4 and "1-norm" in asked.inner_text() and not asked.get_by_text("Why:").is_visible()
    fold.locator("summary").click()
    assert fold.get_attribute("open") is None and "Nothing is chosen yet" in verdict.inner_text()
    choices.first.focus()
    for key in ("ArrowDown", "Tab", "Enter"):
        page.keyboard.press(key)
    said = verdict.inner_text()
    assert fold.get_attribute("open") is not None and asked.get_by_text("Why:").is_visible() and "you predicted after about 150." in said
    assert said.startswith("Right") or f"{said}".startswith("Not yet")
    outcomes = []
    for choice in choices.all():
        choice.check()
        outcomes.append(verdict.inner_text().split(":")[0])
    came = asked.locator("details b").inner_text()
    labels = [one.strip() for one in asked.locator("label").all_inner_texts()]
    assert outcomes == ["Right" if one == came else "Not yet" for one in labels] and outcomes.count("Right") == 1
    assert violations(page) == []


@pytest.mark.thorough
def test_the_command_looks_at_its_pages(program, tmp_path):
    notebook(tmp_path, new_markdown_cell("# One\n\nIt asks.\n\nIt costs \\$5."))
    call = [sys.executable, "-m", "lrnnlab", "book", "site", "--root", tmp_path, "--out", tmp_path / "site", "--check"]
    told = subprocess.run(call, capture_output=True, text=True, env={**os.environ, "LRNNLAB_CHROMIUM": program})
    assert told.returncode == 1 and "'It costs $5.' shows unset LaTeX" in told.stdout, told


@pytest.mark.parametrize("odd, rule", [
    ('<p style="color: #999">Pale', "color-contrast"), ('<p style="color: #808080">Small', "color-contrast"),
    ('<section style="background: #666"><div><p>Dark</div></section>', "color-contrast"),
    ('<section style="opacity: .4"><p>Faded</section>', "color-contrast"), ('<input aria-label="A" style="color: #999" value="Pale">', "color-contrast"),
    ('<p>See <a href="#" style="color: #003; text-decoration: none">there</a> and there.', "link-in-text-block"),
    ('<img src="a.png">', "image-alt"),
])  # fmt: skip
def test_axe_finds_one_odd_text_after_any_number_of_others(browser, odd, rule):
    page, seen, alike = browser.new_page(), {}, "<p>As it should be, see <a href='#'>there</a>.</p>" * 9
    alike += '<p style="color: #808080; font-size: 30px">Large</p><p style="color: #999">1</p>' * 4  # of one letter axe says nothing
    for more in ("", odd, odd):  # of a page that shares what was seen; and once more, where it says nothing new
        page.set_content(f'<html lang="en"><title>A</title><style>a {{ color: #00e }}</style><main><h1>A</h1>{alike}{more}</main>')
        found = {rule for rule, *_ in violations(page, seen)}
        assert found == ({rule} if more else set())
    assert {rule for rule, *_ in violations(page, {}, colours_only=True)} == {rule} - {"image-alt"}
    page.close()


def test_what_is_cut_is_found_and_what_scrolls_is_not(browser):
    page, wide = browser.new_page(viewport={"width": 390, "height": 900}), '<p style="width: 500px">Wide'
    for box, many in (("overflow-x: auto", 0), ("overflow: hidden", 1), ("", 1)):
        page.set_content(f'<body style="overflow-x: hidden"><main style="{box}">{wide}</main>')
        assert len(page.evaluate(CUT)) == many
    page.close()


def test_the_book_is_searched_without_a_network(visit, site):
    page = visit(site[0] / "search.html")
    page.goto(f"{(site[0] / 'search.html').as_uri()}?q=killer+word")
    page.locator("#search-results li a").first.wait_for()
    assert "Glossary" in page.locator("#search-results").inner_text()


def test_a_flipbook_follows_the_keyboard_and_prints_one_picture(visit, site, tmp_path):
    book = flipbook(explore(growth, {"p": [1.0, 1.2, 2.0], "b": {"two": 2, "eight": 8}}, alt="Growth."))
    shutil.copytree(site[0], tmp_path / "site")
    for n, frame in enumerate(book.frames):
        (tmp_path / "site" / f"{n}.png").write_bytes(frame.png)
    html, chapter = book_html(book, [f"{n}.png" for n in range(6)], "growth_widget"), tmp_path / "site" / "00_start_here.html"
    chapter.write_text(chapter.read_text(encoding="utf-8").replace("</article>", f"{html}</article>", 1), encoding="utf-8")
    page = visit(chapter)
    book = page.locator(".flipbook").first
    slider, menu, frames = book.get_by_role("slider", name="p"), book.get_by_role("combobox", name="b"), book.locator(".frame")
    shown = "all => all.flatMap((one, i) => one.hidden ? [] : [i])"
    assert frames.evaluate_all(shown) == [0]
    slider.focus()
    for key, at, value in (("ArrowRight", 2, "1.2"), ("ArrowRight", 4, "2.0"), ("ArrowLeft", 2, "1.2")):
        page.keyboard.press(key)
        assert frames.evaluate_all(shown) == [at] and slider.get_attribute("aria-valuetext") == value
        assert book.locator("output").inner_text() == value
    page.keyboard.press("Tab")
    assert menu.evaluate("one => one === document.activeElement")
    page.keyboard.press("ArrowDown")
    assert frames.evaluate_all(shown) == [3]
    page.wait_for_function("document.querySelector('.frame:not([hidden]) img').naturalWidth > 100")
    assert "p = 1.2, b = eight" in book.locator(".frame:not([hidden]) img").get_attribute("alt")
    assert violations(page) == []
    page.emulate_media(media="print")
    assert page.locator(".flipbook img:visible").count() == 1 and not slider.is_visible()


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
