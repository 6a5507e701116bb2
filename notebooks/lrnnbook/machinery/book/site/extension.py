"""What the book adds to Sphinx: formulas as MathML, lines of code that wrap, JupyterLab's addresses, names without a page."""

import re
import unicodedata
from html import escape, unescape
from pkgutil import resolve_name
from posixpath import dirname, normpath

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.util import logging

LOG = logging.getLogger(__name__)
OURS = {"lrnnlab", "lrnnbook"}
UNKNOWN = re.compile(r"\\[A-Za-z]+")
FORM = re.compile(r'(<(m[ino])\b[^>]*?) mathvariant="(?!normal)([^"]*)"([^>]*)>([^<]*)</\2>')
CODE = re.compile(r"(<pre\b[^>]*>)(?:<span></span>)?(.*?)</pre>", re.DOTALL)


def mathml(latex: str, display: str = "inline") -> str:
    """A formula as MathML with its LaTeX as ``alttext``; ValueError for a formula that cannot be converted."""
    try:
        made = convert(latex.strip(), display=display)
    except Exception as error:  # noqa: BLE001  (latex2mathml's errors have no common ancestor)
        raise ValueError(f"the formula {latex!r} cannot be converted: {type(error).__name__}") from error
    if left := UNKNOWN.search(made):
        raise ValueError(f"the formula {latex!r} holds {left[0]}, which the converter does not know")
    made = FORM.sub(lambda at: f"{at[1]}{at[4]}>{''.join(_formed(one, at[3]) for one in unescape(at[5]))}</{at[2]}>", made)
    return made.replace("<math ", f'<math alttext="{escape(latex.strip())}" ', 1)


def _formed(letter: str, form: str) -> str:
    """The letter of that form, such as double-struck, where Unicode has one: browsers no longer draw ``mathvariant``."""
    name = re.sub("LATIN |LETTER ", "", unicodedata.name(letter, ""))
    style = form.replace("-", " ").upper().replace("DOUBLE STRUCK", "DOUBLE-STRUCK").replace("SANS SERIF", "SANS-SERIF")
    for said in (f"MATHEMATICAL {style}", style, style.replace("FRAKTUR", "BLACK-LETTER")):
        try:
            return unicodedata.lookup(f"{said} {name}")
        except KeyError:
            continue
    return escape(letter)


def slug(heading: str) -> str:
    """The address of a heading as JupyterLab makes it, so that one link holds in both."""
    return heading.strip().replace(" ", "-")


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    app.connect("doctree-read", _link_names)
    app.connect("missing-reference", _resolve)
    app.connect("doctree-resolved", _unlink)
    app.connect("html-page-context", _mark_lines)
    app.connect("autodoc-process-docstring", _escape)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(writer, node: nodes.math) -> None:
    _write(writer, node, "inline")


def _block(writer, node: nodes.math_block) -> None:
    _write(writer, node, "block")


def _write(writer, node: nodes.Node, display: str) -> None:
    try:
        made = mathml(node.astext(), display)
        writer.body.append(f'<span class="formula">{made}</span>' if display == "block" else made)  # within a <p>, too
    except ValueError as error:
        LOG.warning(str(error), location=node)
    raise nodes.SkipNode


def _link_names(app: Sphinx, doctree: nodes.document) -> None:
    """In a text ``lrnnlab.models.layers.LRU`` leads to its page."""
    for code in list(doctree.findall(nodes.literal)):
        if re.fullmatch(r"lrnnlab(\.\w+)+", code.astext()) and isinstance(code.parent, nodes.TextElement):
            link = pending_xref("", refdomain="py", reftype="obj", reftarget=code.astext(), refdoc=app.env.docname)
            code.replace_self(link)
            link += code


def _unlink(app: Sphinx, doctree: nodes.document, name: str) -> None:
    """A link to a chapter that is not among these pages is a text that says so."""
    for link in list(doctree.findall(nodes.reference)):
        chapter = re.fullmatch(r"#([\w./]+)\.(?:ipynb|md)(?:#.*)?", link.get("refuri", "") or f"#{link.get('refid', '')}")
        if chapter and normpath(f"{dirname(name) or '.'}/{chapter[1]}") not in app.env.found_docs:
            link.replace_self(nodes.inline("", "", *link.children, classes=["absent"]))


def _mark_lines(app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None) -> None:
    """Every line of code and of output becomes an element, so that a long one wraps and shows where (``book.css``)."""
    def lines(at: re.Match) -> str:
        return at[1] + "".join(f'<span class="line">{one}</span>' for one in at[2].splitlines(keepends=True)) + "</pre>"

    context["body"] = CODE.sub(lines, context.get("body", ""))


def _resolve(app: Sphinx, env, node: pending_xref, content: nodes.Node) -> nodes.Node | None:
    """Link ``lrnnlab.scans.block.f`` to ``lrnnlab.scans.f``; a name that exists and has no page is plain text."""
    target, python = node.get("reftarget", ""), env.get_domain("py")
    if node.get("refdomain") != "py":
        return None
    parts = target.split(".")
    public = ".".join([*parts[:2], parts[-1]])
    if len(parts) > 3 and python.find_obj(env, "", "", public, None, 0):
        return python.resolve_xref(env, node["refdoc"], app.builder, "obj", public, node, content)
    return content if parts[0] not in OURS or _exists(target) else None


def _escape(app: Sphinx, what: str, name: str, found, options, lines: list[str]) -> None:
    """In a docstring ``|x|`` is an absolute value."""
    lines[:] = [line if line.lstrip().startswith(">>>") else re.sub(r"(``.*?``)|\|", lambda bar: bar[1] or r"\|", line)
                for line in lines]  # fmt: skip


def _exists(name: str) -> bool:
    """Whether a dotted name can be imported."""
    try:
        resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True
