"""What a fresh run shows, compared with what is committed as a reader would: words, numbers, pictures."""

import base64
import binascii
import io
import json
from copy import deepcopy
from pathlib import Path

import numpy as np
from nbformat import NotebookNode
from PIL import Image, UnidentifiedImageError

from lrnnbook.machinery.book.inspection import Problem, inspect, output_faults
from lrnnbook.machinery.book.outputs import DATA_URI, is_panel, on_stderr, tidy, whole_streams
from lrnnbook.machinery.book.running import VARIES, is_code, tags, where
from lrnnbook.machinery.book.text import difference

# Measured on a 1024 x 640 line plot: lines drawn without antialiasing differ by (0.9, 25) and must pass; a flat line
# for a sine by (1.8, 58), another title by (0.8, 40) and must not.  The same machine gives (0, 0).
MEAN_TOLERANCE = 1.0  # mean absolute difference over all pixels and channels, 0..255
PATCH_TOLERANCE = 30.0  # largest difference between the mean colours of two patches
PATCH = 16  # pixels


def compare(committed: NotebookNode, fresh: NotebookNode, name: str = "notebook", root: Path | None = None) -> list[Problem]:
    """Everything wrong with a committed notebook, given a fresh run of it; runs nothing itself."""
    found = inspect(committed, name, root)
    for i, (old, new) in enumerate(zip(committed.cells, fresh.cells)):
        if is_code(old) and old.execution_count is not None:
            found += [Problem(name, i + 1, kind, text, where(committed.cells, i))
                      for kind, text in cell_faults(old, new.outputs, root)]  # fmt: skip
    return found


def cell_faults(committed: NotebookNode, outputs: list[NotebookNode], root: Path | None = None) -> list[tuple[str, str]]:
    """(kind, message) of each difference between a cell's outputs and fresh ones, and of what only the fresh ones have:
    an error, a warning, a path of this machine, a picture without words."""
    fresh = deepcopy(committed)
    fresh.outputs = tidy(outputs)
    known = {kind for kind, _ in output_faults(committed, root)}
    anew = [(kind, text) for kind, text in output_faults(fresh, root)
            if kind in {"error", "warning", "path", "alt"} - known]  # fmt: skip
    # stderr is told above, whole
    old, new = ([o for o in whole_streams(cell.outputs) if not on_stderr(o)] for cell in (committed, fresh))
    if VARIES in tags(committed):
        missing = bool(new) and not old
        return anew + [("output", f"has no output, a fresh run gives {_sketch(new)}")] * missing
    if [_shape(output) for output in old] != [_shape(output) for output in new]:
        return [*anew, ("output", f"committed {_sketch(old)}, fresh run {_sketch(new)}")]
    faults = (fault for a, b in zip(old, new) for was, now in zip(_forms(a), _forms(b)) for fault in _differ(was, now))
    return [*anew, *dict.fromkeys(faults)]  # one cause shown through two mime types is one fault


def _shape(output: NotebookNode) -> tuple[str, ...]:
    """What kind of output it is: its stream, its error, or the forms it is shown in."""
    if output.output_type == "stream":
        return (output.name,)
    if is_panel(output):
        return ("panel",)
    return ("error",) if output.output_type == "error" else tuple(sorted(output.data))


def _sketch(outputs: list[NotebookNode]) -> str:
    return ", ".join(" + ".join(_shape(output)) for output in outputs) or "no output"


def _forms(output: NotebookNode) -> list[tuple[str, object]]:
    """(mime type, content) of an output, without tracebacks, which name files of the machine, and panels.

    A panel is moved through its values instead, and a fresh run makes no still of a picture that moves.
    """
    if output.output_type == "stream":
        return [("text/plain", output.text)]
    if output.output_type == "error":
        return [("text/plain", f"{output.ename}: {output.evalue}")]
    return [] if is_panel(output) else sorted(output.data.items())


def _differ(old: tuple[str, object], new: tuple[str, object]) -> list[tuple[str, str]]:
    (mime, a), (_, b) = old, new
    if mime in {"image/png", "image/jpeg"}:
        return [("picture", fault)] if (fault := picture_difference(str(a), str(b))) else []
    a, b = (one if isinstance(one, str) else json.dumps(one, sort_keys=True) for one in (a, b))
    found = []
    for (form, was), (_, now) in zip(DATA_URI.findall(a), DATA_URI.findall(b)):
        if form in {"png", "jpeg"} and (fault := picture_difference(was, now)):
            found.append(("picture", fault))
    said = difference(DATA_URI.sub(_mark, a), DATA_URI.sub(_mark, b))
    return [*found, said] if said else found


def _mark(uri) -> str:
    """A picture of pixels is compared apart and leaves a mark in the text; any other (SVG) stays as it is."""
    return f"data:{uri[1]}" if uri[1] in {"png", "jpeg"} else uri[0]


def picture_difference(committed: str, fresh: str) -> str | None:
    """None where two base64 pictures look the same to an eye, which forgives the edge of a letter; else what differs."""
    if committed == fresh:
        return None
    try:
        old, new = _pixels(committed), _pixels(fresh)
    except (binascii.Error, UnidentifiedImageError, OSError) as error:
        return f"not a readable picture: {error}"
    if old.shape != new.shape:
        (h, w, _), (fresh_h, fresh_w, _) = old.shape, new.shape
        return f"committed {w} x {h} pixels, fresh run {fresh_w} x {fresh_h}"
    mean, patch = np.abs(old - new).mean(), np.abs(_patches(old) - _patches(new)).max()
    if mean <= MEAN_TOLERANCE and patch <= PATCH_TOLERANCE:
        return None
    return (f"pixels differ by {mean:.1f} of 255 on average (at most {MEAN_TOLERANCE:g} allowed), "
            f"by {patch:.0f} in one patch (at most {PATCH_TOLERANCE:g})")  # fmt: skip


def _pixels(encoded: str) -> np.ndarray:
    """A base64 picture as an array (height, width, 3) of 0..255, transparent parts on white."""
    picture = Image.open(io.BytesIO(base64.b64decode(encoded, validate=False))).convert("RGBA")
    paper = Image.new("RGBA", picture.size, "white")
    return np.asarray(Image.alpha_composite(paper, picture).convert("RGB"), dtype=np.float64)


def _patches(picture: np.ndarray) -> np.ndarray:
    """Mean colour of each PATCH x PATCH square; what is left over at the right and lower edge joins the last ones."""
    h, w = (max(1, side // PATCH) for side in picture.shape[:2])
    rows, columns = np.arange(h) * PATCH, np.arange(w) * PATCH
    sums = np.add.reduceat(np.add.reduceat(picture, rows, axis=0), columns, axis=1)
    heights = np.diff([*rows, picture.shape[0]])[:, None, None]
    widths = np.diff([*columns, picture.shape[1]])[None, :, None]
    return sums / (heights * widths)
