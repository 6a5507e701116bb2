"""The machines of the book's languages, against their oracles and the tasks."""

from itertools import product

import numpy as np
import pytest

from lrnnlab.automata import equivalent
from lrnnlab.automata.languages import GROUPS, LANGUAGES, language, read, tomita_3
from lrnnlab.expressivity.groups import then
from lrnnlab.tasks import EvenPair, ModArith, Sum


def last_answer(machine, word):
    return int(machine.answer(word)[-1]) if len(word) else int(machine.outputs[machine.initial])


@pytest.mark.parametrize("name", LANGUAGES)
def test_machine_agrees_with_its_oracle(name):
    found, draw = language(name), np.random.default_rng(0)
    symbols = found.machine.symbols
    lengths = [n for n in range(10) if len(symbols) ** n < 600]
    words = [word for n in lengths for word in product(range(len(symbols)), repeat=n)]
    words += [tuple(draw.integers(len(symbols), size=n)) for n in draw.integers(5, 25, 150)]
    if "expressions" in name:  # random strings are rarely well-formed
        odd = [[int(v) for t in range(n) for v in [draw.integers(5) if t % 2 == 0 else draw.integers(5, len(symbols))]]
               for n in (1, 5, 9, 31) for _ in range(20)]  # fmt: skip
        words += odd
        assert all(last_answer(found.machine, word) >= 0 for word in odd)
    for word in words:
        assert last_answer(found.machine, word) == found.oracle("".join(symbols[v] for v in word)), word


@pytest.mark.parametrize(("name", "task"), [
    ("Parity", Sum(2)), ("Sum(5)", Sum(5)), ("EvenPair(2)", EvenPair(2)), ("EvenPair(5)", EvenPair(5)),
    ("ModArith(5)", ModArith(5))])  # fmt: skip
def test_machine_agrees_with_the_task(name, task):
    assert equivalent(language(name).machine, task.machine) is None
    if name == "ModArith(5)":
        assert equivalent(language(f"{name}, expressions").machine, task.specification) is None


def test_quaternions():
    i, j = GROUPS["Q_8"].values()
    one, minus = tuple(range(8)), then(i, i)
    assert minus == then(j, j) != one and then(minus, minus) == one and then(i, j) == then(then(j, i), minus)


def test_both_tomita_3_differ():
    assert equivalent(tomita_3(), tomita_3(later=True)) == (1, 0, 0, 1, 1, 0)
    assert language("Tomita 3").oracle("10010") == 0 == language("Tomita 3, as written").oracle("10010")
    assert language("Tomita 3").oracle("100110") == 1 != language("Tomita 3, as written").oracle("100110")


def test_languages_refuse_what_they_do_not_know():
    with pytest.raises(ValueError, match="no language is called 'Tomita 9'"):
        language("Tomita 9")
    with pytest.raises(ValueError, match="'c' in 'abc' is no symbol"):
        read(language("D_2").machine, "abc")
