"""Any rule made right at every length: a net whose state is put, after every k-th token, to one of finitely many states.

An affine recurrence cannot correct an error along the directions that tell its states apart (arXiv:2605.07755), so what
is trained drifts.  Its readout can: what the net *answers* after its state says which state it should be in.  So after
every k-th token the state is put to a state of a *codebook*, the one that answers alike.  No weight changes.  Then the
net is a finite machine, which can be read off and compared with a specification on all strings.

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
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from lrnnlab.automata import NO_LABEL, MooreMachine
from lrnnlab.models import Net
from lrnnlab.tasks.base import BaseTask
from lrnnlab.training import deterministic, rng
from lrnnlab.training.evaluation import at_rest
from lrnnlab.validation import checked, number, whole_number
from lrnnlab.verification.rounding import Bounds
from lrnnlab.verification.search import Verdict

STRINGS = 256  # drawn to visit states
CANDIDATES = 48  # visited states of a class that may become its code
RARE = 0.01  # of a class's steps by a letter: fewer that go elsewhere are the net's errors, and do not split it
NODES = 20_000  # of the machine that is read off


class Quantised(nn.Module):
    """A net that is restarted from a code after every k-th token; what :func:`quantise` makes.

    ``every``: k.  ``codebook``: the K codes as rows of numbers (K, F).  ``answers`` (K, W): what the net answers in each
    code after each of ``words``; a state is put to the code whose answers it gives with the greatest probability.
    ``closed``: whether each letter leads from each code to the code to which it leads all of the states that the code
    stands for (but for one in a hundred); ``why``: else, where not.  It reads tokens as the net does, by ``q(tokens)``
    and ``q.step``; ``q.states(tokens)`` are the states, restarts included.
    """

    def __init__(self, net: Net, every: int, codes: Any, words: list[tuple[int, ...]], answers: Tensor):
        super().__init__()
        self.net, self.steps, self.every, self.words, self.answers = net, _Steps(net), every, words, answers
        self.codes, self.closed, self.why = codes, False, ""
        self.vocab_size, self.classes, self.width = net.vocab_size, net.classes, net.width

    @property
    def codebook(self) -> Tensor:
        return _as_rows(self.codes)

    def restarted(self, every: int) -> Quantised:
        """A copy that is restarted after every k-th token."""
        twin = copy.deepcopy(self)
        twin.every = whole_number(every, 1, "every")
        return twin

    def _apply(self, fn: Any, recurse: bool = True) -> Quantised:
        """The codes move with the weights, to another type or device; complex ones too, which torch would leave as they are."""

        def moved(part: Tensor) -> Tensor:
            return torch.view_as_complex(fn(torch.view_as_real(part))) if part.is_complex() else fn(part)

        self.codes = tree_map(moved, self.codes)
        return super()._apply(fn, recurse)

    def forward(self, tokens: Tensor) -> Tensor:
        """Tokens (B,T) -> logits (B,T,C)."""
        self.net.check(tokens)
        return self._read(tokens)[0]

    def states(self, tokens: Tensor) -> Tensor:
        """The states after each token, restarts included, as rows of numbers (B,T,F)."""
        self.net.check(tokens)
        return self._read(tokens)[1]

    def initial_state(self, batch: int) -> tuple[Any, int]:
        """The net's state before the first token, and how many tokens have been read."""
        return self.steps.initial_state(batch), 0

    def step(self, state: tuple[Any, int], token: Tensor) -> tuple[tuple[Any, int], Tensor]:
        """(state, tokens (B,)) -> (state, logits (B,C)); the state is one of the codebook after every k-th token."""
        after, logits = self.steps.step(state[0], token)
        count = state[1] + 1
        return (after if count % self.every else _rows(self.codes, self.nearest(after, logits)[0]), count), logits

    def nearest(self, state: Any, logits: Tensor) -> tuple[Tensor, Tensor]:
        """The code of each state (B,), given the net's logits there, and by how much it leads the second."""
        said = torch.stack([logits, *(_after_word(self.steps, state, word) for word in self.words[1:])], 1)  # (B, W, C)
        scores = said.log_softmax(-1)[:, torch.arange(len(self.words)), self.answers].sum(-1)  # (B, K)
        first, second = F.pad(scores, (0, 1), value=-torch.inf).topk(2).values.unbind(-1)
        return scores.argmax(-1), first - second

    def _read(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
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
    net: Net, task: BaseTask, every: int = 1, *, states: int = 100, rounds: int = 20, seconds: float = 60.0, seed: int = 0
) -> Quantised:
    """Find a codebook of a trained net's states and restart the net from it after every k-th token.

    Nothing is trained.  The task gives strings of its training length that visit states; its answers are not looked at.
    The result is a copy in double precision, so that :func:`lrnnlab.verification.verify` can tell it from its rounding.

    Parameters
    ----------
    net : Net
        It reads tokens, answers after each, and has a state of one size (``step``).
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
        For a net whose state grows with what it has read (attention, SGConv), and for one that reads other symbols.
    TypeError
        For what is no ``Net`` and has no step (RegularGPT), by its name.

    Examples
    --------
    >>> from lrnnlab.models import exact_model
    >>> from lrnnlab.tasks import Sum
    >>> task = Sum(3)
    >>> found = quantise(exact_model(task.machine, 3), task)
    >>> found.codebook.shape[0], found.closed
    (3, True)
    """
    whole_number(every, 1, "every"), whole_number(states, 2, "states"), whole_number(rounds, 0, "rounds")
    number(seconds, "seconds", 0)
    if net.vocab_size != task.input_size or net.head is None:
        raise ValueError(f"the net reads {net.vocab_size} symbols and answers with {net.outputs} classes, {task} has "
                         f"{task.input_size} and {task.output_size}")  # fmt: skip
    net = copy.deepcopy(net).double()
    with at_rest(net), deterministic(), torch.no_grad():
        visited = _Visited(net, task.sample_near(STRINGS, task.train_length, rng(seed, "quantise")).inputs)
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


