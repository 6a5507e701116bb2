"""The block-diagonal input-dependent LRNN of paper 000 (Fan, Chi, Rudnicky 2024), Eq. 5-7.

    x_t = A_t x_{t-1} + B u_t,   A_t = diag(A_t^(1), ..., A_t^(h)),   A_t^(i) = g(u_t) an n x n block

What keeps a product of blocks from exploding is the **column rule**: how the raw output of g becomes A.

=============  ===================================================================================================
rule           what becomes of the raw block
=============  ===================================================================================================
``clip``       the paper's Eq. 6: each column v becomes v / max(1, ||v||_p)
``release``    what the released code does: subtract from each column its mean, then divide the whole block by its
               largest column p-norm (so 1^T A = 0, and one column has norm exactly 1)
``centred``    the first half of ``release`` alone: subtract column means, then clip each column
``block``      the second half alone: divide the whole block by its largest column p-norm
``unit``       every column divided by its p-norm
``softmax``    every column a probability distribution: 1-norm exactly 1, so Eq. 7 holds with equality (p = 1)
``hard``       every column the one-hot of its largest entry: what ``snap`` leaves, a finite automaton
``free``       nothing: Eq. 5 without its constraint
=============  ===================================================================================================

Letters: B batch, T time, h blocks, n block size (the paper's b), D = h n width, V vocabulary, p the norm;
[i, j] of a block takes state j to state i, so a *column* says where one state goes.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.models.backend import is_compiled, run_compiled
from lrnnlab.models.base import LinearRecurrence, check_sizes
from lrnnlab.models.block import Gate, PreNorm, SharedDropout
from lrnnlab.models.net import Net
from lrnnlab.scans import FEW_BLOCKS, FUSED, MISSING, linear_scan, softmax_scan, token_scan
from lrnnlab.scans.transforms import within_func
from lrnnlab.validation import among, checked, number


def _slope(raw: Tensor, p: float) -> Tensor:
    return raw.abs().pow(p - 1) * raw.sign()


class _Norm(torch.autograd.Function):
    """(sum |v|^p)^(1/p) along ``dim`` for 1 <= p <= 2; sign(v) |v|^(p-1) serves both ways, so an element has one power."""

    @staticmethod
    def forward(ctx: Any, raw: Any, p: Any, dim: Any) -> Any:
        slope = _slope(raw, p)
        norm = (slope * raw).sum(dim, keepdim=True).clamp(min=torch.finfo(raw.dtype).tiny).pow(1 / p)
        ctx.save_for_backward(raw, slope, norm)
        ctx.p = p
        return norm

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:  # type: ignore[override]
        raw, slope, norm = ctx.saved_tensors
        if torch.is_grad_enabled():  # for a second derivative the slope is itself a function of raw
            slope = _slope(raw, ctx.p)
        return grad * norm.pow(1 - ctx.p) * slope, None, None


def _norms(raw: Tensor, p: float, dim: int) -> Tensor:
    """p-norm of every column; torch's vector_norm takes ten times as long at p = 1.2."""
    if p <= 2 and not within_func():
        return _Norm.apply(raw, p, dim)  # type: ignore[no-any-return]
    size, tiny = raw.abs(), torch.finfo(raw.dtype).tiny
    largest = size.amax(dim, keepdim=True).clamp(min=tiny)
    if p == math.inf:
        return largest
    return largest * (size / largest).pow(p).sum(dim, keepdim=True).clamp(min=1).pow(1 / p)  # no power leaves the range


def _clip(raw: Tensor, p: float, dim: int = -2) -> Tensor:
    return raw * _norms(raw, p, dim).clamp(min=1).reciprocal()


def _centre(raw: Tensor, dim: int = -2) -> Tensor:
    return raw - raw.mean(dim, keepdim=True)


def _by_largest_column(raw: Tensor, p: float, dim: int = -2) -> Tensor:
    return raw / _norms(raw, p, dim).amax(-1, keepdim=True)


def _hard(raw: Tensor, p: float, dim: int = -2) -> Tensor:
    top = raw == raw.amax(dim, keepdim=True)
    if not within_func() and top.sum() == raw.numel() // raw.shape[dim]:  # no tie: a tenth of the time of a strided argmax
        return top.to(raw.dtype)
    return torch.zeros_like(raw).scatter_(dim, raw.argmax(dim, keepdim=True), 1.0)


