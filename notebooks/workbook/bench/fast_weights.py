"""How long a training step of paper 003's models takes: what we run beside a loop of its equations, in one run.

The loop is the readable form of the same layer, all heads and strings at once, one step of the string after the other;
same model, same strings, same numbers.  Softmax attention and torch's LSTM have no loop of ours.

Letters: B batch, T time, D width, h heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch.nn import functional as F

from lrnnlab.models import Net, build
from lrnnlab.training.determinism import deterministic, rng
from workbook.bench.recording import Bench, of_forms
from workbook.bench.scans import take_turns

FORMS = {  # of every model, ours first
    **dict.fromkeys(("ult", "deltanet"), ("cpu", "chunkwise", "sequential")),
    "nlt": ("chunkwise", "sequential"),
    **dict.fromkeys(("recurrent_delta", "srwm", "e_lstm"), ("cpu", "loop")),
    **dict.fromkeys(("transformer", "plain_lstm"), ("torch",)),
}


@dataclass(frozen=True)
class Shape:
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
        heads = {"heads": self.h} if name not in ("e_lstm", "plain_lstm") else {}
        return build(name, vocab_size=2, classes=2, width=self.D, **heads)


SHAPES = (Shape(16, 50, 8, 2), Shape(32, 150, 16, 4))  # parity; a^n b^n c^n at its longest (Tables 4 and 5)


def set_form(model: Net, form: str) -> None:
    """Have every layer run in this form; attention and torch's LSTM have but one."""
    for layer in model.layers:
        if hasattr(layer, "form"):
            layer.form = form  # type: ignore[assignment]


def training_step(name: str, shape: Shape, rounds: int = 9) -> dict[str, list[float]]:
    """Seconds of every timed step, by form: forward, loss at every position, backward, Adam; one thread."""
    if name not in FORMS:
        raise ValueError(f"no model {name!r} here; there are {', '.join(FORMS)}")
    model = shape.model(name)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.995), eps=1e-9, fused=True)
    tokens, labels = torch.randint(2, (2, shape.B, shape.T), generator=rng(0, "bench fast weights"))

    def step(form: str) -> None:
        set_form(model, form)
        loss = F.cross_entropy(model(tokens).flatten(0, 1), labels.flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    with deterministic():
        return take_turns({form: lambda form=form: step(form) for form in FORMS[name]}, rounds)


def bench(rounds: int = 9, shapes: Sequence[Shape] = SHAPES) -> Bench:
    """All models at all shapes, for ``lrnnlab bench fast_weights``."""
    head = "training step, {}, one layer, one thread (ms: median, min, max; times ours)"
    steps = {f"{name} {shape.name}": partial(training_step, name, shape) for shape in shapes for name in FORMS}
    return of_forms("fast_weights", head, steps, rounds)
