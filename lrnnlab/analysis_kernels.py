"""How far back a model looks: the gradient of one output position by every input position.

Letters: B batch, T time, d_in and d_out columns.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor


def receptive_field(model: Callable[[Tensor], Tensor], inputs: Tensor, position: int = -1) -> np.ndarray:
    """(T,) the size of d output[position] / d input[t], averaged over the batch.

    The size is the Frobenius norm of the (d_out, d_in) matrix of derivatives; for a linear layer of one channel it is
    |K_{position-t}| (paper 004, Sec. 2.3: d y_k / d u_{k-j} = K_j).

    Parameters
    ----------
    model : callable
        inputs (B, T, d_in) -> outputs (B, T', d_out).  Strings must not see each other (no batch norm in training).
    inputs : Tensor, (B, T, d_in)
        Where the derivative is taken.
    position : int
        Which of the T' outputs.

    Returns
    -------
    array, (T,)
        The sizes.

    Raises
    ------
    ValueError
        For inputs of another shape, or a position that the outputs do not have.

    Examples
    --------
    >>> receptive_field(lambda u: u.cumsum(1) * 2, torch.zeros(3, 4, 1), position=2).tolist()
    [2.0, 2.0, 2.0, 0.0]
    """
    if inputs.ndim != 3 or not inputs.is_floating_point() or not inputs.numel():
        raise ValueError(f"inputs are real numbers (B, T, d_in), got {tuple(inputs.shape)} of {inputs.dtype}")
    leaf = inputs.detach().clone().requires_grad_()
    outputs = model(leaf)
    if not -outputs.shape[1] <= position < outputs.shape[1]:
        raise ValueError(f"the model has {outputs.shape[1]} output positions, got position={position}")
    size = torch.zeros(inputs.shape[:2], dtype=inputs.dtype)
    for column in outputs[:, position].sum(0):  # of one string each, as strings do not see each other
        (slope,) = torch.autograd.grad(column, leaf, retain_graph=True)
        size += slope.square().sum(-1)
    return size.sqrt().mean(0).numpy()
