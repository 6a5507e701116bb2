"""The protocol that models and training go by: what every task has, whatever it reads and wherever it asks; and tasks that
read strings of symbols.

Letters: B batch, T time, V tokens.
"""

from __future__ import annotations

import copy
import itertools
from abc import ABC, abstractmethod
from dataclasses import is_dataclass
from typing import Any

import torch

from lrnnlab.tasks.batch import SPLITS, Batch, TaskDataset
from lrnnlab.validation import among, checked, shown, whole_number


class BaseTask(ABC):
    """A source of fresh inputs with their answers, and what a guesser would score.

    ==================  =============================================================================================
    ``reads``           ``"tokens"`` or ``"numbers"``
    ``answers``         where answers are: at ``"every"`` position, the ``"last"``, or at ``"places"`` that differ
    ``padded``          whether the strings of a batch may end before its last column
    ``input_size``      the number of symbols V, or of input columns d_in
    ``output_size``     the number of classes C, or of target columns d_out
    ``train_length``    what it is trained on, at the most; ``test_length`` what it is scored on
    ``score``           what the paper that brought it calls its score
    ``sample``          ``sample(batch, length, generator) -> Batch``, fresh, of one length
    ``training_batch``  ``training_batch(batch, generator) -> Batch`` as the paper trains: of one length or of many
    ``levels``          what a guesser gets by that score, ``{"chance": ..., "majority": ...}``
    ``answer``          the slow oracle, for one input
    ==================  =============================================================================================
    """

    reads: str = "tokens"
    answers: str = "every"
    padded: bool = False
    score: str = "accuracy"
    name: str  # the class's, unless an instance has another
    classes: int | None = None  # None where numbers are asked for
    train_length: int
    test_length: int
    least: int = 1  # the shortest length that may be asked for

    def __init_subclass__(cls) -> None:
        cls.name = vars(cls).get("name", cls.__name__)

    def __repr__(self) -> str:
        return self.name

    @abstractmethod
    def sample(self, batch: int, length: int, generator: torch.Generator) -> Batch:
        """``batch`` fresh inputs of ``length`` with their answers, on the generator's device."""

    @abstractmethod
    def majority(self, length: int) -> float:
        """What the best constant answer scores at ``length``."""

    def training_batch(self, batch: int, generator: torch.Generator) -> Batch:
        """A batch as the paper trains, on inputs of the training length, or up to it."""
        return self.sample(batch, self.train_length, generator)

    @property
    def chance(self) -> float:
        """Accuracy of a uniform guess, 1/C.  A constant answer can do better: see ``majority``."""
        return 1 / self.classes if self.classes else 0.0

    def levels(self, length: int) -> dict[str, float]:
        """What a guesser scores at ``length``: a dict with ``chance`` and ``majority``."""
        return {"chance": self.chance, "majority": self.majority(length)}

    @property
    def input_size(self) -> int:
        return self.vocab_size if self.reads == "tokens" else self.d_in  # type: ignore[attr-defined]

    @property
    def output_size(self) -> int:
        return self.d_out if self.classes is None else self.classes  # type: ignore[attr-defined]

    @property
    def identity(self) -> str:
        """What tells a task from others of its name; a checkpoint carries it, so that no run goes on from another task's.

        >>> from lrnnlab.tasks import task
        >>> task("sum", 3).identity == task("sum", 3).identity, task("sum", 3).identity == task("sum", 3, length=7).identity
        (True, False)
        """
        options = {key: value for key, value in sorted(vars(self).items())
                   if isinstance(value, (bool, int, float, str, tuple, type(None))) or is_dataclass(value)}  # fmt: skip
        return repr((type(self).__qualname__, self.name, self.train_length, self.test_length, options))

    @checked
    def dataset(
        self, length: int | tuple[int, int] | None = None, strings: int | None = None, seed: int = 0, split: str = "train"
    ) -> TaskDataset:  # fmt: skip
        """The task's strings as a torch ``IterableDataset``, the same at every pass, however many workers read.

        Parameters
        ----------
        length : int or (int, int), optional
            Of every string; or the shortest and the longest, between which each has its own (a task without strings of that
            length takes the nearest that it has).  If not given, the training length; of padded strings, as it trains.
        strings : int, optional
            How many; endless if not given.  Fewer are the first of more.
        seed : int
            What decides them.
        split : str
            ``"train"``, ``"validation"`` or ``"test"``: each drawn by chance of its own, so short strings may be in several.

        Examples
        --------
        >>> from torch.utils.data import DataLoader
        >>> from lrnnlab.tasks import task
        >>> data = task("sum", 5).dataset(length=(3, 40), strings=100)
        >>> for tokens, targets, mask, lengths in DataLoader(data, batch_size=50, collate_fn=data.collate):
        ...     print(tokens.shape == targets.shape == mask.shape, len(lengths))
        True 50
        True 50
        """
        length = self.near(self.train_length) if length is None and not self.padded else length
        if length is not None:
            low, high = length if isinstance(length, (tuple, list)) else (length, length)
            low = whole_number(low, 1, f"{self}: the shortest length")
            length = low, whole_number(high, low, f"{self}: the longest length")
            if low == high:
                self.check_length(low)
        among("split", split, SPLITS)
        strings = None if strings is None else whole_number(strings, 1, "strings")
        return TaskDataset(self, length, strings, whole_number(seed, 0, "the seed", 2**32 - 1), split)

    # --- lengths ------------------------------------------------------------------------------------------------------

    def check_length(self, length: int) -> int:
        """``length`` if inputs of this length exist, else ValueError."""
        return whole_number(length, self.least, f"{self}: a length")

    def has_length(self, length: int) -> bool:
        """Whether the task has inputs of this length."""
        try:
            self.check_length(length)
        except ValueError:
            return False
        return True

    @property
    def least_length(self) -> int:
        """The shortest length that the task has."""
        return next(length for length in itertools.count(self.least) if self.has_length(length))

    def near(self, length: int) -> int:
        """The greatest length up to ``length`` that the task has; ValueError if there is none."""
        for shorter in range(whole_number(length, 1, f"{self}: a length"), 0, -1):
            if self.has_length(shorter):
                return shorter
        raise ValueError(f"{self}: there is no length up to {length}")

    def sample_near(self, batch: int, length: int, generator: torch.Generator) -> Batch:
        """``sample`` at the greatest length up to ``length`` that the task has."""
        return self.sample(batch, self.near(length), generator)

    def sample_up_to(self, batch: int, longest: int, generator: torch.Generator) -> Batch:
        """A batch of one random length, uniform in 1..``longest``, or the next shorter one that the task has.

        Where the task has none so short, of its shortest length, even if that is more than ``longest``.
        """
        longest = whole_number(longest, 1, f"{self}: the longest length")
        length = int(torch.randint(1, longest + 1, (), generator=generator, device=generator.device))
        return self.sample_near(batch, max(length, self.least_length), generator)

    def with_length(self, length: int) -> BaseTask:
        """A copy with another training length, and no shorter test length; ValueError if it has no such length."""
        made = copy.copy(self)
        made.train_length = self.check_length(length)
        made.test_length = max(self.test_length, length)
        return made


