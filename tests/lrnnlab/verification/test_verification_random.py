"""Verdicts on random networks against an exhaustive search that shares no code with ``lrnnlab.verification``.

Weights compute random tables exactly; then an arrow, a weight, an answer or a head is changed, or nothing.  The search is
breadth first on plain dicts and asks the model itself (``step``).  LRNNLAB_PROOF_CASES=10000 tries 10,000 cases.
"""

import os
import time
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from lrnnlab.automata import MooreMachine, minimise
from lrnnlab.models import Net
from lrnnlab.models.block import PreNorm
from lrnnlab.models.layers import BlockDiagonal
from lrnnlab.verification import verify

CASES = int(os.environ.get("LRNNLAB_PROOF_CASES", 120))
SHAPES = {4: [(1, 4), (2, 2), (4, 1)], 6: [(1, 6), (2, 3), (3, 2)]}  # heads and states of each, by width


def network(rng, shapes, V, C, head, frozen):
    """A network with random tables, and what sets them: (model, tables, fill).  ``tables[l]`` (inputs of l, h, n)."""
    layers = [BlockDiagonal(h, n, rule="hard", drive="none", start="first", hidden=1) for h, n in shapes]
    width, last = shapes[0][0] * shapes[0][1], len(layers) - 1
    stack = [PreNorm(layer, width, residual=number < last) for number, layer in enumerate(layers)]
    model = Net(stack, C, width, vocab_size=V, final_norm=True, head=head).double()
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.from_numpy(rng.normal(size=weight.shape)))
        for layer, stays in zip(layers, frozen):
            layer.x0.copy_(F.one_hot(torch.from_numpy(rng.integers(layer.b, size=layer.h)), layer.b))
            layer.freeze(torch.from_numpy(stays))
    tables, streams = [], model.embedding.weight.detach()
    for number, (layer, (h, n)) in enumerate(zip(layers, shapes)):
        tables.append(rng.integers(n, size=(len(streams), h, n)))
        hidden = len(streams) + 8  # enough units for every input to have its own table
        layer.generator[0] = torch.nn.Linear(layer.h * layer.b, hidden, dtype=torch.float64)
        layer.generator[2] = torch.nn.Linear(hidden, h * n * n, dtype=torch.float64)
        fill(rng, model, number, streams, tables[-1])
        every = torch.cartesian_prod(*[torch.arange(n)] * h).view(-1, h)
        streams = (streams[:, None] + F.one_hot(every, n).flatten(1)).flatten(0, 1)
    return model, tables


def fill(rng, model, number, streams, table):
    """Weights of a layer's generator that make the column of (input, head, state) largest at ``table``'s entry."""
    layer = model.layers[number]
    with torch.no_grad():
        features = layer.generator[:2](model.norms[number](streams))
        features = torch.cat([features, torch.ones(len(features), 1, dtype=features.dtype)], 1)
        raw = torch.from_numpy(rng.uniform(-1, 0, (len(table), layer.h, layer.b, layer.b)))  # input, head, column, row
        raw.scatter_(-1, torch.from_numpy(table)[..., None], 1.0)
        found = torch.linalg.lstsq(features, raw.permute(0, 3, 1, 2).flatten(1), driver="gelsd").solution
        layer.generator[2].weight.copy_(found[:-1].T)
        layer.generator[2].bias.copy_(found[-1])


def inputs(model, number):
    """Everything that can enter a layer, (token, states of the heads below) -> (inputs, D)."""
    streams = model.embedding.weight.detach()
    for layer in model.layers[:number]:
        every = torch.cartesian_prod(*[torch.arange(layer.b)] * layer.h).view(-1, layer.h)
        streams = (streams[:, None] + F.one_hot(every, layer.b).flatten(1)).flatten(0, 1)
    return streams


