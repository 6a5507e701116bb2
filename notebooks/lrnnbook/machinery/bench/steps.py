"""Training steps, one form of a layer beside the other: same model, same strings, in turn, in one run, on one thread.

``step``          the released model of paper 000 on every scan
``tree``          RegularGPT's tree beside its masks, for one answer per string; the sliding windows that paper 002 counts
                  (Sec. 3.4, T c scores per layer) belong to the masks, the tree keeps one position in c from depth to depth
``fast_weights``  paper 003's models, and today's gated rules, beside a loop of their equations, all heads and strings at once;
                  softmax attention and torch's LSTM have no loop of ours

Letters: B batch, T time, D width, h heads, c chunk.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch.nn import functional as F

from lrnnbook.machinery.bench.recording import Bench, of_forms
from lrnnbook.machinery.bench.scans import take_turns
from lrnnlab import scans, tasks
from lrnnlab.models import Net, Recurrence, build
from lrnnlab.models.layers.attention import PADDING, RegularGPT
from lrnnlab.training import deterministic, rng

BATCH = 128  # of the released model
CHUNKS, LENGTH = (2, 128), 512  # of RegularGPT
NAIVE = "fla naive"
RECORDED_AS = {"sequential": "reference", "loop": "reference"}  # what records call a backend -> what it is called
FORMS = {  # of every model of paper 003 and of the gated rules, ours first
    **dict.fromkeys(("ult", "deltanet"), ("cpu", "chunkwise", "sequential")),
    "nlt": ("chunkwise", "sequential"),
    **dict.fromkeys(("recurrent_delta", "srwm", "e_lstm"), ("cpu", "loop")),
    **dict.fromkeys(("gated_deltanet", "mamba2", "rwkv7"), ("cpu", "chunkwise", "loop", NAIVE)),
    **dict.fromkeys(("transformer", "plain_lstm"), ("torch",)),
}


def in_turn(loss: Callable[[str], torch.Tensor], nets: Mapping[str, torch.nn.Module], rounds: int,
            optimiser: torch.optim.Optimizer | None = None) -> dict[str, list[float]]:  # fmt: skip
    """Seconds of every timed step, by form: ``loss(form)`` of its net, backward, and the optimiser's step if there is one."""

    def step(form: str, net: torch.nn.Module) -> None:
        found = loss(form)
        net.zero_grad()
        found.backward()
        if optimiser is not None:
            optimiser.step()

    with deterministic(alone=True):
        return take_turns({form: partial(step, form, net) for form, net in nets.items()}, rounds)


def released_step(task_name: str, rounds: int = 9) -> dict[str, list[float]]:
    """Seconds by backend: forward, backward and Adam of the released model of paper 000."""
    task = tasks.task(task_name, 5)
    assert isinstance(task, tasks.Task), task
    layers = 3 if task_name == "modarith" else 1
    model = build("block_diagonal", vocab_size=task.vocab_size, classes=task.classes, rule="release", layers=layers)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-4)
    batch = task.sample(BATCH, task.train_length, rng(0, "bench"))
    labelled = task.mask(task.train_length)

    def loss(backend: str) -> torch.Tensor:
        for layer in model.layers:
            layer.backend = backend
        return F.cross_entropy(model(batch.tokens)[:, labelled].flatten(0, 1), batch.targets[:, labelled].flatten())

    names = sorted(scans.backends(torch.zeros(1, BATCH, 1, 2, 2)), key=lambda name: name != "cpu")  # ours first
    return in_turn(loss, dict.fromkeys(names, model), rounds, optimiser)


def tree_step(chunk: int, rounds: int = 5, *, length: int = LENGTH) -> dict[str, list[float]]:
    """Seconds of every timed step, by form of the same RegularGPT: forward, loss at the last position, backward."""
    tokens, labels = torch.randint(2, (2, 8, length), generator=rng(0, "bench tree"))
    models: dict[str, RegularGPT] = {}
    for form in PADDING:
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(0)
            models[form] = RegularGPT(2, 2, chunk=chunk, width=64, form=form, padding="masked")

    def loss(form: str) -> torch.Tensor:
        logits = models[form](tokens)
        return F.cross_entropy(logits if form == "tree" else logits[:, -1], labels[:, 0])

    return in_turn(loss, models, rounds)


