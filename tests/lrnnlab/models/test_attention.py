"""Rotary and local attention of paper 004: rotations, sizes, receptive fields."""

import numpy as np
import pytest
import torch
from mixers import MIXERS
from tensors import gap, normal, seeded
from torch import nn

from lrnnlab.models.layers.attention import LocalAttention, RotaryAttention, rotate

D = 6


def turned(x, t):
    """Pairs as complex numbers, times e^(i t theta^(-2m/d))."""
    pairs = x[::2] + 1j * x[1::2]
    pairs = pairs * np.exp(1j * t * 10_000.0 ** (-2 * np.arange(len(pairs)) / len(x)))
    return np.stack([pairs.real, pairs.imag], -1).reshape(-1)


def sees(layer, t, T):
    """Positions that t attends to, from the definition."""

    def near(s):
        return not isinstance(layer, LocalAttention) or abs(t // layer.chunk - s // layer.chunk) <= 1

    return [s for s in range(T) if near(s) and (s <= t or not layer.causal)]


def test_rotation_is_relative_and_exact_far_away():
    q, k = normal(8), normal(8, seed=1)
    at = torch.tensor([3, 65_536])
    for t, s in ((0, 2), (500, 502), (65_000, 65_002)):
        score = rotate(q.view(1, 8), torch.tensor([t])) @ rotate(k.view(1, 8), torch.tensor([s])).mT
        assert abs(float(score) - turned(q.numpy(), 0) @ turned(k.numpy(), 2)) < 1e-10
    single = rotate(q.float().expand(2, 8), at)
    for row, t in zip(single, at.tolist()):
        assert gap(row, turned(q.float().double().numpy(), t)) < 1e-6


def test_parameter_counts_of_tables_1_and_6():
    """Encoder 3 -> 128, layer, output map, layer norm, decoder 128 -> 1; in the paper 83K, and 1.1M with 2 x FF."""
    around = nn.Linear(3, 128), nn.Linear(128, 128), nn.LayerNorm(128), nn.Linear(128, 1)

    def count(layer):
        return sum(p.numel() for part in (layer, *around) for p in part.parameters())

    assert count(RotaryAttention(128)) == 83_458
    assert count(LocalAttention(128)) == 83_458
    assert count(RotaryAttention(128, ff=2048)) == 1_136_898


@pytest.mark.parametrize("name", [name for name in MIXERS if name.startswith(("rotary", "local"))])
def test_who_sees_whom(name):
    """The outputs that move when one input does are those that attend to it."""
    layer, z, T = seeded(MIXERS[name], D).double(), normal(1, 14, D), 14
    with torch.no_grad():
        before = layer(z)
        for s in range(T):
            other = z.clone()
            other[:, s] += 1
            moved = (layer(other) - before).abs().amax((0, 2)) > 1e-9
            assert moved.tolist() == [s in sees(layer, t, T) for t in range(T)]