class StringTask(BaseTask):
    """A task that reads strings over ``symbols``.

    It needs ``draw(batch, length, generator)``, strings (B, T); ``labelled(tokens)``, the ``Batch`` of legal strings, which
    are not checked; and ``answer(tokens)``, the oracle for ONE string.
    """

    symbols: tuple[str, ...]
    modulus: int | None = None  # of the numbers that it reads, where it reads numbers
    draw: Any

    @abstractmethod
    def labelled(self, tokens: torch.Tensor) -> Batch:
        """Legal strings ``tokens`` (B, T), which are not checked, with their answers."""

    @abstractmethod
    def answer(self, tokens: Any) -> Any:
        """The oracle, by a route that shares nothing with ``labelled``: the answers to ONE string that are asked for."""

    @property
    def vocab_size(self) -> int:
        return len(self.symbols)

    @checked
    def sample(self, batch: Any, length: Any, generator: torch.Generator) -> Batch:
        """``batch`` random strings of ``length`` with their answers, on the generator's device.

        All randomness comes from ``generator``.  ValueError for a batch below 1, or a length that the task does not have.

        >>> from lrnnlab.tasks import task
        >>> task("sum", 5).sample(128, 40, torch.Generator().manual_seed(0)).targets.shape
        torch.Size([128, 40])
        """
        batch, length = whole_number(batch, 1, f"{self}: the batch"), self.check_length(length)
        return self.labelled(self.draw(batch, length, generator))

    def targets(self, tokens: Any) -> torch.Tensor:
        """Answers to ``tokens`` (B, T); ValueError names an illegal token."""
        return self.labelled(self.check_tokens(tokens)).targets

    def check_tokens(self, tokens: Any) -> torch.Tensor:
        """``tokens`` if it is an integer tensor (B, T) of legal strings, else ValueError showing what is wrong."""
        if not isinstance(tokens, torch.Tensor) or tokens.layout is not torch.strided or tokens.is_meta or tokens.ndim != 2 \
                or tokens.dtype == torch.bool or tokens.is_floating_point() or tokens.is_complex():
            raise ValueError(f"{self}: tokens must be an integer tensor (B, T), got {shown(tokens)}")
        self.check_length(tokens.shape[1])
        tokens = tokens.long()
        wrong = ((tokens < 0) | (tokens >= self.vocab_size)).nonzero()
        if len(wrong):
            row, position = wrong[0].tolist()
            raise ValueError(f"{self}: token {tokens[row, position]} at position {position} of string {row} "
                             f"is outside 0..{self.vocab_size - 1}")
        return tokens

    def check_string(self, tokens: Any) -> list[int]:
        """One legal string, a sequence or (T,) tensor of tokens, as a list of ints; else ValueError."""
        try:
            string = torch.as_tensor(tokens, device="cpu")
        except (TypeError, ValueError, RuntimeError) as error:
            raise ValueError(f"{self}: {shown(tokens)} is not a string of tokens") from error
        if string.ndim != 1 or not len(string):
            raise ValueError(f"{self}: one string of tokens has shape (T,), T at least 1, got {shown(tokens)}")
        return self.check_tokens(string[None])[0].tolist()

    @property
    def _separator(self) -> str:
        return "" if all(len(symbol) == 1 for symbol in self.symbols) else " "

    def write(self, tokens: Any) -> str:
        """One string as text: symbols side by side, or with spaces between if some symbol has two or more characters.

        >>> from lrnnlab.tasks import task
        >>> task("sum", 5).write([0, 3, 2, 4]), task("sum", 12).write([0, 11, 2])
        ('0324', '0 11 2')
        """
        return self._separator.join(self.symbols[token] for token in self.check_string(tokens))

    @checked
    def read(self, text: str) -> torch.Tensor:
        """The tokens (T,) int64 of a text as ``write`` makes it; more spaces do no harm, × may be typed x or *.

        ValueError names what is no symbol.
        """
        if "×" in self.symbols:
            text = text.replace("x", "×").replace("*", "×")
        parts = text.split() if self._separator else "".join(text.split())
        for position, part in enumerate(parts):
            if part not in self.symbols:
                raise ValueError(f"{self}: {part!r} at position {position} of {text!r} is none of {self.symbols}")
        if not parts:
            raise ValueError(f"{self}: a text of at least one symbol is asked for, got {text!r}")
        return torch.tensor(self.check_string([self.symbols.index(part) for part in parts]))
