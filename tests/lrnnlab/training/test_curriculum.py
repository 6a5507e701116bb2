"""Lengths that grow: the loop against a plain one, stages, held-out strings, scores at every length."""

import math

import numpy as np
import pytest
import torch
from tensors import adam_by_hand
from torch import nn
from torch.nn import functional as F

from lrnnbook.content.tables.regulargpt_table1 import make_network
from lrnnlab.tasks.draws import draw_seed
from lrnnlab.tasks.regular import cycle_navigation, parity
from lrnnlab.training import rng
from lrnnlab.training.curriculum import held_out, train_strings
from lrnnlab.training.evaluation import accuracy_at_lengths

SMALL = {"rnn": {"width": 6}, "transformer": {"width": 8, "heads": 2, "layers": 1}}


def small_net(row="regulargpt_c2", task=None, seed=0):
    return make_network(row, task or parity(), seed=seed, **SMALL.get(row, {"width": 8, "heads": 2}))


def trained(net, task=None, **options):
    given = {"steps": 6, "lr": 0.01, "batch_size": 8, "longest": 9, "generator": rng(0, "x"), "progress": False}
    return train_strings(net, task or parity(), **given | options)


def weights(net):
    return torch.cat([p.detach().flatten() for p in net.parameters()])


class Machine(nn.Module):
    """A net that is right by counting; wrong, if told so, beyond a length.  It remembers which lengths it was shown."""

    def __init__(self, beyond=math.inf, certain=50.0):
        super().__init__()
        self.scale, self.beyond, self.seen = nn.Parameter(torch.tensor(certain)), beyond, []

    def forward(self, tokens):
        self.seen.append((tokens.shape[1], self.training))
        label = (tokens.sum(1) + (tokens.shape[1] > self.beyond)) % 2
        return self.scale * F.one_hot(label, 2)


def plain_loop(net, steps, lr, longest, batch_size, growth, gate, clip, weight_decay, warmup):
    """The same training, written out: lengths drawn, gradients cut and Adam's formulas by hand."""
    doubled = 2
    data = rng(0, "x")
    draw_seed(data)  # what held-out strings are drawn from
    moments = {}
    for step in range(steps):
        reach = max(doubled, longest if step >= growth else -(-longest * (step + 1) // growth))
        length = int(torch.randint(1, reach + 1, (), generator=data))
        tokens = parity().sample(batch_size, length, data).tokens
        net.zero_grad()
        logits = net(tokens).log_softmax(-1)
        loss = (-logits[torch.arange(batch_size), tokens.sum(1) % 2]).mean()
        loss.backward()
        if loss < gate and length > reach / 2 and 0 < int((tokens.sum(1) % 2).sum()) < batch_size:
            doubled = min(2 * reach, longest)
        share = (step + 1) / warmup if step < warmup else (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))) / 2
        adam_by_hand(net, moments, step, lambda name, share=share: (lr * share, weight_decay), clip=clip)


@pytest.mark.parametrize("fault", [None, "lr", "clip", "growth", "gate", "weight_decay", "warmup", "longest"])
def test_training_is_the_plain_loop(fault):
    recipe = {"steps": 9, "lr": 0.01, "longest": 30, "batch_size": 5, "growth": 40, "gate": 0.8, "clip": 0.1, "weight_decay": 0.1,
              "warmup": 2}  # fmt: skip
    wrong = {"lr": 0.02, "clip": 0.2, "growth": 4, "gate": 0.0, "weight_decay": 0.0, "warmup": 1, "longest": 2}
    one, two = small_net().double(), small_net().double()
    trained(one, schedule="cosine", **(recipe if fault is None else {**recipe, fault: wrong[fault]}))
    plain_loop(two, **recipe)
    off = float((weights(one) - weights(two)).abs().max())
    assert off < 1e-9 if fault is None else off > 1e-5


@pytest.mark.parametrize("net, wanted", [(Machine(), 30), (Machine(beyond=8), 100), (Machine(certain=1.0), 100)],
                         ids=["sure", "wrong at the longest", "right but unsure"])  # fmt: skip
def test_training_ends_early_only_where_held_out_strings_are_surely_right(net, wanted):
    made = trained(net, steps=100, lr=1e-9, watch_every=5, patience=3, growth=20, sure=0.01)
    assert made.steps == wanted  # looks at 20, 25 and 30: from step 19 on all lengths are drawn


def test_stages_come_one_after_the_other_when_known_and_the_newest_make_half():
    net, stages = Machine(), (3, 4, 12)
    trained(net, steps=400, longest=12, stages=stages, gate=0.1, symbols=96, batch_size=8, lr=0.0)
    lengths = [length for length, _ in net.seen]
    first = [next(place for place, length in enumerate(lengths) if length > reach) for reach in (0, 3, 4)]
    assert first[1] >= 15 and first[2] >= first[1] + 14 and max(lengths) == 12
    whole = lengths[first[2] :]
    newest = sum(length > 4 for length in whole) / len(whole)
    assert abs(newest - (0.5 + 0.5 * 8 / 12)) < 0.1 and set(whole) == set(range(1, 13))
    net = Machine(certain=0.0)  # never below the gate, whatever the step
    trained(net, steps=100, longest=12, stages=stages, gate=0.1, lr=0.0)
    assert max(length for length, _ in net.seen) == 3


def test_best_weights_are_those_of_the_least_loss_on_held_out_strings():
    net, task = small_net(), parity()
    made = trained(net, steps=30, lr=0.3, watch_every=3)
    batches = held_out(task, 9, torch.Generator().manual_seed(draw_seed(rng(0, "x"))))
    kept = small_net(seed=5)

    @torch.no_grad()
    def loss():
        logits = torch.cat([kept(batch.tokens) for batch in batches])
        return F.cross_entropy(logits, torch.cat([batch.targets for batch in batches])).item()

    kept.load_state_dict(made.best)
    assert loss() == pytest.approx(-made.best_validation, rel=1e-5)
    kept.load_state_dict(net.state_dict())
    assert loss() == pytest.approx(-made.last_validation, rel=1e-5)
    assert made.best_validation == max(seen["validation"] for seen in made.watched) > made.last_validation


def test_accuracy_is_the_share_of_strings_that_the_slow_answer_agrees_with():
    net, task = small_net("regulargpt_c3", cycle_navigation()), cycle_navigation()
    found = accuracy_at_lengths(net, task, [1, 4, 11], strings=30, generator=rng(3, "x"))
    again, slow = rng(3, "x"), {}
    for length in (1, 4, 11):
        tokens = task.sample(30, length, again).tokens
        slow[length] = np.mean([int(net(row.unsqueeze(0)).argmax()) == task.answer(row) for row in tokens])
    assert found == pytest.approx(slow) and len(set(found.values())) > 1
