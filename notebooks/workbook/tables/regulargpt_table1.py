"""Table 1 of paper 002 (Chi, Fan, Rudnicky, Ramadge 2023): which nets know a regular language at unseen lengths?

A row is a net, a task a language with one answer a string.  The first five are trained on lengths up to 40 and asked
at 41..500 (Deletang et al.), the others, languages to be recognised, up to 50 and asked at 51..100, as the paper's text
says (its code trains D_12 up to 80).  Modular Arithmetic is there twice: with a + before every expression, which the
paper's code gives to all its nets (so that the pairs of a tree are operator and number), and without, as Deletang et al.
have it.  The score is the mean over lengths of the share of right answers, by the last weights, without the first length
(41, 51), as in the code.  All numbers are in ``regulargpt_table1.yaml``:

=======  =======================================  ===================================  ===================================
what     paper                                    live                                 desk, cells that lagged behind
=======  =======================================  ===================================  ===================================
size     width 256, 8 heads, Transformer of       width 64, as the code has for        the same; for Modular Arithmetic
         5 layers                                 Parity; Transformer of width 32      128 (RNN, C = 2)
steps    100,000, the code up to a million        150 to 3,000                         1,500 to 6,000, once 60,000
batch    128                                      64                                   64 (Transformer: 32), up to 8 times
                                                                                       as many where strings are short
rate     1e-4 to 5e-4, constant                   1e-3 or 3e-3, constant               1e-3 or 2e-3, falls to 0 in the last
                                                                                       fifth; Adam's second beta is .99
lengths  uniform in 1..40 all the time            the longest doubles when its longer  in stages, each when the one before
                                                  half is known, and is 40 after half  is known; half of the batches are of
                                                  the steps at the latest              the newest lengths
end      after all steps                          when 3 looks in a row at held-out    likewise, 1e-4 nats (C = 2, Even
                                                  strings of the 8 longest training    Pairs: 1e-6)
                                                  lengths are right, below 5e-4 nats
test     512 strings at every length              16 or 32 at every 3rd, 9th or 25th   16 at every length for C = 2 on
                                                                                       three tasks
=======  =======================================  ===================================  ===================================

The budget desk has the setting of live where that is as good as the paper's mean.  So what the paper does not give is a
curriculum, in every row: short strings first.  No string longer than the longest in training has a say in anything but
the score.  ``best_accuracy`` is that of the weights with the least loss on the held-out strings.

No theorem makes a task of this table *not expressible* by a net of it: a tree with chunks of any size composes the steps
of any machine (Lemma 1), a ReLU RNN takes them one by one; and that one symbol moves the state of a Transformer of fixed
depth by O(1/T) only (Hahn 2020, Lemma 5) binds none whose layers end in a norm (Chiang and Cholak 2022 build one for
Parity).

Letters: B batch, T time, C classes, c chunk (the paper's C), D width.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from torch import nn

from lrnnlab.models import build
from lrnnlab.models.chunk_masks import depth_count
from lrnnlab.tasks.base import BaseTask
from lrnnlab.tasks.string_tasks import STRING_TASKS, Parity, StringTask
from lrnnlab.training.curriculum import train_strings
from lrnnlab.training.determinism import rng
from lrnnlab.training.evaluation import accuracy_at_lengths
from lrnnlab.training.loop import Trained
from workbook.tables.table import by_setting, gpu_if_wanted, load, there

NETWORKS = {  # row: the model's name and options
    "rnn": ("relu_rnn", {}),
    "transformer": ("xl_transformer", {}),
    "regulargpt_c2": ("regulargpt", {"chunk": 2}),
    "regulargpt_c3": ("regulargpt", {"chunk": 3}),
}


def make_network(row: str, task: BaseTask, budget: str = "live", *, seed: int, **options: Any) -> nn.Module:
    """An untrained net of Table 1 with the weights of ``seed``; torch's own generator is left as it was.

    Parameters
    ----------
    row : str
        ``rnn``, ``transformer`` (Transformer-XL positions), ``regulargpt_c2``, ``regulargpt_c3``.
    task : BaseTask
        What it shall learn.
    budget : str
        The one whose size it has; "paper" for the paper's.
    seed : int
        Of the weights.
    **options
        Overrule the size.

    Raises
    ------
    ValueError
        For a row or a budget that is not there.

    Notes
    -----
    The paper says "4.3 M" parameters (Table 4); that is its Transformer alone.

    Examples
    --------
    >>> from lrnnlab.tasks.string_tasks import Parity
    >>> [sum(p.numel() for p in make_network(row, Parity(), "paper", seed=0).parameters()) for row in NETWORKS]
    [67330, 4275202, 790290, 790298]
    """
    there(row, tuple(NETWORKS), "row", "make_network")
    name, kind = NETWORKS[row]
    size = TABLE.setting(row, "parity", budget)["options"]
    return build(name, task, seed=seed, **{**kind, **size, **options})


def build_task(setting: dict) -> StringTask:
    """The task of a setting: by its name, with ``p``, if it has one, as the share of ones of Parity."""
    return Parity(setting["p"]) if "p" in setting else STRING_TASKS[setting["task"]]()


def trained(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> Trained:
    """The net after training; weights and strings are decided by ``seed``.  ValueError where a GPU is wanted in vain."""
    gpu_if_wanted(setting, f"{setting['row']} at the budget paper")
    task = build_task(setting)
    net = make_network(setting["row"], task, seed=seed, **setting["options"]).to(setting["device"])
    return train_strings(
        net, task, generator=rng(seed, "regulargpt/train"), progress=progress, checkpoint=checkpoint,
        **setting["training"],
    )  # fmt: skip


def measure(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> dict:
    """Train, then score the last weights and the best ones (by held-out strings of training lengths).

    >>> tiny = {**TABLE.setting("rnn", "even_pairs", "live"), "stride": 200, "strings": 4}
    >>> found = measure({**tiny, "training": {**tiny["training"], "steps": 2, "warmup": 0}}, seed=0)
    >>> found["lengths"], found["metrics"]["majority"], len(found["accuracy_by_length"])
    ([41, 241, 441], 0.5, 3)
    """
    made = trained(setting, seed, progress=progress, checkpoint=checkpoint)
    return {**score(made, setting, seed), "training": training_of(made), "cpu_seconds": round(made.cpu_seconds, 2)}


def score(made: Trained, setting: dict, seed: int) -> dict:
    """What a record says about a trained net's answers; strings are fresh, the same for last and best weights."""
    task = build_task(setting)
    lengths = range(task.train_length + 1, task.test_length + 1, setting["stride"])

    def shares(net, lengths, strings) -> dict[int, float]:
        return accuracy_at_lengths(net, task, lengths, strings=strings, generator=rng(seed, "regulargpt/test"))

    seen = shares(made.net, [task.train_length], 512)[task.train_length]
    found = shares(made.net, lengths, setting["strings"])
    best = found
    if made.best is not None and made.best_step != made.steps:
        twin = copy.deepcopy(made.net)
        twin.load_state_dict(made.best)
        best = shares(twin, lengths, setting["strings"])
    metrics = {
        "accuracy": average(found, task), "best_accuracy": average(best, task), "accuracy_seen": seen,
        "worst_length": min(found.values()), "exact": min(found.values()) == 1, "steps": made.steps,
        "best_step": made.best_step, "finished": made.finished, "chance": task.chance,
        "majority": task.average_majority(scored(lengths, task)),
        "parameters": sum(parameter.numel() for parameter in made.net.parameters()),
    }  # fmt: skip
    scores = {"metrics": metrics, "lengths": list(found),
              "accuracy_by_length": [round(share, 4) for share in found.values()]}  # fmt: skip
    if (setting["row"], setting.get("task")) == ("regulargpt_c2", "modular_arithmetic_prefix"):
        generator = rng(seed, "regulargpt/seam")
        scores["over_the_seam"] = {str(T): over_the_seam(made.net, task, T, generator) for T in (8, 16, task.train_length)}
    return scores


