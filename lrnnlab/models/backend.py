"""Choose the implementation of paper 003's recurrences: a Python loop over time or a compiled kernel.

======== ================================================================================
form     what runs
======== ================================================================================
auto     ``cpu`` where it can, else (and within ``torch.func``) ``loop``
loop     torch, one step after the other; any device and type, gradients of any order
cpu      compiled loops with a backward pass of their own (numba); float32 or float64, on a CPU
======== ================================================================================
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from lrnnlab.scans.transforms import within_func
from lrnnlab.validation import among

FORMS = ("auto", "loop", "cpu")


def is_compiled(form: str, x: Tensor) -> bool:
    """Whether the compiled loop runs on x (B,T,...); ``ValueError`` if it is asked for and cannot."""
    among("form", form, FORMS)
    fits = x.device.type == "cpu" and x.dtype in (torch.float32, torch.float64)
    if form == "cpu" and not fits:
        raise ValueError(
            f"form 'cpu' runs in float32 or float64 on a CPU, got {x.dtype} on {x.device.type}; 'loop' runs everywhere"
        )
    if form == "cpu" and within_func():
        raise ValueError("form 'cpu' does not run within torch.func; 'auto' and 'loop' do")
    return form != "loop" and fits and not within_func() and x.numel() > 0  # nothing to do is not worth compiling for


def run_compiled(loop: str, tensors: tuple[Tensor | None, ...], *options: Any) -> Any:
    """The autograd Function ``module.Name`` of :mod:`lrnnlab.models.kernels`, which loads numba, at tensors and options."""
    return (_run_untraced if torch.compiler.is_compiling() else _run)(loop, tensors, options)


def _run(loop: str, tensors: tuple[Tensor | None, ...], options: tuple) -> Any:
    module, name = loop.split(".")
    function = getattr(import_module(f"lrnnlab.models.kernels.{module}"), name)
    keep = torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in tensors)
    return function.apply(*tensors, *options, keep)


_run_untraced = torch._disable_dynamo(_run)  # plainly called it would load the whole compiler
