"""Today's gated rules: fla's naive forms written out in NumPy, all forms, and what gates can."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from mixers import MIXERS, disturbed
from tensors import normal, same

from lrnnlab.models import build
from lrnnlab.models.layers import FastWeights, GatedDeltaNet, Mamba2
from lrnnlab.models.layers.fast_weights import BACKENDS, LEAST_LOG, generalised_delta
from lrnnlab.scans.delta import delta_rule

f32, f64 = torch.float32, torch.float64


# --- flash-linear-attention's naive forms (fla-org/flash-linear-attention at bc3b101), batch and head dropped -----------


def fla_gated_delta_rule(q, k, v, beta, g):
    """fla/ops/gated_delta_rule/naive.py, naive_recurrent_gated_delta_rule, scale 1; S (K,V)."""
    S, out = np.zeros((k.shape[1], v.shape[1])), []
    for q_t, k_t, v_t, beta_t, g_t in zip(q, k, v, beta, g):
        S = S * np.exp(g_t)
        S = S + k_t[:, None] * ((v_t - (S * k_t[:, None]).sum(-2)) * beta_t)[None]
        out.append(np.einsum("d,dm->m", q_t, S))
    return np.array(out)


def fla_dplr(q, k, v, alpha, beta, gk):
    """fla/ops/generalized_delta_rule/dplr/naive.py, dplr_recurrence, without its scale."""
    S, out = np.zeros((k.shape[1], v.shape[1])), []
    for q_t, k_t, v_t, alpha_t, beta_t, g_t in zip(q, k, v, alpha, beta, gk):
        kv = k_t[:, None] * v_t[None] + (S * alpha_t[:, None]).sum(-2, keepdims=True) * beta_t[:, None]
        S = S * np.exp(g_t)[:, None] + kv
        out.append(np.einsum("d,dm->m", q_t, S))
    return np.array(out)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_rule_is_flas(backend):
    """RWKV-7's call in fla/layers/rwkv7.py is a=-kk, b=kk * a; simple_gla is the gated rule with nothing removed."""
    q, k, v, a, b, g = normal(6, 1, 41, 1, 5)
    one = [x[0, :, 0].numpy() for x in (q, k, v, a, b)]
    log_w = -g.square()
    y, _ = generalised_delta(q, v, k, log_w, a / 5, b / 5, backend=backend)
    same(y[0, :, 0], fla_dplr(*one[:3], one[3] / 5, one[4] / 5, log_w[0, :, 0].numpy()), 1e-11)
    k, beta, gate = torch.nn.functional.normalize(k, dim=-1), 2 * torch.sigmoid(a[..., :1]), log_w[..., :1]
    y, _ = generalised_delta(q, beta * v, k, gate.expand_as(k), -beta * gate.exp() * k, k, backend=backend)
    same(
        y[0, :, 0],
        fla_gated_delta_rule(one[0], k[0, :, 0].numpy(), one[2], beta.numpy().ravel(), gate.numpy().ravel()),
        1e-11,
    )
    S, sums = np.zeros((5, 5)), []
    for t in range(41):  # fla/ops/simple_gla/naive.py, naive_recurrent_simple_gla
        S = S * np.exp(gate[0, t, 0].numpy()) + np.outer(k[0, t, 0], v[0, t, 0])
        sums.append(q[0, t, 0].numpy() @ S)
    same(generalised_delta(q, v, k, gate.expand_as(k), backend=backend)[0][0, :, 0], np.array(sums), 1e-11)


# --- one rule, three forms --------------------------------------------------------------------------------------------


def drawn(B, T, h, n, removal, dtype=f64, shut=-300.0):
    """q, v, k, log w, a and b as RWKV-7 has them, S_0 last; some gates are shut, at log w = ``shut``."""
    q, v, k, g, r = normal(5, B, T, h, n)
    kappa = torch.nn.functional.normalize(k, dim=-1)
    log_w = torch.where(g > 1.5, shut, -g.square())
    removed = [-kappa, torch.sigmoid(r) * kappa] if removal else []
    return [x.to(dtype) for x in (q, v, k, log_w, *removed, normal(B, h, n, n, seed=2))]


def found(backend, inputs):
    """y, S_T, and the gradients of a random linear score of both."""
    leaves = [x.clone().requires_grad_() for x in inputs]
    out = generalised_delta(*leaves[:-1], S0=leaves[-1], backend=backend)
    score = sum((x * normal(*x.shape, seed=5, dtype=x.dtype)).sum() for x in out)
    return [*out, *torch.autograd.grad(score, leaves)]


