"""What every mixer keeps: forward is stepping, causal, at any length; gradients; weights that come from the seed."""

from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tensors import gap, normal
from torch.func import functional_call

from lrnnlab import models
from lrnnlab.models.layers.attention import CausalAttention, LocalAttention, RotaryAttention
from lrnnlab.models.layers.recurrent import Nonlinear
from lrnnlab.models.layers.transitions import Dictionary, OneHotColumns
from lrnnlab.scans.convolution import SHORT

D = 6
ROT, HEADS = {"state": 8, "heads": 2}, {"heads": 2, "head_size": 4}
AUTOMATON = {"rule": "softmax", "drive": "none", "start": "first"}
MIXERS = {
    **{f"block {rule}": partial(models.BlockDiagonal.of_width, b=3, hidden=8, rule=rule) for rule in models.COLUMN_RULES},
    "block automaton": partial(models.BlockDiagonal.of_width, b=3, hidden=8, stay=2.0, **AUTOMATON),
    "block linear drive": partial(models.BlockDiagonal.of_width, b=2, hidden=8, drive="linear", p=1.0),
    "blocks of one": partial(models.BlockDiagonal.of_width, b=1, hidden=8, p=float("inf")),
    "vanilla": models.Vanilla,
    **{f"diagonal {kind}": partial(models.Diagonal, kind=kind) for kind in ("positive", "signed", "complex", "unit")},
    "diagonal phases": partial(models.Diagonal, kind="unit", drive="none"),
    "pd": partial(OneHotColumns, b=3), "pd without phases": partial(OneHotColumns, b=3, phases=False),
    "dictionary": partial(Dictionary, matrices=3, state=4),
    "elman": partial(Nonlinear, cell="elman"), "lstm": partial(Nonlinear, cell="lstm"),
    "rotrnn": partial(models.RotRNN, **ROT), "rotrnn released": partial(models.RotRNN, **ROT, init="released"),
    "rotrnn absorbed": partial(models.RotRNN, **ROT, rotation="absorbed"),
    "rotrnn paper, c = 1/2": partial(models.RotRNN, **ROT, normaliser="paper", c=0.5),
    "rotrnn random start, c = 2": partial(models.RotRNN, **ROT, start="random", c=2.0),
    "rotrnn both ways": partial(models.RotRNN, state=6, heads=1, bidirectional=True),
    "lru": partial(models.LRU, state=5), "lru one state": partial(models.LRU, state=1),
    "lru recomputed, both ways": partial(models.LRU, state=5, normaliser="recomputed", bidirectional=True),
    "s5": partial(models.S5, state=6), "s5 blocks, both ways": partial(models.S5, state=8, blocks=2, bidirectional=True),
    "dlr": partial(models.DLR, state=5), "dlr prod": partial(models.DLR, state=5, kind="prod"),
    "dlr imag": partial(models.DLR, state=5, kind="imag"), "dlr real_prod": partial(models.DLR, state=5, kind="real_prod"),
    "dlr half circle": partial(models.DLR, state=4, init="half_circle", dt=(1e-4, 1e-2)),
    "dlr real": partial(models.DLR, state=5, eigenvalues="real"),
    "dlr short": partial(models.DLR, state=5, kind="prod", max_kernel=7),
    "dlr both ways": partial(models.DLR, state=5, bidirectional=True),
    "dss": partial(models.DSS, state=5), "dss short": partial(models.DSS, state=5, max_kernel=7),
    "sgconv": partial(models.SGConv, length=20, piece=3, alpha=(0.5, 0.9)),
    "sgconv both ways": partial(models.SGConv, length=20, piece=3, bidirectional=True),
    "s4": partial(models.S4, state=4, dt=(0.01, 1.0)),
    **{f"s4d {init}": partial(models.S4D, state=4, init=init) for init in ("lin", "inv", "legs")},
    "liquid_s4": partial(models.LiquidS4, state=4), "rwkv": models.RWKV,
    "rotary": partial(RotaryAttention, **HEADS), "rotary, ff": partial(RotaryAttention, **HEADS, ff=5),
    "rotary both ways": partial(RotaryAttention, **HEADS, causal=False),
    **{f"local {c}": partial(LocalAttention, chunk=c, **HEADS) for c in (1, 3, 8)},
    "local both ways": partial(LocalAttention, chunk=3, causal=False, **HEADS),
    "causal attention": CausalAttention,
    "gated deltanet": models.GatedDeltaNet, "gated deltanet, to 2": partial(models.GatedDeltaNet, allow_negative_eigenvalues=True, heads=3),
    "mamba2": models.Mamba2, "rwkv7": models.RWKV7, "rwkv7, heads of one": partial(models.RWKV7, heads=D),
}  # fmt: skip
ONE_WAY = [name for name in MIXERS if "both ways" not in name]
SMOOTH = [name for name in MIXERS if name not in ("block hard", "pd", "pd without phases")]  # no straight-through gradient
ELSEWHERE = {"ult", "nlt", "deltanet", "recurrent_delta", "srwm", "e_lstm"}  # test_fast_weights.py


def make(name, seed=0):
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return MIXERS[name](D).double()


def stepped(layer, z):
    state, out = layer.initial(len(z)), []
    for z_t in z.unbind(1):
        state, y = layer.step(state, z_t)
        out.append(y)
    return torch.stack(out, 1)


def test_every_mixer_of_the_registry_is_tested_here_or_there():
    def kind(name):
        made = models.MODELS[name].args[0]
        made = getattr(made, "func", made)
        return getattr(made, "__self__", made)

    here = {type(make(name)) for name in MIXERS}
    assert {name for name in models.MODELS if models.reads_numbers(name) and kind(name) not in here} == ELSEWHERE


@settings(max_examples=120, deadline=None)
@given(name=st.sampled_from(ONE_WAY), B=st.integers(1, 3), T=st.integers(1, 75), seed=st.integers(0, 10**6))
def test_forward_is_stepping(name, B, T, seed):
    layer, z = make(name, seed % 7), normal(B, T, D, seed=seed)
    with torch.no_grad():
        assert gap(stepped(layer, z), layer(z)) < 1e-8


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
        if hasattr(layer, "backend") and not isinstance(layer, models.Vanilla):
            layer.backend = "reference"
            assert gap(layer(table[tokens]), y) < 1e-9
        for z in (normal(2, 0, D), normal(2, 5, D)[:0]):
            assert layer(z).shape == z.shape
        if name in ONE_WAY:
            for T in (1, 2, 65):
                assert gap(layer(table, tokens[:, :T]), y[:, :T]) < 1e-8


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients(name):
    """Of weights too, at a length that leaves the last chunk unfilled."""
    layer, z = make(name), normal(1, 7, D).requires_grad_()
    names, values = zip(*((key, p.detach().requires_grad_()) for key, p in layer.named_parameters()))
    assert torch.autograd.gradcheck(
        lambda z, *values: functional_call(layer, dict(zip(names, values)), (z,)), (z, *values),
        fast_mode=True, check_undefined_grad=False,
    )  # fmt: skip


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_in_single_precision_at_length(name):
    single, double = make(name).float(), make(name)
    z, g = normal(2, 300, D), normal(2, 300, D, seed=1)
    (single(z.float()) * g.float()).sum().backward()
    (double(z) * g).sum().backward()
    for (key, p), q in zip(single.named_parameters(), double.parameters()):
        assert q.grad.abs().max() > 0 or name == "block free", key
        assert p.grad.isfinite().all() and gap(p.grad, q.grad) < 1e-2 * float(q.grad.abs().max()) + 1e-4, key
