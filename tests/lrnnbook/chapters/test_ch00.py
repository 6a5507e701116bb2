"""The clock of chapter 00: the plain loop is the network, and the chapters say its numbers."""

import re
from pathlib import Path

import numpy as np
import torch

from lrnnbook.content.chapters import ch00
from lrnnbook.content.show.interactive.export import page_net
from lrnnlab import build, task

TEXT = " ".join((Path(__file__).parents[3] / "notebooks/py/00_start_here.py").read_text(encoding="utf-8").replace("\n# ", " ").split())


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
                     r"And at (\d+) it is right again, on (\d+) %", TEXT)  # fmt: skip
    first, right, early, by, second, again = map(int, says.groups())
    shares = [round(100 * (off[:, t - 1] == k).mean()) for t, k in ((first, 0), (first, by), (second, 0))]
    assert shares == [right, early, again]
