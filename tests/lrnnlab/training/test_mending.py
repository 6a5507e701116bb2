"""A model that is wrong on some short strings learns them; longer ones play no part; a kill changes nothing."""

import pytest
import torch

from lrnnlab.models import build
from lrnnlab.tasks import ModArith, Sum
from lrnnlab.training import Mend, Phase, Recipe, fit
from lrnnlab.training.restarts import _Run

RECIPE = Recipe((Phase(steps=3, lr=1e-2),), batch_size=8, length=5, mend=Mend(Phase(steps=4, lr=1e-3), rounds=2), attempts=2)


def elman(seed):
    return build("elman", vocab_size=3, classes=3, seed=seed, width=6)


def train(answers, recipe=RECIPE, **options):
    said = iter(answers)
    return fit(elman, Sum(3), recipe, seed=0, accept=lambda model: next(said), progress=False, **options)


def test_each_refusal_with_strings_adds_a_round():
    found = train([[(0, 1, 2)], [(1, 1), (2, 2)], True])
    assert found.accepted and found.lessons == [(1, (0, 1, 2)), (2, (1, 1))] and found.steps == 3 + 4 + 4 and found.attempt == 0


def test_half_of_a_batch_begins_with_lessons_and_is_labelled_anew():
    task = ModArith(5)
    run = _Run(lambda seed: build("elman", vocab_size=8, classes=5, seed=seed, width=4), task, Recipe((Phase(steps=1, lr=1e-2),), batch_size=10), 0)
    plain = run.batch(39)
    run.lessons = [(4, 7, 4, 5, 1), (2,)]
    mixed = run.batch(39)
    mixed_starts = [tuple(row[:5]) == (4, 7, 4, 5, 1) or row[0] == 2 for row in mixed.tokens.tolist()]
    assert all(mixed_starts[:5]) and not all(mixed_starts[5:])
    for row, wanted in zip(mixed.tokens, mixed.targets):
        assert task.answer(row) == wanted[::2].tolist()
    assert plain.tokens.shape == mixed.tokens.shape == (10, 39)
    short = run.batch(3)  # of a phase whose strings are shorter than a lesson
    assert all(tuple(row) == (4, 7, 4) or row[0] == 2 for row in short.tokens[:5].tolist())


class Killer(Sum):
    """A task whose next batch but a few never comes."""

    left = 0

    def sample(self, *arguments):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return super().sample(*arguments)


def killed(at):
    task = Killer(3)
    task.left = at
    return task


def same(one, other):
    return all(torch.equal(a, b) for a, b in zip(one.state_dict().values(), other.state_dict().values()))


@pytest.mark.parametrize("at", [2, 6, 11])
def test_a_kill_changes_nothing(at, tmp_path):
    def accept(model):  # depends on the weights alone, so that a resumed run hears the same
        return [(0, 1, 2)] if model.head[-1].bias.sum() != 0 else True

    options = dict(accept=accept, progress=False)
    whole, path = fit(elman, Sum(3), RECIPE, seed=0, **options), tmp_path / "run.pt"
    with pytest.raises(KeyboardInterrupt):
        fit(elman, killed(at), RECIPE, seed=0, checkpoint=path, save_seconds=-1.0, **options)
    resumed = fit(elman, Sum(3), RECIPE, seed=0, checkpoint=path, **options)
    assert (resumed.lessons, resumed.steps, resumed.attempt) == (whole.lessons, whole.steps, whole.attempt)
    assert same(whole.net, resumed.net)


def test_dropout_is_decided_by_the_seed_and_looked_at_without(tmp_path):
    """A sum by which ``accept`` asks for a lesson, or not, is the same at every call: nothing is dropped there."""
    tokens, seen = torch.tensor([[0, 1, 2, 1, 0]]), []

    def accept(model):
        with torch.no_grad():
            seen.append(torch.equal(model(tokens), model(tokens)))
        return True

    def run(global_seed, task=None, **options):
        torch.manual_seed(global_seed)
        before = torch.get_rng_state()
        made = fit(lambda seed: build("rotrnn", vocab_size=3, classes=3, seed=seed, width=8, dropout=0.5), task or Sum(3),
                   RECIPE, seed=0, accept=accept, watch=lambda model, step: {"score": float(accept(model))}, watch_every=2,
                   progress=False, **options)  # fmt: skip
        assert torch.equal(before, torch.get_rng_state())
        return made

    one, two = run(0), run(1)
    with pytest.raises(KeyboardInterrupt):
        run(2, killed(3), checkpoint=tmp_path / "run.pt", save_seconds=-1.0)
    resumed = run(3, checkpoint=tmp_path / "run.pt")
    assert all(seen) and len(seen) > 3 and not one.net.training
    assert same(one.net, two.net) and same(one.net, resumed.net)
