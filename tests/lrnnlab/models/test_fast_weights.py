"""Paper 003's models: torch's Transformer, starts, both forms of each recurrence, explicit weights."""

import math

import pytest
import torch
from tensors import normal, same, strings
from torch import nn

from lrnnlab import models
from lrnnlab.models.base import FEATURE_MAPS
from lrnnlab.models.layers.recurrent import element_wise, recurrent_delta, self_referential

f32, f64 = torch.float32, torch.float64
V, C = 5, 3
BEYOND = {"allow_negative_eigenvalues": True, "feature_map": "unit"}


def test_the_transformer_is_torchs():
    model = models.build("transformer", vocab_size=V, classes=C, width=8, heads=2, layers=2, ff=2, seed=3).double()
    theirs = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), 2, nn.LayerNorm(8)
    ).double()
    names = {
        "self_attn.in_proj": "mixer.slow", "self_attn.out_proj": "gate.value", "linear1": "ff.up", "linear2": "ff.down",
        "norm1": "norm", "norm2": "ff_norm",
    }  # fmt: skip
    for mine, layer in zip(model.blocks, theirs.layers):
        own = dict(mine.named_parameters())
        for key, p in layer.named_parameters():
            key = key.replace("in_proj_", "in_proj.")
            stem, kind = key.rsplit(".", 1)
            p.data.copy_(own[f"{names[stem]}.{kind}"].data)
            if stem == "self_attn.in_proj" and kind == "weight":  # the bound of xavier_uniform_
                assert own["mixer.slow.weight"].abs().max() <= math.sqrt(6 / 32)
    tokens = strings(V, 3, 11)
    x = model.embedding(tokens)
    mask = nn.Transformer.generate_square_subsequent_mask(11, dtype=f64)
    same(model(tokens), model.head(theirs(x, mask=mask, is_causal=True)), 1e-9)


def test_starts_are_those_of_the_released_code():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        W0 = models.layers.SelfReferential(256, heads=2).W0.detach()
        R = models.layers.RecurrentDelta(256, heads=2).R.detach()
        full = models.layers.RecurrentDelta(256, heads=2, recurrence="full").R.detach()
        cells = models.layers.ElementWiseLSTM(64, inputs=128)
        gate = nn.Linear(128 + 64, 64)  # the released output gate, of [x; c]
    n = 128
    deviation = n**-0.5
    for part, mean, size in (
        (W0[:, :n], 0, 1), (W0[:, n : 2 * n], 0, 0.01), (W0[:, 2 * n : 3 * n], 0, 1), (W0[:, 3 * n :], -1, 1),
    ):  # fmt: skip
        assert float(part.mean()) == pytest.approx(mean, abs=0.02)
        assert float(part.std()) == pytest.approx(size * deviation, rel=0.1)
    assert W0.shape == (2, 3 * n + 4, n) and R.shape == (2, 3 * n + 1, n) and full.shape == (2, 3 * n + 1, 2 * n)
    assert float(R.std()) == pytest.approx(deviation, rel=0.02)
    assert float(full.std()) == pytest.approx(256**-0.5, rel=0.02)
    for values in (cells.drive.weight, cells.drive.bias, cells.w):
        assert float(values.detach().std()) == pytest.approx(0.1, rel=0.2)
        assert bool((values.abs() > 0.2).any())  # as no uniform one of this deviation is
    for ours, theirs in ((cells.O.weight, gate.weight), (cells.W_o, gate.weight), (cells.O.bias, gate.bias)):
        assert float(ours.detach().std()) == pytest.approx(float(theirs.detach().std()), rel=0.2)
        assert bool((ours.abs() <= (128 + 64) ** -0.5).all())
    assert models.layers.CausalAttention(8).slow.bias.tolist() == [0.0] * 24


# --- one recurrence, two forms ----------------------------------------------------------------------------------------


def both_ways(rule, inputs, forms, dtype):
    """By backend: values, and gradients in double precision of a random linear score of them."""
    found = []
    for backend in forms:
        leaves = [x.to(dtype).clone().requires_grad_() for x in inputs]
        out = list(rule(backend, *leaves))
        score = sum((x * normal(*x.shape, seed=5, dtype=dtype)).sum() for x in out)
        found.append([*(x.detach() for x in out), *torch.autograd.grad(score, leaves)])
    return found


def worst(found, expected):
    return max(float((x.double() - e.double()).abs().max() / max(1, e.abs().max())) for x, e in zip(found, expected))


TOLERANCE = {f32: 1e-5, f64: 1e-10}


