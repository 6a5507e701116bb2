"""How many strings does a rule need?  Nets that see a few strings again and again, beside a table that counts transitions.

What its rows and metrics are is said in ``ladder_strings.yaml``.

Letters: N strings, T time, Q states, V tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from lrnnbook.content.tables.ladder import FAR, LENGTH, WINDOW, Growing, by_position, kind, ladder_task, windows
from lrnnbook.content.tables.table import by_setting, load
from lrnnlab.models import build
from lrnnlab.tasks import Batch, Task
from lrnnlab.training import rng
from lrnnlab.training.loop import train


@dataclass
class Again(Growing):
    """Batches of the same few strings, cut as ``Growing`` cuts them."""

    strings: Batch | None = None

    @property
    def identity(self) -> str:
        return f"{super().identity}, of {len(self.strings or ())} strings"

    def __call__(self, _: torch.Generator | None = None) -> Batch:
        assert self.strings is not None
        chosen = torch.randint(len(self.strings), (self.batch,), generator=self.generator)
        length = self.task.near(self.length())
        self.drawn += 1
        return Batch(
            *(part[chosen, :length] for part in (self.strings.inputs, self.strings.targets, self.strings.mask))
        )


class TransitionTable(torch.nn.Module):
    """The state that most often followed each state and token; the start where none was seen.  Answers are its states."""

    def __init__(self, strings: Batch, asked: Task, start: int):
        super().__init__()
        counts = torch.zeros(asked.classes, asked.vocab_size, asked.classes)
        before = torch.nn.functional.pad(strings.targets[:, :-1], (1, 0), value=start)
        counts.index_put_((before, strings.inputs, strings.targets), torch.ones(()), accumulate=True)
        unseen = counts.sum(-1) == 0
        self.start, self.after, self.unseen = (
            start,
            counts.argmax(-1),
            int(unseen.sum()),
        )  # pairs of a state and a token
        self.after[unseen] = start

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Tokens (B,T) -> one-hot answers (B,T,Q)."""
        state, said = torch.full((len(tokens),), self.start), []
        for token in tokens.unbind(1):
            state = self.after[state, token]
            said.append(state)
        return torch.nn.functional.one_hot(torch.stack(said, 1), len(self.after)).float()


def measure(setting: dict, seed: int, **how: Any) -> dict:
    """Learn from so many strings of 40 tokens, and be asked on fresh ones at 500."""
    asked, drawn = ladder_task(setting["machine"]), rng(seed, "ladder/strings")
    strings = asked.sample_near(setting["strings"], LENGTH, drawn)
    metrics: dict[str, Any] = {}
    if setting["model"] == "table":
        net: torch.nn.Module = TransitionTable(strings, asked, asked.machine.initial)
        metrics["unseen"] = net.unseen
    else:
        steps = setting["steps"]
        net = build(setting["model"], asked, seed=seed, **setting["options"])
        source = Again(asked, 64, LENGTH, steps, drawn, strings=strings)
        made = train(net, source, steps=steps, lr=setting["rate"], clip=1.0, warmup=min(50, steps - 1), generator=drawn, **how)
        metrics["loss"] = made.losses[-1][1]
    right = windows(by_position(net, asked, FAR, 128, rng(seed, "ladder/test")))
    metrics |= {"trained": float(right[LENGTH - WINDOW]), "far": float(right[-1]), "kind": kind(right),
                "majority": asked.majority(asked.near(FAR))}  # fmt: skip
    return {"metrics": metrics}


TABLE = load("ladder/strings", by_setting(measure))
