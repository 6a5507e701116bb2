"""Sizes, rates and numbers of the papers, typed from their tables, against those in the package; defaults of mixers."""

import inspect
import math

import pytest

from lrnnbook.content.tables import get, surrogate_data
from lrnnbook.content.tables.declared import paper
from lrnnlab import models

# paper 004, Tables 8 and 9: L, layers, H, N, dt-min, dt-max, LR, B, steps, WD, kernel size (and dropout)
TABLE_8 = {
    "listops-8192": (2**13, 6, 128, 1024, 1e-4, 1e-1, 8e-4, 32, 300_000, 0.01, 2**13),
    "segmentation-128": (2**14, 5, 128, 1024, 1e-4, 1e-1, 1e-4, 16, 150_000, 0, 2**13),
    "segmentation-256": (2**16, 6, 128, 1024, 1e-4, 1e-1, 5e-5, 18, 178_000, 0, 2**15),
    "segmentation-512": (2**18, 12, 64, 2048, 1e-4, 1e-1, 1e-5, 14, 114_000, 0, 2**15),
}
TABLE_9 = {  # Text and Speech without steps: 200 epochs of 25,000 and of some 30,000 items
    "path-x": (2**14, 6, 256, 2048, 1e-4, 1e-1, 1e-4, 16, 500_000, 0.05, 2**14, 0),
    "text": (2**11, 4, 128, 256, 0.2, 0.5, 1e-4, 128, 39_000, 0, 2**11, 0.3),
    "retrieval": (4000, 6, 256, 256, 0.05, 0.5, 1e-4, 32, 150_000, 0.05, 4000, 0.05),
    "listops": (2048, 6, 128, 1024, 1e-3, 0.5, 4e-4, 50, 320_000, 0.05, 2048, 0.2),
    "pathfinder": (2**10, 6, 256, 1024, 1e-4, 0.1, 4e-4, 64, 500_000, 0.03, 2**10, 0.05),
    "speech": (16_000, 6, 128, 2048, 1e-3, 0.5, 1e-4, 20, 300_000, 0, 2048, 0.05),
}
DSS_RATES = {  # of the released code; its dt is 1e-4 to 1e-2
    "listops-8192": 1e-3, "segmentation-128": 1e-3, "segmentation-256": 5e-4, "segmentation-512": 5e-4,
}  # fmt: skip
ITEMS = {"listops": (96_000, 2000, 2000), "segmentation": (80_000, 10_000, 10_000)}


def shown(setting, L):
    options = setting["options"]
    return (L, setting["layers"], setting["width"], options["state"], *options["dt"], setting["rate"], setting["batch"],
            setting["steps"], setting["decay"], options.get("max_kernel", L))  # fmt: skip


@pytest.mark.parametrize("task, row", TABLE_8.items())
def test_table_3_has_the_papers_sizes_and_rates(task, row):
    dlr, dss, local = (get("dlr/table3").setting(name, task, "paper") for name in ("dlr", "dss", "local_attention"))
    assert shown(dlr, row[0]) == row
    assert shown(dss, row[0]) == (*row[:5], 1e-2, DSS_RATES[task], *row[7:])
    assert local["rate"] == 1e-3 and (local["layers"], local["width"]) == row[1:3]
    kind = dlr["kind"]
    for found in (dlr, dss, local):
        assert found["recurrent_rate"] == found["rate"] and found["warmup"] == 5000
        assert tuple(found["items"].values()) == ITEMS[kind] and found["block"]["norm"] == "layer"
        assert found["block"]["place"] == ("post" if kind == "listops" else "pre")
    assert dlr["block"]["gate"] == "full_glu" and dlr["options"].get("bidirectional", False) == (kind == "segmentation")


@pytest.mark.parametrize("task, row", TABLE_9.items())
def test_table_4_has_the_papers_sizes_and_rates(task, row):
    dlr = get("dlr/table4").setting("dlr", task, "paper")
    assert (*shown(dlr, row[0]), dlr["block"]["dropout"]) == row
    assert dlr["options"]["bidirectional"] and surrogate_data.pooling(dlr)["pool"] == "max"
    assert dlr["block"]["place"] == ("post" if task.startswith("path") else "pre")
    assert dlr["files"].get("length", row[0]) == row[0]


def test_the_numbers_of_paper_004():
    """Its Tables 3 and 4."""
    def numbers(name, metric):
        found = paper(name).query("metric == @metric")
        return {row: dict(zip(cell["task"], cell["value"])) for row, cell in found.groupby("row")}

    M = [f"segmentation-{side}" for side in (128, 256, 512)]
    assert numbers("dlr/table3", "accuracy") == {
        "local_attention": {"listops-8192": 94.0}, "dss": {"listops-8192": 83.8}, "dlr": {"listops-8192": 85.7}}  # fmt: skip
    assert numbers("dlr/table3", "macro_f1") == {
        "local_attention": {M[0]: 95.2}, "dss": dict(zip(M, (94.4, 89.4, 60.4))), "dlr": dict(zip(M, (96.8, 94.0, 76.3)))}
    assert numbers("dlr/table3", "macro_accuracy") == {
        "local_attention": {M[0]: 98.4}, "dss": dict(zip(M, (97.2, 96.2, 79.3))), "dlr": dict(zip(M, (97.7, 96.3, 92.8)))}
    tasks = ("listops", "text", "retrieval", "pathfinder", "path-x", "speech")
    assert numbers("dlr/table4", "original") == {  # Transformer, S4D-Inv, S4-LegS, DLR
        "attention": dict(zip(tasks, (36.4, 64.3, 57.5, 71.4))), "s4d": dict(zip(tasks, (60.2, 87.3, 91.1, 93.8, 92.8))),
        "s4": dict(zip(tasks, (59.6, 86.8, 90.9, 94.2, 96.4, 98.3))), "dlr": dict(zip(tasks, (60.5, 86.7, 89.1, 92.5, 94.5, 97.1))),
    }  # fmt: skip


