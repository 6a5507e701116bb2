"""DLR, DSS and SGConv of paper 004: kernels against sums of powers, convolutions against loops, their starts."""

import math

import numpy as np
import pytest
import torch
from tensors import gap, normal, seeded
from torch import nn

from lrnnlab.models import DLR, DSS, SGConv

D = 4
LAYERS = {
    **{f"dlr {kind}": (DLR, {"state": 5, "kind": kind}) for kind in ("real", "imag", "sum", "prod", "real_prod")},
    "dlr half circle": (DLR, {"state": 4, "init": "half_circle", "dt": (1e-4, 1e-2)}),
    "dlr real": (DLR, {"state": 5, "eigenvalues": "real"}),
    "dlr short": (DLR, {"state": 5, "kind": "prod", "max_kernel": 7}),
    "dss lin": (DSS, {"state": 5}),
    "dss two_pi": (DSS, {"state": 5, "init": "two_pi", "dt": (0.01, 1.0)}),
    "dss short": (DSS, {"state": 5, "max_kernel": 7}),
    "sgconv": (SGConv, {"length": 20, "piece": 3, "alpha": (0.5, 0.9)}),
}


def make(name, seed=0, **more):
    layer, options = LAYERS[name]
    return seeded(layer, D, seed=seed, **options, **more).double()


def own(layer):
    return {key: p.detach().double().numpy() for key, p in layer.named_parameters()}


