"""RotRNN, LRU and S5: the lemmas of paper 001, one as another, their starts."""

import math

import numpy as np
import pytest
import scipy.linalg
import scipy.stats
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tensors import normal, same, seeded

from lrnnlab.models.layers import LRU, S5, RotRNN
from lrnnlab.models.layers.modes import legs, lru_as_rotrnn

D = 3
ROT = {"state": 8, "heads": 2}


def weights(layer):
    return {name: p.detach().numpy() for name, p in layer.state_dict().items()}


# --- against dense matrices -----------------------------------------------------------------------------------------


def dense_run(A, b, x0):
    """x_t = A x_{t-1} + b_t by the loop, b (T, N)."""
    x, out = x0, []
    for b_t in b:
        x = A @ x + b_t
        out.append(x)
    return np.array(out)


def test_s5_starts_as_the_normal_part_of_hippo():
    """2 Re(V x_t) is the state of the real system x' = A x + B u with A the normal part of LegS, B real."""
    n, dt = 6, 0.05
    layer, z = seeded(S5, D, state=2 * n, blocks=2, dt=(dt, dt)).double(), normal(1, 20, D)
    A, _, P = legs(n)
    skew = A + np.outer(P, P)
    values, V = np.linalg.eig(skew)
    keep = np.argsort(values.imag)[n // 2 :]
    w = weights(layer)
    same(w["Lambda_im"], np.tile(values.imag[keep], 2), 1e-5)
    V = V[:, keep] / np.linalg.norm(V[:, keep], axis=0)
    V = V * np.exp(1j * np.angle(V.conj().T @ P))  # the phases that the layer has: V* P positive
    turned = scipy.linalg.block_diag(V, V)  # (2n, n)
    B = 2 * (turned @ (w["B"][..., 0] + 1j * w["B"][..., 1])).real
    lifted = scipy.linalg.block_diag(skew, skew)
    step = scipy.linalg.expm(lifted * dt)
    b = z[0].numpy() @ (np.linalg.solve(lifted, step - np.eye(2 * n)) @ B).T
    with torch.no_grad():
        x = 2 * (layer.hidden(z)[0].numpy() @ turned.T).real
    same(x, dense_run(step, b, np.zeros(2 * n)), 1e-5)  # eigenvalues are kept in single precision


# --- the lemmas of paper 001 ----------------------------------------------------------------------------------------


def test_lemma_1_and_2_rotations():
    layer = seeded(RotRNN, D, state=24, heads=3).double()
    P = layer.orthogonal().detach()
    A = (layer.transition() / layer.gamma().view(-1, 1, 1)).detach()
    for Q in (P, A):
        same(Q @ Q.mT, torch.eye(8, dtype=torch.float64).expand(3, 8, 8), 1e-12)
        same(torch.linalg.det(Q), torch.ones(3, dtype=torch.float64), 1e-12)
    assert float((P - torch.eye(8)).abs().max()) > 0.1


def mean_square(layer, T):
    """E |x_t|^2 of each head, (T, heads), for white inputs: the state is linear in them, so their powers add up."""
    impulses = torch.zeros(D, T, D, dtype=torch.float64)
    impulses[:, 0] = torch.eye(D, dtype=torch.float64)
    with torch.no_grad():
        alone = layer.hidden(torch.zeros(1, T, D, dtype=torch.float64))
        power = (layer.hidden(impulses) - alone).square().sum(0).cumsum(0) + alone[0].square()
    return power.unflatten(-1, (layer.heads, -1)).sum(-1)


@pytest.mark.parametrize("c", [1.0, 2.0, 0.3])
@pytest.mark.parametrize("rotation", ["expm", "absorbed"])
def test_lemma_3_as_it_should_be(c, rotation):
    """E|x_t|^2 = c + gamma^2t (|x_0|^2 - c): constant from the start only if |x_0|^2 = c."""
    options = {**ROT, "c": c, "rotation": rotation}
    zero, random = (seeded(RotRNN, D, start=start, **options).double() for start in ("zero", "random"))
    fade = zero.gamma().detach() ** (2 * torch.arange(1, 41).unsqueeze(1))
    same(mean_square(zero, 40), c * (1 - fade))
    same(mean_square(random, 40), torch.full((40, 2), c, dtype=torch.float64), 1e-6)  # x_0 was drawn in float32
    assert not zero.x0.any() and random.x0.std() > 0.1


def test_eq_11_as_printed_is_right_for_c_1_only():
    for c in (0.5, 1.0):
        layer = seeded(RotRNN, D, normaliser="paper", c=c, gamma=(0.5, 0.8), **ROT).double()
        gamma = layer.gamma().detach()
        limit = (1 - c * gamma**2) / (1 - gamma**2)
        same(mean_square(layer, 200)[-1], limit)
        assert bool(((limit - c).abs() > 0.1).all()) == (c != 1)
    with pytest.raises(ValueError, match="c gamma.2 < 1, got c = 2.0 and gamma = 0.8"):
        RotRNN(D, normaliser="paper", c=2.0, gamma=(0.8, 0.8), **ROT).xi()


def test_lru_norm_has_the_same_transient():
    """E|x_t|^2 = sum_k b_k (1 - |lambda_k|^2t), with b_k the squared norm of a row of B: Eq. 14 summed from i = 0."""
    layer = seeded(LRU, D, state=5, normaliser="recomputed").double()
    impulses = torch.zeros(D, 30, D, dtype=torch.float64)
    impulses[:, 0] = torch.eye(D, dtype=torch.float64)
    with torch.no_grad():
        power = layer.hidden(impulses).abs().square().sum(0).cumsum(0)
        fade = torch.exp(-2 * layer.nu_log.exp()) ** torch.arange(1, 31).unsqueeze(1)
        same(power, layer.B.square().sum((1, 2)) * (1 - fade))


@pytest.mark.parametrize("bidirectional", [False, True])
def test_p_is_redundant(bidirectional):
    layer = seeded(RotRNN, D, bidirectional=bidirectional, **ROT).double()
    twin = RotRNN(D, rotation="absorbed", bidirectional=bidirectional, **ROT).double()
    P = layer.orthogonal().detach()
    mine = {key: value for key, value in layer.state_dict().items() if key != "M"}
    mine["B"] = P.mT @ layer.B.detach()
    mine["C"] = layer.C.detach() @ torch.block_diag(*P)
    twin.load_state_dict(mine)
    z = normal(2, 25, D)
    with torch.no_grad():
        same(twin(z), layer(z), 1e-11)
        assert float((twin.hidden(z) - layer.hidden(z)).abs().max()) > 1e-2


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 6), st.integers(1, 4), st.booleans(), st.sampled_from(["learned", "recomputed"]),
    st.integers(1, 40), st.integers(0, 10**6),
)  # fmt: skip
def test_every_lru_is_a_rotrnn(state, width, bidirectional, normaliser, T, seed):
    options = {"state": state, "normaliser": normaliser, "bidirectional": bidirectional}
    lru = seeded(LRU, width, seed=seed, **options).double()
    if normaliser == "learned":
        lru.gamma_log.data += normal(state, seed=seed)  # as training would leave it
    before, z = torch.get_rng_state(), normal(2, T, width, seed=seed)
    twin = lru_as_rotrnn(lru)
    assert torch.equal(torch.get_rng_state(), before)
    with torch.no_grad():
        y = lru(z)
        assert float((twin(z) - y).abs().max()) < 1e-11 * (1 + float(y.abs().max()))


