"""What Sphinx reads: the committed notebooks with flipbooks for widgets, an index, the public names, the papers."""

import base64
import doctest
import inspect as introspection
import io
import re
from collections.abc import Collection, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from posixpath import dirname, normpath
from xml.etree import ElementTree

from nbformat import NotebookNode
from nbformat.v4 import new_output
from PIL import Image

from lrnnbook.content.chapters import golf, playground
from lrnnbook.content.show import atlas
from lrnnbook.content.show.interactive import Moving
from lrnnbook.content.show.output import few_colours
from lrnnbook.machinery.book.building import as_bytes
from lrnnbook.machinery.book.cell_dependencies import widget_cells, widgets
from lrnnbook.machinery.book.inspection import inspect
from lrnnbook.machinery.book.outputs import is_panel, is_picture
from lrnnbook.machinery.book.running import BookError, where
from lrnnbook.machinery.book.site.answers import field
from lrnnbook.machinery.book.site.flipbooks import book_html, flipbook
from lrnnbook.machinery.book.site.moving import moving_html, script
from lrnnbook.machinery.book.site.predictions import asked_in, prediction_markdown
from lrnnbook.machinery.book.sync import read_twin, source_of
from lrnnbook.machinery.copies import place, tree
from lrnnlab.models import equations

ROOMS = ["lrnnlab", *(f"lrnnlab.{room}" for room in
                      ("scans", "automata", "expressivity", "tasks", "models", "models.layers", "training", "verification"))]  # fmt: skip
DATA = re.compile(r"""["'(]data:(image/[\w.+-]+);base64,([^"')]*)""")
# A paper in the glossary's source: authors, title, year, and a link that says its number.
PAPER = re.compile(r"^# \* (?:\*\*\d+\*\* )?(?P<authors>.+?): \*(?P<title>.+?)\*, (?P<year>\d{4})\. "
                   r"\[(?:arXiv|doi):(?P<number>[^\]]+)\]\((?P<address>[^)]+)\)", re.MULTILINE)  # fmt: skip
INDEX = """# lrnnlab

A workbook you can run: linear recurrent networks and formal languages.

> Which recurrent rule can learn a finite-state machine, and keep it at lengths it never saw?

**[{playground}](playground.md)**\\
Trained networks in a page: type a word, break a weight, and search all strings.

**[{atlas}](atlas.md)**\\
Every machine of two letters and three states: which networks can keep it, and why the others cannot.

**[{golf}](golf.md)**\\
Twelve machines, fractions, and a judge that proves your entry or answers with two strings.

{chapters}

{wheel}

These pages show each chapter as it was committed. Run the chapters to change what they do.

```{{toctree}}
:hidden:
:caption: Chapters

{names}
```

```{{toctree}}
:hidden:
:caption: Reference

{reference}
```

```{{toctree}}
:hidden:
:caption: The library

{library}
```
"""


