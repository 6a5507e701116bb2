"""Fast weight programmers whose fast net is linear: a matrix W_t that every token writes to and reads from.

    q, k, v, b = W_slow z_t                                      (paper 003, Irie, Csordas, Schmidhuber 2023, Eq. 1, 6)

    sum          W_t = W_{t-1} + v phi(k)^T                       y_t = W_t phi(q)                      Eq. 2-3
    normalised   the same                                         y_t = W_t phi(q) / (s_t . phi(q))     Eq. 4-5
    delta        W_t = W_{t-1} + beta (v - W_{t-1} phi(k)) phi(k)^T,  beta = sigmoid(b)                 Eq. 7-8

with s_t (z_t in Eq. 4) the sum of phi(k_1) ... phi(k_t); it is kept as one more row of W, whose v is 1.

Two steps beyond the paper.  ``allow_negative_eigenvalues``: beta = 2 sigmoid(b), so that I - beta phi(k) phi(k)^T may
reflect and not only shrink (Grazzi, Siems, Franke, Zela, Hutter, Pontil 2024).  ``householders``: n_h writes per token,
so that A_t is a product of n_h such factors; two reflections are a rotation in a plane (DeltaProduct; Siems,
Carstensen, Zela, Hutter, Pontil, Grazzi 2025).

Today's gated rules are three cases of one generalised delta rule (Gated DeltaNet, Mamba-2, RWKV-7):

    S_t = S_{t-1} (diag(w_t) + a_t b_t^T) + v_t k_t^T,   y_t = S_t q_t,   0 < w_t < 1

the form "diagonal plus low rank" of flash-linear-attention (fla-org/flash-linear-attention at bc3b101,
fla/ops/generalized_delta_rule/dplr/naive.py; there w = exp(gk), and S is kept transposed).  Without a and b nothing is
removed, and with w = 1, a = -beta k, b = k and beta v in place of v it is DeltaNet.

Each mixer is the released layer's recurrence, with its parametrisation of gates and strengths and their start.  What the
released layers put around it is not here, as it is not in our DeltaNet: the short convolution (RWKV-7: token shift), the
norm and the gate of the output, skips (Mamba-2's D; RWKV-7's bonus r_k and the first layer's values); the one net has its
own output map, norms, residual and feed-forward part (:mod:`lrnnlab.models.block`).

========== ==============================================================================================
backend    what runs
========== ==============================================================================================
auto       ``cpu`` where it can, ``chunkwise`` on a GPU, else ``reference``
reference  the equation, one step after the other; any device, gradients of any order
chunkwise  T / 16 steps of matrix products; any device, gradients of any order (fla's ``dplr_chunkwise``)
cpu        one compiled pass over every string (:mod:`lrnnlab.models.kernels.fast_weights`)
========== ==============================================================================================

Letters: B batch, T time, D width, h heads, n = D/h size of a head, H = n_h writes per token, c steps of a chunk, N
chunks; z normalised input of the layer, W or S fast weights (v,n), q, k, v queries, keys and values, beta write strength,
w decay, a and b what is removed, u = S_{t-1} a_t, y output.
"""

from __future__ import annotations

import math
from abc import abstractmethod

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.models.base import (
    BACKENDS,
    FEATURE_MAPS,
    POSITIVE,
    Recurrence,
    check_sizes,
    head_size,
    is_compiled,
    run_compiled,
)
from lrnnlab.models.layers.recurrent import near_addition, recurrent_delta
from lrnnlab.scans.delta import BACKENDS as DELTA_BACKENDS
from lrnnlab.scans.delta import chunks, delta_rule
from lrnnlab.scans.reference import no_steps
from lrnnlab.validation import among, number

RULE_BACKENDS = ("cpu", *DELTA_BACKENDS)
RULES = {"sum": "elu", "normalised": "elu", "delta": "elu_sum"}  # and the feature map of the released code


