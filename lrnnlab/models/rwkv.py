"""RWKV-4 (Peng et al. 2023), a baseline of paper 000 (Sec. 4.1): time mixing, then channel mixing.

    r, k, v = linear maps of  mu z_t + (1 - mu) z_{t-1}      (token shift, its own mu for each)
    wkv_t   = (sum_{i<t} e^(k_i - (t-1-i) w) v_i + e^(u + k_t) v_t) / (the same with v = 1)
    m_t     = z_t + W_o (sigmoid(r_t) * wkv_t)
    out_t   = m_t + sigmoid(r'_t) * W_v relu(W_k s_t)^2      (r' and s from token shifts of LayerNorm(m))

wkv is a quotient of two diagonal linear recurrences with the constant transition e^-w.  w > 0 does not depend on the
input: what is multiplied into the state is the same for every token.

RWKV adds its two parts to the residual stream.  A layer of this package is given the normalised stream z and nothing
else, so z stands in for the stream (RWKV itself normalises its embedding before the first block).

Letters: B batch, T time, V vocabulary, D width, E hidden width of channel mixing; z normalised input of the layer; the
paper's w decay, u bonus, a numerator and c denominator of wkv, p their common exponent.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.models.base import Recurrence, check_sizes
from lrnnlab.scans import linear_scan


def wkv(k: Tensor, v: Tensor, w: Tensor, u: Tensor, backend: str = "auto") -> Tensor:
    """k, v (B, T, D), w > 0 and u (D,) -> wkv (B, T, D), a mean of v_1 ... v_t with positive weights."""
    with torch.no_grad():
        wide = torch.promote_types(k.dtype, torch.float32)
        past = torch.arange(k.shape[1], dtype=wide, device=k.device).unsqueeze(-1) * w.to(wide)  # (T, D)
        p = ((k.to(wide) + past).cummax(1).values - past).to(k.dtype)
        before = torch.cat([torch.full_like(p[:, :1], -math.inf), p[:, :-1]], 1)  # p_{t-1}: nothing before the start
    keep, new = torch.exp(before - w - p), torch.exp(k - p)
    sums = linear_scan(torch.cat([keep, keep], -1), torch.cat([new * v, new], -1), backend=backend)
    a, c = F.pad(sums, (0, 0, 1, 0))[:, : k.shape[1]].chunk(2, -1)  # those of t - 1
    return _quotient(a, c, before, u + k, v)


def _quotient(a: Tensor, c: Tensor, p: Tensor, now: Tensor, v: Tensor) -> Tensor:
    """(a e^p + v e^now) / (c e^p + e^now)."""
    largest = torch.maximum(p, now).detach()
    past, present = torch.exp(p - largest), torch.exp(now - largest)
    return (past * a + present * v) / (past * c + present)


class RWKV(Recurrence):
    """One RWKV-4 block.  Starting values of w, u and mu are those of the first block of the released code, from memory.

    ``backend`` names the scan (see :mod:`lrnnlab.scans`) and may be set.

    Parameters
    ----------
    width, expand : int
        D; and E / D, 4 in RWKV-4.

    Examples
    --------
    >>> import torch
    >>> RWKV(8)(torch.zeros(2, 5, 8)).shape
    torch.Size([2, 5, 8])
    """

    backend = "auto"

    def __init__(self, width: int, *, expand: int = 4):
        super().__init__()
        check_sizes(width=width, expand=expand)
        D = width
        channel = torch.arange(D, dtype=torch.get_default_dtype())
        self.log_decay = nn.Parameter(-5 + 8 * (channel / max(D - 1, 1)) ** 0.7)  # w = e^this
        self.bonus = nn.Parameter(math.log(0.3) + 0.5 * ((channel + 1) % 3 - 1))
        self.receptance, self.key, self.value, self.output = (nn.Linear(D, D, bias=False) for _ in range(4))
        self.norm = nn.LayerNorm(D)
        self.gate = nn.Linear(D, D, bias=False)
        self.up, self.down = nn.Linear(D, expand * D, bias=False), nn.Linear(expand * D, D, bias=False)
        share = (channel / D).expand(5, D).clone()  # of r, k, v, then of channel mixing's r', k
        share[0] = share[0] ** 0.5
        self.share = nn.Parameter(share)

    def initial(self, batch: int) -> tuple[Tensor, ...]:
        """(z_{t-1}, LayerNorm(m_{t-1}), a, c, p), each (B, D)."""
        zeros = self.bonus.new_zeros(batch, len(self.bonus))
        return zeros, zeros, zeros, zeros, torch.full_like(zeros, -math.inf)

    def mix(self, z: Tensor) -> Tensor:
        r, k, v = self._time_inputs(z, _shift(z))
        m = z + self.output(torch.sigmoid(r) * wkv(k, v, self.log_decay.exp(), self.bonus, self.backend))
        s = self.norm(m)
        return m + self._mix_channels(s, _shift(s))

    def step(self, state: tuple[Tensor, ...], z_t: Tensor) -> tuple[tuple[Tensor, ...], Tensor]:
        z_before, s_before, a, c, p = state
        r, k, v = self._time_inputs(z_t, z_before)
        m = z_t + self.output(torch.sigmoid(r) * _quotient(a, c, p, self.bonus + k, v))
        older = p - self.log_decay.exp()
        p = torch.maximum(older, k).detach()
        keep, new = torch.exp(older - p), torch.exp(k - p)
        s = self.norm(m)
        state = (z_t, s, keep * a + new * v, keep * c + new, p)
        return state, m + self._mix_channels(s, s_before)

    def _time_inputs(self, z: Tensor, before: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        maps = (self.receptance, self.key, self.value)
        return tuple(f(torch.lerp(before, z, mu)) for f, mu in zip(maps, self.share))

    def _mix_channels(self, s: Tensor, before: Tensor) -> Tensor:
        for_gate, for_key = (torch.lerp(before, s, mu) for mu in self.share[3:])
        hidden = F.relu(self.up(for_key))
        return torch.sigmoid(self.gate(for_gate)) * self.down(hidden * hidden)


def _shift(z: Tensor) -> Tensor:
    """z_{t-1} at t, zero at the first: (B, T, D) -> (B, T, D)."""
    return F.pad(z, (0, 0, 1, 0))[:, : z.shape[1]]
