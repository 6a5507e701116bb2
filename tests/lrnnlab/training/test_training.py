"""Training: what a step does, restarts, best and last, and that no kill and no damaged file changes a number."""

import io
import math
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch
from torch.nn import functional as F

from lrnnlab.models import build
from lrnnlab.scans.kernels import threads
from lrnnlab.tasks import ModArith, Sum
from lrnnlab.training import Phase, Recipe, deterministic, fit, loop, rng
from lrnnlab.training import restarts as fitting
from lrnnlab.training.engine import Adam
from lrnnlab.training.restarts import impurity

AUTOMATON = {"rule": "softmax", "drive": "none", "start": "first"}


def elman(seed, width=6, **options):
    return build("elman", vocab_size=2, classes=2, seed=seed, width=width, **options)


def soft(seed, layers=1):
    """A softmax model of two blocks of two states: small, and it has an impurity."""
    return build("block_diagonal", vocab_size=2, classes=2, seed=seed, h=2, b=2, hidden=8, layers=layers, gain=3.0,
                 **AUTOMATON)  # fmt: skip


def recipe(*phases, batch_size=8, length=5, **shared):
    return Recipe(phases, batch_size=batch_size, length=length, **shared)


def train(recipe, seed=0, make=elman, task=None, **options):
    return fit(make, task or Sum(2), recipe, seed=seed, **{"progress": False, **options})


def weights(model):
    return {key: value.clone() for key, value in model.state_dict().items()}


def identical(model, other):
    model, other = (m if isinstance(m, dict) else m.state_dict() for m in (model, other))
    return model.keys() == other.keys() and all(torch.equal(model[key], other[key]) for key in model)


def flushes():
    """Are denormal numbers taken for zero?"""
    return not torch.full((1,), 1e-40).mul(1.0).any()


@pytest.fixture
def rates(monkeypatch):
    """The param groups' settings at every optimiser step."""
    seen, step = [], Adam.step

    def watched(optimiser):
        seen.append([(g["lr"], g["weight_decay"]) for g in optimiser.param_groups])
        step(optimiser)

    monkeypatch.setattr(Adam, "step", watched)
    return seen


@pytest.fixture(autouse=True)
def denormals():
    yield
    torch.set_flush_denormal(False)


# --- learning ---------------------------------------------------------------------------------------------------------


def test_the_seed_decides_everything():
    shared = recipe(Phase(12, lr=1e-2, noise=0.5))
    first = train(shared, seed=4)
    torch.manual_seed(99)
    torch.set_num_threads(2)
    assert identical(train(shared, seed=4).net, first.net)
    assert train(shared, seed=4).losses == first.losses
    other = train(shared, seed=5)
    assert not identical(other.net, first.net) and other.losses != first.losses
    same_weights = train(shared, seed=5, make=lambda seed: elman(4))
    assert not identical(same_weights.net, first.net), "the strings must depend on the seed as well"


# --- the loss, by hand; with lr 0 the weights stand still ------------------------------------------------------------


def first_losses(task, make, seed, length, loss):
    """Mean of the first ten losses of untrained weights, from the same stream of strings."""
    data, jitter, model, total = rng(seed, "train"), rng(seed, "noise"), make(seed), 0.0
    for step in range(10):
        drawn = task.sample(8, length, data)
        with torch.no_grad():
            total += loss(model, drawn, step, jitter).item()
    return total / 10


def smoothed(model, drawn, step, jitter):
    logs = F.log_softmax(model(drawn.tokens), -1)
    return -(0.8 * logs.gather(-1, drawn.targets.unsqueeze(-1)).squeeze(-1) + 0.2 * logs.mean(-1)).mean()


def noisy(model, drawn, step, jitter):
    states = model.states(drawn.tokens)
    states = states + 2.0 * step / 20 * torch.randn(states.shape, generator=jitter)  # grows linearly from nothing
    return F.cross_entropy(model.readout(states).flatten(0, 1), drawn.targets.flatten())


def squared(model, drawn, step, jitter):
    return ((model(drawn.tokens) - torch.eye(2)[drawn.targets]) ** 2).sum(-1).mean()