@pytest.mark.parametrize("dtype", [f32, f64])
@pytest.mark.parametrize("feature_map", FEATURE_MAPS)
@pytest.mark.parametrize("B, T, h, n", [(1, 1, 1, 1), (17, 23, 2, 3), (3, 40, 2, 4)])
def test_the_compiled_passes_are_the_loops(B, T, h, n, feature_map, dtype):
    """Values and gradients of Recurrent Delta, SRWM and the e-LSTM."""
    shrink = 0.3 if feature_map == "elu" else 1.0  # its updates stretch: any rounding grows
    unit = feature_map == "unit"  # the shorter a key is before, the more its direction hangs on rounding
    slow, R = shrink * normal(B, T, h, 3 * n + 1), 0.2 * shrink * normal(h, 3 * n + 1, h * n if n == 4 else n, seed=1)
    slow[..., : 2 * n] += 2 * unit
    rates = 1 if n == 4 else 4
    W = 0.3 * shrink * normal(B, h, 3 * n + rates, n, seed=1)
    W[:, :, n : 3 * n] += 0.5 * unit
    W[:, :, 3 * n :] -= shrink

    def delta(backend, *leaves):
        return recurrent_delta(*leaves, feature_map=feature_map, greatest=2.0 * shrink**3, backend=backend)

    def srwm(backend, *leaves):
        return self_referential(*leaves, rates=rates, feature_map=feature_map, backend=backend)

    def cells(backend, *leaves):
        return [element_wise(*leaves, backend=backend)]

    for rule, inputs in (
        (cells, [normal(B, T, 2, 6 * n), normal(2, 6 * n, seed=1), normal(B, 6 * n, seed=2)]),
        (delta, [slow, R, normal(B, h, n, n, seed=2), normal(B, h, n, seed=3)]),
        (srwm, [shrink * (1 + 0.5 * normal(B, T, h, n)), W]),
    ):
        ours, loop = both_ways(rule, inputs, ("cpu", "reference"), dtype)
        assert worst(ours, loop) < TOLERANCE[dtype]
        with torch.no_grad():  # nothing is kept for a way back
            assert all(map(torch.equal, rule("cpu", *(x.to(dtype) for x in inputs)), ours))


@pytest.mark.parametrize("B, first, second", [(1, 0, 3), (17, 5, 4), (3, 4, 0)])
def test_a_run_can_be_carried_on(B, first, second):
    """Two stretches, the second from where the first ended, are one; gradients of an empty one are zero."""
    x, W = 0.5 * normal(B, first + second, 2, 3), 0.5 * normal(B, 2, 13, 3, seed=1)
    slow, R = normal(B, first + second, 2, 10), normal(2, 10, 3, seed=1).requires_grad_()
    y, end = self_referential(x, W)
    y1, middle = self_referential(x[:, :first], W)
    y2, last = self_referential(x[:, first:], middle)
    same(torch.cat([y1, y2], 1), y)
    same(last, end)
    y, end = recurrent_delta(slow, R)
    y1, middle = recurrent_delta(slow[:, :first], R)
    y2, last = recurrent_delta(slow[:, first:], R, middle, y1[:, -1] if first else None)
    same(torch.cat([y1, y2], 1), y)
    same(last, end)
    if not first:
        assert not torch.autograd.grad(y1.sum(), R)[0].any()


# --- the delta rule, in parts and in whole ----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [f32, f64])
@pytest.mark.parametrize("feature_map", ["elu_sum", "softmax", "unit"])
@pytest.mark.parametrize("T, chunk, H", [(50, 64, 1), (130, 16, 1), (40, 64, 2), (23, 7, 3)])
def test_the_chunks_are_the_sequence(T, chunk, H, feature_map, dtype):
    """Values and gradients (of the input and of W_slow) of all three forms, beta over (0, 2)."""
    layer = models.layers.FastWeights(
        12, heads=2, householders=H, chunk=chunk, allow_negative_eigenvalues=True, feature_map=feature_map
    ).to(dtype)
    layer.slow.weight.data.copy_(normal(*layer.slow.weight.shape, seed=2) / 2)
    beta = layer.program(normal(4, T, 12, dtype=dtype))[3]
    assert beta.min() < 0.3 and beta.max() > 1.7

    def rule(backend, z, weight):
        layer.backend = backend
        return [torch.func.functional_call(layer, {"slow.weight": weight}, (z,))]

    inputs = [normal(4, T, 12), layer.slow.weight.detach()]
    chunks, compiled, sequence = both_ways(rule, inputs, ("chunkwise", "cpu", "reference"), dtype)
    assert worst(chunks, sequence) < TOLERANCE[dtype]
    assert worst(compiled, sequence) < TOLERANCE[dtype]


