"""Exercises that answer.  In a notebook a student needs three words, and plain JupyterLab::

    check("01.10", my_answer)     # right; not yet, with the input that shows it; or cannot be judged, and why
    hint("01.10")                 # the first hint; hint("01.10", 2) the second
    solution("01.10")             # the worked solution, explained

and one more where a question is to be answered before anything runs: ``guess("01.11", live)``.  A cell that begins
``%%build scan`` is judged and kept; ``mine("scan")`` gives what was kept, in every chapter.  In chapter 00
``progress()`` shows how far a reader has come, and ``my_copy()`` what is new in a chapter and how to start it over.
"""

import sys

from lrnnbook.content.exercises.building import mine, register
from lrnnbook.content.exercises.checking import check, hint, solution
from lrnnbook.content.exercises.judging import CannotJudge, NotYet, agree, call, claim, expect, numbers, same
from lrnnbook.content.exercises.prediction import guess
from lrnnbook.content.exercises.progress import my_copy, progress

__all__ = [
    "CannotJudge", "NotYet", "agree", "call", "check", "claim", "expect", "guess", "hint", "mine", "my_copy",
    "numbers", "progress", "same", "solution",
]  # fmt: skip

if "IPython" in sys.modules and (shell := sys.modules["IPython"].get_ipython()):  # in a notebook
    register(shell)
