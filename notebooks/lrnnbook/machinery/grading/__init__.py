"""Grading: problem sets to hand out, and marks for what comes back.  A teacher needs three commands::

    lrnnlab course release ps1 --out handout     # the students' notebook: no solution, no hidden test
    lrnnlab course grade submitted --out marks   # marks.csv (merged) and a page of feedback for each student
    lrnnlab course validate ps1.ipynb            # (a student's) what a grader would choke on, in plain words

What the fence stops and what it does not: :mod:`lrnnbook.machinery.grading.fence`.
"""
