"""The test that the papers' records have in common: each answers the present setting, and can be printed."""

import pytest

from lrnnlab import experiments, records
from lrnnlab.experiments import report


def belonging(names):
    """A test, for each experiment of ``names``, of its records at the desk budget."""

    @pytest.mark.parametrize("name", names)
    def belong(name):
        found = records.read_all(records.data_folder() / "records" / name / "desk")
        module = experiments.get(name)
        for record in found:
            cell = {"tasks": [record["task"]], "rows": [record["row"]], "seeds": [record["seed"]]}
            plan = experiments.plan(name, budget="desk", **cell)
            assert records.fingerprint(plan[0].config()) == record["fingerprint"], (record["task"], record["row"])
            assert str(record["seed"]) in module.line(record)
        assert not found or report.table(found)

    return belong
