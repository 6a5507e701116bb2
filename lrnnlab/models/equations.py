"""Every model of the book on one page: what its A_t and b_t are, and what it reads.

    x_t = A_t x_{t-1} + b_t,        y_t = read(x_t)

Each function below takes a layer m of :mod:`lrnnlab.models` with its weights, and one input z (B,D), and returns A, b and
read.  A is diagonal, of b's shape (..., n), or a matrix (..., n, n).  Fast weights have a matrix S (v,n) as their state,
whose v rows all move by one A.  Layers that squash their state and feed it back have a step of their own (``FED_BACK``);
attention keeps all it has seen (``ATTENTION``); three models of paper 002 are whole nets (``NETS``).  DeltaNet and DeltaProduct
are ``fast_weights`` with the delta rule; ``lrnnlab.models.MODELS`` says which layer each name is built of.

:func:`outputs_of` runs a layer by the loop that one writes on a blackboard.  Nothing here is fast, and what is fast
elsewhere is right because it gives these numbers: ``tests/lrnnlab/models/test_equations.py`` compares every layer's
forward pass, step and gradients with this page.

Letters: B batch, T time, D width, h heads or blocks, n size of one, d size of an attention head; phi a feature map.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.models import layers

sigmoid, tanh, softplus = torch.sigmoid, torch.tanh, F.softplus


def outputs_of(m: nn.Module, z: Tensor) -> Tensor:
    """y (B,T,D) of inputs z (B,T,D); or, for a net of ``NETS``, the logits of tokens (B,T).

    >>> layer, z = layers.RotRNN(4, state=4, heads=2), torch.randn(2, 9, 4)
    >>> bool((layer(z) - outputs_of(layer, z)).abs().max() < 1e-5)
    True
    """
    kind: Any = type(m)
    if kind in NETS or kind in ATTENTION:
        return {**NETS, **ATTENTION}[kind](m, z)
    if getattr(m, "bidirectional", False):
        back = outputs_of(one_way(m, 1), z.flip(1)).flip(1) - m.get_parameter("skip") * z
        if hasattr(m, "max_kernel"):  # paper 004, Eq. 6: on the way back an input counts from the position before it on
            back = F.pad(back[:, 1:], (0, 0, 0, 1))
        return outputs_of(one_way(m, 0), z) + back
    if lags := getattr(m, "max_kernel", None):  # only the last ``lags`` inputs count
        windows = F.pad(z, (0, 0, lags - 1, 0)).unfold(1, lags, 1).mT.flatten(0, 1)  # (BT,lags,D)
        return _run(m, windows)[:, -1].unflatten(0, z.shape[:2])
    return _run(m, z)


def _run(m: nn.Module, z: Tensor) -> Tensor:
    """Step by step."""
    kind: Any = type(m)
    found = []
    if kind in FED_BACK:
        start, step = FED_BACK[kind]
        x = start(m, z)
        for z_t in z.unbind(1):
            x, y = step(m, x, z_t)
            found.append(y)
        return torch.stack(found, 1)
    if kind not in EQUATIONS:
        raise ValueError(f"{kind.__name__} has no equation here: enter a function of it in EQUATIONS")
    x = start_of(m, len(z))
    for z_t in z.unbind(1):
        A, b, read = EQUATIONS[kind](m, z_t)
        x = torch.zeros_like(b) if x is None else x
        x = times(A, x) + b if A.ndim > b.ndim else A * x + b
        found.append(read(x))
    return torch.stack(found, 1)


def start_of(m: nn.Module, batch: int) -> Tensor | None:
    """x_0: learned or fixed where a layer says so, else zero."""
    x0 = getattr(m, "x0", None)
    if isinstance(m, layers.RotRNN):
        x0 = torch.view_as_complex(x0.view(-1, 2))
    if isinstance(m, layers.Diagonal) and m.turning:
        x0 = torch.complex(*x0.chunk(2))
    return None if x0 is None else x0.expand(batch, *x0.shape)


BOTH = {"C": 0, "W": 0, "alpha": 0, "norm": 0, "pieces": 1}  # weights of two directions lie side by side on this axis


def one_way(m: nn.Module, way: int) -> nn.Module:
    """A layer of two directions as one that runs forward (0), or back (1); what is not in ``BOTH`` is shared."""
    one: Any = copy.copy(m)
    one.bidirectional = False
    for kept in ("_parameters", "_buffers"):
        weights = getattr(m, kept).items()
        setattr(one, kept, {name: p.chunk(2, BOTH[name])[way] if name in BOTH else p for name, p in weights})
    return one


def times(A: Tensor, x: Tensor) -> Tensor:
    return (A @ x.unsqueeze(-1)).squeeze(-1)


def outer(a: Tensor, b: Tensor) -> Tensor:
    return a.unsqueeze(-1) * b.unsqueeze(-2)


def zeros(z: Tensor, *shape: int) -> Tensor:
    return z.new_zeros(len(z), *shape)


def eye(n: int, like: Tensor) -> Tensor:
    return torch.eye(n, dtype=like.dtype, device=like.device)


def pairs(p: Tensor) -> Tensor:
    """Complex numbers of a parameter (..., 2)."""
    return torch.view_as_complex(p)


# --- A_t from the input -----------------------------------------------------------------------------------------------


def diagonal(m, z):
    """Paper 000, Eq. 3: x_t = f(u_t) * x_{t-1} + b_t, channel by channel; complex channels are read as [Re, Im]."""
    A = {
        "positive": lambda: sigmoid(m.gate(z)),
        "signed": lambda: tanh(m.gate(z)),
        "complex": lambda: torch.polar(sigmoid(m.gate(z)), m.angle(z)),
        "unit": lambda: torch.exp(1j * m.angle(z)),
    }[m.kind]()
    b = torch.zeros_like(A) if m.drive is None else m.drive(z)
    b = torch.complex(*b.chunk(2, -1)) if m.turning and m.drive is not None else b
    return A, b, lambda x: torch.cat([x.real, x.imag], -1) if x.is_complex() else x


# What a rule makes of the columns of raw (..., to, from); Eq. 6 is "clip", the released code has "release".
COLUMNS: dict[str, Any] = {
    "clip": lambda raw, p: raw / norm(raw, p).clamp(min=1),
    "release": lambda raw, p: COLUMNS["block"](centred(raw), p),
    "centred": lambda raw, p: COLUMNS["clip"](centred(raw), p),
    "block": lambda raw, p: raw / norm(raw, p).amax(-1, keepdim=True),
    "unit": lambda raw, p: raw / norm(raw, p),
    "softmax": lambda raw, p: raw.softmax(-2),
    "hard": lambda raw, p: F.one_hot(raw.argmax(-2), raw.shape[-2]).mT.to(raw),
    "free": lambda raw, p: raw,
}


def centred(raw):
    return raw - raw.mean(-2, keepdim=True)


def norm(A, p):
    """p-norm of each column, (..., 1, n)."""
    return torch.linalg.vector_norm(A, p, -2, keepdim=True)


def block_diagonal(m, z):
    """Paper 000, Eq. 5: h blocks g(u_t) of n x n; entry [i, j] leads from coordinate j to i, columns are bounded."""
    A = COLUMNS[m.rule](m.generator(z).unflatten(-1, (m.b, m.h, m.b)).transpose(-3, -2), m.p)
    b = torch.zeros_like(A[..., 0]) if m.drive == "none" else m.value(z).unflatten(-1, (m.h, m.b))
    return A, b, lambda x: x.flatten(1)


def pd(m, z):
    """PD-SSM (arXiv:2509.22284): columns of one 1, times a complex diagonal; here as a real matrix of twice the size."""
    P = COLUMNS["hard"](m.columns(z).unflatten(-1, (m.h, m.b, m.b)), None)
    if m.phases:
        r, angle = (f(z).unflatten(-1, (m.h, 1, m.b)) for f in (m.modulus, m.angle))
        re, im = P * sigmoid(r) * angle.cos(), P * sigmoid(r) * angle.sin()
        P = torch.cat([torch.cat([re, -im], -1), torch.cat([im, re], -1)], -2)
    return P, torch.zeros_like(P[..., 0]), lambda x: x.flatten(1)


def dictionary(m, z):
    """SD-SSM (arXiv:2412.19350): a mixture of dense matrices, each column divided by its 1.2-norm."""
    A = torch.einsum("bk,kij->bij", m.select(z).softmax(-1), m.A)
    return COLUMNS["unit"](A, 1.2).unsqueeze(1), m.drive(z).unsqueeze(1), lambda x: m.read(x.flatten(1))


def gated_readout(m, y, z):
    """S4's: of what a linear map makes of GELU(y + skip z), one half times the sigmoid of the other."""
    value, gate = m.readout.mix(F.gelu(y + m.readout.skip * z)).chunk(2, -1)
    return value * sigmoid(gate)


