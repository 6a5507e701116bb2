"""lra/levels: each trivial predictor on data that was planted for it; what is set beside the nets; records, picture."""

import shutil

import numpy as np
import pytest
from recorded import found
from sample_files import write_samples

from lrnnbook import tables
from lrnnbook.content.show.dlr_figures import beside_nets
from lrnnbook.content.tables import long_range_levels as levels
from lrnnbook.content.tables import records, results, surrogate_data
from lrnnlab.tasks.long_range import FOLDERS, TEN_WORDS, DataFileError, SequenceData


def planted(make, classes, vocab_size, n=400, seed=0):
    """Training and test data of ``make(generator) -> (sequence, class)``."""
    draw = np.random.default_rng(seed)

    def data():
        items = [make(draw) for _ in range(n)]
        return SequenceData("planted", classes, np.array([label for _, label in items]), [one for one, _ in items].__getitem__,
                            10_000, vocab_size)  # fmt: skip

    return data(), data()


def by_row(train, test, rows=levels.TABLE.rows):
    return {row: levels.accuracies(row, train, [test])[0] for row in rows}


def symbols(draw, length=100):
    return draw.integers(0, 4, length)


def by_length(draw):
    label = int(draw.integers(2))
    return symbols(draw, int(draw.integers(40, 50) + 10 * label)), label


def by_last(draw):
    sequence = symbols(draw)
    return sequence, int(sequence[-1] >= 2)


def by_tenth(draw):
    sequence = symbols(draw)
    return sequence, int(sequence[9] >= 2)


def by_bag(draw):
    label = int(draw.integers(2))
    return draw.permutation([0] * (20 + 5 * label) + [1] * (25 - 5 * label) + [2] * 15), label


def by_pairs(draw):
    """The same symbols; 1 if every 0 is followed by a 1, else a 1 by a 0."""
    label = int(draw.integers(2))
    middle = draw.permutation([(0, 1) if label else (1, 0)] * 10 + [(2, 2)] * 10).reshape(-1)
    return np.concatenate([[2] * 10, middle, [2] * 10]), label


def by_pattern(draw):
    """As many 0s and 1s, and neighbours of each kind; 001 and 011 or 101 and 010 in a row."""
    label = int(draw.integers(2))
    runs = [[2, 0, 0, 1, 2], [2, 0, 1, 1, 2], [2, 1, 0, 2]] if label else [[2, 0, 0, 2], [2, 1, 1, 2], [2, 0, 1, 0, 1, 2]]
    cut = [runs[i] for i in draw.permutation(np.repeat(range(3), 5))]
    return np.concatenate([[2] * 8, *cut, [2] * 8]), label


def wave(draw):
    label = int(draw.integers(2))
    return np.sin((0.5 + label) * np.arange(512) + draw.uniform(0, 6))[:, None] * draw.uniform(0.5, 1), label


def pixel(draw):
    noise = draw.uniform(-1, 1, 256)
    return noise[:, None], int(noise[100] > 0)


def bright(draw):
    label = int(draw.integers(2))
    return draw.permutation(np.repeat([-1.0, 1.0], [100 + 60 * label, 156 - 60 * label]))[:, None], label


@pytest.mark.parametrize("row, make, blind", [
    ("length", by_length, ["ends"]), ("ends", by_last, ["length", "bag", "places"]),
    ("places", by_tenth, ["length", "ends", "bag"]), ("bag", by_bag, ["length", "ends"]),
    ("pairs", by_pairs, ["length", "ends", "bag"]), ("windows", by_pattern, ["ends", "bag", "pairs"]),
    ("windows", wave, ["length", "places"]), ("places", pixel, ["length", "ends", "bag", "windows"]), ("bag", bright, ["length"]),
])  # fmt: skip
def test_a_predictor_finds_what_is_planted_for_it(row, make, blind):
    numbers = make in (wave, pixel, bright)
    got = by_row(*planted(make, 2, None if numbers else 5, n=600 if numbers else 400), rows=[row, *blind])
    assert got.pop(row) > (0.85 if numbers else 0.97)
    assert max(got.values()) < 0.68, got


def record(row="bag", accuracy=0.9, validation=None, task="text", budget="desk", majority=0.54):
    metrics = {"accuracy": accuracy, "validation": accuracy if validation is None else validation, "chance": 0.5,
               "majority": majority}  # fmt: skip
    return {"task": task, "row": row, "budget": budget, "protocol": "ours", "data": "Text (stand-in)", "metrics": metrics,
            "experiment": "lra/levels", "seed": 0, "config": {"setting": {}}}  # fmt: skip


def net(accuracy, row="rotrnn", **other):
    return {**record(row, accuracy, **other), "experiment": "rotrnn/table1"}


