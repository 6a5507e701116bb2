"""Nets that are finite automata: built by hand from a machine or from arrays, or snapped from a trained net.

A semiautomaton with Q states *is* a block-diagonal LRNN with one block of size Q: x_t is the one-hot of the state,
column j of A_t is the one-hot of where state j goes on token t, and b_t = 0.  Every column has p-norm 1 for every p,
so Eq. 6 of paper 000 holds with equality.

Letters: B batch, T time, V vocabulary, C classes, Q states, h blocks, b size of a block; A transition, x state.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.automata import MooreMachine, one_hot_transitions
from lrnnlab.models.base import LinearRecurrence, at_default_device
from lrnnlab.models.block import Gate, PreNorm, SharedDropout
from lrnnlab.models.layers.transitions import BlockDiagonal
from lrnnlab.models.net import Net
from lrnnlab.validation import axes, checked, fit, shown


class TokenBlocks(LinearRecurrence):
    """Blocks ``table`` (V,h,n,n) for each token; input z is the token's one-hot: A = sum_v z_v A^(v).  ``x0`` is (h,n)."""

    def __init__(self, table: Tensor, x0: Tensor):
        super().__init__()
        self.register_buffer("table", table)
        self.register_buffer("x0", x0)

    @property
    def h(self) -> int:
        """Blocks."""
        return self.x0.shape[0]

    @property
    def b(self) -> int:
        """Their size, n."""
        return self.x0.shape[1]

    def transition(self, z: Tensor) -> tuple[Tensor, Tensor]:
        A = torch.einsum("...v,vhij->...hij", z, self.table)
        return A, A.new_zeros(A.shape[:-1])

    def generator(self, z: Tensor) -> Tensor:
        """The blocks as :class:`BlockDiagonal` makes them, (..., n h n) of row, block and column."""
        return z @ self.table.transpose(1, 2).flatten(1)

    def alive(self) -> Tensor:
        """Numbers of all blocks: none is frozen."""
        return torch.arange(self.h)


def _largest(table: Tensor) -> Tensor:
    """The one-hot of the largest entry of each column (..., n, n)."""
    return F.one_hot(table.argmax(-2), table.shape[-2]).mT.to(table)


SHAPES = axes("blocks V h n n, start h n, readout C h n, bias C", "blocks V n n, start n, readout C n, bias C")


@checked
def block_net(blocks: Any, start: Any, readout: Any, bias: Any = None) -> Net:
    """The net of plain arrays, wherever they were trained: x_t = A(token) x_{t-1} in each block, logits = readout x_t + bias.

    Reading a token moves every block's state by that token's block (a column says where a state goes, as in ``A @ x``).
    :func:`snap` puts each column to the one-hot of its largest entry, :func:`lrnnlab.verification.verify` proves the result,
    and ``symbol_transitions(net)[0].numpy()`` (:mod:`lrnnlab.models.exact`) are its blocks again.  Products of zeros and ones
    are exact, so the proof holds for any program that computes with these blocks in the same type; of the readout's sums
    rounding is bounded, in any order.

    Parameters
    ----------
    blocks : array (V, h, n, n), or (V, n, n) for one block
        For each of V tokens h blocks.
    start : array (h, n) or (n,)
        The state before the first token.
    readout : array (C, h, n) or (C, n)
        What each entry of the state adds to each of C logits.
    bias : array (C,), optional
        And what is added to these.

    Returns
    -------
    Net
        In float32 if all arrays are, else in float64; the arrays are copied.

    Raises
    ------
    ValueError
        For shapes that do not fit together, showing them, and for what is not a finite real number.

    Examples
    --------
    >>> from lrnnlab.tasks import task
    >>> from lrnnlab.verification import verify
    >>> stay, swap = [[0.9, 0.2], [0.1, 0.8]], [[0.1, 0.7], [0.9, 0.3]]
    >>> mine = snap(block_net([stay, swap], start=[1, 0], readout=[[1, 0], [0, 1]]))
    >>> verify(mine, task("parity").specification).proved
    True
    """
    with torch.device("cpu"):
        given = {"blocks": blocks, "start": start, "readout": readout, "bias": bias}
        made: dict[str, Any] = {name: x if x is None else torch.as_tensor(x).detach().cpu() for name, x in given.items()}
        fit("block_net", SHAPES, **made)
        there = {name: x for name, x in made.items() if x is not None}
        if wrong := [name for name, x in there.items() if x.is_complex() or not x.numel() or not x.isfinite().all()]:
            raise ValueError(f"block_net takes finite real numbers, at least one an axis; {wrong[0]} is {shown(given[wrong[0]])}")
        kind = torch.float32 if all(x.dtype == torch.float32 for x in there.values()) else torch.float64
        table, x0, weight = (there[name].to(kind, copy=True) for name in ("blocks", "start", "readout"))
        added = there["bias"].to(kind, copy=True) if "bias" in there else torch.zeros(len(weight), dtype=kind)
        if table.ndim == 3:
            table, x0, weight = table[:, None], x0[None], weight[:, None]
        V, width = len(table), x0.numel()
        net = Net([PreNorm(TokenBlocks(table, x0), V, norm="none", residual=False)], len(weight), width, vocab_size=V, inputs=V)
        net.encoder = nn.Embedding.from_pretrained(torch.eye(V, dtype=table.dtype))
        net.head[0].weight = nn.Parameter(weight.flatten(1), requires_grad=False)
        net.head[0].bias = nn.Parameter(added, requires_grad=False)
    return at_default_device(net)