def liquid_s4(m, z):
    """Paper 000, Eq. 4: x_t = (A + diag(B u)) x_{t-1} + B u, one system a channel; A from Cayley's transform."""
    M = m.skew - m.skew.mT - torch.diag_embed(m.log_decay.exp()) - outer(m.P, m.P)
    half = M * (m.log_dt.exp() / 2).view(-1, 1, 1)
    r, A = sigmoid(m.share), torch.linalg.solve(eye(M.shape[-1], M) - half, eye(M.shape[-1], M) + half)
    b = r * tanh(m.B * z.unsqueeze(-1))
    return (1 - r).unsqueeze(-1) * A + torch.diag_embed(b), b, lambda x: gated_readout(m, (x * m.C).sum(-1), z)


# --- A constant -------------------------------------------------------------------------------------------------------


def vanilla(m, z):
    """Paper 000, Eq. 2: any matrix."""
    return m.A.expand(len(z), -1, -1), m.drive(z), lambda x: x


def lru(m, z):
    """LRU (paper 001, Sec. 2.3): lambda = exp(-e^nu + i e^theta); what comes in is scaled by sqrt(1 - |lambda|^2)."""
    lam = torch.exp(torch.complex(-m.nu_log.exp(), m.theta_log.exp()))
    scale = m.gamma_log.exp() if m.normaliser == "learned" else (1 - lam.abs() ** 2).sqrt()
    B, C = pairs(m.B), pairs(m.C[0])
    return lam.expand(len(z), -1), scale * (z.to(B) @ B.T), lambda x: (x @ C.T).real + m.skip * z


