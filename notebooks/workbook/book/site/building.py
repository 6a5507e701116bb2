"""Write the site: a page a chapter, the flipbooks' pictures beside them, an index."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from html import escape
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_output

from lrnnlab.files import is_clutter
from workbook.book.cell_dependencies import widget_cells, widgets
from workbook.book.inspection import inspect
from workbook.book.running import BookError
from workbook.book.site import launch_buttons as travelling
from workbook.book.site.flipbooks import Flipbook, book_html, flipbook, thinner
from workbook.book.site.moving import moving_html, script
from workbook.book.site.pages import GLOSSARY, Place, body, framed, lead, parts, title
from workbook.book.site.reference import reference
from workbook.book.site.script import SCRIPT
from workbook.book.site.searching import index
from workbook.book.site.style import sheet
from workbook.book.sync import read_twin, source_of
from workbook.book.text import WIDGET
from workbook.show.interactive import Moving
from workbook.show.output import few_colours

MARK = "made-by-lrnnlab.txt"  # lies in a folder that we made, and names the files in it: these we may delete
HEAD = "Made by: lrnnlab book site. Made anew each time, these files:"
FONT = Path(__file__).parent / "font"
SHIPPED = {"math.woff2": "math.woff2", "math-font-licence.txt": "OFL.txt"}  # in the site, in FONT
HEAVIEST = 4_000_000  # bytes of the pictures of one page's flipbooks
QUESTION = "Which recurrent rule can learn a finite-state machine, and keep it at lengths it never saw?"


def build(
    notebooks: Sequence[Path],
    out: Path,
    *,
    books: bool = True,
    api: bool = False,
    repository: str | None = None,
    say: Callable[[str], None] | None = None,
) -> list[Path]:
    """Write the pages of ``notebooks`` (committed, in the order of the book) into ``out``; return their paths.

    A link to a chapter that is not among ``notebooks`` becomes plain text.  The site is made beside ``out`` and takes
    its place at the end, so what was there stays as it was where this is stopped or the disk is full.

    Parameters
    ----------
    notebooks : sequence of Path
        The chapters.
    out : Path
        The folder of the site.
    books : bool
        Make flipbooks, which runs the cells that the widgets need; else a sentence stands where a widget would.
    api : bool
        Write the pages of the package's functions too (needs pdoc); the index links them.
    repository : str, optional
        ``owner/name`` on GitHub: then every page has buttons for Colab and Binder.
    say : callable, optional
        Called with a line of text on every step.

    Returns
    -------
    list of Path
        The pages.

    Raises
    ------
    BookError
        For a damaged notebook, one that JupyterLab saved with a widget's view, a formula that cannot be converted, a
        picture pasted into a text cell, a ``repository`` that is none, and an ``out`` that holds something we did not make;
        then nothing is written.

    Examples
    --------
    >>> build([Path("notebooks/00_start_here.ipynb")], Path("build/site"))  # doctest: +SKIP
    [PosixPath('build/site/00_start_here.html')]
    """
    say, place = say or (lambda line: None), Path(out).resolve()
    new, old = (place.with_name(f".{place.name}.lrnnlab-{which}") for which in ("new", "old"))
    if old.exists() and not old.is_symlink() and not place.exists():
        old.rename(place)  # we were stopped between the two last steps
    _check_ours(Path(out))
    if Path.cwd().is_relative_to(place):
        raise BookError(f"{out} is replaced as a whole, and you are in it: start from another folder")
    if repository is not None:
        travelling.checked(repository)
    read = {Path(path): read_twin(Path(path)) for path in notebooks}
    for notebook in read.values():
        notebook.metadata.pop("widgets", None)  # nbconvert wants one shape of it, Colab writes another, pages need none
    if views := [one for path, notebook in read.items() for one in _views(notebook, path.stem)]:
        raise BookError("\n".join(views))
    pages = [Place(f"{path.stem}.html", title(notebook)) for path, notebook in read.items()]
    known = frozenset(page.file for page in pages)
    files = {"style.css": sheet().encode(), "page.js": SCRIPT.encode()}
    files |= {name: (FONT / own).read_bytes() for name, own in SHIPPED.items()}
    sought: list[tuple[str, str, str]] = []
    own = reference() if api else {}
    if api:
        say(f"api: {sum(name.endswith('.html') for name in own)} pages of functions")
    for number, (path, notebook) in enumerate(read.items()):
        shown, pictures = _with_books(path, notebook) if books else (notebook, {})
        before, after = (pages[n] if 0 <= n < len(pages) else None for n in (number - 1, number + 1))
        try:
            content, here = body(shown, known, own), pages[number]
        except BookError as error:
            raise BookError(f"{path.stem}: {error}") from error
        run = travelling.ways(path.stem, repository)
        files[here.file] = framed(content, here, before, after, glossary=GLOSSARY in known, run=run).encode()
        files[f"{travelling.FOLDER}/{path.name}"] = travelling.travelling(notebook, repository)
        sought.append((here.file, here.title, content))
        files |= pictures
        say(f"{path.stem}: {len(pictures)} pictures of {len(widget_cells(notebook))} widgets")
    files |= own
    files["search.js"] = index(sought)
    files["index.html"] = _index(list(read.values()), sought, api).encode()
    files[MARK] = "\n".join([HEAD, *sorted(files)]).encode() + b"\n"
    _check_ours(Path(out))  # once more: the widgets took a while
    _swap(files, place, new, old)
    return [Path(out) / page.file for page in pages]


def _check_ours(out: Path) -> None:
    """BookError unless ``out`` is missing, or a folder in which every file is one that an earlier site of ours lists."""
    if out.is_symlink():
        raise BookError(f"{out} is a link, and nothing is replaced through a link: give the folder that it leads to")
    if out.exists() and not out.is_dir():
        raise BookError(f"{out} is a file, not a site of ours: choose another folder")
    mark = out / MARK
    listed = {MARK, *mark.read_text(encoding="utf-8").splitlines()[1:]} if mark.is_file() else set()
    there = [path for path in out.rglob("*") if path.is_symlink() or not path.is_dir()]
    strange = sorted({path.relative_to(out).as_posix() for path in there if not is_clutter(path.name)} - listed)
    if strange:
        raise BookError(f"{out} holds {strange[0]!r}, which is not a site of ours or no part of it ({len(strange)} such files): "
                        "choose another folder, or move them away")  # fmt: skip


def _swap(files: dict[str, bytes], place: Path, new: Path, old: Path) -> None:
    """Write ``files`` into ``new``, then put it in the place of what is at ``place``; ``old`` is where that waits."""
    for left in (new, old):  # by one of us that was killed
        if left.is_symlink():
            raise BookError(f"{left} is a link, and we made none: remove it")
        shutil.rmtree(left, ignore_errors=True)
    try:
        for name, content in files.items():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            (new / name).write_bytes(content)
        if place.exists():
            place.rename(old)
        new.rename(place)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        if old.exists() and not place.exists():
            old.rename(place)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _views(notebook: NotebookNode, name: str) -> list[str]:
    """What JupyterLab saved of widgets, in place of the sentence that ``book build`` leaves for a flipbook."""
    found = [str(problem) for problem in inspect(notebook, name) if problem.kind == "widget"]
    return [*found, f"(JupyterLab saved it so; lrnnlab book build {name} mends it)"] if found else []


def _with_books(path: Path, notebook: NotebookNode) -> tuple[NotebookNode, dict[str, bytes]]:
    """The notebook with a flipbook, or a picture that moves, where a widget's sentence stands; address -> its files."""
    cells = widget_cells(notebook)
    alive = widgets(source_of(path)) if cells else {}
    still = [name for name in cells.values() if not isinstance(alive[name], Moving)]
    books = _within({name: _compressed(flipbook(alive[name])) for name in still}, HEAVIEST)
    notebook, pictures = deepcopy(notebook), {}
    for i, name in cells.items():
        if isinstance(alive[name], Moving):
            address = f"moving/{alive[name].name}.js"
            pictures[address], text = script(alive[name].name).encode(), moving_html(alive[name], address)
        else:
            book = books[name]
            addresses = [f"{path.stem}/{name}_{n:02d}.png" for n in range(len(book.frames))]
            pictures |= {address: frame.png for address, frame in zip(addresses, book.frames)}
            text = book_html(book, addresses, name)
        html = new_output("display_data", {"text/html": text})
        outputs = notebook.cells[i].outputs
        notebook.cells[i].outputs = [
            html if one.get("data", {}).get("text/plain") == WIDGET else one for one in outputs
        ]
    return notebook, pictures


