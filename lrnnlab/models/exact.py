"""Nets that are finite automata: built by hand from a machine, or snapped from a trained net.

A semiautomaton with Q states *is* a block-diagonal LRNN with one block of size Q: x_t is the one-hot of the state,
column j of A_t is the one-hot of where state j goes on token t, and b_t = 0.  Every column has p-norm 1 for every p,
so Eq. 6 of paper 000 holds with equality.

Letters: B batch, T time, V vocabulary, C classes, Q states, h blocks, b size of a block; A transition, x state.
"""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.automata import MooreMachine, one_hot_transitions
from lrnnlab.models.base import LinearRecurrence
from lrnnlab.models.layers.transitions import BlockDiagonal
from lrnnlab.models.net import Gate, Net, PreNorm, SharedDropout
from lrnnlab.validation import checked


class _OneHot(LinearRecurrence):
    """Input z is the token's one-hot; A = sum_v z_v A^(v)."""

    def __init__(self, machine: MooreMachine):
        super().__init__()
        table = torch.as_tensor(one_hot_transitions(machine))  # (V, Q, Q)
        self.register_buffer("table", table.to(torch.get_default_dtype()))
        self.register_buffer("x0", torch.eye(machine.num_states)[machine.initial])

    def transition(self, z: Tensor) -> tuple[Tensor, Tensor]:
        A = torch.einsum("...v,vij->...ij", z, self.table).unsqueeze(-3)  # (..., 1, Q, Q)
        return A, A.new_zeros(A.shape[:-1])

    def initial(self, batch: int) -> Tensor:
        return self.x0.expand(batch, 1, -1)


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
    V, Q, classes = machine.num_symbols, machine.num_states, max(1, int(machine.outputs.max()) + 1)
    net = Net([PreNorm(_OneHot(machine), V, norm="none", residual=False)], classes, Q, vocab_size=V, inputs=V)
    net.encoder = nn.Embedding.from_pretrained(torch.eye(V))
    net.head = nn.Sequential(nn.Linear(Q, classes, bias=False))
    shown = F.one_hot(torch.tensor(machine.outputs).clamp(min=0), classes).T  # (C, Q)
    net.head[0].weight = nn.Parameter(shown.to(torch.get_default_dtype()), requires_grad=False)
    return net


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


_PARTS = (Net, PreNorm, Gate, SharedDropout, BlockDiagonal, nn.Embedding, nn.Identity, nn.LayerNorm, nn.Linear,
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
    for place, layer in enumerate(model.layers, 1):
        if type(layer) is not BlockDiagonal:
            return f"layer {place} is {type(layer).__name__}"
        if layer.rule not in rules or layer.drive != "none":
            return f"layer {place} is rule={layer.rule!r}, drive={layer.drive!r}"
        if not torch.equal(layer.x0, F.one_hot(layer.x0.argmax(-1), layer.b).to(layer.x0)):
            learned = " learned" if isinstance(layer.x0, nn.Parameter) else "n"
            return f"layer {place} starts from a{learned} x_0 that is not one-hot, so no state of an automaton"
    for place, block in enumerate(model.blocks, 1):
        last = place == len(model.blocks)
        if type(block) is not PreNorm or type(block.norm) is not nn.LayerNorm \
                or block.residual == last or block.ff is not None:
            return (f"block {place} is place={block.place!r}, norm {type(block.norm).__name__}, "
                    f"residual={block.residual}, with{'out' * (block.ff is None)} feed-forward part")  # fmt: skip
        if (block.gate.kind, block.gate.activation, block.gate.dropout.share) != ("none", "identity", 0):
            return (f"block {place} has the gate {block.gate.kind!r} of {block.gate.activation!r}, "
                    f"dropout {block.gate.dropout.share}")  # fmt: skip
    if type(model.encoder) is not nn.Embedding or type(model.final_norm) is not nn.LayerNorm or model.head is None:
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
    if model.embedding.max_norm is not None:
        return f"its embedding is rescaled to max_norm={model.embedding.max_norm}"
    return next((f"{name} is not finite" for name, w in model.state_dict().items() if not w.isfinite().all()), None)


@checked
def snap(model: Net) -> Net:
    """A copy of a ``softmax`` model in which every column is the one-hot of its largest entry.

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
        layer.rule = "hard"
    return snapped
