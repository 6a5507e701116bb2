"""ListOps: nested lists of digits and operators, [MAX 2 6 [MED [SM 3 1 6 ] 8 3 ] 4 5 ], and their values 0..9.

Letters: B batch, T time.  A *node* is an operator with its closing bracket.

``ListOps`` is the task of the Long Range Arena: one label, the value of the whole.  ``ListOpsSubTrees`` is paper 004's
(section 3.2): the value of the sub-expression at every closing bracket.  Both draw trees as the Arena's generator does:
from the root on, a node with probability 1/4 (never at ``max_depth``; the root is at depth 1) with 2..``max_args``
arguments, else a digit; and keep the trees whose number of tokens lies between two bounds.  A tree that outgrows the
upper bound is dropped at once, and a root that is a digit (one token) is not tried: the distribution is the same.

| setting | max_depth | max_args | kept if | padded to |
|---|---|---|---|---|
| Arena | 10 | 10 | 500 < tokens < 2000 | 2048 |
| paper 004 | 15 | 9 | 7000 < tokens < 8180 in its code, 7000 to 8192 in its text | 8192 |
| here, by default | 10 | 10 | T/4, rounded, <= tokens <= T | T |

MED is the median without its fraction (of 2 and 5 it is 3), SM the sum modulo 10.  The Arena writes each argument in
brackets of its own, ( ( ( [MAX 2 ) 6 ) ] ); those parentheses carry nothing, are not counted, and are dropped here.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Iterable, Iterator
from numbers import Integral
from typing import Any

import numpy as np
import torch

from lrnnlab.automata import NO_LABEL
from lrnnlab.tasks.base import BaseTask
from lrnnlab.tasks.batch import Batch
from lrnnlab.tasks.draws import python_random
from lrnnlab.validation import checked, shown, whole_number

OPERATORS = ("[MIN", "[MAX", "[MED", "[SM")
SYMBOLS = (*"0123456789", *OPERATORS, "]")  # tokens 0..9 are the digits themselves, so a label is a token as well
FIRST_OPERATOR, CLOSE = 10, 14
PAD = 15
NODE_PROBABILITY = 0.25
TRIES = 100_000  # trees in vain before it is said that there are none


def apply(operator: int, values: list[int]) -> int:
    """The value of token ``operator`` (10..13) on a list of digits: the fast path's arithmetic."""
    ordered, middle = sorted(values), len(values) // 2
    median = ordered[middle] if len(values) % 2 else (ordered[middle - 1] + ordered[middle]) // 2
    return (ordered[0], ordered[-1], median, sum(values) % 10)[operator - FIRST_OPERATOR]


@checked
def evaluate(text: str) -> int:
    """The oracle: the value of an expression's text, read word by word from the left into nested Python lists.

    It shares nothing with ``nodes``: other input (text), other order (a list is built before it is evaluated), and the
    standard library's median.  Parentheses are dropped.  ValueError for a text that is no expression.

    >>> evaluate("[MAX 2 6 [MED [SM 3 1 6 ] 8 3 ] 4 5 ]"), evaluate("( ( ( [MED 2 ) 5 ) ] )"), evaluate("7")
    (6, 3, 7)
    """
    rules: dict[str, Callable] = {"[MIN": min, "[MAX": max, "[MED": lambda values: int(statistics.median(values)),
             "[SM": lambda values: sum(values) % 10}
    levels: list[list] = [[]]
    for word in text.replace("(", " ").replace(")", " ").split():
        if word in rules:
            levels.append([word])
        elif word == "]" and len(levels) > 1 and len(levels[-1]) > 1:
            operator, *values = levels.pop()
            levels[-1].append(rules[operator](values))
        elif len(word) == 1 and word in "0123456789":
            levels[-1].append(int(word))
        else:
            raise ValueError(f"{word!r} is out of place in the expression {text!r}")
    if len(levels) > 1 or len(levels[0]) != 1:
        raise ValueError(f"{text!r} is not one whole expression")
    return levels[0][0]


def as_tokens(tokens: Any, what: str = "tokens") -> list[int]:
    """``tokens`` as a list of ints; ValueError unless they are whole numbers 0..15, one after the other."""
    if isinstance(tokens, torch.Tensor) and (tokens.is_meta or tokens.layout is not torch.strided):
        raise ValueError(f"tokens must be a dense tensor, got {shown(tokens)}")
    found = tokens.tolist() if isinstance(tokens, (torch.Tensor, np.ndarray)) else tokens
    if not isinstance(found, (list, tuple)) or not found:
        raise ValueError(f"{what} must be a sequence of whole numbers, at least one, got {shown(tokens)}")
    for token in found:
        if not isinstance(token, Integral) or isinstance(token, bool) or not 0 <= token <= PAD:  # type: ignore
            raise ValueError(f"{what} must be whole numbers, 0..{PAD}, got {shown(token)}")
    return list(map(int, found))


