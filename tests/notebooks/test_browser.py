"""What a reader does, done in a real browser: open the chapters, run one, move every widget, by keyboard alone.

Screenshots and latencies are kept (tests/support/browser.py says where).  The widgets stand in one notebook, made here from the
chapters' own cells (``workbook.book.cell_dependencies``), so that this takes minutes and not the hours of a term.
"""

import json
import os
import re
import shutil
import statistics
import time
from pathlib import Path

import nbformat
import pytest
from browser import (
    CONTROLS,
    CUT,
    MS,
    PANEL,
    PICTURE,
    WATCH,
    artefacts,
    change,
    chromium,
    close_dialog,
    close_notebook,
    finished,
    kernel_idle,
    kind,
    next_picture,
    open_notebook,
    required,
    run_all,
    write,
)
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from workbook import copies
from workbook.book import Run, compare
from workbook.book.cell_dependencies import widget_cells
from workbook.book.jupyter_server import jupyter_lab
from workbook.book.running import KERNEL, cleared
from workbook.book.site import build
from workbook.book.site.flipbooks import book_html, flipbook
from workbook.book.sync import read_source
from workbook.chapters.ch02 import growth
from workbook.show.widgets import explore

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SOURCES = sorted((ROOT / "notebooks" / "py").glob("*.py"))
QUICK = "00_start_here"
GALLERY, EMPTY, PREDICTION, RERUN = "gallery", "empty", "prediction", f"again_{QUICK}"
ASK = """from workbook.exercises import predict, prediction as predicting
predicting.LATE = 60  # a machine that tests may take longer than half a second
predict("06.10", lambda: (16, "It ran."))"""
IMPORTS = "from pathlib import Path\nfrom workbook.book.cell_dependencies import widgets"


def gallery():
    """A notebook of every widget of the book, each in a cell, and what each is called."""
    cells, names = [new_markdown_cell("# All widgets"), new_code_cell(IMPORTS)], []
    for source in SOURCES:
        found = list(widget_cells(read_source(source)).values())
        if found:
            cells.append(new_code_cell(f"made = widgets(Path({str(source)!r}))"))
        for name in found:
            cells.append(new_code_cell(f"made[{name!r}]"))
            names.append(f"{source.stem[:2]} {name}")
    return new_notebook(cells=cells, metadata={"kernelspec": KERNEL}), names


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Copies, since JupyterLab saves: every chapter, one with its outputs cleared, and all widgets."""
    folder = tmp_path_factory.mktemp("notebooks")
    for notebook in NOTEBOOKS:
        shutil.copy(notebook, folder)
    nbformat.write(cleared(nbformat.read(ROOT / "notebooks" / f"{QUICK}.ipynb", 4)), folder / f"{RERUN}.ipynb")
    nbformat.write(gallery()[0], folder / f"{GALLERY}.ipynb")
    nbformat.write(
        new_notebook(cells=[new_markdown_cell("# A cell"), new_code_cell()], metadata={"kernelspec": KERNEL}),
        folder / f"{EMPTY}.ipynb",
    )
    nbformat.write(
        new_notebook(cells=[new_markdown_cell("# A prediction"), new_code_cell(ASK)], metadata={"kernelspec": KERNEL}),
        folder / f"{PREDICTION}.ipynb",
    )
    return folder


@pytest.fixture(scope="module")
def server(folder, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:  # two kernels run side by side: more threads would wait for each other
        patch.setenv("OMP_NUM_THREADS", "1")
        with jupyter_lab(folder, tmp_path_factory.mktemp("state")) as server:
            yield server


@pytest.fixture(scope="module")
def widgets_lab(browser, server):
    """A page with JupyterLab on it, where the notebook of all widgets runs already, and no other is ever opened."""
    page = new_lab(browser, server, "widgets")
    open_notebook(page, GALLERY)
    run_all(page)
    yield page
    page.close()


@pytest.fixture(scope="module")
def lab(browser, server, widgets_lab):
    """A page for the chapters; what it shows is read while the widgets' notebook runs."""
    page = new_lab(browser, server, "chapters")
    yield page
    page.close()


def new_lab(browser, server, name):
    page = browser.new_page(viewport={"width": 1280, "height": 960})
    page.set_default_timeout(MS)
    page.goto(server.page(f"lab/workspaces/{name}"))
    return page


def figures(name):
    """How many figures a committed chapter holds."""
    cells = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", 4).cells
    return sum(
        str(output.get("data", {}).get("text/html", "")).count("<figure")
        for cell in cells
        for output in cell.get("outputs", [])
    )


