"""Experiments end to end on cut-down settings: records, resuming, jobs, protocols, and the command line."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial

import pytest
from recorded import HERE, TINY, tiny

from lrnnbook import tables
from lrnnbook.content.tables import lrnn_training, records, results, runner
from lrnnbook.content.tables.results import range_in_percent
from lrnnbook.machinery import cli
from lrnnlab.training import Phase
from lrnnlab.verification import Verdict


def without_clock(record):
    """What a run must give again; not its times, nor the state of the tree that it was run from."""
    changing = ("wall_seconds", "cpu_seconds", "evaluation_seconds", "recorded", "provenance")
    return json.loads(json.dumps({k: v for k, v in record.items() if k not in changing} | {"schema": 1}))


def test_a_proof_that_a_sample_contradicts_is_no_result(monkeypatch):
    """A prover that believes anything is found out by the strings that check it."""
    run = tables.plan("lrnn/table2", tasks=["sum"], rows=["ours"], seeds=[0])[0]
    monkeypatch.setattr(lrnn_training, "verify", lambda *asked, **how: Verdict(True, (), 1, 1))
    with pytest.raises(AssertionError, match="proved, and wrong"):
        lrnn_training._snapped(run, run.build_task(), run.build_model(), None)


def test_training_begins_without_what_only_other_tables_and_results_need():
    heavy = "joblib pandas scipy.sparse scipy.stats sklearn sympy torch._dynamo".split()
    code = f"import sys; from lrnnbook import tables; from lrnnbook.machinery import cli; tables.plan('lrnn/table2'); print({{*{heavy}}} & {{*sys.modules}})"
    said = subprocess.check_output([sys.executable, "-c", code], text=True, env={**os.environ, "PYTHONPATH": HERE})
    assert said.strip() == "set()"


def test_ours_is_the_best_row_and_wrong_names_are_refused():
    assert tables.plan("lrnn/table2", rows=["ours"], seeds=[0])[0].row == "softmax"
    for wrong, said in (({"rows": ["nobody"]}, "nobody"), ({"tasks": ["chess"]}, "chess"), ({"budget": "huge"}, "no "), ({"protocol": "mine"}, "no ")):
        with pytest.raises(ValueError, match=said):
            tables.plan("lrnn/table2", seeds=[0], **wrong)


def test_measurements_take_jobs_too_and_what_was_interrupted_goes_on(tmp_path):
    """Through the command: two at a time, interrupted by the keyboard, and the rest; the same as one at a time."""
    call = "reproduce fwp/table1 --rows lstm --tasks aa --seeds 0-2 --budget live --json".split()
    start = [sys.executable, "-m", "lrnnlab", *call, "--jobs", "2", "--data", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": HERE}
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # where these tests run behind a shell's &, it is not
    process = subprocess.Popen(start, stdout=-1, stderr=-1, text=True, env=environment, preexec_fn=heard)
    first = json.loads(process.stdout.readline())
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=300)[1]
    assert process.returncode == 130 and f"what is finished is in {tmp_path}" in said, said
    kept = {record["seed"]: record for record in records.read(tmp_path)}
    assert kept[0]["metrics"] == first["metrics"] and "not used" not in said
    runs = tables.plan("fwp/table1", rows=["lstm"], tasks=["aa"], seeds=range(3))
    planned = []
    both = list(tables.run_all(runs, jobs=2, data=tmp_path, announce=lambda *numbers: planned.append(numbers)))
    assert planned == [(3, len(kept))] and {r["seed"] for r in both if r["recorded"]} == set(kept)
    alone = list(tables.run_all(runs, jobs=1))
    assert [without_clock(record) for record in both] == [without_clock(record) for record in alone]
    assert alone[0]["curve"] != alone[1]["curve"]


def test_a_good_record_is_reused_and_a_bad_one_is_run_again(tmp_path, capfd):
    run = tiny()
    first = list(tables.run_all([run], data=tmp_path))[0]
    again = list(tables.run_all([run], data=tmp_path))[0]
    assert not first["recorded"] and again["recorded"]
    assert again["metrics"] == first["metrics"]
    path = records.place(tmp_path, first)
    path.write_text(path.read_text(encoding="utf-8").replace('"steps":20', '"steps":21'), encoding="utf-8")
    third = list(tables.run_all([run], data=tmp_path))[0]
    assert not third["recorded"] and f"{path.name}, line 1," in capfd.readouterr().err
    changed = tiny(setting=replace(TINY, recipe=replace(TINY.recipe, batch_size=9)))
    assert not list(tables.run_all([changed], data=tmp_path))[0]["recorded"]
    assert "another configuration" in capfd.readouterr().err


def test_the_papers_protocol_reports_the_best_check():
    longer = replace(TINY, recipe=replace(TINY.recipe, phases=(Phase(steps=80, lr=1e-3),)))
    setting = tables.get("lrnn/table2").for_protocol(longer, "paper")
    record = runner.perform(tiny(setting=setting, protocol="paper"))
    assert len(record["checks"]) == 40
    assert record["metrics"]["best_of_checks"] == max(c["score"] for c in record["checks"])
    assert record["metrics"]["best_of_checks"] >= record["levels"]["chance"]  # the best of 40 beats a coin


def test_a_live_run_stands_beside_the_papers_number_and_the_recorded_ones(capsys):
    assert cli.main("reproduce fwp/table1 --tasks aa --rows lstm --seeds 3".split()) == 0
    title, head, line = capsys.readouterr().out.splitlines()[-3:]
    assert title == "whole strings of Bin1, in percent: in the paper, recorded at the desk, live"
    assert head.split() == ["task", "row", "paper", "recorded", "live"]
    desk = [record for record in records.recorded("fwp/table1") if (record["task"], record["row"]) == ("aa", "lstm")]
    recorded = range_in_percent([record["metrics"]["last"]["bin1"] for record in desk])
    assert line.split()[:3] == ["aa", "lstm", "100"] and f" {recorded} " in line and len(desk) == 5
    with pytest.raises(ValueError, match="lrnn/fig1 has no score"):
        results.beside("lrnn/fig1", [])


def test_the_committed_records_are_good():
    folder = records.data_folder()
    files = list((folder / "records").rglob("*.jsonl"))
    recorded, timed = records.read(folder), records.read(folder, "bench/*")
    lines = [line for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    assert recorded and timed and len(recorded) + len(timed) == len(lines) and len(files) <= 41
    assert all(path.stat().st_size < 3 << 20 for path in files)
    for path in files:
        found = [record for record, _ in records._good(path, folder)]
        assert found == sorted(found, key=records.identity) and {records.place(folder, one) for one in found} == {path}
