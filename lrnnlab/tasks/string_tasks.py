"""The four tasks of paper 002 (Chi, Fan, Rudnicky and Ramadge 2023, "Transformer Working Memory Enables Regular
Language Reasoning and Natural Language Length Extrapolation", Table 1, part 1) that come from Deletang et al. (2023).

Letters: B batch, T time, V tokens, M modulus.

The paper trains on lengths up to 40 and scores on 41..500 (its code: 42..500).  Beware of a name: EvenPair(2) of paper
000 has the two labels of ``EvenPairs`` the other way round.
"""

from fractions import Fraction
from functools import cached_property

import numpy as np
import torch

from lrnnlab.automata import NO_LABEL, build, minimise
from lrnnlab.errors import checked, number, whole_number
from lrnnlab.tasks.arithmetic import ModArith
from lrnnlab.tasks.string_base import StringTask

BITS = ("0", "1")


class EvenPairs(StringTask):
    """0 if the pairs of neighbours 01 and 10 are even in number, together, else 1; bits uniform (002, Table 1).

    Each such pair is a change of bit, so the label is 0 where the last bit equals the first: all there is to remember.

    >>> task = EvenPairs()
    >>> [task.answer(task.read(text)) for text in ("111000", "001100", "100000")]
    [1, 0, 1]
    """

    symbols, classes, initial = BITS, 2, None

    def step(self, state, token):
        return (token if state is None else state[0]), token

    def output(self, state):
        return NO_LABEL if state is None else int(state[0] != state[1])

    def answer(self, tokens):
        text = self.write(tokens)
        return (text.count("01") + text.count("10")) % 2


class Parity(StringTask):
    """1 if the number of 1s is odd; bits independent, 1 with probability ``p`` (002, Table 1; section 5.3, Table 2).

    ValueError unless 0 <= p <= 1.  A ``p`` like 0.1 counts as the decimal fraction that is written.

    >>> task = Parity(0.9)
    >>> [task.answer(task.read(text)) for text in ("1011000", "1101001", "111000")]
    [1, 0, 1]
    >>> task.label_shares(2)
    [Fraction(41, 50), Fraction(9, 50)]
    """

    symbols, classes, initial = BITS, 2, 0

    def __init__(self, p=0.5):
        self.p = Fraction(str(number(p, "Parity: p, a probability,", 0, 1)))
        self.weights = (self.p.denominator - self.p.numerator, self.p.numerator)

    @property
    def name(self):
        return f"Parity({float(self.p):g})"

    def step(self, state, token):
        return (state + token) % 2

    def output(self, state):
        return state

    def token_distribution(self, position):
        return np.array([1 - self.p, self.p], dtype=np.float64)

    def answer(self, tokens):
        return self.write(tokens).count("1") % 2


class CycleNavigation(StringTask):
    """Where a walk on a cycle of five ends that starts at 0: 0 is a step back, 1 stays, 2 a step on (002, Table 1).

    >>> task = CycleNavigation()
    >>> [task.answer(task.read(text)) for text in ("011212", "212100", "120111")]
    [1, 0, 0]
    """

    symbols, classes, initial = ("0", "1", "2"), 5, 0

    def step(self, state, token):
        return (state + token - 1) % 5

    def output(self, state):
        return state

    def answer(self, tokens):
        text = self.write(tokens)
        return (text.count("2") - text.count("0")) % 5


class ModularArithmetic(StringTask):
    """The value of an expression mod M, × before + and -; numbers and operators uniform (002, Table 1: M = 5).

    The tokens are those of ``ModArith``, whose machine, sampling and answers these are, at the last position.  Where
    ``length`` symbols are asked for, an even number is made odd by leaving one out.  ``prefix=True`` puts a + before
    every expression, so that a chunk of two is (operator, number): the released code does so for all models of paper
    002, Deletang et al. do not.  (Their input has one more column, a blank that never occurs.)

    >>> task = ModularArithmetic(prefix=True)
    >>> [task.answer(task.read(text)) for text in ("+2-1*0-2", "+1*3*2-0", "+3-2*0-4")]
    [0, 1, 4]
    >>> task.sample(1, 40, torch.Generator().manual_seed(0)).tokens.shape
    torch.Size([1, 40])
    """

    def __init__(self, modulus=5, prefix=False):
        self.expression, self.prefix = ModArith(modulus), bool(prefix)
        self.modulus = self.classes = self.expression.modulus
        self.symbols = self.expression.symbols
        self.initial = (0, 0) if prefix else (0, 1)  # (sum of the finished terms, the current one); + begins a term

    @property
    def name(self):
        return f"ModularArithmetic({self.modulus}{', prefix' if self.prefix else ''})"

    def step(self, state, token):
        return self.expression.step(state, token)

    def output(self, state):
        return self.expression.output(state)

    def label(self, tokens):
        return self.expression.label(tokens[:, self.prefix :])[:, -1]

    def answer(self, tokens):
        return self.expression.answer(self.check_string(tokens)[self.prefix :])[-1]

    def token_distribution(self, position):
        position = whole_number(position, 0, f"{self}: a position")
        if self.prefix and position == 0:
            return (np.arange(self.vocab_size) == self.modulus).astype(np.float64)
        return self.expression.token_distribution(position - self.prefix)

    def draw(self, batch, length, generator):
        expressions = self.expression.draw(batch, length - self.prefix, generator)
        plus = torch.full((batch, int(self.prefix)), self.modulus, device=generator.device)
        return torch.cat([plus, expressions], dim=1)

    @cached_property
    def specification(self):
        inner, M = self.machine, self.modulus

        def step(state, token):  # None: malformed, for good; else the inner state and what must come next
            kind = "number" if token < M else "operator"
            if state is None or state[1] not in (kind, self.symbols[token]):
                return None
            return int(inner.transitions[token, state[0]]), "operator" if kind == "number" else "number"

        start = (inner.initial, "+" if self.prefix else "number")
        return minimise(build(start, self.symbols, step, lambda state: (
            int(inner.outputs[state[0]]) if state is not None and state[1] == "operator" else NO_LABEL)))  # fmt: skip

    def string_length(self, length):
        length = whole_number(length, 1, f"{self}: a length")
        return length - (length % 2 == 0) + self.prefix

    def check_length(self, length):
        length = super().check_length(length)
        if length % 2 == self.prefix:
            shape = "even length (a + before an expression)" if self.prefix else "odd length (an expression)"
            raise ValueError(f"{self}: a string has {shape}, got {length}")
        return length

    def check_tokens(self, tokens):
        tokens = super().check_tokens(tokens)
        wrong = np.flatnonzero(self.specification.answer(tokens.cpu().numpy())[:, -1] == NO_LABEL)
        if len(wrong):
            text = " ".join(self.symbols[token] for token in tokens[wrong[0]].tolist())
            kind = "a + and an expression" if self.prefix else "an expression"
            raise ValueError(f"{self}: string {wrong[0]} is not {kind}: {text[:60]}")
        return tokens

    @checked
    def read(self, text: str):
        """The tokens (T,) of a text; × may be typed x or *.  ValueError if it is no expression."""
        return super().read(text.replace("*", "×").replace("x", "×"))
