"""Write the site: a page a chapter, the flipbooks' pictures beside them, an index."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from copy import deepcopy
from html import escape
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_output

from lrnnlab.book.drifting import read_twin, source_of
from lrnnlab.book.running import BookError
from lrnnlab.book.slicing import widget_cells, widgets
from lrnnlab.book.text import WIDGET
from lrnnlab.explore.show import few_colours
from lrnnlab.site.flipbooks import SCRIPT, book_html, flipbook
from lrnnlab.site.pages import Place, body, framed, lead, title
from lrnnlab.site.style import sheet

MARK = "made-by-lrnnlab.txt"  # lies in a folder that we made, and may empty
QUESTION = "Which recurrent rule can learn a finite-state machine, and keep it at lengths it never saw?"


def build(
    notebooks: Sequence[Path], out: Path, *, books: bool = True, say: Callable[[str], None] | None = None
) -> list[Path]:
    """Write the pages of ``notebooks`` (committed, in the order of the book) into ``out``; return their paths.

    books : make flipbooks, which runs the cells that the widgets need; else a sentence stands where a widget would.

    A link to a chapter that is not among ``notebooks`` becomes plain text.  BookError for a damaged notebook, a formula
    that cannot be converted, and an ``out`` that holds something we did not make; then nothing is written.

    >>> build([Path("notebooks/00_start_here.ipynb")], Path("build/site"))  # doctest: +SKIP
    [PosixPath('build/site/00_start_here.html')]
    """
    out, say = Path(out), say or (lambda line: None)
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / MARK).is_file())):
        raise BookError(f"{out} holds something that is not a site of ours: choose another folder, or delete it")
    read = {Path(path): read_twin(Path(path)) for path in notebooks}
    places = [Place(f"{path.stem}.html", title(notebook)) for path, notebook in read.items()]
    known = frozenset(place.file for place in places)
    files = {"style.css": sheet().encode(), MARK: b"Made by: lrnnlab book site. Made anew each time.\n"}
    for number, (path, notebook) in enumerate(read.items()):
        shown, pictures = _with_books(path, notebook) if books else (notebook, {})
        before, after = (places[n] if 0 <= n < len(places) else None for n in (number - 1, number + 1))
        files[places[number].file] = framed(body(shown, known), places[number], before, after, SCRIPT).encode()
        files |= pictures
        say(f"{path.stem}: {len(pictures)} pictures of {len(widget_cells(notebook))} widgets")
    files["index.html"] = _index(list(read.values()), places).encode()
    shutil.rmtree(out, ignore_errors=True)
    for name, content in files.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(content)
    return [out / place.file for place in places]


def _with_books(path: Path, notebook: NotebookNode) -> tuple[NotebookNode, dict[str, bytes]]:
    """The notebook with a flipbook where a widget's sentence stands, and the pictures: address -> PNG."""
    cells = widget_cells(notebook)
    alive = widgets(source_of(path)) if cells else {}
    notebook, pictures = deepcopy(notebook), {}
    for i, name in cells.items():
        book = flipbook(alive[name])
        addresses = [f"{path.stem}/{name}_{n:02d}.png" for n in range(len(book.frames))]
        pictures |= {address: few_colours(frame.png) for address, frame in zip(addresses, book.frames)}
        html = new_output("display_data", {"text/html": book_html(book, addresses, name)})
        outputs = notebook.cells[i].outputs
        notebook.cells[i].outputs = [
            html if one.get("data", {}).get("text/plain") == WIDGET else one for one in outputs
        ]
    return notebook, pictures


def _index(notebooks: Sequence[NotebookNode], places: Sequence[Place]) -> str:
    entries = "\n".join(
        f'<li><a href="{place.file}">{escape(place.title)}</a>{lead(notebook)}</li>'
        for place, notebook in zip(places, notebooks)
    )
    content = (
        f"<h1>lrnnlab</h1>\n<p>A workbook you can run: linear recurrent networks and formal languages.</p>\n"
        f'<blockquote><p>{QUESTION}</p></blockquote>\n<ol class="chapters">\n{entries}\n</ol>\n'
        "<p>These pages show each chapter as it was committed. Run the chapters to change what they do.</p>"
    )
    return framed(content, Place("index.html", "lrnnlab"), None, None)
