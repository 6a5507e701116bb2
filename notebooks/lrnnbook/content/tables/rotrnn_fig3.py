"""Figure 3 of paper 001 at a small size: the norm of the state, layer by layer, while a network learns ListOps.

Letters: B batch, T time, D width, L layers, K modes, h heads; u input of a layer, x its state, l its eigenvalues.
"""

import copy
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from lrnnbook.content.tables.nets import stack
from lrnnbook.content.tables.records import significant
from lrnnbook.content.tables.table import by_setting, load, trained_by
from lrnnlab.models import Net
from lrnnlab.models.block import PAPER_001
from lrnnlab.models.layers.modes import DenseModes
from lrnnlab.tasks.long_range.listops import ListOps
from lrnnlab.training import Trained, rng
from lrnnlab.training.evaluation import share_right
from lrnnlab.training.loop import with_seed


def expressions(count: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """ListOps as (tokens (B,T), lengths (B,), values (B,))."""
    batch = ListOps().sample(count, length, generator)
    last = batch.mask.int().argmax(1, keepdim=True)
    return batch.tokens, last.squeeze(1) + 1, batch.targets.gather(1, last).squeeze(1)


def build_net(setting: dict, seed: int) -> Net:
    """The untrained network; torch's own generator is left as it was."""
    around = {**PAPER_001, "gate": setting["gate"]}
    reads: dict[str, Any] = {"vocab_size": ListOps.vocab_size, "encoder": "linear", "pool": "mean"}
    return with_seed(lambda: stack(setting, ListOps.classes, around, **reads), seed)


def measure(setting: dict, seed: int, **how: Any) -> dict:
    """Train (not if there are 0 steps), watch the norms, and follow them along the time at the end."""
    net, length, strings = build_net(setting, seed), setting["length"], setting["strings"]
    probe = expressions(strings, length, rng(seed, "fig3/probe"))

    def watch(net: Any, step: int) -> dict:
        return {**norms(net, probe), "validation": share_right(net, [probe])}

    made = Trained(net.eval(), watched=[{"step": 0, **watch(net, 0)}]) if not setting["steps"] else trained_by(
        setting, net, lambda generator: expressions(setting["batch"], length, generator), F.cross_entropy,
        rng(seed, "fig3/train"), watch, **how,
    )  # fmt: skip
    mask = torch.arange(length) < probe[1].unsqueeze(1)
    along = [along_time(mixer, u, mask, rng(seed, "fig3/white")) for mixer, u in layer_inputs(net, probe)]
    walked = list(zip(*(seen["norm"] for seen in made.watched)))  # for each layer, its norm at every look
    metrics = {
        "accuracy": made.watched[-1]["validation"], "majority": probe[2].bincount().max().item() / strings,
        "finished": made.finished, "loss": made.losses[-1][1] if made.losses else None,
        "norm_start": [layer[0] for layer in walked], "norm_end": [layer[-1] for layer in walked],
        **{f"norm_{what}": [None if None in layer else of(layer) for layer in walked]
           for what, of in (("least", min), ("most", max))},
        "real_over_formula": [_share(time, "real") for time in along],
        "white_over_formula": [_share(time, "white") for time in along],
        **{name: [time.pop(name) for time in along] for name in ("drive", "lag1")},
    }  # fmt: skip
    training = {name: [seen[name] for seen in made.watched] for name in ("step", "norm", "square", "validation")}
    return {"metrics": metrics, "training": training, "time": along, "cpu_seconds": round(made.cpu_seconds, 3)}


@torch.no_grad()
def layer_inputs(net: Net, batch: tuple) -> list[tuple[DenseModes, Tensor]]:
    """Each block's layer and its inputs u (B,T,D) of a batch, batch norm as in training; ``net`` stays as it is."""
    twin, found = copy.deepcopy(net).train(), []
    block: Any
    for block in twin.blocks:
        block.mixer.register_forward_hook(lambda mixer, given, _: found.append((mixer, given[0])))
    twin(*batch[:-1])
    return found


def squares(mixer: DenseModes, u: Tensor) -> Tensor:
    """|x_t|^2, (B,T), of inputs u (B,T,D); of a complex state real and imaginary parts both count."""
    return mixer.hidden(u).abs().square().sum(-1)


@torch.no_grad()
def norms(net: Net, batch: tuple) -> dict[str, list[float | None]]:
    """``norm`` and ``square``: by layer, the mean of |x_t| and of |x_t|^2 over strings and true positions."""
    found = [squares(mixer, u) for mixer, u in layer_inputs(net, batch)]
    mask = torch.arange(batch[0].shape[1]) < batch[1].unsqueeze(1)
    return {"norm": [significant(s.sqrt()[mask].mean()) for s in found], "square": [significant(s[mask].mean()) for s in found]}


@torch.no_grad()
def expected_squares(mixer: DenseModes, T: int) -> Tensor:
    """E|x_t|^2 of white input (mean 0, covariance I, uncorrelated in time) from x_0 = 0, t = 1 ... T; (T + 1,) float64."""
    system = mixer.system()
    power = system.B.double().square().sum(1).view(-1, 2).sum(1)  # (K,)
    decay = 2 * system.log.real.double()
    t = torch.tensor([*range(1, T + 1), math.inf], dtype=torch.float64)
    shares = torch.expm1(decay.unsqueeze(1) * t) / torch.expm1(decay).unsqueeze(1)  # (K, T + 1)
    return (power.unsqueeze(1) * shares).sum(0)


@torch.no_grad()
def along_time(mixer: DenseModes, u: Tensor, mask: Tensor, generator: torch.Generator) -> dict:
    """The mean of |x_t|^2 for t = 1 ... T: of inputs u (B,T,D) where the mask (B,T) is true, of as many white ones, and
    by the formula, with its limit; ``strings``, how many have a position t; and ``drive`` and ``lag1``."""
    expected = expected_squares(mixer, u.shape[1])
    white = torch.randn(u.shape, generator=generator)
    at, wide = mask.double(), u.double()
    both = at[:, 1:]  # the positions whose predecessor is a true one too
    power = (wide.square().sum(-1) * at).sum() / at.sum()
    lag1 = ((wide[:, 1:] * wide[:, :-1]).sum(-1) * both).sum() / both.sum() / power
    system = mixer.system()
    met = system.drive(u)[mask].abs().double().square().mean(0) / -torch.expm1(2 * system.log.real.double())  # (K,)
    real = (squares(mixer, u).double() * at).sum(0) / at.sum(0)
    curves = {"real": real, "white": squares(mixer, white).double().mean(0), "formula": expected[:-1]}
    return {**{name: [significant(v) for v in curve] for name, curve in curves.items()},
            "strings": mask.sum(0).tolist(), "limit": significant(expected[-1]),
            "drive": significant(met.sum() / expected[-1]), "lag1": significant(lag1)}  # fmt: skip


def _share(time: dict, name: str) -> float | None:
    """A curve's mean over that of the formula, each position as often as there are strings."""
    at = [(count, t) for t, count in enumerate(time["strings"]) if count]
    if any(time[curve][t] is None for curve in (name, "formula") for _, t in at):
        return None
    return significant(sum(n * time[name][t] for n, t in at) / sum(n * time["formula"][t] for n, t in at))


def apart(norms: Sequence[float | None]) -> float:
    """The largest over the least of the layers' norms: 1 where they do not differ, NaN where one is no number."""
    return math.nan if None in norms else max(norms) / min(norms)


TABLE = load("rotrnn/fig3", by_setting(measure))
