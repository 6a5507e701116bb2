"""Tables as data: what a YAML may say, and what is refused; recorded runs as a frame, by a second route."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from recorded import SETTINGS

from lrnnlab import cli, records, tables
from lrnnlab.tables import declared, results
from lrnnlab.tables.declared import Declared

SAMPLE = """
setting: {task: = task, batch: 16, rate: 1e-2, options: {width: 8}}
budgets: {live: {steps: 5}, desk: {steps: = 10 * length}}
tasks:
  "{kind}-{length}": {kind: [shift, sort], length: [64, 128]}
  sum: {length: 3}
rows:
  plain: {model: a}
  deep: {model: b, options.layers: 2, options.state: = 2 * length // options.layers}
cells:
- {when: {row: deep, kind: sort, budget: desk}, rate: 0.25, list: [["= max(length, 100)", 7]]}
- {when: {length: [128, 3]}, batch: 8}
extra: {desk: {length: 128}}
columns: {desk: {task: [sum]}}
aliases: {ours: deep}
"""


@pytest.fixture
def sample(tmp_path, monkeypatch):
    """A declaration of the sample with some lines changed."""
    monkeypatch.setattr(declared, "HERE", tmp_path)

    def made(*changes, name="x"):
        text = SAMPLE
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
        return Declared(name)

    return made


def test_a_setting_is_put_together_in_order(sample):
    said = sample()
    assert list(said.tasks) == ["shift-64", "shift-128", "sort-64", "sort-128", "sum"]
    assert said.setting("plain", "shift-64", "live") == {
        "task": "shift-64", "batch": 16, "rate": 0.01, "options": {"width": 8}, "steps": 5, "kind": "shift", "length": 64,
        "model": "a"}  # fmt: skip
    deep = said.setting("deep", "sort-128", "desk")
    assert deep["options"] == {"width": 8, "layers": 2, "state": 128} and deep["steps"] == 1280
    assert (deep["rate"], deep["list"], deep["batch"]) == (0.25, [[128, 7]], 8)
    assert said.setting("deep", "sort-64", "desk")["list"] == [[100, 7]]
    assert said.setting("deep", "sort-64", "live")["rate"] == 0.01
    assert said.extra == {"desk": ("shift-128", "sort-128")} and said.columns == {"desk": ("sum",)}


def test_settings_share_nothing(sample):
    said = sample()
    said.setting("plain", "sum", "live")["options"]["width"] = 9
    assert said.setting("plain", "sum", "live")["options"] == {"width": 8}


@pytest.mark.parametrize("old, new, message", [
    ("row: deep, kind", "row: deeper, kind", "x.yaml has no row in cells: 'deeper'; there are plain, deep"),
    ("budget: desk}", "budget: week}", "x.yaml has no budget in cells: 'week'; there are live, desk"),
    ("aliases: {ours: deep}", "aliases: {ours: dep}", "x.yaml has no row in aliases: 'dep'; there are plain, deep"),
    ("extra: {desk:", "extra: {dusk:", "x.yaml has no budget 'dusk'; there are live, desk"),
    ("aliases:", "alias:", "x.yaml has no key 'alias'; there are"),
    ('"{kind}-{length}"', '"{kinds}-{length}"', r"x.yaml has no key of '\{kinds\}-\{length\}': 'kinds'; there are kind, length"),
    ("rate: 1e-2", "rate: 1e-2, rate: 2", "x.yaml: 'rate' stands twice"),
    ("kind: sort, budget", "sort: kind, budget", "x.yaml has no key in cells: 'sort'; there are budget, task, row, batch"),
    ("rows:", "rows: [", "x.yaml: while parsing"),
])  # fmt: skip
def test_what_cannot_be_is_refused_with_the_file_the_key_and_what_there_is(sample, old, new, message):
    with pytest.raises(ValueError, match=message):
        sample((old, new))


@pytest.mark.parametrize("old, new, message", [
    ("= 10 * length", "= 10 * lengths", "'= 10 \\* lengths' cannot be worked out .*'lengths'.*there are row, task, budget, "),
    ("= 10 * length", "= open(length)", "'= open\\(length\\)' cannot be worked out"),
    ("= 10 * length", "= 10 *", "cannot be worked out"),
])  # fmt: skip
def test_a_sum_that_cannot_be_worked_out_is_refused(sample, old, new, message):
    with pytest.raises(ValueError, match=message):
        sample((old, new)).setting("deep", "sort-64", "desk")


def test_a_declaration_may_be_like_another_for_some_of_its_rows(sample, tmp_path):
    sample()
    (tmp_path / "y.yaml").write_text("like: x\nrows: [deep]\ntasks: [sum]\nextra: {}\ncolumns: {}\n", encoding="utf-8")
    said = Declared("y")
    assert list(said.rows) == ["deep"] and list(said.tasks) == ["sum"]
    assert said.setting("deep", "sum", "desk") == Declared("x").setting("deep", "sum", "desk")
    (tmp_path / "y.yaml").write_text("like: x\nrows: [deepest]\n", encoding="utf-8")
    with pytest.raises(ValueError, match="y.yaml has no name in rows: 'deepest'; there are plain, deep"):
        Declared("y")


@pytest.mark.parametrize("name", [name for name, table in tables.TABLES.items() if table.declared])
def test_every_cell_of_a_declared_table_has_a_setting_that_is_plain_data(name):
    table = tables.get(name)
    for budget in table.budgets:
        for task in (*table.tasks, *table.extra.get(budget, ())):
            for row in table.rows:
                found = table.setting(row, task, budget)
                json.dumps(getattr(found, "plain", lambda found=found: found)(), allow_nan=False)


@pytest.mark.parametrize("name", SETTINGS)
def test_the_settings_of_the_desk_are_those_that_they_were(name):
    """A digest over all cells: a change of a YAML that changes what is trained must be meant."""
    table = tables.get(name)
    cells = [(row, task, budget) for budget in table.budgets for task in (*table.tasks, *table.extra.get(budget, ()))
             for row in table.rows]  # fmt: skip
    found = [getattr(one, "plain", lambda one=one: one)() for one in (table.setting(*cell) for cell in cells)]
    assert records.fingerprint({"cells": [list(cell) for cell in cells], "settings": found}) == SETTINGS[name]


# --- the frame -------------------------------------------------------------------------------------------------------


def test_a_frame_has_every_metric_of_every_record():
    found, frame = records.recorded("fwp/table1"), results.runs("fwp/table1")
    assert len(frame) == len(found) > 0 and frame.attrs["table"] == "fwp/table1"
    for record, (_, line) in zip(found, frame.iterrows()):
        assert (line["task"], line["row"], line["seed"]) == (record["task"], record["row"], record["seed"])
        assert line["last.bin1"] == record["metrics"]["last"]["bin1"] and line["curve"] == record["curve"]


def test_a_grid_is_mean_least_and_greatest_and_the_paper_stands_below():
    found = results.runs("fwp/table1")
    shares = [one["metrics"]["last"]["bin1"] for one in records.recorded("fwp/table1")
              if (one["task"], one["row"]) == ("anbn", "linear")]  # fmt: skip
    down = [math.floor(1000 * share + 1e-9) / 10 for share in (np.mean(shares), min(shares), max(shares))]
    assert results.grid(found, "last.bin1").loc["anbn", "linear"] == f"{down[0]:.1f} ({down[1]:.1f} to 100)"
    both = results.grid(found, "last.bin1", printed=True)
    assert both.loc[("anbn", "paper"), "e_lstm"] == "90" and both.loc[("anbn", ""), "linear"].startswith(f"{down[0]:.1f}")
    across = results.grid(found, "last.bin1", across="task")
    assert across.equals(results.grid(found, "last.bin1").T)


def test_what_is_no_metric_and_what_does_not_belong_together_are_refused():
    found = results.runs("fwp/table1")
    with pytest.raises(ValueError, match="fwp/table1 has no metric 'last.bin7'; there are .*last.bin1"):
        results.grid(found, "last.bin7")
    with pytest.raises(ValueError, match="one table shows one budget and one protocol, got .*live"):
        results.grid(pd.concat([found, found.assign(budget="live")]), "last.bin1")


def test_runs_that_broke_off_are_marked():
    run = {"experiment": "fwp/table1", "task": "aa", "row": "lstm", "budget": "desk", "protocol": "ours", "wall_seconds": 1.0}
    made = [{**run, "seed": seed, "metrics": {"last": {"bin1": share}, "finished": share == share}}
            for seed, share in enumerate((0.5, math.nan))]  # fmt: skip
    assert results.grid(results.frame(made), "last.bin1").loc["aa", "lstm"] == "50.0 !"
    assert results.grid(results.frame(made[1:]), "last.bin1").loc["aa", "lstm"] == "NaN !"


def test_the_command_shows_what_is_recorded_and_writes_it_for_others(tmp_path, capsys):
    path = tmp_path / "out.csv"
    assert cli.main(["results", "fwp/table2", "--csv", str(path)]) == 0
    assert capsys.readouterr().out.strip() == f"{path}: 70 runs"
    found = pd.read_csv(path)
    assert len(found) == 70 and {"task", "row", "seed", "last.bin1", "cpu_seconds"} <= set(found)
    assert json.loads(found["config"][0])["experiment"] == "fwp/table2"
    assert cli.main(["results", "fwp/table2"]) == 0
    assert "why cells are low" in capsys.readouterr().out
    assert cli.main(["results", "fwp/table9"]) == 2
    assert cli.main(["results", "fwp/table2", "--budget", "live"]) == 0
    assert capsys.readouterr().out.strip().endswith("no runs")
