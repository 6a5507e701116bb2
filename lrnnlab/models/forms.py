"""Which form a recurrence of paper 003 runs in: the equations step by step, or a compiled pass over every string.

======== ================================================================================
form     what runs
======== ================================================================================
auto     ``cpu`` where it can, else ``loop``
loop     torch, one step after the other; any device and type, gradients of any order
cpu      compiled loops with a backward pass of their own (numba); float32 or float64, on a CPU
======== ================================================================================
"""

from __future__ import annotations

import torch
from torch import Tensor

from lrnnlab.errors import among

FORMS = ("auto", "loop", "cpu")


def is_compiled(form: str, x: Tensor) -> bool:
    """Whether the compiled loop runs on x (B,T,...); ``ValueError`` if it is asked for and cannot.

    >>> is_compiled("auto", torch.zeros(2, 3, 4)), is_compiled("auto", torch.zeros(2, 0, 4))
    (True, False)
    >>> is_compiled("cpu", torch.zeros(2, 3, 4, dtype=torch.bfloat16))
    Traceback (most recent call last):
    ValueError: form 'cpu' runs in float32 or float64 on a CPU, got torch.bfloat16 on cpu; 'loop' runs everywhere
    """
    among("form", form, FORMS)
    fits = x.device.type == "cpu" and x.dtype in (torch.float32, torch.float64)
    if form == "cpu" and not fits:
        raise ValueError(
            f"form 'cpu' runs in float32 or float64 on a CPU, got {x.dtype} on {x.device.type}; 'loop' runs everywhere"
        )
    return form != "loop" and fits and x.numel() > 0  # nothing to do is not worth compiling for


def wants_gradient(*tensors: Tensor) -> bool:
    """Whether a backward pass may follow: gradients are recorded and one of the tensors wants its own.

    >>> wants_gradient(torch.zeros(1), torch.zeros(1, requires_grad=True))
    True
    """
    return torch.is_grad_enabled() and any(x.requires_grad for x in tensors)
