"""Table 1 of paper 002 (Chi, Fan, Rudnicky, Ramadge 2023): which nets know a regular language at unseen lengths?

A row is a net, a task a language with one answer a string.  The first five are trained on lengths up to 40 and asked
at 41..500 (Deletang et al.), the others, languages to be recognised, up to 50 and asked at 51..100, as the paper's text
says.  Modular Arithmetic is there twice: with a + before every expression, which the paper's code gives to all its nets
(so that the pairs of a tree are operator and number), and without, as Deletang et al. have it.  The score is the mean
over lengths of the share of right answers, by the last weights, without the first length (41, 51), as in the code.

Every cell differs from the paper as the budget live does; the budget desk has a setting of its own for those in
``TAUGHT``, where seeds stayed 3 points and more below the paper's mean with the live one, or were not right on every
string where the paper's nets are, and keeps it for all others:

* **Size.**  Paper: width 256, 8 heads, Transformer of 5 layers.  Live: width 64, 8 heads, as the code has for Parity, D_n
  and Tomita; Transformer of width 32, 4 heads, 2 layers.  Taught: the same; RNN and C = 2 on Modular Arithmetic: 128.
* **Steps.**  Paper: 100,000, the code up to a million.  Live: ``STEPS``.  Taught: 1,500 to 6,000; the tree on
  Modular Arithmetic: 60,000.
* **Batch.**  Paper: 128.  Live: 64.  Taught: 64 (Transformer: 32), up to 8 times as many where strings are short.
* **Rate.**  Paper: constant, 1e-4 to 5e-4.  Live: constant, 1e-3 or 3e-3.  Taught: 1e-3 or 2e-3, falls to 0 in the last
  fifth; Adam's second beta is .99, not .999.
* **Lengths.**  Paper: uniform in 1..40 all the time.  Live: the longest doubles when its longer half is known, and is 40
  after half the steps at the latest.  Taught: in stages, each when the one before is known, none forced; half of the
  batches are of the newest lengths.
* **End.**  Paper: after all steps.  Live: when 3 looks in a row at held-out strings of the 8 longest training lengths are
  all right, at less than 5e-4 nats.  Taught: likewise, 1e-4 nats (C = 2, Even Pairs: 1e-6).
* **Test.**  Paper: 512 strings at every length.  Here: 16 at every length (``EVERY_LENGTH``, C = 2, desk), else 32
  (Transformer: 16) at every 3rd up to 100, or every 9th (25th) up to 500.
* **D_12.**  The paper's code trains up to 80; here up to 50, as its text says.

So what the paper does not give is a curriculum, in every row: short strings first.  No string longer than the longest
in training has a say in anything but the score.  ``best_accuracy`` is that of the weights with the least loss on the
held-out strings.  The table says of every low cell whether the net did not learn the training lengths or lost them with
the length (``reasons``).

Letters: B batch, T time, C classes, c chunk (the paper's C), D width.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd
import torch
from torch import nn

from lrnnlab.models import build
from lrnnlab.models.chunk_masks import depth_count
from lrnnlab.tables.table import Table, by_setting, gpu_if_wanted, there
from lrnnlab.tables.text import by_cell, grid, in_order, percent, range_in_percent, who
from lrnnlab.tasks.base import BaseTask
from lrnnlab.tasks.string_tasks import STRING_TASKS, Parity, StringTask
from lrnnlab.training.evaluation import accuracy_at_lengths
from lrnnlab.training.lengths import train_strings
from lrnnlab.training.loop import Trained
from lrnnlab.training.steady import stream

NETWORKS = {  # row: the model's name and options
    "rnn": ("relu_rnn", {}),
    "transformer": ("xl_transformer", {}),
    "regulargpt_c2": ("regulargpt", {"chunk": 2}),
    "regulargpt_c3": ("regulargpt", {"chunk": 3}),
}
_TREE = {"small": {"width": 64, "heads": 8}, "paper": {"width": 256, "heads": 8}}
SIZES = {  # row: size: options
    "rnn": {"small": {"width": 64}, "paper": {"width": 256}},
    "transformer": {"small": {"width": 32, "heads": 4, "layers": 2}, "paper": {"width": 256, "heads": 8, "layers": 5}},
    "regulargpt_c2": _TREE,
    "regulargpt_c3": _TREE,
}
TASKS = ("even_pairs", "modular_arithmetic_prefix", "modular_arithmetic", "parity", "cycle_navigation",
         "d_2", "d_3", "d_4", "d_12", "tomita_3", "tomita_4", "tomita_5", "tomita_6")  # fmt: skip
RECOGNISED = TASKS[5:]  # in the language or not, at lengths up to 100
ROWS = tuple(NETWORKS)
_ARITHMETIC = {"modular_arithmetic_prefix": 800, "modular_arithmetic": 500}
STEPS = {  # at most: half of them while the lengths grow
    "rnn": {"cycle_navigation": 3000, "d_12": 1500, "tomita_5": 2000, "other": 800},
    "transformer": {"other": 150},
    "regulargpt_c2": {**_ARITHMETIC, "even_pairs": 1000, "parity": 600, "other": 2000},
    "regulargpt_c3": {**_ARITHMETIC, "other": 2000},
}
FAST, SLOW = 3e-3, 1e-3  # rates: at the fast one trees often fall back to one answer for all
FAST_TASKS = {"rnn": TASKS, "transformer": (), "regulargpt_c2": ("parity", "cycle_navigation", *_ARITHMETIC),
              "regulargpt_c3": ("cycle_navigation", *_ARITHMETIC)}  # fmt: skip
EVERY_LENGTH = ("parity", "even_pairs", "cycle_navigation")  # scored at every length with C = 2; others at every 9th or 3rd
_STAGED = {"rate": 1e-3, "batch": 64, "warmup": 50, "gate": 0.1, "symbols": 4096, "schedule": "trapezoid",
           "betas": [0.9, 0.99], "watch_every": 100, "patience": 3, "sure": 1e-4}  # fmt: skip
_TENS = [10, 20, 30, 40, 50]
_BY_TWO = [2, 4, 6, 8, 10, 12, 16, 20, 26, 32, 40]
_BY_THREE = [1, 2, 3, 6, 9, 15, 21, 27, 34, 40]  # a new depth begins at 4, 10 and 28 symbols
_DOUBLED = [2, 4, 6, 8, 12, 16, 24, 32, 40, 50]
_TOMITA = [2, 4, 6, 9, 14, 20, 27, 30, 34, 40, 50]
KNOWN = 0.97  # a net with a smaller share of right answers is low
_TREE_OF_TWO = {"options": {"width": 128, "heads": 8}, "steps": 60_000, "stages": _BY_TWO, "symbols": 3072}
TAUGHT = {  # row: task: what the budget desk changes in the setting above, where seeds stayed below the paper's mean
    "rnn": {
        **{task: {"options": {"width": 128}, "steps": 6000, "stages": _BY_TWO} for task in _ARITHMETIC},
        **{task: {"steps": 2000, "stages": _TENS} for task in ("d_3", "d_4", "d_12")},
    },
    "transformer": {
        **{task: {"steps": 1500, "stages": _TENS, "batch": 32, "symbols": 1600} for task in RECOGNISED},
        **{task: {"steps": 1500, "stages": _TENS[:-1], "batch": 32, "symbols": 1600}
           for task in ("even_pairs", "parity", "cycle_navigation", *_ARITHMETIC)},
    },
    "regulargpt_c2": {
        **dict.fromkeys(_ARITHMETIC, _TREE_OF_TWO),
        "cycle_navigation": {"steps": 3000, "stages": _BY_TWO, "rate": 2e-3},
        "even_pairs": {"steps": 2000, "stages": _BY_TWO, "sure": 1e-6},
        **{task: {"steps": 2000, "stages": _DOUBLED} for task in ("d_3", "d_4", "d_12")},
    },
    "regulargpt_c3": {
        "cycle_navigation": {"steps": 3000, "stages": _BY_THREE, "rate": 2e-3},
        **{task: {"steps": 4000, "stages": _TOMITA} for task in ("tomita_5", "tomita_6")},
    },
}
PAPER = {  # task: (max, mean) over 3 seeds in percent, in the order of ROWS; what it says of Modular Arithmetic has a +
    "even_pairs": ((100, 100), (99.7, 73.2), (100, 89.3), (100, 96.6)),
    "modular_arithmetic_prefix": ((100, 100), (21.9, 20.3), (96.4, 82.6), (21.2, 20.5)),
    "parity": ((100, 98.9), (52.3, 50.1), (100, 100), (100, 88.7)),
    "cycle_navigation": ((100, 100), (21.7, 20.6), (100, 100), (100, 78.6)),
    "d_2": ((100, 100), (100, 80.1), (100, 100), (99.8, 96.5)),
    "d_3": ((100, 100), (100, 77.8), (100, 99.7), (98.6, 93.0)),
    "d_4": ((100, 100), (100, 82.6), (100, 98.7), (97.7, 91.6)),
    "d_12": ((100, 100), (100, 80.3), (100, 99.8), (94.1, 90.4)),
    "tomita_3": ((100, 100), (100, 94.4), (100, 99.7), (100, 99.9)),
    "tomita_4": ((100, 100), (100, 70.0), (100, 99.8), (100, 99.3)),
    "tomita_5": ((100, 100), (74.5, 74.5), (100, 99.8), (98.2, 84.1)),
    "tomita_6": ((100, 100), (50.0, 50.0), (100, 98.5), (100, 65.7)),
}


def make_network(row: str, task: BaseTask, size: str = "small", *, seed: int, **options: Any) -> nn.Module:
    """An untrained net of Table 1 with the weights of ``seed``; torch's own generator is left as it was.

    Parameters
    ----------
    row : str
        ``rnn``, ``transformer`` (Transformer-XL positions), ``regulargpt_c2``, ``regulargpt_c3``.
    task : BaseTask
        What it shall learn.
    size : str
        ``small`` or ``paper``; see ``SIZES``.
    seed : int
        Of the weights.
    **options
        Overrule the size.

    Raises
    ------
    ValueError
        For a row or a size that is not there.

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
    there(size, tuple(SIZES[row]), "size", "make_network")
    name, kind = NETWORKS[row]
    return build(name, task, seed=seed, **{**kind, **SIZES[row][size], **options})


