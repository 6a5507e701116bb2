"""Nets restarted from a codebook against an exhaustive search; LRNNLAB_PROOF_CASES=10000 tries more random cases."""

import copy
import os
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

from lrnnlab.automata import MooreMachine, minimise
from lrnnlab.models import Net, blocks, build
from lrnnlab.models.base import Recurrence
from lrnnlab.tasks import StateTracking, task
from lrnnlab.training import evaluate
from lrnnlab.verification import quantise, verify
from lrnnlab.verification.quantised import Quantised, read_off
from lrnnlab.verification.semantics.traced import TracedStep

CASES = int(os.environ.get("LRNNLAB_PROOF_CASES", 150))
MODELS = ("lstm", "elman", "block_diagonal", "diagonal", "deltanet", "recurrent_delta", "srwm", "s5", "rotrnn", "dlr",
          "gated_deltanet", "mamba2", "rwkv7")  # fmt: skip


class Turn(Recurrence):
    """One complex number that token 1 turns by a fifth of a circle, or nearly so."""

    def __init__(self, off):
        super().__init__()
        self.angle = torch.nn.Parameter(torch.tensor(2 * torch.pi / 5 * (1 + off)))

    def initial(self, batch):
        return torch.complex(*self.angle.new_tensor([1, 0])).expand(batch, 1)

    def step(self, state, z_t):
        state = state * torch.exp(1j * self.angle * z_t[:, :1])
        return state, torch.view_as_real(state).flatten(1)

    def mix(self, z):
        state, made = self.initial(len(z)), []
        for z_t in z.unbind(1):
            state, y = self.step(state, z_t)
            made.append(y)
        return torch.stack(made, 1)


def turning(off, yes_no=False):
    """A net that counts modulo 5 by turning; it tells the number, or whether it is 0."""
    net = Net(blocks(lambda _: Turn(off), 2, 1, norm="none", residual=False), 2 if yes_no else 5, 2, vocab_size=2)
    around = 2 * np.pi / 5 * torch.arange(5)
    towards = torch.stack([around.cos(), around.sin()], 1)
    with torch.no_grad():
        net.embedding.weight.copy_(torch.tensor([[0.0, 0.0], [1.0, 0.0]]))
        net.head[0].weight.copy_(40 * (towards if not yes_no else torch.tensor([[-1.0, 0.0], [1.0, 0.0]])))
        net.head[0].bias.copy_(torch.zeros(5) if not yes_no else torch.tensor([26.0, -26.0]))
    return net


def counting(yes_no=False):
    outputs = [1, 0, 0, 0, 0] if yes_no else range(5)
    machine = MooreMachine([range(5), [1, 2, 3, 4, 0]], list(outputs), 0, "01")
    return StateTracking(machine, "mod 5") if not yes_no else made(machine)


def made(machine):
    from lrnnlab.automata import Language
    from lrnnlab.tasks import Task

    return Task(Language("mod 5", machine, lambda word: int(sum(map(int, word)) % 5 == 0)))


@pytest.mark.parametrize("yes_no", (False, True))
def test_a_net_that_drifts_is_right_at_every_length_and_proved(yes_no):
    net, asked = turning(0.004, yes_no), counting(yes_no)
    alone = evaluate(net, asked, seed=0, length=600, strings=32)
    assert alone.accuracy_all < 0.9
    for every in (1, 3):
        found = quantise(net, asked, every=every)
        assert len(found.codebook) == 5 and found.closed and not found.why
        assert (len(found.words) > 1) == yes_no
        assert evaluate(found, asked, seed=0, length=600, strings=32).accuracy_all == 1
        verdict = verify(found, asked.specification)
        assert verdict.proved, str(verdict)
        again = quantise(net, asked).restarted(every)
        assert again.every == every and torch.equal(again.codebook, found.codebook)
        assert found.codebook.dtype == torch.float64


def test_a_wrong_net_gets_its_shortest_counterexample():
    net, asked = turning(0.004), counting()
    with torch.no_grad():
        net.embedding.weight[0, 0] = 1.0  # token 0 counts as well
    verdict = verify(quantise(net, asked), asked.specification)
    assert verdict.counterexample == (0,) and not verdict.proved and verdict.depth == 0


