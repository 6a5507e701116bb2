"""Table 2 of paper 004 (Gupta, Mehta, Berant 2022): one layer on Shift, by length.  How long a kernel can be learned?

The network is the paper's (App. A.6): width 32, one block with LayerNorm behind the sum, batches of 4 fresh inputs, mean
squared error.  A task is a length L.  Rows, with N of the paper and N here:

===========  ====================  ==================  =================================================================
row          paper                 here
===========  ====================  ==================  =================================================================
dlr          4096                  min(4096, L)        the grid of N angles that it starts from has every kernel of
                                                       length N, enough up to 2^12; at 2^14 the 2N real weights are
                                                       too few for any shift (``proofs.shifts.needed_modes``)
dlr_prod     4096                  min(4096, L)        kernel Re K Im K
dlr_small    512                   min(512, L / 8)     2N real weights, too few for any shift
dlr_real     4096                  min(4096, L)        DLR-R: lambda in (0, 1], real weights
dss          4096                  min(4096, L)
sgconv       pieces of 4096        pieces of L / 4     as at the paper's L = 2^14
===========  ====================  ==================  =================================================================

The paper trains for 86,000 steps at a constant rate.  Here a run has some hundred steps (each cell of the table says how
many), so the rates are larger, fall as a cosine, and are another for the kernel: a DLR's weights are of size 1/N (those
of SGConv 1 / its piece), and so must their steps be.  Rates were chosen with seed 90, which no record has, by R2 at
L = 256, of DLR and DLR-prod at 1,024 too.  DSS has a quarter of the steps beyond L = 256: it has other modes in every
channel, which takes long.  The paper does not say how the moduli of DLR-R start; all equal, as DLR's (Table 7), they
could not be told apart, so they start spread out as in Sec. 2.3.  Where the steps are few, a low R2 says that little was
learned yet, not that no more can be.

R2 is the mean over fresh batches; ``by_shift`` is R2 of each output column, the shift by j L/8.  To copy the input into
column 0 and to answer 0 in the others is worth 2/9 = .222 (``tasks.atomic_levels.shift_level``), and is what every model
in the paper's table learns that does not learn to shift.

Letters: B batch, L length (T elsewhere), D width, N state size, j output column (0..7).
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

from lrnnlab.models.dlr import DLR
from lrnnlab.models.dss import DSS
from lrnnlab.models.net import PAPER_004, Net, blocks
from lrnnlab.models.sgconv import SGConv
from lrnnlab.tables.table import Table, by_setting
from lrnnlab.tables.text import grid, spread, who
from lrnnlab.tasks.atomic import Shift
from lrnnlab.tasks.atomic_levels import shift_level
from lrnnlab.tasks.continuous import r_squared
from lrnnlab.training.loop import Trained, train, with_seed
from lrnnlab.training.steady import stream

TASKS = ("256", "1024", "4096", "16384")
LONG = ("65536", "262144", "1048576")  # for the budget paper only
ROWS = ("dlr", "dlr_prod", "dlr_small", "dlr_real", "dss", "sgconv")
MIXERS = {"dlr": DLR, "dss": DSS, "sgconv": SGConv}
STEPS = {
    "live": {256: 400, 1024: 60, 4096: 6, 16384: 1},
    "desk": {256: 600, 1024: 300, 4096: 150, 16384: 60},
}
CIRCLE = (1e-5, 1e-5)  # Table 7's dt: |lambda| = 0.999995 at the start
PAPER = pd.DataFrame(
    {"2^8": (None, None, None, None, None, 0.23), "2^14": (0.71, 0.83, 0.88, 1, 0.30, None),
     "2^16": (0.34, 0.39, 0.45, 1, 0.22, None), "2^18": (0.22, 0.25, 0.27, 0.98, 0.22, None),
     "2^20": (0.22, 0.22, 0.22, 0.78, 0.22, None)},
    index=["dss", "dlr", "sgconv", "dlr_prod", "dlr_small", "dlr_real"],
)  # fmt: skip


def setting(row: str, task: str, budget: str) -> dict:
    """One row at one length (the task, as text).

    The lengths beyond 2^14 have the budget ``paper`` only: N = 4096, 86,000 steps at the paper's rates.

    >>> setting("dlr", "1024", "desk")["options"]["state"], setting("dlr_small", "1024", "desk")["options"]["state"]
    (1024, 128)
    """
    L, paper = int(task), budget == "paper"
    N = 4096 if paper else min(4096, L)
    every: dict[str, dict[str, Any]] = {
        "dlr": {"state": N, "dt": CIRCLE}, "dlr_prod": {"state": N, "dt": CIRCLE, "kind": "prod"},
        "dlr_small": {"state": 512 if paper else min(512, L // 8), "dt": CIRCLE},
        "dlr_real": {"state": N, "eigenvalues": "real"}, "dss": {"state": N, "dt": (1e-4, 1e-2)},
        "sgconv": {"length": L, "piece": 4096 if paper else L // 4},
    }  # fmt: skip
    options = every[row]
    shared = {"length": L, "mixer": row.split("_")[0], "options": options, "width": 32, "batch": 4,
              "device": "cuda" if paper else "cpu", "tests": 16 if L <= 1024 else 4, "looks": 10}  # fmt: skip
    if paper:
        rate = 1e-3 if row == "dss" else 1e-5
        return {**shared, "steps": 86_400, "rate": rate, "recurrent_rate": rate, "schedule": "constant"}
    steps = STEPS[budget][L] // (4 if row == "dss" and L > 256 else 1)
    return {**shared, "steps": max(steps, 1), "schedule": "cosine", **_rates(row, options)}


def _rates(row: str, options: dict) -> dict:
    """The rates that were chosen; see the module's head."""
    if row == "dss":
        return {"rate": 1e-2, "recurrent_rate": 3e-2}
    if row == "sgconv":
        return {"rate": 3e-2, "recurrent_rate": 0.192 / options["piece"]}
    return {"rate": 3e-2, "recurrent_rate": (0.0768 if row == "dlr_real" else 0.25) / options["state"]}


