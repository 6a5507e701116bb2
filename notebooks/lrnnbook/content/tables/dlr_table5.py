"""Table 5 of paper 004 (Gupta, Mehta, Berant 2022) at a small size: DLR and the Transformer as language models.

Letters: B pieces, T time, V vocabulary, D width, N state size.
"""

import math
import time
from itertools import islice
from statistics import fmean
from typing import Any

import torch
from torch import Tensor, nn

from lrnnbook.content.tables import texts
from lrnnbook.content.tables.nets import stack
from lrnnbook.content.tables.regulargpt_table3 import every_character
from lrnnbook.content.tables.surrogate_data import published
from lrnnbook.content.tables.table import by_setting, load, outcome, trained_by
from lrnnbook.content.tables.texts import Vocabulary, learn_vocabulary, ngram_level
from lrnnlab.models import Net
from lrnnlab.tasks.long_range import load_books
from lrnnlab.training import deterministic, rng
from lrnnlab.training.loop import with_seed

LEVELS = ("unigram", "bigram", "trigram")
FIRST_BOOKS, COUNTED = 1_000, 20_000_000  # of PG-19: books that the vocabulary is made from, tokens that are counted


def read(setting: dict) -> tuple[Vocabulary, Tensor, Tensor, dict]:
    """The vocabulary, what is trained on and what is tested as tokens (T,), and what the text is: the stand-in, or PG-19."""
    size = setting["vocabulary"]
    if "files" not in setting:
        trained, tested = map(Vocabulary().decode, texts.split())
        vocabulary = learn_vocabulary([trained], size) if size else Vocabulary()
        name = {"name": texts.NAME, "digest": texts.digest()}
        return vocabulary, vocabulary.encode(trained), vocabulary.encode(tested), {**name, "tested": len(tested)}
    folder = published(setting["files"], "the books of PG-19, as folders train, validation and test")
    books = islice(load_books(folder, "train"), FIRST_BOOKS)
    vocabulary = learn_vocabulary(map(texts.in_alphabet, books), size) if size else Vocabulary()
    seen, test = (torch.cat([vocabulary.encode(texts.in_alphabet(book) + "\n") for book in load_books(folder, split)])
                  for split in ("train", "test"))  # fmt: skip
    return vocabulary, seen, test, {"name": "PG-19", "tested": len(vocabulary.decode(test))}


def build_net(setting: dict, V: int, seed: int) -> Net:
    """The untrained network, tokens (B,T) -> logits (B,T,V)."""
    place = setting["place"]
    form = {"norm": "layer", "place": place, "ff": 4, "ff_activation": "gelu"}
    net = with_seed(lambda: stack(setting, V, form, vocab_size=V, final_norm=place == "pre"), seed)
    for block in net.blocks if "start" in setting else ():
        for weights in (block.mixer.W, block.mixer.skip):
            weights.data.mul_(setting["start"])
    return net


def pieces(tokens: Tensor, length: int) -> tuple[Tensor, Tensor]:
    """A text (T,) cut into pieces (n,length), and what follows each of their tokens, (n,length); the rest is left out."""
    n = (len(tokens) - 1) // length
    return tokens[: n * length].view(n, length).long(), tokens[1 : n * length + 1].view(n, length).long()


@torch.no_grad()
def mean_loss(net: nn.Module, tokens: Tensor, following: Tensor, device: str = "cpu") -> float:
    """The mean loss of every token that is asked for, in nats, of pieces (n,T)."""
    parts = zip(tokens.split(8), following.split(8))
    sums = [len(y) * float(every_character(net(x.to(device)), y.to(device))) for x, y in parts]
    return sum(sums) / len(tokens)


def tokens_per_second(net: nn.Module, tokens: Tensor, following: Tensor, device: str = "cpu") -> float:
    """Tokens a second, forward and backward, the best of five tries: by CPU time on one thread, on a GPU by the clock."""
    tokens, following = tokens.to(device), following.to(device)
    now = time.process_time if device == "cpu" else time.perf_counter
    taken = []
    with deterministic(alone=True):
        for _ in range(5):
            start = now()
            every_character(net(tokens), following).backward()
            if device != "cpu":
                torch.cuda.synchronize()
            taken.append(now() - start)
    return tokens.numel() / min(taken)


def measure(setting: dict, seed: int, **how: Any) -> dict:
    """Train, then the loss on the whole test text: ``metrics``, ``levels``, and both losses by step."""
    device, T = setting["device"], setting["length"]
    vocabulary, seen, test, text = read(setting)
    V = len(vocabulary)
    asked = pieces(test, T)
    some = [part[torch.linspace(0, len(part) - 1, min(setting["shown"], len(part))).long()] for part in asked]

    def draw_batch(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        tokens, following = texts.draw(seen, setting["batch"], T, generator)
        return tokens.long().to(device), following.long().to(device)

    made = trained_by(
        setting, build_net(setting, V, seed), draw_batch, every_character, rng(seed, "table5/train"),
        lambda net, step: {"test": round(mean_loss(net, some[0], some[1], device), 4)}, **how,
    )  # fmt: skip
    loss = mean_loss(made.net, asked[0], asked[1], device)
    ends = [value for step, value in made.losses if step > 0.9 * made.steps]
    levels = {name: ngram_level(seen[:COUNTED], test, n + 1, V) for n, name in enumerate(LEVELS)}
    per_character = len(test) / text["tested"] / math.log(2)
    first = [part[: setting["batch"]] for part in asked]
    metrics = {
        "train": round(fmean(ends), 4) if ends else None, "test": round(loss, 4) if math.isfinite(loss) else None,
        "bits_per_character": round(per_character * loss, 4) if math.isfinite(loss) else None,
        "tokens_per_second": round(tokens_per_second(made.net, first[0], first[1], device)),
    }  # fmt: skip
    return outcome(
        made, metrics, text={**text, "tokens": len(seen) + len(test), "vocabulary": V},
        levels={name: round(level, 4) for name, (level, _) in levels.items()},
        level_bits={name: round(per_character * level, 4) for name, (level, _) in levels.items()},
        added={name: k for name, (_, k) in levels.items()},
        losses=[(step, round(value, 4)) for step, value in made.losses], watched=made.watched,
    )  # fmt: skip


TABLE = load("dlr/table5", by_setting(measure))
