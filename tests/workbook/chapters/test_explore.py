"""explore: what is drawn is what was given, the same bytes every time, and widgets follow their controls."""

import asyncio
import base64
import io
import itertools
import re
import subprocess
import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from lrnnlab.automata import MooreMachine, build
from lrnnlab.models import COLUMN_RULES
from lrnnlab.tasks import EvenPair, ModArith, Sum
from workbook import show, tables
from workbook.chapters import ch02
from workbook.chapters.ch02 import (
    before_after,
    column_rule,
    eigenvalue_plane,
    eigenvalues,
    growth,
    growth_sentence,
    log10_products,
    random_blocks,
    transition_grid,
)
from workbook.show import automaton_figures, graph_layout, labels, output, style, training_figures
from workbook.show.automaton_figures import snapped_heads, state_diagram
from workbook.show.gallery import comparison
from workbook.show.training_figures import accuracy_by_length, loss_curve, spread
from workbook.tables import results

A = np.random.default_rng(0).normal(size=(3, 2, 4, 4))
TOKENS = ("0", "1", "-")


def written(figure):
    """What is written in it."""
    return [text.get_text() for text in drawn_texts(figure)]


def drawn_texts(figure):
    """Texts with something in them that lie within the limits of their axis (matplotlib makes ticks beyond, too)."""
    beyond = set()
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        low, high = sorted(axis.get_view_interval())
        slack = 1e-9 * (high - low)
        for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
            if not low - slack <= tick.get_loc() <= high + slack:
                beyond |= {tick.label1, tick.label2}
    return [text for text in figure.findobj(Text)
            if text not in beyond and text.get_visible() and text.get_text().strip()]


def line(axes, label):
    (found,) = [one for one in axes.lines if one.get_label() == label]
    return found


# --- the style -------------------------------------------------------------------------------------------------------


def lightness(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]) ** (1 / 3)


@pytest.mark.parametrize("M", [2, 3, 5, 7])
def test_values_differ_even_in_grey(M):
    greys = sorted(lightness(style.value_colour(v, M)) for v in range(M))
    assert min(np.diff(greys)) > 0.05


def test_value_colours_close_the_circle():
    colours = np.array([to_rgb(style.value_colour(v, 12)) for v in range(12)])
    steps = np.linalg.norm(colours - np.roll(colours, -1, axis=0), axis=1)
    assert steps[-1] < 1.5 * steps[:-1].max()  # 11 is as near to 0 as any two neighbours are


@pytest.mark.parametrize(("value", "M"), [(5, 5), (-2, 5)])
def test_a_value_outside_is_named(value, M):
    with pytest.raises(ValueError, match=f"{value} is no value mod {M}"):
        style.value_colour(value, M)


def test_no_two_families_or_sources_look_alike():
    families = [labels.look(name) for name in ("softmax", "clip", "release", "centred", "block", "unit", "lstm", "elman", "exact")]
    looks = [*families, *style.SOURCES.values()]
    assert len({look.colour for look in looks}) == len(looks)
    assert len({(look.dash, look.marker) for look in families}) == len(families)


def test_labels_keep_their_look_and_strangers_get_spare_ones():
    assert labels.look_of("Softmax (seed 0)") == labels.look("softmax")
    assert labels.look_of("recorded").colour == style.RECORDED
    assert labels.look_of("", 0) != labels.look_of("mine", 1)
    with pytest.raises(ValueError, match="gives 'mine' no colour"):
        labels.look("mine")


def test_rounding_does_not_choose_which_label_stands_above():
    """Two lines that end at 0, each with the rounding of another processor."""
    heights = []
    for ends in ([1e-16, 0.0, 0.5], [0.0, 3e-16, 0.5]):
        axes = Figure().subplots()
        axes.set_ylim(-0.03, 1)
        texts = style.label_ends(axes, [(y, name, "black") for y, name in zip(ends, "abc")])
        heights.append([text.get_position()[1] for text in texts])
    assert heights[0] == heights[1] and heights[0][0] < heights[0][1] < heights[0][2]


