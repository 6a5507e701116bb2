"""Models by name; one family per file, each file tells how A_t and b_t are made."""

from __future__ import annotations

from functools import partial

import torch
from torch import nn

from lrnnlab.errors import checked, shown
from lrnnlab.models.attention import LocalAttention, RotaryAttention
from lrnnlab.models.base import LinearRecurrence, Recurrence, SequenceModel, stack
from lrnnlab.models.block_diagonal import (
    COLUMN_RULES,
    BlockDiagonal,
    block_diagonal_lrnn,
    obstacle,
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
from lrnnlab.models.regular_gpt import RegularGPT
from lrnnlab.models.relative_transformer import POSITIONS, RelativeTransformer
from lrnnlab.models.relu_rnn import ReluRNN
from lrnnlab.models.rotrnn import RotRNN
from lrnnlab.models.rwkv import RWKV
from lrnnlab.models.s4 import S4, S4D
from lrnnlab.models.s5 import S5
from lrnnlab.models.self_referential import SelfReferential
from lrnnlab.models.sequence_blocks import SequenceNet, block_stack
from lrnnlab.models.sgconv import SGConv
from lrnnlab.models.vanilla import Vanilla
from lrnnlab.tasks.base import BaseTask

__all__ = [
    "COLUMN_RULES", "DLR", "DSS", "LRU", "MODELS", "RWKV", "S4", "S4D", "S5", "BlockDiagonal", "CausalAttention",
    "Diagonal", "ElementWiseLSTM", "ExactLRNN", "FastWeights", "LinearRecurrence", "LiquidS4", "LocalAttention",
    "Nonlinear", "PlainLSTM", "PlainNetwork", "Recurrence", "RecurrentDelta", "ResidualBlock", "RotRNN",
    "RotaryAttention", "SGConv", "SelfReferential", "SequenceModel", "Vanilla", "build", "exact_model", "obstacle",
    "snap", "stack", "symbol_transitions",
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
    # paper 002: RegularGPT, its RNN, and Transformers by what their scores know of positions
    "regulargpt": RegularGPT,
    "relu_rnn": ReluRNN,
    **{f"{position}_transformer": partial(RelativeTransformer, position=position) for position in POSITIONS},
}
MIXERS = {  # the same mixers by themselves, mixer(width, **options): what a net for numbers is made of
    "block_diagonal": lambda width, b=8, **options: BlockDiagonal(width // b, b, **options),
    "lstm": partial(Nonlinear, cell="lstm"), "elman": partial(Nonlinear, cell="elman"), "vanilla": Vanilla,
    "diagonal": Diagonal, "s4": S4, "s4d": S4D, "liquid_s4": LiquidS4, "rwkv": RWKV, "rotrnn": RotRNN, "lru": LRU,
    "s5": S5, "dlr": DLR, "dss": DSS, "sgconv": SGConv, "attention": RotaryAttention,
    "local_attention": LocalAttention, "ult": partial(FastWeights, rule="sum"),
    "nlt": partial(FastWeights, rule="normalised"), "deltanet": partial(FastWeights, rule="delta"),
    "recurrent_delta": RecurrentDelta, "srwm": SelfReferential, "transformer": CausalAttention,
    "plain_lstm": lambda width, **options: PlainLSTM(width, width, **options),
    "e_lstm": lambda width, **options: ElementWiseLSTM(width, width, **options),
}  # fmt: skip


@checked
def build(
    name: str,
    task: BaseTask | None = None,
    *,
    vocab_size: int | None = None,
    classes: int | None = None,
    seed: int = 0,
    **options,
) -> nn.Module:
    """A fresh model by its registry name, for a ``task`` or for so many symbols and classes.

    ``options`` go to its constructor.  For a task that gives numbers, the model's mixer stands behind a linear map of
    the input columns, in the blocks of paper 004 (:func:`number_net`).  The weights depend on ``seed`` alone: torch's
    global generator is put back afterwards.

    ValueError for a name that is none, or a model that cannot read what the task gives.

    >>> from lrnnlab.models import build
    >>> from lrnnlab.tasks import task
    >>> build("block_diagonal", vocab_size=5, classes=2, rule="clip", p=1.2, b=4, h=2).width
    8
    >>> build("deltanet", task("s_3"))(torch.tensor([[0, 1, 1]])).shape
    torch.Size([1, 3, 6])
    >>> build("dlr", task("shift"), state=16)(torch.zeros(2, 64, 3)).shape
    torch.Size([2, 64, 8])
    """
    if name not in MODELS:
        raise ValueError(f"no model {name!r}; there are {', '.join(MODELS)}")
    make = MODELS[name]
    if task is not None:
        if (vocab_size, classes) != (None, None):
            raise ValueError(f"give a task or vocab_size and classes, got {task} and {vocab_size}, {classes}")
        vocab_size, classes = task.input_size, task.output_size
        if task.reads == "numbers":
            if name not in MIXERS:
                raise ValueError(f"{name} reads tokens, and {task} gives numbers; {', '.join(MIXERS)} read both")
            make = partial(number_net, MIXERS[name], once=task.answers == "last")
        elif name == "xl_transformer" and task.padded:
            raise ValueError(f"{name} answers once, at the last position, where {task} has strings of many lengths")
        elif task.answers != "last":  # an answer at every position
            options = {**{"regulargpt": {"form": "masks"}, "relu_rnn": {"every": True}}.get(name, {}), **options}
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would also seed every GPU
        try:
            return make(vocab_size, classes, **options)
        except (RuntimeError, MemoryError, OverflowError) as error:  # of torch, about sizes
            given = {"vocab_size": vocab_size, "classes": classes, **options}
            raise ValueError(f"no {name} can be made with {shown(given)}: {str(error).splitlines()[0]}") from error


def number_net(
    mixer, columns: int, outputs: int, *, once: bool = False, width: int = 32, layers: int = 1, **options
) -> SequenceNet:
    """A net for sequences of numbers (B,T,columns): ``layers`` of ``mixer(width, **options)`` in paper 004's blocks.

    Outputs stand at every position, or, with ``once``, are those of the mean over time, one row a sequence.
    """
    blocks = block_stack(partial(mixer, **options), width, layers, norm="layer", place="post", gate="linear")
    return SequenceNet(outputs, width, blocks, input_size=columns, pool="mean" if once else "none")
