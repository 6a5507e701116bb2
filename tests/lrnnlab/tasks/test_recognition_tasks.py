"""The tasks of paper 002: worked examples, two definitions of every label, exact levels, uniform strings."""

import re
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from tensors import generator

from lrnnlab.automata import Language, MooreMachine
from lrnnlab.automata.languages import dyck, language, tomita_3
from lrnnlab.tasks import regular
from lrnnlab.tasks.draws import Expressions, Halves, UniformStrings
from lrnnlab.tasks.regular import STRING_TASKS

ALL = {name: make() for name, make in STRING_TASKS.items()}
LANGUAGES = {name: task for name, task in ALL.items() if isinstance(task.draw, Halves)}
every_task = pytest.mark.parametrize("task", ALL.values(), ids=list(ALL))
every_language = pytest.mark.parametrize("task", LANGUAGES.values(), ids=list(LANGUAGES))


def distinct(strings):
    """How many different rows (B, T) has."""
    return len(torch.unique(strings, dim=0))


def legal_strings(task, length):
    """Every string of this length that ``task`` accepts as one, (n, T)."""
    columns = [range(task.vocab_size)] * length
    if isinstance(task.draw, Expressions):
        columns = [np.flatnonzero(task.draw.probabilities(t)).tolist() for t in range(length)]
    return torch.tensor(list(product(*columns)))


def has_length(task, length):
    return not isinstance(task.draw, Expressions) or length % 2 != task.draw.prefix


def disagreement(task, longest):
    """The first legal string that the machine and the independent definition label differently, or None."""
    for length in range(1, longest + 1):
        if has_length(task, length):
            strings = legal_strings(task, length)
            for string, label in zip(strings.tolist(), task.targets(strings).tolist()):
                if task.answer(string) != label:
                    return task.write(string)
    return None


def p_value(strings, probabilities):
    """Chi-square: how likely such counts of rows are, if each text has its probability; 0 if another text occurs."""
    texts = ["".join(map(str, row)) for row in strings.tolist()]
    if set(texts) - set(probabilities):
        return 0.0
    observed = [texts.count(text) for text in probabilities]
    return chisquare(observed, [float(p) * len(texts) for p in probabilities.values()]).pvalue


WORKED = [
    (regular.even_pairs(), "111000 1  001100 0  100000 1  1 0  0 0  01 1"),
    (regular.parity(), "1011000 1  1101001 0  111000 1  0 0"),
    (regular.cycle_navigation(), "011212 1  212100 0  120111 0  0 4"),
    (regular.modular_arithmetic(), "1*2*4+3 1  3+3*1-0 1  2*0*0*0 0  4 4  1+2*3 2  1-1-1 4  0*1+4*3-2 0"),
    (regular.modular_arithmetic(prefix=True), "+2-1*0-2 0  +1*3*2-0 1  +3-2*0-4 4  +3 3"),
    (regular.bounded_dyck(2), "00101101 1  00010110 0  01111010 0"),
    (regular.bounded_dyck(3), "00101101 1  10101000 0  00110001 0"),
    (regular.bounded_dyck(4), "0001101101 1  0110100100 0  0110100000 0"),
    (regular.bounded_dyck(12), "00001011011010110001101101 1  00001101011001101100101101 1  10000010010001001010011000 0"),
    (regular.tomita(1), "111 1  1101 0  0 0"),
    (regular.tomita(2), "1010 1  0101 0  101 0"),
    (regular.tomita(3), "00000011 1  11111111 1  00111010 0  10 0  100 1  101 0  1001 1  1000 0"),
    (regular.tomita(4), "10011101 1  10001000 0  00011100 0"),
    (regular.tomita(5), "01001000 1  11000111 0  0110100 0"),
    (regular.tomita(6), "11100100 1  10101001 1  00000101 0"),
    (regular.tomita(7), "0110011 1  1010 0  1011 1  0010110 0"),
]


@pytest.mark.parametrize("task, examples", WORKED, ids=lambda value: str(value)[:20])
def test_worked_examples(task, examples):
    for text, label in re.findall(r"(\S+) (\d)(?:  |$)", examples):
        tokens = task.read(text)
        assert task.write(tokens) == text.replace("*", "×")
        assert task.answer(tokens) == int(label), text
        assert task.targets(tokens[None]).tolist() == [int(label)], text
        assert task.machine.answer(tokens.numpy())[-1] == int(label), text


@every_task
def test_the_two_definitions_agree_on_every_short_string(task):
    assert disagreement(task, {2: 9, 3: 6, 8: 5}[task.vocab_size]) is None


