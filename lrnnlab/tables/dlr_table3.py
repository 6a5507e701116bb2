"""Table 3 of paper 004: values of all sub-expressions of a list, and which pixels lie on which path, at short lengths.

ListOps-SubTrees (``listops-T``, T the longest expression in tokens) asks for the value at every closing bracket.  The
score is the share of right ones; it is also told apart by the height of the node and by its operator, beside the share
of the commonest value there.  Pathfinder-Segmentation (``segmentation-M``, pictures of M x M) asks for the class of
every pixel: 0, 1 on a main path, 2 on one with a circle at both ends.  Each class weighs 1 / its count in the batch, in
the loss; the scores are, as in the paper's code, macro F1 over the classes present and macro accuracy (scikit-learn's
"balanced": the mean over classes of the share right), each the mean over batches of 16.

The paper has T = 8192 and M of 128 to 512, 96,000 expressions and 80,000 pictures, five or six layers of width 128 (at
M = 512 twelve of width 64), and 114,000 to 300,000 steps (budget ``paper``).  Here T is 128 to 512 and M is 32 or 64.
Expressions of so few tokens are drawn with other depths and arguments, so that one in a few tries is kept; shares of
heights are near the paper's.

=================  =================================================================================================
row                here
=================  =================================================================================================
dlr                N modes, in both directions for pictures; a GLU stands behind the mixer, as in the paper
dss                the same with N modes of its own step size for each channel
local_attention    4 heads of 16; chunks of T/8 tokens as in the paper (1024 of 8192), of pictures a sixteenth of the
                   pixels (1024 of 128 x 128 in the released commands, 4096 in the text); no GLU
=================  =================================================================================================

ListOps has four blocks with LayerNorm behind the sum and a cosine with a warm-up, as in the paper; Segmentation four
with LayerNorm before it, in 2,000 (dlr; 600 at 64 x 64), 1,000 (dss) and 400 steps (local_attention), by what a step
costs: compare the curves, which have the score every tenth of the steps, at equal steps.  The last weights count.
Seeds change weights and batches, not the data.  ``listops-128-longer`` and ``segmentation-32-longer`` have more steps
and items to learn from (:data:`LONGER`), ``segmentation-32-slower`` and ``...-64-slower`` lower rates, too: how far a core
gets in half an hour.

Letters: B batch, T time, M side of a picture, D width, N state size.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.lib.stride_tricks import sliding_window_view
from sklearn.metrics import confusion_matrix, f1_score, recall_score
from sklearn.tree import DecisionTreeClassifier
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.automata import NO_LABEL
from lrnnlab.models.attention import LocalAttention
from lrnnlab.models.dlr import DLR
from lrnnlab.models.dss import DSS
from lrnnlab.models.net import Net, blocks
from lrnnlab.tables.dlr_table4 import GATES
from lrnnlab.tables.table import Table, by_setting, gpu_if_wanted, there
from lrnnlab.tables.text import by_cell, in_order, lines, spread, who
from lrnnlab.tasks.base import answered, python_random
from lrnnlab.tasks.listops import OPERATORS, ListOpsSubTrees, nodes
from lrnnlab.tasks.pathfinder import PathfinderSegmentation
from lrnnlab.training.loop import train, with_seed
from lrnnlab.training.steady import stream

ROWS = ("dlr", "dss", "local_attention")
TASKS = ("listops-128", "listops-256", "listops-512", "segmentation-32", "segmentation-64")
FULL = ("listops-8192", "segmentation-128", "segmentation-256", "segmentation-512")
MIXERS = {"dlr": DLR, "dss": DSS, "local_attention": LocalAttention}
_SLOWER = {"rate": 3e-3, "recurrent_rate": 1.5e-3}
LONGER: dict[str, tuple[int, int, dict[str, float]]] = {  # steps, items to learn from, rates: how far a core gets
    "listops-128-longer": (18_000, 100_000, {}), "segmentation-32-longer": (24_000, 20_000, {}),
    "segmentation-32-slower": (14_000, 20_000, _SLOWER), "segmentation-64-slower": (5000, 10_000, _SLOWER),
}  # fmt: skip
SPLITS = ("train", "validation", "test")
SHOWN = 3  # test pictures whose predicted classes are kept in a record
TREES = {  # by T: the most levels and arguments, and the fewest tokens as a share of T
    128: (8, 6, 0.5), 256: (10, 9, 0.5), 512: (10, 9, 0.5), 8192: (15, 9, 7000 / 8192),
}  # fmt: skip
REACH = {32: 256, 64: 512, 128: 8192, 256: 32_768, 512: 32_768}  # by M: lags of a kernel, in pixels
BATCH = 16  # pictures that are scored at a time, as in the paper at M = 128
PAPER = pd.DataFrame(
    {"LocalAttention": ("94.0", "95.2 / 98.4", "", ""), "DSS": ("83.8", "94.4 / 97.2", "89.4 / 96.2", "60.4 / 79.3"),
     "DLR": ("85.7", "96.8 / 97.7", "94.0 / 96.3", "76.3 / 92.8")},
    index=["ListOps-SubTrees, accuracy", *(f"Segmentation {M} x {M}, macro F1 / accuracy" for M in (128, 256, 512))],
)  # fmt: skip
Data = tuple[Tensor, Tensor]


def kind_and_size(task: str) -> tuple[str, int]:
    """What a task's name says.

    >>> kind_and_size("segmentation-32"), kind_and_size("listops-128-longer")
    (('segmentation', 32), ('listops', 128))
    """
    kind, size = task.split("-")[:2]
    return kind, int(size)


def setting(row: str, task: str, budget: str) -> dict:
    """One row on one task; live 3 steps on a handful of items, to see that it runs.

    >>> setting("dlr", "listops-128", "desk")["block"]["place"], setting("dlr", "segmentation-256", "paper")["layers"]
    ('post', 6)
    """
    kind, size = kind_and_size(task)
    if budget == "paper":
        there(task, FULL, "task at the budget paper:", "dlr/table3")  # and none of the desk's
        found = paper_setting(row, kind, size)
    else:
        found = {**desk_setting(row, kind, size), "device": "cpu"}
        if task in LONGER:
            steps, items, rates = LONGER[task]
            found |= {"steps": steps, "items": {**found["items"], "train": items}, **rates}
        if budget == "live":
            found |= {"steps": 3, "warmup": 0, "looks": 1, "batch": 4, "items": {"train": 8, "validation": 4, "test": 8}}
    T = size if kind == "listops" else size**2
    options: dict[str, Any] = {"state": found.pop("state"), "dt": found.pop("dt")}
    if row == "local_attention":
        options = {"chunk": T // 8 if kind == "listops" else T // 16, "head_size": found["width"] // 4}
    if kind == "segmentation":
        options |= {"causal": False} if row == "local_attention" else {"bidirectional": True, "max_kernel": REACH[size]}
    block = {**GATES["attention" if row == "local_attention" else "dlr"], "norm": "layer",
             "place": "post" if kind == "listops" else "pre"}  # fmt: skip
    return {"kind": kind, "size": size, "mixer": row, "options": options, "block": block, **found}


def desk_setting(row: str, kind: str, size: int) -> dict:
    """Sizes, rates and steps on two cores, chosen with seed 90, which no record has."""
    common = {"width": 64, "layers": 4, "looks": 10, "decay": 0.01, "rate": 8e-3, "recurrent_rate": 4e-3}
    if kind == "listops":
        return {**common, "state": 64, "dt": (1e-3, 0.5), "batch": 32, "warmup": 60,
                "steps": {128: 1500, 256: 600, 512: 400}[size],
                "items": {"train": 20_000, "validation": 200, "test": 1000}}  # fmt: skip
    batch, pictures = {32: (8, 4000), 64: (4, 2000)}[size]
    steps = {"dlr": 2000 if size == 32 else 600, "dss": 1000, "local_attention": 400}[row]
    return {**common, "state": 128, "dt": (1e-3, 0.2), "batch": batch, "steps": steps, "warmup": 40,
            "items": {"train": pictures, "validation": 32, "test": 160}}  # fmt: skip


def paper_setting(row: str, kind: str, size: int) -> dict:
    """The released settings: sizes, rates, steps; the warm-up of Segmentation is ours."""
    common = {"device": "cuda", "looks": 50, "decay": 0.01 if kind == "listops" else 0.0}
    if kind == "listops":
        rate = 8e-4 if row == "dlr" else 1e-3
        return {**common, "width": 128, "layers": 6, "state": 1024, "dt": (1e-4, 0.01 if row == "dss" else 0.1),
                "batch": 32, "steps": 300_000, "warmup": 5000, "rate": rate, "recurrent_rate": rate,
                "items": {"train": 96_000, "validation": 2000, "test": 2000}}  # fmt: skip
    layers, width, state, dlr, dss, batch, steps = {
        128: (5, 128, 1024, 1e-4, 1e-3, 16, 150_000), 256: (6, 128, 1024, 5e-5, 5e-4, 18, 178_000),
        512: (12, 64, 2048, 1e-5, 5e-4, 14, 114_000),
    }[size]  # fmt: skip
    rate = {"dlr": dlr, "dss": dss}.get(row, 1e-3)
    return {**common, "width": width, "layers": layers, "state": state, "dt": (1e-4, 0.01 if row == "dss" else 0.1),
            "batch": batch, "steps": steps, "warmup": 5000, "rate": rate, "recurrent_rate": rate,
            "items": {"train": 80_000, "validation": 10_000, "test": 10_000}}  # fmt: skip


# Data and loss -------------------------------------------------------------------------------------------------------


def trees(T: int) -> ListOpsSubTrees:
    """ListOps-SubTrees as it is drawn for expressions of up to T tokens.

    >>> trees(8192).max_depth
    15
    """
    return ListOpsSubTrees(*TREES[T])


@lru_cache(maxsize=6)  # the runs of one process share their data
def data(kind: str, size: int, split: str, count: int) -> Data:
    """Inputs and targets of a split, the same for all seeds, in single bytes: tokens or brightness, and classes.

    >>> inputs, targets = data("segmentation", 32, "test", 2)
    >>> inputs.shape, inputs.dtype, sorted(set(targets.flatten().tolist()))
    (torch.Size([2, 1024]), torch.uint8, [0, 1, 2])
    """
    if kind == "segmentation":
        drawer = PathfinderSegmentation(size)
        pictures = [drawer.picture(SPLITS.index(split), number) for number in range(count)]
        bright = torch.stack([((inputs[:, 0] + 1) * 127.5).round().byte() for inputs, _ in pictures])
        return bright, torch.stack([targets.to(torch.int8) for _, targets in pictures])
    task, rng = trees(size), python_random(stream(0, f"table3/{split}"))
    drawn = task.expressions(rng, round(task.shortest * size), size)
    batch = task.batch([next(drawn) for _ in range(count)], size)
    return batch.inputs.byte(), batch.targets.to(torch.int8)


def as_batch(kind: str, items: Data, device: str = "cpu") -> tuple[Tensor, Tensor]:
    """What the net reads, and the targets: tokens (B,T), or numbers (B,T,1) in -1..1."""
    inputs, targets = (part.to(device) for part in items)
    return inputs.long() if kind == "listops" else inputs.unsqueeze(-1) / 127.5 - 1, targets.long()


def loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy at the places with a label, of ListOps.

    >>> loss(torch.zeros(1, 3, 10), torch.tensor([[-1, -1, 7]])).exp().round().item()
    10.0
    """
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=NO_LABEL)


