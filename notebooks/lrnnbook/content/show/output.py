"""Put pictures and tables into a notebook so that every reader gets them: alternative text, captions, true headers.

Jupyter drops the alternative text of a bare picture, so a picture goes out as an HTML ``<figure>``.  Its background is
white and its caption takes the page's own colour, so both are legible in dark and in light themes.
"""

import base64
import io
import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from lrnnbook.content.show.labels import renamed, typeset
from lrnnbook.content.show.style import DPI, LIVE, styled
from lrnnlab.files import put

MAX_PICTURE_BYTES = 150_000  # bytes of a committed picture,
MAX_STILL_BYTES = 60_000  # and of a panel's still
WIDGET = "[An interactive panel stands here when this notebook runs.]"  # the text of a panel where no widget can be shown
CSS_DPI = 96  # a CSS pixel is 1/96 inch by definition
PARSER = FigureCanvasAgg(Figure()).get_renderer().mathtext_parser  # which keeps the formulas it has parsed


def png(figure: Figure, **metadata: str) -> bytes:
    """The figure as a PNG file with few colours: the same bytes every time, with no date and no version in it.

    >>> from lrnnbook.content.show.style import new_figure
    >>> png(new_figure()[0])[:4]
    b'\x89PNG'
    """
    return few_colours(quick_png(figure), **metadata)