def test_labels_move_apart_as_little_as_possible():
    heights = np.random.default_rng(1).uniform(size=9)
    placed = style.spread_apart(heights, 0.05)
    order = np.argsort(heights)
    assert (np.diff(placed[order]) >= 0.05 - 1e-12).all()
    assert np.array_equal(style.spread_apart([0.1, 0.9, 0.5], 0.05), [0.1, 0.9, 0.5])
    assert np.isclose(placed.mean(), heights.mean())


def test_the_style_leaves_other_pictures_alone():
    before = dict(matplotlib.rcParams)
    figure, _ = style.new_figure()
    show.png(figure)
    assert dict(matplotlib.rcParams) == before


def test_margins_without_room_are_refused():
    with pytest.raises(ValueError, match="no room for 1 x 1 panels"):
        style.new_figure(0.5)


# --- all figures -----------------------------------------------------------------------------------------------------

TRAINED = [
    {"experiment": "lrnn/table2", "task": "sum", "row": "clip", "seed": seed, "budget": "desk", "levels": {"majority": 0.2},
     "metrics": {"accuracy_seen": 1.0, "accuracy_all": past}} for seed, past in enumerate((0.3, 0.5))
]  # fmt: skip

FIGURES = {
    "loss": lambda: loss_curve({"clip": [(1, 1.6), (50, 0.1)], "softmax": [(1, 1.6), (50, 0.0)]}, classes=5),
    "accuracy": lambda: accuracy_by_length(
        {"softmax": np.ones(300), "clip, p = 1.2": np.linspace(1, 0.2, 300)},
        train_length=40, chance=0.2, majority=0.2, window=9),
    "table": lambda: comparison(results.frame(TRAINED), {("evenpair", "clip"): [0.9]}),
    "spread": lambda: spread(np.geomspace(0.01, 1, 60), np.full(60, 3.0), train_length=40),
    "grid": lambda: transition_grid(A, TOKENS, "three tokens"),
    "before and after": lambda: before_after(A, A.round(), TOKENS, 1),
    "eigenvalues": lambda: eigenvalue_plane(eigenvalues(A), TOKENS, eigenvalues(A / 2), order=5),
    "growth": lambda: growth(1.2, 8, steps=200),
    "column rule": lambda: column_rule(A[0, 0], 1.2, "release"),
    "diagram": lambda: state_diagram(Sum(5).machine),
    "diagram with legend": lambda: state_diagram(EvenPair(5).machine),
    "heads": lambda: snapped_heads([Sum(3).machine, MooreMachine([[0]] * 3, [-1], 0, "012")]),
    "heads, one token": lambda: snapped_heads([Sum(5).machine, Sum(5).specification], token=1),
}  # fmt: skip


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_legible_with_nothing_cut_off_or_written_over(name):
    figure = FIGURES[name]()
    assert isinstance(figure, Figure) and figure.get_size_inches()[0] <= style.PAGE + 0.05
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer, page, boxes = canvas.get_renderer(), figure.bbox.padded(2), []
    for text in drawn_texts(figure):
        box = text.get_window_extent(renderer)
        assert text.get_fontsize() >= style.SMALL or text.get_text().startswith("$"), text
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1, text
        boxes.append((text.get_text(), box))
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        overlap = max(0, min(a.x1, b.x1) - max(a.x0, b.x0)) * max(0, min(a.y1, b.y1) - max(a.y0, b.y0))
        assert overlap <= 0.1 * min(a.width * a.height, b.width * b.height), (one, other)


@pytest.mark.parametrize("name", ["grid", "diagram", "spread"])
@pytest.mark.parametrize("written", [show.png, show.quick_png])
def test_the_same_figure_is_the_same_crisp_and_small_file_without_date_or_version(name, written):
    first, again = FIGURES[name](), FIGURES[name]()
    picture = written(first)
    assert picture == written(again) and b"Software" not in picture and b"Date" not in picture
    assert len(picture) < show.LARGEST
    assert Image.open(io.BytesIO(picture)).width == pytest.approx(first.get_size_inches()[0] * style.DPI, abs=1)