def weighted_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy in which every class that the batch has weighs the same: a pixel weighs 1 / its class's count.

    >>> logits = torch.tensor([[[9.0, 0, 0]] * 3 + [[0.0, 0, 0]]])
    >>> round(weighted_loss(logits, torch.tensor([[0, 0, 0, 1]])).item(), 2)  # (0 of class 0 + ln 3 of class 1) / 2
    0.55
    """
    counts = targets.flatten().bincount(minlength=logits.shape[-1])
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), weight=1 / counts.clamp(min=1))


# Scores --------------------------------------------------------------------------------------------------------------


def by_node(tokens: Tensor, answers: Tensor) -> pd.DataFrame:
    """One line for every node of the expressions: height, operator, value, and whether the answer is right.

    Parameters
    ----------
    tokens, answers : Tensor
        (B,T), padded; what was answered at each place.

    Examples
    --------
    >>> task = trees(128)
    >>> tokens = task.read("[MAX 2 6 [MED [SM 3 1 6 ] 8 3 ] 4 5 ]")
    >>> by_node(tokens[None], torch.zeros(1, 15)).to_dict("list")
    {'height': [1, 2, 3], 'operator': ['SM', 'MED', 'MAX'], 'value': [0, 3, 6], 'right': [True, False, False]}
    """
    pad = ListOpsSubTrees.pad
    return pd.DataFrame([
        {"height": height, "operator": OPERATORS[operator - 10][1:], "value": value, "right": bool(row[place] == value)}
        for expression, row in zip(tokens, answers)
        for place, operator, height, value in nodes(expression[expression != pad].long())
    ])  # fmt: skip


def told_apart(found: pd.DataFrame, by: str) -> list[dict]:
    """Of each height or operator: how many nodes, the share right, and the share of the commonest value.

    >>> frame = pd.DataFrame({"height": [1, 1, 2], "value": [3, 3, 5], "right": [True, False, True]})
    >>> told_apart(frame, "height")[0]
    {'height': 1, 'nodes': 2, 'right': 0.5, 'majority': 1.0}
    """
    return [
        {by: name, "nodes": len(part), "right": round(float(part["right"].mean()), 4),
         "majority": round(float(part["value"].value_counts(normalize=True).iloc[0]), 4)}
        for name, part in found.groupby(by)
    ]  # fmt: skip


@lru_cache(maxsize=6)
def operator_levels(T: int, count: int) -> dict[int, float]:
    """By height: the share right of a guesser who knows a node's height and operator, and answers their commonest value.

    Of ``count`` expressions of the test split.  A score that is no higher says nothing of the values below the node.

    >>> levels = operator_levels(128, 300)
    >>> 0.2 < levels[1] < 0.3
    True
    """
    found = by_node(*data("listops", T, "test", count))
    right: Any = found.groupby(["height", "operator"])["value"].agg(lambda values: values.value_counts().iloc[0])
    return (right.groupby("height").sum() / found.groupby("height").size()).to_dict()


def of_batches(targets: np.ndarray, answers: np.ndarray, B: int = BATCH) -> dict:
    """Macro F1 and macro accuracy of each batch of B pictures, averaged over the batches; and the share of right pixels.

    >>> of_batches(np.array([[0, 0, 0, 1], [0, 2, 2, 1]]), np.array([[0, 0, 0, 0], [0, 2, 2, 1]]), 1)
    {'macro_f1': 0.7143, 'macro_accuracy': 0.75, 'pixels': 0.875}
    """
    cut = [(targets[k : k + B].ravel(), answers[k : k + B].ravel()) for k in range(0, len(targets), B)]
    found = {
        "macro_f1": fmean(f1_score(*pair, average="macro") for pair in cut),
        "macro_accuracy": fmean(recall_score(*pair, labels=np.unique(pair[0]), average="macro") for pair in cut),
        "pixels": float((targets == answers).mean()),
    }
    return {name: round(value, 4) for name, value in found.items()}


@lru_cache(maxsize=6)
def local_level(M: int, count: int, side: int = 3) -> float:
    """Macro F1 of one who sees, of every pixel, the ``side`` x ``side`` pixels around it: a decision tree.

    It is fitted to some 2 ** 18 pixels of training pictures, the classes weighing the same as in the nets' loss, and
    answers the first ``count`` test pictures.  A score that is no higher says nothing of paths.

    >>> 0.45 < local_level(32, 16, side=1) < local_level(32, 16) < 0.62
    True
    """
    tree = DecisionTreeClassifier(class_weight="balanced", min_samples_leaf=20, random_state=0)
    bright, targets = data("segmentation", M, "train", 2**18 // M**2)
    tree.fit(_around(bright, M, side), targets.numpy().ravel())
    bright, targets = data("segmentation", M, "test", count)
    return of_batches(targets.numpy(), tree.predict(_around(bright, M, side)).reshape(targets.shape))["macro_f1"]


def _around(bright: Tensor, M: int, side: int) -> np.ndarray:
    """(B * M * M, side * side) brightnesses; beyond the edge is paper."""
    padded = np.pad(bright.numpy().reshape(-1, M, M), ((0, 0), *[(side // 2, side // 2)] * 2))
    return sliding_window_view(padded, (side, side), (1, 2)).reshape(-1, side * side)


# Runs ----------------------------------------------------------------------------------------------------------------


def build_net(setting: dict, seed: int) -> Net:
    """The untrained network: an answer at every position.

    >>> build_net(setting("dss", "segmentation-32", "live"), 0)(torch.zeros(1, 9, 1)).shape
    torch.Size([1, 9, 3])
    """
    D, listops = setting["width"], setting["kind"] == "listops"
    reads: dict[str, Any] = {"vocab_size": ListOpsSubTrees.vocab_size} if listops else {"columns": 1}

    def make() -> Net:
        made = blocks(partial(MIXERS[setting["mixer"]], **setting["options"]), D, setting["layers"], **setting["block"])
        return Net(made, 10 if listops else 3, D, **reads, final_norm=setting["block"]["place"] == "pre")

    return with_seed(make, seed)


@torch.no_grad()
def answers(net: nn.Module, kind: str, items: Data, B: int, device: str = "cpu") -> Tensor:
    """The class with the greatest output at every place, (count, T); where that is NaN, none."""
    return torch.cat([answered(net(as_batch(kind, part, device)[0])).cpu()
                      for part in zip(*(part.split(B) for part in items))])  # fmt: skip


def measure(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> dict:
    """Train, then score the test split by the last weights; with the scores on the way, on a split of their own.

    >>> found = measure(setting("dlr", "listops-128", "live"), seed=0)
    >>> found["metrics"]["steps"], found["by_operator"][0]["operator"]
    (3, 'MAX')
    >>> len(measure(setting("dlr", "segmentation-32", "live"), seed=0)["predicted"][0])
    1024
    """
    kind, B, device = setting["kind"], setting["batch"], setting["device"]
    gpu_if_wanted(setting, f"dlr/table3, {kind} of {setting['size']} at the budget paper,")
    parts = {split: data(kind, setting["size"], split, count) for split, count in setting["items"].items()}
    inputs, targets = parts["train"]

    def draw_batch(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        chosen = torch.randint(len(inputs), (B,), generator=generator)
        return as_batch(kind, (inputs[chosen], targets[chosen]), device)

    def score(net: nn.Module, items: Data) -> dict:
        found = answers(net, kind, items, B, device)
        if kind == "segmentation":
            return of_batches(items[1].numpy(), found.numpy())
        asked = items[1] != NO_LABEL
        return {"accuracy": round(float((found == items[1])[asked].double().mean()), 4)}

    made = train(
        build_net(setting, seed).to(device), draw_batch, loss if kind == "listops" else weighted_loss,
        generator=stream(seed, "table3/batches"), watch=lambda net, step: score(net, parts["validation"]),
        watch_every=max(setting["steps"] // setting["looks"], 1), progress=progress, checkpoint=checkpoint,
        **{name: setting[name] for name in ("steps", "rate", "recurrent_rate", "decay", "warmup")},
    )  # fmt: skip
    net, test = made.net, parts["test"]
    trained_on = (inputs[: len(test[0])], targets[: len(test[0])])
    metrics = {**score(net, test), **{f"training_{name}": value for name, value in score(net, trained_on).items()},
               "steps": made.steps, "finished": made.finished,
               "parameters": sum(parameter.numel() for parameter in net.parameters())}  # fmt: skip
    found = answers(net, kind, test, B, device)
    more = of_listops(test, found) if kind == "listops" else of_segmentation(test, found)
    return {"metrics": metrics, **more, "curve": made.watched, "losses": made.losses,
            "cpu_seconds": round(made.cpu_seconds, 3)}  # fmt: skip


def of_listops(test: Data, found: Tensor) -> dict:
    """The score by height and by operator; and what guessing the commonest value gets, of all nodes, of each height's, and
    of each operator's."""
    table = by_node(test[0], found)
    apart = {by: told_apart(table, by) for by in ("height", "operator")}
    levels = {f"majority_by_{by}": sum(part["nodes"] * part["majority"] for part in parts) / len(table)
              for by, parts in apart.items()}  # fmt: skip
    majority = float(table["value"].value_counts(normalize=True).iloc[0])
    return {**{f"by_{by}": parts for by, parts in apart.items()},
            "levels": {name: round(level, 4) for name, level in {"majority": majority, **levels}.items()}}  # fmt: skip


