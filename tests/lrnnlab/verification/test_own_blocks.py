"""Blocks that somebody trained in NumPy: snapped and proved as arrays, and the arrays are what runs."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from lrnnlab import snap, task, verify
from lrnnlab.automata import MooreMachine
from lrnnlab.models import block_net, exact_model
from lrnnlab.models.exact import obstacle, symbol_transitions

SUM = task("sum", 3)


def softmax(x):
    x = np.exp(x - x.max(-2, keepdims=True))
    return x / x.sum(-2, keepdims=True)


def trained(steps=400, length=6, n=3, seed=0):
    """(blocks (3,n,n), start (n,), readout (3,n)) of a sum modulo 3, by gradient descent in NumPy alone."""
    draw = np.random.default_rng(seed)
    raw, readout, start = draw.normal(size=(3, n, n)), draw.normal(size=(3, n)), np.eye(n)[0]
    moments = [[np.zeros_like(x), np.zeros_like(x)] for x in (raw, readout)]
    for t in range(1, steps + 1):
        tokens = draw.integers(3, size=(64, length))
        A, states = softmax(raw), [np.tile(start, (64, 1))]
        for token in tokens.T:
            states.append(np.einsum("bij,bj->bi", A[token], states[-1]))
        back, d_A, d_readout = np.zeros((64, n)), np.zeros_like(A), np.zeros_like(readout)
        for k in reversed(range(length)):
            logits = states[k + 1] @ readout.T
            error = (softmax(logits[..., None])[..., 0] - np.eye(3)[tokens[:, : k + 1].sum(1) % 3]) / 64
            d_readout += error.T @ states[k + 1]
            back = back + error @ readout
            np.add.at(d_A, tokens[:, k], back[:, :, None] * states[k][:, None])
            back = np.einsum("bij,bi->bj", A[tokens[:, k]], back)
        for x, grad, kept in zip((raw, readout), (A * (d_A - (A * d_A).sum(-2, keepdims=True)), d_readout), moments):
            kept[0] = 0.9 * kept[0] + 0.1 * grad
            kept[1] = 0.99 * kept[1] + 0.01 * grad**2
            x -= 0.1 * kept[0] / (1 - 0.9**t) / (np.sqrt(kept[1] / (1 - 0.99**t)) + 1e-8)
    return softmax(raw), start, readout


def run(blocks, start, readout, word):
    """What a student's own loop answers after each token."""
    state, said = start, []
    for token in word:
        state = blocks[token] @ state
        said.append(int((readout @ state).argmax()))
    return said


def test_blocks_trained_in_numpy_are_proved_and_run_as_they_are():
    blocks, start, readout = trained()
    mine = block_net(blocks, start, readout)
    with pytest.raises(ValueError, match="a column of its blocks is not one-hot: snap it"):
        verify(mine, SUM.specification)
    hard = snap(mine)
    verdict = verify(hard, SUM.specification)
    assert verdict.proved and verdict.about == "snapped, in float64", str(verdict)
    arrays = symbol_transitions(hard)[0][:, 0].numpy()
    assert ((arrays == 0) | (arrays == 1)).all() and (arrays.argmax(-2) == blocks.argmax(-2)).all()
    words = np.random.default_rng(1).integers(3, size=(20, 200))
    assert [run(arrays, start, readout, word) for word in words] == hard(torch.from_numpy(words)).argmax(-1).tolist()
    assert np.allclose(mine(torch.from_numpy(words[:1, :3]))[0, -1], readout @ blocks[words[0, 2]] @ blocks[words[0, 1]]
                       @ blocks[words[0, 0]] @ start)  # fmt: skip


def test_wrong_blocks_get_a_shortest_counterexample():
    blocks, start, readout = trained()
    blocks[0] = np.roll(blocks[0], 1, 0)  # 0 counts too
    wrong = snap(block_net(blocks, start, readout))
    verdict = verify(wrong, SUM.specification)
    assert len(verdict.counterexample) == 1 and not verdict.proved
    arrays = symbol_transitions(wrong)[0][:, 0].numpy()
    assert run(arrays, start, readout, verdict.counterexample)[-1] != sum(verdict.counterexample) % 3


