"""Every model on every task: built, trained and scored by the same calls, wherever the model reads what the task gives."""

import pytest
import torch

from lrnnlab.models import MODELS, build, reads_numbers
from lrnnlab.tasks import TASKS, task
from lrnnlab.training import train
from lrnnlab.training.evaluation import evaluate

SHORT = 16  # strings to train on, where a task lets us choose


def short(name):
    """The task at a length at which two steps are quick."""
    found = task(name)
    try:
        return found.with_length(found.near(SHORT))
    except ValueError:  # pictures, and strings that come in bins
        return found


def fits(model, found):
    """Whether the model can read what the task gives, by the two rules that ``build`` tells."""
    return (found.reads == "tokens" or reads_numbers(model)) and not (model == "xl_transformer" and found.padded)


@pytest.mark.parametrize("number, name", list(enumerate(TASKS)))
def test_a_model_trains_on_what_it_can_read(number, name):
    """A tenth of the models each, in turn, so that each model meets five tasks; the others are refused."""
    found = short(name)
    for model in [model for model in MODELS if not fits(model, found)]:
        with pytest.raises(ValueError, match="reads tokens|answers once"):
            build(model, found)
    for model in [model for model in MODELS if fits(model, found)][number % 10 :: 10]:
        made = train(build(model, found), found, steps=2, batch_size=2, seed=1, progress=False)
        assert made.steps == 2 and made.finished, (name, model)
        with torch.no_grad():
            batch = found.training_batch(3, torch.Generator().manual_seed(0))
            given, wanted = batch.asked(made.net(batch.inputs))
            assert len(given) == len(wanted) > 0, (name, model)


@pytest.mark.parametrize("name, model, options", [
    ("parity", "regulargpt", {"width": 8, "heads": 2}), ("dyck_1", "lstm", {"width": 8}), ("shift", "dlr", {"state": 8}),
    ("parity", "rotrnn", {"width": 8, "dropout": 0.5}),
])
def test_a_kill_costs_nothing_whatever_is_trained(name, model, options, tmp_path):
    found, path = short(name), tmp_path / "run.pt"

    class Killed(BaseException):
        pass

    def run(kill=None, **more):
        def watch(net, step):
            if step == kill:
                raise Killed
            return {"validation": -step}

        return train(build(model, found, **options), found, steps=9, batch_size=2, watch=watch, watch_every=1,
                     progress=False, **more)  # fmt: skip

    whole = run()
    with pytest.raises(Killed):
        run(kill=6, checkpoint=path, save_seconds=-1.0)
    again = run(checkpoint=path)
    assert again.losses == whole.losses and again.watched == whole.watched and again.best_step == whole.best_step
    for one, two in zip(again.net.state_dict().values(), whole.net.state_dict().values()):
        assert torch.equal(one, two)


@pytest.mark.parametrize("other", [{"seed": 1}, {"place": "post"}, {"activation": "gelu"}, {"dropout": 0.1}])
def test_a_checkpoint_of_other_weights_or_options_is_of_another_run(other, tmp_path, capsys):
    found = short("parity")
    for options in ({}, other):
        fresh = build("lstm", found, width=8, **options)
        start = {name: value.clone() for name, value in fresh.state_dict().items()}
        made = train(fresh, found, steps=1, checkpoint=tmp_path / "run.pt", save_seconds=-1.0, progress=False)
        assert made.steps == 1 and any((start[name] != value).any() for name, value in made.net.state_dict().items())
    assert "belongs to another run: starting afresh" in capsys.readouterr().err


def test_training_that_has_enough_ends_with_its_losses_and_a_look():
    found = short("parity")
    made = train(build("lstm", found, width=8), found, steps=20, watch=lambda net, step: {"validation": step}, watch_every=5,
                 until=lambda made: made.steps >= 7, progress=False)  # fmt: skip
    assert [look["step"] for look in made.watched] == [0, 5, 7] and made.last_validation == 7
    assert [step for step, _ in made.losses] == [7]


@pytest.mark.parametrize("name", list(TASKS))
def test_every_task_is_scored_by_one_call(name):
    found = short(name)
    model = "rotrnn" if found.reads == "numbers" else "lstm"
    score = evaluate(build(model, found), found, length=found.near(found.train_length), strings=4)
    if found.reads == "numbers" and found.score == "R2":
        assert set(score.metrics()) == {"r2"} and score.r2 < 1
        return
    assert 0 <= score.accuracy_last <= 1 and 0 <= score.whole <= 1
    asked = ~score.per_position.isnan()
    assert {"every": asked.all(), "last": asked.sum() == 1 and asked[-1], "places": asked.any()}[found.answers]
