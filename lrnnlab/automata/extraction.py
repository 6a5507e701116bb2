"""Network to machine: Angluin's L* asks a black box until a finite machine answers as it does, or says why it stopped.

A black box answers after every token and nothing else is known of it: a trained net, or a machine (as a test).  L*
(Angluin 1987, here that of aalpy, for Moore machines) asks words, builds the smallest machine that agrees, and asks for
a word on which the two differ.  Two ways to look for one:

* ``search(machine)``, exact, where there is one: of a snapped net, ``lrnnlab.verification`` knows it;
* random words, half of which go first to a state of the machine, so that rare states are left in all ways too.

A net that has learned a machine gives back its states in well under a second.  A net that has not is no small machine,
and L* would go on for ever: rounds, states and seconds are bounded.

What the box says before the first token is not asked.  The initial state is therefore merged with a state that every
token leaves in the same way, if there is one; else it shows -1.

Letters: V tokens, Q states, N words, T time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lrnnlab.automata.machines import NO_LABEL, MooreMachine, minimise
from lrnnlab.validation import checked, number, whole_number

INSTALL = "pip install 'aalpy>=1.4'"


@dataclass(frozen=True, eq=False)
class Extracted:
    """What :func:`lstar` found.

    ``machine``: the smallest that answers as the black box does, None if L* was stopped.  ``why``: what ended it, in
    words.  ``exact``: an exact search found no word that is answered otherwise; False where random words were all.
    ``states`` of the last machine that was tried, in round ``rounds``; ``queries`` words were asked for it, ``compared``
    random ones beside, in ``seconds``.
    """

    machine: MooreMachine | None
    why: str
    exact: bool
    states: int
    rounds: int
    queries: int
    compared: int
    seconds: float

    def __str__(self) -> str:
        return f"{'no machine' if self.machine is None else f'{self.machine.num_states} states'}: {self.why}"


class Stopped(Exception):
    """Ends an extraction without a machine, and says why; a ``search`` that cannot decide may raise it too."""


@checked
def lstar(
    answer: Callable[[np.ndarray], Any],
    symbols: Iterable[Hashable],
    *,
    search: Callable[[MooreMachine], tuple | None] | None = None,
    rounds: int = 30,
    states: int = 100,
    seconds: float = 10.0,
    walks: int = 300,
    length: int = 60,
    seed: int = 0,
) -> Extracted:
    """The smallest machine that answers as a black box does, as far as words can tell.

    ``answer(tokens)`` gives the class after every token of words (N, T), also (N, T): ``MooreMachine.answer`` is one, and
    ``lrnnlab.verification.black_box.answers`` makes one of a net.  ``search(machine)`` gives a word after which the two
    differ, None if there is none, or raises ``Stopped``; without it, ``walks`` random words a round, of ``length`` symbols,
    drawn by ``seed``, are compared.  L* stops after so many ``rounds`` (machines that are tried), ``states`` or ``seconds``.

    >>> third = MooreMachine.from_rule(0, "01", lambda state, token: (state + token) % 3, lambda state: state)
    >>> print(lstar(third.answer, third.symbols, seconds=60))
    3 states: 300 random words of 60 symbols are all answered alike
    """
    for name, bound in {"rounds": rounds, "states": states, "walks": walks, "length": length}.items():
        whole_number(bound, 1, name)
    number(seconds, "seconds", 0)
    box = _Box(answer, tuple(symbols), seconds)
    asked = _Question(box, search, rounds, states, walks, length, np.random.default_rng(seed))
    try:
        learned = _library()(
            list(range(len(box.symbols))), box, asked, "moore", cex_processing="rs", cache_and_non_det_check=False,
            print_level=0,
        )  # fmt: skip
        machine, why = _started(minimise(_ours(learned, box.symbols))), asked.why
    except Stopped as stop:
        machine, why = None, str(stop)
    return Extracted(machine, why, machine is not None and search is not None, asked.states, asked.rounds, len(box.asked),
                     asked.compared, round(time.monotonic() - box.start, 3))  # fmt: skip


def _library() -> Callable[..., Any]:
    """aalpy's L*; imported only when asked for, since nothing else in the package needs it."""
    try:
        from aalpy.learning_algs import run_Lstar
    except ImportError as error:
        raise ImportError(f"extracting a machine needs the library aalpy: {INSTALL}") from error
    return run_Lstar


