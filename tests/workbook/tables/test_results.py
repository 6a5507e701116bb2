"""Tables as data: what a YAML may say, and what is refused; recorded runs as a frame, by a second route."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from workbook import cli, tables
from workbook.show import language_figures
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


def test_what_serves_sums_and_conditions_alone_is_no_part_of_a_setting(sample):
    said = sample(("  deep: {model: b,", '  "deep_{_depth}": {_depth: [2, 3], turn: = pi / _depth, model: b,'),
                  ("options.layers: 2,", "options.layers: = _depth,"), ("{row: deep, kind", "{_depth: 2, kind"), ("ours: deep", "ours: deep_3"),
                  ("{length: [128, 3]}", "{options.width: 8, _depth: 3}"))  # fmt: skip
    two, three = (said.setting(f"deep_{depth}", "sort-64", "desk") for depth in (2, 3))
    assert (two["options"]["layers"], three["options"]["layers"]) == (2, 3) and "_depth" not in two
    assert (two["rate"], three["rate"], three["turn"], two["batch"], three["batch"]) == (0.25, 0.01, math.pi / 3, 16, 8)
    assert said.holds({"_depth": 3, "task": ["sum", "sort-64"], "options.layers": 3}, "deep_3", "sum", "live")
    assert not said.holds({"_depth": 3}, "plain", "sum", "live") and not said.holds({"budget": "desk"}, "plain", "sum", "live")


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
    ("aliases:", "shown: [{metric: r2, title: a, b}]\naliases:", "x.yaml has no key in shown: 'b'; there are"),
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
    (tmp_path / "y.yaml").write_text("like: x\nrows: [deep]\ntasks: [sum]\nextra: {}\nonly: {}\ncolumns: {}\n", encoding="utf-8")
    said = Declared("y")
    assert list(said.rows) == ["deep"] and list(said.tasks) == ["sum"]
    assert said.setting("deep", "sum", "desk") == Declared("x").setting("deep", "sum", "desk")
    (tmp_path / "y.yaml").write_text("like: x\nrows: [deepest]\n", encoding="utf-8")
    with pytest.raises(ValueError, match="y.yaml has no name in rows: 'deepest'; there are plain, deep"):
        Declared("y")


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


def run(seed=0, row="lstm", task="aa", **metrics):
    return {"experiment": "fwp/table1", "task": task, "row": row, "seed": seed, "budget": "desk", "protocol": "ours",
            "wall_seconds": 1.0, "levels": {"chance": 0.5}, "metrics": metrics}  # fmt: skip


def test_parts_of_what_is_recorded_are_metrics_too():
    found = results.frame([run(by=[1, 2], at={"32": 3.0}), run(1, by=[4])])
    for name, values in (("by.-1", [2, 4]), ("by.1", [2, None]), ("levels.chance", [0.5, 0.5]), ("at.32", [3.0, None])):
        assert results.column(found, name).astype(object).where(lambda one: one.notna(), None).tolist() == values
    for wrong in ("by.2", "levels.majority", "at.64"):
        with pytest.raises(ValueError, match=f"no metric '{wrong}'"):
            results.column(found, wrong)


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


def test_several_metrics_stand_in_a_line_with_what_the_paper_prints():
    found = results.frame([run(last={"bin1": 0.5}, least=0.25, most=9.0), run(1, last={"bin1": 0.7}), run(0, "srwm", least=0.1),
                           run(0, "linear", other=1)])  # fmt: skip
    metrics = {"middle": ["last.bin1", "least", "most"], "least": "least", "none": "never"}
    shown = results.lines(found, metrics, printed=True)
    assert shown.loc[("aa", "lstm", "")].tolist() == ["0.6 (0.25 to 9)", "0.25"] and list(shown) == ["middle", "least"]
    assert shown.loc[("aa", "lstm", "paper")].tolist() == ["100", ""] and shown.loc[("aa", "srwm", "")].tolist() == ["", "0.1"]
    apart = results.lines(found, {"middle": "last.bin1"}, "percent", each="seed")
    assert apart.index.tolist() == [("aa", "lstm", 0), ("aa", "lstm", 1)] and apart["middle"].tolist() == ["50.0", "70.0"]
    assert results.SAID["mean"]([-0.001]) == "0.00" and results.lines(found, {"none": "never"}).empty
    of_paper = results.theirs(found, "last.bin0", "task")
    assert of_paper.index[0] == "lstm" and list(of_paper)[:2] == ["parity", "aa"] and of_paper.loc["transformer", "aa"] == "0"


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


def test_what_is_no_metric_and_what_does_not_belong_together_are_refused():
    found = results.runs("fwp/table1")
    with pytest.raises(ValueError, match="fwp/table1 has no metric 'last.bin7'; there are .*last.bin1"):
        results.grid(found, "last.bin7")
    with pytest.raises(ValueError, match="one table shows one budget and one protocol, got .*live"):
        results.grid(pd.concat([found, found.assign(budget="live")]), "last.bin1")


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


def test_an_r2_that_is_none_is_not_a_perfect_one():
    run = {"experiment": "dlr/table1", "row": "dlr_1", "task": "shift-64", "seed": 0, "budget": "desk", "protocol": "ours"}
    made = results.frame([{**run, "metrics": {"r2": math.nan, "finished": False}},
                          {**run, "row": "dlr_2", "metrics": {"r2": 0.95, "finished": True}}])  # fmt: skip
    assert results.grid(made, "r2", "mean").loc["shift-64"].tolist() == ["NaN !", "0.95"]
    assert results.reasons(made)[["row", "why"]].values.tolist() == [["dlr_1", "1 not learned"]]


def test_a_rate_at_which_a_seed_broke_off_has_a_cross():
    made = [one for one in records.recorded("dlr/table5") if one["task"] == "depth4-0.01"]
    broken = {**made[0], "seed": 9, "metrics": {**made[0]["metrics"], "test": None}}
    crosses = [line for axes in language_figures.loss_by_rate(results.frame([*made, broken])).axes for line in axes.lines
               if line.get_marker() == "x" and len(line.get_xdata())]  # fmt: skip
    assert [line.get_xdata().tolist() for line in crosses] == [[0.01]]
    marked = results.frame([*made, {**broken, "metrics": {**broken["metrics"], "finished": False}}])
    assert results.grid(marked, "test", "number").loc["depth4-0.01", broken["row"]] == f"{made[0]['metrics']['test']:.4g} !"
