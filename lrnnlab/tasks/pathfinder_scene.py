"""The geometry of a Pathfinder picture: two long dashed paths, short distractors, and circles at ends of paths.

Positions are complex numbers, column + i * row, in pixels from the upper left corner; pixel (row, column) covers the
unit square that begins there.  A dash is a pair (start, end); a path is an array (n, 2) of dashes in drawing order.

How a path grows: from the end of a dash go ``margin`` straight on, turn by an angle with density proportional to
cos(continuity * angle)^2, go ``margin`` in the new direction, and draw the next dash.  So consecutive dashes are at
most 2 * margin apart, and any other two dashes are kept at least 2 * margin + thickness apart, of one path or of two: a
path never touches itself, another path or a distractor, and which dash comes next is never in doubt.

The settings are those of the released generators (the Long Range Arena's Pathfinder32; paper 004, section 3.2 and its
code); the procedure follows theirs in these points: seeds ``seed_distance`` apart, the first of them central; both
paths grown dash by dash in turn; as many distractors as fit.  Ours is exact where theirs works on a pixel mask, and it
goes some dashes back at a dead end where theirs begins the picture anew.
"""

from dataclasses import dataclass, replace

import numpy as np

ANGLES = np.linspace(-np.pi / 2, np.pi / 2, 361)
ANGLE_CDF = 0.5 + (ANGLES + np.sin(2 * ANGLES) / 2) / np.pi  # of the density (2 / pi) cos^2
CANDIDATES = 24  # turns tried before a place counts as a dead end
BACK = 2  # dashes of each path taken back at a dead end
PATIENCE = 40  # dead ends before a picture is begun anew
TRIES = 30  # places tried for a distractor before it is left out


@dataclass(frozen=True)
class PathSettings:
    """What a picture holds; lengths in pixels.  ValueError if circles or dashes could meet by these numbers.

    ``margins``: one is chosen for each picture.  ``marker``: the radius of a circle.  ``antialias``: sub-pixels a side.
    """

    size: int
    margins: tuple
    dash: float
    thickness: float
    marker: float
    dashes: int
    seed_distance: float
    continuity: float
    distractors: int
    distractor_dashes: int
    contrast: float
    antialias: int = 2
    padding: float = 1
    mark_distractors: bool = False

    def __post_init__(self):
        apart = 2 * min(self.margins) + self.thickness
        if apart <= self.dash / 2 or apart <= self.marker + self.thickness / 2:
            raise ValueError(f"dashes {apart} apart are too near for dashes of length {self.dash} and circles of "
                             f"radius {self.marker}: take a larger margin than {min(self.margins)}")
        if self.mark_distractors and apart < 2 * self.marker:
            raise ValueError(f"circles of radius {self.marker} at ends {apart} apart would meet")
        if 4 * self.seed_distance >= self.size:
            raise ValueError(f"seeds {self.seed_distance} apart leave no centre in {self.size} pixels")


# the Long Range Arena's Pathfinder32: contrast 2 of a path times .75 of its dashes, cut off at 1 when drawn
ARENA_32 = PathSettings(size=32, margins=(1,), dash=2, thickness=0.5, marker=1.5, dashes=14, seed_distance=7,
                        continuity=1.0, distractors=5, distractor_dashes=4, contrast=1.5)

# paper 004's Pathfinder-Segmentation; 32 is not in the paper: the Arena's picture with smaller circles, marked
SEGMENTATION = {
    32: replace(ARENA_32, marker=1.2, mark_distractors=True),
    128: PathSettings(size=128, margins=(2, 3), dash=5, thickness=1.5, marker=2.1, dashes=14, seed_distance=22,
                      continuity=1.8, distractors=16, distractor_dashes=4, contrast=0.9, mark_distractors=True),
    256: PathSettings(size=256, margins=(4,), dash=8, thickness=2, marker=4.2, dashes=16, seed_distance=27,
                      continuity=2.2, distractors=16, distractor_dashes=5, contrast=1, mark_distractors=True),
    512: PathSettings(size=512, margins=(7,), dash=22, thickness=6, marker=9, dashes=12, seed_distance=40,
                      continuity=2.5, distractors=18, distractor_dashes=4, contrast=1, antialias=3,
                      mark_distractors=True),
}


@dataclass(frozen=True)
class Scene:
    """One picture before it is drawn.

    ``paths``: the two main paths; ``distractors``: the short ones; ``markers``: the centres of all circles, first the
    two on the main paths; ``both_ends``: the index of the main path with a circle at both its ends, or None (then each
    main path has one circle, and the picture is "not connected").
    """

    settings: PathSettings
    margin: float
    paths: tuple
    distractors: tuple
    markers: tuple
    both_ends: int | None

    @property
    def connected(self):
        """True if the two circles on main paths are at the ends of one path: the Arena's label."""
        return self.both_ends is not None


def distance(points, dashes):
    """The distance of each point from each dash: points (..., 1), dashes (n, 2) -> (..., n)."""
    start, along = dashes[:, 0], dashes[:, 1] - dashes[:, 0]
    share = ((points - start) * along.conj()).real / (along.real**2 + along.imag**2)
    return np.abs(points - start - np.minimum(np.maximum(share, 0), 1) * along)


def gap(dashes, others):
    """(k,) the least distance of each of k dashes from ``others`` (n, 2); infinite if there are none.

    The nearest two points of two segments that do not cross include an end of one.  Crossing ones have an end within
    half a dash of the other, which is less than what is asked for (``PathSettings`` sees to it).
    """
    if not len(others):
        return np.full(len(dashes), np.inf)
    ours = distance(dashes[:, :, None], others).min((1, 2))
    theirs = distance(others.reshape(-1, 1), dashes).min(0)
    return np.minimum(ours, theirs)


