"""Run it, break it, prove it: trained nets in a page that needs nothing else.

The page's nets are recorded in ``data/records/playground.json``; ``python -m lrnnbook.content.chapters.playground`` trains
them again and writes it.  ``lrnnlab book playground`` makes the page.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from torch import nn

from lrnnbook.content.show.interactive import Moving
from lrnnbook.content.show.interactive.export import page_net
from lrnnbook.content.tables import ladder, plan, train_run
from lrnnbook.content.tables.records import data_folder, provenance, recorded_folder
from lrnnlab import build, quantise, task, train
from lrnnlab.files import put
from lrnnlab.tasks import Task

RECORD = "records/playground.json"
ALT = ("A trained network to play with: a box to type a word in, the network's answer after each letter, a picture of its state, "
       "and a search over all strings that proves it right or finds the shortest wrong one.")  # fmt: skip
ABOUT = {
    "Sum(5), blocks": (
        "After each digit the network says the sum so far modulo 5. Its state is eight blocks, each with eight weights that sum to 1, and a "
        "digit moves every block by a matrix of its own. It was trained on strings of 40 digits; so was the complex diagonal network in the "
        "lower bar. Type, or try 500. <b>Snap</b> puts 1 for the largest entry of each column, so that a search can follow all strings.",
        "complex diagonal"),
    "Parity, Gated DeltaNet with negative eigenvalues": (
        "Is the number of ones so far odd? Gated DeltaNet writes with a strength of up to 1 as it ships, and then learns nothing (lower bar). "
        "With a strength of up to 2 it learns strings of 40, and is lost later. <b>Restart</b> puts its state back, after each letter, to the "
        "nearer of two states of its own: no weight changes, and it is right for ever.", "as it ships"),
    "S_3, two reflections a token": (
        "Three cups: s swaps the first two, t moves each on by one. Which of the six orders, numbered 0 to 5, is reached? This DeltaNet may "
        "reflect its memory twice a letter; it learns strings of 40 and drifts. <b>Restart</b> keeps it.", ""),
    "A_5, blocks": (
        "Five cups and two ways to move them reach sixty orders, numbered 0 to 59: the smallest group that no stack of diagonal layers can "
        "keep. Eight blocks learn strings of 40 and lose it later. Snapped it is wrong; <b>restarted</b> it is proved.", ""),
}  # fmt: skip


def entry(name: str, net: nn.Module, asked: Task, rival: nn.Module | None = None, *, codes: bool = False, about: str | None = None,
          rival_name: str = "") -> dict[str, Any]:
    """A line of the menu: a net, what it should be, and another one to lose beside it."""
    words = {"about": about, "rival_name": rival_name} if about else dict(zip(("about", "rival_name"), ABOUT[name]))
    machine = asked.specification
    return words | {
        "name": name, "word": [min(token, machine.num_symbols - 1) for token in (0, 3, 2, 4)],
        "net": page_net(net, machine, quantise(net, asked) if codes else None),
        "rival": None if rival is None else page_net(rival, machine),
    }  # fmt: skip


def panel(entries: Sequence[dict[str, Any]]) -> Moving:
    """The playground for the lines that :func:`entry` makes."""
    word = entries[0]["word"]
    at = {"net": 0, "word": word, "t": len(word), "hard": False, "restart": False, "broken": {}, "token": 1, "block": None, "strange": ""}
    return Moving("playground", {"nets": list(entries)}, at, ALT)


def recorded() -> dict[str, Any]:
    """What was recorded: ``nets``, and where they come from."""
    found = json.loads((recorded_folder() / RECORD).read_text(encoding="utf-8"))
    for one in found["nets"]:
        one["about"], one["rival_name"] = ABOUT[one["name"]]  # as they are told today
    return found


def record(progress: bool = True) -> dict[str, Any]:
    """Train the page's nets, each by the recipe of its chapter."""

    def sum_net(row: str, seed: int) -> nn.Module:
        return train_run(plan("lrnn/table2", tasks=["sum"], rows=[row], seeds=[seed])[0], progress=progress).net

    def ladder_net(table: str, name: str, row: str) -> nn.Module:
        (run,) = plan(table, tasks=[name], rows=[row], seeds=[0], budget="desk")
        return ladder.trained(run.setting, 0, progress=progress)[0].net

    parity, s_3, a_5 = map(ladder.ladder_task, ("parity", "s_3", "a_5"))
    # the blocks of the ladder with one matrix as a readout, which leaves fewer numbers to the page
    blocks = build("block_diagonal", a_5, rule="softmax", drive="none", start="first", gain=4.0, head="linear", h=8, b=8)
    names = iter(ABOUT)
    nets = [
        entry(next(names), sum_net("softmax", 101), task("sum", 5), sum_net("diagonal_complex", 2)),
        entry(next(names), ladder_net("ladder/gated", "parity", "gated_deltanet_negative"), parity,
              ladder_net("ladder/gated", "parity", "gated_deltanet"), codes=True),
        entry(next(names), ladder_net("ladder/models_x_tasks", "s_3", "product_2"), s_3, codes=True),
        entry(next(names), train(blocks, a_5, steps=800, lr=1e-2, weight_decay=1.0, clip=1.0, progress=progress).net, a_5, codes=True),
    ]  # fmt: skip
    return {"provenance": provenance(), "nets": nets}


TITLE = "A network that counts: run it, break it, prove it"
LEAD = ("Trained linear recurrent networks, in this page alone: your letters run through their own weights here. Only the weights were made "
        "before; everything else is computed here, and nothing is sent.")  # fmt: skip


if __name__ == "__main__":
    put(data_folder() / RECORD, (json.dumps(record(), separators=(",", ":")) + "\n").encode())
