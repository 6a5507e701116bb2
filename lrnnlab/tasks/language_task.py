"""A task about a language: which language, when an answer is asked, how strings are drawn.

Letters: B batch, T time, V tokens, C classes.  Positions count from 0.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from statistics import fmean
from typing import Any

import numpy as np
import torch

from lrnnlab.automata import NO_LABEL, MooreMachine, minimise
from lrnnlab.automata.languages import Language
from lrnnlab.tasks.base import StringTask
from lrnnlab.tasks.batch import Batch
from lrnnlab.tasks.draws import Independent, UniformStrings
from lrnnlab.validation import among, whole_number

MEASURED = 4096  # strings, where a level has no closed form


class Task(StringTask):
    """Strings over a language's symbols, and the classes that the language gives them.

    Parameters
    ----------
    language : Language
        Its machine gives the answers, its oracle says them once more.
    ask : str
        ``"every"``: after every token after which the machine shows a class; targets are (B, T), -1 where it shows none.
        ``"last"``: once, after the whole string; targets are (B,).
    draw : Independent
        What draws strings: one of ``lrnnlab.tasks.draws``, or a subclass of your own, which says how likely its strings are.
        If not given, all strings of one length are equally likely.
    name : str
        The language's, if not given.
    lengths : (int, int)
        Trained on (up to, where ``ask`` is ``"last"``), scored on.
    classes : int
        C, if more than the answers that strings have.

    Raises
    ------
    ValueError
        Unless the answers are the classes 0, ..., C-1, at least two of them.
    TypeError
        For a ``draw`` that is no ``Independent``.

    Examples
    --------
    >>> from lrnnlab.automata import Language, MooreMachine
    >>> machine = MooreMachine.from_rule((None, 0), "ab", lambda state, token: (token, int(token == state[0])),
    ...                                  lambda state: state[1])
    >>> task = Task(Language("last two equal", machine, lambda word: int(word[-1:] == word[-2:-1])))
    >>> task.answer(task.read("abbaa")), task.targets(task.read("abbaa")[None]).tolist()
    ([0, 0, 1, 0, 1], [[0, 0, 1, 0, 1]])
    """

    def __init__(
        self, language: Language, ask: str = "every", draw: Independent | None = None, *, name: str | None = None,
        lengths: tuple[int, int] = (40, 500), classes: int | None = None,
    ):  # fmt: skip
        among("ask", ask, ("every", "last"))
        if draw is not None and not isinstance(draw, Independent):
            raise TypeError(f"draw must be one of lrnnlab.tasks.draws or a subclass of its Independent, got {draw!r:.100}")
        machine = language.machine
        self.language, self.ask, self.symbols = language, ask, machine.symbols
        self.draw = draw or Independent([1] * machine.num_symbols)
        self.name, (self.train_length, self.test_length) = name or language.name, lengths
        self._after = set(machine.outputs[machine.transitions[:, machine.reachable()]].ravel().tolist())  # one token or more
        shown = sorted(self._after - {NO_LABEL})
        if classes is None and (shown != list(range(len(shown))) or len(shown) < 2):
            raise ValueError(f"{self.name}: a task's classes are 0, 1, ..., at least two; this machine shows {shown}")
        self.classes = classes or len(shown)
        some = NO_LABEL in self._after or not self.draw.asks(0) or not self.draw.asks(1)
        self.answers = "last" if ask == "last" else "places" if some else "every"
        if ask == "last":
            self.score = "accuracy, the mean over lengths beyond training"

    @property
    def identity(self) -> str:
        machine, draw = self.rule, self.draw
        tables = hashlib.sha256(machine.transitions.tobytes() + machine.outputs.tobytes()).hexdigest()
        own = self.name, self.ask, self.train_length, self.test_length, self.classes
        drawn = type(draw).__name__, draw.odds, getattr(draw, "published", None) is None
        return repr((own, tables, machine.initial, machine.symbols, drawn))

    # --- the machine --------------------------------------------------------------------------------------------------

    @property
    def rule(self) -> MooreMachine:
        """The language's machine, as it was written down."""
        return self.language.machine

    @cached_property
    def machine(self) -> MooreMachine:
        """The smallest machine with the task's answers (read them at labelled positions of legal strings)."""
        return minimise(self.rule)

    @cached_property
    def specification(self) -> MooreMachine:
        """What is asked, and no more: ``machine`` with -1 before the first token, and wherever no label is due.

        ``equivalent(task.specification, other, where_labelled=True)`` is the test that a trained model must pass.
        """
        return minimise(self.draw.legal(self.machine))

    # --- strings and answers ------------------------------------------------------------------------------------------

    def check_length(self, length: int) -> int:
        length = super().check_length(length)
        if not self.draw.asks(length - 1):
            raise ValueError(f"{self}: no string has length {length}, but {self.draw.fit(length)}")
        return length

    def string_length(self, length: int) -> int:
        """How many tokens a string has when ``length`` are asked for."""
        return self.draw.fit(whole_number(length, 1, f"{self}: a length")) if self.ask == "last" else self.check_length(length)

    def check_tokens(self, tokens: Any) -> torch.Tensor:
        tokens = super().check_tokens(tokens)
        if not (self.draw.asks(0) and self.draw.asks(1)):  # of the others every string is one
            wrong = np.flatnonzero(self.specification.answer(tokens.cpu().numpy())[:, -1] == NO_LABEL)
            if len(wrong):
                text = " ".join(self.symbols[token] for token in tokens[wrong[0]].tolist())
                raise ValueError(f"{self}: string {wrong[0]} is not an expression: {text[:60]}")
        return tokens

    def sample(self, batch: int, length: int, generator: torch.Generator) -> Batch:
        return super().sample(batch, self.string_length(length), generator)

    def label(self, tokens: torch.Tensor) -> torch.Tensor:
        """The classes (B, T) or (B,) of legal strings ``tokens`` (B, T), which are not checked; -1 for none."""
        shown = self.specification.answer(tokens.cpu().numpy())
        return torch.from_numpy(shown[:, -1] if self.ask == "last" else shown).to(tokens.device)

    def labelled(self, tokens: torch.Tensor) -> Batch:
        labels = self.label(tokens)
        if self.ask == "every":
            return Batch(tokens, labels, labels != NO_LABEL)
        mask = torch.zeros_like(tokens, dtype=torch.bool)
        mask[:, -1] = True
        return Batch(tokens, labels, mask)

    def mask(self, length: int) -> torch.Tensor:
        """(T,) bool: the positions that carry a label, where they are the same in all strings."""
        return self.sample(1, self.check_length(length), torch.Generator().manual_seed(0)).mask[0]  # type: ignore[index]

    def answer(self, tokens: Any) -> list[int] | int:
        """The oracle's answers to ONE string: one at each labelled position, or ONE class where ``ask`` is ``"last"``."""
        symbols = [self.symbols[token] for token in self.check_string(tokens)]
        word: Any = tuple(symbols) if self._separator else "".join(symbols)
        if self.ask == "last":
            return self.language.oracle(word)
        found = [self.language.oracle(word[: k + 1]) for k in range(len(word)) if self.draw.asks(k)]
        return [label for label in found if label != NO_LABEL]

    def training_batch(self, batch: int, generator: torch.Generator) -> Batch:
        """Of the training length; where ``ask`` is ``"last"``, of one random length, uniform in 1..``train_length``."""
        if self.ask == "last":
            return self.sample_up_to(batch, self.train_length, generator)
        return super().training_batch(batch, generator)

    def sample_near(self, batch: int, length: int, generator: torch.Generator) -> Batch:
        return self.sample(batch, length if self.ask == "last" else self.near(length), generator)

    @property
    def least_length(self) -> int:
        return 1 if self.ask == "last" else super().least_length

    # --- levels -------------------------------------------------------------------------------------------------------

    @cached_property
    def by_class(self) -> tuple[UniformStrings, ...]:
        """C ``UniformStrings``, one a class: all legal strings that end with this label, to be counted and drawn."""
        return tuple(UniformStrings(self.specification, label, self.draw.odds) for label in range(self.classes))

    def label_counts(self, length: int) -> list[int]:
        """How many legal strings of ``length`` tokens end in each class: C Python integers (weighted by the odds).

        >>> from lrnnlab.tasks import task
        >>> task("tomita_4").label_counts(5)
        [8, 24]
        """
        length = self.check_length(length)
        return [strings.count(length) for strings in self.by_class]

    def label_shares(self, length: int) -> list[Fraction]:
        """C Fractions, exact: how often each class is drawn, as the last of strings of ``length`` tokens."""
        return self.draw.shares(self.label_counts(length))

    def label_distribution(self, position: int) -> np.ndarray:
        """(C,) exact probabilities of the label at ``position`` of a sampled string (float64, no sampling involved).

        Where strings are asked once, of their class if they end there; else the token probabilities are pushed through
        the machine: p_t = (sum_v P_t(v) A_v) p_{t-1}.  ValueError where tokens depend on each other.

        >>> from lrnnlab.tasks import task
        >>> task("evenpair", 5).label_distribution(39).round(3)
        array([0.8, 0.2])
        """
        length = self.check_length(whole_number(position, 0, f"{self}: a position") + 1)
        if self.ask == "last":
            return np.array(self.label_shares(length), dtype=np.float64)
        if not self.draw.independent:
            raise ValueError(f"{self}: tokens depend on each other, and labels on the length of the string; see majority")
        p: np.ndarray
        machine, p = self.machine, np.zeros(self.machine.num_states)
        p[machine.initial] = 1
        for t in range(length):
            arriving = np.outer(self.draw.probabilities(t), p)  # (V, Q): the mass that moves along each transition
            p = np.bincount(machine.transitions.ravel(), weights=arriving.ravel(), minlength=len(p))
        shown = machine.outputs != NO_LABEL
        return np.bincount(machine.outputs[shown], weights=p[shown], minlength=self.classes)

    def majority(self, length: int) -> float:
        """Accuracy of the best constant answer at the last position, among the strings that have a label there.

        Exact, but where tokens depend on each other: then of 4,096 drawn strings.  NaN where no string has a label.
        """
        if self.ask == "last":
            return float(max(self.label_shares(self.string_length(length))))
        if self.draw.independent:
            shares = self.label_distribution(self.check_length(length) - 1)
            if NO_LABEL not in self._after:
                return float(shares.max())
            return float(shares.max() / shares.sum()) if shares.sum() else math.nan
        last = self.sample(MEASURED, length, torch.Generator().manual_seed(0)).targets[:, -1]
        return float(last.bincount().max() / len(last))

    def average_majority(self, lengths: Iterable[int]) -> float:
        """Mean of ``majority`` over ``lengths``: what paper 002's score gives to one who looks at the length alone.

        The paper's score is the mean accuracy over the lengths that were not trained on.  Its text says 51..100 for
        Tomita 5, its code leaves out the first; the Transformer's 74.5 of Table 1 is this level, and nothing more:

        >>> from lrnnlab.tasks import task
        >>> tomita_5 = task("tomita_5")
        >>> tomita_5.average_majority(range(51, 101)), round(tomita_5.average_majority(range(52, 101)), 3)
        (0.75, 0.745)
        """
        return fmean(self.majority(length) for length in lengths)
