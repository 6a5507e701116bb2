"""The non-linear references, as mixers like all others: Elman's network and the LSTM."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.models.base import Recurrence, check_sizes
from lrnnlab.scans.transforms import within_func
from lrnnlab.validation import among

CELLS = {"elman": nn.RNN, "lstm": nn.LSTM}


def run(network: Any, z: Tensor, state: Any = None) -> tuple[Tensor, Any]:
    """``network(z, state)`` of one layer of torch's RNN or LSTM, batch first; within ``torch.func`` step by step."""
    if not within_func():
        return network(z, state)
    zero = z.new_zeros(1, len(z), network.hidden_size)
    h, c = (zero, zero) if state is None else state if isinstance(state, tuple) else (state, zero)
    h, c, states = h[0], c[0], []
    for s in F.linear(z, network.weight_ih_l0, network.bias_ih_l0).unbind(1):
        s = s + F.linear(h, network.weight_hh_l0, network.bias_hh_l0)
        if isinstance(network, nn.LSTM):
            i, f, g, o = s.chunk(4, -1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        else:
            h = torch.tanh(s) if network.nonlinearity == "tanh" else torch.relu(s)
        states.append(h)
    state = (h.unsqueeze(0), c.unsqueeze(0)) if isinstance(network, nn.LSTM) else h.unsqueeze(0)
    return torch.stack(states, 1), state


class Nonlinear(Recurrence):
    """torch's own ``nn.RNN`` (tanh, Elman 1990) or ``nn.LSTM`` (Hochreiter and Schmidhuber 1997), started at zero.

    Parameters
    ----------
    width, inputs : int
        D; and the width of what it reads, D if not given.
    cell : str
        A name in ``CELLS``.
    start : str
        Of the recurrent weights: ``"uniform"``, torch's own, or ``"orthogonal"``, with biases of zero.

    Examples
    --------
    >>> import torch
    >>> Nonlinear(5, cell="lstm", inputs=3)(torch.zeros(2, 7, 3)).shape
    torch.Size([2, 7, 5])
    """

    def __init__(self, width: int, cell: str, *, inputs: int | None = None, start: str = "uniform"):
        super().__init__()
        among("cell", cell, CELLS)
        among("start", start, ("uniform", "orthogonal"))
        inputs = width if inputs is None else inputs
        check_sizes(width=width, inputs=inputs)
        self.network = CELLS[cell](inputs, width, batch_first=True)
        if start == "orthogonal":
            nn.init.orthogonal_(self.network.weight_hh_l0)
            nn.init.zeros_(self.network.bias_ih_l0)
            nn.init.zeros_(self.network.bias_hh_l0)

    def initial(self, batch: int) -> Any:
        weight = self.network.weight_hh_l0
        zeros = weight.new_zeros(1, batch, weight.shape[1])
        return (zeros, zeros) if isinstance(self.network, nn.LSTM) else zeros

    def mix(self, z: Tensor) -> Tensor:
        if not z.shape[1]:  # torch's networks refuse an empty sequence
            return z.new_zeros(len(z), 0, self.network.hidden_size)
        return run(self.network, z)[0]

    def step(self, state: Any, z_t: Tensor) -> tuple[Any, Tensor]:
        out, state = run(self.network, z_t.unsqueeze(1), state)
        return state, out.squeeze(1)
