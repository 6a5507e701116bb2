# Answers planted to test the tests of ps7: right ones in another style, wrong ones, and the points each must get.
# Not for students.  ``tests/support/rehearsal.py`` reads them; ``tests/lrnnbook/grading/test_course_sets.py`` grades every one.
# ruff: noqa: F811, F821

# %% planted={"task": "ps7.1", "points": 3, "what": "right: with the statistics of Python's own library"}
def differing(runs, papers):
    import statistics

    found = set()
    for row, scores in runs.items():
        if row in papers and abs(papers[row] - statistics.mean(scores)) > 2 * statistics.stdev(scores):
            found.add(row)
    return tuple(sorted(found))


# %% planted={"task": "ps7.1", "points": 1, "what": "wrong: the spread of a whole population"}
def differing(runs, papers):
    return [row for row in sorted(set(runs) & set(papers)) if abs(papers[row] - np.mean(runs[row])) > 2 * np.std(runs[row])]


# %% planted={"task": "ps7.1", "points": 0, "what": "wrong: every row must be in the paper"}
def differing(runs, papers):
    return [row for row in sorted(papers) if abs(papers[row] - np.mean(runs[row])) > 2 * np.std(runs[row], ddof=1)]


# %% planted={"task": "ps7.1", "points": 1, "what": "wrong: hard-coded"}
def differing(runs, papers):
    return ["delta"]