def test_the_eigenvalues_go_below_zero():
    """1 - beta |phi(k)|^2: above 0 as in the paper, down to -1 beyond it."""
    z = 8 * normal(50, 6)
    for options, least, most in (
        ({}, 0, 1), ({"allow_negative_eigenvalues": True}, -1, 1), (BEYOND, -1, 1), ({"feature_map": "softmax"}, 0, 1),
    ):  # fmt: skip
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            _, k, _, beta = models.layers.FastWeights(6, heads=2, **options).double().program(z)
        eigenvalue = 1 - beta * k.square().sum(-1)
        assert least <= eigenvalue.min() and eigenvalue.max() <= most
        assert (eigenvalue.min() < -0.3) == (least < 0)


# --- explicit weights -------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not torch.cuda.is_available(), reason="NO GPU HERE: DeltaNet with backend 'fla' was not run")
def test_the_library_agrees_on_a_gpu():
    pytest.importorskip("fla", reason="fla-core IS MISSING: pip install 'lrnnlab[fla]'")
    model = models.build("deltanet", vocab_size=V, classes=C, width=16, heads=2, householders=2, **BEYOND).cuda()
    tokens = strings(V, 3, 70).cuda()
    found = {}
    for backend in ("chunkwise", "fla"):
        model.layers[0].backend = backend
        model.zero_grad()
        logits = model(tokens)
        logits.square().sum().backward()
        found[backend] = [logits.detach(), *(p.grad for p in model.parameters())]
    assert worst(found["fla"], found["chunkwise"]) < 1e-4


def test_two_householders_turn_and_one_cannot():
    """Two reflections of one token make a rotation by 90 degrees; a single one has an eigenvalue 1."""
    a, b = torch.tensor([1.0, 0.0], dtype=f64), torch.tensor([1.0, 1.0], dtype=f64) / math.sqrt(2)
    eye = torch.eye(2, dtype=f64)
    turn = (eye - 2 * torch.outer(a, a)) @ (eye - 2 * torch.outer(b, b))
    layer = models.layers.FastWeights(2, heads=1, householders=2, **BEYOND).double()
    with torch.no_grad():
        layer.slow.weight.zero_()
        layer.slow.weight[2:4, 0] = a  # key of the first write
        layer.slow.weight[6, 0] = 40.0  # beta = 2
        layer.slow.weight[7:9, 0] = b
        layer.slow.weight[11, 0] = 40.0
        W = torch.tensor([[0.3, -0.7], [0.2, 0.9]], dtype=f64).view(1, 1, 2, 2)
        after, _ = layer.step(W, torch.tensor([[1.0, 0.0]], dtype=f64))
    same(after, W @ turn, 1e-12)
    same(turn @ turn, -eye, 1e-12)


def ones(T, seed=0):
    bits = torch.randint(0, 2, (2, T), generator=torch.Generator().manual_seed(seed))
    bits[0] = 1
    return bits


def test_recurrent_delta_counts_modulo_two():
    """proofs D6: head of one, gate +-40, v = 1 - tanh(y) / tanh(1): {0, 1} attracts, so nothing adds up."""
    bits = ones(3000)
    slow = torch.zeros(2, 3000, 1, 4, dtype=f64)
    slow[..., 0, 2], slow[..., 0, 3] = 1, 80.0 * bits - 40
    R = torch.tensor([0, 0, -1 / math.tanh(1), 0], dtype=f64).view(1, 4, 1)
    for backend in ("cpu", "reference"):
        y, _ = recurrent_delta(slow, R, backend=backend)
        same(y.flatten(1), (bits.cumsum(1) % 2).double(), 1e-12)


def test_srwm_counts_modulo_two():
    """proofs D6: four inputs a head; token 1 copies column 2 or 3 over column 1, by turns; token 0 changes nothing."""
    K = 400.0
    y, q, k = (torch.zeros(4, 4, dtype=f64) for _ in range(3))
    b = torch.full((1, 4), -K, dtype=f64)
    # x = e_1 reads column 1: its y, its q (which column to copy next), its k (always column 1), its rate (on).
    odd, even = 1, 2  # where the two states are kept; x = -e_1 + e_4, the other token, reads a rate that is off
    y[0, odd], q[even, odd], q[odd, even] = 1, K, K
    k[0, [odd, even]] = b[0, [odd, even]] = K
    start = torch.cat([y, q, k, b])
    start[:, 0] = start[:, even]
    start[12, 3] = -2 * K
    bits = ones(500)
    x = torch.zeros(2, 500, 1, 4, dtype=f64)
    x[..., 0, 0] = 2 * bits.double() - 1
    x[..., 0, 3] = 1 - bits.double()
    for backend in ("cpu", "reference"):
        out, _ = self_referential(x, start.expand(2, 1, 13, 4), rates=1, backend=backend)
        before = torch.cat([torch.zeros(2, 1, dtype=torch.int64), bits.cumsum(1)[:, :-1]], 1) % 2
        found = out[:, :, 0, 0].abs()  # y_t sees W_{t-1}: the parity before the token
        same(found, before.double(), 1e-12)
