"""Why does label smoothing decide whether ``release`` extrapolates?  Six ways to train the same network on Sum(5).

Not a table of paper 000: a question that its released code raises when it is trained fast (AdamW, 3e-3).  All rows are
the released column rule, one layer, 500 steps, AdamW and (but ``squared``) cross-entropy, no check on long strings.
"""

from __future__ import annotations

from workbook.tables import lrnn_training
from workbook.tables.table import Setting, load

TABLE = load("lrnn/smoothing", lrnn_training.measure, make=Setting.of_plain)
