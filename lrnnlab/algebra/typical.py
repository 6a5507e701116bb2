"""What random blocks under the column constraint (paper 000, Eq. 6) do, beside the worst case of ``columns``.

Letters: b block size, p the norm; x state.
"""

from __future__ import annotations

import math

import numpy as np

from lrnnlab.algebra.columns import check_size, growth
from lrnnlab.algebra.evidence import Evidence, Step

KINDS = ("gaussian", "signs", "positive")


def typical_growth(kind: str, p: float, b: int = 8, steps: int = 200, chains: int = 50, seed: int = 0) -> tuple:
    """(factor, standard error): how ||x||_1 changes per step under independent random blocks with unit p-norm columns.

    kind : ``gaussian``, ``signs`` (+-1) or ``positive`` (|Gaussian|), each column divided by its p-norm.  The first
    tenth of the steps is not counted; nor is a step that sends the state to 0, as sign columns of even size can: the
    chain then starts again from (1, ..., 1).  ValueError for another kind.

    >>> [round(typical_growth(kind, 1.2)[0], 2) for kind in KINDS]
    [0.56, 0.48, 1.35]
    """
    if kind not in KINDS:
        raise ValueError(f"no kind of column {kind!r}; there are {', '.join(KINDS)}")
    check_size(b)
    draw, x = np.random.default_rng(seed), np.ones((chains, b))
    logs, counts = np.zeros(chains), np.zeros(chains)
    for step in range(steps):
        raw = draw.standard_normal((chains, b, b))
        raw = np.sign(raw) if kind == "signs" else np.abs(raw) if kind == "positive" else raw
        x = ((raw / np.linalg.norm(raw, float(p), axis=1, keepdims=True)) @ x[..., None])[..., 0]
        size = np.abs(x).sum(-1)
        alive = size > 1e-9  # smaller is a sum that would be 0 without rounding
        x = np.where(alive[:, None], x / np.where(alive, size, 1)[:, None], 1)
        if step >= steps // 10:
            logs, counts = logs + np.log(np.where(alive, size, 1)), counts + alive
    logs = logs / counts
    rate = math.exp(logs.mean())
    return rate, rate * float(logs.std()) / math.sqrt(chains)


def typical_columns(b: int = 8, norms: tuple = (1, 1.2, 2), seed: int = 0) -> Evidence:
    """What random columns do instead of the worst case: with mixed signs they vanish, all positive they grow for p > 1.

    Sign columns scale exactly like b^(-1/p), so their rates are one number times b^(1/2 - 1/p).

    >>> typical_columns().holds, typical_columns(norms=(1, 4)).holds      # at p = 4 mixed signs grow too
    (True, False)
    """
    rates = {kind: [typical_growth(kind, p, b, seed=seed) for p in norms] for kind in KINDS}
    share = [rate / b ** (0.5 - 1 / p) for (rate, _), p in zip(rates["signs"], norms)]
    mixed = [pair for kind in ("gaussian", "signs") for pair in rates[kind]]
    inside = [1 - 1e-9 <= rate <= growth(p, b) + 1e-9 for (rate, _), p in zip(rates["positive"], norms)]
    shown = {kind: ", ".join(f"{rate:.3f}" for rate, _ in rates[kind]) for kind in KINDS}
    at = f"p = {', '.join(f'{p:g}' for p in norms)}"
    steps = (
        Step("Gaussian and sign columns shrink the state", all(rate + 3 * error < 1 for rate, error in mixed),
             f"{at}: Gaussian {shown['gaussian']}; signs {shown['signs']}"),
        Step("sign columns: one number times b^(1/2 - 1/p)", max(share) - min(share) < 1e-9, f"{share[0]:.3f}"),
        Step("positive columns keep the 1-norm at p = 1 and grow above it, below b^(1 - 1/p)", all(inside),
             f"{at}: {shown['positive']}"),
    )  # fmt: skip
    return Evidence("Typical growth", f"b = {b}: random columns of mixed sign vanish where the worst case explodes.",
                    "numerical", steps, {"norms": norms, "rates": rates})  # fmt: skip
