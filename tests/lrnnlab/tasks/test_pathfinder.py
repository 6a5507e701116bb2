"""Pathfinder pictures: labels against connected ink, circles at ends, nothing touching, the same picture by number."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import ndimage

from lrnnlab.tasks.long_range import pathfinder


def scenes(side, count):
    """Scenes 0..count-1 of a setting: "arena" or a side of the segmentation task."""
    chosen = pathfinder.ARENA_32 if side == "arena" else pathfinder.SEGMENTATION[side]
    return [pathfinder.draw_scene(chosen, np.random.default_rng([7, number])) for number in range(count)]


@pytest.fixture(scope="module", params=[("arena", 15), (32, 8), (64, 3), (128, 2)], ids=str)
def some(request):
    return scenes(*request.param)


def points(dashes, count=17):
    """Points along dashes: (n, count)."""
    return dashes[:, :1] + (dashes[:, 1:] - dashes[:, :1]) * np.linspace(0, 1, count)


def all_paths(scene):
    return [*scene.paths, *scene.distractors]


def spacing_faults(scene):
    """What is wrong with the distances in a scene, by brute force over points (an empty list if nothing is)."""
    s, faults = scene.settings, []
    owners = [(number, place) for number, path in enumerate(all_paths(scene)) for place in range(len(path))]
    cloud = points(np.concatenate(all_paths(scene)))
    near = np.abs(cloud[:, None, :, None] - cloud[None, :, None, :]).min((2, 3))
    for a, (path, place) in enumerate(owners):
        for b, (other, later) in enumerate(owners[:a]):
            consecutive = path == other and abs(place - later) == 1
            if consecutive and not s.thickness < near[a, b] <= 2 * scene.margin + 1e-9:
                faults.append(f"consecutive dashes {near[a, b]:.3f} apart")
            if not consecutive and near[a, b] < 2 * scene.margin + s.thickness - 1e-9:
                faults.append(f"dashes {near[a, b]:.3f} apart")
    edge = s.padding + s.thickness / 2
    ends = np.concatenate([cloud.real.ravel(), cloud.imag.ravel()])
    if ends.min() < edge - 1e-9 or ends.max() > s.size - edge + 1e-9:
        faults.append("a dash leaves the frame")
    return faults


def regions(scene):
    """Connected regions of a picture whose pen just closes the gaps of a path: (labels, scale, count), from pixels only."""
    s = scene.settings
    scale = {32: 16, 64: 12}.get(s.size, 6)
    blank = np.ones((s.size * scale, s.size * scale), dtype=bool)
    cloud = points(np.concatenate(all_paths(scene)), 200).ravel()
    blank[(cloud.imag * scale).astype(int), (cloud.real * scale).astype(int)] = False
    fat = ndimage.distance_transform_edt(blank) <= (scene.margin + 0.1) * scale
    labels, count = ndimage.label(fat)
    return labels, scale, count


def test_nothing_touches(some):
    for scene in some:
        assert spacing_faults(scene) == []
        assert [len(path) for path in scene.paths] == 2 * [scene.settings.dashes]
        assert {len(path) for path in scene.distractors} <= {scene.settings.distractor_dashes}
        assert 0 < len(scene.distractors) <= scene.settings.distractors
        length = np.abs(np.diff(np.concatenate(all_paths(scene)), axis=1))
        np.testing.assert_allclose(length, scene.settings.dash)


def test_the_label_is_connection(some):
    for scene in some:
        labels, scale, count = regions(scene)
        assert count == 2 + len(scene.distractors)
        one, two = (labels[int(m.imag * scale), int(m.real * scale)] for m in scene.markers[:2])
        assert one and two and (one == two) == scene.connected


def test_ink_is_area():
    """Against the area of a pen's stroke, and against 16 x 16 hard sub-pixels, at no special place."""
    stroke = np.array([[4.3 + 5.1j, 11.8 + 8.6j]])
    soft, length = pathfinder.ink(stroke, 1.0, 16, 2), abs(stroke[0, 1] - stroke[0, 0])
    assert soft.sum() == pytest.approx(2 * length + np.pi, rel=0.02)
    grid = (np.arange(256) + 0.5) / 16
    near = np.abs((grid + 1j * grid[:, None])[..., None] - points(stroke, 100)[0]).min(-1) <= 1.0
    hard = near.reshape(16, 16, 16, 16).mean((1, 3))
    assert np.abs(soft - hard).max() < 0.15
    assert pathfinder.ink(np.empty((0, 2)), 1, 8, 2).sum() == 0