class FastWeights(Recurrence):
    """One layer of Eq. 2-8: inputs (B,T,D) -> y (B,T,D), the heads side by side.

    ``backend`` says how it runs, and may be changed on a finished layer: ``"reference"``, ``"chunkwise"`` and ``"fla"`` as in
    :func:`lrnnlab.scans.delta.delta_rule`; ``"cpu"``, one compiled pass, not for the normalised rule; ``"auto"``, that one
    where it can run, else chunkwise.

    >>> FastWeights(8, heads=2, householders=2, allow_negative_eigenvalues=True)(torch.zeros(3, 7, 8)).shape
    torch.Size([3, 7, 8])
    """

    loops = True

    def __init__(
        self,
        width: int,
        *,
        heads: int = 2,
        rule: str = "delta",  # DeltaNet; "sum" (ULT), "normalised" (NLT); what follows is for the delta rule alone:
        feature_map: str | None = None,  # phi, a name in FEATURE_MAPS; as released: elu, or elu_sum for delta
        allow_negative_eigenvalues: bool = False,  # beta in (0, 2), not (0, 1)
        householders: int = 1,  # n_h, the writes per token
        write_start: float | None = None,  # where b starts: see near_addition and near_translation
        backend: str = "auto",
        chunk: int = 64,  # steps, for "chunkwise"
    ):
        super().__init__()
        among("rule", rule, RULES)
        self.feature_map = RULES[rule] if feature_map is None else feature_map
        among("feature_map", self.feature_map, FEATURE_MAPS)
        if rule == "normalised" and self.feature_map not in POSITIVE:
            raise ValueError(f"the normalised rule divides by a sum of positive features, got {feature_map!r}")
        check_sizes(householders=householders, chunk=chunk)
        if rule != "delta" and (householders > 1 or allow_negative_eigenvalues or write_start is not None):
            raise ValueError(
                "householders is 1, without negative eigenvalues and write_start, unless the rule is delta; got "
                f"{householders}, {allow_negative_eigenvalues=}, {write_start=} with {rule!r}"
            )
        if backend not in RULE_BACKENDS or (backend == "cpu" and rule == "normalised"):
            raise ValueError(f"backend is one of {', '.join(RULE_BACKENDS)}; cpu not for 'normalised'; got {backend!r}, {rule!r}")
        self.size = head_size(width, heads)
        self.heads, self.rule, self.householders = heads, rule, householders
        self.greatest = 2.0 if allow_negative_eigenvalues else 1.0  # of beta; reached by rounding alone, b > 16.6
        self.backend, self.chunk = backend, chunk
        per_write = 2 * self.size + (rule == "delta")
        near = near_translation if allow_negative_eigenvalues else near_addition
        self.near = None if write_start is None else near(per_write, self.size, write_start)
        self.slow = nn.Linear(width, heads * (self.size + householders * per_write), bias=False)

    def ask(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """W_slow z of z (...,D): q (...,h,n) and, for each write, k, v and b (...,H,h,2n+1), without b (...,H,h,2n)."""
        slow = self.slow(z).unflatten(-1, (self.heads, -1))
        writes = slow[..., self.size :].unflatten(-1, (self.householders, -1)).transpose(-2, -3)
        if self.near is not None:
            scale, shift = (part.to(writes) for part in self.near)
            writes = writes * scale + shift
        return slow[..., : self.size], writes

    def program(self, z: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """z (...,D) -> phi(q) (...,h,n) and, for each write, phi(k) (...,H,h,n), v (...,H,h,v), beta (...,H,h)."""
        n, phi = self.size, FEATURE_MAPS[self.feature_map]
        q, writes = self.ask(z)
        k, v = writes[..., :n], writes[..., n : 2 * n]
        if self.rule == "delta":
            beta = self.greatest * torch.sigmoid(writes[..., 2 * n])
        else:
            beta = v.new_ones(v.shape[:-1])
        if self.rule == "normalised":
            v = F.pad(v, (0, 1), value=1.0)
        return phi(q), phi(k), v, beta

    def output(self, y: Tensor) -> Tensor:
        """The layer's output from y = W_t phi(q), (...,h,v) -> (...,D)."""
        if self.rule == "normalised":
            y = y[..., :-1] / y[..., -1:]
        return y.flatten(-2)

    def mix(self, z: Tensor) -> Tensor:
        y = self._compiled(z) if self._is_compiled(z) else self._scanned(z)
        return self.output(y[:, self.householders - 1 :: self.householders])  # what the last write left

    def _is_compiled(self, z: Tensor) -> bool:
        return self.rule != "normalised" and self.backend in ("auto", "cpu") and is_compiled(self.backend, z)

    def _scanned(self, z: Tensor) -> Tensor:
        """y (B,TH,h,v), read after every write."""
        q, k, v, beta = self.program(z)
        q = q.unsqueeze(2).expand(-1, -1, self.householders, -1, -1)
        q, k, v, beta = (x.flatten(1, 2) for x in (q, k, v, beta))  # (B,T,H,...) -> (B,TH,...)
        backend = "chunkwise" if self.backend in ("auto", "cpu") else self.backend
        return delta_rule(q, k, v, beta, backend=backend, chunk=self.chunk, removal=self.rule == "delta")

    def _compiled(self, z: Tensor) -> Tensor:
        """The same from the compiled loop of Recurrent Delta, with no feedback."""
        q, writes = self.ask(z)
        removal = self.rule == "delta"
        if not removal:
            writes = F.pad(writes, (0, 1))  # the loop reads a b, and ignores it without removal
        q = q.unsqueeze(2).expand(-1, -1, self.householders, -1, -1)
        slow = torch.cat([q, writes], -1).flatten(1, 2)  # (B,T,H,h,3n+1) -> (B,TH,h,3n+1)
        return recurrent_delta(
            slow, None, backend=self.backend, feature_map=self.feature_map, greatest=self.greatest, removal=removal
        )[0]

    def initial(self, batch: int) -> Tensor:
        """W_0 = 0, (B,h,v,n)."""
        rows = self.size + (self.rule == "normalised")
        return self.slow.weight.new_zeros(batch, self.heads, rows, self.size)

    def step(self, state: Tensor, z_t: Tensor) -> tuple[Tensor, Tensor]:
        W = state
        q, k, v, beta = self.program(z_t)
        for k_j, v_j, beta_j in zip(k.unbind(1), v.unbind(1), beta.unbind(1)):
            error = v_j - _times(W, k_j) if self.rule == "delta" else v_j
            W = W + (beta_j.unsqueeze(-1) * error).unsqueeze(-1) * k_j.unsqueeze(-2)
        return W, self.output(_times(W, q))


def near_translation(rows: int, n: int, write_start: float) -> tuple[Tensor, Tensor]:
    """Scale and shift (rows,) of what a slow net says of a write, k, v and b, so that two writes start as a translation.
    """
    number(write_start, "write_start")
    scale, shift = torch.ones(rows), torch.zeros(rows)
    scale[:n], shift[0], shift[-1] = 0, 1, write_start
    return scale, shift


def _times(W: Tensor, x: Tensor) -> Tensor:
    """W x for W (...,v,n) and x (...,n)."""
    return (W @ x.unsqueeze(-1)).squeeze(-1)


# --- gated rules -------------------------------------------------------------------------------------------------------

GATED_BACKENDS = (*BACKENDS, "chunkwise")
CHUNK = 16  # steps, as in fla
LEAST_LOG = -math.exp(-0.5)  # of RWKV-7's w, so w > .545


def generalised_delta(
    q: Tensor, v: Tensor, k: Tensor, log_w: Tensor, *removed: Tensor, S0: Tensor | None = None, backend: str = "auto"
) -> tuple[Tensor, Tensor]:
    """y (B,T,h,n) and S_T (B,h,n,n) of the equation above, from q, v, k, log w and, if anything is removed, a and b, all
    (B,T,h,n), and S_0 (B,h,n,n), zero if absent.

    >>> one = torch.ones(1, 3, 1, 1)
    >>> generalised_delta(one, one, one, math.log(0.5) * one)[0].flatten().tolist()
    [1.0, 1.5, 1.75]
    """
    among("backend", backend, GATED_BACKENDS)
    B, T, h, n = q.shape
    S = q.new_zeros(B, h, n, n) if S0 is None else S0
    if backend in ("auto", "cpu") and is_compiled(backend, q):
        return run_compiled("fast_weights.GatedLoop", (torch.stack([q, v, k, log_w.exp(), *removed], -2), S))
    if not T:
        return no_steps(q, v, k, log_w, *removed, S), S
    run = _chunkwise if backend == "chunkwise" or (backend == "auto" and q.is_cuda) else _reference
    return run(S, q, v, k, log_w, *removed)


def _reference(S: Tensor, q: Tensor, v: Tensor, k: Tensor, log_w: Tensor, *removed: Tensor) -> tuple[Tensor, Tensor]:
    """The equation; vectors are columns."""
    outputs = []
    for q_t, v_t, k_t, w_t, *ab in zip(*(x.unsqueeze(-1).unbind(1) for x in (q, v, k, log_w.exp(), *removed))):
        kept = S * w_t.mT + v_t @ k_t.mT
        S = kept + S @ ab[0] @ ab[1].mT if ab else kept
        outputs.append((S @ q_t).squeeze(-1))
    return torch.stack(outputs, 1), S


def _chunkwise(S: Tensor, q: Tensor, v: Tensor, k: Tensor, log_w: Tensor, *removed: Tensor) -> tuple[Tensor, Tensor]:
    """All chunks' systems for u are solved at once; then S goes from chunk to chunk."""
    T, ab = q.shape[1], removed or (torch.zeros_like(k), torch.zeros_like(k))
    q, v, k, log_w, a, b = (chunks(x, CHUNK) for x in (q, v, k, log_w, *ab))  # (B,h,N,c,n)
    total, every = log_w.cumsum(-2), torch.ones(CHUNK, CHUNK, dtype=torch.bool, device=q.device)
    upto, later = every.triu().unsqueeze(-1), every.triu(1).unsqueeze(-1)
    # What of step j's write is left at step i, and at step i - 1: (B,h,N,c,c,n).  The decays from j + 1 to i are summed by
    # themselves: in a difference of two totals a token that resets the state leaves no digits of what comes after it.
    left = log_w.unsqueeze(-2).masked_fill(upto, 0).cumsum(-3).masked_fill(later, -math.inf).exp()
    before = F.pad(left[..., :-1, :, :], (0, 0, 0, 0, 1, 0))
    start, start_before = total.exp(), F.pad(total[..., :-1, :], (0, 0, 1, 0)).exp()
    qk, qb, ak, ab_ = (torch.einsum("...in,...ijn,...jn->...ij", x, kept, write)
                       for x, kept in ((q, left), (a, before)) for write in (k, b))  # fmt: skip
    known = torch.cat([ak @ v, a * start_before], -1)
    V, K = torch.linalg.solve_triangular(-ab_, known, upper=False, unitriangular=True).chunk(2, -1)
    given = qk @ v, qb, q * start, v.mT @ (k * left[..., -1, :, :]), b * left[..., -1, :, :], V, K, start[..., -1:, :]
    outputs = []
    for y_n, qb_n, q_n, written, b_n, V_n, K_n, kept_n in zip(*(x.unbind(2) for x in given)):
        U = V_n + K_n @ S.mT  # (B,h,c,n)
        outputs.append(y_n + qb_n @ U + q_n @ S.mT)
        S = S * kept_n + written + U.mT @ b_n
    return torch.cat(outputs, 2)[:, :, :T].transpose(1, 2), S


class _Gated(Recurrence):
    """A mixer whose state is S; a subclass says what a token gives."""

    backend = "auto"  # how it runs, one of ``GATED_BACKENDS``; may be set

    loops = True

    def __init__(self, width: int, heads: int, rows: int, scalars: int = 0):
        super().__init__()
        self.heads, self.size = heads, head_size(width, heads)
        self.slow = nn.Linear(width, heads * (rows * self.size + scalars), bias=False)

    @abstractmethod
    def program(self, z: Tensor) -> tuple[Tensor, ...]:
        """z (...,D) -> q, v, k, log w and, if anything is removed, a and b, all (...,h,n)."""

    def _ask(self, z: Tensor, *sizes: int) -> tuple[Tensor, ...]:
        return self.slow(z).unflatten(-1, (self.heads, -1)).split(sizes, -1)

    def _time_constants(self, least: float) -> None:
        """A_log and dt_bias (h,) of Mamba-2's gate, with their released start: A from ``least`` to 16, dt .001 to .1."""
        dt = torch.empty(self.heads).uniform_(math.log(1e-3), math.log(0.1)).exp()
        self.A_log = nn.Parameter(torch.empty(self.heads).uniform_(least, 16).log())
        self.dt_bias = nn.Parameter(dt + torch.log(-torch.expm1(-dt)))  # softplus gives dt

    def _decay(self, s: Tensor) -> tuple[Tensor, Tensor]:
        """dt and log w of s, all (...,h,1)."""
        dt = F.softplus(s + self.dt_bias.unsqueeze(-1))
        return dt, -self.A_log.exp().unsqueeze(-1) * dt

    def initial(self, batch: int) -> Tensor:
        """S_0 = 0, (B,h,n,n)."""
        return self.slow.weight.new_zeros(batch, self.heads, self.size, self.size)

    def mix(self, z: Tensor) -> Tensor:
        return generalised_delta(*self.program(z), backend=self.backend)[0].flatten(2)

    def step(self, state: Tensor, z_t: Tensor) -> tuple[Tensor, Tensor]:
        y, S = generalised_delta(*self.program(z_t.unsqueeze(1)), S0=state, backend=self.backend)
        return S, y.flatten(1)


class GatedDeltaNet(_Gated):
    """S_t = w_t S_{t-1} (I - beta_t k_t k_t^T) + beta_t v_t k_t^T, one gate w_t a head: inputs (B,T,D) -> y (B,T,D).

    Yang, Kautz, Hatamizadeh 2024 (arXiv:2412.06464), Eq. 10; fla/ops/gated_delta_rule/naive.py and, for gate, strength
    and start, fla/layers/gated_deltanet.py.  log w = -e^A_log softplus(s + dt_bias), |k| = |q| = 1, beta = sigmoid(b).
    ``allow_negative_eigenvalues``: beta = 2 sigmoid(b), the released layer's ``allow_neg_eigval``, off as it ships.

    >>> GatedDeltaNet(8, heads=2)(torch.zeros(3, 7, 8)).shape
    torch.Size([3, 7, 8])
    """

    def __init__(self, width: int, *, heads: int = 2, allow_negative_eigenvalues: bool = False):
        super().__init__(width, heads, 3, 2)
        self.greatest = 2.0 if allow_negative_eigenvalues else 1.0
        self._time_constants(0)

    def program(self, z: Tensor) -> tuple[Tensor, ...]:
        n = self.size
        q, k, v, s, b = self._ask(z, n, n, n, 1, 1)
        log_w, k, beta = self._decay(s)[1], F.normalize(k, dim=-1), self.greatest * torch.sigmoid(b)
        return F.normalize(q, dim=-1), beta * v, k, log_w.expand_as(k), -beta * log_w.exp() * k, k


class Mamba2(_Gated):
    """S_t = w_t S_{t-1} + dt_t v_t k_t^T, one gate w_t a head: inputs (B,T,D) -> y (B,T,D).

    Dao, Gu 2024 (arXiv:2405.21060), Sec. 5 to 7, whose x, B and C are v, k and q, each head with its own; gate and start
    as in fla/layers/mamba2.py, the sum as in fla/ops/simple_gla/naive.py.  dt = softplus(s + dt_bias), log w = -e^A_log dt.

    >>> Mamba2(8, heads=2)(torch.zeros(3, 7, 8)).shape
    torch.Size([3, 7, 8])
    """

    def __init__(self, width: int, *, heads: int = 2):
        super().__init__(width, heads, 3, 1)
        self._time_constants(1)

    def program(self, z: Tensor) -> tuple[Tensor, ...]:
        n = self.size
        q, k, v, s = self._ask(z, n, n, n, 1)
        dt, log_w = self._decay(s)
        return q, dt * v, k, log_w.expand_as(k)


class RWKV7(_Gated):
    """S_t = S_{t-1} (diag(w_t) - kappa_t (r_t * kappa_t)^T) + v_t k_t^T: inputs (B,T,D) -> y (B,T,D).

    Peng et al. 2025 (arXiv:2503.14456), Eq. 17, with r the paper's a, "in-context learning rate"; fla/layers/rwkv7.py.
    log w = -e^(-1/2) sigmoid(d), so w > .545; r = sigmoid, kappa = (k * k_k) / |k * k_k|; what is written has the key
    k * (1 + (r - 1) * k_a).  d and r are affine in z (the paper's low rank would be wider than D here), and start, like
    k_k and k_a, as in the released first layer, without its zigzag.  The eigenvalues of one token's matrix are real, above
    -.455 and below 1; those of a product of two may be complex, or above 1, so that a state may grow.

    >>> RWKV7(8, heads=2)(torch.zeros(3, 7, 8)).shape
    torch.Size([3, 7, 8])
    """

    def __init__(self, width: int, *, heads: int = 2):
        super().__init__(width, heads, 5)
        rise = torch.linspace(-0.5, 0.5, width).unflatten(0, (heads, -1))
        self.d0, self.r0 = nn.Parameter(6 * rise - 2.5), nn.Parameter(0.4 * rise - 0.19)
        self.k_k, self.k_a = nn.Parameter(0.71 - 0.1 * rise), nn.Parameter(torch.full_like(rise, 1.02))

    def program(self, z: Tensor) -> tuple[Tensor, ...]:
        q, k, v, d, r = self._ask(z, *[self.size] * 5)
        log_w, r = LEAST_LOG * torch.sigmoid(d + self.d0), torch.sigmoid(r + self.r0)
        kappa = F.normalize(k * self.k_k, dim=-1)
        return q, v, k * (1 + (r - 1) * self.k_a), log_w, -kappa, r * kappa