def setting(row: str, task: str, budget: str) -> dict:
    """One cell of the table as plain data.

    >>> found = setting("regulargpt_c3", "parity", "desk")
    >>> found["options"], found["training"]["steps"]
    ({'width': 64, 'heads': 8}, 2000)
    """
    return {"task": task, **recipe(row, task, budget)}


def recipe(row: str, task: str, budget: str) -> dict:
    """The net, its training and its test; what table 2 shares."""
    if budget == "paper":
        training = {"steps": 100_000, "rate": 3e-4, "batch": 128}
        return {"row": row, "options": SIZES[row]["paper"], "training": training, "strings": 512, "stride": 1,
                "device": "cuda"}  # fmt: skip
    steps = STEPS[row].get(task, STEPS[row]["other"])
    rate = FAST if task in FAST_TASKS[row] else SLOW
    training = {"steps": steps, "rate": rate, "batch": 64, "warmup": 20, "growth": steps // 2,
                "gate": 0.3, "watch_every": 25, "patience": 3, "sure": 5e-4}  # fmt: skip
    every = budget == "desk" and row == "regulargpt_c2" and task in EVERY_LENGTH
    stride = 1 if every else 3 if task in RECOGNISED else 25 if row == "transformer" else 9
    found: dict = {"row": row, "options": SIZES[row]["small"], "training": training, "device": "cpu",
                   "strings": 16 if every or row == "transformer" else 32, "stride": stride}  # fmt: skip
    if budget == "desk" and task in TAUGHT[row]:
        taught: dict = {**_STAGED, **TAUGHT[row][task]}
        found |= {"options": taught.pop("options", found["options"]), "training": taught}
    return found