class _Box:
    """The black box as aalpy's L* asks it (its ``SUL``)."""

    num_queries = num_steps = 0  # of which aalpy makes a report

    def __init__(self, answer, symbols, seconds):
        if not symbols:
            raise ValueError(f"a machine reads at least one symbol, got symbols={symbols}")
        self.answer, self.symbols = answer, symbols
        self.start, self.seconds = time.monotonic(), seconds
        self.known: dict[tuple, int] = {}
        self.asked: set[tuple] = set()
        self.where = ""  # how far L* is, for the message

    def query(self, word):
        """The classes after every token of a word; of the empty one, ``[-1]``."""
        if time.monotonic() - self.start > self.seconds:
            raise Stopped(f"stopped after {self.seconds:g} seconds{self.where}")
        word = tuple(word)
        if not word:
            return [NO_LABEL]
        if word not in self.known:
            self.asked.add(word)
            for end, label in enumerate(self.classes(np.array([word]))[0].tolist(), 1):
                self.known.setdefault(word[:end], label)
        return [self.known[word[:end]] for end in range(1, len(word) + 1)]

    def classes(self, words):
        """(N, T) answers to words (N, T)."""
        found = np.asarray(self.answer(words))
        if found.shape != words.shape or found.dtype.kind not in "iu":
            raise ValueError(f"answers to words {words.shape} must be as many whole numbers, got shape {found.shape} of "
                             f"{found.dtype}")  # fmt: skip
        return found


class _Question:
    """Whether the box and a machine differ, as aalpy's L* asks it (its ``Oracle``)."""

    num_queries = num_steps = 0

    def __init__(self, box, search, rounds, states, walks, length, draw):
        self.box, self.sul, self.search, self.draw = box, box, search, draw
        self.most_rounds, self.most_states, self.walks, self.length = rounds, states, walks, length
        self.rounds = self.states = self.compared = 0
        self.why = ""

    def find_cex(self, hypothesis):
        """A word that is answered otherwise, or None; stops at the bounds."""
        machine = minimise(_ours(hypothesis, self.box.symbols))
        self.rounds, self.states = self.rounds + 1, _started(machine).num_states
        self.box.where = f" at {_several(self.states, 'state')}, in round {self.rounds + 1}"
        if self.states > self.most_states:
            raise Stopped(f"stopped at {self.states:,} states, more than {self.most_states:,}, in round {self.rounds}")
        word = self._random(machine) if self.search is None else self.search(machine)
        if word is not None and self.rounds == self.most_rounds:
            raise Stopped(f"stopped after {_several(self.rounds, 'round')}, at {_several(self.states, 'state')}, and a word "
                        "was still answered otherwise")  # fmt: skip
        self.why = (f"{self.walks:,} random words of {self.length:,} symbols are all answered alike" if self.search is None
                    else "an exact search found no word that is answered otherwise")  # fmt: skip
        return word

    def _random(self, machine):
        words = self.draw.integers(len(self.box.symbols), size=(self.walks, self.length))
        ways = list(machine.ways().values())
        for word in words[::2]:
            way = ways[self.draw.integers(len(ways))][: self.length]
            word[: len(way)] = way
        self.compared += len(words)
        differ = self.box.classes(words) != machine.answer(words)
        for row in sorted(np.flatnonzero(differ.any(1)), key=lambda row: int(differ[row].argmax())):
            word = tuple(words[row, : differ[row].argmax() + 1].tolist())
            if self.box.query(word)[-1] != machine.answer(word)[-1]:  # not for what rounding says in a batch alone
                return word
        return None


def _several(count, what):
    return f"{count:,} {what}{'s' * (count != 1)}"


def _ours(learned, symbols):
    """aalpy's machine as one of ours."""
    return MooreMachine.from_rule(
        learned.initial_state, symbols, lambda state, token: state.transitions[token], lambda state: state.output,
        name=lambda state: str(state.state_id),
    )  # fmt: skip


def _started(machine):
    """The machine with one state less, where the initial one differs from another by nothing but its own class."""
    arrows = machine.transitions
    if machine.outputs[machine.initial] != NO_LABEL or (arrows == machine.initial).any():
        return machine
    like = np.flatnonzero((arrows == arrows[:, [machine.initial]]).all(0))
    return minimise(replace(machine, initial=int(like[like != machine.initial][0]))) if len(like) > 1 else machine
