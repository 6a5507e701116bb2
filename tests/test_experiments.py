"""Experiments end to end on cut-down settings: records, resuming, jobs, protocols, and the command line."""

import json
from dataclasses import replace

import pytest

from lrnnlab import cli, experiments, records
from lrnnlab.experiments import lrnn_table2, runner
from lrnnlab.experiments.report import frame, table
from lrnnlab.models import build
from lrnnlab.training import Phase, Recipe

TINY = runner.Setting("elman", {"width": 8}, Recipe((Phase(steps=20, lr=1e-2),), batch=8))


def tiny(seed=0, **changes):
    return replace(runner.Run("lrnn/table2", "sum", "elman", seed, "desk", "ours", TINY, modulus=2), **changes)


def without_clock(record):
    """What a run must give again; not its times, nor the state of the tree that it was run from."""
    changing = ("wall_seconds", "cpu_seconds", "evaluation_seconds", "recorded", "provenance")
    return {k: v for k, v in record.items() if k not in changing}


def test_every_cell_of_every_experiment_can_be_built():
    for name in experiments.EXPERIMENTS:
        for budget in experiments.BUDGETS:
            for run in experiments.plan(name, seeds=[0], budget=budget):
                task, setting = run.build_task(), run.setting
                build(setting.model, vocab_size=task.vocab_size, classes=task.classes, **setting.options)
                json.dumps(run.config())


def test_budget_paper_is_the_papers_setting():
    run = experiments.plan("lrnn/table2", tasks=["modarith"], rows=["release"], seeds=[0], budget="paper")[0]
    recipe = run.setting.recipe
    assert run.protocol == "paper" and run.setting.options["layers"] == 3
    assert (recipe.steps, recipe.batch, recipe.optimiser) == (40_000, 128, "adam")
    assert (recipe.phases[0].lr, recipe.phases[0].weight_decay) == (2e-4, 1e-4)
    assert runner._check(run, run.build_task())[1] == 1000


def test_ours_is_the_best_row_and_wrong_names_are_refused():
    assert experiments.plan("lrnn/table2", rows=["ours"], seeds=[0])[0].row == "softmax"
    for wrong in ({"rows": ["nobody"]}, {"tasks": ["chess"]}, {"budget": "huge"}, {"protocol": "mine"}):
        with pytest.raises(
            ValueError, match=next(iter(wrong.values()))[0] if "rows" in wrong or "tasks" in wrong else "no "
        ):
            experiments.plan("lrnn/table2", seeds=[0], **wrong)
    with pytest.raises(ValueError, match="lrnn/table9"):
        experiments.get("lrnn/table9")


def test_a_record_holds_what_it_takes_to_trust_it():
    record = runner.perform(tiny())
    assert set(record["metrics"]) >= {"accuracy_last", "accuracy_all", "accuracy_seen"}
    assert record["levels"]["chance"] == 0.5 and record["levels"]["majority"] == pytest.approx(0.5)
    assert record["steps"] == 20 and record["config"]["setting"]["recipe"]["batch"] == 8
    assert record["provenance"]["torch"]


def test_jobs_do_not_change_the_numbers():
    runs = [tiny(seed) for seed in (0, 1)]
    one = [without_clock(r) for r in runner.perform_all(runs, jobs=1)]
    two = [without_clock(r) for r in runner.perform_all(runs, jobs=2)]
    assert one == two
    assert one[0]["metrics"] != one[1]["metrics"]


def test_a_good_record_is_reused_and_a_bad_one_is_run_again(tmp_path, capfd):
    run = tiny()
    first = list(runner.perform_all([run], data=tmp_path))[0]
    again = list(runner.perform_all([run], data=tmp_path))[0]
    assert not first["recorded"] and again["recorded"]
    assert again["metrics"] == first["metrics"]
    path = run.path(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace('"steps": 20', '"steps": 21'), encoding="utf-8")
    third = list(runner.perform_all([run], data=tmp_path))[0]
    assert not third["recorded"] and path.name in capfd.readouterr().err
    changed = tiny(setting=replace(TINY, recipe=replace(TINY.recipe, batch=9)))
    assert not list(runner.perform_all([changed], data=tmp_path))[0]["recorded"]
    assert "another configuration" in capfd.readouterr().err


