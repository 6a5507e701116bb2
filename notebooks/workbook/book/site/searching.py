"""The index that a page's search reads: every section of the site, its heading and its running text, as JavaScript.

A script and not JSON, since a page that was opened from a disk (``file://``) may load the one and not the other.
"""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

QUIET = {"pre", "script", "style", "summary"}  # code and its output, which nobody searches for in words
RUNNING = {"a", "b", "code", "em", "i", "span", "strong", "sub", "sup"}  # no blank where these end


class _Sections(HTMLParser):
    """A page, cut at its headings: [id, heading, text], the first without a heading of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[list[str]] = [["", "", ""]]
        self._within = 2  # 1: in a heading, 2: in the text
        self._quiet = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        if re.fullmatch("h[1-4]", tag) and said.get("id"):
            self.found.append([said["id"] or "", "", ""])
            self._within = 1
        elif self._within == 1 and said.get("class") == "anchor-link":
            self._within = 2  # the mark behind a heading
        self._quiet += tag in QUIET

    def handle_endtag(self, tag: str) -> None:
        self._quiet -= tag in QUIET
        if re.fullmatch("h[1-4]", tag):
            self._within = 2
        if tag not in RUNNING and not re.fullmatch("m[a-z]+", tag):
            self.found[-1][self._within] += " "

    def handle_data(self, data: str) -> None:
        if not self._quiet and data != "#":
            self.found[-1][self._within] += data


def sections(html: str) -> list[list[str]]:
    """The sections of a page as ``[id, heading, text]``, without its code.

    >>> sections('<h2 id="a">One</h2><p>It <em>is</em>.</p><pre>x = 1</pre>')
    [['a', 'One', 'It is.']]
    """
    parser = _Sections()
    parser.feed(html)
    parser.close()
    found = [[id, " ".join(heading.split()), " ".join(text.split())] for id, heading, text in parser.found]
    return [one for one in found if one[1] or one[2]]


def index(pages: list[tuple[str, str, str]]) -> bytes:
    """The script of the index: ``(file, title, HTML)`` of each page -> ``BOOK``, a list of pages and their sections.

    >>> index([("a.html", "A", "<h1 id='a'>A</h1><p>Text.</p>")]).decode()
    'var BOOK = [["a.html", "A", [["a", "A", "Text."]]]];\\n'
    """
    found = [[file, title, sections(html)] for file, title, html in pages]
    return f"var BOOK = {json.dumps(found, ensure_ascii=False)};\n".encode()