def s5(m, z):
    """S5: x' = Lambda x + B u held over a step, a step size a state; one of each conjugate pair is kept."""
    Lam, B, C = torch.complex(m.Lambda_re, m.Lambda_im), pairs(m.B), pairs(m.C[0])
    lam = torch.exp(Lam * m.log_step.exp())
    return lam.expand(len(z), -1), (lam - 1) / Lam * (z.to(B) @ B.T), lambda x: 2 * (x @ C.T).real + m.skip * z


def rotrnn(m, z):
    """Paper 001, Eq. 12: x_t = gamma P Theta P^T x_{t-1} + xi B u_t in every head, xi^2 Tr(B^T B) = c (1 - gamma^2).

    The state here is s = P^T x, as n/2 complex numbers, so that A is the diagonal gamma e^(i theta).
    """
    gamma, n = torch.exp(-m.gamma_log.exp()).view(-1, 1, 1), m.B.shape[1]
    P = torch.linalg.matrix_exp(m.M - m.M.mT) if m.rotation == "expm" else eye(n, m.B)
    power = m.c * (1 - gamma**2) if m.normaliser == "corrected" else 1 - m.c * gamma**2  # Eq. 11
    xi = (power / (m.B**2).sum((1, 2), keepdim=True)).sqrt()
    s = times(P.mT, times(xi * m.B, z.unsqueeze(1)))  # (B,h,n)
    b = pairs(s.flatten(1).unflatten(-1, (-1, 2)).contiguous())

    def read(s):
        x = times(P, torch.view_as_real(s).flatten(1).unflatten(-1, (m.heads, n)))
        return x.flatten(1) @ m.C[0].T + m.skip * z

    return (gamma.squeeze(-1) * torch.exp(1j * m.theta)).flatten().expand(len(z), -1), b, read


