"""One page of feedback for one student: HTML that needs nothing else, safe whatever the submission holds."""

from __future__ import annotations

from html import escape

from lrnnlab.course.grading import Part, Report
from lrnnlab.course.judging import NOT_YET, RIGHT
from lrnnlab.course.sets import ProblemSet

_MARKS = {RIGHT: ("&#10003;", "right"), NOT_YET: ("&#10007;", "not yet")}  # a sign and a word: not by colour alone
_STYLE = """
body { font: 16px/1.5 sans-serif; max-width: 46em; margin: 2em auto; padding: 0 1em; color: #222; background: #fff }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; vertical-align: top; padding: .3em .6em }
tr { border-top: 1px solid #ccc } .right { color: #00664b } .not { color: #a33c00 } code { overflow-wrap: anywhere }
"""


def page(report: Report, problem_set: ProblemSet) -> str:
    """The page as text.

    >>> from lrnnlab.course.sets import ProblemSet
    >>> "0 of 0 points" in page(Report("<b>", ()), ProblemSet("ps1", None, "", ()))
    True
    """
    title = f"{problem_set.name}: {escape(report.student)}"
    parts = {part.id: part for part in report.parts}
    tasks = "".join(
        f"<h2>{escape(task.id)} · {escape(task.title)}</h2>\n<table>\n<tr><th>test</th><th>points</th><th>result</th>"
        f"</tr>\n{''.join(_row(parts[id]) for id, _, _ in task.tests)}</table>\n"
        for task in problem_set.tasks
    )
    problem = f"<p><strong>It could not be graded: {escape(report.problem)}.</strong></p>" if report.problem else ""
    notes = "".join(f"<li><code>{escape(note)}</code></li>" for note in report.notes)
    notes = f"<h2>About the notebook</h2>\n<ul>{notes}</ul>\n" if notes else ""
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f"<style>{_STYLE}</style></head>\n<body>\n<h1>{title}</h1>\n"
            f"<p>{report.points} of {report.possible} points.</p>\n{problem}{tasks}{notes}</body></html>\n"
            )  # fmt: skip


def _row(part: Part) -> str:
    sign, word = _MARKS.get(part.verdict.outcome, ("?", part.verdict.outcome))
    kind = "right" if part.verdict.outcome == RIGHT else "not"
    says = f"<br><code>{escape(part.verdict.says)}</code>" if part.verdict.says else ""
    return (f'<tr><td>{escape(part.id)}</td><td>{part.points} of {part.possible}</td>'
            f'<td><span class="{kind}">{sign} {escape(word)}</span>{says}</td></tr>\n')  # fmt: skip
