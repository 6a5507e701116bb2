"""Linear recurrences whose transition is made from the input, and the plain one whose is not.

    x_t = A_t x_{t-1} + b_t

    BlockDiagonal   paper 000, Eq. 5    h blocks of n x n, whose columns a rule bounds
    Diagonal        paper 000, Eq. 3    one number a channel, real or complex
    Vanilla         paper 000, Eq. 2    one dense matrix, constant
    LiquidS4        paper 000, Eq. 4    A + diag(B u), a system for each channel
    OneHotColumns   PD-SSM              one-hot columns times a complex diagonal
    Dictionary      SD-SSM              a mean of K dense matrices, weighted by the input

What keeps a product of blocks from exploding is the *column rule*: what becomes of the raw output of g.

=============  ===================================================================================================
``clip``       paper 000, Eq. 6: each column v becomes v / max(1, ||v||_p)
``release``    what the released code does: subtract from each column its mean, then divide the whole block by its
               largest column p-norm (so 1^T A = 0, and one column has norm exactly 1)
``centred``    the first half of ``release`` alone: subtract column means, then clip each column
``block``      the second half alone: divide the whole block by its largest column p-norm
``unit``       every column divided by its p-norm
``softmax``    every column a probability distribution: 1-norm exactly 1, so Eq. 7 holds with equality (p = 1)
``hard``       every column the one-hot of its largest entry: what ``snap`` leaves, a finite automaton
``free``       nothing: Eq. 5 without its constraint
=============  ===================================================================================================

Letters: B batch, T time, V vocabulary, D width, h blocks, n block size (the paper's b), N state size of a channel; z
input of the layer (the papers' u), A transition, b input term, x state, p the norm of a column; [i, j] of a block takes
state j to state i, so a *column* says where one state goes.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.models.base import LinearRecurrence, check_sizes, is_compiled, run_compiled
from lrnnlab.models.layers.modes import GatedReadout, legs, log_uniform_steps
from lrnnlab.scans.kernels import dispatch
from lrnnlab.scans.transforms import is_exporting, within_func
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
    """Paper 000, Eq. 5: h blocks made from the input by g, whose columns a rule keeps small; inputs (B,T,D) -> y (B,T,D)."""

    generator: Any

    def __init__(
        self,
        h: int = 8,  # blocks,
        b: int = 8,  # of n x n; the width is h * b
        *,
        rule: str = "clip",  # a name in COLUMN_RULES,
        p: float = 1.2,  # and the norm that it speaks of
        hidden: int = 512,  # of g: Linear, ReLU, Linear
        drive: str = "mlp",  # the input term, as released; "linear": the paper's B u; "none": it is 0
        start: str = "learned",  # x_0, as released; "first": the first basis vector of every block
        gain: float = 1.0,  # what g's output is multiplied by at the start,
        stay: float = 0.0,  # and what is added to the diagonal of every block
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
        if not (within_func() or is_exporting()) and self.frozen.any():
            stay = torch.eye(self.b, dtype=A.dtype, device=A.device)
            A = stay.expand(*z.shape[:-1], self.h, -1, -1).index_copy(-3, self.alive(), A)
        if self.drive == "none":
            return A, A.new_zeros(A.shape[:-1])
        return A, self.value(z).unflatten(-1, (self.h, self.b))

    def _blocks(self, z: Tensor) -> Tensor:
        """(..., h', b, b): the blocks of the heads that are not frozen; within ``torch.func`` of all."""
        A = COLUMN_RULES[self.rule](self.raw_blocks(z), self.p, -3).transpose(-3, -2)  # (..., h', row, column)
        if within_func() or is_exporting():  # which heads are frozen may differ from net to net of a stack
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
        return plain and self.backend in ("auto", "cpu") and self.b <= dispatch.MAX_FUSED_BLOCK \
            and z.shape[1] >= dispatch.MIN_STEPS_OF_BLOCKS and not dispatch.MISSING["cpu"] \
            and self.x0.dtype == z.dtype and is_compiled("auto", z)  # fmt: skip

    def trace(self, z: Tensor, tokens: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """As every linear recurrence; frozen heads cost nothing, and their transitions are left out."""
        if self.drive != "none":
            return super().trace(z, tokens)
        B, T = (z if tokens is None else tokens).shape[:2]
        alive = self.alive()
        frozen = len(alive) < self.h
        x0 = (self.x0[alive] if frozen else self.x0).expand(B, -1, -1)
        if tokens is None and self.rule == "softmax" and not (within_func() or is_exporting()):
            if self._is_fused(z):
                A, x = run_compiled("generator.GeneratedScan", (z, *self._generator(), x0))
            else:
                A, x = dispatch.softmax(self.raw_blocks(z), x0, self.backend)
            A = A.transpose(-3, -2)
        else:
            A = self._blocks(z)
            b = A.new_zeros(A.shape[:-1])
            if tokens is None:
                x = dispatch.linear(A, b, x0, self.backend)
            else:
                x = dispatch.by_token(A, b, tokens, x0, self.backend)
        if frozen:
            x = self.x0.expand(B, T, self.h, self.b).index_copy(2, alive, x)
        return A, x.flatten(2)

    def alive(self) -> Tensor:
        """Numbers of the heads that are not frozen (as an index they cost half of what the mask costs).

        Within ``torch.func`` and ``torch.export`` of all heads.
        """
        if within_func() or is_exporting():
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


class Diagonal(LinearRecurrence):
    """Paper 000, Eq. 3: x_t = v_t * x_{t-1} + B u_t, channel by channel; inputs (B,T,D) -> y (B,T,D).

    ========  ========================================================================
    kind      v_t
    ========  ========================================================================
    positive  in (0, 1): sigmoid; forgets, never turns
    signed    in (-1, 1): tanh; a channel at -1 is parity
    complex   modulus in (0, 1), any angle; D/2 channels, read as [Re x, Im x]
    unit      modulus 1, any angle: a channel at e^(2 pi i s / M) is Sum(M)
    ========  ========================================================================

    v is affine in u before it is squashed: what a first layer sees are V points, and an affine map takes V <= D points in
    general position anywhere.  Ours, as the paper does not say how v starts: |v| is spread over 0.9 to 0.999 (else memory
    would be a few letters long), signs are random, angles all around.  x_0 is learned.

    >>> layer = Diagonal(4, kind="unit")
    >>> A, b = layer.transition(torch.zeros(3, 4))
    >>> A.shape, A.dtype, [round(v, 5) for v in A[0].abs().tolist()]
    (torch.Size([3, 2]), torch.complex64, [1.0, 1.0])
    """

    def __init__(
        self,
        width: int,  # D, even for complex kinds
        *,
        kind: str = "signed",
        drive: str = "linear",  # B u; "none": the state is a product of the v alone
    ):
        super().__init__()
        check_sizes(width=width)
        among("kind", kind, ("positive", "signed", "complex", "unit"))
        self.kind, self.turning = kind, kind in ("complex", "unit")
        if self.turning and width % 2:
            raise ValueError(f"kind {kind!r} needs an even width (real and imaginary parts), got {width}")
        among("drive", drive, ("linear", "none"))
        channels = width // 2 if self.turning else width
        self.drive = nn.Linear(width, width, bias=False) if drive == "linear" else None
        if kind != "unit":
            self.gate = nn.Linear(width, channels)
            self._spread()
        if self.turning:
            self.angle = nn.Linear(width, channels)
            nn.init.uniform_(self.angle.bias, 0, 2 * math.pi)
        self.x0 = nn.Parameter(torch.randn(width))

    def _spread(self) -> None:
        wanted = torch.empty_like(self.gate.bias).uniform_(0.9, 0.999)
        if self.kind == "signed":
            bias = torch.atanh(wanted) * (2 * torch.randint(2, wanted.shape) - 1)
        else:
            bias = torch.logit(wanted)
        with torch.no_grad():
            self.gate.bias.copy_(bias)

    def _channels(self, x: Tensor) -> Tensor:
        """(..., D) real -> the layer's channels: the same, or (..., D/2) complex with [Re, Im] taken apart."""
        return torch.complex(*x.chunk(2, -1)) if self.turning else x

    def output(self, x: Tensor, z: Tensor, tokens: Tensor | None = None) -> Tensor:
        """The inverse of ``_channels``."""
        return torch.cat([x.real, x.imag], -1) if self.turning else x

    def transition(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """z (..., D) -> A and b, both (..., D) real or (..., D/2) complex."""
        if self.kind == "signed":
            A = torch.tanh(self.gate(z))
        elif self.kind == "positive":
            A = torch.sigmoid(self.gate(z))
        else:
            angle = self.angle(z)
            size = torch.sigmoid(self.gate(z)) if self.kind == "complex" else torch.ones_like(angle)
            A = torch.polar(size, angle)
        return A, torch.zeros_like(A) if self.drive is None else self._channels(self.drive(z))

    def initial(self, batch: int) -> Tensor:
        return self._channels(self.x0).expand(batch, -1)


class Vanilla(LinearRecurrence):
    """Paper 000, Eq. 2: x_t = A x_{t-1} + B u_t with one dense matrix; (B,T,D) -> (B,T,D).

    A starts orthogonal (every singular value 1; the paper does not say what it used), x_0 is learned.  ``forward`` is a
    loop of T products with the one matrix A, whatever ``backend`` says: log T rounds of doubling (x += A^k x shifted by
    k) do six times the arithmetic at T = 40.

    >>> layer = Vanilla(2)
    >>> _ = layer.x0.data.zero_(), layer.drive.weight.data.copy_(torch.eye(2))
    >>> _ = layer.A.data.copy_(torch.tensor([[0., 1.], [1., 0.]]))
    >>> layer(torch.tensor([[[1., 0.], [0., 0.], [0., 5.]]])).tolist()
    [[[1.0, 0.0], [0.0, 1.0], [1.0, 5.0]]]
    """

    def __init__(self, width: int):
        super().__init__()
        check_sizes(width=width)
        self.A = nn.Parameter(nn.init.orthogonal_(torch.empty(width, width)))
        self.drive = nn.Linear(width, width, bias=False)
        self.x0 = nn.Parameter(torch.randn(width))

    def transition(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """z (..., D) -> A (..., 1, D, D), one matrix seen many times, and b (..., 1, D)."""
        A = self.A.expand(*z.shape[:-1], 1, *self.A.shape)
        return A, self.drive(z).unsqueeze(-2)

    def initial(self, batch: int) -> Tensor:
        return self.x0.expand(batch, 1, -1)

    def trace(self, z: Tensor, tokens: Tensor | None = None) -> tuple[Tensor, Tensor]:
        A, b = self.transition(z)
        b = b.squeeze(-2) if tokens is None else b.squeeze(-2)[tokens]  # (B,T,D)
        x, states = self.x0.expand(len(b), -1), []
        for b_t in b.unbind(1):  # indexing b[:, t] would make the backward pass quadratic in T
            x = torch.addmm(b_t, x, self.A.T)
            states.append(x)
        return A, torch.stack(states, 1) if states else b


class LiquidS4(LinearRecurrence):
    """Paper 000, Eq. 4: x_t = (A + diag(B u_t)) x_{t-1} + B u_t, one system of N states a channel, read out like S4.

    This is not the code released with Liquid-S4 (Hasani et al. 2023).  That one adds to S4 a convolution with products of
    inputs whose order in time is reversed, so that an answer at t depends on what comes after t: harmless where one label
    is read at the end, a leak where every prefix is labelled.  Eq. 4 is causal.

    **Stability.**  Eq. 4 explodes where ||A + diag(B u)|| > 1.  Here

        A = (1 - r) Cayley(dt M),   M = S - S^T - diag(e^d) - P P^T,   (B u)_n = r tanh(B_n u),   0 < r < 1

    with S, d, P, r, dt, B learned per channel.  M + M^T is negative definite, so the 2-norm of its Cayley transform
    (I - dt/2 M)^-1 (I + dt/2 M), the bilinear discretisation, is below 1: with x = (I - dt/2 M) w,
    ||(I + dt/2 M) w||^2 - ||x||^2 = 2 dt w^T M w < 0.  Hence ||A + diag(B u)||_2 < (1 - r) + r = 1 for every input, and
    ||x_t||_2 <= r t sqrt(N) for all t (x_0 = 0).  M starts as HiPPO-LegS, which has exactly this form.  r, the part of the
    norm that the input may have, starts at 0.1; what is left to A fades by 1 - r a letter, so memory at rest is about 1/r
    letters, whatever dt is.

    >>> layer = LiquidS4(6, state=4)
    >>> A, b = layer.transition(100 * torch.randn(50, 6))
    >>> A.shape, bool((torch.linalg.matrix_norm(A, 2) < 1).all())
    (torch.Size([50, 6, 4, 4]), True)
    """

    def __init__(
        self,
        width: int,
        *,
        state: int = 8,  # N, small: A is a dense matrix in every channel
        dt: tuple[float, float] = (1e-3, 0.1),  # log-uniform at the start
    ):
        super().__init__()
        check_sizes(width=width, state=state)
        M, _, P = (torch.as_tensor(a).to(torch.get_default_dtype()) for a in legs(state))
        symmetric = torch.eye(state) / 2 + torch.outer(P, P)  # M + this is skew
        self.skew = nn.Parameter(((M + symmetric) / 2).repeat(width, 1, 1))
        self.log_decay = nn.Parameter(torch.full((width, state), -math.log(2)))
        self.P = nn.Parameter(P.repeat(width, 1))
        self.log_dt = nn.Parameter(log_uniform_steps(width, *dt))
        self.B = nn.Parameter(torch.randn(width, state))
        self.C = nn.Parameter(torch.randn(width, state) / state**0.5)
        self.share = nn.Parameter(torch.full((width, 1), math.log(0.1 / (1 - 0.1))))
        self.readout = GatedReadout(width)

    def constant(self) -> Tensor:
        """Cayley(dt M), (D, N, N), of 2-norm below 1."""
        M = (
            self.skew
            - self.skew.mT
            - torch.diag_embed(self.log_decay.exp())
            - self.P.unsqueeze(-1) * self.P.unsqueeze(-2)
        )
        half = M * (self.log_dt.exp() / 2).view(-1, 1, 1)
        eye = torch.eye(M.shape[-1], dtype=M.dtype, device=M.device)
        return torch.linalg.solve(eye - half, eye + half)

    def transition(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """z (..., D) -> A + diag(B u), (..., D, N, N), and B u, (..., D, N)."""
        r = torch.sigmoid(self.share)  # (D, 1)
        b = r * torch.tanh(self.B * z.unsqueeze(-1))
        return (1 - r).unsqueeze(-1) * self.constant() + torch.diag_embed(b), b

    def initial(self, batch: int) -> Tensor:
        return self.B.new_zeros(batch, *self.B.shape)

    def output(self, x: Tensor, z: Tensor, tokens: Tensor | None = None) -> Tensor:
        """States (..., D N) and inputs (..., D) -> (..., D)."""
        return self.readout((x.unflatten(-1, self.C.shape) * self.C).sum(-1), z if tokens is None else z[tokens])


class OneHotColumns(LinearRecurrence):
    """PD-SSM (Terzic et al. 2025, arXiv:2509.22284): A_t = P_t D_t, one-hot columns times a complex diagonal.

    h blocks of n states, (B,T,D) -> (B,T,D): a symbol sends each state to one other, and may turn and shrink it.  A product
    of such matrices is one again.  P is the one-hot of the largest entry of every column; its gradient is that of a softmax
    (straight through).  There is no input term: the state starts at the first basis vector of every block.  Ours: in the
    paper P is chosen from a dictionary of matrices and there is an input term.

    >>> layer = OneHotColumns(16, b=4)
    >>> A, b = layer.transition(torch.zeros(3, 16))
    >>> A.shape, b.shape, layer(torch.zeros(3, 5, 16)).shape
    (torch.Size([3, 2, 8, 8]), torch.Size([3, 2, 8]), torch.Size([3, 5, 16]))
    """

    def __init__(
        self,
        width: int,  # D = h n, or 2 h n with phases (real parts, imaginary parts)
        *,
        b: int = 4,  # n
        hidden: int = 64,  # of the map that makes P
        phases: bool = True,  # False: A_t = P_t, a finite automaton
    ):
        super().__init__()
        check_sizes(width=width, b=b, hidden=hidden)
        self.b, self.phases, parts = b, phases, 1 + phases
        if width % (parts * b):
            raise ValueError(f"blocks of {b} states, {parts} numbers each, do not fill a width of {width}")
        self.h = width // (parts * b)
        self.columns = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, self.h * b * b))
        if phases:
            self.modulus, self.angle = nn.Linear(width, self.h * b), nn.Linear(width, self.h * b)
            nn.init.constant_(self.modulus.bias, 6.0)  # |d| = 0.9975: at the start nothing fades, and nothing turns
            nn.init.zeros_(self.angle.bias)
        self.register_buffer("x0", torch.eye(1, parts * b).repeat(self.h, 1))

    def transition(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """A (..., h, n, n) and b = 0; with phases the real form [[Re, -Im], [Im, Re]] of P D, (..., h, 2n, 2n)."""
        raw = self.columns(z).unflatten(-1, (self.h, self.b, self.b))
        soft = raw.softmax(-2)
        P = soft + (COLUMN_RULES["hard"](raw, 1) - soft).detach()
        if not self.phases:
            return P, P.new_zeros(P.shape[:-1])
        modulus, angle = (part.unflatten(-1, (self.h, 1, self.b)) for part in (self.modulus(z).sigmoid(), self.angle(z)))
        re, im = P * modulus * angle.cos(), P * modulus * angle.sin()
        A = torch.cat([torch.cat([re, -im], -1), torch.cat([im, re], -1)], -2)
        return A, A.new_zeros(A.shape[:-1])


class Dictionary(LinearRecurrence):
    """SD-SSM (Terzic et al. 2024, arXiv:2412.19350): A_t is a mean of K dense matrices, (B,T,D) -> (B,T,D).

        x_t = A_t x_{t-1} + B z_t,   A_t = sum_k softmax(S z_t)_k A^(k), each column divided by its 1.2-norm;   y_t = R x_t

    >>> layer = Dictionary(8, matrices=3, state=5)
    >>> A, b = layer.transition(torch.zeros(2, 8))
    >>> A.shape, b.shape, bool(torch.allclose(A.abs().pow(1.2).sum(-2), torch.ones(2, 1, 5)))
    (torch.Size([2, 1, 5, 5]), torch.Size([2, 1, 5]), True)
    """

    def __init__(
        self,
        width: int,
        *,
        matrices: int = 6,  # K
        state: int = 16,  # n
    ):
        super().__init__()
        check_sizes(width=width, matrices=matrices, state=state)
        self.select = nn.Linear(width, matrices)
        self.A = nn.Parameter(torch.randn(matrices, state, state) / state**0.5)
        self.drive = nn.Linear(width, state, bias=False)
        self.read = nn.Linear(state, width, bias=False)
        self.x0 = nn.Parameter(torch.randn(1, state))

    def transition(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """A (..., 1, n, n) and b (..., 1, n)."""
        A = torch.einsum("...k,kij->...ij", self.select(z).softmax(-1), self.A)
        return COLUMN_RULES["unit"](A, 1.2).unsqueeze(-3), self.drive(z).unsqueeze(-2)

    def output(self, x: Tensor, z: Tensor, tokens: Tensor | None = None) -> Tensor:
        return self.read(x)
