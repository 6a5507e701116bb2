"""A constant diagonal transition, and the eight models that have one: RotRNN, LRU, S5, DLR, DSS, S4D, S4, SGConv.

    x_t = lambda * x_{t-1} + B u_t        y_t = Re(C x_t) + skip * u_t

``DenseModes``     K modes for all channels, B and C dense              RotRNN, LRU, S5   runs on the diagonal scan
``ChannelModes``   modes of its own for each channel, B = 1, C = w      DLR, DSS, S4D     runs as a convolution with the
                                                                                          kernel K_l = Re sum_n w_n lambda_n^l
                   a kernel found in another way                        S4, SGConv

A model says which numbers it learns and what they make: ``system`` (lambda, B, C) or ``modes`` (lambda, w).
``recurrent_parameters`` are those that the papers train at a rate of their own and without weight decay
(:func:`lrnnlab.training.loop.parameter_groups`).  "skip" is what the papers call D.

Letters: B batch, T time, D width, K modes of all channels, N state size, S directions, h heads, n size of a head; z
input of the layer (the papers' u), lambda transition, b input term, x state, y output, dt step size.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.models.base import Module, Recurrence, check_sizes
from lrnnlab.scans.convolution import long_conv, vandermonde
from lrnnlab.scans.kernels import dispatch
from lrnnlab.scans.transforms import values
from lrnnlab.validation import among, number

Range = tuple[float, float]  # (low, high), both above 0
FACTOR = {"real": 1, "imag": -1j, "sum": 1 - 1j}  # of the weights, in kinds of DLR: Im K = Re(-i K)
ONE_WAY = "bidirectional=True has no step form: y_t depends on the inputs after t"


# --- one set of modes for all channels ---------------------------------------------------------------------------------


class Modes(NamedTuple):
    """log lambda (K,), complex; B (2K,D) and C (S,D,2K), real: row 2k of B drives Re x_k, row 2k + 1 Im x_k."""

    log: Tensor
    B: Tensor
    C: Tensor

    def drive(self, z: Tensor) -> Tensor:
        """b (...,K), complex, of inputs z (...,D)."""
        return torch.view_as_complex((z @ self.B.mT).unflatten(-1, (-1, 2)))


class DenseModes(Recurrence):
    """K modes for all channels together.  A bidirectional layer shares lambda and B, has a second C, and no step form."""

    backend = "auto"  # of the scan; may be set
    recurrent_parameters: tuple[str, ...] = ()
    modes: int  # K

    def __init__(self, width: int, bidirectional: bool):
        super().__init__()
        check_sizes(width=width)
        self.bidirectional, self.directions = bidirectional, 1 + bidirectional
        self.skip = nn.Parameter(torch.randn(width))

    @abstractmethod
    def system(self) -> Modes:
        """The modes as the weights now make them."""

    def forward(self, z: Tensor, tokens: Tensor | None = None) -> Tensor:
        system = self.system()
        b = system.drive(z)
        if tokens is not None:
            z, b = z[tokens], b[tokens]
        return self._read(self._states(system.log, b), system.C, z)

    def hidden(self, z: Tensor) -> Tensor:
        """The states of inputs z (B,T,D): (B,T,K) complex, or (B,T,2K), forward and backward."""
        system = self.system()
        return torch.cat(self._states(system.log, system.drive(z)), -1)

    def kernel(self, T: int) -> Tensor:
        """C lambda^l B for l = 0 ... T-1, forward, without the skip: [l, i, j] is what input j adds to output i; (T,D,D)."""
        log, B, C = self.system()
        B = torch.view_as_complex(B.unflatten(0, (-1, 2)).movedim(1, -1).contiguous())  # (K, D)
        C = torch.view_as_complex(C[0].unflatten(-1, (-1, 2)).contiguous())  # (D, K)
        powers = vandermonde(log.unsqueeze(1), log.real.new_ones(self.modes, 1), T, part="complex")  # (K, T)
        return torch.einsum("ik,kl,kj->lij", C.conj(), powers, B).real

    def initial(self, batch: int) -> Tensor:
        return torch.view_as_complex(self.skip.new_zeros(batch, self.modes, 2))

    def step(self, state: Tensor, z_t: Tensor) -> tuple[Tensor, Tensor]:
        if self.bidirectional:
            raise ValueError(ONE_WAY)
        system = self.system()
        state = system.log.exp() * state + system.drive(z_t)
        return state, self._read([state], system.C, z_t)

    def _states(self, log: Tensor, b: Tensor) -> list[Tensor]:
        """The states (B,T,K) of each direction."""
        start = self.initial(len(b))
        states = [dispatch.linear(log.exp(), b, start, self.backend)]
        if self.bidirectional:
            states.append(dispatch.linear(log.exp(), b.flip(1), start, self.backend).flip(1))
        return states

    def _read(self, states: list[Tensor], C: Tensor, z: Tensor) -> Tensor:
        """y (...,D) = Re(C x) + skip * z."""
        y = self.skip * z
        for x, weights in zip(states, C):
            y = y + torch.view_as_real(x).flatten(-2) @ weights.mT
        return y


def _rows(B: Tensor) -> Tensor:
    """B (K,D,2), parts last, -> (2K,D)."""
    return B.movedim(-1, 1).flatten(0, 1)


def _real_part(C: Tensor) -> Tensor:
    """Re(C x) as a real product with [Re x_1, Im x_1, ...]: C (...,K,2), parts last, -> (...,2K)."""
    return torch.stack([C[..., 0], -C[..., 1]], -1).flatten(-2)


class RotRNN(DenseModes):
    """Paper 001 (Biegun et al., Eq. 12-13): every head turns its state and shrinks it; inputs (B,T,D) -> y (B,T,D).

        x_t = gamma A x_{t-1} + xi B u_t,   A = P Theta P^T,   P = expm(M - M^T)        in each of h heads

    Theta is n/2 rotations of the plane.  In the coordinates s = P^T x this is n/2 modes gamma e^(i theta): that is what
    runs, with P^T taken into B and P into C, so P costs nothing a letter.  For white inputs (mean 0, covariance I) and
    xi^2 Tr(B^T B) = c (1 - gamma^2) the mean of |x_t|^2 is c + gamma^(2t) (|x_0|^2 - c) in each head, whatever A is: Eq. 11
    has 1 - c gamma^2 instead, which is right for c = 1 alone.  Agrees with ``raresdolga/s5``, s5/rotrnn.py (10dcb5d); an
    older file there, s5/rares_layers.py, draws M with variance 1/(N + N/h), where it is standard normal here.

    >>> layer = RotRNN(3, state=8, heads=2)
    >>> layer.hidden(torch.zeros(2, 5, 3)).shape, layer.kernel(10).shape
    (torch.Size([2, 5, 8]), torch.Size([10, 3, 3]))
    """

    recurrent_parameters = ("gamma_log", "B")

    def __init__(
        self,
        width: int,
        *,
        state: int = 64,  # N real numbers in all heads together,
        heads: int = 8,  # h of them, of an even size n = N/h
        init: str = "paper",  # App. C: gamma^2 uniform, B and C of variance 1/D and 1/N; "released": see below
        gamma: Range = (0.5, 0.999),  # where the decays start (Table 3 has a range a task; this is Retrieval's),
        theta: float = 2 * math.pi,  # and the angles, uniform below this
        rotation: str = "expm",  # P learned; "absorbed": P is the identity, and no function is lost
        normaliser: str = "corrected",  # xi^2 Tr(B^T B) is c (1 - gamma^2); "paper": 1 - c gamma^2
        c: float = 1.0,  # what E|x_t|^2 of a head shall be
        start: str = "zero",  # x_0, as released; "random": a direction in each head, drawn once, |x_0|^2 = c
        bidirectional: bool = False,  # App. B.2
    ):
        super().__init__(width, bidirectional)
        if heads < 1 or state < 2 * heads or state % (2 * heads):
            raise ValueError(f"state is a multiple of 2 heads (pairs of states), got state {state}, heads {heads}")
        among("init", init, ("paper", "released"))
        among("rotation", rotation, ("expm", "absorbed"))
        among("normaliser", normaliser, ("corrected", "paper"))
        among("start", start, ("zero", "random"))
        number(theta, "theta", 0, inside=True)
        number(c, "c", 0, inside=True)
        if bidirectional and start == "random":
            raise ValueError("start 'random' is for one direction: a padded string would start its way back in the padding")
        self.modes, self.heads, self.rotation, self.normaliser, self.c = state // 2, heads, rotation, normaliser, c
        n, released = state // heads, init == "released"  # log(-log gamma) uniform, B and C of variance 1/(D + N)
        self.gamma_log = nn.Parameter((_loglog_decay if released else ring_decay)(heads, gamma))
        self.theta = nn.Parameter(theta * torch.rand(heads, n // 2))
        if rotation == "expm":
            self.M = nn.Parameter(torch.randn(heads, n, n))
        self.B = nn.Parameter(torch.randn(heads, n, width) / (width + released * state) ** 0.5)
        self.C = nn.Parameter(torch.randn(self.directions, width, state) / (state + released * width) ** 0.5)
        x0 = torch.randn(heads, n) if start == "random" else torch.zeros(heads, n)
        self.register_buffer("x0", c**0.5 * F.normalize(x0, dim=-1))

    def gamma(self) -> Tensor:
        """(h,), the factor by which a step shrinks each head."""
        return torch.exp(-self.gamma_log.exp())

    def xi(self) -> Tensor:
        """(h,), what B is multiplied with.  ``ValueError`` where Eq. 11 has no root: c gamma^2 above 1."""
        if self.normaliser == "corrected":
            power = self.c * remaining_power(self.gamma_log)
        else:
            power = 1 - self.c * self.gamma().square()
            if self.c > 1 and bool((values(power) <= 0).any()):
                most = values(self.gamma()).max().item()
                raise ValueError(f"Eq. 11 needs c gamma^2 < 1, got c = {self.c} and gamma = {most}")
        return (power / self.B.square().sum((1, 2))).sqrt()

    def orthogonal(self) -> Tensor:
        """P, (h,n,n), of determinant 1."""
        if self.rotation == "expm":
            return torch.linalg.matrix_exp(self.M - self.M.mT)
        n = self.B.shape[1]
        return torch.eye(n, dtype=self.B.dtype, device=self.B.device).expand(self.heads, n, n)

    def transition(self) -> Tensor:
        """gamma A, (h,n,n), for tests and pictures: no pass multiplies by it."""
        cos, sin = self.theta.cos(), self.theta.sin()
        pairs = torch.stack([torch.stack([cos, -sin], -1), torch.stack([sin, cos], -1)], -2)  # (h, n/2, 2, 2)
        turn, P = torch.stack([torch.block_diag(*head) for head in pairs]), self.orthogonal()
        return self.gamma().view(-1, 1, 1) * (P @ turn @ P.mT)

    def system(self) -> Modes:
        B, C = self.xi().view(-1, 1, 1) * self.B, self.C.unflatten(-1, (self.heads, -1))
        if self.rotation == "expm":
            P = self.orthogonal()
            B, C = P.mT @ B, torch.einsum("kdhi,hij->kdhj", C, P)
        decay = self.gamma_log.exp().unsqueeze(-1).expand_as(self.theta)
        return Modes(torch.complex(-decay, self.theta).flatten(), B.flatten(0, 1), C.flatten(-2))

    def initial(self, batch: int) -> Tensor:
        return torch.view_as_complex(self.x0.view(-1, 2)).expand(batch, -1)

    def hidden(self, z: Tensor) -> Tensor:
        """The states x of inputs z (B,T,D): (B,T,N) real, or (B,T,2N), forward and backward."""
        s = torch.view_as_real(super().hidden(z)).flatten(-2)  # in the coordinates P^T x
        if self.rotation == "absorbed":
            return s
        s = s.unflatten(-1, (self.directions, self.heads, -1))
        return torch.einsum("hij,btkhj->btkhi", self.orthogonal(), s).flatten(2)


class LRU(DenseModes):
    """The LRU (Orvieto et al. 2023; paper 001, Sec. 2.3): inputs (B,T,D) -> y (B,T,D).

        x_t = lambda * x_{t-1} + e^gamma * (B u_t),   lambda = exp(-e^nu + i e^theta)

    Recomputed, it agrees with the LRU released with paper 001, ``raresdolga/s5``, s5/lru.py (81a55d1).

    >>> LRU(3, state=4).hidden(torch.zeros(2, 5, 3)).shape
    torch.Size([2, 5, 4])
    """

    def __init__(
        self,
        width: int,
        *,
        state: int = 32,  # N complex eigenvalues,
        modulus: Range = (0.5, 0.999),  # which start uniformly on this ring,
        phase: float = 2 * math.pi,  # their angles uniformly below this
        normaliser: str = "learned",  # e^gamma, from sqrt(1 - |lambda|^2); "recomputed": that number at every pass
        bidirectional: bool = False,
    ):
        super().__init__(width, bidirectional)
        check_sizes(state=state)
        among("normaliser", normaliser, ("learned", "recomputed"))
        number(phase, "phase", 0, inside=True)
        self.modes, self.normaliser = state, normaliser
        self.nu_log = nn.Parameter(ring_decay(state, modulus))
        self.theta_log = nn.Parameter(torch.log(phase * (1 - torch.rand(state))))  # 1 - u: an angle of 0 has no log
        # torch's complex N(0, 1) has variance 1/2 in each part; theirs has 1/(2 D), and 1/N
        self.B = pair_parameter(complex_normal(state, width) / width**0.5)
        self.C = pair_parameter(complex_normal(self.directions, width, state) * (2 / state) ** 0.5)
        self.recurrent_parameters = ("nu_log", "theta_log", "B")
        if normaliser == "learned":
            self.gamma_log = nn.Parameter(remaining_power(self.nu_log.detach()).log() / 2)
            self.recurrent_parameters += ("gamma_log",)

    def scale(self) -> Tensor:
        """e^gamma, (N,): what B u_t is multiplied with."""
        return self.gamma_log.exp() if self.normaliser == "learned" else remaining_power(self.nu_log).sqrt()

    def system(self) -> Modes:
        B = self.scale().view(-1, 1, 1) * self.B  # (N, D, 2)
        log = torch.complex(-self.nu_log.exp(), self.theta_log.exp())
        return Modes(log, _rows(B), _real_part(self.C))


def lru_as_rotrnn(lru: LRU) -> RotRNN:
    """A RotRNN with heads of 2 that gives the outputs of ``lru``: there is one for every LRU.

    Re(c lambda^l b) = [Re c, -Im c] |lambda|^l R(theta)^l [Re b; Im b], so each eigenvalue is a head.  Each has a decay
    of its own, so its xi is one number, and goes into C together with the LRU's normaliser.  Eigenvalues need not come
    in pairs, as paper 001 (Sec. 4.1) asks.  torch's generator is left as it was.
    """
    with torch.random.fork_rng(devices=[]):
        twin = RotRNN(len(lru.skip), state=2 * lru.modes, heads=lru.modes, rotation="absorbed",
                      bidirectional=lru.bidirectional).to(lru.skip)  # fmt: skip
    with torch.no_grad():
        twin.skip.copy_(lru.skip)
        twin.gamma_log.copy_(lru.nu_log)
        twin.theta.copy_(lru.theta_log.exp().unsqueeze(-1))
        twin.B.copy_(lru.B.movedim(-1, 1))
        scale = (lru.scale() / twin.xi()).repeat_interleave(2)
        twin.C.copy_(_real_part(lru.C) * scale)
    return twin


class S5(DenseModes):
    """S5 (Smith, Warrington, Linderman 2023), a baseline of paper 001: inputs (B,T,D) -> y (B,T,D).

        x' = Lambda x + B u,   y = 2 Re(C x) + skip * u        one of each conjugate pair kept
        x_t = e^(Lambda dt) x_{t-1} + (e^(Lambda dt) - 1) / Lambda B u_t      (zero-order hold, a step size per state)

    Lambda starts as the eigenvalues of the normal part of HiPPO-LegS, the same in each of J blocks, and B and C as real
    random matrices in its eigenbasis.  As released, ``lindermanlab/S5``, s5/ssm.py (3c18fdb), where its paper differs.

    >>> layer = S5(3, state=8, blocks=2)
    >>> layer.hidden(torch.zeros(2, 5, 3)).shape, layer.Lambda_re.tolist()
    (torch.Size([2, 5, 4]), [-0.5, -0.5, -0.5, -0.5])
    """

    recurrent_parameters = ("Lambda_re", "Lambda_im", "log_step", "B")

    def __init__(
        self,
        width: int,
        *,
        state: int = 64,  # N, of which N/2 are kept,
        blocks: int = 1,  # in J blocks of an even size
        dt: Range = (1e-3, 0.1),  # log-uniform at the start
        bidirectional: bool = False,
    ):
        super().__init__(width, bidirectional)
        if blocks < 1 or state < 2 * blocks or state % (2 * blocks):
            raise ValueError(f"state is a multiple of 2 blocks (conjugate pairs), got state {state}, blocks {blocks}")
        self.modes, self.blocks, n = state // 2, blocks, state // blocks
        eigenvalues, _, V = (torch.as_tensor(a) for a in legs_diagonal(n))  # (n/2,), V (n, n/2)
        self.Lambda_re = nn.Parameter(eigenvalues.real.to(torch.get_default_dtype()).repeat(blocks))
        self.Lambda_im = nn.Parameter(eigenvalues.imag.to(torch.get_default_dtype()).repeat(blocks))
        self.log_step = nn.Parameter(log_uniform_steps(self.modes, *dt))
        V = V.to(torch.get_default_dtype().to_complex())
        B = _truncated(state, state, width).to(V.dtype).unflatten(0, (blocks, n))  # (J, n, D)
        self.B = pair_parameter((V.mH @ B).flatten(0, 1))
        C = torch.stack([_truncated(state, width, blocks, n, 2) for _ in range(self.directions)])
        self.C = pair_parameter((torch.view_as_complex(C) @ V).flatten(2))

    def system(self) -> Modes:
        Lambda = torch.complex(self.Lambda_re, self.Lambda_im)
        log = Lambda * self.log_step.exp()
        B = (torch.expm1(log) / Lambda).unsqueeze(-1) * torch.view_as_complex(self.B)  # (K, D)
        return Modes(log, _rows(torch.view_as_real(B)), 2 * _real_part(self.C))


# --- modes of its own for each channel ---------------------------------------------------------------------------------


class GatedReadout(Module):
    """GLU(Linear(GELU(y + skip * u))) of y and u (...,D), as S4 reads; a GLU is a half times the other's sigmoid."""

    def __init__(self, width: int):
        super().__init__()
        self.skip = nn.Parameter(torch.randn(width))
        self.mix = nn.Linear(width, 2 * width)

    def forward(self, y: Tensor, u: Tensor) -> Tensor:
        return F.glu(self.mix(F.gelu(y + self.skip * u)), -1)


