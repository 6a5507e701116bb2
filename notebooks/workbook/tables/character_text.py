"""A text that every Python brings along, for models of characters: the topics of its help system (``help("NUMBERS")``).

It stands in for OpenWebText2 (paper 002, Table 3), which is far larger, of many hands, and cut into words: numbers on
it are comparable with each other, not with the paper's.  Versions of Python have different texts, so a record keeps a
digest.

Topics repeat whole sections of each other; a paragraph counts only where it first occurs, so that none is both trained
on and tested.  Letters: B strings, T time, V characters.
"""

from __future__ import annotations

import hashlib

import torch
from torch import Tensor

ALPHABET = "\n" + "".join(map(chr, range(32, 127)))  # V = 96; other characters become "?"
TESTED = 0.1  # the last share of the text
NAME = "help topics of Python (stand-in)"


def text() -> str:
    """The topics by name, each paragraph where it first occurs, characters of ``ALPHABET`` only.

    >>> len(text()) > 300_000, set(text()) <= set(ALPHABET)
    (True, True)
    """
    from pydoc_data.topics import topics  # half a megabyte that only this text needs

    seen: dict[str, str] = {}
    for name in sorted(topics):
        for paragraph in topics[name].split("\n\n"):
            seen.setdefault(" ".join(paragraph.split()), paragraph)
    whole = "\n\n".join(paragraph for words, paragraph in seen.items() if words)
    return in_alphabet(whole)


def in_alphabet(text: str) -> str:
    """The text with "?" for each character that ``ALPHABET`` has not."""
    return "".join(character if character in ALPHABET else "?" for character in text)


def digest() -> str:
    """The first 16 letters of the text's SHA-256."""
    return hashlib.sha256(text().encode()).hexdigest()[:16]


def encode(written: str) -> Tensor:
    """Characters as numbers (T,) int64.  ValueError for one that is not in ``ALPHABET``."""
    number = {char: place for place, char in enumerate(ALPHABET)}
    unknown = [char for char in written if char not in number]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is none of the {len(ALPHABET)} characters")
    return torch.tensor([number[char] for char in written], dtype=torch.int64)


def split() -> tuple[Tensor, Tensor]:
    """The text as numbers: what is trained on, and what is tested (its last tenth).

    >>> train, test = split()
    >>> round(len(test) / (len(train) + len(test)), 3)
    0.1
    """
    codes = encode(text())
    end = round(len(codes) * (1 - TESTED))
    return codes[:end], codes[end:]


def draw(codes: Tensor, strings: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """``strings`` random pieces of the text (B,T), and the characters that follow each of their characters, (B,T).

    >>> tokens, following = draw(torch.arange(9), 2, 4, torch.Generator().manual_seed(0))
    >>> bool((following == tokens + 1).all())
    True
    """
    starts = torch.randint(_room(codes, length), (strings,), generator=generator)
    pieces = codes[starts.unsqueeze(1) + torch.arange(length + 1)]
    return pieces[:, :-1], pieces[:, 1:]


def before(codes: Tensor, targets: int, length: int, longest: int) -> tuple[Tensor, Tensor]:
    """The ``length`` characters before each of ``targets`` evenly spread places, (B,T), and the characters there, (B,).

    The places leave room for ``longest`` characters, so for one ``longest`` they are the same at every length: what
    differs is only how much is seen.  ValueError unless the text is longer, and 1 <= length <= longest.

    >>> [part.tolist() for part in before(torch.arange(9), 2, 1, longest=4)]
    [[[3], [7]], [4, 8]]
    """
    if not 1 <= length <= longest:
        raise ValueError(f"need 1 <= length <= longest, got {length} and {longest}")
    room = _room(codes, longest)
    places = longest + torch.linspace(0, room - 1, targets).long()
    return codes[places.unsqueeze(1) + torch.arange(-length, 0)], codes[places]


def _room(codes: Tensor, length: int) -> int:
    """How many pieces of ``length`` characters have one behind them."""
    if len(codes) <= length:
        raise ValueError(f"a text of {len(codes)} characters has no piece of {length} with one behind it")
    return len(codes) - length