def distances(points, dashes):
    """points (..., 1), dashes (n, 2) -> (..., n)."""
    start, along = dashes[:, 0], dashes[:, 1] - dashes[:, 0]
    share = ((points - start) * along.conj()).real / np.maximum(np.abs(along) ** 2, 1e-300)
    return np.abs(points - start - share.clip(0, 1) * along)


def slow_first_fit(grower, dashes, others):
    """``Grower.first_fit``: every distance of every dash, then the first that is as asked for."""
    s, others = grower.settings, np.concatenate([np.empty((0, 2)), *others])
    edge = max(s.padding + s.thickness / 2, s.marker * s.mark_distractors)
    away = dashes - complex(s.size / 2, s.size / 2)
    fits = (np.maximum(np.abs(away.real), np.abs(away.imag)) <= s.size / 2 - edge).all(1)
    if len(others):
        near = np.minimum(distances(dashes[:, :, None], others).min((1, 2)), distances(others.reshape(-1, 1), dashes).min(0))
        fits &= near >= grower.apart
    found = fits.nonzero()[0]
    return dashes[found[:1]] if len(found) else None


def slow_ink(shapes, radius, size, antialias):
    """``ink``: the distance of every sub-pixel of the whole picture from every shape."""
    x = (np.arange(size * antialias) + 0.5) / antialias
    if not len(shapes):
        return np.zeros((size, size))
    away = distances((x + 1j * x[:, None])[..., None], np.array(shapes, dtype=complex))
    cover = np.clip(0.5 + (radius - away) * antialias, 0, 1).reshape(size, antialias, size, antialias, -1)
    return cover.mean((1, 3)).max(-1)


@pytest.mark.parametrize("side, count", [("arena", 6), (32, 6), (64, 3), (128, 2)])
def test_the_same_pictures_as_slow_arithmetic(monkeypatch, side, count):
    fast = [(scene, pathfinder.draw(scene), pathfinder.segment(scene)) for scene in scenes(side, count)]
    monkeypatch.setattr(pathfinder.Grower, "first_fit", slow_first_fit)
    for again, (scene, picture, classes) in zip(scenes(side, count), fast):
        for one, two in zip(all_paths(again), all_paths(scene), strict=True):
            np.testing.assert_allclose(one, two, atol=1e-12)
        assert again.markers == scene.markers and again.both_ends == scene.both_ends
        s = again.settings
        lines = slow_ink(np.concatenate(all_paths(again)), s.thickness / 2, s.size, s.antialias) * s.contrast
        circles = slow_ink([(m, m) for m in again.markers], s.marker, s.size, s.antialias)
        assert (np.abs(np.maximum(lines.clip(0, 1), circles) * 255 - picture) <= 0.5 + 1e-9).all()
        inked = [slow_ink(path, s.thickness / 2, s.size, s.antialias) > 0 for path in again.paths]
        expected = np.select(inked[::-1], [2 if again.both_ends == k else 1 for k in (1, 0)], 0)
        assert (classes == expected).all()


