"""Tasks without a name of their own: any finite machine, the word problem of any group.

Letters: B batch, T time, V tokens, Q states, n elements of a group.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from lrnnlab.automata import NO_LABEL, MooreMachine, minimise
from lrnnlab.automata.languages import GROUPS, permuting
from lrnnlab.automata.oracles import carried
from lrnnlab.tasks.base import Batch, Task
from lrnnlab.validation import shown


class MachineTask(Task):
    """The answers of ``machine`` (a ``MooreMachine``) to uniformly random strings, wherever it shows a class.

    ``rule`` is that machine, its arrows as the reader wrote them; the oracle follows these one by one.  What is shown
    before the first token, or where no string leads, is no answer.  ValueError unless the machine's answers are the
    classes 0..C-1, at least two of them.

    >>> flip_flop = MooreMachine([[0, 0], [1, 1], [0, 1]], [0, 1], 0, ("off", "on", "-"))
    >>> task = MachineTask(flip_flop, "flip-flop")
    >>> task.answer(task.read("on - off on"))
    [1, 1, 0, 1]
    """

    def __init__(self, machine, name="machine"):
        if not isinstance(machine, MooreMachine):
            raise ValueError(f"{name}: a machine is a MooreMachine, got {machine!r}")
        after = machine.outputs[machine.transitions[:, machine.reachable()]]  # one token or more
        classes = self._classes(machine, after)
        if classes != list(range(len(classes))) or len(classes) < 2:
            raise ValueError(f"{name}: a task's classes are 0, 1, ..., at least two; this machine shows {classes}")
        self.rule = replace(machine, outputs=np.where(np.isin(machine.outputs, classes), machine.outputs, NO_LABEL))
        self.name, self.symbols, self.classes = name, machine.symbols, len(classes)
        self.answers = "places" if NO_LABEL in after else "every"

    def _classes(self, machine: MooreMachine, after: np.ndarray) -> list[int]:
        return sorted(set(after.ravel().tolist()) - {NO_LABEL})

    def answer(self, tokens: Any) -> list[int]:
        arrows, state, answers = self.rule.transitions.tolist(), self.rule.initial, []
        for token in self.check_string(tokens):
            state = arrows[token][state]
            answers.append(int(self.rule.outputs[state]))
        return [label for label in answers if label != NO_LABEL]

    def labelled(self, tokens: torch.Tensor) -> Batch:
        targets = self.label(tokens)
        return Batch(tokens, targets, targets != NO_LABEL)

    def majority(self, length: int) -> float:
        """Accuracy of the best constant answer at the last position, among the strings that have a label there.

        NaN where none of 4,096 strings has one.
        """
        if self.answers == "every":
            return super().majority(length)
        targets = self.sample(4096, length, torch.Generator().manual_seed(0)).targets[:, -1]
        counts = targets[targets != NO_LABEL].bincount()
        return float(counts.max() / counts.sum()) if len(counts) else math.nan


class StateTracking(MachineTask):
    """Which state the smallest machine with the answers of ``machine`` is in, after every token.

    Uniform strings ask little of some machines: a flip-flop is written again before anything could be forgotten, and
    brackets are soon beyond mending.  So ``weights`` says how often each symbol comes; and where the machine has a state
    that cannot be left, half of the strings take no arrow into it (where there is another), and the others do so up to a
    position that is drawn.  Were they to die at once, a net would never be asked whether it saw a late mistake.

    Parameters
    ----------
    machine : MooreMachine
        What is followed.
    name : str
        The task's.
    weights : sequence of float, optional
        (V,), one a symbol; all the same if not given.

    Raises
    ------
    ValueError
        For weights that are not V positive numbers, or a machine with one state.

    Examples
    --------
    >>> from lrnnlab.automata.languages import language
    >>> task = StateTracking(language("D_2").machine, "D_2")
    >>> task.classes, task.answer(task.read("aabb"))
    (4, [1, 3, 1, 0])
    >>> drawn = task.sample(1000, 40, torch.Generator().manual_seed(0))
    >>> 0.5 < float((drawn.targets[:, -1] != 2).double().mean()) < 0.65
    True
    """

    def __init__(self, machine: MooreMachine, name: str = "machine", weights: Sequence[float] | None = None):
        if not isinstance(machine, MooreMachine):
            raise ValueError(f"{name}: a machine is a MooreMachine, got {machine!r}")
        smallest = minimise(machine)
        super().__init__(replace(smallest, outputs=np.arange(smallest.num_states)), name)
        V = len(machine.symbols)
        self.weights = np.asarray([1] * V if weights is None else weights, dtype=float)
        if self.weights.shape != (V,) or not (np.isfinite(self.weights) & (self.weights > 0)).all():
            raise ValueError(f"{name}: weights are {V} positive numbers, one a symbol, got {weights!r}")
        arrows = torch.from_numpy(smallest.transitions.T.copy())  # (Q, V)
        free = torch.from_numpy(self.weights) * ~torch.isin(arrows, torch.tensor(smallest.sinks))
        free = torch.where(free.sum(1, keepdim=True) > 0, free, torch.from_numpy(self.weights)).cumsum(1)
        self._arrows, self._edges, self._dies = arrows, (free / free[:, -1:])[:, :-1], bool(smallest.sinks)

    def _classes(self, machine: MooreMachine, after: np.ndarray) -> list[int]:
        return list(range(machine.num_states))  # the initial one too where no token leads back to it

    def token_distribution(self, position: int) -> np.ndarray:
        """(V,) as the weights say; the half of the strings that keeps out of the sinks departs from it."""
        return self.weights / self.weights.sum()

    def label_distribution(self, position: int) -> np.ndarray:
        """As of every task; ValueError where some strings keep out of sinks, as it then depends on the length too."""
        if self._dies:
            raise ValueError(f"{self}: how often a state comes at position {position} depends on the length of the strings, "
                             "of which half keep out of the sinks; see majority")  # fmt: skip
        return super().label_distribution(position)

    def draw(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        tokens = super().draw(batch, length, generator)
        if self._dies:
            uniform = torch.rand(tokens.shape, dtype=torch.float64, generator=generator, device=generator.device)
            until = torch.randint(2 * length, (batch,), generator=generator, device=generator.device)
            edges, arrows = (table.to(tokens.device) for table in (self._edges, self._arrows))
            state = torch.full_like(until, self.rule.initial)
            for t in range(length):
                alive = (uniform[:, t : t + 1] >= edges[state]).sum(-1)
                tokens[:, t] = torch.where(t < until, alive, tokens[:, t])
                state = arrows[state, tokens[:, t]]
        return tokens

    def majority(self, length: int) -> float:
        """Of 4,096 strings that are drawn: what is exact for ``token_distribution`` leaves out those that live on."""
        targets = self.sample(4096, length, torch.Generator().manual_seed(0)).targets[:, -1]
        return float(targets.bincount().max() / len(targets))


class WordProblem(MachineTask):
    """Which element of a group the product of the tokens so far is: tokens are generators, classes the n elements.

    ``generators``: {symbol: permutation as a tuple, x goes to g[x]}.  The oracle carries the points one by one.

    >>> task = WordProblem({"s": (1, 0, 2), "t": (1, 2, 0)}, "S_3")
    >>> task.classes, task.answer(task.read("stst"))
    (6, [1, 3, 5, 0])
    """

    def __init__(self, generators, name="group"):
        try:
            points = {tuple(sorted(g)) for g in generators.values()}
        except (AttributeError, RuntimeError, TypeError):  # no dict, or not of sequences
            points = set()
        if points != {tuple(range(max(map(len, points), default=0)))}:
            raise ValueError(f"{name}: generators are permutations of the same points 0, 1, ..., got {shown(generators)}")
        self.generators = dict(generators)
        super().__init__(permuting(tuple(generators), *generators.values()), name)

    def answer(self, tokens: Any) -> list[int]:
        word = [self.symbols[token] for token in self.check_string(tokens)]
        return [self.rule.names.index(carried(self.generators, word[:end])) for end in range(1, len(word) + 1)]


def group(name: str) -> WordProblem:
    """The word problem of a group of the book, ``s_3``, ``a_4``, ``s_4``, ``q_8``, ``a_5``, or ``z_M``, M from 2 to 9,999.

    >>> group("z_7").classes, group("a_5").classes
    (7, 60)
    """
    proper = name.upper()
    if proper in GROUPS:
        return WordProblem(GROUPS[proper], proper)
    found = re.fullmatch(r"Z_(\d{1,4})", proper)
    if found and int(found[1]) >= 2:
        order = int(found[1])
        return WordProblem({"0": tuple(range(order)), "1": (*range(1, order), 0)}, proper)
    raise ValueError(f"no group is called {name!r}; there are {', '.join(g.lower() for g in GROUPS)}, and z_M, M from 2 to 9999")
