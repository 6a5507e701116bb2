"""Tables 1 and 6 of paper 004 (Gupta, Mehta, Berant 2022): the eleven atomic tasks.  Which skill needs which layers?

A column is a task at a length, ``reverse-64``; a row is a mixer at a depth, ``dlr_6``.  Table 6 is Table 1 with one more
mixer, ``attention_ff``, so its rows are rows here.

============  ======================================================  ==================================================
mixer         paper                                                   here
============  ======================================================  ==================================================
dlr           N = 4096, width 128                                     N = T, width 32
dss           N = 4096                                                N = T, step sizes times 4096 / T
attention     4 heads of 32                                           4 heads of 16
attention_ff  and two feed-forward layers through 2048                through 128
sgconv        (Table 2 only) pieces of 4096                           pieces of T / 4
dlr_real      (Table 2 only) DLR-R: lambda in (0, 1], real weights    N = T
============  ======================================================  ==================================================

Blocks are the paper's (App. A.6): LayerNorm behind the sum, GELU and a linear map (attention: the linear map alone).
Batches are 32 fresh inputs, Select marks L/16 numbers, which at L = 512 are the paper's 32.

**Equal steps.**  All rows of a task have the same steps, enough for the slowest of those that learn it, so that
depths can be compared: with the steps of six layers one layer does better too, and Solve and Select stay at 0 for
hundreds of steps before anything is seen.  ``curve`` is R2 by step; ``learned_at`` the first look at R2 of .9 or
more.  Rates fall as a cosine, and are .01 for one convolution and .003 for deeper nets and attention (six layers of
DLR do not learn Reverse at .01); those of kernels are others, as in ``dlr/table2`` (of DSS three times as large; of
DLR .25 / N).  Rates and steps were chosen with seeds of 90 and more.

**What one layer cannot do** is a theorem (:func:`needed`): a layer of D convolutions hands on D numbers to a position, each
a fixed linear function of the inputs, and what follows sees these and the position's own input only.

R2 is over 256 fresh inputs, with the last weights; beside it stands ``level``, the R2 of an answer that has no skill
(``tasks.atomic_levels``), which the paper does not print.

Letters: B batch, T time, L length, D width, N state size (of Solve: unknowns).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd
import torch

from lrnnlab.models.attention import RotaryAttention
from lrnnlab.models.dlr import DLR
from lrnnlab.models.dss import DSS
from lrnnlab.models.net import PAPER_004, Net, blocks
from lrnnlab.models.sgconv import SGConv
from lrnnlab.tables.dlr_table2 import CIRCLE, fit
from lrnnlab.tables.table import Table, by_setting, gpu_if_wanted
from lrnnlab.tables.text import by_cell, grid, in_order, lines, spread, who
from lrnnlab.tasks.atomic import ATOMIC, unknowns
from lrnnlab.tasks.atomic_levels import context_shift_level, trivial_level
from lrnnlab.tasks.continuous import ContinuousTask, r_squared
from lrnnlab.training.loop import Trained, with_seed
from lrnnlab.training.steady import stream

SHARED = ("dlr", "dss", "attention", "attention_ff", "sgconv", "dlr_real")
DEPTHS = (1, 2, 6)
ROWS = tuple(f"{mixer}_{layers}" for mixer in SHARED for layers in DEPTHS)
MIXERS = {"dlr": DLR, "dss": DSS, "sgconv": SGConv, "attention": RotaryAttention}
STEPS = {
    "shift": 400, "cumsum": 400, "cummax": 600, "select_fixed": 400, "solve_fixed": 400, "reverse": 1000, "solve": 2500,
    "select": 2000, "sort": 600, "context_shift": 600, "mips": 600,
}  # fmt: skip
LIVE = 300  # steps
KNOWN = 0.9  # an R2 from which a task counts as learned
NEAR = 0.03  # an R2 no further above the level without skill is said to be at it
LAGS = ("shift", "select_fixed", "solve_fixed", "reverse")  # need kernels with a number at single lags
COLUMNS = (("dlr_1", 4096), ("dss_1", 4096), ("attention_1", 4096), ("attention_ff_1", 4096), ("dlr_6", 4096),
           ("dlr_6", 512), ("attention_2", 512), ("attention_ff_2", 512))  # fmt: skip
PAPER = pd.DataFrame.from_dict({
    "shift": (1, 0.99, 0.72, 0.69, 1, 1, 1, 1), "cumsum": (1, 1, 1, None, 1, 1, 1, None),
    "cummax": (0.52, 0.51, 1, None, 1, 1, 1, None), "select_fixed": (0.97, 0, 0.72, 0, 1, 1, 0.94, 1),
    "solve_fixed": (1, 0.01, 0, 0, 1, 1, 0.95, 0.96), "reverse": (0.01, 0, 0.03, 0.04, 0.99, 0.95, 0.28, 0.32),
    "solve": (0, 0, 0, 0, 0, 0.95, 0, 0), "select": (0, 0, 0.17, 0, 0, 0.86, 0.97, 0.64),
    "sort": (0, 0, 0, 0, 0.49, 0.50, 0.51, 0.51), "context_shift": (0, 0, 0, 0, 0.02, 0.11, 0.04, 0.05),
    "mips": (0, 0, 0.90, None, 0, 0.01, 0.97, None),
}, orient="index", columns=pd.MultiIndex.from_tuples(COLUMNS))  # fmt: skip
PAPER_LEVELS = {  # trivial_level at these lengths, which takes 10 s to work out
    "shift": {512: 0.222, 4096: 0.222}, "cummax": {512: 0.476, 4096: 0.456}, "sort": {512: 0.490, 4096: 0.491},
    "mips": {512: 0.013, 4096: 0.002}, "context_shift": {512: 0.039, 4096: 0.007},
}  # fmt: skip


def at(*lengths: int) -> tuple[str, ...]:
    """The names of all eleven tasks at some lengths."""
    return tuple(f"{task}-{L}" for L in lengths for task in STEPS)


TASKS = at(64, 128)
EXTRA = {"live": at(32), "desk": at(32, 512), "paper": at(512, 4096)}


def setting(row: str, task: str, budget: str) -> dict:
    """One mixer at one depth on a task at a length; lengths 512 and 4096 have the paper's own sizes at its budget.

    >>> found = setting("dlr_6", "reverse-64", "desk")
    >>> found["layers"], found["options"]["state"], found["steps"], found["rate"]
    (6, 128, 1000, 0.003)
    """
    mixer, layers = row.rsplit("_", 1)
    name, L = task.split("-")
    return cell(mixer, int(layers), name, int(L), budget)


def cell(mixer: str, layers: int, name: str, L: int, budget: str, width: int = 32) -> dict:
    """The setting of ``layers`` of a mixer, ``width`` wide, on the task called ``name``."""
    paper, attends = budget == "paper", mixer.startswith("attention")
    chosen = (32 if paper else max(L // 16, 1),) if name in ("select", "select_fixed") else ()
    T = ATOMIC[name](*chosen).input_length(L)
    N = 4096 if paper else T
    of_mixer: dict[str, dict[str, Any]] = {
        "dlr": {"state": N, "dt": CIRCLE}, "dlr_real": {"state": N, "eigenvalues": "real"},
        "dss": {"state": N, "dt": (1e-4 * 4096 / N, 1e-2 * 4096 / N)},
        "sgconv": {"length": T, "piece": N if paper else T // 4},
    }  # fmt: skip
    if attends:
        ff = 0 if mixer == "attention" else 2048 if paper else 128
        of_mixer[mixer] = {"heads": 4, "head_size": 32 if paper else 16, "ff": ff}
    found = {"task": name, "length": L, "chosen": chosen, "mixer": mixer.split("_")[0], "layers": layers,
             "options": of_mixer[mixer], "width": 128 if paper else width, "tests": 256, "looks": 20}  # fmt: skip
    if paper:
        rate = 1e-3 if mixer == "dss" or attends else 1e-4 if L > 512 else 5e-5
        if name == "mips" and attends:
            rate = 1e-4
        return {**found, "device": "cuda", "batch": 4 if name == "mips" else 64 if L == 512 else 16, "schedule": "constant",
                "steps": 10_800 if L == 512 else 43_200, "rate": rate, "recurrent_rate": rate}  # fmt: skip
    rate = 0.01 if layers == 1 and not attends else 0.003
    kernel = {"dlr": 0.25 / N, "dlr_real": 0.0768 / N, "dss": 3 * rate, "sgconv": 0.192 / (T // 4)}.get(mixer, rate)
    return {**found, "device": "cpu", "batch": 32, "schedule": "cosine",
            "steps": STEPS[name] if budget == "desk" else LIVE, "rate": rate, "recurrent_rate": kernel}  # fmt: skip


def build_task(setting: dict) -> ContinuousTask:
    """The task of a setting."""
    return ATOMIC[setting["task"]](*setting["chosen"])


def build_net(setting: dict, seed: int) -> Net:
    """The untrained network, whose outputs are those of the rightmost positions that the task scores."""
    D, task, L = setting["width"], build_task(setting), setting["length"]
    scored = task.sample(1, L, stream(0, "shape")).targets.shape[1]
    around = {**PAPER_004, **({"activation": "identity"} if setting["mixer"] == "attention" else {})}

    def make() -> Net:
        mixer = partial(MIXERS[setting["mixer"]], **setting["options"])
        return Net(blocks(mixer, D, setting["layers"], **around), task.d_out, D, columns=task.d_in, last_outputs=scored)

    return with_seed(make, seed)


def trained(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> Trained:
    """The network after training, with R2 on 64 inputs of their own on the way (``watched``)."""
    gpu_if_wanted(setting, f"{setting['task']}-{setting['length']}, budget paper,")
    return fit(build_net(setting, seed), build_task(setting), setting, seed, "atomic", 64, progress, checkpoint)


@torch.no_grad()
def measure(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> dict:
    """Train, then R2 of the last weights on fresh inputs, beside the level without skill; and its curve, by step.

    >>> found = measure({**setting("dlr_1", "shift-32", "live"), "steps": 2, "tests": 8}, seed=0)["metrics"]
    >>> found["steps"], round(found["level"], 3), found["learned_at"]
    (2, 0.222, None)
    """
    with torch.enable_grad():
        made = trained(setting, seed, progress=progress, checkpoint=checkpoint)
    task, L, device = build_task(setting), setting["length"], setting["device"]
    batch = task.sample(setting["tests"], L, stream(seed, "atomic/test"))
    found = torch.cat([made.net(inputs.to(device)).cpu() for inputs in batch.inputs.split(setting["batch"])])
    curve = [(look["step"], round(look["validation"], 4)) for look in made.watched]
    metrics = {
        "r2": round(r_squared(found, batch.targets), 4), "level": round(trivial_level(task, L), 4),
        "learned_at": next((step for step, r2 in curve if r2 >= KNOWN), None), "steps": made.steps,
        "finished": made.finished,
        "parameters": sum(parameter.numel() for parameter in made.net.parameters()),
    }  # fmt: skip
    return {"metrics": metrics, "curve": curve, "cpu_seconds": round(made.cpu_seconds, 3)}


def needed(setting: dict) -> int:
    """How many linear functions of the inputs the answers of a task need at the least, as far as it is proved.

    A position of a layer of D convolutions has D such functions of the inputs (and its own input).  Inputs on which
    these agree get one answer.  So with D below

    * L - 1, one of the numbers can be moved and the functions stay: what depends on every number of a sequence cannot be
      had (CumMax, Sort; for ContextShift L - 3 numbers and for Select L are so; for MIPS 3 L, values of norm 1);
    * L/2 - 1, not all of Reverse: output i needs the lag 2i + 1, and of the outputs i < L/2 each sees the lags of all
      later ones, which it must not take: a triangle without zeros on its diagonal has full rank;
    * N (N + 1) / 2 for Solve: matrices A, A' orthogonal, A - A' of rank 2 or more, and right sides can be found on which
      the functions agree, and not the solutions.

    For tasks that one convolution can do: 0.

    >>> [needed(setting("dlr_1", task, "desk")) for task in ("sort-64", "reverse-128", "solve-64", "shift-64")]
    [63, 63, 28, 0]
    """
    L = setting["length"]
    N = unknowns(L)
    found = {"cummax": L - 1, "sort": L - 1, "context_shift": L - 3, "select": L, "mips": 3 * L, "solve": N * (N + 1) // 2,
             "reverse": (L + 1) // 2 - 1}  # fmt: skip
    return found.get(setting["task"], 0)


def why_low(records: Sequence[dict]) -> str:
    """Why a cell (its records over seeds) is low; "" where its mean R2 is .9 or more.

    >>> low = {"config": {"setting": setting("dlr_1", "sort-64", "desk")}, "metrics": {"r2": 0.4, "level": 0.49, "steps": 9}}
    >>> why_low([low])
    'not expressible: one layer hands on 32 numbers, the answer needs 63'
    """
    found, r2 = records[0]["config"]["setting"], fmean(record["metrics"]["r2"] for record in records)
    if r2 >= KNOWN:
        return ""
    if found["layers"] == 1 and found["mixer"] != "attention":
        own = {"cummax": 1, "context_shift": 1, "mips": 12}.get(found["task"], 0)  # numbers of a position's own input
        if needed(found) > found["width"] + own:
            return f"not expressible: one layer hands on {found['width'] + own} numbers, the answer needs {needed(found)}"
        if "eigenvalues" in found["options"] and found["task"] in LAGS:
            return "not expressible with weights that a float holds: real modes"
    level = level_of(records[0])
    still = f": at or below its level without skill, {level:.2f}" if r2 <= level + NEAR else ""
    return f"not learned in {records[0]['metrics']['steps']:,} steps{still}"


def level_of(record: Mapping) -> float:
    """The level without skill of a record's task; the first records have 0 for that of ContextShift.

    >>> round(level_of({"task": "context_shift-64", "metrics": {"level": 0.0}}), 3)
    0.169
    """
    if record["task"].startswith("context_shift-"):
        return context_shift_level(int(record["task"].split("-")[1]))
    return record["metrics"]["level"]


def line(record: dict) -> str:
    """One record in a few words."""
    found = record["metrics"]
    return (f"{who(record)}: R2 {found['r2']:.3f} (without skill {level_of(record):.3f}) after {found['steps']:,} steps, "
            f"{record['wall_seconds']:.0f} s")  # fmt: skip


def by_task(records: Sequence[dict], length: int) -> pd.DataFrame:
    """Mean R2 over seeds at one length: tasks down, rows across, with steps and the level without skill.

    >>> run = {"row": "dlr_1", "task": "sort-64", "metrics": {"r2": 0.4, "level": 0.49, "steps": 600}}
    >>> by_task([run], 64).to_dict("list")
    {'steps': ['600'], 'no skill': ['.49'], 'dlr_1': ['.40']}
    """
    names = [name for name in at(length) if any(record["task"] == name for record in records)]
    cells = grid(records, names, ROWS, lambda cell: short(fmean(r["metrics"]["r2"] for r in cell)), ("task", "row"))
    found = {task: cell for (task,), cell in by_cell(records, "task").items()}
    cells.insert(0, "no skill", [short(level_of(found[name][0])) for name in names])
    most = [max(one["metrics"]["steps"] for one in found[name]) for name in names]  # one that broke off has fewer
    cells.insert(0, "steps", [f"{steps:,}" for steps in most])
    return cells


def learned(records: Sequence[dict]) -> pd.DataFrame:
    """Steps until the first look at an R2 of .9 or more: tasks at all lengths down, rows across; the latest seed counts.

    Blank where there is no record, "-" where a seed has not learned the task in all its steps.

    >>> run = {"row": "dlr_1", "task": "shift-64", "metrics": {"learned_at": 60}}
    >>> learned([run, {**run, "metrics": {"learned_at": 80}}]).to_dict("list")
    {'dlr_1': ['80']}
    """

    def latest(cell: list[dict]) -> str:
        found = [record["metrics"]["learned_at"] for record in cell]
        return "-" if None in found else f"{max(found):,}"

    lengths = sorted({int(record["task"].split("-")[1]) for record in records})
    return grid(records, [f"{task}-{L}" for task in STEPS for L in lengths], ROWS, latest, ("task", "row"))


def short(r2: float) -> str:
    """R2 in three characters, as the paper prints it; below -.005 it is worse than a constant, and NaN of a run that broke off.

    >>> [short(r2) for r2 in (0.494, 0.996, -0.001, -0.3, -20.5, math.nan)]
    ['.49', '1.00', '.00', '-.30', '-20.50', 'NaN']
    """
    if math.isnan(r2):
        return "NaN"
    return re.sub(r"^(-?)0\.", r"\1.", f"{r2:.2f}").replace("-.00", ".00") if r2 < 0.995 else "1.00"


def times(records: Sequence[dict]) -> pd.DataFrame:
    """Time of a step over that of ``dlr_1`` on the same task, mean over tasks, by row and length; and parameters.

    >>> cell = {"task": "sort-64", "seed": 0, "metrics": {"steps": 600, "parameters": 9}}
    >>> times([{**cell, "row": "dlr_1", "cpu_seconds": 3.0}, {**cell, "row": "dlr_6", "cpu_seconds": 15.0}])
    ...     # doctest: +NORMALIZE_WHITESPACE
             64 parameters
    dlr_1   1.0          9
    dlr_6   5.0          9
    """
    seconds = {cell: fmean(r["cpu_seconds"] / r["metrics"]["steps"] for r in found)
               for cell, found in by_cell(records).items()}  # fmt: skip
    body: dict[str, dict[str, Any]] = {}
    for row in ROWS:
        ratios: dict[int, list[float]] = {}
        for task, other in seconds:
            if other == row and (task, "dlr_1") in seconds:
                ratios.setdefault(int(task.split("-")[1]), []).append(seconds[task, row] / seconds[task, "dlr_1"])
        if ratios:
            sizes = [r["metrics"]["parameters"] for r in records if r["row"] == row]
            least, most = f"{min(sizes):,}", f"{max(sizes):,}"
            body[row] = {**{str(L): f"{fmean(ratios[L]):.1f}" for L in sorted(ratios)},
                         "parameters": least if least == most else f"{least} to {most}"}  # fmt: skip
    return pd.DataFrame.from_dict(body, orient="index").fillna("")


def papers() -> str:
    """The paper's numbers; a star stands behind those that an answer without skill has, too."""
    body = []
    for name in PAPER.index:
        levels = PAPER_LEVELS.get(name, {512: 0.0, 4096: 0.0})
        cells = {f"{row} {L}": "" if pd.isna(r2) else short(r2) + "*" * (0 < r2 <= levels[L] + NEAR and levels[L] > 0)
                 for (row, L), r2 in PAPER.loc[name].items()}  # fmt: skip
        body.append({"task": name, "no skill 4096": short(levels[4096]), "512": short(levels[512]), **cells})
    return lines("paper: R2 by row and length (tables 1 and 6)", body)


