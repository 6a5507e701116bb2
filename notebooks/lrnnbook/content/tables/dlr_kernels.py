"""What kernels each family learns by gradient descent, beside the best that its modes allow (paper 004, Sec. 2.1, A.4).

Letters: L length, N modes, j output column, k lag; K kernel, w weights.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from lrnnbook.content.tables import dlr_table2
from lrnnbook.content.tables.kernels import best_fit, targets
from lrnnbook.content.tables.nets import MIXERS
from lrnnbook.content.tables.table import by_setting, load
from lrnnlab.models.layers.modes import ChannelModes, SGConv
from lrnnlab.tasks.numbers.atomic import Shift
from lrnnlab.training import rng, train
from lrnnlab.training.loop import with_seed

TARGETS = {"one_hot": "shift by L/4", "box": "box", "sine": "fading sine", "noise": "noise"}


class Kernel(nn.Module):
    """A layer of width 1, called without an input: its kernel (L,)."""

    layer: Any

    def __init__(self, layer: ChannelModes, length: int):
        super().__init__()
        self.layer, self.length = layer, length

    def forward(self) -> Tensor:
        return self.layer.kernel(self.length)[0]


def measure(setting: dict, seed: int, **how: Any) -> dict:
    """Train on the target or on Shift; numbers and kernels."""
    return (_shift if setting["task"] == "shift" else _fit)(setting, seed, **how)


def _fit(setting: dict, seed: int, **how: Any) -> dict:
    target = targets(setting["length"], setting["target_seed"])[TARGETS[setting["task"]]]
    goal = torch.from_numpy(target).float()
    net = with_seed(lambda: Kernel(MIXERS[setting["mixer"]](1, **setting["options"]), setting["length"]), seed)
    before, first = _numbers(net), best(net, target)
    made = train(
        net, lambda generator: (goal,), lambda kernel, goal: (kernel - goal).square().sum() / goal.square().sum(),
        steps=setting["steps"], lr=setting["rate"], generator=rng(seed, "kernels"), **how,
    )  # fmt: skip
    after, last = _numbers(net), best(net, target)
    weights = net.layer.pieces if isinstance(net.layer, SGConv) else net.layer.modes()[1]
    metrics = {"error": float(np.linalg.norm(after - target) / np.linalg.norm(target)), "weights": float(weights.abs().sum()),
               "best_before": first[0], "best_before_weights": first[1],
               "best_after": last[0], "best_after_weights": last[1]}  # fmt: skip
    kernels = {"target": target, "before": before, "after": after}
    return {"metrics": {**{name: _short(value) for name, value in metrics.items()}, "steps": made.steps},
            "kernels": {name: kernel.round(4).tolist() for name, kernel in kernels.items()},
            "cpu_seconds": round(made.cpu_seconds, 3)}  # fmt: skip


def best(net: Kernel, target: np.ndarray) -> tuple[float, float]:
    """The least relative error that the layer's nodes (or pieces' shapes) allow as they are, and ||w||_1 there."""
    if isinstance(net.layer, SGConv):
        table = _pieces_table(net)
        weights = np.linalg.lstsq(table, target, rcond=None)[0]
        error = np.linalg.norm(table @ weights - target) / np.linalg.norm(target)
        return float(error), float(np.abs(weights).sum())
    fit = best_fit(net.layer.modes()[0].exp().flatten().detach().numpy(), target)
    return fit.error, fit.norm


@torch.no_grad()
def _pieces_table(net: Kernel) -> np.ndarray:
    """(L, weights): the kernel is linear in the pieces, so column i is the kernel of the i-th unit vector."""
    pieces, columns = net.layer.pieces, []
    kept = pieces.clone()
    for unit in torch.eye(pieces.numel()):
        pieces.copy_(unit.view_as(pieces))
        columns.append(net().double().numpy())
    pieces.copy_(kept)
    return np.stack(columns, 1)


@torch.no_grad()
def _numbers(net: Kernel) -> np.ndarray:
    return net().double().numpy()


def _short(value: float) -> float:
    """To four digits, 0 for what rounding leaves of it."""
    return 0.0 if value < 1e-9 else float(f"{value:.4g}")


def _shift(setting: dict, seed: int, **how: Any) -> dict:
    length, look = setting["length"], Shift().sample(8, setting["length"], rng(seed, "kernels/look")).inputs
    before = impulse_responses(dlr_table2.build_net(setting, seed), look)
    made = dlr_table2.trained(setting, seed, **how)
    after = impulse_responses(made.net.eval(), look)
    r2, columns = dlr_table2.scores(made.net, 16, 4, length, rng(seed, "shift/test"))
    metrics = {"r2": round(float(np.mean(r2)), 4), "by_shift": [round(value, 4) for value in columns],
               "found": peaks(after.numpy()), "steps": made.steps}  # fmt: skip
    kernels = {"before": before, "after": after}
    return {"metrics": metrics, "cpu_seconds": round(made.cpu_seconds, 3),
            "kernels": {name: kernel.double().numpy().round(3).tolist() for name, kernel in kernels.items()}}  # fmt: skip


def impulse_responses(net: nn.Module, inputs: Tensor) -> Tensor:
    """(8, L): the derivative of output j at the last position by the number k positions before it, mean over inputs."""
    inputs = inputs.clone().requires_grad_()
    last = net(inputs)[:, -1].sum(0)  # (outputs,)
    found = [torch.autograd.grad(value, inputs, retain_graph=True)[0][..., 0].mean(0).flip(0) for value in last]
    return torch.stack(found)


def peaks(kernels: np.ndarray) -> list[bool]:
    """For each output j: is its kernel (8, L) largest where it should be, at k = j L/8?"""
    step = kernels.shape[1] // len(kernels)
    return [bool(abs(row).argmax() == j * step) for j, row in enumerate(kernels)]


TABLE = load("dlr/kernels", by_setting(measure))
