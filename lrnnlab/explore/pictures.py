"""The pictures in ``figures/``: ``lrnnlab figures`` draws each again, from records or from a run of seconds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from lrnnlab import records
from lrnnlab.experiments import plan, train
from lrnnlab.explore.automaton_figures import state_diagram
from lrnnlab.explore.show import save
from lrnnlab.explore.training_figures import paper_recorded_live
from lrnnlab.models import snap
from lrnnlab.verification import head_tables, heads_machine, verify


def found_automaton() -> tuple[Figure, str]:
    """The counter that a network trained on Sum(5) (``lrnn/table2``, row ``softmax``, seed 101) has in its weights."""
    run = plan("lrnn/table2", tasks=["sum"], rows=["softmax"], seeds=[101])[0]
    task, model = run.build_task(), snap(train(run).model)
    verdict = verify(model, task.specification)
    if not verdict.proved:
        raise RuntimeError(f"the network of seed {run.seed} should be provably right, but: {verdict}")
    machine = heads_machine(head_tables(model), verdict.heads or tuple(range(8)), task.symbols)
    return state_diagram(machine), "State diagram of the automaton found in the weights of a trained network."


def table2() -> tuple[Figure, str]:
    """Recorded runs of ``lrnn/table2`` at the desk budget, all positions past the training length."""
    desk = records.read_all(records.data_folder() / "records" / "lrnn" / "table2" / "desk")
    if not desk:
        raise RuntimeError("no records of lrnn/table2: run lrnnlab reproduce lrnn/table2 --budget desk first")
    return comparison(desk), "Accuracy past the training length by task and model, over seeds."


def comparison(desk: list[dict], live: dict[tuple[str, str], list[float]] | None = None) -> Figure:
    """Recorded (and live) accuracy at all positions past the training length; the paper's numbers are not known."""
    rows = []
    for task, row in dict.fromkeys((record["task"], record["row"]) for record in desk):
        cell = [record for record in desk if (record["task"], record["row"]) == (task, row)]
        values = [record["metrics"]["accuracy_all"] for record in cell]
        rows.append((f"{task} · {row}", None, values, (live or {}).get((task, row), []), cell[0]["levels"]["majority"]))
    return paper_recorded_live(rows, measure="right answers at all positions past the training length")


PICTURES: dict[str, Callable[[], tuple[Figure, str]]] = {"found_automaton": found_automaton, "lrnn_table2": table2}


def draw(folder: Path, names: list[str] | None = None) -> list[Path]:
    """Draw the pictures called ``names`` (all if absent) into ``folder``; ``ValueError`` for a name there is not."""
    unknown = [name for name in names or () if name not in PICTURES]
    if unknown:
        raise ValueError(f"no picture {unknown[0]!r}; there are {', '.join(PICTURES)}")
    drawn = []
    for name in names or PICTURES:
        figure, alt = PICTURES[name]()
        drawn.append(save(figure, folder / f"{name}.png", alt))
    return drawn