def _channels(lam, w, m, z):
    """n modes a channel, B = 1: y = Re <w, x> in each."""
    u = z.to(lam.dtype).unsqueeze(-1).expand(*z.shape, w.shape[-1])
    value = lambda x: (x * w).sum(-1).real.to(z.dtype)
    read = (lambda x: gated_readout(m, value(x), z)) if m.gated else (lambda x: value(x) + m.skip * z)
    return lam.expand_as(u), u, read


def dlr(m, z):
    """Paper 004, Sec. 2.3: lambda = exp(-a^2 + i omega), shared by all channels; DLR-R has no omega."""
    decay = -m.root_decay.double().square()
    if m.real:
        return _channels(decay.exp(), m.W[0].double(), m, z)
    lam, w = torch.exp(torch.complex(decay, m.frequency.double())), pairs(m.W[0].double())
    if m.kind in ("real", "imag", "sum"):
        return _channels(lam, {"real": 1, "imag": -1j, "sum": 1 - 1j}[m.kind] * w, m, z)
    product = lambda v: outer(v, v).flatten(-2)  # DLR-prod: Re K Im K = Re(-i/2 K^2), over all n^2 products
    modes, weights = product(lam), -0.5j * product(w)
    if m.kind == "real_prod":  # Re K in the first D // 2 channels
        first = torch.arange(len(w)).unsqueeze(1) < len(w) // 2
        modes, weights = torch.cat([lam, modes]), torch.cat([first * w, ~first * weights], -1)
    return _channels(modes, weights, m, z)


def dss(m, z):
    """DSS: lambda = exp(dt Lambda) with a dt for each channel, weights w (lambda - 1) / Lambda."""
    Lam = torch.complex(-m.log_decay.double().exp(), m.frequency.double())
    lam = torch.exp(outer(m.log_dt.double().exp(), Lam))
    return _channels(lam, pairs(m.W[0].double()) * (lam - 1) / Lam, m, z)


def s4d(m, z):
    """S4D: the same with Lambda for each channel, one of each conjugate pair, and S4's gated readout."""
    Lam = torch.complex(-m.log_decay.double().exp(), m.frequency.double())
    lam = torch.exp(m.log_dt.double().exp().unsqueeze(-1) * Lam)
    return _channels(lam, 2 * pairs(m.C.double()) * (lam - 1) / Lam, m, z)


def s4(m, z):
    """S4: A = diag(Lambda) - P P*, with both of each pair: (I - dt/2 A) x_t = (I + dt/2 A) x_{t-1} + dt B u_t."""
    both = lambda v: torch.cat([v, v.conj()], -1)
    Lam = both(torch.complex(-m.log_decay.double().exp(), m.frequency.double()))
    P, B, C = (both(pairs(p.double())) for p in (m.P, m.B, m.C))
    A, I = torch.diag(Lam) - outer(P, P.conj()), eye(len(Lam), Lam)
    half = m.log_dt.double().exp().view(-1, 1, 1) / 2
    step = torch.linalg.solve(I - half * A, I + half * A)
    b = torch.linalg.solve(I - half * A, 2 * half * B.unsqueeze(-1)).squeeze(-1) * z.to(Lam.dtype).unsqueeze(-1)
    return step.expand(len(z), -1, -1, -1), b, lambda x: gated_readout(m, (C * x).sum(-1).real.to(z), z)


# --- fast weights: S (h,v,n) is written to and read from -------------------------------------------------------------
# The papers multiply S from the right, S_t = S_{t-1} M + ...; A acts on each row as on a column, so A is the transpose of M.

PHI: dict[str, Any] = {
    "elu": lambda x: torch.where(x > 0, x + 1, x.clamp(max=0).exp()),  # elu(x) + 1
    "elu_sum": lambda x: PHI["elu"](x) / PHI["elu"](x).sum(-1, keepdim=True),
    "softmax": lambda x: x.softmax(-1),
    "unit": lambda x: unit(x),
}


