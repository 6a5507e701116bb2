"""A picture the reader can play with: a plain figure function, at most four controls, a sentence that follows them.

One living ``Image`` gets a new picture at every change, half the time that a new inline figure takes; while the kernel has
nothing to do it draws what the next key would show.  Needs ipywidgets, which comes with the extra ``[book]``.
"""

import asyncio
import contextlib
import gc
import time
from collections import deque
from collections.abc import Callable, Mapping
from html import escape
from numbers import Real

import ipywidgets
from matplotlib.figure import Figure

from lrnnbook.content.show.labels import knob, named, typeset
from lrnnbook.content.show.output import css_width, quick_png, still_html

MAX_CONTROLS = 4  # controls: more is a control panel, not a question
UNSEEN = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap"
MAX_BUTTON_CHARACTERS = 40  # characters: choices that fit on a row of buttons
IDLE = 0.2  # seconds without a change, after which the neighbours are drawn
SLOW = 0.25  # seconds: what takes longer to draw is not drawn ahead, because a key would have to wait for it
MAX_PICTURES_KEPT = 12  # pictures


class Explorer(ipywidgets.VBox):
    """What :func:`explore` returns: shows itself in a notebook; a test sets ``.controls[name].value`` and looks."""

    def __init__(self, draw: Callable[..., Figure], controls: Mapping[str, ipywidgets.Widget],
                 say: Callable[..., str] | None, alt: str):
        self._draw, self._say, self._shown, self.alt = draw, say, None, alt
        self.controls = dict(controls)
        self._kept: deque[tuple[dict, tuple[bytes, int, str]]] = deque(maxlen=MAX_PICTURES_KEPT)  # values; picture, width, sentence
        self._seconds = 0.0  # that the last drawing took
        # an Image has no alt, and the tooltip that would stand in for it breaks its view in ipywidgets 8.1; so the text
        # goes before the picture, where a screen reader meets it and nobody else does
        told = ipywidgets.HTML(f'<span style="{UNSEEN}">Picture: {escape(alt)}</span>', layout={"height": "0"})
        self.image = ipywidgets.Image(format="png", layout={"max_width": "100%", "object_fit": "contain"})
        self.sentence = ipywidgets.HTML()
        rows = ipywidgets.Box(list(self.controls.values()), layout={"flex_flow": "row wrap", "grid_gap": "0 1.5em"})
        super().__init__([rows, told, self.image, self.sentence])
        self._redraw()
        for control in self.controls.values():
            control.observe(lambda change, control=control: self._redraw(control), names="value")
        # Every picture leaves cycles behind, and a full collection of a chapter's 900,000 objects stops the slider for
        # half a second.  So what is there before the reader moves anything is looked through once, here, and never again.
        gc.collect()
        gc.freeze()

    @property
    def values(self) -> dict:
        """Name -> value of every control."""
        return {name: control.value for name, control in self.controls.items()}

    def _repr_mimebundle_(self, **kwargs) -> dict:
        """The widget, and a still of it for readers without a kernel: a front end shows the first that it can."""
        still = still_html(self.image.value, int(self.image.layout.width.removesuffix("px")), self.alt, self.sentence.value)
        return {**super()._repr_mimebundle_(**kwargs), "text/html": still}

    def _redraw(self, moved: ipywidgets.Widget | None = None) -> None:
        values = self.values
        if values == self._shown:
            return  # the browser echoes some changes: one change, one picture
        self._shown = values
        try:
            picture, width, said = self._made(values)
            self.image.layout.width = f"{width}px"
            self.image.value = picture
            self.sentence.value = said
        except BaseException as error:
            # a ValueError beside a text box is an answer to what was typed; all else is our mistake and goes on up
            typed = any(isinstance(control, ipywidgets.Text) for control in self.controls.values())
            theirs = isinstance(error, ValueError) and typed and moved is not None
            message = str(error) if theirs else f"{type(error).__name__}: {error}"
            self.sentence.value = _alert(f"{message.rstrip('.')}. The picture above is still the one before.")
            if not theirs:
                raise
        else:
            if self._seconds < SLOW:
                self._look_ahead([moved] if moved else list(self.controls.values()))

    def _made(self, values: dict) -> tuple[bytes, int, str]:
        """Picture, width and sentence for these values, kept or new."""
        made = next((made for asked, made in self._kept if asked == values), None)
        if made is None:
            began = time.perf_counter()
            figure = self._draw(**values)
            made = quick_png(figure), css_width(figure), _status(self._say(**values) if self._say else "")
            self._kept.append((values, made))
            self._seconds = time.perf_counter() - began
        return made

    def _look_ahead(self, controls: list[ipywidgets.Widget]) -> None:
        """Have what lies beside the present values of these controls drawn next, when the kernel waits."""
        with contextlib.suppress(RuntimeError):  # no event loop: a test, or a page of the site; nothing is drawn ahead
            _draw_soon(IDLE)
            _AHEAD.extendleft((self, values) for values in reversed(self._beside(controls)))

    def _beside(self, controls: list[ipywidgets.Widget]) -> list[dict]:
        found = []
        for name, control in self.controls.items():
            if control in controls and isinstance(control, ipywidgets.SelectionSlider):
                at, options = control.index, control.options  # plain numbers
                found += [{**self.values, name: options[i]} for i in (at + 1, at - 1) if 0 <= i < len(options)]
        return found


