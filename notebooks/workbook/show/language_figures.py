"""Language models drawn (chapter 07): losses by step beside what counting gets, and at which rate which model breaks."""

import pandas as pd
from matplotlib.figure import Figure

from workbook.show.frames import chosen, curves, handle, legend, level, log_ticks, panels, picture, points
from workbook.show.labels import looks
from workbook.show.style import FAINT, INK, Look, label_ends

MIXERS = looks(["dlr", "transformer"])
ROWS = looks(["dlr_post", "dlr_pre", "transformer_post", "transformer_pre", "dlr_post_small"])
DEPTHS, RATES = {4: 64, 16: 32}, (0.001, 0.003, 0.01, 0.03)  # layers: width
PLACES = {"post": "post-norm", "pre": "pre-norm"}


@picture
def loss_by_step(found: pd.DataFrame, task: str = "characters") -> Figure:
    """Loss by step (``dlr/table5``), post-norm left, pre-norm right: thin on the text trained on, thick on the test text.

    Horizontal lines are what counting single tokens, pairs and triples gets on the same test text."""
    found = chosen(found, task=task)
    figure, grid = panels([*PLACES.values()], 2, 3.4, "training step", "nats a token", left=0.65, right=1.15, top=0.65, gap=0.4)
    levels = found["levels"].iloc[0]
    training = points(found, lambda run: pd.DataFrame(run.losses, columns=["step", "loss"]).set_index("step"))
    test = points(found, lambda run: pd.DataFrame(run.watched).set_index("step"))
    for axes, place in zip(grid, PLACES):
        rows = {f"{mixer}_{place}": look for mixer, look in MIXERS.items()}
        curves(axes, training, "step", "loss", rows, lw=0.7, alpha=0.6, ls="-")
        curves(axes, test, "step", "test", rows, ms=3.5)
        for height in levels.values():
            level(axes, height)
        axes.margins(x=0)
    grid[0].set_ylim(min([*levels.values(), training["loss"].min()]) - 0.15, max(levels.values()) + 0.6)
    label_ends(grid[1], [(height, f"{name} {height:.2f}", FAINT) for name, height in levels.items()])
    tests = [handle(f"{name}, test", look, ms=4) for name, look in MIXERS.values()]
    legend(figure, [*tests, handle("training, in the model's colour", Look(INK), lw=0.7, alpha=0.6)], handletextpad=0.8)
    return figure


@picture
def loss_by_rate(found: pd.DataFrame) -> Figure:
    """Test loss by learning rate after a short run without warm-up, a panel for each depth: post-norm filled, pre-norm hollow.
    At the unigram level nothing of the characters' order is learned; a cross there is of a run whose loss was no number."""
    found = found[found["task"].str.startswith("depth")]
    parts = found["task"].str.extract(r"depth(\d+)-(.*)").astype(float)
    found = found.assign(layers=parts[0], rate=parts[1], test=found["test"].astype(float))
    figure, grid = panels([f"{layers} layers, width {width}" for layers, width in DEPTHS.items()], 2, 3.4, "learning rate",
                          "test loss, nats a character", left=0.65, right=1.15, top=0.85, gap=0.25)  # fmt: skip
    unigram = found["levels"].iloc[0]["unigram"]
    for axes, layers in zip(grid, DEPTHS):
        here = found[found["layers"] == layers]
        for row, look in ROWS.items():
            curves(axes, here.dropna(subset="test"), "rate", "test", {row: look}, bars=True, clip_on=False, **_marks(row, look))
            broke = here[(here["row"] == row) & here["test"].isna()]["rate"]
            axes.plot(broke, [unigram] * len(broke), "x", color=look[1].colour, ms=8, clip_on=False)
        level(axes, unigram)
        axes.set(xlim=(8e-4, 3.8e-2))
        log_ticks(axes, x=RATES)
    grid[0].set_ylim(None, unigram + 0.15)
    label_ends(grid[1], [(unigram, f"unigram {unigram:.2f}", FAINT)])
    legend(figure, [handle(*look, **_marks(row, look)) for row, look in ROWS.items()], ncols=3, handlelength=3)
    return figure


def _marks(row: str, look: tuple[str, Look]) -> dict:
    return {"ms": 6, "mfc": "white" if row.endswith("pre") else look[1].colour}
