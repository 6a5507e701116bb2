"""Who scans: our backends, the paper's, and those of other libraries where they are installed.

A peer is a function ``prepare(case, inputs)`` that returns up to three calls without arguments:

* ``forward``   scans the inputs
* ``both``      scans them and takes the gradient ``dx`` back to A and b; a peer without gradients has only ``forward``
* ``backward``  takes the gradient back alone; only our own backends have it

A call returns what it computed; on a GPU, before it is done.  All get the same numbers; ``tests/lrnnbook/bench/test_bench.py`` compares
every one of them with the loop in float64.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from importlib.util import find_spec
from shutil import which
from typing import NamedTuple

import numpy as np
import torch

from lrnnbook.content.tables import records
from lrnnbook.machinery.bench.cases import Case
from lrnnlab import scans

Work = Callable[[], object]
Inputs = dict[str, np.ndarray]


def calls(function, inputs: Iterable[torch.Tensor], dy: torch.Tensor, weights: Sequence[torch.Tensor] = ()) -> tuple[Work, ...]:
    """``forward``, ``both`` and ``backward`` of a differentiable function, which takes dy back to its inputs and ``weights``."""
    given = [x.detach() for x in inputs]
    leaves = [x.detach().requires_grad_() for x in given]
    wanted = [*leaves, *weights]

    def both():
        y = function(*leaves)
        return y.detach(), *torch.autograd.grad(y, wanted, dy)

    @cache
    def done():
        return function(*leaves)

    def backward():
        return torch.autograd.grad(done(), wanted, dy, retain_graph=True)

    return torch.no_grad()(partial(function, *given)), both, backward


def _torch_calls(scan, inputs: Inputs, device: str) -> tuple[Work, ...]:
    """The calls of a differentiable scan(A, b, tokens)."""
    A, b, tokens, dx = (torch.from_numpy(inputs[name]).to(device) for name in ("A", "b", "tokens", "dx"))
    return calls(partial(scan, tokens=tokens), (A, b), dx)


def copy(numbers: int, device: str = "cpu") -> Work:
    """Read and write so many float32 numbers."""
    source = torch.ones(numbers, device=device)
    target = torch.zeros(numbers, device=device)

    return partial(target.copy_, source)


def _backend(cpu: str, cuda: str):
    def prepare(case: Case, inputs: Inputs, device: str) -> tuple[Work, ...]:
        name = cpu if device == "cpu" else cuda

        def scan(A, b, tokens):
            if case.kind == "table":
                return scans.token_scan(A, b, tokens, backend=name)
            return scans.linear_scan(A, b, backend=name)

        # others than compiled ones would keep a graph of many times A's size
        return _torch_calls(scan, inputs, device)[: 3 if name in scans.COMPILED else 2]

    return prepare


def _after(first, second):
    """(A1, b1) then (A2, b2): the pair of x -> A2 (A1 x + b1) + b2, for blocks or diagonals, in torch or JAX."""
    (A1, b1), (A2, b2) = first, second
    if A1.ndim == b1.ndim:
        return A2 * A1, A2 * b1 + b2
    return A2 @ A1, (A2 @ b1[..., None])[..., 0] + b2


def _given(case: Case, A, b, tokens):
    """A and b for every step, whatever the kind: what a scan without tables must build first."""
    if case.kind == "table":
        return A[tokens], b[tokens]
    if case.constant:
        return A.expand(*b.shape[:2], *A.shape), b
    return A, b


def _compiled_loop(case: Case, inputs: Inputs, device: str) -> tuple[Work, ...]:
    """The plain loop, unrolled and fused by torch's compiler; the first call compiles, half a minute for 64 steps."""
    torch.compiler.reset()  # it compiles one function eight times and no more

    @partial(torch.compile, dynamic=False)
    def scan(A, b, tokens):
        A, b = _given(case, A, b, tokens)
        return scans.linear_scan(A, b, backend="reference")

    return _torch_calls(scan, inputs, device)[:2]


