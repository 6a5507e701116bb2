"""Tables as data: what a YAML may say, and what is refused; recorded runs as a frame, by a second route."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from workbook import cli, tables
from workbook.tables import declared, records, results
from workbook.tables.declared import Declared

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
only: {live: {kind: [shift, sort]}}
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
    assert said.only == {"live": ("shift-64", "shift-128", "sort-64", "sort-128")}


@pytest.mark.parametrize("old, new, message", [
    ("row: deep, kind", "row: deeper, kind", "x.yaml has no row in cells: 'deeper'; there are plain, deep"),
    ("extra: {desk:", "extra: {dusk:", "x.yaml has no budget 'dusk'; there are live, desk"),
    ('"{kind}-{length}"', '"{kinds}-{length}"', r"x.yaml has no key of '\{kinds\}-\{length\}': 'kinds'; there are kind, length"),
    ("aliases:", "shown: [{metric: r2, title: a, b}]\naliases:", "x.yaml has no key in shown: 'b'; there are"),
])  # fmt: skip
def test_what_cannot_be_is_refused_with_the_file_the_key_and_what_there_is(sample, old, new, message):
    with pytest.raises(ValueError, match=message):
        sample((old, new))


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


def run(seed=0, row="lstm", task="aa", **metrics):
    return {"experiment": "fwp/table1", "task": task, "row": row, "seed": seed, "budget": "desk", "protocol": "ours",
            "wall_seconds": 1.0, "levels": {"chance": 0.5}, "metrics": metrics}  # fmt: skip


def test_a_grid_has_levels_words_means_and_a_line_for_each_part():
    found = results.frame([run(at={"32": 1.0, "64": 3.0}, kind="lasts"), run(1, at={"32": 2.0}, kind="drifts"),
                           run(2, at={"32": 2.0}, kind="lasts"), run(0, "srwm", at={"32": 4.0})])  # fmt: skip
    assert results.grid(found, "at.*", "number").index.tolist() == [("32", "aa"), ("64", "aa")]
    assert results.grid(found, "at.*", "mean").loc[("32", "aa")].tolist() == ["1.67", "4.00"]
    assert results.grid(found, "kind", "word").loc["aa"].tolist() == ["2 lasts, 1 drifts"]
    level = {"guess": "levels.chance"}
    for across, wanted in (("row", ["guess", "lstm", "srwm"]), ("task", ["aa"])):
        shown = results.grid(found, "at.32", across=across, level=level)
        assert list(shown) == wanted and (shown if across == "row" else shown.T).loc["aa", "guess"] == "50.0"


def test_why_a_cell_is_low_by_several_measures(sample, monkeypatch):
    said = sample()
    said.found = {"why": [
        {"far": "r2", "known": 0.9, "not_expressible": [{"row": "deep", "length": 64, "proof": "chapter 1"}]},
        {"far": "f1", "known": 0.5, "training": "fit", "not_expressible": [{"task": "sum", "remark": "nobody has"}]},
    ]}  # fmt: skip
    table = replace(tables.get("fwp/table1"), declared=said, rows=tuple(said.rows), tasks=tuple(said.tasks))
    monkeypatch.setattr(results, "_table", lambda found: table)
    found = results.frame([run(0, "plain", "sort-64", r2=0.2), run(0, "deep", "sort-64", r2=0.2), run(0, "deep", "sort-128", r2=0.9),
                           run(0, "plain", "sum", f1=0.1, fit=0.9), run(1, "plain", "sum", f1=0.1, fit=0.15), run(2, "plain", "sum", f1=0.6),
                           run(0, "deep", "sum", f1=0.9), run(0, "plain", "sort-128", r2=math.nan, finished=False)])  # fmt: skip
    assert results.reasons(found).to_numpy().tolist() == [
        ["sort-64", "plain", 1, "1 not learned"], ["sort-64", "deep", 1, "not expressible (chapter 1)"],
        ["sort-128", "plain", 1, "1 not learned"],
        ["sum", "plain", 3, "1 not learned, 1 learned by heart; nobody has"],
    ]  # fmt: skip


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
