"""What a reader of the finished pages stumbles over: dead links, mute pictures, raw formulas, calls to the network."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from workbook.book.inspection import Problem, is_mute

RAW = re.compile(r"\$\$|(?<!\\)\$[^$\n]*\\[A-Za-z]+[^$\n]*\$|\\(?:begin|frac|lambda|mathbf|sum)\b")
FETCHES = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "video": "src"}
VERBATIM = {"pre", "code", "script", "style"}  # text there is quoted, not typeset


class _Page(HTMLParser):
    """What one page holds: ids, links, what it fetches, pictures without words, and its running text."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.pictures: list[str] = []  # the alternative text of each
        self.mute: list[str] = []
        self.words: list[str] = []
        self.headings: list[int] = []
        self.controls: list[str] = []
        self.labelled: set[str] = set()
        self._quoted = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        self._quoted += tag in VERBATIM
        if "id" in said:
            self.ids.append(said["id"])
        if tag == "a" and "href" in said:
            self.links.append(said["href"])
        if said.get(FETCHES.get(tag, "")):
            self.fetched.append(said[FETCHES[tag]])
        if tag == "img":
            self.pictures.append(said.get("alt", "").strip())
        if is_mute(tag, attrs):
            self.mute.append(f"<{tag}>" if tag == "svg" else f"<img src={said.get('src', '')[:60]}>")
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag in {"input", "select", "textarea"} and not said.get("aria-label"):
            self.controls.append(said.get("id", ""))
        if tag == "label":
            self.labelled.add(said.get("for", ""))

    def handle_endtag(self, tag: str) -> None:
        self._quoted -= tag in VERBATIM

    def handle_data(self, data: str) -> None:
        if not self._quoted:
            self.words.append(data)


def read(page: Path) -> _Page:
    """One page, taken apart."""
    found = _Page()
    found.feed(page.read_text(encoding="utf-8"))
    found.close()
    return found


def faults(folder: Path) -> list[Problem]:
    """Everything wrong with the pages in ``folder``, page by page; follows no link out of it.

    Kinds: link (a file or a place in it that is not there), id (the same one twice), alt (a picture or a control
    without words), mathematics (LaTeX left as text), network (something the page would fetch), heading (not one title).

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.html").write_text('<h1>A</h1><a href="b.html">b</a> $$x$$')
    >>> [problem.kind for problem in faults(folder)]
    ['link', 'mathematics']
    """
    pages = {path.resolve(): read(path) for path in sorted(Path(folder).rglob("*.html"))}
    if not pages:
        raise ValueError(f"no page to check in {folder}")
    found = []
    for path, page in pages.items():
        if path.relative_to(Path(folder).resolve()).parts[0] == "api":  # pdoc's own: held to one thing, no network
            outside = dict.fromkeys(target for target in page.fetched if _outside(target))
            found += [Problem(path.stem, 0, "network", f"would fetch {target}") for target in outside]
            continue
        kinds = [("link", fault) for target in page.links for fault in _dead(path, target, pages)]
        kinds += [
            ("link", fault) for target in page.fetched if not _outside(target) for fault in _dead(path, target, pages)
        ]
        kinds += [("network", f"would fetch {target}") for target in page.fetched if _outside(target)]
        kinds += [("alt", f"{tag} without alternative text") for tag in page.mute]
        kinds += [
            ("alt", f"the control {id or '(no id)'} has no label") for id in page.controls if id not in page.labelled
        ]
        kinds += [("id", f"{id!r} is there twice") for id in dict.fromkeys(page.ids) if page.ids.count(id) > 1]
        kinds += [("mathematics", f"is left as text: {raw[0]!r}") for raw in RAW.finditer("".join(page.words))]
        if page.headings.count(1) != 1:
            kinds.append(("heading", f"{page.headings.count(1)} first-level headings, and a page has one"))
        found += [Problem(path.stem, 0, kind, fault) for kind, fault in dict.fromkeys(kinds)]
    return found


def _outside(target: str) -> bool:
    return target.startswith("//") or urlsplit(target).scheme in {"http", "https", "ftp"}


def _dead(page: Path, target: str, pages: dict[Path, _Page]) -> list[str]:
    parts = urlsplit(target)
    if parts.scheme or target.startswith("//"):
        return []  # data: and mailto: are whole in themselves, the network is not asked
    file = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not file.is_file():
        return [f"leads to {target}, which is not there"]
    if parts.fragment and file in pages and not {parts.fragment, unquote(parts.fragment)} & set(pages[file].ids):
        return [f"leads to {target}, and that page has no such place"]
    return []
