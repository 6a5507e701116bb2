"""Table 2 of paper 004 (Gupta, Mehta, Berant 2022): one layer on Shift, by length.  How long a kernel can be learned?

Letters: B batch, L length (T elsewhere), D width, N state size, S shift, j output column (0..7).
"""

from statistics import fmean
from typing import Any

import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnbook.content.tables.declared import paper
from lrnnbook.content.tables.nets import stack
from lrnnbook.content.tables.table import by_setting, load, outcome, trained_by
from lrnnlab.models import Net
from lrnnlab.models.block import PAPER_004
from lrnnlab.tasks.numbers.atomic import Shift
from lrnnlab.tasks.numbers.atomic_levels import shift_level
from lrnnlab.tasks.numbers.continuous import ContinuousTask, r_squared
from lrnnlab.training import Trained, rng
from lrnnlab.training.loop import with_seed


def reach(setting: dict) -> int | None:
    """The largest S whose shift the modes make nearly: 2N, N(N+1) for a product; None where no theorem says it."""
    N = setting["options"].get("state")
    if setting["mixer"] != "dlr" or "eigenvalues" in setting["options"]:
        return None
    return N * (N + 1) if setting["options"].get("kind") == "prod" else 2 * N


def printed() -> pd.DataFrame:
    """R2 as the paper prints it: rows down, lengths across."""
    found = paper("dlr/table2")
    by_length = found.pivot(index="row", columns="task", values="value").sort_index(axis=1, key=lambda L: L.astype(int))
    return by_length.loc[found["row"].unique()].rename(columns=lambda L: f"2^{int(L).bit_length() - 1}")


def build_net(setting: dict, seed: int) -> Net:
    """The untrained network: 3 inputs (the number, and its position), one block, 8 outputs at every position."""
    task = Shift()
    return with_seed(lambda: stack(setting, task.d_out, PAPER_004, columns=task.d_in), seed)


def trained(setting: dict, seed: int, **how: Any) -> Trained:
    """The network after training, with R2 on one batch of its own on the way (``watched``)."""
    return fit(build_net(setting, seed), Shift(), setting, seed, "shift", setting["batch"], **how)


def fit(net: Net, task: ContinuousTask, setting: dict, seed: int, purpose: str, shown: int, **how: Any) -> Trained:
    """``net`` after training on ``task``, with R2 on ``shown`` inputs of their own; ``purpose`` names the streams of inputs."""
    L, device = setting["length"], setting["device"]
    seen = task.sample(shown, L, rng(seed, f"{purpose}/validation")).to(device)

    def draw_batch(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        batch = task.sample(setting["batch"], L, generator).to(device)
        return batch.inputs, batch.targets

    return trained_by(
        setting, net, draw_batch, F.mse_loss, rng(seed, f"{purpose}/train"),
        lambda net, step: {"validation": r_squared(net(seen.inputs), seen.targets)}, **how,
    )  # fmt: skip


@torch.no_grad()
def scores(net: nn.Module, batches: int, B: int, L: int, generator: torch.Generator) -> tuple[list[float], list[float]]:
    """R2 of every one of ``batches`` fresh batches; and R2 of each of the 8 columns, over all batches."""
    batch = Shift().sample(batches * B, L, generator)
    device = next((parameter.device for parameter in net.parameters()), batch.inputs.device)
    targets = batch.targets
    found = net(batch.inputs.to(device)).to(targets.device)  # in one go: a kernel may take longer than all the rest
    by_batch = [r_squared(*pair) for pair in zip(found.split(B), targets.split(B))]
    return by_batch, [r_squared(found[..., j], targets[..., j]) for j in range(targets.shape[-1])]


def measure(setting: dict, seed: int, **how: Any) -> dict:
    """Train, then R2 on fresh batches: mean, least and greatest, ``by_shift``; and its curve, by step."""
    made = trained(setting, seed, **how)
    r2, columns = scores(made.net.eval(), setting["tests"], setting["batch"], setting["length"],
                         rng(seed, "shift/test"))  # fmt: skip
    metrics = {"r2": round(fmean(r2), 4), "r2_min": round(min(r2), 4), "r2_max": round(max(r2), 4),
               "by_shift": [round(value, 4) for value in columns], "level": shift_level()}  # fmt: skip
    return outcome(made, metrics, curve=curve(made))


def curve(made: Trained) -> list[tuple[int, float]]:
    """R2 by step."""
    return [(look["step"], round(look["validation"], 4)) for look in made.watched]


TABLE = load("dlr/table2", by_setting(measure))
