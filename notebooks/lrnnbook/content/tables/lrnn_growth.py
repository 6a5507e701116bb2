"""How states and products grow under each column rule (paper 000, Sec. 3.3: Eq. 6, 7 and what is said of p).

Letters: K chains, T steps, b block size, P values of p; A transition, x state, u the input term B u.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from lrnnbook.content.tables.table import by_setting, load
from lrnnlab.models.layers.transitions import COLUMN_RULES
from lrnnlab.training import rng

FLOAT32_MAX = float(np.finfo(np.float32).max)


def raw_blocks(kind: str, chains: int, steps: int, b: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """(K, T, b, b) float64 blocks before any rule, and the (K, b) state that they start from."""
    draw = rng(seed, f"growth/{kind}")
    if kind == "worst":
        s = 1.0 - 2.0 * (torch.arange(b, dtype=torch.float64) % 2)
        return torch.outer(s, s).expand(chains, steps, b, b), s.expand(chains, b)
    x0 = torch.randn(chains, b, generator=draw, dtype=torch.float64)
    raw = torch.randn(chains, steps, b, b, generator=draw, dtype=torch.float64)
    return {"gaussian": raw, "signs": raw.sign(), "positive": raw.abs()}[kind], x0


def log10_states(A: np.ndarray, x0: np.ndarray, u: np.ndarray | None = None) -> np.ndarray:
    """log10 ||x_t||_1 for t = 0..T of x_t = A_t x_{t-1} + u_t (u = 0 if absent), however large or small it becomes."""
    x, size = _unit(np.broadcast_to(x0, (*A.shape[:-3], A.shape[-1])))
    logs = [size]
    for t in range(A.shape[-3]):
        x = (A[..., t, :, :] * x[..., None, :]).sum(-1)
        scale = logs[-1]
        if u is not None:  # a state below 10^-300, or zero (log -inf), adds nothing that float64 can tell beside u
            scale = np.maximum(scale, -300.0)
            x = x * 10.0 ** (logs[-1] - scale)[..., None] + u[..., t, :] * 10.0 ** -scale[..., None]
        x, size = _unit(x)
        logs.append(scale + size)
    return np.stack(logs, -1)


def log10_products(A: np.ndarray, norm: float, lengths: Sequence[int]) -> np.ndarray:
    """log10 of a norm (1, or 2: the largest singular value) of A_t ... A_1 for t in ``lengths``: (..., T, b, b) -> (..., lengths)."""
    b = A.shape[-1]
    product, log, found = np.broadcast_to(np.eye(b), A[..., 0, :, :].shape), np.zeros(A.shape[:-3]), {}
    for t in range(1, max(lengths) + 1):
        flat, size = _unit((A[..., t - 1, :, :] @ product).reshape(*A.shape[:-3], b * b))
        product, log = flat.reshape(*A.shape[:-3], b, b), log + size
        if t in lengths:
            with np.errstate(divide="ignore"):
                found[t] = log + np.log10(np.linalg.norm(product, norm, axis=(-2, -1)))
    return np.stack([found[t] for t in lengths], -1)


def _unit(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x (..., n) divided by its 1-norm, and the log10 of that."""
    size = np.abs(x).sum(-1)
    with np.errstate(divide="ignore"):
        return x / np.where(size > 0, size, 1)[..., None], np.log10(size)


def observed_in_float32(A: np.ndarray, x0: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The step at which x <- A_t x, done in float32, first holds infinity, and that at which nothing is left of it."""
    x, A = x0.astype(np.float32), A.astype(np.float32)
    over, lost = np.zeros(A.shape[:-3], int), np.zeros(A.shape[:-3], int)
    with np.errstate(over="ignore", invalid="ignore"):
        for t in range(A.shape[-3]):
            x = (A[..., t, :, :] * x[..., None, :]).sum(-1)
            over = np.where((over == 0) & ~np.isfinite(x).all(-1), t + 1, over)
            lost = np.where((lost == 0) & (np.abs(x) < np.finfo(np.float32).tiny).all(-1), t + 1, lost)
    return over, lost


def measure(setting: dict, seed: int, **how: Any) -> dict:
    """For each p ("any" for a rule without) what T steps do, its curves over the lengths, and what float32 does."""
    steps, chains, b = max(setting["lengths"]), setting["chains"], setting["b"]
    raw, start = raw_blocks(setting["kind"], chains, steps, b, seed)
    u = torch.randn(chains, steps, b, generator=rng(seed, "growth/input"), dtype=torch.float64).numpy()
    rule, x0, at = COLUMN_RULES[setting["rule"]], start.numpy(), list(setting["lengths"])
    metrics, curves = {}, {}
    for p in setting["norms"]:
        A = np.ascontiguousarray(rule(raw, p).numpy())
        alone, name = log10_states(A, x0), "any" if p is None else f"{p:g}"
        logs = {
            "state": (alone - alone[:, :1])[:, at],
            "driven": log10_states(A, x0, u)[:, at],
            "product": log10_products(A, 2, at),
        }
        curves[name] = {what: _spread(values) for what, values in logs.items()}
        over, lost = (found[found > 0] for found in observed_in_float32(A, x0))
        metrics[name] = {
            "step": _spread(10 ** ((alone[:, steps] - alone[:, steps // 2]) / (steps - steps // 2)), 6),
            **{what: _spread(values[:, -1]) for what, values in logs.items()},
            **{what: {"chains": len(at_), **(_spread(at_) if len(at_) else {})}
               for what, at_ in (("overflow", over), ("lost", lost))},
        }  # fmt: skip
    return {"metrics": metrics, "curves": curves}


def _spread(values: np.ndarray, digits: int = 3) -> dict:
    """Median, least and greatest over chains, the first axis."""
    parts = {"median": np.median(values, 0), "min": values.min(0), "max": values.max(0)}
    return {name: found.astype(float).round(digits).tolist() for name, found in parts.items()}


def growth_per_step(p: float, b: int) -> float:
    """b^(1 - 1/p), the most by which one step can grow the state's 1-norm under Eq. 6."""
    return b ** (1 - 1 / p)


def bound(p: float, b: int, lengths: Sequence[int]) -> np.ndarray:
    """log10 of b^(t (1 - 1/p)), the most that Eq. 6 lets the state's 1-norm grow in t steps."""
    return np.asarray(lengths) * math.log10(growth_per_step(p, b))


TABLE = load("lrnn/growth", by_setting(measure))
