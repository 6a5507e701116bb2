"""Table 2 of paper 000, as chapter 02 shows it: the numbers, why one is low, and how each row's training differs.

The paper's training of its own model, as released: Adam at a constant rate, 40,000 steps of 128 strings of the training
length, cross-entropy, the last weights, a readout of two layers, an input term, one start.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from workbook.tables import lrnn_table2, results
from workbook.tables.text import percent

DIFFERS = "differs from the paper's"
SAME = {"s4d_inv": "s4d", "s4d_legs": "s4d"}  # three starts of one model have what the sweep found for the first
CELL = {
    "training length": "accuracy_seen", "last position": "accuracy_last",
    "best checkpoint, last position": "best_accuracy_last", "all past training": "accuracy_all",
    "snapped, all past training": "snapped_accuracy_all",
}  # fmt: skip
RULE = {"proved": "searched"}  # its name says more than this rule of stopping does: what is proved has a column
STOPS = {
    "long": "ends when right on strings of the test length",
    "watched": "of the test length it sees nothing but looks that name the best checkpoint",
    "proved": "accepted by a search over all strings of the training length",
}  # fmt: skip


def cells(found: Sequence[dict]) -> pd.DataFrame:
    """A row for each cell: seeds, steps, what ended training, how many snapped models are proved right on every string, and
    mean (least to greatest) of each accuracy in percent; after each task what guessing scores at the last position."""
    made = results.ordered(results.frame(found))
    runs = made.assign(proved=made.get("snapped_proved")).groupby(results.CELL, sort=False)
    body = pd.DataFrame({
        "seeds": runs.size().astype(str),
        "steps": runs["steps"].agg(lambda steps: " to ".join(dict.fromkeys(f"{n:,}" for n in (steps.min(), steps.max())))),
        "stop": runs["stop"].first().replace(RULE),
        "proved": runs["proved"].agg(lambda runs: "" if runs.isna().any() else f"{runs.sum()} of {len(runs)}"),
    }).join(results.lines(made, CELL, "percent").rename_axis(results.CELL))  # fmt: skip
    for task, level in made.groupby("task", sort=False)["levels"].first().items():
        checks = max(level["best_of_40_guesser"], level["best_of_40_majority"])  # who guesses, and who says one thing
        for title, share in (("chance", level["chance"]), ("majority", level["majority"]), ("best of 40 checks", checks)):
            body.loc[(task, f"guess: {title}"), "last position"] = percent(share)
    body = body.fillna("").reset_index()
    return body.sort_values("task", key=lambda task: task.map([*made["task"].unique()].index), kind="stable", ignore_index=True)


def differs(setting: dict) -> str:
    """How a recorded setting differs from the paper's training, in a few words.

    Not said is what all rows here share, AdamW, a clipped gradient and a warm-up, and that most rates fall.

    >>> from workbook.tables import get
    >>> differs(get("lrnn/table2").setting("clip", "sum", "desk").plain())  # doctest: +NORMALIZE_WHITESPACE
    '600 steps of 64; squared loss; averaged weights; linear readout; up to 6 starts; ends when right on strings of the
    test length'
    """
    options, recipe = setting["options"], setting["recipe"]
    phases = recipe["phases"]
    lengths = [phase["length"] for phase in phases if phase.get("length")]
    said = {
        f"{'up to ' * any(phase['until'] for phase in phases)}{sum(phase['steps'] for phase in phases):,} steps of "
        f"{recipe['batch']}": True,
        f"lengths grow ({', '.join(map(str, lengths))}, then all)": lengths,
        "squared loss": any(phase["loss"] == "squared" for phase in phases),
        "averaged weights": recipe["average"],
        "weight decay": any(phase["weight_decay"] >= 0.1 for phase in phases),
        "noise on the states": any(phase["noise"] for phase in phases),
        "pruned and mended": recipe.get("mend"),
        "linear readout": options.get("head") == "linear",
        "no input term, x_0 fixed": options.get("drive") == "none",
        "input term B u": options.get("drive") == "linear",
        "orthogonal start": options.get("start") == "orthogonal",
        f"up to {recipe['attempts']} starts": recipe["attempts"] > 1,
        STOPS.get(setting["stop"], ""): setting["stop"] in STOPS,
    }
    return "; ".join(text for text, holds in said.items() if holds)


def best_of_sweep(swept: pd.DataFrame, task: str, row: str) -> str:
    """What ``lrnn/baseline_rates`` found best for a row at the training length, and of how many that were tried."""
    of = {name: results.column(swept, f"config.setting.{name}") for name in ("baseline", "lr", "options", "phase.steps")}
    tried = swept.assign(**of, layers=of["options"].str["layers"], head=of["options"].str.get("head").fillna("mlp"))
    tried = tried[(tried["task"] == task) & tried["baseline"].isin({row, SAME.get(row, row)})]
    if tried.empty:
        return "with this setting, the only one that was tried"
    best = tried.loc[tried["accuracy"].where(tried["finished"].astype(bool)).idxmax()]  # what broke off is out
    whose = "" if best["baseline"] == row else f"of {best['baseline'].upper()}, whose setting it has, the "
    count = len(tried.groupby(["layers", "head", "lr", "phase.steps"]))
    return (f"{whose}best of {count} settings tried: {percent(best['accuracy'])} after {best['phase.steps']:,} steps "
            f"({best['layers']} layer{'s' if best['layers'] > 1 else ''}, {best['head']}, {best['lr']:g})")  # fmt: skip


def reasons(found: Sequence[dict]) -> pd.DataFrame:
    """A row for each cell: layers, seeds, why it is low (or that it holds), how its training differs from the paper's."""
    made, swept = results.frame(found), results.runs("lrnn/baseline_rates")
    low = results.reasons(made).set_index(results.CELL)["why"]
    known, body = lrnn_table2.TABLE.declared.found["why"]["known"], []
    for (task, row), cell in results.ordered(made).groupby(results.CELL, sort=False):
        why, setting = low.get((task, row), "holds"), cell["config"].iloc[0]["setting"]
        if 2 * (cell["accuracy_seen"] < known).sum() >= len(cell):  # most have not learned: what else was tried
            why = f"{why}; {best_of_sweep(swept, task, row)}"
        ends = "; a check that is all right ends it, as in the paper" * (cell["protocol"].iloc[0] == "paper")
        body.append({"task": task, "row": row, "layers": setting["options"].get("layers", 1), "seeds": len(cell), "why": why,
                     DIFFERS: differs(setting) + ends})  # fmt: skip
    return pd.DataFrame(body)
