"""Tasks: worked examples, three independent routes to every answer, exact frequencies, and what is refused."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tensors import generator

from lrnnlab.automata import NO_LABEL, Language, MooreMachine, equivalent, minimise
from lrnnlab.tasks import EvenPair, MachineTask, ModArith, Sum, Task
from lrnnlab.tasks.batch import best_of_checks
from lrnnlab.tasks.draws import Independent

KINDS = (Sum, EvenPair, ModArith)
MODULI = range(2, 12)
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def labelled(task, targets):
    """The targets (B, T) at labelled positions only, as lists."""
    return targets[:, task.mask(targets.shape[1])].tolist()


def legal_strings(task, length):
    """Every string of this length that the task can sample, (n, T)."""
    columns = [np.flatnonzero(task.draw.probabilities(t)).tolist() for t in range(length)]
    return torch.tensor(list(product(*columns)))


def parity(draw=None):
    """A reader's task: an even or an odd number of b's."""
    machine = MooreMachine.from_rule(0, "ab", lambda state, token: (state + token) % 2, lambda state: state)
    return Task(Language("Parity", machine, lambda word: word.count("b") % 2), draw=draw)


@pytest.mark.parametrize("task, text, answers", [
    (Sum(5), "0324", [0, 3, 0, 4]), (Sum(5), "4444", [4, 3, 2, 1]), (Sum(5), "104", [1, 1, 0]),
    (EvenPair(5), "0320", [1, 0, 0, 1]), (EvenPair(5), "11211", [1, 1, 0, 1, 1]), (EvenPair(5), "43", [1, 0]),
    (ModArith(5), "1+2-3x4", [1, 3, 0, 1]), (ModArith(5), "0-4*4-3", [0, 1, 4, 1]),
    (ModArith(5), "3+3+1+1", [3, 1, 2, 3]), (ModArith(5), "4*2-3+4", [4, 3, 0, 4]),
    (Sum(2), "1011", [1, 1, 0, 1]), (Sum(12), "11 10 3", [11, 9, 0]), (EvenPair(11), "10 1 10", [1, 0, 1]),
    (ModArith(11), "10 × 10 - 7", [10, 1, 5]), (ModArith(2), "1-1+1×0×1", [1, 0, 1, 0, 0]),
    (ModArith(7), "6", [6]), (Sum(5), "3", [3]), (EvenPair(5), "3", [1]),
], ids=str)
def test_worked_examples(task, text, answers):
    tokens = task.read(text)
    assert task.answer(tokens) == answers
    assert labelled(task, task.targets(tokens[None])) == [answers]
    assert task.machine.answer(tokens.numpy())[task.mask(len(tokens)).numpy()].tolist() == answers


@every_kind
@pytest.mark.parametrize("modulus", MODULI)
def test_fast_path_oracle_and_machine_agree(kind, modulus):
    """300 random words a task, 9,000 in all."""
    task = kind(modulus)
    for length in (1, 7, 39):
        batch = task.sample(100, length, generator(length))
        answers = [task.answer(tokens) for tokens in batch.tokens]
        assert labelled(task, batch.targets) == answers
        assert labelled(task, torch.from_numpy(task.machine.answer(batch.tokens.numpy()))) == answers
        assert labelled(task, torch.from_numpy(task.specification.answer(batch.tokens.numpy()))) == answers
        assert torch.equal(task.targets(batch.tokens), batch.targets)


@settings(max_examples=60)
@given(st.data(), st.sampled_from(KINDS), st.integers(2, 40))
def test_fast_path_and_oracle_agree_on_any_string(data, kind, modulus):
    task, half = kind(modulus), data.draw(st.integers(0, 12))
    number, operator = st.integers(0, modulus - 1), st.integers(modulus, modulus + 2)
    tokens = [data.draw(number)]
    for _ in range(half):
        tokens += [data.draw(operator if kind is ModArith else number), data.draw(number)]
    assert labelled(task, task.targets(torch.tensor([tokens]))) == [task.answer(tokens)]
    assert task.read(task.write(tokens)).tolist() == tokens


@every_kind
@pytest.mark.parametrize("modulus", [2, 3, 4, 5])
def test_label_distribution_is_exact(kind, modulus):
    """Against the frequencies over all strings, which are equally likely."""
    task = kind(modulus)
    for position in (0, 2, 4) if modulus < 5 else (0, 2):
        answers = [task.answer(tokens)[-1] for tokens in legal_strings(task, position + 1)]
        frequencies = np.bincount(answers, minlength=task.classes) / len(answers)
        found = task.label_distribution(position)
        assert found.shape == (task.classes,)
        np.testing.assert_allclose(found, frequencies, rtol=0, atol=1e-14)
        assert task.majority(position + 1) == pytest.approx(frequencies.max(), abs=1e-14)


@every_kind
def test_sampling_follows_the_token_distribution(kind):
    task = kind(5)
    tokens = task.sample(4000, 5, generator(1)).tokens
    for t in range(5):
        frequencies = np.bincount(tokens[:, t], minlength=task.vocab_size) / 4000
        expected = task.draw.probabilities(t)
        assert expected.sum() == pytest.approx(1) and (frequencies[expected == 0] == 0).all()
        assert np.abs(frequencies - expected).max() < 0.04  # five standard deviations
    np.testing.assert_allclose(np.cov(tokens.T.double()) / tokens.double().var(0).numpy(), np.eye(5), atol=0.1)


@pytest.mark.parametrize("modulus", MODULI)
def test_sizes_of_the_machines(modulus):
    assert Sum(modulus).machine.num_states == modulus
    assert EvenPair(modulus).machine.num_states == 2 * modulus + 1
    assert ModArith(modulus).machine.num_states == modulus**2
    for kind in KINDS:
        task = kind(modulus)
        assert minimise(task.machine) == task.machine and minimise(task.specification) == task.specification


@every_kind
def test_specification_asks_at_labelled_positions_only(kind):
    task = kind(3)
    assert equivalent(task.specification, task.machine, where_labelled=True) is None
    assert task.specification.outputs[task.specification.initial] == NO_LABEL
    for length in range(1, 5):
        for tokens in product(range(task.vocab_size), repeat=length):
            wellformed = kind is not ModArith or all((v >= 3) == (t % 2 == 1) for t, v in enumerate(tokens))
            asked = wellformed and (kind is not ModArith or length % 2 == 1)
            expected = task.answer(tokens)[-1] if asked else NO_LABEL
            assert task.specification.answer(tokens)[-1] == expected


def test_best_of_checks():
    assert [round(number, 3) for number in best_of_checks(0.2)] == [0.279, 0.019]
    assert [round(number, 3) for number in best_of_checks(0.8)] == [0.873, 0.015]
    assert best_of_checks(0.2, checks=1) == pytest.approx((0.2, (0.2 * 0.8 / 128) ** 0.5))
    assert best_of_checks(0, 3, 5) == (0, 0) and best_of_checks(1, 3, 5) == (1, 0)
    # two checks of one string each: the best is 1 unless both fail
    assert best_of_checks(0.3, checks=2, strings=1) == pytest.approx((0.51, (0.51 * 0.49) ** 0.5))
    best = np.random.default_rng(0).binomial(128, 0.2, (20000, 40)).max(1) / 128
    assert best_of_checks(0.2) == pytest.approx((best.mean(), best.std()), abs=5e-4)


def test_a_readers_task():
    task = parity()
    batch = task.sample(50, 12, generator())
    assert batch.targets.tolist() == [task.answer(tokens) for tokens in batch.tokens] and batch.mask.all()
    assert task.name == "Parity" and task.modulus is None and task.machine.num_states == 2
    assert task.label_distribution(11).tolist() == [0.5, 0.5] and task.read(task.write([0, 1])).tolist() == [0, 1]
    rare = parity(Independent([9, 1]))
    assert rare.sample(5000, 4, generator(2)).tokens.double().mean() == pytest.approx(0.1, abs=0.015)
    assert rare.label_distribution(1).tolist() == pytest.approx([0.82, 0.18])
    machine = MooreMachine.from_rule((0, 0), "ab", lambda s, v: ((s[0] + v) % 3, 0), lambda s: s[0] if s[0] < 2 else NO_LABEL)
    some = MachineTask(machine)  # where no class is shown, none is asked for
    assert some.answers == "places" and some.sample(8, 9, generator()).loss(torch.zeros(8, 9, 2)).isfinite()


@pytest.mark.parametrize("call, says", [
    (lambda: Sum(1), "Sum: the modulus must be a whole number, at least 2, got 1"), (lambda: Sum(2.0), "got 2.0"),
    (lambda: Sum(5).sample(2, 0, generator()), "Sum(5): a length must be a whole number, at least 1, got 0"),
    (lambda: ModArith(5).sample(2, 40, generator()), "ModArith(5): no string has length 40, but 39"),
    (lambda: Sum(5).targets(torch.zeros(2, 3)), "tokens must be an integer tensor (B, T), got a tensor (2, 3) of torch.float32"),
    (lambda: Sum(5).answer([[0, 1]]), "one string of tokens has shape (T,)"), (lambda: Sum(5).answer("012"), "'012'"),
    (lambda: Sum(5).answer([0, 0, -1]), "Sum(5): token -1 at position 2 of string 0 is outside 0..4"),
    (lambda: ModArith(5).targets(torch.tensor([[1, 5, 2], [7, 5, 1]])), "string 1 is not an expression: × + 1"),
])  # fmt: skip
def test_what_is_refused(call, says):
    with pytest.raises(ValueError) as error:
        call()
    assert says in str(error.value)


def test_strings_are_drawn_by_what_knows_how_likely_they_are():
    with pytest.raises(TypeError, match="draw must be one of lrnnlab.tasks.draws or a subclass of its Independent, got <function"):
        Task(Sum(2).language, draw=lambda batch, length, generator: torch.zeros(batch, length, dtype=torch.long))