class Asked:
    """A model asked one token at a time, its answers kept: state -> [(next state, answer) by token]."""

    def __init__(self, model):
        self.model, self.known = model, {}
        self.start = tuple(tuple(layer.x0.argmax(-1).tolist()) for layer in model.layers)

    def __call__(self, states):
        new, V = [s for s in dict.fromkeys(states) if s not in self.known], self.model.vocab_size
        if new:
            before = [
                F.one_hot(torch.tensor([s[i] for s in new]), layer.b).to(layer.x0).repeat_interleave(V, 0)
                for i, layer in enumerate(self.model.layers)
            ]
            with torch.no_grad():
                after, logits = self.model.step(before, torch.arange(V).repeat(len(new)))
            assert all(((x == 0) | (x == 1)).all() and (x.sum(-1) == 1).all() for x in after)
            parts = [list(map(tuple, x.argmax(-1).tolist())) for x in after]
            moves = list(zip(zip(*parts), logits.argmax(-1).tolist()))
            self.known |= {s: moves[i * V : (i + 1) * V] for i, s in enumerate(new)}
        return [self.known[s] for s in states]


def machine_of(model):
    """All that the model does, as a machine whose states have seen at least one token (and the first one)."""
    asked = Asked(model)
    number, order, rows = {(asked.start, -1): 0}, [(asked.start, -1)], []
    for state, _ in order:
        (moves,) = asked([state])
        for move in moves:
            if move not in number:
                number[move] = len(order)
                order.append(move)
        rows.append([number[move] for move in moves])
    return np.array(rows).T, np.array([answer for _, answer in order])


def truth(model, specification):
    """(length of the shortest string answered wrongly or None, number of pairs)."""
    asked, length = Asked(model), 0
    edge = [(asked.start, specification.initial)]
    seen = set(edge)
    to, due = specification.transitions.tolist(), specification.outputs.tolist()
    while edge:
        length, after = length + 1, []
        for (_, q), moves in zip(edge, asked([state for state, _ in edge])):
            for token, (state, answer) in enumerate(moves):
                follower = to[token][q]
                if due[follower] not in (-1, answer):
                    return length, len(seen)
                if (state, follower) not in seen:
                    seen.add((state, follower))
                    after.append((state, follower))
        edge = after
    return None, len(seen)


def specified(rng, transitions, outputs, asks, V):
    """A task made of a machine's answers: asked everywhere, in some states, or in strings of a random grammar only."""
    if asks == "some":
        outputs = np.where(rng.random(len(outputs)) < 0.5, -1, outputs)
    if asks == "grammar":  # after token i, token j may follow or not; else nothing is ever asked again
        legal, Q = rng.random((V + 1, V)) < 0.7, len(outputs)
        number = lambda q, last: q * (V + 1) + last
        dead = Q * (V + 1)
        table, shown = np.full((V, dead + 1), dead), np.full(dead + 1, -1)
        for q in range(Q):
            for last in range(V + 1):
                shown[number(q, last)] = outputs[q] if last < V else -1
                for token in np.flatnonzero(legal[last]):
                    table[token, number(q, last)] = number(transitions[token, q], token)
        return MooreMachine(table, shown, number(0, V), "abc"[:V])
    return MooreMachine(transitions, outputs, 0, "abc"[:V])


def drawn(rng):
    """What a case is made of; drawn by NumPy, evenly, where hypothesis would prefer the simplest."""
    width, layers = [(4, 1), (4, 2), (4, 3), (6, 1), (6, 2)][rng.integers(5)]
    shapes = [SHAPES[width][rng.integers(3)] for _ in range(layers)]
    return {
        "shapes": shapes, "V": int(rng.choice([1, 2, 3], p=[0.1, 0.5, 0.4])),
        "C": int(rng.choice([1, 2, 3], p=[0.05, 0.5, 0.45])),
        "head": str(rng.choice(["linear", "mlp"])), "frozen": [rng.random(h) < 0.2 for h, _ in shapes],
        "asks": str(rng.choice(["all", "some", "grammar"])), "minimal": rng.random() < 0.3,
        "fault": str(rng.choice(["none", "arrow", "readout", "quiet", "answer", "frozen"])),
        "dtype": torch.float32 if rng.random() < 0.25 else torch.float64,
    }  # fmt: skip


