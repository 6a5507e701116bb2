"""One page of feedback for one student: HTML that needs nothing else, safe whatever the submission holds.

What a hidden test says holds its input and often its answer.  The page says it only where the teacher wishes so; else
what was right, what was not, and the points.
"""

import jinja2

from lrnnbook.content.exercises.judging import NOT_YET, RIGHT, UNJUDGED
from lrnnbook.machinery.grading.grading import Report
from lrnnbook.machinery.grading.sanitize import clean
from lrnnbook.machinery.grading.sets import HIDDEN, ProblemSet, Task, inside

_SIGNS = {RIGHT: "✓", NOT_YET: "✗", UNJUDGED: "?"}  # a sign beside the word: not by colour alone
_HIDDEN = {NOT_YET: "a hidden test fails", UNJUDGED: "on the input of a hidden test"}
_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{{ name }}: {{ report.student | clean }}</title><style>
body { font: 16px/1.5 sans-serif; max-width: 46em; margin: 2em auto; padding: 0 1em; color: #222; background: #fff }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; vertical-align: top; padding: .3em .6em }
th { width: 9em } th + th { width: 5em } th + th + th { width: auto } tr { border-top: 1px solid #ccc }
.right { color: #00664b } .not { color: #a33c00 } code { overflow-wrap: anywhere }
</style></head>
<body>
<h1>{{ name }}: {{ report.student | clean }}</h1>
<p>{{ report.points }} of {{ report.possible }} points.</p>
{% if fence %}<p><strong>{{ fence | clean }}</strong></p>{% endif %}
{% if report.problem %}<p><strong>It could not be graded: {{ report.problem | clean }}.</strong></p>{% endif %}
{% for task, rows in tasks %}
<h2>{{ task.id }} · {{ task.title | clean }}</h2>
<table>
<tr><th>test</th><th>points</th><th>result</th></tr>
{% for part, says in rows %}
<tr><td>{{ part.id | clean }}</td><td>{{ part.points }} of {{ part.possible }}</td><td>
<span class="{{ "right" if part.verdict.outcome == right else "not" }}">{{ signs[part.verdict.outcome] }} {{ part.verdict.outcome }}</span>
{%- if says %}<br><code>{{ says | clean }}</code>{% endif %}</td></tr>
{% endfor %}
</table>
{% endfor %}
{% if report.notes %}
<h2>About the notebook</h2>
<ul>{% for note in report.notes %}<li><code>{{ note | clean }}</code></li>{% endfor %}</ul>
{% endif %}
</body></html>
"""


def page(report: Report, problem_set: ProblemSet, *, show_hidden: bool = False, fence_note: str = "") -> str:
    """The page as text: with what hidden tests say if ``show_hidden``, and with a sentence on the fence."""
    written = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    written.filters["clean"] = clean
    tasks = [(task, _rows(task, report, show_hidden)) for task in problem_set.tasks]
    return written.from_string(_PAGE).render(name=problem_set.name, report=report, fence=fence_note, tasks=tasks,
                                             right=RIGHT, signs=_SIGNS)  # fmt: skip


def _rows(task: Task, report: Report, show_hidden: bool) -> list[tuple]:
    """The parts of a task, each with what is said of it.  What a visible test says too gives no hidden one away."""
    hidden = {id for id, source, _ in task.tests if inside(source, HIDDEN)}
    parts = [part for part in report.parts if part.id in {id for id, _, _ in task.tests}]
    open_words = {part.verdict.says for part in parts if part.id not in hidden}
    return [(part, _HIDDEN.get(part.verdict.outcome, "")
             if part.id in hidden and not show_hidden and part.verdict.says not in open_words else part.verdict.says)
            for part in parts]  # fmt: skip
