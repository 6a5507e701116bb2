"""Grading: problem sets to hand out, and marks for what comes back.  A teacher needs three commands::

    lrnnlab course release ps1 --out handout     # the students' notebook: no solution, no hidden test
    lrnnlab course grade class.zip --out marks   # marks.csv (merged) and a page of feedback for each student
    lrnnlab course marks marks --into SHEET.csv  # a person's points and words added, and the platform's table filled

What the fence stops and what it does not: :mod:`lrnnbook.machinery.grading.fence`.
"""
