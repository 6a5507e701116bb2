"""Table 3 of paper 004: scores by hand, heights by recursion, and what the records say."""

import warnings

import numpy as np
import pytest
import torch

from lrnnbook.content.show.dlr_figures import pictures_and_answers
from lrnnbook.content.tables import dlr_table3 as table3
from lrnnbook.content.tables import records, results
from lrnnlab.tasks.long_range.listops import evaluate


def heights(words):
    """[(operator, height, value)] of every node, by descent into the text: (words) -> nested lists -> depth."""

    def read(place):
        if not words[place].startswith("["):
            return (0, words[place]), place + 1
        start, parts, place = place, [], place + 1
        while words[place] != "]":
            part, place = read(place)
            parts.append(part)
        height = 1 + max(part[0] for part in parts)
        found.append((words[start][1:], height, evaluate(" ".join(words[start : place + 1]))))
        return (height, None), place + 1

    found = []
    assert read(0)[1] == len(words)
    return found


def test_nodes_of_expressions():
    tokens, targets = table3.data("listops", 128, "validation", 20)
    task = table3.trees(128)
    written = [task.write(expression.long()) for expression in tokens]
    expected = [node for text in written for node in heights(text.split())]
    answers = torch.where(torch.arange(128) % 2 == 0, targets, 10)  # right at every second place
    found = table3.by_node(tokens, answers)
    assert list(zip(found["operator"], found["height"], found["value"])) == expected
    right = ((targets >= 0) & (torch.arange(128) % 2 == 0)).sum()
    assert found["right"].sum() == right and len(found) == (targets >= 0).sum()
    for by in ("height", "operator"):
        parts = table3.told_apart(found, by)
        assert sum(part["nodes"] for part in parts) == len(expected)
        assert sum(part["nodes"] * part["right"] for part in parts) == pytest.approx(int(right), abs=0.1)
    values = [value for operator, _, value in expected if operator == "MIN"]
    low = next(part for part in table3.told_apart(found, "operator") if part["operator"] == "MIN")
    assert low["majority"] == pytest.approx(max(map(values.count, values)) / len(values), abs=1e-4)


def test_macro_f1_by_hand():
    """Truth 0 0 0 0 1 1 2 2, answers 0 0 1 0 1 1 0 2: F1 is 2 hits / (2 hits + misses + false alarms)."""
    truth, said = np.array([[0, 0, 0, 0, 1, 1, 2, 2]]), np.array([[0, 0, 1, 0, 1, 1, 0, 2]])
    found = table3.of_batches(truth, said, 1)
    assert found["macro_f1"] == pytest.approx((6 / 8 + 4 / 5 + 2 / 3) / 3, abs=1e-4)
    assert found["macro_accuracy"] == pytest.approx((3 / 4 + 1 + 1 / 2) / 3, abs=1e-4)
    assert found["pixels"] == 6 / 8
    absent = table3.of_batches(np.array([[0, 0, 1, 1]]), np.array([[0, 0, 0, 1]]), 1)  # no class 2 at all
    assert absent["macro_f1"] == pytest.approx((4 / 5 + 2 / 3) / 2, abs=1e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a class that is answered and never right is no reason for a warning
        extra = table3.of_batches(np.array([[0, 0, 1, 1]]), np.array([[0, 2, 1, 1]]), 1)
    assert extra["macro_f1"] == pytest.approx((2 / 3 + 1 + 0) / 3, abs=1e-4) and extra["macro_accuracy"] == 0.75
    two = table3.of_batches(np.concatenate([truth, truth]), np.concatenate([said, truth]), 1)
    assert two["macro_f1"] == pytest.approx((found["macro_f1"] + 1) / 2, abs=1e-4)  # the mean over batches


def test_a_net_whose_numbers_have_run_away_answers_nothing():
    class Lost(torch.nn.Module):
        def forward(self, x):
            return torch.full((*x.shape[:2], 3), torch.nan)

    pictures = table3.data("segmentation", 32, "test", 2)
    with pytest.warns(UserWarning, match="all 2048 answers are NaN"):
        said = table3.answers(Lost(), "segmentation", pictures, 2).numpy()
    assert table3.of_batches(pictures[1].numpy(), said) == {"macro_f1": 0, "macro_accuracy": 0, "pixels": 0}
    half = torch.tensor(said).where(torch.arange(1024) > 5, pictures[1])  # some pixels are answered, the others are not
    kept = table3.of_segmentation(pictures, half)
    assert np.array(kept["confusion"]).sum() == 2048 and [row[3] for row in kept["confusion"]] != [0] * 3
    assert kept["predicted"][0].count("x") == 1018
    broken = {"experiment": "dlr/table3", "task": "segmentation-32", "row": "dlr", "seed": 0, "budget": "desk", "metrics": {"steps": 3}, **kept,
              "config": {"setting": {"size": 32}}}  # fmt: skip
    assert len(pictures_and_answers(results.frame([broken]), "segmentation-32").axes) == 6


def test_records_hold_together():
    found = records.recorded("dlr/table3")
    for record in found:
        if record["task"].startswith("listops"):
            near = record["row"] == "dss" and record["task"] != "listops-128"  # reads to height 1 only
            assert record["metrics"]["accuracy"] > record["levels"]["majority_by_operator"] + (0.12 if near else 0.15)
            assert all(part["right"] > part["majority"] for part in record["by_height"])
            total = sum(part["nodes"] * part["right"] for part in record["by_height"]) / sum(p["nodes"] for p in record["by_height"])
            assert total == pytest.approx(record["metrics"]["accuracy"], abs=1e-3)
        else:
            confusion = np.array(record["confusion"])
            assert confusion.trace() / confusion.sum() == pytest.approx(record["metrics"]["pixels"], abs=1e-4)
            assert {len(picture) for picture in record["predicted"]} == {record["config"]["setting"]["size"] ** 2}
