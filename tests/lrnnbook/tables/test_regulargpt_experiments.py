"""Experiments of paper 002, tables: the loop against a plain one, scores against a slow count, records, pictures."""


import numpy as np
import pytest
import torch
from torch.nn import functional as F

from lrnnbook.content.tables import records, regulargpt_table1
from lrnnbook.content.tables.declared import paper
from lrnnbook.content.tables.results import percent
from lrnnlab.tasks.regular import STRING_TASKS, parity
from lrnnlab.training import rng


def test_the_score_leaves_out_the_first_length_beyond_training_and_says_which_weights(monkeypatch):
    """Last weights answer 0 always, the best ones 1: each is scored as such, by the strings that were drawn."""
    setting = regulargpt_table1.TABLE.setting("rnn", "parity", "live") | {"stride": 1, "strings": 3}
    short = parity()
    short.test_length = 44
    monkeypatch.setattr(regulargpt_table1, "build_task", lambda setting: short)

    def constant(net, answer):
        net.head.weight.data.zero_()
        net.head.bias.data.copy_(F.one_hot(torch.tensor(answer), 2))
        return {name: value.clone() for name, value in net.state_dict().items()}

    def fake(net, task, **_):
        best = constant(net, 1)
        constant(net, 0)
        return regulargpt_table1.Trained(net, steps=5, best=best, best_step=1)

    monkeypatch.setattr(regulargpt_table1, "train_strings", fake)
    found = regulargpt_table1.measure(setting, seed=3)
    generator, ones = rng(3, "regulargpt/test"), {}
    for length in (41, 42, 43, 44):
        ones[length] = float(parity().sample(3, length, generator).targets.double().mean())
    assert found["accuracy_by_length"] == [round(1 - ones[length], 4) for length in (41, 42, 43, 44)]
    wanted = np.mean([ones[length] for length in (42, 43, 44)])
    assert found["metrics"]["best_accuracy"] == pytest.approx(wanted) and ones[41] != wanted
    assert found["metrics"]["accuracy"] == pytest.approx(1 - wanted)
    assert found["metrics"]["worst_length"] == pytest.approx(1 - max(ones.values())) and not found["metrics"]["exact"]


def test_printed_numbers_are_the_papers():
    """What Table 1's Transformer gets where it only knows the majority; greatest is never below the mean."""
    theirs = paper("regulargpt/table1").pivot(index=["task", "row"], columns="metric", values="value")
    assert set(theirs.index.get_level_values("task")) == set(regulargpt_table1.TABLE.tasks) - {"modular_arithmetic"}
    assert len(theirs) == 12 * 4 and (theirs["greatest"] >= theirs["accuracy"]).all()
    for task in ("tomita_5", "tomita_6"):
        known = 100 * STRING_TASKS[task]().average_majority(range(52, 101))
        assert theirs.loc[(task, "transformer")].tolist() == [pytest.approx(known, abs=0.05)] * 2
    means = theirs["accuracy"].groupby("row").mean().sort_values()
    assert means.index.tolist() == ["transformer", "regulargpt_c3", "regulargpt_c2", "rnn"]


def test_what_must_be_reached_is_reached():
    """Parity, Cycle Navigation and Even Pairs with C = 2 are exact in at least one seed at every length."""
    first, second = regulargpt_table1.TABLE, regulargpt_table1.TABLE_2
    for table, tasks in ((first, ("parity", "cycle_navigation", "even_pairs")), (second, second.tasks)):
        found = [r for r in records.recorded(table.name) if r["row"] == "regulargpt_c2"]
        for task in tasks:
            best = max((r for r in found if r["task"] == task), key=lambda r: r["metrics"]["accuracy"])
            assert best["lengths"] == list(range(41, 501, 1 if table is first else 9))
            assert set(best["accuracy_by_length"]) == {1.0} and best["metrics"]["exact"] and best["metrics"]["accuracy"] == 1


def test_what_table1_says_was_found():
    """What ``data/records/README.md`` says of them."""
    found = records.recorded("regulargpt/table1")
    every, three = regulargpt_table1.TABLE.tasks, range(3)

    def shares(row, *tasks, name="accuracy"):
        """(tasks, seeds)"""
        values = {(r["task"], r["seed"]): r["metrics"][name] for r in found if r["row"] == row}
        return np.array([[values[task, seed] for seed in three] for task in tasks])

    arithmetic = ("modular_arithmetic", "modular_arithmetic_prefix")
    known = [task for task in every if task not in arithmetic]
    assert shares("regulargpt_c2", *known).max(1).min() > 0.998 and shares("regulargpt_c2", *known).min() > 0.937
    seen, beyond = (shares("regulargpt_c2", *arithmetic, name=name) for name in ("accuracy_seen", "accuracy"))
    assert 0.976 < seen.min() and 0.64 < beyond.min() < beyond.max() < 0.86
    seams = {T: np.mean([r["over_the_seam"][T] for r in found if "over_the_seam" in r], axis=0) for T in ("16", "40")}
    assert seams["16"].min() == 1 and 0.994 < seams["40"][0] and 0.95 < seams["40"][1] < 0.952
    assert abs(shares("regulargpt_c3", *arithmetic) - 0.2).max() < 0.03
    assert shares("rnn", *every).min() > 0.99
    theirs = paper("regulargpt/table1").query("row == 'transformer' and metric == 'accuracy'").set_index("task")["value"]
    for task in every[5:-2]:
        assert shares("transformer", task).mean() > theirs[task] / 100
    pairs = shares("transformer", "even_pairs")
    assert shares("transformer", "even_pairs", name="accuracy_seen").min() == 1 and 0.63 < pairs.min() < pairs.max() < 0.77


def test_what_table2_says_was_found():
    """What ``data/records/README.md`` says of them."""
    found = {(r["row"], r["task"], r["seed"]): r for r in records.recorded("regulargpt/table2")}
    wrong = {run: r["metrics"]["accuracy"] for run, r in found.items() if not r["metrics"]["exact"] and run[0] != "transformer"}
    assert {run: percent(share) for run, share in wrong.items()} == {("rnn", "0.9", 0): "98.1", ("regulargpt_c2", "0.1", 1): "52.3"}
    assert all(r["metrics"]["accuracy_seen"] < 0.56 for (row, _, _), r in found.items() if row == "transformer")