def nodes(tokens: Any) -> list[tuple[int, int, int, int]]:
    """Every node of one expression, in the order of the closing brackets: (position, operator, height, value).

    ``position`` is that of the bracket, ``height`` 1 for a node whose arguments are all digits (figure 2 of paper 004).
    ``tokens``: a sequence of ints, no padding.  ValueError if it is no expression.
    """
    levels: list[tuple[Any, list[int], list[int]]]
    found, levels = [], [(None, [], [0])]  # a level: its operator, its values, the heights of its arguments
    for position, token in enumerate(as_tokens(tokens)):
        if 0 <= token < FIRST_OPERATOR:
            levels[-1][1].append(token)
        elif FIRST_OPERATOR <= token < CLOSE:
            levels.append((token, [], [0]))
        elif token == CLOSE and len(levels) > 1 and levels[-1][1]:
            operator, values, heights = levels.pop()
            found.append((position, operator, max(heights) + 1, apply(operator, values)))
            levels[-1][1].append(found[-1][3])
            levels[-1][2].append(found[-1][2])
        else:
            raise ValueError(f"token {token} at position {position} is out of place in an expression")
    if len(levels) > 1 or len(levels[0][1]) != 1:
        raise ValueError(f"no expression: {len(levels) - 1} brackets open and {len(levels[0][1])} values at the end; "
                         "an expression ends with none open and one value")
    return found


def draw_expression(rng: random.Random, shortest: int, longest: int, max_depth: int, max_args: int) -> list[int] | None:
    """One expression (a list of tokens, root a node) with shortest..longest tokens, or None if this try had another.
    """
    # ``due``: arguments missing at each open node; ``total``: tokens so far and at least one for each thing owed
    tokens, due, total, draw = [], [], 1, rng.random
    while due or not tokens:
        if due and due[-1] == 0:
            tokens.append(CLOSE)
            due.pop()
            continue
        if due:
            due[-1] -= 1
        number = draw() if due else 0.0  # the root is a node
        if number < NODE_PROBABILITY and len(due) + 1 < max_depth:
            arguments = 2 + int(draw() * (max_args - 1))
            total += arguments + 1
            if total > longest:
                return None
            tokens.append(FIRST_OPERATOR + int(draw() * 4))
            due.append(arguments)
        elif len(due) + 1 < max_depth:
            tokens.append(int((number - NODE_PROBABILITY) / (1 - NODE_PROBABILITY) * 10))  # uniform, as it is no node
        else:
            tokens.append(int(number * 10))
    return tokens if len(tokens) >= shortest else None