def labelled(model, drawn, step, jitter):
    assert (drawn.targets[:, 1::2] == -1).all()
    return F.cross_entropy(model(drawn.tokens)[:, ::2].flatten(0, 1), drawn.targets[:, ::2].flatten())


@pytest.mark.parametrize(("options", "loss"), [
    ({"smoothing": 0.2}, smoothed), ({"noise": 2.0, "steps": 20}, noisy), ({"loss": "squared"}, squared), ({}, labelled),
])  # fmt: skip
def test_losses_by_hand(options, loss):
    asked, make, length = Sum(2), elman, 5
    if loss is labelled:  # an expression has a value at every other position
        asked, length = ModArith(2), 7

        def make(seed):
            return build("elman", vocab_size=5, classes=2, seed=seed, width=6)

    found = train(recipe(Phase(**{"steps": 10, "lr": 0.0, **options}), length=length), 2, make, asked).losses
    assert found[0] == (10, pytest.approx(first_losses(asked, make, 2, length, loss), rel=1e-5))


# --- the optimiser ----------------------------------------------------------------------------------------------------


def test_learning_rates(rates):
    train(recipe(Phase(10, lr=1.0, final_lr=0.1, warmup=4), Phase(3, lr=0.5), Phase(4, lr=0.2, warmup=2)))
    found = [groups[0][0] for groups in rates]
    assert all(first == second for (first, _), (second, _) in rates)
    cosine = [0.1 + 0.45 * (1 + math.cos(math.pi * k / 10)) for k in range(10)]
    assert found[:10] == pytest.approx([cosine[0] / 4, cosine[1] / 2, 0.75 * cosine[2], *cosine[3:]])
    assert found[5] == pytest.approx(0.55) and found[0] == 0.25  # half-way; a quarter of the ramp
    assert found[10:] == pytest.approx([0.5, 0.5, 0.5, 0.1, 0.2, 0.2, 0.2])


def test_weight_decay_is_decoupled_and_on_matrices_only(rates):
    start = weights(elman(0))
    plain, decayed = (train(recipe(Phase(1, lr=0.1, weight_decay=w))).net.state_dict() for w in (0.0, 0.5))
    for key, w in start.items():
        shrunk = 0.1 * 0.5 * w if w.ndim > 1 else torch.zeros_like(w)
        torch.testing.assert_close(plain[key] - decayed[key], shrunk, rtol=0, atol=1e-6)
    assert rates == [[(0.1, 0.0), (0.1, 0.0)], [(0.1, 0.5), (0.1, 0.0)]]


def test_adam_has_its_decay_in_the_gradient_of_everything(rates):
    """torch's Adam, as the released code has it: g + w theta, whose first step is lr sign(g + w theta)."""
    start = weights(elman(0))
    moved = train(recipe(Phase(1, lr=0.1, weight_decay=100.0), optimiser="adam")).net.state_dict()
    for key, w in start.items():
        clear = w.abs() > 1e-2  # there the decay outweighs any gradient
        torch.testing.assert_close((w - moved[key])[clear], 0.1 * w.sign()[clear], rtol=0, atol=1e-4)
    assert rates == [[(0.1, 100.0)]]


def test_average_is_an_exponential_moving_average():
    seen = []
    keep = {"watch": lambda model, step: seen.append(weights(model)) or {"score": 0}, "watch_every": 1}
    train(recipe(Phase(6, lr=0.1)), **keep)
    result, mean = train(recipe(Phase(6, lr=0.1), average=0.8)), seen[0]
    for later in seen[1:]:
        mean = {key: 0.8 * mean[key] + 0.2 * later[key] for key in mean}
    for key, value in result.net.state_dict().items():
        torch.testing.assert_close(value, mean[key])
    assert not identical(result.net, seen[-1])


# --- impurity ---------------------------------------------------------------------------------------------------------


def impurity_of(model, tokens):
    return impurity(model, model.trace(tokens), tokens).item()


