"""ListOps: trees by the published rule, values by two independent evaluators, labels at every bracket."""

import random
from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tensors import generator

from lrnnlab.automata import NO_LABEL
from lrnnlab.tasks.long_range import listops

WORKED = [("[MAX 2 6 [MED [SM 3 1 6 ] 8 3 ] 4 5 ]", [0, 3, 6]),  # the paper's
          ("[MAX [MAX 9 [MAX 7 4 ] [SM 7 8 8 7 ] 2 ] 8 0 1 ]", [7, 0, 9, 9]),
          ("[MIN 1 1 2 [MED 1 [MED 0 6 9 5 ] 0 ] ]", [5, 1, 1]),
          ("[MED 2 5 ]", [3]), ("[SM 9 9 [MIN 4 2 ] ]", [2, 0])]


def tree(depth=3):
    """Strategy: (text, value) of an expression, evaluated while it is built: a third evaluator."""
    def combine(operator, parts):
        values = sorted(value for _, value in parts)
        n = len(values)
        value = {"[MIN": values[0], "[MAX": values[-1], "[SM": sum(values) % 10,
                 "[MED": int((values[(n - 1) // 2] + values[n // 2]) / 2)}[operator]
        return " ".join([operator, *(text for text, _ in parts), "]"]), value

    digit = st.integers(0, 9).map(lambda value: (str(value), value))
    inner = digit if depth == 0 else st.one_of(digit, tree(depth - 1))
    return st.builds(combine, st.sampled_from(["[MIN", "[MAX", "[MED", "[SM"]), st.lists(inner, min_size=2, max_size=5))


@pytest.mark.parametrize("text, values", WORKED)
def test_worked_examples(text, values):
    task = listops.ListOpsSubTrees()
    tokens = task.read(text)
    assert task.answer(tokens) == values == [value for *_, value in listops.nodes(tokens.tolist())]
    assert listops.ListOps().answer(tokens) == values[-1:]
    batch = task.batch([tokens.tolist()], length=40)
    assert batch.targets[batch.mask].tolist() == values
    assert (batch.tokens[batch.mask] == listops.CLOSE).all() and (batch.tokens[0, len(tokens):] == listops.PAD).all()
    assert task.write(batch.tokens[0]) == text


@settings(max_examples=100, deadline=None)
@given(tree())
def test_every_evaluator_agrees(made):
    text, value = made
    tokens = listops.ListOps().read(text)
    assert listops.evaluate(text) == value == listops.nodes(tokens.tolist())[-1][3]
    assert listops.ListOpsSubTrees().answer(tokens) == [value for *_, value in listops.nodes(tokens.tolist())]


@pytest.mark.parametrize("task", [listops.ListOps(), listops.ListOpsSubTrees()], ids=str)
def test_samples(task):
    batch = task.sample(64, 96, generator())
    assert batch.tokens.shape == batch.targets.shape == batch.mask.shape == (64, 96)
    assert ((batch.targets == NO_LABEL) == ~batch.mask).all()
    for tokens, targets, mask in zip(batch.tokens, batch.targets, batch.mask):
        length = int((tokens != listops.PAD).sum())
        assert 24 <= length <= 96 and mask.nonzero()[-1] == length - 1  # the last label is the root's
        assert task.answer(tokens) == targets[mask].tolist()
    assert mask.sum() == 1 or task.name == "ListOpsSubTrees"
    again = task.sample(64, 96, generator())
    assert torch.equal(batch.tokens, again.tokens) and not torch.equal(batch.tokens, task.sample(
        64, 96, generator(1)).tokens)


def plain_tree(rng, depth, max_depth, max_args):
    """The published rule, as a recursion that keeps everything: the tokens of one tree."""
    if depth == max_depth or rng.random() > 0.25:
        return [rng.randrange(10)]
    parts = [plain_tree(rng, depth + 1, max_depth, max_args) for _ in range(rng.randint(2, max_args))]
    return [listops.FIRST_OPERATOR + rng.randrange(4), *(token for part in parts for token in part), listops.CLOSE]


def test_early_stops_do_not_change_the_distribution():
    """Lengths, heights and symbols against the published rule with plain rejection (shallow trees, for speed)."""
    rng, kept = random.Random(0), []
    while len(kept) < 3000:
        tokens = plain_tree(rng, 1, 5, 5)
        if 8 <= len(tokens) <= 24:
            kept.append(tokens)
    task = listops.ListOps()
    task.max_depth = task.max_args = 5
    stream = task.expressions(random.Random(1), 8, 24)
    ours = [next(stream) for _ in range(3000)]
    for feature in (len, lambda tokens: listops.nodes(tokens)[-1][2], lambda tokens: tokens[1] > 9, lambda tokens: tokens[0]):
        a, b = Counter(map(feature, kept)), Counter(map(feature, ours))
        assert max(abs(a[key] - b[key]) for key in a | b) < 0.04 * 3000


def test_the_arenas_setting():
    batch = listops.ListOps().sample(6, 2000, generator())
    assert ((batch.tokens != listops.PAD).sum(1) >= 500).all()
    assert [listops.evaluate(listops.ListOps().write(row)) for row in batch.tokens] == batch.targets[batch.mask].tolist()


def test_a_wrong_rule_is_seen(monkeypatch):
    """The comparison of evaluators can fail: rounding MED up is caught."""
    right = listops.apply
    monkeypatch.setattr(listops, "apply", lambda operator, values: (
        -(-sum(sorted(values)[(len(values) - 1) // 2:len(values) // 2 + 1]) // (2 - len(values) % 2))
        if operator == 12 else right(operator, values)))
    assert listops.nodes(listops.ListOps().read("[MED 2 5 ]").tolist())[-1][3] == 4 != listops.evaluate("[MED 2 5 ]")
