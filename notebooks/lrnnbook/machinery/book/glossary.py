"""Where to find everything: theorems, widgets, models, tasks and papers of the book, as Markdown with links.

All of it is read from the chapters' sources and from the registries when it is asked for; the glossary shows it, and the
site's links come from there.  A claim is a paragraph that begins with ``**Theorem 3.**`` (or Lemma, Proposition,
Corollary, Claim, with or without ``The paper,``), a paper is a link ``[arXiv:...](...)`` or ``[doi:...](...)`` of a
*Read on* with its title in italics before it, and a widget is a name that ends in ``_widget``.
"""

import ast
import importlib.util
import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import quote

from lrnnbook.content.show import labels
from lrnnbook.machinery.book.cell_dependencies import widget_cells
from lrnnbook.machinery.book.sync import read_source
from lrnnbook.machinery.copies import PROJECT, chapters_in, place
from lrnnlab.models import MODELS, network, reads_numbers
from lrnnlab.tasks import TASKS, task

OWN = {"says": "one of your own", "chapter": "", "paper": ""}  # a model or task that the reader added
SOURCES = PROJECT / "notebooks" / "py"
HEADING = re.compile(r"^#{2,4} +(.+)$", re.MULTILINE)
CLAIM = re.compile(
    r"^(?:> ?)?\*\*((?:The paper, )?(?:Theorem|Lemma|Proposition|Corollary|Claim)\b[^*]*?)(?:\.\*\*|\*\*(?= \())(.*)$"
)
PAPER = re.compile(r"\[(?:arXiv|doi):([^\]]+)\]\((https://[^)]+)\)")
ITALICS = re.compile(r"(?<!\*)\*([^*]+)\*(?!\*)")
READ_ON = re.compile(r"^## (?:\d+ )?Read on$", re.MULTILINE)
HYPOTHESIS = ("Let ", '"Let ', '"[...] let ')
SAFE = "/:,;?!'="  # in an address, as they are
FORMULA = re.compile(r"\$[^$]*\$")
EMPHASIS = re.compile(r"(\$[^$]*\$)|[*`]")
# The papers of the book, by their numbers at arXiv.
PAPERS = {"000": "2309.07412", "001": "2407.07239", "002": "2305.03796", "003": "2310.16076", "004": "2212.00768"}


@dataclass(frozen=True)
class Entry:
    """Something of a chapter: what it is called, what it says, and a link to its heading."""

    chapter: str
    name: str
    says: str
    link: str


@dataclass(frozen=True)
class Reference:
    """A paper as one chapter names it; ``address`` of its abstract, ``number`` at arXiv or its DOI."""

    chapter: str
    number: str
    address: str
    authors: str
    title: str
    year: str


def chapters(folder: Path = SOURCES) -> dict[str, Path]:
    """Number -> source, in the order of the book."""
    return {_number(path): path for path in chapters_in(folder, ".py") if re.match(r"\d\d\w*_", path.stem)}


def _number(source: Path) -> str:
    """``01`` of a chapter, ``01a`` of a notebook behind it."""
    return source.stem.partition("_")[0]


def _address(source: Path) -> str:
    """The notebook of a source, as the glossary links it."""
    return place(source).with_suffix(".ipynb").as_posix()


def anchor(heading: str) -> str:
    """The address of a heading on its page, as JupyterLab and the site make it."""
    return _plain(heading.strip()).replace(" ", "-")


def claims(source: Path) -> list[Entry]:
    """Every theorem, lemma, proposition, corollary and claim of a chapter, with what it says first."""
    found = []
    for text, link in _passages(source):
        lines = text.splitlines()
        for i, line in enumerate(lines):
            if claim := CLAIM.match(line):
                rest = [claim[2].strip()]
                for further in lines[i + 1 :]:
                    further = further.removeprefix(">").strip()
                    if not further or further.startswith(("**", "$$", "*Proof", "|")):
                        break
                    rest.append(further)
                found.append(Entry(_number(source), claim[1], _statement(" ".join(rest)), link))
    return found