class Grower:
    """Grows paths in one picture; ``rng`` is a ``numpy.random.Generator``."""

    def __init__(self, settings, rng):
        self.settings, self.rng = settings, rng
        self.margin = float(rng.choice(settings.margins))
        self.apart = 2 * self.margin + settings.thickness

    def fits(self, dashes, others):
        """(k,) bool: inside the frame, and far enough from ``others`` (a list of paths)."""
        s = self.settings
        edge = max(s.padding + s.thickness / 2, s.marker * s.mark_distractors)  # no circle is cut off
        middle = complex(s.size / 2, s.size / 2)
        away = dashes - middle
        fits = (np.maximum(np.abs(away.real), np.abs(away.imag)) <= s.size / 2 - edge).all(1)
        if fits.any():
            tried, others = dashes[fits], np.concatenate([np.empty((0, 2)), *others])
            reach = np.abs(tried - tried[0, 0]).max() + self.apart + s.dash  # who starts farther away is far enough
            fits[fits] = gap(tried, others[np.abs(others[:, 0] - tried[0, 0]) <= reach]) >= self.apart
        return fits

    def seeds(self, starts):
        """(k, 2) dashes from the given points (k,) in random directions."""
        return np.stack([starts, starts + self.settings.dash * self.directions(len(starts))], 1)

    def directions(self, count):
        return np.exp(2j * np.pi * self.rng.random(count))

    def extend(self, path, others):
        """``path`` with one more dash, or None at a dead end."""
        start, end = path[-1]
        ahead = (end - start) / abs(end - start)
        turn = np.interp(self.rng.random(CANDIDATES), ANGLE_CDF, ANGLES) / self.settings.continuity
        direction = ahead * np.exp(1j * turn)
        begin = end + self.margin * (ahead + direction)
        dashes = np.array([begin, begin + self.settings.dash * direction]).T
        found = self.fits(dashes, [path[:-1], *others]).nonzero()[0]
        return np.concatenate([path, dashes[found[:1]]]) if len(found) else None

    def two_seeds(self):
        """The first dashes of the two main paths, each (1, 2), or None if this try does not fit."""
        s = self.settings
        low, high = 2 * s.seed_distance, s.size - 2 * s.seed_distance
        first = complex(*self.rng.uniform(low, high, 2))
        one, two = self.seeds(np.array([first, first + s.seed_distance * self.directions(1)[0]]))[:, None]
        return (one, two) if self.fits(one, []).all() and self.fits(two, [one]).all() else None

    def two_paths(self):
        """The two main paths, or None if this try came to too many dead ends."""
        paths = self.two_seeds()
        if paths is None:
            return None
        one, two = paths
        for _ in range(PATIENCE):
            while len(two) < self.settings.dashes:
                longer = self.extend(one, [two])
                also = None if longer is None else self.extend(two, [longer])
                if also is None:
                    break
                one, two = longer, also
            else:
                return one, two
            keep = max(1, len(two) - BACK)
            one, two = one[:keep], two[:keep]
        return None

    def distractor(self, others):
        """One short path, or None if no place was found for it."""
        s = self.settings
        for _ in range(TRIES):
            starts = self.rng.random((CANDIDATES, 2)) @ [s.size, 1j * s.size]
            dashes = self.seeds(starts)
            found = self.fits(dashes, others).nonzero()[0]
            path = dashes[found[:1]] if len(found) else None
            while path is not None and len(path) < s.distractor_dashes:
                path = self.extend(path, others)
            if path is not None:
                return path
        return None


def tips(path):
    """The two ends of a path: where its first dash starts and where its last one ends."""
    return path[0, 0], path[-1, 1]


def draw_scene(settings, rng):
    """One random ``Scene``; connected or not with probability 1/2.  ``rng`` is a ``numpy.random.Generator``.

    A circle stands at the start of one main path, chosen by a coin, and one at the end of the same (connected) or the
    other path.  Pictures in which two of the four ends are nearer than two radii, or nearer to the frame than one, are
    drawn anew BEFORE the coins are thrown, so that the label cannot be told from what was refused.

    >>> scene = draw_scene(ARENA_32, np.random.default_rng(0))
    >>> [path.shape for path in scene.paths], len(scene.markers)
    ([(14, 2), (14, 2)], 2)
    """
    while True:
        grower = Grower(settings, rng)
        paths = grower.two_paths()
        if paths is None:
            continue
        ends = np.array([tips(path) for path in paths])  # (2 paths, start and end)
        near = np.abs(ends.reshape(-1, 1) - ends.reshape(1, -1))[np.triu_indices(4, 1)].min()
        frame = min(ends.real.min(), ends.imag.min(), settings.size - ends.real.max(), settings.size - ends.imag.max())
        if near > 2 * settings.marker and frame >= settings.marker:
            break
    distractors = []
    for _ in range(settings.distractors):
        path = grower.distractor([*paths, *distractors])
        if path is not None:
            distractors.append(path)
    first, connected = int(rng.integers(2)), bool(rng.integers(2))
    markers = [ends[first, 0], ends[first if connected else 1 - first, 1]]
    if settings.mark_distractors:
        markers += [tips(path)[rng.integers(2)] for path in distractors]
    return Scene(settings, grower.margin, paths, tuple(distractors), tuple(markers), first if connected else None)
