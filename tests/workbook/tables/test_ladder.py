"""The ladder: its tasks say the state of a machine, its nets are tried again by the training length alone."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lrnnlab.automata import MooreMachine, minimise
from lrnnlab.models import MODELS, build
from lrnnlab.tasks import StateTracking, task
from workbook.tables import ladder, plan, runner


def drawn(seed, Q=4, V=2):
    draw = np.random.default_rng(seed)
    return MooreMachine(draw.integers(Q, size=(V, Q)), draw.integers(2, size=Q), 0, tuple("abcd"[:V]))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 9))
def test_the_targets_are_the_states_of_the_smallest_machine(seed, length):
    machine = drawn(seed)
    smallest = minimise(machine)
    if smallest.num_states == 1:
        with pytest.raises(ValueError, match="at least two"):
            StateTracking(machine)
        return
    asked = task("states", machine)
    batch = asked.sample(6, length, torch.Generator().manual_seed(seed))
    for tokens, targets in zip(batch.tokens.tolist(), batch.targets.tolist()):
        assert asked.answer(tokens) == targets
        state = smallest.initial
        for token, target in zip(tokens, targets):
            state = smallest.transitions[token, state]
            assert target == state


@pytest.mark.parametrize("name", ["d_2", "d_4", "tomita_1", "tomita_2", "tomita_3", "tomita_4", "tomita_7"])
def test_half_of_the_strings_live_and_the_others_die_at_any_time(name):
    asked = ladder.ladder_task(name)
    arrows = asked.rule.transitions
    (sink,) = [state for state in range(asked.classes) if (arrows[:, state] == state).all()]
    dead = asked.sample(2000, 60, torch.Generator().manual_seed(1)).targets == sink
    died = 60 - dead.sum(1)[dead[:, -1]]
    late = (died < 15).double().mean(), (died > 45).double().mean()
    assert 0.3 < dead[:, -1].double().mean() < 0.55 and min(late) > 0.1


def test_letters_come_as_often_as_they_should():
    tokens = ladder.flip_flop().sample(400, 100, torch.Generator().manual_seed(0)).tokens
    shares = tokens.flatten().bincount() / tokens.numel()
    assert np.allclose(shares, (0.9, 0.05, 0.05), atol=0.005)
    with pytest.raises(ValueError, match="3 positive numbers"):
        StateTracking(ladder.flip_flop().rule, weights=(1, 0, 1))


def test_every_row_can_be_built_for_every_machine():
    for row in ladder.TABLE.rows:
        for name in ("flip_flop", "modarith_3"):
            found, asked = ladder.TABLE.setting(row, name, "desk"), ladder.ladder_task(name)
            net = build(found["model"], asked, seed=0, **found["options"])
            assert net(asked.sample(2, 5, torch.Generator().manual_seed(0)).inputs).shape == (2, 5, asked.classes), row
    left_out = {"local_attention", "plain_lstm", "xl_transformer", "kerple_transformer", "t5_transformer"}
    assert {ladder.TABLE.setting(row, "parity", "live")["model"] for row in ladder.TABLE.rows} == set(MODELS) - left_out


def test_the_next_try_is_made_where_the_training_length_is_not_known(monkeypatch):
    shares = iter([0.5, 0.7, 1.0, 0.2])
    monkeypatch.setattr(ladder, "windows", lambda right: np.array([next(shares)]))
    tries = {**ladder.TABLE.setting("elman", "parity", "live"), "tries": [(1e-2, 2), (3e-3, 3), (1e-3, 4), (1e-3, 5)]}
    made, number = ladder.trained(tries, 0)
    assert (made.steps, number) == (4, 2)
    shares = iter([0.5, 0.7, 0.6, 0.2])
    made, number = ladder.trained(tries, 0)
    assert (made.steps, number) == (3, 1)


def test_every_try_begins_with_other_weights(monkeypatch):
    seeds = []

    def seen(name, asked, seed, **options):
        seeds.append(seed)
        return build(name, asked, seed=seed, **options)

    monkeypatch.setattr(ladder, "build", seen)
    monkeypatch.setattr(ladder, "windows", lambda right: np.zeros(1))
    ladder.trained({**ladder.TABLE.setting("elman", "parity", "live"), "tries": [(1e-2, 2)] * 3}, 7)
    assert seeds == [7, 1007, 2007]


def test_a_run_that_is_broken_off_goes_on(tmp_path, monkeypatch):
    cell = {**ladder.TABLE.setting("lstm", "s_3", "live"), "tries": [(1e-2, 30)]}
    whole = ladder.measure(cell, 3)
    count = iter(range(1000))
    sample = StateTracking.sample_near

    def broken(*given):
        if next(count) == 20:
            raise KeyboardInterrupt
        return sample(*given)

    from lrnnlab.training import loop

    checkpoint = loop.Checkpoint.__init__
    monkeypatch.setattr(loop.Checkpoint, "__init__", lambda self, path, identity, seconds: checkpoint(self, path, identity, 0))
    monkeypatch.setattr(StateTracking, "sample_near", broken)
    with pytest.raises(KeyboardInterrupt):
        ladder.measure(cell, 3, checkpoint=tmp_path / "one.pt")
    monkeypatch.setattr(StateTracking, "sample_near", sample)
    assert list(tmp_path.iterdir())
    again = ladder.measure(cell, 3, checkpoint=tmp_path / "one.pt")
    assert again["metrics"] == whole["metrics"] and again["accuracy_by_ten"] == whole["accuracy_by_ten"]


def test_checkpoints_of_all_tries_go_when_the_record_is_there(tmp_path, monkeypatch):
    run = plan("ladder/models_x_tasks", rows=["lstm"], tasks=["parity"], seeds=[0], budget="live")[0]
    places = []

    def performed(run, progress, checkpoint):
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
        places[:] = [checkpoint.with_suffix(end) for end in (".pt", ".try0", ".try1")]
        for place in places:
            place.touch()
        return {}

    def full(*_):
        raise OSError(28, "No space left on device", "here")

    monkeypatch.setattr(runner, "perform", performed)
    monkeypatch.setattr(runner.records, "write", full)
    assert "No space left" in runner.recorded_once(run, tmp_path, reuse=False)["unwritten"]
    assert all(place.is_file() for place in places)  # nothing is lost
    monkeypatch.setattr(runner.records, "write", lambda *_: None)
    runner.recorded_once(run, tmp_path, reuse=False)
    assert not any(place.is_file() for place in places)
