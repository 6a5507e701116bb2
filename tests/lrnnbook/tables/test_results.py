"""Tables as data: what a YAML may say, and what is refused; recorded runs as a frame, by a second route."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from lrnnbook import tables
from lrnnbook.content.tables import declared, records, results
from lrnnbook.content.tables.declared import Declared
from lrnnbook.machinery import cli

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


MEANT = {  # as it is written: what it is
    "1e-3": 1e-3, "1E-3": 1e-3, "1.e3": 1e3, ".5e3": 500.0, "+1e3": 1e3, ".5": 0.5, "5.": 5.0, "+5": 5, "-0": 0, "0x1F": 31,
    "60_000": 60_000, "true": True, "True": True, "null": None, "~": None, "none": "none", ".inf": math.inf, "y": "y",
    "'0777'": "0777", '"yes"': "yes", "'2026-11-28'": "2026-11-28", "= 2 * batch": 16, "&a [1, 2]": [1, 2], "{1: 2}": {"1": 2},
}  # fmt: skip


@pytest.mark.parametrize("written", MEANT)
def test_a_value_means_what_it_says(sample, written):
    assert sample(("rate: 1e-2", f"rate: {written}")).setting("plain", "sum", "live")["rate"] == MEANT[written]


@pytest.mark.parametrize("written", [
    "yes", "No", "on", "Off", "0777", "08", "00", "0o17", "0b11", "1_00", "1__0", "0.000_1", "2026-11-28", "12:30", "1:30.5",
    "2026-11-28T12:00:00Z", ".nan", "NaN", "nan", "inf", "-Inf", "1e999", "9" * 5000, "None", "10k", "0.1f", "50%", "1/2", "1 000",
    "1.5.2", "1e", "１２", "−1", "!!python/object/apply:os.getcwd []", "!!binary aGk=", "!!set {a}", "*nothing", "&a [*a]",
    "&a {b: *a}", "{a: 1, a: 2}", "{? [a] : b}", "[1, 2", "a: b", "@x", "'", "<<", "=2",
])  # fmt: skip
def test_a_value_that_others_read_otherwise_is_refused_with_file_line_and_key(sample, written):
    with pytest.raises(ValueError, match=r"^x\.yaml: .*line 2") as refused:
        sample(("rate: 1e-2", f"rate: {written}"))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("sum_", [
    "= 2 *", "= 1 / 0", "= nope", "= rate", "= batch.x", "= max(1)", "= (-1) ** 0.5", "= 10.0 ** 400", "= int(task)"
])  # fmt: skip
def test_a_sum_that_has_no_value_is_refused_with_file_key_and_what_there_is(sample, sum_):
    said = sample(("rate: 1e-2", f"rate: {sum_}"))
    with pytest.raises(ValueError, match=r"^x\.yaml: rate: .* cannot be worked out \(.*\); there are row, task, budget, "):
        said.setting("plain", "sum", "live")


@pytest.mark.parametrize("name", ["8", "08", "1e3", "1.50", "0x10", "yes", "null", "true", "2026-11-28", "a b"])
def test_a_name_is_the_text_that_is_written(sample, name):
    said = sample(("  plain:", f"  {name}:"))
    assert list(said.rows) == [name, "deep"] and said.setting(name, "sum", "live")["model"] == "a"


def test_a_name_that_is_a_number_needs_no_quotes_in_a_list(sample):
    said = sample(("  plain:", "  8:"), ("row: deep, kind", "row: [8], kind"), ("ours: deep", "ours: 8"))
    assert said.setting("8", "sort-64", "desk")["rate"] == 0.25 and said.setting("deep", "sort-64", "desk")["rate"] == 0.01


PLAIN_ROW = "plain: {model: a}"
WRONG = {  # what stands in the place of a line of the sample, and of which key the refusal speaks
    "nothing": (SAMPLE, "", "asks for keys"), "a remark": (SAMPLE, "# x\n", "asks for keys"), "a list": (SAMPLE, "- a\n", "asks for keys"),
    "a word": (SAMPLE, "hello", "asks for keys"), "Latin-1": (SAMPLE, "notes: \udcfc", "utf-8"), "a tab": ("  plain", "\tplain", "line 8"),
    "two documents": ("aliases:", "---\naliases:", "single document"), "zeros": ("aliases:", "\0aliases:", "control characters"),
    "no rows": (SAMPLE[SAMPLE.index("rows:") : SAMPLE.index("cells:")], "", "rows: is not there"),
    "an empty key": ("setting: {task: = task, batch: 16, rate: 1e-2, options: {width: 8}}", "setting:", "setting: asks for"),
    "a key twice": ("aliases:", "extra:", "'extra' appears twice"), "a row twice": ("  deep:", "  plain:", "'plain' appears twice"),
    "rows in a list": ("extra:", "like: y\nextra:", "like: y.yaml is not there"),
    "a row that is a word": (PLAIN_ROW, "plain: a", "rows, plain: asks for"),
    "a pattern of no list": (PLAIN_ROW, '"p{k}": {k: 3}', "k: asks for a list"),
    "a pattern of truths": (PLAIN_ROW, '"p{k}": {k: [true]}', "asks for a text"), "a name twice": (PLAIN_ROW, '"{k}": {k: [deep]}', "'deep' appears twice"),
    "half a pattern": (PLAIN_ROW, '"p{": {}', "rows, p{: is neither"), "no name": (PLAIN_ROW, '"": {}', "rows, : is neither"),
    "a comma in a number": ("rate: 1e-2", "rate: 1,5", "setting: '5' is no name"), "dots": ("batch: 8", "a..b: 8", "cells, number 2: 'a..b'"),
    "a key within a number": ("batch: 8", "batch.x: 8", "batch.x: cannot be set"), "a cell that is a word": ("- {when: {length", "- a\n- {when: {length", "cells, number 2"),
    "when of nothing": ("when: {length: [128, 3]}", "when: ", "cells, number 2, when: asks"), "when of a list": ("when: {length: [128, 3]}", "when: [a]", "when: asks"),
    "no cells": (SAMPLE[SAMPLE.index("cells:") : SAMPLE.index("extra:")], "cells:\n", "cells: asks for a list"),
    "no tasks": ("desk: {length: 128}", "desk: {lenght: 128}", "extra, desk: no task"), "a list of tasks": ("desk: {task: [sum]}", "desk: [sum]", "columns, desk: asks"),
    "an alias of nothing": ("ours: deep", "ours: null", "row in aliases"), "seeds": ("extra:", "seeds: [a]\nextra:", "seeds: asks for a whole number"),
    "a clock of 1": ("extra:", "clock: 1\nextra:", "clock: asks for true"), "shown": ("extra:", "shown: [{metric: a}]\nextra:", "number 1: asks for a title"),
    "how it is shown": ("extra:", "shown: [{metric: a, title: b, as: per cent}]\nextra:", "'as' in shown"),
    "why": ("extra:", "why: {known: 1}\nextra:", "why: has no 'far'"),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_table_is_refused_with_its_file_and_the_key(sample, tmp_path, kind):
    old, new, message = WRONG[kind]
    assert old in SAMPLE
    (tmp_path / "w.yaml").write_bytes(SAMPLE.replace(old, new, 1).encode("latin-1" if "\udcfc" not in new else "utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match=f"w.yaml.*{re.escape(message)}"):
        said = sample(name="x") and Declared("w")
        [said.setting(row, task, budget) for row in said.rows for task in said.tasks for budget in said.budgets]


def test_a_table_that_is_like_itself_is_refused(sample, tmp_path):
    sample()
    for name, other in (("a", "b"), ("b", "a"), ("c", "c")):
        (tmp_path / f"{name}.yaml").write_text(f"like: {other}\n")
    for name, wanted in (("a", "b.yaml: like: a.yaml is like itself"), ("c", "c.yaml: like: c.yaml is like itself"), ("d", "d.yaml is not there")):
        with pytest.raises(ValueError, match=wanted):
            Declared(name)


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


def test_a_missing_value_is_missing_in_csv_and_in_parquet_in_every_column(tmp_path, monkeypatch):
    """In the frames that pandas is given; with pyarrow, in the files too."""
    full = {"number": 1.5, "whole": 3, "truth": True, "word": "lasts", "list": [1, math.nan], "mixed": 1}
    found = results.frame([run(0, **full), run(1), run(2, **dict.fromkeys(full)), run(3, number=math.nan, word="", mixed="a")])
    given = []
    monkeypatch.setattr(pd.DataFrame, "to_parquet", lambda frame, path, **options: given.append(frame))
    for made in (found, results.runs("lrnn/growth"), results.runs("lrnn/fading"), results.runs("regulargpt/table3")):
        results.write(made, tmp_path / "a.csv")
        results.write(made, tmp_path / "a.parquet")
        read, frame = pd.read_csv(tmp_path / "a.csv"), given.pop()
        assert read.isna().equals(frame.isna()) and list(read) == list(made)
        for values in frame.select_dtypes(object).items():
            assert {type(one) for one in values[1]} <= {str, type(None)}
    results.write(found, tmp_path / "a.csv")
    read = pd.read_csv(tmp_path / "a.csv")
    assert read[[*full]].isna().sum().tolist() == [3, 3, 3, 3, 3, 2]
    assert read["truth"][0] == True and read["list"][0] == "[1, null]"  # noqa: E712