@pytest.mark.parametrize("seed", range(30))
def test_a_verdict_on_random_blocks_is_that_of_all_short_words(seed):
    draw = np.random.default_rng(seed)
    V, h, n, C = draw.integers((2, 1, 1, 2), (4, 4, 4, 4))
    blocks, start = draw.normal(size=(V, h, n, n)), np.eye(n)[draw.integers(n, size=h)]
    readout, bias = draw.normal(size=(C, h, n)), draw.normal(size=C)
    net = snap(block_net(blocks, start, readout, bias))
    arrays, shortest, places = symbol_transitions(net)[0].numpy(), 0, np.arange(h)
    goal = MooreMachine.from_rule(  # what the net is; of two nets of three one answer is then changed
        tuple(start.argmax(-1)), "abc"[:V], lambda state, v: tuple(arrays[v, places, :, state].argmax(-1)),
        lambda state: int((readout[:, places, state].sum(1) + bias).argmax()))  # fmt: skip
    if seed % 3:
        outputs = goal.outputs.copy()
        outputs[-1] = (outputs[-1] + 1) % C
        goal = replace(goal, outputs=outputs)
    level = {(start.argmax(-1).tobytes(), 0): (start, 0)}
    seen = set(level)
    for length in range(1, 200):
        after = {}
        for state, q in level.values():
            for v in range(V):
                new, to = np.einsum("hij,hj->hi", arrays[v], state), int(goal.transitions[v, q])
                if (np.einsum("chi,hi->c", readout, new) + bias).argmax() != goal.outputs[to]:
                    shortest = shortest or length
                after[new.argmax(-1).tobytes(), to] = new, to
        level = {key: value for key, value in after.items() if key not in seen}
        seen |= set(level)
        if shortest or not level:
            break
    verdict = verify(net, goal)
    assert verdict.proved == (not shortest) and len(verdict.counterexample or ()) == shortest


def test_exact_nets_are_proved_as_they_are():
    net = exact_model(SUM.machine)
    assert obstacle(net, "hard") is None and verify(net, SUM.specification).proved
    with torch.no_grad():
        net.encoder.weight[0] = net.encoder.weight[1].clone()  # it reads 0 as 1
    with pytest.raises(ValueError, match="its encoder is not that of one-hot tokens"):
        verify(net, SUM.specification)


@pytest.mark.parametrize("blocks, start, readout, why", [
    (np.zeros((3, 2, 2)), np.zeros(3), np.zeros((2, 2)), r"block_net takes blocks .* got blocks \(3, 2, 2\), start \(3,\)"),
    (np.zeros((3, 1, 2, 2)), np.zeros(2), np.zeros((2, 2)), r"start \(2,\)"),
    (np.zeros((3, 2, 3)), np.zeros(2), np.zeros((2, 2)), r"blocks \(3, 2, 3\)"),
    (np.full((3, 2, 2), np.nan), np.zeros(2), np.zeros((2, 2)), r"finite real numbers.*blocks is a NumPy array \(3, 2, 2\)"),
    (np.zeros((3, 2, 2)), np.zeros(2, complex), np.zeros((2, 2)), r"finite real numbers.*start is a NumPy array \(2,\) of complex128"),
])  # fmt: skip
def test_what_does_not_fit_is_shown(blocks, start, readout, why):
    with pytest.raises(ValueError, match=why):
        block_net(blocks, start, readout)


def test_a_soft_start_is_no_state_of_an_automaton():
    blocks, _, readout = trained(steps=1)
    with pytest.raises(ValueError, match="not one-hot"):
        snap(block_net(blocks, np.full(3, 1 / 3), readout))
