"""Strings of symbols as tokens: checked, read and written.  What tasks about languages share.

Letters: B batch, T time, V tokens.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch

from lrnnlab.tasks.base import BaseTask
from lrnnlab.tasks.batch import Batch
from lrnnlab.validation import checked, shown, whole_number


class StringTask(BaseTask):
    """A task that reads strings over ``symbols``.

    It needs ``draw(batch, length, generator)``, strings (B, T); ``labelled(tokens)``, the ``Batch`` of strings that are
    not looked at; and ``answer(tokens)``, the oracle for ONE string.
    """

    symbols: tuple[str, ...]
    modulus: int | None = None  # of the numbers that it reads, where it reads numbers
    draw: Any

    @abstractmethod
    def labelled(self, tokens: torch.Tensor) -> Batch:
        """``tokens`` (B, T), which are not looked at, with their answers."""

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
