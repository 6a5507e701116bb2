"""A snapped or quantised model is a finite automaton: prove what it computes, or give the shortest wrong string.

Breadth-first search over what the network is in (the states of its blocks, one-hot) together with the state of the
task's automaton either closes without a wrong answer, which proves the model right on every string of every length, or
meets a wrong answer, and the path to it is a shortest counter-example.  Sampling cannot do this: a model may be right
on a million random symbols and wrong on a string of fifteen.

The plain product of all blocks' states is too large to search.  Two things make it small: lower layers count only by
what they make the last layer do (``lower_layers``), and with a linear readout most heads of the last layer need not be
followed at all (``search``).

A module of your own needs ``vocab_size``, ``classes``, ``initial_state`` and ``step``; untrained, this one is refuted:

>>> from lrnnlab.tasks import task
>>> class Mine(torch.nn.Module):
...     vocab_size = classes = 2
...     def __init__(self):
...         super().__init__()
...         self.cell, self.readout = torch.nn.RNNCell(2, 8), torch.nn.Linear(8, 2)
...     def initial_state(self, batch):
...         return torch.zeros(batch, 8, dtype=self.readout.weight.dtype)
...     def step(self, state, tokens):
...         state = self.cell(torch.nn.functional.one_hot(tokens, 2).to(state.dtype), state)
...         return state, self.readout(state)
>>> parity = task("parity")
>>> verify(quantise(Mine(), parity), parity.specification).counterexample is not None
True
"""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import groupby
from os import PathLike
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from lrnnlab.automata import MooreMachine
from lrnnlab.files import put
from lrnnlab.models import Net
from lrnnlab.training import deterministic
from lrnnlab.validation import checked
from lrnnlab.verification.black_box import extract
from lrnnlab.verification.heads import learned_machine
from lrnnlab.verification.quantised import Quantised, quantise, verify_quantised
from lrnnlab.verification.search import Search, Verdict, contributions, reachable
from lrnnlab.verification.semantics.carried import digest, read_graph
from lrnnlab.verification.semantics.certificate import check_certificate
from lrnnlab.verification.semantics.lower_layers import LowerMachine, check_snapped, live_part, reach
from lrnnlab.verification.semantics.traced import TracedStep, plain_torch

__all__ = [
    "Quantised", "Verdict", "check_certificate", "digest", "extract", "learned_machine", "load_proof", "quantise",
    "save_proof", "verify",
]  # fmt: skip

LOWER = 200_000  # at most so many states of the layers under the last


