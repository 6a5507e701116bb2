"""Beyond paper 003: what its delta rule can count once beta may exceed 1, and once a token may write twice.

One layer of DeltaNet, A_t a product of n_h factors I - beta k k^T with unit keys: what the literature did next (Grazzi
et al. 2024 for beta, Siems et al. 2025 for n_h).  Rows say the upper end of beta and n_h.

Tasks: parity and (aa)* of paper 003, Sum(5) of paper 000, and S_3: the product of the permutations of three things read
so far, all six as tokens and as answers.  Trained on 2,000 strings of up to 50 tokens, scored as paper 003 does, and by
position on strings of ``FAR`` tokens.

Letters: B batch, T time, n_h writes per token.
"""

from collections.abc import Sequence
from functools import partial
from itertools import permutations
from typing import Any

import torch
from torch import nn

from lrnnbook.content.tables import fwp_training
from lrnnbook.content.tables.table import by_setting, load
from lrnnlab.tasks import BaseTask, Batch, Sum, Task, WordProblem
from lrnnlab.tasks.counter_languages import COUNTER_TASKS
from lrnnlab.training import rng
from lrnnlab.training.curriculum import answers

FAR, FAR_STRINGS, BLOCK = 400, 100, 10  # tokens, strings, and positions that are averaged


class MixedLengths(BaseTask):
    """A ``Task`` whose strings have as many lengths as those of paper 003: uniform in a window, the tokens uniform too."""

    padded, train_length, test_length, tokens_per_size = True, 50, 100, 1

    def __init__(self, task: Task):
        self.task, self.classes, self.vocab_size = task, task.classes, task.vocab_size

    def sample(self, batch: int, length: int, generator: torch.Generator) -> Batch:
        return self.task.sample(batch, length, generator)

    def majority(self, length: int) -> float:
        return self.task.majority(length)

    def check_length(self, length: int) -> int:
        return self.task.check_length(length)

    def bin(self, k: int) -> tuple[int, int]:
        """2..50, then 51..100."""
        return COUNTER_TASKS["parity"]().bin(k)

    def strings(self, count: int, window: tuple[int, int], generator: torch.Generator) -> list[list[int]]:
        """``count`` strings as lists of tokens."""
        lengths = torch.randint(window[0], window[1] + 1, (count,), generator=generator)
        rows = self.task.draw(count, window[1], generator)
        return [row[:length].tolist() for row, length in zip(rows, lengths)]

    def splits(self, generator: torch.Generator, train: int, test: int) -> dict[str, list[list[int]]]:
        """As ``PositiveTask.splits``, but drawn one by one: of the shortest strings some are in two parts, or twice in one."""
        windows = {"train": self.bin(0), "bin0": self.bin(0), "bin1": self.bin(1), "held_out": self.bin(0)}
        return {name: self.strings(train if name == "train" else test, window, generator)
                for name, window in windows.items()}  # fmt: skip

    def batch(self, words: Sequence[Sequence[int]]) -> Batch:
        """Strings of any lengths side by side, filled up with token 0 behind their ends, where the mask is False."""
        lengths = torch.tensor([len(word) for word in words])
        tokens = nn.utils.rnn.pad_sequence([torch.tensor(word) for word in words], batch_first=True)
        mask = torch.arange(tokens.shape[1]) < lengths.unsqueeze(1)
        return Batch(tokens, self.task.targets(tokens).masked_fill(~mask, -1), mask)


# all six permutations of three things as tokens; number k of the answers is the k-th in dictionary order, too
PERMUTATIONS = WordProblem({"".join(map(str, one)): one for one in permutations(range(3))}, "S_3")
MAKERS: dict[str, Any] = {
    "parity": COUNTER_TASKS["parity"], "aa": COUNTER_TASKS["aa"],
    "sum5": partial(MixedLengths, Sum(5)), "s3": partial(MixedLengths, PERMUTATIONS),
}  # fmt: skip


def measure(setting: dict, seed: int, **how: Any) -> dict:
    """Train and score; besides what :func:`fwp_training.measure` has: ``by_position``, see :func:`by_position`."""
    task = MAKERS[setting["task"]]()
    made, found = fwp_training.measure(task, setting, seed, **how)
    return {**found, "by_position": by_position(made.net, task, seed)}


@torch.no_grad()
def by_position(net: nn.Module, task: BaseTask, seed: int) -> list[float]:
    """Accuracy over every ``BLOCK`` positions of ``FAR_STRINGS`` uniform strings of ``FAR`` tokens."""
    far = task.sample(FAR_STRINGS, FAR, rng(seed, "fwp/far"))
    right = (answers(net, far)[0] == far.targets).double().mean(0)
    return [round(value, 4) for value in right.view(-1, BLOCK).mean(1).tolist()]


TABLE = load("fwp/negative", by_setting(measure))
