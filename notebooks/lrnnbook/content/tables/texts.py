"""Texts for language models: the help topics of Python, vocabularies, and how far counting gets.

The topics (``help("NUMBERS")``) stand in for OpenWebText2 and PG-19, which are far larger, of many hands, and cut into words:
numbers on them are comparable with each other, not with a paper's.  Versions of Python have different texts, so a record
keeps a digest.  Topics repeat whole sections of each other; a paragraph counts only where it first occurs, so that none is
both trained on and tested.

A ``Vocabulary`` keeps the most frequent pieces of text (words with the blank before them, runs of other signs) and spells
others as characters.  An n-gram model knows how often each token followed each n - 1 tokens in the training text, and adds
k to every count: p(x | c) = (count(c x) + k) / (count(c) + k V).  k is chosen on the last tenth of the training text, of
which nothing is counted then.

Letters: B strings, T tokens, V vocabulary.
"""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

ALPHABET = "\n" + "".join(map(chr, range(32, 127)))  # V = 96; other characters become "?"
TESTED = 0.1  # the last share of the text
NAME = "help topics of Python (stand-in)"
PIECES = re.compile(r" ?[A-Za-z]+| ?[0-9]+| ?[^A-Za-z0-9 \n]+|\n+| +")
ADDED = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)  # what k is chosen from
HELD_OUT = 0.1  # the last share of the training text


@dataclass(frozen=True)
class Vocabulary:
    """V tokens: the characters of ``ALPHABET``, then ``pieces`` of two characters or more."""

    pieces: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(ALPHABET) + len(self.pieces)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of every token."""
        return {piece: number for number, piece in enumerate((*ALPHABET, *self.pieces))}

    def encode(self, text: str) -> Tensor:
        """Tokens (T,) int32 of a text whose characters are in ``ALPHABET``; ``ValueError`` shows one that is not."""
        codes: list[int] = []
        for piece in PIECES.findall(text) if self.pieces else text:
            number = self.numbers.get(piece)
            if number is not None:
                codes.append(number)
                continue
            try:
                codes += [self.numbers[character] for character in piece]
            except KeyError as error:
                raise ValueError(f"{error.args[0]!r} is none of the {len(ALPHABET)} characters") from None
        return torch.tensor(codes, dtype=torch.int32)

    def decode(self, codes: Tensor) -> str:
        """The text that tokens (T,) stand for."""
        every = [*ALPHABET, *self.pieces]
        return "".join(every[code] for code in codes.tolist())


def learn_vocabulary(texts: Iterable[str], size: int) -> Vocabulary:
    """At most ``size`` tokens: the characters, and the most frequent longer pieces; equally frequent ones by alphabet."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(piece for piece in PIECES.findall(text) if len(piece) > 1)
    frequent = sorted(counts, key=lambda piece: (-counts[piece], piece))
    return Vocabulary(tuple(frequent[: size - len(ALPHABET)]))


def ngram_level(train: Tensor, test: Tensor, n: int, vocab_size: int) -> tuple[float, float]:
    """The mean loss of an n-gram model on a test text, in nats a token, and the k that it adds."""
    cut = max(n, round((1 - HELD_OUT) * len(train)))
    counted = _counts(train[:cut], train[cut - n + 1 :], n, vocab_size)
    k = min(ADDED, key=lambda k: _loss(*counted, k, vocab_size))
    return _loss(*_counts(train, test, n, vocab_size), k, vocab_size), k


def _counts(train: Tensor, test: Tensor, n: int, V: int) -> tuple[np.ndarray, np.ndarray]:
    """For every token of ``test`` behind n - 1 others: how often it stood there in ``train``, and how often any did."""
    seen, asked = _grams(train, n, V), _grams(test, n, V)
    return _how_often(seen, asked), _how_often(seen // V, asked // V)


def _grams(tokens: Tensor, n: int, V: int) -> np.ndarray:
    """Every n tokens in a row as one number."""
    windows = np.lib.stride_tricks.sliding_window_view(tokens.numpy().astype(np.int64), n)
    return windows @ (V ** np.arange(n - 1, -1, -1, dtype=np.int64))


def _how_often(seen: np.ndarray, asked: np.ndarray) -> np.ndarray:
    known, counts = np.unique(seen, return_counts=True)
    places = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    return np.where(known[places] == asked, counts[places], 0)


def _loss(here: np.ndarray, context: np.ndarray, k: float, V: int) -> float:
    return -math.fsum(np.log((here + k) / (context + k * V))) / len(here)


def text() -> str:
    """The topics by name, each paragraph where it first occurs, characters of ``ALPHABET`` only."""
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


def split() -> tuple[Tensor, Tensor]:
    """The text as characters' numbers: what is trained on, and what is tested (its last tenth)."""
    codes = Vocabulary().encode(text()).long()
    end = round(len(codes) * (1 - TESTED))
    return codes[:end], codes[end:]


def draw(codes: Tensor, strings: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """``strings`` random pieces of the text (B,T), and the characters that follow each of their characters, (B,T)."""
    starts = torch.randint(len(codes) - length, (strings,), generator=generator)
    pieces = codes[starts.unsqueeze(1) + torch.arange(length + 1)]
    return pieces[:, :-1], pieces[:, 1:]


def before(codes: Tensor, targets: int, length: int, longest: int) -> tuple[Tensor, Tensor]:
    """The ``length`` characters before each of ``targets`` evenly spread places, (B,T), and the characters there, (B,)."""
    places = longest + torch.linspace(0, len(codes) - longest - 1, targets).long()
    return codes[places.unsqueeze(1) + torch.arange(-length, 0)], codes[places]