@pytest.mark.parametrize("layers", [1, 2])
def test_impurity_by_hand(layers):
    model, tokens = soft(1, layers), torch.randint(2, (3, 4), generator=torch.Generator().manual_seed(0))
    trace, terms = model.trace(tokens), []
    for i in range(layers):
        for s in range(3):
            for t in range(4):
                A = trace.transitions[i][tokens[s, t]] if i == 0 else trace.transitions[i][s, t]
                for k in range(2):
                    x = trace.mixed[i][s, t - 1].view(2, 2)[k] if t else model.layers[i].x0[k]
                    terms.append(sum(x[j] * (1 - sum(A[k, r, j] ** 2 for r in range(2))) for j in range(2)).item())
    assert impurity_of(model, tokens) == pytest.approx(sum(terms) / len(terms), rel=1e-5)


# --- attempts, until, stop --------------------------------------------------------------------------------------------


def poisoned(*bad):
    """A maker whose first models, by the order of making, hold a NaN; and the seeds it was asked for."""
    seeds = []

    def make(seed):
        seeds.append(seed)
        model = elman(seed)
        if len(seeds) - 1 in bad:
            with torch.no_grad():
                model.embedding.weight[0, 0] = math.nan
        return model

    return make, seeds


def test_a_nan_ends_the_attempt_and_the_next_one_starts():
    make, seeds = poisoned(0, 1)
    asked = []
    result = train(recipe(Phase(20, lr=1e-2), attempts=5), make=make, accept=lambda model: asked.append(1) or True)
    assert (result.attempt, result.accepted, result.steps) == (2, True, 20) and asked == [1]  # a step that cannot be taken is none
    assert len(set(seeds)) == 3 and seeds[0] == 0
    assert all(math.isfinite(value) for _, value in result.losses)
    assert all(value.isfinite().all() for value in result.net.state_dict().values())


def test_a_refused_attempt_starts_again_from_other_weights_and_strings():
    models = []
    shared = recipe(Phase(6, lr=1e-2), attempts=4)
    result = train(shared, accept=lambda model: models.append(weights(model)) or len(models) == 3)
    assert (result.attempt, result.accepted, result.steps) == (2, True, 18)
    assert len(models) == 3 and identical(models[2], result.net)
    assert not identical(models[0], models[1]) and not identical(models[1], models[2])
    assert identical(models[0], train(shared).net)


def test_what_is_enough_at_the_last_step_tells_a_lost_attempt_from_one_that_goes_on():
    """The first net reads the same of every symbol; the second learns, be it slower than ``until`` asks."""
    def make(seed):
        model = elman(seed)
        if seed == 0:
            torch.nn.init.zeros_(model.embedding.weight).requires_grad_(False)
        return model

    def tried(**ends):
        shared = recipe(Phase(80, lr=2e-2, **ends), Phase(3, lr=1e-3), attempts=2, length=3, batch_size=32)
        found = train(shared, make=make)
        return found.accepted, found.attempt, found.steps

    assert tried(until=1e-6) == (False, 1, 160)  # both lost
    assert tried(until=1e-6, enough=0.5) == tried(enough=0.5) == (True, 1, 163)
    assert tried(until=1e-6, enough=1.0) == (True, 0, 83)  # neither: it only begins the second phase
    accepted, attempt, steps = tried(until=0.5, enough=0.6)
    assert (accepted, attempt) == (True, 1) and 83 < steps < 163  # it still ends sooner where it can
    with pytest.raises(ValueError, match="enough is at least until, 0.5, got 0.1"):
        Phase(5, lr=1e-2, until=0.5, enough=0.1)


def test_best_is_the_first_with_the_highest_score():
    scores, seen = {2: 0.5, 4: 0.9, 6: 0.9, 8: 0.1, 10: 0.2}, {}

    def check(model, step):
        seen[step] = weights(model)
        return {"score": scores[step], "step seen": step}

    result = train(recipe(Phase(11, lr=1e-2)), watch=check, watch_every=2)
    assert [(c["step"], c["score"], c["step seen"]) for c in result.watched] == [(s, v, s) for s, v in scores.items()]
    assert identical(result.best, seen[4])
    assert not any(identical(result.net, found) for found in seen.values())