def test_a_quick_picture_has_the_pixels_that_matplotlib_saves():
    saved = io.BytesIO()
    FIGURES["diagram"]().savefig(saved, format="png")
    quick = Image.open(io.BytesIO(show.quick_png(FIGURES["diagram"]())))
    quick.verify()  # every chunk's check sum
    quick = Image.open(io.BytesIO(show.quick_png(FIGURES["diagram"]())))
    assert np.array_equal(np.asarray(quick), np.asarray(Image.open(saved).convert("RGB")))


@pytest.mark.parametrize("name", ["accuracy", "diagram with legend"])
def test_the_busiest_pictures_may_be_committed(name):
    assert len(show.png(FIGURES[name]())) < show.LARGEST


# --- show ------------------------------------------------------------------------------------------------------------


def test_a_figure_goes_out_with_its_texts_escaped_and_its_picture_whole():
    figure, _ = style.new_figure()
    html = show.figure_html(figure, 'a "quoted" <alt>', "caption & <b>")
    assert 'alt="a &quot;quoted&quot; &lt;alt&gt;"' in html and "caption &amp; &lt;b&gt;</figcaption>" in html
    picture = base64.b64decode(re.search('base64,([^"]+)"', html)[1])
    assert picture == show.png(figure) and "width:691px" in html and "background:#fff" in html


@pytest.mark.parametrize(("alt", "caption", "missing"), [("", "c", "alternative text"), ("  ", "c", "alternative text"),
                                                         (None, "c", "alternative text"), ("a", "", "caption")])
def test_a_figure_without_its_texts_is_refused(alt, caption, missing):
    with pytest.raises(ValueError, match=f"needs its {missing}"):
        show.figure_html(style.new_figure()[0], alt, caption)


def test_display_sends_html(monkeypatch):
    import IPython.display

    sent = []
    monkeypatch.setattr(IPython.display, "display", sent.append)
    show.figure(style.new_figure()[0], "an empty pair of axes", "nothing")
    show.table([{"a": 1}], "one number")
    assert [type(one).__name__ for one in sent] == ["HTML", "HTML"]
    assert sent[0].data.startswith("<figure") and sent[1].data.startswith("<table")


def test_a_table_has_headers_caption_formats_and_dashes():
    html = show.table_html(
        [{"rule": "a < b", "accuracy": 0.98765, "runs": 5}, {"rule": "clip", "accuracy": None, "runs": 3}],
        "two & more", {"accuracy": ".3f"})  # fmt: skip
    assert ">two &amp; more</caption>" in html and html.count('scope="col"') == 3 and html.count('scope="row"') == 2
    assert ">a &lt; b</th>" in html and ">0.988</td>" in html and ">–</td>" in html and ">5</td>" in html


def test_a_data_frame_is_a_table_with_its_index_first_if_that_has_a_name():
    frame = pd.DataFrame({"rule": ["clip"], "loss": [float("nan")]})
    assert ">clip</th>" in show.table_html(frame, "c") and ">–</td>" in show.table_html(frame, "c")
    assert ">rule</th>" in show.table_html(frame.set_index("rule"), "c")
    assert ">1.235e-05<" in show.table_html(frame.assign(loss=1.23456e-5), "c")


@pytest.mark.parametrize("rows", [[], [{}], [{"a": 1}, {"b": 2}]])
def test_a_table_that_is_none_is_refused(rows):
    with pytest.raises(ValueError, match="no rows|every row needs"):
        show.table_html(rows, "caption")


def test_a_format_for_no_column_is_refused():
    with pytest.raises(ValueError, match="'b', but the columns are a"):
        show.table_html([{"a": 1.0}], "caption", {"b": ".2f"})


def test_saving_writes_the_picture_and_its_description(tmp_path):
    figure, _ = style.new_figure()
    path = show.save(figure, tmp_path / "deep" / "empty.png", "Größe → ∞")
    assert Image.open(path).text == {"Description": "Größe → ∞"}
    assert path.read_bytes() == show.save(figure, path, "Größe → ∞").read_bytes()
    assert [file.name for file in path.parent.iterdir()] == ["empty.png"]


