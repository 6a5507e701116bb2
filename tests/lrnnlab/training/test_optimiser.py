"""Our Adam and AdamW beside torch's, to the last bit."""

import copy

import pytest
import torch
from torch import nn

from lrnnlab.training import engine


def groups(net):
    return [{"params": [p for p in net.parameters() if p.ndim > 1]}, {"params": [p for p in net.parameters() if p.ndim <= 1]}]


def walk(net, made, steps, clip):
    """Steps along gradients of a few batches; the second layer has none in every third, the learning rate falls."""
    for step in range(steps):
        for group, decay in zip(made.param_groups, (0.3, 0.0)):
            group.update(lr=0.02 / (1 + step), weight_decay=decay)
        made.zero_grad()
        x = torch.randn(16, 5, generator=torch.Generator().manual_seed(step))
        out = net[0](x) if step % 3 == 2 else net(x)
        (30 * out.square().mean()).backward()
        clip(net.parameters(), 0.7)
        made.step()
    return [p.detach().clone() for p in net.parameters()]


@pytest.mark.parametrize("decoupled", [True, False])
def test_a_walk_is_torch_s_to_the_last_bit(decoupled):
    ours, theirs = nn.Sequential(nn.Linear(5, 33), nn.Linear(33, 2)), None
    theirs, betas = copy.deepcopy(ours), (0.9, 0.95)
    kind = torch.optim.AdamW if decoupled else torch.optim.Adam
    made = engine.adam(groups(ours), betas, 1e-7, decoupled=decoupled)
    assert isinstance(made, engine.Adam)
    found = walk(ours, made, 12, engine.clip_gradients)
    wanted = walk(theirs, kind(groups(theirs), betas=betas, eps=1e-7, fused=True), 12, nn.utils.clip_grad_norm_)
    assert all(torch.equal(a, b) for a, b in zip(found, wanted))


def test_a_walk_goes_on_from_what_a_checkpoint_holds(tmp_path):
    whole, half = (nn.Sequential(nn.Linear(5, 4), nn.Linear(4, 2)) for _ in range(2))
    half.load_state_dict(whole.state_dict())
    made = engine.adam(groups(half), (0.9, 0.99))
    walk(half, made, 4, engine.clip_gradients)
    torch.save(made.state_dict(), tmp_path / "state")
    again, lost = engine.adam(groups(half), (0.9, 0.99)), copy.deepcopy(half)
    again.load_state_dict(torch.load(tmp_path / "state", weights_only=True))
    reference = engine.adam(groups(whole), (0.9, 0.99))
    walk(whole, reference, 4, engine.clip_gradients)
    fresh = engine.adam(groups(lost), (0.9, 0.99))
    ours, theirs, others = (walk(net, one, 3, engine.clip_gradients)
                            for net, one in ((half, again), (whole, reference), (lost, fresh)))  # fmt: skip
    assert all(torch.equal(a, b) for a, b in zip(ours, theirs))
    assert not all(torch.equal(a, b) for a, b in zip(ours, others))  # the control: the moments count


def test_where_the_kernel_has_another_name_torch_s_optimiser_works(monkeypatch):
    monkeypatch.delattr(torch, "_fused_adamw_")
    net = nn.Linear(3, 2)
    found = engine.adam(groups(net), (0.9, 0.99))
    assert isinstance(found, torch.optim.AdamW) and [group["weight_decay"] for group in found.param_groups] == [0, 0]
