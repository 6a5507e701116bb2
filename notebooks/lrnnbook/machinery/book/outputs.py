"""A cell's outputs as a reader sees them: streams joined, widgets a sentence."""

import re
from collections.abc import Iterable
from copy import deepcopy

from nbformat import NotebookNode
from nbformat.v4 import new_output

from lrnnbook.content.show.output import WIDGET

DATA_URI = re.compile(r"data:image/([\w.+-]+);base64,([A-Za-z0-9+/=]+)")
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
_BAR = re.compile(r"\d+%\|.*\|.*\[.*\]")  # tqdm drawn as a widget, which TQDM_DISABLE does not reach


def tidy(outputs: Iterable[NotebookNode]) -> list[NotebookNode]:
    """The outputs as they are committed; a kernel of the book writes no progress bars (``running.kernel_environment``)."""
    kept: list[NotebookNode] = []
    outputs = deepcopy(list(outputs))
    for output in outputs:
        if output.output_type == "stream" and kept and kept[-1].get("name") == output.name:
            kept[-1].text += output.text
        elif WIDGET_VIEW not in output.get("data", {}):
            kept += [] if on_stderr(output) else [output]
        elif not _BAR.search(output.data.get("text/plain", "")):
            still = {mime: shown for mime, shown in output.data.items() if mime == "text/html"}
            output.data, output.metadata = NotebookNode({"text/plain": WIDGET, **still}), NotebookNode()
            kept.append(output)
    # stderr is not ordered against stdout: where its pieces fall is chance, so it goes last
    stderr = "".join(output.text for output in outputs if on_stderr(output))
    return [*kept, *([new_output("stream", name="stderr", text=stderr)] if stderr.strip() else [])]


def unlike(outputs: Iterable[NotebookNode]) -> bool:
    """Whether a fresh run may show another form of these: a panel, or a picture in HTML, whose pixels nbval would compare."""
    return any(is_panel(output) or DATA_URI.search(output.get("data", {}).get("text/html", "")) for output in outputs)


def is_panel(output: NotebookNode) -> bool:
    """Whether an output is a panel, as :func:`tidy` leaves it."""
    return output.get("data", {}).get("text/plain") == WIDGET


def printed(cell: NotebookNode) -> str:
    """What a cell wrote to standard output."""
    return "".join(output.get("text", "") for output in cell.outputs if not on_stderr(output))


def on_stderr(output: NotebookNode) -> bool:
    """Whether an output was written to stderr."""
    return output.output_type == "stream" and output.name == "stderr"


def whole_streams(outputs: Iterable[NotebookNode]) -> list[NotebookNode]:
    """Tidy outputs with each stream in one piece, at the place of its first, as nbval compares them."""
    first: dict[str, NotebookNode] = {}
    kept = []
    for output in tidy(outputs):
        if output.output_type == "stream" and output.name in first:
            first[output.name].text += output.text
            continue
        if output.output_type == "stream":
            first[output.name] = output
        kept.append(output)
    return kept


def texts(output: NotebookNode) -> list[str]:
    """Every text a reader can meet in one output, without terminal colours."""
    if output.output_type == "stream":
        found = [output.text]
    elif output.output_type == "error":
        found = [f"{output.ename}: {output.evalue}", *output.traceback]
    else:
        found = [text for mime, text in output.data.items() if isinstance(text, str) and not is_picture(mime)]
    return [without_colour(text) for text in found]


def is_picture(mime: str) -> bool:
    """Whether a mime type is a picture in itself."""
    return mime.startswith("image/") or mime == "application/pdf"


def without_colour(text: str) -> str:
    """Text without the escape codes that colour a terminal."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)