@pytest.mark.parametrize("name", [notebook.stem for notebook in NOTEBOOKS])
def test_a_chapter_opens(lab, name):
    from playwright.sync_api import expect

    panel = open_notebook(lab, name)
    panel.locator("mjx-container").first.wait_for()
    lab.screenshot(path=artefacts() / f"{name}.png")
    assert lab.locator(".jp-Dialog").count() == 0
    assert panel.locator("mjx-merror").count() == 0
    pictures = panel.locator("figure img")
    expect(pictures).to_have_count(figures(name))
    pictures.evaluate_all("all => Promise.all(all.map(one => one.decode()))")  # raises for one that is no picture
    assert all(alt.strip() for alt in pictures.evaluate_all("all => all.map(one => one.alt)"))
    chapters = panel.locator("a[href*='.ipynb']").evaluate_all("all => all.map(one => one.href)")
    assert all(Path(address.split("?")[0]).name in {one.name for one in NOTEBOOKS} for address in chapters)
    close_notebook(lab)


def test_run_all_gives_what_is_committed(lab, folder):
    panel = open_notebook(lab, RERUN)
    run_all(lab)
    finished(lab, panel)
    lab.screenshot(path=artefacts() / f"{RERUN}.png")
    lab.keyboard.press("Control+s")
    lab.wait_for_function("() => !document.querySelector('.lm-DockPanel-tabBar .lm-mod-current.jp-mod-dirty')")
    committed = nbformat.read(ROOT / "notebooks" / f"{QUICK}.ipynb", 4)
    assert [str(fault) for fault in compare(committed, Run(nbformat.read(folder / f"{RERUN}.ipynb", 4)), QUICK)] == []


def test_a_new_reader_s_first_minutes(browser, tmp_path, monkeypatch):
    """In a fresh copy chapter 00 runs and proves its result; an exercise is answered wrong, then right, and is counted."""
    from playwright.sync_api import expect

    copies.make(tmp_path / copies.FOLDER)
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(ROOT / ".jupyter"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    with jupyter_lab(tmp_path / copies.FOLDER, tmp_path / "state") as server:
        page = new_lab(browser, server, "first")
        panel, opened = open_notebook(page, QUICK), time.monotonic()
        page.screenshot(path=artefacts() / "first_opened.png")
        run_all(page)
        expect(output(panel, "print(verdict.proved)")).to_have_text(re.compile("^True"))
        (artefacts() / "first_proved.txt").write_text(f"{time.monotonic() - opened:.0f} seconds after chapter 00 opened\n")
        finished(page, panel)
        for words, outcome in ((["0", "1", "2", "3", "32"], "not yet"), (["0", "1", "2", "3", "4"], "right")):
            write(page, cell_of(panel, 'check("00.2"'), f'my_words = {words}\ncheck("00.2", my_words)')
            page.keyboard.press("Shift+Enter")
            expect(cell_of(panel, 'check("00.2"').locator(".jp-OutputArea-output b")).to_have_text(outcome)
            page.screenshot(path=artefacts() / f"first_{outcome.replace(' ', '_')}.png")
        cell_of(panel, "progress()").locator(".cm-content").click()
        page.keyboard.press("Shift+Enter")
        expect(cell_of(panel, "progress()").locator("tr", has_text="00 start here")).to_contain_text("1 of 4")
        page.screenshot(path=artefacts() / "first_progress.png")
        assert panel.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0
        page.close()


def cell_of(panel, code):
    """The code cell that holds this."""
    return panel.locator(".jp-CodeCell").filter(has=panel.page.locator(".cm-content", has_text=code))


def output(panel, code):
    """What that cell has printed."""
    return cell_of(panel, code).locator(".jp-OutputArea-output pre")


def test_a_kernel_that_dies_is_told_and_started_again(lab, capsys):
    panel = open_notebook(lab, EMPTY)
    write(lab, panel.locator(".jp-CodeCell"), "import os\nos._exit(1)")
    run_all(lab)
    lab.locator(".jp-Dialog").wait_for()
    kernel_idle(lab)
    close_dialog(lab)
    assert "JupyterLab said: Kernel Restarting" in capsys.readouterr().out
    write(lab, panel.locator(".jp-CodeCell"), "1 + 1")
    run_all(lab)
    finished(lab, panel)


def test_a_prediction_is_committed_by_keyboard(lab):
    """The slider goes from 1 over 8 and 16 to 31 faster than the kernel hears of it; what it shows last is meant."""
    panel = open_notebook(lab, PREDICTION)
    run_all(lab)
    finished(lab, panel)
    panel.get_by_role("slider").focus()
    for key in (*["ArrowRight"] * 3, "Tab", "Tab", "Enter"):  # past the slider's number to the button
        lab.keyboard.press(key)
    panel.get_by_text("you predicted 31, and 16 came out").wait_for()
    assert "It ran." in panel.inner_text()
    lab.screenshot(path=artefacts() / "prediction.png")


def test_a_static_page_needs_no_network(browser, tmp_path):
    """The site's page in a browser that is offline: formulas in their own font, and a flipbook that follows the keyboard."""
    build([ROOT / "notebooks" / "06_ill_conditioned_reals.ipynb"], tmp_path, books=False)
    book = flipbook(explore(growth, {"p": [1.0, 1.2, 2.0], "b": {"two": 2, "eight": 8}}, alt="Growth."))
    for n, frame in enumerate(book.frames):
        (tmp_path / f"{n}.png").write_bytes(frame.png)
    chapter = tmp_path / "06_ill_conditioned_reals.html"
    html = book_html(book, [f"{n}.png" for n in range(6)], "growth_widget")
    chapter.write_text(chapter.read_text(encoding="utf-8").replace("</main>", f"{html}</main>"), encoding="utf-8")
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 960})
    context.set_default_timeout(MS)
    page, said = context.new_page(), []
    page.on("console", lambda message: said.append(message.text))
    page.on("requestfailed", lambda request: said.append(request.url))
    page.goto((tmp_path / "index.html").as_uri())
    page.get_by_role("link", name="06").click()
    page.wait_for_url(f"**/{chapter.name}")
    sizes = page.locator("math").evaluate_all("all => all.map(one => one.getBoundingClientRect().width)")
    assert len(sizes) > 50 and page.locator("main math").first.evaluate("one => one.getBoundingClientRect().height") > 5
    page.wait_for_function("[...document.fonts].every(one => one.status === 'loaded') && document.fonts.size > 0")
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
    visible = book.locator(".frame:not([hidden]) img")
    page.wait_for_function("document.querySelector('.frame:not([hidden]) img').naturalWidth > 100")
    assert "p = 1.2, b = eight" in visible.get_attribute("alt")
    page.screenshot(path=artefacts() / "site_06.png")
    assert said == []
    context.close()


