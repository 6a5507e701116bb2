"""A real browser for test_browser.py: which one, whether it must be there, and what a reader does with a page of it.

LRNNLAB_BROWSER    required: a missing browser fails; optional: it is skipped, loudly; not set: required where CI is set
LRNNLAB_CHROMIUM   the browser's program (lrnnbook.machinery.book.browser)
LRNNLAB_ARTEFACTS  where screenshots and latencies go; default: build/browser in the repository, which git ignores
"""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# How long every wait is, for what takes a second on an idle machine: a busy one is no fault of the page.
MS = 150_000
PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden)"
CONTROLS = ":is(.widget-box, .moving-picture) :is([role=slider], button, select, input)"

# From a key to the next picture that is shown, whichever it is.
WATCH = """() => {
  window.watch = {pressed: 0, pictures: []};
  document.addEventListener("keydown", () => { watch.pressed = performance.now(); }, true);
  document.addEventListener("load", event => {
    if (event.target.tagName === "IMG") watch.pictures.push(performance.now() - watch.pressed);
  }, true);
  new MutationObserver(changes => {
    const drawn = changes.some(change => change.target.closest?.(".moving-picture .panels"));
    if (drawn) requestAnimationFrame(() => watch.pictures.push(performance.now() - watch.pressed));
  }).observe(document.body, {subtree: true, childList: true, attributes: true});
}"""
PICTURE = """async panel => {
  if (!panel.querySelector("img")) return panel.querySelector(".moving-picture .panels").innerHTML;
  const bytes = await (await fetch(panel.querySelector("img").src)).arrayBuffer();
  return Array.from(new Uint8Array(await crypto.subtle.digest("SHA-1", bytes))).join();
}"""
# What reaches beyond the right edge of the window and cannot be scrolled there: a reader never sees it.
CUT = """() => {
  const scrolls = one => one && (["auto", "scroll"].includes(getComputedStyle(one).overflowX) || scrolls(one.parentElement));
  return [...document.body.querySelectorAll("*")]
    .filter(one => one.getBoundingClientRect().right > innerWidth + 1 && !scrolls(one.parentElement))
    .map(one => one.outerHTML.slice(0, 100));
}"""
# Axe takes 3 ms for the contrast of one text, and a page of code has thousands.  So it looks at the first three of each colour,
# size, weight, line and ground; ``seen`` counts them, on other pages too.
COLOURS = """seen => {
  const styles = new Map(), style = one => styles.get(one) ?? styles.set(one, getComputedStyle(one)).get(one);
  const drawn = one => ["color", "fontSize", "fontWeight", "textDecorationLine", "textShadow"].map(name => style(one)[name]).join();
  const grounds = new Map(), ground = one => {
    if (!one || grounds.has(one)) return grounds.get(one) ?? "";
    const { backgroundColor, backgroundImage, opacity } = style(one), own = [backgroundColor, backgroundImage, opacity].join();
    const all = own === "rgba(0, 0, 0, 0),none,1" ? ground(one.parentElement) : `${own} ${ground(one.parentElement)}`;
    return grounds.set(one, all).get(one);
  };
  for (const one of document.body.querySelectorAll("*")) {
    one.removeAttribute("data-colour");
    const words = [...one.childNodes].map(node => node.nodeType === 3 ? node.data.trim() : "").join("");
    const says = one.matches("input, select, textarea") || words.length > 1;  // of one letter axe says nothing
    const { right, bottom, width } = one.getBoundingClientRect();  // of what only a screen reader meets: 1 pixel, or far left
    if (!says || one.closest("math") || !one.checkVisibility({ visibilityProperty: true }) || right < 0 || bottom < 0 || width < 2) continue;
    const link = one.closest("a"), key = [drawn(one), link ? drawn(link.parentElement) : "", ground(one)].join(" | ");
    if ((seen[key] ?? 0) === 3) continue;
    seen[key] = (seen[key] ?? 0) + 1;
    for (const marked of [one, link]) marked?.setAttribute("data-colour", "");
  }
  axe.configure({ rules: [{ id: "color-contrast", selector: "[data-colour]" }, { id: "link-in-text-block", selector: "a[data-colour]" }] });
  return seen;
}"""
RAN = ".jp-CodeCell .jp-InputPrompt:text-matches('[0-9]')"
# How a run that was asked for stands; a cell whose code is folded shows no number.  A kernel that has just started may
# miss the first message: then the cells go back to "[ ]" while it idles, and a reader would press again.
STATE = """([panel, first]) => {
  const all = [...panel.querySelectorAll(".jp-CodeCell")]
    .map(cell => cell.querySelector(".jp-InputPrompt")).map(prompt => prompt?.textContent.trim());
  const counts = all.filter(Boolean);
  if (panel.querySelector("[data-mime-type='application/vnd.jupyter.error']")) return "failed";
  if (all.every((count, n) => !count || count === `[${n + first}]:`)) return "finished";
  const idle = panel.querySelector(".jp-Notebook-ExecutionIndicator[data-status=idle]");
  return idle && counts.every(count => count === "[ ]:") ? "missed" : null;
}"""


def artefacts(environ=os.environ):
    """The folder of screenshots and latencies, made."""
    folder = Path(environ.get("LRNNLAB_ARTEFACTS") or ROOT / "build" / "browser")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def violations(page, seen=None, colours_only=False):
    """What axe-core finds, less what it calls minor; it stays out of formulas, which it has no rules for.  Of texts that look
    alike it checks the colours of three, on all pages that share ``seen``, a dict."""
    from axe_playwright_python.sync_playwright import Axe

    seen = {} if seen is None else seen
    before = dict(seen)
    page.evaluate("window.axe?.version") or page.evaluate(Axe().axe_script)
    seen |= page.evaluate(COLOURS, seen)
    if colours_only and seen == before:
        return []
    options = {"resultTypes": ["violations"], "preload": False, **({"runOnly": ["color-contrast", "link-in-text-block"]} if colours_only else {})}
    found = page.evaluate("options => axe.run({exclude: ['math']}, options)", options)["violations"]
    return [(one["id"], one["impact"], one["nodes"][0]["html"]) for one in found if one["impact"] != "minor"]


