"""Chapter 09's pictures say what the rules do; every number is worked out again by other means."""

import itertools
import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrnnbook.content.chapters import ch09, fast_weight_solutions
from lrnnbook.content.show.fwp_figures import parity_by_position
from lrnnbook.content.show.style import LIVE
from lrnnbook.content.tables import results
from lrnnlab.tasks.counter_languages import COUNTER_TASKS

texts = st.text("abcd", min_size=1, max_size=ch09.MAX_TOKENS)
bits = st.text("01", min_size=1, max_size=20)


def column(read, t, letter):
    """What W_t says will follow a letter, by letter."""
    return dict(zip(read.letters, read.states[t][:, 1 + read.letters.index(letter)]))


@settings(max_examples=15, deadline=None)
@given(texts)
def test_the_sum_counts_pairs_and_the_delta_rule_keeps_the_last(text):
    pairs = Counter(pairwise(text))
    counts, last = ch09.remember(text, "sum", 1.0), ch09.remember(text, "delta", 1.0)
    for letter in counts.letters:
        assert column(counts, -1, letter) == {after: pairs[letter, after] for after in counts.letters}
        followers = [after for before, after in pairwise(text) if before == letter]
        wanted = {after: float(followers[-1:] == [after]) for after in counts.letters}
        assert column(last, -1, letter) == wanted


@settings(max_examples=15, deadline=None)
@given(texts, st.floats(0, 2))
def test_the_delta_rule_is_its_transition(text, beta):
    read = ch09.remember(text, "delta", beta)
    V = len(read.letters)
    before, W = 0, np.zeros((V, V + 1))
    for t, letter in enumerate(text, 1):
        this = read.letters.index(letter)
        A = np.eye(V + 1)
        A[before, before] = 1 - beta
        W = W @ A
        W[this, before] += beta
        np.testing.assert_allclose(read.states[t], W, atol=1e-12)
        np.testing.assert_allclose(read.answers[t - 1], W[:, this + 1], atol=1e-12)
        before = this + 1


@pytest.mark.parametrize("cycle", ["a", "ab", "abcd"])
def test_feedback_toggles(cycle):
    """beta = 1, and each letter has one successor: W says how often the pair occurred, mod 2."""
    for T in range(1, ch09.MAX_TOKENS + 1):
        text = (cycle * ch09.MAX_TOKENS)[:T]
        pairs, read = Counter(pairwise(text)), ch09.remember(text, "recurrent", 1.0)
        for letter in read.letters:
            found = column(read, -1, letter)
            assert all(abs(found[after] - pairs[letter, after] % 2) < 1e-9 for after in read.letters)


@settings(max_examples=15, deadline=None)
@given(texts, st.floats(0, 2))
def test_feedback_sees_the_last_answer(text, beta):
    """Number by number: an entry of the column moves to beta (v - tanh(y) / tanh(1)) + (1 - beta) times what it was."""
    read = ch09.remember(text, "recurrent", beta)
    W, y, before = Counter(), Counter(), ""
    for this in text:
        for row in read.letters:
            W[row, before] += beta * ((row == this) - math.tanh(y[row]) / math.tanh(1) - W[row, before])
        y, before = Counter({row: W[row, this] for row in read.letters}), this
    for letter in read.letters:
        for row, value in column(read, -1, letter).items():
            assert math.isclose(value, W[row, letter], rel_tol=1e-6, abs_tol=1e-9)


def test_a_position_behind_the_end_is_the_last():
    beyond, last = (ch09.memory_sentence("abcab", "delta", 0.5, t) for t in (ch09.MAX_TOKENS, 5))
    assert beyond == last and beyond.startswith("Token 5 of 5, <b>b</b> after a: W had said 0.50")
    assert "<b>c</b> (0.50)" in last


@pytest.mark.parametrize("key", ch09.KEYS)
def test_eigenvalues_are_those_of_the_matrix(key):
    for beta in ch09.STRENGTHS:
        k = ch09.KEYS[key]
        found = np.sort(np.linalg.eigvalsh(np.eye(4) - beta * np.outer(k, k)))
        np.testing.assert_allclose(found, sorted([ch09.along(beta, key), 1, 1, 1]), atol=1e-12)
    line = ch09.parity_picture(1.9, key, 0.0, "1").axes[0].lines
    assert [float(one.get_xdata()[0]) for one in line[1:]] == [1.0, ch09.along(1.9, key)]


