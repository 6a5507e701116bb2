"""Evaluation: known models have known scores, faults show where they are, and other purposes mean other strings."""

import math

import pytest
import torch
from torch import nn

from lrnnlab.models import build, exact_model
from lrnnlab.tasks import EvenPair, ModArith, Sum
from lrnnlab.training import evaluate

TASKS = [kind(M) for kind in (Sum, EvenPair, ModArith) for M in (2, 5)]


class Constant(nn.Module):
    """Always the same answer."""

    width = 1

    def __init__(self, answer, classes):
        super().__init__()
        self.logits = torch.eye(classes)[answer]

    def forward(self, tokens):
        return self.logits.expand(*tokens.shape, -1)


class Broken(nn.Module):
    """Right, but from token ``k`` (counted from 0) on the answer is one too high."""

    def __init__(self, task, k):
        super().__init__()
        self.exact, self.k = exact_model(task.machine), k
        self.width = self.exact.width

    def forward(self, tokens):
        logits = self.exact(tokens)
        return torch.cat([logits[:, : self.k], logits[:, self.k :].roll(1, -1)], 1)


class Spy(nn.Module):
    """Remembers what it was asked."""

    width = 4

    def __init__(self):
        super().__init__()
        self.tokens = []

    def forward(self, tokens):
        self.tokens.append(tokens.clone())
        return torch.zeros(*tokens.shape, 2)


def within_chance(found, level, strings):
    """Is a share of ``strings`` independent trials within five standard errors of ``level``?"""
    return abs(found - level) <= 5 * math.sqrt(level * (1 - level) / strings)


@pytest.mark.parametrize("task", TASKS, ids=str)
def test_an_exact_model_is_always_right(task):
    found = evaluate(exact_model(task.machine), task, seed=0, strings=32)
    labelled = task.mask(task.test_length)
    assert (found.length, found.strings, found.beyond) == (task.test_length, 32, task.train_length)
    assert found.metrics() == {"accuracy_last": 1.0, "accuracy_all": 1.0, "accuracy_seen": 1.0}
    assert found.per_position.shape == (task.test_length,)
    assert torch.equal(found.per_position.isnan(), ~labelled) and (found.per_position[labelled] == 1).all()


@pytest.mark.parametrize("task", TASKS, ids=str)
def test_a_constant_model_scores_the_level_of_its_answer(task):
    strings, length = 2000, task.train_length + 10
    last = task.label_distribution(length - 1)
    for answer in range(task.classes):
        found = evaluate(Constant(answer, task.classes), task, seed=answer, length=length, strings=strings)
        assert within_chance(found.accuracy_last, last[answer], strings)
        for t in (0, 2, 6, length - 1):
            assert within_chance(float(found.per_position[t]), task.label_distribution(t)[answer], strings)
    assert max(last) == task.majority(length)


@pytest.mark.parametrize("k", [0, 1, 39, 40, 41, 59])
def test_a_fault_shows_where_it_is(k):
    found = evaluate(Broken(Sum(3), k), Sum(3), seed=0, length=60, strings=300)  # two batches, the second a small one
    assert (found.per_position[:k] == 1).all() and (found.per_position[k:] == 0).all()
    assert found.accuracy_last == 0
    assert found.accuracy_seen == pytest.approx(min(k, 40) / 40)
    assert found.accuracy_all == pytest.approx(max(k - 40, 0) / 20)


def test_another_seed_or_purpose_means_other_strings():
    def asked(**how):
        spy = Spy()
        evaluate(spy, Sum(2), length=40, strings=20, **{"seed": 0, **how})
        return {tuple(row) for row in torch.cat(spy.tokens).tolist()}

    torch.manual_seed(1)
    first = asked()
    torch.manual_seed(2)
    assert asked() == first and asked(purpose="test") == first
    for other in (asked(seed=1), asked(purpose="check"), asked(purpose="train"), asked(purpose="check", seed=1)):
        assert len(other) == 20 and not other & first


@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_nan_is_no_answer(task):
    model = build("elman", vocab_size=task.vocab_size, classes=task.classes, width=4)
    with torch.no_grad():
        for weights in model.parameters():
            weights.fill_(math.nan)
    with pytest.warns(UserWarning, match="answers are NaN"):
        found = evaluate(model, task, seed=0, length=11, strings=20)
    assert found.per_position.nan_to_num(0).tolist() == [0.0] * 11
    assert found.per_position.isnan().tolist() == (~task.mask(11)).tolist()
