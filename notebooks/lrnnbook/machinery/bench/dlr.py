"""``lrnnlab bench dlr``: a DLR layer, forward and backward, beside Figure 4 of paper 004 done step by step, in one run.

``ours`` is :class:`lrnnlab.models.layers.modes.DLR`; ``listing`` builds all N x T powers exp(k log lambda), multiplies W by them
and convolves by FFT, as the figure says.  Both get the same numbers, each in the layout that it likes best, and both
add skip * u.  They take turns; one thread unless said otherwise, denormal numbers flushed, as in our training.

Letters: B batch, T time (the paper's L), D width (H), N state size; u input, y output, K kernel.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from lrnnbook.machinery.bench.peers import Work, calls
from lrnnbook.machinery.bench.recording import Bench, of_peers
from lrnnbook.machinery.bench.scans import compare
from lrnnlab.models.layers.modes import DLR
from lrnnlab.training import deterministic


@dataclass(frozen=True)
class Shape:
    """One layer's shape."""

    B: int
    T: int
    D: int
    N: int

    @property
    def name(self) -> str:
        return f"B={self.B} T={self.T} D={self.D} N={self.N}"

    def layer(self) -> DLR:
        """A fresh layer, the same every time, with the eigenvalues of the atomic tasks (Table 7: dt = 1e-5)."""
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(0)
            return DLR(self.D, state=self.N, dt=(1e-5, 1e-5))

    def signals(self) -> tuple[Tensor, Tensor]:
        """u and the gradient that arrives at y, both (B,T,D)."""
        generator = torch.Generator().manual_seed(0)
        u, dy = torch.randn(2, self.B, self.T, self.D, generator=generator)
        return u, dy


SHAPES = (  # one layer of Table 1 (its batch and length); one of Table 2 at its second length
    Shape(16, 4096, 128, 4096),
    Shape(4, 1 << 14, 32, 4096),
)


def listing(u: Tensor, root_decay: Tensor, frequency: Tensor, W: Tensor, skip: Tensor) -> Tensor:
    """u (B,D,T) -> y (B,D,T) for W (D,N,2): paper 004, Fig. 4, unidirectional, with the skip it does not show."""
    T = u.shape[-1]
    log_lambda = torch.complex(-root_decay.square(), frequency)
    powers = torch.exp(log_lambda.unsqueeze(-1) * torch.arange(T))  # (N, T)
    K = (torch.view_as_complex(W) @ powers).real  # (D, T)
    spectrum = torch.fft.rfft(K, n=2 * T) * torch.fft.rfft(u, n=2 * T)
    return torch.fft.irfft(spectrum, n=2 * T)[..., :T] + skip.unsqueeze(-1) * u


def prepare(shape: Shape) -> dict[str, tuple[Work, ...]]:
    """By name two calls without arguments: y, and y with the gradients of u, the eigenvalues, W and the skip."""
    layer, (u, dy) = shape.layer(), shape.signals()
    weights = (layer.root_decay, layer.frequency, layer.W, layer.skip)
    mine = calls(layer, [u], dy, weights)
    theirs = calls(lambda u: listing(u, layer.root_decay, layer.frequency, layer.W[0], layer.skip),
                   [u.mT.contiguous()], dy.mT.contiguous(), weights)  # fmt: skip
    return {"ours": mine[:2], "listing": theirs[:2]}


def measure(shape: Shape, *, rounds: int = 7, threads: int = 1) -> dict:
    """Seconds (median, least, greatest) of both calls of both, how many times ours the listing takes, peak memory."""
    with deterministic(alone=True):
        torch.set_num_threads(threads)  # put back by the context
        ready = prepare(shape)
        for _, both in ready.values():
            both()  # loads libraries, whose memory is nobody's
        return {"peers": compare(ready.items(), rounds)}


def report(name: str, found: dict) -> str:
    """One shape as text."""
    return of_peers(f"DLR layer, {name}", found, 8)


def dlr(threads: int = 1, rounds: int = 7, shapes: Sequence[Shape] = SHAPES) -> Bench:
    """All shapes, for ``lrnnlab bench dlr``."""
    cases = {shape.name: partial(measure, shape, rounds=rounds, threads=threads) for shape in shapes}
    return Bench("dlr", cases, report, rounds, threads)
