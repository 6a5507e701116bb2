"""The Triton kernels without a GPU: their arithmetic in Triton's interpreter, and their code compiled for a Hopper GPU."""

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

if sys.platform != "linux" or platform.machine() != "x86_64":
    pytest.skip(f"Triton has no wheel for {platform.machine()} on {sys.platform}: not tested", allow_module_level=True)

import triton as language
from triton.backends.compiler import GPUTarget
from triton.runtime.jit import JITFunction

from lrnnlab.scans.kernels import triton

TESTS = Path(__file__).parents[2]
SHARED_MEMORY = 227 << 10  # of one program on a Hopper GPU


def test_kernels_in_the_interpreter():
    """Values and gradients of every kernel; the tests that failed stand in this one's message."""
    call = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", TESTS / "support" / "triton_interpreted.py"]
    environ = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(call, env=environ, cwd=TESTS.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    passed = re.search(r"(\d+) passed in", done.stdout)
    assert passed and int(passed[1]) >= 80 and "skipped" not in done.stdout, done.stdout[-500:]


class Absent:
    """Stands for the driver of a Hopper GPU; device -1 keeps its kernels apart from those of a GPU that is there."""

    def get_current_target(self):
        return GPUTarget("cuda", 90, 32)

    def get_current_device(self):
        return -1

    def get_current_stream(self, device):
        return 0


@pytest.fixture
def launched(monkeypatch, tmp_path):
    """Makes launches compile instead; collects (kernel's name, what was compiled)."""
    collected, run = [], JITFunction.run

    def compile_only(self, *args, grid, warmup, **options):
        collected.append((self.__name__, run(self, *args, grid=grid, warmup=True, **options)))

    monkeypatch.setattr(language.runtime.driver, "_active", Absent())
    monkeypatch.setattr(JITFunction, "run", compile_only)
    monkeypatch.setattr(language.knobs.cache, "dir", str(tmp_path))
    return collected


def resources(kernel, folder):
    """Registers, bytes of stack and of local memory (spills) of one thread, from the machine code."""
    (folder / "kernel.cubin").write_bytes(kernel.asm["cubin"])
    tool = Path(language.__file__).parent / "backends/nvidia/bin/cuobjdump"
    said = subprocess.run(
        [str(tool), "--dump-resource-usage", str(folder / "kernel.cubin")], capture_output=True, text=True, check=True
    )
    found = {name: int(size) for name, size in re.findall(r"(REG|STACK|LOCAL):(\d+)", said.stdout)}
    assert set(found) == {"REG", "STACK", "LOCAL"}, said.stdout
    return found


def zeros(*shape, dtype=torch.float32):
    return torch.zeros(*shape, dtype=dtype)


def scan_blocks(B, T, h, n, dtype=torch.float32, view=lambda A: A, constant=False):
    A, x, x0 = zeros(B, T, h, n, n, dtype=dtype), zeros(B, T, h, n, dtype=dtype), zeros(B, h, n, dtype=dtype)
    A = A[0, 0] if constant else view(A)
    triton.block_forward(A, x, x0)
    triton.block_backward(A, x0, x, x)


def scan_tokens(B, T, h, n, V, dtype=torch.float32):
    tables, x = (zeros(V, h, n, n, dtype=dtype), zeros(V, h, n, dtype=dtype)), zeros(B, T, h, n, dtype=dtype)
    tokens, x0 = torch.zeros(B, T, dtype=torch.int64), zeros(B, h, n, dtype=dtype)
    triton.token_forward(*tables, tokens, x0)
    triton.token_backward(tables[0], tokens, x0, x, x)


def scan_diagonal(B, T, D, dtype, constant=False):
    x, x0 = zeros(B, T, D, dtype=dtype), zeros(B, D, dtype=dtype)
    A = x[0, 0] if constant else x
    triton.diagonal_forward(A, x, x0)
    triton.diagonal_backward(A, x0, x, x)


def interleaved(A):
    return A.transpose(2, 3).contiguous().transpose(2, 3)


# What is compiled, of all that ``plan`` can choose: each kernel and direction; every padded n in float32, one odd n,
# n = 8 in bfloat16, one n elsewhere; most stages (16: most registers and shared memory) for n = 8, else few (4).
# The numbers: launches, and loads that each of them has on their way (cp.async of a step: A and b, or A, dx and x).
MANY = 1 << 15
FORWARD, BACKWARD = "sequential_forward", "sequential_backward"
CHUNKS = ("chunk_products", FORWARD, FORWARD, "chunk_products", FORWARD, BACKWARD)
DIAGONAL = ("diagonal_forward", "diagonal_backward")
CASES = {
    "blocks 2": (lambda: scan_blocks(MANY, 1, 2, 2), (FORWARD, BACKWARD)),
    "blocks 3": (lambda: scan_blocks(MANY, 1, 2, 3), (FORWARD, BACKWARD)),
    "blocks 4": (lambda: scan_blocks(MANY, 1, 2, 4), (FORWARD, BACKWARD)),
    "blocks 8": (lambda: scan_blocks(2, 9, 8, 8), (FORWARD, BACKWARD)),
    "blocks 8 interleaved": (lambda: scan_blocks(2048, 1, 8, 8, view=interleaved), (FORWARD, BACKWARD)),
    "blocks 8 bfloat16": (lambda: scan_blocks(4096, 1, 8, 8, torch.bfloat16), (FORWARD, BACKWARD)),
    "blocks 16": (lambda: scan_blocks(1024, 1, 8, 16), (FORWARD, BACKWARD)),
    "one block": (lambda: scan_blocks(2048, 1, 8, 8, constant=True), (FORWARD, BACKWARD)),
    "chunks 4": (lambda: scan_blocks(400, 256, 4, 4), CHUNKS),
    "chunks 16": (lambda: scan_blocks(16, 512, 8, 16), CHUNKS),
    "tokens 8": (lambda: scan_tokens(4096, 2, 4, 8, 5), (FORWARD, BACKWARD, "table_gradient")),
    "diagonal": (lambda: scan_diagonal(2, 3, 64, torch.float32), DIAGONAL),
    "diagonal complex": (lambda: scan_diagonal(2, 3, 24, torch.complex64), DIAGONAL),
}


@pytest.mark.parametrize("case", CASES)
def test_compiled_for_hopper(case, launched, tmp_path):
    scan, expected = CASES[case]
    scan()
    assert tuple(name for name, _ in launched) == expected
    for name, kernel in launched:
        used, code = resources(kernel, tmp_path), kernel.asm["ptx"]
        assert used["STACK"] == used["LOCAL"] == 0, f"{case}, {name}: registers spill, {used}"
        assert kernel.metadata.shared <= SHARED_MEMORY, f"{case}, {name}: {kernel.metadata.shared} bytes shared"
        if name != "table_gradient":
            copies = len(re.findall(r"cp\.async\.c[ag]\.shared", code))
            assert copies, f"{case}, {name}: nothing is loaded ahead"
            inside = loop_of(code)
            assert "cp.async.wait_group" in inside and not re.search(r"ld\.global", inside), f"{case}, {name}"


def loop_of(code):
    """The kernel's loop: from the label that its first branch backwards goes to, to that branch."""
    lines = code.splitlines()
    labels = [(number, re.match(r"(\$L\w+):", line)) for number, line in enumerate(lines)]
    places = {label[1]: number for number, label in labels if label}
    for number, line in enumerate(lines):
        jump = re.search(r"bra(?:\.uni)?\s+(\$L\w+);", line)
        if jump and places.get(jump[1], number) < number:
            return "\n".join(lines[places[jump[1]] : number])
    raise AssertionError("the kernel has no loop")


def test_the_compiled_code_is_read_right(launched, tmp_path, monkeypatch):
    """A kernel that loads nothing ahead, and one that spills, are found out."""
    chosen = triton.plan
    few = lambda *shape: chosen(*shape)._replace(num_stages=1)
    monkeypatch.setattr(triton, "plan", few)
    triton.block_forward(zeros(1, 9, 2, 4, 4), zeros(1, 9, 2, 4), zeros(1, 2, 4))
    sizes = triton._sizes
    monkeypatch.setattr(triton, "_sizes", lambda like, group: {**sizes(like, group), "maxnreg": 24})
    triton.block_forward(zeros(1, 9, 2, 16, 16), zeros(1, 9, 2, 16), zeros(1, 2, 16))
    (_, slow), (_, tight) = launched
    assert "cp.async" not in slow.asm["ptx"] and "ld.global" in loop_of(slow.asm["ptx"])
    used = resources(tight, tmp_path)
    assert used["STACK"] + used["LOCAL"] > 0, used


@pytest.mark.parametrize("n", range(1, 17))
@pytest.mark.parametrize("itemsize", (2, 4, 8))
def test_every_plan_is_sound(n, itemsize):
    for B, h in ((0, 1), (1, 1), (3, 5), (128, 8), (4096, 64)):
        for T in (0, 1, 255, 256, 1000, 16384, 1 << 20):
            made = triton.plan(B, T, h, n, itemsize)
            N = triton.padded(n)
            assert n <= N < 2 * n or n == 1
            assert made.kernel in ("sequential", "chunked") and made.num_stages in (4, 8, 16) and made.num_warps == 1
            assert made.group & (made.group - 1) == 0 and made.group * N * N * itemsize <= 4096
            assert made.num_stages * made.group * (N * N + 2 * N) * itemsize <= SHARED_MEMORY // 2
            assert (made.chunk == T) if made.kernel == "sequential" else (32 <= made.chunk < T)
            assert itemsize > 2 or made.group * N >= 64  # each lane two numbers of b: four bytes


def test_which_road_is_taken():
    """Chunks where there are few chains and many steps; the shapes of paper 000 run in one walk."""
    road = lambda *shape: triton.plan(*shape).kernel
    assert road(128, 16384, 8, 8) == road(128, 40, 8, 8) == road(1, 255, 1, 8) == "sequential"
    assert road(1, 16384, 8, 8) == road(8, 1024, 8, 8) == road(1, 256, 1, 2) == "chunked"
    assert triton.plan(128, 1024, 8, 8).num_stages > triton.plan(4096, 1024, 8, 8).num_stages