def write_pages(notebooks: Sequence[Path], folder: Path, books: bool = True, wheel: str = "") -> None:
    """Write into ``folder`` all that Sphinx reads; without ``books`` a sentence takes the place of each widget; ``wheel`` is a file
    beside the first page."""
    titles = {}
    for path in notebooks:
        page = read_twin(path)
        page.metadata.pop("widgets", None)  # what Colab or JupyterLab saved
        if views := [str(fault) for fault in inspect(page, path.stem) if fault.kind in {"widget", "picture"}]:
            raise BookError("\n".join([*views, f"(lrnnlab book build {path.stem} mends what JupyterLab saved so)"]))
        if damaged := [f"{path.name}, {said}" for said in _damage(page)]:
            raise BookError("\n".join([*damaged, f"(lrnnlab book build {path.stem} makes all its outputs again)"]))
        name, (title, lead) = place(path).with_suffix("").as_posix(), _title(page)
        titles[name] = title, _from_the_top(lead, dirname(name))
        _shorten_anchors(page)
        _ask(page, folder / "_static", up := "../" * (len(place(path).parts) - 1))
        _write(folder / place(path), as_bytes(_with_books(path, page, folder / "_static", up) if books else page))
    chapters = "\n\n".join(f"**[{title}]({name}.ipynb)**\\\n{lead}" for name, (title, lead) in titles.items())
    numbered = {name: Path(name).name[0].isdigit() for name in titles}
    beside = [name for name, is_chapter in numbered.items() if not is_chapter]
    for teaching in sorted(tree(notebooks[0]).glob("TEACHING*.md")):
        beside.append(teaching.stem)
        text = re.sub(r"\[([^\]]*)\]\(\.\./[^)]*\)", r"\1", teaching.read_text(encoding="utf-8"))  # no page of the book
        _write(folder / teaching.name, text.encode())
    offer = f'For a problem set on your own computer or on Colab: <a href="{wheel}">the package as one file</a>, with `pip install --no-deps` and NumPy.'
    text = INDEX.format(chapters=chapters, wheel=offer if wheel else "", playground=playground.TITLE, atlas=atlas.TITLE, golf=golf.TITLE, names="\n".join(name for name in titles if numbered[name]),
                        reference="\n".join(["playground", "atlas", "golf", *beside, "equations", "references"]), library="\n".join(["researchers", *(f"api/{room}" for room in ROOMS)]))  # fmt: skip
    _write(folder / "index.md", text.encode())
    for room in ROOMS:
        title = room if "." in room else f"{room}: ten names"
        _write(folder / "api" / f"{room}.rst", f"{title}\n{'=' * len(title)}\n\n.. automodule:: {room}\n".encode())
    for name, (title, lead, picture) in moving_pages().items():
        html = _moving(picture, folder / "_static", "")
        _write(folder / f"{name}.md", f"# {title}\n\n{lead}\n\n```{{raw}} html\n{html}\n```\n".encode())
    _write(folder / "equations.md", equations_page().encode())
    _write(folder / "researchers.rst", researchers_page().encode())
    _write(folder / "references.md", b"# Papers\n\n{download}`As BibTeX <references.bib>`\n\n```{bibliography}\n:all:\n:list: bullet\n```\n")
    _write(folder / "references.bib", bibtex(tree(source_of(notebooks[0])) / "glossary.py").encode())


def moving_pages() -> dict[str, tuple[str, str, Moving]]:
    """Pages that are one picture to play with: name -> title, what is said first, the picture."""
    nets = playground.panel(playground.recorded()["nets"])
    return {"playground": (playground.TITLE, playground.LEAD, nets), "atlas": (atlas.TITLE, atlas.LEAD, atlas.panel()),
            "golf": (golf.TITLE, golf.LEAD, golf.panel())}  # fmt: skip


def equations_page() -> str:
    """The file ``lrnnlab/models/equations.py`` as a page, a section for each of its parts."""
    head, *parts = re.split(r"^# --- (.*?) -+\n", Path(equations.__file__).read_text(encoding="utf-8"), flags=re.MULTILINE)
    sections = [f"## {title}\n\n```python\n{code.strip()}\n```" for title, code in zip(parts[::2], parts[1::2])]
    return "\n\n".join(["# Every model on one page", f"```python\n{head.strip()}\n```", *sections]) + "\n"


def researchers_page() -> str:
    """A hello-world of each room, from its docstring, and its public names with their first lines."""
    title = "For researchers"
    sections = [f"{title}\n{'=' * len(title)}\n\nEach room of the library with its first lines to type, and every public name."]
    for room in ROOMS[1:]:
        there = import_module(room)
        examples = doctest.DocTestParser().get_examples(doc := introspection.cleandoc(there.__doc__ or ""))
        words = {*re.findall(r"\w+", "".join(one.source for one in examples))}
        first = [f"import {name}" for name in ("torch",) if name in words and not re.search(rf"import {name}\b", doc)]
        used = [name for name in there.__all__ if name in words and not re.search(rf"import .*\b{name}\b", doc)]
        first += [f"from {room} import {', '.join(used)}"] if used else []
        typed = [f">>> {line}\n" for line in first]
        for one in examples:
            start, *more = one.source.splitlines()
            typed.append("\n".join([f">>> {start}", *(f"... {line}" for line in more), one.want]))
        names = [f"* :py:obj:`{name}`: {_first_line(getattr(there, name))}" for name in there.__all__]
        sections += [f"{room}\n{'-' * len(room)}\n\n.. currentmodule:: {room}\n\n{doc.splitlines()[0]}", "".join(typed), "\n".join(names)]
    return "\n\n".join(sections) + "\n"


