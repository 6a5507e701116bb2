"""Seeded tensors for tests of models, and how far two are apart."""

import math
from functools import partial

import torch
from torch import nn
from torch.nn import functional as F

from lrnnlab.models import Net, blocks
from lrnnlab.models.block import PAPER_001
from lrnnlab.models.layers import RotRNN


def strings(V, B, T, seed=0):
    """Tokens (B,T) of V symbols."""
    return torch.randint(V, (B, T), generator=torch.Generator().manual_seed(seed))


def normal(*shape, seed=0, dtype=torch.float64):
    """Standard normal numbers; the same ones, rounded, for another ``dtype``."""
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)).to(dtype)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def gap(p, q):
    """The largest difference; 0 where there are no numbers."""
    p, q = torch.as_tensor(p), torch.as_tensor(q)
    assert p.shape == q.shape
    return float((p - q).detach().abs().max()) if p.numel() else 0.0


def stepped(model, tokens, state=None):
    """(state, logits (B,T,C)) after feeding tokens (B,T) one at a time."""
    state, out = model.initial_state(len(tokens)) if state is None else state, []
    for token in tokens.unbind(1):
        state, logits = model.step(state, token)
        out.append(logits)
    return state, torch.stack(out, 1)


def same(p, q, tolerance=1e-9):
    torch.testing.assert_close(torch.as_tensor(p), torch.as_tensor(q), rtol=tolerance, atol=tolerance)


def seeded(make, *arguments, seed=0, **options):
    """What ``make`` makes from torch's global generator at ``seed``, which is then put back."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return make(*arguments, **options)


def paper_001_net(seed=0, dropout=0.0, mixer=RotRNN, layers=2):
    """A net of two classes for strings (B, T, 2) of numbers, as paper 001 builds it."""
    torch.manual_seed(seed)
    options = {"state": 8, "heads": 2} if mixer is RotRNN else {"state": 8}
    made = blocks(partial(mixer, **options), 4, layers, **{**PAPER_001, "gate": "full_glu"}, dropout=dropout)
    return Net(made, 3, 4, columns=2, pool="mean")


def adam_by_hand(net, moments, step, rate, betas=(0.9, 0.999), epsilon=1e-8, clip=math.inf):
    """A step of AdamW by its formulas, after a backward pass; ``rate(name)`` -> (rate, decay) of a parameter."""
    norm = math.sqrt(sum(float((p.grad**2).sum()) for p in net.parameters()))
    for name, p in net.named_parameters():
        first, second = moments.setdefault(name, (torch.zeros_like(p), torch.zeros_like(p)))
        slope = p.grad * min(1.0, clip / (norm + 1e-6))  # torch keeps off zero so
        for moment, beta, value in zip((first, second), betas, (slope, slope**2)):
            moment.mul_(beta).add_((1 - beta) * value)
        unbiased = [moment / (1 - beta ** (step + 1)) for moment, beta in zip((first, second), betas)]
        height, decay = rate(name)
        with torch.no_grad():
            p.sub_(height * (unbiased[0] / (unbiased[1].sqrt() + epsilon) + decay * p))


def torchs_layer(layer, heads, post_norm):
    """torch.nn.TransformerEncoderLayer with the weights of one of ours; (h (B,T,D), mask (heads,T,T)) -> (B,T,D)."""
    (D, _), activation = layer.Q.weight.shape, F.relu if post_norm else partial(F.gelu, approximate="tanh")
    theirs = nn.TransformerEncoderLayer(D, heads, 4 * D, 0.0, activation, batch_first=True, norm_first=not post_norm,
                                        dtype=torch.float64)  # fmt: skip
    maps, zeros = [layer.Q, layer.K, layer.V], torch.zeros(D, dtype=torch.float64)
    with torch.no_grad():
        theirs.self_attn.in_proj_weight.copy_(torch.cat([f.weight for f in maps]))
        theirs.self_attn.in_proj_bias.copy_(torch.cat([zeros if f.bias is None else f.bias for f in maps]))
        theirs.self_attn.out_proj.weight.copy_(layer.O.weight)
        theirs.self_attn.out_proj.bias.copy_(zeros if layer.O.bias is None else layer.O.bias)
    theirs.linear1, theirs.linear2 = layer.block.ff.up, layer.block.ff.down
    theirs.norm1, theirs.norm2 = layer.block.norm, layer.block.ff_norm
    return lambda h, mask: theirs(h, src_mask=mask.repeat(len(h), 1, 1))
