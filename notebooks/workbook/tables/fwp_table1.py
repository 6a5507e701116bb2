"""Table 1 of paper 003 (Irie, Csordas, Schmidhuber 2023): seven models on three regular and three counter languages.

===================  ==================================================================================================
row                  model
===================  ==================================================================================================
``lstm``, ``e_lstm`` the LSTM, and one whose cells see themselves alone (paper, App. C.3)
``transformer``      softmax attention, no positions
``linear``           the linear Transformer without normalisation, ULT (Eq. 1-3)
``deltanet``         the delta rule (Eq. 6-8)
``recurrent_delta``  with feedback (Eq. 9)
``srwm``             the self-referential weight matrix (Eq. 10-12)
``..._additive``     started near addition (``models.recurrent_delta.near_addition``): ours, for tasks that count
``..._translation``  two writes a token, all to one key, with beta up to 2: started as a translation for tasks that count
                     and reset, with beta at 1 for others (``models.fast_weights.near_translation``): ours
===================  ==================================================================================================

The paper searches 1,458 configurations a cell (144 for the LSTMs) and prints the best for two rows, its Tables 4 and 5.
Those two rows have them here, the others one point of the grid for all tasks: one layer, width 16, two heads, a
feed-forward part twice as wide, batches of 16; both but for what ``fwp.yaml`` says of single cells (``lrnnlab reproduce
fwp/table1 --search`` searches the grid).

==========  ==========================================  ================================================================
what        paper                                       here (desk)
==========  ==========================================  ================================================================
strings     10,000 of all sizes of Bin0, 500 of a bin   the same (``PositiveTask.splits``)
steps       up to 187,500                               1,500, more in some cells
rate        of the search, constant                     0.01, of the search, or the cell's own; falls to 0
end         the first look with both test bins right    after all steps
weights     the look that is best on the test bins      the last ones; the paper's choice stands beside them
seeds       one                                         as many as are recorded, all shown
==========  ==========================================  ================================================================

*live* is on 2,000 strings, short ones first, 200 tested, ended by held-out strings after 100 steps at the latest; two
cells, which learn, have 500 and 900 steps, batches of 32 and a constant rate.
"""

from __future__ import annotations

from pathlib import Path

from lrnnlab.tasks import COUNTER_TASKS
from workbook.tables import fwp_training
from workbook.tables.table import by_setting, load


def measure(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> dict:
    """Train and score one cell of Table 1, Table 2 or the search: see :func:`fwp_training.measure`."""
    return fwp_training.measure(COUNTER_TASKS[setting["task"]](), setting, seed, progress, checkpoint)[1]


TABLE = load("fwp/table1", by_setting(measure))
