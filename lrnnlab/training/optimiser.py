"""Adam and AdamW by torch's fused kernels, without the compiler that ``torch.optim`` loads at its first use (a second)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch


class Adam:
    """One fused step over all weights of a group; bit for bit ``torch.optim.Adam(fused=True)``, or ``AdamW`` if ``decoupled``."""

    def __init__(self, groups: Iterable[dict], betas: tuple[float, float], eps: float = 1e-8, *, decoupled: bool = True):
        self.param_groups: list[dict[str, Any]] = [{"lr": 1e-3, "weight_decay": 0.0, **group} for group in groups]
        self.betas, self.eps, self.decoupled = betas, eps, decoupled
        self.moments: list[list[tuple]] = [
            [(torch.zeros_like(p), torch.zeros_like(p), torch.zeros((), dtype=torch.float32, device=p.device))
             for p in group["params"]]
            for group in self.param_groups
        ]  # of each weight the means of its gradient and of that squared, and its steps

    def zero_grad(self) -> None:
        """Forget all gradients."""
        for group in self.param_groups:
            for p in group["params"]:
                p.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """One step of all weights that have a gradient."""
        fused = torch._fused_adamw_ if self.decoupled else torch._fused_adam_
        for group, moments in zip(self.param_groups, self.moments):
            moved = [(p, p.grad, *kept) for p, kept in zip(group["params"], moments) if p.grad is not None]
            if moved:
                weights, slopes, means, squares, steps = map(list, zip(*moved))
                torch._foreach_add_(steps, 1)
                fused(weights, slopes, means, squares, [], steps, lr=group["lr"], beta1=self.betas[0], beta2=self.betas[1],
                      weight_decay=group["weight_decay"], eps=self.eps, amsgrad=False, maximize=False)  # fmt: skip

    def state_dict(self) -> dict:
        """What a checkpoint holds."""
        return {"moments": self.moments}

    def load_state_dict(self, state: dict) -> None:
        """Go on from a ``state_dict``."""
        self.moments = state["moments"]


def adam(groups: list[dict], betas: tuple[float, float], eps: float = 1e-8, *, decoupled: bool = True) -> Any:
    """The optimiser of ``groups``; torch's own where its fused kernels go by another name."""
    if hasattr(torch, "_fused_adam_") and hasattr(torch, "_fused_adamw_"):
        return Adam(groups, betas, eps, decoupled=decoupled)
    return (torch.optim.AdamW if decoupled else torch.optim.Adam)(groups, betas=betas, eps=eps, weight_decay=0.0, fused=True)


@torch.no_grad()
def clip_gradients(weights: Iterable[torch.Tensor], most: float) -> None:
    """``torch.nn.utils.clip_grad_norm_``, bit for bit, of weights of one device; it spends most of its time sorting devices."""
    slopes = [p.grad for p in weights if p.grad is not None]
    if slopes:
        norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(slopes, 2.0)), 2.0)
        torch._foreach_mul_(slopes, torch.clamp(most / (norm + 1e-6), max=1.0))
