"""The course: exercises that answer, problem sets to hand out, and grading of what comes back.

In a notebook a student needs three words, and plain JupyterLab::

    check("01.5", my_answer)     # right; not yet, with the input that shows it; or cannot be judged, and why
    hint("01.5")                 # the first hint; hint("01.5", 2) the second
    solution("01.5")             # the worked solution, explained

and one more where a question is to be answered before anything runs: ``predict("01.12", live)``.

A teacher needs three commands::

    lrnnlab course release ps1 --out handout     # the students' notebook: no solution, no hidden test
    lrnnlab course grade submitted --out marks   # marks.csv (merged) and a page of feedback for each student
    lrnnlab course validate ps1.ipynb            # (a student's) what a grader would choke on, in plain words

=====================  ==================================================================================
``judging``            the three outcomes, and the helpers that tests are written with
``exercises``          check, hint, solution; the chapters' exercises by their ids
``predicting``         predict: choose what will come out, then run it
``sets, releasing``    a problem set's source, and the notebook made from it
``submissions``        what came back, copied and read with suspicion; ``reading`` one notebook, in its own process
``showing``            what a student wrote, made fit for a page, a table and a terminal
``fence``              bubblewrap, Docker or Podman round a student's process: which there is, and its command line
``process, pupil``     a student's process from outside and from inside; ``sandbox`` what it may use
``wire``               plain data that comes out of it, read within bounds
``grading, grader``    one submission; several at a time, each in a process of the grader's that can be ended
``marking``            a folder of submissions; ``feedback`` the page, ``validating`` before hand-in
=====================  ==================================================================================

What the fence stops and what it does not: :mod:`lrnnlab.course.fence`.
"""

from lrnnlab.course.exercises import check, hint, solution
from lrnnlab.course.judging import CannotJudge, NotYet, agree, call, claim, expect, numbers, same
from lrnnlab.course.predicting import predict

__all__ = [
    "CannotJudge", "NotYet", "agree", "call", "check", "claim", "expect", "hint", "numbers", "predict", "same",
    "solution",
]  # fmt: skip
