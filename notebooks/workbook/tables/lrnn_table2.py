"""Table 2 of paper 000 (Fan, Chi, Rudnicky 2024): train at length 40 (39), test at 500 (499), three tasks.

===============================  ======================================================================================
row                              model
===============================  ======================================================================================
``softmax`` (``ours``)           columns of A on the simplex, no input term, x_0 fixed: snaps to an exact automaton
``release``                      the released code's column rule
``clip``                         the paper's own model, Eq. 6 with p = 1.2
``vanilla``                      Eq. 2: one constant matrix, orthogonal at the start
``diagonal_...``                 Eq. 3: gates that are positive, real, complex, or on the unit circle
``s4``, ``s4d``, ``liquid_s4``   S4, S4D from three starts, Liquid-S4 as Eq. 4 writes it
``rwkv``                         RWKV-4
``lstm``, ``elman``              not linear, and not in the paper's table
===============================  ======================================================================================

Live and desk use recipes of ours, far shorter than the paper's.  The paper names the baselines and neither their sizes nor
how they were trained; its code has none.  So all is our choice, and all rows share it (64 wide, AdamW, the last weights
count, no stop, no second start; ten looks at long strings only say which checkpoint was best), but for depth, readout and
rate: those that are best *at the training length* in ``lrnn/baseline_rates``, three layers before one where no more than two
points are between them, for they gain more from the steps that the sweep does not have.  No longer string enters that choice.
A row that does not extrapolate has failed with one recipe, one width and one budget; what no width or budget mends is proved
in :mod:`lrnnlab.expressivity`.

*paper* is the released setting (Adam, 40,000 steps of 128, cross-entropy, no clipping, no schedule, the learning rates of the
paper's own model), scored as the paper does: a check every 1,000 steps, and the first that is all right ends training.  On one
core Sum and EvenPair take seconds to minutes a seed, ModArith, with three layers, nearly three hours; a run goes on from its
last checkpoint after a kill::

    lrnnlab reproduce lrnn/table2 --budget paper --rows clip --tasks sum --seeds 0
"""

from __future__ import annotations

from dataclasses import replace

from workbook.tables import lrnn_training
from workbook.tables.table import Setting, load


def for_protocol(found: Setting, protocol: str) -> Setting:
    """The paper's protocol has its own checks and no restarts."""
    if protocol == "ours":
        return found
    return replace(found, stop="recipe", recipe=replace(found.recipe, attempts=1))


TABLE = load("lrnn/table2", lrnn_training.measure, make=Setting.of_plain, for_protocol=for_protocol)