@settings(max_examples=15, deadline=None)
@given(bits)
def test_with_two_it_counts_and_with_one_it_does_not(text):
    ones = [int(bit) for bit in text] * ch09.STEPS
    truth = [sum(ones[: t + 1]) % 2 for t in range(ch09.STEPS)]
    assert ch09.counted(2.0, "unit", 0.0, text)[1].tolist() == truth
    read = ch09.counted(0.9, "sharp softmax", 0.0, text)[1]
    assert (np.diff(read) >= 0).all() and (read <= 0.5).all()  # 0.5 by rounding, never above


@pytest.mark.parametrize(
    "beta, says",
    [(0.0, "writes nothing"), (0.5, "never to the other side"), (1.9, "halves every 6.58 ones"), (2.0, "is kept"), (2.5, "without end")],
)
def test_the_sentence_says_what_the_eigenvalue_does(beta, says):
    assert says in ch09.parity_sentence(beta, "unit", 0.0, "1")


@pytest.mark.parametrize("over", ch09.LEAKS.values())
def test_the_leak_is_the_formula_and_the_matrix(over):
    e, ends = 1 / over, ch09.leaked(1 / over, 40)
    for m in (1, 7, 40):
        up, down = (np.array([[1 - e, sign], [0, 1]]) for sign in (1, -1))
        by_matrix = (np.linalg.matrix_power(down, m) @ np.linalg.matrix_power(up, m) @ [0, 1])[0]
        assert ends[m - 1] == pytest.approx(by_matrix, abs=1e-9) == pytest.approx(-((1 - (1 - e) ** m) ** 2) / e, abs=1e-9)


legal = st.lists(st.sampled_from("()1"), min_size=1, max_size=20).map(
    lambda word: "".join(("(" if here == ")" and open_now(word[:t]) <= 0 else here) for t, here in enumerate(word))
)


def open_now(word):
    """Depth of what the strategy makes of a beginning: a ) that closes nothing was turned into a (."""
    depth = 0
    for token in word:
        depth = 0 if token == "1" else depth - 1 if token == ")" and depth > 0 else depth + 1
    return depth


@settings(max_examples=15, deadline=None)
@given(legal, st.integers(-3, 0))
def test_the_two_counters(text, added):
    found = ch09.both_counters(text, 10, added)
    depth, leaky, adder = 0, Fraction(0), 0
    for t, token in enumerate(text):
        depth = 0 if token == "1" else depth + (1 if token == "(" else -1)
        leaky = Fraction(0) if token == "1" else leaky * Fraction(9, 10) + (1 if token == "(" else -1)
        adder += {"(": 1, ")": -1, "1": added}[token]
        assert [float(y[t]) for y in found.values()] == pytest.approx([depth, float(leaky), adder])


def test_labels_are_the_tasks():
    task = COUNTER_TASKS["reset_dyck_1"]()
    for text in ("((1()", "(()1(())", "((()))1()"):
        answers = [int(label) for label in task.answer(task.read(text))]
        assert (ch09.both_counters(text, 100, 0)["depth"] > 0.5).astype(int).tolist() == answers


def test_what_is_typed_is_escaped():
    assert "<b>&lt;</b> after &amp;" in ch09.memory_sentence("&<", "sum", 1.0, 2)


def test_the_brackets_of_the_pictures_have_the_depths_that_are_said():
    text, depths = ch09.brackets(300, 0.05)
    assert text.count("1") > 3 and depths.min() == 0 and depths.tolist() == [fast_weight_solutions.depth_since_reset(text[:end]) for end in range(1, 301)]


def test_the_film_frames_the_column_of_its_letter():
    panels = ch09.memory_film("abcabd", "b", (3, 6)).axes[:6]
    for axes, (rule, t) in zip(panels, itertools.product(ch09.RULES.values(), (3, 6))):
        (frame,) = axes.patches
        assert frame.get_x() + 0.5 == [label.get_text() for label in axes.get_xticklabels()].index("b")
        assert np.array_equal(axes.images[0].get_array(), ch09.remember("abcabd", rule, 1.0).states[t])


def test_parity_by_position_shows_the_nets_of_today():
    shares = np.repeat([1.0, 0.5], 200)
    axes = parity_by_position(results.runs("fwp/negative"), {2: shares}).axes[0]
    (line,) = [line for line in axes.lines if line.get_color() == LIVE and len(line.get_xdata()) == 40]
    assert np.array_equal(line.get_ydata(), np.repeat([1.0, 0.5], 20))
    assert [text.get_text() for text in axes.texts if text.get_text().startswith("yours")] == ["yours, β below 2"]
