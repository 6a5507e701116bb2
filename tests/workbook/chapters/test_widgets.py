"""The chapters' widgets that need no trained net: every one is legible as it opens, and can be drawn and told everywhere.

The widgets of trained nets are moved through all their values by nbval, in the chapters themselves.
"""

import itertools
import random

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from lrnnlab.expressivity.predict import FAMILIES
from workbook.chapters import ch01, ch02, ch03, ch04, ch05, ch06, ch07, ch08, ch09, ch10
from workbook.show.style import PAGE, SMALL
from workbook.show.widgets import explore
from workbook.tables.kernels import INTERVALS, families, targets

BENCH = ch03.timed()
WIDGETS = {  # name -> (draw, controls, sentence)
    "01 arrows": (ch01.two_arrows, {"transition": list(ch01.TRANSITIONS), "turn": [0, 40, 180], "size": [0.4, 1.2]},
                  ch01.arrows_sentence),
    "01 words": (ch01.word_picture, {"layer": list(ch01.LAYERS), "n": [1, 2, 3, 4], "bits": [2, 5, 8, 20]}, ch01.word_sentence),
    "01 lights": (ch01.fit_lights, {"task": ["D_2", "Parity", "S_3", "Tomita 3"], "b": list(ch01.SIZES), "layers": [1, 2],
                                    "word": ["", "01", "\N{SNOWMAN}"]}, ch01.fit_sentence),
    "02 growth": (lambda p, b, kind: ch02.growth(p, b, reach=310, kind=kind),
                  {"p": ch02.POWERS, "b": [2, 8, 16], "kind": [None, *ch02.KINDS]}, ch02.growth_sentence),
    "03 race": (lambda **at: ch03.scan_race(BENCH, **at), {"T": list(ch03.LENGTHS), "b": list(ch03.SIZES),
                "chains": list(ch03.CHAINS), "P": list(ch03.PROCESSORS.values())}, lambda **at: ch03.race_sentence(BENCH, **at)),
    **{f"04 {name}": (draw, told["controls"], told["sentence"]) for name, draw, told in (
        ("budget", ch04.budget, ch04.BUDGET_WIDGET),
        ("turning", ch04.turning, ch04.TURNING_WIDGET), ("climb", ch04.norm_climb, ch04.CLIMB_WIDGET),
        ("discs", ch04.discs, ch04.DISCS_WIDGET))},
    "05 start": (ch05.start_spectrum, {"arc": [180, 240, 360], "N": [4, 32], "per_mode": [1, 1.5, 3], "r": [0.9, 1.0]},
                 ch05.start_sentence),
    "05 fit": (ch05.fit_by_modes, {"target": list(targets(ch05.LENGTH)), "family": list(families(4)), "N": [2, 16, 32]},
               ch05.fit_sentence),
    "05 product": (ch05.product_modes, {"N": [1, 2, 3, 4], "modes": list(ch05.STARTS)}, ch05.product_sentence),
    "06 costs": (ch06.cost_picture, {"interval": list(INTERVALS), "L": [8, 64, 512], "percent": list(ch06.PERCENTS)},
                 ch06.cost_sentence),
    "06 floats": (ch06.float_kernels, {"interval": list(INTERVALS), "N": list(ch06.MODES)}, ch06.float_sentence),
    "06 reach": (ch06.reach_picture, {"N": [8, 16, 32, 64], "S": list(ch06.REACHES), "error": list(ch06.ERRORS)},
                 ch06.reach_sentence),
    "06 seesaw": (ch06.seesaw, {"N": [3, 5, 8], "push": [0, 100, 130]}, ch06.seesaw_sentence),
    "06 sums": (ch06.sum_picture, {"lam": list(ch06.LAMBDAS), "precision": list(ch06.DIGITS)}, ch06.sum_sentence),
    "07 tasks": (ch07.one_input, {"task": list(ch07.ATOMIC), "length": [16], "seed": [1, 2]}, ch07.asked),
    "07 channels": (ch07.with_channels, {"task": list(ch07.LINEAR), "channels": [1, 4]}, ch07.with_channels_sentence),
    "08 tree": (ch08.chunk_tree, {"task": list(ch08.WORDS), "string": ["", "1", "ststs", "\N{SNOWMAN}"], "C": list(ch08.CHUNKS),
                                  "order": list(ch08.ORDERS)}, ch08.tree_sentence),
    "08 noise": (ch08.noise_picture, {"task": list(ch08.NOISY), "e": list(ch08.NOISES), "layer": list(ch08.LAYERS),
                                      "noise": list(ch08.PLACES)}, ch08.noise_sentence),
    "09 memory": (ch09.memory_picture, {"text": ["abcabd", "a", "&<"], "rule": list(ch09.RULES.values()), "beta": list(ch09.BETAS),
                                        "position": [1, 2, 16]}, ch09.memory_sentence),
    "09 parity": (ch09.parity_picture, {"beta": list(ch09.STRENGTHS), "key": list(ch09.KEYS), "noise": list(ch09.NOISES),
                                        "bits": ["1101", "0"]}, ch09.parity_sentence),
    "09 leak": (ch09.leak_picture, {"over": list(ch09.LEAKS.values()), "m": list(ch09.DEPTHS)}, ch09.leak_sentence),
    "09 reset": (ch09.reset_picture, {"text": ["((()1(())1((1()", "1"], "over": list(ch09.RESET_LEAKS.values()),
                                      "added": [0, -1, -3]}, ch09.reset_sentence),
    "10 machine": (ch10.bench, {"text": ["(b|ab*a)*", "even a odd*; odd a even; even b even; odd b odd"], "family": list(FAMILIES)}, ch10.bench_sentence),
}  # fmt: skip

