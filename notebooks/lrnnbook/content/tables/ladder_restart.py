"""The ladder's nets that lose a machine with length, restarted from a codebook of their own states, and proved.

What its rows and metrics are is said in ``ladder_restart.yaml``.
"""

from __future__ import annotations

from typing import Any

from lrnnbook.content.tables import records
from lrnnbook.content.tables.ladder import DEEP, FAR, by_position, kind, ladder_task, trained, windows
from lrnnbook.content.tables.registry import plan
from lrnnbook.content.tables.table import Run, by_setting, load
from lrnnlab.training import rng
from lrnnlab.verification import quantise, verify

EVERY = (1, 5, 20)
LOST = ("drifts", "aliases")


def measure(setting: dict, seed: int, **how: Any) -> dict:
    """Train as the ladder does; restart what lost its machine, and ask at 500 and of all strings."""
    made, _ = trained(setting, seed, **how)
    asked = ladder_task(setting["task"])

    def far(model: Any) -> Any:
        return windows(by_position(model, asked, FAR, 128, rng(seed, "ladder/test")))

    alone = far(made.net)
    metrics: dict[str, Any] = {"alone": float(alone[-1]), "kind": kind(alone)}
    if metrics["kind"] in LOST:
        found = quantise(made.net, asked)
        metrics["right"] = {str(k): float(far(found.restarted(k))[-1]) for k in EVERY}
        verdict = verify(found, asked.specification)
        metrics |= {"codes": len(found.codebook), "words": len(found.words), "closed": found.closed,
                    "verdict": "proved" if verdict.proved else "refuted" if verdict.counterexample else "open"}  # fmt: skip
        if found.why:
            metrics["why"] = found.why
        if verdict.counterexample:
            metrics["shortest"] = len(verdict.counterexample)
    return {"metrics": metrics, "cpu_seconds": round(made.cpu_seconds, 2)}


TABLE = load("ladder/restart", by_setting(measure))


def lost(seed: int = 0, budget: str = "desk") -> list[Run]:
    """The runs of cells that the ladder's own record has as lost with length, one layer first."""
    cells = {(one["task"], one["row"]) for one in records.recorded("ladder/models_x_tasks", budget, "ours")
             if one["seed"] == seed and one["metrics"]["kind"] in LOST}  # fmt: skip
    runs = [run for run in plan(TABLE.name, seeds=[seed], budget=budget) if (run.task, run.row) in cells]
    return sorted(runs, key=lambda run: run.row.endswith(DEEP))


if __name__ == "__main__":
    from lrnnbook.content.tables.runner import run_all

    for record in run_all(lost(), data=records.data_folder(), progress=True):
        print(record["task"], record["row"], record["metrics"])
