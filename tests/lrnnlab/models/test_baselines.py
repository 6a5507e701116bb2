"""The baselines of paper 000: their starts, that none can explode, and wkv against its sums."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tensors import same

from lrnnlab.models import build
from lrnnlab.models.exact import symbol_transitions
from lrnnlab.models.layers import RWKV, S4, S4D, LiquidS4
from lrnnlab.models.layers.modes import legs, legs_diagonal
from lrnnlab.models.layers.recurrent import wkv


def test_vanilla_has_one_matrix_for_all_symbols():
    table, _ = symbol_transitions(build("vanilla", vocab_size=5, classes=3, width=6))
    assert table.shape == (5, 1, 6, 6) and torch.equal(table[0, 0], table[4, 0])


# --- S4 and S4D -----------------------------------------------------------------------------------------------------


def hippo(N):
    """(A, B) of HiPPO-LegS, entry by entry."""
    A = np.zeros((N, N))
    for n in range(N):
        A[n, n] = -(n + 1)
        for k in range(n):
            A[n, k] = -math.sqrt(2 * n + 1) * math.sqrt(2 * k + 1)
    return A, np.array([math.sqrt(2 * n + 1) for n in range(N)])


def bilinear(A, B, dt):
    left = np.eye(len(A)) - dt / 2 * A
    return np.linalg.solve(left, np.eye(len(A)) + dt / 2 * A), np.linalg.solve(left, dt * B)


def responses(A, B, C, T):
    """C A^t B for t < T."""
    out = []
    for _ in range(T):
        out.append(C @ B)
        B = A @ B
    return np.array(out)


@pytest.mark.parametrize("N", [2, 8, 64])
def test_hippo_is_normal_plus_low_rank(N):
    A, B = hippo(N)
    P = np.sqrt(np.arange(N) + 0.5)
    for found, wanted in zip(legs(N), (A, B, P)):
        same(found, wanted)
    same(np.sort(np.linalg.eigvals(hippo(8)[0]).real), -np.arange(8.0, 0, -1))
    S = A + np.outer(P, P) + np.eye(N) / 2
    same(S, -S.T)
    half, p, U = legs_diagonal(N)
    eigenvalues, p, U = np.r_[half, half.conj()], np.r_[p, p], np.c_[U, U.conj()]
    same(U.conj().T @ U, np.eye(N) + 0j)
    same(U @ (np.diag(eigenvalues) - np.outer(p, p.conj())) @ U.conj().T, A + 0j, 1e-8)
    same(np.sort(half.imag), np.sort(np.linalg.eigvals(S).imag)[N // 2 :], 1e-8)


def test_s4_starts_as_hippo():
    layer = S4(3, state=64)
    A, B = hippo(64)
    _, _, U = legs_diagonal(64)
    output = torch.view_as_complex(layer.C.detach().double()).numpy()
    for channel, dt in enumerate(layer.log_dt.detach().double().exp().numpy()):
        real = 2 * (output[channel] @ U.conj().T).real
        wanted = responses(*bilinear(A, B, dt), real, 50)
        same(layer.kernel(50)[channel].detach(), wanted, 1e-4 * np.abs(wanted).max())


def dense(layer):
    """A (N, N) and B (N,), complex, of a layer whose weights may be anything."""
    half, P, B, _, _ = (a.detach().numpy() for a in layer._system())
    P, B = np.r_[P, P.conj()], np.r_[B, B.conj()]
    return np.diag(np.r_[half, half.conj()]) - np.outer(P, P.conj()), B


def disturbed(layer, seed):
    """The layer in double precision, away from its starting values."""
    generator = torch.Generator().manual_seed(seed)
    layer = layer.double()
    with torch.no_grad():
        for p in layer.parameters():
            p.add_(0.5 * torch.randn(p.shape, generator=generator, dtype=p.dtype))
    return layer


@pytest.mark.parametrize("init", ["lin", "inv", "legs"])
def test_s4d_starts(init):
    own, n = {key: p.detach().double().numpy() for key, p in S4D(2, state=8, init=init).named_parameters()}, np.arange(4)
    same(-np.exp(own["log_decay"]), np.full((2, 4), -0.5), 1e-6)
    if init != "legs":
        same(own["frequency"][0], np.pi * n if init == "lin" else 8 / np.pi * (8 / (2 * n + 1) - 1), 1e-6)


# --- Liquid-S4 ------------------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), N=st.integers(1, 8), scale=st.sampled_from([0.1, 1.0, 10.0]))
def test_liquid_never_grows(seed, N, scale):
    """||A + diag(B u)||_2 < 1 and ||x_t|| <= r t sqrt(N), whatever the weights and the input."""
    layer = LiquidS4(3, state=N)
    layer.share.data.zero_()  # r = 1/2
    layer = disturbed(layer, seed)
    z = scale * torch.randn(2, 30, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    with torch.no_grad():
        A, b = layer.transition(z)
        norms = torch.linalg.matrix_norm(A, 2)
        assert (norms < 1).all()
        # The bound is not idle: without the factor 1 - r the same matrices would break it.
        free = torch.linalg.matrix_norm(layer.constant() + torch.diag_embed(b), 2)
        assert scale < 1 or (free > 1).any()
        x = state_norms(layer, z)
        r = torch.sigmoid(layer.share).squeeze(-1)
        assert (x <= r * torch.arange(1, 31).unsqueeze(-1) * math.sqrt(N) + 1e-12).all()


def state_norms(layer, z):
    state, norms = layer.initial(len(z)), []
    for z_t in z.unbind(1):
        state, _ = layer.step(state, z_t)
        norms.append(state.norm(dim=-1))
    return torch.stack(norms, 1)


# --- RWKV -----------------------------------------------------------------------------------------------------------


def wkv_by_sum(k, v, w, u):
    """The defining sums, for one channel: (T,) arrays."""
    out = []
    for t in range(len(k)):
        weights = np.exp(np.r_[k[:t] - (t - 1 - np.arange(t)) * w, u + k[t]])
        out.append((weights * v[: t + 1]).sum() / weights.sum())
    return np.array(out)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), T=st.integers(1, 40), scale=st.sampled_from([0.1, 1.0, 20.0]))
def test_wkv_is_its_definition(seed, T, scale):
    rng = np.random.default_rng(seed)
    k, v = scale * rng.standard_normal((T, 3)), rng.standard_normal((T, 3))
    w, u = np.exp(rng.uniform(-5, 3, 3)), rng.standard_normal(3)
    found = wkv(*(torch.from_numpy(a) for a in (k[None], v[None], w, u)))[0]
    for d in range(3):
        same(found[:, d], wkv_by_sum(k[:, d], v[:, d], w[d], u[d]))


def test_wkv_gradient_is_that_of_the_definition():
    """The common exponent p carries no gradient, and none is missing."""
    generator = torch.Generator().manual_seed(0)
    k, v, w, u = (torch.rand(s, generator=generator, dtype=torch.float64) for s in ((1, 5, 2), (1, 5, 2), 2, 2))
    assert torch.autograd.gradcheck(wkv, [a.requires_grad_() for a in (k, v, w, u)])


def test_wkv_does_not_overflow():
    """Single precision, 10,000 letters, keys far beyond what exp can take."""
    generator = torch.Generator().manual_seed(0)
    k = 500 * torch.randn(2, 10_000, 4, generator=generator)
    v = torch.randn(2, 10_000, 4, generator=generator)
    w, u = torch.tensor([1e-6, 0.1, 3.0, 50.0]), torch.tensor([0.0, -300.0, 300.0, 1.0])
    for a in (k, v, w, u):
        a.requires_grad_()
    found = wkv(k, v, w, u)
    found.square().sum().backward()
    assert found.isfinite().all() and all(a.grad.isfinite().all() for a in (k, v, w, u))
    assert (found <= v.detach().cummax(1).values + 1e-4).all() and (found >= v.detach().cummin(1).values - 1e-4).all()
    same(found[:, 0], v[:, 0], 1e-5)
    shown = slice(0, 200)  # compare where the definition still fits into double precision
    small = wkv(k[:, shown] / 20, v[:, shown], w, u)
    wanted = wkv_by_sum(*(a.detach().double().numpy() for a in (k[0, shown, 1] / 20, v[0, shown, 1], w[1], u[1])))
    same(small[0, :, 1].double().detach(), wanted, 1e-3)


def test_rwkv_starts():
    layer, i = RWKV(7), torch.arange(7)
    same(layer.log_decay.detach(), -5 + 8 * (i / 6) ** 0.7, 1e-6)
    same(layer.bonus.exp().detach(), 0.3 * torch.tensor([0, 0.5, -0.5, 0, 0.5, -0.5, 0]).exp(), 1e-6)
    same(layer.share.detach(), torch.stack([(i / 7).sqrt(), *[i / 7] * 4]), 1e-6)


def test_liquid_starts_as_hippo():
    layer = LiquidS4(3, state=8)
    A, B = hippo(8)
    for d, dt in enumerate(layer.log_dt.detach().double().exp()):
        same(layer.constant()[d].detach().double(), bilinear(A, B, float(dt))[0], 1e-5)
    at_rest = layer.transition(torch.zeros(3))[0]
    same(at_rest, 0.9 * layer.constant(), 1e-6)


def test_wkv_in_half_precision_lasts():
    k, v = torch.zeros(1, 4000, 1), torch.ones(1, 4000, 1)
    found = wkv(k.half(), v.half(), torch.full((1,), 20.0).half(), torch.zeros(1).half())  # 4000 * 20 is past 65504
    assert found.isfinite().all() and (found - 1).abs().max() < 1e-2


@pytest.mark.parametrize("seed", range(5))
def test_s4_cannot_explode(seed):
    A, B = dense(disturbed(S4(3, state=16), seed))
    for dt in (1e-3, 0.1, 3.0):
        assert np.linalg.norm(bilinear(A, B, dt)[0], 2) < 1
