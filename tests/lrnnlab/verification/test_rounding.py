"""Bounds of rounding, against the same operations, layers and nets in twice the digits, from numbers that are off."""

import copy
import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from lrnnlab.models import build
from lrnnlab.tasks import task
from lrnnlab.verification.semantics.rounding import Bounds

MODULES = {
    "linear": lambda: nn.Linear(7, 5),
    "norm": lambda: nn.LayerNorm(7),
    "sequential": lambda: nn.Sequential(nn.Linear(7, 9), nn.ReLU(), nn.LayerNorm(9), nn.Linear(9, 4)),
}
NETS = ("block_diagonal", "lstm", "elman", "vanilla", "diagonal", "s4", "s4d", "liquid_s4", "rwkv", "rotrnn", "lru", "s5",
        "dlr", "dss", "ult", "nlt", "deltanet", "recurrent_delta", "srwm", "e_lstm", "pd", "dictionary", "gated_deltanet",
        "mamba2", "rwkv7")  # fmt: skip
SQUARE = torch.randn(7, 7, generator=torch.Generator().manual_seed(0))
OPERATIONS = {
    **{name: getattr(torch, name) for name in ("tanh", "sigmoid", "sin", "cos", "abs", "neg")},
    **{name: getattr(F, name) for name in ("softplus", "gelu", "silu", "relu", "glu")},
    "exp": lambda x: (x / 2).exp(),
    "expm1": lambda x: (x / 2).expm1(),
    "reciprocal": lambda x: (x.abs() + 1e-3).reciprocal(),
    "sqrt": lambda x: x.abs().sqrt(),
    "log": lambda x: (x.abs() + 1e-3).log(),
    "square": lambda x: x**2,
    "root": lambda x: x.abs() ** 0.3,
    "rsqrt": lambda x: (x.abs() + 0.1).rsqrt(),
    "sum": lambda x: x.sum(-1),
    "mean": lambda x: x.mean(0),
    "norm": lambda x: x.norm(dim=-1),
    "add": lambda x: x + 3 * x.flip(0),
    "subtract": lambda x: 1 - x,
    "product": lambda x: x * x.flip(0),
    "quotient": lambda x: x / (x.flip(0).abs() + 0.5),
    "between": lambda x: torch.lerp(x, x.flip(0), x.flip(1)),
    "matmul": lambda x: x @ SQUARE.to(x) @ x.mT,
    "complex": lambda x: torch.view_as_real(torch.complex(x, x.flip(0)) * torch.polar(x.abs(), x.flip(1))).flatten(1),
    "complex exp": lambda x: torch.view_as_real(torch.complex(x / 2, x.flip(0)).exp()),
    "softmax": lambda x: x.softmax(-1),
    "log_softmax": lambda x: x.log_softmax(-1),
    "choice": lambda x: torch.where(x > 0, x.sin(), x.cos()),
    "sign": lambda x: x.sign() * x,
    "largest": lambda x: torch.zeros_like(x).scatter(-1, x.argmax(-1, keepdim=True), 1) + x.amax(-1, keepdim=True),
    "sorted": lambda x: x.topk(3).values,
    "in place": lambda x: x.clone().add_(x.flip(0)).tanh_(),
    "rotation": lambda x: torch.linalg.matrix_exp(x[:7] / 50 - x[:7].mT / 50),
    "system": lambda x: torch.linalg.solve(x[:7].to(x) + 300 * torch.eye(7).to(x), x[:7]),
}


def within(function, x, error, moved):
    """Whether ``function`` of x, which is within ``error`` of ``moved``, is within its bound, and how large this is."""
    bounds = Bounds()
    x = bounds.put(x.clone(), error)
    with bounds:
        found = function(x)
    assert not bounds.unknown, bounds.unknown
    off = (found.double() - function(moved)).abs()
    return bool((off <= bounds.of(found)).all()), bounds.of(found)


