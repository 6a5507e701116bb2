"""A committed notebook as one HTML page: nbconvert's body, formulas as MathML, our own small frame around it.

Nothing on the page comes from the network: browsers lay out MathML themselves, pictures lie in the page or beside it,
and the style is one sheet.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from html import escape, unescape
from urllib.parse import quote

from jinja2 import pass_context
from latex2mathml import exceptions
from latex2mathml.converter import convert
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode

from workbook.book.folding import folded
from workbook.book.running import BookError

# latex2mathml's errors have no common ancestor
REFUSED = tuple(kind for kind in vars(exceptions).values() if isinstance(kind, type) and issubclass(kind, Exception))
INLINE_MATH = re.compile(r"(?<![\\$])\$[^$\n]+\$(?!\$)")
UNKNOWN = re.compile(r"\\[A-Za-z]+")
EMPTY_HEADER = re.compile(r"<th\b([^>]*)>\s*</th>")

MATH = re.compile(r'<math alttext="([^"]*)".*?</math>', re.DOTALL)
PREFIX = re.compile(r' xmlns:ns0="[^"]*"|(?<=<)ns0:|(?<=</)ns0:')  # in headings nbconvert writes MathML as XML does
HEADING = re.compile(r'<h([23]) id="([^"]*)">(.*?)<a class="anchor-link"', re.DOTALL)

# nbconvert's own page, with the code of some cells under a fold
TEMPLATE = """{%- extends 'basic/index.html.j2' -%}
{%- block input -%}
{%- set fold = cell | folded -%}
{%- if fold -%}<details class="fold"><summary>{{ fold }}</summary>{{ super() }}</details>{%- else -%}{{ super() }}{%- endif -%}
{%- endblock input -%}
"""


GLOSSARY = "glossary.html"
TOOLS = """<button type="button" id="unfold" hidden>Unfold all code</button>
<form class="search" role="search" hidden><label for="search">Search the book</label>
<input type="search" id="search" autocomplete="off"> <output for="search"></output><ol></ol></form>
"""


@dataclass(frozen=True)
class Place:
    """A page as another one links to it: the file's name and the chapter's title."""

    file: str
    title: str


def mathml(latex: str, display: str = "inline") -> str:
    r"""A formula as MathML, with its LaTeX as ``alttext``; BookError for one that cannot be converted."""
    try:
        made = convert(latex.strip(), display=display)
    except REFUSED as error:
        raise BookError(f"the formula {latex!r} cannot be converted: {type(error).__name__}") from error
    if left := UNKNOWN.search(made):
        raise BookError(f"the formula {latex!r} holds {left[0]}, which the converter does not know")
    return made.replace("<math ", f'<math alttext="{escape(latex.strip())}" ', 1)


class _Renderer(IPythonRenderer):
    """Markdown with formulas as MathML and links between chapters that lead to pages."""

    def __init__(self, pages: frozenset[str] | None, headings: Counter[str], api: Collection[str] = (), **options):
        super().__init__(escape=False, anchor_link_text="#", **options)
        self.pages, self.headings = pages, headings  # headings: id -> how often it stands on the page so far
        self.api = api

    def block_math(self, body: str) -> str:
        return mathml(body, "block")

    def inline_math(self, body: str) -> str:
        return mathml(body)

    def latex_environment(self, name: str, body: str) -> str:
        return mathml(f"\\begin{{{name}}}{body}\\end{{{name}}}", "block")

    def heading(self, text: str, level: int, **attrs) -> str:
        made = super().heading(text, level, **attrs)
        found = re.search(r' id="([^"]*)"', made)
        if found is None:
            return made
        plain = re.sub("<[^>]*>", "", MATH.sub(lambda formula: f"${formula[1]}$", text))  # as JupyterLab names it
        name = unescape(plain).strip().replace(" ", "-")
        self.headings[name] += 1
        new = f"{name}-{self.headings[name]}" if self.headings[name] > 1 else name
        made = made.replace(found[0], f' id="{escape(new)}"', 1)
        return re.sub(r'href="#[^"]*"', lambda _: f'href="#{quote(new)}"', made, count=1)

    def codespan(self, text: str) -> str:
        code, parts = super().codespan(text), text.split(".") if re.fullmatch(r"lrnnlab(\.\w+)+", text) else []
        for n in range(len(parts), 0, -1):
            if (page := f"api/{'/'.join(parts[:n])}.html") in self.api:
                place = f"#{'.'.join(parts[n:])}" * (n < len(parts))
                return f'<a href="{page}{place}">{code}</a>'
        return code

    def image(self, text: str, url: str, title: str | None = None) -> str:
        if url.startswith("attachment:"):
            raise BookError(f"the pasted picture {url} is kept in no source: show it from a code cell")
        return super().image(text, url, title)

    def link(self, text: str, url: str, title: str | None = None) -> str:
        page = re.sub(r"^([\w-]+)\.ipynb(?=$|#)", r"\1.html", url)
        if page != url and self.pages is not None and page.partition("#")[0] not in self.pages:
            return text
        return super().link(text, page, title)


class _Exporter(HTMLExporter):
    """The body of a page: no head, no scripts, no prompts."""

    def __init__(self, pages: frozenset[str] | None, api: Collection[str], **options):
        super().__init__(raw_template=TEMPLATE, **options)
        self.register_filter("folded", folded)
        self.pages, self.api = pages, api
        self.headings: Counter = Counter()

    @pass_context
    def markdown2html(self, context, source: str) -> str:
        # a table's own parser would take \| for a bar of the table
        source = INLINE_MATH.sub(lambda formula: formula[0].replace(r"\|", r"\Vert "), source)
        return MarkdownWithMath(renderer=_Renderer(self.pages, self.headings, self.api)).render(source)


def body(notebook: NotebookNode, pages: frozenset[str] | None = None, api: Collection[str] = ()) -> str:
    """What stands on the page between head and foot; BookError for a formula that cannot be converted and
    for a picture that was pasted into a text cell.

    Parameters
    ----------
    notebook : NotebookNode
        A chapter.
    pages : set of str, optional
        The files of the site; a link to another chapter becomes plain text.  None: every chapter has its page.
    api : collection of str
        The addresses of the package's own pages; names such as ``lrnnlab.models.lru.LRU`` become links to them.

    Examples
    --------
    >>> from nbformat.v4 import new_markdown_cell, new_notebook
    >>> "<mi>x</mi>" in body(new_notebook(cells=[new_markdown_cell("Take $x$ from [02](02_b.ipynb).")]))
    True
    """
    exporter = _Exporter(pages, api, exclude_input_prompt=True, exclude_output_prompt=True)
    html = PREFIX.sub("", exporter.from_notebook_node(notebook)[0])
    return EMPTY_HEADER.sub(r"<td\1></td>", html)  # it would announce nothing


def title(notebook: NotebookNode) -> str:
    """The first heading, without its mark; BookError where the notebook has none."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (found := re.search(r"^# +(.+)$", cell.source, flags=re.MULTILINE)):
            return found[1].strip()
    raise BookError("a chapter needs a title: no text cell holds a line that begins with '# '")