def test_wrong_machines_are_found():
    """The comparison sees a machine that is wrong in few strings: another depth, the other reading of Tomita 3."""
    right, deep = regular.tomita(3).language, regular.bounded_dyck(3).language
    later = regular.recognition(Language("later", tomita_3(later=True), right.oracle))
    assert disagreement(later, 9) == "100110"
    assert disagreement(regular.recognition(Language("deeper", dyck(4, "01"), deep.oracle)), 9) == "00001111"
    swapped = regular.recognition(Language("swapped", replace(right.machine, symbols=("1", "0")), right.oracle))
    assert disagreement(swapped, 9) is not None


def test_counts_are_exact_at_length_500():
    for name in ("even_pairs", "cycle_navigation", "d_12", "tomita_3", "tomita_6"):
        assert sum(ALL[name].label_counts(500)) == ALL[name].vocab_size ** 500
    assert regular.tomita(5).label_counts(500)[1] == 2**499
    assert regular.tomita(6).label_counts(500)[1] == sum(comb(500, k) for k in range(501) if (500 - 2 * k) % 3 == 0)
    assert regular.bounded_dyck(2).label_counts(500)[1] == 2**249
    assert regular.tomita(7).label_counts(500)[1] == sum(comb(499, k) for k in (0, 0, 1, 1, 2, 2, 3))  # changes of bit
    assert sum(regular.modular_arithmetic().label_counts(99)) == 5**50 * 3**49
    assert regular.bounded_dyck(12).label_counts(24)[1] == comb(24, 12) // 13  # Catalan: no string of 24 is too deep
    assert regular.bounded_dyck(11).label_counts(24)[1] == comb(24, 12) // 13 - 1


def test_majority_levels_of_table_1():
    """Mean over the paper's lengths: .75 where odd lengths have no positive, .745 from 52 on, .5 and .2 elsewhere."""
    for name in ("d_2", "d_3", "d_4", "d_12", "tomita_5"):
        assert ALL[name].average_majority(range(51, 101)) == 0.75
        assert ALL[name].average_majority(range(52, 101)) == pytest.approx(36.5 / 49)
    assert round(100 * regular.tomita(5).average_majority(range(52, 101)), 1) == 74.5  # the paper's Transformer
    assert round(100 * regular.tomita(5).average_majority(range(42, 101)), 1) == 74.6  # had it been trained up to 40
    for name in ("tomita_3", "tomita_4", "tomita_6"):
        assert ALL[name].average_majority(range(51, 101)) == 0.5
    assert ALL["parity"].average_majority(range(41, 121)) == 0.5
    assert ALL["modular_arithmetic"].average_majority(range(41, 121)) == pytest.approx(0.2, abs=1e-3)
    assert [ALL[name].chance for name in ("parity", "cycle_navigation", "d_2")] == [0.5, 0.2, 0.5]


@every_language
@pytest.mark.parametrize("label", (0, 1))
def test_the_ranks_are_the_strings_in_dictionary_order(task, label):
    strings = UniformStrings(task.rule, label)
    for length in (1, 2, 5, 8):
        wanted = [list(word) for word in product((0, 1), repeat=length) if task.answer(word) == label]
        assert [strings.string(length, rank) for rank in range(strings.count(length))] == wanted


@pytest.mark.parametrize("name, label", [("d_3", 1), ("tomita_3", 1), ("tomita_4", 0), ("tomita_7", 1)])
def test_samples_are_uniform(name, label):
    task = LANGUAGES[name]
    wanted = ["".join(map(str, word)) for word in product((0, 1), repeat=6) if task.answer(word) == label]
    even = dict.fromkeys(wanted, 1 / len(wanted))
    for strings in (task.by_class[label].sample(6, 3000, generator(1)), task.draw.of_class(label, 3000, 6, generator(2))):
        assert p_value(strings, even) > 1e-3
    inside = [text for text in map("".join, product("01", repeat=6)) if task.language.oracle(text)]
    inside = dict.fromkeys(inside, 1 / len(inside))
    assert p_value(Halves(task.rule).positives(3000, 6, generator(3)), inside) > 1e-3
    assert p_value(task.draw.positives(3000, 6, generator(4)), inside) < 1e-6  # the paper's generators are not


