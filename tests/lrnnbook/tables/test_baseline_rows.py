"""The baselines of lrnn/table2: the same training for all, and learning rates that no long string has chosen."""

from dataclasses import replace

import pytest

from lrnnbook import tables
from lrnnbook.content.tables import records
from lrnnbook.content.tables.declared import Declared

DESK = "lrnn/table2"
SWEEP = "lrnn/baseline_rates"
ROWS = tuple(row for row in tables.get(DESK).rows if row not in ("softmax", "release", "clip"))
REFERENCES = ("lstm", "elman")
SAME = {"s4d_inv": "s4d", "s4d_legs": "s4d"}  # three starts of one model share the shape and the rate of the first
ONE, DEEP = (tuple(sets["lr"]) for sets in Declared(SWEEP).found["rows"].values())  # rates that were tried with one layer, with three


def chosen_for(row, task, budget="desk"):
    """Layers, readout and rate."""
    setting = tables.get(DESK).setting(row, task, budget)
    return setting.options["layers"], setting.options.get("head", "mlp"), setting.recipe.phases[0].lr


def how_tried(record):
    """The same of a record of the sweep."""
    setting = record["config"]["setting"]
    return setting["options"]["layers"], setting["options"].get("head", "mlp"), setting["lr"]


def cells(budget):
    return tables.plan("lrnn/table2", rows=ROWS, seeds=[0], budget=budget)


def reference(run):
    """Whether a cell is a non-linear net on ModArith at the desk, which has a recipe of its own."""
    return run.budget == "desk" and run.task == "modarith" and run.row in REFERENCES


LAYERS = {"sum": 1, "evenpair": 1, "modarith": 3}  # of the paper's own model
QUICK = {("evenpair", row) for row in ("diagonal_positive", "diagonal_signed", "s4", "s4d", *SAME)}  # 500 of the sweep taught it


def test_at_the_desk_only_the_shape_the_steps_and_the_learning_rate_differ():
    recipes = set()
    for run in filter(lambda run: not reference(run), cells("desk")):
        setting, (phase,) = run.setting, run.setting.recipe.phases
        assert (setting.stop, setting.check_every) == ("watched", phase.steps // 10)
        assert phase.steps == (1000 if (run.task, run.row) in QUICK else 2000 if setting.options["layers"] > LAYERS[run.task] else 5000)
        assert chosen_for(run.row, run.task) == chosen_for(SAME.get(run.row, run.row), run.task)
        assert (setting.recipe.attempts, phase.until) == (1, None)
        assert phase.final_lr == pytest.approx(phase.lr * 1e-2)
        recipes.add(replace(setting.recipe, phases=(replace(phase, steps=1, lr=1.0, final_lr=None),)))
    (recipe,) = recipes
    assert (recipe.batch_size, recipe.betas, recipe.clip) == (32, (0.9, 0.99), 1.0)
    assert (recipe.optimiser, recipe.average, recipe.length) == ("adamw", 0.0, None)
    (phase,) = recipe.phases
    assert (phase.warmup, phase.weight_decay, phase.loss, phase.smoothing) == (100, 0.01, "cross_entropy", 0.0)
    assert (phase.noise, phase.purity) == (0.0, 0.0)


def chosen(found):
    """(layers, readout, rate) that won, by task and baseline; a rate that broke off on one task is out on all."""
    tried, parts, broken = {}, {}, set()
    for record in found:
        task, baseline, how = record["task"], record["config"]["setting"]["baseline"], how_tried(record)
        part = ONE if record["row"].count("-") == 1 else DEEP
        if part is ONE or how[:2] == (3, "mlp"):
            parts.setdefault((task, baseline, part), set()).add(how[-1])
        if tried.setdefault((task, baseline), {}).get(how, {"accuracy": -1.0})["accuracy"] < record["metrics"]["accuracy"]:
            tried[task, baseline][how] = record["metrics"]
        if not record["metrics"]["finished"]:
            broken.add((baseline, how))
    for (task, baseline, part), seen in parts.items():
        if seen != set(part):
            raise ValueError(f"{baseline} on {task} was tried at {sorted(seen)}, not at each of {part}")
    winners = {}
    for (task, baseline), of in tried.items():
        left = {how: metrics for how, metrics in of.items() if (baseline, how) not in broken}
        if not left:
            raise ValueError(f"{baseline} on {task} is left with none of what was tried: training broke off")
        first = max(metrics["accuracy"] for metrics in left.values())
        near = [how for how, metrics in left.items() if metrics["accuracy"] >= first - 0.02]
        best = max(near, key=lambda how: (how[0], left[how]["accuracy"], -left[how]["loss"]))
        winners.setdefault(task, {})[baseline] = best
    return winners


def as_chosen(found):
    """What the table should have on Sum and EvenPair by the records of the sweep; three starts share a row."""
    winners = chosen(found)
    return {task: {row: how for row, how in winners[task].items() if row not in SAME}
            for task in ("sum", "evenpair")}  # fmt: skip


def test_the_settings_are_what_the_records_say():
    swept = records.recorded(SWEEP)
    of, modarith = as_chosen(swept), {row: chosen_for(row, "modarith") for row in ROWS}
    assert of == {task: {row: chosen_for(row, task) for row in ROWS if row not in SAME} for task in ("sum", "evenpair")}
    for row in modarith:  # three layers with the paper's readout, as the module says
        if row not in REFERENCES:
            assert modarith[row] == (3, "mlp", 3e-3 if row == "vanilla" else 1e-2)
    tried = {}
    for record in swept:
        if record["task"] == "modarith":
            tried.setdefault(record["config"]["setting"]["baseline"], {})[how_tried(record)] = record["metrics"]["accuracy"]
    assert set(tried) >= {"vanilla", "s4", "s4d", "diagonal_positive", "diagonal_unit"}
    for row, found in tried.items():  # the sweep found none that is better by more than two points
        assert found[modarith[row]] > max(found.values()) - 0.02
    broken = [(r["task"], r["row"]) for r in swept if not r["metrics"]["finished"]]
    assert set(broken) >= {("evenpair", "vanilla-0.01"), ("evenpair", "vanilla-0.03"), ("sum", "vanilla-0.03")}
