"""The network of paper 003 (Irie, Csordas, Schmidhuber 2023): blocks on top of an embedding, as in its released code.

    tokens -> embedding -> block x layers [-> LayerNorm] -> Linear -> logits

A block is a mixer (a fast weight layer, attention), a map W_o, and a feed-forward part.  Where LayerNorm stands is a
choice; the released code makes three different ones:

========  ==============================  ===========================  ================================================
norm      mixer part a                    feed-forward part            who
========  ==============================  ===========================  ================================================
pre       x + W_o mixer(LN(x))            a + W_2 relu(W_1 LN(a))      ULT, DeltaNet, Recurrent Delta
skip      LN(x) + W_o mixer(x)            a + W_2 relu(W_1 LN(a))      SRWM
post      LN(x + W_o mixer(x))            LN(a + W_2 relu(W_1 a))      the softmax Transformer
output    x + LN(W_o mixer(x))            a + W_2 relu(W_1 LN(a))      the remark of App. C.1 (with no residual)
none      x + W_o mixer(x)                a + W_2 relu(W_1 a)          Eq. 1-12 to the letter
========  ==============================  ===========================  ================================================

No positions, no dropout.  Strings of several lengths are padded at their end with any symbol: all is causal.

Letters: B batch, T time, V vocabulary, C classes, D width; x stream, y output of the mixer, a what the feed-forward
part is given.
"""

from __future__ import annotations

from functools import partial

from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.errors import checked, number, whole_number
from lrnnlab.models.base import Recurrence, SequenceModel, Trace, check_sizes, layers_of

NORMS = ("pre", "skip", "post", "output", "none")


class ResidualBlock(Recurrence):
    """A mixer, W_o and a feed-forward part, with the norms where ``norm`` says: see the head of this file.

    Parameters
    ----------
    mixer : a recurrence (B,T,D) -> (B,T,D).      width : D.
    ff : width of the feed-forward part in units of D; 0 for none.
    norm : one of ``NORMS``.      residual : False leaves x (or LN(x)) out of the mixer's part.
    epsilon : of all LayerNorms; App. C.1 needs 0.      bias : whether W_o has one.

    >>> import torch
    >>> from lrnnlab.models.fast_weights import FastWeights
    >>> block = ResidualBlock(FastWeights(4), 4, ff=2, norm="post")
    >>> block(torch.zeros(3, 7, 4))[1].shape
    torch.Size([3, 7, 4])
    """

    def __init__(
        self,
        mixer: Recurrence,
        width: int,
        *,
        ff: int = 1,
        norm: str = "pre",
        residual: bool = True,
        epsilon: float = 1e-5,
        bias: bool = False,
    ):
        super().__init__()
        if norm not in NORMS:
            raise ValueError(f"norm is one of {', '.join(NORMS)}, got {norm!r}")
        if norm == "skip" and not residual:
            raise ValueError(f"norm {norm!r} stands on the residual, got residual={residual}")
        whole_number(ff, 0, "ff")
        number(epsilon, "epsilon", 0, 1)
        self.mixer, self.norm, self.residual = mixer, norm, residual
        make_norm = nn.Identity if norm == "none" else partial(nn.LayerNorm, width, eps=epsilon)
        self.mixer_norm, self.ff_norm = make_norm(), make_norm() if ff else nn.Identity()
        self.O = nn.Linear(width, width, bias=bias)
        if bias:
            nn.init.zeros_(self.O.bias)  # as in torch's attention, the only mixer that has one
        self.up, self.down = (nn.Linear(width, ff * width), nn.Linear(ff * width, width)) if ff else (None, None)

    def before(self, x: Tensor) -> Tensor:
        """What the mixer sees of x."""
        return self.mixer_norm(x) if self.norm == "pre" else x

    def after(self, x: Tensor, y: Tensor) -> Tensor:
        """The block's output, from its input and what the mixer made of it; both (..., D)."""
        y = self.O(y)
        if self.norm == "output":
            y = self.mixer_norm(y)
        if self.residual:
            y = (self.mixer_norm(x) if self.norm == "skip" else x) + y
        a = self.mixer_norm(y) if self.norm == "post" else y
        if self.up is None:
            return a
        if self.norm == "post":
            return self.ff_norm(a + self.down(F.relu(self.up(a))))
        return a + self.down(F.relu(self.up(self.ff_norm(a))))

    def initial(self, batch: int):
        return self.mixer.initial(batch)

    def forward(self, z: Tensor, tokens: Tensor | None = None) -> tuple[Tensor | None, Tensor]:
        x = z if tokens is None else z[tokens]
        transitions, y = self.mixer(self.before(x))
        return transitions, self.after(x, y)

    def step(self, state, z_t: Tensor) -> tuple[object, Tensor]:
        state, y = self.mixer.step(state, self.before(z_t))
        return state, self.after(z_t, y)


