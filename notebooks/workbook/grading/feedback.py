"""One page of feedback for one student: HTML that needs nothing else, safe whatever the submission holds.

What a hidden test says holds its input and often its answer.  The page says it only where the teacher wishes so; else
what was right, what was not, and the points.
"""

from __future__ import annotations

import html

from workbook.exercises.judging import NOT_YET, RIGHT, UNJUDGED
from workbook.grading.grading import Part, Report
from workbook.grading.sanitize import clean
from workbook.grading.sets import HIDDEN, ProblemSet, Task, inside

_MARKS = {RIGHT: ("&#10003;", "right"), NOT_YET: ("&#10007;", "not yet")}  # a sign and a word: not by colour alone
_STYLE = """
body { font: 16px/1.5 sans-serif; max-width: 46em; margin: 2em auto; padding: 0 1em; color: #222; background: #fff }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; vertical-align: top; padding: .3em .6em }
tr { border-top: 1px solid #ccc } .right { color: #00664b } .not { color: #a33c00 } code { overflow-wrap: anywhere }
"""


_HIDDEN = {NOT_YET: "a hidden test fails", UNJUDGED: "on the input of a hidden test"}


def page(report: Report, problem_set: ProblemSet, *, show_hidden: bool = False, fence_note: str = "") -> str:
    """The page as text: with what hidden tests say if ``show_hidden``, and with a sentence on the fence.

    >>> from workbook.grading.sets import ProblemSet
    >>> "0 of 0 points" in page(Report("<b>", ()), ProblemSet("ps1", None, "", ()))
    True
    """
    title = f"{problem_set.name}: {_text(report.student)}"
    parts = {part.id: part for part in report.parts}
    tasks = "".join(
        f"<h2>{_text(task.id)} · {_text(task.title)}</h2>\n<table>\n<tr><th>test</th><th>points</th><th>result</th>"
        f"</tr>\n{''.join(_rows(task, parts, show_hidden))}</table>\n"
        for task in problem_set.tasks
    )
    problem = f"<p><strong>It could not be graded: {_text(report.problem)}.</strong></p>\n" if report.problem else ""
    fence = f"<p><strong>{_text(fence_note)}</strong></p>\n" if fence_note else ""
    notes = "".join(f"<li><code>{_text(note)}</code></li>" for note in report.notes)
    notes = f"<h2>About the notebook</h2>\n<ul>{notes}</ul>\n" if notes else ""
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f"<style>{_STYLE}</style></head>\n<body>\n<h1>{title}</h1>\n"
            f"<p>{report.points} of {report.possible} points.</p>\n{fence}{problem}{tasks}{notes}</body></html>\n"
            )  # fmt: skip


def _text(text: str) -> str:
    return html.escape(clean(text))


def _rows(task: Task, parts: dict[str, Part], show_hidden: bool) -> list[str]:
    """A row for each test.  What a visible test of the task says too ("not attempted") gives no hidden one away."""
    hidden = {id for id, source, _ in task.tests if inside(source, HIDDEN)}
    open_words = {parts[id].verdict.says for id, _, _ in task.tests if id not in hidden}
    rows = []
    for id, _, _ in task.tests:
        part = parts[id]
        outcome, says = part.verdict.outcome, part.verdict.says
        if id in hidden and not show_hidden and says not in open_words:
            says = _HIDDEN.get(outcome, "")
        sign, word = _MARKS.get(outcome, ("?", outcome))
        says = f"<br><code>{_text(says)}</code>" if says else ""
        rows.append(f'<tr><td>{_text(part.id)}</td><td>{part.points} of {part.possible}</td><td><span class='
                    f'"{"right" if outcome == RIGHT else "not"}">{sign} {_text(word)}</span>{says}</td></tr>\n'
                    )  # fmt: skip
    return rows
