"""How the strings of a task are drawn: independent tokens, expressions, half of them in a language, kept out of sinks; and
chance for other libraries, decided by a ``torch.Generator`` or by whole numbers.

Letters: B batch, T time, V tokens, Q states, C classes, M modulus, N strings of one length and class.  A draw is called,
``draw(batch, length, generator)``, and gives strings (B, T) int64 on the generator's device.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import torch

from lrnnlab.automata import MooreMachine, languages, minimise
from lrnnlab.validation import shown, whole_number

RARE = 64  # a class with fewer than one string in so many is not drawn by trying


def draw_seed(generator: torch.Generator) -> int:
    """A whole number below 2^62 from a ``torch.Generator``, which moves on: a seed for another source of chance."""
    if not isinstance(generator, torch.Generator):
        raise TypeError(f"generator must be a torch.Generator, got {shown(generator)}")
    return int(torch.randint(2**62, (1,), generator=generator, device=generator.device))


def python_random(generator: torch.Generator) -> random.Random:
    """A ``random.Random`` that is decided by the state of ``generator``."""
    return random.Random(draw_seed(generator))


def numpy_random(*numbers: int) -> np.random.Generator:
    """A ``numpy.random.Generator`` decided by whole numbers: a seed, and what it is for (a split, an index)."""
    return np.random.default_rng(numbers)


class UniformStrings:
    """The strings of one length after which a machine shows class ``label``, uniformly, by counting its paths.

    How many strings of t more tokens lead from a state to the wanted class? For t = 0 one or none; for t + 1 the sum
    over the tokens of what the state they lead to has for t. The N strings of length T are then numbered 0..N-1 in
    dictionary order, and string number r is found from the left: a token owns as many numbers as strings begin with it.
    All counts are Python integers, exact at any length (there are 2^499 strings in Tomita 5 at length 500), so a uniform
    r below N is a uniform string, whatever N is.

    The generators released with paper 002 are far from this: of 500 strings that they draw from D_2 at length 20, 6 or 7
    are distinct, where the language has 512.
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