def _first_line(thing: object) -> str:
    """What a function or class says of itself first; of any other value, what it holds."""
    if callable(thing):
        return (introspection.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")
    return f"{len(thing)} names, of which the first is ``{next(iter(thing))}``." if isinstance(thing, Collection) else f"``{thing!r}``."


def bibtex(glossary: Path) -> str:
    """Every paper that the glossary lists, as BibTeX; nothing where the book has no glossary."""
    listed = PAPER.finditer(glossary.read_text(encoding="utf-8")) if glossary.is_file() else ()
    return "\n".join(
        f"@misc{{{re.sub(r'[^a-z0-9.]', '_', paper['number'].lower())},\n  author = {{{{{paper['authors']}}}}},\n"
        f"  title = {{{{{paper['title']}}}}},\n  year = {{{paper['year']}}},\n  url = {{{paper['address']}}},\n}}"
        for paper in sorted(listed, key=lambda paper: paper["authors"])
    )


def _damage(page: NotebookNode) -> Iterator[str]:
    """Outputs that are not what their type says, such as half a picture: which, and why."""
    for i, cell in enumerate(page.cells):
        for output in cell.get("outputs", ()):
            for mime, shown in output.get("data", {}).items():
                try:
                    _read(mime, shown)
                except Exception as error:  # noqa: BLE001  (base64's, Pillow's and the parser's have no common ancestor)
                    yield f"{where(page.cells, i)}: its {mime} cannot be shown ({error})"


def _read(mime: str, shown: str) -> None:
    """Read one form of an output to its end; raises where it is damaged."""
    if mime == "image/svg+xml":
        ElementTree.fromstring(shown)
    elif is_picture(mime):
        content = base64.b64decode("".join(shown.split()), validate=True)
        if mime != "application/pdf":
            Image.open(io.BytesIO(content)).load()
    for kind, inside in DATA.findall(shown) if mime == "text/html" else ():
        _read(kind, inside)


def _title(page: NotebookNode) -> tuple[str, str]:
    """A chapter's title, and the paragraph after it."""
    first = next((cell.source for cell in page.cells if cell.cell_type == "markdown"), "")
    title, *paragraphs = [part for part in re.split(r"\n\s*\n", first.strip()) if part.strip()]
    if not title.startswith("# "):
        raise BookError("a chapter needs a title: its first cell begins with '# '")
    return title[2:].strip(), (paragraphs or [""])[0]


def _from_the_top(text: str, folder: str) -> str:
    """A text of ``folder`` with its links to notebooks as the index has them."""
    return re.sub(r"(?<=\]\()[^():]+(?=\.ipynb)", lambda link: normpath(f"{folder or '.'}/{link[0]}"), text)


def _shorten_anchors(page: NotebookNode) -> None:
    """Sphinx leaves formulas out of the address of a heading; JupyterLab, for which links are written, does not."""
    for cell in page.cells:
        if cell.cell_type == "markdown":
            cell.source = re.sub(r"(?<=\.ipynb#)[^)\s]*", lambda at: re.sub("%24.*?%24", "", at[0]).rstrip("-"), cell.source)


def _ask(page: NotebookNode, static: Path, up: str) -> None:
    """Replace the panels of predictions, which need a kernel, by questions that the page asks itself, and what some cells say of an
    answer that is not there by a field for it."""
    for cell in page.cells:
        if cell.cell_type == "code" and (id := asked_in(cell.source)):
            _replace_panel(cell, "text/markdown", prediction_markdown(id))
        elif cell.cell_type == "code" and (asked := field(cell.source)):
            cell.outputs = [new_output("display_data", {"text/html": _moving(asked, static, up)})]


def _moving(picture: Moving, static: Path, up: str) -> str:
    """The HTML of a picture that moves, with its script in ``static``."""
    _write(static / "moving" / f"{picture.name}.js", script(picture.name).encode())
    return moving_html(picture, f"{up}_static/moving/{picture.name}.js")


def _with_books(path: Path, page: NotebookNode, static: Path, up: str) -> NotebookNode:
    """The notebook with a flipbook, or a picture that moves, for each widget's sentence; their files in ``static``."""
    cells = widget_cells(page)
    alive = widgets(source_of(path)) if cells else {}
    for i, name in cells.items():
        if isinstance(widget := alive[name], Moving):
            html = _moving(widget, static, up)
        else:
            book, names = flipbook(widget), []
            for n, frame in enumerate(book.frames):
                names.append(f"{path.stem}/{name}_{n:02d}.png")
                _write(static / names[-1], few_colours(frame.png))
            html = book_html(book, [f"{up}_static/{one}" for one in names], name)
        _replace_panel(page.cells[i], "text/html", html)
    return page


def _replace_panel(cell: NotebookNode, mime: str, content: str) -> None:
    cell.outputs = [new_output("display_data", {mime: content}) if is_panel(one) else one for one in cell.outputs]


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
