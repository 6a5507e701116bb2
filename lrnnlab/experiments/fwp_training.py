"""Training on strings of many lengths with an answer after every token, scored by whole strings: paper 003's tables.

As released with the paper (Irie, Csordas, Schmidhuber 2023): Adam with betas (0.9, 0.995), no clipping; the
mean cross-entropy over all labelled positions of a batch, which is padded to its longest string; batches are cut from a
pool of strings that is shuffled anew every epoch.  The loop is ``sequence_training.train_sequences``.

Bin0 is the window of sizes that the paper trains on, Bin1 the next.  Every so many steps a *look* scores the net on
test strings of both, and on *held-out* strings: of the largest fifth of Bin0's sizes, on which our budgets do not train.
Only the held-out strings end our training (``stop="held_out"``); the paper's ends, and is selected, by the test strings
(``stop="test"``).  Every run is scored in three ways, so that both can be read:

==================  ===================================================================================================
``last``            the weights at the end
``by_validation``   the look with the least cross-entropy on the held-out strings
``by_test``         the look with the best mean of the two test bins: the paper's choice, made on test data
==================  ===================================================================================================

A score is the share of strings with *all* positions right (paper, Sec. 4.1).

Letters: N strings, B batch, T time, C classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.automata import NO_LABEL
from lrnnlab.experiments.sequence_training import Trained, settled, train_sequences
from lrnnlab.models import SequenceModel, build
from lrnnlab.steady import stream
from lrnnlab.tasks import Batch, PositiveTask, blind_levels, whole_string_accuracy
from lrnnlab.tasks.base import answered

STOPS = ("held_out", "test")
HELD_OUT = 0.8  # of Bin0's largest size: larger strings are not trained on
SCORED_AT_ONCE = 1 << 15  # tokens
PLAIN = ("batch", "rate", "schedule", "watch_every", "stop", "patience", "sure")  # options of train in a setting
SCORES = ("last", "by_validation", "by_test")


def take(strings: Batch, which: Tensor) -> Batch:
    """The strings of an index (B,), cut to the longest of them.

    >>> both = Batch(torch.tensor([[0, 1, 1], [1, 0, 0]]), torch.tensor([[0, 1, 1], [1, -1, -1]]),
    ...              torch.tensor([[True, True, True], [True, False, False]]))
    >>> take(both, torch.tensor([1])).tokens.tolist()
    [[1]]
    """
    longest = int(strings.mask[which].any(0).sum())
    return Batch(*(part[which, :longest] for part in (strings.tokens, strings.targets, strings.mask)))


def batches(pool: Batch, size: int, generator: torch.Generator) -> Iterator[Batch]:
    """Endless batches of ``size`` strings (an epoch's last may be smaller); an epoch has each string once.

    >>> labels = torch.arange(5).view(5, 1)
    >>> pool = Batch(torch.zeros_like(labels), labels, labels >= 0)
    >>> epoch = list(islice(batches(pool, 2, torch.Generator().manual_seed(0)), 3))
    >>> [len(part.tokens) for part in epoch], sorted(int(label) for part in epoch for label in part.targets)
    ([2, 2, 1], [0, 1, 2, 3, 4])
    """
    while True:
        for index in torch.randperm(len(pool.tokens), generator=generator).split(size):
            yield take(pool, index)


@torch.no_grad()
def answers(net: nn.Module, strings: Batch) -> tuple[Tensor, float]:
    """The classes (N,T) that ``net`` answers with, and its mean cross-entropy over the labelled positions, in nats."""
    found, loss = torch.full_like(strings.targets, NO_LABEL), 0.0
    for index in torch.arange(len(strings.tokens)).split(max(1, SCORED_AT_ONCE // strings.tokens.shape[1])):
        part = take(strings, index)
        logits = net(part.tokens)
        found[index, : part.tokens.shape[1]] = answered(logits)
        loss += _cross_entropy(logits, part, "sum").item()
    return found, loss / int(strings.mask.sum())


def _cross_entropy(logits: Tensor, strings: Batch, reduction: str = "mean") -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), strings.targets.flatten(), ignore_index=NO_LABEL, reduction=reduction)


def train(
    net: nn.Module,
    pools: Sequence[tuple[int, Batch]],
    *,
    batch: int,
    rate: float,
    generator: torch.Generator,
    watch: Callable[[nn.Module, int], dict],
    watch_every: int,
    stop: str = "held_out",
    patience: int = 1,
    sure: float = 1e-2,
    schedule: str = "constant",
    progress: bool = False,
) -> Trained:
    """Train ``net``; it ends with its last weights, in evaluation mode.

    Parameters
    ----------
    pools : (steps, strings), one stage after the other: so many batches of these strings.
    rate, schedule : of Adam; ``"constant"`` as released, or ``"cosine"``, falling to 0 over all steps.
    watch, watch_every : ``watch(net, step) -> dict`` before the first step, every so many steps and after the last,
        without gradients; its ``"validation"`` (higher is better) says which weights are ``best``.
    stop, patience, sure : training ends as soon as ``patience`` looks in a row, all in the last stage, say so: with
        ``"held_out"`` those whose ``"held_out"`` is 1 and whose ``"validation"`` is above minus ``sure`` (nats a
        position: a net that knows its answers), with ``"test"`` those whose ``"test"`` is 1.

    ``ValueError`` for steps, ``watch_every`` or ``patience`` below 1, or another ``stop`` or ``schedule``.

    >>> one = Batch(torch.tensor([[0, 1]]), torch.tensor([[1, 0]]), torch.ones(1, 2, dtype=torch.bool))
    >>> net = nn.Sequential(nn.Embedding(2, 4), nn.Linear(4, 2))
    >>> def watch(net, step):
    ...     found, loss = answers(net, one)
    ...     return {"validation": -loss, "held_out": whole_string_accuracy(found, one)}
    >>> made = train(net, [(500, one)], batch=1, rate=0.1, generator=torch.Generator().manual_seed(0), watch=watch,
    ...              watch_every=10)
    >>> made.steps < 500, made.watched[-1]["held_out"]
    (True, 1.0)
    """
    if not pools or min(watch_every, patience, *(steps for steps, _ in pools)) < 1:
        raise ValueError("training needs stages of at least 1 step, watch_every and patience at least 1, got stages of "
                         f"{[steps for steps, _ in pools]}, watch_every={watch_every}, patience={patience}")  # fmt: skip
    if stop not in STOPS:
        raise ValueError(f"stop is one of {', '.join(STOPS)}, got {stop!r}")
    drawn = ((strings.tokens, strings) for steps, pool in pools
             for strings in islice(batches(pool, batch, generator), steps))  # fmt: skip
    total, last = sum(steps for steps, _ in pools), pools[-1][0]

    def right(look: dict) -> bool:
        return look[stop] == 1 and (stop == "test" or -look["validation"] < sure)

    return train_sequences(
        net, lambda _: next(drawn), _cross_entropy, steps=total, rate=rate, betas=(0.9, 0.995), epsilon=1e-9,
        schedule=schedule, watch=watch, watch_every=watch_every, progress=progress,
        generator=generator.clone_state(),  # what dropout draws must not change the batches
        until=lambda made: settled(made, right, patience, since=total - last),
    )  # fmt: skip


def held_out_window(task: PositiveTask) -> tuple[int, int]:
    """The sizes that are held out of Bin0: its largest fifth.

    >>> from lrnnlab.tasks import COUNTER_TASKS
    >>> held_out_window(COUNTER_TASKS["dyck_1"]())
    (41, 50)
    """
    most = task.bin(0)[1]
    return int(HELD_OUT * most) + 1, most


def strings_for(task: PositiveTask, tests: int, seed: int) -> dict[str, Batch]:
    """``bin0``, ``bin1`` and ``held_out``: ``tests`` distinct strings of each, or all where there are fewer."""
    windows = {"bin0": task.bin(0), "bin1": task.bin(1), "held_out": held_out_window(task)}
    return {name: task.batch(task.test_strings(tests, window, stream(seed, f"fwp/{name}")))
            for name, window in windows.items()}  # fmt: skip


def build_net(task: PositiveTask, setting: dict, seed: int) -> SequenceModel:
    """The untrained net of a setting; torch's own generator is left as it was."""
    return build(setting["model"], vocab_size=task.vocab_size, classes=task.classes, seed=seed, **setting["options"])


def fit(
    task: PositiveTask, setting: dict, seed: int, looked_at: dict[str, Batch] | None = None, progress: bool = False
) -> Trained:
    """Train the net of ``setting``, what a live cell calls; its looks (``watched``) have all that the scores need.

    ``setting`` has ``model`` and ``options``, ``pool`` and ``tests`` (how many strings), ``stages``: (steps, largest
    size) one after the other, and those options of :func:`train` that are plain numbers and names.

    >>> from lrnnlab.experiments import fwp_table1
    >>> from lrnnlab.tasks import COUNTER_TASKS
    >>> tiny = {**fwp_table1.setting("lstm", "aa", "live"), "stages": [(2, 10)], "pool": 20, "tests": 5}
    >>> fit(COUNTER_TASKS["aa"](), tiny, seed=0).steps
    2
    """
    looked_at = looked_at or strings_for(task, setting["tests"], seed)
    least, _ = task.bin(0)
    generator = stream(seed, "fwp/train")
    pools = [(steps, task.batch(task.strings(setting["pool"], (least, most), generator)))
             for steps, most in setting["stages"]]  # fmt: skip

    def watch(net: nn.Module, step: int) -> dict:
        found = {name: answers(net, strings) for name, strings in looked_at.items()}
        scores = {name: whole_string_accuracy(classes, looked_at[name]) for name, (classes, _) in found.items()}
        return {"validation": -found["held_out"][1], **scores, "test": (scores["bin0"] + scores["bin1"]) / 2}

    return train(build_net(task, setting, seed), pools, generator=generator, watch=watch, progress=progress,
                 **{name: setting[name] for name in PLAIN if name in setting})  # fmt: skip


def measure(task: PositiveTask, setting: dict, seed: int) -> tuple[Trained, dict]:
    """Train and score: what came out of it, and the parts of a record, ``metrics`` and ``curve``.

    ``metrics`` has the three scores of the module's head, each with ``bin0``, ``bin1`` and ``step``; ``symbols``, the
    share of single positions of Bin1 that the last weights answer rightly; ``steps``, ``finished``; how many strings
    each bin was scored on; and ``levels``, what a guesser has on Bin1.  ``curve``: at each look the step, the held-out
    cross-entropy (negative), and the whole strings right of held_out, Bin0 and Bin1.
    """
    looked_at = strings_for(task, setting["tests"], seed)
    made = fit(task, setting, seed, looked_at)
    bin1, looks = looked_at["bin1"], made.watched
    chosen = {
        "last": looks[-1], "by_validation": next(look for look in looks if look["step"] == made.best_step),
        "by_test": max(looks, key=lambda look: look["test"]),
    }  # fmt: skip
    metrics = {
        **{name: {part: look[part] for part in ("bin0", "bin1", "step")} for name, look in chosen.items()},
        "symbols": float((answers(made.net, bin1)[0] == bin1.targets)[bin1.mask].double().mean()),
        "steps": made.steps, "finished": made.finished, "levels": blind_levels(bin1, task.classes),
        "strings": {name: len(strings.tokens) for name, strings in looked_at.items()},
        "parameters": sum(parameter.numel() for parameter in made.net.parameters()),
    }  # fmt: skip
    curve = [[look["step"], *(round(look[name], 4) for name in ("validation", "held_out", "bin0", "bin1"))]
             for look in looks]  # fmt: skip
    return made, {"metrics": metrics, "curve": curve, "cpu_seconds": round(made.cpu_seconds, 3)}