# --- one thread, no denormals -----------------------------------------------------------------------------------------


def test_scans_take_the_threads_that_torch_leaves_unless_a_clock_runs():
    torch.set_num_threads(3)
    with deterministic():
        with deterministic():
            assert (torch.get_num_threads(), threads.allowed()) == (1, 3)
        with deterministic(alone=True), deterministic():
            assert (torch.get_num_threads(), threads.allowed()) == (1, 1)
        assert threads.allowed() == 3
    assert (torch.get_num_threads(), threads.allowed()) == (3, 3)


@pytest.mark.parametrize("flushed", [False, True])
@pytest.mark.parametrize("fails", [False, True])
def test_threads_and_denormals_are_put_back(flushed, fails):
    torch.set_num_threads(2)
    torch.set_flush_denormal(flushed)
    inside = []

    def check(model, step):
        inside.append((torch.get_num_threads(), flushes()))
        return {"score": 1 / (not fails)}  # an error in the middle of training

    if fails:
        with pytest.raises(ZeroDivisionError):
            train(recipe(Phase(2, lr=1e-2)), watch=check, watch_every=1)
    else:
        train(recipe(Phase(2, lr=1e-2)), watch=check, watch_every=1)
    assert set(inside) == {(1, True)}
    assert (torch.get_num_threads(), flushes()) == (2, flushed)


# --- kills and checkpoints --------------------------------------------------------------------------------------------

# Everything that has a state: phases, both generators, averaging, watching, three attempts.
EVERYTHING = recipe(
    Phase(4, lr=1e-2, final_lr=1e-3, warmup=2, weight_decay=0.1, smoothing=0.1, noise=0.3),
    Phase(9, lr=5e-3, purity=0.5, until=100.0),  # ends after one step
    Phase(4, lr=5e-3, noise=0.2, purity=0.5),
    average=0.9, clip=1.0, attempts=3,
)  # fmt: skip
STEPS = 3 * 9


class Killed(BaseException):
    """Like KeyboardInterrupt: nobody is meant to catch it."""


def killing(at):
    """A task whose ``at``-th batch never comes; and the count of batches."""
    task, drawn = Sum(2), SimpleNamespace(batches=0)
    draw = task.sample

    def sample(*given):
        drawn.batches += 1
        if drawn.batches == at:
            raise Killed
        return draw(*given)

    task.sample = sample
    return task, drawn


def everything(checkpoint=None, task=None, save_seconds=-1.0, **options):
    """A run with all of it; ``save_seconds=-1`` saves after every step."""
    return train(
        EVERYTHING, seed=3, task=task, checkpoint=checkpoint, save_seconds=save_seconds,
        **{"make": soft, "watch": lambda model, step: {"score": model.embedding.weight.sum().item()}, "watch_every": 2,
           "accept": lambda model: False, **options},
    )  # fmt: skip


@pytest.fixture(scope="module")
def uninterrupted():
    return everything()


def same_run(found, wanted):
    assert identical(found.net, wanted.net) and identical(found.best, wanted.best)
    assert (found.losses, found.watched) == (wanted.losses, wanted.watched)
    assert (found.steps, found.attempt, found.accepted) == (wanted.steps, wanted.attempt, wanted.accepted)


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory):
    """The checkpoint as a kill finds it at the beginning of every step but the first."""
    path, found, task = tmp_path_factory.mktemp("snapshots") / "deep" / "run.ckpt", [], Sum(2)
    draw = task.sample

    def sample(*given):
        found.append(path.read_bytes() if path.exists() else None)
        return draw(*given)

    task.sample = sample
    everything(path, task)
    assert [p.name for p in path.parent.iterdir()] == ["run.ckpt"]
    assert len(found) == STEPS and found[0] is None and None not in found[1:]
    return found


@pytest.mark.parametrize("at", [1, 4, 5, 10, 18, STEPS - 1])
def test_a_kill_changes_nothing(at, tmp_path, snapshots, uninterrupted):
    (tmp_path / "run").write_bytes(snapshots[at])
    task, drawn = killing(0)
    same_run(everything(tmp_path / "run", task, save_seconds=60), uninterrupted)
    assert drawn.batches == STEPS - at, "steps before the kill were done again"


