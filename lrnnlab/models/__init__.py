"""Models by name; one family per file, each file tells how A_t and b_t are made."""

from __future__ import annotations

from functools import partial

import torch

from lrnnlab.errors import checked, shown
from lrnnlab.models.attention import LocalAttention, RotaryAttention
from lrnnlab.models.base import LinearRecurrence, Recurrence, SequenceModel, stack
from lrnnlab.models.block_diagonal import (
    COLUMN_RULES,
    BlockDiagonal,
    block_diagonal_lrnn,
    snap,
    symbol_transitions,
)
from lrnnlab.models.causal_attention import CausalAttention
from lrnnlab.models.diagonal import Diagonal
from lrnnlab.models.dlr import DLR
from lrnnlab.models.dss import DSS
from lrnnlab.models.e_lstm import ElementWiseLSTM, PlainLSTM
from lrnnlab.models.exact import ExactLRNN, exact_model
from lrnnlab.models.fast_weights import FastWeights
from lrnnlab.models.liquid import LiquidS4
from lrnnlab.models.lru import LRU
from lrnnlab.models.plain_network import PlainNetwork, ResidualBlock, block_network, plain_network
from lrnnlab.models.recurrent import Nonlinear, nonlinear_rnn
from lrnnlab.models.recurrent_delta import RecurrentDelta
from lrnnlab.models.rotrnn import RotRNN
from lrnnlab.models.rwkv import RWKV
from lrnnlab.models.s4 import S4, S4D
from lrnnlab.models.s5 import S5
from lrnnlab.models.self_referential import SelfReferential
from lrnnlab.models.sgconv import SGConv
from lrnnlab.models.vanilla import Vanilla

__all__ = [
    "COLUMN_RULES", "DLR", "DSS", "LRU", "MODELS", "RWKV", "S4", "S4D", "S5", "BlockDiagonal", "CausalAttention",
    "Diagonal", "ElementWiseLSTM", "ExactLRNN", "FastWeights", "LinearRecurrence", "LiquidS4", "LocalAttention",
    "Nonlinear", "PlainLSTM", "PlainNetwork", "Recurrence", "RecurrentDelta", "ResidualBlock", "RotRNN",
    "RotaryAttention", "SGConv", "SelfReferential", "SequenceModel", "Vanilla", "build", "exact_model", "snap",
    "stack", "symbol_transitions",
]  # fmt: skip

MODELS = {
    "block_diagonal": block_diagonal_lrnn,
    "lstm": partial(nonlinear_rnn, cell="lstm"),
    "elman": partial(nonlinear_rnn, cell="elman"),
    "vanilla": partial(stack, Vanilla),
    "diagonal": partial(stack, Diagonal),
    "s4": partial(stack, S4),
    "s4d": partial(stack, S4D),
    "liquid_s4": partial(stack, LiquidS4),
    "rwkv": partial(stack, RWKV),
    "rotrnn": partial(stack, RotRNN),
    "lru": partial(stack, LRU),
    "s5": partial(stack, S5),
    "dlr": partial(stack, DLR),
    "dss": partial(stack, DSS),
    "sgconv": partial(stack, SGConv),
    "attention": partial(stack, RotaryAttention),
    "local_attention": partial(stack, LocalAttention),
    # paper 003: width, layers, heads, ff and the norms as in plain_network.py; the layer's own options go through
    "ult": partial(block_network, FastWeights, rule="sum"),
    "nlt": partial(block_network, FastWeights, rule="normalised"),
    "deltanet": partial(block_network, FastWeights, rule="delta"),
    "recurrent_delta": partial(block_network, RecurrentDelta),
    "srwm": partial(block_network, SelfReferential, norm="skip"),
    "transformer": partial(block_network, CausalAttention, norm="post", bias=True, final_norm=True),
    "plain_lstm": partial(plain_network, PlainLSTM),
    "e_lstm": partial(plain_network, ElementWiseLSTM),
}


@checked
def build(name: str, *, vocab_size: int, classes: int, seed: int = 0, **options) -> SequenceModel:
    """A fresh model by its registry name; ``options`` go to its constructor.

    The weights depend on ``seed`` alone: torch's global generator is put back afterwards.  ``TypeError`` for an option
    of a wrong kind, ``ValueError`` for one that no model can have, or that the memory here is too small for.

    >>> from lrnnlab.models import build
    >>> build("block_diagonal", vocab_size=5, classes=2, rule="clip", p=1.2, b=4, h=2).width
    8
    """
    if name not in MODELS:
        raise ValueError(f"no model {name!r}; there are {', '.join(MODELS)}")
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would also seed every GPU
        try:
            return MODELS[name](vocab_size, classes, **options)
        except (RuntimeError, MemoryError, OverflowError) as error:  # of torch, about sizes
            given = {"vocab_size": vocab_size, "classes": classes, **options}
            raise ValueError(f"no {name} can be made with {shown(given)}: {str(error).splitlines()[0]}") from error
