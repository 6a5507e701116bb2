"""Pictures that move in the page itself: they follow the pointer without asking Python, so also where no kernel runs.

Each is one small file of JavaScript beside this one, written as an anywidget module; ``parts.js`` is what they share.
The same module runs in JupyterLab, where ``at`` tells Python where the reader has moved the picture, and on the static
site (``lrnnbook.machinery.book.site.moving``).  What a module computes it offers as ``mathematics``, which tests compare with the
Python that it repeats.  Needs anywidget, which comes with the extra ``[book]``.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import anywidget
import numpy as np
import traitlets

from lrnnbook.content.show.graph_layout import lay_out
from lrnnbook.content.show.output import CSS_DPI
from lrnnbook.content.show.style import ink_on, value_colour
from lrnnlab.automata import MooreMachine

HERE = Path(__file__).parent
SHARED = ("parts", "engine", "fractions")  # engine: nets that run in the page
NAMES = tuple(sorted(path.stem for path in HERE.glob("*.js") if path.stem not in SHARED))
IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+)\.js";\n', re.MULTILINE)
EDGE = 12  # pixels of room around a machine


def module(name: str) -> str:
    """The ES module of a moving picture, in one piece, after the files of this folder from which it imports."""
    own = (HERE / f"{name}.js").read_text(encoding="utf-8")
    shared = [(HERE / f"{one}.js").read_text(encoding="utf-8") for one in IMPORT.findall(own)]
    return "\n".join([*shared, IMPORT.sub("", own)])


class Moving(anywidget.AnyWidget):
    """A picture that moves; it shows itself in a notebook."""

    data = traitlets.Dict().tag(sync=True)
    at = traitlets.Dict().tag(sync=True)
    alt = traitlets.Unicode().tag(sync=True)

    def __init__(self, name: str, data: Mapping, at: Mapping, alt: str):
        if not alt.strip():
            raise ValueError(f"a moving picture needs its alternative text, got {alt!r}")
        self.name, self._esm = name, module(name)
        super().__init__(data=dict(data), at=dict(at), alt=alt)

    def __repr__(self) -> str:
        return f"Moving({self.name!r})"


def walk(machine: MooreMachine, word: Sequence[int] = ()) -> Moving:
    """A machine of at most 16 states that is walked by pressing its letters; it opens after ``word`` (tokens).

    >>> from lrnnlab.tasks import Sum
    >>> len(walk(Sum(3).machine).data["edges"])
    9
    """
    laid, M = lay_out(machine), max(2, int(machine.outputs.max()) + 1)
    wide, high = (laid.high - laid.low) * CSS_DPI + 2 * EDGE

    def placed(points):
        """Inches, upwards -> pixels, downwards."""
        x, y = np.moveaxis((np.asarray(points) - laid.low) * CSS_DPI + EDGE, -1, 0)
        return np.stack([x, high - y], -1).round(1).tolist()

    colours = [value_colour(answer, M) for answer in machine.outputs.tolist()]
    edges = [{"from": i, "to": j, "points": placed([*curve[:-1:12], curve[-1]]), "label": laid.labels[i, j],
              "at": placed(laid.at[i, j])} for (i, j), curve in laid.curves.items()]  # fmt: skip
    data = {
        "symbols": list(machine.symbols), "transitions": machine.transitions.tolist(), "initial": int(machine.initial),
        "names": list(machine.names), "outputs": machine.outputs.tolist(), "colours": colours,
        "inks": [ink_on(colour) for colour in colours], "centres": placed(laid.centres), "size": laid.size * CSS_DPI,
        "edges": edges, "entry": placed([*laid.entry[:-1:12], laid.entry[-1]]), "width": round(wide), "height": round(high),
    }  # fmt: skip
    alt = ("A finite automaton drawn as circles and arrows, with a button for each letter. Press letters, there or on "
           "the keyboard: the state reached is ringed, and the word so far stands above with its answers.")  # fmt: skip
    return Moving("walk", data, {"word": [int(token) for token in word]}, alt)
