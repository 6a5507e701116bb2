"""A widget on a page without a kernel: its pictures, made beforehand, over the values of one or two controls; a plain
range input or menu for each control chooses which one shows (``static/book.js``)."""

import json
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape, unescape
from itertools import product

from lrnnbook.content.show.widgets import Explorer

MAX_PICTURES = 30  # pictures of one book: more would weigh a megabyte and tell no more
ALERT = 'role="alert"'  # what is shown under a picture that could not be drawn


@dataclass(frozen=True)
class Frame:
    """One picture: the PNG, the sentence under it (HTML), and the alternative text."""

    png: bytes
    sentence: str
    alt: str


@dataclass(frozen=True)
class Control:
    """What a reader moves: its name, its values as text, the one at which it opens, and whether it is a slider."""

    name: str
    values: tuple[str, ...]
    opens: int
    slides: bool


@dataclass(frozen=True)
class Flipbook:
    """``frames`` over all values of the first control, for each of them over those of the second, if there is one."""

    controls: tuple[Control, ...]
    frames: tuple[Frame, ...]
    others: dict[str, str]
    width: int

    @property
    def opens(self) -> int:
        """The frame at which the book opens."""
        shown = 0
        for control in self.controls:
            shown = shown * len(control.values) + control.opens
        return shown


def flipbook(explorer: Explorer, most: int = MAX_PICTURES) -> Flipbook:
    """The pictures of a widget, at most ``most``, over its first slider (else its first choice) and another control that goes
    with it: one with which no picture is refused, as of a typed string under another task."""
    first, *others = _choices(explorer)
    books = (_over(explorer, [first, other], most) for other in others)
    return next((book for book in books if book), None) or _over(explorer, [first], most)


def _over(explorer: Explorer, names: Sequence[str], most: int) -> Flipbook | None:
    """The book over these controls; None where one of two controls makes a picture that is refused."""
    moved = [explorer.controls[name] for name in names]
    opened = [control.index for control in moved]
    labels = [_labels(control) for control in moved]
    chosen = [_spread(len(own), start, size)
              for own, start, size in zip(labels, opened, _sizes([len(own) for own in labels], most))]  # fmt: skip
    frames: list[Frame] = []
    try:
        for places in product(*chosen):
            for control, place in zip(moved, places):
                control.index = place
            said = explorer.sentence.value
            if ALERT in said and len(names) > 1:
                return None
            here = ", ".join(f"{one.description} = {own[i]}" for one, own, i in zip(moved, labels, places))
            frames.append(Frame(explorer.image.value, said, f"{explorer.alt} Here {here}. {_plain(said)}"))
    finally:
        for control, start in zip(moved, opened):
            control.index = start
    controls = tuple(Control(one.description, tuple(own[i] for i in places), places.index(start), _slides(one))
                     for one, own, places, start in zip(moved, labels, chosen, opened))  # fmt: skip
    still = {one.description: _shown(one) for name, one in explorer.controls.items() if name not in names}
    return Flipbook(controls, tuple(frames), still, int(explorer.image.layout.width.removesuffix("px")))


def book_html(book: Flipbook, pictures: Sequence[str], mark: str) -> str:
    """The HTML of a flipbook; ``pictures`` are the addresses of its frames, ``mark`` an id that the page has once."""
    parts = []
    for i, (frame, picture) in enumerate(zip(book.frames, pictures, strict=True)):
        shown = "" if i == book.opens else " hidden"
        parts.append(
            f'<div class="frame"{shown}><img src="{escape(picture)}" alt="{escape(frame.alt)}"{_size(frame.png)}'
            f'{" loading=lazy" * bool(shown)} style="width:{book.width}px">{frame.sentence}</div>'
        )
    fixed = ", ".join(f"{name} = {value}" for name, value in book.others.items() if value)
    note = f"Pictures made beforehand{f', at {fixed}' * bool(fixed)}: run the chapter to move everything."
    inside = "".join([*_inputs(book, mark), *parts])
    return f'<figure class="flipbook">{inside}<figcaption>{escape(note)}</figcaption></figure>'


def _inputs(book: Flipbook, mark: str) -> Iterator[str]:
    """A labelled range input for each slider, and a menu for each other control."""
    for n, control in enumerate(book.controls):
        id = f"{mark}-{n}"
        said = f'id="{id}" data-values="{escape(json.dumps(control.values, ensure_ascii=False))}" autocomplete="off"'
        if control.slides:
            made = (f'<input type="range" {said} min="0" max="{len(control.values) - 1}" value="{control.opens}"> '
                    f'<output for="{id}">{escape(control.values[control.opens])}</output>')  # fmt: skip
        else:
            options = (f'<option value="{i}"{" selected" * (i == control.opens)}>{escape(value)}</option>'
                       for i, value in enumerate(control.values))  # fmt: skip
            made = f'<select {said}>{"".join(options)}</select>'
        yield f'<div class="control"><label for="{id}">{escape(control.name)}</label> {made}</div>'


def _size(png: bytes) -> str:
    """The picture's size as attributes, which keep its place before it has come."""
    return ' width="{}" height="{}"'.format(*struct.unpack(">II", png[16:24])) if png else ""


def _choices(explorer: Explorer) -> list[str]:
    """The controls with something to choose, the first slider before all others."""
    found = [name for name, one in explorer.controls.items() if hasattr(one, "options") and len(_labels(one)) > 1]
    first = next((name for name in found if _slides(explorer.controls[name])), found[0])
    return [first, *(name for name in found if name != first)]


def _sizes(many: Sequence[int], most: int) -> list[int]:
    """How many values of each control: at most ``most`` pictures, and of the first no fewer than six values."""
    if len(many) == 1:
        return [min(many[0], most)]
    first = min(many[0], max(6, most // many[1]), most)
    return [first, min(many[1], most // first)]


def _slides(control) -> bool:
    return "Slider" in type(control).__name__


def _labels(control) -> list[str]:
    return [str(option[0]) if isinstance(option, tuple) else str(option) for option in control.options]


def _shown(control) -> str:
    return _labels(control)[control.index] if hasattr(control, "options") else str(control.value)


def _spread(n: int, opened: int, most: int) -> list[int]:
    """At most ``most`` of 0..n-1, evenly, ``opened`` in place of its nearest neighbour."""
    if n <= most:
        return list(range(n))
    if most == 1:
        return [opened]
    even = [round(i * (n - 1) / (most - 1)) for i in range(most)]
    even[min(range(most), key=lambda i: abs(even[i] - opened))] = opened
    return even


def _plain(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", "", html)).split())
