"""Who attends to whom in RegularGPT (paper 002: Chi, Fan, Rudnicky, Ramadge 2023), drawn and run.

Eq. 1: at depth l = 0, 1, ... position m sees n = m - j c^l for j = 0 .. c-1, and adds r_j to the score; nothing else.
So after depth l it has seen c^(l+1) symbols, and ceil(log_c T) depths see a whole string.

``dilated_mask`` is that as a T x T matrix, for the eye.  To run it, positions that are equal modulo c^l are put in one
row, where the c positions seen stand side by side: ``window_attention``, T c scores instead of T^2.  If only the
last position is asked for, depth l + 1 reads but every c-th position of depth l: ``chunk_attention``, T scores; the
released code.

Letters: B batch, T time, h heads, d size of a head, c chunk (the paper's C), l depth, s residue classes (c^l of them,
or 1 in the tree), S positions of one class; q, k, v queries, keys and values, r_j the learned bias of distance j.
"""

from __future__ import annotations

import math
from functools import reduce

import torch
from torch import Tensor
from torch.nn import functional as F

from lrnnlab.validation import whole_number

NARROW = 8  # chunks up to this one are attended to distance by distance: a matrix product would be mostly zeros
SMALLEST_BLOCK = 32  # queries that window_attention takes together for others, at least: small products are slow


def depth_count(length: int, chunk: int) -> int:
    """max(1, ceil(log_c T)), in whole numbers: the depths that a string of T symbols needs (Sec. 3.2)."""
    whole_number(length, 1, "the length of a string")
    count, reach = 1, whole_number(chunk, 2, "chunk")  # with 1, no depth would ever see more than one symbol
    while reach < length:
        count, reach = count + 1, reach * chunk
    return count


def dilated_mask(length: int, chunk: int, depth: int, r: Tensor | None = None) -> Tensor:
    """Eq. 1 as a matrix (..., T, T): r_j where row m sees column n = m - j c^l, -inf elsewhere.

    ``r`` (..., c) is 0 if not given.
    """
    r = torch.zeros(chunk) if r is None else r
    step, at = min(chunk**depth, length), torch.arange(length, device=r.device)
    gap = at.unsqueeze(1) - at  # m - n
    seen = (gap >= 0) & (gap % step == 0) & (gap < step * chunk)
    return torch.where(seen, r[..., (gap // step).clamp(0, chunk - 1)], -math.inf)


def kept_positions(length: int, chunk: int, depth: int) -> list[int]:
    """The positions that the tree still has behind depth l: T-1, T-1-c^(l+1), ..., in rising order."""
    return list(range(length - 1, -1, -(chunk ** (depth + 1))))[::-1]


def chunk_attention(q: Tensor, k: Tensor, v: Tensor, r: Tensor, present: Tensor) -> Tensor:
    """The last position of every chunk attends to its chunk: the released tree, where chunks do not overlap."""
    chunk = r.shape[1]
    k, v = (x.unflatten(-2, (-1, chunk)) for x in (k, v))  # (B,s,h,S/c,c,d)
    # One query per chunk: T d multiplications, too few to be worth a matrix product.
    scores = (q.unsqueeze(-2) * k).sum(-1) * q.shape[-1] ** -0.5 + r.flip(1).unsqueeze(1)  # the last key is r_0
    seen = present.unflatten(1, (-1, chunk)).unsqueeze(1)  # (s,1,S/c,c)
    weights = scores.masked_fill(~seen, -math.inf).softmax(-1)
    return (weights.unsqueeze(-1) * v).sum(-2)


def window_attention(q: Tensor, k: Tensor, v: Tensor, r: Tensor, present: Tensor) -> Tensor:
    """Every position attends to itself and the c - 1 before it."""
    window = min(r.shape[1], q.shape[-2])
    attend = _by_distance if window <= NARROW else _in_blocks
    return attend(q * q.shape[-1] ** -0.5, k, v, r[:, :window], present)


def _by_distance(q: Tensor, k: Tensor, v: Tensor, r: Tensor, present: Tensor) -> Tensor:
    """``window_attention`` for short windows: all pairs of one distance at a time."""
    S, window = q.shape[-2], r.shape[1]

    def shifted(x: Tensor, dim: int) -> list[Tensor]:
        """What stands 0, 1, ... before each position."""
        fill = [0, 0] * (-1 - dim) + [window - 1, 0]
        return [F.pad(x, fill).narrow(dim, window - 1 - j, S) for j in range(window)]

    scores = torch.stack([(q * key).sum(-1) for key in shifted(k, -2)], -1) + r.unsqueeze(1)  # (B,s,h,S,c)
    seen = torch.stack([torch.ones_like(present), *shifted(present, -1)[1:]], -1).unsqueeze(1)  # (s,1,S,c)
    weights = scores.masked_fill(~seen, -math.inf).softmax(-1)
    return reduce(torch.add, (weight.unsqueeze(-1) * value for weight, value in zip(weights.unbind(-1), shifted(v, -2))))


def _in_blocks(q: Tensor, k: Tensor, v: Tensor, r: Tensor, present: Tensor) -> Tensor:
    """``window_attention`` for long windows: blocks of a queries, each on the a + c - 1 keys that it may see."""
    S, window = q.shape[-2], r.shape[1]
    block = min(S, max(window, SMALLEST_BLOCK))
    around, fill = block + window - 1, -S % block
    q = F.pad(q, (0, 0, 0, fill)).unflatten(-2, (-1, block))  # (B,s,h,S/a,a,d)
    k, v = (F.pad(x, (0, 0, window - 1, fill)).unfold(-2, around, block) for x in (k, v))  # (B,s,h,S/a,d,a+c-1)
    bias = _window_bias(r, F.pad(present, (window - 1, fill)).unfold(-1, around, block), block, window)
    weights = (q @ k + bias).softmax(-1)
    return (weights @ v.mT).flatten(-3, -2)[..., :S, :]


def _window_bias(r: Tensor, present: Tensor, block: int, window: int) -> Tensor:
    """r (h,c), present (s,S/a,a+c-1) -> (s,h,S/a,a,a+c-1): r_j where a query of a block sees that key, else -inf."""
    row = torch.arange(block, device=r.device).unsqueeze(1)
    back = row + window - 1 - torch.arange(present.shape[-1], device=r.device)  # how far the key lies behind the query
    seen = (back >= 0) & (back < window) & (present.unsqueeze(-2) | (back == 0))  # (s,S/a,a,a+c-1)
    return torch.where(seen.unsqueeze(1), r[:, back.clamp(0, window - 1)].unsqueeze(1), -math.inf)
