"""Predictions: nothing runs before the reader commits, and then the live result decides, not the written one."""

import re

import pytest
from proof_cells import sources

from lrnnbook.content.exercises import check, guess
from lrnnbook.content.exercises import prediction as predicting
from lrnnbook.content.exercises.building import MAGIC
from lrnnbook.content.exercises.checking import exercises
from lrnnbook.content.exercises.hints import Worked
from lrnnbook.content.exercises.judging import NOT_YET, RIGHT, UNJUDGED
from lrnnbook.content.exercises.prediction import Prediction, prediction
from lrnnbook.machinery.book.cell_dependencies import needed
from lrnnbook.machinery.book.running import is_code
from lrnnbook.machinery.book.sync import read_source

PREDICTIONS = [one for number in range(11) for one in exercises(f"{number:02d}") if isinstance(one, Prediction)]
SLOW = {"05.7", "08.2"}  # of nets that their chapter trains for ten seconds
COIN = prediction("00.1", ("heads", "tails <edge>"), "heads")
COUNT = prediction("00.2", (1, 10, 2000), 10)
SAID = Worked(("Guess.",), "$p<1$.", "Heads & tails?")


@pytest.fixture
def ask(monkeypatch):
    """guess, with two made-up exercises that it finds."""
    monkeypatch.setattr(predicting, "find", {"00.1": COIN, "00.2": COUNT}.__getitem__)
    monkeypatch.setattr(predicting, "told", lambda id: SAID)
    return guess


def commit(asked, predicted):
    """What is said when this is chosen and the button pressed."""
    asked.choice.value = predicted
    asked.button.click()
    return asked.says.value


@pytest.mark.parametrize("version", [7, 8])
def test_without_a_kernel_it_still_says_what_there_is_to_choose(ask, monkeypatch, version):
    """Colab has ipywidgets 7."""
    if version == 7:
        monkeypatch.delattr("ipywidgets.Widget._repr_mimebundle_")
    bundle = ask("00.1", lambda: "heads")._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert "Heads &amp; tails?" in bundle["text/html"] and "<li>heads</li><li>tails &lt;edge&gt;</li>" in bundle["text/html"]


def test_nothing_runs_before_the_reader_commits(ask):
    runs = []
    asked = ask("00.1", lambda: runs.append(1) or "heads")
    asked.button.click()
    assert 'role="alert"' in asked.says.value and "Nothing is chosen yet" in asked.says.value
    asked.choice.value = "tails <edge>"
    asked.choice.value = "heads"
    assert (runs, asked.came) == ([], None)
    assert "<b>right</b>" in commit(asked, "heads")
    assert (runs, asked.came) == ([1], "heads")


def test_what_the_slider_said_last_counts_though_it_comes_after_the_click(ask, monkeypatch):
    """The browser holds a slider's values back while the kernel works on the one before, and clicks it does not."""
    runs = []
    asked = ask("00.2", lambda: (runs.append(1) or 2000, "It ran."))
    assert "<b>not yet</b>: you predicted <b>10</b>" in commit(asked, 10)
    asked.choice.value = 2000
    assert "<b>right</b>: you predicted <b>2,000</b>" in asked.says.value and "It ran." in asked.says.value
    monkeypatch.setattr(predicting, "LATE", 0)  # later, whoever moves the slider thinks of the next try
    asked.choice.value = 1
    assert "<b>right</b>: you predicted <b>2,000</b>" in asked.says.value
    assert runs == [1]


def test_right_and_not_yet_and_again(ask):
    asked = ask("00.1", lambda: ("heads", "3 < 5 throws"))
    said = commit(asked, "tails <edge>")
    assert said.startswith('<div role="status"') and "\u2717</span> <b>not yet</b>" in said
    assert "<b>not yet</b>: you predicted <b>tails &lt;edge&gt;</b>, and <b>heads</b> came out." in said
    assert "3 &lt; 5 throws" in said and "Why: $p&lt;1$." in said and "When this was written" not in said
    assert "<b>right</b>: you predicted <b>heads</b>" in commit(asked, "heads")


@pytest.mark.parametrize("predicted, outcome", [("heads", NOT_YET), ("tails <edge>", RIGHT)])
def test_the_live_result_decides_and_not_what_is_written(ask, predicted, outcome):
    said = commit(ask("00.1", lambda: "tails <edge>"), predicted)
    assert f"<b>{outcome}</b>" in said
    assert "When this was written, <b>heads</b> came out." in said


@pytest.mark.parametrize("fault", [ZeroDivisionError("1 < 2"), KeyboardInterrupt("stopped"), KeyError("a")])
def test_what_live_raises_is_shown_and_raised(ask, fault):
    def live():
        raise fault

    asked = ask("00.1", live)
    asked.choice.value = "heads"
    with pytest.raises(type(fault)):
        asked.commit()
    assert 'role="alert"' in asked.says.value and type(fault).__name__ in asked.says.value
    assert asked.came is None and "<b>right</b>" not in asked.says.value and "1 < 2" not in asked.says.value


def asked_in_the_chapter(exercise):
    """What the chapter's own cell shows, made from the cells that it needs."""
    number = exercise.id.partition(".")[0]
    call = re.compile(rf'^guess\("{re.escape(exercise.id)}", (\w+)\)$', re.MULTILINE)
    (path,) = (path for path in sources(number) if call.search(path.read_text(encoding="utf-8")))
    codes = [cell.source for cell in read_source(path).cells if is_code(cell)]
    (place,) = (i for i, code in enumerate(codes) if call.search(code))
    space = {"__name__": "__main__"}
    for i in needed(codes, place):
        exec(compile(MAGIC.sub("", codes[i]), f"{number}, code cell {i + 1}", "exec"), space)
    return guess(exercise.id, space[call.search(codes[place])[1]])


@pytest.mark.parametrize("exercise", [pytest.param(one, id=one.id, marks=[pytest.mark.thorough] * (one.id in SLOW)) for one in PREDICTIONS])
def test_what_comes_out_in_a_chapter_is_what_its_solution_explains(exercise):
    asked = asked_in_the_chapter(exercise)
    outcomes = {choice: commit(asked, choice) for choice in exercise.choices}
    assert [choice for choice, said in outcomes.items() if "<b>right</b>" in said] == [exercise.right]
    assert not any("When this was written" in said or "alert" in said for said in outcomes.values())
    assert check(exercise.id, "something else").outcome == UNJUDGED
