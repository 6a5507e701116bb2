"""The activations phi of keys and queries in paper 003 (Irie, Csordas, Schmidhuber 2023, Sec. 2).

==========  ================================  ============================================================
name        phi(x)                            where
==========  ================================  ============================================================
elu         elu(x) + 1, positive              linear Transformers (released code)
elu_sum     the same, divided by its sum      DeltaNet (released code)
softmax     softmax(x)                        the text, "e.g. we use softmax"; Recurrent Delta, SRWM (code)
unit        x / |x|                           no part of the paper: 1 - beta |phi|^2 is then 1 - beta itself
==========  ================================  ============================================================

Letters: n size of a head (the paper's d_key); x, phi(x) (..., n).
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


def elu(x: Tensor) -> Tensor:
    """x + 1 where x > 0, else e^x: accurate also where torch's elu(x) + 1 would round to 0."""
    return torch.where(x > 0, x + 1, x.clamp(max=0).exp())


def elu_sum(x: Tensor) -> Tensor:
    """elu(x) / sum of it over the head: positive, and sums to one."""
    positive = elu(x)
    return positive / positive.sum(-1, keepdim=True)


FEATURE_MAPS = {
    "elu": elu,
    "elu_sum": elu_sum,
    "softmax": lambda x: x.softmax(-1),
    "unit": lambda x: F.normalize(x, dim=-1),
}
POSITIVE = ("elu", "elu_sum", "softmax")  # the others have signs, and can be orthogonal


def head_size(width: int, heads: int) -> int:
    """n = D / h; ``ValueError`` unless heads divide the width."""
    if heads < 1 or width < 1 or width % heads:
        raise ValueError(f"heads must divide width, both at least 1, got heads={heads} and width={width}")
    return width // heads