def test_the_running_mean_survives_a_kill(tmp_path):
    """``until`` looks at it, so without it a phase would end at another step."""
    shared = recipe(Phase(100, lr=1e-2, until=0.62), Phase(2, lr=1e-3), batch_size=32, length=3)
    wanted = train(shared)
    assert wanted.accepted and 20 < wanted.steps < 100
    for at in (5, 15, wanted.steps - 3):
        with pytest.raises(Killed):
            train(shared, task=killing(at)[0], checkpoint=tmp_path / str(at), save_seconds=-1.0)
        found = train(shared, checkpoint=tmp_path / str(at))
        assert identical(found.net, wanted.net) and found.steps == wanted.steps


def test_a_finished_run_can_be_asked_again(tmp_path, uninterrupted):
    everything(tmp_path / "run")
    task, drawn = killing(0)
    same_run(everything(tmp_path / "run", task), uninterrupted)
    assert drawn.batches <= 1


def test_times_add_up_over_a_kill(tmp_path, monkeypatch):
    """By a clock that goes one second a batch, half of it on the processor: the machine's own is as busy as it is."""
    drawn = []
    monkeypatch.setattr(
        fitting, "time", SimpleNamespace(perf_counter=lambda: len(drawn), process_time=lambda: len(drawn) / 2)
    )

    def timed(task):
        draw = task.sample
        task.sample = lambda *given: drawn.append(1) or draw(*given)
        return task

    with pytest.raises(Killed):
        everything(tmp_path / "run", timed(killing(STEPS)[0]))
    result = everything(tmp_path / "run", timed(Sum(2)))  # one step is left
    assert (result.seconds, result.cpu_seconds) == (STEPS, STEPS / 2)


DAMAGE = {
    "empty": lambda data: b"",
    "last byte gone": lambda data: data[:-1],
    "zeros": lambda data: bytes(len(data)),
    "noise inside": lambda data: data[:2000] + bytes(range(256)) + data[2256:],
}


SHORT = recipe(Phase(5, lr=1e-2, noise=0.1), average=0.9)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """The bytes of a checkpoint in the middle of a short run."""
    path = tmp_path_factory.mktemp("checkpoint") / "run"
    with pytest.raises(Killed):
        train(SHORT, task=killing(4)[0], checkpoint=path, save_seconds=-1.0)
    return path.read_bytes()


@pytest.fixture(scope="module")
def short():
    return train(SHORT)


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_checkpoint_is_named_and_ignored(damage, checkpoint, tmp_path, capsys, short):
    path = tmp_path / "run"
    path.write_bytes(DAMAGE[damage](checkpoint))
    found = train(SHORT, checkpoint=path)
    assert identical(found.net, short.net) and found.steps == short.steps
    said = capsys.readouterr().err
    assert str(path) in said and "damaged" in said and "starting afresh" in said
    kept = [file for file in tmp_path.iterdir() if file.name != "run"]
    assert [file.read_bytes() for file in kept] == ([] if damage in ("empty", "zeros") else [DAMAGE[damage](checkpoint)])
    assert all(file.name in said for file in kept)


def saved(content):
    file = io.BytesIO()
    torch.save(content, file)
    return file.getvalue()


