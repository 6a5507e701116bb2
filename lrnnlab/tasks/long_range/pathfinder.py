"""Pathfinder: are two circles joined by one dashed path? (the Long Range Arena's task, and paper 004's Segmentation)

Letters: B batch, M the side of a picture, T = M^2 pixels, row by row.

Inputs are (B, T, 1) in -1..1: black paper -1, full ink 1.  For 128 x 128 pixels or more these are paper 004's sizes;
Path-X is 128 x 128 with the Arena's own settings, which are read from its files (``lrnnlab.tasks.long_range``).

A picture is first a ``Scene``: two long dashed paths, short distractors, and circles at ends of paths.
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

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from lrnnlab.tasks.base import BaseTask
from lrnnlab.tasks.batch import Batch
from lrnnlab.tasks.draws import draw_seed, numpy_random
from lrnnlab.validation import whole_number

ANGLES = np.linspace(-np.pi / 2, np.pi / 2, 361)
ANGLE_CDF = 0.5 + (ANGLES + np.sin(2 * ANGLES) / 2) / np.pi  # of the density (2 / pi) cos^2
NOTHING = np.empty((0, 2), dtype=complex)  # no dashes
CANDIDATES = 24  # turns tried before a place counts as a dead end
BACK = 2  # dashes of each path taken back at a dead end
PATIENCE = 40  # dead ends before a picture is begun anew
TRIES = 30  # places tried for a distractor before it is left out


@dataclass(frozen=True)
class PathSettings:
    """What a picture holds; lengths in pixels, such that neither circles nor dashes can meet."""

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


# the Long Range Arena's Pathfinder32: contrast 2 of a path times .75 of its dashes, cut off at 1 when drawn
ARENA_32 = PathSettings(size=32, margins=(1,), dash=2, thickness=0.5, marker=1.5, dashes=14, seed_distance=7,
                        continuity=1.0, distractors=5, distractor_dashes=4, contrast=1.5)

# paper 004's Pathfinder-Segmentation.  32 and 64 are not in the paper: 32 is the Arena's picture with smaller circles,
# marked; 64 is the paper's 128 with every length but the padding of 1 at the edge halved
SEGMENTATION = {
    32: replace(ARENA_32, marker=1.2, mark_distractors=True),
    64: PathSettings(size=64, margins=(1, 1.5), dash=2.5, thickness=0.75, marker=1.05, dashes=14, seed_distance=11,
                     continuity=1.8, distractors=16, distractor_dashes=4, contrast=0.9, mark_distractors=True),
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
    """One picture before it is drawn."""

    settings: PathSettings
    margin: float
    paths: tuple
    distractors: tuple
    markers: tuple
    both_ends: int | None

    @property
    def connected(self) -> bool:
        """True if the two circles on main paths are at the ends of one path: the Arena's label."""
        return self.both_ends is not None


