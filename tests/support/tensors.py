"""Seeded tensors for tests of models, and how far two are apart."""

import torch


def strings(V, B, T, seed=0):
    """Tokens (B,T) of V symbols."""
    return torch.randint(V, (B, T), generator=torch.Generator().manual_seed(seed))


def normal(*shape, seed=0, dtype=torch.float64):
    """Standard normal numbers; the same ones, rounded, for another ``dtype``."""
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)).to(dtype)


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
