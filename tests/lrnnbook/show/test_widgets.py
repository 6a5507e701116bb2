"""explore: a widget follows its controls, draws ahead, and says what the reader mistyped."""

import asyncio
import base64
import itertools
import re

import pytest

from lrnnbook import show
from lrnnbook.content.chapters.ch02 import growth_sentence
from lrnnbook.content.show import style
from lrnnbook.content.show.output import few_colours
from lrnnlab.models.layers.transitions import COLUMN_RULES
from lrnnlab.tasks import Sum

widgets = pytest.importorskip("lrnnbook.content.show.widgets")


def dot(p, b):
    figure, axes = style.new_figure(1.5)
    axes.plot(p, b, "o")
    return figure


def dot_widget():
    return widgets.explore(dot, {"p": [1.0, 1.2, 2.0], "b": [1, 8, 16]}, sentence=growth_sentence,
                           initial={"p": 1.2, "b": 8}, alt="A <dot> at p and b.")


def test_a_widget_opens_on_its_initial_values_and_shows_them():
    w = dot_widget()
    assert w.values == {"p": 1.2, "b": 8} and growth_sentence(1.2, 8) in w.sentence.value
    assert w.image.value == show.quick_png(dot(1.2, 8)) and 'aria-live="polite"' in w.sentence.value
    assert w.image.layout.width == "691px" and "A &lt;dot&gt; at p and b." in w.children[1].value
    assert w.image.tooltip is None  # with a tooltip, ipywidgets 8.1 shows a JavaScript error in place of the image


def test_a_widget_leaves_a_still_of_itself_for_readers_without_a_kernel():
    w = dot_widget()
    w.controls["p"].value = 2.0
    bundle = w._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle and growth_sentence(2.0, 8) in bundle["text/html"]
    alt, code = re.search(r'<img alt="([^"]+)" src="data:image/png;base64,([^"]+)"', bundle["text/html"]).groups()
    assert alt == "A &lt;dot&gt; at p and b." and base64.b64decode(code) == few_colours(w.image.value)


def test_a_widget_follows_its_controls_through_all_their_values():
    w, seen = dot_widget(), set()
    for p, b in itertools.product([1.0, 1.2, 2.0], [1, 8, 16]):
        w.controls["p"].value, w.controls["b"].value = p, b
        assert growth_sentence(p, b) in w.sentence.value
        seen.add(w.image.value)
    assert len(seen) == 9


def test_what_the_next_key_would_show_is_drawn_while_nothing_else_is_asked(monkeypatch):
    monkeypatch.setattr(widgets, "SLOW", 60)  # a busy machine draws late, too
    monkeypatch.setattr(widgets, "IDLE", 0.01)
    calls = []

    def draw(k, rule):
        calls.append(k)
        if k == 5:
            raise RuntimeError("bad k")
        return dot(k, 1)

    async def reader():
        w = widgets.explore(draw, {"k": [1, 2, 3, 4, 5], "rule": ["clip", "release"]}, alt="Nothing.")
        await asyncio.sleep(0.5)
        assert calls == [1, 2]
        w.controls["k"].value = 2
        assert calls == [1, 2] and w.image.value == show.quick_png(dot(2, 1))
        w.controls["k"].value = 4  # before anything else is drawn ahead
        await asyncio.sleep(0.5)
        assert calls == [1, 2, 4, 5, 3]
        with pytest.raises(RuntimeError, match="bad k"):  # it is the reader's turn, who is told
            w.controls["k"].value = 5
        assert "bad k" in w.sentence.value

    asyncio.run(reader())


def test_controls_are_what_their_values_ask_for():
    w = widgets.explore(
        lambda rule, rounds, text, step: style.new_figure(1.5)[0],
        {"rule": ["clip", "release"], "rounds": {"one": 1, "two": 2}, "text": "0324", "step": range(5)}, alt="A walk.")
    kinds = [type(control).__name__ for control in w.controls.values()]
    assert kinds == ["ToggleButtons", "ToggleButtons", "Text", "SelectionSlider"]
    assert not w.controls["text"].continuous_update
    many = widgets.explore(lambda rule: style.new_figure(1.5)[0], {"rule": list(COLUMN_RULES)}, alt="A rule.")
    assert type(many.controls["rule"]).__name__ == "Dropdown" and many.values == {"rule": "clip"}


def typed_widget():
    return widgets.explore(lambda text: dot(*Sum(5).read(text)), {"text": "03"}, alt="A dot.",
                           sentence=lambda text: f"at {text}")


def test_what_the_reader_mistypes_is_answered_in_plain_words_and_not_raised():
    w = typed_widget()
    before = w.image.value
    w.controls["text"].value = "03<b>"
    assert 'role="alert"' in w.sentence.value and "still the one before" in w.sentence.value
    assert "&lt;" in w.sentence.value
    assert "ValueError" not in w.sentence.value and w.image.value == before
    w.controls["text"].value = "24"
    assert "at 24" in w.sentence.value and w.image.value != before


@pytest.mark.parametrize(("error", "controls"), [(ValueError("bad k"), {"k": [1, 2]}),
                                                 (RuntimeError("bad k"), {"k": [1, 2], "text": "x"})])
def test_our_own_mistakes_are_shown_and_raised(error, controls):
    def draw(k, text=""):
        if k == 2:
            raise error
        return style.new_figure(1.5)[0]

    w = widgets.explore(draw, controls, alt="Nothing.")
    with pytest.raises(type(error), match="bad k"):
        w.controls["k"].value = 2
    assert f"{type(error).__name__}: bad k" in w.sentence.value
    w.controls["k"].value = 1
    assert "bad k" not in w.sentence.value