@checked
def exact_model(machine: MooreMachine) -> Net:
    """The block-diagonal LRNN of ``machine`` as a net (proof: one-hot states, induction on t).

    It has a class for each answer 0..C-1 of the machine.  What other families make of a machine, in fractions:
    :func:`lrnnlab.expressivity.construct`.

    >>> import torch
    >>> from lrnnlab.tasks import Sum
    >>> model = exact_model(Sum(5).machine)
    >>> model(torch.tensor([[0, 3, 2, 4]])).argmax(-1).tolist()
    [[0, 3, 0, 4]]
    """
    classes = max(1, int(machine.outputs.max()) + 1)
    answers = np.eye(classes)[machine.outputs.clip(0)].T  # (C, Q)
    net = block_net(one_hot_transitions(machine), np.eye(machine.num_states)[machine.initial], answers)
    return net.to(torch.get_default_dtype())


@checked
def symbol_transitions(model: Net) -> tuple[Tensor, Tensor]:
    """A (V, h, b, b) and b (V, h, b) of the first layer, one per symbol: all that a one-layer model can do.

    Raises ``ValueError`` unless that is a linear recurrence, and the model reads symbols.

    >>> from lrnnlab.models import build
    >>> A, b = symbol_transitions(build("block_diagonal", vocab_size=3, classes=2, b=4, h=2))
    >>> A.shape, b.shape
    (torch.Size([3, 2, 4, 4]), torch.Size([3, 2, 4]))
    """
    if model.vocab_size is None or not isinstance(model.layers[0], LinearRecurrence):
        reads = "numbers" if model.vocab_size is None else "symbols"
        raise ValueError(f"only a linear recurrence that reads symbols has transitions for them, got "
                         f"{type(model.layers[0]).__name__} that reads {reads}")  # fmt: skip
    with torch.no_grad():
        return model.layers[0].transition(model.symbol_inputs())


_PARTS = (Net, PreNorm, Gate, SharedDropout, BlockDiagonal, TokenBlocks, nn.Embedding, nn.Identity, nn.LayerNorm, nn.Linear,
          nn.ModuleList, nn.ReLU, nn.Sequential)  # fmt: skip