@pytest.mark.parametrize("scale", (0.01, 1.0, 30.0))
@pytest.mark.parametrize("name", OPERATIONS)
@torch.no_grad()
def test_no_operation_is_farther_off_than_its_bound(name, scale):
    draw = torch.Generator().manual_seed(0)
    x = scale * torch.randn(400, 8 if name == "glu" else 7, generator=draw)
    x[0] = 0
    for size in (0.0, 1e-9, 1e-3):
        error = size * torch.rand(x.shape, generator=draw, dtype=torch.float64)
        moved = x.double() + error * (2 * torch.randint(2, x.shape, generator=draw) - 1)
        held, bound = within(OPERATIONS[name], x, error, moved)
        assert held
        if name not in ("reciprocal", "sign", "choice", "largest", "rotation", "system") and scale == 1:
            assert bound.median() <= 300 * size + 1e-4  # and not for the reason that it is no bound at all


CORNERS = {  # what is computed, from these numbers, from others within these errors
    "a threshold": (F.softplus, [20 - 5e-13], 1e-12, [20 + 4e-13]),
    "underflow": (lambda x: x.softmax(0), [0.0, -110.0], 50, [-50.0, -60.0]),
    "an infinity": (lambda x: torch.where(x > 0, 0.0, -torch.inf).exp(), [1e-9], 1e-8, [-1e-9]),
    "a far index": (lambda x: (x.argmax(0) == torch.arange(5)).double(), [1.0, 0, 0, 0, 1 - 1e-9], 1e-8, [1 - 1e-9, 0, 0, 0, 1.0]),
    "a small solution": (lambda x: torch.linalg.solve(x[:4].view(2, 2), x[4:]), [1.0, 0, 0, 1, 0, 0], [0, 0.09, 0, 0, 0, 1],
                         [1.0, 0.09, 0, 1, 0, 1]),
    "a large power": (lambda x: torch.linalg.matrix_exp(x.view(1, 1)), [0.0], 1.0, [1.0]),
    "itself": (lambda x: (y := x.clone()).mul_(y), [1.0], 1e-5, [1 + 1e-5]),
}  # fmt: skip


@pytest.mark.parametrize("name", CORNERS)
def test_bounds_hold_in_corners(name):
    function, x, error, moved = CORNERS[name]
    x, moved = (torch.tensor(numbers, dtype=torch.float64) for numbers in (x, moved))
    error = torch.as_tensor(error, dtype=torch.float64).expand(x.shape)
    assert within(function, x, error, moved)[0]


def test_a_norm_of_one_spike_is_within_its_bound():
    x = torch.zeros(512, dtype=torch.float64)
    x[0] = 1
    error = torch.full_like(x, 1e-3)
    for signs in (torch.ones(512), torch.where(torch.arange(512) == 0, -1.0, 1.0), (-1.0) ** torch.arange(512)):
        assert within(nn.LayerNorm(512).double(), x, error, x + error * signs)[0]


def test_what_another_machine_may_decide_otherwise_is_in_doubt():
    x, bounds = torch.tensor([[1.0, 1.0 + 1e-6, 0.0], [1.0, 2.0, 0.0]]), Bounds()
    bounds.put(x, torch.full(x.shape, 1e-5, dtype=torch.float64))
    with bounds:
        first, shown = x.argmax(-1), torch.where(x > 1, 7.0, 0.0)
        columns = torch.zeros(2, 3).scatter(-1, x.argmax(-1, keepdim=True), 1)
    assert (bounds.of(first) > 0).tolist() == [True, False]
    assert (bounds.of(columns) >= 1).tolist() == [[True] * 3, [False] * 3]
    assert (bounds.of(shown) >= 7).tolist() == [[True, True, False], [True, False, False]]