def test_the_best_is_chosen_by_the_validation_items():
    made = [record("bag", accuracy=0.7, validation=0.9), record("pairs", accuracy=0.95, validation=0.8)]
    (row,) = beside_nets(results.frame([*made, net(0.9), net(0.8), net(0.6, row="s5")]))
    assert (row["predictor"], row["trivial"]) == ("bag", 0.7)
    assert row["best_net"] == "rotrnn/table1 rotrnn" and row["net"] == pytest.approx(0.85)
    assert row["nets"] == {("rotrnn/table1", "rotrnn"): pytest.approx(0.85), ("rotrnn/table1", "s5"): 0.6}
    shown, validation, _ = results.text(made).split("\n\n")
    assert all(number in shown for number in ("70.0", "95.0", "majority", "54.0")) and "90.0" in validation


CELLS = [(name, task) for name in ("dlr/table4", "rotrnn/table1", "lra/levels") for task in (*tables.get(name).tasks, "path-x")]


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """Every format, with eight more words, and Path-X, whose pictures are larger and otherwise the same."""
    folder = tmp_path_factory.mktemp("long_range")
    write_samples(folder, seed=5)
    shutil.copytree(folder / FOLDERS["pathfinder"], folder / FOLDERS["path-x"])
    for word in set(TEN_WORDS) - {"yes", "no"}:
        shutil.copytree(folder / FOLDERS["speech"] / "yes", folder / FOLDERS["speech"] / word)
    return folder


def small(name, row, task):
    """The paper's cell, cut down in all but the data."""
    (run,) = tables.plan(name, rows=[row], tasks=[task], seeds=[0], budget="paper")
    if name != "lra/levels":
        assert "items" not in run.setting and run.setting["steps"] >= 39_000 and run.device == "cuda"
        run.setting.update(device="cpu", steps=2, warmup=0, looks=1, batch=2, layers=1, width=8)
    return run


@pytest.mark.parametrize("name, task", CELLS)
def test_the_budget_paper_reads_the_published_files_and_names_those_that_are_missing(name, task, published, monkeypatch, tmp_path):
    row = {"lra/levels": "ends"}.get(name, tables.get(name).rows[0])
    monkeypatch.setenv("LRNNLAB_LONG_RANGE", str(published))
    record = next(tables.run_all([small(name, row, task)]))
    assert record["budget"] == "paper" and not record["data"].endswith("(stand-in)")
    assert 0 <= record["metrics"]["accuracy"] <= 1 and results.text([record])
    monkeypatch.setenv("LRNNLAB_LONG_RANGE", str(tmp_path))
    with pytest.raises(DataFileError, match=f"{FOLDERS[task]} is missing.*LRNNLAB_LONG_RANGE"):
        next(tables.run_all([small(name, row, task)]))


def test_what_is_read_is_what_the_papers_read(published, monkeypatch):
    monkeypatch.setenv("LRNNLAB_LONG_RANGE", str(published))

    def data(name, task):
        return surrogate_data.splits(small(name, tables.get(name).rows[0], task).setting)

    assert [data(name, "text")["train"].length for name in ("dlr/table4", "rotrnn/table1")] == [2048, 4096]
    assert data("dlr/table4", "speech")["train"].classes == 10
    text = data("rotrnn/table1", "text")
    assert text["val"].targets.tolist() == text["test"].targets.tolist()
    read = [part[0][0].tolist() for part in data("rotrnn/table1", "listops").values()]
    assert all(read.count(tokens) == 1 for tokens in read)


def test_what_the_records_say():
    """What holds in the records, and stands in notebook 07b, section 6, and in ``data/records/README.md``."""
    text = found("lra/levels")
    made = records.recorded("lra/levels")
    assert {(one["task"], one["row"]) for one in made} == {(task, row) for task in levels.TABLE.tasks for row in levels.TABLE.rows}
    rows = {row["task"]: row for row in beside_nets(results.runs("lra/levels", "rotrnn/table1", "dlr/table4"))}
    best = {"listops": "ends", "text": "pairs", "retrieval": "bag", "image": "places", "speech": "windows"}
    for task, predictor in best.items():
        row = rows[task]
        assert row["predictor"] == predictor and f"{results.percent(row['trivial'])} %" in text, task
        assert row["says"].startswith("asks nothing long") == (task in ("text", "retrieval"))
    for task, least, most in (("listops", 0.1, 0.2), ("image", 0.02, 0.05), ("speech", 0.2, 0.3)):
        assert least < rows[task]["net"] - rows[task]["trivial"] < most
        assert f"{results.percent(rows[task]['net'])} %" in text, task
    assert rows["pathfinder"]["says"].startswith("neither gets beyond guessing")
