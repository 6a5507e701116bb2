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
and are another for the kernel (``dlr_table2.yaml``).  The step sizes of DSS are the paper's times 128, as its modes are fewer.

R2 is the mean over fresh batches; ``by_shift`` is R2 of each output column, the shift by j L/8.  To copy the input into
column 0 and to answer 0 in the others is worth 2/9 = .222 (``tasks.atomic_levels.shift_level``), and is what every model
in the paper's table learns that does not learn to shift.

Letters: B batch, L length (T elsewhere), D width, N state size, S shift, j output column (0..7).
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from statistics import fmean

import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.models import PAPER_004, Net, blocks
from lrnnlab.models.dlr import DLR
from lrnnlab.models.dss import DSS
from lrnnlab.models.sgconv import SGConv
from lrnnlab.tasks.atomic import Shift
from lrnnlab.tasks.atomic_levels import shift_level
from lrnnlab.tasks.continuous import ContinuousTask, r_squared
from lrnnlab.training.determinism import rng
from lrnnlab.training.loop import Trained, train, with_seed
from workbook.tables.declared import paper
from workbook.tables.table import by_setting, gpu_if_wanted, load

MIXERS = {"dlr": DLR, "dss": DSS, "sgconv": SGConv}


def reach(setting: dict) -> int | None:
    """The largest S whose shift the modes make nearly: 2N, N(N+1) for a product; None where no theorem says it.

    >>> [reach(TABLE.setting(row, "256", "desk")) for row in ("dlr", "dlr_prod", "sgconv")]
    [64, 1056, None]
    """
    N = setting["options"].get("state")
    if setting["mixer"] != "dlr" or "eigenvalues" in setting["options"]:
        return None
    return N * (N + 1) if setting["options"].get("kind") == "prod" else 2 * N


def printed() -> pd.DataFrame:
    """R2 as the paper prints it: rows down, lengths across.

    >>> printed().loc["dlr"].dropna().to_dict()
    {'2^14': 0.83, '2^16': 0.39, '2^18': 0.25, '2^20': 0.22}
    """
    found = paper("dlr/table2")
    by_length = found.pivot(index="row", columns="task", values="value").sort_index(axis=1, key=lambda L: L.astype(int))
    return by_length.loc[found["row"].unique()].rename(columns=lambda L: f"2^{int(L).bit_length() - 1}")


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
    >>> found = {**TABLE.setting("dlr", "128", "live"), "steps": 2, "length": 16}
    >>> fit(build_net(found, 0), Shift(), found, 0, "shift", 4, False, None).steps
    2
    """
    L, device = setting["length"], setting["device"]
    seen = task.sample(shown, L, rng(seed, f"{purpose}/validation")).to(device)

    def draw_batch(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        batch = task.sample(setting["batch"], L, generator).to(device)
        return batch.inputs, batch.targets

    return train(
        net.to(device), draw_batch, F.mse_loss, generator=rng(seed, f"{purpose}/train"),
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

    >>> found = measure({**TABLE.setting("dlr_real", "256", "live"), "length": 64, "steps": 3}, seed=0)["metrics"]
    >>> found["steps"], len(found["by_shift"]), round(found["level"], 3)
    (3, 8, 0.222)
    """
    made = trained(setting, seed, progress=progress, checkpoint=checkpoint)
    r2, columns = scores(made.net.eval(), setting["tests"], setting["batch"], setting["length"],
                         rng(seed, "shift/test"))  # fmt: skip
    metrics = {
        "r2": round(fmean(r2), 4), "r2_min": round(min(r2), 4), "r2_max": round(max(r2), 4),
        "by_shift": [round(value, 4) for value in columns], "level": shift_level(), "steps": made.steps,
        "finished": made.finished, "parameters": sum(parameter.numel() for parameter in made.net.parameters()),
    }  # fmt: skip
    curve = [(look["step"], round(look["validation"], 4)) for look in made.watched]
    return {"metrics": metrics, "curve": curve, "cpu_seconds": round(made.cpu_seconds, 3)}


TABLE = load("dlr/table2", by_setting(measure))
