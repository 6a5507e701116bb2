"""A block layer in one pass each way: generator, column softmax and scan, for float32 and float64 on a CPU.

    r = relu(z W1^T + b1),   raw = r W2^T + b2,   A = softmax of raw's columns,   x_t = A_t x_{t-1}

Apart, autograd keeps raw beside A and builds both their gradients, each as large as A.  Here dA is never built, and raw and its
gradient do not outlive their part of the batch.  How many parts there are depends on the shape alone, and sums over parts are
taken in order, so the numbers do not depend on the threads.  In float32 the products are oneDNN's, where torch has it: MKL,
which torch would take, leaves half of the vector units unused on processors that are not Intel's.

Letters: B batch, T time, D width, h blocks, n block size; z input, r hidden layer, A transition, x state, d gradients.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from lrnnlab.scans.kernels import cpu_kernels as kernels
from lrnnlab.scans.kernels.allocator import empty
from lrnnlab.scans.kernels.threads import over_batch
from lrnnlab.scans.transforms import first_order

ROWS = 800  # (string, time) rows that a part has at least: a part costs a tenth of a millisecond
ONE_DNN = torch.backends.mkldnn.is_available()


def product(x: Tensor, weight: Tensor, bias: Tensor | None = None, after: str = "none") -> Tensor:
    """x (M,K) times weight (N,K) transposed, plus bias (N,); ``after`` may be ``"relu"``."""
    if ONE_DNN and x.dtype == torch.float32:
        return torch.ops.mkldnn._linear_pointwise(x, weight, bias, after, [], "")
    found = torch.nn.functional.linear(x, weight, bias)
    return found.relu_() if after == "relu" else found


class GeneratedScan(torch.autograd.Function):
    """A (B,T,row,h,column) and x (B,T,h,n) of z (B,T,D), the generator's weights, and x_0 (B,h,n)."""

    second = "with backend='reference'"

    @staticmethod
    def forward(ctx: Any, z: Tensor, W1: Tensor, b1: Tensor, W2: Tensor, b2: Tensor, x0: Tensor, keep: bool) -> Any:
        (B, T, _), (h, n) = z.shape, x0.shape[1:]
        z, W1, b1, W2, b2, x0 = (part.detach().contiguous() for part in (z, W1, b1, W2, b2, x0))
        rows, r = z.flatten(0, 1), z.new_empty(B * T, len(W1))
        A, x = empty((B, T, n, h, n), z.dtype), empty((B, T, h, n), z.dtype)
        arrays = [part.numpy().reshape(B, -1) for part in (x0, A, x)]

        def work(_: int, i: int, j: int) -> None:
            here = slice(i * T, j * T)
            r[here] = product(rows[here], W1, b1, "relu")
            raw = product(r[here], W2, b2).numpy().reshape(-1)
            start, blocks, states = (array[i:j].reshape(-1) for array in arrays)
            kernels.softmax_forward(raw, start, blocks, states, T, h, 0, j - i, 0, h, (0,) * n)

        over_batch(work, B, B * T // ROWS)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(z, r, W1, W2, x0, A, x)
        return A, x

    @staticmethod
    @first_order
    def backward(ctx: Any, dA: Tensor | None, dx: Tensor | None) -> tuple[Tensor | None, ...]:
        z, r, W1, W2, x0, A, x = (part.detach() for part in ctx.saved_tensors)
        B, T, h, n = x.shape
        dx = torch.zeros_like(x) if dx is None else dx.contiguous()
        rows, dz, dx0 = z.flatten(0, 1), torch.empty_like(z), torch.zeros_like(x0)
        arrays = [None if part is None else part.numpy().reshape(B, -1)
                  for part in (A, None if dA is None else dA.contiguous(), x0, x, dx)]  # fmt: skip
        sums: dict[int, tuple[Tensor, ...]] = {}

        def work(p: int, i: int, j: int) -> None:
            here, draw = slice(i * T, j * T), empty(((j - i) * T, n * h * n), z.dtype)
            mine = [None if array is None else array[i:j].reshape(-1) for array in arrays]
            passed = dx0[i:j].numpy().reshape(-1)
            kernels.softmax_backward(*mine, draw.numpy().reshape(-1), passed, T, h, 0, j - i, 0, h, (0,) * n)
            dr = torch.ops.aten.threshold_backward(product(draw, W2.mT), r[here], 0)
            dz.flatten(0, 1)[here] = product(dr, W1.mT)
            sums[p] = (product(rows[here].mT, dr.mT).mT, dr.sum(0), product(r[here].mT, draw.mT).mT, draw.sum(0))

        over_batch(work, B, B * T // ROWS)
        dW1, db1, dW2, db2 = (torch.stack(part).sum(0) if len(part) > 1 else part[0]
                              for part in zip(*(sums[p] for p in sorted(sums))))  # fmt: skip
        return dz, dW1, db1, dW2, db2, dx0, None
