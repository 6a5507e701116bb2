"""What can be seen wrong in a notebook without running it."""

import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from nbformat import NotebookNode

from lrnnbook.machinery.book.cell_dependencies import bound_again
from lrnnbook.machinery.book.outputs import DATA_URI, WIDGET_VIEW, is_picture, on_stderr, texts, unlike, without_colour
from lrnnbook.machinery.book.running import IGNORE, KERNEL, RAISES, VARIES, Execution, is_code, tags, where

KNOWN_TAGS = {IGNORE, RAISES, VARIES}
NO_DESCRIPTION = "No description has been provided for this image"  # what nbconvert says of a picture that has none
WIDGET_TEXT = re.compile(r"\w+\(children=\(|Moving\(")  # Explorer(children=(Box(...: a widget in a kernel's words
MACHINE_PATHS = re.compile(
    r"(?<![\w.~])/(?:home|Users|root|tmp|var/folders)/[^\s'\"<>)]+"
    r"|\b[A-Z]:\\Users\\\S+|[^\s'\"<>(]*/site-packages/\S+"
)


@dataclass(frozen=True)
class Problem:
    """One thing wrong with one notebook: ``cell`` counts from 1 over all cells (0: the notebook as a whole), ``kind`` is
    one word or two, ``place`` says the cell in words."""

    notebook: str
    cell: int
    kind: str
    message: str
    place: str = ""

    def __str__(self) -> str:
        place = self.place or (f"cell {self.cell}" if self.cell else "")
        return f"{self.notebook}{', ' if place else ''}{place}: [{self.kind}] {self.message}"


def inspect(notebook: NotebookNode, name: str = "notebook", root: Path | None = None) -> list[Problem]:
    """Problems of an executed notebook that need no second run.

    Counts must be 1..n, errors in the cells that are tagged ``raises-exception`` and in no others, nothing on stderr,
    every picture with alternative text and none pasted into a text cell, no path of this machine (``root`` is the
    repository), tags that nbval understands, and no name that a cell reads bound anew after it.
    """
    found = []
    if notebook.metadata.get("kernelspec") != KERNEL:
        message = f"the kernel is {notebook.metadata.get('kernelspec')}, not {KERNEL}: build writes the right one"
        found.append(Problem(name, 0, "kernel", message))
    for i, cell in enumerate(notebook.cells):
        faults = [*_tag_faults(cell), *(output_faults(cell, root) if is_code(cell) else _text_faults(cell))]
        found += [Problem(name, i + 1, kind, message, where(notebook.cells, i)) for kind, message in faults]
    return found + _bound_again(notebook, name) + _count_problems(notebook, name)


def _bound_again(notebook: NotebookNode, name: str) -> list[Problem]:
    """Cells that a reader could not run again after Run All: a later cell has put something else under a name they read."""
    places = [i for i, cell in enumerate(notebook.cells) if is_code(cell)]
    found = bound_again([notebook.cells[i].source for i in places])
    return [Problem(name, places[i] + 1, "again", f"reads {word!r}, which {where(notebook.cells, places[j])} binds anew",
                    where(notebook.cells, places[i])) for i, word, j in found]  # fmt: skip


def widget_problems(run: Execution, name: str) -> list[Problem]:
    """What widgets caught instead of letting it be seen: ``interact`` swallows the errors of its callback."""
    found = []
    for i, outputs in run.caught.items():
        for output in outputs:
            if output.output_type == "error":
                message = f"a callback raised {output.ename}: {without_colour(output.evalue)}"
            elif on_stderr(output):
                message = f"a callback wrote to stderr: {output.text.strip()[:300]}"
            else:
                continue
            found.append(Problem(name, i + 1, "widget", message, where(run.notebook.cells, i)))
    return found


def _count_problems(notebook: NotebookNode, name: str) -> list[Problem]:
    cells = [(i, cell) for i, cell in enumerate(notebook.cells) if is_code(cell)]
    never = [i for i, cell in cells if cell.execution_count is None]
    if never:
        message = "has no execution count: it was never run, or its outputs were cleared"
        return [Problem(name, i + 1, "never run", message, where(notebook.cells, i)) for i in never]
    for n, (i, cell) in enumerate(cells, 1):
        if cell.execution_count != n:
            message = f"has execution count {cell.execution_count} and not {n}: not one run from top to bottom"
            return [Problem(name, i + 1, "order", message, where(notebook.cells, i))]
    return []