def unit(x):
    return x / x.norm(dim=-1, keepdim=True)


def fast_weights(m, z):
    """Paper 003, Eq. 2-8.  Sum: S_t = S_{t-1} + v phi(k)^T.  Delta: S_t = S_{t-1} (I - beta phi phi^T) + beta v phi^T.

    Normalised: a row of ones more in v, by which the answer is divided.  DeltaProduct: several writes a token.
    """
    phi, n = PHI[m.feature_map], m.size
    slow = m.slow(z).unflatten(-1, (m.heads, -1))
    q, writes = slow[..., :n], slow[..., n:].unflatten(-1, (m.householders, -1)).unbind(-2)  # (B,h, k v b)
    A, b = eye(n, z), 0
    for write in writes:
        if m.near is not None:
            write = write * m.near[0].to(z) + m.near[1].to(z)
        k, v = phi(write[..., :n]), write[..., n : 2 * n]
        if m.rule == "delta":
            beta = m.greatest * sigmoid(write[..., 2 * n :])  # in (0, 1), or (0, 2) with negative eigenvalues
            move = eye(n, z) - outer(beta * k, k)
            A, b = A @ move, b @ move + outer(beta * v, k) if torch.is_tensor(b) else outer(beta * v, k)
        else:
            b = outer(F.pad(v, (0, 1), value=1.0) if m.rule == "normalised" else v, k)

    def read(S):
        y = times(S, phi(q))
        return (y[..., :-1] / y[..., -1:] if m.rule == "normalised" else y).flatten(1)

    return A.mT.expand(*q.shape, n).unsqueeze(-3), b, read


def gated_deltanet(m, z):
    """arXiv:2412.06464, Eq. 10: S_t = w S_{t-1} (I - beta k k^T) + beta v k^T, |k| = |q| = 1, w one gate a head."""
    q, k, v, s, b = m.slow(z).unflatten(-1, (m.heads, -1)).split([m.size] * 3 + [1, 1], -1)
    k, w, beta = unit(k), gate(m, s), m.greatest * sigmoid(b)
    A = w.unsqueeze(-1) * (eye(m.size, z) - outer(beta * k, k))
    return A.unsqueeze(-3), outer(beta * v, k), lambda S: times(S, unit(q)).flatten(1)


def mamba2(m, z):
    """arXiv:2405.21060: S_t = w S_{t-1} + dt v k^T."""
    q, k, v, s = m.slow(z).unflatten(-1, (m.heads, -1)).split([m.size] * 3 + [1], -1)
    A = gate(m, s).unsqueeze(-1) * eye(m.size, z)
    return A.unsqueeze(-3), outer(softplus(s + m.dt_bias.unsqueeze(-1)) * v, k), lambda S: times(S, q).flatten(1)


def gate(m, s):
    """w = exp(-e^A dt), dt = softplus(s + bias)."""
    return torch.exp(-m.A_log.exp().unsqueeze(-1) * softplus(s + m.dt_bias.unsqueeze(-1)))


def rwkv7(m, z):
    """arXiv:2503.14456, Eq. 17: S_t = S_{t-1} (diag(w) - kappa (r * kappa)^T) + v k'^T, |kappa| = 1, w above .545."""
    q, k, v, d, r = m.slow(z).unflatten(-1, (m.heads, -1)).split([m.size] * 5, -1)
    w, r, kappa = torch.exp(-math.exp(-0.5) * sigmoid(d + m.d0)), sigmoid(r + m.r0), unit(k * m.k_k)
    A = torch.diag_embed(w) - outer(r * kappa, kappa)
    return A.unsqueeze(-3), outer(v, k * (1 + (r - 1) * m.k_a)), lambda S: times(S, q).flatten(1)