def widgets(source: Path) -> list[Entry]:
    """Every widget of a chapter, with its alternative text where the chapter or its module has one."""
    notebook, found = read_source(source), []
    links = dict(_links(source))
    for i, name in widget_cells(notebook).items():
        near = max((at for at in links if at[0] <= i), default=None)
        says = next(_alternatives(notebook.cells[i].source, source.stem[:2]), "")
        found.append(Entry(_number(source), name, says, links[near] if near else _address(source)))
    return found


def references(source: Path) -> list[Reference]:
    """Every paper that a chapter's *Read on* links; without a title in italics before the link it has a number alone."""
    found = []
    for cell in read_source(source).cells:
        if cell.cell_type != "markdown" or not (begin := READ_ON.search(cell.source)):
            continue
        for item in re.split(r"^\* ", cell.source[begin.end() :], flags=re.MULTILINE)[1:]:
            item, last = " ".join(item.split()), 0
            for link in PAPER.finditer(item):
                before, last = item[last : link.start()], link.end()
                found.append(_reference(_number(source), before, link))
    return found


def _reference(chapter: str, before: str, link: re.Match[str]) -> Reference:
    titles = list(ITALICS.finditer(re.sub(r"\*\*", "  ", before)))
    if not titles:
        return Reference(chapter, link[1], link[2], "", "", "")
    title = titles[-1]
    authors = re.split(r": |; |^\W+", re.sub(r"\*\*\d+\*\*", "", before[: title.start()]).rstrip(" ,:"))[-1]
    year = re.search(r"\b(?:19|20)\d\d\b", before[title.end() :])
    return Reference(chapter, link[1], link[2], authors.removeprefix("and ").strip(), title[1], year[0] if year else "")


def theorem_map() -> str:
    """All claims, chapter by chapter."""
    return _by_chapter({number: claims(path) for number, path in chapters().items()}, "**{name}**")


def widget_map() -> str:
    """All widgets, chapter by chapter."""
    return _by_chapter({number: widgets(path) for number, path in chapters().items()}, "`{name}`")


def bibliography() -> str:
    """All papers of every *Read on*, each once, with the chapters that name it: the book's own first, then by author."""
    named: dict[str, list[Reference]] = {}
    for path in chapters().values():
        for paper in references(path):
            named.setdefault(paper.number.lower(), []).append(paper)
    own, others = [], []
    for papers in named.values():
        best = max(papers, key=lambda paper: (len(paper.title), bool(paper.year), len(paper.authors)))
        year = next((paper.year for paper in papers if paper.year), "20" + best.number[:2])
        kind = "arXiv" if "arxiv.org" in best.address else "doi"
        where = ", ".join(dict.fromkeys(_chapter(paper.chapter) for paper in papers))
        said = f"{best.authors}: *{best.title}*, {year}. [{kind}:{best.number}]({best.address}) ({where})"
        if number := next((number for number, at in PAPERS.items() if at == best.number), ""):
            own.append(f"* **{number}** {said}")
        else:
            others.append((_last_name(best.authors), f"* {said}"))
    return "\n".join([*sorted(own), *(line for _, line in sorted(others))])


def model_map() -> str:
    """A row for every model of the registry: its step, what it reads, its paper, its chapter, its class."""
    rows = []
    for name, model in MODELS.items():
        made, home = _class_of(model), labels.MODELS.get(name, OWN)
        rows.append({"name in build": f'"{name}"', "one step": home["says"],
                     "reads": "tokens, numbers" if reads_numbers(name) else "tokens", "paper": _paper(home["paper"]),
                     "chapter": _chapter(home["chapter"]), "class": f"`{made.__module__}.{made.__qualname__}`"})
    return _table(rows)


def task_map() -> str:
    """A row for every task of the registry: what it reads and asks, and what a guesser gets at its training length."""
    rows = []
    for name in TASKS:
        one, home = task(name), labels.TASKS.get(name, OWN)
        reads = f"{one.input_size} numbers a step" if one.reads == "numbers" else f"{one.input_size} letters"
        levels = {level: f"{value:.2g}" for level, value in one.levels(one.train_length).items()}
        rows.append({"name in task": f'"{name}"', "reads": reads, "asks": home["says"], "trained at": one.train_length,
                     **levels, "score": one.score, "chapter": _chapter(home["chapter"])})  # fmt: skip
    return _table(rows)


