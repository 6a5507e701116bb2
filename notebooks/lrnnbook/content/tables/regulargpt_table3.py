"""Table 3 of paper 002 (Chi, Fan, Rudnicky, Ramadge 2023, Sec. 6) on a stand-in: language models on longer texts.

Letters: B batch, T time, V characters, D width, C chunk, K thickness, L depths.
"""

import copy
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnbook.content.tables import texts
from lrnnbook.content.tables.regulargpt_fig4 import cumulative_gradient
from lrnnbook.content.tables.table import by_setting, load, options, parameters
from lrnnlab.models.layers.attention import RegularGPT, RelativeTransformer, depth_count
from lrnnlab.training import rng, train
from lrnnlab.training.evaluation import PAIRS
from lrnnlab.training.loop import with_seed


def build_net(setting: dict, seed: int) -> nn.Module:
    """The untrained model; torch's own generator is left as it was."""
    make = {"regulargpt": RegularGPT, "transformer": RelativeTransformer}[setting["kind"]]
    V = len(texts.ALPHABET)
    sizes = {name: setting[name] for name in ("width", "heads")}
    return with_seed(partial(make, V, V, **sizes, **setting["options"]), seed)


def measure(setting: dict, seed: int, **how: Any) -> dict:
    """Train and test: ``metrics``, ``gradient`` (Fig. 4b: of the last character of 256), ``losses``."""
    seen, test = texts.split()
    draw_batch = partial(texts.draw, seen, setting["batch"], setting["length"])
    net: Any = build_net(setting, seed)
    made = train(
        net, draw_batch, every_character, generator=rng(seed, "table3/train"), **how,
        **options(setting, ("steps", "rate", "warmup")),
    )  # fmt: skip
    ask = partial(texts.before, test, setting["targets"], longest=max(setting["lengths"]))
    losses = {length: last_losses(net, *ask(length)) for length in setting["lengths"]}
    error = float(losses[setting["length"]].std()) / setting["targets"] ** 0.5
    metrics = {"perplexity": _perplexities(losses), "error": round(error, 3), "unigram": round(unigram(seen, ask(1)[1]), 3),
               "parameters": parameters(net), "steps": made.steps}  # fmt: skip
    if isinstance(net, RegularGPT):
        depths = depth_count(setting["length"], net.chunk)
        at_two = {length: last_losses(net, *ask(length), depths) for length in setting["lengths"]}
        metrics |= {"trained_depth": _perplexities(at_two), "depths": depths,
                    "reach": reach(net.chunk, setting["options"]["thickness"], depths)}  # fmt: skip
    share = cumulative_gradient(net, ask(min(256, max(setting["lengths"])))[0][:8])
    text = {"name": texts.NAME, "characters": len(seen) + len(test), "digest": texts.digest()}
    return {"metrics": metrics, "gradient": share.round(5).tolist(), "text": text, "losses": made.losses,
            "cpu_seconds": round(made.cpu_seconds, 2)}  # fmt: skip


def every_character(logits: Tensor, following: Tensor) -> Tensor:
    """The mean cross-entropy of logits (B,T,V) and the characters that follow, (B,T)."""
    return F.cross_entropy(logits.flatten(0, 1), following.flatten())


def reach(chunk: int, thickness: int, depths: int) -> int:
    """How many characters before the last one L depths see: K (C^L - 1), each of K layers looking (C - 1) C^l back."""
    return thickness * (chunk**depths - 1)


@torch.no_grad()
def last_losses(net: Any, tokens: Tensor, targets: Tensor, depths: int | None = None) -> Tensor:
    """Minus the log of the probability of targets (B,) after strings (B,T), in nats, (B,)."""
    if isinstance(net, RegularGPT):
        net = as_tree(net)
    found = []
    for some, wanted in zip(*(part.split(max(1, PAIRS // tokens.shape[1] ** 2)) for part in (tokens, targets))):
        if depths is None:
            logits = net(some)
            logits = logits[:, -1] if logits.ndim == 3 else logits
        else:
            logits = net.head(net.norm(net.hidden(some)[:depths][-1][:, -1]))
        found.append(F.cross_entropy(logits, wanted, reduction="none"))
    return torch.cat(found)


def as_tree(net: RegularGPT) -> RegularGPT:
    """The same weights, and padding, in the form of a tree."""
    twin = copy.copy(net)
    twin.form = "tree"
    return twin


def unigram(train: Tensor, targets: Tensor) -> float:
    """The perplexity of targets (B,) for a model that knows how frequent characters are, and nothing else."""
    V = len(texts.ALPHABET)
    shares = (train.bincount(minlength=V) + 1) / (len(train) + V)
    return float(shares[targets].log().mean().neg().exp())


def _perplexities(losses: dict[int, Tensor]) -> dict[str, float]:
    return {str(length): float(f"{loss.mean().exp():.4g}") for length, loss in losses.items()}


TABLE = load("regulargpt/table3", by_setting(measure))  # without the paper's budget, which wants OpenWebText2