class ChannelModes(Recurrence):
    """A kernel for each channel, y = K * z + skip * z: a subclass says what it is, and which modes it is a sum of.

    Bidirectional, there are two kernels a channel, and y_k = sum_{j<=k} K_{k-j} z_j + sum_{j>k} K'_{j-k-1} z_j (004, Eq.
    6).  K_j is taken to be 0 from lag ``max_kernel`` on (004, Table 8).  ``gated`` reads as S4 does.  The step form holds
    the modes (B,D,N) in double precision; with ``max_kernel`` the last inputs (B,D,max_kernel), and the kernel.
    """

    recurrent_parameters: tuple[str, ...] = ()

    def __init__(self, width: int, bidirectional: bool = False, max_kernel: int | None = None, gated: bool = False):
        super().__init__()
        check_sizes(width=width, max_kernel=1 if max_kernel is None else max_kernel)
        self.bidirectional, self.directions = bidirectional, 1 + bidirectional
        self.max_kernel, self.gated = max_kernel, gated
        if gated:
            self.readout = GatedReadout(width)
        else:
            self.skip = nn.Parameter(torch.randn(width))

    @abstractmethod
    def kernels(self, T: int) -> Tensor:
        """K_0 ... K_{T-1} of every direction, (S,D,T), for T >= 1."""

    def modes(self) -> tuple[Tensor, Tensor]:
        """(log lambda, w), K_l = Re sum_n w_n lambda_n^l looking back: (N,) or (D,N), and (D,N); in double precision."""
        raise ValueError(f"{type(self).__name__} has no modes: it steps over its last max_kernel inputs")

    def kernel(self, T: int) -> Tensor:
        """The kernel as it is used on T positions, (D,T) or, bidirectional, (2,D,T); T at most ``max_kernel``."""
        K = self.kernels(max(min(T, self.max_kernel or T), 1))
        return K if self.bidirectional else K[0]

    def mix(self, z: Tensor) -> Tensor:
        K = self.kernel(z.shape[1])
        behind, ahead = K if self.bidirectional else (K, None)
        if self.gated:
            return self.readout(long_conv(z, behind.to(z.dtype)), z)
        return long_conv(z, behind, self.skip, future=ahead)

    def initial(self, batch: int) -> Any:
        if self.bidirectional:
            raise ValueError(ONE_WAY)
        if self.max_kernel:
            K = self.kernel(self.max_kernel).double()
            return K.new_zeros(batch, *K.shape), K.flip(-1)
        w = self.modes()[1]
        return torch.zeros(batch, *w.shape, dtype=w.dtype, device=w.device)

    def step(self, state: Any, z_t: Tensor) -> tuple[Any, Tensor]:
        u = z_t.double().unsqueeze(-1)
        if self.max_kernel:
            window, taps = state
            window = torch.cat([window[..., 1:], u], -1)
            state, y = (window, taps), (window * taps).sum(-1)
        else:
            log_lambda, w = self.modes()
            state = log_lambda.exp() * state + u
            y = (w * state).sum(-1).real
        y = y.to(z_t.dtype)
        return state, self.readout(y, z_t) if self.gated else y + self.skip * z_t


