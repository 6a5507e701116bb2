"""Pools of strings by the epoch: scores by hand, order, resuming, Adam as torch has it, what ends training."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from lrnnbook.content.tables import fwp_training
from lrnnlab.tasks import Batch
from lrnnlab.tasks.counter_languages import COUNTER_TASKS
from lrnnlab.training import curriculum as pooled

SMALL = {"model": "plain_lstm", "options": {"layers": 1, "width": 6}}


class Knows(nn.Module):
    """Answers right in the strings ``good`` of a batch, and one position wrong in the others."""

    def __init__(self, strings, good):
        super().__init__()
        self.strings, self.good = strings, good

    def forward(self, tokens):
        logits = torch.zeros(*tokens.shape, 7, dtype=torch.float64)
        for place, word in enumerate(tokens.tolist()):
            number = self.number(word)
            targets = self.strings.targets[number, : len(word)].clamp(min=0)
            if number not in self.good:
                last = int(self.strings.mask[number].sum()) - 1
                targets = targets.clone()
                targets[last] = (targets[last] + 1) % 7
            logits[place, torch.arange(len(word)), targets] = 9.0
        return logits

    def number(self, word):
        for number, row in enumerate(self.strings.tokens.tolist()):
            if row[: len(word)] == word and not any(row[len(word) :]):
                return number
        raise AssertionError(word)


def some(task, count, window=(2, 20), seed=0):
    task = COUNTER_TASKS[task]()
    return task.batch(task.strings(count, window, torch.Generator().manual_seed(seed), distinct=True))


@settings(max_examples=15, deadline=None)
@given(good=st.sets(st.integers(0, 7)), seed=st.integers(0, 50))
def test_a_string_counts_only_if_all_its_positions_are_right(good, seed):
    from lrnnlab.training import whole_string_accuracy

    strings = some("dyck_1", 8, seed=seed)
    found, loss = pooled.answers(Knows(strings, good), strings)
    assert whole_string_accuracy(found, strings) == len(good) / 8
    labelled, wrong = int(strings.mask.sum()), 8 - len(good)
    right = math.log(1 + 6 * math.exp(-9))
    assert loss == pytest.approx((labelled * right + 9 * wrong) / labelled, rel=1e-5)


@settings(max_examples=20, deadline=None)
@given(count=st.integers(1, 23), size=st.integers(1, 9), epochs=st.integers(1, 3), seed=st.integers(0, 99))
def test_an_epoch_has_every_string_once(count, size, epochs, seed):
    lengths = torch.arange(count) % 5 + 1
    mask = torch.arange(5) < lengths.unsqueeze(1)
    numbers = torch.arange(count).unsqueeze(1).expand(count, 5)
    pool = Batch(numbers, numbers.masked_fill(~mask, -1), mask)
    drawn = pooled.Pools([(10_000, pool)], size, torch.Generator().manual_seed(seed))
    for _ in range(epochs):
        seen = []
        while len(seen) < count:
            part = drawn()
            assert len(part.tokens) <= size and part.mask.any(0).all()  # cut to the longest
            seen += part.tokens[:, 0].tolist()
        assert sorted(seen) == list(range(count))


@settings(max_examples=20, deadline=None)
@given(steps=st.lists(st.integers(1, 7), min_size=1, max_size=3), kill=st.integers(0, 12))
def test_pools_go_on_after_a_kill_as_if_there_had_been_none(steps, kill):
    stages = [(count, some("parity", 5 + number, (2, 9), seed=number)) for number, count in enumerate(steps)]
    whole = pooled.Pools(stages, 2, torch.Generator().manual_seed(0))
    wanted = [whole().tokens.tolist() for _ in range(sum(steps))]
    first, again = (pooled.Pools(stages, 2, torch.Generator().manual_seed(seed)) for seed in (0, 7))
    found = [first().tokens.tolist() for _ in range(min(kill, sum(steps)))]
    again.load(first.state())
    assert found + [again().tokens.tolist() for _ in range(sum(steps) - len(found))] == wanted


def looks_like(scores, **options):
    """Train a net of two symbols for 10 steps a look; the looks are given."""
    told = iter(scores)
    one = Batch(torch.tensor([[0, 1]]), torch.tensor([[1, 0]]), torch.ones(1, 2, dtype=torch.bool))
    pools = options.pop("pools", [(60, one)])
    net = nn.Sequential(nn.Embedding(2, 4), nn.Linear(4, 2))
    return pooled.train_pools(
        net, pools or [(60, one)], batch_size=1, lr=1e-3, generator=torch.Generator().manual_seed(0), watch_every=10,
        watch=lambda net, step: dict(zip(("validation", "held_out", "test"), next(told))), **options,
    )  # fmt: skip


NO, GUESSED, RIGHT = (-1.0, 0.5, 1.0), (-0.1, 1.0, 0.0), (-1e-3, 1.0, 0.0)


@pytest.mark.parametrize("looks, patience, steps", [
    ([NO, RIGHT], 1, 10), ([NO, GUESSED, NO, RIGHT], 1, 30), ([NO, RIGHT, NO, RIGHT, RIGHT], 2, 40), ([NO] * 7, 1, 60),
])  # fmt: skip
def test_held_out_strings_end_training_and_test_strings_do_not(looks, patience, steps):
    assert looks_like(looks, patience=patience).steps == steps


def test_the_papers_way_ends_by_the_test_strings():
    assert looks_like([RIGHT, RIGHT, NO], stop="test").steps == 20


@pytest.mark.parametrize("fault", [None, "betas", "eps", "lr", "batch"])
def test_training_is_torchs_adam_on_one_pool_after_the_other(fault):
    right = {"betas": (0.9, 0.995), "eps": 1e-9, "lr": 0.02, "batch": 4}
    wrong = {"betas": (0.9, 0.999), "eps": 1e-2, "lr": 0.01, "batch": 5}
    plain = right if fault is None else {**right, fault: wrong[fault]}
    pools = [(3, some("parity", 9, (2, 6))), (4, some("parity", 6, (2, 12), seed=1))]
    one, two = (fwp_training.build_net(COUNTER_TASKS["parity"](), SMALL, 0) for _ in range(2))
    data, again = (torch.Generator().manual_seed(3) for _ in range(2))
    pooled.train_pools(one, pools, batch_size=4, lr=0.02, generator=data, watch_every=5,
                       watch=lambda net, step: {"validation": 0.0, "held_out": 0.0})  # fmt: skip
    optimiser = torch.optim.Adam(two.parameters(), **{name: plain[name] for name in ("betas", "eps", "lr")})
    for steps, pool in pools:
        order = []  # the epoch's parts that are still to come
        for _ in range(steps):
            order = order or list(torch.randperm(len(pool.tokens), generator=again).split(plain["batch"]))
            index = order.pop(0)
            optimiser.zero_grad()
            logits = two(pool.tokens[index])
            nn.functional.cross_entropy(logits[pool.mask[index]], pool.targets[index][pool.mask[index]]).backward()
            optimiser.step()
    off = max(float((a - b).detach().abs().max()) for a, b in zip(one.parameters(), two.parameters()))
    assert off < 1e-5 if fault is None else off > 1e-4
    assert (fault == "batch") != torch.equal(data.get_state(), again.get_state())  # nothing else draws from it