EQUATIONS = {
    layers.Diagonal: diagonal, layers.BlockDiagonal: block_diagonal, layers.OneHotColumns: pd,
    layers.Dictionary: dictionary, layers.LiquidS4: liquid_s4, layers.Vanilla: vanilla, layers.LRU: lru, layers.S5: s5,
    layers.RotRNN: rotrnn, layers.DLR: dlr, layers.DSS: dss, layers.S4D: s4d, layers.S4: s4,
    layers.FastWeights: fast_weights, layers.GatedDeltaNet: gated_deltanet, layers.Mamba2: mamba2, layers.RWKV7: rwkv7,
}  # fmt: skip


# --- not of this form: x_t = f(x_{t-1}, z_t) ---------------------------------------------------------------------------


def elman_or_lstm(m, state, z):
    """Elman: h = tanh(W z + U h + b).  LSTM: four such sums; c = f c + i g, h = o tanh(c)."""
    (h, c), p = state, m.network
    s = F.linear(z, p.weight_ih_l0, p.bias_ih_l0) + F.linear(h, p.weight_hh_l0, p.bias_hh_l0)
    if isinstance(p, nn.RNN):
        return (tanh(s), c), tanh(s)
    i, f, g, o = s.chunk(4, -1)
    c = sigmoid(f) * c + sigmoid(i) * tanh(g)
    return (sigmoid(o) * tanh(c), c), sigmoid(o) * tanh(c)


def e_lstm(m, c, z):
    """Paper 003, Eq. 17-21: the gate sees its own cell only, number by number."""
    f, new = (m.drive(z).unflatten(-1, (2, -1)) + m.w * c.unsqueeze(1)).unbind(1)
    c = sigmoid(f) * c + (1 - sigmoid(f)) * tanh(new)
    return c, sigmoid(m.O(z) + c @ m.W_o.T) * c


def recurrent_delta(m, state, z):
    """Paper 003, Eq. 9: the delta rule, whose slow net also sees what the fast net answered last."""
    (S, y), n, phi = state, m.size, PHI[m.feature_map]
    seen = tanh(y) if m.R.shape[-1] == n else tanh(y).flatten(1).unsqueeze(1)
    s = m.slow(z).unflatten(-1, (m.heads, -1)) + times(m.R, seen)
    if m.near is not None:
        s = s * m.near[0].to(z) + m.near[1].to(z)
    q, k, v, b = phi(s[..., :n]), phi(s[..., n : 2 * n]), s[..., 2 * n : 3 * n], s[..., 3 * n :]
    S = S + outer(m.greatest * sigmoid(b) * (v - times(S, k)), k)
    return (S, times(S, q)), times(S, q).flatten(1)


def self_referential(m, W, z):
    """Paper 003, Eq. 10-12: the matrix that makes y, q, k and its own learning rates rewrites itself."""
    n, phi = W.shape[-1], PHI[m.feature_map]
    y, q, k, b = times(W, z.unflatten(-1, (len(m.W0), n))).split([n, n, n, m.rates], -1)
    rows = torch.arange(3 * n + m.rates).clamp(max=4 * n - 1) // n if m.rates > 1 else [0] * (3 * n + 1)
    moved = sigmoid(b)[..., rows] * times(W, phi(q) - phi(k))
    return W + outer(moved, phi(k)), y.flatten(1)


def rwkv4(m, state, z):
    """RWKV-4: num and den are diagonal recurrences with a constant decay; keys and values see the token before, too."""
    z_before, s_before, num, den = state
    mix = lambda before, now, mu: before + mu * (now - before)
    r, k, v = (f(mix(z_before, z, mu)) for f, mu in zip((m.receptance, m.key, m.value), m.share))
    now = (m.bonus + k).exp()
    y = z + m.output(sigmoid(r) * (num + now * v) / (den + now))
    fade, s = torch.exp(-m.log_decay.exp()), m.norm(y)
    g, key = (mix(s_before, s, mu) for mu in m.share[3:])
    return (z, s, fade * num + k.exp() * v, fade * den + k.exp()), y + sigmoid(m.gate(g)) * m.down(m.up(key).relu() ** 2)


