"""Bounds of rounding against the same modules in twice the digits."""

import copy

import pytest
import torch
from torch import nn

from lrnnlab.verification.rounding import Rounded, exact, through

MODULES = {
    "linear": lambda: nn.Linear(7, 5),
    "norm": lambda: nn.LayerNorm(7),
    "sequential": lambda: nn.Sequential(nn.Linear(7, 9), nn.ReLU(), nn.LayerNorm(9), nn.Linear(9, 4)),
}


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
    found = through(module, exact(x))
    assert ((found.value.double() - wide(x.double())).abs() <= found.error).all()
    error = 1e-3 * torch.rand(4000, 7, generator=draw, dtype=torch.float64)
    moved = x.double() + error * (torch.rand(4000, 7, generator=draw) < 0.5).double().sub(0.5).sign()
    far = through(module, Rounded(x, error))
    assert ((far.value.double() - wide(moved)).abs() <= far.error).all()


def test_two_entries_on_two_machines_are_four_errors_apart():
    error = torch.tensor([[0.5, 2.0], [1.0, 0.0]], dtype=torch.float64)
    assert Rounded(torch.ones(2, 2), error).apart() == 8
