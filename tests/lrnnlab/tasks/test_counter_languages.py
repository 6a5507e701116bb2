"""The languages of paper 003: worked examples, two definitions of every label, counts by listing, the published laws."""

import random
from collections import Counter
from functools import cache
from itertools import product
from math import sqrt

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, chisquare
from tensors import generator

from lrnnlab.automata import NO_LABEL, MooreMachine
from lrnnlab.tasks import counter_languages as counters
from lrnnlab.tasks.batch import blind_levels
from lrnnlab.tasks.counter_languages import COUNTER_TASKS

ALL = {name: make() for name, make in COUNTER_TASKS.items()}
every_task = pytest.mark.parametrize("task", ALL.values(), ids=list(ALL))
LONGEST = {1: 12, 2: 12, 3: 9, 4: 6}  # by the number of symbols: all strings up to here are tried


def texts(task, longest):
    """Every text of 1 to ``longest`` symbols."""
    return ["".join(word) for n in range(1, longest + 1) for word in product(task.symbols, repeat=n)]


@cache
def language(task):
    """The language up to some length, by its independent definition alone."""
    candidates = texts(task, LONGEST[task.vocab_size])
    if isinstance(task, counters.BlockWords):  # nothing else could hold, and longer ones are needed
        counts = product(range(7), repeat=task.vocab_size)
        candidates = ["".join(map(str.__mul__, task.symbols, some)) for some in counts]
    return {text for text in candidates if task.holds(text)}


def next_symbols(words):
    """For each beginning of a word: the symbols that may come next, "." for the end; nothing else is used."""
    found = {}
    for word in words:
        for end in range(len(word) + 1):
            found.setdefault(word[:end], set()).add(word[end : end + 1] or ".")
    return found


def disagreements(task, longest):
    """Texts that the rule and the slow answer label differently, or that only one of them takes for a beginning."""
    nested = isinstance(task, counters.Shuffle2) and task.nested  # its answers are those of true shuffles, and so is what it reads
    begins, wrong = next_symbols(language(ALL["shuffle_2_true"] if nested else task)), []
    for text in texts(task, longest):
        labels = task.label(torch.tensor([[task.symbols.index(char) for char in text]]))[0].tolist()
        wanted = task.answer(task.read(text)) if text in begins else None
        if (labels if labels[-1] != NO_LABEL else None) != wanted:
            wrong.append(text)
    return wrong


WORKED = {
    "parity": "0110 TFTT  0100 TFFF  1001 FFFT  0010 TTFF",
    "aa": "aaaa 0101  aaaaaa 010101  aa 01  aaa 010",
    "abab": "abab 0001  abababab 00010001  abababababab 000100010001  ab 00",
    "anbn": "aaabbb NNNbbS  ab NS  aabb NNbS  aaab NNNb",
    "anbncn": "abc NcS  aabbcc NNbccS  aaabbbccc NNNbbcccS",
    "shuffle_2": "([]) 1310  [()] 2320  (())[] 111020  () 10  [] 20",
    "shuffle_2_true": "([)] 1320  [(]) 2310",
    "dyck_1": "(()) 1110  ()() 1010  (()()) 111110",
    "reset_dyck_1": "((1() 11010  1() 010  (()1(()) 11101110",
}


@pytest.mark.parametrize("name", WORKED)
def test_worked_examples(name):
    task = ALL[name]
    for text, shown in (pair.split() for pair in WORKED[name].split("  ")):
        tokens, wanted = task.read(text), [task.meanings.index(char) for char in shown]
        assert task.write(tokens) == text
        assert task.answer(tokens) == task.targets(tokens[None])[0].tolist() == wanted


@every_task
def test_the_two_definitions_agree_on_every_short_string(task):
    assert disagreements(task, {1: 6, 2: 6, 3: 4, 4: 3}[task.vocab_size]) == []


@every_task
def test_a_class_is_a_set_of_possible_next_symbols(task):
    """What may come next, read off a list of the language, decides the class."""
    if task.name == "Shuffle-2":
        return  # what may close depends on the order of the open brackets: its answers are those of true shuffles
    classes = {}
    for text, after in next_symbols(language(task)).items():
        if 0 < len(text) <= {1: 4, 2: 4, 3: 3, 4: 2}[task.vocab_size]:
            classes.setdefault(frozenset(after), set()).add(task.answer(task.read(text))[-1])
    assert all(len(found) == 1 for found in classes.values())
    assert len({label for found in classes.values() for label in found}) == task.classes


@every_task
@given(seed=st.integers(0, 2**30), least=st.integers(1, 30))
@settings(max_examples=6, deadline=None)
def test_drawn_strings_are_in_their_window_and_rightly_labelled(task, seed, least):
    window = (least, least + 8)
    words = task.strings(5, window, generator(seed))
    assert all(task.in_window(task.write(word), window) for word in words)
    batch = task.batch(words)
    for word, targets, mask in zip(words, batch.targets, batch.mask):
        assert targets[mask].tolist() == task.answer(word) and mask.sum() == len(word)
        assert (targets[~mask] == NO_LABEL).all() and mask.tolist() == sorted(mask.tolist(), reverse=True)
    assert [row[mask].tolist() for row, mask in zip(batch.tokens, batch.mask)] == words


class NoReset(counters.ResetDyck1):
    def step(self, state, token):
        follower = super().step(state, token)
        return (True, state[1]) if follower == (True, 0) and token == 2 else follower


