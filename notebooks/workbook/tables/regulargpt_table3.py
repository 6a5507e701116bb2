"""Table 3 of paper 002 (Chi, Fan, Rudnicky, Ramadge 2023, Sec. 6) on a stand-in: language models on longer texts.

The paper trains on 512 words of OpenWebText2 and measures the perplexity of the last one on up to 8,192.  RegularGPT
is good up to C^2 words, the reach of the two depths that it was trained with, and then explodes (at C = 32 from 32 to
792).  Here: characters of Python's help topics (``character_text``), 32 of them in training, and C such that C^2 is as
many times the trained length as there; KERPLE, T5 and ALiBi have 4 layers.  Blocks are those of the released
code (post-norm); ``c8k2_gpt2`` has those of the text.

``c8k1`` is there to tell two explanations apart.  The paper says that the model "fails to recursively model more
than" C^2 words.  Two things happen beyond: the window of two depths ends, and, because the depth is ceil(log_C T),
the layers run a third time, on their own outputs, which they were never trained for.  With K layers a depth the
window is not C^2: each of them looks C - 1 chunks back, so L depths see K (C^L - 1) characters before the last
(``reach``), and for C = 8, K = 2 a text of 127 is all in sight of two depths.  So every text is read twice:
``perplexity`` with the depth that the model takes by itself, ``trained_depth`` with the two depths of training.

The last characters that are asked for are the same at every length.  All numbers are of the last weights.

Letters: B batch, T time, V characters, D width, C chunk, K thickness, L depths.
"""

from __future__ import annotations

import copy
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.models.chunk_masks import depth_count
from lrnnlab.models.regular_gpt import RegularGPT
from lrnnlab.models.relative_transformer import RelativeTransformer
from lrnnlab.training.determinism import rng
from lrnnlab.training.evaluation import PAIRS
from lrnnlab.training.loop import train, with_seed
from workbook.tables import character_text
from workbook.tables.analysis import cumulative_gradient
from workbook.tables.table import by_setting, load


def build_net(setting: dict, seed: int) -> nn.Module:
    """The untrained model; torch's own generator is left as it was."""
    make = {"regulargpt": RegularGPT, "transformer": RelativeTransformer}[setting["kind"]]
    V = len(character_text.ALPHABET)
    sizes = {name: setting[name] for name in ("width", "heads")}
    return with_seed(partial(make, V, V, **sizes, **setting["options"]), seed)


def measure(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> dict:
    """Train and test: ``metrics``, ``gradient`` (Fig. 4b: of the last character of 256), ``losses``.

    >>> tiny = {**TABLE.setting("c8k2", "text", "live"), "steps": 1, "warmup": 0, "length": 20, "lengths": [20, 300]}
    >>> [length for length in measure(tiny, seed=0)["metrics"]["perplexity"]]
    ['20', '300']
    """
    seen, test = character_text.split()
    draw_batch = partial(character_text.draw, seen, setting["batch"], setting["length"])
    net: Any = build_net(setting, seed)
    made = train(
        net, draw_batch, every_character, generator=rng(seed, "table3/train"), progress=progress, checkpoint=checkpoint,
        **{name: setting[name] for name in ("steps", "rate", "warmup")},
    )  # fmt: skip
    ask = partial(character_text.before, test, setting["targets"], longest=max(setting["lengths"]))
    losses = {length: last_losses(net, *ask(length)) for length in setting["lengths"]}
    error = float(losses[setting["length"]].std()) / setting["targets"] ** 0.5
    metrics = {"perplexity": _perplexities(losses), "error": round(error, 3), "unigram": round(unigram(seen, ask(1)[1]), 3),
               "parameters": sum(p.numel() for p in net.parameters()), "steps": made.steps}  # fmt: skip
    if isinstance(net, RegularGPT):
        depths = depth_count(setting["length"], net.chunk)
        at_two = {length: last_losses(net, *ask(length), depths) for length in setting["lengths"]}
        metrics |= {"trained_depth": _perplexities(at_two), "depths": depths,
                    "reach": reach(net.chunk, setting["options"]["thickness"], depths)}  # fmt: skip
    share = cumulative_gradient(net, ask(min(256, max(setting["lengths"])))[0][:8])
    text = {"name": character_text.NAME, "characters": len(seen) + len(test), "digest": character_text.digest()}
    return {"metrics": metrics, "gradient": share.round(5).tolist(), "text": text, "losses": made.losses,
            "cpu_seconds": round(made.cpu_seconds, 2)}  # fmt: skip


def every_character(logits: Tensor, following: Tensor) -> Tensor:
    """The mean cross-entropy of logits (B,T,V) and the characters that follow, (B,T)."""
    return F.cross_entropy(logits.flatten(0, 1), following.flatten())


def reach(chunk: int, thickness: int, depths: int) -> int:
    """How many characters before the last one L depths see: K (C^L - 1), each of K layers looking (C - 1) C^l back.

    >>> reach(8, 1, 2), reach(8, 2, 2)
    (63, 126)
    """
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
    V = len(character_text.ALPHABET)
    shares = (train.bincount(minlength=V) + 1) / (len(train) + V)
    return float(shares[targets].log().mean().neg().exp())


def _perplexities(losses: dict[int, Tensor]) -> dict[str, float]:
    return {str(length): float(f"{loss.mean().exp():.4g}") for length, loss in losses.items()}


TABLE = load("regulargpt/table3", by_setting(measure))  # without the paper's budget, which wants OpenWebText2