def test_a_verdict_says_how_long_the_strings_were_that_it_covered():
    """A counter to 5 is where it has been after five tokens; one more shows it."""
    verdict = verify(quantise(turning(0.004), counting()), counting().specification)
    assert verdict.proved and verdict.exhausted and verdict.depth == 6
    goal = counting().specification
    late = replace(goal, outputs=np.where(goal.outputs == 4, 0, goal.outputs))
    wrong = verify(quantise(turning(0.004), counting()), late)
    assert len(wrong.counterexample) == 4 and wrong.depth == 3


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("every", (1, 3))
def test_the_machine_read_off_answers_as_the_net(name, every):
    net = build(name, task("parity"), seed=3)
    found = quantise(net, task("parity"), every=every, rounds=2, states=20)
    tokens = torch.randint(2, (64, 30), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        logits = found.eval()(tokens)
    assert found.codebook.dtype == logits.dtype == torch.float64 and next(net.parameters()).dtype == torch.float32
    machine, shown, _ = read_off(found)
    states = machine.run(tokens.numpy())
    assert float((shown[torch.from_numpy(states)] - logits).abs().max()) < 1e-4 * max(1, float(logits.abs().max()))
    assert found.states(tokens).shape[:2] == (64, 30)


@pytest.mark.parametrize("name", ("attention", "transformer", "sgconv"))
def test_a_state_that_grows_is_refused(name):
    with pytest.raises(ValueError, match="grows"):
        quantise(build(name, task("parity"), seed=0), task("parity"))


def test_a_codebook_that_does_not_close_says_so():
    found = quantise(turning(0.004, yes_no=True), counting(yes_no=True), states=3)
    assert not found.closed and found.why


def truth(model, specification, longest):
    """Length of the shortest wrong string, by asking the model itself at every string, state by state; 0 if none."""
    level, seen = [(model.initial_state(1), specification.initial)], set()
    for length in range(1, longest + 1):
        after = []
        for state, wanted in level:
            for token in range(specification.num_symbols):
                new, logits = model.step(state, torch.tensor([token]))
                goal = int(specification.transitions[token, wanted])
                due = int(specification.outputs[goal])
                if due >= 0 and int(logits.argmax()) != due:
                    return length
                key = (
                    *(part.numpy().tobytes() for part in torch.utils._pytree.tree_flatten(new[0])[0]),
                    new[1] % model.every,
                    goal,
                )
                if key not in seen:
                    seen.add(key)
                    after.append((new, goal))
        level = after
        if not level:
            return 0
    return 0


@torch.no_grad()
def test_no_proof_is_false():
    outcomes, traced = Counter(), {}
    for case in range(CASES):
        rng = np.random.default_rng(case)
        V, C, every = int(rng.integers(1, 4)), int(rng.integers(2, 4)), int(rng.integers(1, 3))
        net = build(MODELS[case % 4], vocab_size=V, classes=C, seed=case)
        for part in net.parameters():
            part.mul_(float(rng.choice([1, 3])))
        K = int(rng.integers(1, 6))
        net = net.eval().double() if case % 5 else net.eval()
        kind = MODELS[case % 4], V, C, bool(case % 5)
        if kind not in traced:  # weights are data of the graph, so one serves all nets of a shape
            traced[kind] = TracedStep(net)
        steps = copy.deepcopy(traced[kind])
        weights = {name.replace(".", "_"): weight for name, weight in net.state_dict().items()}
        others = steps.graph.load_state_dict(weights, strict=False).missing_keys
        assert all(name.startswith("made_") for name in others), others
        codes, _ = steps.step(steps.initial_state(K), torch.from_numpy(rng.integers(V, size=K)))
        words = [(), *(tuple(rng.integers(V, size=n)) for n in range(1, int(rng.integers(1, 3))))]
        answers = torch.from_numpy(rng.integers(C, size=(K, len(words))))
        model = Quantised(steps, every, codes, words, answers)
        machine = minimise(read_off(model)[0])
        arrows, outputs = machine.transitions.copy(), machine.outputs.copy()
        change = case % 3
        if change == 1:
            arrows[rng.integers(V), rng.integers(machine.num_states)] = rng.integers(machine.num_states)
        elif change == 2:
            outputs[rng.integers(machine.num_states)] = rng.integers(C)
        goal = MooreMachine(arrows, outputs, machine.initial, machine.symbols)
        if goal.outputs[goal.transitions[:, goal.reachable()]].max() < 0:  # it asks for no answer
            continue
        verdict, shortest = verify(model, goal), truth(model, goal, 40)
        kind = "proved" if verdict.proved else "refuted" if verdict.counterexample else "open"
        outcomes[kind] += 1
        if kind == "proved":
            assert shortest == 0, case
        elif kind == "refuted":
            assert len(verdict.counterexample) == shortest, case
    print(dict(outcomes))
    assert outcomes["proved"] >= CASES / 10 and outcomes["refuted"] >= CASES / 10
