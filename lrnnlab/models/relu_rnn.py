"""The RNN of paper 002 (RegularGPT; Chi, Fan, Rudnicky, Ramadge 2023, Table 1): h_t = relu(W x_t + U h_{t-1} + b).

As in the code it builds on (Deletang et al. 2023): one-hot inputs, h_0 = 0, one answer from h_T.  That code has a ReLU
between h_T and the readout as well, which does nothing to a state that is not negative.

Letters: B batch, T time, V vocabulary, C classes, D width (256 there); h_t state, x_t one-hot input.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lrnnlab.models.base import Module, check_numbers, check_sizes, check_strings, check_tokens
from lrnnlab.models.recurrent import run
from lrnnlab.models.transformer import cut_normal_, linear
from lrnnlab.validation import checked, whole_number


@checked
class ReluRNN(Module):
    """``model(tokens (B,T))`` -> logits (B,C) at the last position, as the paper asks, or with ``every`` (B,T,C).

    ``step`` gives the same one token at a time.  Weights start normal, cut at two deviations of (inputs)^-1/2, biases
    at 0.

    Parameters
    ----------
    vocab_size, classes, width : int
        V, C and D.  The one-hot input has a column more that no symbol uses, which counts in the paper's number of
        parameters.
    every : bool
        Whether it answers at every position.

    Examples
    --------
    >>> import torch
    >>> model = ReluRNN(2, 5, width=8)
    >>> model(torch.tensor([[0, 1, 1], [1, 0, 0]])).shape
    torch.Size([2, 5])
    >>> state, logits = model.step(model.initial_state(2), torch.tensor([0, 1]))
    """

    def __init__(self, vocab_size: int, classes: int, *, width: int = 256, every: bool = False):
        super().__init__()
        check_sizes(vocab_size=vocab_size, classes=classes, width=width)
        self.vocab_size, self.every = vocab_size, every
        self.network = nn.RNN(vocab_size + 1, width, nonlinearity="relu", batch_first=True)
        for name, weight in self.network.named_parameters():
            if name.startswith("weight"):
                cut_normal_(weight.data, weight.shape[1] ** -0.5)
            else:
                nn.init.zeros_(weight)
        self.head = linear(width, classes)

    def states(self, tokens: Tensor) -> Tensor:
        """h_1 ... h_T, (B,T,D)."""
        return run(self.network, self._one_hot(tokens))[0]

    def forward(self, tokens: Tensor) -> Tensor:
        states = self.states(tokens)
        return self.head(states if self.every else states[:, -1])

    def initial_state(self, batch: int) -> Tensor:
        """h_0 = 0, (B,D)."""
        return self.head.weight.new_zeros(whole_number(batch, 0, "the batch"), self.network.hidden_size)

    def step(self, state: Tensor, tokens_t: Tensor) -> tuple[Tensor, Tensor]:
        """(h_{t-1} (B,D), tokens_t (B,)) -> (h_t, logits (B,C) of the string so far)."""
        check_tokens(tokens_t, self.vocab_size, "(B,)", self.head.weight)
        check_numbers("state", state, self.head.weight)
        if state.shape[:-1] != tokens_t.shape:
            raise ValueError(f"state must be {(len(tokens_t), self.network.hidden_size)}, got {tuple(state.shape)}")
        _, state = run(self.network, self._one_hot(tokens_t.unsqueeze(-1)), state.unsqueeze(0))
        return state[0], self.head(state[0])

    def _one_hot(self, tokens: Tensor) -> Tensor:
        """(B,T) -> (B,T,V+1)."""
        check_strings(tokens, self.vocab_size, self.head.weight)
        symbols = torch.arange(self.vocab_size + 1, device=tokens.device)
        return (tokens.unsqueeze(-1) == symbols).to(self.head.weight.dtype)  # F.one_hot looks at values
