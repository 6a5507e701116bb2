"""What the contracts of chapter 02 are tried on: right ones of another style, and wrong ones with a word of what they are told."""

from collections import deque
from types import SimpleNamespace

import numpy as np
import torch

from lrnnbook.content.exercises import contracts


def shifted(raw):
    lifted = torch.exp(raw - raw.amax(2, keepdim=True))
    return lifted / lifted.sum(2, keepdim=True)


def by_einsum(A, tokens, x0):
    x, states = torch.stack([x0] * len(tokens)), []
    for token in tokens.T:
        x = torch.einsum("nhij,nhj->nhi", A[token], x)
        states.append(x)
    return torch.stack(states).transpose(0, 1)


def by_strings(A, tokens, x0):
    every = []
    for string in tokens.tolist():
        x = [x0]
        for token in string:
            x.append(torch.stack([block @ part for block, part in zip(A[token], x[-1])]))
        every.append(torch.stack(x[1:]))
    return torch.stack(every)


def into_a_buffer(A, tokens, x0, *, dtype=None, detached=False):
    states = torch.zeros(*tokens.shape, *x0.shape, dtype=dtype or A.dtype)
    x = x0.expand(len(tokens), *x0.shape)
    for t, token in enumerate(tokens.T):
        x = (A[token] @ (x.detach() if detached else x).unsqueeze(-1)).squeeze(-1)
        states[:, t] = x
    return states


def kept_in_a_buffer(A, tokens, x0):
    x, states = torch.zeros(len(tokens), *x0.shape), []
    x[:] = x0
    for token in tokens.T:
        x = (A[token] @ x.unsqueeze(-1)).squeeze(-1)
        states.append(x)
    return torch.stack(states, 1)


def over_the_blocks(A, tokens, x0):
    A *= 1
    return by_einsum(A, tokens, x0)


def one_late(A, tokens, x0):
    states = by_einsum(A, tokens, x0)
    return torch.cat([x0.expand(len(tokens), 1, *x0.shape), states[:, :-1]], 1)


def one_state_for_all(A, tokens, x0):
    x, states = x0, []
    for token in tokens.T:
        x = (A[token] @ x.unsqueeze(-1)).squeeze(-1)[0]
        states.append(x.expand(len(tokens), *x0.shape))
    return torch.stack(states, 1)


def in_place(A, tokens, x0):
    states = by_einsum(A, tokens, x0)
    x0 += 1
    return states


def step(net, optimiser, tokens, answers, *, reduction="mean", zero=True, clip=1.0, last=False, swapped=False, moves=True, floats=True):
    if zero:
        optimiser.zero_grad()
    out = net(tokens)
    if swapped:  # classes and positions
        loss = torch.nn.functional.cross_entropy(out.transpose(1, 2).reshape(-1, 3), answers.flatten())
    elif last:
        loss = torch.nn.functional.cross_entropy(out[:, -1], answers[:, -1])
    else:
        loss = torch.nn.functional.cross_entropy(out.transpose(1, 2), answers, reduction=reduction)
    loss.backward()
    if clip:
        torch.nn.utils.clip_grad_norm_(net.parameters(), clip)
    if moves:
        optimiser.step()
    return float(loss.detach()) if floats else loss


def no_net(net, *given):
    return step(net.flip, *given)


def no_machine(goes, answer, machine):
    return contracts.search(goes, answer, machine.flip)


def by_hand(net, optimiser, tokens, answers):
    picked = net(tokens).log_softmax(-1).gather(-1, answers[..., None])
    loss = -picked.mean()
    weights = list(net.parameters())
    slopes = torch.autograd.grad(loss, weights)
    longest = sum(float((slope**2).sum()) for slope in slopes) ** 0.5
    for weight, slope in zip(weights, slopes):
        weight.grad = slope / max(longest, 1.0)
    optimiser.step()
    return float(loss.detach())


def by_loops(A):
    V, h, b, _ = A.shape
    return [[[max(range(b), key=lambda i: A[v, k, i, s]) for s in range(b)] for k in range(h)] for v in range(V)]


def of_tensors(goes, answer, machine):  # which a set does not recognise
    seen, waiting = set(), deque([(tuple(torch.zeros(goes.shape[1], dtype=torch.long)), machine.initial, ())])
    while waiting:
        heads, q, word = waiting.popleft()
        for token in range(len(goes)):
            new, to = tuple(goes[token, k, s] for k, s in enumerate(heads)), machine.transitions[token, q]
            if answer(new) != machine.outputs[to]:
                return (*word, token)
            if (new, to) not in seen:
                seen.add((new, to))
                waiting.append((new, to, (*word, token)))


def from_state_0(goes, answer, machine):
    return contracts.search(goes, answer, SimpleNamespace(initial=0, transitions=machine.transitions, outputs=machine.outputs))


def searched(goes, answer, machine, *, key=lambda heads, q: (heads, q), last=False, checks_first=False, longest=99):
    heads = range(goes.shape[1])
    start = ((0,) * len(heads), machine.initial, ())
    seen, waiting = {key(*start[:2])}, deque([start])
    while waiting:
        states, q, word = waiting.pop() if last else waiting.popleft()
        if checks_first and answer(states) != machine.outputs[q]:
            return word
        for token in range(len(goes)):
            new, to = tuple(int(goes[token, k, states[k]]) for k in heads), int(machine.transitions[token][q])
            if not checks_first and answer(new) != machine.outputs[to]:
                return (*word, token)
            if key(new, to) not in seen and len(word) < longest:
                seen.add(key(new, to))
                waiting.append((new, to, (*word, token)))
    return None


