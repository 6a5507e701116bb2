"""One net for all models: an encoder, blocks with a mixer each, and a readout.

    inputs -> embedding, or Linear -> block x layers -> [LayerNorm] -> [pool] -> readout -> outputs

A *mixer* is a recurrence (or attention), in one of the three blocks of :mod:`lrnnlab.models.block`.

Strings are padded at their end.  A causal net never sees that (if the padding is finite).  With ``lengths``, no padding
reaches a true position of any net: mixers see zeros there, batch norm counts true positions only (the code released with
paper 001 counts all), pools leave them out.  Attention that is not causal would attend to those zeros, so it takes no
padding.

Letters: B batch, T time, V vocabulary, C outputs, D width, L' positions read; x stream, A transition.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.models.base import Module, Recurrence, check_numbers, check_sizes, check_strings, check_tokens, layers_of
from lrnnlab.models.block import PLACES, Block
from lrnnlab.scans.transforms import values
from lrnnlab.validation import among, checked, shown, whole_number

POOLS = ("mean", "max", "last", "none")
HEADS = ("linear", "mlp")


@checked
def blocks(
    mixer: Callable[[int], nn.Module], width: int, layers: int, *, place: str = "pre", **options: Any
) -> list[Block]:
    """Blocks for a :class:`Net`, each around a mixer of its own.

    Parameters
    ----------
    mixer : callable
        ``mixer(width)`` makes one, (B,T,D) -> (B,T,D).
    width, layers : int
        D, and how many blocks.
    place : str
        The place of the norm, ``"pre"``, ``"post"`` or ``"skip"``: see :class:`Block`.
    **options
        Of a block: ``norm`` (``"batch"``, ``"layer"``, ``"none"``), ``residual``, ``gate`` and ``activation`` (names in
        ``GATES`` and ``ACTIVATIONS`` there), ``dropout``, ``ff`` (width of the feed-forward part in units of D) and
        ``ff_activation``.

    Examples
    --------
    >>> from lrnnlab.models.layers import RotRNN
    >>> len(blocks(partial(RotRNN, state=8, heads=2), 4, 6, gate="full_glu", dropout=0.1))
    6
    """
    among("place", place, PLACES)
    return layers_of(layers, lambda _: PLACES[place](mixer(width), width, **options))


@dataclass(frozen=True)
class Trace:
    """One pass: the output of each block's mixer (B,T,D), its transitions A, and what :meth:`Net.states` gives.

    Where the first block reads a table of symbols its transitions are one a *symbol*, (V,h,n,n), else one a position,
    (B,T,h,n,n); None where there is no such matrix.
    """

    mixed: list[Tensor]
    transitions: list[Tensor | None]
    states: Tensor


@checked
class Net(Module):
    """``net(inputs) -> outputs``; a causal net answers at any length, and ``step`` gives the same one input at a time.

    Parameters
    ----------
    blocks : sequence of Block
        First to last; the first may have another width of input than of output.
    outputs : int or None
        C, None for a net without a readout, whose output is the vector(s) that it would read.
    width : int
        D, of the last block's output.
    vocab_size, columns : int, optional
        V, for tokens (B,T); or, in its place, the columns of numbers (B,T,columns).
    inputs : int, optional
        Width of what the first block reads, D if not given.
    encoder : str
        ``"embedding"``, or ``"linear"``: Linear of numbers, or of one-hot vectors.
    by_symbol : bool
        Whether the first mixer computes what it can from an embedding once per symbol; False: once per position.
    final_norm : bool
        Whether there is a LayerNorm before the pool.
    pool : str
        Over time, ``"mean"``, ``"max"``, ``"last"``, or ``"none"``: outputs at every position.
    last_outputs : int, optional
        L', with ``pool="none"``: only the last L' positions (paper 004).
    head : str
        The readout: ``"linear"`` or ``"mlp"`` (Linear, ReLU, Linear).

    Examples
    --------
    >>> from lrnnlab.models import build
    >>> net = build("block_diagonal", vocab_size=5, classes=5, seed=0)
    >>> net(torch.zeros(2, 7, dtype=torch.int64)).shape
    torch.Size([2, 7, 5])
    >>> state, logits = net.step(net.initial_state(2), torch.tensor([0, 3]))
    """

    blocks: Any
    encoder: Any
    head: Any

    def __init__(
        self,
        blocks: Sequence[Block],
        outputs: int | None,
        width: int,
        *,
        vocab_size: int | None = None,
        columns: int | None = None,
        inputs: int | None = None,
        encoder: str = "embedding",
        by_symbol: bool = True,
        final_norm: bool = False,
        pool: str = "none",
        last_outputs: int | None = None,
        head: str = "linear",
    ):
        super().__init__()
        among("pool", pool, POOLS)
        among("head", head, HEADS)
        among("encoder", encoder, ("embedding", "linear"))
        if (vocab_size is None) == (columns is None):
            raise ValueError(f"give vocab_size or columns, got {vocab_size} and {columns}")
        given = {"vocab_size": vocab_size, "columns": columns, "outputs": outputs, "inputs": inputs}
        check_sizes(blocks=len(blocks), width=width, **{name: size for name, size in given.items() if size is not None})
        if last_outputs is not None and (pool != "none" or last_outputs < 1):
            raise ValueError(f"last_outputs is at least 1 and for pool 'none', got {last_outputs} and {pool!r}")
        self.vocab_size, self.columns, self.outputs, self.width = vocab_size, columns, outputs, width
        self.pool, self.last_outputs = pool, last_outputs
        self.blocks = nn.ModuleList(blocks)
        embeds = vocab_size is not None and encoder == "embedding"
        # batch norm counts positions, so it cannot work on the table of symbols
        self.by_symbol = embeds and by_symbol and not isinstance(blocks[0].norm, nn.BatchNorm1d)
        rows = vocab_size or columns or 0
        self.encoder = nn.Embedding(rows, inputs or width) if embeds else nn.Linear(rows, inputs or width)
        self.final_norm = nn.LayerNorm(width) if final_norm else nn.Identity()
        hidden = [nn.Linear(width, width), nn.ReLU()] if head == "mlp" else []
        self.head = None if outputs is None else nn.Sequential(*hidden, nn.Linear(width, outputs))

    @property
    def classes(self) -> int | None:
        """C, where the outputs are classes."""
        return self.outputs

    @property
    def embedding(self) -> nn.Embedding:
        """The encoder, where it is an embedding."""
        return self.encoder

    @property
    def layers(self) -> list[Recurrence]:
        """The mixers, first to last."""
        return [block.mixer for block in self.blocks]  # type: ignore[misc]

    @property
    def norms(self) -> list[nn.Module]:
        """The blocks' norms, first to last."""
        return [block.norm for block in self.blocks]  # type: ignore[misc]

    def symbol_inputs(self) -> Tensor:
        """(V, D): what the first mixer sees of each symbol."""
        return self.blocks[0].before(self._table())

    def forward(self, inputs: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Tokens (B,T) or numbers (B,T,columns), with lengths (B,) if they are padded -> outputs.

        (B,T,C), with ``last_outputs`` (B,L',C), with a pool (B,C).
        """
        x = self.encode(inputs, lengths)
        return x if self.head is None else self.head(x)

    def encode(self, inputs: Tensor, lengths: Tensor | None = None) -> Tensor:
        """What the readout reads: (B,T,D), (B,L',D) or (B,D)."""
        self.check(inputs)
        mask = None if lengths is None else true_positions(lengths, inputs)
        if mask is not None and not values(mask).all() and not all(getattr(mixer, "causal", True) for mixer in self.layers):
            raise ValueError(f"causal=False attends to the padding of strings of lengths {shown(values(lengths).tolist())}")
        if mask is not None and self.vocab_size is None:  # a NaN in the padding would be one in every gradient
            inputs = inputs.masked_fill(~mask.unsqueeze(-1), 0)
        x = self.final_norm(self._through(inputs, mask))
        if self.pool == "mean":
            if mask is None or lengths is None:
                return x.mean(1)
            return x.masked_fill(~mask.unsqueeze(-1), 0).sum(1) / lengths.unsqueeze(1)
        if self.pool == "max":
            return x.amax(1) if mask is None else x.masked_fill(~mask.unsqueeze(-1), -torch.inf).amax(1)
        if self.pool == "last":
            return last_positions(x, lengths, 1).squeeze(1)
        return x if self.last_outputs is None else last_positions(x, lengths, self.last_outputs)

    def states(self, inputs: Tensor) -> Tensor:
        """What comes out of the last block, (B,T,D); the state x_1 ... x_T where the net is one linear recurrence."""
        self.check(inputs)
        return self._through(inputs, None)

    def readout(self, states: Tensor) -> Tensor:
        """h of y_t = h(x_t): states (..., D) -> outputs (..., C)."""
        if self.head is None:
            raise ValueError("this net has no readout: it was made with outputs=None")
        check_numbers("states", states, self.head[0].weight)
        return self.head(self.final_norm(states))

    def trace(self, inputs: Tensor) -> Trace:
        """The outputs of its mixers and their transitions, block by block."""
        self.check(inputs)
        mixed, transitions = [], []
        tokens = inputs if self.by_symbol else None
        x = self._encoded(inputs) if tokens is None else self.encoder.weight
        for block in self.blocks:
            A, y, x = block.trace(x, tokens)
            tokens = None
            mixed.append(y)
            transitions.append(A)
        return Trace(mixed, transitions, x)

    def initial_state(self, batch: int) -> list:
        """The states of all blocks before the first input."""
        if self.pool != "none":
            raise ValueError(f"a net that pools its outputs over time has no step form, got pool={self.pool!r}")
        batch = whole_number(batch, 0, "the batch")
        return [block.mixer.initial(batch) for block in self.blocks]

    def step(self, state: list, input_t: Tensor) -> tuple[list, Tensor]:
        """(state, tokens (B,) or numbers (B,columns)) -> (state, outputs (B,C)); a fitting state for each block."""
        self.check(input_t, "(B,)")
        if not isinstance(state, (list, tuple)) or len(state) != len(self.blocks):
            raise ValueError(f"state must be a list of {len(self.blocks)}, one a block, got {shown(state)}")
        for block, before in zip(self.blocks, state):
            block.mixer.check_state(before, len(input_t))
        x, after = self._encoded(input_t), []
        for block, before in zip(self.blocks, state):
            new, x = block.step(before, x)
            after.append(new)
        x = self.final_norm(x)
        return after, x if self.head is None else self.head(x)

    def _through(self, inputs: Tensor, mask: Tensor | None) -> Tensor:
        """Inputs -> what comes out of the last block."""
        tokens = inputs if self.by_symbol and mask is None else None  # then the first block reads the table of symbols
        x = self._encoded(inputs) if tokens is None else self.encoder.weight
        for block in self.blocks:
            x = block(x, mask, tokens)
            tokens = None
        return x

    def _table(self) -> Tensor:
        if isinstance(self.encoder, nn.Embedding):
            return self.encoder.weight
        return self.encoder.weight.mT + self.encoder.bias

    def _encoded(self, inputs: Tensor) -> Tensor:
        if self.vocab_size is None or isinstance(self.encoder, nn.Embedding):
            return self.encoder(inputs)
        return F.embedding(inputs, self.encoder.weight.mT) + self.encoder.bias

    def check(self, inputs: Tensor, axes: str = "(B, T)") -> None:
        """TypeError or ValueError unless inputs are tokens of these axes, or numbers with their columns after those.

        T > 0 for numbers, and where a pool is.
        """
        weight = self.encoder.weight
        if self.vocab_size is not None:
            check = check_strings if self.pool != "none" else partial(check_tokens, axes=axes)
            return check(inputs, self.vocab_size, like=weight)
        check_numbers("inputs", inputs, weight)
        if inputs.ndim != (2 if axes == "(B,)" else 3) or 0 in inputs.shape[1:]:
            shape = f"(B, {self.columns})" if axes == "(B,)" else f"(B, T, {self.columns}) with T > 0"
            raise ValueError(f"inputs must be {shape}, got {tuple(inputs.shape)}")


@checked
class PairClassifier(Module):
    """Do two strings match?  One net for both; [a, b, a - b, a * b] -> Linear -> GELU -> Linear -> logits (B,C).

    >>> from lrnnlab.models.layers.modes import LRU
    >>> encoder = Net(blocks(LRU, 4, 1), None, 4, vocab_size=9, encoder="linear", pool="mean")
    >>> net = PairClassifier(encoder, outputs=2)
    >>> net(torch.zeros(3, 7, dtype=torch.int64), torch.ones(3, 5, dtype=torch.int64)).shape
    torch.Size([3, 2])
    """

    def __init__(self, encoder: Net, outputs: int):
        super().__init__()
        if encoder.pool == "none" or encoder.head is not None:
            raise ValueError(f"a pair is compared by one vector per string: a net with a pool and no readout, got pool "
                             f"{encoder.pool!r} and {encoder.outputs} outputs")  # fmt: skip
        check_sizes(outputs=outputs)
        self.encoder = encoder
        self.readout = nn.Sequential(nn.Linear(4 * encoder.width, encoder.width), nn.GELU())
        self.readout.append(nn.Linear(encoder.width, outputs))

    @checked
    def forward(self, a: Tensor, b: Tensor, lengths: tuple[Tensor, Tensor] | None = None) -> Tensor:
        """a and b, B strings each, of any two lengths; ``lengths`` (B,) of each if they are padded."""
        for x, those in zip((a, b), lengths or (None, None)):
            self.encoder.check(x)
            if those is not None:
                true_positions(those, x)
        if len(a) != len(b):
            raise ValueError(f"every string of a is compared with one of b, got {len(a)} and {len(b)} strings")
        if lengths is None and a.shape[1] != b.shape[1]:
            first, second = (torch.full((len(x),), x.shape[1], device=x.device) for x in (a, b))
            lengths = first, second
        longest = max(a.shape[1], b.shape[1])
        # Together, so that batch norm sees both: its running mean is then that of the documents, not of the second.
        both = torch.cat([F.pad(x, (0, 0) * (x.ndim - 2) + (0, longest - x.shape[1])) for x in (a, b)])
        a, b = self.encoder(both, None if lengths is None else torch.cat(lengths)).chunk(2)
        return self.readout(torch.cat([a, b, a - b, a * b], -1))


def true_positions(lengths: Tensor, inputs: Tensor) -> Tensor:
    """(B, T), true where a string of that length still runs."""
    B, T = inputs.shape[:2]
    if not isinstance(lengths, Tensor):
        raise TypeError(f"lengths must be a torch.Tensor, got {shown(lengths)}")
    if lengths.shape != (B,) or lengths.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"lengths must be ({B},) integers, got {tuple(lengths.shape)} of {lengths.dtype}")
    if lengths.device != inputs.device:
        raise ValueError(f"lengths lie on {lengths.device}, the inputs on {inputs.device}")
    if B:
        least, most = (int(length) for length in values(lengths).aminmax())
        if not 1 <= least <= most <= T:
            raise ValueError(f"lengths are in 1..{T}, got {least}..{most}")
    return torch.arange(T, device=inputs.device) < lengths.unsqueeze(1)


def last_positions(x: Tensor, lengths: Tensor | None, count: int) -> Tensor:
    """The last ``count`` true positions of x (B,T,D), (B,count,D)."""
    shortest = x.shape[1] if lengths is None or not len(lengths) else int(values(lengths).min())
    if count > shortest:
        raise ValueError(f"the last {count} positions are asked for, but a string has {shortest}")
    if lengths is None:
        return x[:, -count:]
    index = lengths.unsqueeze(1) + torch.arange(-count, 0, device=x.device)  # (B, count)
    return x.gather(1, index.long().unsqueeze(-1).expand(-1, -1, x.shape[-1]))


@checked
def network(
    mixer: Callable[..., Recurrence],
    vocab_size: int | None,
    outputs: int | None,
    *,
    columns: int | None = None,
    width: int = 64,
    layers: int = 1,
    inputs: int | None = None,
    residual: bool = True,
    last_residual: bool = False,
    final_norm: bool = True,
    head: str = "mlp",
    **options: Any,
) -> Net:
    """``layers`` blocks, each around a ``mixer(width, ...)`` of its own, in a :class:`Net`.

    The defaults are the stack of paper 000, as released: pre-norm, a residual around every layer but the last (so a
    one-layer model has none), a LayerNorm, and Linear, ReLU, Linear.

    Parameters
    ----------
    mixer : callable
        ``mixer(width, **options)`` makes the mixer of one block.
    vocab_size, outputs, columns : int or None
        As for :class:`Net`; ``vocab_size`` None for numbers.
    width, layers : int
        D, and how many blocks.
    inputs : int, optional
        Width of what the first block reads, whose mixer is made with ``inputs=inputs``; D if not given.  Unless it is D
        that block can have no sum, and no norm before its mixer.
    residual, last_residual : bool
        Whether x is in the sum of the blocks at all, and of the last one.
    final_norm, head
        As for :class:`Net`.
    **options
        The mixer's own, else those of :func:`blocks` and :class:`Net`.

    Examples
    --------
    >>> from lrnnlab.models.layers import Vanilla
    >>> net = network(Vanilla, 5, 2, width=8, layers=3, dropout=0.1)
    >>> net.width, net.blocks[1].gate.dropout.share
    (8, 0.1)
    """
    own = inspect.signature(mixer).parameters
    for_block, for_net = ({name: options[name] for name in names if name in options and name not in own}
                          for names in (BLOCK_OPTIONS, NET_OPTIONS))  # fmt: skip
    for_mixer = {name: value for name, value in options.items() if name not in {*for_block, *for_net}}
    place = for_block.pop("place", "pre")
    among("place", place, PLACES)
    check_sizes(width=width, inputs=width if inputs is None else inputs)

    def block(i: int) -> Block:
        first = {} if inputs is None or i else {"inputs": inputs}
        mixed = mixer(width, **first, **for_mixer)
        return PLACES[place](mixed, getattr(mixed, "width", width), **for_block,
                     residual=residual and (last_residual or i + 1 < layers))  # fmt: skip

    made = layers_of(layers, block)
    normed = made[0].place == "pre" and not isinstance(made[0].norm, nn.Identity)
    if inputs not in (None, width) and (made[0].residual or normed):
        raise ValueError(f"a block that adds or normalises what it reads needs inputs={width}, its width, got {inputs}")
    width = getattr(made[-1].mixer, "width", width)
    return Net(made, outputs, width, vocab_size=vocab_size, columns=columns, inputs=inputs, final_norm=final_norm,
               head=head, **for_net)  # fmt: skip


BLOCK_OPTIONS = {"place", *inspect.signature(Block).parameters} - {"mixer", "width", "residual"}
NET_OPTIONS = {"encoder", "by_symbol", "pool", "last_outputs"}
