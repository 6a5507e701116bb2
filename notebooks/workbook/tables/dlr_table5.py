"""Table 5 of paper 004 (Gupta, Mehta, Berant 2022) at a small size: DLR and the Transformer as language models.

The paper trains on PG-19, books of the Gutenberg project as tokens of T5, and finds that the Transformer diverges
where LayerNorm stands behind the sums (post-norm) and trains where it stands before them (pre-norm), and that DLR
trains in both.  Here: the help topics of Python (``character_text``), as characters, or as words and other pieces,
1,024 of them with the single characters (``language.Vocabulary``).  A number here is comparable with the
others here, not with the paper's.

Rows: ``dlr_post``, ``dlr_pre``, ``transformer_post``, ``transformer_pre``, ``dlr_post_small``.  A block is a mixer and a
feed-forward part of 4 D hidden channels, each with its sum and norm; pre-norm has one more norm before the readout.  DLR is
linear, without activation and output map, as in App. A.6; its own parameters have a fifth of the rate (2e-4 and 1e-3
there).  The Transformer has attention with rotary positions in its place.  AdamW, decay .1.

Tasks ``characters`` and ``tokens`` are trained at one rate, after a warm-up.  The tasks ``depth4-...`` and ``depth16-...``
ask at which rate which row breaks: short runs on characters at the rate that the name ends in, from the first step on,
with 4 layers of width 64 and with 16, the paper's number, of width 32.  ``dlr_post_small`` is there to tell why deep
post-norm DLR breaks: its kernels and skips start at a tenth of DLR's, so that what a layer adds is small
beside what it is added to, as it is where attention starts; all else is as in ``dlr_post``.

Beside the losses stand three levels on the same test text: models that count single tokens, pairs and triples
(``language.ngram_level``).  A net at the unigram level has learned which characters are frequent, and nothing of their
order: that is how a net that "diverged" ends here, where a loss that is no number is rare.  The levels read the whole
text before a token, the nets only the piece in which it is; the nets are not asked the first token of the text.  All
numbers are of the last weights.

At the budget ``paper``: PG-19 (the folder ``pg19`` where ``tables.surrogate_data`` looks for files), 16 layers, D = 384, N = 512,
pieces of 4,096, 60,000 steps at a rate of 1e-3, on a GPU.  Not as there: one expert in each feed-forward part (with a
Transformer of 36M parameters the paper has that row too; 16 and 64 experts make it 318M and 1.2B, DLR 312M and 1.2B);
batches of 4 pieces instead of 120, which three GPUs shared; words and other pieces for T5's, their embedding not of width
128 and not tied to the readout; pieces at random places.  The vocabulary is made from the first books, the n-grams
are counted in the first tokens.  About the experts: each takes the sixteenth of *all* tokens that suits it best, so
whether it takes a token hangs on later ones, which a language model should not see; how much that is worth the
paper does not say.

Letters: B pieces, T time, V vocabulary, D width, N state size.
"""

from __future__ import annotations

import math
import time
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import fmean

import torch
from torch import Tensor, nn

from lrnnlab.models import Net, blocks
from lrnnlab.models.attention import RotaryAttention
from lrnnlab.models.dlr import DLR
from lrnnlab.tasks.long_range import load_books
from lrnnlab.training.determinism import deterministic, rng
from lrnnlab.training.loop import train, with_seed
from workbook.tables import character_text
from workbook.tables.language import Vocabulary, learn_vocabulary, ngram_level
from workbook.tables.regulargpt_table3 import every_character
from workbook.tables.surrogate_data import published
from workbook.tables.table import by_setting, gpu_if_wanted, load

LEVELS = ("unigram", "bigram", "trigram")
FIRST_BOOKS, COUNTED = 1_000, 20_000_000  # of PG-19: books that the vocabulary is made from, tokens that are counted


def texts(setting: dict) -> tuple[Vocabulary, Tensor, Tensor, dict]:
    """The vocabulary, what is trained on and what is tested as tokens (T,), and what the text is: the stand-in, or PG-19.

    ``DataFileError`` names a file that is missing or damaged.

    >>> vocabulary, seen, test, text = texts(TABLE.setting("dlr_pre", "tokens", "live"))
    >>> len(vocabulary), seen.dtype, text["name"]
    (256, torch.int32, 'help topics of Python (stand-in)')
    """
    size = setting["vocabulary"]
    if "files" not in setting:
        trained, tested = map(Vocabulary().decode, character_text.split())
        vocabulary = learn_vocabulary([trained], size) if size else Vocabulary()
        name = {"name": character_text.NAME, "digest": character_text.digest()}
        return vocabulary, vocabulary.encode(trained), vocabulary.encode(tested), {**name, "tested": len(tested)}
    folder = published(setting["files"], "the books of PG-19, as folders train, validation and test")
    books = islice(load_books(folder, "train"), FIRST_BOOKS)
    vocabulary = learn_vocabulary(map(character_text.in_alphabet, books), size) if size else Vocabulary()
    seen, test = (torch.cat([vocabulary.encode(character_text.in_alphabet(book) + "\n") for book in load_books(folder, split)])
                  for split in ("train", "test"))  # fmt: skip
    return vocabulary, seen, test, {"name": "PG-19", "tested": len(vocabulary.decode(test))}


