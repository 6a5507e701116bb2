"""DLR, DSS and SGConv of paper 004: kernels at length, against sums of powers; what they span; their starts."""

import math

import numpy as np
import pytest
import torch
from tensors import gap, seeded
from torch import nn

from lrnnlab.models.layers import DLR, DSS, SGConv

D = 4


def own(layer):
    return {key: p.detach().double().numpy() for key, p in layer.named_parameters()}


def by_powers(layer, T):
    """Re sum_n w_n lambda_n^l, every power of every eigenvalue, (D,T); DLR-prod Re K Im K."""
    log_lambda, w = (x.detach().numpy() for x in layer._system())
    K = np.stack([(w[0] * np.exp(lag * log_lambda)).sum(-1) for lag in range(T)], -1)
    return K.real * K.imag if getattr(layer, "kind", "") == "prod" else K.real


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
    assert error(layer.kernel(FAR).detach().numpy(), by_powers(layer, FAR)) < 1e-6


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
    layer, other = (seeded(SGConv, D, length=20, piece=3, alpha=(0.5, 0.9), seed=seed).double() for seed in (0, 1))
    assert gap(layer.kernel(99).norm(dim=-1), torch.ones(D)) < 1e-5
    with torch.no_grad():
        layer.pieces.mul_(3)
    assert gap(layer.kernel(99).norm(dim=-1), torch.full((D,), 3.0)) < 1e-5
    other.load_state_dict(layer.state_dict())
    assert gap(other.kernel(99), layer.kernel(99)) == 0
