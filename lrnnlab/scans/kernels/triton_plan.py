"""How a block scan runs on a GPU: decided from its shape alone, so that it can be read and tested without a GPU.

Letters: B batch, T time, h blocks, n block size, N the power of two that holds it.
"""

from __future__ import annotations

from typing import NamedTuple

MAX_BLOCK = 16  # blocks beyond this do not fit the registers of a warp
PROCESSORS = 132  # of an H200
IN_FLIGHT = 48 << 10  # bytes that a processor must have asked for, to keep 4.3 TB/s busy over some 1,500 ns
PER_STEP = 256 << 10  # bytes all chains must move in one step, for its latency not to matter
MIN_CHUNKED_STEPS = 256  # with fewer, three launches cost more than they save


class Plan(NamedTuple):
    """``kernel`` ("sequential" or "chunked"), chains and warps of a program, steps loaded ahead, and steps of a chunk
    (T if sequential)."""

    kernel: str
    group: int
    num_warps: int
    num_stages: int
    chunk: int


def plan(B: int, T: int, h: int, n: int, itemsize: int = 4, backward: bool = False) -> Plan:
    """The kernel and its sizes for A (B,T,h,n,n) of ``itemsize`` bytes a number.  No size is found by timing when
    it runs; the rules for chains and stages are those of one sweep on an H200.

    Sequential in time where the chains together move enough bytes in one step to hide its latency (n = 8, float32:
    from 820 chains), or where T is short; else in chunks of about sqrt(T) steps, which reads A twice.
    """
    sequential = T < MIN_CHUNKED_STEPS or B * h * (n * n + 2 * n) * itemsize >= PER_STEP
    chunk = T if sequential else max(32, next_power_of_two(round(T**0.5)))
    N = padded(n)
    group = max(2, (256 if backward else 128) // N**2)  # one warp, each lane at least 16 bytes of A ...
    if itemsize == 2:  # ... and two numbers of b: no fewer than 4 bytes can be copied asynchronously
        group = 64 // N
    programs = -(-B * h * -(-T // max(1, chunk)) // group)
    tile = group * (N * N + 2 * N) * itemsize
    wanted = IN_FLIGHT // (tile * max(1, -(-programs // PROCESSORS)))
    stages = 16 if wanted > 8 and not backward else 8 if wanted > 4 else 4
    return Plan("sequential" if sequential else "chunked", group, 1, stages, chunk)


def padded(n: int) -> int:
    """N: the side of the tile that holds a block."""
    return max(2, next_power_of_two(n))


def next_power_of_two(n: int) -> int:
    """The least power of two that is not less than n >= 1."""
    return 1 << (n - 1).bit_length()
