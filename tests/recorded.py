"""Tests that the papers' experiments have in common: what is planned, and that records answer the present settings."""

import pytest

from lrnnlab import tables, records
from lrnnlab.tables import report


def planned(names, without=()):
    """A test, for each experiment of ``names``, of its plans and refusals; ``without``: budgets that it has not, either."""

    @pytest.mark.parametrize("name", names)
    def plan(name):
        module = tables.get(name)
        for budget in ("live", "desk"):
            runs = tables.plan(name, budget=budget)
            assert len(runs) == len(module.TASKS) * len(module.ROWS)
            assert len({str(run.path(records.data_folder())) for run in runs}) == len(runs)
        with pytest.raises(ValueError, match="no row 'mamba'"):
            module.setting("mamba", module.TASKS[0], "desk")
        with pytest.raises(ValueError, match="'sort'"):
            module.setting(module.ROWS[0], "sort", "desk")
        for budget in ("week", *without):
            with pytest.raises(ValueError, match=f"'{budget}'"):
                module.setting(module.ROWS[0], module.TASKS[0], budget)

    return plan


def belonging(names):
    """A test, for each experiment of ``names``, of its records at the desk budget."""

    @pytest.mark.parametrize("name", names)
    def belong(name):
        found = records.read_all(records.data_folder() / "records" / name / "desk")
        module = tables.get(name)
        for record in found:
            cell = {"tasks": [record["task"]], "rows": [record["row"]], "seeds": [record["seed"]]}
            plan = tables.plan(name, budget="desk", **cell)
            assert records.fingerprint(plan[0].config()) == record["fingerprint"], (record["task"], record["row"])
            assert str(record["seed"]) in module.line(record)
        assert not found or report.table(found)

    return belong