@checked
def verify(
    model: Net | Quantised,
    specification: MooreMachine,
    *,
    limit: int = 1_000_000,
    wanted: int = 1,
    depth: int | None = None,
) -> Verdict:
    """Compare a snapped model with a machine on all strings: a proof, or the shortest counterexample.

    **What is proved.**  That ``model``, with the weights it has, in the type it has, answers rightly after every prefix
    of every string where the specification answers, whatever the batch, the length and the scan, on every machine that
    computes in IEEE arithmetic of that type (so not in a shorter one, as TensorFloat32 or under autocast).  The search
    itself is exact.  Where a number decides (the largest entry of a column, the largest logit) its lead must be more
    than rounding can take, by a bound that holds for every order of summation (:mod:`lrnnlab.verification.semantics.rounding`);
    else the verdict is "not decided".  The verdict tells the least leads.  ``snap`` gives double precision; in float32
    a model may be right and yet not decided.  Nothing is proved of the trained model that was snapped.

    A counterexample is a string that ``model`` itself, asked here, answers wrongly.

    A quantised net (:func:`quantise`) is a machine of its codes, read off by one step from each code with each letter (for
    ``every=k`` by k); that machine is compared on all strings.  The same holds for it: the least lead of a logit, and of a
    chosen code over the second, is more than rounding can take, on every machine.  The object of the proof is ``model``: its
    graph, ``model.steps.graph``, on each string of a batch alone, with the numbers that are in it now; ``model(tokens)`` runs
    the same graph.  Nothing is proved of the net that was traced (which was compared on some strings), nor of what a
    compiler makes of ``model``.  ``verdict.about`` says what was proved: restarted how often, in which type.  Modes of
    torch (gradients, inference, autocast, default type and device) and of the model (training) change no verdict.

    Parameters
    ----------
    model : Net
        What :func:`lrnnlab.models.snap` or :func:`quantise` returns.
    specification : MooreMachine
        The right answers, -1 where none is asked for.
    limit : int
        Pairs that a search explores at most; beyond it the verdict is "not decided".  (This and the next two are of
        snapped models.)
    wanted : int
        The search goes on until it has met so many wrong strings.
    depth : int, optional
        Only strings of up to so many symbols.

    Returns
    -------
    Verdict
        Whether it is proved, and the counterexamples.

    Raises
    ------
    ValueError
        If the model is not snapped, or anything in it could make it compute something else than its weights say
        (:func:`lrnnlab.models.exact.obstacle`; of a quantised net hooks, a class, a forward or parts of its own, or a graph with
        more in it than torch's operations); if weights are not on the CPU or of mixed types; if the alphabet or the
        classes do not fit the specification; or if this never asks for an answer.

    Examples
    --------
    >>> from lrnnlab.models import build, snap
    >>> from lrnnlab.tasks import Sum
    >>> untrained = build("block_diagonal", vocab_size=2, classes=2, h=2, b=2, rule="softmax", drive="none",
    ...                   start="first", seed=1)
    >>> verify(snap(untrained), Sum(2).specification).proved
    False
    """
    with plain_torch():
        if isinstance(model, Quantised):
            verdict = verify_quantised(model, specification)
        else:
            verdict = _verify_snapped(model, specification, limit, wanted, depth)
        wrong = _really_wrong(model, specification, verdict.counterexamples)
    if verdict.robust and wrong != verdict.counterexamples:
        raise AssertionError("the model and the search disagree about a string: please report this")
    return replace(verdict, counterexamples=wrong)


@checked
def save_proof(file: str | PathLike[str], model: Quantised, specification: MooreMachine) -> Verdict:
    """Prove a quantised net, and write it with its codes, the task and the certificate into one file for another machine.

    ``ValueError`` with the verdict if it is not proved, or has more places than a certificate tells.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from lrnnlab.models import exact_model
    >>> from lrnnlab.tasks import task
    >>> parity = task("parity")
    >>> with TemporaryDirectory() as folder:
    ...     _ = save_proof(Path(folder, "parity.pt"), quantise(exact_model(parity.machine), parity), parity.specification)
    ...     model, verdict = load_proof(Path(folder, "parity.pt"), parity.specification)
    >>> verdict.proved, model(torch.tensor([[1, 1, 0, 1]])).argmax(-1).tolist()
    (True, [[1, 0, 0, 1]])
    """
    verdict = verify(model, specification)
    if not verdict.certificate:
        raise ValueError(f"there is no proof to save: {verdict}")
    sizes = {"vocab_size": model.vocab_size, "classes": model.classes}
    held = {"format": "lrnnlab proof 1", "certificate": verdict.certificate, **sizes, "net": dict(model.state_dict())}
    torch.save(held, whole := io.BytesIO())
    put(Path(file), whole.getvalue())
    return verdict


