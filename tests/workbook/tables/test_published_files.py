"""The budget ``paper`` of dlr/table4 and rotrnn/table1: it reads the published files, here small ones of the same format."""

import shutil

import pytest
from sample_files import write_samples

from lrnnlab.tasks.long_range import FOLDERS, TEN_WORDS, DataFileError
from workbook import tables
from workbook.tables import results
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
    text = results.text([record])
    assert "paper, original data" in text


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
