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

**Equal steps.**  All rows of a task have the same steps, so that depths can be compared: with the steps of six layers one
layer does better too, and Solve and Select stay at 0 for hundreds of steps before anything is seen.  ``curve`` is R2 by
step; ``learned_at`` the first look at R2 of .9 or more.

**What one layer cannot do** is a theorem (:func:`needed`): a layer of D convolutions hands on D numbers to a position, each
a fixed linear function of the inputs, and what follows sees these and the position's own input only.

R2 is over 256 fresh inputs, with the last weights; beside it stands ``level``, the R2 of an answer that has no skill
(``tasks.atomic_levels``), which the paper does not print.

Letters: B batch, T time, L length, D width, N state size (of Solve: unknowns).
"""

from __future__ import annotations

import math
import re
from functools import partial
from pathlib import Path

import torch

from lrnnlab.models import PAPER_004, Net, blocks
from lrnnlab.models.attention import RotaryAttention
from lrnnlab.models.dlr import DLR
from lrnnlab.models.dss import DSS
from lrnnlab.models.sgconv import SGConv
from lrnnlab.tasks.atomic import ATOMIC, unknowns
from lrnnlab.tasks.atomic_levels import context_shift_level, trivial_level
from lrnnlab.tasks.continuous import ContinuousTask, r_squared
from lrnnlab.training.determinism import rng
from lrnnlab.training.loop import Trained, with_seed
from workbook.tables.dlr_table2 import fit
from workbook.tables.table import by_setting, gpu_if_wanted, load

MIXERS = {"dlr": DLR, "dss": DSS, "sgconv": SGConv, "attention": RotaryAttention}
KNOWN = 0.9  # an R2 from which a task counts as learned
PAPER_LEVELS = {  # trivial_level at these lengths, which takes 10 s to work out
    "shift": {512: 0.222, 4096: 0.222}, "cummax": {512: 0.476, 4096: 0.456}, "sort": {512: 0.490, 4096: 0.491},
    "mips": {512: 0.013, 4096: 0.002}, "context_shift": {512: 0.039, 4096: 0.007},
}  # fmt: skip


def build_task(setting: dict) -> ContinuousTask:
    """The task of a setting."""
    return ATOMIC[setting["task"]](*setting["chosen"])


def build_net(setting: dict, seed: int) -> Net:
    """The untrained network, whose outputs are those of the rightmost positions that the task scores."""
    D, task, L = setting["width"], build_task(setting), setting["length"]
    scored = task.sample(1, L, rng(0, "shape")).targets.shape[1]
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

    >>> found = measure({**TABLE.setting("dlr_1", "shift-32", "live"), "steps": 2, "tests": 8}, seed=0)["metrics"]
    >>> found["steps"], round(found["level"], 3), found["learned_at"]
    (2, 0.222, None)
    """
    with torch.enable_grad():
        made = trained(setting, seed, progress=progress, checkpoint=checkpoint)
    task, L, device = build_task(setting), setting["length"], setting["device"]
    batch = task.sample(setting["tests"], L, rng(seed, "atomic/test"))
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

    >>> [needed(TABLE.setting("dlr_1", task, "desk")) for task in ("sort-64", "reverse-128", "solve-64", "shift-64")]
    [63, 63, 28, 0]
    """
    L = setting["length"]
    N = unknowns(L)
    found = {"cummax": L - 1, "sort": L - 1, "context_shift": L - 3, "select": L, "mips": 3 * L, "solve": N * (N + 1) // 2,
             "reverse": (L + 1) // 2 - 1}  # fmt: skip
    return found.get(setting["task"], 0)


def level_of(task: str, level: float) -> float:
    """The level without skill of a task whose record has ``level``; the first records have 0 for that of ContextShift.
    """
    return context_shift_level(int(task.split("-")[1])) if task.startswith("context_shift-") else level


def short(r2: float) -> str:
    """R2 in three characters, as the paper prints it; below -.005 it is worse than a constant, and NaN of a run that broke off.

    >>> [short(r2) for r2 in (0.494, 0.996, -0.001, -0.3, -20.5, math.nan)]
    ['.49', '1.00', '.00', '-.30', '-20.50', 'NaN']
    """
    if math.isnan(r2):
        return "NaN"
    return re.sub(r"^(-?)0\.", r"\1.", f"{r2:.2f}").replace("-.00", ".00") if r2 < 0.995 else "1.00"


TABLE = load("dlr/table1", by_setting(measure))