class _Visited:
    """The states that a net visits on some strings, and what it answers from there."""

    def __init__(self, net: Net, tokens: Tensor):
        self.net, self.steps, (B, T) = net, _Steps(net), tokens.shape
        state, after, logits = self.steps.initial_state(B), [], []
        for token in tokens.unbind(1):
            before, (state, said) = state, self.steps.step(state, token)
            if [part.shape for part in tree_flatten(before)[0]] != [part.shape for part in tree_flatten(state)[0]]:
                raise ValueError(_grows(net))
            after.append(state)
            logits.append(said)
        self.states = tree_map(lambda *parts: torch.cat(parts), *after)  # (T B, ...): all strings' first states first
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
        K, V = len(self.rows), self.net.vocab_size
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
        rows, V = self.rows[kept], self.net.vocab_size
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
        found, bad = Quantised(self.net, every, codes, words, rows), []
        chosen = []
        for k in range(len(kept)):
            here = (mine == k).nonzero().flatten()
            some = _rows(self.states, here[torch.randperm(len(here), generator=draw)[:CANDIDATES]])
            if all(part.is_floating_point() or part.is_complex() for part in tree_flatten(some)[0]):
                whole = _rows(self.states, here)
                some = tree_map(lambda part, all_: torch.cat([part, all_.mean(0, keepdim=True)]), some, whole)
            leads = self._leads(found, some, target[k])
            best = int(leads.argmax())
            chosen.append(_rows(some, torch.tensor([best])))
            if float(leads[best]) <= 0:
                bad.append(k)
        found.codes = tree_map(lambda *parts: torch.cat(parts), *chosen)
        if bad:
            found.why = (f"from class {bad[0]} of {len(kept)} (answers {rows[bad[0]].tolist()}) a letter leads its code "
                         "elsewhere than most of its states")  # fmt: skip
        return found

    def _leads(self, found: Quantised, some: Any, target: Tensor) -> Tensor:
        """For each candidate the least lead, over all letters, of the class that is right behind it."""
        N, letters = len(tree_flatten(some)[0][0]), (target >= 0).nonzero().flatten()
        if not len(letters):
            return torch.ones(N)
        states = tree_map(lambda part: part.repeat_interleave(len(letters), 0), some)
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
    >>> read_off(quantise(exact_model(Sum(3).machine, 3), Sum(3)))[0].num_states
    13
    """
    roots, V, k = 1 + len(model.answers), model.vocab_size, model.every
    total = 1 + roots * sum(V**j for j in range(1, k + 1))
    if total > NODES:
        raise ValueError(f"{roots - 1} codes and {V} letters make {total:,} states for every={k}; at most {NODES:,}")
    arrows, logits = np.zeros((V, total), np.int64), [torch.full((1, model.classes), torch.nan)]
    went = 1 + np.arange(roots * V).reshape(roots, V)  # where each root goes
    with at_rest(model), deterministic(), torch.no_grad(), bounds or nullcontext():
        start = model.steps.initial_state(1)
        level = tree_map(lambda first, codes: torch.cat([first.to(codes.dtype), codes]), start, model.codes)
        at = 1
        for j in range(k):
            n = roots * V**j
            states = tree_map(lambda part: part.repeat_interleave(V, 0), level)
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


def verify_quantised(model: Quantised, specification: MooreMachine) -> Verdict:
    """Compare the machine that a quantised net is with a specification, on all strings; see ``verification.verify``."""
    if specification.num_symbols != model.vocab_size or specification.outputs.max() >= model.classes:
        raise ValueError(f"the net reads {model.vocab_size} symbols and has {model.classes} classes, the specification reads "
                         f"{specification.num_symbols} and has {int(specification.outputs.max()) + 1}")  # fmt: skip
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
    word, depth = [], 0
    while wrong is not None and (step := came[wrong]):
        wrong, v = step
        word.insert(0, v)
    reached = torch.tensor(sorted({pair // Q for pair in came}))
    due = {pair // Q for pair in came if specification.outputs[pair % Q] != NO_LABEL} - {0}
    asked = torch.tensor(sorted(due), dtype=torch.int64)

    def least(lead: Tensor, where: Tensor) -> tuple[float, float]:
        """The least lead, and what another machine's may differ by, where that is the most of it."""
        lead, apart = lead[where].double(), 2 * bounds.of(lead)[where]
        worst = int((lead - apart).argmin()) if len(where) else None
        return (torch.inf, 0.0) if worst is None else (float(lead[worst]), float(apart[worst]))

    (code_lead, code_apart), (lead, apart) = least(code_leads, reached), least(leads, asked)
    return Verdict(
        not word, (tuple(word),) * bool(word), len(came), len(reached), None, depth, code_lead, lead, (code_apart, apart),
        ", ".join(sorted(bounds.unknown)),
    )  # fmt: skip


