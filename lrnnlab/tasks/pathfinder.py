"""Pathfinder: are two circles joined by one dashed path? (the Long Range Arena's task, and paper 004's Segmentation)

Letters: B batch, M the side of a picture, T = M^2 pixels, row by row.  ``lrnnlab.tasks.pathfinder_scene`` makes the
geometry and has the settings of the published pictures.

Inputs are (B, T, 1) in -1..1: black paper -1, full ink 1.  For 128 x 128 pixels or more these are paper 004's sizes;
Path-X is 128 x 128 with the Arena's own settings, which are read from its files (``lrnnlab.tasks.long_range``).
"""

import numpy as np
import torch

from lrnnlab.errors import whole_number
from lrnnlab.tasks.base import BaseTask, Batch
from lrnnlab.tasks.pathfinder_scene import ARENA_32, SEGMENTATION, distance, draw_scene
from lrnnlab.tasks.seeds import draw_seed, numpy_random


def ink(shapes, radius, size, antialias):
    """(M, M) how much of each pixel is inked, 0..1, by pens of ``radius`` along ``shapes`` (n, 2) of start and end.

    The mean over antialias x antialias sub-pixels; each is inked by how far it lies inside the pen's edge, from 0 half
    a sub-pixel outside to 1 half a sub-pixel inside, so that a line thinner than a sub-pixel is not lost.
    """
    image = np.zeros((size, size))
    for start, end in shapes:
        left, right = sorted((start.real, end.real))
        top, bottom = sorted((start.imag, end.imag))
        low = np.maximum(np.floor(np.array([left, top]) - radius - 1), 0).astype(int)
        high = np.minimum(np.ceil(np.array([right, bottom]) + radius + 1), size).astype(int)
        x, y = ((np.arange(a * antialias, b * antialias) + 0.5) / antialias for a, b in zip(low, high))
        points = x + 1j * y[:, None]
        if start == end:
            away = np.abs(points - start)
        else:
            away = distance(points[..., None], np.array([[start, end]]))[..., 0]
        cover = np.clip(0.5 + (radius - away) * antialias, 0, 1)
        rows, columns = high[1] - low[1], high[0] - low[0]
        cover = cover.reshape(rows, antialias, columns, antialias).mean((1, 3))
        window = image[low[1]:high[1], low[0]:high[0]]
        np.maximum(window, cover, out=window)
    return image


def draw(scene):
    """(M, M) uint8 picture of a ``Scene``: ink is bright, circles are 255."""
    s = scene.settings
    dashes = np.concatenate([*scene.paths, *scene.distractors])
    lines = np.minimum(1, s.contrast * ink(dashes, s.thickness / 2, s.size, s.antialias))
    circles = ink([(centre, centre) for centre in scene.markers], s.marker, s.size, s.antialias)
    return np.round(255 * np.maximum(lines, circles)).astype(np.uint8)


def segment(scene):
    """(M, M) int64 classes: 1 where a main path has ink, 2 where that path has a circle at both ends, 0 elsewhere.

    A circle's pixels off the path are 0 (paper 004, figure 1, and its code).
    """
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

    classes, d_in, chance = 2, 1, 0.5
    reads, answers = "numbers", "last"

    def __init__(self, settings=ARENA_32):
        self.settings = settings
        self.train_length = self.test_length = settings.size**2

    @property
    def name(self):
        return f"{type(self).__name__}({self.settings.size})"

    def __repr__(self):
        return self.name

    @property
    def majority(self):
        """Accuracy of the best constant answer: the label is a fair coin's."""
        return 0.5

    def levels(self, length):
        return {"chance": self.chance, "majority": self.majority}

    def target(self, scene):
        return int(scene.connected)

    def picture(self, *key):
        """Picture number ``key`` (one or more whole numbers) of this task: inputs (M^2, 1) float32 and the target.

        The same key gives the same picture, whatever was drawn before: a data set is a seed and a range of numbers.
        """
        scene = draw_scene(self.settings, numpy_random(*key))
        pixels = torch.from_numpy(draw(scene)).float().reshape(-1, 1)
        return pixels / 127.5 - 1, torch.as_tensor(self.target(scene))

    def check_length(self, length):
        """``length`` if it is M^2, else ValueError."""
        if whole_number(length, 1, f"{self}: a length") != self.settings.size**2:
            raise ValueError(f"{self}: a length is {self.settings.size} x {self.settings.size} = "
                             f"{self.settings.size**2}, got {length}")
        return length

    def sample(self, batch, length, generator):
        """``batch`` fresh pictures of ``length`` = M^2 pixels and their targets, on the generator's device."""
        batch, length = whole_number(batch, 1, f"{self}: the batch"), self.check_length(length)
        seed = draw_seed(generator)
        inputs, targets = zip(*(self.picture(seed, index) for index in range(batch)))
        inputs, targets = torch.stack(inputs), torch.stack(targets)
        mask = targets >= 0 if targets.ndim == 2 else None
        return Batch(inputs, targets, mask).to(generator.device)


class PathfinderSegmentation(Pathfinder):
    """A class for every pixel, 0, 1 or 2 (see ``segment``): targets (B, M^2); paper 004, section 3.2.

    ``side`` is 32 (ours, for small machines), 128, 256 or 512.  Almost all pixels are 0, so the paper reports macro F1
    and macro accuracy; its code weights each class by 1 / its count in the batch.

    >>> PathfinderSegmentation(32).sample(2, 1024, torch.Generator().manual_seed(0)).targets.shape
    torch.Size([2, 1024])
    """

    classes, chance, answers = 3, 1 / 3, "every"

    def __init__(self, side=128):
        if side not in SEGMENTATION:
            raise ValueError(f"the sides with settings are {', '.join(map(str, SEGMENTATION))}, got {side!r}")
        super().__init__(SEGMENTATION[side])

    @property
    def majority(self):
        """The share of pixels of class 0, measured on 8 pictures with seed 0."""
        generator = torch.Generator().manual_seed(0)
        return float((self.sample(8, self.settings.size**2, generator).targets == 0).double().mean())

    def target(self, scene):
        return segment(scene).reshape(-1)