def build_task(setting: dict) -> StringTask:
    """The task of a setting: by its name, with ``p``, if it has one, as the share of ones of Parity."""
    return Parity(setting["p"]) if "p" in setting else STRING_TASKS[setting["task"]]()


def trained(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> Trained:
    """The net after training; weights and strings are decided by ``seed``.  ValueError where a GPU is wanted in vain."""
    gpu_if_wanted(setting, f"{setting['row']} at the budget paper")
    task = build_task(setting)
    net = make_network(setting["row"], task, seed=seed, **setting["options"]).to(setting["device"])
    return train_strings(
        net, task, generator=stream(seed, "regulargpt/train"), progress=progress, checkpoint=checkpoint,
        **setting["training"],
    )  # fmt: skip


def measure(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> dict:
    """Train, then score the last weights and the best ones (by held-out strings of training lengths).

    >>> tiny = {**setting("rnn", "even_pairs", "live"), "stride": 200, "strings": 4}
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
        return accuracy_at_lengths(net, task, lengths, strings=strings, generator=stream(seed, "regulargpt/test"))

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
        generator = stream(seed, "regulargpt/seam")
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


def line(record: dict) -> str:
    """One record in a few words.

    >>> line({"task": "parity", "row": "rnn", "seed": 0, "wall_seconds": 8.2, "metrics":
    ...       {"accuracy": 0.99999, "best_accuracy": 1.0, "accuracy_seen": 1.0, "majority": 0.5, "steps": 400}})
    'parity rnn seed 0: 99.9 % beyond training (best checkpoint 100), 100 % at its end; majority 50.0; 400 steps, 8 s'
    """
    found = record["metrics"]
    return (f"{who(record)}: {percent(found['accuracy'])} % beyond training (best checkpoint "
            f"{percent(found['best_accuracy'])}), {percent(found['accuracy_seen'])} % at its end; majority "
            f"{percent(found['majority'])}; {found['steps']:,} steps, {record['wall_seconds']:.0f} s")  # fmt: skip


def table(records: Sequence[dict]) -> str:
    """Here, Max / Avg over seeds and every seed; the paper's; and why what is low here is low."""

    def cell(found: list[dict]) -> str:
        shares = [record["metrics"]["accuracy"] for record in sorted(found, key=lambda record: record["seed"])]
        return f"{percent(max(shares))} / {percent(fmean(shares))} ({' '.join(percent(share) for share in shares)})"

    body = grid(records, TASKS, ROWS, cell, ("task", "row"))
    printed, tasks = paper_frame(body.index, body.columns).to_string(), by_cell(records, "task")
    body["majority"] = [percent(tasks[task,][0]["metrics"]["majority"]) for task in body.index]
    return ("here: percent right beyond the trained lengths, greatest / mean over seeds (every seed)\n"
            f"{body.to_string()}\n\npaper: greatest / mean over 3 seeds\n{printed}\n\n"
            + "\n".join([f"below {percent(KNOWN)} here, and why", *reasons(records)]))  # fmt: skip


def why(record: dict) -> str:
    """Whether a net below ``KNOWN`` beyond training does not know the longest training length, or lost what it knew.

    >>> [why({"metrics": {"accuracy": beyond, "accuracy_seen": seen}}) for beyond, seen in ((1, 1), (0.5, 1), (0.5, 0.5))]
    ['', 'lost with length', 'not learned']
    """
    found = record["metrics"]
    if found["accuracy"] >= KNOWN:
        return ""
    return "lost with length" if found["accuracy_seen"] >= KNOWN else "not learned"


def reasons(records: Sequence[dict]) -> Iterator[str]:
    """For each cell with a seed below ``KNOWN``: which of two reasons holds for how many seeds, and the numbers.

    No theorem makes a task of this table *not expressible* by a net of it: a tree with chunks of any size composes the
    steps of any machine (Lemma 1), a ReLU RNN takes them one by one; and that one symbol moves the state of a
    Transformer of fixed depth by O(1/T) only (Hahn 2020, Lemma 5) binds none whose layers end in a norm (Chiang and
    Cholak 2022 build one for Parity).

    >>> made = {"row": "rnn", "task": "parity", "seed": 0,
    ...         "metrics": {"accuracy": 0.5, "accuracy_seen": 0.6, "steps": 800, "majority": 0.5}}
    >>> list(reasons([made, {**made, "metrics": {"accuracy": 1.0}}]))
    ['parity rnn: not learned by 1 of 2: 60.0 at length 40 after 800 steps, 50.0 beyond; majority 50.0']
    """
    for (task, row), cell in by_cell(in_order(records, ROWS, TASKS)).items():
        for reason in ("not learned", "lost with length"):
            low = [record["metrics"] for record in cell if why(record) == reason]
            if low:
                seen, beyond = (range_in_percent([found[name] for found in low]) for name in ("accuracy_seen", "accuracy"))
                who_not = f"{reason} by" if reason == "not learned" else "lost with length in"
                yield (f"{task} {row}: {who_not} {len(low)} of {len(cell)}: {seen} at length "
                       f"{STRING_TASKS[task]().train_length} after {max(found['steps'] for found in low):,} steps, {beyond} "
                       f"beyond; majority {percent(low[0]['majority'])}")  # fmt: skip
        for length in cell[0].get("over_the_seam", ()):
            means = [percent(fmean(shares)) for shares in zip(*(record["over_the_seam"][length] for record in cell))]
            yield (f"{task} {row}: at length {length}, with {', '.join(map(str, range(len(means))))} or more × over the "
                   f"root's seam: {' '.join(means)}")  # fmt: skip


def in_the_paper(row: str, task: str) -> str:
    """Greatest and mean over the paper's seeds; blank where it has none.

    >>> in_the_paper("rnn", "parity"), in_the_paper("rnn", "modular_arithmetic")
    ('100.0 / 98.9', '')
    """
    return "{:.1f} / {:.1f}".format(*PAPER[task][ROWS.index(row)]) if task in PAPER else ""


def paper_frame(tasks: Iterable[str], rows: Iterable[str]) -> pd.DataFrame:
    """The paper's numbers as text, ``max / mean``; blank where it has none.

    >>> paper_frame(["parity", "modular_arithmetic"], ["rnn"])["rnn"].tolist()
    ['100.0 / 98.9', '']
    """
    rows, tasks = list(rows), list(tasks)
    return pd.DataFrame([[in_the_paper(row, task) for row in rows] for task in tasks], index=tasks, columns=rows)


TABLE = Table(
    "regulargpt/table1", ROWS, TASKS, setting, by_setting(measure), line, table, aliases={"ours": "regulargpt_c2"},
    paper=PAPER, score=lambda record: record["metrics"]["accuracy"], printed=in_the_paper,
)  # fmt: skip