def few_colours(picture: bytes, colours: int = 256, **metadata: str) -> bytes:
    """A PNG file with at most so many colours; 256 cannot be told from all: two to three times smaller, in 0.1 s."""
    drawing, file, text = Image.open(io.BytesIO(picture)), io.BytesIO(), PngInfo()
    for key, value in metadata.items():
        text.add_text(key, value)
    # median cut keeps the colours of flat areas exactly; Pillow's octree shifts them
    drawing.quantize(colours, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(
        file, format="PNG", optimize=True, pnginfo=text, dpi=(DPI, DPI))
    return file.getvalue()


@styled
def quick_png(figure: Figure) -> bytes:
    """The figure as a PNG file in all its colours, for a picture that follows a slider."""
    canvas, file = FigureCanvasAgg(figure), io.BytesIO()
    canvas.get_renderer().mathtext_parser = PARSER  # its own would parse every formula of every picture anew
    canvas.draw()
    Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB").save(file, format="PNG", compress_level=1)
    return file.getvalue()


def css_width(figure: Figure) -> int:
    """The figure's width on a page, in CSS pixels."""
    return round(figure.get_size_inches()[0] * CSS_DPI)


def figure_html(figure: Figure, alt: str, caption: str) -> str:
    """The HTML that :func:`figure` displays."""
    _require_text(alt, "alternative text")
    _require_text(caption, "caption")
    source = base64.b64encode(png(figure)).decode()
    return (f'<figure style="margin:1em 0"><img alt="{escape(alt)}" src="data:image/png;base64,{source}" '
            f'style="max-width:100%;width:{css_width(figure)}px;background:#fff">'
            f'<figcaption style="max-width:{css_width(figure)}px">{_prose(caption)}</figcaption></figure>')


def figure(figure: Figure, alt: str, caption: str) -> None:
    """Display a figure with its alternative text and its caption (see :func:`figure_html`).

    >>> from lrnnbook import show
    >>> from lrnnbook.content.show.style import new_figure
    >>> show.figure(new_figure()[0], alt="Two empty axes.", caption="Nothing to see.")  # doctest: +SKIP
    """
    _display(figure_html(figure, alt, caption))


def halved(picture: bytes) -> bytes:
    """A PNG file with sides half as long."""
    drawing, file = Image.open(io.BytesIO(picture)).convert("RGB"), io.BytesIO()
    drawing.resize([side // 2 for side in drawing.size], Image.Resampling.LANCZOS).save(file, format="PNG")
    return file.getvalue()


def still_html(picture: bytes, width: int, alt: str, said: str = "") -> str:
    """The HTML of a panel where no kernel runs: its first picture (a PNG file, so many CSS pixels wide), and what it says."""
    still = few_colours(picture)
    if len(still) > MAX_STILL_BYTES:  # of a picture of very many things: half the pixels a side, one a CSS pixel
        still = few_colours(halved(picture), 64)
    source = base64.b64encode(still).decode()
    return (f'<figure style="margin:1em 0"><img alt="{escape(alt)}" src="data:image/png;base64,{source}" '
            f'style="max-width:100%;width:{width}px;background:#fff">{said}'
            '<p><small>A still: run this cell, and it moves.</small></p></figure>')


def table_html(rows: Any, caption: str, formats: Mapping[str, str] | None = None) -> str:
    """The HTML that :func:`table` displays."""
    _require_text(caption, "caption")
    records = _records(rows)
    columns, formats = list(records[0]), formats or {}
    for name in formats:
        if name not in columns:
            raise ValueError(f"a format for {name!r}, but the columns are {', '.join(map(str, columns))}")
    for record in records:
        if list(record) != columns:
            raise ValueError(f"every row needs the columns {columns}, got {list(record)}")
    numeric = {c for c in columns if all(_is_number(r[c]) or r[c] is None for r in records)}
    head = "".join(f'<th scope="col"{_side(c in numeric)}>{typeset(escape(renamed(str(c))))}</th>' for c in columns)
    body = []
    for record in records:
        cells = [(typeset(escape(_text(value, formats.get(c)))), c in numeric) for c, value in record.items()]
        (first, right), others = cells[0], cells[1:]
        body.append(f'<tr><th scope="row"{_side(right)}>{first}</th>'
                    + "".join(f"<td{_side(right)}>{text}</td>" for text, right in others) + "</tr>")
    return (f'<table><caption style="text-align:left;caption-side:top;padding:0.3em 0">{_prose(caption)}</caption>'
            f'<thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table>')


def table(rows: Any, caption: str, formats: Mapping[str, str] | None = None) -> None:
    """Display a table with a caption; its first column names the rows.

    None and NaN are shown as a dash, True and False as yes and no, code names as the text says them
    (``names.renamed``), and S_3, 10^5 and their like as mathematics (``names.typeset``), as in every caption.

    Parameters
    ----------
    rows : list of dict, or DataFrame
        Dicts with the same keys, or a pandas DataFrame (whose index comes first if it has a name).
    caption : str
        What the table shows.
    formats : dict, optional
        column -> format spec, e.g. ``{"accuracy": ".3f"}``; other floats get four significant digits.

    Examples
    --------
    >>> '<td style="text-align:right">1.000</td>' in table_html([{"rule": "clip", "a": 1.0}], "A.", {"a": ".3f"})
    True
    """
    _display(table_html(rows, caption, formats))


def math(*parts: Any, mark: Any = None) -> None:
    """Display a formula of its parts: strings are LaTeX, all else is written as LaTeX by SymPy; ``mark`` is vermilion.

    >>> from lrnnbook import show
    >>> show.math("x_2 =", 3)  # doctest: +SKIP
    """
    from IPython.display import Math, display
    from sympy import latex

    marked = {} if mark is None else {mark: rf"\textcolor{{{LIVE}}}{{{latex(mark)}}}"}
    written = [part if isinstance(part, str) else latex(part, symbol_names=marked) for part in parts]
    display(Math(" ".join(written)))


def save(figure: Figure, path: str | Path, alt: str, **metadata: str) -> Path:
    """Write a figure as ``path`` (.png) and return the path; the alternative text travels in the file as Description.

    ``metadata`` travels with it, as other texts.

    ValueError for an empty ``alt``, another suffix, or a file above 150 kB, which is what the repository takes; then
    nothing is written.
    """
    path = Path(path)
    _require_text(alt, "alternative text")
    if path.suffix != ".png":
        raise ValueError(f"a picture is saved as .png, got {path.name}")
    drawn = quick_png(figure)
    for colours in (256, 128, 64):  # a large table of numbers does with fewer: they are the letters' edges
        content = few_colours(drawn, colours, Description=alt, **metadata)
        if len(content) <= MAX_PICTURE_BYTES:
            break
    else:
        raise ValueError(f"{path.name} would have {len(content)} bytes, more than {MAX_PICTURE_BYTES}: draw less, or smaller")
    put(path, content)
    return path


def _display(html: str) -> None:
    from IPython.display import HTML, display  # only notebooks need it, and it comes with the extra [book]

    display(HTML(html))


def _require_text(text: str, what: str) -> None:
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"a picture or table needs its {what}, got {text!r}")


def _records(rows) -> list[dict]:
    if hasattr(rows, "to_dict"):  # a DataFrame, told by what it can do: importing pandas here costs half a second
        rows = (rows.reset_index() if rows.index.name is not None else rows).to_dict("records")
    records = [dict(row) for row in rows]
    if not records or not records[0]:
        raise ValueError("there is nothing to show: the table has no rows or no columns")
    return records


def _is_number(value) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, (str, bool, np.bool_))


def _side(right: bool) -> str:
    return f' style="text-align:{"right" if right else "left"}"'


def _text(value, spec: str | None) -> str:
    if value is None or (isinstance(value, (float, np.floating)) and np.isnan(value)):
        return "–"
    if spec is not None and _is_number(value):
        return format(value, spec)
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else renamed(str(value))


def _prose(text: str) -> str:
    """A caption's HTML: `code` as it is, *emphasis*, mathematics typeset."""
    parts = re.split(r"`([^`]+)`", escape(text))
    said = [re.sub(r"(?<![\w)*])\*(\w[^*]*)\*", r"<em>\1</em>", typeset(part)) for part in parts[::2]]
    codes = [f"<code>{code}</code>" for code in parts[1::2]]
    return "".join(part + code for part, code in zip(said, [*codes, ""]))