def build_net(setting: dict, V: int, seed: int) -> Net:
    """The untrained network, tokens (B,T) -> logits (B,T,V)."""
    D, place = setting["width"], setting["place"]

    def make() -> Net:
        mixer = partial({"dlr": DLR, "transformer": RotaryAttention}[setting["mixer"]], **setting["options"])
        made = blocks(mixer, D, setting["layers"], norm="layer", place=place, ff=4, ff_activation="gelu")
        return Net(made, V, D, vocab_size=V, final_norm=place == "pre")

    net = with_seed(make, seed)
    for block in net.blocks if "start" in setting else ():
        for weights in (block.mixer.W, block.mixer.skip):
            weights.data.mul_(setting["start"])
    return net


def pieces(tokens: Tensor, length: int) -> tuple[Tensor, Tensor]:
    """A text (T,) cut into pieces (n,length), and what follows each of their tokens, (n,length); the rest is left out.

    >>> [part.tolist() for part in pieces(torch.arange(6), 2)]
    [[[0, 1], [2, 3]], [[1, 2], [3, 4]]]
    """
    n = (len(tokens) - 1) // length
    if n < 1:
        raise ValueError(f"a text of {len(tokens)} tokens has no piece of {length} with one behind it")
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
    with deterministic():
        for _ in range(5):
            start = now()
            every_character(net(tokens), following).backward()
            if device != "cpu":
                torch.cuda.synchronize()
            taken.append(now() - start)
    return tokens.numel() / min(taken)


def measure(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> dict:
    """Train, then the loss on the whole test text: ``metrics``, ``levels``, and both losses by step.

    >>> found = measure(TABLE.setting("dlr_post", "characters", "live"), seed=0)
    >>> found["metrics"]["steps"], found["levels"]["trigram"] < found["levels"]["unigram"] < math.log(96)
    (4, True)
    """
    device, T = setting["device"], setting["length"]
    gpu_if_wanted(setting, "dlr/table5 at the budget paper")
    vocabulary, seen, test, text = texts(setting)
    V = len(vocabulary)
    asked = pieces(test, T)
    some = [part[torch.linspace(0, len(part) - 1, min(setting["shown"], len(part))).long()] for part in asked]

    def draw_batch(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        tokens, following = character_text.draw(seen, setting["batch"], T, generator)
        return tokens.long().to(device), following.long().to(device)

    made = train(
        build_net(setting, V, seed).to(device), draw_batch, every_character, generator=rng(seed, "table5/train"),
        watch=lambda net, step: {"test": round(mean_loss(net, some[0], some[1], device), 4)},
        watch_every=max(setting["steps"] // setting["looks"], 1), progress=progress, checkpoint=checkpoint,
        **{name: setting[name] for name in ("steps", "rate", "recurrent_rate", "warmup", "decay")},
    )  # fmt: skip
    net, loss = made.net, mean_loss(made.net, asked[0], asked[1], device)
    ends = [value for step, value in made.losses if step > 0.9 * made.steps]
    levels = {name: ngram_level(seen[:COUNTED], test, n + 1, V) for n, name in enumerate(LEVELS)}
    per_character = len(test) / text["tested"] / math.log(2)
    metrics = {
        "train": round(fmean(ends), 4) if ends else None, "test": round(loss, 4) if math.isfinite(loss) else None,
        "bits_per_character": round(per_character * loss, 4) if math.isfinite(loss) else None,
        "tokens_per_second": round(tokens_per_second(net, asked[0][: setting["batch"]], asked[1][: setting["batch"]], device)),
        "parameters": sum(parameter.numel() for parameter in net.parameters()), "steps": made.steps,
        "finished": made.finished,
    }  # fmt: skip
    return {
        "metrics": metrics, "text": {**text, "tokens": len(seen) + len(test), "vocabulary": V},
        "levels": {name: round(level, 4) for name, (level, _) in levels.items()},
        "level_bits": {name: round(per_character * level, 4) for name, (level, _) in levels.items()},
        "added": {name: k for name, (_, k) in levels.items()},
        "losses": [(step, round(value, 4)) for step, value in made.losses], "watched": made.watched,
        "cpu_seconds": round(made.cpu_seconds, 2),
    }  # fmt: skip


TABLE = load("dlr/table5", by_setting(measure))
