"""The delta rule, a memory that corrects itself: W_t = W_{t-1} + beta_t (v_t - W_{t-1} k_t) k_t^T,  y_t = W_t q_t.

W_{t-1} k_t is what the memory says to the key k_t; the step moves it towards v_t by the share beta_t |k_t|^2.  Sorted
by W this is x_t = A_t x_{t-1} + b_t once more, for each row x of W, with A_t = I - beta_t k_t k_t^T (paper 003, Irie,
Csordas, Schmidhuber 2023, Sec. 2, Eq. 7-8; the paper's phi and sigma are applied before).  Without the removal of
W_{t-1} k_t it is the additive fast weight, linear attention without its normaliser (Eq. 2-3).

==============  =============================================================================================
backend         what it is
==============  =============================================================================================
``auto``        one compiled pass (:mod:`lrnnlab.scans.kernels.cpu_delta`) on a CPU with numba, else ``chunkwise``: so on a
                GPU, within ``torch.func`` and under ``torch.compile``
``reference``   the loop you would write on a blackboard
``chunkwise``   T / chunk steps of matrix products (Yang, Wang, Zhang, Shen, Kim 2024)
``fla``         the fused kernel of the library ``fla-core``, float32 on a GPU
==============  =============================================================================================

Letters: B batch, T time, H heads (paper 003's letter), k the size of a key (d_k), v of a value (d_v), c the steps of
a chunk, N chunks; W fast weights (v, k), beta write strength, u what a step writes along its key.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Literal, overload

import torch
from torch import Tensor
from torch.nn import functional as F

from lrnnlab.scans.reference import no_steps
from lrnnlab.scans.transforms import HALF, tell_slow, wide, within_func
from lrnnlab.validation import among, axes, checked, fit, same_kind, whole_number

BACKENDS = ("auto", "reference", "chunkwise", "fla")
HAS_NUMBA = find_spec("numba") is not None
INSTALL = "pip install 'lrnnlab[fla]'"
_AXES = axes("q B T H d_k, k B T H d_k, v B T H d_v, beta B T H, g B T H, write B T H, W0 B H d_v d_k")


@overload
def delta_rule(
    q: Tensor, k: Tensor, v: Tensor, beta: Tensor, W0: Tensor | None = None, *, backend: str = "auto", chunk: int = 32,
    return_state: Literal[False] = False, removal: bool = True, g: Tensor | None = None, write: Tensor | None = None,
    reverse: bool = False,
) -> Tensor: ...  # fmt: skip
@overload
def delta_rule(
    q: Tensor, k: Tensor, v: Tensor, beta: Tensor, W0: Tensor | None = None, *, backend: str = "auto", chunk: int = 32,
    return_state: Literal[True], removal: bool = True, g: Tensor | None = None, write: Tensor | None = None,
    reverse: bool = False,
) -> tuple[Tensor, Tensor]: ...  # fmt: skip
@checked
def delta_rule(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    beta: Tensor,
    W0: Tensor | None = None,
    *,
    backend: str = "auto",
    chunk: int = 32,
    return_state: bool = False,
    removal: bool = True,
    g: Tensor | None = None,
    write: Tensor | None = None,
    reverse: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """Read-outs y_t = W_t q_t of the delta rule (paper 003, Eq. 3, 7, 8); y_t sees step t's own write.

    With a gate and a write strength of its own: W_t = e^(g_t) W_{t-1} (I - beta_t k_t k_t^T) + write_t v_t k_t^T (Yang,
    Kautz and Hatamizadeh 2024, Eq. 10, where write = beta).

    Parameters
    ----------
    q, k : Tensor, (B, T, H, d_k)
        Queries and keys, taken as they are: normalise before.
    v : Tensor, (B, T, H, d_v)
        Values.
    beta : Tensor, (B, T, H)
        The strength of each write, any real number.
    W0 : Tensor, (B, H, d_v, d_k), optional
        The memory before the first step, zero if absent.
    backend : str
        One of ``BACKENDS``.
    chunk : int
        Steps a chunk of the chunkwise form.
    return_state : bool
        Whether to return W_T too.
    removal : bool
        ``False`` for the additive rule W_t = W_{t-1} + beta_t v_t k_t^T.
    g : Tensor, (B, T, H), optional
        The logarithm of the share of the memory that is kept, 0 if absent; -inf forgets all.  Not with ``"fla"``.
    write : Tensor, (B, T, H), optional
        The strength of what is written, beta if absent; beta then erases alone.  Not with ``"fla"``.
    reverse : bool
        Whether time runs from the last step to the first; W_T is then the memory after the first.

    Returns
    -------
    y : Tensor, (B, T, H, d_v)
        Differentiable in all tensors, but the compiled pass refuses ``create_graph=True``.  Of 16 bits where they are: all is
        done in float32, and rounded at the end.
    W_T : Tensor, (B, H, d_v, d_k)
        Only with ``return_state``: the memory to carry on with.

    Raises
    ------
    ValueError
        For shapes, types, devices or options that do not fit, showing them.
    ImportError
        Where the backend is ``"fla"`` and the library is missing.

    Notes
    -----
    What is exact, and what lasts: the chunkwise form is an identity of polynomials, equal to the loop for every beta
    and every key (on small integers bit for bit).  How rounding grows is another matter.  Where 0 <= beta |k|^2 <= 2 no
    A_t stretches, the inverse of a chunk's system has entries of at most beta_t |k_t| |k_s| below its diagonal, and at
    T = 4096 in float32, with unit keys, all backends stay within 3e-5 of the largest |y|.  Outside, A_t stretches along
    k_t by |1 - beta |k|^2|, and every rounding error with it, in all of them.  Once a number is not finite, every y of its
    chunk and of those that follow may be NaN in the chunkwise form, in the others only those from that step on.

    Examples
    --------
    Parity: a write of 1/2 with beta = 2 reflects the stored number, W -> 1 - W.

    >>> import torch
    >>> bits = torch.tensor([1., 0., 1., 1., 0., 1.])
    >>> one = torch.ones(1, 6, 1, 1)
    >>> delta_rule(one, one, one / 2, 2 * bits.view(1, 6, 1), backend="chunkwise", chunk=4).flatten().tolist()
    [1.0, 1.0, 0.0, 1.0, 1.0, 0.0]
    """
    q, k, v, beta, W0, g, write = wide(q, k, v, beta, W0, g, write)
    fit("delta_rule", _AXES, q=q, k=k, v=v, beta=beta, W0=W0, g=g, write=write)
    same_kind("delta_rule", q=q, k=k, v=v, beta=beta, W0=W0, g=g, write=write)
    kind = q.dtype
    if kind in HALF:
        q, k, v, beta, W0, g, write = (x if x is None else x.float() for x in (q, k, v, beta, W0, g, write))
    if q.dtype not in (torch.float32, torch.float64):
        raise ValueError(f"delta_rule takes float32, float64, bfloat16 or float16, got {q.dtype}")
    among("backend", backend, BACKENDS)
    whole_number(chunk, 1, "chunk")
    B, _, H, size = k.shape
    W = v.new_zeros(B, H, v.shape[-1], size) if W0 is None else W0
    if reverse:
        q, k, v, beta, g, write = (x if x is None else x.flip(1) for x in (q, k, v, beta, g, write))
    plain = g is None and write is None
    compiled = backend == "auto" and _is_compiled(q, v)
    if backend == "auto" and q.device.type == "cpu" and not (compiled and plain):
        why = "with g or write" if compiled else "without numba"
        tell_slow("delta_rule", f"on a CPU {why} runs in chunks of matrix products, not in one compiled pass", q.shape[1], 4)
    if not q.shape[1]:
        y = no_steps(v, q, k, beta, W, g, write)
    elif compiled and plain:
        from lrnnlab.scans.kernels.cpu_delta import delta  # loads numba

        y, W = delta(q, k, v, beta, W, removal)
    elif backend == "reference":
        y, W = _reference(q, k, v, beta, W, removal, g, write)
    elif backend == "fla":
        if not plain:
            raise ValueError("backend 'fla' has neither g nor write; take 'reference' or 'chunkwise'")
        y, W = _fla(q, k, v, beta, W, removal)
    else:
        y, W = _chunkwise(q, k, v, beta, W, removal, min(chunk, q.shape[1]), g, write)
    y = (y.flip(1) if reverse else y).to(kind)
    return (y, W.to(kind)) if return_state else y


def _is_compiled(q: Tensor, v: Tensor) -> bool:
    """Whether the compiled pass runs, and there is something to do."""
    traced = torch.compiler.is_compiling() or within_func()
    return HAS_NUMBA and q.device.type == "cpu" and not traced and q.numel() * v.numel() > 0


def _reference(
    q: Tensor, k: Tensor, v: Tensor, beta: Tensor, W: Tensor, removal: bool, g: Tensor | None, write: Tensor | None
) -> tuple[Tensor, Tensor]:
    """One step after the other, over unbound tensors (indexing by t would make the backward pass quadratic in T)."""
    outputs = []
    options = ([None] * q.shape[1] if x is None else x[..., None, None].unbind(1) for x in (g, write))
    for q_t, k_t, v_t, beta_t, g_t, write_t in zip(*(x.unsqueeze(-1).unbind(1) for x in (q, k, v, beta)), *options):
        W = W if g_t is None else g_t.exp() * W
        if write_t is None:
            error = v_t - W @ k_t if removal else v_t  # (B, H, v, 1)
            W = W + beta_t.unsqueeze(-1) * error @ k_t.mT
        else:
            erased = beta_t.unsqueeze(-1) * (W @ k_t) if removal else 0
            W = W + (write_t * v_t - erased) @ k_t.mT
        outputs.append(W @ q_t)
    return torch.stack(outputs, 1).squeeze(-1), W


def _chunkwise(
    q: Tensor, k: Tensor, v: Tensor, beta: Tensor, W: Tensor, removal: bool, c: int, g: Tensor | None, write: Tensor | None
) -> tuple[Tensor, Tensor]:
    """All chunks' systems are solved at once; then W goes from chunk to chunk.

    With a gate, e^(g_{s+1} + ... + g_t) of what step s wrote is left at step t: each sum is added up, as the difference of two
    long ones would lose, after a strong g, all digits of the weak ones after it.
    """
    T = k.shape[1]
    q, k, v, beta = (chunks(x, c) for x in (q, k, v, beta.unsqueeze(-1)))  # (B, H, N, c, .)
    V, K = (beta if write is None else chunks(write.unsqueeze(-1), c)) * v, k.new_zeros(k.shape)
    decay: Sequence[Tensor | None] = [None] * k.shape[2]
    reads, writes, within, since = q, k, lambda x: x, None  # of W at a chunk's start, to W at its end
    if g is not None:
        g = chunks(g.unsqueeze(-1), c)
        left, since = g.expand(*g.shape[:-1], c).tril(-1).cumsum(-2).exp(), g.cumsum(-2).exp()  # (.., t, s); (.., t, 1)
        reads, writes, decay = since * q, left[..., -1, :, None] * k, since[..., -1:, :].unbind(2)
        within = lambda x: left * x
    if removal:
        system = within((beta * k) @ k.mT).tril(-1)  # (B, H, N, c, c); its diagonal of ones is implied
        erased = beta * k if since is None else since * beta * k
        solved = torch.linalg.solve_triangular(system, torch.cat([V, erased], -1), upper=False, unitriangular=True)
        V, K = solved.split([v.shape[-1], k.shape[-1]], -1)
    scores = within(q @ k.mT).tril()  # q_t . k_s for s <= t
    outputs = []
    for q_n, k_n, V_n, K_n, scores_n, kept in zip(*(x.unbind(2) for x in (reads, writes, V, K, scores)), decay):
        U = V_n - K_n @ W.mT  # (B, H, c, v)
        outputs.append(q_n @ W.mT + scores_n @ U)
        W = (W if kept is None else kept * W) + U.mT @ k_n
    return torch.cat(outputs, 2)[:, :, :T].transpose(1, 2), W


def chunks(x: Tensor, c: int) -> Tensor:
    """(B, T, H, .) -> (B, H, N, c, .), with zeros behind the end: a step whose beta and k are 0 leaves W alone."""
    steps = math.ceil(x.shape[1] / c)
    return F.pad(x.transpose(1, 2), (0, 0, 0, steps * c - x.shape[1])).unflatten(2, (steps, c))


def _fla(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, W: Tensor, removal: bool) -> tuple[Tensor, Tensor]:
    """The library's recurrent form: float32 inside, and any beta (its chunkwise form is made for bfloat16)."""
    if not removal:
        raise ValueError("backend 'fla' has no removal=False; take 'reference' or 'chunkwise'")
    if q.device.type != "cuda" or q.dtype != torch.float32:
        raise ValueError(
            f"backend 'fla' runs in float32 on a GPU ({INSTALL}), got {q.dtype} on {q.device.type}; "
            "'reference' and 'chunkwise' run everywhere"
        )
    return _in_its_layout(_library(), q, k, v, beta, W)


def _library():
    """fla-core's function; imported only when asked for, since it wants a GPU and a compiler."""
    try:
        from fla.ops.delta_rule import fused_recurrent_delta_rule
    except ImportError as error:
        raise ImportError(f"backend 'fla' needs the library fla-core: {INSTALL}") from error
    return fused_recurrent_delta_rule


def _in_its_layout(kernel, q: Tensor, k: Tensor, v: Tensor, beta: Tensor, W: Tensor) -> tuple[Tensor, Tensor]:
    """The library's function on our tensors: it would divide q by sqrt(d_k), and it keeps W transposed."""
    start = W.mT.contiguous()  # (B, H, k, v)
    if torch.is_grad_enabled() and not start.requires_grad:
        start = start.clone().requires_grad_()  # its backward pass always stores this gradient
    y, W = kernel(*(x.contiguous() for x in (q, k, v, beta)), scale=1.0, initial_state=start, output_final_state=True)
    return y, W.mT