def stretched(w, times):
    """A row drawn ``times`` as long, on straight lines: weight j lies at the middle of its own stretch."""
    last = w.shape[-1] - 1
    at = ((torch.arange(times * (last + 1)) + 0.5) / times - 0.5).clamp(0, last)
    left = at.floor().long()
    return w[..., left] + (at - left).to(w) * (w[..., (left + 1).clamp(max=last)] - w[..., left])


def sgconv(m, seen, z):
    """SGConv: y_t = sum_l K_l z_{t-l} over the last inputs; K is a row of pieces, each twice as long as the last."""
    row = [m.alpha**i * stretched(w, 2 ** max(0, i - 1)) for i, w in enumerate(m.pieces)]
    K = torch.cat(row, -1) / m.norm  # (D, lags)
    seen = torch.cat([z.unsqueeze(-1), seen[..., :-1]], -1)
    return seen, (seen * K).sum(-1) + m.skip * z


FED_BACK = {  # x_0, and the step
    layers.Nonlinear: (lambda m, z: (zeros(z, m.network.hidden_size),) * 2, elman_or_lstm),
    layers.ElementWiseLSTM: (lambda m, z: zeros(z, m.w.shape[1]), e_lstm),
    layers.RecurrentDelta: (lambda m, z: (zeros(z, m.heads, m.size, m.size), zeros(z, m.heads, m.size)), recurrent_delta),
    layers.SelfReferential: (lambda m, z: m.W0.expand(len(z), *m.W0.shape), self_referential),
    layers.RWKV: (lambda m, z: (zeros(z, z.shape[-1]),) * 4, rwkv4),
    layers.SGConv: (lambda m, z: zeros(z, z.shape[-1], m.max_kernel), sgconv),
}


# --- attention: position t asks all that it may see ---------------------------------------------------------------------


def attend(q, k, v, scores=None, scale=None):
    """y_t = sum_s softmax_s(q_t . k_s / sqrt(d) + scores[t, s]) v_s, of q, k, v (B,h,T,d); heads side by side (B,T,hd)."""
    weights = (q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale) + scores).softmax(-1)
    return (weights @ v).transpose(1, 2).flatten(2)


def heads_of(x, h):
    return x.unflatten(-1, (h, -1)).transpose(1, 2)  # (B,T,hd) -> (B,h,T,d)


def only(seen):
    """0 where a position (T,T) is seen, else -inf."""
    return torch.zeros(seen.shape).masked_fill(~seen, -math.inf)


def distances(T):
    return torch.arange(T).unsqueeze(1) - torch.arange(T)  # t - s