def _tag_faults(cell: NotebookNode) -> list[tuple[str, str]]:
    found = []
    for tag in tags(cell):
        if tag != tag.lower():
            found.append(("tag", f"{tag!r}: tags are lower case; nbval would silently ignore this one"))
        elif tag not in KNOWN_TAGS and re.match("nbval|raises|skip|var", tag):
            known = ", ".join(sorted(KNOWN_TAGS))
            found.append(("tag", f"{tag!r} is none of the tags the checks know ({known})"))
    return found


def _text_faults(cell: NotebookNode) -> list[tuple[str, str]]:
    if cell.cell_type != "markdown":
        return []
    empty = re.findall(r"!\[\s*\]\(([^)]*)\)", cell.source)
    found = [("alt", f"the picture {target} has no alternative text") for target in empty]
    pasted = [*re.findall(r"\battachment:([^\s\"')>]+)", cell.source), *cell.get("attachments", ())]
    for name in dict.fromkeys(pasted):
        found.append(("picture", f"the pasted picture {name!r} is kept in no source: show it from a code cell"))
    return found + _html_faults(cell.source)


def output_faults(cell: NotebookNode, root: Path | None = None) -> list[tuple[str, str]]:
    """(kind, message) of what is wrong with a code cell's outputs, seen at rest."""
    found = []
    if (IGNORE in tags(cell)) != (VARIES in tags(cell) or unlike(cell.outputs)):
        found.append(("tag", f"{IGNORE} belongs to what varies, pictures and panels: build the notebook"))
    if IGNORE not in tags(cell) and cell.source.rstrip().endswith(";"):
        found.append(("semicolon", "ends in ';': nbval shows the value all the same, so assign it to _ instead"))
    errors = [output for output in cell.outputs if output.output_type == "error"]
    if RAISES not in tags(cell):
        found += [("error", f"holds an error: {one.ename}: {without_colour(one.evalue)}") for one in errors]
    elif not errors and cell.execution_count is not None:
        found.append(("error", "is meant to raise, and did not"))
    for output in cell.outputs:
        if on_stderr(output) and output.text.strip():
            found.append(("warning", f"wrote to stderr: {output.text.strip()[:300]}"))
        data = output.get("data", {})
        if WIDGET_VIEW in data or WIDGET_TEXT.match(data.get("text/plain", "")):
            found.append(("widget", "holds a widget's view, which no static page can show: build the notebook"))
        for mime in data:
            if is_picture(mime):
                found.append(("alt", f"a bare {mime} carries no alternative text: show it with a <figure> and an alt"))
        found += _html_faults(data.get("text/html", ""))
        for text in texts(output):
            found += [("path", f"holds a path of this machine: {path}") for path in _machine_paths(text, root)]
    return found


def _machine_paths(text: str, root: Path | None) -> list[str]:
    text = DATA_URI.sub("", text)
    here = [str(place) for place in (root and root.resolve(), Path.home()) if place and len(place.parts) > 2]
    found = MACHINE_PATHS.findall(text)
    found += [path for path in here if path in text and not any(path in one for one in found)]
    return list(dict.fromkeys(found))


def _html_faults(html: str) -> list[tuple[str, str]]:
    reader = _Pictures()
    reader.feed(DATA_URI.sub("data:", html))
    return [("alt", f"{tag} without alternative text") for tag in reader.mute]


class _Pictures(HTMLParser):
    """Collects the pictures in a piece of HTML that say nothing to a reader who cannot see them."""

    def __init__(self) -> None:
        super().__init__()
        self.mute: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: (value or "").strip() for name, value in attrs}
        if tag == "img" and said.get("alt", "") in {"", NO_DESCRIPTION}:
            self.mute.append("<img>")
        if tag == "svg" and not said.get("aria-label") and said.get("aria-hidden") != "true":
            self.mute.append("<svg> (give it role='img' and an aria-label)")