class DLR(ChannelModes):
    """DLR (paper 004, Sec. 2.3; Gupta, Mehta, Berant 2022): N complex modes shared by all channels; (B,T,D) -> (B,T,D).

        x_t = lambda * x_{t-1} + u_t,   lambda = exp(-a^2 + i omega),   y_t = Re <w, x_t> + skip * u_t

    ``kind`` is the kernel: ``"real"``, Re K (the paper's DLR); ``"prod"``, Re K Im K (DLR-prod, Sec. 2.1), whose step form
    has N (N+1) / 2 modes; and three of the released code alone: ``"imag"``, Im K, ``"sum"``, Re K + Im K, and
    ``"real_prod"``, Re K in the first D // 2 channels and Re K Im K in the others.  DLR-R (Sec. 3.3) has real lambda and w.
    Agrees with ``ag1988/dlr`` (580d854).  Re and Im of w start normal with standard deviation 1/N.

    >>> DLR(3, state=8).kernel(10).shape
    torch.Size([3, 10])
    """

    def __init__(
        self,
        width: int,
        *,
        state: int = 64,  # N
        kind: str = "real",
        eigenvalues: str = "complex",  # or "real"
        init: str = "dft",  # angles 2 pi n / N (the paper); "half_circle" (ours): pi (2n + 1) / (2N), see chapter 05
        dt: Range = (5e-4, 0.5),  # |lambda| = exp(-dt/2), log-uniform; Table 7 has (1e-5, 1e-5)
        bidirectional: bool = False,
        max_kernel: int | None = None,  # K is 0 from this lag on
    ):
        super().__init__(width, bidirectional, max_kernel)
        among("kind", kind, (*FACTOR, "prod", "real_prod"))
        among("eigenvalues", eigenvalues, ("complex", "real"))
        among("init", init, ("dft", "half_circle"))
        check_sizes(state=state)
        self.kind, self.real = kind, eigenvalues == "real"
        if self.real and (kind, init) != ("real", "dft"):
            raise ValueError(f"real eigenvalues have no angles and no imaginary part, got kind={kind!r}, init={init!r}")
        self.root_decay = nn.Parameter((log_uniform_steps(state, *dt).exp() / 2).sqrt())
        if not self.real:
            n = torch.arange(state, dtype=torch.float64)
            # only the real part is kept: the roots of x^(2N) = -1 above the real axis give all kernels of length 2N
            turns = n / state if init == "dft" else (2 * n + 1) / (4 * state)
            self.frequency = nn.Parameter((2 * math.pi * turns).to(torch.get_default_dtype()))
        self.W = nn.Parameter(torch.randn(self.directions, width, state, *(() if self.real else (2,))) / state)
        self.recurrent_parameters = ("root_decay", "W") if self.real else ("root_decay", "frequency", "W")

    @property
    def first(self) -> int:
        """The first channel whose kernel is a product."""
        return self.W.shape[1] // 2 if self.kind == "real_prod" else 0

    def _system(self) -> tuple[Tensor, Tensor]:
        """log lambda (N,) and W (S,D,N), in double precision."""
        decay = -self.root_decay.double().square()
        if self.real:
            return decay, self.W.double()
        return torch.complex(decay, self.frequency.double()), complex_double(self.W)

    def kernels(self, T: int) -> Tensor:
        """One product of tables of powers; DLR-prod's Im K is in it as Re(-i K)."""
        log_lambda, W = self._system()
        D = W.shape[1]
        if self.kind not in FACTOR:
            W = torch.cat([W, -1j * W[:, self.first :]], 1)  # (S, 2D, N) where all channels are products
        elif self.kind != "real":
            W = FACTOR[self.kind] * W
        # Real modes overlap so much that their weights cancel (Claim 1): single precision would keep too few digits.
        dtype = torch.float64 if self.real else self.skip.dtype
        K = vandermonde(log_lambda, W.flatten(0, 1), T, dtype=dtype).to(self.skip.dtype).unflatten(0, W.shape[:2])
        if self.kind in FACTOR:
            return K
        products = K[:, self.first : D] * K[:, D:]
        return torch.cat([K[:, : self.first], products], 1) if self.first else products

    def modes(self) -> tuple[Tensor, Tensor]:
        """Of the kernel; DLR-prod is a DLR of N (N+1) / 2 modes: Re K Im K = Re(-i K^2 / 2).

        K^2 = sum_{m<=n} (2 - [m=n]) w_m w_n (lambda_m lambda_n)^k; App. A.2 counts 4 N^2 modes.
        """
        log_lambda, (W, *_) = self._system()
        if self.kind in FACTOR:
            return log_lambda, W if self.kind == "real" else FACTOR[self.kind] * W
        m, n = torch.triu_indices(len(log_lambda), len(log_lambda), device=W.device)
        pairs, products = log_lambda[m] + log_lambda[n], -0.5j * (2 - (m == n).double()) * W[:, m] * W[:, n]
        if not self.first:
            return pairs, products
        product = (torch.arange(len(W), device=W.device) >= self.first).unsqueeze(1)
        return torch.cat([log_lambda, pairs]), torch.cat([W * ~product, products * product], 1)