def test_saving_refuses_other_suffixes_missing_text_and_large_files(tmp_path, monkeypatch):
    figure, _ = style.new_figure()
    for name, alt in (("a.jpg", "alt"), ("a.png", "")):
        with pytest.raises(ValueError, match=r"\.png|alternative text"):
            show.save(figure, tmp_path / name, alt)
    monkeypatch.setattr(output, "LARGEST", 1000)
    with pytest.raises(ValueError, match="a.png would have [0-9]+ bytes, more than 1000: draw less"):
        show.save(figure, tmp_path / "a.png", "two axes")
    assert not list(tmp_path.iterdir())


def test_pictures_need_neither_pyplot_nor_ipywidgets():
    code = ("import sys; from workbook.show import training_figures; "
            "print([name for name in ('matplotlib.pyplot', 'ipywidgets', 'IPython') if name in sys.modules])")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# --- training figures ------------------------------------------------------------------------------------------------


def test_loss_lines_are_the_losses():
    axes = loss_curve({"clip": [(1, 1.5), (9, 0.5)], "mine": [(2, 1.0), (4, 0.25)]}, classes=5).axes[0]
    assert line(axes, "clip").get_xdata().tolist() == [1, 9] and line(axes, "clip").get_ydata().tolist() == [1.5, 0.5]
    assert line(axes, "clip").get_color() == labels.look("clip").colour
    assert line(axes, "chance").get_ydata()[0] == pytest.approx(np.log(5))


def test_accuracy_marks_training_length_chance_and_majority():
    accuracies = np.linspace(1, 0, 100)
    figure = accuracy_by_length({"lstm": accuracies}, train_length=40, chance=0.2, majority=0.7)
    axes = figure.axes[0]
    assert np.array_equal(line(axes, "lstm").get_ydata(), accuracies)
    assert line(axes, "lstm").get_xdata().tolist() == list(range(1, 101))
    assert {"trained up to 40", "chance: 20 %", "majority: 70 %", "lstm"} <= set(written(figure))
    assert [40, 40] in [list(one.get_xdata()) for one in axes.lines]
    assert {0.2, 0.7} <= {y[0] for y in (list(one.get_ydata()) for one in axes.lines) if y[0] == y[-1]}
    same = accuracy_by_length({"lstm": accuracies}, train_length=40, chance=0.2, majority=0.2)
    assert "chance = majority: 20 %" in written(same)


def test_accuracy_joins_over_positions_that_carry_no_label():
    axes = accuracy_by_length({"x": [1, np.nan, 0.5]}, train_length=2, chance=0.2, majority=0.2).axes[0]
    assert line(axes, "x").get_xdata().tolist() == [1, 3] and line(axes, "x").get_ydata().tolist() == [1, 0.5]


@pytest.mark.parametrize("window", [1, 2, 3, 8, 500])
def test_smoothing_is_the_mean_of_the_neighbours(window):
    values = np.random.default_rng(2).uniform(size=50)
    axes = accuracy_by_length({"x": values}, train_length=2, chance=0.2, majority=0.2, window=window).axes[0]
    before, after = (window - 1) // 2, window // 2
    expected = [values[max(0, t - before):t + after + 1].mean() for t in range(50)]
    assert np.allclose(line(axes, "x").get_ydata(), expected)


@pytest.mark.parametrize("curves", [{}, {"x": [np.nan]}, {"x": [[1.0]]}])
def test_accuracy_without_numbers_is_refused(curves):
    with pytest.raises(ValueError, match="nothing to draw|needs accuracies"):
        accuracy_by_length(curves, train_length=2, chance=0.2, majority=0.2)


def test_a_window_below_one_is_refused():
    with pytest.raises(ValueError, match="at least 1, got 0"):
        accuracy_by_length({"x": [1.0]}, train_length=2, chance=0.2, majority=0.2, window=0)


def test_spread_draws_both_curves_and_refuses_unequal_ones():
    axes = spread([0.1, 0.2], [2.0, np.nan], train_length=1).axes[0]
    assert line(axes, "within a class").get_ydata().tolist() == [0.1, 0.2]
    assert line(axes, "between classes").get_ydata()[0] == 2
    with pytest.raises(ValueError, match=r"\(2,\) and \(3,\)"):
        spread([1, 2], [1, 2, 3])


# --- transition figures ----------------------------------------------------------------------------------------------


def mesh_values(axes, rows, columns):
    return np.asarray(axes.collections[0].get_array().filled(np.nan)).reshape(rows, columns)


