"""The non-linear references, in the same stack as the linear models: Elman's network and the LSTM."""

from __future__ import annotations

from torch import Tensor, nn

from lrnnlab.errors import checked
from lrnnlab.models.base import Recurrence, SequenceModel, check_sizes, layers_of


class Nonlinear(Recurrence):
    """torch's own ``nn.RNN`` (tanh, Elman 1990) or ``nn.LSTM`` (Hochreiter and Schmidhuber 1997), started at zero."""

    def __init__(self, width: int, cell: str):
        super().__init__()
        cells = {"elman": nn.RNN, "lstm": nn.LSTM}
        if cell not in cells:
            raise ValueError(f"cell is one of {', '.join(cells)}, got {cell!r}")
        self.network = cells[cell](width, width, batch_first=True)

    def initial(self, batch: int):
        weight = self.network.weight_hh_l0
        zeros = weight.new_zeros(1, batch, weight.shape[1])
        return (zeros, zeros) if isinstance(self.network, nn.LSTM) else zeros

    def forward(self, z: Tensor, tokens: Tensor | None = None) -> tuple[None, Tensor]:
        z = z if tokens is None else z[tokens]
        if not z.shape[1]:  # torch's networks refuse an empty sequence
            return None, z.new_zeros(z.shape)
        return None, self.network(z)[0]

    def step(self, state, z_t: Tensor) -> tuple[object, Tensor]:
        out, state = self.network(z_t.unsqueeze(1), state)
        return state, out.squeeze(1)


@checked
def nonlinear_rnn(
    vocab_size: int, classes: int, *, cell: str, width: int = 64, layers: int = 1, head: str = "mlp"
) -> SequenceModel:
    """``layers`` Elman or LSTM layers of ``width`` units in the stack of paper 000."""
    check_sizes(width=width)
    return SequenceModel(vocab_size, classes, width, layers_of(layers, lambda _: Nonlinear(width, cell)), head)
