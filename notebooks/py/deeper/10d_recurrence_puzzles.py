# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 10d · Recurrence puzzles
#
# Twelve machines. Hold each one for ever by $x \leftarrow A x + b$, with a matrix and a vector of fractions for each letter, in as few
# numbers as you can. Every answer is proved for strings of all lengths, or refuted by two strings that it cannot tell apart.
# *It takes* about 10 min to read. Beyond [chapter 10](../10_one_ladder.ipynb).
#
# Replace the dots by numbers (`F(1, 2)` is one half). A letter that `b` does not name adds 0. The readout gets the list $x$ and says the
# name of the machine's state; as long as it holds dots, any readout will do. Par is the fewest numbers that we know.
# Stuck? `par("z_3")` says why fewer do not do, and shows an entry.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from fractions import Fraction as F  # noqa: F401

import lrnnbook
from lrnnbook.content.chapters import golf
from lrnnbook.content.chapters.golf import par, puzzle  # noqa: F401

lrnnbook.needs("0.1")

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
golf_widget = golf.panel()
golf_widget

# %%
# 1 Parity: is the number of ones odd?  States 0 1.  Par 1.
puzzle("parity", start=[...],
       A={"0": [[...]],
          "1": [[...]]},
       b={}, readout=lambda x: ...)  # fmt: skip

# %%
# 2 Flip-flop: which of a and b was written last?  The letter - keeps.  States - a b.  Par 1.
puzzle("flip_flop", start=[...],
       A={"-": [[...]],
          "a": [[...]],
          "b": [[...]]},
       b={}, readout=lambda x: ...)  # fmt: skip

# %%
# 3 The sum modulo 3.  States 0 1 2.  Par 2.
puzzle("z_3", start=[...],
       A={"0": [[...]],
          "1": [[...]],
          "2": [[...]]},
       b={}, readout=lambda x: ...)  # fmt: skip

# %%
# 4 The last two letters; it begins as after 00.  States 00 01 10 11.  Par 2.
puzzle("last_two", start=[...],
       A={"0": [[...]],
          "1": [[...]]},
       b={}, readout=lambda x: ...)  # fmt: skip

# %%
# 5 Count to six: 1 counts, 0 waits.  States 0 1 2 3 4 5.  Par 2.
puzzle("z_6", start=[...],
       A={"0": [[...]],
          "1": [[...]]},
       b={}, readout=lambda x: ...)  # fmt: skip

# %%
# 6 Where are three things?  s swaps the first two places, t moves each thing on by one.  States 012 102 120 210 021 201 (the places of 0, 1, 2).  Par 2.
puzzle("s_3", start=[...],
       A={"s": [[...]],
          "t": [[...]]},
       b={}, readout=lambda x: ...)  # fmt: skip

# %%
# 7 Brackets: a opens, b closes, at most two are open; else all is lost.  States 0 1 2 None.  Par 3.
puzzle("d_2", start=[...],
       A={"a": [[...]],
          "b": [[...]]},
       b={}, readout=lambda x: ...)  # fmt: skip

# %%
# 8 The sum modulo 5.  States 0 1 2 3 4.  Par 4.
puzzle("z_5", start=[...],
       A={"0": [[...]],
          "1": [[...]],
          "2": [[...]],
          "3": [[...]],
          "4": [[...]]},
       b={}, readout=lambda x: ...)  # fmt: skip

# %%
# 9 Where are four things?  s swaps the first two places, t moves each thing on by one.  24 states, from 0123.  Par 3.
puzzle("s_4", start=[...],
       A={"s": [[...]],
          "t": [[...]]},
       b={}, readout=lambda x: ...)  # fmt: skip

# %%
# 10 Quaternions: the product of i and j so far.  States 1 i j k -1 -i -j -k.  Par 4.
puzzle("q_8", start=[...],
       A={"i": [[...]],
          "j": [[...]]},
       b={}, readout=lambda x: ...)  # fmt: skip

# %%
# 11 Tomita 7: 0s, then 1s, then 0s, then 1s; else all is lost.  States 0 1 2 3 4, how often it changed.  Par 4; are 3 enough?
puzzle("tomita_7", start=[...],
       A={"0": [[...]],
          "1": [[...]]},
       b={}, readout=lambda x: ...)  # fmt: skip

# %%
# 12 Where are five things?  s turns the first three places, t all five.  60 states, from 01234.  Par 4.
puzzle("a_5", start=[...],
       A={"s": [[...]],
          "t": [[...]]},
       b={}, readout=lambda x: ...)  # fmt: skip
