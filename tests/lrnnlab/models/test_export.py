"""``torch.export``: the program answers as the net does, strings of another length too."""

import pytest
import torch
from torch import nn

from lrnnlab.models import Recurrence, build, network
from lrnnlab.tasks import task

pytestmark = pytest.mark.skipif(not hasattr(torch.compiler, "is_exporting"), reason="this torch does not say when it exports")


class Leaky(Recurrence):
    """A rule of one's own, with a step alone; the answer is the state itself."""

    def __init__(self, width: int):
        super().__init__()
        self.drive = nn.Linear(width, width)

    def initial(self, batch):
        return self.drive.weight.new_zeros(batch, self.drive.out_features)

    def step(self, state, z_t):
        state = torch.tanh(state / 2 + self.drive(z_t))
        return state, state


@pytest.mark.parametrize("name", [
    "block_diagonal", "deltanet", "mamba2", "own", "frozen",
    *(pytest.param(name, marks=pytest.mark.thorough) for name in ("e_lstm", "srwm", "recurrent_delta", "lru")),
])  # fmt: skip
def test_an_exported_net_answers_alike_at_another_length(name):
    torch.manual_seed(0)
    if name == "own":
        net = network(Leaky, 2, 2, width=8).eval()
    elif name == "frozen":
        net = build("block_diagonal", task("sum", 2), rule="softmax", drive="none").eval()
        mixer = next(part for part in net.modules() if hasattr(part, "freeze"))
        mixer.freeze(torch.arange(mixer.h) % 2 == 0)
    else:
        net = build(name, task("sum", 2)).eval()
    short, long = (torch.randint(2, (3, T)) for T in (9, 31))
    program = torch.export.export(net, (short,), dynamic_shapes=({1: torch.export.Dim.DYNAMIC},)).module()
    for tokens in (short, long):
        torch.testing.assert_close(program(tokens), net(tokens), atol=2e-6, rtol=1e-5)
    with pytest.raises(RuntimeError, match="a token is outside"):
        program(torch.full((3, 9), 2))