def of_segmentation(test: Data, found: Tensor) -> dict:
    """What is taken for what (counts of pixels, true classes downwards), some pictures as digits, and two guessers.

    A fourth column, where there is one, has the pixels without an answer, which are an x in the pictures.

    One says 0 everywhere, the other 1 wherever there is ink.
    """
    targets, given = test[1].numpy(), found.where(found >= 0, 3)
    labels = range(int(given.max().clamp(min=2)) + 1)
    return {"confusion": confusion_matrix(targets.ravel(), given.numpy().ravel(), labels=labels)[:3].tolist(),
            "predicted": ["".join("012x"[answer] for answer in picture.tolist()) for picture in given[:SHOWN]],
            "levels": {"nothing": of_batches(targets, np.zeros_like(targets)),
                       "ink": of_batches(targets, (test[0] > 0).numpy().astype(int))}}  # fmt: skip


# Text ----------------------------------------------------------------------------------------------------------------

GUESSES = {"majority": "commonest", "majority_by_height": "of the height", "majority_by_operator": "of the operator"}
KNOWN = {"accuracy": 0.95, "macro_f1": 0.9}  # from here on nothing has to be explained


def scored(record: dict) -> str:
    """The name of a record's first score.

    >>> scored({"metrics": {"macro_f1": 0.5, "pixels": 0.9}})
    'macro_f1'
    """
    return "accuracy" if "accuracy" in record["metrics"] else "macro_f1"