@pytest.mark.parametrize("function, named", [
    (lambda x: x.cumsum(0), "cumsum"),
    (lambda x: x.view(torch.int32), "view"),
    (lambda x: x if x[0, 0] > 0 else -x, "_local_scalar_dense"),
    (lambda x: torch.eye(3)[x.exp().argmax(-1)], "places that index takes"),
    (lambda x: (1e38 * x.exp()) * 10, "overflow in mul"),
    (lambda x: (x - 1) * torch.full((3,), torch.inf), "mul of rounded numbers and infinities"),
    (lambda x: (x - 1).mul_(-math.inf), "mul of rounded numbers and infinities"),
    (lambda x: x @ torch.full((3, 2), -torch.inf), "mm of rounded numbers and infinities"),
    (lambda x: x @ torch.full((3,), torch.inf), "mv of rounded numbers and infinities"),
    (lambda x: torch.lerp(torch.zeros(2, 3), torch.full((2, 3), torch.inf), x), "lerp of rounded numbers and infinities"),
    (lambda x: x.exp()[0].add_(1), "add in place of numbers that others see"),
    (lambda x: x.clamp(x.exp()), "rounded options of clamp"),
    (lambda x: torch.view_as_complex(x[:, :2].contiguous()).tanh().real, "a function of a complex number"),
])  # fmt: skip
def test_what_has_no_rule_is_named_and_nothing_is_decided(function, named):
    bounds = Bounds()
    x = bounds.put(torch.ones(2, 3), torch.ones(2, 3, dtype=torch.float64))
    with bounds:
        y = function(x)
    assert bounds.unknown == {named} and bounds.of(y).isinf().all() and bounds.apart(y) == torch.inf


