"""Models by name.  ``equations`` has every model on one page, ``layers`` holds them, ``net`` stacks them in blocks.

>>> import torch
>>> from lrnnlab.models import build
>>> net = build("lru", vocab_size=3, classes=2, width=16)          # or a task: build("lru", task("parity"))
>>> net(torch.tensor([[0, 1, 2, 1]])).shape                        # batch, time, classes
torch.Size([1, 4, 2])
>>> state, logits = net.step(net.initial_state(1), torch.tensor([0]))       # the same, one token at a time
>>> torch.allclose(logits, net(torch.tensor([[0]]))[:, 0], atol=1e-6)
True
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, overload

from torch import nn

from lrnnlab.models import layers
from lrnnlab.models.base import LinearRecurrence, Recurrence, RecurrentNet, at_default_device, weights_of
from lrnnlab.models.block import PAPER_004
from lrnnlab.models.exact import block_net, exact_model, snap
from lrnnlab.models.layers.attention import POSITIONS
from lrnnlab.models.net import Net, PairClassifier, blocks, network
from lrnnlab.tasks.base import BaseTask
from lrnnlab.validation import checked, shown, whole_number

__all__ = [
    "MODELS", "LinearRecurrence", "Net", "PairClassifier", "Recurrence", "RecurrentNet", "block_net", "blocks", "build",
    "exact_model", "network", "snap",
]  # fmt: skip

# How a paper puts its mixers into a net: options of ``network``, where they are not those of paper 000.
PLAIN: dict[str, Any] = {"last_residual": True, "final_norm": False, "head": "linear"}
PAPER_003: dict[str, Any] = {**PLAIN, "by_symbol": False, "width": 16, "gate": "unbiased", "ff": 1}
RNN_003: dict[str, Any] = {**PLAIN, "by_symbol": False, "width": 16, "inputs": 128, "norm": "none", "residual": False}
NUMBERS: dict[str, Any] = {**PLAIN, **PAPER_004, "width": 32}

MODELS: dict[str, Any] = {
    "block_diagonal": partial(network, layers.BlockDiagonal.of_width),
    "lstm": partial(network, partial(layers.Nonlinear, cell="lstm")),
    "elman": partial(network, partial(layers.Nonlinear, cell="elman")),
    "vanilla": partial(network, layers.Vanilla),
    "diagonal": partial(network, layers.Diagonal),
    "s4": partial(network, layers.S4),
    "s4d": partial(network, layers.S4D),
    "liquid_s4": partial(network, layers.LiquidS4),
    "rwkv": partial(network, layers.RWKV),
    "rotrnn": partial(network, layers.RotRNN),
    "lru": partial(network, layers.LRU),
    "s5": partial(network, layers.S5),
    "dlr": partial(network, layers.DLR),
    "dss": partial(network, layers.DSS),
    "sgconv": partial(network, layers.SGConv),
    "attention": partial(network, layers.RotaryAttention),
    "local_attention": partial(network, layers.LocalAttention),
    "ult": partial(network, partial(layers.FastWeights, rule="sum"), **PAPER_003),
    "nlt": partial(network, partial(layers.FastWeights, rule="normalised"), **PAPER_003),
    "deltanet": partial(network, partial(layers.FastWeights, rule="delta"), **PAPER_003),
    "recurrent_delta": partial(network, layers.RecurrentDelta, **PAPER_003),
    "srwm": partial(network, layers.SelfReferential, **PAPER_003, place="skip"),
    "transformer": partial(
        network, layers.CausalAttention, **{**PAPER_003, "gate": "from_zero", "final_norm": True}, place="post"
    ),
    "plain_lstm": partial(network, partial(layers.Nonlinear, cell="lstm"), **RNN_003),
    "e_lstm": partial(network, layers.ElementWiseLSTM, **RNN_003),
    # later work
    "pd": partial(network, layers.OneHotColumns),
    "dictionary": partial(network, layers.Dictionary),
    "gated_deltanet": partial(network, layers.GatedDeltaNet, **PAPER_003),
    "mamba2": partial(network, layers.Mamba2, **PAPER_003),
    "rwkv7": partial(network, layers.RWKV7, **PAPER_003),
    # paper 002: RegularGPT, its RNN, and Transformers by what their scores know of positions
    "regulargpt": layers.RegularGPT,
    "relu_rnn": layers.ReluRNN,
    **{f"{position}_transformer": partial(layers.RelativeTransformer, position=position) for position in POSITIONS},
}

# What ``build`` makes a ``Net`` of, for who completes or checks a call: the names that ``reads_numbers`` is true of.
NetName = Literal[
    "block_diagonal", "lstm", "elman", "vanilla", "diagonal", "s4", "s4d", "liquid_s4", "rwkv", "rotrnn", "lru", "s5", "dlr",
    "dss", "sgconv", "attention", "local_attention", "ult", "nlt", "deltanet", "recurrent_delta", "srwm", "transformer",
    "plain_lstm", "e_lstm", "pd", "dictionary", "gated_deltanet", "mamba2", "rwkv7",
]  # fmt: skip


def _constructor(name: str) -> Any:
    """A model of the registry; ``ValueError`` if there is none of this name."""
    if name not in MODELS:
        raise ValueError(f"no model {name!r}; there are {', '.join(MODELS)}")
    return MODELS[name]


@checked
def reads_numbers(name: str) -> bool:
    """Whether a model of the registry reads sequences of numbers, too: all that are a :func:`network` of a mixer do.

    >>> reads_numbers("dlr"), reads_numbers("regulargpt")
    (True, False)
    """
    return getattr(_constructor(name), "func", None) is network


@overload
def build(
    name: NetName, task: BaseTask | None = None, *, vocab_size: int | None = None, classes: int | None = None, seed: int = 0,
    **options: Any,
) -> Net: ...  # fmt: skip
@overload
def build(
    name: str, task: BaseTask | None = None, *, vocab_size: int | None = None, classes: int | None = None, seed: int = 0,
    **options: Any,
) -> nn.Module: ...  # fmt: skip
@checked
def build(
    name: str,
    task: BaseTask | None = None,
    *,
    vocab_size: int | None = None,
    classes: int | None = None,
    seed: int = 0,
    **options: Any,
) -> nn.Module:
    """A fresh model by its registry name, for a ``task``, or for ``vocab_size`` symbols and ``classes`` answers.

    ``options`` go to its constructor.  For a task that gives numbers, the blocks are those of paper 004
    (``NUMBERS``) after a linear map of the input columns; outputs are those of the mean over time where the task has
    one answer a sequence.  The weights depend on ``seed`` alone: torch's global generator is put back afterwards.

    ``TypeError`` for an option of a wrong kind, ``ValueError`` for a name that is none, a model that cannot read what
    the task gives, an option that no model can have, or that the memory here is too small for.

    >>> import torch
    >>> from lrnnlab.models import build
    >>> from lrnnlab.tasks import task
    >>> build("block_diagonal", vocab_size=5, classes=2, rule="clip", p=1.2, b=4, h=2).width
    8
    >>> build("deltanet", task("s_3"))(torch.tensor([[0, 1, 1]])).shape
    torch.Size([1, 3, 6])
    >>> build("dlr", task("shift"), state=16)(torch.zeros(2, 64, 3)).shape
    torch.Size([2, 64, 8])
    """
    make = _constructor(name)
    if task is not None:
        if (vocab_size, classes) != (None, None):
            raise ValueError(f"give a task or vocab_size and classes, got {task} and {vocab_size}, {classes}")
        vocab_size, classes = task.input_size, task.output_size
        if task.reads == "numbers":
            if not reads_numbers(name):
                both = ", ".join(filter(reads_numbers, MODELS))
                raise ValueError(f"{name} reads tokens, and {task} gives numbers; {both} read both")
            pool = "mean" if task.answers == "last" else "none"
            make, vocab_size = partial(network, *make.args, columns=vocab_size, pool=pool, **NUMBERS), None
        elif name == "xl_transformer" and task.padded:
            raise ValueError(f"{name} answers once, at the last position, where {task} has strings of many lengths")
        elif task.answers != "last":  # an answer at every position
            every: dict[str, dict] = {"regulargpt": {"form": "masks"}, "relu_rnn": {"every": True}}
            options = {**every.get(name, {}), **options}
    whole_number(seed, -(1 << 63), "seed", (1 << 64) - 1)  # what torch can be seeded with
    try:
        with weights_of(seed):
            net = make(vocab_size, classes, **options)
        return at_default_device(net)
    except (RuntimeError, MemoryError, OverflowError) as error:  # of torch, about sizes
        given = {"vocab_size": vocab_size, "classes": classes, **options}
        raise ValueError(f"no {name} can be made with {shown(given)}: {str(error).splitlines()[0]}") from error
