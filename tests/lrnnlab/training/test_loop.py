"""The training loop against a plain one: rates, decay, the best weights, what ends it."""

import math
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tensors import adam_by_hand, paper_001_net
from torch import nn
from torch.nn import functional as F

from lrnnlab.models import Net, blocks, build
from lrnnlab.models.block import PAPER_001
from lrnnlab.models.layers import S5
from lrnnlab.tasks import Batch, task
from lrnnlab.training import Phase, Recipe, fit, rng
from lrnnlab.training.loop import scheduled_lr, train

B, T = 5, 12


def draw_batch(generator):
    x = torch.randn(B, T, 2, generator=generator)
    return x, (x[..., 0].sum(1) > 0).long() + (x[..., 1].sum(1) > 0).long()


def trained(net, **options):
    given = {"steps": 6, "lr": 0.01, "generator": rng(0, "x"), "progress": False} | options
    return train(net, draw_batch, F.cross_entropy, **given)


def weights(net):
    return torch.cat([p.detach().flatten() for p in net.parameters()])


@settings(max_examples=30, deadline=None)
@given(steps=st.integers(1, 40), part=st.floats(0, 0.99), schedule=st.sampled_from(("cosine", "constant")))
def test_rates_are_torchs_own_schedules(steps, part, schedule):
    warmup = int(part * steps)
    optimiser = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
    falls = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps - warmup)
    if schedule == "constant":
        falls = torch.optim.lr_scheduler.ConstantLR(optimiser, factor=1.0)
    wanted = []
    for step in range(steps):
        wanted.append((step + 1) / warmup if step < warmup else optimiser.param_groups[0]["lr"])
        optimiser.step()
        if step >= warmup:
            falls.step()
    found = [scheduled_lr(step, steps, 1.0, warmup=warmup, schedule=schedule, start=warmup) for step in range(steps)]
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def plain_loop(net, steps, lr, recurrent_lr, weight_decay, warmup, betas, eps, clip):
    """The same training, written out: Adam's formulas by hand, decay decoupled and for the regular parameters only."""
    data = rng(0, "x")
    torch.randint(2**62, (1,), generator=data)  # what dropout is seeded with
    slow = {"gamma_log", "B"}
    moments = {}
    net.train()
    for step in range(steps):
        x, y = draw_batch(data)
        net.zero_grad()
        F.cross_entropy(net(x), y).backward()
        share = (step + 1) / warmup if step < warmup else (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))) / 2
        rates = {True: (share * recurrent_lr, 0), False: (share * lr, weight_decay)}
        adam_by_hand(net, moments, step, lambda name, rates=rates: rates[name.rsplit(".", 1)[-1] in slow], betas, eps, clip)


@pytest.mark.parametrize("fault", [None, "lr", "recurrent_lr", "weight_decay", "warmup", "betas", "eps", "clip"])
def test_training_is_the_plain_loop(fault):
    recipe = {"steps": 7, "lr": 0.01, "recurrent_lr": 0.003, "weight_decay": 0.1, "warmup": 2, "betas": (0.8, 0.99),
              "eps": 1e-3, "clip": 0.1}  # fmt: skip
    wrong = {"warmup": 0, "betas": (0.9, 0.99), "eps": 1e-8, "clip": None}
    one, two = paper_001_net().double(), paper_001_net().double()
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        trained(one, **(recipe if fault is None else {**recipe, fault: wrong.get(fault, 0.02)}))
        plain_loop(two, **recipe)
    finally:
        torch.set_default_dtype(before)
    off = float((weights(one) - weights(two)).abs().max())
    assert off < 1e-9 if fault is None else off > 1e-5


def test_generator_decides_all_and_watching_changes_nothing():
    made = []
    for watch_every, noise in ((0, 0), (2, 17)):
        net = paper_001_net(dropout=0.3)
        torch.manual_seed(noise)
        before = torch.get_rng_state()
        watch = (lambda net, step: {"training": net.training, "validation": 0.5}) if watch_every else None
        run = trained(net, watch=watch, watch_every=watch_every)
        assert torch.equal(torch.get_rng_state(), before)
        made.append((weights(net), run.losses))
    assert torch.equal(made[0][0], made[1][0]) and made[0][1] == made[1][1]
    assert [seen["step"] for seen in run.watched] == [0, 2, 4, 6] and not any(seen["training"] for seen in run.watched)
    other = paper_001_net(dropout=0.3)
    trained(other, generator=rng(1, "x"))
    assert not torch.equal(weights(other), made[0][0])


