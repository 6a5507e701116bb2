"""Figure 4a of paper 002 (Chi, Fan, Rudnicky, Ramadge 2023, Sec. 7.4): how far back does the answer look?

The paper adds up the sizes of the gradient from the last token to the first, for RegularGPT on Parity at length 500: a
straight line, every bit counts alike.  Here the same for four nets, trained on strings of up to 40 symbols, on three
tasks that ask for different pasts:

    parity        all bits
    even_pairs    the first bit and the last
    suffix        the last four bits: is the number of 1s among them odd?

Rows: ``regulargpt_c2``, ``transformer`` (Transformer-XL positions) and ``rnn`` of ``regulargpt/table1``, and ``lrnn``,
one layer of paper 000's block-diagonal LRNN (row ``softmax`` of ``lrnn/table2``) with one answer a string.

A record has ``gradient``: entry t is the share of the positions t ... 499 (``analysis.cumulative_gradient``,
mean over 8 strings).  A gradient says where the answer would change for a small change of a token's vector, not
whether it is right: so the accuracy at length 500 stands beside it.  ``bend`` is the largest distance from the
straight line, ``half`` how many of the last positions hold half of the gradient, ``last4`` and ``first`` the shares of
the last four positions and of the first.

Letters: B batch, T time, D width, h blocks, n block size.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from lrnnlab.models import build
from lrnnlab.tasks.string_tasks import BITS, STRING_TASKS, StringTask
from lrnnlab.training.curriculum import train_strings
from lrnnlab.training.determinism import rng
from lrnnlab.training.evaluation import accuracy_at_lengths
from workbook.tables.analysis import cumulative_gradient
from workbook.tables.regulargpt_table1 import make_network, training_of
from workbook.tables.table import by_setting, load

WINDOW = 4  # letters


class SuffixParity(StringTask):
    """1 if the number of 1s among the last four bits (of a shorter string: among all) is odd."""

    symbols, classes, initial = BITS, 2, (0,) * WINDOW

    def step(self, state: tuple[int, ...], token: int) -> tuple[int, ...]:
        return (*state[1:], token)

    def output(self, state: tuple[int, ...]) -> int:
        return sum(state) % 2

    def answer(self, tokens: Any) -> int:
        return self.write(tokens)[-WINDOW:].count("1") % 2


def build_task(name: str) -> StringTask:
    """The task of that name.

    >>> build_task("suffix").machine.num_states
    16
    """
    return SuffixParity() if name == "suffix" else STRING_TASKS[name]()


def build_net(setting: dict, task: StringTask, seed: int) -> nn.Module:
    """The untrained net of a setting; torch's own generator is left as it was."""
    if setting["row"] != "lrnn":
        return make_network(setting["row"], task, seed=seed, **setting["options"])
    return build("block_diagonal", vocab_size=task.vocab_size, classes=task.classes, seed=seed, **setting["options"])


def measure(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> dict:
    """Train and take the gradient: ``metrics``, ``gradient`` and ``training``.

    >>> tiny = {**TABLE.setting("rnn", "suffix", "live"), "length": 12}
    >>> found = measure({**tiny, "training": {"steps": 2, "rate": 1e-3}}, seed=0)
    >>> len(found["gradient"]), found["gradient"][0]
    (12, 1.0)
    """
    task = build_task(setting["task"])
    net = build_net(setting, task, seed)
    made = train_strings(net, task, generator=rng(seed, "fig4/train"), progress=progress, checkpoint=checkpoint,
                         **setting["training"])  # fmt: skip
    length, test = setting["length"], partial(accuracy_at_lengths, net, task, generator=rng(seed, "fig4/test"))
    tokens = task.sample(setting["strings"], length, rng(seed, "fig4/look")).tokens
    share = cumulative_gradient(net, tokens)
    metrics = {"accuracy": test([length], strings=128)[length], "accuracy_seen": test([40], strings=512)[40],
               "majority": task.majority(length), **shape(share)}  # fmt: skip
    return {"metrics": metrics, "gradient": share.round(5).tolist(), "training": {**training_of(made), **made.summary()},
            "cpu_seconds": round(made.cpu_seconds, 2)}  # fmt: skip


def shape(share: np.ndarray) -> dict:
    """What a curve of ``cumulative_gradient`` (T,) looks like; see the module's head.

    >>> shape(np.array([1, 0.75, 0.5, 0.25])), shape(np.array([1.0, 0, 0, 0]))["half"]
    ({'bend': 0.0, 'half': 2, 'last4': 1.0, 'first': 0.25}, 4)
    """
    straight, padded = 1 - np.arange(len(share)) / len(share), np.r_[share, 0]
    half = min(len(share), len(share) - int((share >= 0.5).sum()) + 1)
    return {"bend": round(float(np.abs(share - straight).max()), 4), "half": half,
            "last4": round(float(share[-WINDOW:][0]), 4), "first": round(float(padded[0] - padded[1]), 4)}  # fmt: skip


TABLE = load("regulargpt/fig4", by_setting(measure))
