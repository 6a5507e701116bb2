"""The pages as a browser draws them: boxes cut without a sign, unset LaTeX, columns that touch, links that lead nowhere."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lrnnbook.machinery.book.browser import required_chromium
from lrnnbook.machinery.book.running import BookError

LOOK = Path(__file__).with_name("look.js").read_text(encoding="utf-8")
WIDTHS = (390, 1280)  # a telephone, a laptop
SETTLE = """async () => {  // the page has had one width for ten frames: sidebars have come or gone
  for (let width, still = 0; still < 10; ) {
    await new Promise(requestAnimationFrame);
    const now = (document.querySelector(".bd-article") ?? document.body).clientWidth;
    still = now === width ? still + 1 : 0;
    width = now;
  }
}"""
ADDRESS = re.compile(r"""\b(?:href|src)=(?:"([^"]*)"|'([^']*)')""")
MARK = re.compile(r"""\b(?:id|name)=(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""")
NOT_READ = re.compile(r"<!--.*?-->|(<script\b[^>]*>).*?</script>|<template\b.*?</template>", re.DOTALL)


def pages_of(site: Path) -> list[Path]:
    """The pages of a site to be read; in ``_static`` are templates, and slides are parts of these pages for a wall."""
    return [page for page in sorted(site.rglob("*.html")) if "_static" not in page.relative_to(site).parts
            and not page.stem.endswith("_slides")]  # fmt: skip


def look(site: Path) -> list[str]:
    """Everything wrong with the pages in ``site``; BookError where there is no browser to look with."""
    try:
        from playwright.sync_api import sync_playwright

        program = required_chromium()
    except ImportError:
        raise BookError("the pages are looked at in a browser by Playwright: pip install playwright") from None
    except FileNotFoundError as error:
        raise BookError(f"the pages are looked at in a browser, and {error}") from None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        found = faults(browser, site, pages_of(site))
        browser.close()
    return found


def faults(browser, site: Path, pages: Sequence[Path]) -> list[str]:
    """What is wrong with these pages of a site, drawn by Playwright's ``browser``, which has no network."""
    page = browser.new_page(offline=True, reduced_motion="reduce")
    found = [f"{file.relative_to(site)} {said}" for file in pages for said in drawn_faults(page, file)]
    page.close()
    return dead_links(site, pages) + found


def drawn_faults(page, file: Path) -> Iterator[str]:
    """What is wrong with a page at each width, with everything unfolded; the width that the window has comes first."""
    page.goto(file.as_uri())
    page.evaluate("""async () => {
      document.querySelectorAll("details").forEach(one => { one.open = true; });
      const shown = [...document.querySelectorAll("img")].filter(one => one.checkVisibility());
      shown.forEach(one => { one.loading = "eager"; });
      await Promise.all([document.fonts.ready, ...shown.map(one => one.decode().catch(() => null))]);
    }""")
    for width in sorted(WIDTHS, key=lambda one: one != page.viewport_size["width"]):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(SETTLE)
        for kind, words in page.evaluate(LOOK):
            yield f"at {width} px: {words!r} {kind}"


def dead_links(site: Path, pages: Iterable[Path]) -> list[str]:
    """Links and pictures of ``pages`` whose file, or whose place in it, is not there."""
    @cache
    def text(file: Path) -> str:
        return NOT_READ.sub(r"\1", file.read_text(encoding="utf-8"))

    @cache
    def marks(file: Path) -> set[str]:
        return {"", "top", *(unquote("".join(one)) for one in MARK.findall(text(file)))}

    found = []
    for page in pages:
        for address in dict.fromkeys("".join(one) for one in ADDRESS.findall(text(page))):
            parts = urlsplit(address.replace("&amp;", "&"))
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)) if parts.path else page
            there = target.exists()
            if not there or (target.suffix == ".html" and unquote(parts.fragment) not in marks(target)):
                found.append(f"{page.relative_to(site)}: the link {address} leads nowhere")
    return found