def rotary(m, z):
    """Paper 004, Sec. 3.3: each pair of q and k is turned by t 10000^(-2i/d); local: the own chunk and those beside it."""
    t, d = torch.arange(z.shape[1]), m.head_size
    turn = torch.exp(1j * t.double().unsqueeze(1) * 10_000.0 ** (-torch.arange(0, d, 2).double() / d))
    turned = lambda x: torch.view_as_real(pairs(x.double().unflatten(-1, (-1, 2)).contiguous()) * turn).flatten(-2).to(z)
    q, k, v = (heads_of(f(z), m.heads) for f in (m.Q, m.K, m.V))
    seen = (distances(len(t)) >= 0) | (not m.causal)
    if isinstance(m, layers.LocalAttention):
        seen = seen & ((t.unsqueeze(1) // m.chunk - t // m.chunk).abs() <= 1)
    y = m.O(attend(turned(q) * m.temperature, turned(k), v, only(seen).to(z), scale=1))
    for norm, up, _, down in (part.inner for part in m.ff):
        y = y + down(F.gelu(up(norm(y))))
    return y if m.bare else z + F.gelu(y)


def causal(m, z):
    """Paper 003: softmax attention without positions."""
    q, k, v = (heads_of(part, m.heads) for part in m.slow(z).chunk(3, -1))
    return attend(q, k, v, only(distances(z.shape[1]) >= 0).to(z))


ATTENTION = {layers.RotaryAttention: rotary, layers.LocalAttention: rotary, layers.CausalAttention: causal}


# --- nets of paper 002 ----------------------------------------------------------------------------------------------------


def relu_rnn(m, tokens):
    """h_t = relu(W x_t + U h_{t-1} + b), one answer at the end, or one at ``every`` position."""
    p, states = m.network, []
    h = zeros(p.weight_hh_l0[:1], len(p.weight_hh_l0))
    for token in tokens.unbind(1):
        h = (p.weight_ih_l0.T[token] + h @ p.weight_hh_l0.T + p.bias_ih_l0 + p.bias_hh_l0).relu()
        states.append(h)
    return m.head(torch.stack(states, 1) if m.every else h)


def embedded(m, tokens):
    return m.embedding.weight[tokens] * m.embedding.weight.shape[1] ** 0.5


def layer_of_002(layer, h, scores, u=0):
    """Attention with these scores, in a post-norm block or GPT-2's."""
    z = layer.block.before(h)
    q, k, v = (heads_of(f(z), layer.heads) for f in (layer.Q, layer.K, layer.V))
    return layer.block.after(h, layer.O(attend(q + u, k, v, scores(q) if callable(scores) else scores)))


def regular_gpt(m, tokens):
    """Eq. 1: at depth l position t sees t - j c^l, j < c, with a bias r_j; ceil(log_c T) depths see the whole string.

    Learned padding: before each depth the string is filled up from the left with one vector to a multiple of c^(l+1).
    """
    h, T, reach = embedded(m, tokens), tokens.shape[1], 1
    while reach < max(T, 2):
        if m.padding == "learned":
            h = torch.cat([m.pad.expand(len(h), -T % (reach * m.chunk), -1), h], 1)
        gap = distances(h.shape[1])
        seen = (gap >= 0) & (gap % reach == 0) & (gap < reach * m.chunk)
        for layer in m.layers:
            h = layer_of_002(layer, h, layer.r[:, (gap // reach).clamp(0, m.chunk - 1)] + only(seen).to(h))
        h, reach = h[:, -T:], reach * m.chunk
    logits = m.head(m.norm(h))
    return logits[:, -1] if m.form == "tree" else logits


def transformer(m, tokens):
    """Scores of Tables 1-3, from the distance t - s: KERPLE, T5, ALiBi (causal) or Transformer-XL (sees all)."""
    h, gap = embedded(m, tokens), distances(tokens.shape[1])
    if not m.causal:
        for layer in m.layers:
            D = layer.W_r.in_features
            angle = gap.double().unsqueeze(-1) * 10_000.0 ** (-torch.arange(0, D, 2).double() / D)
            R = layer.W_r(torch.cat([angle.sin(), angle.cos()], -1).to(h)).unflatten(-1, (layer.heads, -1))  # (T,T,h,d)
            by_offset = lambda q, v=layer.v, R=R: torch.einsum("bhtd,tshd->bhts", q + v, R) * q.shape[-1] ** -0.5
            h = layer_of_002(layer, h, by_offset, u=layer.u)
        return m.head(m.norm(h)[:, -1])
    scores = SCORES[type(m.position).__name__](m.position, gap.clamp(min=0))
    for layer in m.layers:
        h = layer_of_002(layer, h, scores.to(h) + only(gap >= 0).to(h))
    return m.head(m.norm(h))


def kerple(p, gap):
    """-r_1 log(1 + r_2 (t - s)); both are cut at 0.01, with the gradient as if they were not."""
    r_1, r_2 = p.r + (0.01 - p.r).clamp(min=0).detach()
    return -r_1 * torch.log1p(r_2 * gap)


def t5(p, gap):
    """A learned number for each distance below 16, then for each of 16 ranges up to 128 that grow by a factor."""
    wide = 16 + (gap.clamp(min=1).double() / 16).log() / math.log(128 / 16) * 16
    return p.b[:, torch.where(gap < 16, gap, wide.long().clamp(max=31))]


SCORES = {"Kerple": kerple, "T5": t5, "Alibi": lambda p, gap: -p.slopes * gap}
NETS = {layers.ReluRNN: relu_rnn, layers.RegularGPT: regular_gpt, layers.RelativeTransformer: transformer}
