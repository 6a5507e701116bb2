"""Table 2 of paper 004 (Gupta, Mehta, Berant 2022): one layer on Shift, by length.  How long a kernel can be learned?

The network is the paper's (App. A.6): width 32, one block with LayerNorm behind the sum, batches of 4 fresh inputs, mean
squared error.  A task is a length L.  As in the paper N stays while L grows, and soon N << L: this is the paper's table
divided by 128, so that its 2^14 and 2^16 stand here as 128 and 512.

===========  ====================  ==================  =================================================================
row          paper                 here
===========  ====================  ==================  =================================================================
dlr          N = 4096              N = 32              all channels share the modes, so it reaches the shifts by S <= 2N
dlr_prod     4096                  32                  kernel Re K Im K: N(N+1) real modes, so many more shifts
dlr_small    512                   4
dlr_real     4096                  L                   DLR-R: lambda in (0, 1], real weights
dss          4096                  32                  every channel has modes of its own
sgconv       pieces of 4096        pieces of 32
dlr_full     (not there)           L                   as ``dlr``, with modes enough for every shift
===========  ====================  ==================  =================================================================

**What is expected.**  N modes that are cast to reals make a shift by S <= 2N as exactly as one likes, with small weights
and at every length, and miss every other by sqrt(1 - 2N/S) at least (chapter 06, section 6).  Output j of Shift, the
shift by j L/8, holds 1 - j/8 of 4.5 shares of the variance, so R2 = (sum over j L/8 <= 2N of 1 - j/8) / 4.5, which
stands beside the numbers.  (Chapter 05, section 5, says what an *exact* shift needs: many more modes.)  A reach says what can be
learned, not that it is.  For DSS there is no such theorem, as its channels have modes of their own; pieces of SGConv
are stretched from lag 64 on, so that they hold no single 1 there.

The paper trains for 86,000 steps at a constant rate.  Here a run has 2,000, so the rates are larger, fall as a cosine,
and are another for the kernel: a DLR's weights are of size 1/N (those of SGConv 1 / its piece), and so must their steps
be.  Rates were chosen with seed 90, which no record has, by R2 at L = 256.  The step sizes of DSS are the paper's times
128, as its modes are fewer.  The paper does not say how the moduli of DLR-R start; all equal, as DLR's (Table 7), they
could not be told apart, so they start spread out as in Sec. 2.3.

R2 is the mean over fresh batches; ``by_shift`` is R2 of each output column, the shift by j L/8.  To copy the input into
column 0 and to answer 0 in the others is worth 2/9 = .222 (``tasks.atomic_levels.shift_level``), and is what every model
in the paper's table learns that does not learn to shift.

Letters: B batch, L length (T elsewhere), D width, N state size, S shift, j output column (0..7).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.algebra.shifts import predicted_r2
from lrnnlab.models.dlr import DLR
from lrnnlab.models.dss import DSS
from lrnnlab.models.net import PAPER_004, Net, blocks
from lrnnlab.models.sgconv import SGConv
from lrnnlab.tables.table import Table, by_setting, gpu_if_wanted
from lrnnlab.tables.text import by_cell, lines, spread, who
from lrnnlab.tasks.atomic import Shift
from lrnnlab.tasks.atomic_levels import shift_level
from lrnnlab.tasks.continuous import ContinuousTask, r_squared
from lrnnlab.training.loop import Trained, train, with_seed
from lrnnlab.training.steady import stream

TASKS = ("128", "256", "512", "1024")
LONG = ("16384", "65536", "262144", "1048576")  # for the budget paper only
ROWS = ("dlr", "dlr_prod", "dlr_small", "dlr_real", "dss", "sgconv", "dlr_full")
MIXERS = {"dlr": DLR, "dss": DSS, "sgconv": SGConv}
STEPS = {"live": 400, "desk": 2000}
CIRCLE = (1e-5, 1e-5)  # Table 7's dt: |lambda| = 0.999995 at the start
SHRUNK = 128  # how many times shorter lengths and fewer modes are here than in the paper
PAPER = pd.DataFrame(
    {"2^8": (None, None, None, None, None, 0.23), "2^14": (0.71, 0.83, 0.88, 1, 0.30, None),
     "2^16": (0.34, 0.39, 0.45, 1, 0.22, None), "2^18": (0.22, 0.25, 0.27, 0.98, 0.22, None),
     "2^20": (0.22, 0.22, 0.22, 0.78, 0.22, None)},
    index=["dss", "dlr", "sgconv", "dlr_prod", "dlr_small", "dlr_real"],
)  # fmt: skip


def setting(row: str, task: str, budget: str) -> dict:
    """One row at one length (the task, as text).

    The lengths from 2^14 on have the budget ``paper`` only: N = 4096, 86,000 steps at the paper's rates.

    >>> [setting(row, "256", "desk")["options"]["state"] for row in ("dlr", "dlr_small", "dlr_full")]
    [32, 4, 256]
    """
    L, paper = int(task), budget == "paper"
    shrunk = 1 if paper else SHRUNK
    N = 4096 // shrunk
    every: dict[str, dict[str, Any]] = {
        "dlr": {"state": N, "dt": CIRCLE}, "dlr_prod": {"state": N, "dt": CIRCLE, "kind": "prod"},
        "dlr_small": {"state": 512 // shrunk, "dt": CIRCLE}, "dlr_full": {"state": L, "dt": CIRCLE},
        "dlr_real": {"state": N if paper else L, "eigenvalues": "real"},
        "dss": {"state": N, "dt": (1e-4 * shrunk, 1e-2 * shrunk)}, "sgconv": {"length": L, "piece": N},
    }  # fmt: skip
    found = cell(row, L, every[row], 86_400 if paper else STEPS[budget])
    if not paper:
        return found
    rate = 1e-3 if row == "dss" else 1e-5
    return {**found, "device": "cuda", "rate": rate, "recurrent_rate": rate, "schedule": "constant"}


def cell(row: str, L: int, options: dict, steps: int) -> dict:
    """A row's network with ``options`` of its kernels, trained for ``steps`` at the rates that were chosen."""
    rates = {"rate": 3e-2}
    if row == "dss":
        rates = {"rate": 1e-2, "recurrent_rate": 3e-2}
    elif row == "sgconv":
        rates["recurrent_rate"] = 0.192 / options["piece"]
    else:
        rates["recurrent_rate"] = (0.0768 if row == "dlr_real" else 0.25) / options["state"]
    return {"length": L, "mixer": row.split("_")[0], "options": options, "width": 32, "batch": 4, "device": "cpu",
            "tests": 16 if L <= 1024 else 4, "looks": 10, "steps": steps, "schedule": "cosine", **rates}  # fmt: skip


