"""The cheapest run of each table, made again to the last digit, where arithmetic is that of the records (:func:`arithmetic`)."""

import hashlib
import json

import numpy as np
import pytest
import torch

from lrnnlab.training import deterministic
from workbook import tables
from workbook.tables import records

ARITHMETIC = "c0ea889751640d5f"  # of the machines on which the records were made
CLOCK = ("seconds", "per_second")  # what a clock says is another number at every run
DEAR = {"dlr/longer", "dlr/table3", "dlr/table4", "regulargpt/table3", "rotrnn/table1"}  # no run below 10 CPU seconds
BARE = {"lrnn/fig1", "fwp/search"}  # nothing is recorded: the one is made at once, the other is asked for


def arithmetic() -> str:
    """A digest of the bits that this processor and these versions of torch and NumPy give, by no code of ours."""
    with deterministic():
        x = torch.randn(96, 200, generator=torch.Generator().manual_seed(0))
        found = [x @ x.T, x.exp(), x.tanh(), x.softmax(-1), x.sum(), torch.fft.rfft(x).abs(), x.abs().pow(1.2).log1p(),
                 torch.nn.functional.layer_norm(x, (200,)), torch.nn.functional.silu(x).cumsum(-1)]  # fmt: skip
        bits = b"".join(one.numpy().tobytes() for one in found) + np.linalg.inv(x[:, :96].double().numpy()).tobytes()
    return hashlib.sha256(bits).hexdigest()[:16]


def cheapest(name: str) -> dict:
    """The recorded run of a table, of its desk budget, that took the least seconds."""
    found = records.recorded(name)
    return min(found, key=lambda record: record.get("cpu_seconds", record["wall_seconds"]))


def without_clock(metrics: dict) -> dict:
    return {name: value for name, value in metrics.items() if not any(word in name for word in CLOCK)}


AGAIN = [name for name in tables.NAMES if not tables.get(name).clock and name not in DEAR and name not in BARE]


@pytest.mark.thorough
@pytest.mark.parametrize("name", AGAIN)
def test_today_s_code_makes_the_recorded_numbers(name):
    if arithmetic() != ARITHMETIC:
        pytest.skip(f"the records were made with arithmetic {ARITHMETIC}, here is {arithmetic()}")
    recorded = cheapest(name)
    cell = {what: [recorded[part]] for what, part in {"tasks": "task", "rows": "row", "seeds": "seed"}.items()}
    (run,) = tables.plan(name, budget="desk", **cell)
    assert records.fingerprint(run.config()) == recorded["fingerprint"]
    with deterministic():
        made = json.loads(json.dumps(tables.perform(run), default=list))
    assert without_clock(made["metrics"]) == without_clock(recorded["metrics"]), (
        f"{recorded['task']} {recorded['row']} seed {recorded['seed']}: other numbers under the same fingerprint"
    )
