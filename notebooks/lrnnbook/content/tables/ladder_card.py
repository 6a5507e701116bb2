"""A card's runs: eight machines of the ladder, each learned, asked at 500, and of all strings after a restart.

Training, lengths and words are the ladder's (``ladder_models_x_tasks.yaml``), where its rows have these numbers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

import torch

from lrnnbook.content.tables import code, own
from lrnnbook.content.tables.ladder import (
    DEPTH,
    FAMILY,
    FAR,
    GATED,
    KNOWN,
    LENGTH,
    MACHINES,
    ROWS,
    TABLE,
    WINDOW,
    by_position,
    first_below,
    kind,
    ladder_task,
    refuted,
    trained,
    windows,
)
from lrnnbook.content.tables.table import Run
from lrnnlab.expressivity.prediction import predict
from lrnnlab.models import MODELS, build
from lrnnlab.tasks import Task
from lrnnlab.training import rng
from lrnnlab.verification import quantise, verify

EIGHT = {  # machine: what it asks for, and which families it tells apart
    "flip_flop": ("Keep the last", "the last letter written is kept until the next: a state that fades at one rate cannot"),
    "d_2": ("Brackets, 2 deep", "up and down between two ends: a sum has no ends, and entries in [0, 1] need three layers or more"),
    "evenpair": ("Keep the first", "the first letter is kept for ever and compared with each: diagonals and reflections need two layers"),
    "parity": ("Count to two", "asks for a sign: entries in [0, 1], and DeltaNet with β up to 1, cannot at any depth"),
    "tomita_6": ("Count to three", "asks for a turn by a third: signs alone cannot at any depth"),
    "tomita_3": ("Count in a pattern", "counts, and stops for good when a rule is broken: no single layer of diagonals can"),
    "s_3": ("Shuffle three cups", "the order of letters matters: complex diagonals need two layers, signed ones cannot at any depth"),
    "a_5": ("Shuffle five cups", "a group that is not solvable: diagonals cannot at any depth"),
}  # fmt: skip
BUDGET = "desk"  # of the ladder: two tries a machine
TRIES = TABLE.setting("lstm", "parity", BUDGET)["tries"]  # of each: rate, steps
SECONDS = 30.0  # for a codebook


@dataclass(frozen=True)
class Cell(Run):
    """One machine of a card, as a run that is recorded."""

    def source(self) -> str:
        """A digest of the code that it goes through."""
        return _source(self.row, self.setting["model"], self.task)

    def enough(self, record: dict) -> bool:
        """One that this very code made: a card says with which version it was made."""
        return record["provenance"].get("source") == self.source()

    @property
    def clock(self) -> bool:
        """Seconds are no result."""
        return False

    def measure(self, progress: bool = False, checkpoint: Path | None = None) -> dict:
        """Train as the ladder does, ask at 500, and of all strings where the net is restarted from its own states."""
        setting, seed, asked = self.setting, self.seed, ladder_task(self.task)
        if setting.get("family"):
            FAMILY[self.row], DEPTH[self.row] = tuple(setting["family"]), setting.get("layers", 1)
        made, tried = trained(setting, seed, checkpoint, progress=progress)
        net = made.net
        accuracy = windows(by_position(net, asked, FAR, 128, rng(seed, "ladder/test")))
        metrics: dict[str, Any] = {
            "kind": kind(accuracy), "trained": float(accuracy[LENGTH - WINDOW]), "far": float(accuracy[-1]),
            "first": first_below(accuracy, KNOWN, 1), "tries": tried + 1, "steps": made.steps, "chance": asked.chance,
            "majority": asked.majority(asked.near(FAR)), "parameters": sum(p.numel() for p in net.parameters()),
        }  # fmt: skip
        if metrics["kind"] == "lasts" and (words := refuted(net, self.row, self.task)):
            metrics["refuted"] = words
        if metrics["kind"] != "never learned":
            metrics |= restart(net, asked, seed)
        return {"metrics": metrics, "accuracy_by_ten": [round(share, 4) for share in accuracy[::WINDOW].tolist()],
                "cpu_seconds": round(made.cpu_seconds, 2)}  # fmt: skip


@cache
def _source(*said: str) -> str:
    return code.of_table(__name__, said)


def restart(net: Any, asked: Task, seed: int) -> dict:
    """What is known of a net that is put back after every letter to one of its own states: of 500 letters, and of all strings."""
    for name in ("vocab_size", "classes"):
        if not hasattr(net, name):  # one's own need not say what its task says
            setattr(net, name, getattr(asked, name))
    try:
        found = quantise(net, asked, seconds=SECONDS)
    except Exception as error:  # noqa: BLE001  (of somebody else's net)
        return {"verdict": "none", "why": said_by(error)}
    far, verdict = windows(by_position(found, asked, FAR, 128, rng(seed, "ladder/test"))), verify(found, asked.specification)
    said = "proved" if verdict.proved else "refuted" if verdict.counterexample else "open"
    return {"verdict": said, "restarted": float(far[-1]), "codes": len(found.codebook), "why": found.why or None,
            "shortest": len(verdict.counterexample) if verdict.counterexample else None}  # fmt: skip


def cells(name: str, machines: Sequence[str] | None = None, seed: int = 0, folder: Path | None = None) -> list[Cell]:
    """The runs of a card; ``ValueError`` for a name that is none, and with the net's own error where it cannot run."""
    folder = folder or Path.cwd()
    machines = [*(EIGHT if machines is None else dict.fromkeys(machines))]
    for one in machines:
        if ":" not in one:
            _known(one, MACHINES, "machine")
    if ":" not in name and "." in name:
        name = ":".join(name.rpartition(".")[::2])
    family = None
    if ":" in name:
        family = _declared(name, folder)
    else:
        _known(name, [*ROWS, *MODELS], "model", "; or one's own, my_module:MyRule, of a file in this folder")
    made = [Cell("ladder/card", one, name, seed, BUDGET, "ours", _setting(name, one, family), folder=str(folder)) for one in machines]
    layers = _try_out(made[0])
    if family is not None:
        FAMILY[name], DEPTH[name] = family, layers
        for cell in made if layers > 1 else ():
            cell.setting["layers"] = layers
    return made


