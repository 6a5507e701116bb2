"""Rotary and local attention of paper 004: against loops over positions, stepping, receptive fields."""

import math

import numpy as np
import pytest
import torch
from tensors import gap, normal
from torch import nn

from lrnnlab.models.layers.attention import LocalAttention, RotaryAttention, rotate

D, SIZE = 6, {"heads": 2, "head_size": 4}
LAYERS = {
    "rotary": (RotaryAttention, {}),
    "rotary, ff": (RotaryAttention, {"ff": 5}),
    **{f"local {c}": (LocalAttention, {"chunk": c}) for c in (1, 3, 8)},
    "local 3, ff": (LocalAttention, {"chunk": 3, "ff": 5}),
}


def make(name, seed=0, **more):
    kind, options = LAYERS[name]
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        layer = kind(D, **SIZE, **options, **more).double()
        for f in (layer.Q, layer.K):
            f.weight.data.mul_(3)  # sharper than at the start, so that positions matter
        return layer


def gelu(x):
    return x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2


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


def oracle(layer, z):
    """(T, D) -> (T, D), position by position and head by head."""
    p = {key: v.detach().numpy() for key, v in layer.named_parameters()}
    T, h, d = len(z), layer.heads, len(p["K.weight"]) // layer.heads
    q, k, v = ((z @ p[f"{n}.weight"].T + p[f"{n}.bias"]).reshape(T, h, d) for n in "QKV")
    out = np.zeros_like(z)
    for t in range(T):
        seen, merged = sees(layer, t, T), []
        for head in range(h):
            scores = np.array([turned(q[t, head], t) @ turned(k[s, head], s) for s in seen]) * p["temperature"]
            weights = np.exp(scores - scores.max())
            merged.append(weights / weights.sum() @ v[seen, head])
        y = p["O.weight"] @ np.concatenate(merged) + p["O.bias"]
        for i in range(len(layer.ff)):
            n = f"ff.{i}.inner."
            x = (y - y.mean()) / np.sqrt(y.var() + 1e-5) * p[n + "0.weight"] + p[n + "0.bias"]
            y = y + p[n + "3.weight"] @ gelu(p[n + "1.weight"] @ x + p[n + "1.bias"]) + p[n + "3.bias"]
        out[t] = z[t] + gelu(y)
    return out


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("T", [1, 2, 3, 7, 13])
def test_against_the_oracle(name, causal, T):
    layer, z = make(name, causal=causal), normal(2, T, D)
    found = layer(z)
    for row, line in zip(found, z):
        assert gap(row, oracle(layer, line.numpy())) < 1e-10


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


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("name", LAYERS)
def test_who_sees_whom(name, causal):
    """The outputs that move when one input does are those that attend to it."""
    layer, z, T = make(name, causal=causal), normal(1, 14, D), 14
    with torch.no_grad():
        before = layer(z)
        for s in range(T):
            other = z.clone()
            other[:, s] += 1
            moved = (layer(other) - before).abs().amax((0, 2)) > 1e-9
            assert moved.tolist() == [s in sees(layer, t, T) for t in range(T)]
