"""Which heads a model can do without.

A network with 24 heads of 8 states needs, for ModArith(5), about a dozen; the others make noise, and noise is what
makes a snapped model wrong on some rare string, and its automaton too large to search.  A *frozen* head stays at x_0.

Letters: h heads (blocks) of a layer.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from lrnnlab.models import Net


def freeze_idle(model: Net, harm: Callable[[Net], float], ceiling: float) -> int:
    """Freeze heads of a block-diagonal ``model`` while ``harm(model)`` stays at or under ``ceiling``; returns how many.

    Every head is frozen alone first; then they go, least harmful first, each only if the harm of all together allows.
    Heads that are frozen already stay so.

    >>> from lrnnlab.models import build
    >>> model = build("block_diagonal", vocab_size=2, classes=2, h=3, b=2, rule="softmax", drive="none", start="first")
    >>> freeze_idle(model, lambda model: float(model.layers[0].frozen.sum()), ceiling=2.0)
    2
    """
    alone = []
    for number, layer in enumerate(model.layers):
        for head in (~layer.frozen).nonzero().flatten().tolist():
            before = _with(layer, head)
            alone.append((harm(model), number, head))
            layer.freeze(before)
    count = 0
    for _, number, head in sorted(alone):
        before = _with(model.layers[number], head)
        if harm(model) <= ceiling:
            count += 1
        else:
            model.layers[number].freeze(before)
    return count


def _with(layer, head: int) -> torch.Tensor:
    """Freeze one more head; returns what was frozen before."""
    before = layer.frozen.clone()
    more = before.clone()
    more[head] = True
    layer.freeze(more)
    return before
