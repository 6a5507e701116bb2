"""A trained net as a black box: its answers, and the machine that L* makes of them.

Letters: N words, T time, V tokens.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np
import torch

from lrnnlab.automata import MooreMachine, lstar
from lrnnlab.automata.extraction import Extracted, Stopped
from lrnnlab.models import Net
from lrnnlab.models.base import RecurrentNet, as_module
from lrnnlab.models.exact import obstacle
from lrnnlab.tasks.batch import answered
from lrnnlab.training import deterministic
from lrnnlab.training.evaluation import at_rest
from lrnnlab.validation import checked

AT_ONCE = 64  # words of one forward pass
PAIRS = 200_000  # of states that one exact search looks at


@checked
def answers(net: torch.nn.Module | RecurrentNet) -> Callable[[np.ndarray], np.ndarray]:
    """What a net that reads tokens answers, as ``MooreMachine.answer`` gives it: words (N, T) -> classes (N, T).

    >>> from lrnnlab.models import build
    >>> answers(build("lstm", vocab_size=2, classes=3, width=8))(np.zeros((5, 4), int)).shape
    (5, 4)
    """

    reader = as_module(net, "extract")

    @torch.no_grad()
    @deterministic()
    def asked(words: np.ndarray) -> np.ndarray:
        with at_rest(reader):
            return np.concatenate([answered(reader(part)).numpy() for part in torch.from_numpy(words).split(AT_ONCE)])

    return asked


@checked
def extract(
    net: torch.nn.Module | RecurrentNet | Callable[[np.ndarray], Any],
    symbols: Iterable[Hashable],
    *,
    rounds: int = 30,
    states: int = 100,
    seconds: float = 10.0,
    walks: int = 300,
    length: int = 60,
    seed: int = 0,
) -> Extracted:
    """The smallest machine that answers as ``net`` does: :func:`lrnnlab.automata.lstar` of its answers, exact if it is snapped.

    Of a snapped net every question of L* for a word that is answered otherwise goes to :func:`verify`, which covers the
    words of every length.  Of any other net random words are compared, so the machine is that of words up to ``length``:
    a net that drifts at 200 may well give back a machine at 60.

    Parameters
    ----------
    net : Module or RecurrentNet
        It reads tokens and answers after each; or a function of words (N, T), as ``automata.lstar`` takes it.
    symbols : sequence of str
        The tokens' names.
    rounds, states : int
        The most machines that L* tries, and the most states;
    seconds : float
        and the most seconds that it takes.
    walks, length, seed : int
        How many random words a round, of how many tokens, and what draws them.

    Returns
    -------
    Extracted
        The machine, or none, and why.

    Examples
    --------
    >>> from lrnnlab.models import build, exact_model, snap
    >>> from lrnnlab.tasks import task
    >>> s_3 = task("s_3")
    >>> found = extract(exact_model(s_3.machine), s_3.symbols, seconds=60)
    >>> found.machine == s_3.machine, found.exact
    (True, True)
    >>> untrained = build("block_diagonal", vocab_size=2, classes=2, h=2, b=2, rule="softmax", drive="none",
    ...                   start="first", seed=1)
    >>> extract(snap(untrained), "01", seconds=60).why
    'an exact search found no word that is answered otherwise'
    """
    if callable(net) and not isinstance(net, (type, torch.nn.Module)) and not hasattr(net, "step"):
        ask, search = net, None
    else:
        ask = answers(typing.cast(RecurrentNet, net))
        search = _searching(net) if isinstance(net, Net) and obstacle(net, "hard") is None else None
    return lstar(ask, symbols, search=search, rounds=rounds, states=states, seconds=seconds, walks=walks, length=length,
                 seed=seed)  # fmt: skip


def _searching(net: Net) -> Callable[[MooreMachine], tuple | None]:
    """The exact search for a word that the snapped net and a machine answer differently."""
    from lrnnlab.verification import verify

    def search(machine):
        verdict = verify(net, machine, limit=PAIRS)
        if verdict.counterexample is None and not verdict.proved:
            raise Stopped(f"stopped at {machine.num_states:,} states, where the exact search says: {verdict}")
        return verdict.counterexample

    return search