@pytest.fixture(scope="module")
def small_site(tmp_path_factory):
    """Two short chapters, one of them with a flipbook, and the index."""
    folder = tmp_path_factory.mktemp("site")
    build([ROOT / "notebooks" / f"{name}.ipynb" for name in (QUICK, "glossary")], folder, books=False)
    book = flipbook(explore(growth, {"p": [1.0, 2.0], "b": [8]}, alt="Growth."))
    for n, frame in enumerate(book.frames):
        (folder / f"{n}.png").write_bytes(frame.png)
    chapter, html = folder / f"{QUICK}.html", book_html(book, ["0.png", "1.png"], "growth_widget")
    chapter.write_text(chapter.read_text(encoding="utf-8").replace("</main>", f"{html}</main>"), encoding="utf-8")
    return folder


def visited(browser, folder, file, width, scheme="light"):
    """A page of the site, opened from the disk by a browser without a network."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
    context.set_default_timeout(MS)
    page = context.new_page()
    page.goto((folder / file).as_uri())
    return page


def violations(page):
    """What axe-core finds on a page, as ``(rule, how grave, the first place)``, less what it calls minor.

    It stays out of formulas: they are tens of thousands of elements without a rule for them.
    """
    from axe_playwright_python.sync_playwright import Axe

    options = {"resultTypes": ["violations"], "preload": False}
    found = Axe().run(page, context={"exclude": ["math"]}, options=options).response["violations"]
    return [(one["id"], one["impact"], one["nodes"][0]["html"]) for one in found if one["impact"] != "minor"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing_on_a_static_page(browser, small_site, width, scheme):
    for file in ("index.html", f"{QUICK}.html", "glossary.html"):
        page = visited(browser, small_site, file, width, scheme)
        page.screenshot(path=artefacts() / f"{Path(file).stem}_{width}_{scheme}.png")
        page.get_by_role("searchbox").fill("diagonal")
        page.locator(".search li").first.wait_for()
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        assert violations(page) == [], file
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width
        page.context.close()


@pytest.fixture(scope="module")
def every_page(tmp_path_factory):
    """The whole book, with the buttons and without flipbooks, which stand on the small site."""
    folder = tmp_path_factory.mktemp("book")
    build(NOTEBOOKS, folder, books=False, repository="someone/lrnnlab")
    return folder


# Of each picture: the share of the width it was drawn for, at which its letters are 9 points high or more.
SHARES = """() => [...document.querySelectorAll("main figure img")].filter(one => one.clientWidth && one.style.width)
  .map(one => one.clientWidth / parseFloat(one.style.width))"""


@pytest.mark.parametrize("name", ["index", *(notebook.stem for notebook in NOTEBOOKS)])
def test_axe_finds_nothing_on_any_page(browser, every_page, name):
    """At both widths, each in one theme: colours do not depend on the width (and see the three short pages above)."""
    for width, scheme in ((390, "light"), (1280, "dark")):
        page = visited(browser, every_page, f"{name}.html", width, scheme)
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        assert violations(page) == []
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width
        assert min(page.evaluate(SHARES), default=1) >= 0.8
        assert page.evaluate(CUT) == []
        page.context.close()


def test_what_is_cut_is_found_and_what_scrolls_is_not(browser):
    page, wide = browser.new_page(viewport={"width": 390, "height": 900}), '<p style="width: 500px">Wide'
    for box, many in (("overflow-x: auto", 0), ("overflow: hidden", 1), ("", 1)):
        page.set_content(f'<body style="overflow-x: hidden"><main style="{box}">{wide}</main>')
        assert len(page.evaluate(CUT)) == many
    page.close()


def test_a_picture_that_scrolls_fades_at_the_right_until_its_end_is_shown(browser, every_page):
    page = visited(browser, every_page, "06_ill_conditioned_reals.html", 390)
    page.locator("figure[data-more]").first.wait_for()
    figure = page.locator("main figure").first
    faded = "one => getComputedStyle(one).maskImage !== 'none'"
    assert figure.evaluate(faded)
    figure.evaluate("one => { one.scrollLeft = one.scrollWidth; }")
    page.wait_for_function(f"!({faded})(document.querySelector('main figure'))")
    caption = figure.locator("figcaption").bounding_box()  # it stays where it can be read
    assert caption["x"] >= 0 and caption["x"] + caption["width"] <= 390
    page.context.close()


def test_axe_finds_a_pale_text_and_a_mute_picture(browser):
    page = browser.new_page()
    page.set_content('<html lang="en"><title>A</title><main><h1>A</h1><p style="color:#999">Pale<img src="a.png"></main>')
    assert {rule for rule, *_ in violations(page)} == {"color-contrast", "image-alt"}
    page.close()


def test_a_static_page_is_searched_without_a_network(browser, small_site):
    page, said = visited(browser, small_site, f"{QUICK}.html", 1280), []
    page.on("pageerror", lambda error: said.append(str(error)))
    field, found = page.get_by_role("searchbox"), page.locator(".search li a")
    field.fill("killer WORD")
    found.first.wait_for()
    assert "Glossary" in found.first.inner_text() and page.locator(".search mark").count() == found.count()
    field.press("Escape")
    page.wait_for_function("!document.querySelector('.search li')")
    field.fill("zyzzyva")
    page.get_by_text("0 places").wait_for()
    field.fill("killer word")
    found.first.wait_for()
    field.press("Enter")
    page.keyboard.press("Enter")
    page.wait_for_url("**/glossary.html#*")
    assert said == []
    page.context.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_contents_and_folds_open_and_close(browser, small_site, width):
    page = visited(browser, small_site, f"{QUICK}.html", width)
    contents, code = page.locator(".contents ol"), page.locator(".fold .input_area").first
    assert contents.is_visible() == (width == 1280) and not code.is_visible()
    if width == 390:
        page.get_by_text("On this page").click()
    else:  # beside the text, and still there where the page has been scrolled
        page.evaluate("window.scrollTo(0, 2000)")
        page.locator(".contents [aria-current]").wait_for()
        assert contents.bounding_box()["x"] + contents.bounding_box()["width"] < page.locator("main").bounding_box()["x"]
    contents.get_by_role("link", name="Exercises").click()
    page.wait_for_function("Math.abs(document.getElementById('Exercises').getBoundingClientRect().top) < 300")
    page.get_by_role("button", name="Unfold all code").click()
    assert code.is_visible()
    page.get_by_role("button", name="Fold code").click()
    assert not code.is_visible()
    page.locator(".fold summary").first.press("Enter")
    assert code.is_visible()
    page.context.close()


def test_a_printed_page_holds_the_text_and_no_controls(browser, small_site):
    page = visited(browser, small_site, f"{QUICK}.html", 1280, "dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not any(one.is_visible() for one in page.locator("header, nav, input, .fold").all())
    assert page.locator("main h2").first.is_visible() and page.locator(".flipbook img:visible").count() == 1
    page.screenshot(path=artefacts() / "site_print.png")
    page.context.close()


SCROLLS = """() => [...document.querySelectorAll("*")].filter(
  one => one.scrollWidth > one.clientWidth && ["auto", "scroll"].includes(getComputedStyle(one).overflowX))"""


@pytest.mark.parametrize("width", [390, 1280])
def test_a_static_page_scrolls_down_only_and_the_keyboard_reaches_what_scrolls(browser, tmp_path, width):
    build([ROOT / "notebooks" / "04_rotations.ipynb"], tmp_path, books=False)  # the longest formulas in a line
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme="dark")
    page.goto((tmp_path / "04_rotations.html").as_uri())
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width
    assert (page.evaluate(f"({SCROLLS})().length") > 10) == (width == 390)  # a line of code fits where there is room
    assert page.evaluate(f"({SCROLLS})().filter(one => one.tabIndex < 0).length") == 0
    assert page.locator("[tabindex]").count() == page.evaluate(f"({SCROLLS})().length")  # and no other is in the way
    cut = "[...document.querySelectorAll('p, ul, ol')].filter(one => one.scrollHeight > one.clientHeight + 2).length"
    assert page.evaluate(cut) == 0
    page.screenshot(path=artefacts() / f"site_{width}.png")
    page.close()


@pytest.fixture(scope="module")
def widgets(widgets_lab):
    """name -> the output area of each widget; every one of them has run."""
    panel = widgets_lab.locator(PANEL)
    finished(widgets_lab, panel)
    areas = panel.locator(".jp-OutputArea-output:is(:has(> .widget-vbox), :has(.moving-picture))")
    names = gallery()[1]
    areas.nth(len(names) - 1).wait_for()
    assert areas.count() == len(names) > 0
    return {name: areas.nth(n) for n, name in enumerate(names)}


def test_the_keyboard_alone_reaches_every_control(widgets_lab, widgets):
    """Tab after Tab, from the page's first element on: it meets every control and comes round, so nothing holds it."""
    widgets_lab.evaluate("document.activeElement.blur()")
    wanted = widgets_lab.locator(f"{PANEL} {CONTROLS}")
    count, presses = wanted.count(), 0
    missing = f"[...document.querySelectorAll(`{PANEL} {CONTROLS}`)].filter(one => !one.dataset.met)"
    while widgets_lab.evaluate(f"{missing}.length") and presses < 4 * count + 100:
        for _ in range(10):
            widgets_lab.keyboard.press("Tab")
            widgets_lab.evaluate("document.activeElement.dataset.met = 1")
        presses += 10
    assert widgets_lab.evaluate(f"{missing}.map(one => one.outerHTML.slice(0, 200))") == []
    print(f"{count} controls, met within {presses} presses of Tab")