def obstacle(model: nn.Module, *rules: str) -> str | None:
    """Why ``model``, with one-hot columns, would not be a product of finite automata, in a few words; None if it is.

    Whatever changes what a model computes is looked at: every layer has one of ``rules``, no input term and a one-hot
    x_0, and is in the blocks of paper 000; nothing in the model is of another class than those it is built of,
    overridden or hooked; all weights are there, and finite.

    >>> from lrnnlab.models import build
    >>> obstacle(build("lstm", vocab_size=3, classes=2), "softmax")
    'layer 1 is Nonlinear'
    """
    if type(model) is not Net:
        return f"it is a {type(model).__name__}"
    if any(weight.is_meta for weight in model.state_dict().values()):
        return "its weights are on the meta device, where they have no values"
    by_hand = len(model.blocks) == 1 and type(model.layers[0]) is TokenBlocks
    norm = nn.Identity if by_hand else nn.LayerNorm
    for place, layer in enumerate(model.layers, 1):
        if by_hand:
            if "softmax" not in rules and not torch.equal(layer.table, _largest(layer.table)):
                return "a column of its blocks is not one-hot: snap it"
        elif type(layer) is not BlockDiagonal:
            return f"layer {place} is {type(layer).__name__}"
        elif layer.rule not in rules or layer.drive != "none":
            return f"layer {place} is rule={layer.rule!r}, drive={layer.drive!r}"
        if not torch.equal(layer.x0, F.one_hot(layer.x0.argmax(-1), layer.b).to(layer.x0)):
            learned = " learned" if isinstance(layer.x0, nn.Parameter) else "n"
            return f"layer {place} starts from a{learned} x_0 that is not one-hot, so no state of an automaton"
    for place, block in enumerate(model.blocks, 1):
        last = place == len(model.blocks)
        if type(block) is not PreNorm or type(block.norm) is not norm \
                or block.residual == last or block.ff is not None:
            return (f"block {place} is place={block.place!r}, norm {type(block.norm).__name__}, "
                    f"residual={block.residual}, with{'out' * (block.ff is None)} feed-forward part")  # fmt: skip
        if (block.gate.kind, block.gate.activation, block.gate.dropout.share) != ("none", "identity", 0):
            return (f"block {place} has the gate {block.gate.kind!r} of {block.gate.activation!r}, "
                    f"dropout {block.gate.dropout.share}")  # fmt: skip
    if type(model.encoder) is not nn.Embedding or type(model.final_norm) is not norm or model.head is None:
        return (f"it has the encoder {type(model.encoder).__name__}, the last norm {type(model.final_norm).__name__} "
                f"and the readout {type(model.head).__name__}")  # fmt: skip
    if model.pool != "none" or model.last_outputs is not None:
        return f"it pools its outputs, pool={model.pool!r}, last_outputs={model.last_outputs}"
    for name, module in model.named_modules():
        if type(module) not in _PARTS:
            return f"{name} is {type(module).__name__}"
        changed = [key for key in vars(module) if callable(getattr(type(module), key, None))]
        if changed or module._forward_hooks or module._forward_pre_hooks:
            return f"{name or 'the model'} has its own {', '.join(changed) or 'forward hooks'}"
        missing = [key for key, weight in module._parameters.items() if weight is None]
        if missing:
            return f"{name} has no {missing[0]}"
        if isinstance(module, nn.LayerNorm) and (*module.normalized_shape,) != module.weight.shape[-1:]:
            return f"{name} normalises over {(*module.normalized_shape,)}, its weight is {(*module.weight.shape,)}"
    if by_hand and not torch.equal(model.encoder.weight, torch.eye(model.encoder.num_embeddings).to(model.encoder.weight)):
        return "its encoder is not that of one-hot tokens"
    if model.embedding.max_norm is not None:
        return f"its embedding is rescaled to max_norm={model.embedding.max_norm}"
    return next((f"{name} is not finite" for name, w in model.state_dict().items() if not w.isfinite().all()), None)


@checked
def snap(model: Net) -> Net:
    """A copy of a ``softmax`` model, or of a :func:`block_net`, in which every column is the one-hot of its largest entry.

    Nothing is retrained.  Each block then moves between basis vectors: it is a deterministic automaton with b states,
    and the model is the product of its blocks' automata.  This needs b_t = 0 and an x_0 that is itself one-hot.

    The copy computes in double precision, so that it is the weights, not rounding, which say what is largest: of a
    trained network's columns some lead by a millionth only.

    Raises ``ValueError``, which names it, for whatever else prevents it (:func:`obstacle`).

    >>> from lrnnlab.models import build
    >>> snap(build("block_diagonal", vocab_size=3, classes=2, rule="softmax", drive="none", start="first")).layers[0].rule
    'hard'
    """
    why = obstacle(model, "softmax", "hard")
    if why:
        raise ValueError(f"only a softmax model without input term can be snapped; {why}")
    snapped = copy.deepcopy(model).double()
    for layer in snapped.layers:
        if isinstance(layer, TokenBlocks):
            layer.table = _largest(layer.table)
        else:
            layer.rule = "hard"
    return snapped