class _Steps(nn.Module):
    """A net's step on states whose parts all have the batch as their first axis (torch's LSTM has layers there)."""

    def __init__(self, net: Net):
        super().__init__()
        self.net = net
        two, three = (tree_flatten(net.initial_state(n))[0] for n in (2, 3))
        self.axes = []
        for a, b in zip(two, three):
            shapes = zip(getattr(a, "shape", ()), getattr(b, "shape", ()))
            axis = next((i for i, (n, m) in enumerate(shapes) if n != m), None)
            if axis is None:  # a count of positions, or a memory that is empty at first
                raise ValueError(_grows(net))
            self.axes.append(axis)

    def _moved(self, state: Any, back: bool) -> Any:
        parts, tree = tree_flatten(state)
        moved = [part.movedim(*((0, axis) if back else (axis, 0))) for part, axis in zip(parts, self.axes)]
        return tree_unflatten(moved, tree)

    def initial_state(self, batch: int) -> Any:
        return self._moved(self.net.initial_state(batch), back=False)

    def step(self, state: Any, token: Tensor) -> tuple[Any, Tensor]:
        after, logits = self.net.step(self._moved(state, back=True), token)
        return self._moved(after, back=False), logits


def _grows(net: Net) -> str:
    kinds = ", ".join(sorted({type(layer).__name__ for layer in net.layers}))
    return f"the state of {kinds} grows with every token, so no finite codebook holds it"


def _after_word(net: _Steps, state: Any, word: Sequence[int]) -> Tensor:
    """The logits (B,C) after a word that is not empty, from each state."""
    n, logits = len(tree_flatten(state)[0][0]), None
    for letter in word:
        state, logits = net.step(state, torch.full((n,), letter))
    return logits


def _rows(states: Any, which: Tensor) -> Any:
    """Some of the states, by number."""
    return tree_map(lambda part: part[which], states)


def _as_rows(states: Any) -> Tensor:
    """States as rows of real numbers (B, F)."""
    parts = [torch.view_as_real(part) if part.is_complex() else part for part in tree_flatten(states)[0]]
    return torch.cat([part.flatten(1) for part in parts], 1)
