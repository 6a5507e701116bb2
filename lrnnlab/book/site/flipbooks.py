"""A widget on a page without a kernel: its pictures, made beforehand, over the values of one control.

The page holds all pictures of a book and shows one; a plain range input chooses which.  No package, no network.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape, unescape

from lrnnlab.show.widgets import Explorer

MOST = 16  # pictures of one book: more would weigh a megabyte and tell no more


@dataclass(frozen=True)
class Frame:
    """One picture: the PNG, the control's value as text, the sentence under it (HTML), and the alternative text."""

    png: bytes
    value: str
    sentence: str
    alt: str


@dataclass(frozen=True)
class Flipbook:
    """``frames`` over the values of ``control``; it opens at frame ``opens``; ``others`` stay as they are."""

    control: str
    frames: tuple[Frame, ...]
    opens: int
    others: dict[str, str]
    width: int  # CSS pixels


def flipbook(explorer: Explorer, most: int = MOST) -> Flipbook:
    """The pictures of a widget over its first slider (else its first choice); the other controls stay as they opened.

    At most ``most`` values, spread evenly, the opening one among them.  ValueError where there is nothing to choose.

    >>> from lrnnlab.chapters.ch02 import growth, growth_sentence
    >>> from lrnnlab.show.widgets import explore
    >>> w = explore(growth, {"p": [1.0, 2.0], "b": [2, 8]}, sentence=growth_sentence, alt="Growth.")
    >>> book = flipbook(w)
    >>> book.control, [frame.value for frame in book.frames], book.others, w.values
    ('p', ['1.0', '2.0'], {'b': '2'}, {'p': 1.0, 'b': 2})
    """
    name = _leading(explorer)
    control = explorer.controls[name]
    title = control.description
    labels, opened = _labels(control), control.index
    frames, chosen = [], _spread(len(labels), opened, most)
    for i in chosen:
        control.index = i
        said = explorer.sentence.value
        frames.append(
            Frame(explorer.image.value, labels[i], said, f"{explorer.alt} Here {title} = {labels[i]}. {_plain(said)}")
        )
    control.index = opened
    others = {one.description: _shown(one) for other, one in explorer.controls.items() if other != name}
    width = int(explorer.image.layout.width.removesuffix("px"))
    return Flipbook(title, tuple(frames), chosen.index(opened), others, width)


def book_html(book: Flipbook, pictures: Sequence[str], mark: str) -> str:
    """The HTML of a flipbook; ``pictures`` are the addresses of its frames, ``mark`` an id that the page has once.

    >>> frame = Frame(b"", "1", "<b>One</b>.", "A dot.")
    >>> 'alt="A dot."' in book_html(Flipbook("p", (frame,), 0, {}, 700), ["a.png"], "a")
    True
    """
    parts = []
    for i, (frame, picture) in enumerate(zip(book.frames, pictures, strict=True)):
        parts.append(
            f'<div class="frame" data-value="{escape(frame.value)}"{" hidden" * (i != book.opens)}>'
            f'<img src="{escape(picture)}" alt="{escape(frame.alt)}" style="width:{book.width}px">'
            f"{frame.sentence}</div>"
        )
    fixed = ", ".join(f"{name} = {value}" for name, value in book.others.items() if value)
    note = f"Pictures made beforehand{f', at {fixed}' * bool(fixed)}: run the chapter to move everything."
    return (
        f'<figure class="flipbook"><label for="{mark}">{escape(book.control)}</label> '
        f'<input type="range" id="{mark}" min="0" max="{len(book.frames) - 1}" value="{book.opens}" step="1" '
        f'autocomplete="off"> <output for="{mark}">{escape(book.frames[book.opens].value)}</output>'
        f"{''.join(parts)}<figcaption>{escape(note)}</figcaption></figure>"
    )


def _leading(explorer: Explorer) -> str:
    choices = {
        name: len(_labels(control)) for name, control in explorer.controls.items() if hasattr(control, "options")
    }
    choices = {name: n for name, n in choices.items() if n > 1}
    if not choices:
        raise ValueError(f"nothing to choose in a widget with the controls {', '.join(explorer.controls)}")
    sliders = [name for name in choices if "Slider" in type(explorer.controls[name]).__name__]
    return (sliders or list(choices))[0]


def _labels(control) -> list[str]:
    return [str(option[0]) if isinstance(option, tuple) else str(option) for option in control.options]


def _shown(control) -> str:
    return _labels(control)[control.index] if hasattr(control, "options") else str(control.value)


def _spread(n: int, opened: int, most: int) -> list[int]:
    """At most ``most`` of 0..n-1, evenly, ``opened`` in place of its nearest neighbour.

    >>> _spread(5, 2, 16), _spread(31, 4, 4)
    ([0, 1, 2, 3, 4], [4, 10, 20, 30])
    """
    if n <= most:
        return list(range(n))
    even = [round(i * (n - 1) / (most - 1)) for i in range(most)]
    even[min(range(most), key=lambda i: abs(even[i] - opened))] = opened
    return even


def _plain(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", "", html)).split())