FOREIGN = {
    "noise": bytes(range(256)) * 20,
    "text": b"a letter of more than thirty-two bytes\n",
    "a zip": b"PK\x05\x06" + bytes(18),
    "weights": saved({"weights": torch.arange(5.0)}),
    "a dict like ours": saved({"identity": None, "plain": {}}),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_that_is_no_checkpoint_stays_as_it_is(name, tmp_path):
    path = tmp_path / "run"
    path.write_bytes(FOREIGN[name])
    for start in (lambda: train(SHORT, checkpoint=path, save_seconds=-1.0),
                  lambda: loop.train(build("lstm", Sum(2), width=4), Sum(2), steps=2, checkpoint=path, save_seconds=-1.0)):  # fmt: skip
        with pytest.raises(ValueError, match=f"'{re.escape(str(path))}' is no checkpoint of lrnnlab"):
            start()
    assert path.read_bytes() == FOREIGN[name] and list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a system with pipes and links")
@pytest.mark.parametrize("kind", ["a link", "a link to a checkpoint", "a link to nowhere", "a pipe"])
def test_a_checkpoint_is_not_written_through_a_link_or_over_a_pipe(kind, checkpoint, tmp_path):
    path, there = tmp_path / "run", tmp_path / "there"
    os.mkfifo(path) if kind == "a pipe" else path.symlink_to(there)
    if kind != "a link to nowhere":
        there.write_bytes(checkpoint if kind == "a link to a checkpoint" else b"somebody's")

    def state():  # not when it was last read
        found = path.lstat()
        return found.st_mode, found.st_ino, found.st_mtime_ns, there.exists() and there.read_bytes()

    before = state()
    with pytest.raises(ValueError, match="checkpoint must be a file, got the link, pipe or device"):
        train(SHORT, checkpoint=path, save_seconds=-1.0)
    assert state() == before


def test_a_checkpoint_of_another_run_is_named_and_ignored(snapshots, tmp_path, capsys):
    path = tmp_path / "run"
    other = Recipe(EVERYTHING.phases[1:], batch_size=8, length=5, average=0.9, clip=1.0, attempts=3)
    checks = {"watch": lambda model, step: {"score": 0}, "watch_every": 2}
    for arguments in (
        {"recipe": EVERYTHING, "seed": 4, **checks},
        {"recipe": other, "seed": 3, **checks},
        {"recipe": EVERYTHING, "seed": 3},
        {"recipe": EVERYTHING, "seed": 3, "make": lambda seed: build(  # all tensors have the same shapes
            "block_diagonal", vocab_size=2, classes=2, seed=seed, h=2, b=2, hidden=8, **{**AUTOMATON, "start": "learned"})},
        {"recipe": EVERYTHING, "seed": 3, "task": ModArith(2), "make": lambda seed: build(
            "block_diagonal", vocab_size=5, classes=2, seed=seed, h=2, b=2, hidden=8, **AUTOMATON), **checks},
    ):  # fmt: skip
        arguments = {"make": soft, **arguments}
        path.write_bytes(snapshots[15])
        found = train(**arguments, checkpoint=path)
        said = capsys.readouterr().err
        assert str(path) in said and "another run" in said
        wanted = train(**arguments)
        assert identical(found.net, wanted.net) and found.steps == wanted.steps


SCRIPT = """
import sys
from pathlib import Path
from lrnnlab.models import build
from lrnnlab.tasks import Sum
from lrnnlab.training import Phase, Recipe, fit

def make(seed):
    return build("elman", vocab_size=2, classes=2, seed=seed, width=6)

def check(model, step):
    print(step, flush=True)
    return {"score": 0.0}

recipe = Recipe((Phase(120, lr=1e-2, noise=0.1),), batch_size=8, length=5, average=0.9)
path = Path(sys.argv[1])
fit(make, Sum(2), recipe, seed=5, watch=check, watch_every=10, checkpoint=path, save_seconds=0.0, progress=False)
"""


def test_a_process_that_is_killed_outright(tmp_path):
    """SIGKILL in the middle of a run that saves all the time; the run is resumed here."""
    with subprocess.Popen([sys.executable, "-c", SCRIPT, str(tmp_path / "run")], stdout=subprocess.PIPE) as run:
        while int(run.stdout.readline()) < 30:
            pass
        run.kill()
    assert run.returncode != 0
    whole = recipe(Phase(120, lr=1e-2, noise=0.1), average=0.9)
    checks = {"watch": lambda model, step: {"score": 0.0}, "watch_every": 10, "seed": 5}
    task, drawn = killing(0)
    found, wanted = train(whole, task=task, checkpoint=tmp_path / "run", **checks), train(whole, **checks)
    assert identical(found.net, wanted.net) and (found.losses, found.watched) == (wanted.losses, wanted.watched)
    assert 0 < drawn.batches <= 120 - 29
