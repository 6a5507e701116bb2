# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Problem set 7 · A table again
#
# Two tasks, 6 points, about an hour, and the run. Choose an experiment of one paper and run part of it in the environment:
# `lrnnlab reproduce EXPERIMENT`, for example `lrnnlab reproduce fwp/table1 --rows NAME --seeds 0-2` (`lrnnlab reproduce --help` says which
# there are; the paper's numbers are printed beside ours). A run of a few minutes is enough.
#
# Before you hand in: *Kernel, Restart and Run All*, save, and run the last cell.

# %% nbgrader={"grade_id": "ps7-setup", "locked": true}
import numpy as np

from lrnnbook.content.exercises import agree, expect

# %% [markdown]
# ## ps7.1 · Which rows differ?
# *★★ · 20 minutes · 3 points. Teaches: to compare a number with a spread (chapter 00: How to read a number)*
#
# Write `differing(runs, papers)`. `runs` is a dictionary: the name of a row -> a list of scores, one for each seed (at least two). `papers`: the
# name of a row -> the paper's score. Return the names, in alphabetical order, of the rows of *both* in which the paper's score is more than two
# standard deviations of the runs (of a sample: divide by n - 1) away from their mean.
#
# <details><summary>Hint</summary>np.std(scores, ddof=1). A row that only one of the two has is not compared.</details>


# %% nbgrader={"grade_id": "ps7_1", "solution": true}
def differing(runs, papers):
    """The rows whose score the runs do not explain."""
    ### BEGIN SOLUTION
    both = sorted(set(runs) & set(papers))
    return [row for row in both if abs(papers[row] - np.mean(runs[row])) > 2 * np.std(runs[row], ddof=1)]
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps7_1_seen", "grade": true, "points": 1}
expect(differing, [(({"sum": [0.2, 0.3], "delta": [1.0, 1.0]}, {"sum": 0.3, "delta": 0.99, "other": 1.0}), ["delta"])])
print("ps7.1: right on the example")

# %% nbgrader={"grade_id": "ps7_1_hidden", "grade": true, "points": 2}
# Further cases, run when this is graded: near the border, and rows that only one has.
### BEGIN HIDDEN TESTS
# says: the spread of a sample, or a row that only one of the two has
def _slowly(runs, papers):
    """By the definition, in plain Python."""
    found = []
    for row in sorted(runs):
        if row in papers:
            n, mean = len(runs[row]), sum(runs[row]) / len(runs[row])
            if (papers[row] - mean) ** 2 > 4 * sum((score - mean) ** 2 for score in runs[row]) / (n - 1):
                found.append(row)
    return found


_seed = 7  # vary: 100 to 1000000
_draw = np.random.default_rng(_seed)
for _count in (2, 3, 5):
    _runs = {f"row{n}": _draw.normal(0.5, 0.1, _count).round(3).tolist() for n in range(8)}
    _papers = {row: round(float(np.mean(_runs[row]) + _draw.normal(0, 0.25)), 3) for row in [*_runs][3:]}
    agree(differing, _slowly, [(_runs, {**_papers, "other": 0.5})])
### END HIDDEN TESTS

# %% [markdown]
# ## ps7.2 · Three sentences
# *★★ · 30 minutes · 3 points. Teaches: to say what differs, and what would decide why (chapter 00: How to read a number)*
#
# Paste the command that you ran and what it printed. Then three sentences: which row differs most from the paper; one reason that your run makes
# likely (length, steps, the score's definition, seeds); and one run that would decide whether that is the reason.

# %% [markdown] nbgrader={"grade_id": "ps7_2", "solution": true, "grade": true, "points": 3}
# ### BEGIN SOLUTION
# 1 point: the command and its output are there, and the row named is the one that the output shows.
# 1 point: the reason fits what was run (it names a setting of the command or of the paper).
# 1 point: the run named would come out differently if the reason were wrong.
# ### END SOLUTION