def required(environ=os.environ):
    """Whether a missing browser is a failure: LRNNLAB_BROWSER says so, or CI is set and it does not say otherwise."""
    said = environ.get("LRNNLAB_BROWSER", "")
    if said not in ("", "required", "optional"):
        raise ValueError(f"LRNNLAB_BROWSER is 'required' or 'optional', got {said!r}")
    return said == "required" or (not said and environ.get("CI", "").lower() not in ("", "0", "false"))


def open_notebook(page, name):
    """Double-click a notebook in the file browser; gives its panel, with its title on the screen."""
    close_dialog(page)
    page.locator(f".jp-DirListing-item[title^='Name: {name}.ipynb']").dblclick()
    page.locator(PANEL).locator("h1").first.wait_for()
    tab = page.locator(".lm-DockPanel-tabBar .lm-mod-current .lm-TabBar-tabLabel")
    assert tab.inner_text() == f"{name}.ipynb"
    return page.locator(PANEL)


def close_notebook(page):
    """Close the only notebook, unsaved: what lies behind makes all that comes later slower."""
    page.locator(".lm-DockPanel-tabBar .lm-mod-current .lm-TabBar-tabCloseIcon").click()
    gone, discard = "() => !document.querySelector('.jp-NotebookPanel')", page.get_by_role("button", name="Discard")
    page.wait_for_function(f"() => document.querySelector('.jp-Dialog') || ({gone})()")
    if discard.count():  # a kernel that has started writes its version into the notebook
        discard.click()
    page.wait_for_function(gone)


def kernel_idle(page):
    """Wait until the kernel of the notebook in front says that it waits."""
    page.locator(f"{PANEL} .jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for()


def close_dialog(page):
    """Press Escape where JupyterLab asks, as a reader does, and print what it said: a kernel died, a save came late."""
    for dialog in page.locator(".jp-Dialog").all():
        print(f"JupyterLab said: {dialog.inner_text()}")
        page.keyboard.press("Escape")
        dialog.wait_for(state="detached")


def run_all(page):
    """*Run All Cells* from the menu of the notebook in front."""
    kernel_idle(page)
    close_dialog(page)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()


def run_until(page, seen):
    """*Run All Cells* until this is seen; again where a kernel that has just started missed the first message."""
    from playwright.sync_api import TimeoutError as Late

    for attempt in range(3):
        run_all(page)
        try:
            return seen.wait_for(timeout=MS if attempt == 2 else MS / 3)
        except Late:
            if attempt == 2:
                raise


def write(page, cell, text):
    """Click into a code cell, and put this text in place of what it holds."""
    from playwright.sync_api import expect

    cell.locator(".cm-content").click()
    cell.locator(".cm-focused").wait_for()  # else the keys are the notebook's: Ctrl+A takes all cells
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)
    expect(cell.locator(".cm-line")).to_have_text(text.splitlines())


def finished(page, panel, first=1):
    """Wait until all cells have run, the first as the kernel's number ``first``; AssertionError for an error."""
    state = _state(page, panel, first)
    for _ in range(3):
        if state != "missed":
            break
        run_all(page)
        state = _state(page, panel, first)
    errors = panel.locator("[data-mime-type='application/vnd.jupyter.error']").all_inner_texts()
    assert state == "finished", [state, *errors]


def _state(page, panel, first):
    """finished, failed or missed; where no cell more has run for as long as we wait, what the page says."""
    from playwright.sync_api import TimeoutError as Late

    page.wait_for_timeout(2000)  # a run that was just asked for shows only when the kernel has heard of it
    ran = -1
    while (now := panel.locator(RAN).count()) > ran:
        ran = now
        try:
            return page.wait_for_function(STATE, arg=[panel.element_handle(), first], polling=250).json_value()
        except Late:
            continue
    page.screenshot(path=artefacts() / "not_finished.png")
    return f"{ran} cells have run, and none for {MS / 1000:.0f} s: {panel.inner_text()[-2000:]}"


def kind(control):
    """slider, button, select or input."""
    return control.evaluate("one => one.type === 'range' ? 'slider' : one.getAttribute('role') || one.tagName.toLowerCase()")


def change(page, control):
    """Give a control its next value by keyboard; from the last one a slider and a menu go back."""
    what = kind(control)
    control.focus()
    if what == "slider":
        last = control.evaluate("one => +(one.ariaValueNow ?? one.value) >= +(one.ariaValueMax ?? one.max)")
        page.keyboard.press("ArrowLeft" if last else "ArrowRight")
    elif what == "select":  # JupyterLab takes the arrows of a menu that is shut for itself
        page.keyboard.press("Alt+ArrowDown")
        last = control.evaluate("one => one.selectedIndex === one.options.length - 1")
        page.keyboard.press("ArrowUp" if last else "ArrowDown")
        page.keyboard.press("Enter")
    elif what == "button":
        page.keyboard.press("Enter")
    else:
        page.keyboard.press("End")
        page.keyboard.type("1")
        page.keyboard.press("Enter")


def next_picture(page, seen):
    """Milliseconds from the last key to the picture after the first ``seen`` ones, or None where none comes."""
    from playwright.sync_api import TimeoutError as NoPicture

    try:
        page.wait_for_function("seen => watch.pictures.length > seen", arg=seen)
    except NoPicture:
        return None
    return page.evaluate("watch.pictures.at(-1)")