class LateS(counters.BlockWords):
    def output(self, state):
        _, letter, left = state
        return letter + (left == 0 and letter < len(self.symbols) - 1) if letter else 0


class AnyAb(counters.Ababs):
    rule = MooreMachine([[1, 2, 3, 0]] * 2, [1, 0, 0, 0], 0, "ab")


class Exclusive(counters.Shuffle2):
    def output(self, state):
        return 1 if state[0] else 2 * (state[1] > 0)


@pytest.mark.parametrize("wrong, first", [
    (NoReset(), "(1"), (LateS(2), "ab"), (LateS(3), "abc"), (AnyAb(), "b"), (Exclusive(False), "([")
], ids=lambda value: str(value))  # fmt: skip
def test_wrong_rules_are_found(wrong, first):
    assert disagreements(wrong, 4)[0] == first


@every_task
def test_counts_and_lists_are_those_of_the_definition(task):
    words = language(task)
    for length in range(1, LONGEST[task.vocab_size] + 1):
        assert task.number(length) == sum(len(text) == length for text in words)
    for window in ((1, 2), (2, 3), (2, 2), (1, 3)):
        longest = max(task.lengths(window))
        if longest <= LONGEST[task.vocab_size]:
            wanted = sorted(text for text in words if task.in_window(text, window))
            assert sorted(task.write(word) for word in task.listed(window)) == wanted
            assert task.count(window) == len(wanted)


def test_parity_lengths_have_the_published_law():
    """P(stop) = 1/(1 + 26) in Bin0: a geometric length, cut at 50; then half of them grow by 1, those of 50 are lost."""
    stop, law = 1 / 27, Counter()
    for drawn in range(2, 51):
        p = (1 - stop) ** drawn * (stop if drawn < 50 else 1) / 2
        law[drawn] += p
        law[drawn + 1] += p
    del law[51]
    lengths = Counter(map(len, counters.PrefixParity().strings(4000, (2, 50), generator())))
    total = sum(law.values())
    assert chisquare([lengths[n] for n in law], [4000 * p / total for p in law.values()]).pvalue > 1e-3
    assert 21.5 < sum(n * p for n, p in law.items()) / total < 22


@every_task
def test_splits(task):
    data = task.splits(generator(), train=60, test=30)
    trained, bin0, bin1 = ({tuple(word) for word in data[part]} for part in ("train", "bin0", "bin1"))
    few = task.count(task.bin(0)) < 60
    assert len(data["train"]) == 60 and (len(trained) < 60) == few
    assert len(data["bin0"]) == len(bin0) == min(30, task.count(task.bin(0))) and len(data["bin1"]) == len(bin1)
    assert all(task.in_window(task.write(word), task.bin(1)) for word in bin1) and not bin1 & (trained | bin0)
    if task.shared_pool:
        assert not trained & bin0
    again = task.splits(generator(), train=60, test=30)
    assert again == data and task.splits(generator(1), train=60, test=30) != data


@pytest.mark.parametrize("task, length", [(counters.Shuffle2(), 4), (counters.Shuffle2(False), 4), (counters.Dyck1(), 8), (counters.PrefixParity(), 4)])
def test_samples_of_one_length_are_uniform(task, length):
    drawn = Counter(map(tuple, task.sample(1500, length, generator()).tokens.tolist()))
    assert len(drawn) == task.number(length) and chisquare(list(drawn.values())).pvalue > 1e-3


def test_levels_by_hand():
    task = counters.Dyck1()
    found = blind_levels(task.batch([task.read("()"), task.read("(())"), task.read("()()")]), 2)
    assert found["chance"] == 0.5 and found["majority"] == 0.6 and found["whole_majority"] == 0
    assert found["whole_chance"] == pytest.approx((1 / 4 + 1 / 16 + 1 / 16) / 3)
    zeros = counters.PrefixParity().batch([[0, 0], [1, 1]])
    assert blind_levels(zeros, 2)["whole_majority"] == 0.5 and blind_levels(zeros, 2)["majority"] == 0.75


def test_the_grammar_has_the_law_found_by_hand():
    """With room for one pair: b = P("()") solves b = 1/2 + b (1 - b)/2, the golden ratio less 1."""
    rng = random.Random(0)
    drawn = Counter(len(counters.grammar(2, rng)) for _ in range(20_000))
    assert set(drawn) == {0, 2} and binomtest(drawn[2], 20_000, (sqrt(5) - 1) / 2).pvalue > 1e-3


def test_the_grammar_reaches_every_string_that_fits():
    rng = random.Random(0)
    drawn = {tuple(counters.grammar(8, rng)) for _ in range(20_000)}
    assert drawn == {(), *(tuple(word) for word in counters.Dyck1().listed((2, 8)))}


def test_published_shuffles_are_nested_and_true_ones_are_not():
    nested, true = (task.strings(300, (8, 30), generator()) for task in (counters.Shuffle2(), counters.Shuffle2(nested=False)))
    assert all(counters.Shuffle2().holds(counters.Shuffle2().write(word)) for word in nested)
    crossing = sum(not counters.Shuffle2().holds(counters.Shuffle2().write(word)) for word in true)
    assert crossing > 100 and all(counters.Shuffle2(nested=False).holds(counters.Shuffle2().write(word)) for word in true)


def test_true_shuffles_take_all_places_alike():
    parts = Counter(tuple(word) for word in counters.Shuffle2(nested=False).strings(3000, (4, 4), generator()) if 0 in word and
                    2 in word)  # fmt: skip
    assert len(parts) == 6 and chisquare(list(parts.values())).pvalue > 1e-3