@pytest.mark.parametrize("removal", [True, False])
@pytest.mark.parametrize(
    "B, T, h, n", [(1, 1, 1, 1), (3, 2, 2, 3), (17, 15, 1, 2), (2, 16, 2, 5), (2, 17, 3, 4), (1, 257, 1, 8)]
)
def test_the_forms_agree(B, T, h, n, removal):
    """Values and gradients, in both precisions, against the loop in double precision."""
    expected = found("reference", drawn(B, T, h, n, removal))
    for backend in BACKENDS:
        for dtype, tolerance in ((f64, 1e-10), (f32, 1e-4)):
            for x, e in zip(found(backend, drawn(B, T, h, n, removal, dtype)), expected):
                assert x.dtype == dtype and (x - e).abs().max() < tolerance * max(1, e.abs().max()), (backend, dtype)


@pytest.mark.parametrize("removal", [True, False])
@pytest.mark.parametrize("shut", [-100.0, -1e4, -1e6, -np.inf])
def test_a_token_that_resets_the_state_leaves_the_digits_of_what_follows(shut, removal):
    expected = found("reference", drawn(2, 37, 2, 4, removal, shut=shut))
    for backend in BACKENDS:
        for dtype, tolerance in ((f64, 1e-12), (f32, 1e-4)):
            for x, e in zip(found(backend, drawn(2, 37, 2, 4, removal, dtype, shut)), expected):
                assert ((x - e).abs() <= tolerance * (1 + e.abs())).all(), (backend, dtype)


@pytest.mark.parametrize("removal", [True, False])
@pytest.mark.parametrize("backend", BACKENDS)
def test_gradients(backend, removal):
    inputs = [x.clamp(-3, 3).requires_grad_() for x in drawn(1, 5, 2, 3, removal)]
    assert torch.autograd.gradcheck(lambda *x: generalised_delta(*x[:-1], S0=x[-1], backend=backend), inputs)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 20), st.integers(0, 20), st.sampled_from(BACKENDS), st.booleans())
def test_the_state_carries_on(first, second, backend, removal):
    """Any two pieces are the whole; nothing is kept where no gradient is asked for."""
    *inputs, S0 = drawn(2, first + second, 2, 3, removal)
    y, S = generalised_delta(*inputs, S0=S0, backend=backend)
    y1, middle = generalised_delta(*(x[:, :first] for x in inputs), S0=S0, backend=backend)
    y2, end = generalised_delta(*(x[:, first:] for x in inputs), S0=middle, backend=backend)
    same(torch.cat([y1, y2], 1), y, 1e-11)
    same(end, S, 1e-11)
    leaf = S0.clone().requires_grad_()
    same(generalised_delta(*inputs, S0=leaf, backend=backend)[0], y, 1e-12)


# --- gates ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("greatest", [1.0, 2.0])
def test_an_open_gate_is_deltanet(greatest):
    """The rule against the delta rule, and the layer, with A = 0, against DeltaNet with unit keys: w is exactly 1."""
    q, k, v = normal(3, 2, 33, 2, 4)
    k, beta = torch.nn.functional.normalize(k, dim=-1), greatest * torch.sigmoid(normal(2, 33, 2, 1, seed=3))
    for backend in BACKENDS:
        y, _ = generalised_delta(q, beta * v, k, torch.zeros_like(k), -beta * k, k, backend=backend)
        same(y, delta_rule(q, k, v, beta[..., 0]), 1e-12)
    signed = {"allow_negative_eigenvalues": greatest == 2}
    ours, theirs = GatedDeltaNet(8, **signed).double(), FastWeights(8, feature_map="unit", **signed).double()
    with torch.no_grad():
        ours.A_log.fill_(-torch.inf)
        rows = ours.slow.weight.unflatten(0, (2, -1))
        theirs.slow.weight.copy_(torch.cat([rows[:, :12], rows[:, 13:]], 1).flatten(0, 1))
    z = normal(3, 33, 8, seed=4)
    same(ours(z), theirs(z), 1e-12)


def test_what_gates_and_strengths_may_be():
    """Eigenvalues of one token's transition: Gated DeltaNet and Mamba-2 from 0, with the flag from -1, RWKV-7 real, above
    -.455, all below 1; and the start is the released one."""
    z = 20 * normal(400, 6)

    def spectrum(layer):
        _, _, _, log_w, *ab = layer.program(z)
        A = torch.diag_embed(log_w.exp()) + (ab[0][..., None] * ab[1][..., None, :] if ab else 0)
        return torch.linalg.eigvals(A).detach()

    for name, least, reached in (("gated deltanet", 0, 0.1), ("gated deltanet, to 2", -1, -0.8), ("mamba2", 0, 0.1),
                                 ("rwkv7", np.exp(LEAST_LOG) - 1, -0.2)):  # fmt: skip
        found = spectrum(disturbed(MIXERS[name], 6, by=0.5))
        assert (
            found.imag.abs().max() < 1e-7
            and least - 1e-7 <= found.real.min() <= reached
            and found.real.max() < 1 + 1e-9
        )
    start = GatedDeltaNet(400, heads=200), Mamba2(400, heads=200)
    for layer, least in zip(start, (0, 1)):
        A, dt = layer.A_log.exp(), torch.nn.functional.softplus(layer.dt_bias)
        assert (
            least <= A.min() < least + 1 and 15 < A.max() <= 16 and 1e-3 <= dt.min() < 2e-3 and 0.05 < dt.max() <= 0.1
        )


