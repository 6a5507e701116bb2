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

Letters: B batch, T time, D width, h heads, n = D/h size of a head, H = n_h writes per token; z normalised input of the
layer, W fast weights (v, n), q, k, v queries, keys and values, beta write strength, y output.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.models.backend import is_compiled
from lrnnlab.models.base import Recurrence, check_sizes
from lrnnlab.models.feature_maps import FEATURE_MAPS, POSITIVE, head_size
from lrnnlab.models.recurrent_delta import near_addition, recurrent_delta
from lrnnlab.scans.delta import FORMS as DELTA_FORMS
from lrnnlab.scans.delta import delta_rule
from lrnnlab.validation import among, number

FORMS = ("cpu", *DELTA_FORMS)
RULES = {"sum": "elu", "normalised": "elu", "delta": "elu_sum"}  # and the feature map of the released code


class FastWeights(Recurrence):
    """One layer: inputs (B,T,D) -> y (B,T,D), the heads side by side.

    Parameters
    ----------
    width, heads : int
        D and h.
    rule : str
        ``"sum"`` (ULT), ``"normalised"`` (NLT) or ``"delta"`` (DeltaNet).
    feature_map : str, optional
        phi, a name in ``FEATURE_MAPS``; if not given the released code's: elu, or elu_sum for delta.
    allow_negative_eigenvalues : bool
        beta in (0, 2) instead of (0, 1); for the delta rule.
    householders : int
        n_h, the writes per token; for the delta rule.
    write_start : float, optional
        Where b starts: as in :func:`lrnnlab.models.recurrent_delta.near_addition` or, with negative eigenvalues, as in
        :func:`near_translation`; for the delta rule.
    form : str
        How it runs; may be changed on a finished layer.  ``"sequential"``, ``"chunkwise"`` and ``"fla"`` as in
        :func:`lrnnlab.scans.delta.delta_rule`; ``"cpu"``, one compiled pass, not for the normalised rule; ``"auto"``,
        that one where it can run, else chunkwise.
    chunk : int
        Steps a chunk, for ``"chunkwise"``.

    Examples
    --------
    >>> FastWeights(8, heads=2, householders=2, allow_negative_eigenvalues=True)(torch.zeros(3, 7, 8)).shape
    torch.Size([3, 7, 8])
    """

    def __init__(
        self,
        width: int,
        *,
        heads: int = 2,
        rule: str = "delta",
        feature_map: str | None = None,
        allow_negative_eigenvalues: bool = False,
        householders: int = 1,
        write_start: float | None = None,
        form: str = "auto",
        chunk: int = 64,
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
        if form not in FORMS or (form == "cpu" and rule == "normalised"):
            raise ValueError(f"form is one of {', '.join(FORMS)}, cpu not for 'normalised', got {form!r} for {rule!r}")
        self.size = head_size(width, heads)
        self.heads, self.rule, self.householders = heads, rule, householders
        self.greatest = 2.0 if allow_negative_eigenvalues else 1.0  # of beta; reached by rounding alone, b > 16.6
        self.form, self.chunk = form, chunk
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

    def read(self, y: Tensor) -> Tensor:
        """What W_t says to phi(q), (...,h,v) -> (...,D)."""
        if self.rule == "normalised":
            y = y[..., :-1] / y[..., -1:]
        return y.flatten(-2)

    def mix(self, z: Tensor) -> Tensor:
        y = self._compiled(z) if self._is_compiled(z) else self._scanned(z)
        return self.read(y[:, self.householders - 1 :: self.householders])  # what the last write left

    def _is_compiled(self, z: Tensor) -> bool:
        return self.rule != "normalised" and self.form in ("auto", "cpu") and is_compiled(self.form, z)

    def _scanned(self, z: Tensor) -> Tensor:
        """y (B,TH,h,v), read after every write."""
        q, k, v, beta = self.program(z)
        q = q.unsqueeze(2).expand(-1, -1, self.householders, -1, -1)
        q, k, v, beta = (x.flatten(1, 2) for x in (q, k, v, beta))  # (B,T,H,...) -> (B,TH,...)
        form = "chunkwise" if self.form in ("auto", "cpu") else self.form
        return delta_rule(q, k, v, beta, form=form, chunk=self.chunk, removal=self.rule == "delta")

    def _compiled(self, z: Tensor) -> Tensor:
        """The same from the compiled loop of Recurrent Delta, with no feedback."""
        q, writes = self.ask(z)
        removal = self.rule == "delta"
        if not removal:
            writes = F.pad(writes, (0, 1))  # a b that nobody looks at
        q = q.unsqueeze(2).expand(-1, -1, self.householders, -1, -1)
        slow = torch.cat([q, writes], -1).flatten(1, 2)  # (B,T,H,h,3n+1) -> (B,TH,h,3n+1)
        return recurrent_delta(
            slow, None, form=self.form, feature_map=self.feature_map, greatest=self.greatest, removal=removal
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
        return W, self.read(_times(W, q))


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

