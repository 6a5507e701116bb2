"""What a reader does, done in a real browser: open the chapters, run one, move every widget, by keyboard alone."""

import json
import os
import re
import shutil
import statistics
import time
from pathlib import Path

import browser as reader
import nbformat
import pytest
from jupyter_lab import jupyter_lab
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from lrnnbook.machinery import copies
from lrnnbook.machinery.book import compare
from lrnnbook.machinery.book.browser import chromium
from lrnnbook.machinery.book.cell_dependencies import widget_cells
from lrnnbook.machinery.book.running import KERNEL, cleared
from lrnnbook.machinery.book.sync import read_source

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = copies.chapters_in(ROOT / "notebooks")
SOURCES = copies.chapters_in(ROOT / "notebooks" / "py", ".py")
QUICK = "00_start_here"
GALLERY, EMPTY, PREDICTION, RERUN = "gallery", "empty", "prediction", f"again_{QUICK}"
ASK = """from lrnnbook.content.exercises import guess, prediction as predicting
predicting.LATE = 60  # a machine that tests may take longer than half a second
guess("06.10", lambda: (16, "It ran."))"""
IMPORTS = "from pathlib import Path\nfrom lrnnbook.machinery.book.cell_dependencies import widgets"


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
    for name, code in ((EMPTY, ""), (PREDICTION, ASK)):
        made = new_notebook(cells=[new_markdown_cell("# One cell"), new_code_cell(code)], metadata={"kernelspec": KERNEL})
        nbformat.write(made, folder / f"{name}.ipynb")
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
    reader.open_notebook(page, GALLERY)
    reader.run_all(page)
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
    page.set_default_timeout(reader.MS)
    page.goto(server.page(f"lab/workspaces/{name}"))
    return page


def figures(notebook):
    """How many figures a committed chapter holds."""
    cells = nbformat.read(notebook, 4).cells
    outputs = (output.get("data", {}).get("text/html", "") for cell in cells for output in cell.get("outputs", []))
    return sum(str(html).count("<figure") for html in outputs)


# The site's tests look at a page of every notebook; here the sittings and every fourth of the others will do.
DEEPER = [path for path in NOTEBOOKS if path.parent.name == copies.DEEPER]
OPENED = [path for path in NOTEBOOKS if path not in DEEPER or path in DEEPER[::4]]


@pytest.mark.parametrize("notebook", OPENED, ids=lambda notebook: notebook.stem)
def test_a_chapter_opens(lab, notebook):
    from playwright.sync_api import expect

    panel = reader.open_notebook(lab, notebook.stem)
    panel.locator("mjx-container").first.wait_for(state="attached")  # it may be in a folded hint
    lab.screenshot(path=reader.artefacts() / f"{notebook.stem}.png")
    assert lab.locator(".jp-Dialog").count() == 0
    assert panel.locator("mjx-merror").count() == 0
    pictures = panel.locator("figure img")
    expect(pictures).to_have_count(figures(notebook))
    pictures.evaluate_all("all => Promise.all(all.map(one => one.decode()))")  # raises for one that is no picture
    assert all(alt.strip() for alt in pictures.evaluate_all("all => all.map(one => one.alt)"))
    chapters = panel.locator("a[href*='.ipynb']").evaluate_all("all => all.map(one => one.href)")
    assert all(Path(address.split("?")[0]).name in {one.name for one in NOTEBOOKS} for address in chapters)
    reader.close_notebook(lab)


def test_run_all_gives_what_is_committed(lab, folder):
    panel = reader.open_notebook(lab, RERUN)
    reader.run_all(lab)
    reader.finished(lab, panel)
    lab.screenshot(path=reader.artefacts() / f"{RERUN}.png")
    lab.keyboard.press("Control+s")
    lab.wait_for_function("() => !document.querySelector('.lm-DockPanel-tabBar .lm-mod-current.jp-mod-dirty')")
    committed = nbformat.read(ROOT / "notebooks" / f"{QUICK}.ipynb", 4)
    assert [str(fault) for fault in compare(committed, nbformat.read(folder / f"{RERUN}.ipynb", 4), QUICK)] == []


