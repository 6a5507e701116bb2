"""What an answer is told: right, not yet, or cannot be judged, in one line; and which values say the same."""

import math
import re
import subprocess
import sys
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
import torch

from lrnnbook.content.exercises import judging


def double(n):
    return 2 * n


def test_three_outcomes():
    assert judging.judge(lambda: judging.expect(double, [((2,), 4)])).outcome == judging.RIGHT
    wrong = judging.judge(lambda: judging.agree(double, lambda n: n + 2, [(2,), (5,)]))
    assert (wrong.outcome, wrong.says) == (judging.NOT_YET, "double(5) gave 10, and should give 7")
    broken = judging.judge(lambda: judging.expect(double, [((None,), 4)]))
    assert broken.outcome == judging.UNJUDGED
    assert broken.says.startswith("double(None) raised TypeError: unsupported operand")
    assert broken.says.endswith("(at: return 2 * n)")
    assert "\n" not in broken.says


def test_a_stub_is_not_attempted():
    def stub():
        raise NotImplementedError("your code here")

    with pytest.raises(judging.CannotJudge, match="^not attempted$"):
        judging.call(stub)


@pytest.mark.parametrize("value, says", [
    ((n for n in "ab"), r"a generator \(list\(...\) makes a list of it\)"), (map(str, "ab"), "a map .*"),
    ([1, (n for n in "ab")], r"\[1, <generator .*genexpr>>\]"), (lambda: 0, "<function .*<lambda>>"),
    ("x" * 500, "'x+[.]{3}x+'"),
])  # fmt: skip
def test_what_is_shown_says_no_address(value, says):
    assert re.fullmatch(says, judging.shown(value))
    assert " at 0x" not in judging.shown(value)


def test_an_answer_cannot_change_the_test_s_arguments():
    given = [3, 1, 2]
    judging.expect(lambda row: row.sort() or row, [((given,), [1, 2, 3])])
    assert given == [3, 1, 2]


@pytest.mark.parametrize("a, b", [
    (1, True), (0.1 + 0.2, 0.3), (Fraction(1, 2), 0.5), ([1, 2], (1.0, 2.0)), (np.array([[1, 2]]), [(1, 2)]),
    (torch.tensor([1.0]), [1]), (np.float32(0.1), 0.1), (torch.tensor(3), 3), (np.array(3), torch.tensor(3.0)),
    ({"a": [1]}, {"a": (1,)}), (float("nan"), math.nan), (math.inf, np.inf), ([None, 1], (None, 1)), ([], ()),
    (range(3), [0, 1, 2]), (1j, complex(0, 1)), (np.True_, True), ([np.True_], [True]), (np.str_("a"), "a"),
])  # fmt: skip
def test_same(a, b):
    assert judging.same(a, b)
    assert judging.same(b, a)


@pytest.mark.parametrize("a, b", [
    (1, 2), (2**70, 2**70 + 1), (Fraction(1, 3), Fraction(1, 2)), ([1, 2], [1]), ([1, 2], [[1, 2]]), ("1", 1),
    (None, 0),
    (0.3, 0.30001), (math.nan, 1.0), ([1], 1), (np.array([1, 2]), [2, 1]), ({"a": 1}, {"b": 1}), ("a", "b"), ({1}, [1]),
    (10**400, 1.5), (10**400, math.inf), (1.0, math.inf), (-math.inf, math.inf), (np.True_, False), (Fraction(10**400), 2j),
])  # fmt: skip
def test_not_the_same(a, b):
    assert not judging.same(a, b)
    assert not judging.same(b, a)


def test_equality_cannot_be_bought():
    class Always(float):
        def __eq__(self, other):
            return True

        __hash__ = float.__hash__

    for one, other in ((Always(3), 5.0), (5.0, Always(3)), (mock.ANY, 5), ([mock.ANY], [5])):
        assert not judging.same(one, other)


def test_an_answer_may_raise_an_error_of_its_own():
    class Own(Exception):
        pass

    def answer(n):
        raise Own(f"not {n}")

    with pytest.raises(judging.CannotJudge, match="raised Own: not 3"):
        judging.call(answer, 3)
    assert judging.judge(lambda: judging.expect(answer, [((3,), 1)])).outcome == "cannot be judged"

    def test():
        raise Own("a test that stumbles")

    assert judging.judge(test).says == "the test met Own: a test that stumbles"


@pytest.mark.parametrize("wrong", [[None, None], [Fraction(1), "2"]])
def test_what_is_no_number_is_not_read_as_one(wrong):
    with pytest.raises(judging.CannotJudge, match="should be numbers of shape"):
        judging.numbers(wrong, (2,))


def test_judging_needs_no_pictures():
    """Students' processes import this, and every chapter's judges."""
    code = ("import sys; from lrnnbook.content.exercises.checking import exercises; [exercises(f'{n:02d}') for n in range(11)]; "
            "print([name for name in ('matplotlib', 'ipywidgets', 'lrnnbook.content.show', 'lrnnbook.content.chapters') if name in sys.modules])")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