@checked
def load_proof(file: str | PathLike[str], specification: MooreMachine | None = None) -> tuple[Quantised, Verdict]:
    """The net in a file of :func:`save_proof`, and its verdict: nothing in the file is believed, it is proved again here.

    The file is data (``torch.load(weights_only=True)``); the net is read as a list of operations of torch and refused if
    there is anything else in it.  ``specification``: the task that you mean; without it the file's own is proved, of which
    ``verdict.certificate`` says what it asks.  ``ValueError``, with the reason, if the file does not hold what it says.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     torch.save([1, 2], Path(folder, "parity.pt"))
    ...     load_proof(Path(folder, "parity.pt"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: ...parity.pt holds no proof: list indices must be integers or slices, not str
    """
    try:
        held = torch.load(file, map_location="cpu", weights_only=True)
        if held["format"] != "lrnnlab proof 1":
            raise ValueError(f"format {held['format']!r}")
        with plain_torch():
            model = _read_net(held)
        task = check_certificate(held["certificate"], specification)["task"]
        machine = MooreMachine(np.array(task["arrows"]).T, task["answers"], task["start"], tuple(task["letters"]))
        verdict = verify(model, specification or machine)
    except OSError:
        raise
    except Exception as error:  # whatever a file may hold
        raise ValueError(f"{file} holds no proof: {error}") from error
    if not verdict.proved or verdict.certificate != held["certificate"]:
        raise ValueError(f"{file} holds another net than its certificate says: {verdict}")
    return model, verdict


def _read_net(held: dict[str, Any]) -> Quantised:
    net, sizes = held["net"], SimpleNamespace(vocab_size=int(held["vocab_size"]), classes=int(held["classes"]))
    known = net["_extra_state"]
    start, codes = ([part for key, part in net.items() if key.startswith(name)] for name in ("steps.start", "code"))
    weights = {key.removeprefix("steps.graph."): part for key, part in net.items() if key.startswith("steps.graph.")}
    steps = TracedStep(sizes, (read_graph(known["graph"], weights), start))
    model = Quantised(steps, known["every"], tuple(codes), [tuple(word) for word in known["words"]], net["answers"])
    model.closed, model.why = known["closed"], known["why"]
    return model


def _verify_snapped(
    model: Net, specification: MooreMachine, limit: int, wanted: int, depth: int | None
) -> Verdict:
    check_snapped(model, specification)
    if limit < 1 or wanted < 1 or (depth is not None and depth < 0):
        raise ValueError(f"limit and wanted are at least 1, depth at least 0; got {limit}, {wanted}, {depth}")
    with deterministic():
        below = reach(model, live_part(specification), LOWER)
        if below is None:
            return Verdict(False, (), 0, LOWER)
        verdict = _some_heads(model, specification, below, limit, depth) if len(model.head) == 1 else None
        if verdict is None:
            everything = np.arange(model.layers[-1].h)
            verdict = Search(model, specification, below, everything).run(limit, wanted=wanted, depth=depth)
    return replace(verdict, about=f"snapped, in {str(model.encoder.weight.dtype)[6:]}")


def _really_wrong(model: Net | Quantised, specification: MooreMachine, words: tuple) -> tuple[tuple[int, ...], ...]:
    """Those of ``words`` (in order of length) whose last answer by the model itself is wrong."""
    wrong = []
    for _, alike in groupby(words, len):
        tokens = np.array(list(alike))
        answers = model(torch.from_numpy(tokens))[:, -1].argmax(-1).numpy()
        wrong += tokens[answers != specification.answer(tokens)[:, -1]].tolist()
    return tuple(map(tuple, wrong))


def _some_heads(
    model: Net, specification: MooreMachine, below: LowerMachine, limit: int, depth: int | None
) -> Verdict | None:
    """Follow more and more heads, widest contributions first, while some are left out; None if that proves nothing."""
    each, h = contributions(model), model.layers[-1].h
    reached = [each[0][k, reachable(model, below, k)] for k in range(h)]  # (reachable states, C) of each head
    order = np.argsort([-np.ptp(v, axis=0).max() for v in reached], kind="stable")
    for count in range(1, h):
        rest = sum((v[:, :, None] - v[:, None, :]).min(0) for v in (reached[k] for k in order[count:]))
        search = Search(model, specification, below, np.sort(order[:count]))
        verdict = search.run(limit, rest, each, depth=depth)
        if verdict.proved or (depth is not None and verdict.depth >= depth):
            return verdict
        if verdict.pairs > limit:  # more heads would only mean more pairs
            return None
    return None