def reach(setting: dict) -> int | None:
    """The largest S whose shift the modes make nearly: 2N, N(N+1) for a product; None where no theorem says it.

    >>> [reach(setting(row, "256", "desk")) for row in ("dlr", "dlr_prod", "sgconv")]
    [64, 1056, None]
    """
    N = setting["options"].get("state")
    if setting["mixer"] != "dlr" or "eigenvalues" in setting["options"]:
        return None
    return N * (N + 1) if setting["options"].get("kind") == "prod" else 2 * N


def build_net(setting: dict, seed: int) -> Net:
    """The untrained network: 3 inputs (the number, and where it stands), one block, 8 outputs at every position."""
    D, task = setting["width"], Shift()

    def make() -> Net:
        mixer = partial(MIXERS[setting["mixer"]], **setting["options"])
        return Net(blocks(mixer, D, 1, **PAPER_004), task.d_out, D, columns=task.d_in)

    return with_seed(make, seed)


def trained(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> Trained:
    """The network after training, with R2 on one batch of its own on the way (``watched``)."""
    gpu_if_wanted(setting, f"dlr/table2 at length {setting['length']}, budget paper,")
    return fit(build_net(setting, seed), Shift(), setting, seed, "shift", setting["batch"], progress, checkpoint)


def fit(
    net: Net, task: ContinuousTask, setting: dict, seed: int, purpose: str, shown: int, progress: bool,
    checkpoint: Path | None,
) -> Trained:  # fmt: skip
    """``net`` after training on ``task`` as a setting says, with R2 on ``shown`` inputs of their own on the way.

    Parameters
    ----------
    net, task, setting, seed
        What is trained, on what, how, and the seed of all inputs.
    purpose : str
        Names the streams of inputs.
    shown : int
        How many inputs R2 is taken on, every so many steps (``watched``).
    progress : bool
        Whether to show a bar.
    checkpoint : Path, optional
        From where training goes on after a kill.

    Examples
    --------
    >>> found = {**setting("dlr", "128", "live"), "steps": 2, "length": 16}
    >>> fit(build_net(found, 0), Shift(), found, 0, "shift", 4, False, None).steps
    2
    """
    L, device = setting["length"], setting["device"]
    seen = task.sample(shown, L, stream(seed, f"{purpose}/validation")).to(device)

    def draw_batch(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        batch = task.sample(setting["batch"], L, generator).to(device)
        return batch.inputs, batch.targets

    return train(
        net.to(device), draw_batch, F.mse_loss, generator=stream(seed, f"{purpose}/train"),
        watch=lambda net, step: {"validation": r_squared(net(seen.inputs), seen.targets)},
        watch_every=max(setting["steps"] // setting["looks"], 1), progress=progress, checkpoint=checkpoint,
        **{name: setting[name] for name in ("steps", "rate", "recurrent_rate", "schedule")},
    )  # fmt: skip


@torch.no_grad()
def scores(net: nn.Module, batches: int, B: int, L: int, generator: torch.Generator) -> tuple[list[float], list[float]]:
    """R2 of every one of ``batches`` fresh batches; and R2 of each of the 8 columns, over all batches.

    >>> class Copy(nn.Module):
    ...     def forward(self, inputs):
    ...         return torch.cat([inputs[..., :1], torch.zeros(*inputs.shape[:2], 7)], -1)
    >>> r2, columns = scores(Copy(), 8, 4, 256, torch.Generator().manual_seed(0))
    >>> round(fmean(r2), 2), columns[0], max(columns[1:]) < 1e-3
    (0.22, 1.0, True)
    """
    batch = Shift().sample(batches * B, L, generator)
    device = next((parameter.device for parameter in net.parameters()), batch.inputs.device)
    targets = batch.targets
    found = net(batch.inputs.to(device)).to(targets.device)  # in one go: a kernel may take longer than all the rest
    by_batch = [r_squared(*pair) for pair in zip(found.split(B), targets.split(B))]
    return by_batch, [r_squared(found[..., j], targets[..., j]) for j in range(targets.shape[-1])]


def measure(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> dict:
    """Train, then R2 on fresh batches: mean, least and greatest, ``by_shift``; and its curve, by step.

    >>> found = measure({**setting("dlr_real", "256", "live"), "length": 64, "steps": 3}, seed=0)["metrics"]
    >>> found["steps"], len(found["by_shift"]), round(found["level"], 3)
    (3, 8, 0.222)
    """
    made = trained(setting, seed, progress=progress, checkpoint=checkpoint)
    r2, columns = scores(made.net.eval(), setting["tests"], setting["batch"], setting["length"],
                         stream(seed, "shift/test"))  # fmt: skip
    metrics = {
        "r2": round(fmean(r2), 4), "r2_min": round(min(r2), 4), "r2_max": round(max(r2), 4),
        "by_shift": [round(value, 4) for value in columns], "level": shift_level(), "steps": made.steps,
        "finished": made.finished, "parameters": sum(parameter.numel() for parameter in made.net.parameters()),
    }  # fmt: skip
    curve = [(look["step"], round(look["validation"], 4)) for look in made.watched]
    return {"metrics": metrics, "curve": curve, "cpu_seconds": round(made.cpu_seconds, 3)}


def line(record: dict) -> str:
    """One record in a few words."""
    found = record["metrics"]
    by_shift = " ".join(f"{value:.2f}" for value in found["by_shift"])
    return (f"L = {who(record)}: R2 {found['r2']:.3f} after {found['steps']:,} steps, {record['wall_seconds']:.0f} s "
            f"(by shift: {by_shift})")  # fmt: skip


def why_low(records: Sequence[dict]) -> str:
    """Why not all eight shifts are learned, of a cell's records over seeds; "" where they are (R2 of 0.9 or more).

    >>> low = {"row": "dlr", "config": {"setting": setting("dlr", "256", "desk")},
    ...        "metrics": {"by_shift": [1.0] * 3 + [0.1] * 5, "steps": 2000}}
    >>> why_low([low])
    'not expressible: S > 2N'
    """
    found, row = records[0]["config"]["setting"], records[0]["row"]
    missed = [j for j in range(8) if not fmean(record["metrics"]["by_shift"][j] for record in records) >= 0.9]  # or NaN
    if missed and row == "dlr_real":
        return "not expressible with weights that a float holds: real modes"
    most, edge = reach(found), "S > 2N"
    if row == "sgconv":
        most, edge = 2 * found["options"]["piece"] - 1, "beyond two pieces they are stretched"
    far = [j for j in missed if most is not None and j * found["length"] // 8 > most]
    reasons = [f"not expressible: {edge}"] if far else []
    if near := [str(j) for j in missed if j not in far]:
        reasons.append(f"not learned in {records[0]['metrics']['steps']:,} steps: j = {', '.join(near)}")
    return "; ".join(reasons)


def table(records: Sequence[dict]) -> str:
    """Two tables, kept apart: R2 by row and length as found here, beside the prediction; and the paper's."""
    body = []
    for (row, task), found in by_cell(records, "row", "task").items():
        L, options, S = int(task), found[0]["config"]["setting"]["options"], reach(found[0]["config"]["setting"])
        body.append({
            "row": row, "L": L, "N": options.get("state", f"pieces of {options.get('piece')}"),
            "R2": spread([r["metrics"]["r2"] for r in found], 2), "runs": len(found),
            "predicted": "" if S is None else f"{predicted_r2(L, S // 2):.2f}",
            "shifts learned": sum(fmean(r["metrics"]["by_shift"][j] for r in found) >= 0.9 for j in range(8)),
            "within reach": "" if S is None else sum(j * L // 8 <= S for j in range(8)),
            "why not all 8": why_low(found),
        })  # fmt: skip
    body.sort(key=lambda line: (ROWS.index(line["row"]), line["L"]))
    steps = "/".join(f"{n:,}" for n in sorted({record["metrics"]["steps"] for record in records}))
    return (f"{lines(f'here: R2 after {steps} steps, mean (range) over seeds', body)}\n"
            f"copying the input into column 0, and nothing more: {shift_level():.3f}; predicted: all shifts by S <= 2N "
            "(DLR-prod: N(N+1)) and no others\n"
            "theorems: chapter 05, section 5; chapter 06, sections 4 and 6\n\n"
            "paper: R2 after 86,000 steps, N = 4096 (blank: no number; which length a number belongs to is inferred)\n"
            f"{PAPER.loc[[row for row in ROWS if row in PAPER.index]].to_string(na_rep='')}")  # fmt: skip


TABLE = Table("dlr/table2", ROWS, TASKS, setting, by_setting(measure), line, table, aliases={"ours": "dlr"}, paper=PAPER,
              extra={"paper": LONG}, columns={"paper": LONG})  # fmt: skip
