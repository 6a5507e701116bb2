"""Is the state what the net's answers come from?  Swap the states of two strings and see whether the answers swap.

A probe shows that something can be read from a state, not that the net reads it; an interchange does (arXiv:2106.02997).
Where the machine is known, so is the answer after a swap.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch.utils._pytree import tree_map

from lrnnlab.models.base import RecurrentNet, check_recurrent
from lrnnlab.tasks import StateTracking
from lrnnlab.training import deterministic, rng
from lrnnlab.training.evaluation import at_rest
from lrnnlab.validation import checked, whole_number
from lrnnlab.verification.quantised import _as_rows, _rows
from lrnnlab.verification.semantics.traced import TracedStep


class Interchange(NamedTuple):
    """Shares of answers: ``own`` of the net left alone, right for its own string; ``swapped`` after a swap, right for the
    string that the state came from; ``random`` after a push as far in a random direction, right for its own string."""

    own: float
    swapped: float
    random: float


@checked
def interchange(
    net: RecurrentNet, task: StateTracking, position: int, *, strings: int = 256, after: int = 10, seed: int = 0
) -> Interchange:  # fmt: skip
    """Let strings of two different states exchange the net's states at a position, and read ``after`` more tokens.

    >>> from lrnnlab.models import exact_model
    >>> from lrnnlab.tasks import StateTracking, Sum
    >>> interchange(exact_model(Sum(3).machine), StateTracking(Sum(3).machine), position=20).swapped
    1.0
    """
    check_recurrent(net, "interchange")
    whole_number(position, 1, "position"), whole_number(after, 1, "after"), whole_number(strings, 2, "strings")
    machine, generator = task.machine, rng(seed, "interchange")
    moves = torch.tensor(machine.transitions)
    tokens = task.sample_near(strings, position + after, generator).inputs
    with at_rest(net), deterministic(), torch.no_grad():
        steps = TracedStep(net)
        state = steps.initial_state(strings)
        for token in tokens[:, :position].unbind(1):
            state, _ = steps.step(state, token)
        reached = torch.as_tensor(machine.run(tokens[:, :position].numpy())[:, -1])
        other = torch.arange(strings).roll(1)
        kept = (reached != reached[other]).nonzero().flatten()  # pairs whose states differ
        mine, theirs = _rows(state, kept), _rows(state, other[kept])
        far = (_as_rows(theirs) - _as_rows(mine)).norm(dim=1)
        drawn = tree_map(lambda part: torch.randn(part.shape, generator=generator).to(part.dtype), mine)
        scale = far / _as_rows(drawn).norm(dim=1)
        pushed = tree_map(
            lambda part, push: part + push * scale.view(-1, *[1] * (part.ndim - 1)).to(part.dtype), mine, drawn
        )

        def right(state, start):
            shares = []
            for token in tokens[kept, position:].unbind(1):
                state, logits = steps.step(state, token)
                start = moves[token, start]
                shares.append((logits.argmax(-1) == start).float().mean())
            return float(torch.stack(shares).mean())

        own, others = reached[kept], reached[other[kept]]
        return Interchange(right(mine, own), right(theirs, others), right(pushed, own))