class Independent:
    """Tokens that do not depend on each other, each as often as its ``odds`` (V,) say."""

    independent = True

    def __init__(self, odds: Sequence[Any]):
        self.odds = tuple(odds)

    def __call__(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        rows = np.stack([self.probabilities(t) for t in range(length)])
        edges: Any = rows.cumsum(1)[:, :-1]  # (T, V-1): token v lies between edges v-1 and v
        edges[edges > 1 - 1e-12] = 2  # rounding must not make an impossible last token possible
        edges = torch.from_numpy(edges).to(generator.device)
        uniform = torch.rand(batch, length, 1, dtype=torch.float64, generator=generator, device=generator.device)
        return (uniform >= edges).sum(-1)

    def probabilities(self, position: int) -> np.ndarray:
        """(V,) of the token at a position, where it does not depend on the others."""
        return np.array([weight / sum(self.odds) for weight in self.odds])

    def shares(self, counts: list[int]) -> list[Fraction]:
        """How often each class is drawn, where so many strings (weighted by the odds) of one length have it."""
        return [Fraction(count, sum(counts)) for count in counts]

    def legal(self, machine: MooreMachine) -> MooreMachine:
        """What is asked about these strings: the machine's answers, and -1 where there is no string yet."""
        return languages.after_the_first(machine)

    def asks(self, position: int) -> bool:
        """Whether the string may end at this position, so that an answer can be asked for there."""
        return True

    def fit(self, length: int) -> int:
        """How many tokens a string has when ``length`` are asked for."""
        return length


class Uniform(Independent):
    """The same with equal odds, by another stream of chance: that of paper 000's tasks."""

    def __init__(self, tokens: int):
        super().__init__([1] * tokens)

    def __call__(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        return torch.randint(len(self.odds), (batch, length), generator=generator, device=generator.device)


class Expressions(Independent):
    """Numbers mod M and between them + - ×, both uniform; with ``prefix`` a + before them.  Lengths are odd (even)."""

    def __init__(self, modulus: int, prefix: bool = False):
        super().__init__([1] * (modulus + 3))
        self.modulus, self.prefix = modulus, prefix

    def __call__(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        tokens = torch.full((batch, length), self.modulus, device=generator.device)
        expression = tokens[:, self.prefix :]
        expression[:, ::2].random_(0, self.modulus, generator=generator)
        expression[:, 1::2].random_(self.modulus, self.modulus + 3, generator=generator)
        return tokens

    def probabilities(self, position: int) -> np.ndarray:
        tokens = np.arange(self.modulus + 3)
        if position < self.prefix:
            return (tokens == self.modulus).astype(float)
        numbers = tokens < self.modulus
        return numbers / self.modulus if self.asks(position) else ~numbers / 3

    def legal(self, machine: MooreMachine) -> MooreMachine:
        return languages.expressions(machine, "+" if self.prefix else "")

    def asks(self, position: int) -> bool:
        return position >= self.prefix and (position - self.prefix) % 2 == 0

    def fit(self, length: int) -> int:
        return length - (length % 2 == 0) + self.prefix


class Halves(Independent):
    """Half of a batch from a language (class 1 of a machine), half from outside, uniform among all of one length.

    ``published``, if given, draws one string of the language as paper 002's code does, ``published(length, rng)``; it is
    far from uniform.
    """

    independent = False

    def __init__(self, machine: MooreMachine, published: Callable[[int, random.Random], list[int]] | None = None):
        super().__init__([1] * machine.num_symbols)
        self.machine, self.published = machine, published

    @cached_property
    def by_class(self) -> tuple[UniformStrings, ...]:
        return tuple(UniformStrings(minimise(self.legal(self.machine)), label) for label in (0, 1))

    def __call__(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        coin = int(torch.randint(2, (), generator=generator, device=generator.device))
        negative, positive = (strings.count(length) for strings in self.by_class)
        inside = (batch + coin) // 2 if negative and positive else batch * (positive > 0)
        outside = self.of_class(0, batch - inside, length, generator)
        return torch.cat([self.positives(inside, length, generator), outside])

    def positives(self, count: int, length: int, generator: torch.Generator) -> torch.Tensor:
        """``count`` strings of the language (count, T), as a batch has them."""
        if self.published is None or not self.by_class[1].count(length):
            return self.of_class(1, count, length, generator)
        rng = python_random(generator)
        words = [self.published(length, rng) for _ in range(count)]
        return torch.tensor(words, dtype=torch.int64, device=generator.device).reshape(count, length)

    def of_class(self, label: int, count: int, length: int, generator: torch.Generator) -> torch.Tensor:
        """``count`` strings (count, T), uniform among those of class ``label``."""
        V, strings = len(self.odds), self.by_class[label]
        if strings.count(length) * RARE < V**length:
            return strings.sample(length, count, generator)
        kept = torch.empty(0, length, dtype=torch.int64, device=generator.device)
        while len(kept) < count:
            tokens = torch.randint(V, (count, length), generator=generator, device=generator.device)
            shown = self.machine.answer(tokens.cpu().numpy())[:, -1]
            kept = torch.cat([kept, tokens[torch.from_numpy(shown == label).to(tokens.device)]])
        return kept[:count]

    def shares(self, counts: list[int]) -> list[Fraction]:
        return [Fraction(1, 2) if all(counts) else Fraction(int(count > 0)) for count in counts]


class Alive(Independent):
    """Tokens by their ``odds``, but where a machine has a state that cannot be left, half of the strings keep out of it.

    They take no arrow into it (where there is another), and the other strings do so up to a position that is drawn.  Were
    they to die at once, a net would never be asked whether it saw a late mistake.
    """

    independent = False

    def __init__(self, machine: MooreMachine, odds: Sequence[float]):
        super().__init__(odds)
        self.initial, self.dies = machine.initial, bool(machine.sinks)
        weights = torch.tensor(self.odds, dtype=torch.float64, device="cpu")
        self.arrows = torch.from_numpy(machine.transitions.T.copy())  # (Q, V)
        free = weights * ~torch.isin(self.arrows, torch.tensor(machine.sinks, device="cpu"))
        free = torch.where(free.sum(1, keepdim=True) > 0, free, weights).cumsum(1)
        self.edges = (free / free[:, -1:])[:, :-1]

    def __call__(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        tokens = super().__call__(batch, length, generator)
        if self.dies:
            uniform = torch.rand(tokens.shape, dtype=torch.float64, generator=generator, device=generator.device)
            until = torch.randint(2 * length, (batch,), generator=generator, device=generator.device)
            edges, arrows = (table.to(tokens.device) for table in (self.edges, self.arrows))
            state = torch.full_like(until, self.initial)
            for t in range(length):
                alive = (uniform[:, t : t + 1] >= edges[state]).sum(-1)
                tokens[:, t] = torch.where(t < until, alive, tokens[:, t])
                state = arrows[state, tokens[:, t]]
        return tokens