def test_best_weights_are_those_of_the_best_validation():
    values, seen = iter([0.2, 0.7, 0.7, 0.3]), []

    def watch(net, step):
        seen.append(weights(net))
        return {"validation": next(values)}

    net = paper_001_net()
    run = trained(net, watch=watch, watch_every=2)
    assert run.summary() == {"steps": 6, "finished": True, "last_validation": 0.3, "best_validation": 0.7, "best_step": 2}
    kept = paper_001_net(seed=9)
    kept.load_state_dict(run.best)
    assert torch.equal(weights(kept), seen[1]) and torch.equal(weights(net), seen[3])
    assert not torch.equal(seen[1], seen[2])
    assert trained(paper_001_net()).best is None


def test_regression_at_the_last_positions():
    torch.manual_seed(0)
    made = blocks(partial(S5, state=8), 8, 1, **{**PAPER_001, "gate": "full_glu"})
    net = Net(made, 1, 8, columns=1, last_outputs=2)

    def batch(generator):
        x = torch.randn(16, 6, 1, generator=generator)
        return x, x[:, 3:5]

    run = train(net, batch, F.mse_loss, steps=80, lr=0.03, generator=rng(0, "y"), progress=False,
                          schedule="constant")  # fmt: skip
    assert run.losses[0][0] == 10 and run.losses[-1][1] < 0.3 * run.losses[0][1]


# --- where nothing can be learned ---------------------------------------------------------------------------------------

SUM = task("sum", 3)


def told(label, asked=True):
    """A source whose every answer is ``label``, or that asks for none."""
    shape = 2, 5
    return lambda generator: Batch(torch.randint(3, shape, generator=generator), torch.full(shape, label), torch.full(shape, asked))


def run(source=SUM, change=lambda net: net, loss=None, **options):
    return train(change(build("lstm", SUM, width=4)), source, loss, **{"steps": 3, "progress": False, **options})


def fitted(asked=SUM, length=None, **phase):
    make = lambda seed: build("lstm", vocab_size=asked.vocab_size, classes=asked.classes, width=4, seed=seed)
    phases = (Phase(**{"steps": 3, "lr": 1e-3, **phase}),)
    return fit(make, asked, Recipe(phases, batch_size=4, length=length), seed=0, progress=False)


NOTHING = {
    "one answer": (lambda: run(told(1)), "3 steps: all answers were 1"),
    "no answer": (lambda: run(told(-1, asked=False)), "3 steps: no answer was asked for"),
    "rate": (lambda: run(lr=0.0), "no weight changed: the learning rate is 0"),
    "gradient": (lambda: run(loss=lambda y, batch: 0 * y.sum()), "no weight changed: the gradient of the loss is 0"),
    "NaN": (lambda: run(loss=lambda y, batch: math.nan * y.sum()), "the first loss is not finite"),
    "short strings": (lambda: run(task("tomita_7", length=2), lambda net: build("lstm", vocab_size=2, classes=2)), "answers were 1"),
    "fit, one answer": (lambda: fitted(task("evenpair", 5), length=1), "all answers were 1"),
    "fit, rate": (lambda: fitted(lr=0.0), "the learning rate is 0"),
}
REFUSED = {
    "frozen": (lambda: run(change=lambda net: net.requires_grad_(False)), "parameters that may change, and all .* are frozen"),
    "detached": (lambda: run(loss=lambda y, batch: y.detach().sum()), "depends on no weight"),
    "no weights": (lambda: run(change=lambda net: nn.Identity()), "it has none, got Identity"),
}


@pytest.mark.parametrize("name", NOTHING)
def test_training_that_can_teach_nothing_says_so(name):
    call, says = NOTHING[name]
    with pytest.warns(UserWarning, match=says):
        call()


@pytest.mark.parametrize("name", REFUSED)
def test_training_that_can_change_nothing_is_refused(name):
    call, says = REFUSED[name]
    with pytest.raises(ValueError, match=says):
        call()


@pytest.mark.filterwarnings("error")
def test_training_that_teaches_is_quiet():
    run(batch_size=1)
    fitted()
    run(loss=lambda y, batch: batch.loss(y))
