"""Frozen heads stay where they are and cost nothing; pruning stops where harm begins."""

import pytest
import torch

from lrnnlab.models import build, snap
from lrnnlab.scans import linear_scan
from lrnnlab.tasks import Sum
from lrnnlab.training import Phase, Recipe, fit
from lrnnlab.training.restarts import freeze_idle


def soft(seed=0, layers=2, h=4, b=3, **options):
    options = {"rule": "softmax", "drive": "none", "start": "first", "gain": 4.0, **options}
    return build("block_diagonal", vocab_size=5, classes=5, seed=seed, h=h, b=b, layers=layers, hidden=16, **options)


def mask(*heads, h=4):
    return torch.tensor([k in heads for k in range(h)])


@pytest.mark.parametrize("frozen", [(0,), (1, 3), (0, 1, 2), (0, 1, 2, 3)])
@pytest.mark.parametrize("layer", [0, 1])
def test_forward_equals_stepping_and_the_full_transitions(frozen, layer):
    model = soft()
    model.layers[layer].freeze(mask(*frozen))
    tokens = torch.randint(5, (3, 11), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        trace, state = model.trace(tokens), model.initial_state(3)
        for t in range(11):
            state, logits = model.step(state, tokens[:, t])
            torch.testing.assert_close(logits, model(tokens)[:, t])
        z = model.norms[layer](model.embedding(tokens) + (trace.mixed[0] if layer else 0.0))
        A, b = model.layers[layer].transition(z)
        x = linear_scan(A, b, model.layers[layer].initial(3), backend="reference")
    torch.testing.assert_close(x.flatten(2), trace.mixed[layer])
    assert (A[..., list(frozen), :, :] == torch.eye(3)).all()
    at_rest = trace.mixed[layer].unflatten(2, (4, 3))[:, :, list(frozen)]
    assert (at_rest == model.layers[layer].x0[list(frozen)]).all()


def test_frozen_heads_get_no_gradient_and_survive_training_and_a_state_dict():
    def make(seed):
        model = soft(seed, layers=1)
        model.layers[0].freeze(mask(2))
        return model

    found = fit(make, Sum(5), Recipe((Phase(steps=5, lr=1e-2),), batch_size=4, length=6), seed=0, progress=False).net
    start = make(0)
    weight = lambda model: model.layers[0].generator[2].bias.unflatten(0, (3, 4, 3))
    assert torch.equal(weight(found)[:, 2], weight(start)[:, 2]) and not torch.equal(weight(found), weight(start))
    again = soft(7, layers=1)
    again.load_state_dict(found.state_dict())
    assert torch.equal(again.layers[0].frozen, mask(2))
    assert torch.equal(snap(found).layers[0].frozen, mask(2))


@pytest.mark.parametrize("ceiling, expected", [(-1.0, set()), (0.5, {(0, 1)}), (3.0, {(0, 0), (0, 1)}), (9.0, {(0, 0), (0, 1), (1, 2)})])  # fmt: skip
def test_heads_go_in_the_order_of_their_harm_until_the_ceiling(ceiling, expected):
    cost = {(0, 1): 0.5, (0, 0): 2.0, (1, 2): 5.0}  # all others cost 100; harms add up

    def harm(model):
        frozen = [(number, k) for number, layer in enumerate(model.layers) for k in layer.frozen.nonzero().flatten().tolist()]
        return sum(cost.get(head, 100.0) for head in frozen)

    model = soft()
    assert freeze_idle(model, harm, ceiling) == len(expected)
    assert {(n, k) for n, layer in enumerate(model.layers) for k in layer.frozen.nonzero().flatten().tolist()} == expected
    assert freeze_idle(model, harm, ceiling) == 0, "nothing is left to freeze, and what is frozen stays"


def test_a_phase_prunes_what_the_task_does_not_need():
    phases = (Phase(steps=150, lr=1e-2, weight_decay=1.0), Phase(steps=40, lr=1e-2, prune=0.3), Phase(steps=20, lr=1e-2))
    make = lambda seed: build("block_diagonal", vocab_size=2, classes=2, seed=seed, h=6, b=2, rule="softmax", drive="none",
                              start="first", gain=4.0, hidden=16)  # fmt: skip
    found = fit(make, Sum(2), Recipe(phases, batch_size=16, betas=(0.9, 0.99), clip=1.0, length=10), seed=0, progress=False)
    assert 1 <= int((~found.net.layers[0].frozen).sum()) <= 3 and found.losses[-1][1] < 0.3
