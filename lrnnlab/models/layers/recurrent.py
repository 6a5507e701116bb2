"""Recurrences that squash their state and feed it back: Elman, LSTM, e-LSTM, Recurrent Delta, SRWM, RWKV-4.

Paper 003's have two backends, equal in value and gradient: ``reference`` is the equations, step by step, all heads at once;
``cpu`` is one compiled pass over every string, forward and back (:mod:`lrnnlab.models.kernels.recurrent`).

Letters: B batch, T time, D width, E width of the input or of channel mixing, h heads, n = D/h size of a head, m what a
head sees of y (n or D), r = 3n + rates rows of W; z or x input of the layer, c cell or denominator, a numerator, W fast
weights, q, k, v queries, keys and values, s the arguments of phi and sigmoid, y output.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.models.base import BACKENDS, FEATURE_MAPS, Recurrence, check_sizes, head_size, is_compiled, run_compiled
from lrnnlab.scans.kernels import dispatch
from lrnnlab.scans.reference import no_steps
from lrnnlab.scans.transforms import within_func
from lrnnlab.validation import among, number

CELLS = {"elman": nn.RNN, "lstm": nn.LSTM}


def run(network: Any, z: Tensor, state: Any = None) -> tuple[Tensor, Any]:
    """``network(z, state)`` of one layer of torch's RNN or LSTM, batch first; within ``torch.func`` step by step."""
    if not within_func():
        return network(z, state)
    zero = z.new_zeros(1, len(z), network.hidden_size)
    h, c = (zero, zero) if state is None else state if isinstance(state, tuple) else (state, zero)
    h, c, states = h[0], c[0], []
    for s in F.linear(z, network.weight_ih_l0, network.bias_ih_l0).unbind(1):
        s = s + F.linear(h, network.weight_hh_l0, network.bias_hh_l0)
        if isinstance(network, nn.LSTM):
            i, f, g, o = s.chunk(4, -1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        else:
            h = torch.tanh(s) if network.nonlinearity == "tanh" else torch.relu(s)
        states.append(h)
    state = (h.unsqueeze(0), c.unsqueeze(0)) if isinstance(network, nn.LSTM) else h.unsqueeze(0)
    return torch.stack(states, 1), state


class Nonlinear(Recurrence):
    """torch's own ``nn.RNN`` (tanh, Elman 1990) or ``nn.LSTM`` (Hochreiter and Schmidhuber 1997), started at zero.
    The recurrent weights start as torch's own, or orthogonal with biases of zero (``start="orthogonal"``); ``inputs`` is the
    width of what it reads, D if not given.

    >>> Nonlinear(5, cell="lstm", inputs=3)(torch.zeros(2, 7, 3)).shape
    torch.Size([2, 7, 5])
    """

    def __init__(self, width: int, cell: str, *, inputs: int | None = None, start: str = "uniform"):
        super().__init__()
        among("cell", cell, CELLS)
        among("start", start, ("uniform", "orthogonal"))
        inputs = width if inputs is None else inputs
        check_sizes(width=width, inputs=inputs)
        self.network = CELLS[cell](inputs, width, batch_first=True)
        if start == "orthogonal":
            nn.init.orthogonal_(self.network.weight_hh_l0)
            nn.init.zeros_(self.network.bias_ih_l0)
            nn.init.zeros_(self.network.bias_hh_l0)

    def initial(self, batch: int) -> Any:
        weight = self.network.weight_hh_l0
        zeros = weight.new_zeros(1, batch, weight.shape[1])
        return (zeros, zeros) if isinstance(self.network, nn.LSTM) else zeros

    def mix(self, z: Tensor) -> Tensor:
        if not z.shape[1]:  # torch's networks refuse an empty sequence
            return z.new_zeros(len(z), 0, self.network.hidden_size)
        return run(self.network, z)[0]

    def step(self, state: Any, z_t: Tensor) -> tuple[Any, Tensor]:
        out, state = run(self.network, z_t.unsqueeze(1), state)
        return state, out.squeeze(1)


# --- the e-LSTM that paper 003 compares with ---------------------------------------------------------------------------
# Its equations (App. C.3, Eq. 17-21; "QuasiLSTM" in the released code): every cell sees the last state of itself alone.
#
#     f = sigmoid(F x + w_f * c_{t-1} + b_f)        z = tanh(Z x + w_z * c_{t-1} + b_z)
#     c_t = f * c_{t-1} + (1 - f) * z               h_t = sigmoid(O x + W_o c_t + b_o) * c_t
#
# The paper prints no biases; the released code has them, and one layer only (the search in the text has one and two).


def element_wise(s: Tensor, w: Tensor, c0: Tensor, *, backend: str = "auto") -> Tensor:
    """c_1 ... c_T (B,T,D) of Eq. 17-19, from s (B,T,2,D), that is F x + b_f and Z x + b_z, w (2,D) and c0 (B,D)."""
    if is_compiled(backend, s):
        return run_compiled("recurrent.ElementWiseLoop", (s, w, c0))
    return _e_lstm_reference(s, w, c0)


def _e_lstm_reference(s: Tensor, w: Tensor, c: Tensor) -> Tensor:
    states = []
    for s_t in s.unbind(1):
        gate, new = (s_t + w * c.unsqueeze(1)).unbind(1)
        c = torch.lerp(torch.tanh(new), c, torch.sigmoid(gate))
        states.append(c)
    return torch.stack(states, 1) if states else no_steps(s[:, :, 0], w, c)


class ElementWiseLSTM(Recurrence):
    """One e-LSTM layer: inputs (B,T,E) -> h (B,T,D).

    They start as released: F, Z, w_f, w_z, b_f and b_z normal with deviation 0.1; O, W_o and b_o as torch's one linear
    map of [x; c] would, uniform up to (E + D)^-1/2.
    E (``inputs``) is D if not given; ``backend`` is one of ``BACKENDS`` and may be changed on a finished layer.

    >>> ElementWiseLSTM(5, inputs=3)(torch.zeros(2, 7, 3)).shape
    torch.Size([2, 7, 5])
    """

    loops = True

    def __init__(self, width: int, *, inputs: int | None = None, backend: str = "auto"):
        super().__init__()
        inputs = width if inputs is None else inputs
        check_sizes(width=width, inputs=inputs)
        among("backend", backend, BACKENDS)
        self.backend = backend
        self.drive = nn.Linear(inputs, 2 * width)  # F and Z, with their biases
        self.w = nn.Parameter(torch.empty(2, width))
        self.O = nn.Linear(inputs, width)
        self.W_o = nn.Parameter(torch.empty(width, width))
        for values in (*self.drive.parameters(), self.w):
            nn.init.normal_(values, std=0.1)
        for values in (*self.O.parameters(), self.W_o):
            nn.init.uniform_(values, -((inputs + width) ** -0.5), (inputs + width) ** -0.5)

    def initial(self, batch: int) -> Tensor:
        return self.w.new_zeros(batch, self.w.shape[1])

    def _run(self, x: Tensor, c0: Tensor) -> tuple[Tensor, Tensor]:
        """x (B,T,E) -> c and h, both (B,T,D)."""
        c = element_wise(self.drive(x).unflatten(-1, self.w.shape), self.w, c0, backend=self.backend)
        return c, torch.sigmoid(self.O(x) + c @ self.W_o.mT) * c

    def mix(self, z: Tensor) -> Tensor:
        return self._run(z, self.initial(len(z)))[1]

    def step(self, state: Tensor, z_t: Tensor) -> tuple[Tensor, Tensor]:
        c, h = self._run(z_t.unsqueeze(1), state)
        return c[:, 0], h[:, 0]


# --- Recurrent Delta: the delta rule whose slow net also sees what the memory answered before --------------------------
#     q, k, v, b = W_slow z_t + R tanh(y_{t-1})               (paper 003, Irie, Csordas, Schmidhuber 2023, Eq. 9)
#     W_t = W_{t-1} + beta (v - W_{t-1} phi(k)) phi(k)^T,  beta = sigmoid(b),   y_t = W_t phi(q),   y_0 = 0
#
# In the released code a head's R sees the y of that head alone (``recurrence="head"``); Eq. 9 concatenates the whole y
# (``recurrence="full"``).


FARTHEST = 80.0  # a write_start whose exponential is still a float32


def recurrent_delta(
    slow: Tensor,
    R: Tensor | None,
    W0: Tensor | None = None,
    y0: Tensor | None = None,
    *,
    feature_map: str = "softmax",
    greatest: float = 1.0,
    removal: bool = True,
    backend: str = "auto",
) -> tuple[Tensor, Tensor]:
    """y (B,T,h,n) and W_T (B,h,n,n) of Eq. 7-9, from slow = W_slow z (B,T,h,3n+1), R (h,3n+1,m) or None for no feedback
    (DeltaNet), and the memory and output to start with, W0 (B,h,n,n) and y0 (B,h,n), zero if absent.

    beta is ``greatest`` sigmoid(b); without ``removal`` it is the additive rule of Eq. 2, W_t = W_{t-1} + v phi(k)^T.
    """
    B, _, h, rows = slow.shape
    n = (rows - 1) // 3
    W = slow.new_zeros(B, h, n, n) if W0 is None else W0
    y = slow.new_zeros(B, h, n) if y0 is None else y0
    if is_compiled(backend, slow):
        return run_compiled("recurrent.RecurrentDeltaLoop", (slow, R, W, y), feature_map, removal, greatest)
    return _delta_reference(slow, R, W, y, feature_map, greatest, removal)


def _delta_reference(
    slow: Tensor, R: Tensor | None, W: Tensor, y: Tensor, feature_map: str, greatest: float, removal: bool
) -> tuple[Tensor, Tensor]:
    """The equations.  Vectors are columns, so that a product with W is one batched matrix product."""
    phi, n = FEATURE_MAPS[feature_map], W.shape[-1]
    outputs = []
    for slow_t in slow.unbind(1):  # indexing by t would make the backward pass quadratic in T
        s = slow_t if R is None else slow_t + _feedback(R, y)
        q, k, v, b = s.split([n, n, n, 1], -1)
        key, write = phi(k).unsqueeze(-1), v.unsqueeze(-1)
        if removal:
            write = greatest * torch.sigmoid(b).unsqueeze(-1) * (write - W @ key)
        W = W + write @ key.mT
        y = (W @ phi(q).unsqueeze(-1)).squeeze(-1)
        outputs.append(y)
    return torch.stack(outputs, 1) if outputs else no_steps(slow[..., :n], R, W, y), W


def _feedback(R: Tensor, y: Tensor) -> Tensor:
    """R tanh(y) for y (B,h,n) -> (B,h,3n+1); a head sees its own y, or all of them if R is so wide."""
    seen = torch.tanh(y) if R.shape[-1] == y.shape[-1] else torch.tanh(y).flatten(1).unsqueeze(1)  # (B,h or 1,m)
    return (R @ seen.unsqueeze(-1)).squeeze(-1)


def near_addition(rows: int, n: int, write_start: float) -> tuple[Tensor, Tensor]:
    """Scale and shift (rows,) of what a slow net says, ending in v (n) and b, so that beta starts near sigmoid(write_start).
    """
    number(write_start, "write_start", -FARTHEST, FARTHEST)
    scale, shift = torch.ones(rows), torch.zeros(rows)
    scale[-n - 1 : -1], shift[-1] = n * n * (1 + math.exp(-write_start)), write_start
    return scale, shift


class RecurrentDelta(Recurrence):
    """One layer: inputs (B,T,D) -> y (B,T,D), the heads side by side.

    R starts normal with variance 1/m (m = n in the released code).

    >>> RecurrentDelta(8, heads=2)(torch.zeros(3, 7, 8)).shape
    torch.Size([3, 7, 8])
    """

    loops = True

    def __init__(
        self,
        width: int,
        *,
        heads: int = 2,
        feature_map: str = "softmax",  # phi, as released
        recurrence: str = "head",  # as released; "full" as in Eq. 9
        allow_negative_eigenvalues: bool = False,  # beta in (0, 2), not (0, 1)
        write_start: float | None = None,  # see near_addition
        feedback_start: float = 1.0,  # what R is multiplied by at the start
        backend: str = "auto",  # one of BACKENDS; may be changed on a finished layer
    ):
        super().__init__()
        among("feature_map", feature_map, FEATURE_MAPS)
        among("backend", backend, BACKENDS)
        among("recurrence", recurrence, ("head", "full"))
        number(feedback_start, "feedback_start")
        self.heads, self.size, self.feature_map, self.backend = heads, head_size(width, heads), feature_map, backend
        self.greatest = 2.0 if allow_negative_eigenvalues else 1.0  # of beta
        rows, seen = 3 * self.size + 1, self.size if recurrence == "head" else width
        self.slow = nn.Linear(width, heads * rows, bias=False)
        self.R = nn.Parameter(torch.randn(heads, rows, seen) * (feedback_start / seen**0.5))
        self.near = None if write_start is None else near_addition(rows, self.size, write_start)

    def run(self, z: Tensor, W0: Tensor | None = None, y0: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """z (B,T,D) -> y (B,T,h,n) and W_T, from a kept state."""
        slow: Tensor = self.slow(z).unflatten(-1, (self.heads, -1))
        R: Tensor = self.R
        if self.near is not None:
            scale, shift = (part.to(slow) for part in self.near)
            slow, R = slow * scale + shift, R * scale.unsqueeze(-1)
        return recurrent_delta(
            slow, R, W0, y0, feature_map=self.feature_map, greatest=self.greatest, backend=self.backend
        )

    def mix(self, z: Tensor) -> Tensor:
        return self.run(z)[0].flatten(2)

    def initial(self, batch: int) -> tuple[Tensor, Tensor]:
        """W_0 (B,h,n,n) and y_0 (B,h,n), both zero."""
        shape = (batch, self.heads, self.size)
        return self.R.new_zeros(*shape, self.size), self.R.new_zeros(shape)

    def step(self, state: tuple[Tensor, Tensor], z_t: Tensor) -> tuple[tuple[Tensor, Tensor], Tensor]:
        y, W = self.run(z_t.unsqueeze(1), *state)
        return (W, y[:, 0]), y.flatten(1)


# --- SRWM, the self-referential weight matrix: it answers, and programs its own change ---------------------------------
#     y, q, k, b = W_{t-1} x_t                                 (paper 003, Irie, Csordas, Schmidhuber 2023, Eq. 10-12)
#     W_t = W_{t-1} + sigmoid(b) (W_{t-1} phi(q) - W_{t-1} phi(k)) phi(k)^T
#
# The start W_0 is all that is learned.  Eq. 10 has one learning rate; the released code has four, one each for the rows
# that make y, q, k and b.  (Its GPU kernel reads min(4, n) of them; here all four count at any n.)


def self_referential(
    x: Tensor, W0: Tensor, *, rates: int = 4, feature_map: str = "softmax", backend: str = "auto"
) -> tuple[Tensor, Tensor]:
    """y (B,T,h,n) and W_T of Eq. 10-12, from x (B,T,h,n) and W0 (B,h,3n+rates,n); y_t sees W_{t-1}, not step t's write."""
    if is_compiled(backend, x):
        return run_compiled("recurrent.SelfReferentialLoop", (x, W0), rates, feature_map)
    return _srwm_reference(x, W0, rates, feature_map)


def _srwm_reference(x: Tensor, W: Tensor, rates: int, feature_map: str) -> tuple[Tensor, Tensor]:
    """The equations.  Vectors are columns, so that a product with W is one batched matrix product."""
    phi, n = FEATURE_MAPS[feature_map], x.shape[-1]
    part = rate_of_row(n, rates, x.device)
    outputs = []
    for x_t in x.unsqueeze(-1).unbind(1):
        y, q, k, b = (W @ x_t).squeeze(-1).split([n, n, n, rates], -1)
        key = phi(k).unsqueeze(-1)
        target = phi(q).unsqueeze(-1)
        beta = torch.sigmoid(b)[..., part].unsqueeze(-1)  # (B,h,r,1)
        W = W + beta * (W @ (target - key)) @ key.mT
        outputs.append(y)
    return torch.stack(outputs, 1) if outputs else no_steps(x, W), W


def rate_of_row(n: int, rates: int, device: torch.device | None = None) -> Tensor:
    """Which learning rate a row of W has, (3n+rates,)."""
    if rates == 1:
        return torch.zeros(3 * n + 1, dtype=torch.int64, device=device)
    return torch.tensor([0] * n + [1] * n + [2] * n + [3] * 4, device=device)


class SelfReferential(Recurrence):
    """One layer: inputs (B,T,D) -> y (B,T,D), the heads side by side.

    W_0 starts normal with deviation n^-1/2, the rows that make q with 0.01 of it (App. C.2); those that make b around -1.

    >>> SelfReferential(8, heads=2, rates=1)(torch.zeros(3, 7, 8)).shape
    torch.Size([3, 7, 8])
    """

    loops = True

    def __init__(
        self,
        width: int,
        *,
        heads: int = 2,
        rates: int = 4,  # as released; 1 as in Eq. 10
        feature_map: str = "softmax",  # phi
        backend: str = "auto",  # one of BACKENDS; may be changed on a finished layer
    ):
        super().__init__()
        among("feature_map", feature_map, FEATURE_MAPS)
        among("backend", backend, BACKENDS)
        if rates not in (1, 4):
            raise ValueError(f"rates is 1 or 4, got {rates}")
        n = head_size(width, heads)
        self.rates, self.feature_map, self.backend = rates, feature_map, backend
        W0 = torch.randn(heads, 3 * n + rates, n) / n**0.5
        W0[:, n : 2 * n] *= 0.01
        W0[:, 3 * n :] -= 1  # as released
        self.W0 = nn.Parameter(W0)

    def run(self, x: Tensor, W: Tensor) -> tuple[Tensor, Tensor]:
        """x (B,T,D) -> y (B,T,h,n) and W_T, from W (B,h,r,n)."""
        x = x.unflatten(-1, (len(self.W0), -1))
        return self_referential(x, W, rates=self.rates, feature_map=self.feature_map, backend=self.backend)

    def mix(self, z: Tensor) -> Tensor:
        return self.run(z, self.initial(len(z)))[0].flatten(2)

    def initial(self, batch: int) -> Tensor:
        """W_0, the same for every string, (B,h,r,n)."""
        return self.W0.expand(batch, *self.W0.shape)

    def step(self, state: Tensor, z_t: Tensor) -> tuple[Tensor, Tensor]:
        y, W = self.run(z_t.unsqueeze(1), state)
        return W, y.flatten(1)


# --- RWKV-4 (Peng et al. 2023), a baseline of paper 000 (Sec. 4.1): time mixing, then channel mixing -------------------
#     r, k, v = linear maps of  mu z_t + (1 - mu) z_{t-1}      (token shift, its own mu for each)
#     wkv_t   = (sum_{i<t} e^(k_i - (t-1-i) w) v_i + e^(u + k_t) v_t) / (the same with v = 1)
#     m_t     = z_t + W_o (sigmoid(r_t) * wkv_t)
#     out_t   = m_t + sigmoid(r'_t) * W_v relu(W_k s_t)^2      (r' and s from token shifts of LayerNorm(m))
#
# wkv is a quotient of two diagonal linear recurrences with the constant transition e^-w.  w > 0 does not depend on the
# input: what is multiplied into the state is the same for every token.
#
# RWKV adds its two parts to the residual stream.  A layer of this package is given the normalised stream z and nothing
# else, so z replaces the stream (RWKV itself normalises its embedding before the first block).


def wkv(k: Tensor, v: Tensor, w: Tensor, u: Tensor, backend: str = "auto") -> Tensor:
    """k, v (B, T, D), w > 0 and u (D,) -> wkv (B, T, D), a mean of v_1 ... v_t with positive weights."""
    with torch.no_grad():
        wide = torch.promote_types(k.dtype, torch.float32)
        past = torch.arange(k.shape[1], dtype=wide, device=k.device).unsqueeze(-1) * w.to(wide)  # (T, D)
        p = ((k.to(wide) + past).cummax(1).values - past).to(k.dtype)
        before = torch.cat([torch.full_like(p[:, :1], -math.inf), p[:, :-1]], 1)  # p_{t-1}: nothing before the start
    keep, new = torch.exp(before - w - p), torch.exp(k - p)
    sums = dispatch.linear(torch.cat([keep, keep], -1), torch.cat([new * v, new], -1), None, backend)
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
    E is ``expand`` times D.

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