def line(record: dict) -> str:
    """One record in a few words."""
    found, name = record["metrics"], scored(record)
    if name == "accuracy":
        heights = " ".join(f"{part['right']:.2f}" for part in record["by_height"])
        said = f"{found[name]:.3f} of the values right (by height {heights}; commonest {record['levels']['majority']:.3f})"
    else:
        said = (f"macro F1 {found[name]:.3f}, macro accuracy {found['macro_accuracy']:.3f}, {found['pixels']:.3f} of the "
                f"pixels right (ink: {record['levels']['ink'][name]:.3f})")  # fmt: skip
    return f"{who(record)}: {said}; {found['steps']:,} steps, {record['wall_seconds']:.0f} s"


def why_low(cell: Sequence[dict]) -> str:
    """Why a cell is below 95 % of the values or a macro F1 of 90 %; "" where it is not.

    What the second half of the steps has added says whether more of them would help.

    >>> metrics = {"accuracy": 0.4, "training_accuracy": 0.41, "steps": 100}
    >>> curve = [{"step": step, "accuracy": share} for step, share in ((0, 0.1), (50, 0.3), (100, 0.4))]
    >>> why_low([{"metrics": metrics, "curve": curve}])
    'not learned in 100 steps: +10.0 in the last 50'
    """
    name = scored(cell[0])
    mean, trained = (fmean(record["metrics"][which] for record in cell) for which in (name, f"training_{name}"))
    if mean >= KNOWN[name]:
        return ""
    if trained > mean + 0.1:
        return f"learned by heart: {100 * trained:.1f} on training items"
    half = (len(cell[0]["curve"]) - 1) // 2
    before, last = (cell[0]["curve"][look]["step"] for look in (half, -1))
    gain = 100 * fmean(record["curve"][-1][name] - record["curve"][half][name] for record in cell)
    return f"not learned in {last:,} steps: {gain:+.1f} in the last {last - before:,}"


