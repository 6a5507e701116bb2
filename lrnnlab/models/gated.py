"""Today's gated fast weights: Gated DeltaNet, Mamba-2 and RWKV-7, three cases of one generalised delta rule.

    S_t = S_{t-1} (diag(w_t) + a_t b_t^T) + v_t k_t^T,   y_t = S_t q_t,   0 < w_t < 1

the form "diagonal plus low rank" of flash-linear-attention (fla-org/flash-linear-attention at bc3b101,
fla/ops/generalized_delta_rule/dplr/naive.py; there w = exp(gk), and S is kept transposed).  Without a and b nothing is
removed, and with w = 1, a = -beta k, b = k and beta v in place of v it is DeltaNet.

Each mixer is the released layer's recurrence, with its parametrisation of gates and strengths and their start.  What the
released layers put around it is not here, as it is not in our DeltaNet: the short convolution (RWKV-7: token shift), the
norm and the gate of the output, skips (Mamba-2's D; RWKV-7's bonus r_k and the first layer's values); the one net has its
own output map, norms, residual and feed-forward part (:mod:`lrnnlab.models.net`).

========== ==============================================================================================
form       what runs
========== ==============================================================================================
auto       ``cpu`` where it can, ``chunkwise`` on a GPU, else ``loop``
loop       the equation, one step after the other; any device, gradients of any order
chunkwise  T / 16 steps of matrix products; any device, gradients of any order (fla's ``dplr_chunkwise``)
cpu        one compiled pass over every string (:mod:`lrnnlab.models.kernels.gated`)
========== ==============================================================================================

Letters: B batch, T time, D width, h heads, n = D/h size of a head, c steps of a chunk, N chunks; z normalised input of
the layer, S state (v,k), q, k, v query, key and value, w decay, a and b what is removed, u = S_{t-1} a_t.
"""

from __future__ import annotations

import math
from abc import abstractmethod

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.models import backend
from lrnnlab.models.base import Recurrence
from lrnnlab.models.feature_maps import head_size
from lrnnlab.scans.delta import chunks
from lrnnlab.scans.reference import no_steps
from lrnnlab.validation import among

FORMS = (*backend.FORMS, "chunkwise")
CHUNK = 16  # steps, as in fla
LEAST_LOG = -math.exp(-0.5)  # of RWKV-7's w, so w > .545


def generalised_delta(
    q: Tensor, v: Tensor, k: Tensor, log_w: Tensor, *removed: Tensor, S0: Tensor | None = None, form: str = "auto"
) -> tuple[Tensor, Tensor]:
    """y (B,T,h,n) and S_T (B,h,n,n) of the equation above, from q, v, k, log w and, if anything is removed, a and b, all
    (B,T,h,n), and S_0 (B,h,n,n), zero if absent.

    >>> one = torch.ones(1, 3, 1, 1)
    >>> generalised_delta(one, one, one, math.log(0.5) * one)[0].flatten().tolist()
    [1.0, 1.5, 1.75]
    """
    among("form", form, FORMS)
    B, T, h, n = q.shape
    S = q.new_zeros(B, h, n, n) if S0 is None else S0
    if form in ("auto", "cpu") and backend.is_compiled(form, q):
        return backend.run_compiled("gated.GatedLoop", (torch.stack([q, v, k, log_w.exp(), *removed], -2), S))
    if not T:
        return no_steps(q, v, k, log_w, *removed, S), S
    run = _chunkwise if form == "chunkwise" or (form == "auto" and q.is_cuda) else _loop
    return run(S, q, v, k, log_w, *removed)


def _loop(S: Tensor, q: Tensor, v: Tensor, k: Tensor, log_w: Tensor, *removed: Tensor) -> tuple[Tensor, Tensor]:
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

    form = "auto"  # how it runs, one of ``FORMS``; may be set

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
        return generalised_delta(*self.program(z), form=self.form)[0].flatten(2)

    def step(self, state: Tensor, z_t: Tensor) -> tuple[Tensor, Tensor]:
        y, S = generalised_delta(*self.program(z_t.unsqueeze(1)), S0=state, form=self.form)
        return S, y.flatten(1)


class GatedDeltaNet(_Gated):
    """S_t = w_t S_{t-1} (I - beta_t k_t k_t^T) + beta_t v_t k_t^T, one gate w_t a head: inputs (B,T,D) -> y (B,T,D).

    Yang, Kautz, Hatamizadeh 2024 (arXiv:2412.06464), Eq. 10; fla/ops/gated_delta_rule/naive.py and, for gate, strength
    and start, fla/layers/gated_deltanet.py.  log w = -e^A_log softplus(s + dt_bias), |k| = |q| = 1, beta = sigmoid(b).

    Parameters
    ----------
    width, heads : int
        D and h.
    allow_negative_eigenvalues : bool
        beta = 2 sigmoid(b): the released layer's ``allow_neg_eigval``, off as it ships.

    Examples
    --------
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

    Parameters
    ----------
    width, heads : int
        D and h.

    Examples
    --------
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

    Parameters
    ----------
    width, heads : int
        D and h.

    Examples
    --------
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