def _declared(name: str, folder: Path) -> tuple[str, int | None] | None:
    """The family that one's own says that it is of: a name, or a name and a size; None if it says nothing."""
    try:
        found = getattr(own.imported(name, folder), "family", None)
    except ValueError:
        raise
    except Exception as error:  # noqa: BLE001  (of somebody else's file)
        raise ValueError(f"{name} cannot be imported: {said_by(error)}") from error
    if found is None:
        return None
    try:
        family, size = (found, None) if isinstance(found, str) else found
        predict(ladder_task("parity").machine, family, size=size)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: family is a name, or a name and a size, got {found!r}: {error}") from error
    return family, size


def _setting(name: str, machine: str, family: tuple | None) -> dict:
    for table in (TABLE, GATED):
        if name in table.rows:
            known = machine if machine in table.tasks else table.tasks[0]  # or one's own
            return {**table.setting(name, known, BUDGET), "task": machine, "tries": TRIES}
    return {"task": machine, "model": name, "options": {}, "tries": TRIES, **({"family": [*family]} if family else {})}


def _known(name: str, names: Iterable[str], what: str, also: str = "") -> None:
    names = [*dict.fromkeys(names)]
    if name not in names:
        near = get_close_matches(name.lower(), names, 3, 0.5) or names
        raise ValueError(f"no {what} {name!r}; {'the nearest are' if len(near) < 4 else 'there are'} {', '.join(near)}{also}")


def _try_out(cell: Cell) -> int:
    """How many layers the net has; ``ValueError``, with its own error, if it cannot be made, or cannot read, answer and learn."""
    asked = ladder_task(cell.task)
    try:
        net = build(cell.setting["model"], asked, **cell.setting["options"])
    except Exception as error:  # noqa: BLE001  (of somebody else's code, here and below)
        hint = ("; name a function that fills in the rest: def mine(vocab_size, classes): return MyRule(...), or, of a layer, "
                "return lrnnlab.models.network(MyRule, vocab_size, classes, OPTION=...)")  # fmt: skip
        raise ValueError(f"{cell.row} cannot be made: {said_by(error)}{hint * isinstance(error, TypeError)}") from error
    try:
        batch = asked.sample_near(4, LENGTH, rng(0, "card"))
        batch.loss(net(batch.inputs)).backward()
    except Exception as error:  # noqa: BLE001
        raise ValueError(f"{cell.row} cannot learn from 4 strings of {LENGTH} letters on the CPU: {said_by(error)}") from error
    layers = getattr(net, "layers", 1)
    return layers if isinstance(layers, int) else max(1, len(layers)) if isinstance(layers, (list, tuple, torch.nn.ModuleList)) else 1


def said_by(error: Exception) -> str:
    """An error of somebody else's code in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