# rule(raw, p, dim): the columns lie along ``dim``, and the last axis counts them.
COLUMN_RULES = {
    "clip": _clip,
    "release": lambda raw, p, dim=-2: _by_largest_column(_centre(raw, dim), p, dim),
    "centred": lambda raw, p, dim=-2: _clip(_centre(raw, dim), p, dim),
    "block": _by_largest_column,
    "unit": lambda raw, p, dim=-2: raw / _norms(raw, p, dim),
    "softmax": lambda raw, p, dim=-2: raw.softmax(dim),
    "hard": _hard,
    "free": lambda raw, p, dim=-2: raw,
}


class BlockDiagonal(LinearRecurrence):
    """One layer of Eq. 5.

    Parameters
    ----------
    h, b : int
        Number of blocks, and their size n; the width is h * b.
    rule : str
        The column rule, a name of the table at the head of this module.
    p : float
        The norm of the column rule.
    hidden : int
        Width of g's hidden layer; g is Linear, ReLU, Linear.
    drive : str
        The input term: ``"mlp"`` (released), ``"linear"`` (the paper's B u), ``"none"`` (it is 0).
    start : str
        x_0: ``"learned"`` (released) or ``"first"``, fixed at the first basis vector of every block.
    gain : float
        What g's output is multiplied by at initialisation.
    stay : float
        What is added to the diagonal of every block at initialisation.
    """

    generator: Any

    def __init__(
        self,
        h: int = 8,
        b: int = 8,
        *,
        rule: str = "clip",
        p: float = 1.2,
        hidden: int = 512,
        drive: str = "mlp",
        start: str = "learned",
        gain: float = 1.0,
        stay: float = 0.0,
    ):
        super().__init__()
        check_sizes(h=h, b=b, hidden=hidden)
        if rule not in COLUMN_RULES:
            raise ValueError(f"no column rule {rule!r}; there are {', '.join(COLUMN_RULES)}")
        number(gain, "gain")
        number(stay, "stay")
        if rule == "release" and b == 1:
            raise ValueError("rule release needs b >= 2: a block of one entry minus its mean is 0, and 0/0 is nothing")
        if not p >= 1:
            raise ValueError(f"the column norm needs p >= 1, got p={p}")
        among("drive", drive, ("mlp", "linear", "none"))
        among("start", start, ("learned", "first"))
        self.h, self.b, self.rule, self.p, self.drive = h, b, rule, p, drive
        D = h * b
        self.generator = nn.Sequential(nn.Linear(D, hidden), nn.ReLU(), nn.Linear(hidden, h * b * b))
        with torch.no_grad():
            self.generator[2].weight.mul_(gain)
            self.generator[2].bias.mul_(gain).add_(stay * torch.eye(b).unsqueeze(1).expand(b, h, b).flatten())
        values = {
            "mlp": lambda: nn.Sequential(nn.Linear(D, D), nn.ReLU(), nn.Linear(D, D)),
            "linear": lambda: nn.Linear(D, D, bias=False),
            "none": nn.Identity,
        }
        self.value = values[drive]()
        if start == "learned":
            self.x0 = nn.Parameter(torch.randn(h, b))
        else:
            self.register_buffer("x0", torch.eye(1, b).repeat(h, 1))
        self.register_buffer("frozen", torch.zeros(h, dtype=torch.bool))

    @classmethod
    def of_width(cls, width: int, *, h: int | None = None, b: int = 8, **options: Any) -> BlockDiagonal:
        """As a mixer of a net: ``h`` blocks of size ``b`` make the width; without ``h``, as many as make ``width``."""
        check_sizes(width=width, b=b)
        if h is None and width % b:
            raise ValueError(f"width is a multiple of the block size, got width={width} and b={b}")
        return cls(width // b if h is None else h, b, **options)

    @property
    def width(self) -> int:
        """D = h * b."""
        return self.h * self.b

    def transition(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """A_t (..., h, n, n), the blocks of one step, and the input term B u_t (..., h, n), both made from z (..., D).
        """
        A = self._blocks(z)
        if not within_func() and self.frozen.any():
            stay = torch.eye(self.b, dtype=A.dtype, device=A.device)
            A = stay.expand(*z.shape[:-1], self.h, -1, -1).index_copy(-3, self.alive(), A)
        if self.drive == "none":
            return A, A.new_zeros(A.shape[:-1])
        return A, self.value(z).unflatten(-1, (self.h, self.b))

    def _blocks(self, z: Tensor) -> Tensor:
        """(..., h', b, b): the blocks of the heads that are not frozen; within ``torch.func`` of all."""
        A = COLUMN_RULES[self.rule](self.raw_blocks(z), self.p, -3).transpose(-3, -2)  # (..., h', row, column)
        if within_func():  # which heads are frozen may differ from net to net of a stack
            A = torch.where(self.frozen[:, None, None], torch.eye(self.b, dtype=A.dtype, device=A.device), A)
        return A

    def raw_blocks(self, z: Tensor) -> Tensor:
        """z (..., D) -> (..., row, h', column): what g says of the heads that are not frozen, before the column rule.

        Laid out so, a softmax or norm over rows runs over long stretches of memory.
        """
        W1, b1, W2, b2 = self._generator()
        return F.linear(F.linear(z, W1, b1).relu(), W2, b2).unflatten(-1, (self.b, -1, self.b))

    def _generator(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Weights and biases of g's two layers, of the heads that are not frozen."""
        first, _, last = self.generator
        weight, bias, alive = last.weight, last.bias, self.alive()
        if len(alive) < self.h:
            weight = weight.unflatten(0, (self.b, self.h, self.b)).index_select(1, alive).flatten(0, 2)
            bias = bias.unflatten(0, (self.b, self.h, self.b)).index_select(1, alive).flatten()
        return first.weight, first.bias, weight, bias

    def _is_fused(self, z: Tensor) -> bool:
        """Whether generator, softmax and scan of z (B,T,D) are one compiled pass."""
        plain = not torch.compiler.is_compiling() and not torch.is_autocast_enabled(z.device.type)
        return plain and self.backend in ("auto", "cpu") and self.b <= FUSED and z.shape[1] >= FEW_BLOCKS \
            and not MISSING["cpu"] and self.x0.dtype == z.dtype and is_compiled("auto", z)  # fmt: skip

    def trace(self, z: Tensor, tokens: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """As every linear recurrence; frozen heads cost nothing, and their transitions are left out."""
        if self.drive != "none":
            return super().trace(z, tokens)
        B, T = (z if tokens is None else tokens).shape[:2]
        alive = self.alive()
        frozen = len(alive) < self.h
        A, x = self._moved(z, tokens, (self.x0[alive] if frozen else self.x0).expand(B, -1, -1))
        if frozen:
            x = self.x0.expand(B, T, self.h, self.b).index_copy(2, alive, x)
        return A, x.flatten(2)

    def _moved(self, z: Tensor, tokens: Tensor | None, x0: Tensor) -> tuple[Tensor, Tensor]:
        """(A, states) of the heads that are not frozen, where there is no input term."""
        if tokens is None and self.rule == "softmax" and not within_func():
            if self._is_fused(z):
                A, x = run_compiled("generator.GeneratedScan", (z, *self._generator(), x0))
            else:
                A, x = softmax_scan(self.raw_blocks(z), x0, backend=self.backend)
            return A.transpose(-3, -2), x
        A = self._blocks(z)
        zero = A.new_zeros(A.shape[:-1])
        if tokens is None:
            return A, linear_scan(A, zero, x0, backend=self.backend)
        return A, token_scan(A, zero, tokens, x0, backend=self.backend)

    def alive(self) -> Tensor:
        """Numbers of the heads that are not frozen (as an index they cost half of what the mask costs).

        Within ``torch.func`` of all heads.
        """
        if within_func():
            return torch.arange(self.h, device=self.frozen.device)
        return (~self.frozen).nonzero().flatten()

    @checked
    def freeze(self, heads: Tensor) -> None:
        """Let ``heads`` (h,) bool, and no others, stay at x_0 for good (A = 1), whatever is read.

        Raises ``ValueError`` if there is an input term, which would move them.
        """
        if self.drive != "none":
            raise ValueError(f"a head with an input term does not stay where it is, got drive={self.drive!r}")
        if heads.shape != (self.h,) or heads.dtype != torch.bool:
            raise ValueError(f"freeze takes ({self.h},) bool, got {tuple(heads.shape)} of {heads.dtype}")
        self.frozen.copy_(heads)


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
    x_0, and stands in the blocks of paper 000; nothing in the model is of another class than those it is built of,
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

    Raises ``ValueError``, which names it, for whatever else stands in the way (:func:`obstacle`).

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
