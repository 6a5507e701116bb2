"""Weights built by hand from an automaton: right on every prefix of every string, without training.

A semiautomaton with Q states *is* a block-diagonal LRNN with one block of size Q: x_t is the one-hot of the state,
column j of A_t is the one-hot of where state j goes on token t, and b_t = 0.  Every column has p-norm 1 for every p,
so Eq. 6 of paper 000 holds with equality.

Letters: B batch, T time, V vocabulary, C classes, Q states; A transition, x state.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.automata import MooreMachine, one_hot_transitions
from lrnnlab.models.base import LinearRecurrence
from lrnnlab.models.block import PreNorm
from lrnnlab.models.net import Net
from lrnnlab.validation import checked, whole_number


class _OneHot(LinearRecurrence):
    """Input z is the token's one-hot; A = sum_v z_v A^(v)."""

    def __init__(self, machine: MooreMachine):
        super().__init__()
        table = torch.as_tensor(one_hot_transitions(machine))  # (V, Q, Q)
        self.register_buffer("table", table.to(torch.get_default_dtype()))
        self.register_buffer("x0", torch.eye(machine.num_states)[machine.initial])

    def transition(self, z: Tensor) -> tuple[Tensor, Tensor]:
        A = torch.einsum("...v,vij->...ij", z, self.table).unsqueeze(-3)  # (..., 1, Q, Q)
        return A, A.new_zeros(A.shape[:-1])

    def initial(self, batch: int) -> Tensor:
        return self.x0.expand(batch, 1, -1)


@checked
def exact_model(machine: MooreMachine, classes: int) -> Net:
    """The block-diagonal LRNN of ``machine`` (proof: one-hot states, induction on t).

    Raises ``ValueError`` if the machine gives an answer outside 0..C-1.

    >>> import torch
    >>> from lrnnlab.tasks import Sum
    >>> model = exact_model(Sum(5).machine, classes=5)
    >>> model(torch.tensor([[0, 3, 2, 4]])).argmax(-1).tolist()
    [[0, 3, 0, 4]]
    """
    V, Q = machine.num_symbols, machine.num_states
    whole_number(classes, max(machine.outputs, default=0) + 1, "classes, one for every answer of the machine,")
    net = Net([PreNorm(_OneHot(machine), V, norm="none", residual=False)], classes, Q, vocab_size=V, inputs=V)
    net.encoder = nn.Embedding.from_pretrained(torch.eye(V))
    net.head = nn.Sequential(nn.Linear(Q, classes, bias=False))
    shown = F.one_hot(torch.tensor(machine.outputs).clamp(min=0), classes).T  # (C, Q)
    net.head[0].weight = nn.Parameter(shown.to(torch.get_default_dtype()), requires_grad=False)
    return net