@checked
class PlainNetwork(SequenceModel):
    """Layers straight on top of each other: whatever norms and residuals there are, the layers have themselves.

    Parameters
    ----------
    vocab_size, classes : V and C.      width : D, of the last layer's output.
    layers : recurrences, first to last.
    inputs : width of the embedding, D if not given.      final_norm : a LayerNorm before the readout.
    epsilon : of that LayerNorm.

    Same contract as :class:`lrnnlab.models.base.SequenceModel`; ``states`` are what the readout sees.

    >>> import torch
    >>> from lrnnlab.models import build
    >>> model = build("deltanet", vocab_size=2, classes=3, width=8, heads=2, layers=2)
    >>> model(torch.tensor([[0, 1, 1, 0]])).shape
    torch.Size([1, 4, 3])
    >>> state, logits = model.step(model.initial_state(1), torch.tensor([0]))
    >>> [tuple(W.shape) for W in state]
    [(1, 2, 4, 4), (1, 2, 4, 4)]
    """

    def __init__(
        self,
        vocab_size: int,
        classes: int,
        width: int,
        layers: list[Recurrence],
        *,
        inputs: int | None = None,
        final_norm: bool = False,
        epsilon: float = 1e-5,
    ):
        nn.Module.__init__(self)  # the parent's own would make norms between the layers
        inputs = width if inputs is None else inputs
        check_sizes(vocab_size=vocab_size, classes=classes, layers=len(layers), width=width, inputs=inputs)
        self.vocab_size, self.classes, self.width = vocab_size, classes, width
        self.embedding = nn.Embedding(vocab_size, inputs)
        self.layers = nn.ModuleList(layers)
        self.final_norm = nn.LayerNorm(width, eps=epsilon) if final_norm else nn.Identity()
        self.head = nn.Linear(width, classes)

    def symbol_inputs(self) -> Tensor:
        return self.embedding.weight

    def _trace(self, tokens: Tensor) -> Trace:
        x, trace = self.embedding(tokens), Trace([], [])
        for layer in self.layers:
            transitions, x = layer(x)
            trace.states.append(x)
            trace.transitions.append(transitions)
        return trace

    def _step(self, state: list, tokens_t: Tensor) -> tuple[list, Tensor]:
        x, after = self.embedding(tokens_t), []
        for layer, before in zip(self.layers, state):
            new, x = layer.step(before, x)
            after.append(new)
        return after, self.readout(x)


@checked
def block_network(
    mixer: type[Recurrence],
    vocab_size: int,
    classes: int,
    *,
    width: int = 16,
    layers: int = 1,
    heads: int = 2,
    ff: int = 1,
    norm: str = "pre",
    residual: bool = True,
    epsilon: float = 1e-5,
    final_norm: bool = False,
    bias: bool = False,
    **options,
) -> PlainNetwork:
    """``layers`` residual blocks, each around a ``mixer(width, heads=heads, **options)`` of its own.

    >>> from lrnnlab.models.fast_weights import FastWeights
    >>> block_network(FastWeights, 2, 2, width=8, rule="sum", norm="output", residual=False).width
    8
    """
    made = partial(ResidualBlock, width=width, ff=ff, norm=norm, residual=residual, epsilon=epsilon, bias=bias)
    blocks = layers_of(layers, lambda _: made(mixer(width, heads=heads, **options)))
    return PlainNetwork(vocab_size, classes, width, blocks, final_norm=final_norm, epsilon=epsilon)


@checked
def plain_network(
    layer: type[Recurrence],
    vocab_size: int,
    classes: int,
    *,
    width: int = 16,
    layers: int = 1,
    inputs: int = 128,
    **options,
) -> PlainNetwork:
    """``layers`` of ``layer(inputs, width, **options)`` on top of each other, behind an embedding of ``inputs`` numbers (128 in
    the released code): no norms, no residuals.

    >>> from lrnnlab.models.e_lstm import PlainLSTM
    >>> plain_network(PlainLSTM, 2, 2, width=8, layers=2).width
    8
    """
    check_sizes(width=width, inputs=inputs)
    stacked = layers_of(layers, lambda i: layer(width if i else inputs, width, **options))
    return PlainNetwork(vocab_size, classes, width, stacked, inputs=inputs)
