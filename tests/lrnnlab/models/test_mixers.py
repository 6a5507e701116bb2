"""What every mixer keeps: causal, of any length and batch, tables of symbols, single precision; equations: test_equations.py."""

import pytest
import torch
from mixers import MIXERS
from tensors import gap, normal, seeded

from lrnnlab import models
from lrnnlab.scans.convolution import SHORT

D = 6
ONE_WAY = [name for name in MIXERS if "both ways" not in name]
SMOOTH = [name for name in MIXERS if name not in ("block hard", "pd", "pd without phases")]  # no straight-through gradient


def make(name):
    return seeded(MIXERS[name], D).double()


def stepped(layer, z):
    state, out = layer.initial(len(z)), []
    for z_t in z.unbind(1):
        state, y = layer.step(state, z_t)
        out.append(y)
    return torch.stack(out, 1)


@pytest.mark.parametrize("name", ONE_WAY)
def test_forward_is_stepping_in_single_precision(name):
    """At both sides of the length where convolutions change their method."""
    layer = make(name).float()
    with torch.no_grad():
        for T in (SHORT, SHORT + 1):
            z = normal(2, T, D, dtype=torch.float32)
            y = layer(z)
            assert gap(stepped(layer, z), y) < 1e-4 * (1 + float(y.abs().max()))


@pytest.mark.parametrize("name", MIXERS)
@pytest.mark.parametrize("T", [5, 70])
def test_causal_in_one_direction_only(name, T):
    """The last input moves the last output; those before it only where a layer runs both ways."""
    layer, z = make(name), normal(2, T, D)
    other = z.clone()
    other[:, -1] += 1
    with torch.no_grad():
        change = (layer(other) - layer(z)).abs().amax((0, 2))
    assert change[-1] > 0 or name.startswith(("block hard", "pd without"))
    assert change[:-1].max() > 1e-6 if name not in ONE_WAY else change[:-1].max() < 1e-12


@pytest.mark.parametrize("name", MIXERS)
def test_tokens_any_length_and_any_batch(name):
    layer, table = make(name), normal(4, D)
    tokens = torch.randint(4, (3, 70), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        y = layer(table[tokens])
        assert gap(layer(table, tokens), y) < 1e-9
        assert gap(layer.trace(table, tokens)[1], y) < 1e-9
        assert gap(layer(table[tokens][1:2]), y[1:2]) < 1e-9
        if hasattr(layer, "backend") and not isinstance(layer, models.layers.Vanilla):
            layer.backend = "reference"
            assert gap(layer(table[tokens]), y) < 1e-9
        for z in (normal(2, 0, D), normal(2, 5, D)[:0]):
            assert layer(z).shape == z.shape
        if name in ONE_WAY:
            for T in (1, 2, 65):
                assert gap(layer(table, tokens[:, :T]), y[:, :T]) < 1e-8


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_in_single_precision_at_length(name):
    single, double = make(name).float(), make(name)
    z, g = normal(2, 300, D), normal(2, 300, D, seed=1)
    (single(z.float()) * g.float()).sum().backward()
    (double(z) * g).sum().backward()
    for (key, p), q in zip(single.named_parameters(), double.parameters()):
        assert q.grad.abs().max() > 0 or name == "block free", key
        assert p.grad.isfinite().all() and gap(p.grad, q.grad) < 1e-2 * float(q.grad.abs().max()) + 1e-4, key