def build_net(setting: dict, seed: int) -> Net:
    """The untrained network: 3 inputs (the number, and where it stands), one block, 8 outputs at every position."""
    D, task = setting["width"], Shift()

    def make() -> Net:
        mixer = partial(MIXERS[setting["mixer"]], **setting["options"])
        return Net(blocks(mixer, D, 1, **PAPER_004), task.d_out, D, columns=task.d_in)

    return with_seed(make, seed)


def trained(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> Trained:
    """The network after training, with R2 on one batch of its own on the way (``watched``)."""
    task, L, B, device = Shift(), setting["length"], setting["batch"], setting["device"]
    if device == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"dlr/table2 at length {L}, budget paper, needs a GPU, and torch sees none")
    seen = task.sample(B, L, stream(seed, "shift/validation")).to(device)

    def draw_batch(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        batch = task.sample(B, L, generator)
        return batch.inputs.to(device), batch.targets.to(device)

    return train(
        build_net(setting, seed).to(device), draw_batch, F.mse_loss, generator=stream(seed, "shift/train"),
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


def table(records: Sequence[dict]) -> str:
    """Two tables, kept apart: R2 by row and length as found here, with the steps; and the paper's."""

    def cell(found: list[dict]) -> str:
        steps = sorted({record["metrics"]["steps"] for record in found})
        return f"{spread([r['metrics']['r2'] for r in found], 2)}, {'/'.join(map(str, steps))}"

    body = grid(records, ROWS, TASKS + LONG, cell).add_prefix("L = ")
    return (f"here: R2, mean (range) over seeds, after so many steps\n{body.to_string()}\n"
            f"copying the input into column 0, and nothing more: {shift_level():.3f}\n\n"
            "paper: R2 after 86,000 steps, N = 4096 (blank: no number; which length a number belongs to is inferred)\n"
            f"{PAPER.loc[list(ROWS)].to_string(na_rep='')}")  # fmt: skip


TABLE = Table("dlr/table2", ROWS, TASKS, setting, by_setting(measure), line, table, aliases={"ours": "dlr"}, paper=PAPER,
              extra={"paper": LONG})  # fmt: skip