@torch.no_grad()
def over_the_seam(net: nn.Module, task: StringTask, length: int, generator: torch.Generator) -> list[float]:
    """Of Modular Arithmetic in chunks of 2: the share right where the root's right half begins with 0, 1, 2 or more ×.

    A × there carries a product over the seam of the two halves: the left one's open term times the right one's first
    factor.  With none the root has but sums to form.  By chance, two thirds of the strings have none.

    >>> class Sums(nn.Module):  # takes every × for a +
    ...     def forward(self, tokens):
    ...         signs = 1 - 2 * (tokens[:, ::2] == 6).long()
    ...         return nn.functional.one_hot((signs * tokens[:, 1::2]).sum(1) % 5, 5)
    >>> task = STRING_TASKS["modular_arithmetic_prefix"]()
    >>> found = over_the_seam(Sums(), task, 4, torch.Generator().manual_seed(0))
    >>> found[0], found[1] < 0.5
    (1.0, True)
    """
    batch = task.sample(2048, length, generator).to(next(net.parameters(), torch.empty(0)).device)
    half = 2 ** (depth_count(length, 2) - 1)  # symbols of the right half
    factors = (batch.tokens[:, -half::2] == task.symbols.index("×")).long().cumprod(1).sum(1)
    right = batch.right(net(batch.tokens)).double()
    return [round(float(right[factors.clamp(max=2) == k].mean()), 4) for k in range(3 if half > 2 else 2)]


def scored(lengths: Iterable[int], task: StringTask) -> list[int]:
    """The lengths that count: the paper's code leaves out the first one beyond training (its text does not).

    >>> scored(range(41, 45), Parity())
    [42, 43, 44]
    """
    return [length for length in lengths if length > task.train_length + 1]


def average(found: dict[int, float], task: StringTask) -> float:
    """The paper's score: the mean over ``scored`` lengths."""
    return fmean(found[length] for length in scored(found, task))


def training_of(made: Trained) -> dict:
    """How training went, for a record: each look at held-out strings, and the loss, by step."""
    losses = made.losses[:: max(1, len(made.losses) // 50)]
    looks = {name: [round(look[name], 6) for look in made.watched] for name in ("step", "validation", "right")}
    return {**looks, "loss": [[step, round(value, 5)] for step, value in losses]}


TABLE = load("regulargpt/table1", by_setting(measure))