def test_an_interrupted_run_resumes_to_the_same_numbers(tmp_path, monkeypatch):
    run = tiny()
    whole = without_clock(runner.perform(run))
    checkpoint = tmp_path / "run.pt"
    real = runner.fit

    def killed(make, task, recipe, seed, **options):
        seen = []

        def check(model, step):
            seen.append(step)
            if len(seen) == 12:
                raise KeyboardInterrupt
            return {"score": 0.0}

        return real(make, task, recipe, seed, **{**options, "check": check, "check_every": 1, "save_seconds": 0.0})

    monkeypatch.setattr(runner, "fit", killed)
    with pytest.raises(KeyboardInterrupt):
        runner.train(run, progress=False, checkpoint=checkpoint)
    assert checkpoint.exists()

    def resumed(make, task, recipe, seed, **options):
        return real(make, task, recipe, seed, **{**options, "check": lambda m, s: {"score": 0.0}, "check_every": 1})

    monkeypatch.setattr(runner, "fit", resumed)
    result = runner.train(run, progress=False, checkpoint=checkpoint)
    monkeypatch.undo()
    assert result.steps == 20
    assert runner.evaluate(result.model, run.build_task(), seed=0).metrics() == pytest.approx(
        {k: whole["metrics"][k] for k in ("accuracy_last", "accuracy_all", "accuracy_seen")}, abs=0
    )


def test_the_papers_protocol_reports_the_best_check():
    setting = lrnn_table2.for_protocol(
        replace(TINY, recipe=replace(TINY.recipe, phases=(Phase(steps=80, lr=1e-3),))), "paper"
    )
    record = runner.perform(tiny(setting=setting, protocol="paper"))
    assert len(record["checks"]) == 40
    assert record["metrics"]["best_of_checks"] == max(c["score"] for c in record["checks"])
    assert record["metrics"]["best_of_checks"] >= record["levels"]["chance"]  # the best of 40 beats a coin


def test_tables_do_not_mix_budgets():
    record = runner.perform(tiny())
    found = frame([record, {**record, "seed": 1}])
    assert set(found["runs"]) == {2} and "chance" in table([record])
    with pytest.raises(ValueError, match="one budget"):
        frame([record, {**record, "budget": "live"}])


def test_the_command_prints_one_object_a_run(capsys, monkeypatch):
    monkeypatch.setattr(lrnn_table2, "setting", lambda row, task, budget: TINY)
    status = cli.main("reproduce lrnn/table2 --budget live --tasks sum --rows ours --seeds 101,102 --json".split())
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert status == 0 and [line["seed"] for line in lines] == [101, 102]
    for line in lines:
        assert {"task", "row", "seed", "budget", "wall_seconds", "metrics"} <= set(line)
        assert line["row"] == "ours" and line["budget"] == "live" and not line["recorded"]
        assert {"accuracy_last", "accuracy_all"} <= set(line["metrics"])


def test_live_runs_are_never_taken_from_records(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(lrnn_table2, "setting", lambda row, task, budget: TINY)
    monkeypatch.setattr(records, "data_folder", lambda: tmp_path)
    cli.main("reproduce lrnn/table2 --tasks sum --rows elman --seeds 1 --json".split())
    assert list(tmp_path.rglob("*.json")) == []


@pytest.mark.parametrize("wrong", ["reproduce lrnn/none", "reproduce lrnn/table2 --rows nobody"])
def test_a_wrong_call_says_so_and_returns_2(wrong, capsys):
    assert cli.main(wrong.split()) == 2
    assert "lrnnlab:" in capsys.readouterr().err


@pytest.mark.parametrize("text, seeds", [("3", [0, 1, 2]), ("7,", [7]), ("101,102", [101, 102]), ("4-6", [4, 5, 6])])
def test_seeds_are_read(text, seeds):
    assert cli._seeds(text) == seeds


def test_the_committed_records_are_good():
    folder = records.data_folder() / "records"
    paths = list(folder.rglob("*.json"))
    assert paths and len(records.read_all(folder)) == len(paths)
    for record in records.read_all(folder):
        if record["experiment"].startswith("bench/"):  # a clock's record, not a recipe's
            continue
        run = next(
            run for run in experiments.plan(record["experiment"], tasks=[record["task"]], rows=[record["row"]],
                                            seeds=[record["seed"]], budget=record["budget"], protocol=record["protocol"])
        )  # fmt: skip
        assert records.fingerprint(run.config()) == record["fingerprint"], (
            f"{run.path(folder)}: the recipe has changed since"
        )
