"""The baselines of lrnn/table2: the same training for all, and learning rates that no long string has chosen."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lrnnlab import tasks
from lrnnlab.models import RWKV, S4, S4D, Diagonal, LiquidS4, Vanilla
from lrnnlab.models.recurrent import Nonlinear
from workbook import tables
from workbook.tables import lrnn_baseline_rates as rates
from workbook.tables import records, report, results
from workbook.tables.declared import Declared
from workbook.tables.text import percent

TRAIN_LENGTH = {"sum": 40, "evenpair": 40, "modarith": 39}  # Table 1 of the paper
DESK = "lrnn/table2"
SWEEP = "lrnn/baseline_rates"
ROWS = tuple(row for row in tables.get(DESK).rows if row not in ("softmax", "release", "clip"))
REFERENCES = ("lstm", "elman")
SAME = {"s4d_inv": "s4d", "s4d_legs": "s4d"}  # three starts of one model share the shape and the rate of the first
ONE, DEEP = (tuple(sets["lr"]) for sets in Declared(SWEEP).found["rows"].values())  # rates that were tried with one layer, with three


def steps(row, task):
    """How many a row has at the desk."""
    return tables.get(DESK).setting(row, task, "desk").recipe.steps


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


def cut(run, steps=2):
    """The same cell with two steps of four strings, and no stop."""
    recipe = run.setting.recipe
    recipe = replace(recipe, phases=(replace(recipe.phases[-1], steps=steps),), batch=4)
    return replace(run, setting=replace(run.setting, recipe=recipe, stop="recipe"), protocol="ours")


# The rows


@pytest.mark.parametrize("budget", tables.BUDGETS)
def test_every_cell_trains(budget):
    for run in cells(budget):
        before = run.build_model().state_dict()
        found = tables.train(cut(run), progress=False)
        after = found.model.state_dict()
        assert found.accepted and found.steps == 2, run.row
        assert len(found.model.layers) == run.setting.options["layers"]
        assert found.model.width == 64
        assert any(not torch.equal(before[name], after[name]) for name in before if name.startswith("blocks"))


def layer(row, budget="desk", task="sum"):
    return next(run for run in cells(budget) if (run.row, run.task) == (row, task)).build_model().layers[0]


def test_the_rows_are_the_models_that_their_names_say():
    kinds = {"vanilla": Vanilla, "s4": S4, "liquid_s4": LiquidS4, "rwkv": RWKV, "lstm": Nonlinear, "elman": Nonlinear}
    assert all(type(layer(row)) is kind for row, kind in kinds.items())
    for kind in ("positive", "signed", "complex", "unit"):
        found = layer(f"diagonal_{kind}")
        assert type(found) is Diagonal and found.kind == kind
    for row, init in {"s4d": "lin", "s4d_inv": "inv", "s4d_legs": "legs"}.items():
        assert type(layer(row)) is S4D and (layer(row).init, layer(row).half) == (init, 32)
    assert layer("s4").half == 32 and type(layer("lstm").network) is torch.nn.LSTM
    assert set(ROWS) == {*kinds, "s4d", "s4d_inv", "s4d_legs"} | {
        f"diagonal_{kind}" for kind in ("positive", "signed", "complex", "unit")
    }


def test_only_the_papers_budget_has_the_larger_models():
    sizes = {budget: (layer("liquid_s4", budget).B.shape[1], layer("rwkv", budget).up.out_features // 64)
             for budget in tables.BUDGETS}  # fmt: skip
    assert sizes == {"live": (4, 1), "desk": (4, 1), "paper": (8, 4)}
    for run in cells("paper"):  # and the depth and the readout of the paper's own model
        assert run.setting.options["layers"] == {"sum": 1, "evenpair": 1, "modarith": 3}[run.task]
        assert "head" not in run.setting.options


# The budgets

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
    assert (recipe.batch, recipe.betas, recipe.clip) == (32, (0.9, 0.99), 1.0)
    assert (recipe.optimiser, recipe.average, recipe.length) == ("adamw", 0.0, None)
    (phase,) = recipe.phases
    assert (phase.warmup, phase.weight_decay, phase.loss, phase.smoothing) == (100, 0.01, "cross_entropy", 0.0)
    assert (phase.noise, phase.purity) == (0.0, 0.0)


def test_on_modarith_the_references_have_one_layer_and_a_recipe_of_their_own():
    found = {run.row: run.setting for run in cells("desk") if reference(run)}
    assert set(found) == {"lstm", "elman"}
    for row, setting in found.items():
        *growing, last = setting.recipe.phases
        assert (setting.options["layers"], setting.options["head"], setting.recipe.batch) == (1, "linear", 64)
        assert last.length is None and last.until is None and last.final_lr == last.lr / 100
        assert [phase.length for phase in growing] == ([5, 9, 15, 25] if row == "elman" else [])
        assert all(phase.until == 0.1 and phase.lr == last.lr for phase in growing)
    matrix = tables.plan("lrnn/table2", tasks=["modarith"], rows=["elman"], seeds=[0], budget="desk")[0].build_model()
    matrix = matrix.layers[0].network.weight_hh_l0
    assert torch.allclose(matrix @ matrix.T, torch.eye(64), atol=1e-5)
    with pytest.raises(ValueError, match="start is one of uniform, orthogonal, got 'zero'"):
        Nonlinear(4, cell="elman", start="zero")


def test_live_is_short_and_the_references_stop_on_long_strings():
    for run in cells("live"):
        setting, (phase,) = run.setting, run.setting.recipe.phases
        if run.row in ("lstm", "elman"):
            assert (phase.steps, phase.lr, setting.recipe.batch) == (600, 3e-3, 64)
            assert (setting.stop, setting.check_every) == ("long", 100)
        else:
            assert (phase.steps, phase.lr, setting.stop) == (300, chosen_for(run.row, run.task)[-1], "recipe")


def test_the_papers_budget_is_that_of_the_papers_own_model():
    for run in cells("paper"):
        assert run.protocol == "paper"
        assert run.setting.recipe == tables.get(DESK).setting("release", run.task, "paper").recipe


# The learning rates


def swept():
    return records.recorded(SWEEP)


def chosen(found):
    """The winners, by task and baseline: layers, readout, rate.

    ``ValueError`` if a baseline lacks one of the rates of a part that it was tried in, or has none left.  A rate that
    broke off on one task is out on all.
    """
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
    of, modarith = as_chosen(swept()), {row: chosen_for(row, "modarith") for row in ROWS}
    assert of == {task: {row: chosen_for(row, task) for row in ROWS if row not in SAME} for task in ("sum", "evenpair")}
    for row in modarith:  # three layers with the paper's readout, as the module says
        if row not in REFERENCES:
            assert modarith[row] == (3, "mlp", 3e-3 if row == "vanilla" else 1e-2)
    tried = {}
    for record in swept():
        if record["task"] == "modarith":
            tried.setdefault(record["config"]["setting"]["baseline"], {})[how_tried(record)] = record["metrics"]["accuracy"]
    assert set(tried) >= {"vanilla", "s4", "s4d", "diagonal_positive", "diagonal_unit"}
    for row, found in tried.items():  # the sweep found none that is better by more than two points
        assert found[modarith[row]] > max(found.values()) - 0.02
    broken = [(r["task"], r["row"]) for r in swept() if not r["metrics"]["finished"]]
    assert set(broken) >= {("evenpair", "vanilla-0.01"), ("evenpair", "vanilla-0.03"), ("sum", "vanilla-0.03")}


def test_what_one_layer_does_not_teach_was_tried_with_three():
    """And, at the best rate, with the other readout; and again where one layer was ahead after twice the steps."""
    found = {}
    for record in swept():
        found.setdefault((record["task"], record["config"]["setting"]["baseline"]), []).append(record)
    for (_, row), cell in found.items():
        one, deep, again = ([r for r in cell if kind(r["row"])] for kind in (
            lambda name: name.count("-") == 1, lambda name: name.count("-") == 3, lambda name: name.endswith("-again")
        ))  # fmt: skip
        best = [max((r["metrics"]["accuracy"] for r in part), default=0.0) for part in (one, deep)]
        if row in (*SAME, *REFERENCES, "liquid_s4") or best[0] > 0.97:
            continue
        assert {(3, "mlp"), (3, "linear"), (1, "linear")} <= {how_tried(r)[:2] for r in deep}, row
        assert best[1] >= best[0] or again, row


def test_a_table_that_disagrees_with_its_records_is_noticed():
    found = [r for r in swept() if r["task"] != "modarith"]
    before = as_chosen(found)
    loser = next(r for r in found if before[r["task"]].get(r["config"]["setting"]["baseline"]) not in (None, how_tried(r)))
    loser["metrics"] |= {"accuracy": 1.1, "loss": 0.0, "finished": True}
    assert as_chosen(found)[loser["task"]] != before[loser["task"]]


def wrong_lengths(found):
    """Records of the sweep whose judge was another length than that of training."""
    said = {"accuracy", "accuracy_last", "loss", "finished"}
    return [
        r for r in found
        if r["config"]["setting"]["length"] != TRAIN_LENGTH[r["task"]] or set(r["metrics"]) != said
        or "length" in r["config"]["setting"]["recipe"]
    ]  # fmt: skip


def test_the_records_of_the_sweep_hold_the_training_length_only():
    found = swept()
    assert len(found) > 4 * len(ROWS) * 2 and not wrong_lengths(found)
    found[0]["config"]["setting"]["length"] = 500
    found[1]["metrics"]["accuracy_500"] = 0.2
    assert wrong_lengths(found) == found[:2]


def longest(monkeypatch, **changes):
    """The longest string that one measurement of the sweep draws."""
    lengths, draw = [], tasks.Sum.draw
    monkeypatch.setattr(
        tasks.Sum, "draw", lambda self, B, T, generator: lengths.append(T) or draw(self, B, T, generator)
    )
    rates.measure({**rates.TABLE.setting("elman-0.01", "sum", "live"), "strings": 8, **changes}, seed=0)
    monkeypatch.undo()
    return max(lengths)


def test_no_string_of_the_sweep_is_longer_than_those_of_training(monkeypatch):
    assert longest(monkeypatch) == 40
    assert longest(monkeypatch, length=41) == 41  # the spy sees a longer one


def test_the_sweep_trains_as_the_table_does_with_seeds_that_the_table_has_not():
    for run in cells("desk"):
        if run.row in set(ROWS) - set(REFERENCES):
            layers, head, lr = chosen_for(run.row, run.task)
            found = rates.TABLE.setting(f"{run.row}-{layers}-{head}-{lr:g}", run.task, "desk")
            (phase,) = run.setting.recipe.phases
            assert (found["model"], found["options"]) == (run.setting.model, run.setting.options)
            assert found["phase"] == {**{name: getattr(phase, name) for name in found["phase"]}, "steps": 500}
            recipe = {**found["recipe"], "betas": tuple(found["recipe"]["betas"])}
            assert recipe == {name: getattr(run.setting.recipe, name) for name in recipe}
    used = {r["config"]["setting"]["first_seed"] + r["seed"] for r in swept()}
    assert used == {900} and not used & {r["seed"] for r in records.recorded(DESK)}


METRICS = st.builds(
    lambda accuracy, loss, finished: {"accuracy": accuracy, "loss": loss if finished else None, "finished": finished},
    st.sampled_from([0.2, 0.5, 1.0]), st.sampled_from([0.1, 0.2, 0.3]), st.booleans(),
)  # fmt: skip


def made(lr, metrics, baseline="s4", task="sum"):
    setting = {"baseline": baseline, "lr": lr, "options": {"layers": 1}}
    return {"task": task, "row": f"{baseline}-{lr:g}", "config": {"setting": setting}, "metrics": metrics}


@settings(max_examples=100, deadline=None)
@given(st.tuples(*[METRICS] * len(ONE)), st.permutations(ONE))
def test_the_winner_has_no_better_rival(metrics, order):
    found = [made(lr, of) for lr, of in zip(order, metrics)]
    left = {r["config"]["setting"]["lr"]: r["metrics"] for r in found if r["metrics"]["finished"]}
    if not left:
        with pytest.raises(ValueError, match="s4 on sum is left with none"):
            chosen(found)
        return
    *shape, winner = chosen(found)["sum"]["s4"]
    assert shape == [1, "mlp"]
    best = max(of["accuracy"] for of in left.values())
    assert left[winner]["accuracy"] == best
    assert left[winner]["loss"] == min(of["loss"] for of in left.values() if of["accuracy"] == best)


def test_a_rate_that_broke_off_on_one_task_is_out_on_all():
    good, better = ({"accuracy": share, "loss": 1.0, "finished": True} for share in (0.5, 0.9))
    found = [made(lr, better if lr == 3e-2 else good, task=task) for task in ("sum", "evenpair") for lr in ONE]
    other = [made(lr, better if lr == 3e-2 else good, "vanilla") for lr in ONE]
    assert chosen(found)["sum"]["s4"][-1] == 3e-2
    found[-1]["metrics"] = {**better, "finished": False, "loss": None}
    lows = {task: {row: how[-1] for row, how in of.items()} for task, of in chosen(found + other).items()}
    assert lows == {"sum": {"s4": 1e-3, "vanilla": 3e-2}, "evenpair": {"s4": 1e-3}}


def test_a_sweep_with_a_gap_chooses_nothing():
    good = {"accuracy": 0.5, "loss": 1.0, "finished": True}
    with pytest.raises(ValueError, match=r"s4 on sum was tried at \[0.001, 0.003\]"):
        chosen([made(lr, good) for lr in (1e-3, 3e-3)])


def test_training_that_breaks_off_is_out():
    setting = {**rates.TABLE.setting("vanilla-0.01", "evenpair", "live"), "strings": 8}
    found = rates.measure({**setting, "phase": {**setting["phase"], "lr": 1e30}}, seed=0)["metrics"]
    assert found["finished"] is False and found["loss"] is None
    record = {"task": "evenpair", "row": "vanilla-0.01", "seed": 0, "wall_seconds": 1.0, "metrics": found}
    assert "broke off" in rates.TABLE.line(record)


@pytest.mark.parametrize(
    "wrong", [("s4-0.002", "sum", "desk"), ("s4", "sum", "desk"), ("s4-2-mlp-0.01", "sum", "desk"),
              ("lstm-3-mlp-0.01", "sum", "desk"), ("s4-0.01", "shift", "desk"), ("s4-0.01", "sum", "paper")]
)  # fmt: skip
def test_a_measurement_that_is_not_there_is_refused(wrong):
    with pytest.raises(ValueError, match="lrnn/baseline_rates has no (row|task|budget)"):
        rates.TABLE.setting(*wrong)


def test_the_sweep_is_shown_with_what_a_guesser_has():
    text = report.table(swept())
    levels = {name: [percent(share) for share in (task.chance, task.majority(task.train_length))]
              for name, task in ((name, tasks.task(name, 5)) for name in TRAIN_LENGTH)}  # fmt: skip
    assert levels["sum"] == levels["modarith"] == ["20.0", "20.0"] and levels["evenpair"] == ["50.0", "80.0"]
    assert "Guessing gives 20.0 (evenpair 50.0), the commonest answer 20.0 (evenpair 80.0)" in text
    for record in swept()[:3]:
        assert percent(record["metrics"]["accuracy"]) in text and record["row"] in report.line({**record, "recorded": 1})


def test_several_seeds_are_shown_by_their_mean():
    one = next(r for r in swept() if r["task"] == "sum")
    pair = [{**one, "seed": seed, "metrics": {**one["metrics"], "accuracy": share}} for seed, share in ((0, 0.5), (1, 0.75))]
    assert results.grid(results.frame(pair), "accuracy").to_numpy().tolist() == [["62.5 (50.0 to 75.0)"]]


# The records of the table


def misfits(found):
    """Records of baselines that are not of the setting that is asked for now."""
    return [
        r for r in found
        if r["fingerprint"] != records.fingerprint(
            replace(next(run for run in cells("desk") if (run.row, run.task) == (r["row"], r["task"])),
                    seed=r["seed"]).config())
    ]  # fmt: skip


def test_every_record_of_a_baseline_is_of_the_equal_budget():
    found = [r for r in records.recorded(DESK) if r["row"] in ROWS and r["protocol"] == "ours"]
    assert not misfits(found)
    for record in found:
        if record["task"] == "modarith" and record["row"] in REFERENCES:
            continue
        due = steps(record["row"], record["task"])
        assert record["steps"] == due or not record["accepted"]
        assert [found["step"] for found in record["checks"]] == list(range(due // 10, record["steps"] + 1, due // 10))
        assert record["stop"] == "watched" and record["attempts"] == 1
    other = [{**record, "fingerprint": records.fingerprint({"another": "setting"})} for record in found[:1]]
    assert misfits(other) == other