class ListOps(BaseTask):
    """The value of a whole expression, asked for at its last token (the Long Range Arena's ListOps).

    ``shortest`` is the smallest number of tokens as a share of T.  Tokens 0..9 are digits, 10..13 the operators, 14 the
    bracket, 15 the padding behind an expression.  The label's place, its last bracket, is where ``mask`` is True: the
    number of tokens is one more than that position.

    >>> task = ListOps()
    >>> batch = task.sample(3, 64, torch.Generator().manual_seed(0))
    >>> batch.tokens.shape, batch.mask.sum(1).tolist()
    (torch.Size([3, 64]), [1, 1, 1])
    """

    symbols, classes, pad = (*SYMBOLS, "_"), 10, PAD
    vocab_size, least = len(SYMBOLS) + 1, 16  # tokens with padding
    answers, padded = "places", True
    train_length = test_length = 64
    max_depth, max_args, shortest = 10, 10, 0.25

    def labelled(self, tokens: Any) -> list[tuple[int, int]]:
        """(position, value) of every label due in one expression."""
        return [(position, value) for position, _, _, value in nodes(tokens)][-1:]

    def answer(self, tokens: Any) -> list[int]:
        """The oracle: one answer per label of ONE expression, by ``evaluate`` on its text."""
        return [evaluate(self.write(tokens))]

    def expressions(self, rng: random.Random, shortest: int, longest: int) -> Iterator[list[int]]:
        """Endless random expressions with shortest..longest tokens; ``rng`` is a ``random.Random``.

        ValueError after ``TRIES`` trees of other sizes: a tree of few and short nodes has few tokens.
        """
        missed = 0
        while missed < TRIES:
            tokens = draw_expression(rng, shortest, longest, self.max_depth, self.max_args)
            missed = missed + 1 if tokens is None else 0
            if tokens is not None:
                yield tokens
        raise ValueError(f"{self}: none of {TRIES} trees had {shortest} to {longest} tokens, with max_depth="
                         f"{self.max_depth} and max_args={self.max_args}")

    def sample(self, batch: int, length: int, generator: torch.Generator) -> Batch:
        """``batch`` random expressions with T/4 (rounded) to T tokens, T = ``length``, right-padded to T; a ``Batch``.

        All randomness comes from ``generator``.  ValueError for a batch below 1 or a length below 16.
        """
        batch, length = whole_number(batch, 1, f"{self}: the batch"), self.check_length(length)
        stream = self.expressions(python_random(generator), max(4, round(self.shortest * length)), length)
        return self.batch([next(stream) for _ in range(batch)], length, generator.device)

    @checked
    def batch(
        self, expressions: Iterable, length: int | None = None, device: torch.device | str | None = None
    ) -> Batch:
        """Expressions (lists of tokens) as a ``Batch`` of T = ``length`` columns (default: the longest one's)."""
        expressions = [as_tokens(given, f"expression {row}") for row, given in enumerate(expressions)]
        if not expressions:
            raise ValueError(f"{self}: a batch needs at least one expression, got expressions={expressions}")
        length = max(map(len, expressions)) if length is None else whole_number(length, 1, f"{self}: a length")
        tokens = torch.full((len(expressions), length), PAD, device="cpu")
        targets = torch.full_like(tokens, NO_LABEL)
        for row, expression in enumerate(expressions):
            if len(expression) > length:
                raise ValueError(f"{self}: expression {row} has {len(expression)} tokens, more than {length}")
            tokens[row, :len(expression)] = torch.tensor(expression, device="cpu")
            labels = self.labelled(expression)
            if not labels:
                raise ValueError(f"{self}: expression {row}, {self.write(expression)!r}, has no bracket to label")
            places, values = zip(*labels)
            targets[row, list(places)] = torch.tensor(values, device="cpu")
        device = torch.get_default_device() if device is None else device
        tokens, targets = tokens.to(device), targets.to(device)
        return Batch(tokens, targets, targets != NO_LABEL)

    def majority(self, length: int, expressions: int = 2000) -> float:
        """Accuracy of the best constant answer, measured on expressions drawn with seed 0 (there is no closed form)."""
        targets = self.sample(expressions, length, torch.Generator().manual_seed(0)).targets
        return float((targets[targets != NO_LABEL].bincount().float() / (targets != NO_LABEL).sum().float()).max())

    def write(self, tokens: Any) -> str:
        """One expression as text, without its padding.  ValueError for what is no token.

        >>> ListOps().write([13, 3, 1, 6, 14, 15, 15])
        '[SM 3 1 6 ]'
        """
        return " ".join(SYMBOLS[token] for token in as_tokens(tokens) if token != PAD)

    @checked
    def read(self, text: str) -> torch.Tensor:
        """The tokens (n,) int64 of a text, with or without the Arena's parentheses.  ValueError if it is damaged."""
        words = text.replace("(", " ").replace(")", " ").split()
        for position, word in enumerate(words):
            if word not in SYMBOLS:
                raise ValueError(f"{word!r} at position {position} of {text[:60]!r} is none of {' '.join(SYMBOLS)}")
        tokens = [SYMBOLS.index(word) for word in words]
        if not tokens:
            raise ValueError(f"{text!r} holds no expression")
        nodes(tokens)
        return torch.tensor(tokens)


class ListOpsSubTrees(ListOps):
    """The value of each sub-expression, asked for at its closing bracket (paper 004, section 3.2).

    >>> task = ListOpsSubTrees()
    >>> task.answer(task.read("[MAX 2 6 [MED [SM 3 1 6 ] 8 3 ] 4 5 ]"))
    [0, 3, 6]
    """

    max_depth, max_args = 15, 9

    def labelled(self, tokens: Any) -> list[tuple[int, int]]:
        return [(position, value) for position, _, _, value in nodes(tokens)]

    def answer(self, tokens: Any) -> list[int]:
        words, answers = self.write(tokens).split(), []
        for end, word in enumerate(words):
            if word == "]":  # walk back to the bracket that opens this one
                start, depth = end, 0
                while depth or start == end:
                    depth += (words[start] == "]") - (words[start] in OPERATORS)
                    start -= 1
                answers.append(evaluate(" ".join(words[start + 1:end + 1])))
        return answers
