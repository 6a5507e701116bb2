"""DLR, the diagonal linear RNN of paper 004 (Gupta, Mehta, Berant 2022), and what it shares with DSS and SGConv.

    x_k = lambda * x_{k-1} + u_k,   y_k = <w, x_k>      (Eq. 1)

Every channel of the input has w of its own, all channels share lambda; a real number is made of the complex y_k by
taking its real part.  As nothing depends on the input, the layer is a long convolution y = K * u, K_k = <w, lambda^k>
(Eq. 4), to which D * u is added.  Activation, gate and linear map belong to the block around it.

Letters: B batch, T time, D width, N state size (modes), S directions (1, or 2 of a bidirectional layer); z input of
the layer (the paper's u), y output, K kernel.  The skip weight, the paper's D, is ``skip`` here.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.models.base import Recurrence, check_sizes
from lrnnlab.models.state_space import complex_double, log_uniform_steps
from lrnnlab.scans.convolution import long_conv, vandermonde
from lrnnlab.validation import among

KINDS = ("real", "imag", "sum", "prod", "real_prod")


class KernelMixer(Recurrence):
    """y = K * z + skip * z, one kernel per channel: subclasses say what K is, and which modes it is a sum of.

    The step form holds the modes x (B, D, modes), in double precision; with ``max_kernel`` it holds the last inputs
    instead, (B, D, max_kernel), and the kernel.

    Parameters
    ----------
    width : int
        D.
    bidirectional : bool
        Two kernels per channel; y_k = sum_{j<=k} K_{k-j} z_j + sum_{j>k} K'_{j-k-1} z_j (Eq. 6).  Such a layer needs
        the whole string, so it has no step form.
    max_kernel : int or None
        K_j is taken to be 0 from this lag on (the paper's "kernel size", Table 8); None for never.
    """

    recurrent_parameters: tuple[str, ...]  # names of the parameters that weight decay shall leave alone (Sec. 2.3)

    def __init__(self, width: int, bidirectional: bool, max_kernel: int | None):
        super().__init__()
        check_sizes(width=width, max_kernel=1 if max_kernel is None else max_kernel)
        self.bidirectional, self.max_kernel, self.directions = bidirectional, max_kernel, 1 + bidirectional
        self.skip = nn.Parameter(torch.randn(width))

    @abstractmethod
    def kernels(self, T: int) -> Tensor:
        """K_0 ... K_{T-1} of every direction, (S, D, T), for T >= 1; in the weights' precision."""

    @abstractmethod
    def modes(self) -> tuple[Tensor, Tensor]:
        """(log lambda, w) with K_k = Re sum_n w_n lambda_n^k, looking back: (M,) or (D,M), and (D,M); in double."""

    def kernel(self, T: int) -> Tensor:
        """The kernel as it is used on T positions, (D, T) or, bidirectional, (2, D, T); T at most ``max_kernel``."""
        K = self.kernels(max(min(T, self.max_kernel or T), 1))
        return K if self.bidirectional else K[0]

    def mix(self, z: Tensor) -> Tensor:
        K = self.kernel(z.shape[1])
        behind, ahead = K if self.bidirectional else (K, None)
        return long_conv(z, behind, self.skip, future=ahead)

    def initial(self, batch: int) -> Any:
        if self.bidirectional:
            raise ValueError("bidirectional=True has no step form: y_t depends on the inputs after t")
        start: dict[str, Any] = {"dtype": torch.float64, "device": self.skip.device}
        if self.max_kernel:
            K = self.kernel(self.max_kernel).double()
            return torch.zeros(batch, *K.shape, **start), K.flip(-1)
        w = self.modes()[1]
        return torch.zeros(batch, *w.shape, **start).to(w.dtype)

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
        return state, y.to(z_t.dtype) + self.skip * z_t


class DLR(KernelMixer):
    """One DLR layer (Sec. 2.3): lambda = exp(-root_decay^2 + i frequency), shared by all channels; W (D, N) complex.

    Re and Im of W start normal with standard deviation 1/N.  Products have N (N+1) / 2 modes, so their step form is for
    small N.

    Parameters
    ----------
    width : int
        D.
    state : int
        N.
    kind : str
        How the complex kernel becomes real: ``"real"`` (the paper), ``"imag"``, ``"sum"`` of both parts, ``"prod"``,
        Re K Im K (DLR-prod, Sec. 2.1), or ``"real_prod"``, one half of the channels each, as in the released code.
    eigenvalues : str
        ``"complex"``, or ``"real"`` for DLR-R (Sec. 3.3): lambda in (0, 1] and W real, so only ``"real"``.
    init : str
        Angles at the start: ``"dft"``, 2 pi n / N (the paper), or ``"half_circle"``, pi (2n + 1) / (2N).  As only the
        real part is kept, the roots of x^(2N) = -1 with positive imaginary part give every real kernel of length 2N,
        with a perfectly conditioned system; the full circle spans only N (ours, not the paper's).
    dt : (float, float)
        (low, high): |lambda| = exp(-dt/2) with dt log-uniform between them.  Table 7 has (1e-5, 1e-5).
    bidirectional : bool
        As for :class:`KernelMixer`; both directions have the same lambda.
    max_kernel : int or None
        As for :class:`KernelMixer`.

    Examples
    --------
    >>> import torch
    >>> DLR(3, state=8).kernel(10).shape
    torch.Size([3, 10])
    >>> from lrnnlab.models import network
    >>> net = network(DLR, 5, 2, width=4, state=8, kind="prod", layers=2)
    >>> net(torch.zeros(2, 7, dtype=torch.int64)).shape
    torch.Size([2, 7, 2])
    """

    def __init__(
        self,
        width: int,
        *,
        state: int = 64,
        kind: str = "real",
        eigenvalues: str = "complex",
        init: str = "dft",
        dt: tuple[float, float] = (5e-4, 0.5),
        bidirectional: bool = False,
        max_kernel: int | None = None,
    ):
        super().__init__(width, bidirectional, max_kernel)
        among("kind", kind, KINDS)
        among("eigenvalues", eigenvalues, ("complex", "real"))
        among("init", init, ("dft", "half_circle"))
        check_sizes(state=state)
        self.real = eigenvalues == "real"
        if self.real and (kind, init) != ("real", "dft"):
            raise ValueError(f"real eigenvalues have no angles and no imaginary part, got kind={kind!r}, init={init!r}")
        self.kind, self.products = kind, {"prod": width, "real_prod": width - width // 2}.get(kind, 0)
        self.root_decay = nn.Parameter((log_uniform_steps(state, *dt).exp() / 2).sqrt())
        if not self.real:
            n = torch.arange(state, dtype=torch.float64)
            turns = n / state if init == "dft" else (2 * n + 1) / (4 * state)
            self.frequency = nn.Parameter((2 * math.pi * turns).to(torch.get_default_dtype()))
        parts = () if self.real else (2,)
        self.W = nn.Parameter(torch.randn(self.directions, width, state, *parts) / state)
        self.recurrent_parameters = ("root_decay", "W") if self.real else ("root_decay", "frequency", "W")

    def extra_repr(self) -> str:
        return f"kind={self.kind!r}, state={len(self.root_decay)}, eigenvalues={'real' if self.real else 'complex'!r}"

    def _system(self) -> tuple[Tensor, Tensor]:
        """log lambda (N,) and W (S, D, N), turned so that the real part of the kernel is what ``kind`` asks for."""
        decay = -self.root_decay.double().square()
        if self.real:
            return decay, self.W.double()
        turn = {"imag": -1j, "sum": 1 - 1j}.get(self.kind, 1)  # Re(-i K) = Im K
        return torch.complex(decay, self.frequency.double()), turn * complex_double(self.W)

    def kernels(self, T: int) -> Tensor:
        """One product of tables of powers; for products of kernels, Im K stands in it as Re(-i K)."""
        log_lambda, W = self._system()
        plain, P = W.shape[1] - self.products, self.products
        if P:
            W = torch.cat([W, -1j * W[:, plain:]], 1)  # (S, D + P, N)
        # Real modes overlap so much that their weights cancel (Claim 1): single precision would keep too few digits.
        dtype = torch.float64 if self.real else self.skip.dtype
        K = vandermonde(log_lambda, W.flatten(0, 1), T, dtype=dtype).to(self.skip.dtype).unflatten(0, W.shape[:2])
        if not P:
            return K
        return torch.cat([K[:, :plain], K[:, plain:-P] * K[:, -P:]], 1)

    def modes(self) -> tuple[Tensor, Tensor]:
        """See :class:`KernelMixer`.  A product is a DLR of N (N+1) / 2 modes: Re K Im K = Re(-i K^2 / 2).

        K^2 = sum_{m<=n} (2 - [m=n]) w_m w_n (lambda_m lambda_n)^k; App. A.2 counts 4 N^2 modes.
        """
        log_lambda, W = self._system()
        W = W[0]
        if not self.products:
            return log_lambda, W
        m, n = torch.triu_indices(len(log_lambda), len(log_lambda), device=W.device)
        plain = len(W) - self.products
        pairs = -0.5j * (2 - (m == n).double()) * W[plain:, m] * W[plain:, n]
        turned = log_lambda[m] + log_lambda[n]
        if not plain:
            return turned, pairs
        first, second = F.pad(W[:plain], (0, 0, 0, self.products)), F.pad(pairs, (0, 0, plain, 0))
        return torch.cat([log_lambda, turned]), torch.cat([first, second], 1)