def test_the_grid_holds_every_block_and_its_column_sums():
    figure = transition_grid(A, TOKENS)
    values = mesh_values(figure.axes[0], 3 * 7, 2 * 5).reshape(3, 7, 2, 5)
    assert np.array_equal(values[:, :4, :, :4].transpose(0, 2, 1, 3), A)
    assert np.allclose(values[:, 5, :, :4], A.sum(2)) and np.isnan(values[..., 4]).all()
    limit = figure.axes[0].collections[0].norm
    assert limit.vmax == -limit.vmin == pytest.approx(max(np.abs(A).max(), np.abs(A.sum(2)).max()))
    assert {"0", "1", "−", "token", "head", "sum"} <= set(written(figure))


def test_before_and_after_are_two_rows_of_one_head():
    figure = before_after(A, 2 * A, TOKENS, 1, names=("trained", "snapped"))
    values = mesh_values(figure.axes[0], 2 * 7, 3 * 5).reshape(2, 7, 3, 5)
    assert np.array_equal(values[0, :4, :, :4].transpose(1, 0, 2), A[:, 1])
    assert np.array_equal(values[1, :4, :, :4].transpose(1, 0, 2), 2 * A[:, 1])
    assert {"trained", "snapped", "head 1"} <= set(written(figure))
    with pytest.raises(ValueError, match="head in 0..1"):
        before_after(A, A, TOKENS, 2)


def test_blocks_that_do_not_fit_their_tokens_are_refused():
    with pytest.raises(ValueError, match="for 2 tokens, got \\(3, 2, 4, 4\\)"):
        transition_grid(A, ("0", "1"))
    with pytest.raises(ValueError, match="for 2 tokens"):
        eigenvalue_plane(eigenvalues(A), ("0", "1"))


def test_eigenvalues_are_drawn_where_they_are_by_token():
    found = eigenvalues(A)
    figure = eigenvalue_plane(found, TOKENS, found / 2, order=5, names=("first", "then"))
    left, right = figure.axes
    for token, values in zip(("0", "1", "−"), found):
        assert np.allclose(line(left, token).get_xdata() + 1j * line(left, token).get_ydata(), values.ravel())
        assert np.allclose(line(right, token).get_xdata(), values.real.ravel() / 2)
    assert left.get_title("left") == "first" and right.get_title("left") == "then"
    assert line(left, "0").get_color() == style.value_colour(0, 2)


def test_growth_lines_are_the_products_and_the_ceiling_is_float32s():
    axes = growth(1.5, 4, steps=60, seed=7).axes[0]
    for kind in ("worst", "gaussian", "positive", "signs", "softmax", "permutation"):
        assert np.allclose(line(axes, kind).get_ydata(), log10_products(random_blocks(kind, 60, 1.5, 4, seed=7)))
    levels = [one.get_ydata()[0] for one in axes.lines if len(one.get_xdata()) == 2]
    assert np.allclose(levels, [38.53, -44.85], atol=0.01)


def test_growth_draws_products_that_vanish():
    assert not np.isfinite(log10_products(random_blocks("signs", 500, 1.2, 2))[-1])
    show.png(growth(1.2, 2))


def test_the_growth_sentence():
    assert growth_sentence(1.2, 8) == ("At p = 1.2, b = 8 the state can grow by 1.414 a step: "
                                       "float32 overflows at step 256.")
    assert "cannot grow" in growth_sentence(1, 8) and "cannot grow" in growth_sentence(2, 1)
    assert "1.0002079 a step" in growth_sentence(1.0001, 8)


@pytest.mark.parametrize("rule", COLUMN_RULES)
def test_a_column_rule_is_drawn_with_its_norms(rule):
    import torch

    figure = column_rule(A[0, 0], 1.2, rule)
    made = COLUMN_RULES[rule](torch.from_numpy(A[0, 0]), 1.2).numpy()
    assert np.array_equal(figure.axes[0].images[0].get_array(), A[0, 0])
    assert np.array_equal(figure.axes[1].images[0].get_array(), made)
    norms = [label.get_text().split("\n")[0] for label in figure.axes[1].get_xticklabels()]
    expected = np.linalg.norm(made, 1.2, axis=0)
    assert [float(norm.replace("−", "-")) for norm in norms] == pytest.approx(expected, abs=0.051)


