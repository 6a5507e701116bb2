"""``lrnnlab bench delta``: the delta rule in all its forms, beside flash-linear-attention's two naive forms, in one run.

The naive forms are written here after fla-org/flash-linear-attention at bc3b101, fla/ops/delta_rule/naive.py
(``delta_rule_recurrence``, ``delta_rule_chunkwise``), without the division of q by sqrt(d_k).  They get q, k, v (B,H,T,d)
and beta (B,H,T) as they like them, and keep S = W^T.

Letters: B batch, T time, H heads, d size of a head, N chunks of c steps.
"""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec

import torch
from torch import Tensor

from lrnnbook.machinery.bench.peers import Work, calls
from lrnnbook.machinery.bench.recording import PARTS, Bench, of_forms
from lrnnbook.machinery.bench.scans import take_turns
from lrnnbook.machinery.bench.steps import RECORDED_AS, Shape
from lrnnlab.scans.delta import delta_rule
from lrnnlab.training import deterministic

CHUNK = 32  # of the naive form, as it is released
SHAPES = (Shape(16, 256, 128, 4), Shape(128, 64, 16, 2), Shape(1, 1024, 512, 8), Shape(4, 256, 512, 4))
FORMS = ("ours", "chunkwise", "sequential", "fla naive recurrence", "fla naive chunkwise")


def naive_recurrence(q: Tensor, k: Tensor, v: Tensor, beta: Tensor) -> Tensor:
    """Every step's part by its index."""
    y, S = torch.zeros_like(v), v.new_zeros(*q.shape[:2], q.shape[-1], v.shape[-1])
    for i in range(q.shape[2]):
        error = v[:, :, i].clone() - (S.clone() * k[:, :, i, :, None]).sum(-2)
        S = S.clone() + k[:, :, i, :, None] * (error * beta[:, :, i, None]).unsqueeze(-2)
        y[:, :, i] = torch.einsum("bhd,bhdm->bhm", q[:, :, i], S)
    return y


def naive_chunkwise(q: Tensor, k: Tensor, v: Tensor, beta: Tensor) -> Tensor:
    """Every chunk's system is solved row by row; T is a multiple of the chunk."""
    q, k, V, K = (x.unflatten(2, (-1, CHUNK)) for x in (q, k, v * beta[..., None], k * beta[..., None]))
    later = torch.ones(CHUNK, CHUNK, dtype=torch.bool, device=q.device).triu()
    inverse = -(K @ k.mT).masked_fill(later, 0)
    for i in range(1, CHUNK):
        row = (inverse[..., i, :, None].clone() * inverse[..., :, :i].clone()).sum(-2)
        inverse[..., i, :i] = inverse[..., i, :i] + row
    inverse = inverse + torch.eye(CHUNK, dtype=q.dtype, device=q.device)
    V, K = inverse @ V, inverse @ K
    y, S = torch.zeros_like(V), q.new_zeros(*q.shape[:2], q.shape[-1], V.shape[-1])
    for n in range(q.shape[2]):
        U = V[:, :, n] - K[:, :, n] @ S
        y[:, :, n] = q[:, :, n] @ S + (q[:, :, n] @ k[:, :, n].mT).masked_fill(later.triu(1), 0) @ U
        S = S + k[:, :, n].mT @ U
    return y.flatten(2, 3)


def prepare(shape: Shape, form: str, device: str = "cpu") -> tuple[Work, ...]:
    """y, and y with the gradients of q, k, v and beta, as calls without arguments; the same numbers every time."""
    generator = torch.Generator().manual_seed(0)
    q, k, v, dy = torch.randn(4, shape.B, shape.T, shape.h, shape.D // shape.h, generator=generator)
    beta = torch.rand(shape.B, shape.T, shape.h, generator=generator)
    inputs = [x.to(device) for x in (q, torch.nn.functional.normalize(k, dim=-1), v, beta, dy)]
    if form.startswith("fla naive"):
        function = naive_recurrence if form.endswith("recurrence") else naive_chunkwise
        inputs = [x.transpose(1, 2).contiguous() for x in inputs]
    else:
        function = partial(delta_rule, backend="auto" if form == "ours" else RECORDED_AS.get(form, form))
    return calls(function, inputs[:-1], inputs[-1])[:2]


def timed(part: str, shape: Shape, device: str, rounds: int) -> dict[str, list[float]]:
    """Seconds of every form."""
    forms = FORMS + (("fla",) if device == "cuda" and find_spec("fla") else ())  # the library's own kernel
    with deterministic(alone=True):
        return take_turns({form: prepare(shape, form, device)[PARTS.index(part)] for form in forms}, rounds, device)


def delta(rounds: int = 7, device: str = "cpu") -> Bench:
    """All shapes, forward, and forward and backward."""
    head = "delta rule, {}, one thread (ms: median, min, max; times ours)"
    steps = {f"{part} {shape.name}": partial(timed, part, shape, device) for shape in SHAPES for part in PARTS[:2]}
    return of_forms("delta", head, steps, rounds, device)
