"""The search of paper 003 (Irie, Csordas, Schmidhuber 2023, Table 3) over its grid, and what two ways to choose choose.

``lrnnlab reproduce fwp/table1 --search 20 --rows srwm --tasks parity --budget desk`` trains the first 20 configurations
of the paper's grid, in an order that is random but always the same, so that 20 are a fair sample of all 1,458 and more
can follow: every run is recorded, and what is recorded is not run again.  Row ``srwm-17`` is number 17 of that order.

The paper reports the configuration that scores best on the test bins (the fastest of equals).  We also give the one
with the best score on the held-out strings; both with their Bin0/Bin1, by the same measure that chose them.

>>> len(configurations("srwm")), len(configurations("lstm"))
(1458, 144)
"""

import random
from collections.abc import Sequence
from functools import cache
from itertools import product

from lrnnbook.content.tables import fwp_training
from lrnnbook.content.tables.declared import Declared, paper
from lrnnbook.content.tables.table import LOADED, Table

SEARCHED = ("fwp/table1", "fwp/table2")
_RATES = {"rate": (1e-2, 2e-2, 3e-2, 1e-3, 2e-3, 3e-3), "batch": (16, 32, 64)}
GRID = {"layers": (1, 2, 4), "width": (8, 16, 32), "ff": (1, 2, 4), "heads": (1, 2, 4), **_RATES}
CELL_GRID = {"layers": (1, 2), "width": (8, 16, 32, 64), **_RATES}  # of the LSTMs
DECLARED = Declared("fwp")
MODELS = tuple(row for row in DECLARED.rows if row in set(paper("fwp/table1")["row"]))  # the others have no grid of the paper


@cache
def configurations(row: str) -> tuple[dict, ...]:
    """All configurations of the paper's grid for a row of Table 1, in the order of the search."""
    space = CELL_GRID if row in ("lstm", "e_lstm") else GRID
    found = [dict(zip(space, values)) for values in product(*space.values())]
    random.Random(0).shuffle(found)
    return tuple(found)


ROWS = tuple(f"{row}-{number}" for row in MODELS for number in range(len(configurations(row))))


def setting(row: str, task: str, budget: str) -> dict:
    """Configuration number K of a row's grid, ``row`` being ``srwm-K``."""
    model, _, number = row.rpartition("-")
    options = dict(configurations(model)[int(number)])
    tried = {"rate": options.pop("rate"), "batch": options.pop("batch"), "options": options}
    return DECLARED.setting(model, task, budget, cells=False, also=tried)


def table(records: Sequence[dict]) -> str:
    """By task and model: how many configurations were tried, and the best of them chosen in either way."""
    parts: list[str] = []
    cells: dict[tuple[str, str], list[dict]] = {}
    for record in records:
        cells.setdefault((record["task"], record["row"].rpartition("-")[0]), []).append(record)
    for (task, model), tried in cells.items():
        parts.append(f"{task} {model}: {len(tried)} runs, {len({r['row'] for r in tried})} of "
                     f"{len(configurations(model))} configurations")  # fmt: skip
        for title, score, key in CHOICES:
            best = max(tried, key=key)
            bins = best["metrics"][score]
            parts.append(f"  chosen {title}: {best['row']} seed {best['seed']}, Bin0/Bin1 {100 * bins['bin0']:.1f}/"
                         f"{100 * bins['bin1']:.1f} after {bins['step']} steps; {_options_as_text(best)}")  # fmt: skip
    return "\n".join(parts)


def _by_test(record: dict) -> tuple[float, int]:
    """The paper's choice: the mean of both test bins, then the fewest steps."""
    found = record["metrics"]["by_test"]
    return found["bin0"] + found["bin1"], -found["step"]


def _held_out(record: dict) -> tuple[float, float]:
    """Ours: the share of held-out strings, then their cross-entropy, at the look that was best on them."""
    step = record["metrics"]["by_validation"]["step"]
    _, validation, held_out, *_ = next(look for look in record["curve"] if look[0] == step)
    return held_out, validation


def _options_as_text(record: dict) -> str:
    made = record["config"]["setting"]
    said = {**made["options"], "rate": made["rate"], "batch": made["batch"]}
    return ", ".join(f"{name} {value}" for name, value in said.items())


CHOICES = (("on the test bins (paper)", "by_test", _by_test), ("on held-out strings", "by_validation", _held_out))
TABLE = LOADED["fwp/search"] = Table(
    "fwp/search", ROWS, tuple(DECLARED.tasks), setting, fwp_training.TABLE.measure, DECLARED, text=table
)
