"""The compiled loops behind ``pathfinder``: which of some dashes fits into a picture, and ink.  Imported when first used.

Positions are complex, as there; a dash is (start, end).
"""

from __future__ import annotations

import numpy as np

from lrnnlab.scans.kernels.jit import jit


@jit()
def distance(point: complex, start: complex, end: complex) -> float:
    """The distance of a point from a dash, which may be a single point."""
    along = end - start
    length = along.real**2 + along.imag**2
    if length == 0:
        return abs(point - start)
    share = ((point - start) * along.conjugate()).real / length
    return abs(point - start - min(max(share, 0.0), 1.0) * along)


@jit()
def first_fit(dashes: np.ndarray, others: np.ndarray, middle: complex, room: float, apart: float) -> int:
    """The index of the first of ``dashes`` (k, 2) inside the frame and ``apart`` from all ``others`` (n, 2); -1: none.
    """
    for k in range(len(dashes)):
        start, end = dashes[k]
        fits = True
        for place in (start, end):
            fits = fits and max(abs((place - middle).real), abs((place - middle).imag)) <= room
        reach = abs(end - start) + apart  # who starts farther away than this and its own length is far enough
        for n in range(len(others)):
            if not fits:
                break
            one, two = others[n]
            away, far = one - start, reach + abs(two - one)
            if away.real**2 + away.imag**2 <= far**2:
                fits = min(distance(start, one, two), distance(end, one, two),
                           distance(one, start, end), distance(two, start, end)) >= apart  # fmt: skip
        if fits:
            return k
    return -1


@jit()
def add_ink(image: np.ndarray, shapes: np.ndarray, radius: float, antialias: int) -> None:
    """``pathfinder.ink``, into ``image`` (M, M), of which no pixel gets paler."""
    size = len(image)
    for n in range(len(shapes)):
        start, end = shapes[n]
        left, right = min(start.real, end.real), max(start.real, end.real)
        top, bottom = min(start.imag, end.imag), max(start.imag, end.imag)
        rows = range(max(int(top - radius - 1), 0), min(int(bottom + radius + 2), size))
        columns = range(max(int(left - radius - 1), 0), min(int(right + radius + 2), size))
        for row in rows:
            for column in columns:
                cover = 0.0
                for y in range(row * antialias, (row + 1) * antialias):
                    for x in range(column * antialias, (column + 1) * antialias):
                        point = complex((x + 0.5) / antialias, (y + 0.5) / antialias)
                        away = (radius - distance(point, start, end)) * antialias
                        cover += min(max(0.5 + away, 0.0), 1.0)
                image[row, column] = max(image[row, column], cover / antialias**2)
