"""What a scan does under ``torch.autocast``: it is one of the operations that keep single precision."""

from __future__ import annotations

from typing import Any

import torch

_SHORT = (torch.float16, torch.bfloat16)


def wide(*tensors: Any) -> tuple[Any, ...]:
    """The tensors; under autocast those of 16 bits in single precision, since errors of a state add up from step to step."""
    return tuple(x.float() if isinstance(x, torch.Tensor) and x.dtype in _SHORT and torch.is_autocast_enabled(x.device.type)
                 else x for x in tensors)  # fmt: skip