def test_a_single_column_will_do_and_nonsense_will_not():
    assert len(column_rule([3.0, 4.0], 2, "unit").axes[1].images[0].get_array()) == 2
    for raw, p, rule in ((np.zeros((2, 2, 2)), 2, "clip"), (np.eye(2), 0.5, "clip"), (np.eye(2), 2, "clop")):
        with pytest.raises(ValueError, match="need a block"):
            column_rule(raw, p, rule)


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (-1e-17, "0"), (1, "1"), (0.35, ".35"), (-0.35, "−.35"),
                                             (0.9999, "1.0"), (-0.004, ".00"), (-2.33, "−2.3"), (13.6, "14")])
def test_numbers_fit_their_cells(value, text):
    assert ch02._short(value) == text


# --- automata --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("M", [3, 4, 5, 6, 8])
def test_a_machine_that_counts_stands_in_order(M):
    assert graph_layout.circle_order(Sum(M).machine, range(M)) == list(range(M))


def test_labels_name_runs_all_and_all_but_one():
    machine = build(0, "01234", lambda s, v: int(v == 3) if s == 0 else min(v, 1), lambda s: s)
    labels = graph_layout.edge_labels(machine)
    assert labels == {(0, 0): "not 3", (0, 1): "3", (1, 0): "0", (1, 1): "not 0"}
    four = MooreMachine([[0, 0], [0, 1], [0, 1], [1, 1], [1, 0]], [0, 1], 0, "01234")
    assert graph_layout.edge_labels(four) == {(0, 0): "0…2", (0, 1): "3,4", (1, 0): "0,4", (1, 1): "1…3"}
    assert graph_layout.edge_labels(MooreMachine([[0]] * 3, [0], 0, "abc")) == {(0, 0): "any"}


@pytest.mark.parametrize("machine", [Sum(2).machine, Sum(5).machine, Sum(5).specification, EvenPair(2).machine,
                                     EvenPair(5).machine, ModArith(2).machine, ModArith(3).machine], ids=str)
def test_labels_touch_no_other_label_state_or_arrow(machine):
    laid = graph_layout.plan(machine)
    assert set(laid.labels) == {(s, int(t)) for row in machine.transitions for s, t in enumerate(row)}
    for edge, at in laid.at.items():
        box = laid.boxes[edge]
        for other, there in laid.at.items():
            if other != edge:
                assert (np.abs(at - there) > 0.9 * (box + laid.boxes[other])).any(), (edge, other)
                inside = (np.abs(laid.curves[other] - at) < 0.45 * box).all(1)
                assert not inside.any(), (edge, other)
        nearest = np.maximum(np.abs(laid.centres - at) - box, 0)
        assert (np.linalg.norm(nearest, axis=1) > 0.9 * laid.size).all(), edge
    assert (laid.high - laid.low <= style.PAGE + 0.3).all()


def test_arrows_run_from_rim_to_rim():
    laid = graph_layout.plan(EvenPair(5).machine)
    for (start, end), curve in laid.curves.items():
        assert np.linalg.norm(curve[0] - laid.centres[start]) == pytest.approx(laid.size, abs=0.05)
        assert np.linalg.norm(curve[-1] - laid.centres[end]) == pytest.approx(laid.size, abs=0.05)


def test_the_diagram_shows_names_labels_and_answers():
    machine = EvenPair(2).machine
    figure = state_diagram(machine)
    texts = written(figure)
    assert texts.count("answer") == 1 and "none" in texts
    assert set(machine.names) <= set(texts)
    faces = [to_rgb(patch.get_facecolor()) for patch in figure.axes[0].patches[:machine.num_states]]
    assert faces == [to_rgb(style.value_colour(int(shown), 2)) for shown in machine.outputs]
    assert "answer" not in written(state_diagram(Sum(5).machine))  # there the names are the answers


def test_too_many_states_are_refused():
    with pytest.raises(ValueError, match="room for 16 states, this machine has 25"):
        state_diagram(ModArith(5).machine)