def test_the_numbers_of_paper_002():
    """Its Tables 2 and 3."""
    found = paper("regulargpt/table2").groupby(["row", "metric"])
    assert {key: (cell["task"].tolist(), cell["value"].tolist()) for key, cell in found} == {
        (row, metric): (["0.1", "0.3", "0.5", "0.7", "0.9"], list(values)) for row, metric, values in (
            ("regulargpt_c2", "accuracy_seen", (100,) * 5), ("regulargpt_c2", "accuracy", (100,) * 5),
            ("rnn", "accuracy_seen", (100,) * 5), ("rnn", "accuracy", (100,) * 5),
            ("transformer", "accuracy_seen", (98.4, 99.8, 99.6, 97.8, 77.2)),
            ("transformer", "accuracy", (50.1, 49.7, 50.3, 49.9, 50.0)))
    }  # fmt: skip
    table_3 = """512 24.71 24.50 24.53 32.06 30.17 28.80 26.37 27.90
                 1024 24.42 24.38 24.90 32.03 30.30 28.94 26.91 34.38
                 2048 24.21 25.01 25.08 791.74 30.56 29.14 27.08 34.85
                 4096 24.53 28.91 25.08 812.00 30.80 29.25 27.28 35.11
                 8192 24.74 39.08 25.08 818.49 1175.91 29.41 27.39 35.42"""
    found = paper("regulargpt/table3").pivot(index="task", columns="row", values="value")
    names = ["KERPLE", "T5", "ALiBi", "32 / 6", "64 / 6", "128 / 6", "128 / 12", "256 / 6"]
    typed = {length: list(map(float, values)) for length, *values in map(str.split, table_3.splitlines())}
    assert {length: values[names].tolist() for length, values in found.iterrows()} == typed and len(names) == found.shape[1]


def test_the_seconds_of_paper_000():
    """Its Section 4.5: the loop, then the scan."""
    seconds = paper("lrnn/speed").pivot(index="row", columns="metric", values="value")
    ways = ["model.sequential.median", "model.pscan.median"]
    assert {row: (*both,) for row, both in zip(seconds.index, seconds[ways].to_numpy().tolist())} == {
        "train40_b8": (0.033, 0.021), "test500_b8": (0.03, 0.03), "test500_b1": (0.002, 0.0008)}  # fmt: skip


@pytest.mark.parametrize("mixer, starts", [
    (models.layers.S4, {"dt": (1e-3, 0.1)}),
    (models.layers.S4D, {"dt": (1e-3, 0.1), "init": "lin"}),
    (models.layers.LiquidS4, {"dt": (1e-3, 0.1)}),
    (models.layers.S5, {"dt": (1e-3, 0.1), "blocks": 1}),
    (models.layers.LRU, {"modulus": (0.5, 0.999), "phase": 2 * math.pi, "normaliser": "learned"}),
    (models.layers.RotRNN, {"gamma": (0.5, 0.999), "theta": 2 * math.pi, "init": "paper", "rotation": "expm", "normaliser": "corrected",
              "c": 1.0, "start": "zero"}),
    (models.layers.DSS, {"dt": (1e-3, 0.1), "init": "lin", "max_kernel": None}),
    (models.layers.DLR, {"dt": (5e-4, 0.5), "init": "dft", "kind": "real", "eigenvalues": "complex", "max_kernel": None}),
    (models.layers.SGConv, {"alpha": (1.0, 1.0)}),
    (models.layers.Diagonal, {"kind": "signed", "drive": "linear"}),
    (models.layers.BlockDiagonal, {"rule": "clip", "p": 1.2, "hidden": 512, "drive": "mlp", "start": "learned", "gain": 1.0, "stay": 0.0}),
    (models.layers.FastWeights, {"rule": "delta", "feature_map": None, "allow_negative_eigenvalues": False, "write_start": None}),
    (models.layers.RecurrentDelta, {"feature_map": "softmax", "recurrence": "head", "write_start": None, "feedback_start": 1.0}),
    (models.layers.SelfReferential, {"feature_map": "softmax", "rates": 4}),
    (models.blocks, {"place": "pre"}),
    (models.Net, {"encoder": "embedding"}),
])  # fmt: skip
def test_records_do_not_hold_the_defaults_so_these_stay(mixer, starts):
    parameters = inspect.signature(mixer).parameters
    assert {name: parameters[name].default for name in starts} == starts
