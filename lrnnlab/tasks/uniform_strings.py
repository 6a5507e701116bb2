"""Strings drawn uniformly from all strings of one length that a machine gives one answer to, by counting its paths.

Letters: B strings, T time, V tokens, Q states, C classes, N strings of one length and class.

How many strings of t more tokens lead from a state to the wanted class?  For t = 0 one or none; for t + 1 the sum over
the tokens of what the state they lead to has for t.  The N strings of length T are then numbered 0..N-1 in dictionary
order, and string number r is found from the left: a token owns as many numbers as strings begin with it.  All counts
are Python integers, exact at any length (there are 2^499 strings in Tomita 5 at length 500), so a uniform r below N is
a uniform string, whatever N is.

The generators released with paper 002 are far from this: of 500 strings that they draw from D_2 at length 20, 6 or 7
are distinct, where the language has 512.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from lrnnlab.automata import MooreMachine
from lrnnlab.tasks.seeds import python_random
from lrnnlab.validation import whole_number


class UniformStrings:
    """The strings after which ``machine`` (a ``MooreMachine``) shows class ``label``; of a DFA, 1 accepts, 0 refuses.
    """

    def __init__(self, machine: MooreMachine, label: int = 1, weights: Sequence | None = None):
        self.weights = [1] * machine.num_symbols if weights is None else list(weights)
        self.initial = int(machine.initial)
        self._followers = machine.transitions.T.tolist()  # (Q, V)
        self._ways = [(machine.outputs == label).astype(int).tolist()]  # [t][state]: with t more tokens; grows when asked

    def count(self, length: int) -> int:
        """How many strings of ``length`` tokens there are, N (with weights: their total weight), a Python integer."""
        length = whole_number(length, 0, "a length")
        while len(self._ways) <= length:
            ways = self._ways[-1]
            self._ways.append(
                [sum(w * ways[follower] for w, follower in zip(self.weights, row)) for row in self._followers]
            )
        return self._ways[length][self.initial]

    def string(self, length: int, rank: int) -> list[int]:
        """String number ``rank`` of those with ``length`` tokens, in dictionary order, as a list of tokens."""
        self.count(length)
        state, word = self.initial, []
        for left in reversed(range(length)):
            ways = self._ways[left]
            for token, follower in enumerate(self._followers[state]):  # always left by break: there are more than ``rank``
                owned = self.weights[token] * ways[follower]
                if rank < owned:
                    break
                rank -= owned
            word.append(token)
            state, rank = follower, rank % ways[follower]  # the remainder: each unit of weight has every continuation
        return word

    def sample(self, length: int, count: int, generator: torch.Generator) -> torch.Tensor:
        """``count`` independent strings (count, T) int64, each uniform over all N, on the generator's device."""
        total, rng = self.count(length), python_random(generator)
        words = [self.string(length, rng.randrange(total)) for _ in range(count)]
        return torch.tensor(words, dtype=torch.int64, device=generator.device).reshape(count, length)