_AHEAD: deque[tuple[Explorer, dict]] = deque(maxlen=100)  # of all widgets: what to draw ahead, the first first
_TIMER: list[asyncio.TimerHandle] = []  # one at most, so that a key waits for one drawing at most


def _draw_soon(seconds: float) -> None:
    for timer in _TIMER:
        timer.cancel()
    _TIMER[:] = [asyncio.get_running_loop().call_later(seconds, _draw_one)]


def _draw_one() -> None:
    if _AHEAD:
        explorer, values = _AHEAD.popleft()
        with contextlib.suppress(Exception):  # who asks for it will be told
            explorer._made(values)
        _draw_soon(IDLE / 10)


def explore(draw: Callable[..., Figure], controls: Mapping[str, object], *, sentence: Callable[..., str] | None = None,
            alt: str, initial: Mapping[str, object] | None = None) -> Explorer:
    """A widget: ``draw(**values) -> Figure`` with a control for each value, and ``sentence(**values)`` under it.

    What ``draw`` or ``sentence`` raise is shown under the picture and raised; only a ``ValueError`` after typing in a
    text box is the reader's own and is shown and not raised.

    Parameters
    ----------
    draw : callable
        Makes the picture.
    controls : dict
        name (an argument of ``draw``; shown as ``names.named`` says it) -> what it may be:

        * a list of numbers: a slider over exactly these values (a free slider snaps in the browser and draws twice);
        * a list of strings, or a dict label -> value: buttons, or a menu where they would not fit on one row;
        * a string: a text box that holds it at first; it is read when the reader presses Enter or leaves it.
    sentence : callable, optional
        Returns HTML, so write ``<b>`` if you like, and escape what the reader typed.
    alt : str
        What the picture shows, for readers who do not see it.
    initial : dict, optional
        The values it opens on; the first of each list where nothing is given.

    Raises
    ------
    ValueError
        For more than four controls, an empty list, or an initial value that is not in its list.

    Examples
    --------
    >>> from lrnnbook.content.chapters.ch02 import growth, growth_sentence
    >>> w = explore(growth, {"p": [1.0, 1.2, 2.0], "b": [2, 8]}, sentence=growth_sentence, alt="Growth of products.")
    >>> before = w.image.value
    >>> w.controls["p"].value = 1.2
    >>> w.image.value != before
    True
    """
    initial = dict(initial or {})
    if not 1 <= len(controls) <= MAX_CONTROLS:
        raise ValueError(f"a widget has 1 to {MAX_CONTROLS} controls, got {len(controls)}: {', '.join(controls)}")
    if not isinstance(alt, str) or not alt.strip():
        raise ValueError(f"a widget needs its alternative text, got {alt!r}")
    unknown = [name for name in initial if name not in controls]
    if unknown:
        raise ValueError(f"an initial value for {unknown[0]!r}, but the controls are {', '.join(controls)}")
    made = {name: _control(name, what, initial.get(name)) for name, what in controls.items()}
    return Explorer(draw, made, sentence, alt)


def _control(name: str, what, start) -> ipywidgets.Widget:
    look = {"description": knob(name), "style": {"description_width": "initial"}}
    if isinstance(what, str):
        return ipywidgets.Text(what if start is None else start, continuous_update=False, **look)
    options = list(what.items()) if isinstance(what, Mapping) else list(what)
    values = list(what.values()) if isinstance(what, Mapping) else options
    if not options:
        raise ValueError(f"the control {name!r} has nothing to choose from")
    start = values[0] if start is None else start
    if start not in values:
        raise ValueError(f"{name} opens on {start!r}, which is not among {values}")
    if not isinstance(what, Mapping) and all(isinstance(v, Real) and not isinstance(v, bool) for v in values):
        return ipywidgets.SelectionSlider(options=options, value=start, continuous_update=True, **look)
    labels = [str(label) for label in what] if isinstance(what, Mapping) else [named(str(value)) for value in values]
    options = list(zip(labels, values))
    if len(options) > 1 and sum(map(len, labels)) + 4 * len(labels) <= MAX_BUTTON_CHARACTERS:
        look["style"]["button_width"] = "auto"
        return ipywidgets.ToggleButtons(options=options, value=start, **look)
    return ipywidgets.Dropdown(options=options, value=start, **look)


def _status(said: str) -> str:
    return f'<div role="status" aria-live="polite" style="max-width:44em;line-height:1.5">{typeset(said)}</div>'


def _alert(message: str) -> str:
    # dark red on pale red is legible in both themes; the word comes first for readers who do not see colours
    return ('<div role="alert" style="max-width:44em;line-height:1.5;padding:0.2em 0.6em;color:#8b0000;'
            f'background:#fdecea;border-left:4px solid #8b0000">{escape(message)}</div>')
