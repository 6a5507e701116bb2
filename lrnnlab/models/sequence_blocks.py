"""The network for long-range data around any recurrent layer: blocks with norm, gate and residual, pooling, readout.

    inputs -> Linear -> [z + Gate(mixer(norm(z)))] x L -> pool over true positions -> readout -> logits

as in paper 001 (RotRNN, Fig. 1) and the S5 code that it builds on; paper 004 (DLR) has the norm behind the sum, a
linear map for a gate, and reads the last L' positions.  A *mixer* is any module with ``forward(z) -> (_, y)``: every
recurrence of :mod:`lrnnlab.models`.  (S4 and its kin have an activation and a gate of their own: ``gate="none"``,
``activation="identity"``.)

Strings are padded at their end.  With ``lengths``, no padding reaches a true position: mixers see zeros there, batch
norm counts true positions only (the released code counts all), pools leave them out.

Letters: B batch, T time, V vocabulary, C outputs, D width, L' positions read; z stream, y output of a mixer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.errors import checked
from lrnnlab.models.base import check_numbers, check_strings, layers_of

ACTIVATIONS = {
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),  # what JAX calls gelu
    "relu": F.relu,
    "silu": F.silu,
    "identity": lambda y: y,
}
GATES = {  # of a = activation(y): which linear maps a gate has, and what it gives
    "half_glu1": ("gate",),  # a * sigmoid(gate(a))
    "half_glu2": ("gate",),  # y * sigmoid(gate(a))
    "full_glu": ("value", "gate"),  # value(a) * sigmoid(gate(a))
    "linear": ("value",),  # value(a)
    "none": (),  # a
}
POOLS = ("mean", "max", "last", "none")


def _among(name: str, value: str, options: Iterable[str]) -> None:
    if value not in options:
        raise ValueError(f"{name} is one of {', '.join(options)}, got {value!r}")


class SharedDropout(nn.Module):
    """Dropout of whole channels: one mask for all positions of a string, x (B,T,D)."""

    def __init__(self, share: float):
        super().__init__()
        if not 0 <= share < 1:
            raise ValueError(f"dropout needs 0 <= dropout < 1, got {share}")
        self.share = share

    def forward(self, x: Tensor) -> Tensor:
        return x * F.dropout(x.new_ones(len(x), 1, x.shape[-1]), self.share, self.training)


@checked
class Gate(nn.Module):
    """What stands between a mixer's output y (B,T,D) and the sum: see ``GATES``; dropout after each of its halves."""

    def __init__(self, width: int, kind: str, activation: str, dropout: float):
        super().__init__()
        _among("gate", kind, GATES)
        _among("activation", activation, ACTIVATIONS)
        self.kind, self.activation = kind, activation
        self.dropout = SharedDropout(dropout)
        for name in GATES[kind]:
            setattr(self, name, nn.Linear(width, width))

    def forward(self, y: Tensor) -> Tensor:
        a = self.dropout(ACTIVATIONS[self.activation](y))
        if self.kind == "none":
            return a
        if self.kind == "half_glu1":
            value = a
        else:
            value = y if self.kind == "half_glu2" else self.value(a)
        if self.kind != "linear":
            value = value * torch.sigmoid(self.gate(a))
        return self.dropout(value)


@checked
class Block(nn.Module):
    """z + Gate(mixer(norm(z))), or norm(z + Gate(mixer(z))), of z (B,T,D).

    Parameters
    ----------
    mixer : any module with ``forward(z) -> (_, y)``.      width : D.
    norm : ``"batch"`` or ``"layer"``.      place : ``"pre"`` or ``"post"``, see above.
    gate, activation : names of ``GATES`` and ``ACTIVATIONS``.      dropout : see :class:`Gate`.
    momentum : how much of batch norm's running mean stays at a step: 0.95 in the code released with paper 001 (torch's
        own momentum is one minus this).

    >>> import torch
    >>> from lrnnlab.models import Vanilla
    >>> Block(Vanilla(4), 4, norm="layer", gate="full_glu")(torch.zeros(2, 7, 4)).shape
    torch.Size([2, 7, 4])
    """

    def __init__(
        self,
        mixer: nn.Module,
        width: int,
        *,
        norm: str = "batch",
        place: str = "pre",
        gate: str = "half_glu1",
        activation: str = "gelu",
        dropout: float = 0.0,
        momentum: float = 0.95,
    ):
        super().__init__()
        _among("norm", norm, ("batch", "layer"))
        _among("place", place, ("pre", "post"))
        if not 0 <= momentum < 1:
            raise ValueError(f"momentum needs 0 <= momentum < 1, got {momentum}")
        self.mixer, self.place = mixer, place
        self.norm = nn.BatchNorm1d(width, momentum=1 - momentum) if norm == "batch" else nn.LayerNorm(width)
        self.gate = Gate(width, gate, activation, dropout)

    def forward(self, z: Tensor, mask: Tensor | None = None) -> Tensor:
        """z (B,T,D), mask (B,T) true at true positions -> (B,T,D)."""
        u = normalise(self.norm, z, mask) if self.place == "pre" else z
        if mask is not None:
            u = u.masked_fill(~mask.unsqueeze(-1), 0)
        z = z + self.gate(self.mixer(u)[1])
        return normalise(self.norm, z, mask) if self.place == "post" else z


