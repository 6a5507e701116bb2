"""The clock of chapter 00: the plain loop is the network, and the chapters say its numbers."""

import re
from pathlib import Path

import numpy as np
import torch

from lrnnbook.content.chapters import ch00
from lrnnbook.content.show.interactive.export import page_net
from lrnnlab import build, task

PY = Path(__file__).parents[3] / "notebooks/py"


def text(name):
    return " ".join((PY / name).read_text(encoding="utf-8").replace("\n# ", " ").split())


def test_the_plain_loop_is_the_network():
    sum5 = task("sum", 5)
    net = build("diagonal", sum5, kind="complex", layers=1, seed=4)
    digits = ch00.random_digits(20, 60)
    with torch.no_grad():
        answers = net(torch.tensor(digits)).argmax(-1).numpy()
    clock = ch00.Clock(page_net(net, sum5.specification))
    assert np.array_equal(clock.off(digits), (answers - digits.cumsum(1)) % 5) and len(np.unique(answers)) > 2
    assert clock.answer(clock.start).shape == ()


def test_the_text_says_what_the_clock_does():
    off = ch00.Clock().off(ch00.random_digits())
    assert not off[:, :40].any()
    says = re.search(r"at position (\d+). It is right on (\d+) % .*? on (\d+) % of the strings it says \*exactly the sum plus (\d)\*. "
                     r"And at (\d+) it is right again, on (\d+) %", text("00_start_here.py"))  # fmt: skip
    first, right, early, by, second, again = map(int, says.groups())
    shares = [round(100 * (off[:, t - 1] == k).mean()) for t, k in ((first, 0), (first, by), (second, 0))]
    assert shares == [right, early, again]


def test_the_hand_runs_ahead_as_chapter_01_says():
    says = re.search(r"ahead by about ([\d.]+)° a digit. After (\d+) digits that is (\d+)°.*? After about (\d+) digits the hand", text("01_subtraction.py"))
    ahead, digits, angle, lap = map(float, says.groups())
    clock, unit = ch00.Clock(), 72 * np.arange(5)
    found = (np.degrees(-np.angle(clock.a[:, 9])) % 360 - unit).mean()
    assert (round(found, 1), round(digits * found), abs(lap - 360 / found) < 2) == (ahead, angle, True)
    exact, strings = clock.a.copy(), ch00.random_digits(100, 150)
    exact[:, 9], exact[:, 23] = np.exp(-1j * np.radians(unit)), np.exp(1j * np.radians(unit))
    assert (clock.off(strings)[:, -1] == 0).mean() < 0.05 and (clock.off(strings, exact)[:, -1] == 0).mean() > 0.9
