"""Any rule made right at every length: a net whose state is put, after every k-th token, to one of finitely many states.

An affine recurrence cannot correct an error along the directions that tell its states apart (arXiv:2605.07755), so what
is trained drifts.  Its readout can: what the net *answers* after its state says which state it should be in.  So after
every k-th token the state is put to a state of a *codebook*, the one that answers alike.  No weight changes.  Then the
net is a finite machine, which can be read off and compared with a specification on all strings.

What is restarted, read off, proved and run is one object, :class:`~lrnnlab.verification.semantics.traced.TracedStep`: a list of
torch's operations for one token and one string, with the net's weights in it.  The net itself, with all that its Python may
do beside (count calls, look at the batch), stays behind; that it is no other net is tried when it is quantised.

The codebook is found as Moore's algorithm finds the states of a machine, on the net's own states: two visited states
are in one class if the net answers alike after each of a few words (at first after none: its answer there).  Where one
letter leads from a class to two, the word that tells these apart, with the letter before it, joins the words.  The code
of a class is that visited state (or their mean) from which each letter is answered by the widest margin.

Letters: B batch, T time, V tokens, C classes of answers, K codes, W words, N visited states.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.modules import module as every_module

from lrnnlab.automata import NO_LABEL, MooreMachine
from lrnnlab.models.base import Module, RecurrentNet, as_module, check_tokens, step_of
from lrnnlab.tasks.base import BaseTask
from lrnnlab.training import deterministic, rng
from lrnnlab.validation import checked, number, whole_number
from lrnnlab.verification.search import Verdict
from lrnnlab.verification.semantics.carried import certificate, told
from lrnnlab.verification.semantics.lower_layers import check_fits
from lrnnlab.verification.semantics.rounding import Bounds
from lrnnlab.verification.semantics.traced import State, TracedStep, impure, in_double, plain_torch

STRINGS = 256  # drawn to visit states
CANDIDATES = 48  # visited states of a class that may become its code
RARE = 0.01  # of a class's steps by a letter: fewer that go elsewhere are the net's errors, and do not split it
NODES = 20_000  # of the machine that is read off
BATCHES = (1, 2, 7, 64)  # in which a net is asked whether it is what was traced, each with as many tokens:
LENGTHS = (12, 12, 12, 40)
ALIKE = 1e-6  # of the largest answer: what rounding may make of two orders of a sum in double precision


class Quantised(Module):
    """A net that is restarted from a code after every k-th token; what :func:`quantise` makes.

    ``steps``: the net's step, frozen (``print(q.steps.graph.code)``): what is proved and what runs.  ``every``: k.
    ``codebook``: the K codes as rows of numbers (K, F).  ``answers`` (K, W): what the net answers in each code after each of
    ``words``; a state is put to the code whose answers it gives with the greatest probability.  ``closed``: whether each
    letter leads from each code to the code to which it leads all of the states that the code stands for (but for one in a
    hundred); ``why``: else, where not.  It reads tokens as the net does, by ``q(tokens)`` and ``q.step``;
    ``q.states(tokens)`` are the states, restarts included.

    It has no modes: ``train()`` and ``eval()`` change nothing.  Its ``state_dict`` is all that it knows, and is loaded as a
    whole or not at all.  It stays in the type and on the device in which it was traced: ``TypeError`` else.
    """

    vocab_size: int
    classes: int

    def __init__(self, steps: TracedStep, every: int, codes: State, words: list[tuple[int, ...]], answers: Tensor):
        super().__init__()
        self.steps, self.every, self.words = steps, every, words
        self.vocab_size, self.classes = steps.vocab_size, steps.classes
        self.register_buffer("answers", answers)
        for i, part in enumerate(codes):
            self.register_buffer(f"code{i}", part)
        self.closed, self.why = False, ""

    @property
    def every(self) -> int:
        return self._every

    @every.setter
    def every(self, every: int) -> None:
        self._every = whole_number(every, 1, "every")

    @property
    def codes(self) -> State:
        return tuple(getattr(self, f"code{i}") for i in range(self.steps.parts))

    @property
    def codebook(self) -> Tensor:
        return _as_rows(self.codes)

    def restarted(self, every: int) -> Quantised:
        """A copy that is restarted after every k-th token."""
        twin = copy.deepcopy(self)
        twin.every = every
        return twin

    def _apply(self, fn: Any, recurse: bool = True) -> Quantised:
        for kind in {(part.dtype, part.device) for part in self.buffers()}:
            moved = fn(torch.empty(0, dtype=kind[0], device=kind[1]))
            if (moved.dtype, moved.device) != kind:
                raise TypeError(f"a quantised net computes as it was traced, in {kind[0]} on {kind[1]}; in {moved.dtype} on "
                                f"{moved.device} it would be another function")  # fmt: skip
        return super()._apply(fn, recurse)

    def get_extra_state(self) -> dict[str, Any]:
        known = {"every": self.every, "words": self.words, "closed": self.closed, "why": self.why}
        return {"graph": told(self.steps.graph), **known}

    def set_extra_state(self, state: dict[str, Any]) -> None:
        self.every, self.words, self.closed, self.why = (state[key] for key in ("every", "words", "closed", "why"))

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> Any:
        """All of another's numbers, ``every`` and ``words`` with them; ``ValueError`` unless it runs the same graph."""

        def kinds(state: Any) -> dict[str, Any]:
            return {key: (x.shape, x.dtype) if isinstance(x, Tensor) else x["graph"] for key, x in state.items()}

        mine, theirs = kinds(self.state_dict()), kinds(state_dict)
        if other := [key for key in {**mine, **theirs} if mine.get(key) != theirs.get(key)]:
            raise ValueError(f"these are the numbers of another quantised net: {other[0]} differs, so they would make a function "
                             "that is neither; save_proof and load_proof carry a whole net")  # fmt: skip
        return super().load_state_dict(state_dict, strict, assign)

    def forward(self, tokens: Tensor) -> Tensor:
        """Tokens (B,T) -> logits (B,T,C)."""
        return self._read(tokens)[0]

    def states(self, tokens: Tensor) -> Tensor:
        """The states after each token, restarts included, as rows of numbers (B,T,F)."""
        return self._read(tokens)[1]

    def initial_state(self, batch: int) -> tuple[State, int]:
        """The net's state before the first token, and how many tokens have been read."""
        return self.steps.initial_state(batch), 0

    def step(self, state: tuple[State, int], token: Tensor) -> tuple[tuple[State, int], Tensor]:
        """(state, tokens (B,)) -> (state, logits (B,C)); the state is one of the codebook after every k-th token."""
        after, logits = self.steps.step(state[0], token)
        count = state[1] + 1
        return (after if count % self.every else _rows(self.codes, self.nearest(after, logits)[0]), count), logits

    def nearest(self, state: State, logits: Tensor) -> tuple[Tensor, Tensor]:
        """The code of each state (B,), given the net's logits there, and by how much it leads the second."""
        said = torch.stack([logits, *(_after_word(self.steps, state, word) for word in self.words[1:])], 1)  # (B, W, C)
        place = torch.arange(len(self.words), device=logits.device)
        scores = said.log_softmax(-1)[:, place, self.answers].sum(-1)  # (B, K)
        first, second = F.pad(scores, (0, 1), value=-torch.inf).topk(2).values.unbind(-1)
        return scores.argmax(-1), first - second

    def _read(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        check_tokens(tokens, self.vocab_size, like=self.answers)
        state, logits, rows = self.initial_state(len(tokens)), [], []
        for token in tokens.unbind(1):
            state, said = self.step(state, token)
            logits.append(said)
            rows.append(_as_rows(state[0]))
        start = _as_rows(state[0])
        return (torch.stack(logits, 1) if logits else start.new_zeros(len(tokens), 0, self.classes),
                torch.stack(rows, 1) if rows else start.new_zeros(len(tokens), 0, start.shape[1]))  # fmt: skip


@checked
def quantise(
    net: RecurrentNet,
    task: BaseTask,
    *,
    every: int = 1,
    states: int = 100,
    rounds: int = 20,
    seconds: float = 60.0,
    seed: int = 0,
) -> Quantised:
    """Find a codebook of a trained net's states and restart the net from it after every k-th token.

    Nothing is trained.  The task gives strings of its training length that visit states; its answers are not looked at.
    The result is a copy in double precision on the CPU, so that :func:`lrnnlab.verification.verify` can tell it from its
    rounding, and in evaluation mode.

    The step is traced once, for one string, as a list of torch's operations, and only that list runs afterwards: see
    :mod:`lrnnlab.verification.semantics.traced`.  Before, the net itself is asked whether it is the same function: on strings
    of the task, by ``step`` in batches of 1, 2, 7 and 64, and by ``forward``.  This is a trial and no proof; what is proved later
    is proved of the list.

    Parameters
    ----------
    net : RecurrentNet
        Any net (:class:`lrnnlab.models.RecurrentNet`) whose state is made of tensors of one size.  If it is no module of torch
        it stays in the types it has.
    task : BaseTask
        Where strings are drawn.
    every : int
        k.
    states, rounds : int
        At most so many classes, and so many times a new word.
    seconds : float
        No new word after so many.
    seed : int
        Of the strings.

    Returns
    -------
    Quantised
        The net, restarted; ``closed`` says whether the codebook is a machine, ``why`` if not.

    Raises
    ------
    ValueError
        For a net whose state grows with what it has read (attention, SGConv), for one that reads other symbols, and for one
        whose step is no function of state and token, or not the function of its batches or its ``forward``: with the reason.
    TypeError
        For a net without one of these four (RegularGPT), by its name.

    Examples
    --------
    >>> from lrnnlab.models import exact_model
    >>> from lrnnlab.tasks import Sum
    >>> task = Sum(3)
    >>> found = quantise(exact_model(task.machine), task)
    >>> found.codebook.shape[0], found.closed
    (3, True)
    """
    whole_number(every, 1, "every"), whole_number(states, 2, "states"), whole_number(rounds, 0, "rounds")
    number(seconds, "seconds", 0)
    net = in_double(net, "quantise")
    if net.vocab_size != task.input_size or net.classes is None:
        raise ValueError(f"the net reads {net.vocab_size} symbols and answers with {net.classes} classes, {task} has "
                         f"{task.input_size} and {task.output_size}")  # fmt: skip
    with plain_torch(), deterministic():
        tokens = task.sample_near(STRINGS, task.train_length, rng(seed, "quantise")).inputs
        steps = TracedStep(copy.deepcopy(net))
        _compare(net, steps, tokens)
        visited = _Visited(steps, tokens)
        words: list[tuple[int, ...]] = [()]
        stop, start = "", time.monotonic()
        while (word := visited.splits(words)) is not None:
            if len(words) > rounds or time.monotonic() - start > seconds:
                stop = f"stopped at {visited.count} classes, of which one still splits by the word {word}"
            elif visited.signatures([*words, word]) > states:
                stop = f"stopped: more than {states} classes, and the word {word} splits one of them"
            if stop:
                break
            words.append(word)
        found = visited.codebook(words, every)
        if stop or found.why:  # the net's own errors split classes: fewer words may have made codes that agree
            tried = (visited.codebook(words[:n], every) for n in range(1, len(words)))
            found.why = stop or found.why
            if fewer := next((one for one in tried if not one.why), None):
                fewer.why = f"{found.why}; with {len(fewer.answers)} classes each letter leads code to code, but not all states"
                found = fewer
    found.closed = not found.why
    return found


def _compare(net: RecurrentNet, steps: TracedStep, tokens: Tensor) -> None:
    """``ValueError`` if the net itself, by step in batches or by forward, answers other than its traced step."""

    def read(by: Any, part: Tensor) -> Tensor:
        state, said = by.initial_state(len(part)), []
        for token in part.unbind(1):
            state, logits = step_of(by, state, token)
            said.append(logits)
        return torch.stack(said, 1)

    def apart(what: Tensor, traced: Tensor) -> str:
        if what.shape != traced.shape:
            return f"{(*what.shape,)} numbers and {(*traced.shape,)}"
        off = (what - traced).abs().amax((0, 2)) / (1 + traced.abs().amax())
        wrong = (~(off <= ALIKE)).nonzero()  # NaN is not alike
        return f"by {float(off.max()):.2g} after {int(wrong[0]) + 1} tokens" if len(wrong) else ""

    name = type(net).__name__
    for batch, length in zip(BATCHES, LENGTHS):
        part = tokens[:batch, :length]
        traced = read(steps, part)
        if off := apart(read(net, part), traced):
            raise ValueError(
                f"in a batch of {len(part)} the answers of {name} differ from those of its step traced for one string, {off}: "
                "a step must hang on its own string's state and token alone, not on the other strings of the batch (a mean, a "
                "norm or a softmax over axis 0), nor on what it keeps between calls (a counter, an attribute, random numbers)")
    reader = as_module(net, name)
    if reader is net and (off := apart(reader(part), traced)):
        raise ValueError(f"forward and step of {name} differ, {off}: the net that was trained is not the one to be proved")


class _Visited:
    """The states that a net visits on some strings, and what it answers from there."""

    def __init__(self, steps: TracedStep, tokens: Tensor):
        self.steps, (B, T) = steps, tokens.shape
        state, after, logits = steps.initial_state(B), [], []
        for token in tokens.unbind(1):
            state, said = steps.step(state, token)
            after.append(state)
            logits.append(said)
        self.states = tuple(map(torch.cat, zip(*after)))  # (T B, ...): all strings' first states first
        self.logits = torch.cat(logits)
        self.token = tokens.mT.flatten()[B:]  # of each state but the first of a string: the letter that led to it
        self.before, self.after = torch.arange(B * (T - 1)), torch.arange(B, B * T)
        self.said: dict[tuple[int, ...], Tensor] = {(): self.logits.argmax(-1)}
        self.classes, self.count = self.said[()], 0

    def signatures(self, words: Sequence[tuple[int, ...]]) -> int:
        """Classes by the answers after each word; returns how many."""
        for word in words:
            if word not in self.said:
                self.said[word] = _after_word(self.steps, self.states, word).argmax(-1)
        every = torch.stack([self.said[word] for word in words], 1)
        self.rows, self.classes, sizes = every.unique(dim=0, return_inverse=True, return_counts=True)
        self.often = sizes >= RARE * len(every) / max(10, len(sizes))
        self.count = int(self.often.sum())
        return self.count

    def splits(self, words: list[tuple[int, ...]]) -> tuple[int, ...] | None:
        """A word that tells two states of one class apart; None if each letter leads from each class to one class."""
        self.signatures(words)
        K, V = len(self.rows), self.steps.vocab_size
        edge = (self.classes[self.before] * V + self.token) * K + self.classes[self.after]
        counts = torch.bincount(edge, minlength=K * V * K).view(K, V, K)
        counts = counts * (self.often[:, None, None] & self.often)
        top = counts.topk(min(2, K), -1)
        second = top.values[..., 1] if K > 1 else torch.zeros(K, V)
        share = second / counts.sum(-1).clamp(min=1)
        if float(share.max()) <= RARE or int(second.max()) < 3:
            return None
        k, v = divmod(int(share.argmax()), V)
        one, other = self.rows[top.indices[k, v]]
        return (v, *words[int((one != other).nonzero()[0])])

    def codebook(self, words: list[tuple[int, ...]], every: int) -> Quantised:
        """The code of each class: the candidate with the widest margin over all letters."""
        self.signatures(words)
        kept = self.often.nonzero().flatten()
        rows, V = self.rows[kept], self.steps.vocab_size
        number_of = torch.full((len(self.rows),), -1)
        number_of[kept] = torch.arange(len(kept))
        mine, draw = number_of[self.classes], torch.Generator().manual_seed(0)
        target = torch.full((len(kept), V), -1)
        edge = mine[self.before] * V + self.token
        for k in range(len(kept)):
            for v in range(V):
                led = mine[self.after[edge == k * V + v]]
                led = led[led >= 0]
                if len(led):
                    target[k, v] = led.mode().values
        codes = _rows(self.states, torch.stack([(mine == k).nonzero()[0, 0] for k in range(len(kept))]))
        found, bad = Quantised(self.steps, every, codes, words, rows), []
        chosen = []
        for k in range(len(kept)):
            here = (mine == k).nonzero().flatten()
            some = _rows(self.states, here[torch.randperm(len(here), generator=draw)[:CANDIDATES]])
            if all(part.is_floating_point() or part.is_complex() for part in some):
                means = (part.mean(0, keepdim=True) for part in _rows(self.states, here))
                some = tuple(map(torch.cat, zip(some, means)))
            leads = self._leads(found, some, target[k])
            best = int(leads.argmax())
            chosen.append(_rows(some, torch.tensor([best])))
            if float(leads[best]) <= 0:
                bad.append(k)
        for i, parts in enumerate(zip(*chosen)):
            setattr(found, f"code{i}", torch.cat(parts))
        if bad:
            found.why = (f"from class {bad[0]} of {len(kept)} (answers {rows[bad[0]].tolist()}) a letter leads its code "
                         "elsewhere than most of its states")  # fmt: skip
        return found

    def _leads(self, found: Quantised, some: Any, target: Tensor) -> Tensor:
        """For each candidate the least lead, over all letters, of the class that is right behind it."""
        N, letters = len(some[0]), (target >= 0).nonzero().flatten()
        if not len(letters):
            return torch.ones(N)
        states = tuple(part.repeat_interleave(len(letters), 0) for part in some)
        after, logits = self.steps.step(states, letters.repeat(N))
        code, lead = found.nearest(after, logits)
        return torch.where(code == target[letters].repeat(N), lead, -lead).view(N, -1).amin(1)


@checked
def read_off(model: Quantised, bounds: Bounds | None = None) -> tuple[MooreMachine, Tensor, Tensor]:
    """The machine that a quantised net is, the logits (Q, C) that it shows, and the lead of each code that it chooses.

    A state is the start or a code, and the 1 ... k letters read since; it shows the net's answer after the last of them.
    The start itself (state 0) shows none.  After k letters the next state is that of the nearest code; its lead over the
    second is infinite in all other states.  ``bounds`` follows how they are rounded.  ``ValueError`` beyond 20,000 states.

    >>> from lrnnlab.models import exact_model
    >>> from lrnnlab.tasks import Sum
    >>> read_off(quantise(exact_model(Sum(3).machine), Sum(3)))[0].num_states
    13
    """
    roots, V, k = 1 + len(model.answers), model.vocab_size, model.every
    total = 1 + roots * sum(V**j for j in range(1, k + 1))
    if total > NODES:
        raise ValueError(f"{roots - 1} codes and {V} letters make {total:,} states for every={k}; at most {NODES:,}")
    arrows, logits = np.zeros((V, total), np.int64), [torch.full((1, model.classes), torch.nan)]
    went = 1 + np.arange(roots * V).reshape(roots, V)  # where each root goes
    with plain_torch(), deterministic(), bounds or nullcontext():
        level = tuple(map(torch.cat, zip(model.steps.initial_state(1), model.codes)))
        at = 1
        for j in range(k):
            n = roots * V**j
            states = tuple(part.repeat_interleave(V, 0) for part in level)
            level, said = model.steps.step(states, torch.arange(V).repeat(n))
            if j:
                arrows[:, at - n : at] = (at + np.arange(n * V)).reshape(n, V).T
            at += n * V
            logits.append(said)
        codes, lead = model.nearest(level, said)
        leads = torch.cat([torch.full((total - len(lead),), torch.inf, dtype=lead.dtype), lead])
        every = torch.cat(logits).to(said.dtype)
    arrows[:, 0], arrows[:, at - len(codes) : at] = went[0], went[1 + codes.numpy()].T
    outputs = every.argmax(-1).numpy()
    outputs[0] = NO_LABEL
    return MooreMachine(arrows, outputs, 0, tuple(map(str, range(V)))), every, leads


def altered(model: Quantised) -> str | None:
    """Why a quantised net would compute other than its graph and its numbers say, in a few words; None if it does not."""
    kinds = {"": Quantised, "steps": TracedStep, "steps.graph": torch.fx.GraphModule}
    for name, part in model.named_modules():
        who = name or "the net"
        right = name in kinds and (type(part) is kinds[name] or (name == "steps.graph" and isinstance(part, kinds[name])))
        if not right:
            return f"{who} is a {type(part).__name__}"
        own = [key for key in vars(part) if callable(getattr(type(part), key, None))]
        if own or part._forward_hooks or part._forward_pre_hooks:
            return f"{who} has its own {', '.join(own) or 'forward hooks'}"
    if every_module._global_forward_hooks or every_module._global_forward_pre_hooks:
        return "there are forward hooks on every module"
    starts = [getattr(model.steps, f"start{i}") for i in range(model.steps.parts)]
    if any((code.dtype, code.shape[1:]) != (start.dtype, start.shape) for code, start in zip(model.codes, starts)):
        return "its codes are of another type or size than its first state"
    model.steps.graph.recompile()  # what runs is the graph
    return impure(model.steps.graph)


def verify_quantised(model: Quantised, specification: MooreMachine) -> Verdict:
    """Compare the machine that a quantised net is with a specification, on all strings; see ``verification.verify``."""
    if why := altered(model):
        raise ValueError(f"this takes what quantise returns, as it is; {why}")
    check_fits(model, specification)
    machine, logits, code_leads = read_off(model, bounds := Bounds())
    with bounds:
        first, second = F.pad(logits, (0, 1), value=-torch.inf).topk(2).values.unbind(-1)
        leads = first - second
    Q, start = specification.num_states, specification.initial
    came: dict[int, Any] = {start: None}  # pairs (state of the net's machine, of the specification)
    queue, wrong = [start], None
    for pair in queue:
        state, wanted = divmod(pair, Q)
        right = int(specification.outputs[wanted])
        if state and right != NO_LABEL and machine.outputs[state] != right:
            wrong = pair
            break
        for v in range(machine.num_symbols):
            after = int(machine.transitions[v, state]) * Q + int(specification.transitions[v, wanted])
            if after not in came:
                came[after] = pair, v
                queue.append(after)
    way, at = [], queue[-1] if wrong is None else wrong  # to the wrong pair, or to one of those farthest away
    while step := came[at]:
        at, v = step
        way.insert(0, v)
    word, depth = (way, len(way) - 1) if wrong is not None else ([], len(way) + 1)
    reached = torch.tensor(sorted({pair // Q for pair in came}))
    due = {pair // Q for pair in came if specification.outputs[pair % Q] != NO_LABEL} - {0}
    asked = torch.tensor(sorted(due), dtype=torch.int64)

    def least(lead: Tensor, where: Tensor) -> tuple[float, float]:
        """The least lead, and what another machine's may differ by, where that is the most of it."""
        lead, apart = lead[where].double(), 2 * bounds.of(lead)[where]
        worst = int((lead - apart).argmin()) if len(where) else None
        return (torch.inf, 0.0) if worst is None else (float(lead[worst]), float(apart[worst]))

    (code_lead, code_apart), (lead, apart) = least(code_leads, reached), least(leads, asked)
    verdict = Verdict(
        not word, (tuple(word),) * bool(word), len(came), len(reached), None, depth, code_lead, lead, (code_apart, apart),
        ", ".join(sorted(bounds.unknown)),
        f"restarted after every {'token' if model.every == 1 else f'{model.every} tokens'}, in {str(logits.dtype)[6:]}",
    )  # fmt: skip
    if not verdict.proved:
        return verdict
    places = np.array([*came])
    arrows, said = machine.transitions[:, places // Q], machine.outputs[places // Q]
    return replace(verdict, certificate=certificate(model, specification, 0, places, arrows, said))


def _after_word(steps: TracedStep, state: State, word: Sequence[int]) -> Tensor:
    """The logits (B,C) after a word that is not empty, from each state."""
    logits = torch.empty(0)
    for letter in word:
        state, logits = steps.step(state, torch.full((len(state[0]),), letter, device=state[0].device))
    return logits


def _rows(states: State, which: Tensor) -> State:
    """Some of the states, by number."""
    return tuple(part[which] for part in states)


def _as_rows(states: State) -> Tensor:
    """States as rows of real numbers (B, F)."""
    parts = (torch.view_as_real(part) if part.is_complex() else part for part in states)
    return torch.cat([part.flatten(1) for part in parts], 1)