def table(records: Sequence[dict]) -> str:
    """Ours by length, steps to learn, seeds apart, why cells are low, times of a step; then the paper's, kept apart."""
    parts, lengths = [], sorted({int(record["task"].split("-")[1]) for record in records})
    for L in lengths:
        parts.append(f"here: R2 at L = {L}, mean over seeds\n{by_task(records, L).to_string()}")
    cells = by_cell(in_order(records, ROWS, at(*lengths)))
    apart = [{"task": task, "row": row, "R2": spread([r["metrics"]["r2"] for r in found], 2), "runs": len(found)}
             for (task, row), found in cells.items() if len(found) > 1]  # fmt: skip
    parts.append(f"steps to R2 of {KNOWN} (-: not in all its steps)\n{learned(records).to_string()}")
    if apart:
        parts.append(lines("over seeds: mean (range)", apart))
    reasons: dict[tuple[str, str], list[str]] = {}
    for (task, row), found in cells.items():
        if reason := why_low(found):
            reasons.setdefault((task, reason), []).append(row)
    low = [f"{task}: {reason}: {', '.join(rows)}" for (task, reason), rows in reasons.items()]
    parts.append("\n".join([f"why R2 is below {KNOWN}", *low]))
    if any(row == "dlr_1" for _, row in cells):
        parts.append(f"time of a step over that of dlr_1, by length\n{times(records).to_string()}")
    return "\n\n".join([*parts, f"""{papers()}
* no skill: that task's level is not 0, and this number is no more than {NEAR} above it: Sort
  .49 to .51 of all deep nets and MIPS .01 are what an answer has that looks at no more than the position, the first number
  or the mean so far, ContextShift .04 and .05 of attention what one has that knows the shift and moves no number.
  (Shift's level is the .22 of table 2.)
time of a step over DLR's: one layer at 4,096: DSS 1, attention 6.3 (Reverse and Sort 13.3), with feed-forward 7 (14.3),
  six layers of DLR 5 (5.4); at 512, over six layers of DLR: two of attention 1.1 (1.8), with feed-forward 1.7 (2.6)"""])


TABLE = Table("dlr/table1", ROWS, TASKS, setting, by_setting(measure), line, table,
              aliases={"ours": "dlr_6", "dlr": "dlr_1", "dss": "dss_1", "attention": "attention_1"}, paper=PAPER,
              extra=EXTRA, columns={"paper": EXTRA["paper"]})  # fmt: skip