def lead(notebook: NotebookNode) -> str:
    """The paragraph after the title, as HTML (what the chapter asks); empty where there is none."""
    text = next((cell.source for cell in notebook.cells if cell.cell_type == "markdown"), "")
    paragraphs = [part for part in re.split(r"\n\s*\n", text) if part.strip() and not part.startswith("#")]
    return MarkdownWithMath(renderer=_Renderer(frozenset(), Counter())).render(paragraphs[0]) if paragraphs else ""


def contents(html: str) -> str:
    """The way about a page: a link to each of its sections, in a fold; empty where there are fewer than two.

    >>> contents('<h2 id="a">One<a class="anchor-link" href="#a">#</a></h2>')
    ''
    """
    found = HEADING.findall(html)
    links = "\n".join(f'<li class="level{level}"><a href="{_at(id)}">{heading}</a></li>' for level, id, heading in found)
    return (
        '<nav class="contents" aria-label="On this page"><details open><summary>On this page</summary>\n'
        f"<ol>\n{links}\n</ol></details></nav>\n"
    ) * (len(found) > 1)


def _at(id: str) -> str:
    """The end of an address that leads to the element of this id, which is HTML."""
    return f"#{quote(unescape(id))}"


def parts(html: str, file: str) -> str:
    """Links to the sections of a page, from another one.

    >>> parts('<h2 id="a">One<a class="anchor-link" href="#a">#</a></h2>', "b.html")
    '<ul class="parts"><li><a href="b.html#a">One</a></li></ul>'
    """
    found = [f'<li><a href="{file}{_at(id)}">{heading}</a></li>' for level, id, heading in HEADING.findall(html) if level == "2"]
    return f'<ul class="parts">{"".join(found)}</ul>' * bool(found)


def framed(
    content: str,
    here: Place,
    before: Place | None,
    after: Place | None,
    *,
    glossary: bool = False,
    run: str = "",
) -> str:
    """A whole page: head, the way to the neighbours, search, contents, and ``content``."""
    ways = ['<a href="index.html">all chapters</a>']
    if glossary and GLOSSARY not in {here.file, after and after.file}:
        ways.append(f'<a href="{GLOSSARY}">glossary</a>')
    if before:
        ways.insert(0, f'<a rel="prev" href="{before.file}">\N{LEFTWARDS ARROW} {escape(before.title)}</a>')
    if after:
        ways.append(f'<a rel="next" href="{after.file}">{escape(after.title)} \N{RIGHTWARDS ARROW}</a>')
    above, below = (f'<nav class="ways" aria-label="{name}">{" ".join(ways)}</nav>\n' * (here.file != "index.html")
                    for name in ("Chapters", "Chapters, below the text"))  # fmt: skip
    beside, run = contents(content), f'<p class="run">{run}</p>\n' * bool(run)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(unescape(here.title))}</title>\n"
        '<link rel="stylesheet" href="style.css">\n<script src="page.js" defer></script>\n</head>\n'
        f"""<body class="{'beside' if beside else 'plain'}">\n<header>\n{above}{run}{TOOLS}</header>\n{beside}"""
        f"<main>\n{content}\n</main>\n{below}</body>\n</html>\n"
    )