TYPED = ("word", "string", "text", "bits")  # text boxes


def places(controls, samples=6):
    """Where every control is at its first value or every one at its last, and some places between."""
    values, draw = list(controls.values()), random.Random(0)
    chosen = [*zip(*((one[0], one[-1]) for one in values)), *(tuple(map(draw.choice, values)) for _ in range(samples))]
    return [dict(zip(controls, place)) for place in dict.fromkeys(chosen)]


def legible(figure):
    """No wider than the page, no text below 9 points, and none outside of the figure."""
    FigureCanvasAgg(figure).draw()
    assert figure.get_size_inches()[0] <= PAGE + 0.05
    axes = [part for one in figure.axes for part in (*one.texts, one.title, one._left_title, one.xaxis.label, one.yaxis.label)]
    for text in (*figure.texts, *axes):
        if text.get_text().strip() and text.get_visible():
            box, page = text.get_window_extent(), figure.bbox.padded(2)
            assert text.get_fontsize() >= SMALL, text.get_text()
            assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1, text.get_text()


@pytest.mark.parametrize("name", WIDGETS)
def test_a_widget_is_legible_and_can_be_drawn_and_told_at_every_place(name):
    draw, controls, say = WIDGETS[name]
    shown = places(controls)
    said = [say(**at) for at in shown]
    assert all(said) and len(set(said)) > 1, "the sentence follows the controls"
    for at in shown[:2]:
        legible(draw(**at))
    for at in shown[2:4]:
        FigureCanvasAgg(draw(**at)).draw()


@pytest.mark.parametrize("name", WIDGETS)
def test_it_follows_its_controls_in_a_kernel(name):
    draw, controls, say = WIDGETS[name]
    assert len(controls) <= 4
    typed = {key: values[0] if key in TYPED and isinstance(values[0], str) else values for key, values in controls.items()}
    widget = explore(draw, typed, sentence=say, alt="What it shows.")
    seen = {(widget.image.value, widget.sentence.value)}
    for key, values in itertools.islice(controls.items(), 2):
        widget.controls[key].value = values[-1]
        seen.add((widget.image.value, widget.sentence.value))
    assert len(seen) > 1 and "alert" not in widget.sentence.value and "What it shows." in widget.children[1].value