class Through(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.from_numpy(np.exp(x.numpy()))


def by_another_name(x):
    z = torch.zeros(3)
    torch.from_numpy(z.numpy()).add_(x.exp())
    return z


@pytest.mark.parametrize("function", [
    lambda x: torch.from_numpy(np.exp(x.exp().numpy())),
    lambda x: torch.tensor(x.exp().tolist()),
    lambda x: torch.as_tensor(np.asarray(x.exp())),
    lambda x: torch.from_dlpack(x.exp()),
    lambda x: nn.Parameter(x.exp(), requires_grad=False),
    lambda x: nn.Parameter(x.exp(), requires_grad=False) + 1,
    lambda x: copy.deepcopy(x.exp()),
    lambda x: Through.apply(x.exp()),
    lambda x: torch.exp(x, out=torch.empty(3)),
    lambda x: torch.cat([x.exp(), torch.full((1,), 2**30)]),
    lambda x: float(repr(x.exp()[0].item())) * torch.ones(3),
    by_another_name,
])  # fmt: skip
@torch.no_grad()
def test_no_bound_is_lost_where_numbers_leave_torch(function):
    with Bounds() as bounds:
        y = function(torch.tensor([1.0, 2.0, 3.0]) / 3)
    assert bounds.of(y).isinf().all()


ARGUMENTS = {
    "a mean's type": lambda x: x.mean(-1, dtype=torch.float64), "a sum's type": lambda x: x.sum(-1, dtype=torch.float64),
    "a norm's type": lambda x: torch.linalg.vector_norm(x, dim=-1, dtype=torch.float64),
    "alpha and beta": lambda x: torch.addmm(x, x @ x.mT, x, alpha=0.5, beta=2), "alpha": lambda x: torch.add(x, x, alpha=-3),
    "rounded down": lambda x: torch.div(x, 0.3, rounding_mode="floor"), "masks": lambda x: ((x > 0) == (x < 1)).to(x),
    "masks unequal": lambda x: ((x > 0) != (x < 1)).to(x), "exponents": lambda x: x.abs() ** torch.full((7,), 1.5).to(x),
    "powers of 2": lambda x: 2.0**x, "powers of a third": lambda x: 0.3**x, "a vector": lambda x: x @ x[0],
    "another's place": lambda x: torch.zeros_like(x).copy_(x.exp()), "filled": lambda x: x.exp().fill_(0.1) + x,
    "least": lambda x: x.topk(2, largest=False).values, "by numbers": lambda x: torch.where(x > 0, 1.0, x),
    "mapped": lambda x: torch.vmap(lambda row: (row.exp() * 3) @ row)(x),
}  # fmt: skip


@pytest.mark.parametrize("name", ARGUMENTS)
@torch.no_grad()
def test_ordinary_arguments_are_bounded_or_named(name):
    x = torch.randn(30, 7, generator=torch.Generator().manual_seed(0)) * 1.1
    with Bounds() as bounds:
        y = ARGUMENTS[name](x * 1.1)
    exact = ARGUMENTS[name]((x * 1.1).double())
    assert ((y.double() - exact).abs() <= bounds.of(y)).all()
    assert bool(bounds.unknown) == (name in ("a norm's type", "rounded down", "least"))


@torch.no_grad()
def test_a_linear_system_allows_for_flushed_numbers():
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor cannot flush")
    draw = torch.Generator().manual_seed(0)
    try:
        for _ in range(30):
            x = 10 ** torch.empty(6, 6).uniform_(-37.5, -35, generator=draw) * torch.randn(6, 6, generator=draw).sign()
            A = 3 * torch.eye(6) + torch.randn(6, 6, generator=draw) / 10
            torch.set_flush_denormal(True)
            with Bounds() as bounds:
                y = torch.linalg.solve(A, x)
            torch.set_flush_denormal(False)
            assert ((y.double() - torch.linalg.solve(A.double(), x.double())).abs() <= bounds.of(y)).all()
    finally:
        torch.set_flush_denormal(False)


def test_a_matrix_exponential_of_few_bits_is_named():
    with Bounds() as bounds:
        torch.linalg.matrix_exp(torch.eye(2, dtype=torch.bfloat16))
    assert bounds.unknown == {"exponentials of matrices of bfloat16"}


@pytest.mark.parametrize("name", MODULES)
@torch.no_grad()
def test_nothing_is_farther_off_than_its_bound(name):
    draw = torch.Generator().manual_seed(0)

    def power(low, high):
        return 10 ** torch.empty(4000, 1).uniform_(low, high, generator=draw)

    module = MODULES[name]()
    for parameter in module.parameters():
        parameter.normal_(0, 3, generator=draw)
    if name == "norm":
        module.bias.zero_()  # its own error is larger than the one of an entry at the mean
    wide = copy.deepcopy(module).double()
    common = power(-2, 6) * (torch.rand(4000, 1, generator=draw) < 0.5)  # what a norm takes away again
    x = torch.randn(4000, 7, generator=draw) * power(-2, 5) + common
    x[::2, -1] = x[::2, :-1].mean(-1)  # an entry at the mean, of which a norm leaves nothing but rounding

    def function(x):
        return (module if x.dtype == torch.float32 else wide)(x)

    assert within(function, x, torch.zeros(4000, 7, dtype=torch.float64), x.double())[0]
    error = 1e-3 * torch.rand(4000, 7, generator=draw, dtype=torch.float64)
    moved = x.double() + error * (torch.rand(4000, 7, generator=draw) < 0.5).double().sub(0.5).sign()
    assert within(function, x, error, moved)[0]


@pytest.mark.parametrize("layers", (1, 2))
@pytest.mark.parametrize("name", NETS)
@torch.no_grad()
def test_no_net_is_farther_off_than_its_bound(name, layers):
    """Three steps, plain and compiled, from states that are off; in double precision the bound decides."""
    net = build(name, task("parity"), seed=1, layers=layers).eval()
    wide, tokens = copy.deepcopy(net).double(), torch.tensor([0, 1])
    for one, least in ((net, None), (copy.deepcopy(wide), 1e-3)):
        with Bounds() as bounds:
            state = one.initial_state(2)
            for _ in range(3):
                state, logits = one.step(state, tokens)
        assert not bounds.unknown
        state, other = one.initial_state(2), wide.initial_state(2)
        for _ in range(3):
            (state, compiled), (other, exact) = one.step(state, tokens), wide.step(other, tokens)
        for found in (logits, compiled):
            assert ((found.double() - exact).abs() <= bounds.of(logits)).all()
        assert least is None or float(bounds.of(logits).max()) < least