def test_every_widget_follows_its_control(widgets_lab, widgets):
    """By keyboard; from the key to the picture takes as long as is written down, and no test asks how long.

    One control of each widget, the first slider if there is one; every value of every control is asked without a
    browser by ``lrnnlab book check``, and the keyboard reaches them all (above).
    """
    widgets_lab.evaluate(WATCH)
    latencies, still = {}, []
    for name, area in widgets.items():
        area.scroll_into_view_if_needed()
        control = main_control(area)
        ms = moved(widgets_lab, area, control)
        if kind(control) == "slider" and ms is not None:
            latencies[name] = ms
        if ms is None:
            said = control.evaluate("one => one.outerHTML.slice(0, 120)")
            still.append(f"{name}: no other picture within {MS / 1000:.0f} s of a key for {said}")
        area.screenshot(path=artefacts() / f"{name.replace(' ', '_')}.png")
    report(latencies)
    assert still == []


def test_every_slider_follows_the_pointer(widgets_lab, widgets):
    """A click near the end of the track that is farther from the handle; some picture changes as it does by key."""
    followed = 0
    for name, area in widgets.items():
        track = area.locator(".noUi-target").first
        if not track.count():
            continue
        area.scroll_into_view_if_needed()
        before, box = area.evaluate(PICTURE), track.bounding_box()
        handle = track.locator(".noUi-handle").bounding_box()
        share = 0.95 if handle["x"] + handle["width"] / 2 < box["x"] + box["width"] / 2 else 0.05
        widgets_lab.mouse.click(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
        ends = time.monotonic() + MS / 1000
        while area.evaluate(PICTURE) == before:
            assert time.monotonic() < ends, f"{name}: no other picture within {MS / 1000:.0f} s of a click"
            widgets_lab.wait_for_timeout(20)
        followed += 1
    assert followed > 20


OWN = [  # machines that a reader types, and how many states the smallest has
    ("(ab|ba)*c", 5), ("(a|b)*abb", 4), ("(aa|b)*", 3), ("(aaa|b)*", 4), ("b*(ab*ab*)*", 2),
    ("even a odd*; odd a even; even b even; odd b odd", 2), ("0 a 1; 1 a 2; 2 a 0*; 0 b 0*; 1 b 1; 2 b 2", 3),
    ("n a x; n b y*; x a x; x b y*; y a x; y b y*", 2), ("p a q; q a p; q b r*; r b q; p b p; r a r*", 3),
    (";".join(f"{n} a {(n + 1) % 12}{'*' * (n == 11)};{n} b {n}{'*' * (n == 0)}" for n in range(12)), 12),
]  # fmt: skip
BROKEN = ["((", "a b", "a*", "q a r; q a s", "(a|b)" * 80]


def test_a_machine_of_ones_own_is_typed(widgets_lab, widgets):
    """Ten machines are drawn and told; five inputs that are none get a sentence, and the picture stays."""
    area = widgets["10 machine_widget"]
    area.scroll_into_view_if_needed()
    box, seconds = area.get_by_role("textbox"), []
    for text, states in OWN:
        began = time.monotonic()
        box.fill(text)
        box.press("Enter")
        area.get_by_text(f"{states} states;").wait_for()
        seconds.append(time.monotonic() - began)
    picture = area.evaluate(PICTURE)
    for text in BROKEN:
        said = area.inner_text()
        box.fill(text)
        box.press("Enter")
        ends = time.monotonic() + MS / 1000
        while area.inner_text() == said and time.monotonic() < ends:
            widgets_lab.wait_for_timeout(20)
        assert "states;" not in area.inner_text() and area.evaluate(PICTURE) == picture
    print(f"from Enter to what is told: median {statistics.median(seconds):.2f} s, at most {max(seconds):.2f} s")


def main_control(area):
    """The first slider; else the first control that is not the button of what is shown already."""
    slider = area.get_by_role("slider").first
    if slider.count():
        return slider
    shown = "one => one.classList.contains('mod-active')"
    return next(one for one in area.locator(CONTROLS).all() if not one.evaluate(shown))


def moved(page, area, control):
    """Milliseconds from the key to another picture, or to another sentence after typing (0); None if neither came."""
    before, said = area.evaluate(PICTURE), area.inner_text()
    seen = page.evaluate("watch.pictures.length")
    change(page, control)
    ms = next_picture(page, seen)
    if ms is not None and area.evaluate(PICTURE) != before:
        return ms
    return 0.0 if kind(control) == "input" and area.inner_text() != said else None


def report(latencies):
    median = statistics.median(latencies.values())
    print(f"from slider to picture: median {median:.0f} ms of {len(latencies)} (aim: 90 ms on two idle cores)")
    told = {"median_ms": round(median), "cores": os.cpu_count(), "load": os.getloadavg()[0],
            "widgets": {name: round(ms) for name, ms in latencies.items()}}  # fmt: skip
    (artefacts() / "latency.json").write_text(json.dumps(told, indent=1))


# --- when there is no browser ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "environ, must",
    [
        ({}, False),
        ({"CI": "true"}, True),
        ({"CI": "false"}, False),
        ({"CI": "1", "LRNNLAB_BROWSER": "optional"}, False),
        ({"LRNNLAB_BROWSER": "required"}, True),
    ],
)
def test_when_a_browser_must_be_there(environ, must):
    assert required(environ) is must


def test_a_wrong_setting_and_a_missing_program_are_told():
    with pytest.raises(ValueError, match="'always'"):
        required({"LRNNLAB_BROWSER": "always"})
    assert chromium({"LRNNLAB_CHROMIUM": "no-such-browser"}) is None
