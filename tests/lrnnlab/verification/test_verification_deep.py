"""Proofs of models with several layers, against machines found by stepping the model one token at a time."""

import itertools

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from lrnnlab.automata import MooreMachine, equivalent, minimise
from lrnnlab.automata import build as build_machine
from lrnnlab.models import build, snap
from lrnnlab.tasks import ModArith
from lrnnlab.verification import learned_machine, verify
from lrnnlab.verification.lower_layers import live_part, quotient, reach


def deep(seed, vocab=2, layers=2, h=2, b=2, head="mlp"):
    options = dict(h=h, b=b, rule="softmax", drive="none", start="first", gain=6.0, hidden=12, layers=layers, head=head)
    return snap(build("block_diagonal", vocab_size=vocab, classes=2, seed=seed, **options))


def stepped(model, answers=lambda state, shown: shown):
    """The model as a machine: every state of every layer, by ``model.step`` alone."""

    def one_hot(state):
        return [F.one_hot(torch.tensor([part]), layer.b).double() for part, layer in zip(state, model.layers)]

    def step(state, token):
        with torch.no_grad():
            after, _ = model.step(one_hot(state), torch.tensor([token]))
        return tuple(tuple(x[0].argmax(-1).tolist()) for x in after)

    def shown(state):
        with torch.no_grad():
            return answers(state, int(model.readout(one_hot(state)[-1].flatten(1)).argmax()))

    start = tuple(tuple(layer.x0.argmax(-1).tolist()) for layer in model.layers)
    return build_machine(start, "ab"[: model.vocab_size], step, shown)


@pytest.mark.parametrize("head", ["mlp", "linear"])
@pytest.mark.parametrize("layers", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_proved_equal_to_itself_and_refuted_when_one_state_answers_otherwise(seed, layers, head):
    model = deep(seed, layers=layers, head=head)
    machine = stepped(model)
    assert verify(model, machine).proved
    outputs = machine.outputs.copy()
    outputs[-1] = 1 - outputs[-1]  # the last state that was found is the farthest from the start
    bent = MooreMachine(machine.transitions, outputs, 0, machine.symbols)
    verdict = verify(model, bent)
    shortest = next(
        word for n in range(1, 30) for word in itertools.product(range(2), repeat=n) if machine.answer(word)[-1] != bent.answer(word)[-1]
    )  # fmt: skip
    assert len(verdict.counterexample) == len(shortest) and not verdict.proved
    word = verdict.counterexample
    assert int(model(torch.tensor([word]))[0, -1].argmax()) != bent.answer(word)[-1]


def test_only_strings_that_are_asked_about_count():
    """A model that is wrong only where nothing is asked is proved; a grammar of alternating letters hides the rest."""
    for seed in range(6):
        model = deep(seed)
        inner = stepped(model)

        def step(state, token, inner=inner):
            if state is None or state[1] == token:
                return None
            return int(inner.transitions[token, state[0]]), token

        spec = build_machine((0, -1), "ab", step, lambda s, inner=inner: -1 if s is None else int(inner.outputs[s[0]]))
        assert verify(model, spec).proved
        assert learned_machine(model, spec) == minimise(spec)
        assert live_part(spec).num_states == 4  # start, after a, after b, dead


def test_the_learned_machine_is_the_models_own():
    for seed in range(6):
        model = deep(seed, layers=3)
        asked = MooreMachine([[0], [0]], [0], 0, "ab")  # everything is asked about; the answers are not looked at
        assert learned_machine(model, asked) == minimise(stepped(model))
        assert equivalent(learned_machine(model, asked), stepped(model)) is None
    with pytest.raises(ValueError, match="more than 1 states"):
        learned_machine(deep(0, layers=3, b=4), MooreMachine([[0], [0]], [0], 0, "ab"), limit=1)


def test_a_quotient_forgets_nothing_that_the_followed_heads_see():
    model = deep(3, layers=3, h=3, b=3)
    with torch.no_grad():
        below = reach(model, live_part(stepped(model)), 100_000)
    small = quotient(below, np.array([1]))
    assert len(small.follow) <= len(below.follow)
    big = little = 0
    for token in np.random.default_rng(0).integers(0, 2, 500):
        here, there = below.tables[below.kind[big, token], 1], small.tables[small.kind[little, token], 0]
        assert (here == there).all()
        big, little = below.follow[big, token], small.follow[little, token]


def test_many_counterexamples_are_all_wrong_and_come_shortest_first():
    model, wrong = deep(1, layers=2), 0
    machine = stepped(model)
    against = MooreMachine(machine.transitions, 1 - machine.outputs, 0, machine.symbols)
    verdict = verify(model, against, wanted=9)
    assert len(verdict.counterexamples) >= min(9, machine.num_states - 1) > 1
    lengths = [len(word) for word in verdict.counterexamples]
    assert lengths == sorted(lengths) and len(set(verdict.counterexamples)) == len(lengths)
    for word in verdict.counterexamples:
        wrong += int(model(torch.tensor([word]))[0, -1].argmax()) != against.answer(word)[-1]
    assert wrong == len(lengths)


def test_depth_bounds_what_is_claimed():
    model = deep(0, layers=2, h=3, b=3)
    machine = stepped(model)
    outputs = machine.outputs.copy()
    outputs[-1] = 1 - outputs[-1]
    bent = MooreMachine(machine.transitions, outputs, 0, machine.symbols)
    length = len(verify(model, bent).counterexample)
    assert length > 1
    below, at = verify(model, bent, depth=length - 1), verify(model, bent, depth=length)
    assert not below.counterexamples and not below.proved and below.depth == length - 1
    assert f"up to {length - 1} symbols" in str(below)
    assert len(at.counterexample) == length


def test_an_untrained_model_is_refuted_on_modarith_by_a_legal_expression():
    task = ModArith(5)
    options = dict(h=2, b=3, rule="softmax", drive="none", start="first", gain=6.0, layers=3)
    model = snap(build("block_diagonal", vocab_size=8, classes=5, seed=0, **options))
    word = verify(model, task.specification).counterexample
    tokens = task.check_tokens(torch.tensor([word]))
    assert int(model(tokens)[0, -1].argmax()) != task.answer(tokens[0])[-1]


def test_a_tie_in_a_layer_below_the_last_is_not_proved():
    model = deep(0)
    layer = model.layers[0]
    last = layer.generator[-1]
    with torch.no_grad():
        for weight in (last.weight.view(layer.b, layer.h, layer.b, -1), last.bias.view(layer.b, layer.h, layer.b)):
            weight[1] = weight[0]  # both entries of every column are alike
    verdict = verify(model, stepped(model))
    assert verdict.closed and not verdict.proved and verdict.column_lead == 0