class Grower:
    """Grows paths in one picture; ``rng`` is a ``numpy.random.Generator``."""

    def __init__(self, settings, rng):
        self.settings, self.rng = settings, rng
        self.margin = float(rng.choice(settings.margins))
        self.apart = 2 * self.margin + settings.thickness

    def first_fit(self, dashes: np.ndarray, others: list[np.ndarray]) -> np.ndarray | None:
        """(1, 2): the first of ``dashes`` (k, 2) inside the frame and far enough from ``others``; None if none is."""
        from lrnnlab.tasks.long_range import pathfinder_loops  # compiled: only who draws pictures loads the compiler

        s = self.settings
        edge = max(s.padding + s.thickness / 2, s.marker * s.mark_distractors)  # no circle is cut off
        found = pathfinder_loops.first_fit(
            dashes, np.concatenate([NOTHING, *others]), complex(s.size / 2, s.size / 2), s.size / 2 - edge, self.apart
        )
        return None if found < 0 else dashes[found : found + 1]

    def seeds(self, starts: np.ndarray) -> np.ndarray:
        """(k, 2) dashes from the given points (k,) in random directions."""
        return np.stack([starts, starts + self.settings.dash * self.directions(len(starts))], 1)

    def directions(self, count: int) -> np.ndarray:
        return np.exp(2j * np.pi * self.rng.random(count))

    def extend(self, path: np.ndarray, others: list[np.ndarray]) -> np.ndarray | None:
        """``path`` with one more dash, or None at a dead end."""
        start, end = path[-1]
        ahead = (end - start) / abs(end - start)
        turn = np.interp(self.rng.random(CANDIDATES), ANGLE_CDF, ANGLES) / self.settings.continuity
        direction = ahead * np.exp(1j * turn)
        begin = end + self.margin * (ahead + direction)
        dashes = np.array([begin, begin + self.settings.dash * direction]).T
        found = self.first_fit(dashes, [path[:-1], *others])
        return None if found is None else np.concatenate([path, found])

    def two_seeds(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The first dashes of the two main paths, each (1, 2), or None if this try does not fit."""
        s = self.settings
        low, high = 2 * s.seed_distance, s.size - 2 * s.seed_distance
        first = complex(*self.rng.uniform(low, high, 2))
        one, two = self.seeds(np.array([first, first + s.seed_distance * self.directions(1)[0]]))[:, None]
        return None if self.first_fit(one, []) is None or self.first_fit(two, [one]) is None else (one, two)

    def two_paths(self) -> tuple[np.ndarray, np.ndarray] | None:
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

    def distractor(self, others: list[np.ndarray]) -> np.ndarray | None:
        """One short path, or None if no place was found for it."""
        s = self.settings
        for _ in range(TRIES):
            starts = self.rng.random((CANDIDATES, 2)) @ [s.size, 1j * s.size]
            path = self.first_fit(self.seeds(starts), others)
            while path is not None and len(path) < s.distractor_dashes:
                path = self.extend(path, others)
            if path is not None:
                return path
        return None


def tips(path: np.ndarray) -> tuple[complex, complex]:
    """The two ends of a path: where its first dash starts and where its last one ends."""
    return path[0, 0], path[-1, 1]


def draw_scene(settings: PathSettings, rng: np.random.Generator) -> Scene:
    """One random ``Scene``; connected or not with probability 1/2.  ``rng`` is a ``numpy.random.Generator``."""
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


def ink(shapes: Any, radius: float, size: int, antialias: int) -> np.ndarray:
    """(M, M) how much of each pixel is inked, 0..1, by pens of ``radius`` along ``shapes`` (n, 2) of start and end.

    The mean over antialias x antialias sub-pixels; each is inked by how far it lies inside the pen's edge, from 0 half
    a sub-pixel outside to 1 half a sub-pixel inside, so that a line thinner than a sub-pixel is not lost.
    """
    from lrnnlab.tasks.long_range import pathfinder_loops

    image = np.zeros((size, size))
    pathfinder_loops.add_ink(image, np.asarray(shapes, dtype=complex).reshape(-1, 2), radius, antialias)
    return image


def draw(scene: Scene) -> np.ndarray:
    """(M, M) uint8 picture of a ``Scene``: ink is bright, circles are 255."""
    s = scene.settings
    dashes = np.concatenate([*scene.paths, *scene.distractors])
    lines = np.minimum(1, s.contrast * ink(dashes, s.thickness / 2, s.size, s.antialias))
    circles = ink([(centre, centre) for centre in scene.markers], s.marker, s.size, s.antialias)
    return np.round(255 * np.maximum(lines, circles)).astype(np.uint8)


def segment(scene: Scene) -> np.ndarray:
    """(M, M) int64 classes: 1 where a main path has ink, 2 where that path has a circle at both ends, 0 elsewhere."""
    s = scene.settings
    classes = np.zeros((s.size, s.size), dtype=np.int64)
    for index, path in enumerate(scene.paths):
        classes[ink(path, s.thickness / 2, s.size, s.antialias) > 0] = 2 if index == scene.both_ends else 1
    return classes


class Pathfinder(BaseTask):
    """1 if the two circles are the ends of one path, else 0; inputs (B, M^2, 1), targets (B,), each class as likely.

    >>> task = Pathfinder()
    >>> batch = task.sample(2, 1024, torch.Generator().manual_seed(0))
    >>> batch.inputs.shape, batch.targets.shape
    (torch.Size([2, 1024, 1]), torch.Size([2]))
    """

    classes, d_in = 2, 1
    reads, answers = "numbers", "last"

    def __init__(self, settings: PathSettings = ARENA_32):
        self.settings, self.name = settings, f"{type(self).__name__}({settings.size})"
        self.train_length = self.test_length = self.least = settings.size**2

    def majority(self, length: int) -> float:
        """Accuracy of the best constant answer: the label is a fair coin's."""
        return 0.5

    def target(self, scene: Scene) -> Any:
        return int(scene.connected)

    def picture(self, *key: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Picture number ``key`` (one or more whole numbers) of this task: inputs (M^2, 1) float32 and the target.

        The same key gives the same picture, whatever was drawn before: a data set is a seed and a range of numbers.
        """
        scene = draw_scene(self.settings, numpy_random(*key))
        pixels = torch.from_numpy(draw(scene)).float().reshape(-1, 1)
        return pixels / 127.5 - 1, torch.as_tensor(self.target(scene), device="cpu")

    def check_length(self, length: int) -> int:
        """``length`` if it is M^2, else ValueError."""
        if whole_number(length, 1, f"{self}: a length") != self.settings.size**2:
            raise ValueError(f"{self}: a length is {self.settings.size} x {self.settings.size} = "
                             f"{self.settings.size**2}, got {length}")
        return length

    def sample(self, batch: int, length: int, generator: torch.Generator) -> Batch:
        """``batch`` fresh pictures of ``length`` = M^2 pixels and their targets, on the generator's device."""
        batch, length = whole_number(batch, 1, f"{self}: the batch"), self.check_length(length)
        seed = draw_seed(generator)
        inputs: Any
        targets: Any
        inputs, targets = zip(*(self.picture(seed, index) for index in range(batch)))
        inputs, targets = torch.stack(inputs), torch.stack(targets)
        mask = targets >= 0 if targets.ndim == 2 else None
        return Batch(inputs, targets, mask).to(generator.device)


class PathfinderSegmentation(Pathfinder):
    """A class for every pixel, 0, 1 or 2 (see ``segment``): targets (B, M^2); paper 004, section 3.2.

    ``side`` is 32 or 64 (ours, for small machines), 128, 256 or 512.  Almost all pixels are 0, so the paper reports macro F1
    and macro accuracy; its code weights each class by 1 / its count in the batch.

    >>> PathfinderSegmentation(32).sample(2, 1024, torch.Generator().manual_seed(0)).targets.shape
    torch.Size([2, 1024])
    """

    classes, answers = 3, "every"

    def __init__(self, side: int = 128):
        if side not in SEGMENTATION:
            raise ValueError(f"the sides with settings are {', '.join(map(str, SEGMENTATION))}, got {side!r}")
        super().__init__(SEGMENTATION[side])

    def majority(self, length: int) -> float:
        """The share of pixels of class 0, measured on 8 pictures with seed 0."""
        return float((self.sample(8, length, torch.Generator().manual_seed(0)).targets == 0).double().mean())

    def target(self, scene: Scene) -> Any:
        return segment(scene).reshape(-1)
