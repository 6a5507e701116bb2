"""A prediction on a page without a kernel: choose, then see what came out when the chapter was written (``static/book.js``).

Without scripts the answer is folded, and a reader says whether the prediction was right.
"""

import re
from html import escape

from lrnnbook.content.exercises.checking import find, told
from lrnnbook.content.exercises.prediction import Prediction, in_words

ASKED = re.compile(r"""\bguess\(\s*["'](\d\d\.\d+)["']""")


def asked_in(code: str) -> str | None:
    """The id of the prediction that a cell asks for, or None."""
    return found[1] if (found := ASKED.search(code)) else None


def prediction_markdown(id: str) -> str:
    """The question, its choices, and below a fold what came out and why; in Markdown, since there are formulas in it."""
    exercise, said = find(id), told(id)
    if not isinstance(exercise, Prediction):
        raise ValueError(f"{id} asks for no prediction")
    choices = [in_words(one) for one in exercise.choices]
    right = exercise.choices.index(exercise.right)
    inputs = "\n".join(f'<label><input type="radio" name="predict-{id}" value="{n}" autocomplete="off"> <span>{escape(one)}</span></label>'
                       for n, one in enumerate(choices))  # fmt: skip
    return f"""<fieldset class="predict" data-right="{right}"><legend>I predict</legend>

{said.question}

<div class="choices">
{inputs}
</div>
<p class="verdict" role="status"></p>
<details><summary>See what came out</summary>

<p>When this page was made, <b>{escape(choices[right])}</b> came out.</p>

Why: {said.solution}

</details>
</fieldset>"""
