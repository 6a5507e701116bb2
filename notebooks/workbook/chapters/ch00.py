"""Chapter 00 (start here): the judges of its exercises; and the maps of all models and tasks, which the glossary shows."""

from __future__ import annotations

import numpy as np

from lrnnlab.models import MODELS, reads_numbers
from lrnnlab.tasks import TASKS, task
from workbook.show import labels

OWN = {"says": "one of your own", "chapter": "", "paper": ""}


def models() -> list[dict[str, str]]:
    """One row a model of the registry: its name, what its step is, what it reads, its paper, and the chapter where it lives.

    >>> models()[0]["name in build"], models()[0]["chapter"], len(models()) == len(MODELS)
    ('"block_diagonal"', '02', True)
    """
    homes = {name: labels.MODELS.get(name, OWN) for name in MODELS}
    return [
        {"name in build": f'"{name}"', "one step": home["says"], "reads": "tokens, numbers" if reads_numbers(name) else "tokens",
         "paper": home["paper"], "chapter": home["chapter"]} for name, home in homes.items()
    ]  # fmt: skip


def tasks() -> list[dict[str, str | int]]:
    """One row a task of the registry: its name, what it reads and asks, its training length, and its chapter.

    >>> tasks()[0]["asks"], tasks()[0]["trained at"], len(tasks()) == len(TASKS)
    ('the sum so far modulo M', 40, True)
    """
    rows = []
    for name in TASKS:
        one, home = task(name), labels.TASKS.get(name, OWN)
        reads = f"{one.input_size} numbers a step" if one.reads == "numbers" else f"{one.input_size} letters"
        rows.append({"name in task": f'"{name}"', "reads": reads, "asks": home["says"], "trained at": one.train_length,
                     "chapter": home["chapter"]})  # fmt: skip
    return rows
