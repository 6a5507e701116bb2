"""A figure whose axes are drawn once and whose moving parts are drawn over them: for a picture that follows a slider.

Three quarters of a picture's time go to axes, ticks and their labels, which seldom change when a slider moves.
"""

from __future__ import annotations

import numpy as np
from matplotlib.artist import Artist
from matplotlib.figure import Figure

KEPT = 6


class KeptFigure(Figure):
    """A Figure that draws its axes once for the limits they have; use as ``new_figure(kind=KeptFigure)``.

    ``moving(artist)`` says that an artist moves: it lies over all that stays.  What stays (titles, ticks, lines that
    are not moving) must not change, but for the limits of the axes.  The pictures of the last ``KEPT`` limits are kept
    (2 MB each at the book's size), so that a slider which goes back finds them.

    >>> from lrnnlab.show.style import new_figure
    >>> figure, axes = new_figure(kind=KeptFigure)
    >>> line, = figure.moving(*axes.plot([0, 1], [0, 1]))
    >>> line.set_ydata([1, 0])
    """

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self._moving: list[Artist] = []
        self._still = {}  # the axes' limits -> the picture of all that stays, the oldest first

    def moving(self, *artists: Artist) -> tuple[Artist, ...]:
        """Take note that these artists move; gives them back."""
        for artist in artists:
            artist.set_animated(True)  # what is animated is left out of the picture that is kept
        self._moving += artists
        return artists

    def draw(self, renderer) -> None:
        if self.canvas.is_saving():  # to a file: everything is drawn, nothing is kept
            super().draw(renderer)
            return
        state = (renderer.width, renderer.height, *(limit for axes in self.axes for limit in axes.viewLim.extents))
        if state in self._still:
            renderer.restore_region(self._still[state])
        else:
            super().draw(renderer)
            self._still[state] = renderer.copy_from_bbox(self.bbox)
            if len(self._still) > KEPT:
                del self._still[next(iter(self._still))]
        for artist in self._moving:
            artist.draw(renderer)


def round_limit(largest: float) -> float:
    """The least of 1, 1.5, 2, 3, 5, 7.5 times a power of ten that is above ``largest`` by a twentieth; at least 0.001.

    A limit in such steps seldom changes while something is dragged.

    >>> [round_limit(x) for x in (0.0, 0.9, 0.97, 28.0)]
    [0.001, 1.0, 1.5, 30.0]
    """
    wanted = max(1.05 * largest, 1e-3)
    power = 10.0 ** np.floor(np.log10(wanted * (1 + 1e-12)))
    return float(next(step * power for step in (1, 1.5, 2, 3, 5, 7.5, 10) if step * power >= wanted * (1 - 1e-9)))
