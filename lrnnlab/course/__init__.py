"""The course: exercises that answer, problem sets to hand out, and grading of what comes back.

In a notebook a student needs three words, and plain JupyterLab::

    check("01.7", my_answer)     # right; not yet, with the input that shows it; or cannot be judged, and why
    hint("01.7")                 # the first hint; hint("01.7", 2) the second
    solution("01.7")             # the worked solution, explained

and one more where a question is to be answered before anything runs: ``predict("01.10", live)``.  In chapter 00
``progress()`` shows how far a reader has come, and ``my_copy()`` what is new in a chapter and how to start it over.

A teacher needs three commands::

    lrnnlab course release ps1 --out handout     # the students' notebook: no solution, no hidden test
    lrnnlab course grade submitted --out marks   # marks.csv (merged) and a page of feedback for each student
    lrnnlab course validate ps1.ipynb            # (a student's) what a grader would choke on, in plain words

What the fence stops and what it does not: :mod:`lrnnlab.course.fence`.
"""

from lrnnlab.course.exercises import check, hint, solution
from lrnnlab.course.judging import CannotJudge, NotYet, agree, call, claim, expect, numbers, same
from lrnnlab.course.predicting import predict
from lrnnlab.course.progress import my_copy, progress

__all__ = [
    "CannotJudge", "NotYet", "agree", "call", "check", "claim", "expect", "hint", "my_copy", "numbers", "predict",
    "progress", "same", "solution",
]  # fmt: skip