def test_pictures_by_number():
    task = pathfinder.Pathfinder()
    first, again, other = task.picture(3, 5), task.picture(3, 5), task.picture(3, 6)
    assert torch.equal(first[0], again[0]) and first[1] == again[1] and not torch.equal(first[0], other[0])
    assert first[0].shape == (1024, 1) and first[0].min() == -1 and first[0].max() == 1
    batch = task.sample(4, 1024, torch.Generator().manual_seed(0))
    inputs, targets = batch.inputs, batch.targets
    assert torch.equal(inputs, task.sample(4, 1024, torch.Generator().manual_seed(0)).inputs)
    assert inputs.shape == (4, 1024, 1) and targets.shape == (4,) and targets.dtype == torch.int64


def test_segmentation_task():
    task = pathfinder.PathfinderSegmentation(32)
    batch = task.sample(3, 1024, torch.Generator().manual_seed(0))
    inputs, targets = batch.inputs, batch.targets
    assert inputs.shape == (3, 1024, 1) and targets.shape == (3, 1024) and set(targets.unique().tolist()) <= {0, 1, 2}
    assert 0.7 < task.majority(1024) < 0.95 and task.chance == pytest.approx(1 / 3)
    assert pathfinder.PathfinderSegmentation(128).least_length == 128**2


def test_planted_faults_are_seen(monkeypatch):
    """The checks can fail: paths that need not keep their distance touch, and a wrong owner changes the label."""
    scene = next(scene for scene in scenes("arena", 8) if scene.connected)
    moved = replace(scene, markers=(scene.markers[0], pathfinder.tips(scene.paths[1 - scene.both_ends])[1]))
    labels, scale, _ = regions(moved)
    one, two = (labels[int(m.imag * scale), int(m.real * scale)] for m in moved.markers)
    assert one != two and moved.connected  # the label no longer fits
    keep = pathfinder.Grower.__init__

    def careless(self, settings, rng):
        keep(self, settings, rng)
        self.apart = 0.5

    monkeypatch.setattr(pathfinder.Grower, "__init__", careless)
    assert any(spacing_faults(scene) for scene in scenes("arena", 2))


def test_circles_stand_at_ends(some):
    for scene in some:
        s = scene.settings
        ends = [pathfinder.tips(path) for path in scene.paths]
        owner = [next(k for k in (0, 1) if m in ends[k]) for m in scene.markers[:2]]
        assert (owner[0] == owner[1]) == scene.connected and scene.markers[0] == ends[owner[0]][0]
        assert scene.markers[1] == ends[owner[1]][1] and scene.both_ends == (owner[0] if scene.connected else None)
        assert np.abs(np.subtract.outer(np.ravel(ends), np.ravel(ends)))[np.triu_indices(4, 1)].min() > 2 * s.marker
        assert len(scene.markers) == 2 + s.mark_distractors * len(scene.distractors)
        for marker, path in zip(scene.markers[2:], scene.distractors):
            assert marker in pathfinder.tips(path)
        picture = pathfinder.draw(scene)
        for m in scene.markers:
            assert picture[int(m.imag), int(m.real)] > (240 if s.marker > 1.1 else 220)  # a small circle misses a corner
        circles = pathfinder.ink([(m, m) for m in scene.markers], s.marker, s.size, s.antialias).sum()
        assert circles == pytest.approx(len(scene.markers) * np.pi * s.marker**2, rel=0.05)


def test_classes_of_pixels(some):
    for scene in some:
        s, classes = scene.settings, pathfinder.segment(scene)
        rows, columns = np.indices(classes.shape)
        centres = (columns + 0.5 + 1j * (rows + 0.5)).ravel()
        away = np.array([np.abs(centres[:, None] - points(path).ravel()).min(1) for path in scene.paths])
        nearest = away.argmin(0).reshape(classes.shape)
        expected = np.where(nearest == scene.both_ends, 2, 1) if scene.connected else np.ones_like(classes)
        away = away.min(0).reshape(classes.shape)
        on, off = away <= s.thickness / 2, away >= s.thickness / 2 + 1.3
        assert (classes[on] == expected[on]).all() and (classes[off] == 0).all()
        assert (classes[classes > 0] == expected[classes > 0]).all()
        assert (2 in classes) == scene.connected and 1 in classes