class DSS(ChannelModes):
    """DSS_exp (Gupta, Gu, Berant 2022; paper 004, Sec. 2.1): inputs (B,T,D) -> y (B,T,D).

        x' = Lambda * x + u,   y = <w, x>,   zero-order hold over intervals of length dt, one a channel

    That is a DLR with lambda = exp(dt Lambda) and weights w (exp(dt Lambda) - 1) / Lambda: the same functions, other
    parameters.  As in ``ag1988/dlr`` (580d854); Re and Im of w start standard normal.

    >>> DSS(3, state=8).kernel(10).shape
    torch.Size([3, 10])
    """

    recurrent_parameters = ("log_decay", "frequency", "log_dt", "W")

    def __init__(
        self,
        width: int,
        *,
        state: int = 64,  # N
        init: str = "lin",  # Lambda_n starts as -1/2 + i pi n (released); "two_pi": -1/2 + 2 pi i n (paper, App. A.6)
        dt: Range = (1e-3, 0.1),  # log-uniform at the start; Table 7 has (1e-4, 1e-2)
        bidirectional: bool = False,
        max_kernel: int | None = None,
    ):
        super().__init__(width, bidirectional, max_kernel)
        spacing = {"lin": math.pi, "two_pi": 2 * math.pi}
        among("init", init, spacing)
        check_sizes(state=state)
        self.init = init
        self.log_decay = nn.Parameter(torch.full((state,), math.log(0.5)))
        frequency = spacing[init] * torch.arange(state, dtype=torch.float64)
        self.frequency = nn.Parameter(frequency.to(torch.get_default_dtype()))
        self.log_dt = nn.Parameter(log_uniform_steps(width, *dt))
        self.W = nn.Parameter(torch.randn(self.directions, width, state, 2))

    def _system(self) -> tuple[Tensor, Tensor]:
        """dt Lambda (D,N), and the weights of the DLR that this layer is, (S,D,N)."""
        Lambda = torch.complex(-self.log_decay.double().exp(), self.frequency.double())
        log_lambda = self.log_dt.double().exp().unsqueeze(-1) * Lambda
        return log_lambda, complex_double(self.W) * (torch.expm1(log_lambda) / Lambda)

    def kernels(self, T: int) -> Tensor:
        log_lambda, W = self._system()
        return torch.stack([vandermonde(log_lambda, w, T, dtype=self.skip.dtype) for w in W])

    def modes(self) -> tuple[Tensor, Tensor]:
        log_lambda, W = self._system()
        return log_lambda, W[0]


