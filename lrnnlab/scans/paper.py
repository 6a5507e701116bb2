"""PScan, the parallel scan of paper 000 (Fan, Chi, Rudnicky 2024), Sec. 3.4 and App. A.2.

Put x_0 in front of the inputs, pad with zeros to a power of two, and double: at level l the sequence is cut into
groups of 2^(l+1); the second half of each group receives (product of transitions) @ (last state of the first half).
The *depth* is ceil(log2(T+1)) levels.  The *work* is larger than the loop's: all products A_i ... A_j that a level
needs are matrix-matrix products, O(n^3 h T log T) in total against O(n^2 h T).

Letters: B batch, T time, h blocks, n block size; A transition, b input term, x state.
"""

from __future__ import annotations

import torch
from torch import Tensor


def products(transitions: Tensor) -> list[Tensor]:
    """The matrices that each level needs (paper 000, App. A.2.1 and Fig. 1).

    ``transitions`` is (..., L-1, n, n) with L a power of two: A_1 ... A_{L-1}.  Level l of the answer has shape
    (..., L / 2^(l+1), 2^l, n, n): group, position in the second half, matrix.

    >>> import torch
    >>> A = torch.arange(1., 8.).reshape(7, 1, 1)          # A1..A7 are the 1 x 1 matrices 1..7
    >>> [level.squeeze().tolist() for level in products(A)]
    [[1.0, 3.0, 5.0, 7.0], [[2.0, 6.0], [6.0, 42.0]], [4.0, 20.0, 120.0, 840.0]]
    """
    count = transitions.shape[-3] + 1
    if count & (count - 1):
        raise ValueError(f"PScan needs 2^k - 1 transitions, got {count - 1}: pad first")
    remaining, levels = transitions.unsqueeze(-3), []  # (..., groups, 1, n, n)
    while remaining.shape[-4]:
        odd, even = remaining[..., ::2, :, :, :], remaining[..., 1::2, :, :, :]
        levels.append(odd)
        # A group of the next level: the even run, then the following odd run times the even run's full product.
        longer = odd[..., 1:, :, :, :] @ even[..., -1:, :, :]
        remaining = torch.cat([even, longer], dim=-3)
    return levels


def linear_scan(A: Tensor, b: Tensor, x0: Tensor) -> Tensor:
    """x_t = A_t x_{t-1} + b_t in ceil(log2(T+1)) levels; arguments as in :func:`lrnnlab.scans.linear_scan`."""
    T = b.shape[1]
    if A.ndim == 3:  # a diagonal channel is a block of size one
        return linear_scan(A[..., None, None], b[..., None], x0[..., None])[..., 0]
    L = 1 << T.bit_length()  # smallest power of two that holds T inputs and x_0
    x = torch.cat([x0.unsqueeze(1), b], 1).movedim(1, -2)  # (B, h, 1+T, n)
    x = torch.nn.functional.pad(x, (0, 0, 0, L - 1 - T))
    transitions = torch.nn.functional.pad(A.movedim(1, -3), (0, 0, 0, 0, 0, L - 1 - T))  # (B, h, L-1, n, n)
    for level in products(transitions):
        groups, half = level.shape[-4], level.shape[-3]
        first, second = x.unflatten(-2, (groups, 2, half)).unbind(-3)  # each (B, h, groups, half, n)
        carried = (level @ first[..., -1:, :].unsqueeze(-1)).squeeze(-1)
        x = torch.stack([first, second + carried], -3).flatten(-4, -2)
    return x[..., 1 : T + 1, :].movedim(-2, 1)