def _torch_associative(case: Case, inputs: Inputs, device: str, native: bool = False) -> tuple[Work, ...]:
    """Torch's tree of whole tensors; ``native``: compiled, where torch has a kernel for it."""
    from torch._higher_order_ops.associative_scan import associative_scan

    def scan(A, b, tokens):  # "pointwise" gives wrong gradients: tests/lrnnlab/scans/test_scans.py shows it
        pair = tuple(part.contiguous() for part in _given(case, A, b, tokens))
        return associative_scan(_after, pair, dim=1, combine_mode="generic")[1]

    if native:
        torch.compiler.reset()
    return _torch_calls(torch.compile(scan, dynamic=False) if native else scan, inputs, device)[:2]


def _slices(case: Case, inputs: Inputs, device: str) -> tuple[Work, ...]:
    from slices import SLiCE

    class Given(SLiCE):
        """Their chunked scan, on transitions that are given: the input carries only the time."""

        def _build_blockdiag_transform(self, inp):
            at = int(inp[0, 0, 1])
            return tuple(part[:, at : at + inp.shape[1]] for part in self.pair)

    model = Given(1, case.h * case.n, block_size=case.n, use_parallel=True, path_mode="increments",
                  input_dependent_init=False)  # fmt: skip
    model.init.data.zero_()
    model.init.requires_grad_(False)
    time = torch.arange(case.T, dtype=torch.float32)[None, :, None].expand(case.B, -1, -1) / model.scale
    model, time = model.to(device), time.to(device)

    def scan(A, b, tokens):
        model.pair = _given(case, A, b, tokens)
        return model(time).view(case.B, case.T, case.h, case.n)

    return _torch_calls(scan, inputs, device)[:2]


def _jax_calls(scan, inputs: Inputs) -> tuple[Work, ...]:
    import jax
    import jax.numpy as jnp

    A, b, tokens, dx = (jnp.asarray(inputs[name]) for name in ("A", "b", "tokens", "dx"))

    @jax.jit
    def forward(A, b, tokens):
        return scan(A, b, tokens)

    @jax.jit
    def both(A, b, tokens, dx):
        x, pull = jax.vjp(lambda A, b: scan(A, b, tokens), A, b)
        return x, *(slope.conj() for slope in pull(dx.conj()))  # a complex gradient of JAX is the conjugate of torch's

    return (lambda: jax.block_until_ready(forward(A, b, tokens)),
            lambda: jax.block_until_ready(both(A, b, tokens, dx)))  # fmt: skip


def _jax_given(case: Case, A, b, tokens):
    import jax.numpy as jnp

    if case.constant:
        return jnp.broadcast_to(A, (*b.shape[:2], *A.shape)), b
    return _given(case, A, b, tokens)


def _jax_associative(case: Case, inputs: Inputs, device: str) -> tuple[Work, ...]:
    import jax

    def scan(A, b, tokens):
        return jax.lax.associative_scan(_after, _jax_given(case, A, b, tokens), axis=1)[1]

    return _jax_calls(scan, inputs)


def _jax_sequential(case: Case, inputs: Inputs, device: str) -> tuple[Work, ...]:
    import jax
    import jax.numpy as jnp

    def move(A_t, b_t, x):
        x = A_t * x + b_t if case.diagonal else jnp.einsum("...ij,...j->...i", A_t, x) + b_t
        return x, x

    def scan(A, b, tokens):
        x0 = jnp.zeros(inputs["dx"][:, 0].shape, b.dtype)
        if case.kind == "table":  # looks each token up as it comes: JAX's own best form of it
            states = jax.lax.scan(lambda x, token: move(A[token], b[token], x), x0, tokens.T)[1]
        elif case.constant:
            states = jax.lax.scan(lambda x, b_t: move(A, b_t, x), x0, jnp.swapaxes(b, 0, 1))[1]
        else:
            steps = jnp.swapaxes(A, 0, 1), jnp.swapaxes(b, 0, 1)
            states = jax.lax.scan(lambda x, step: move(*step, x), x0, steps)[1]
        return jnp.swapaxes(states, 0, 1)

    return _jax_calls(scan, inputs)


def _pararnn(case: Case, inputs: Inputs, device: str) -> tuple[Work, ...]:
    """Forward alone: it has no gradient.  Its blocks are a batch of their own."""
    from pararnn.solvers.scan import scan_dense

    def scan(A, b, tokens):
        A, b = _given(case, A, b, tokens)
        blocks = A.transpose(1, 2).flatten(0, 1), b.transpose(1, 2).flatten(0, 1)  # (B h, T, n, n), (B h, T, n)
        x = scan_dense(*blocks, backend="eager" if device == "cpu" else "triton")
        return x.unflatten(0, (case.B, case.h)).transpose(1, 2)

    return _torch_calls(scan, inputs, device)[:1]


