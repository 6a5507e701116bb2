"""The three tasks of paper 000 (Fan, Chi and Rudnicky 2024, "Advancing Regular Language Reasoning in Linear Recurrent
Neural Networks", section 4.1), for every modulus M >= 2.

The paper takes M = 5, trains at 40 symbols and tests at 500 (39 and 499 for ModArith).  It asks for one answer to a
string; its released code labels every prefix (in ModArith every number), and so do we.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

import numpy as np
import torch

from lrnnlab.automata import NO_LABEL, MooreMachine, languages, minimise
from lrnnlab.tasks.base import Task
from lrnnlab.validation import checked, whole_number

STATES = 10_000  # a machine with more is not built


class ModularTask(Task):
    """A task over the numbers 0..M-1; M = 5 in the paper.  ValueError unless M is a whole number, 2..10,000."""

    def __init__(self, modulus=5):
        self.modulus = self.classes = whole_number(modulus, 2, f"{type(self).__name__}: the modulus", STATES)
        self.name = f"{type(self).__name__}({self.modulus})"
        self.symbols = tuple(str(number) for number in range(self.modulus))

    def draw(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        return torch.randint(self.vocab_size, (batch, length), generator=generator, device=generator.device)


class Sum(ModularTask):
    """Label k is (s_0 + ... + s_k) mod M; tokens are 0..M-1, uniform and independent (paper 000, section 4.1).

    M states, the cyclic group of order M.  Sum(2) is parity.

    >>> task = Sum(5)
    >>> [task.answer(task.read(text)) for text in ("0324", "4444", "104")]
    [[0, 3, 0, 4], [4, 3, 2, 1], [1, 1, 0]]
    """

    @cached_property
    def rule(self) -> MooreMachine:
        return languages.counter(self.modulus, self.symbols)

    def label(self, tokens: torch.Tensor) -> torch.Tensor:
        return tokens.cumsum(1) % self.modulus

    def answer(self, tokens: Any) -> list[int]:
        tokens = self.check_string(tokens)
        return [sum(tokens[:end]) % self.modulus for end in range(1, len(tokens) + 1)]


class EvenPair(ModularTask):
    """Label k is 1 if s_k = s_0 and else 0, so label 0 is always 1; tokens uniform (paper 000, section 4.1).

    2M + 1 states: nothing read yet, or the first token and whether the last one equals it.  No group in it: the
    machine only stores and compares.  Answering 0 always is right with probability 1 - 1/M at every position but the
    first.  For M = 2 it is the Even Pairs of Deletang et al. with the two labels exchanged; for M > 2 it is not.

    >>> task = EvenPair(5)
    >>> [task.answer(task.read(text)) for text in ("0320", "11211", "43")]
    [[1, 0, 0, 1], [1, 1, 0, 1, 1], [1, 0]]
    """

    def __init__(self, modulus=5):
        super().__init__(modulus)
        self.classes = 2

    @cached_property
    def rule(self) -> MooreMachine:
        return languages.even_pair(self.modulus, self.symbols)

    def label(self, tokens: torch.Tensor) -> torch.Tensor:
        return (tokens == tokens[:, :1]).long()

    def answer(self, tokens: Any) -> list[int]:
        tokens = self.check_string(tokens)
        return [1 if token == tokens[0] else 0 for token in tokens]


class ModArith(ModularTask):
    """Numbers at even positions, operators + - × at odd ones; label k, at even k only, is the value mod M so far.

    × binds tighter than + and -, equals are done from the left; numbers and operators uniform (paper 000, section
    4.1).  Tokens 0..M-1 are the numbers, M is +, M + 1 is -, M + 2 is ×; lengths are odd.

    The state of its machine (``languages.mod_arith``) is (a, c): the sum a of the finished terms and the signed product
    c of the current one, so M^2 states.  At an operator, or after a malformed string, its output means nothing.

    >>> task = ModArith(5)
    >>> [task.answer(task.read(text)) for text in ("1+2-3×4", "0-4*4-3", "4x2-3+4")]
    [[1, 3, 0, 1], [0, 1, 4, 1], [4, 3, 0, 4]]
    """

    answers = "places"
    train_length, test_length = 39, 499

    def __init__(self, modulus=5):
        super().__init__(modulus)
        self.symbols += ("+", "-", "×")

    @cached_property
    def rule(self) -> MooreMachine:
        return languages.mod_arith(self.modulus, self.symbols)

    @cached_property
    def specification(self) -> MooreMachine:
        return minimise(languages.expressions(self.machine))

    def mask(self, length: int) -> torch.Tensor:
        return torch.arange(self.check_length(length)) % 2 == 0

    def token_distribution(self, position: int) -> np.ndarray:
        position, numbers = whole_number(position, 0, f"{self}: a position"), np.arange(self.vocab_size) < self.modulus
        return numbers / self.modulus if position % 2 == 0 else ~numbers / 3

    def draw(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        tokens = torch.empty(batch, length, dtype=torch.int64, device=generator.device)
        tokens[:, ::2].random_(0, self.modulus, generator=generator)
        tokens[:, 1::2].random_(self.modulus, self.vocab_size, generator=generator)
        return tokens

    def label(self, tokens: torch.Tensor) -> torch.Tensor:
        M, numbers, operators = self.modulus, tokens[:, ::2], tokens[:, 1::2]  # (B, N) and (B, N-1), N = (T+1)/2
        times, signed = operators == M + 2, torch.where(operators == M + 1, -numbers[:, 1:], numbers[:, 1:])
        # the current term obeys this book's own sentence, x_t = A_t x_{t-1} + b_t: × scales it, + and - begin anew
        A, b = numbers[:, 1:] * times, signed * ~times
        terms: Any = [numbers[:, 0]]
        for A_t, b_t in zip(A.unbind(1), b.unbind(1)):
            terms.append((A_t * terms[-1] + b_t) % M)
        terms = torch.stack(terms, dim=1)  # (B, N)
        values = terms.clone()
        values[:, 1:] += (terms[:, :-1] * ~times).cumsum(1)  # + and - close the term before them
        labels = torch.full_like(tokens, NO_LABEL)
        labels[:, ::2] = values % M
        return labels

    def answer(self, tokens: Any) -> list[int]:
        """Python's own arithmetic on the written prefixes: the text holds checked numbers and operators only."""
        text = self.write(tokens).replace("×", "*")
        ends = [found.end() for found in re.finditer(r"\d+", text)]
        return [eval(text[:end], {"__builtins__": {}}) % self.modulus for end in ends]

    def write(self, tokens: Any) -> str:
        """As in "1+2-3×4"; a number above 9 needs no separator, since operators stand on both sides of it."""
        return "".join(self.symbols[token] for token in self.check_string(tokens))

    @checked
    def read(self, text: str) -> torch.Tensor:
        """The tokens (T,) of an expression; × may be typed ``x`` or ``*``.  ValueError names what does not belong."""
        parts = ["×" if part in "x*" else part for part in re.findall(r"[0-9]+|\S", text)]
        return self.read_parts(parts, text)

    def check_length(self, length: int) -> int:
        length = super().check_length(length)
        if length % 2 == 0:
            raise ValueError(f"{self}: an expression has odd length (numbers with operators between), got {length}")
        return length

    def check_tokens(self, tokens: Any) -> torch.Tensor:
        tokens = super().check_tokens(tokens)
        odd = torch.arange(tokens.shape[1], device=tokens.device) % 2 == 1
        wrong = ((tokens >= self.modulus) != odd).nonzero()
        if len(wrong):
            row, position = wrong[0].tolist()
            before = [self.symbols[v] for v in tokens[row, :position + 1].tolist()]
            text = " ".join(["..."] * (position > 8) + before[-9:])  # enough to find the place in a long string
            raise ValueError(f"{self}: {'an operator' if position % 2 else 'a number'} should stand at position "
                             f"{position} of string {row}, found {before[-1]!r}: {text}")
        return tokens