def test_a_new_reader_s_first_minutes(browser, tmp_path, monkeypatch):
    """In a fresh copy chapter 00 runs and proves its result; an exercise is answered wrong, then right, and is counted."""
    from playwright.sync_api import expect

    copies.make(tmp_path / copies.FOLDER)
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(ROOT / ".jupyter"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    with jupyter_lab(tmp_path / copies.FOLDER, tmp_path / "state") as server:
        page = new_lab(browser, server, "first")
        panel, opened = reader.open_notebook(page, QUICK), time.monotonic()
        page.screenshot(path=reader.artefacts() / "first_opened.png")
        reader.run_all(page)
        expect(output(panel, "print(verdict)")).to_have_text(re.compile("^proved for every string"))
        (reader.artefacts() / "first_proved.txt").write_text(f"{time.monotonic() - opened:.0f} seconds after chapter 00 opened\n")
        reader.finished(page, panel)
        for words, outcome in ((["0", "1", "2", "3", "32"], "not yet"), (["0", "1", "2", "3", "4"], "right")):
            reader.write(page, cell_of(panel, 'check("00.2"'), f'my_words = {words}\ncheck("00.2", my_words)')
            page.keyboard.press("Shift+Enter")
            expect(cell_of(panel, 'check("00.2"').locator(".jp-OutputArea-output b")).to_have_text(outcome)
            page.screenshot(path=reader.artefacts() / f"first_{outcome.replace(' ', '_')}.png")
        cell_of(panel, "progress()").locator(".cm-content").click()
        page.keyboard.press("Shift+Enter")
        expect(cell_of(panel, "progress()").locator("tr", has_text="00 start here")).to_contain_text("1 of 4")
        page.screenshot(path=reader.artefacts() / "first_progress.png")
        assert panel.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0
        page.close()


def cell_of(panel, code):
    """The code cell that holds this."""
    return panel.locator(".jp-CodeCell").filter(has=panel.page.locator(".cm-content", has_text=code))


def output(panel, code):
    """What that cell has printed."""
    return cell_of(panel, code).locator(".jp-OutputArea-output pre")


def test_a_kernel_that_dies_is_told_and_started_again(lab, capsys):
    panel = reader.open_notebook(lab, EMPTY)
    reader.write(lab, panel.locator(".jp-CodeCell"), "import os\nos._exit(1)")
    reader.run_until(lab, lab.locator(".jp-Dialog"))
    reader.kernel_idle(lab)
    reader.close_dialog(lab)
    assert "JupyterLab said: Kernel Restarting" in capsys.readouterr().out
    reader.write(lab, panel.locator(".jp-CodeCell"), "1 + 1")
    reader.run_all(lab)
    reader.finished(lab, panel)


def test_a_prediction_is_committed_by_keyboard(lab):
    """The slider goes from 1 over 8 and 16 to 31 faster than the kernel hears of it; what it shows last is meant."""
    panel = reader.open_notebook(lab, PREDICTION)
    reader.run_all(lab)
    reader.finished(lab, panel)
    panel.get_by_role("slider").focus()
    for key in (*["ArrowRight"] * 3, "Tab", "Tab", "Enter"):  # past the slider's number to the button
        lab.keyboard.press(key)
    panel.get_by_text("you predicted 31, and 16 came out").wait_for()
    assert "It ran." in panel.inner_text()
    lab.screenshot(path=reader.artefacts() / "prediction.png")


@pytest.fixture(scope="module")
def widgets(widgets_lab):
    """name -> the output area of each widget; every one of them has run."""
    panel = widgets_lab.locator(reader.PANEL)
    reader.finished(widgets_lab, panel)
    areas = panel.locator(".jp-OutputArea-output:is(:has(> .widget-vbox), :has(.moving-picture))")
    names = gallery()[1]
    areas.nth(len(names) - 1).wait_for()
    assert areas.count() == len(names) > 0
    return {name: areas.nth(n) for n, name in enumerate(names)}


def test_the_keyboard_alone_reaches_every_control(widgets_lab, widgets):
    """Tab after Tab, from the page's first element on: it meets every control that can be seen and comes round, so nothing
    holds it.  Of cells and tiles it meets one, from which arrows go on (``test_playground``)."""
    widgets_lab.evaluate("document.activeElement.blur()")
    wanted = widgets_lab.locator(f"{reader.PANEL} {reader.CONTROLS}")
    count, presses = wanted.count(), 0
    missing = f"""[...document.querySelectorAll(`{reader.PANEL} {reader.CONTROLS}`)].filter(one => one.getClientRects().length && !one.disabled
      && !(one.tabIndex < 0 ? one.closest(".cells, .tiles").querySelector("[tabindex='0']") : one).dataset.met)"""
    while widgets_lab.evaluate(f"{missing}.length") and presses < 4 * count + 100:
        for _ in range(10):
            widgets_lab.keyboard.press("Tab")
            widgets_lab.evaluate("document.activeElement.dataset.met = 1")
        presses += 10
    assert widgets_lab.evaluate(f"{missing}.map(one => one.outerHTML.slice(0, 200))") == []
    print(f"{count} controls, met within {presses} presses of Tab")


def test_every_widget_follows_its_control(widgets_lab, widgets):
    """One control of each widget, by keyboard; the latency is written down, and no test asks how long."""
    widgets_lab.evaluate(reader.WATCH)
    latencies, still = {}, []
    for name, area in widgets.items():
        area.scroll_into_view_if_needed()
        control = main_control(area)
        ms = moved(widgets_lab, area, control)
        if reader.kind(control) == "slider" and ms is not None:
            latencies[name] = ms
        if ms is None:
            said = control.evaluate("one => one.outerHTML.slice(0, 120)")
            still.append(f"{name}: no other picture within {reader.MS / 1000:.0f} s of a key for {said}")
        area.screenshot(path=reader.artefacts() / f"{name.replace(' ', '_')}.png")
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
        before, box = area.evaluate(reader.PICTURE), track.bounding_box()
        handle = track.locator(".noUi-handle").bounding_box()
        share = 0.95 if handle["x"] + handle["width"] / 2 < box["x"] + box["width"] / 2 else 0.05
        widgets_lab.mouse.click(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
        ends = time.monotonic() + reader.MS / 1000
        while area.evaluate(reader.PICTURE) == before:
            assert time.monotonic() < ends, f"{name}: no other picture within {reader.MS / 1000:.0f} s of a click"
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
    picture = area.evaluate(reader.PICTURE)
    for text in BROKEN:
        said = area.inner_text()
        box.fill(text)
        box.press("Enter")
        ends = time.monotonic() + reader.MS / 1000
        while area.inner_text() == said and time.monotonic() < ends:
            widgets_lab.wait_for_timeout(20)
        assert "states;" not in area.inner_text() and area.evaluate(reader.PICTURE) == picture
    print(f"from Enter to what is told: median {statistics.median(seconds):.2f} s, at most {max(seconds):.2f} s")


def main_control(area):
    """The first slider; else the first control that is not the button of what is shown already, or has nothing to do."""
    slider = area.get_by_role("slider").first
    if slider.count():
        return slider
    shown = "one => one.classList.contains('mod-active') || one.ariaPressed === 'true' || one.ariaDisabled === 'true'"
    return next(one for one in area.locator(reader.CONTROLS).all() if not one.evaluate(shown))


def moved(page, area, control):
    """Milliseconds from the key to another picture, or to another sentence after typing (0); None if neither came."""
    before, said = area.evaluate(reader.PICTURE), area.inner_text()
    seen = page.evaluate("watch.pictures.length")
    reader.change(page, control)
    ms = reader.next_picture(page, seen)
    if ms is not None and area.evaluate(reader.PICTURE) != before:
        return ms
    return 0.0 if reader.kind(control) == "input" and area.inner_text() != said else None


def report(latencies):
    median = statistics.median(latencies.values())
    print(f"from slider to picture: median {median:.0f} ms of {len(latencies)} (aim: 90 ms on two idle cores)")
    told = {"median_ms": round(median), "cores": os.cpu_count(), "load": os.getloadavg()[0],
            "widgets": {name: round(ms) for name, ms in latencies.items()}}  # fmt: skip
    (reader.artefacts() / "latency.json").write_text(json.dumps(told, indent=1))


# --- when there is no browser ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("environ, must", [
    ({}, False), ({"CI": "true"}, True), ({"CI": "false"}, False), ({"CI": "1", "LRNNLAB_BROWSER": "optional"}, False),
    ({"LRNNLAB_BROWSER": "required"}, True),
])  # fmt: skip
def test_when_a_browser_must_be_there(environ, must):
    assert reader.required(environ) is must


def test_a_wrong_setting_and_a_missing_program_are_told():
    with pytest.raises(ValueError, match="'always'"):
        reader.required({"LRNNLAB_BROWSER": "always"})
    assert chromium({"LRNNLAB_CHROMIUM": "no-such-browser"}) is None