def tree_ratio(taken: dict[str, list[float]]) -> float:
    """How many times longer the masks take than the tree, median over median."""
    return statistics.median(taken["masks"]) / statistics.median(taken["tree"])


class Shape(NamedTuple):
    """B strings of T symbols; one layer of width D with h heads."""

    B: int
    T: int
    D: int
    h: int

    @property
    def name(self) -> str:
        return f"B={self.B} T={self.T} D={self.D} h={self.h}"

    def model(self, name: str) -> Net:
        """A fresh model of two symbols and two classes, the same every time."""
        heads: dict[str, Any] = {"heads": self.h} if name not in ("e_lstm", "plain_lstm") else {}
        net = build(name, vocab_size=2, classes=2, width=self.D, **heads)
        assert isinstance(net, Net), net
        return net


SHAPES = (Shape(16, 50, 8, 2), Shape(32, 150, 16, 4))  # parity; a^n b^n c^n at its longest (Tables 4 and 5)


def fla_naive(layer: Recurrence, z: torch.Tensor) -> torch.Tensor:
    """z (B,T,D) -> y, as ``dplr_recurrence`` does it (fla-org/flash-linear-attention at bc3b101,
    fla/ops/generalized_delta_rule/dplr/naive.py): heads first, every step's part by its index, S (K,V)."""
    q, v, k, gk, *ab = (x.transpose(1, 2) for x in layer.program(z))
    alpha, beta = ab or (torch.zeros_like(k), torch.zeros_like(k))
    o, S = torch.zeros_like(v), q.new_zeros(*q.shape[:2], q.shape[-1], v.shape[-1])
    for i in range(q.shape[2]):
        kv = k[:, :, i, :, None] * v[:, :, i, None]
        kv = kv + (S.clone() * alpha[:, :, i, :, None]).sum(-2, keepdim=True) * beta[:, :, i, :, None]
        S = S.clone() * gk[:, :, i].exp()[..., None] + kv
        o[:, :, i] = torch.einsum("bhd,bhdm->bhm", q[:, :, i], S)
    return o.transpose(1, 2).flatten(2)


def set_form(model: Net, form: str) -> None:
    """Have every layer run in this form; attention and torch's LSTM have but one."""
    for layer in model.layers:
        if form == NAIVE:
            layer.mix = partial(fla_naive, layer)  # type: ignore[method-assign]
        elif hasattr(layer, "backend"):
            vars(layer).pop("mix", None)
            layer.backend = RECORDED_AS.get(form, form)


def fast_weight_step(name: str, shape: Shape, rounds: int = 9) -> dict[str, list[float]]:
    """Seconds of every timed step, by form: forward, loss at every position, backward, Adam."""
    model = shape.model(name)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.995), eps=1e-9, fused=True)
    tokens, labels = torch.randint(2, (2, shape.B, shape.T), generator=rng(0, "bench fast weights"))

    def loss(form: str) -> torch.Tensor:
        set_form(model, form)
        return F.cross_entropy(model(tokens).flatten(0, 1), labels.flatten())

    return in_turn(loss, dict.fromkeys(FORMS[name], model), rounds, optimiser)


def step(rounds: int = 9) -> Bench:
    """``lrnnlab bench step``: Sum and ModArith."""
    head = f"training step, {{}}, batch {BATCH}, one thread (ms: median, min, max; times cpu)"
    return of_forms("step", head, {name: partial(released_step, name) for name in ("sum", "modarith")}, rounds)


def tree(rounds: int = 5) -> Bench:
    """``lrnnlab bench tree``: both chunks."""
    head = "RegularGPT, training step, {}, batch 8, one thread (ms: median, min, max; times the tree)"
    return of_forms("tree", head, {f"T={LENGTH} c={chunk}": partial(tree_step, chunk) for chunk in CHUNKS}, rounds)


def fast_weights(rounds: int = 9, shapes: Sequence[Shape] = SHAPES) -> Bench:
    """``lrnnlab bench fast_weights``: all models at all shapes."""
    head = "training step, {}, one layer, one thread (ms: median, min, max; times ours)"
    steps = {f"{name} {shape.name}": partial(fast_weight_step, name, shape) for shape in shapes for name in FORMS}
    return of_forms("fast_weights", head, steps, rounds)