def dlr_kernel(layer, T):
    """Sec. 2.1 and 2.3, every power of every eigenvalue; (S, D, T)."""
    p, lags = own(layer), np.arange(T)
    if layer.real:
        return np.einsum("shn,nt->sht", p["W"], np.exp(-(p["root_decay"][:, None] ** 2) * lags))
    log_lambda, W = -(p["root_decay"] ** 2) + 1j * p["frequency"], p["W"][..., 0] + 1j * p["W"][..., 1]
    K = np.einsum("shn,nt->sht", W, np.exp(log_lambda[:, None] * lags))
    kinds = {"real": K.real, "imag": K.imag, "sum": K.real + K.imag, "prod": K.real * K.imag}
    kinds["real_prod"] = np.concatenate([K[:, : D // 2].real, kinds["prod"][:, D // 2 :]], 1)
    return kinds[layer.kind]


def dss_kernel(layer, T):
    """Re sum_n W_hn (exp(dt_h L_n) - 1) / L_n exp(k dt_h L_n)."""
    p = own(layer)
    L, dt = -np.exp(p["log_decay"]) + 1j * p["frequency"], np.exp(p["log_dt"])[:, None]
    weights = (p["W"][..., 0] + 1j * p["W"][..., 1]) * (np.exp(dt * L) - 1) / L
    return np.stack([np.einsum("shn,hn->sh", weights, np.exp(k * dt * L)) for k in range(T)], -1).real


def sgconv_kernel(layer, T):
    """Pieces between the centres of whose weights one draws straight lines; level beyond the first and last."""
    p, norm = own(layer), layer.norm.double().numpy()
    row = []
    for i, w in enumerate(p["pieces"]):
        times = 2 ** max(0, i - 1)
        at = (np.arange(w.shape[1] * times) + 0.5) / times - 0.5
        row.append(p["alpha"] ** i * np.stack([np.interp(at, np.arange(w.shape[1]), line) for line in w]))
    return (np.concatenate(row, -1)[:, :T] / norm).reshape(layer.directions, D, -1)


ORACLES = {DLR: dlr_kernel, DSS: dss_kernel, SGConv: sgconv_kernel}


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("T", [1, 6, 131])
def test_kernels_by_definition(name, T, bidirectional):
    layer = make(name, bidirectional=bidirectional)
    K = layer.kernel(T).detach()
    wanted = ORACLES[type(layer)](layer, min(T, layer.max_kernel or T))
    assert K.shape == (wanted.shape if bidirectional else wanted.shape[1:])
    assert gap(K, wanted if bidirectional else wanted[0]) < 1e-12 * max(1, abs(wanted).max())


@pytest.mark.parametrize("name", LAYERS)
def test_both_directions_by_a_loop(name):
    """Eq. 4 and 6, sums as they stand there."""
    layer, z = make(name, bidirectional=True), normal(2, 9, D)
    K, ahead = (np.pad(k, ((0, 0), (0, 9)))[:, :9] for k in ORACLES[type(layer)](layer, layer.max_kernel or 9))
    skip = layer.skip.detach().numpy()
    u, y = z.numpy(), np.zeros((2, 9, D))
    for k in range(9):
        y[:, k] = skip * u[:, k] + sum(K[:, k - j] * u[:, j] for j in range(k + 1))
        y[:, k] += sum(ahead[:, j - k - 1] * u[:, j] for j in range(k + 1, 9))
    transitions, out = layer.trace(z)
    assert transitions is None and gap(out, y) < 1e-12
    causal = make(name)
    causal.load_state_dict({**layer.state_dict(), **{
        key: v[:1] if key == "W" else v[:D] if key in ("norm", "alpha") else v[:, :D] if key == "pieces" else v
        for key, v in layer.state_dict().items()
    }})  # fmt: skip
    for k in range(9):
        y[:, k] -= sum(ahead[:, j - k - 1] * u[:, j] for j in range(k + 1, 9))
    assert gap(causal(z), y) < 1e-12


FAR, N = 1 << 14, 256
LONG = {
    "dlr": (DLR, {"dt": (1e-5, 1e-5)}),
    "dlr, the paper's decays": (DLR, {}),
    "dlr, half circle": (DLR, {"init": "half_circle", "dt": (1e-5, 1e-3)}),
    "dlr-prod": (DLR, {"kind": "prod", "dt": (1e-5, 1e-5)}),
    "dlr-r": (DLR, {"eigenvalues": "real", "dt": (1e-5, 0.5)}),
    "dss": (DSS, {"dt": (1e-4, 1e-2)}),
}


def error(K, wanted):
    """Relative to the channel's greatest value."""
    return float((abs(K - wanted).max(-1) / abs(wanted).max(-1)).max())


@pytest.mark.parametrize("name", LONG)
def test_kernels_are_right_to_1e_6_at_16384(name):
    kind, options = LONG[name]
    layer = seeded(kind, 2, state=N, **options)
    assert error(layer.kernel(FAR).detach().numpy(), ORACLES[kind](layer, FAR)[0]) < 1e-6


def test_the_product_is_a_dlr_of_so_many_modes():
    """Hankel rank of Re K Im K: N (N+1) / 2 complex modes, seen with their conjugates (App. A.2 counts 4 N^2)."""
    for state, rank in ((1, 2), (2, 6), (3, 12)):
        layer = seeded(DLR, 1, state=state, kind="prod", dt=(0.01, 0.3), init="half_circle").double()
        with torch.no_grad():
            layer.frequency.copy_(torch.linspace(0.4, 2.1, state))  # off the grid, where products coincide
            layer.W.normal_(generator=torch.Generator().manual_seed(1))
        log_lambda, w = layer.modes()
        assert len(log_lambda) == state * (state + 1) // 2 and w.shape == (1, len(log_lambda))
        K = layer.kernel(60)[0].detach()
        sizes = torch.linalg.svdvals(K.unfold(0, 30, 1))
        assert sizes[rank - 1] > 1e-10 * sizes[0] > sizes[rank]


def test_half_a_circle_is_twice_the_kernels():
    """The map from W to the real kernel of length 2N: perfectly conditioned, against rank N on the full circle."""
    state = 8
    for init, rank in (("half_circle", 2 * state), ("dft", state)):
        layer = DLR(1, state=state, init=init).double()
        with torch.no_grad():
            layer.root_decay.zero_()
            columns = []
            for unit in torch.eye(2 * state, dtype=torch.float64):
                layer.W.copy_(unit.view(1, 1, state, 2))
                columns.append(layer.kernel(2 * state)[0])
        sizes = torch.linalg.svdvals(torch.stack(columns))
        assert int((sizes > 1e-5 * sizes[0]).sum()) == rank
        if init == "half_circle":
            assert sizes[0] / sizes[-1] < 1 + 1e-5


def test_starts():
    layer = seeded(DLR, 64, state=256, dt=(0.01, 0.3))
    p = own(layer)
    dt = 2 * p["root_decay"] ** 2
    assert 0.01 * (1 - 1e-5) < dt.min() < 0.011 and 0.27 < dt.max() < 0.3 * (1 + 1e-5)
    assert abs(np.median(np.log(dt)) - math.log(0.003**0.5)) < 0.3
    assert abs(p["W"].std() * 256 - 1) < 0.02 and abs(p["skip"].std() - 1) < 0.3
    assert np.allclose(p["frequency"], 2 * np.pi * np.arange(256) / 256)
    assert np.allclose(own(DSS(2, state=5, init="two_pi"))["frequency"], 2 * np.pi * np.arange(5))
    assert np.allclose(own(DSS(2, state=5))["frequency"], np.pi * np.arange(5))
    assert abs(own(seeded(DSS, 64, state=256))["W"].std() - 1) < 0.02


def test_dss_is_a_dlr():
    """lambda = exp(dt Lambda), w' = w (exp(dt Lambda) - 1) / Lambda."""
    dss = seeded(DSS, 1, state=6, dt=(0.05, 0.05)).double()
    log_lambda, w = (x.detach() for x in dss.modes())
    twin = DLR(1, state=6).double()
    with torch.no_grad():
        twin.root_decay.copy_((-log_lambda[0].real).sqrt())
        twin.frequency.copy_(log_lambda[0].imag)
        twin.W.copy_(torch.view_as_real(w).unsqueeze(0))
        twin.skip.copy_(dss.skip)
    z = normal(2, 77, 1)
    assert gap(dss(z), twin(z)) < 1e-12


def parameters(layer, H=32):
    """Of the network of Table 2 around it: encoder, output map, layer norm, decoder."""
    around = nn.Linear(3, H), nn.Linear(H, H), nn.LayerNorm(H), nn.Linear(H, 8)
    return sum(p.numel() for part in (layer, *around) for p in part.parameters())


def test_parameter_counts_of_table_2():
    """In thousands: DLR and DLR-prod 272, N = 512 35, DLR-R 137, DSS 272; SGConv 919 where the paper has 920."""
    assert parameters(DLR(32, state=4096)) == 271_880
    assert parameters(DLR(32, state=4096, kind="prod")) == 271_880
    assert parameters(DLR(32, state=512)) == 35_336
    assert parameters(DLR(32, state=4096, eigenvalues="real")) == 136_712
    assert parameters(DSS(32, state=4096)) == 271_912
    assert parameters(SGConv(32, length=1 << 18, piece=4096)) == 919_080  # the number of pieces depends on the length


def test_sgconv_keeps_the_norm_of_the_start():
    layer = make("sgconv")
    assert gap(layer.kernel(99).norm(dim=-1), torch.ones(D)) < 1e-5
    with torch.no_grad():
        layer.pieces.mul_(3)
    assert gap(layer.kernel(99).norm(dim=-1), torch.full((D,), 3.0)) < 1e-5
    other = make("sgconv", seed=1)
    other.load_state_dict(layer.state_dict())
    assert gap(other.kernel(99), layer.kernel(99)) == 0