def _compressed(book: Flipbook) -> Flipbook:
    return replace(book, frames=tuple(replace(frame, png=few_colours(frame.png)) for frame in book.frames))


def _within(books: dict[str, Flipbook], heaviest: int) -> dict[str, Flipbook]:
    """The books of one page, the heaviest of them thinned until their pictures weigh at most ``heaviest`` bytes."""
    books = dict(books)
    while sum(map(_weight, books.values())) > heaviest:
        thin = {name: book for name, book in books.items() if thinner(book) is not book}
        if not thin:
            break
        name = max(thin, key=lambda one: _weight(thin[one]))
        books[name] = thinner(thin[name])
    return books


def _weight(book: Flipbook) -> int:
    return sum(len(frame.png) for frame in book.frames)


def _index(notebooks: Sequence[NotebookNode], pages: Sequence[tuple[str, str, str]], api: bool) -> str:
    """The first page: every chapter with what it asks, and the glossary with its sections; ``pages`` as for the search."""
    entries = "\n".join(
        f'<li><a href="{file}">{escape(title)}</a>{lead(notebook)}{parts(html, file) if file == GLOSSARY else ""}</li>'
        for (file, title, html), notebook in zip(pages, notebooks)
    )
    content = (
        f"<h1>lrnnlab</h1>\n<p>A workbook you can run: linear recurrent networks and formal languages.</p>\n"
        f'<blockquote><p>{QUESTION}</p></blockquote>\n<ol class="chapters">\n{entries}\n</ol>\n'
        "<p>These pages show each chapter as it was committed. Run the chapters to change what they do.</p>"
        + ('\n<p><a href="api/lrnnlab.html">The package, function by function</a></p>' if api else "")
    )
    return framed(content, Place("index.html", "lrnnlab"), None, None)
