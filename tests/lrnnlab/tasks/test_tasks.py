"""Tasks: worked examples, three independent routes to every answer, exact frequencies, and what is refused."""

import inspect
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lrnnlab.automata import NO_LABEL, build, equivalent, minimise
from lrnnlab.tasks import TASKS, Batch, EvenPair, MachineTask, ModArith, ModularTask, Sum, Task, best_of_checks
from lrnnlab.tasks import task as named
from lrnnlab.validation import whole_number

KINDS = (Sum, EvenPair, ModArith)
MODULI = range(2, 12)
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def labelled(task, targets):
    """The targets (B, T) at labelled positions only, as lists."""
    return targets[:, task.mask(targets.shape[1])].tolist()


def legal_strings(task, length):
    """Every string of this length that the task can sample, (n, T)."""
    columns = [np.flatnonzero(task.token_distribution(t)).tolist() for t in range(length)]
    return torch.tensor(list(product(*columns)))


class Parity(Task):
    """A reader's task: an even or an odd number of b's."""

    symbols, classes, initial = ("a", "b"), 2, 0

    def step(self, state, token):
        return (state + token) % 2

    def output(self, state):
        return state

    def answer(self, tokens):
        tokens = self.check_string(tokens)
        return [tokens[:k].count(1) % 2 for k in range(1, len(tokens) + 1)]


class RareParity(Parity):
    def token_distribution(self, position):
        return np.array([0.9, 0.1]) if position else np.array([1.0, 0.0])