class S4D(ChannelModes):
    """S4D (Gu, Gupta, Goel, Re 2022), a baseline of paper 000: lambda, C, dt and skip one per channel, B = 1.

    One of each conjugate pair is kept; zero-order hold; read out like S4.

    >>> S4D(3, state=4, init="inv").kernel(10).shape
    torch.Size([3, 10])
    """

    def __init__(
        self,
        width: int,
        *,
        state: int = 64,  # N, even
        init: str = "lin",  # eigenvalues at the start: see :func:`diagonal_start`
        dt: Range = (1e-3, 0.1),  # log-uniform at the start
    ):
        super().__init__(width, gated=True)
        eigenvalues = torch.as_tensor(diagonal_start(init, state)).expand(width, -1)
        self.init = init
        self.log_decay = nn.Parameter(torch.log(-eigenvalues.real).to(torch.get_default_dtype()))
        self.frequency = nn.Parameter(eigenvalues.imag.to(torch.get_default_dtype(), copy=True))
        self.C = pair_parameter(complex_normal(width, state // 2))
        self.log_dt = nn.Parameter(log_uniform_steps(width, *dt))

    def modes(self) -> tuple[Tensor, Tensor]:
        """dt lambda, and 2 C B with B after zero-order hold, (e^(dt lambda) - 1) / lambda."""
        Lambda = torch.complex(-self.log_decay.double().exp(), self.frequency.double())
        log_lambda = Lambda * self.log_dt.double().exp().unsqueeze(-1)
        return log_lambda, 2 * complex_double(self.C) * (torch.expm1(log_lambda) / Lambda)

    def kernels(self, T: int) -> Tensor:
        return vandermonde(*self.modes(), T).unsqueeze(0)


class S4(ChannelModes):
    """S4 (Gu, Goel, Re 2022), a baseline of paper 000: A = diag(lambda) - P P*, bilinear; (B,T,D) -> (B,T,D).

    lambda, P and B are shared by all channels (as in the released code); C, dt and skip are one per channel.  P P* is
    positive semi-definite and Re lambda = -exp(..) < 0, so A is dissipative and its bilinear transform has 2-norm below 1
    whatever the weights: no state can explode.  One of each conjugate pair is kept.

    >>> S4(3, state=4).kernel(10).shape
    torch.Size([3, 10])
    """

    ALIAS = 1e-10  # K_{t+2T} leaks into K_t with this weight; rounding errors grow by its -1/2-th power
    MAX_AT_ONCE = 1 << 17  # frequencies times channels times pairs: they stay in a core's cache

    def __init__(
        self,
        width: int,
        *,
        state: int = 64,  # N, even
        dt: Range = (1e-3, 0.1),  # log-uniform at the start
    ):
        super().__init__(width, gated=True)
        eigenvalues, p, _ = (torch.as_tensor(a) for a in legs_diagonal(state))
        self.log_decay = nn.Parameter(torch.log(-eigenvalues.real).to(torch.get_default_dtype()))
        self.frequency = nn.Parameter(eigenvalues.imag.to(torch.get_default_dtype(), copy=True))
        self.P = pair_parameter(p)
        self.B = pair_parameter(math.sqrt(2) * p)  # LegS has B = sqrt(2) P
        self.C = pair_parameter(complex_normal(width, state // 2))
        self.log_dt = nn.Parameter(log_uniform_steps(width, *dt))

    def _system(self) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """lambda (n,), P (n,), B (n,), C (D,n), dt (D,1), n = N/2 pairs, in double precision."""
        eigenvalues = torch.complex(-self.log_decay.double().exp(), self.frequency.double())
        P, B, C = (complex_double(p) for p in (self.P, self.B, self.C))
        return eigenvalues, P, B, C, self.log_dt.double().exp().unsqueeze(-1)

    def kernels(self, T: int) -> Tensor:
        """K_t = C A^t B from its generating function sum_t K_t z^t = 2/(1+z) C (g - A)^-1 B, g = 2/dt (1-z)/(1+z).

        The function is evaluated at 2T points and transformed back.  S4 takes roots of unity, which needs C (I - A^T)
        in place of C, a matrix power per channel and per length.  Here the points are r times roots of unity with
        r^(2T) = ALIAS: the transform then gives r^t (K_t + ALIAS K_{t+2T} + ...), so the overlap vanishes by itself,
        at the price of rounding errors times r^-T = ALIAS^-1/2, which double precision can pay.  |z| < 1 also keeps
        clear of the pole at z = -1.
        """
        r = self.ALIAS ** (1 / (2 * T))
        angle = torch.arange(T + 1, dtype=torch.float64, device=self.log_dt.device) * (-math.pi / T)
        z = torch.polar(torch.full_like(angle, r), angle)  # (F,), the upper half: K is real
        system = self._system()
        some = max(1, self.MAX_AT_ONCE // self.C[..., 0].numel())
        spectrum = torch.cat([_generating(part, *system) for part in z.split(some)], -1)
        growth = torch.arange(T, dtype=torch.float64, device=z.device)
        return (torch.fft.irfft(spectrum, 2 * T)[..., :T] * r**-growth).unsqueeze(0)

    def initial(self, batch: int) -> Tensor:
        """x_0 = 0, (B,D,n), complex, in double precision."""
        return torch.zeros(batch, *self.C.shape[:-1], dtype=torch.complex128, device=self.C.device)

    def step(self, state: Tensor, z_t: Tensor) -> tuple[Tensor, Tensor]:
        """(I - dt/2 A) x_t = (I + dt/2 A) x_{t-1} + dt B u_t, solved by Woodbury in O(N)."""
        eigenvalues, P, B, C, dt = self._system()
        h, x = dt / 2, state
        low_rank = P * _sum_of_pairs(P.conj() * x).unsqueeze(-1)  # P P* x
        right = x + h * (eigenvalues * x - low_rank) + dt * B * z_t.double().unsqueeze(-1)
        R = 1 / (1 - h * eigenvalues)  # (D, n)
        ratio = _sum_of_pairs(P.conj() * R * right) / (1 / h.squeeze(-1) + _sum_of_pairs(P.conj() * R * P))
        x = R * (right - P * ratio.unsqueeze(-1))
        return x, self.readout(_sum_of_pairs(C * x).to(z_t.dtype), z_t)


def _sum_of_pairs(x: Tensor) -> Tensor:
    """Sum over all N states of something known on n = N/2 of them, last axis."""
    return 2 * x.real.sum(-1)


def _generating(z: Tensor, eigenvalues: Tensor, P: Tensor, B: Tensor, C: Tensor, dt: Tensor) -> Tensor:
    """S4's generating function at z (F,), (D,F)."""
    g = (2 / dt) * (1 - z) / (1 + z)  # (D, F)
    Q = torch.cat(_inverse_of_pairs(g.unsqueeze(-1), eigenvalues), 1)  # (D, 2F, n): real parts, imaginary parts
    v = torch.stack([C * B, C * P, (P.conj() * B).expand_as(C), (P.conj() * P).expand_as(C)], -1)  # (D, n, 4)
    weights = 2 * torch.cat([v.real, (v * eigenvalues.conj().unsqueeze(-1)).real], -1)  # (D, n, 8)
    sums = torch.complex(*(Q @ weights).chunk(2, 1))  # (D, F, 8)
    CB, CP, PB, PP = (g.unsqueeze(-1) * sums[..., :4] - sums[..., 4:]).unbind(-1)
    return 2 / (1 + z) * (CB - CP * PB / (1 + PP))


def _inverse_of_pairs(g: Tensor, eigenvalues: Tensor) -> tuple[Tensor, Tensor]:
    """1 / ((g - l) (g - l')), as real and imaginary part (torch is quicker at real arithmetic than at complex)."""
    x, y = g.real - eigenvalues.real, g.imag  # g - l = x + i (y - w), g - l' = x + i (y + w)
    real = x.square() - (y - eigenvalues.imag) * (y + eigenvalues.imag)
    imag = 2 * y * x
    size = real.square() + imag.square()
    return real / size, -imag / size


class SGConv(ChannelModes):
    """SGConv (Li, Cai, Zhang, Chen, Dey 2023; paper 004, Table 2): a long convolution without a recurrence.

    The kernel is a row of pieces of d weights, each twice as long as the one before, so that the far past is coarse:

        K = [w_0 | alpha w_1 | alpha^2 stretch(w_2, 2) | alpha^3 stretch(w_3, 4) | ...] / (its norm at the start)

    Weights start normal with standard deviation 1/d.  The step form holds the last d 2^(pieces - 1) inputs.

    >>> layer = SGConv(3, length=50, piece=8)
    >>> tuple(layer.pieces.shape), layer.kernel(40).shape, layer.kernel(99).shape
    ((4, 3, 8), torch.Size([3, 40]), torch.Size([3, 64]))
    """

    recurrent_parameters = ("pieces", "alpha")

    def __init__(
        self,
        width: int,
        *,
        length: int = 1024,  # the longest lag plus one: 1 + ceil(log2(length / d)) pieces (App. A.6), 0 further on
        piece: int = 64,  # d, the "kernel dimension"; 4096 in the paper
        alpha: Range = (1.0, 1.0),  # uniform at the start, as released; the text's 1e-5 would let it decay at once
        bidirectional: bool = False,
    ):
        check_sizes(length=length, piece=piece)
        low, high = interval("alpha", alpha)
        count = 1 + ((length - 1) // piece).bit_length()  # 1 + ceil(log2(length / piece)), without rounding
        super().__init__(width, bidirectional, max_kernel=piece << (count - 1))
        rows = self.directions * width
        self.pieces = nn.Parameter(torch.randn(count, rows, piece) / piece)
        self.alpha = nn.Parameter(torch.empty(rows, 1).uniform_(low, high))
        self.register_buffer("norm", torch.ones(rows, 1))
        with torch.no_grad():
            self.norm.copy_(self.kernels(self.max_kernel).flatten(0, 1).norm(dim=-1, keepdim=True))

    def kernels(self, T: int) -> Tensor:
        """(S,D,T); T beyond the kernel's length does not occur (``max_kernel``)."""
        row = []
        for i, w in enumerate(self.pieces):
            stretched = F.interpolate(w.unsqueeze(0), scale_factor=1 << max(0, i - 1), mode="linear")[0]
            row.append(self.alpha**i * stretched)
        return (torch.cat(row, -1)[:, :T] / self.norm).unflatten(0, (self.directions, -1))


# --- how weights start and are kept ------------------------------------------------------------------------------------


def interval(name: str, given: Range, most: float = math.inf) -> Range:
    """(low, high); ``ValueError`` unless 0 < low <= high < most."""
    low, high = given
    if not 0 < low <= high < most:
        raise ValueError(f"{name} needs 0 < low <= high < {most}, got {given}")
    return low, high


def log_uniform_steps(width: int, low: float, high: float) -> Tensor:
    """log dt, (D,), uniform between log low and log high."""
    low, high = interval("dt", (low, high))
    return torch.empty(width).uniform_(math.log(low), math.log(high))


def complex_normal(*shape: int) -> Tensor:
    """Complex N(0, 1), variance 1/2 in each part, in torch's default precision."""
    return torch.randn(*shape, dtype=torch.get_default_dtype().to_complex())


def pair_parameter(values: Tensor) -> nn.Parameter:
    """A complex tensor as a parameter of real numbers, with a last axis (Re, Im): optimisers and files know those."""
    own = values.to(torch.get_default_dtype().to_complex(), copy=True)  # values may be a table that others read too
    return nn.Parameter(torch.view_as_real(own).contiguous())


def complex_double(pairs: Tensor) -> Tensor:
    """The inverse of :func:`pair_parameter`, in double precision."""
    return torch.view_as_complex(pairs.double())


def ring_decay(count: int, modulus: Range) -> Tensor:
    """g, (count,), such that exp(-e^g) is the modulus of a point drawn uniformly from a ring (001, App. C)."""
    low, high = (r**2 for r in interval("modulus", modulus, 1))
    squared = torch.rand(count, dtype=torch.float64) * (high - low) + low
    return torch.log(-0.5 * torch.log(squared)).to(torch.get_default_dtype())


def _loglog_decay(heads: int, gamma: Range) -> Tensor:
    """gamma_log, (h,), uniform between the two ends, as released with paper 001."""
    low, high = (math.log(-math.log(g)) for g in interval("gamma", gamma, 1))
    return high + (low - high) * torch.rand(heads)


def remaining_power(log_decay: Tensor) -> Tensor:
    """1 - |lambda|^2 of |lambda| = exp(-e^g), without losing the digits of a |lambda| close to 1."""
    return -torch.expm1(-2 * log_decay.exp())


def _truncated(fan_in: int, *shape: int) -> Tensor:
    """Normal numbers of variance 1 / fan_in, cut off at two deviations: "LeCun normal" as JAX draws it."""
    std = (1 / fan_in) ** 0.5 / 0.87962566103423978  # what the cut takes from the deviation of N(0, 1)
    return nn.init.trunc_normal_(torch.empty(shape), std=std, a=-2 * std, b=2 * std)


# --- HiPPO-LegS: where S4, S4D, S5 and Liquid-S4 start ------------------------------------------------------------------


def legs(N: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A (N,N), B (N,), P (N,) of HiPPO-LegS (Gu et al. 2020): A is lower triangular with eigenvalues -1, ..., -N."""
    n = np.arange(N)
    B = np.sqrt(2 * n + 1)
    return -np.tril(np.outer(B, B), -1) - np.diag(n + 1), B, B / np.sqrt(2)


def legs_diagonal(N: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(lambda, p, V): A = V (diag(lambda) - p p*) V* + its conjugate; lambda and p (N/2,), V (N,N/2) complex.

    A + P P^T = -1/2 I + (a skew matrix) is normal, so a unitary V diagonalises it (Gu, Goel, Re 2022, Theorem 1).
    """
    check_pairs(N)
    A, _, P = legs(N)
    skew = A + np.outer(P, P) + np.eye(N) / 2
    frequency, V = np.linalg.eigh(-1j * skew)  # Hermitian, so real frequencies, ascending: -w_1 ... w_1
    frequency, V = frequency[N // 2 :], V[:, N // 2 :]
    phase = V.conj().T @ P
    V = V * (phase / np.abs(phase))
    return -0.5 + 1j * frequency, np.abs(phase), V


def check_pairs(N: int) -> None:
    """``ValueError`` unless N states are N/2 conjugate pairs."""
    if N < 2 or N % 2:
        raise ValueError(f"the state size is even and at least 2 (conjugate pairs), got {N}")


def diagonal_start(init: str, N: int) -> np.ndarray:
    """The N/2 eigenvalues that S4D starts from (Gu, Gupta, Goel, Re 2022, Sec. 4)."""
    check_pairs(N)
    among("init", init, ("lin", "inv", "legs"))
    n = np.arange(N // 2)
    return {
        "lin": lambda: -0.5 + 1j * np.pi * n,
        "inv": lambda: -0.5 + 1j * N / np.pi * (N / (2 * n + 1) - 1),
        "legs": lambda: legs_diagonal(N)[0],
    }[init]()