def normalise(norm: nn.Module, z: Tensor, mask: Tensor | None) -> Tensor:
    """Batch or layer norm of z (B,T,D), channel by channel; zero where the mask (B,T) is false."""
    if mask is None:
        return norm(z.flatten(0, 1)).view_as(z)
    return torch.zeros_like(z).masked_scatter(mask.unsqueeze(-1), norm(z[mask]))


@checked
def block_stack(mixer: Callable[[int], nn.Module], width: int, layers: int, **options) -> list[Block]:
    """``layers`` blocks, each around a ``mixer(width)`` of its own; ``options`` go to :class:`Block`.

    >>> from functools import partial
    >>> from lrnnlab.models.rotrnn import RotRNN
    >>> len(block_stack(partial(RotRNN, state=8, heads=2), 4, 6, gate="full_glu", dropout=0.1))
    6
    """
    return layers_of(layers, lambda _: Block(mixer(width), width, **options))


@checked
class SequenceEncoder(nn.Module):
    """Inputs -> Linear -> blocks -> pool: one vector (B,D) per string, or per position (B,T,D) or (B,L',D).

    Parameters
    ----------
    width : D.      blocks : modules with ``forward(z, mask)``, first to last.
    vocab_size : V, for inputs that are tokens (B,T), encoded by a Linear on one-hot vectors; or
    input_size : for inputs (B,T,input_size).
    pool : over time, ``"mean"``, ``"max"``, ``"last"``, or ``"none"``.
    last_outputs : L', with ``pool="none"``: only the last L' positions (paper 004).
    final_norm : a LayerNorm before the pool, which pre-norm blocks with layer norm want.
    """

    def __init__(
        self,
        width: int,
        blocks: list[nn.Module],
        *,
        vocab_size: int | None = None,
        input_size: int | None = None,
        pool: str = "mean",
        last_outputs: int | None = None,
        final_norm: bool = False,
    ):
        super().__init__()
        _among("pool", pool, POOLS)
        if (vocab_size is None) == (input_size is None):
            raise ValueError(f"give vocab_size or input_size, got {vocab_size} and {input_size}")
        if not blocks:
            raise ValueError("a network needs at least one block, got 0")
        if last_outputs is not None and (pool != "none" or last_outputs < 1):
            raise ValueError(f"last_outputs is at least 1 and for pool 'none', got {last_outputs} and {pool!r}")
        self.width, self.vocab_size, self.input_size = width, vocab_size, input_size
        self.pool, self.last_outputs = pool, last_outputs
        self.encoder = nn.Linear(vocab_size or input_size, width)
        self.blocks = nn.ModuleList(blocks)
        self.final_norm = nn.LayerNorm(width) if final_norm else nn.Identity()

    @checked
    def forward(self, x: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Tokens (B,T) or vectors (B,T,input_size), with lengths (B,) if they are padded."""
        self.check(x)
        z = self._encode(x)
        mask = None if lengths is None else _true_positions(lengths, z)
        for block in self.blocks:
            z = block(z, mask)
        z = self.final_norm(z)
        if self.pool == "mean":
            return z.mean(1) if mask is None else z.masked_fill(~mask.unsqueeze(-1), 0).sum(1) / lengths.unsqueeze(1)
        if self.pool == "max":
            return z.amax(1) if mask is None else z.masked_fill(~mask.unsqueeze(-1), -torch.inf).amax(1)
        if self.pool == "last":
            return _last(z, lengths, 1).squeeze(1)
        return z if self.last_outputs is None else _last(z, lengths, self.last_outputs)

    def check(self, x: Tensor) -> None:
        """ValueError unless x is what :meth:`forward` reads."""
        if self.vocab_size is not None:
            return check_strings(x, self.vocab_size, self.encoder.weight)
        if x.ndim != 3 or x.shape[-1] != self.input_size or not x.shape[1]:
            raise ValueError(f"inputs must be (B, T, {self.input_size}) with T > 0, got {tuple(x.shape)}")
        check_numbers("x", x, self.encoder.weight)

    def _encode(self, x: Tensor) -> Tensor:
        if self.vocab_size is None:
            return self.encoder(x)
        return F.embedding(x, self.encoder.weight.mT) + self.encoder.bias


@checked
class SequenceNet(SequenceEncoder):
    """A :class:`SequenceEncoder` and its readout: logits (B,C), or (B,T,C) or (B,L',C) without a pool.

    Parameters
    ----------
    outputs : C.      width, blocks and ``options`` : of :class:`SequenceEncoder`.
    readout : ``"linear"``, or ``"mlp"`` (Linear, GELU, Linear).

    >>> import torch
    >>> from lrnnlab.models.lru import LRU
    >>> net = SequenceNet(10, 4, block_stack(LRU, 4, 2), vocab_size=18)
    >>> net(torch.zeros(3, 7, dtype=torch.int64), lengths=torch.tensor([7, 5, 1])).shape
    torch.Size([3, 10])
    """

    def __init__(self, outputs: int, width: int, blocks: list[nn.Module], *, readout: str = "linear", **options):
        super().__init__(width, blocks, **options)
        _among("readout", readout, ("linear", "mlp"))
        hidden = [nn.Linear(width, width), nn.GELU()] if readout == "mlp" else []
        self.readout = nn.Sequential(*hidden, nn.Linear(width, outputs))

    def forward(self, x: Tensor, lengths: Tensor | None = None) -> Tensor:
        return self.readout(super().forward(x, lengths))


@checked
class PairClassifier(nn.Module):
    """Do two strings match?  One encoder for both; [a, b, a - b, a * b] -> Linear -> GELU -> Linear -> logits (B,C).

    >>> import torch
    >>> from lrnnlab.models.lru import LRU
    >>> net = PairClassifier(SequenceEncoder(4, block_stack(LRU, 4, 1), vocab_size=9), outputs=2)
    >>> net(torch.zeros(3, 7, dtype=torch.int64), torch.ones(3, 5, dtype=torch.int64)).shape
    torch.Size([3, 2])
    """

    def __init__(self, encoder: SequenceEncoder, outputs: int):
        super().__init__()
        if encoder.pool == "none":
            raise ValueError("a pair is compared by one vector per string, got an encoder with pool 'none'")
        self.encoder = encoder
        self.readout = nn.Sequential(nn.Linear(4 * encoder.width, encoder.width), nn.GELU())
        self.readout.append(nn.Linear(encoder.width, outputs))

    @checked
    def forward(self, a: Tensor, b: Tensor, lengths: tuple[Tensor, Tensor] | None = None) -> Tensor:
        """a and b, B strings each, of any two lengths; ``lengths`` (B,) of each if they are padded."""
        for x, those in zip((a, b), lengths or (None, None)):
            self.encoder.check(x)
            if those is not None:
                _true_positions(those, x)
        if lengths is None and a.shape[1] != b.shape[1]:
            lengths = tuple(torch.full((len(x),), x.shape[1], device=x.device) for x in (a, b))
        longest = max(a.shape[1], b.shape[1])
        # Together, so that batch norm sees both: its running mean is then that of the documents, not of the second.
        both = torch.cat([F.pad(x, (0, 0) * (x.ndim - 2) + (0, longest - x.shape[1])) for x in (a, b)])
        a, b = self.encoder(both, None if lengths is None else torch.cat(lengths)).chunk(2)
        return self.readout(torch.cat([a, b, a - b, a * b], -1))


def parameter_groups(net: nn.Module, rate: float, recurrent_rate: float, decay: float) -> list[dict]:
    """Groups for ``torch.optim.AdamW`` as paper 001 and S5 train: (regular, recurrent).

    Recurrent are the parameters that a layer names in its ``recurrent_parameters``; they have a rate of their own and
    do not decay.  All others do, biases and norms too.

    >>> from lrnnlab.models.lru import LRU
    >>> regular, recurrent = parameter_groups(LRU(3, state=4), 4e-3, 1e-3, 0.05)
    >>> len(regular["params"]), len(recurrent["params"]), recurrent["weight_decay"]
    (2, 4, 0.0)
    """
    recurrent = []
    for layer in net.modules():
        own = dict(layer.named_parameters(recurse=False))
        for name in getattr(layer, "recurrent_parameters", ()):
            if name not in own:
                raise ValueError(f"{type(layer).__name__} names {name!r} as recurrent but has no such parameter")
            recurrent.append(own[name])
    known = {id(p) for p in recurrent}
    return [
        {"params": [p for p in net.parameters() if id(p) not in known], "lr": rate, "weight_decay": decay},
        {"params": recurrent, "lr": recurrent_rate, "weight_decay": 0.0},
    ]


def _true_positions(lengths: Tensor, z: Tensor) -> Tensor:
    """(B, T), true where a string of that length still runs."""
    B, T = z.shape[:2]
    if lengths.shape != (B,) or lengths.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"lengths must be ({B},) integers, got {tuple(lengths.shape)} of {lengths.dtype}")
    if lengths.device != z.device:
        raise ValueError(f"lengths lie on {lengths.device}, the weights on {z.device}")
    if B and not 1 <= int(lengths.min()) <= int(lengths.max()) <= T:
        raise ValueError(f"lengths are in 1..{T}, got {int(lengths.min())}..{int(lengths.max())}")
    return torch.arange(T, device=z.device) < lengths.unsqueeze(1)


def _last(z: Tensor, lengths: Tensor | None, count: int) -> Tensor:
    """The last ``count`` true positions of z (B,T,D), (B,count,D)."""
    shortest = z.shape[1] if lengths is None else int(lengths.min())
    if count > shortest:
        raise ValueError(f"the last {count} positions are asked for, but a string has {shortest}")
    if lengths is None:
        return z[:, -count:]
    index = lengths.unsqueeze(1) + torch.arange(-count, 0, device=z.device)  # (B, count)
    return z.gather(1, index.long().unsqueeze(-1).expand(-1, -1, z.shape[-1]))
