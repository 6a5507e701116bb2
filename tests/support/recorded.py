"""What tests of the papers' tables have in common: digests of their settings, and what is said of their records."""

import os
import re
from dataclasses import replace

from lrnnbook.content.tables import records
from lrnnbook.content.tables.table import Run, Setting
from lrnnlab.training import Phase, Recipe

TINY = Setting("elman", {"width": 8}, Recipe((Phase(steps=20, lr=1e-2),), batch_size=8))  # a second's training
HERE = os.pathsep.join([str(records.LIBRARY.parent), str(records.LRNNBOOK.parent)])  # PYTHONPATH for processes of their own
SETTINGS = {  # digests of the settings of all cells of the tables that are declared in YAML
    "lrnn/table2": "593b3ee8cd4fc04b",
    "lrnn/smoothing": "fbe98b1e9f7190ab",
    "lrnn/fig1": "b0d8371c42237c05",
    "lrnn/growth": "371293831d315462",
    "lrnn/speed": "e6dda1f50ec4bfe4",
    "lrnn/baseline_rates": "77805ee26a1b68ac",
    "lrnn/fading": "664b35b531c5211f",
    "lrnn/film": "078ad83e4995b31c",
    "fwp/table1": "0978470bb7ba1baa",
    "fwp/table2": "4d3f0491a7cd182a",
    "fwp/negative": "38eab9c6c73cd516",
    "regulargpt/table1": "83176131077b7e06",
    "regulargpt/table2": "6855a8e7a5ce6006",
    "regulargpt/fig3": "7d5956ae44d474c4",
    "regulargpt/fig4": "96569c5f9123a308",
    "regulargpt/table3": "7c348af147850c38",
    "ladder/models_x_tasks": "e7d83f3e453c556c",
    "ladder/gated": "308c4ee8852b5e9b",
    "ladder/protocols": "693d2310204e1ce4",
    "ladder/depth": "4fe502e5696a027d",
    "ladder/restart": "6c3fe12f66a8b607",
    "ladder/random": "6805465e56a24520",
    "ladder/strings": "7afb6a7ba1563fd4",
    "ladder/atlas": "15d6b26b2ac2982f",
    "dlr/table1": "32a4d5560d85a178",
    "dlr/width": "7b62af3b50d4c3fd",
    "dlr/longer": "d1c04d7fc98a37f0",
    "dlr/table2": "2fffc7cdcdb01c45",
    "dlr/table3": "95cf02d22f410020",
    "dlr/kernels": "0e638fdb911878d8",
    "dlr/table4": "94f86cb6df84912e",
    "dlr/table5": "64db8c159140202a",
    "rotrnn/fig3": "507d0983b2b5c1e6",
    "rotrnn/table1": "bfac63a4a72bc44c",
    "lra/levels": "09b650933a1cf094",
}


def tiny(**changes):
    """A run of ``TINY``, with some of its parts changed."""
    return replace(Run("lrnn/table2", "sum", "elman", 0, "desk", "ours", TINY, modulus=2), **changes)


def found(name):
    """What ``data/records/README.md`` says was found in the records of an experiment, on one line."""
    text = (records.data_folder() / "records" / "README.md").read_text(encoding="utf-8")
    (said,) = re.findall(rf"^### {name}\n(.*?)(?=^###|\Z)", text, flags=re.M | re.S)
    return " ".join(said.split())


def by_cell(found, part=lambda record: record):
    """Records, or a part of each, by (task, row)."""
    cells = {}
    for record in found:
        cells.setdefault((record["task"], record["row"]), []).append(part(record))
    return cells