def test_a_rotrnn_is_an_lru_whose_moduli_are_tied():
    rot, z = seeded(RotRNN, D, state=24, heads=4).double(), normal(2, 50, D)
    lru = LRU(D, state=12).double()
    with torch.no_grad():
        lru.gamma_log.zero_()
        system = rot.system()
        lru.nu_log.copy_(rot.gamma_log.repeat_interleave(3))
        lru.theta_log.copy_(rot.theta.flatten().log())
        lru.B.copy_(system.B.unflatten(0, (12, 2)).movedim(1, -1))
        lru.C.copy_(system.C.unflatten(-1, (12, 2)) * torch.tensor([1.0, -1.0]))
        lru.skip.copy_(rot.skip)
        same(lru(z), rot(z), 1e-11)


# --- starts, gradients, use in a token model ------------------------------------------------------------------------


def uniform(values, low, high):
    """Kolmogorov-Smirnov: these are uniform in (low, high)."""
    return scipy.stats.kstest((np.asarray(values, np.float64).ravel() - low) / (high - low), "uniform").pvalue > 1e-3


def deviation(p, wanted):
    return abs(float(p.detach().square().mean().sqrt()) / wanted - 1) < 0.03


def test_rotrnn_starts():
    paper, released = (
        seeded(RotRNN, 40, state=2000, heads=500, init=init, gamma=(0.1, 0.9), theta=0.5)
        for init in ("paper", "released")
    )
    assert uniform(paper.gamma().detach() ** 2, 0.01, 0.81)
    assert not uniform(released.gamma().detach() ** 2, 0.01, 0.81)
    ends = [math.log(-math.log(g)) for g in (0.9, 0.1)]
    assert uniform(released.gamma_log.detach(), *ends) and not uniform(paper.gamma_log.detach(), *ends)
    assert uniform(paper.theta.detach(), 0, 0.5) and uniform(released.theta.detach(), 0, 0.5)
    assert deviation(paper.B, 40**-0.5) and deviation(paper.C, 2000**-0.5) and deviation(paper.M, 1)
    assert deviation(released.B, 2040**-0.5) and deviation(released.C, 2040**-0.5)


def test_lru_starts():
    layer = seeded(LRU, 20, state=1000, modulus=(0.4, 0.7), phase=3.0)
    modulus = layer.system().log.detach().real.exp()
    assert uniform(modulus**2, 0.16, 0.49) and uniform(layer.system().log.detach().imag, 0, 3)
    assert deviation(layer.B, 40**-0.5) and deviation(layer.C, 1000**-0.5)
    same(layer.scale(), (1 - modulus**2).sqrt(), 1e-5)


def test_s5_starts():
    layer = seeded(S5, 30, state=512, blocks=4, dt=(0.01, 1.0))
    assert uniform(layer.log_step.detach(), math.log(0.01), 0)
    assert deviation(layer.B, 1024**-0.5)  # V* spreads variance 1/N over two parts
    assert deviation(layer.C, 512**-0.5)


@pytest.mark.parametrize("name, wrong", [("theta", lambda p: -p), ("C", lambda p: p.flip(-1)), ("B", torch.abs)])
def test_a_wrong_twin_is_noticed(name, wrong):
    lru, z = seeded(LRU, D, state=5).double(), normal(2, 20, D)
    twin = lru_as_rotrnn(lru)
    with torch.no_grad():
        getattr(twin, name).copy_(wrong(getattr(twin, name)))
        assert float((twin(z) - lru(z)).abs().max()) > 1e-2
