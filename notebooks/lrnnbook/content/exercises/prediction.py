"""A prediction: choose what will come out, then run it, and be told whether it did and why.

In a notebook::

    guess("01.11", lambda: run_it())                    # what came out, one of the choices
    guess("01.11", lambda: ("11", "all 2,000 words"))   # and a line that says more

Nothing runs before the reader presses the button.  ``check``, ``hint`` and ``solution`` know the same id.
Needs ipywidgets, which comes with the extra ``[book]``; a :class:`Prediction` alone does not.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from numbers import Integral, Real
from typing import Any

from lrnnbook.content.exercises.checking import Exercise, find, told
from lrnnbook.content.exercises.hints import Worked
from lrnnbook.content.exercises.judging import NOT_YET, RIGHT, UNTRIED, CannotJudge, claim, marked, same, shown
from lrnnbook.content.exercises.progress import note

LATE = 0.5  # seconds: a slider that moves fast tells its last value after the click of a button, up to so long


@dataclass(frozen=True)
class Prediction(Exercise):
    """An exercise that asks what will come out.  :func:`prediction` makes one."""

    right: Any
    choices: tuple


def prediction(id: str, choices: tuple, right: Any) -> Prediction:
    """An exercise with choices, of which ``right`` is what came out when the chapter was written."""
    def test(answer: Any) -> None:
        if not _known(answer, choices):
            raise CannotJudge(f"one of {', '.join(map(repr, choices))} is asked for, got {shown(answer)}")
        claim(same(answer, right), f"{shown(answer)} is not what comes out")

    return Prediction(id, test, right, choices)


class PredictionWidget:
    """What :func:`guess` returns: shows itself in a notebook; a test sets ``.choice.value``, clicks ``.button`` and reads
    ``says.value``, the HTML under it, and ``came``, what came out."""

    def __init__(self, exercise: Prediction, said: Worked, live: Callable[[], Any]):
        import ipywidgets  # here, because a grader has exercises and no notebook

        from lrnnbook.content.show.widgets import _alert, _status

        self._status, self._alert = _status, _alert
        self.exercise, self._said, self._live, self.came = exercise, said, live, None
        self._ended, self._more = float("-inf"), ""  # when the last run ended, and what else it told
        asked = ipywidgets.HTMLMath(f'<div style="max-width:44em;line-height:1.5">{escape(said.question)}</div>')
        if all(isinstance(one, Real) and not isinstance(one, bool) for one in exercise.choices):
            options = [(in_words(one), one) for one in exercise.choices]
            self.choice = ipywidgets.SelectionSlider(options=options, description="I predict",
                                                     layout={"width": "24em"})  # fmt: skip
        else:  # buttons: a key pressed in an open menu would reach JupyterLab instead
            self.choice = ipywidgets.ToggleButtons(options=exercise.choices, value=None,
                                                   style={"button_width": "auto"})  # fmt: skip
        self.button = ipywidgets.Button(description="Commit and run", button_style="primary")
        self.says = ipywidgets.HTMLMath(_status("Choose first; nothing runs before you commit."))
        self.button.on_click(lambda button: self.commit())
        self.choice.observe(lambda change: self._late(), names="value")
        self.box = ipywidgets.VBox([asked, self.choice, self.button, self.says])

    def _repr_mimebundle_(self, **_):
        """The widget, and what it asks for readers without a kernel."""
        choices = "".join(f"<li>{escape(in_words(one))}</li>" for one in self.exercise.choices)
        still = f"<p>{escape(self._said.question)}</p><ul>{choices}</ul><p><small>Run this cell to choose.</small></p>"
        widget = {"application/vnd.jupyter.widget-view+json": self.box.get_view_spec()}
        return {**widget, "text/plain": repr(self.box), "text/html": still}

    def commit(self) -> None:
        """Run, and say how the prediction did.  What ``live`` raises is shown and raised."""
        predicted, choices = self.choice.value, self.exercise.choices
        if predicted is None:
            self.says.value = self._alert("Nothing is chosen yet: choose one of the answers above, then commit.")
            return
        # the button stays enabled: one that is disabled loses the keyboard's focus
        self.says.value = self._status(f"You predict {_words(predicted)}. It runs …")
        try:
            came = self._live()
            came, more = came if isinstance(came, tuple) else (came, "")
            if not _known(came, choices):
                raise ValueError(f"{self.exercise.id}: {came!r} came out, which is none of the choices {choices}")
        except BaseException as error:  # a stopped run too: the line must not say for ever that it runs
            self.says.value = self._alert(f"This did not run to its end. {type(error).__name__}: {error}")
            raise
        self.came, self._more, self._ended = came, more, time.monotonic()
        self.says.value = self._status(self._verdict(predicted))

    def _late(self) -> None:
        """Judge again if the choice changes less than ``LATE`` seconds after the verdict."""
        if time.monotonic() - self._ended < LATE and self.choice.value is not None:
            self.says.value = self._status(self._verdict(self.choice.value))

    def _verdict(self, predicted: Any) -> str:
        outcome = RIGHT if same(predicted, self.came) else NOT_YET
        came = f": you predicted {_words(predicted)}, and {_words(self.came)} came out."
        lines = [came, escape(self._more), f"Why: {escape(self._said.solution)}"]
        if not same(self.came, self.exercise.right):  # the reason belongs to another outcome
            lines[2] = f"When this was written, {_words(self.exercise.right)} came out. {lines[2]}"
        lines.append(escape(note(self.exercise.id, outcome)))
        return marked(outcome, "<br>".join(line for line in lines if line))


def guess(id: str, live: Callable[[], Any]) -> PredictionWidget:
    """Ask the question of the exercise ``id``; run ``live`` when the reader commits, and compare.

    Numbers are chosen on a slider, texts on buttons; the keyboard alone will do.  The reader may choose and commit
    again.

    Parameters
    ----------
    id : str
        Of an exercise that asks a prediction.
    live : callable
        Returns what came out, one of the exercise's choices, or a pair of that and one line of plain text.

    Returns
    -------
    PredictionWidget
        The question, to be shown as the last value of a cell.

    Raises
    ------
    ValueError
        Where ``id`` is unknown or asks no prediction.

    Examples
    --------
    >>> asked = guess("02.7", lambda: "after about 15 steps")
    >>> asked.button.click()
    >>> "Nothing is chosen yet" in asked.says.value
    True
    """
    exercise = find(id)
    if not isinstance(exercise, Prediction):
        raise ValueError(f"{id} asks for no prediction: answer it with check({id!r}, ...)")
    if said := note(id, UNTRIED):
        print(said)
    return PredictionWidget(exercise, told(id), live)


def _known(one: Any, choices: tuple) -> bool:
    return any(same(one, choice) for choice in choices)


def in_words(value: Any) -> str:
    """A choice as a page says it."""
    return value if isinstance(value, str) else f"{value:,}" if isinstance(value, Integral) else f"{value:g}"


def _words(value: Any) -> str:
    return f"<b>{escape(in_words(value))}</b>"
