"""The protocol that models and training go by: what every task has, whatever it reads and wherever it asks."""

from __future__ import annotations

import copy
import itertools
from abc import ABC, abstractmethod
from dataclasses import is_dataclass

import torch

from lrnnlab.tasks.batch import Batch
from lrnnlab.validation import whole_number


class BaseTask(ABC):
    """A source of fresh inputs with their answers, and what a guesser would score.

    ==================  =============================================================================================
    ``reads``           ``"tokens"`` or ``"numbers"``
    ``answers``         where answers stand: at ``"every"`` position, the ``"last"``, or at ``"places"`` that differ
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

    reads, answers, padded, score = "tokens", "every", False, "accuracy"
    name: str  # the class's, unless an instance has another
    classes: int | None = None  # None where numbers are asked for
    train_length: int
    test_length: int
    least = 1  # the shortest length that may be asked for

    def __init_subclass__(cls):
        cls.name = vars(cls).get("name", cls.__name__)

    def __repr__(self):
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