def by_levels(goes, answer, machine):
    heads, seen = range(goes.shape[1]), set()
    level = {((0,) * goes.shape[1], machine.initial): []}
    while level:
        seen |= set(level)
        following = {}
        for (states, q), word in level.items():
            for token in range(len(goes)):
                new = tuple(goes[token][k][states[k]].item() for k in heads), int(machine.transitions[token, q])
                if answer(new[0]) != machine.outputs[new[1]]:
                    return [*word, token]
                if new not in seen:
                    following.setdefault(new, [*word, token])
        level = following
    return None


RIGHT = {
    "columns": [shifted, lambda raw: torch.nn.functional.softmax(raw, dim=2)],
    "scan": [by_einsum, into_a_buffer],
    "training_step": [step, by_hand],
    "snap": [by_loops, lambda A: A.max(2).indices],
    "search": [searched, by_levels],
}
WRONG = {
    "columns": [
        (lambda raw: raw.softmax(-1), "whose sum is"), (lambda raw: raw.flatten(2).softmax(-1).view_as(raw), "whose sum is"),
        (lambda raw: raw.exp() / raw.exp().sum(-2, keepdim=True), "no longer finite"),
        (lambda raw: (-raw).softmax(-2), "a larger entry has become the smaller"),
        (lambda raw: raw.detach().softmax(-2), "no gradient"), (lambda raw: (0 * raw).softmax(-2), "every entry alike"),
        (lambda raw: raw[0], "should be real numbers of shape (1, 1, 2, 2)"),
        (lambda raw: raw.double().softmax(-2), "of float32 you make blocks of float64"),
    ],
    "scan": [
        (lambda A, tokens, x0: by_einsum(A.mT, tokens, x0), "after token 1 of string 0 the state is"), (one_late, "after token 1"),
        (lambda A, tokens, x0: by_einsum(A, tokens, 0 * x0 + 1), "after token 1"), (one_state_for_all, "of string 1"),
        (in_place, "has been changed"), (lambda A, tokens, x0: by_einsum(A.detach(), tokens, x0), "without .detach(), .data or NumPy"),
        (by_strings, "do not loop over strings"), (over_the_blocks, "it writes into what it was given"),
        (lambda *given: into_a_buffer(*given, detached=True), "is a state detached between two steps?"),
        (kept_in_a_buffer, "make what you add of the dtype of what you were given"),
        (lambda *given: into_a_buffer(*given, dtype=torch.double), "of float32 you make states of float64"),
        (lambda A, tokens, x0: by_einsum(A, tokens, x0.detach()), "no gradient flows from the states to x0"),
        (lambda A, tokens, x0: by_einsum(A, tokens, x0)[:, -1:], "should be real numbers of shape (1, 2, 1, 2)"),
    ],
    "training_step": [
        (lambda *given: step(*given, zero=False), "; one step was right, and the second is not"),
        (lambda *given: step(*given, last=True), "; the loss that you return is"),
        (lambda *given: step(*given, reduction="sum"), "; the loss that you return is"), (no_net, "no_net(a Sequential, a SGD, "),
        (lambda *given: step(*given, swapped=True), "after one step"),
        (lambda *given: step(*given, floats=False), "should come back as a float, got a Tensor"),
        (lambda *given: step(*given, clip=0), "with gradients longer than 1"),
        (lambda *given: step(*given, moves=False), "no weight has moved"),
    ],
    "snap": [
        (lambda A: A.argmax(-1), "from state"), (lambda A: (A > 0.5).long().argmax(-2), "from state"),
        (lambda A: A.argmax(-2).double(), "whole numbers are asked for (torch.long), and yours are float64"),
        (lambda A: A.argmax(-2).int(), "and yours are int32"), (lambda A: A.argmax(-2).numpy() + 0.0, "and yours are float64"),
        (lambda A: [[[torch.tensor([s.item()]) for s in row] for row in head] for head in A.argmax(-2)], "should be"),
        (lambda A: A.round(), "should be numbers of shape (1, 1, 2)"), (lambda A: A.argmin(-2), "from state 0 it goes to state"),
    ],
    "search": [
        (lambda *given: searched(*given, key=lambda heads, q: heads), "you find no wrong string, and there is one"),
        (lambda *given: searched(*given, key=lambda heads, q: q), "you find no wrong string, and there is one"),
        (lambda *given: searched(*given, last=True), "but so is a shorter string"),
        (lambda *given: searched(*given, longest=8), "you find no wrong string, and there is one"),
        (lambda *given: None, "you find no wrong string"), (lambda *given: [0], "you call the answer to [0] wrong, and it is right"),
        (of_tensors, "and the heads have 6 joint states: do you recognise a state"), (from_state_0, "begins in state 3"),
        (lambda *given: searched(*given, key=lambda heads, q: object()), "do you recognise a state"),
        (lambda goes, answer, machine: contracts.search(goes, lambda s: answer(np.array(s) / 1), machine), "which are whole numbers"),
        (no_machine, "no_machine(numbers of shape (5, 2, 3), answers, a MooreMachine) raised"),
        (lambda *given: [7], "tokens below"), (lambda *given: "01", "a tuple of tokens is asked for"),
        (lambda goes, answer, machine: contracts.search(goes.flip(0), answer, machine), "a"),
    ],
}  # fmt: skip
