"""A proof must be a proof, and a counter-example must really be wrong and really be shortest."""

import itertools

import numpy as np
import pytest
import torch

from lrnnlab.automata import build as build_machine
from lrnnlab.models import build, snap
from lrnnlab.tasks import EvenPair, Sum
from lrnnlab.verification import head_tables, heads_machine, verify
from lrnnlab.verification.below import live_part, reach
from lrnnlab.verification.search import Search


def snapped(vocab, classes, seed, h=2, b=3, head="linear", layers=1):
    options = dict(h=h, b=b, rule="softmax", drive="none", start="first", head=head, layers=layers, gain=4.0)
    return snap(build("block_diagonal", vocab_size=vocab, classes=classes, seed=seed, **options))


def complete(model, specification):
    """The search that follows every head."""
    with torch.no_grad():
        below = reach(model, live_part(specification), 10_000)
        return Search(model, specification, below, np.arange(model.layers[-1].h))


def machine_of(model, symbols):
    """The model's own behaviour as a machine, found by stepping it: the truth that verify must agree with."""
    tables = head_tables(model)
    return heads_machine(tables, tuple(range(len(tables.start))), symbols)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("head", ["linear", "mlp"])
def test_a_model_is_proved_equal_to_its_own_machine(seed, head):
    model = snapped(2, 2, seed, head=head)
    stepped = build_machine(
        tuple(model.layers[0].x0.argmax(-1).tolist()), ("a", "b"),
        lambda state, token: _step(model, state, token)[0], lambda state: _shown(model, state),
    )  # fmt: skip
    assert verify(model, stepped).proved


def _step(model, state, token):
    x = torch.nn.functional.one_hot(torch.tensor([state]), model.layers[0].b).float()
    with torch.no_grad():
        (after,), logits = model.step([x], torch.tensor([token]))
    return tuple(after[0].argmax(-1).tolist()), int(logits.argmax())


def _shown(model, state):
    x = torch.nn.functional.one_hot(torch.tensor([state]), model.layers[0].b).float()
    with torch.no_grad():
        return int(model.readout(x.flatten(1)).argmax())


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("head", ["linear", "mlp"])
def test_a_counterexample_is_wrong_and_shortest(seed, head):
    task = Sum(2)
    model = snapped(2, 2, seed, head=head)
    verdict = verify(model, task.specification)
    words = [word for n in range(1, 7) for word in itertools.product(range(2), repeat=n)]
    wrong = [w for w in words if int(model(torch.tensor([w]))[0, -1].argmax()) != sum(w) % 2]
    if verdict.proved:
        assert not wrong
    else:
        assert verdict.counterexample in wrong
        assert len(verdict.counterexample) == len(wrong[0])


def test_both_searches_agree_on_a_deep_model_and_a_shallow_one():
    task = EvenPair(2)
    for seed in range(6):
        model = snapped(2, 2, seed)
        short, general = verify(model, task.specification), complete(model, task.specification).run(10_000)
        assert short.proved == general.proved
        assert (short.counterexample is None) == (general.counterexample is None)
        if short.counterexample is not None:
            assert len(short.counterexample) == len(general.counterexample)
        deep = snapped(2, 2, seed, layers=2, head="mlp")
        assert not verify(deep, task.specification).proved


def test_a_planted_fault_is_found():
    """A counter modulo 5 whose weights are set by hand is proved; with one arrow bent it is refuted."""
    task = Sum(5)
    model = snapped(5, 5, 0, h=1, b=5)
    good = torch.stack([torch.roll(torch.eye(5), s, 0) for s in range(5)])[:, None]  # [token, 0, to, from]
    bad = good.clone()
    bad[3, 0, :, 4] = torch.eye(5)[0]  # 4 + 3 = 0 instead of 2
    with torch.no_grad():
        model.final_norm.weight.fill_(1.0)
        model.head[0].weight.copy_(torch.eye(5))
        model.head[0].bias.zero_()
    for table, proved in ((good, True), (bad, False)):
        model.layers[0].raw_blocks = lambda z, table=table: table.transpose(1, 2)  # (token, to, 0, from)
        verdict = verify(model, task.specification)
        assert verdict.proved is proved
    assert verdict.counterexample in {(4, 3), (1, 3, 3), (2, 2, 3)} and len(verdict.counterexample) == 2


def test_an_unsnapped_model_is_refused():
    model = build("block_diagonal", vocab_size=2, classes=2, h=1, b=2, rule="softmax", drive="none", start="first")
    with pytest.raises(ValueError, match="rule 'softmax'"):
        verify(model, Sum(2).specification)
    with pytest.raises(ValueError, match="Nonlinear"):
        verify(build("lstm", vocab_size=2, classes=2, width=4), Sum(2).specification)


def test_another_alphabet_is_refused():
    with pytest.raises(ValueError, match="2 symbols"):
        verify(snapped(2, 2, 0), Sum(3).specification)


def test_the_limit_gives_no_verdict_rather_than_a_wrong_one():
    model = snapped(2, 2, 0, h=4, b=4, head="mlp")
    verdict = verify(model, model_specification(model), limit=3)
    assert not verdict.proved and verdict.counterexample is None and "not decided" in str(verdict)


def model_specification(model):
    return build_machine(
        tuple(model.layers[0].x0.argmax(-1).tolist()), ("a", "b"),
        lambda state, token: _step(model, state, token)[0], lambda state: _shown(model, state),
    )  # fmt: skip
