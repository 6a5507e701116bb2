"""At most eight slides a chapter, cut out of its page: the picture, the question, a picture for each step, what to remember.

A slide is for a class that has not read: a heading, a sentence or the claim, and a picture.  A section's picture is that of
a cell tagged ``slide`` where there is one, else its first.  Nothing but the page's own files is used.
"""

from collections.abc import Iterator
from copy import copy
from html import escape
from pathlib import Path

from bs4 import BeautifulSoup, Tag

MOST = 8  # slides of a chapter
MOST_WORDS = 60  # of a paragraph on a slide
ABOUT_THE_BOOK = ("The map", "How to read a number", "Your copy, and how far you have come", "Read on", "Exercises")
PAGE = """<!DOCTYPE html>
<html lang="en" data-theme="light"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}: slides</title>
{links}<link rel="stylesheet" href="_static/slides.css"><script defer src="_static/book.js"></script><script defer src="_static/slides.js"></script></head>
<body><main class="bd-article">
{slides}
</main><p class="at" aria-live="polite"></p><p class="keys">Arrow keys turn the slides. <a href="{page}">The chapter</a></p></body></html>
"""


def write_slides(page: Path) -> int:
    """Write ``NAME_slides.html`` beside a chapter's page; return how many slides it has."""
    read = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    for needless in read.select(".headerlink, details, .toggle, article script:not(.output script)"):
        needless.decompose()
    for named in read.select("article [id]:not(input, select)"):  # a heading's own place is in the chapter
        del named["id"]
    chapter = read.select_one("article > section") or read.select_one("article section")
    found = list(_slides(chapter))
    links = "".join(f"{link}\n" for link in read.head.select('link[rel="stylesheet"]'))
    slides = "\n".join(f'<section class="slide" tabindex="-1">{"".join(map(str, parts))}</section>' for parts in found)
    text = PAGE.format(title=escape(chapter.h1.get_text()), links=links, slides=slides, page=page.name)
    page.with_name(f"{page.stem}_slides.html").write_text(text, encoding="utf-8")
    return len(found)


def _slides(chapter: Tag) -> Iterator[list[Tag]]:
    """The parts of each slide, in the order of the page."""
    own = [part for part in chapter.find_all(recursive=False) if part.name != "section"]
    sections = chapter.find_all("section", recursive=False)
    picture = _picture(own)
    yield [*[part for part in own if part.name in ("h1", "p")][:2], *picture]
    early = [*own, *(sections[0].find_all(recursive=False) if sections else [])]
    if asked := [part for part in early if part.name in ("p", "blockquote") and part.strong and "?" in part.strong.get_text()]:
        yield [_heading("What do you think?"), asked[0] if asked[0].name == "blockquote" else asked[0].strong]
    steps = [section for section in sections if section.h2 and section.h2.get_text().strip() not in ABOUT_THE_BOOK and _picture(section.find_all(recursive=False))]
    for section in steps[: MOST - 3]:
        parts = section.find_all(recursive=False)
        said = [part for part in parts if part.name == "blockquote"] or [part for part in parts if part.name == "p"]
        short = [part for part in said if len(part.get_text().split()) <= MOST_WORDS]
        formula = [after for part in short[:1] for after in part.find_next_siblings(limit=1) if "formula" in (after.get("class") or ())]
        yield [section.h2, *short[:1], *formula, *_picture(parts)]
    for section in sections:
        if section.h2 and section.h2.get_text().strip() == "What to remember":
            yield [section.h2, *section.find_all(["ol", "ul"], recursive=False)[:1]]


def _picture(parts: list[Tag]) -> list[Tag]:
    """The picture that stands for these parts of a page: the output of a cell, without the cell."""
    shows = [part for part in parts if part.select_one(".cell_output img, .cell_output svg, .cell_output figure")]
    tagged = [part for part in shows if "tag_slide" in (part.get("class") or ())]
    outputs = [copy(output) for part in (tagged or shows)[:1] for output in part.select(".cell_output")]
    for printed in (text for output in outputs for text in output.select(".stream, .text_plain")):
        printed.decompose()
    return outputs


def _heading(text: str) -> Tag:
    return BeautifulSoup(f"<h2>{text}</h2>", "html.parser").h2
