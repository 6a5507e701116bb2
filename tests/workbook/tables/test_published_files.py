"""The budget ``paper`` of dlr/table4 and rotrnn/table1: it reads the published files, here small ones of the same format."""

import shutil

import pytest
import torch
from sample_files import write_samples

from lrnnlab.tasks.long_range import FOLDERS, TEN_WORDS, DataFileError
from workbook import tables
from workbook.tables import report, results
from workbook.tables import surrogate_data as stand_ins

CELLS = [(name, task) for name in ("dlr/table4", "rotrnn/table1") for task in (*tables.get(name).tasks, "path-x")]


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """Every format, with eight more words, and Path-X, whose pictures are larger and otherwise the same."""
    folder = tmp_path_factory.mktemp("long_range")
    write_samples(folder, seed=5)
    shutil.copytree(folder / FOLDERS["pathfinder"], folder / FOLDERS["path-x"])
    for word in set(TEN_WORDS) - {"yes", "no"}:
        shutil.copytree(folder / FOLDERS["speech"] / "yes", folder / FOLDERS["speech"] / word)
    return folder


@pytest.fixture
def looked_for(published, monkeypatch):
    monkeypatch.setenv("LRNNLAB_LONG_RANGE", str(published))


def small(name, row, task):
    """The paper's cell, cut down in all but the data."""
    (run,) = tables.plan(name, rows=[row], tasks=[task], seeds=[0], budget="paper")
    assert "items" not in run.setting and run.setting["steps"] >= 39_000 and run.device == "cuda"
    run.setting.update(device="cpu", steps=2, warmup=0, looks=1, batch=2, layers=1, width=8)
    return run


@pytest.mark.parametrize("name, task", CELLS)
def test_the_budget_paper_trains_on_the_published_files(name, task, looked_for):
    record = next(tables.run_all([small(name, tables.get(name).rows[0], task)]))
    metrics = record["metrics"]
    assert record["budget"] == "paper" and not record["data"].endswith("(stand-in)")
    assert metrics["steps"] == 2 and metrics["finished"] and 0 <= metrics["accuracy"] <= 1
    text = report.table([record])
    assert "paper, original data" in text and f"{tables.get(name).printed(record['row'], task)}" in text


def test_what_is_read_is_what_the_papers_read(looked_for):
    def data(name, task):
        return stand_ins.splits(small(name, tables.get(name).rows[0], task).setting)

    assert {name: data(name, "text")["train"].length for name in ("dlr/table4", "rotrnn/table1")} == {
        "dlr/table4": 2048, "rotrnn/table1": 4096,
    }  # fmt: skip
    assert data("dlr/table4", "speech")["train"].classes == 10
    text = data("rotrnn/table1", "text")
    assert text["val"].targets.tolist() == text["test"].targets.tolist()
    read = [part[0][0].tolist() for part in data("rotrnn/table1", "listops").values()]
    assert all(read.count(tokens) == 1 for tokens in read)


@pytest.mark.parametrize("row", ["s4", "liquid_s4"])
def test_the_rows_of_s4_and_liquid_s4(row, looked_for):
    record = next(tables.run_all([small("rotrnn/table1", row, "listops")]))
    assert record["row"] == row and record["metrics"]["finished"]


@pytest.mark.parametrize("name, task", CELLS)
def test_files_that_are_missing_are_named(name, task, tmp_path, monkeypatch):
    monkeypatch.setenv("LRNNLAB_LONG_RANGE", str(tmp_path))
    with pytest.raises(DataFileError, match=f"{FOLDERS[task]} is missing.*LRNNLAB_LONG_RANGE"):
        next(tables.run_all(tables.plan(name, rows=["ours"], tasks=[task], seeds=[0], budget="paper")))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_the_budget_paper_says_that_it_needs_a_gpu(looked_for):
    with pytest.raises(ValueError, match="text at the budget paper needs a GPU"):
        next(tables.run_all(tables.plan("rotrnn/table1", rows=["ours"], tasks=["text"], seeds=[0], budget="paper")))


@pytest.mark.parametrize("accuracy, training, wanted", [
    (0.97, 1.0, []), (0.7, 0.99, ["1 learned by heart"]), (0.7, 0.72, ["1 not learned"]), (0.52, 0.5, ["1 not learned"]),
])  # fmt: skip
def test_a_low_number_says_why(accuracy, training, wanted):
    run = {"experiment": "dlr/table4", "task": "text", "row": "dlr", "seed": 0, "budget": "desk", "protocol": "ours"}
    made = results.frame([{**run, "metrics": {"accuracy": accuracy, "training_accuracy": training}}])
    assert results.reasons(made)["why"].tolist() == wanted