def silenced(rng, model):
    """(which readout weights belong to all heads but one, of the last layer): these are made zero."""
    layer, weight = model.layers[-1], model.head[0].weight
    quiet = torch.arange(layer.h).repeat_interleave(layer.b) != int(rng.integers(layer.h))
    with torch.no_grad():
        weight[:, quiet] = 0
    return quiet


def spoil(rng, model, tables, fault, quiet):
    """Change an arrow that some string takes, a weight of the readout, or all of quiet heads; or freeze one head more."""
    number = int(rng.integers(len(tables)))
    layer, table = model.layers[number], tables[number].copy()
    if fault == "arrow":
        asked, token, head = Asked(model), rng.integers(model.vocab_size), rng.integers(layer.h)
        state = asked.start
        for step in rng.integers(model.vocab_size, size=rng.integers(10)):
            state = asked([state])[0][step][0]
        after = asked([state])[0][token][0]
        row = token
        for below, states in zip(model.layers[:number], after):
            for one in states:
                row = row * below.b + one
        at = row, head, state[number][head]
        table[at] = (table[at] + 1) % layer.b
        fill(rng, model, number, inputs(model, number), table)
    if fault == "readout":
        weight = model.head[-1].weight
        with torch.no_grad():
            weight[tuple(rng.integers(size) for size in weight.shape)] += rng.normal() * 2
    if fault == "quiet":
        with torch.no_grad():
            weight = model.head[0].weight
            weight[:, quiet] = torch.from_numpy(rng.normal(size=(len(weight), int(quiet.sum()))) * rng.uniform(0, 0.6))
    if fault == "frozen":
        stays = layer.frozen.clone()
        stays[rng.integers(layer.h)] = True
        layer.freeze(stays)


tally, began = Counter(), time.perf_counter()


@settings(max_examples=CASES, deadline=None)
@given(st.integers(0, 2**63 - 1))
def test_a_verdict_is_the_truth(seed):
    rng = np.random.default_rng(seed)
    case = drawn(rng)
    V = case["V"]
    model, tables = network(rng, case["shapes"], V, case["C"], case["head"], case["frozen"])
    quiet = silenced(rng, model) if case["fault"] == "quiet" else None
    specification = specified(rng, *machine_of(model), case["asks"], V)
    spoil(rng, model, tables, case["fault"], quiet)
    if case["fault"] == "answer":
        outputs = specification.outputs.copy()
        at = rng.choice(specification.reachable()[1:]) if len(specification.reachable()) > 1 else 0
        outputs[at] = (outputs[at] + 1) % case["C"]
        specification = MooreMachine(specification.transitions, outputs, specification.initial, specification.symbols)
    if case["minimal"]:
        specification = minimise(specification)
    model = model.to(case["dtype"])
    if specification.outputs[specification.transitions[:, specification.reachable()]].max() < 0:
        with pytest.raises(ValueError, match="after no string"):
            verify(model, specification)
        tally["refused, as nothing is asked"] += 1
        return

    verdict = verify(model, specification)
    length, pairs = truth(model, specification)
    if verdict.proved:
        assert length is None and verdict.pairs <= pairs
        tokens = rng.integers(V, size=(4, 30))
        due = specification.answer(tokens)
        with torch.no_grad():
            assert (model(torch.from_numpy(tokens)).argmax(-1).numpy() == due)[due >= 0].all()
    elif verdict.counterexample is not None:
        word = verdict.counterexample
        with torch.no_grad():
            answer = int(model(torch.tensor([word]))[0, -1].argmax())
        assert answer != specification.answer(word)[-1] >= 0
        assert len(word) == length
    else:
        assert verdict.exhausted and not verdict.robust and case["dtype"] == torch.float32, str(verdict)
    said = "proved" if verdict.proved else "refuted" if verdict.counterexample else "left open as rounding could decide"
    tally[said] += 1



def test_all_verdicts_occurred():
    assert tally["proved"] > CASES / 10 and tally["refuted"] > CASES / 10
    seconds = time.perf_counter() - began
    print(f"\n{tally.total():,} cases in {seconds:.0f} s: " + ", ".join(f"{n:,} {said}" for said, n in tally.items()))
