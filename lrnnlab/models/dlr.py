"""DLR, paper 004 (Gupta, Mehta, Berant 2022, Sec. 2.3): N complex modes, shared by all channels.

    x_t = lambda * x_{t-1} + u_t,   lambda = exp(-a^2 + i omega)        in each channel
    y_t = Re <w, x_t> + skip * u_t     so     y = K * u + skip * u,   K_l = Re sum_n w_n lambda_n^l      (Eq. 1, 4)

``kind="prod"`` is DLR-prod (Sec. 2.1), whose kernel is Re K Im K; ``eigenvalues="real"`` is DLR-R (Sec. 3.3), whose
lambda in (0, 1] and w are real.  The released code has three kinds more, which no table of the paper uses.

Letters: B batch, T time, D width, N state size, S directions.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from lrnnlab.models.base import check_sizes
from lrnnlab.models.constant_diagonal import ChannelModes, complex_double, log_uniform_steps
from lrnnlab.scans.convolution import vandermonde
from lrnnlab.validation import among

FACTOR = {"real": 1, "imag": -1j, "sum": 1 - 1j}  # Im K = Re(-i K)


class DLR(ChannelModes):
    """One DLR layer, (B,T,D) -> (B,T,D); agrees with ``ag1988/dlr`` (580d854).

    Re and Im of w start normal with standard deviation 1/N.  Products have N (N+1) / 2 modes, so their step form is for
    small N.

    Parameters
    ----------
    width, state : int
        D and N.
    kind : str
        The kernel: ``"real"``, Re K (the paper's DLR), or ``"prod"``, Re K Im K; ``"imag"``, Im K, ``"sum"``, Re K + Im K,
        and ``"real_prod"``, Re K in the first D // 2 channels and Re K Im K in the others (released code alone).
    eigenvalues : str
        ``"complex"``, or ``"real"``, with the kind ``"real"`` only.
    init : str
        Angles at the start: ``"dft"``, 2 pi n / N (the paper), or ``"half_circle"``, pi (2n + 1) / (2N).  As only the
        real part is kept, the roots of x^(2N) = -1 with positive imaginary part give every real kernel of length 2N,
        with a perfectly conditioned system; the full circle spans only N (ours, not the paper's).
    dt : (float, float)
        (low, high): |lambda| = exp(-dt/2) with dt log-uniform between them.  Table 7 has (1e-5, 1e-5).
    bidirectional : bool
        Two kernels a channel, with the same lambda (Eq. 6).
    max_kernel : int, optional
        K_l is taken to be 0 from this lag on ("kernel size", Table 8).

    Examples
    --------
    >>> DLR(3, state=8).kernel(10).shape
    torch.Size([3, 10])
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
        among("kind", kind, (*FACTOR, "prod", "real_prod"))
        among("eigenvalues", eigenvalues, ("complex", "real"))
        among("init", init, ("dft", "half_circle"))
        check_sizes(state=state)
        self.real = eigenvalues == "real"
        if self.real and (kind, init) != ("real", "dft"):
            raise ValueError(f"real eigenvalues have no angles and no imaginary part, got kind={kind!r}, init={init!r}")
        self.kind = kind
        self.root_decay = nn.Parameter((log_uniform_steps(state, *dt).exp() / 2).sqrt())
        if not self.real:
            n = torch.arange(state, dtype=torch.float64)
            turns = n / state if init == "dft" else (2 * n + 1) / (4 * state)
            self.frequency = nn.Parameter((2 * math.pi * turns).to(torch.get_default_dtype()))
        parts = () if self.real else (2,)
        self.W = nn.Parameter(torch.randn(self.directions, width, state, *parts) / state)
        self.recurrent_parameters = ("root_decay", "W") if self.real else ("root_decay", "frequency", "W")

    @property
    def first(self) -> int:
        """The first channel whose kernel is a product."""
        return self.W.shape[1] // 2 if self.kind == "real_prod" else 0

    def _system(self) -> tuple[Tensor, Tensor]:
        """log lambda (N,) and W (S, D, N), in double precision."""
        decay = -self.root_decay.double().square()
        if self.real:
            return decay, self.W.double()
        return torch.complex(decay, self.frequency.double()), complex_double(self.W)

    def kernels(self, T: int) -> Tensor:
        """One product of tables of powers; for DLR-prod, Im K stands in it as Re(-i K)."""
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