@pytest.mark.parametrize("task, text, answers", [
    (Sum(5), "0324", [0, 3, 0, 4]), (Sum(5), "4444", [4, 3, 2, 1]), (Sum(5), "104", [1, 1, 0]),
    (EvenPair(5), "0320", [1, 0, 0, 1]), (EvenPair(5), "11211", [1, 1, 0, 1, 1]), (EvenPair(5), "43", [1, 0]),
    (ModArith(5), "1+2-3x4", [1, 3, 0, 1]), (ModArith(5), "0-4*4-3", [0, 1, 4, 1]),
    (ModArith(5), "3+3+1+1", [3, 1, 2, 3]), (ModArith(5), "4*2-3+4", [4, 3, 0, 4]),
    (Sum(2), "1011", [1, 1, 0, 1]), (Sum(12), "11 10 3", [11, 9, 0]), (EvenPair(11), "10 1 10", [1, 0, 1]),
    (ModArith(11), "10×10-7", [10, 1, 5]), (ModArith(2), "1-1+1×0×1", [1, 0, 1, 0, 0]),
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


@every_kind
def test_long_strings(kind):
    task = kind(5)
    batch = task.sample(3, 499, generator(3))
    assert labelled(task, batch.targets) == [task.answer(tokens) for tokens in batch.tokens]


@settings(max_examples=300, deadline=None)
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
@pytest.mark.parametrize("modulus", [2, 3])
def test_every_short_string(kind, modulus):
    task = kind(modulus)
    for length in (1, 3, 5):
        strings = legal_strings(task, length)
        assert labelled(task, task.targets(strings)) == [task.answer(tokens) for tokens in strings]


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


def test_chance_and_majority():
    assert [kind(5).chance for kind in KINDS] == [0.2, 0.5, 0.2]
    assert EvenPair(5).majority(1) == 1 and EvenPair(5).majority(500) == pytest.approx(0.8)
    assert Sum(5).majority(500) == pytest.approx(0.2) and ModArith(5).majority(499) == pytest.approx(0.2)
    assert ModArith(5).majority(3) == pytest.approx(19 / 75)  # zero: 5 of 25 sums, 5 differences, 9 products
    assert EvenPair(2).majority(2) == 0.5


def test_label_distribution_refuses_positions_without_a_label():
    with pytest.raises(ValueError, match="odd length"):
        ModArith(5).label_distribution(1)
    for position in (-1, 1.0, None):
        with pytest.raises(ValueError, match="a position must be a whole number, at least 0, got"):
            Sum(5).label_distribution(position)


@every_kind
def test_sampling_follows_the_token_distribution(kind):
    task = kind(5)
    tokens = task.sample(4000, 5, generator(1)).tokens
    for t in range(5):
        frequencies = np.bincount(tokens[:, t], minlength=task.vocab_size) / 4000
        expected = task.token_distribution(t)
        assert expected.sum() == pytest.approx(1) and (frequencies[expected == 0] == 0).all()
        assert np.abs(frequencies - expected).max() < 0.04  # five standard deviations
    np.testing.assert_allclose(np.cov(tokens.T.double()) / tokens.double().var(0).numpy(), np.eye(5), atol=0.1)


@every_kind
def test_sample_is_a_function_of_its_generator(kind):
    task = kind(5)
    torch.manual_seed(0)
    state = torch.get_rng_state()
    first, again, other = (task.sample(16, 39, generator(seed)) for seed in (7, 7, 8))
    assert torch.equal(first.tokens, again.tokens) and torch.equal(first.targets, again.targets)
    assert not torch.equal(first.tokens, other.tokens)
    assert torch.equal(torch.get_rng_state(), state)  # global randomness is neither used nor disturbed
    one = generator(7)
    assert not torch.equal(task.sample(16, 39, one).tokens, task.sample(16, 39, one).tokens)


@every_kind
@pytest.mark.parametrize("length", [1, 3, 39, 101])
def test_batch_shapes_and_mask(kind, length):
    task = kind(5)
    batch = task.sample(4, length, generator())
    assert isinstance(batch, Batch)
    assert batch.tokens.shape == batch.targets.shape == batch.mask.shape == (4, length)
    assert batch.tokens.dtype == batch.targets.dtype == torch.int64 and batch.mask.dtype == torch.bool
    assert torch.equal(batch.mask[2], task.mask(length))
    assert task.mask(length).tolist() == [kind is not ModArith or t % 2 == 0 for t in range(length)]
    assert (batch.targets[~batch.mask] == NO_LABEL).all() and (batch.targets[batch.mask] >= 0).all()
    assert (batch.targets < task.classes).all() and batch.tokens.max() < task.vocab_size
    with pytest.raises(AttributeError):
        batch.tokens = None
    assert batch.to("cpu").tokens.device.type == "cpu"


def test_lengths_even_and_odd():
    for kind in (Sum, EvenPair):
        assert kind(5).sample(2, 40, generator()).tokens.shape == (2, 40)
        assert (kind(5).train_length, kind(5).test_length) == (40, 500)
    assert (ModArith(5).train_length, ModArith(5).test_length) == (39, 499)
    for call in (lambda: ModArith(5).sample(2, 40, generator()), lambda: ModArith(5).mask(40),
                 lambda: ModArith(5).targets(torch.zeros(2, 40, dtype=torch.int64)), lambda: ModArith(5).majority(40),
                 lambda: ModArith(5).answer([1, 5] * 20)):
        with pytest.raises(ValueError, match="ModArith.5.: an expression has odd length .* got 40"):
            call()


@every_kind
def test_descriptions(kind):
    task = kind(5)
    assert task.name == repr(task) == f"{kind.__name__}(5)" and task.modulus == 5
    assert task.vocab_size == len(task.symbols) == (8 if kind is ModArith else 5)
    assert task.classes == (2 if kind is EvenPair else 5)
    assert task.machine is task.machine and task.machine.symbols == task.symbols
    assert kind(np.int64(5)).modulus == 5 and kind(modulus=5).name == task.name


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


@every_kind
@pytest.mark.parametrize("modulus", [1, 0, -5, 2.0, "5", True, None, np.float64(3)])
def test_bad_modulus(kind, modulus):
    with pytest.raises(ValueError) as error:
        kind(modulus)
    assert str(error.value) == f"{kind.__name__}: the modulus must be a whole number, at least 2, got {modulus!r}"
    with pytest.raises(ValueError, match="at most 10000, got 1000000000000000000"):
        kind(10**18)


@every_kind
@pytest.mark.parametrize("length", [0, -1, 3.0, "7", True, None])
def test_bad_length(kind, length):
    for call in (lambda: kind(5).sample(2, length, generator()), lambda: kind(5).mask(length),
                 lambda: kind(5).majority(length)):
        with pytest.raises(ValueError) as error:
            call()
        assert str(error.value) == f"{kind.__name__}(5): a length must be a whole number, at least 1, got {length!r}"


@every_kind
def test_bad_batch(kind):
    for batch in (0, -1, 2.0, True):
        with pytest.raises(ValueError, match=f"the batch must be a whole number, at least 1, got {batch!r}"):
            kind(5).sample(batch, 3, generator())


def test_tokens_out_of_range():
    for task, top in ((Sum(5), 4), (EvenPair(5), 4), (ModArith(5), 7)):
        tokens = torch.zeros(3, 5, dtype=torch.int64)
        tokens[2, 3] = 9
        with pytest.raises(ValueError) as error:
            task.targets(tokens)
        assert str(error.value) == f"{task.name}: token 9 at position 3 of string 2 is outside 0..{top}"
        with pytest.raises(ValueError, match=f"token -1 at position 2 of string 0 is outside 0..{top}"):
            task.answer([0, 0, -1])
        with pytest.raises(ValueError, match="token 8 at position 0"):
            task.write([8])


@pytest.mark.parametrize("tokens, shown", [
    (torch.zeros(3, dtype=torch.int64), "a tensor (3,) of torch.int64"),
    (torch.zeros(2, 3), "a tensor (2, 3) of torch.float32"),
    (torch.zeros(2, 3, dtype=torch.bool), "torch.bool"), ([[0, 1]], "[[0, 1]]"),
])
def test_targets_wants_an_integer_matrix(tokens, shown):
    with pytest.raises(ValueError) as error:
        Sum(5).targets(tokens)
    assert "tokens must be an integer tensor (B, T), got " in str(error.value) and shown in str(error.value)


@pytest.mark.parametrize("tokens", ["012", [[0, 1]], [], [0.5], None, [None], 3])
def test_answer_wants_one_string(tokens):
    for call in (Sum(5).answer, Sum(5).write):
        with pytest.raises(ValueError, match=r"^Sum\(5\): "):
            call(tokens)


def test_small_integer_types_are_welcome():
    tokens = torch.tensor([[0, 3, 2, 4]], dtype=torch.uint8)
    assert Sum(5).targets(tokens).tolist() == [[0, 3, 0, 4]] and Sum(5).targets(tokens).dtype == torch.int64
    assert Sum(300).targets(tokens).tolist() == [[0, 3, 5, 9]]


@pytest.mark.parametrize("tokens, message", [
    ([1, 5, 6], "a number should stand at position 2 of string 0, found '-': 1 + -"),
    ([7, 5, 1], "a number should stand at position 0 of string 0, found '×': ×"),
    ([1, 2, 3], "an operator should stand at position 1 of string 0, found '2': 1 2"),
    ([1, 5] * 10 + [1, 5, 6], "a number should stand at position 22 of string 0, found '-': ... 1 + 1 + 1 + 1 + -"),
])
def test_malformed_expressions(tokens, message):
    task = ModArith(5)
    for call in (task.answer, task.write, lambda t: task.targets(torch.tensor([t])),
                 lambda t: task.read(" ".join(task.symbols[v] for v in t))):
        with pytest.raises(ValueError) as error:
            call(tokens)
        assert str(error.value) == f"ModArith(5): {message}"
    with pytest.raises(ValueError, match="position 2 of string 1, found"):
        task.targets(torch.tensor([[1, 5, 2], [1, 5, 6]]))


def test_write_and_read():
    assert Sum(5).write([0, 3, 2, 4]) == "0324" and Sum(10).write([9, 0]) == "90"
    assert Sum(11).write([10, 0, 1]) == "10 0 1"
    assert ModArith(5).write([1, 5, 2, 6, 3, 7, 4]) == "1+2-3×4" and ModArith(12).write([11, 14, 10]) == "11×10"
    read = [ModArith(5).read(text).tolist() for text in ("1+2-3×4", "1+2-3x4", "1 + 2 - 3 * 4")]
    assert read == [[1, 5, 2, 6, 3, 7, 4]] * 3
    assert Sum(5).read(" 03 24").tolist() == [0, 3, 2, 4] and Sum(5).read("03").dtype == torch.int64
    for modulus in MODULI:
        for kind in KINDS:
            task = kind(modulus)
            for tokens in task.sample(20, 9, generator(modulus)).tokens:
                assert torch.equal(task.read(task.write(tokens)), tokens)


@pytest.mark.parametrize("task, text, message", [
    (Sum(5), "0325", "'5' at position 3 of '0325' is none of ('0', '1', '2', '3', '4')"),
    (Sum(11), "10 11", "'11' at position 1"), (Sum(11), "10,1", "'10,1' at position 0"),
    (Sum(5), "", "at least one symbol, got text=''"),
    (ModArith(5), "12+3", "'12' at position 0 of '12+3'"), (ModArith(5), "1/3", "'/' at position 1"),
    (ModArith(5), "1+", "odd length"), (ModArith(5), "1++", "a number should stand at position 2"),
    (ModArith(5), "", "at least one symbol, got text=''"),
])
def test_read_refuses(task, text, message):
    with pytest.raises(ValueError) as error:
        task.read(text)
    assert message in str(error.value) and str(error.value).startswith(task.name)


@every_kind
def test_the_oracle_shares_nothing_with_the_fast_path_or_the_machine(kind, monkeypatch):
    tokens = kind(5).sample(1, 39, generator(5)).tokens[0]
    expected = kind(5).answer(tokens)
    for part in ("label", "step", "output", "draw", "mask", "initial", "machine", "specification"):
        monkeypatch.setattr(kind, part, None, raising=False)  # a task has only some of them
    assert kind(5).answer(tokens) == expected


@pytest.mark.parametrize("name", ["sum", "evenpair", "modarith"])
def test_a_modulus_may_follow_the_name(name):
    assert isinstance(named(name), TASKS[name]) and named(name).modulus == 5 and named(name, 7).modulus == 7
    with pytest.raises(ValueError, match="at least 2, got 1"):
        named(name, 1)


def test_a_reader_adds_a_task_in_twenty_lines(monkeypatch):
    assert len(inspect.getsource(Parity).splitlines()) <= 20
    monkeypatch.setitem(TASKS, "parity", Parity)
    task = named("parity")
    assert task.name == "Parity" and task.modulus is None and not isinstance(task, ModularTask)
    batch = task.sample(50, 12, generator())
    assert batch.targets.tolist() == [task.answer(tokens) for tokens in batch.tokens] and batch.mask.all()
    assert equivalent(task.machine, named("parity").machine) is None and task.machine.num_states == 2
    assert task.label_distribution(11).tolist() == [0.5, 0.5] and task.read(task.write([0, 1])).tolist() == [0, 1]
    with pytest.raises(ValueError, match="Parity: token 2 at position 1"):
        task.targets(torch.tensor([[0, 2]]))


def test_a_task_with_its_own_token_distribution():
    task = RareParity()
    tokens = task.sample(5000, 4, generator(2)).tokens
    assert (tokens[:, 0] == 0).all() and tokens[:, 1:].double().mean() == pytest.approx(0.1, abs=0.015)
    assert task.label_distribution(2).tolist() == pytest.approx([0.82, 0.18]) and task.majority(1) == 1


def test_a_task_that_contradicts_itself_is_refused():
    class TooManyClasses(Parity):
        classes = 1

    class Unlabelled(Parity):
        def output(self, state):
            return state - 1

    with pytest.raises(ValueError, match="TooManyClasses: output shows class 1, but the classes are 0..0"):
        TooManyClasses().label_distribution(0)
    with pytest.raises(ValueError, match="Unlabelled: no class is shown with probability 0.5 at position 0"):
        Unlabelled().label_distribution(0)
    with pytest.raises(ValueError, match="Unlabelled: output is -1, no class, in a state where a label is asked for; MachineTask"):
        Unlabelled().sample(8, 5, torch.Generator().manual_seed(0))
    some = MachineTask(build((0, 0), "ab", lambda s, v: ((s[0] + v) % 3, 0), lambda s: s[0] if s[0] < 2 else NO_LABEL))
    assert some.sample(8, 9, torch.Generator().manual_seed(0)).loss(torch.zeros(8, 9, 2)).isfinite()
    with pytest.raises(TypeError, match="abstract"):
        Task()


def test_best_of_checks():
    assert [round(number, 3) for number in best_of_checks(0.2)] == [0.279, 0.019]
    assert [round(number, 3) for number in best_of_checks(0.8)] == [0.873, 0.015]
    assert best_of_checks(0.2, checks=1) == pytest.approx((0.2, (0.2 * 0.8 / 128) ** 0.5))
    assert best_of_checks(0, 3, 5) == (0, 0) and best_of_checks(1, 3, 5) == (1, 0)
    # two checks of one string each: the best is 1 unless both fail
    assert best_of_checks(0.3, checks=2, strings=1) == pytest.approx((0.51, (0.51 * 0.49) ** 0.5))
    best = np.random.default_rng(0).binomial(128, 0.2, (20000, 40)).max(1) / 128
    assert best_of_checks(0.2) == pytest.approx((best.mean(), best.std()), abs=5e-4)


@pytest.mark.parametrize("arguments, message", [
    ((-0.1,), "at most 1, got -0.1"), ((1.5,), "got 1.5"), ((float("nan"),), "got nan"),
    ((0.2, 0), "checks must be a whole number, at least 1, got 0"), ((0.2, 40, 0.5), "strings must be"),
])
def test_best_of_checks_refuses(arguments, message):
    with pytest.raises(ValueError) as error:
        best_of_checks(*arguments)
    assert message in str(error.value)


def test_whole_number():
    assert whole_number(np.int32(3), 1, "n") == 3 and type(whole_number(np.int32(3), 1, "n")) is int