BY_HAND = [  # task, length, the law of its positives
    (regular.tomita(3), 2, {"00": 3 / 8, "01": 1 / 8, "11": 1 / 2}),
    (regular.tomita(4), 3, {"001": 1 / 4, **dict.fromkeys(("010", "011", "100", "101", "110", "111"), 1 / 8)}),
    (regular.tomita(7), 2, {"00": 49 / 108, "01": 31 / 108, "11": 22 / 108, "10": 6 / 108}),
    (regular.tomita(5), 4, dict.fromkeys(("0000", "1111", "0011", "0101", "0110", "1001", "1010", "1100"), 1 / 8)),
    (regular.tomita(6), 3, {"000": 1 / 2, "111": 1 / 2}),
]


@pytest.mark.parametrize("task, length, law", BY_HAND, ids=lambda value: str(value)[:12])
def test_generators_have_the_law_found_by_hand(task, length, law):
    assert sum(law.values()) == pytest.approx(1)
    assert p_value(task.draw.positives(2000, length, generator()), law) > 1e-3
    flat = dict.fromkeys(law, 1 / len(law))
    assert flat == law or p_value(task.draw.positives(2000, length, generator()), flat) < 1e-3


def test_a_machine_of_ones_own():
    """A reader's language: 1 where it holds at least two 1s; rare strings are found by counting, not by trying."""
    twice = MooreMachine.from_rule(0, "01", lambda s, v: min(2, s + v), lambda s: int(s == 2))
    task = regular.recognition(Language("twice", twice, lambda text: int(text.count("1") >= 2)))
    assert disagreement(task, 8) is None
    assert task.label_counts(40) == [41, 2**40 - 41]
    batch = task.sample(200, 40, generator())
    assert batch.targets.sum() == 100 and batch.tokens[100:].sum(1).max() == 1 and distinct(batch.tokens[100:]) > 20


@every_language
def test_half_of_a_batch_is_in_the_language(task):
    for length in range(1, 13):
        negatives, positives = task.label_counts(length)
        targets = task.sample(10, length, generator(length)).targets
        assert targets.tolist() == ([1] * 5 + [0] * 5 if negatives and positives else [int(positives > 0)] * 10)
    odd = {task.sample(3, 6, generator(seed)).targets.sum().item() for seed in range(20)}
    assert odd == {1, 2}


@every_task
def test_counts_are_those_of_a_list_of_all_strings(task):
    for length in filter(lambda length: has_length(task, length), range(1, 7 if task.vocab_size < 8 else 5)):
        labels = [task.answer(row) for row in legal_strings(task, length)]
        counted = [labels.count(c) for c in range(task.classes)]
        assert task.label_counts(length) == counted
        if not isinstance(task.draw, Halves):
            assert task.majority(length) == pytest.approx(max(counted) / len(labels), abs=1e-15)


@pytest.mark.parametrize("name, at_20, at_50", [  # four standard deviations around the mean of twelve runs
    ("d_2", (4, 10), (19, 38)), ("d_3", (11, 16), (152, 208)), ("d_4", (14, 26), (281, 354)),
    ("d_12", (14, 26), (380, 446)),
])  # fmt: skip
def test_the_papers_positives_of_bounded_brackets_repeat(name, at_20, at_50):
    published = [distinct(LANGUAGES[name].draw.positives(500, length, generator())) for length in (20, 50)]
    assert at_20[0] <= published[0] <= at_20[1] and at_50[0] <= published[1] <= at_50[1]
    assert distinct(Halves(LANGUAGES[name].rule).positives(500, 50, generator())) == 500


def test_even_pairs_is_first_against_last_and_not_paper_000s_label():
    pair, task = language("EvenPair(2)").oracle, regular.even_pairs()
    for text in map("".join, product("01", repeat=7)):
        assert task.answer(task.read(text)) == (text[0] != text[-1]) == 1 - pair(text)


def test_shares_by_hand():
    assert regular.modular_arithmetic().label_shares(3)[0] == Fraction(19, 75)  # (1/5 + 1/5 + 9/25) / 3
    assert regular.modular_arithmetic(prefix=True).label_shares(4) == regular.modular_arithmetic().label_shares(3)
    assert [regular.cycle_navigation().majority(length) for length in (1, 2)] == [1 / 3, 1 / 3]
    assert regular.cycle_navigation().majority(39) == pytest.approx(0.2, abs=1e-7)
    assert (regular.even_pairs().majority(1), regular.even_pairs().majority(2), regular.even_pairs().majority(500)) == (1.0, 0.5, 0.5)
    for p, length in product((0.1, 0.3, 0.9), (1, 2, 40)):
        odd = (1 - (1 - 2 * Fraction(str(p))) ** length) / 2
        assert regular.parity(p).label_shares(length) == [1 - odd, odd]
    assert regular.parity(0.1).label_distribution(1) == pytest.approx([0.82, 0.18], abs=1e-15)
