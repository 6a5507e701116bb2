"""Paper 004's atomic tasks: worked examples, slow oracles, R2, and what R2 is worth before anything is learnt."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tensors import generator

from lrnnlab.tasks.numbers import atomic
from lrnnlab.tasks.numbers.atomic_levels import cummax_level, shift_level, sort_level, trivial_level
from lrnnlab.tasks.numbers.continuous import position_features, r_squared

TASKS = {"shift": atomic.Shift(4), "cumsum": atomic.CumSum(), "cummax": atomic.CumMax(), "reverse": atomic.Reverse(), "sort": atomic.Sort(),
         "select": atomic.Select(3), "select_fixed": atomic.SelectFixed(3), "mips": atomic.MIPS(2), "context_shift": atomic.ContextShift(),
         "solve": atomic.Solve(), "solve_fixed": atomic.SolveFixed()}
every_task = pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)


def column(*numbers):
    return torch.tensor(numbers)[None, :, None]


@pytest.mark.parametrize("task, values, target", [  # the audit's runs of the released generators, and hand-made ones
    (atomic.Shift(4), column(0.707, -0.135, -1, 0.261, -0.498, -0.642, 0.185, 0.385),
     [[0.707, -0.135, -1, 0.261, -0.498, -0.642, 0.185, 0.385], [0, 0, 0.707, -0.135, -1, 0.261, -0.498, -0.642],
      [0, 0, 0, 0, 0.707, -0.135, -1, 0.261], [0, 0, 0, 0, 0, 0, 0.707, -0.135]]),
    (atomic.CumSum(), column(-0.654, -0.366, -0.542, 0.165, -0.778, 1), [[-0.654, -0.721, -0.902, -0.698, -0.973, -0.480]]),
    (atomic.CumSum(), column(1.0, 1, 1, 1), [[1, 1.414, 1.732, 2]]),
    (atomic.CumMax(), column(-0.710, 0.081, -0.375, 0.247, -0.591, -1), [[-0.710, 0.081, 0.081, 0.247, 0.247, 0.247]]),
    (atomic.Reverse(), column(0.254, 1, 0.645, 0.532, 0, 0, 0, 0), [[0.532, 0.645, 1, 0.254]]),
    (atomic.Sort(), column(0.149, 0.979, -1, -0.613, -0.016, 0, 0, 0, 0, 0), [[0.149, -0.016, -0.613, 0.979, -1]]),
    (atomic.Sort(), column(0.0, 0.5, -0.5, 0.5, 0, 0, 0, 0), [[0, 0.5, -0.5, 0.5]]),  # ties keep their order
    (atomic.Select(3), torch.stack([column(-0.418, 1, -0.495, -0.494, -0.108, -0.695, -0.130, 0, 0, 0)[..., 0],
                             torch.tensor([[1.0, 1, 0, 0, 1, 0, 0, 0, 0, 0]])], -1), [[-0.418, 1, -0.108]]),
    (atomic.ContextShift(), column(-0.707, -0.707, 0.073, -0.688, 0.466, 0.1, 0.2, 0.3),
     [[0, 0, 0, 0, 0, -0.707, -0.707, 0.073]]),
    (atomic.Solve(), column(-0.823, 0.568, 0.876, -0.568, -0.823, -0.482, 0, 0), [[-0.447, 0.895]]),
], ids=str)
def test_worked_examples(task, values, target):
    expected = torch.tensor(target).T
    torch.testing.assert_close(task.targets(values)[0], expected, atol=2e-3, rtol=0)
    torch.testing.assert_close(torch.tensor(task.answer(values[0])), expected, atol=2e-3, rtol=0)


@every_task
@settings(max_examples=12, deadline=None)
@given(length=st.integers(1, 12), batch=st.integers(1, 3), seed=st.integers(0, 2**31))
def test_fast_answers_are_the_oracles(task, length, batch, seed):
    length = max(task.least, length * 4 if task.name == "Shift" else length)
    drawn = task.sample(batch, length, generator(seed))
    inputs, targets = drawn.inputs, drawn.targets
    assert inputs.shape == (batch, task.input_length(length), task.d_in) and inputs.dtype == torch.float32
    assert targets.shape[2] == task.d_out and targets.shape[1] <= inputs.shape[1]
    slow = torch.tensor([task.answer(row[:, :-2]) for row in inputs])
    torch.testing.assert_close(targets, slow, atol=1e-5, rtol=1e-5)
    assert torch.equal(inputs[0, :, -2:], position_features(inputs.shape[1]))
    again = task.sample(batch, length, generator(seed))
    assert torch.equal(inputs, again.inputs) and torch.equal(targets, again.targets)


@pytest.mark.parametrize("kind, length, T, d_in, d_out, scored", [  # the table of the audit, at paper 004's defaults
    (atomic.Shift, 64, 64, 3, 8, 64), (atomic.CumSum, 64, 64, 3, 1, 64), (atomic.CumMax, 64, 64, 3, 1, 64), (atomic.Reverse, 64, 128, 3, 1, 64),
    (atomic.Sort, 64, 128, 3, 1, 64), (atomic.Select, 64, 128, 4, 1, 32), (atomic.SelectFixed, 64, 128, 4, 1, 32), (atomic.MIPS, 64, 64, 14, 4, 64),
    (atomic.ContextShift, 64, 64, 3, 1, 64), (atomic.Solve, 512, 512, 3, 1, 21), (atomic.SolveFixed, 64, 64, 3, 1, 7),
])
def test_shapes_at_the_papers_settings(kind, length, T, d_in, d_out, scored):
    batch = kind().sample(2, length, generator())
    inputs, targets = batch.inputs, batch.targets
    assert inputs.shape == (2, T, d_in) and targets.shape == (2, scored, d_out)
    assert kind().d_in == d_in and kind().input_length(length) == T


def test_what_the_generators_promise():
    x = atomic.Shift().sample(50, 64, generator()).inputs[..., 0]
    assert torch.equal(x.abs().amax(1), torch.ones(50))
    marks = atomic.Select(5).sample(2000, 10, generator()).inputs[..., 1]
    assert (marks.sum(1) == 5).all() and not marks[:, 15:].any()
    assert (marks[:, :15].mean(0) - 1 / 3).abs().max() < 0.05  # each of the first M + L equally often
    fixed = [atomic.SelectFixed(5).sample(3, 10, generator(seed)).inputs[..., 1] for seed in (1, 2)]
    assert torch.equal(fixed[0], fixed[1]) and (fixed[0] == fixed[0][0]).all()
    vectors = atomic.MIPS().sample(3, 20, generator()).inputs[..., :12].unflatten(-1, (3, 4))
    torch.testing.assert_close(vectors.norm(dim=-1), torch.ones(3, 20, 3))
    inputs = atomic.ContextShift().sample(3000, 8, generator()).inputs
    turns = (torch.atan2(inputs[:, 1, 0], inputs[:, 0, 0]) * 8 / (2 * math.pi)).round().long() % 8
    assert turns.bincount(minlength=8)[6:].tolist() == [0, 0] and turns.bincount()[:6].min() > 400  # s in 0..L-3
    rows = atomic.Solve().sample(4, 40, generator()).inputs[:, :30, 0].unflatten(1, (5, 6))
    A, X = rows[:, :, :5], atomic.Solve().sample(4, 40, generator()).targets
    torch.testing.assert_close(A @ A.transpose(1, 2), torch.eye(5).expand(4, -1, -1), atol=1e-5, rtol=0)
    torch.testing.assert_close(X.norm(dim=1), torch.ones(4, 1))
    A = atomic.SolveFixed().sample(2, 40, generator(9)).inputs[:, :30, 0].unflatten(1, (5, 6))[:, :, :5]
    assert torch.equal(A[0], A[1])


def test_r_squared():
    y = torch.randn(64, 8, dtype=torch.float64, generator=generator())
    noisy = y + 0.3 * torch.randn(64, 8, dtype=torch.float64, generator=generator(1))
    from sklearn.metrics import r2_score

    assert r_squared(noisy, y) == pytest.approx(r2_score(y.flatten(), noisy.flatten()))
    assert r_squared(y, y) == 1 and r_squared(y.mean().expand_as(y), y) == pytest.approx(0, abs=1e-12)
    assert r_squared(torch.full((4,), 0.1), torch.zeros(4)) == pytest.approx(1 - 0.01 / 1e-5, rel=1e-6)  # the floor
    for prediction in (y[:1], y[:, :, None], y[:0]):
        with pytest.raises(ValueError, match="one shape"):
            r_squared(prediction, y if len(prediction) else prediction)


def test_identity_only_scores_what_the_formula_says():
    for copies in (4, 8):
        batch = atomic.Shift(copies).sample(400, 64, generator())
        inputs, targets = batch.inputs, batch.targets
        guess = torch.zeros_like(targets)
        guess[..., 0] = inputs[..., 0]
        assert r_squared(guess, targets) == pytest.approx(shift_level(copies), abs=0.005)
    assert shift_level() == pytest.approx(0.222, abs=5e-4)


@pytest.mark.parametrize("length", [3, 8])
def test_context_shift_without_its_numbers_scores_what_the_formula_says(length):
    batch = atomic.ContextShift().sample(20_000, length, generator())
    first, second = batch.inputs[:, 0, 0].double(), batch.inputs[:, 1, 0].double()
    shift = (torch.atan2(second, first) * length / (2 * torch.pi)).round().long() % length
    guess = torch.zeros(len(shift), length + 1, dtype=torch.float64)
    guess[torch.arange(len(shift)), shift], guess[torch.arange(len(shift)), shift + 1] = first, second
    found = r_squared(guess[:, :length], batch.targets[..., 0])
    assert found == pytest.approx(trivial_level(atomic.ContextShift(), length), abs=0.006)


def test_cummax_by_position_only_scores_what_the_integral_says():
    targets = atomic.CumMax().sample(4000, 64, generator()).targets
    guess = targets.mean(0, keepdim=True).expand_as(targets)
    assert r_squared(guess, targets) == pytest.approx(cummax_level(64), abs=0.01)
    assert cummax_level(512) == pytest.approx(0.47, abs=0.01)


@pytest.mark.parametrize("length", [2, 32])
def test_sort_by_first_number_and_position_scores_what_the_integral_says(length):
    y = atomic.Sort().sample(4_000_000 // (length + 30), length, generator()).targets[..., 0].double()
    bins = torch.where(y[:, 0].abs() < 1 - 1e-6, (40 * y[:, 0]).floor(), 100 * y[:, 0]).long()  # +-1 by themselves
    guess = torch.empty_like(y)
    for number in bins.unique():
        guess[bins == number] = y[bins == number].mean(0)  # E[y_i | x_0, i] as it was found
    assert r_squared(guess, y) == pytest.approx(sort_level(length), abs=0.004)


@pytest.mark.parametrize("length", [16])
def test_mips_by_the_mean_so_far_scores_what_the_formula_says(length):
    values = atomic.MIPS().draw(4000, length, generator())
    guess = values[..., 8:].cumsum(1) / torch.arange(1, length + 1)[:, None]
    assert r_squared(guess, atomic.MIPS().label(values)) == pytest.approx(trivial_level(atomic.MIPS(), length), abs=0.004)


def test_a_wrong_answer_is_seen():
    """The tests above can fail: neighbours of the right answers differ from the oracles."""
    values = atomic.Sort().draw(3, 8, generator())
    nearest_value = values[:, :8].sort(1).values
    assert not torch.allclose(nearest_value, torch.tensor([atomic.Sort().answer(row) for row in values]))
    values = atomic.Shift(2).draw(1, 8, generator())
    assert not torch.allclose(atomic.Shift(2).targets(values).roll(1, 1)[0], torch.tensor(atomic.Shift(2).answer(values[0])))