def test_heads_that_do_nothing_are_grey_and_named():
    idle = MooreMachine([[0]] * 3, [-1], 0, "012")
    texts = written(snapped_heads([Sum(3).machine, idle, idle]))
    assert {"head 0", "head 1", "head 2", "do nothing"} <= set(texts)
    one = snapped_heads([Sum(3).machine, idle], token=2)
    assert "does nothing" in written(one)
    assert not {"1", "2"} & {text.get_text() for text in one.axes[0].texts if text.get_zorder() == 6}  # no labels
    with pytest.raises(ValueError, match="no heads"):
        snapped_heads([])


# --- widgets ---------------------------------------------------------------------------------------------------------

widgets = pytest.importorskip("workbook.show.widgets")


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


def test_a_widget_follows_its_controls_through_all_their_values():
    w, seen = dot_widget(), set()
    for p, b in itertools.product([1.0, 1.2, 2.0], [1, 8, 16]):
        w.controls["p"].value, w.controls["b"].value = p, b
        assert growth_sentence(p, b) in w.sentence.value
        seen.add(w.image.value)
    assert len(seen) == 9


def test_growth_can_be_drawn_at_every_corner_of_its_sliders():
    for p, b in itertools.product([1.0, 1.05, 2.0], [1, 2, 16]):
        axes = growth(p, b, reach=310).axes[0]
        assert axes.get_ylim() == (-310, 310) and axes.get_title("left") == f"p = {p:g}, b = {b}"
        for curve in axes.lines:
            values = np.asarray(curve.get_ydata(), dtype=float)
            assert (np.abs(values[np.isfinite(values)]) <= 310).all()


def test_one_change_is_one_picture():
    calls = []

    def draw(k):
        calls.append(k)
        return style.new_figure(1.5)[0]

    w = widgets.explore(draw, {"k": [1, 2, 3]}, alt="Nothing.")
    w.controls["k"].value = 2
    w.controls["k"].value = 2
    w.controls["k"].notify_change({"name": "value", "old": 1, "new": 2, "type": "change", "owner": w.controls["k"]})
    w.controls["k"].value = 3
    assert calls == [1, 2, 3]


def test_what_the_next_key_would_show_is_drawn_while_nothing_else_is_asked(monkeypatch):
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


def test_what_is_slow_to_draw_is_not_drawn_ahead(monkeypatch):
    monkeypatch.setattr(widgets, "IDLE", 0.01)
    monkeypatch.setattr(widgets, "SLOW", 0.0)
    calls = []

    async def reader():
        widgets.explore(lambda k: calls.append(k) or dot(k, 1), {"k": [1, 2, 3]}, alt="Nothing.")
        await asyncio.sleep(0.3)

    asyncio.run(reader())
    assert calls == [1]


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


def test_a_widget_that_cannot_open_raises_even_beside_a_text_box():
    with pytest.raises(ValueError, match="'x' at position 0"):
        widgets.explore(lambda text: dot(*Sum(5).read(text)), {"text": "x"}, alt="A dot.")


@pytest.mark.parametrize(("controls", "options", "message"), [
    ({}, {}, "1 to 4 controls, got 0"),
    ({name: [1] for name in "abcde"}, {}, "1 to 4 controls, got 5"),
    ({"k": []}, {}, "'k' has nothing to choose from"),
    ({"k": [1, 2]}, {"initial": {"k": 3}}, "k opens on 3"),
    ({"k": [1, 2]}, {"initial": {"q": 3}}, "'q', but the controls are k"),
    ({"k": [1, 2]}, {"alt": " "}, "alternative text"),
])  # fmt: skip
def test_widgets_that_cannot_be_are_refused(controls, options, message):
    with pytest.raises(ValueError, match=message):
        widgets.explore(lambda **values: style.new_figure()[0], controls, **{"alt": "Nothing.", **options})


@pytest.mark.parametrize("module", [training_figures, ch02, automaton_figures, graph_layout, show, style])
def test_modules_say_what_they_are(module):
    assert module.__doc__ and len(module.__doc__.splitlines()[0]) <= 120


# --- the table as a picture ------------------------------------------------------------------------------------------


