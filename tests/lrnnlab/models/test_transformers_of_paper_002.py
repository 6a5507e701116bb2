"""The baselines of paper 002: attention with relative positions against formulas and torch's own layer; the ReLU RNN."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tensors import gap, same, strings, torchs_layer
from torch.nn import functional as F

from lrnnlab.models import equations
from lrnnlab.models.layers import attention as transformers
from lrnnlab.models.layers.attention import POSITIONS, RelativeTransformer, ReluRNN, relative_shift, sinusoids

D, H, V, C = 8, 2, 3, 4
CAUSAL = [name for name in POSITIONS if name != "xl"]


def seeded(make, seed=0):
    """In double precision, every weight moved away from 0 and 1."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        model = make().double()
        with torch.no_grad():
            for weight in model.parameters():
                weight.add_(0.3 * torch.rand_like(weight))
        return model


def transformer(position, **options):
    return seeded(lambda: RelativeTransformer(V, C, width=D, heads=H, position=position, **{"layers": 2, **options}))


def count(model):
    return sum(p.numel() for p in model.parameters())


@pytest.mark.parametrize("name, fault", [
    ("relative_shift", lambda scores: scores[..., : scores.shape[-2]]),
    ("relative_shift", lambda scores: relative_shift(scores).mT),
    ("sinusoids", lambda offsets, width: sinusoids(-offsets, width)),
    ("sinusoids", lambda offsets, width: sinusoids(offsets.abs(), width)),
    ("sinusoids", lambda offsets, width: sinusoids(offsets, width, 100.0)),
])  # fmt: skip
def test_a_fault_in_the_positions_is_noticed(name, fault, monkeypatch):
    model, tokens = transformer("xl"), strings(V, 3, 6)
    right = equations.outputs_of(model, tokens)
    monkeypatch.setattr(transformers, name, fault)
    assert gap(model(tokens), right) > 1e-3


@pytest.mark.parametrize("block", ["post_norm", "gpt2"])
@pytest.mark.parametrize("position", CAUSAL)
def test_causal_models_against_torch(position, block):
    model, tokens = transformer(position, block=block), strings(V, 2, 40)
    h = model.embedding.weight[tokens] * math.sqrt(D)
    for ours, layer in zip(model.hidden(tokens), model.layers, strict=True):
        h = torchs_layer(layer, H, block == "post_norm")(h, model.bias(40))
        assert gap(ours, h) < 1e-9
    h = F.layer_norm(h, (D,), model.norm.weight, model.norm.bias) if block == "gpt2" else h
    assert gap(model(tokens), h @ model.head.weight.T + model.head.bias) < 1e-9


def by_hand(model, position, head, m, n):
    if n > m:
        return -math.inf
    w = model.position
    if position == "alibi":
        return -(2.0 ** (-8 * (head + 1) / H)) * (m - n)
    if position == "kerple":
        r_1, r_2 = (max(0.01, float(r)) for r in w.r.detach()[:, head, 0, 0])
        return -r_1 * math.log(1 + r_2 * (m - n))
    return float(w.b[head, bucket(m - n)].detach())


def bucket(distance):
    """16 + floor(16 log_8(distance / 16)), in whole numbers: the last k with distance^16 >= 16^16 8^k."""
    if distance < 16:
        return distance
    return 16 + max(k for k in range(16) if distance**16 >= 16**16 * 8**k)


@pytest.mark.parametrize("position", CAUSAL)
def test_biases_are_their_formulas(position):
    model = transformer(position)
    if position == "kerple":
        with torch.no_grad():
            model.position.r[0, 0] = -3.0  # below the least value
    bias = model.bias(150)
    wanted = [[[by_hand(model, position, head, m, n) for n in range(0, 150, 7)] for m in range(150)] for head in range(H)]
    same(bias[:, :, ::7].detach().double(), torch.tensor(wanted, dtype=torch.float64), 1e-12)


def test_slopes_of_alibi():
    assert transformers.Alibi.slopes_of(8) == [2.0**-i for i in range(1, 9)]
    # 12 heads, as in Table 3: 8 of the row for 8, then numbers 1, 3, 5, 7 of the row for 16
    assert transformers.Alibi.slopes_of(12) == [2.0**-i for i in range(1, 9)] + [2.0 ** (-i / 2) for i in (1, 3, 5, 7)]
    assert transformers.Alibi.slopes_of(1) == [2.0**-8]


@pytest.mark.parametrize("position", POSITIONS)
def test_single_precision_gradients_against_double(position):
    model, tokens = transformer(position), strings(V, 3, 40)
    double = torch.autograd.grad(model(tokens).square().mean(), list(model.parameters()))
    model.float()
    for p, q in zip(torch.autograd.grad(model(tokens).square().mean(), list(model.parameters())), double):
        assert float((p.double() - q).abs().max()) < 1e-4 * (1 + float(q.abs().max()))


def test_parameter_count_of_the_released_code():
    assert count(RelativeTransformer(2, 2, width=256)) == 4_275_202


def test_what_positions_add_to_the_parameters():
    sizes = {position: count(RelativeTransformer(2, 2, width=64, position=position)) for position in POSITIONS}
    added = {position: size - sizes["alibi"] for position, size in sizes.items()}
    assert added == {"xl": 5 * (64 * 64 + 2 * 64), "kerple": 2 * 8, "t5": 32 * 8, "alibi": 0}


def test_weights_start_as_in_haiku():
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        layer, symbols = transformers.linear(400, 300), transformers.Symbols(500, 100)
    for weight, deviation in ((layer.weight.detach(), 0.05), (symbols.weight.detach(), 0.02)):
        assert float(weight.abs().max()) <= 2 * deviation
        assert float(weight.std()) == pytest.approx(0.8796 * deviation, rel=0.02)  # of a normal cut at two deviations
    assert gap(symbols(torch.tensor([[7]]))[0, 0], 10 * symbols.weight[7]) < 1e-7


def rnn(seed=0):
    return seeded(lambda: ReluRNN(V, C, width=D), seed)


@settings(max_examples=15, deadline=None)
@given(B=st.integers(1, 3), T=st.integers(1, 20), seed=st.integers(0, 10**6))
def test_stepping_the_rnn_is_running_it(B, T, seed):
    model, tokens = rnn(seed % 3), strings(V, B, T, seed)
    state = model.initial_state(B)
    for t in range(T):
        state, logits = model.step(state, tokens[:, t])
        assert gap(logits, model(tokens[:, : t + 1])) < 1e-10


def test_the_rnn_of_the_paper():
    assert count(ReluRNN(2, 2)) == 67_330
    model = ReluRNN(2, 2)
    assert bool(model.network.weight_hh_l0.abs().max() <= 2 / 16)
    assert not model.network.bias_ih_l0.any() and not model.network.bias_hh_l0.any()
    with pytest.raises(ValueError, match="width must be .* got 0"):
        ReluRNN(2, 2, width=0)
