"""All layers: a module a family.  Each is a recurrence with a step form, inputs (B,T,D) -> y (B,T,D).

``modes`` (a constant diagonal), ``transitions`` (made from the input), ``fast_weights`` (a matrix that is written to),
``recurrent`` (fed back through a squashing), ``attention``.  What each computes: :mod:`lrnnlab.models.equations`.

>>> import torch
>>> RotRNN(8, state=4, heads=2)(torch.zeros(2, 5, 8)).shape
torch.Size([2, 5, 8])
"""

from lrnnlab.models.layers.attention import (
    CausalAttention,
    LocalAttention,
    RegularGPT,
    RelativeTransformer,
    ReluRNN,
    RotaryAttention,
)
from lrnnlab.models.layers.fast_weights import RWKV7, FastWeights, GatedDeltaNet, Mamba2
from lrnnlab.models.layers.modes import DLR, DSS, LRU, S4, S4D, S5, RotRNN, SGConv
from lrnnlab.models.layers.recurrent import RWKV, ElementWiseLSTM, Nonlinear, RecurrentDelta, SelfReferential
from lrnnlab.models.layers.transitions import BlockDiagonal, Diagonal, Dictionary, LiquidS4, OneHotColumns, Vanilla

__all__ = [
    "DLR", "DSS", "LRU", "RWKV", "RWKV7", "S4", "S4D", "S5", "BlockDiagonal", "CausalAttention", "Diagonal",
    "Dictionary", "ElementWiseLSTM", "FastWeights", "GatedDeltaNet", "LiquidS4", "LocalAttention", "Mamba2",
    "Nonlinear", "OneHotColumns", "RecurrentDelta", "RegularGPT", "RelativeTransformer", "ReluRNN", "RotRNN",
    "RotaryAttention", "SGConv", "SelfReferential", "Vanilla",
]  # fmt: skip
