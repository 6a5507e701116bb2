"""The style, and what pictures and tables become in a notebook: escaped, with their texts, the same bytes every time."""

import base64
import io
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import sympy as sp
from matplotlib.colors import to_rgb
from PIL import Image

from lrnnbook import show
from lrnnbook.content.show import output, style
from lrnnbook.content.show.automaton_figures import state_diagram
from lrnnlab.tasks import EvenPair


def lightness(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]) ** (1 / 3)


@pytest.mark.parametrize("M", [2, 3, 5, 7])
def test_values_differ_even_in_grey(M):
    greys = sorted(lightness(style.value_colour(v, M)) for v in range(M))
    assert min(np.diff(greys)) > 0.05


@pytest.mark.parametrize("written", [show.png, show.quick_png])
def test_the_same_figure_is_the_same_crisp_and_small_file_without_date_or_version(written):
    figure = state_diagram(EvenPair(5).machine)
    picture = written(figure)
    assert picture == written(state_diagram(EvenPair(5).machine)) and b"Software" not in picture and b"Date" not in picture
    assert len(show.png(figure)) < output.MAX_PICTURE_BYTES
    assert Image.open(io.BytesIO(picture)).width == pytest.approx(figure.get_size_inches()[0] * style.DPI, abs=1)


def test_a_figure_goes_out_with_its_texts_escaped_and_its_picture_whole():
    figure, _ = style.new_figure()
    html = show.figure_html(figure, 'a "quoted" <alt>', "caption & <b>, `clip`")
    assert 'alt="a &quot;quoted&quot; &lt;alt&gt;"' in html
    assert "caption &amp; &lt;b&gt;, <code>clip</code></figcaption>" in html
    picture = base64.b64decode(re.search('base64,([^"]+)"', html)[1])
    assert picture == show.png(figure) and "background:#fff" in html


def test_a_formula_goes_out_as_latex(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    z = sp.Symbol("z")
    show.math("x^2 =", sp.Symbol("lambda1") ** 2, r"\ne", 3)
    show.math(z**2 + 1, mark=z)
    assert [one._repr_latex_() for one in shown] == [
        r"$\displaystyle x^2 = \lambda_{1}^{2} \ne 3$", r"$\displaystyle \textcolor{#D55E00}{z}^{2} + 1$"]  # fmt: skip


def test_a_table_has_headers_caption_formats_and_dashes():
    html = show.table_html(
        [{"rule": "a < b", "accuracy": 0.98765, "runs": 5}, {"rule": "clip", "accuracy": None, "runs": 3}],
        "two & more", {"accuracy": ".3f"})  # fmt: skip
    assert ">two &amp; more</caption>" in html and html.count('scope="col"') == 3 and html.count('scope="row"') == 2
    assert ">a &lt; b</th>" in html and ">0.988</td>" in html and ">–</td>" in html and ">5</td>" in html
    frame = pd.DataFrame({"rule": ["clip"], "loss": [float("nan")]})
    assert ">clip</th>" in show.table_html(frame, "c") and ">–</td>" in show.table_html(frame, "c")
    assert ">rule</th>" in show.table_html(frame.set_index("rule"), "c")  # an index with a name comes first


def test_tables_and_captions_use_the_field_s_names_and_mathematics_and_leave_code():
    row = {"row": "clipped_short", "anbn, paper": True, "abab": np.bool_(False), "R2": "10^5 > x_t"}
    html = show.table_html([row], "*Only* S_3, beta <= 1: (aa)*, not `A_t^2`.")
    assert "clipped, short memory" in html and "aⁿbⁿ, paper" in html and ">abab<" in html
    assert ">yes<" in html and ">no<" in html and "True" not in html
    assert ">R²</th>" in html and ">10<sup>5</sup> &gt; x<sub>t</sub></td>" in html
    assert "<em>Only</em> S<sub>3</sub>, β ≤ 1: (aa)*, not <code>A_t^2</code>." in html


def test_saving_writes_the_picture_and_its_description_or_nothing(tmp_path, monkeypatch):
    figure, _ = style.new_figure()
    path = show.save(figure, tmp_path / "deep" / "empty.png", "Größe → ∞")
    assert Image.open(path).text == {"Description": "Größe → ∞"}
    assert path.read_bytes() == show.save(figure, path, "Größe → ∞").read_bytes()
    for name, alt in (("a.jpg", "alt"), ("a.png", "")):
        with pytest.raises(ValueError, match=r"\.png|alternative text"):
            show.save(figure, tmp_path / name, alt)
    monkeypatch.setattr(output, "MAX_PICTURE_BYTES", 1000)
    with pytest.raises(ValueError, match="a.png would have [0-9]+ bytes, more than 1000: draw less"):
        show.save(figure, tmp_path / "a.png", "two axes")
    assert [file.name for file in tmp_path.rglob("*.*")] == ["empty.png"]


def test_pictures_need_neither_pyplot_nor_ipywidgets():
    code = ("import sys; from lrnnbook.content.show import training_figures; "
            "print([name for name in ('matplotlib.pyplot', 'ipywidgets', 'IPython') if name in sys.modules])")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("code", ["x = 1", "assert 1 + 1 == 3, 'step 1: a sum'", "1 / 0"])
def test_a_changed_proof_must_fail_and_at_its_step(code, capsys):
    with pytest.raises((AssertionError, ZeroDivisionError)), show.expect_failure("step 2"):
        exec(code)
    with show.expect_failure("step 2"):
        exec("assert 2 + 2 == 5, 'step 2: a sum'")
    assert capsys.readouterr().out == "step 2 fails, as it must: a sum\n"