def _class_of(made: Any) -> Any:
    """The class behind an entry of the registry of models."""
    while isinstance(made, partial):
        made = made.args[0] if made.func is network else made.func
    return getattr(made, "__self__", made)


def _paper(name: str) -> str:
    return f"[{name}](https://arxiv.org/abs/{PAPERS.get(name, name)})" if name else ""


def _chapter(number: str) -> str:
    path = chapters().get(number)
    return f"[{number}]({_address(path)})" if path else number


def _table(rows: list[dict[str, Any]]) -> str:
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(map(str, row.values())) for row in rows)]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def _by_chapter(entries: Mapping[str, list[Entry]], name: str) -> str:
    parts = []
    for number, found in entries.items():
        lines = [f"* [{name.format(name=entry.name)}]({entry.link}){f': {entry.says}' * bool(entry.says)}"
                 for entry in found]  # fmt: skip
        parts += [f"Chapter {_chapter(number)}:", "\n".join(lines)] * bool(lines)
    return "\n\n".join(parts)


def _links(source: Path) -> Iterator[tuple[tuple[int, int], str]]:
    """(cell, place in its text) -> link, for every heading of level 2 to 4 that the chapter has once."""
    found = [((i, heading.start()), anchor(heading[1]))
             for i, cell in enumerate(read_source(source).cells) if cell.cell_type == "markdown"
             for heading in HEADING.finditer(cell.source)]  # fmt: skip
    names = [name for _, name in found]
    yield from ((at, f"{_address(source)}#{quote(name, safe=SAFE)}") for at, name in found if names.count(name) == 1)


def _passages(source: Path) -> Iterator[tuple[str, str]]:
    """The texts of a chapter, cut at its headings, each with the link to the heading above it."""
    links, link = dict(_links(source)), _address(source)
    for i, cell in enumerate(read_source(source).cells):
        if cell.cell_type != "markdown":
            continue
        starts = [0, *(heading.start() for heading in HEADING.finditer(cell.source)), len(cell.source)]
        for start, end in pairwise(starts):
            link = links.get((i, start), link)
            yield cell.source[start:end], link


def _alternatives(code: str, chapter: str) -> Iterator[str]:
    """The texts that a cell gives its widgets as ``alt``, itself or by the chapter's module."""
    tree = ast.parse(code)
    yield from _said(tree)
    module = _module(chapter)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == f"ch{chapter}":
            there = getattr(module, node.attr, None)
            if isinstance(there, Mapping) and isinstance(there.get("alt"), str):
                yield there["alt"]
            elif inspect.isfunction(there):
                yield from _said(ast.parse(inspect.getsource(there)))


def _said(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "alt" and isinstance(node.value, ast.Constant):
            yield str(node.value.value)


def _module(chapter: str) -> ModuleType | None:
    name = f"lrnnbook.content.chapters.ch{chapter}"
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def _statement(text: str) -> str:
    """What a claim says: its first sentence that is no hypothesis and no remark in brackets, and those before it."""
    text = re.sub(r"^\([^)]*\)\.? *", "", _plain(text))
    hidden = FORMULA.sub(lambda found: "x" * len(found[0]), text)
    ends = [end.end() for end in re.finditer(r"(?<!Eq)[.?!][\"”]?(?= |$)", hidden)]
    sentences = [text[a:b].strip() for a, b in zip([0, *ends], ends)]
    kept = next((i for i, one in enumerate(sentences) if not one.startswith(HYPOTHESIS)), len(sentences))
    said = " ".join(sentences[: kept + 1]) if kept < len(sentences) else f"{text.rstrip(' :')} ..."
    return said + '"' * (said.count('"') % 2)


def _plain(markdown: str) -> str:
    """Text without the marks of emphasis and code; formulas as they are."""
    return EMPHASIS.sub(lambda found: found[1] or "", markdown)


def _last_name(authors: str) -> str:
    first = re.split(r",| and | et al", authors)[0].split()
    return first[-1].lower() if first else ""