def test_a_row_shows_what_it_learned_beside_what_it_holds():
    table = tables.get("lrnn/table2")
    left, right, third = comparison(results.frame(TRAINED), {("evenpair", "clip"): [0.9]}).axes
    assert left.get_ylim() == right.get_ylim() == (len(table.rows) - 0.5, -0.5)
    assert left.get_title(loc="left") == "Sum" and [label.get_text() for label in left.get_yticklabels()][:2] == ["softmax", "release"]
    clip = table.rows.index("clip")
    at_clip = [line.get_xdata().tolist() for line in left.lines if set(line.get_ydata()) == {clip} and len(line.get_xdata())]
    assert at_clip == [[1.0], [0.3, 0.5], [0.3, 0.5], [0.4]]  # ring, whisker, strokes, mean
    assert {line.get_xdata()[0] for line in left.lines if line.get_color() == style.FAINT} == {0.2}  # the majority
    others = [place for place in range(len(table.rows)) if place != clip]
    assert [text.get_position()[1] for text in left.texts if text.get_text() == "not run"] == others
    assert len(right.texts) == len(third.texts) == len(table.rows)
    live = [line for line in right.lines if line.get_marker() == "s" and len(line.get_xdata())]
    assert [(line.get_xdata().tolist(), line.get_ydata().tolist()) for line in live] == [([0.9], [clip])]


# --- names and words --------------------------------------------------------------------------------------------------


def test_controls_carry_the_names_of_the_text():
    from workbook.book.site.flipbooks import flipbook

    made = widgets.explore(lambda theta_1, lam, task, rule: empty(), {
        "theta_1": [0, 1], "lam": [0.5], "task": ["S_3", "D_2"], "rule": {"one_layer": "clip"},
    }, alt="Nothing.")  # fmt: skip
    assert [one.description for one in made.controls.values()] == ["θ₁", "λ", "task", "rule"]
    assert list(made.controls) == ["theta_1", "lam", "task", "rule"]
    assert dict(made.controls["task"].options) == {"S₃": "S_3", "D₂": "D_2"} and made.values["task"] == "S_3"
    assert dict(made.controls["rule"].options) == {"one_layer": "clip"}  # a label that was given stays
    book = flipbook(made)
    assert [control.name for control in book.controls] == ["θ₁", "task"] and book.others["rule"] == "one_layer"
    assert [frame.alt.rpartition("Here ")[2].strip() for frame in book.frames] == [
        f"θ₁ = {angle}, task = {task}." for angle in (0, 1) for task in ("S₃", "D₂")
    ]


def test_tables_show_the_field_s_names_and_words_for_truth():
    row = {"row": "clipped_short", "anbn, paper": True, "abab": np.bool_(False)}
    html = show.table_html([row], "Of `clip` & `<b>`.")
    assert "clipped, short memory" in html and "aⁿbⁿ, paper" in html and ">abab<" in html
    assert ">yes<" in html and ">no<" in html and "True" not in html
    assert "Of <code>clip</code> &amp; <code>&lt;b&gt;</code>." in html
    assert "<code>clip</code> bends." in show.figure_html(empty(), "A bend.", "`clip` bends.")


def test_tables_and_captions_set_their_mathematics_and_leave_code():
    html = show.table_html([{"task": "D_12", "R2": "10^5 > x_t"}], "*Only* S_3, beta <= 1: (aa)* and (abab)*, not `A_t^2`.")
    assert ">D<sub>12</sub></th>" in html and ">R²</th>" in html and ">10<sup>5</sup> &gt; x<sub>t</sub></td>" in html
    assert "<em>Only</em> S<sub>3</sub>, β ≤ 1: (aa)* and (abab)*, not <code>A_t^2</code>." in html


def test_one_point_at_zero_does_not_squeeze_the_spread():
    within = np.r_[0.0, np.linspace(0.05, 0.4, 99)]
    (axes,) = spread(within, np.full(100, 2.0)).axes
    low, high = axes.get_ylim()
    assert low == pytest.approx(0.025) and high > 2
    assert axes.lines[0].get_ydata()[0] == pytest.approx(low)
    assert spread(np.zeros(9), np.zeros(9)).axes[0].get_ylim()[0] == pytest.approx(1e-9)


def empty():
    return style.new_figure(1.5)[0]