def _accelerated(case: Case, inputs: Inputs, device: str) -> tuple[Work, ...]:
    """It wants time last, and a power of two of steps."""
    from accelerated_scan.warp import scan as warp_scan

    def scan(A, b, tokens):
        after = (1 << (case.T - 1).bit_length()) - case.T
        x = warp_scan(*(torch.nn.functional.pad(part.mT, (0, after)).contiguous() for part in (A, b)))
        return x[..., : case.T].mT

    return _torch_calls(scan, inputs, device)[:2]


def _accelerated_reference(case: Case, inputs: Inputs, device: str) -> tuple[Work, ...]:
    """Their reference in torch, a tree; it wants time last."""
    from accelerated_scan.ref import scan as reference

    def scan(A, b, tokens):
        return reference(*(part.mT.contiguous() for part in _given(case, A, b, tokens))).mT

    return _torch_calls(scan, inputs, device)[:2]


class Peer(NamedTuple):
    """How to prepare it, the library it needs, the kinds it can scan, where, and up to how many steps."""

    prepare: Callable[[Case, Inputs, str], tuple[Work, ...]]
    library: str
    kinds: tuple[str, ...]
    devices: tuple[str, ...]
    longest: int = 1 << 30


BLOCKS_ONLY = ("block", "table", "constant")
DIAGONAL = ("real", "constant_real", "complex")
EVERY = (*BLOCKS_ONLY, *DIAGONAL)
CPU, GPU = ("cpu",), ("cuda",)
NATIVE = hasattr(torch.ops.aten, "associative_scan")  # a kernel of its own
PEERS = {
    "ours": Peer(_backend("cpu", "triton"), "torch", EVERY, CPU + GPU),
    "loop (unbind)": Peer(_backend("reference", "reference"), "torch", EVERY, CPU + GPU),
    "PScan of the paper": Peer(_backend("paper", "paper"), "torch", EVERY, CPU + GPU),
    "JAX lax.scan": Peer(_jax_sequential, "jax", EVERY, CPU),
    "JAX associative_scan": Peer(_jax_associative, "jax", EVERY, CPU),
    "torch associative_scan": Peer(_torch_associative, "torch", EVERY, CPU + GPU),
    "torch native": Peer(partial(_torch_associative, native=True), "torch", EVERY, CPU + GPU),
    "torch.compile loop": Peer(_compiled_loop, "torch", ("block", "real"), CPU + GPU, longest=64),
    "torch-slices": Peer(_slices, "slices", BLOCKS_ONLY, CPU + GPU),
    "pararnn scan_dense": Peer(_pararnn, "pararnn", BLOCKS_ONLY, GPU),
    "accelerated-scan": Peer(_accelerated, "accelerated_scan", ("real",), GPU),
    "accelerated-scan reference": Peer(_accelerated_reference, "accelerated_scan", DIAGONAL, CPU),
}


def absent(device: str = "cpu") -> dict[str, str]:
    """The peers of libraries that are installed which cannot run here on such a device, and why."""
    found = {} if NATIVE else {"torch native": f"torch {torch.__version__} has no aten::associative_scan"}
    if device == "cpu" and not which(os.environ.get("CXX", "g++")):
        found |= dict.fromkeys(("torch native", "torch.compile loop"), "no C++ compiler")
    return found


def installed(device: str = "cpu") -> list[str]:
    """The peers that can run here on such a device."""
    missing = absent(device)
    return [name for name, peer in PEERS.items() if device in peer.devices and find_spec(peer.library) and name not in missing]


def versions() -> dict[str, str]:
    """Version of every library whose peer can run here."""
    sold_as = {"slices": "torch-slices", "pararnn": "pararnn-torch", "accelerated_scan": "accelerated-scan"}
    libraries = {peer.library for peer in PEERS.values() if find_spec(peer.library)}
    return {name: records.version(sold_as.get(name, name)) for name in sorted(libraries)}