def test_rwkv7_may_grow_or_turn_on_two_letters_in_turn():
    """Rates (.95, .05) and (.05, .95) and w = .98: each matrix shrinks, of real eigenvalues; their product grows, or turns."""
    for sign in (1, -1):
        keys = torch.tensor([[0.25, 0.75], [0.75, 0.25]], dtype=f64).sqrt() * torch.tensor([[1, 1], [1, sign]])
        rates = torch.tensor([[0.95, 0.05], [0.05, 0.95]], dtype=f64)
        A = [0.98 * torch.eye(2, dtype=f64) - torch.outer(k, r * k) for k, r in zip(keys, rates)]
        assert all(np.isreal(np.linalg.eigvals(one)).all() and abs(np.linalg.eigvals(one)).max() < 1 for one in A)
        both = np.linalg.eigvals(A[0] @ A[1])
        assert abs(both).max() > 1.15 if sign > 0 else not np.isreal(both).any()
        log_w, k, a, b = (x.expand(500, -1, -1).reshape(1, 1000, 1, 2) for x in (
            torch.full((2, 2), 0.98, dtype=f64).log(), torch.zeros(2, 2, dtype=f64), -keys, rates * keys))  # fmt: skip
        _, S = generalised_delta(k, k, k, log_w, a, b, S0=torch.eye(2, dtype=f64).view(1, 1, 2, 2))
        assert S.abs().max() > 1e30 if sign > 0 else S.abs().max() < 1e-30


@pytest.mark.parametrize("flag", [True, False])
def test_the_flag_counts_to_two(flag):
    """Weights: the token 1 has the strength 2 and reflects, W -> 1 - W, as the token 0 does nothing; without the flag the
    strength is 1 and W stays."""
    net = build("gated_deltanet", vocab_size=2, classes=2, width=2, heads=2, allow_negative_eigenvalues=flag)
    layer = net.layers[0]
    with torch.no_grad():
        layer.slow.weight.zero_()
        rows = layer.slow.weight.unflatten(0, (2, -1))  # q, k, v, s, b of each head
        rows[:, 0, 0] = rows[:, 1, 0] = 1
        rows[:, 2, 0] = 0.5
        rows[:, 3, 0] = -60  # dt = 0, so w = 1
        rows[:, 4, 1] = 60
    bits = torch.randint(0, 2, (3, 3000), generator=torch.Generator().manual_seed(0))
    z = torch.stack([torch.ones(bits.shape), 2.0 * bits - 1], -1)
    y = layer(z)[..., 0]
    ones = bits.cumsum(1)
    same(y, (ones % 2).float() if flag else 0.5 * (ones > 0), 1e-6)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("name", ["gated_deltanet", "mamba2", "rwkv7"])
def test_as_they_ship_one_letter_again_and_again_comes_to_rest(name, layers):
    """So 1^n and 1^(n+1), one of which is even, end in one answer: on a letter alone no eigenvalue is near -1, and none
    is 1 (DeltaNet's law, of one token, needs it only not to move what it does not shrink).  With the flag it may turn."""
    ones = torch.ones(1, 3001, dtype=torch.int64)
    for seed in range(5):
        net = build(name, vocab_size=2, classes=2, seed=seed, layers=layers, width=8).double()
        y = net(ones)[0]
        assert (y[-1] - y[-2]).abs().max() < 1e-6 < (y[1] - y[0]).abs().max()


@pytest.mark.skipif(
    not torch.cuda.is_available(), reason="NO GPU HERE: the chunks of the gated rules were not run on one"
)
@pytest.mark.parametrize("removal", [True, False])
def test_a_gpu_agrees(removal):
    expected = found("reference", drawn(2, 257, 3, 16, removal))
    there = [x.cuda() for x in drawn(2, 257, 3, 16, removal, f32)]
    leaves = [x.requires_grad_() for x in there]
    y, S = generalised_delta(*leaves[:-1], S0=leaves[-1])
    score = sum((x * normal(*x.shape, seed=5, dtype=f32).cuda()).sum() for x in (y, S))
    for x, e in zip([y, S, *torch.autograd.grad(score, leaves)], expected):
        assert (x.cpu() - e).abs().max() < 1e-4 * max(1, e.abs().max())