def table(records: Sequence[dict]) -> str:
    """Scores here with what guessers get; by height and by operator; and the paper's scores, apart."""
    parts = []
    listops = [record for record in records if scored(record) == "accuracy"]
    pictures = [record for record in records if scored(record) == "macro_f1"]
    tasks = (*TASKS, *LONGER, *FULL)
    if listops:
        cells = by_cell(in_order(listops, ROWS, tasks))
        body = [{**_ran(cell), "right": _spread(cell, "accuracy"),
                 **{title: f"{100 * cell[0]['levels'][level]:.1f}" for level, title in GUESSES.items()},
                 "read to height": read_to(cell),
                 "why low": why_low(cell)} for cell in cells.values()]  # fmt: skip
        parts.append(lines("ListOps-SubTrees: % of the values right, mean (range) over seeds; what guessing the commonest "
                           "value gets, of all nodes, of those of the same height, or operator", body))
        for by, title in (("height", "by height of the node"), ("operator", "by operator")):
            blank = {str(name): "" for name in sorted({part[by] for record in listops for part in record[f"by_{by}"]})}
            title += " / commonest value there" + " / of its operator there" * (by == "height")
            parts.append(lines(f"% right {title}", [
                {"task": task, "row": row, **blank, **_apart(cell, by)} for (task, row), cell in cells.items()]))  # fmt: skip
    if pictures:
        cells = by_cell(in_order(pictures, ROWS, tasks))
        parts.append(lines("Segmentation: macro F1, macro accuracy and pixels right in %, mean (range) over seeds; "
                           "macro F1 of answering 0, of answering 1 wherever there is ink, and of a decision tree that "
                           "sees the 3 x 3 pixels around each", [
            {**_ran(cell), "macro F1": _spread(cell, "macro_f1"), "accuracy": _spread(cell, "macro_accuracy"),
             "pixels": _spread(cell, "pixels"),
             **{guess: f"{100 * cell[0]['levels'][guess]['macro_f1']:.1f}" for guess in ("nothing", "ink")},
             "3 x 3": f"{100 * local_level(*_size_and_tests(cell)):.1f}",
             "why low": why_low(cell)} for cell in cells.values()]))  # fmt: skip
    paper = "paper, T = 8192 and other sizes and steps (not comparable with the above unless at the budget paper), %"
    return "\n\n".join([*parts, f"{paper}\n{PAPER.to_string()}"])


