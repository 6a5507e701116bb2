"""The norm of the state in networks that learn ListOps (``rotrnn/fig3``), through training.

Letters: L layers, t time; x state.
"""

import pandas as pd
from matplotlib.figure import Figure

from lrnnbook.content.show.frames import curves, in_order, level, panels, picture, points, runs_of, setting
from lrnnbook.content.show.labels import looks
from lrnnbook.content.show.style import label_ends
from lrnnbook.content.tables import get

LOOKS = looks(get("rotrnn/fig3").rows, "rotrnn/fig3")
DASHES = ("-", (0, (6, 1.5)), (0, (3, 1, 1, 1)), (0, (1, 1)))  # by layer


@picture
def norm_through_training(found: pd.DataFrame, task: str = "layers4") -> Figure:
    """The mean of |x_t| at every look in training: one layer in one panel, more in a panel for each row.  Dashed: the root of the
    number of parts normalised to 1, what a norm tends to under white input (with the LRU, as it starts)."""
    found = runs_of(found, task=task)
    rows, layers = in_order(found, "row", LOOKS), setting(found)["layers"]
    groups = {"one layer": rows} if layers == 1 else {LOOKS[row][0]: [row] for row in rows}
    across = min(2, len(groups))
    figure, grid = panels([*groups], across, 2.2 * -(-len(groups) // across) + 0.7, "step of training", r"mean $\|x_t\|$",
                          gap=0.9, right=2.3 if layers == 1 else 0.75, top=0.35, sharex=True)  # fmt: skip
    figure.subplots_adjust(hspace=0.3)
    norms = points(found, lambda run: pd.DataFrame(run.training["norm"], pd.Index(run.training["step"], name="step"),
                                                   pd.RangeIndex(layers, name="layer")).stack().rename("norm"))  # fmt: skip
    ends = []
    for axes, group in zip(grid, groups.values()):
        for row in group:
            if layers > 1:
                by_layer = {layer: (f"layer {layer + 1}", LOOKS[row][1]._replace(dash=DASHES[layer])) for layer in range(layers)}
                ends.append(curves(axes, norms[norms["row"] == row], "step", "norm", by_layer, by="layer"))
            options = setting(runs_of(found, row=row))["options"]
            level(axes, options.get("heads", options["state"]) ** 0.5)
        if layers == 1:
            ends.append(curves(axes, norms, "step", "norm", LOOKS))
        axes.set_xlim(0, norms["step"].max())
    grid[0].set_ylim(0, None)
    for axes, labels in zip(grid, ends):  # the limits, shared by all panels, are final now
        label_ends(axes, labels)
    return figure


@picture
def norm_of_a_layer(found: pd.DataFrame, task: str = "layers4", layer: int = 3) -> Figure:
    """The mean of |x_t| in one layer (counted from 0) at every look in training, over its value at step 0: a line for each row."""
    found = runs_of(found, task=task)
    figure, (axes,) = panels([""], 1, 2.9, "step of training", r"$\|x_t\|$ / its value at step 0", right=2.3, top=0.2)
    norms = points(found, lambda run: pd.Series([norm[layer] / run.training["norm"][0][layer] for norm in run.training["norm"]],
                                                pd.Index(run.training["step"], name="step"), name="norm"))  # fmt: skip
    ends = curves(axes, norms, "step", "norm", LOOKS)
    level(axes, 1)
    axes.set(xlim=(0, norms["step"].max()), ylim=(0, None))
    label_ends(axes, ends)
    return figure
