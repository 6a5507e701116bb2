"""What holds of every table: its plans and refusals, its settings, and that its records answer the present settings."""

import json

import pytest
import torch
from recorded import SETTINGS

from lrnnbook import tables
from lrnnbook.content.tables import records, results
from lrnnbook.content.tables.table import LOADED

RECORDED = [name for name in SETTINGS if name != "lrnn/fig1"]  # which is made at once


def test_no_table_is_left_out():
    assert {*tables.NAMES} == {*SETTINGS, "fwp/search"} == {tables.get(name).name for name in tables.NAMES} == {*LOADED}


@pytest.mark.parametrize("name", SETTINGS)
def test_every_cell_is_planned_once_and_what_is_not_there_is_named(name):
    table = tables.get(name)
    for budget in set(table.budgets) & {"live", "desk"}:
        runs = tables.plan(name, budget=budget)
        due = len(table.columns.get(budget, table.tasks)) * len(table.rows) * len(table.seeds)
        assert len(runs) == len({records.identity(run.says()) for run in runs}) == due
    task, row, budget = table.tasks[0], table.rows[0], table.budgets[0]
    for cell in (("mamba", task, budget), (row, "chess", budget), (row, task, "week")):
        with pytest.raises(ValueError, match=f"{name} has no (row|task|budget).*(mamba|chess|week)"):
            table.setting(*cell)


@pytest.mark.parametrize("name", SETTINGS)
def test_the_settings_are_those_that_they_were(name):
    """A digest over all cells: a change of a YAML that changes what is trained must be meant."""
    table = tables.get(name)
    cells = [(row, task, budget) for budget in table.budgets for task in table.tasks_at(budget) for row in table.rows]
    found = [getattr(one, "plain", lambda one=one: one)() for one in (table.setting(*cell) for cell in cells)]
    assert json.dumps(found, allow_nan=False)
    assert records.fingerprint({"cells": [list(cell) for cell in cells], "settings": found}) == SETTINGS[name]


@pytest.mark.parametrize("name", RECORDED)
def test_records_answer_the_present_settings_and_are_told(name):
    """Of every budget and protocol."""
    by_way, cell = {}, {"tasks": "task", "rows": "row", "seeds": "seed"}
    for one in records.read(records.data_folder(), name):
        by_way.setdefault((one["budget"], one["protocol"]), []).append(one)
    for (budget, protocol), found in by_way.items():
        asked = {what: sorted({one[part] for one in found}) for what, part in cell.items()}
        plan = tables.plan(name, budget=budget, protocol=protocol, **asked)
        assert {one["fingerprint"] for one in found} <= {records.fingerprint(run.config()) for run in plan}
    found = records.recorded(name)
    assert results.line(found[0]).startswith(records.who(found[0])) and results.text(found)


@pytest.mark.parametrize("name", SETTINGS)
def test_what_a_table_shows_its_records_have(name):
    """A metric that is misspelt in ``shown:`` would be left out without a word."""
    found = results.runs(name)
    for one in tables.get(name).declared.found.get("shown", ()) if len(found) else ():
        names = [*(name for names in one.get("metrics", {}).values() for name in results._listed(names)), *one.get("level", {}).values()]
        for metric in [*names, *([one["metric"]] if "metric" in one else [])]:
            if one.get("of") == "paper":
                assert len(results.theirs(found, metric)), metric
            else:
                assert results._parts(found, metric) if metric.endswith(".*") else len(results.column(found, metric))


@pytest.mark.parametrize("name", [name for name in tables.NAMES if "paper" in tables.get(name).budgets])
def test_the_papers_budget_has_the_papers_columns_and_says_if_it_needs_a_gpu(name, monkeypatch):
    table = tables.get(name)
    runs = tables.plan(name, rows=table.rows[:1], budget="paper")
    assert {run.task for run in runs} >= set(table.extra.get("paper", ()))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    if runs[0].device == "cuda":
        with pytest.raises(ValueError, match="needs a GPU, and torch sees none|another folder than"):
            runs[0].measure()