def read_to(cell: Sequence[dict]) -> int:
    """The height up to which the mean over seeds is above what the operator alone tells (``operator_levels``)."""
    known, read = operator_levels(*_size_and_tests(cell)), 0
    for parts in zip(*(record["by_height"] for record in cell)):
        if fmean(part["right"] for part in parts) <= known[parts[0]["height"]]:
            break
        read = parts[0]["height"]
    return read


def reading_nothing(record: dict) -> float:
    """The score of one who does not read far: who knows each node's operator and height, or the 3 x 3 pixels around each.

    >>> made = measure(setting("dlr", "segmentation-32", "live"), seed=0)
    >>> 0.4 < reading_nothing({**made, "config": {"setting": setting("dlr", "segmentation-32", "live")}}) < 0.7
    True
    """
    if scored(record) == "macro_f1":
        return local_level(*_size_and_tests([record]))
    known, heights = operator_levels(*_size_and_tests([record])), record["by_height"]
    return sum(part["nodes"] * known[part["height"]] for part in heights) / sum(part["nodes"] for part in heights)


def _size_and_tests(cell: Sequence[dict]) -> tuple[int, int]:
    setting = cell[0]["config"]["setting"]
    return setting["size"], setting["items"]["test"]


def _ran(cell: Sequence[dict]) -> dict:
    setting, seconds = cell[0]["config"]["setting"], fmean(record["cpu_seconds"] for record in cell)
    return {"task": cell[0]["task"], "row": cell[0]["row"], "runs": len(cell),
            "steps": f"{setting['steps']:,} of {setting['batch']}", "CPU s": f"{seconds:.0f}"}  # fmt: skip


def _spread(cell: Sequence[dict], name: str) -> str:
    return spread([record["metrics"][name] for record in cell], scale=100)


def _apart(cell: Sequence[dict], by: str) -> dict[str, str]:
    """Of each height or operator: the mean over seeds, which share their test data, and the levels."""
    known = operator_levels(*_size_and_tests(cell)) if by == "height" else None
    seeds = [{part[by]: part for part in record[f"by_{by}"]} for record in cell]
    found = {}
    for name, part in seeds[0].items():
        shares = [fmean(parts[name]["right"] for parts in seeds), part["majority"], *([known[name]] if known else [])]
        found[str(name)] = " / ".join(f"{100 * share:.0f}" for share in shares)
    return found


TABLE = Table(
    "dlr/table3", ROWS, TASKS, setting, by_setting(measure), line, table, aliases={"ours": "dlr"}, paper=PAPER,
    extra={"desk": tuple(LONGER), "paper": FULL}, columns={"paper": FULL}, score=lambda record: record["metrics"][scored(record)],
    scored="of the values, or macro F1, on test items",
)  # fmt: skip
