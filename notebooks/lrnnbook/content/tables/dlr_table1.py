"""Tables 1 and 6 of paper 004 (Gupta, Mehta, Berant 2022): the eleven atomic tasks.  Which skill needs which layers?

Letters: B batch, T time, L length, D width, N state size (of Solve: unknowns).
"""

import math
import re
from typing import Any

import torch

from lrnnbook.content.tables.dlr_table2 import curve, fit
from lrnnbook.content.tables.nets import stack
from lrnnbook.content.tables.table import by_setting, load, outcome
from lrnnlab.models import Net
from lrnnlab.models.block import PAPER_004
from lrnnlab.tasks.numbers.atomic import ATOMIC, unknowns
from lrnnlab.tasks.numbers.atomic_levels import context_shift_level, trivial_level
from lrnnlab.tasks.numbers.continuous import ContinuousTask, r_squared
from lrnnlab.training import rng
from lrnnlab.training.loop import with_seed

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
    task = build_task(setting)
    scored = task.sample(1, setting["length"], rng(0, "shape")).targets.shape[1]
    around = {**PAPER_004, **({"activation": "identity"} if setting["mixer"] == "attention" else {})}
    return with_seed(lambda: stack(setting, task.d_out, around, columns=task.d_in, last_outputs=scored), seed)


def measure(setting: dict, seed: int, **how: Any) -> dict:
    """Train, then R2 of the last weights on fresh inputs, beside the level without skill; and its curve, by step."""
    task, L, device = build_task(setting), setting["length"], setting["device"]
    made = fit(build_net(setting, seed), task, setting, seed, "atomic", 64, **how)
    batch = task.sample(setting["tests"], L, rng(seed, "atomic/test"))
    with torch.no_grad():
        found = torch.cat([made.net(inputs.to(device)).cpu() for inputs in batch.inputs.split(setting["batch"])])
    learned = next((step for step, r2 in curve(made) if r2 >= KNOWN), None)
    metrics = {"r2": round(r_squared(found, batch.targets), 4), "level": round(trivial_level(task, L), 4), "learned_at": learned}
    return outcome(made, metrics, curve=curve(made))


def needed(setting: dict) -> int:
    """How many linear functions of the inputs the answers of a task need at the least, as far as it is proved (notebook 07b); 0:
    one convolution can."""
    L = setting["length"]
    N = unknowns(L)
    found = {"cummax": L - 1, "sort": L - 1, "context_shift": L - 3, "select": L, "mips": 3 * L, "solve": N * (N + 1) // 2,
             "reverse": (L + 1) // 2 - 1}  # fmt: skip
    return found.get(setting["task"], 0)


def level_of(task: str, level: float) -> float:
    """The level without skill of a task whose record has ``level``; the first records have 0 for that of ContextShift."""
    return context_shift_level(int(task.split("-")[1])) if task.startswith("context_shift-") else level


def short(r2: float) -> str:
    """R2 in three characters, as the paper prints it; below -.005 it is worse than a constant, and NaN of a run that broke off.
    """
    if math.isnan(r2):
        return "NaN"
    return re.sub(r"^(-?)0\.", r"\1.", f"{r2:.2f}").replace("-.00", ".00") if r2 < 0.995 else "1.00"


TABLE = load("dlr/table1", by_setting(measure))
load("dlr/width", by_setting(measure))  # how wide one layer of DLR must be for Reverse
load("dlr/longer", by_setting(measure))  # tasks that a net does not know after the steps of table 1
