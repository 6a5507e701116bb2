"""The thread of chapter 02: five steps from raw numbers to a proof, each with its contract and the package's own few lines.

A contract is a judge (:mod:`lrnnbook.content.exercises.judging`): it returns where what it is given does the step, and raises
NotYet with the smallest input that fails.  ``%%build``, the graded set ps6 and the tests call the same contracts; what besides
only the cells of the notebook ask for is in those named ``build_``.  The
references are plain torch and stand alone, for ``lrnnlab copy export`` writes them into a file where a reader has none.
"""

import copy
import itertools
import re
from collections import deque
from collections.abc import Callable

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from lrnnbook.content.exercises.judging import CannotJudge, NotYet, call, claim, numbers, shown
from lrnnlab.automata import MooreMachine, equivalent


def columns(raw):  # (V, h, b, b) -> blocks of that shape whose columns are probabilities
    return raw.softmax(-2)


def scan(A, tokens, x0):  # (V, h, b, b), (B, T), (h, b) -> all states, (B, T, h, b)
    x, states = x0.expand(len(tokens), *x0.shape), []
    for t in range(tokens.shape[1]):
        x = (A[tokens[:, t]] @ x.unsqueeze(-1)).squeeze(-1)
        states.append(x)
    return torch.stack(states, 1)


def training_step(net, optimiser, tokens, answers):  # (B, T), (B, T) -> the loss before the step
    loss = torch.nn.functional.cross_entropy(net(tokens).flatten(0, 1), answers.flatten())
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimiser.step()
    return loss.item()


def snap(A):  # (V, h, b, b) -> where each head goes on each token from each state, (V, h, b)
    return A.argmax(-2)


def search(goes, answer, machine):  # (V, h, b), states of all heads -> answer -> a shortest wrong word, or None
    start = (0,) * goes.shape[1], machine.initial
    seen, queue = {start}, deque([(start, ())])
    while queue:
        (heads, state), word = queue.popleft()
        for token in range(len(goes)):
            new = tuple(int(goes[token, k, s]) for k, s in enumerate(heads)), int(machine.transitions[token, state])
            if answer(new[0]) != machine.outputs[new[1]]:
                return (*word, token)
            if new not in seen:
                seen.add(new)
                queue.append((new, (*word, token)))


STAY = "stay in torch, without .detach(), .data or NumPy"
_MEANS = {"a leaf Variable": "it writes into what it was given", "dtype|scalar type": "make what you add of the dtype of what you were given"}
MOST = 20_000  # calls of the readout by a search whose largest case has 4,620 pairs


class _Calls(TorchFunctionMode):
    """Counts calls of torch."""

    count = 0

    def __torch_function__(self, function, types, arguments=(), named=None):
        self.count += 1
        return function(*arguments, **(named or {}))


def torch_calls(function: Callable, *arguments: torch.Tensor) -> int:
    """How often a function calls torch."""
    with _Calls() as calls:
        call(function, *arguments, copied=False)
    return calls.count


def run(function: Callable, *arguments: torch.Tensor) -> torch.Tensor:
    """What a function makes of these tensors themselves; two errors that torch tells in words of its own are explained."""
    try:
        return call(function, *arguments, copied=False)
    except CannotJudge as error:
        why = next((why for words, why in _MEANS.items() if re.search(words, str(error))), "")
        raise CannotJudge(f"{error}: {why}" if why else str(error)) from None


def keeps_float32(made: torch.Tensor, what: str) -> None:
    """What a function made of numbers of 32 bits are numbers of 32 bits, as the layers of a net have them."""
    claim(made.dtype == torch.float32, f"of float32 you make {what} of {str(made.dtype).removeprefix('torch.')}: keep the dtype that you are given")


# The contracts.  Random numbers come from NumPy, whose generator gives the same ones on every machine.


def judge_columns(answer: Callable) -> None:
    """Columns that sum to 1, finite for entries of 1,000, in the order of the raw numbers, with a gradient."""
    draw = np.random.default_rng(5)
    for (V, h, b), size in (((1, 1, 2), 1), ((2, 1, 3), 1), ((3, 2, 4), 1), ((2, 3, 3), 1000)):
        raw = torch.from_numpy((size * draw.normal(size=(V, h, b, b))).round(1)).requires_grad_()
        made = call(answer, raw)
        A = numbers(made, tuple(raw.shape), "the blocks", real=True)
        for v, k, j in itertools.product(range(V), range(h), range(b)):
            column, before = A[v, k, :, j], raw[v, k, :, j].tolist()
            became = f"token {v}, head {k}: column {before} becomes {column.round(4).tolist()}"
            claim(np.isfinite(column).all(), f"{became}, and is no longer finite")
            claim((column >= 0).all() and abs(column.sum() - 1) <= 1e-6, f"{became}, whose sum is {column.sum():.4g}")
            order = [column[i] for i in np.argsort(before, kind="stable")]
            claim(all(low <= high for low, high in itertools.pairwise(order)), f"{became}: a larger entry has become the smaller")
            claim(max(before) > min(before) and column.max() > column.min(), f"{became}: every entry alike")
        claim(isinstance(made, torch.Tensor) and made.requires_grad, f"no gradient flows from the blocks to the raw numbers: {STAY}")


def build_columns(answer: Callable) -> None:
    """In a notebook a net of float32 is made of them."""
    judge_columns(answer)
    keeps_float32(call(answer, torch.zeros(1, 1, 2, 2)), "blocks")


def judge_scan(answer: Callable) -> None:
    """All states of every string, for blocks that are not stochastic; the gradient; and what came in is as it was."""
    draw = np.random.default_rng(6)
    for V, h, b, B, T in ((1, 1, 2, 1, 1), (2, 1, 2, 1, 2), (3, 1, 2, 2, 3), (4, 2, 3, 3, 5), (4, 3, 2, 3, 13)):
        A = torch.from_numpy(draw.normal(size=(V, h, b, b)).round(1)).requires_grad_()
        tokens, x0 = torch.from_numpy(draw.integers(V, size=(B, T))), torch.from_numpy(draw.normal(size=(h, b)).round(1))
        given = A.detach().clone().requires_grad_(), tokens.clone(), x0.clone()
        wanted, of = scan(A, tokens, x0), f"the strings {tokens.tolist()}, {h} head{'s' * (h > 1)} of {b} states"
        made = run(answer, *given)
        states = numbers(made, tuple(wanted.shape), f"the states of {of}", real=True)
        for t, i in itertools.product(range(T), range(B)):
            small = f", blocks {A.tolist()}, start {x0.tolist()}" if A.numel() < 10 else ""
            claim(np.allclose(states[i, t], wanted[i, t].detach().numpy(), rtol=1e-5, atol=1e-7),
                  f"{of}{small}: after token {t + 1} of string {i} the state is {states[i, t].round(4).tolist()}, and should be "
                  f"{wanted[i, t].detach().numpy().round(4).tolist()}")  # fmt: skip
        claim(all(torch.equal(now, was) for now, was in zip(given, (A, tokens, x0))), f"{of}: what you were given has been changed")
        claim(isinstance(made, torch.Tensor) and made.requires_grad, f"no gradient flows from the states to the blocks: {STAY}")
        weights = torch.from_numpy(draw.normal(size=wanted.shape))
        (mine,), (right,) = (torch.autograd.grad((x * weights).sum(), blocks) for x, blocks in ((made, given[0]), (wanted, A)))
        claim(torch.allclose(mine, right, rtol=1e-5, atol=1e-7), f"{of}: the gradient of the blocks is wrong (is a state detached between two steps?)")


def build_scan(answer: Callable) -> None:
    """In a notebook it trains float32 on many strings at once, and in chapter 10 what they start from, too."""
    judge_scan(answer)
    A, x0 = torch.eye(2).repeat(3, 2, 1, 1), torch.ones(2, 2, requires_grad=True)
    few, many = (torch_calls(answer, A, torch.ones(B, 5, dtype=torch.long), x0.detach()) for B in (2, 66))
    claim(many < few + 3 * 64, f"of 2 strings you call torch {few:,} times, of 66 strings {many:,} times: do not loop over strings")
    made = run(answer, A, torch.ones(2, 5, dtype=torch.long), x0)
    keeps_float32(made, "states")
    claim(made.requires_grad, f"no gradient flows from the states to x0: {STAY}")


def judge_training_step(answer: Callable) -> None:
    """One and two steps of SGD move a small net where the reference moves it; the loss comes back as a number."""
    draw = np.random.default_rng(8)
    tokens, answers = (torch.from_numpy(draw.integers(3, size=(4, 5))) for _ in range(2))
    for size in (0.1, 9.0):  # with gradients below and above 1
        first = torch.nn.Sequential(torch.nn.Embedding(3, 4), torch.nn.Linear(4, 3))
        with torch.no_grad():
            for weight in first.parameters():
                weight.copy_(size * torch.from_numpy(draw.normal(size=weight.shape)))
        ours, theirs = copy.deepcopy(first), copy.deepcopy(first)
        optimisers = [torch.optim.SGD(net.parameters(), lr=0.1) for net in (ours, theirs)]
        for steps in ("one step", "two steps"):
            loss = training_step(ours, optimisers[0], tokens, answers)
            given = call(answer, theirs, optimisers[1], tokens, answers, copied=False)
            moved = max(float((a - b).detach().abs().max()) for a, b in zip(ours.parameters(), theirs.parameters()))
            stays = all(torch.equal(a, b) for a, b in zip(first.parameters(), theirs.parameters()))
            what = "with gradients longer than 1 " if size > 1 else ""
            claim(not stays, f"after {steps} no weight has moved")
            which = "; one step was right, and the second is not" if steps == "two steps" else ""
            lost = given.item() if isinstance(given, torch.Tensor) and given.numel() == 1 else given if isinstance(given, float) else loss
            told = f"; the loss that you return is {lost:.6g}, and it should be {loss:.6g}" if abs(lost - loss) > 1e-5 else ""
            claim(moved <= 1e-5, f"{what}after {steps} of SGD a weight is off by {moved:.2g}{which}{told}")
            claim(type(given) is float, f"the loss should come back as a float, got a {type(given).__name__}")
            claim(abs(given - loss) <= 1e-4 * (1 + loss), f"{what}the loss of the batch is {loss:.4f}, you return {given:.4f}")


def judge_snap(answer: Callable) -> None:
    """``goes[v, k, s]`` is the row of the largest entry of column s."""
    draw = np.random.default_rng(9)
    for V, h, b in ((1, 1, 2), (1, 1, 3), (3, 2, 4), (5, 8, 8)):
        A = columns(torch.from_numpy(2 * draw.normal(size=(V, h, b, b))))
        goes = numbers(call(answer, A), (V, h, b), "where the heads go")
        for v, k, s in itertools.product(range(V), range(h), range(b)):
            column = A[v, k, :, s].numpy()
            claim(goes[v, k, s] == column.argmax(), f"the block {A[v, k].numpy().round(2).tolist()}: from state {s} it goes to state "
                  f"{int(column.argmax())}, the largest of column {column.round(2).tolist()}, and not to {goes[v, k, s]}")  # fmt: skip


def build_snap(answer: Callable) -> None:
    """In a notebook torch makes whole numbers of what comes back."""
    judge_snap(answer)
    made = call(answer, torch.eye(2)[None, None])
    try:
        kind = torch.as_tensor(made).dtype
    except (TypeError, ValueError, RuntimeError):
        raise CannotJudge(f"torch.as_tensor should make a table of what you return, got {shown(made)}: return one tensor") from None
    claim(kind == torch.long, f"whole numbers are asked for (torch.long), and yours are {str(kind).removeprefix('torch.')}: .long() makes them whole")


def judge_search(answer: Callable) -> None:
    """Of heads and a machine: a shortest word that they answer differently, or None where there is none."""
    _searched(answer, _nets())


def build_search(answer: Callable) -> None:
    """In a notebook a machine says in which state it begins."""
    judge_search(answer)
    late = MooreMachine(np.array(_counting(4, (0, 1, 2))), np.array([1, 2, 3, 0]), 3, ("0", "1", "2"))
    _searched(answer, [("a head that counts modulo 4, and a machine that does so and begins in state 3, which is machine.initial",
                        _heads(_counting(4, (0, 1, 2))), lambda s: s[0], late)])  # fmt: skip


def _searched(answer: Callable, nets: list[tuple[str, torch.Tensor, Callable, MooreMachine]]) -> None:
    for net, goes, readout, machine in nets:
        heads, asked = range(goes.shape[1]), itertools.count(1)
        rule = lambda s, token, goes=goes, heads=heads: tuple(goes[token, heads, s].tolist())  # noqa: E731
        snapped = MooreMachine.from_rule((0,) * len(heads), machine.symbols, rule, readout)

        def answers(states, net=net, readout=readout, asked=asked, snapped=snapped):
            if next(asked) > MOST:
                there = f"{net}: you asked {MOST:,} times for an answer, and the heads have {snapped.num_states} joint states"
                raise NotYet(f"{there}: do you recognise a state that you have seen? (Two tensors in a set are never equal: use int.)")
            given = numbers(states, (None,), "what answer is given")
            if given.dtype.kind not in "iu":
                raise CannotJudge(f"answer should be given states, which are whole numbers, got {shown(states)}")
            return readout(tuple(given.tolist()))

        given, shortest = call(answer, goes, answers, machine), equivalent(snapped, machine)
        if given is None:
            claim(shortest is None, f"{net}: you find no wrong string, and there is one")
            continue
        if isinstance(given, str):
            raise CannotJudge(f"a tuple of tokens is asked for, or None; got {shown(given)}")
        tokens = numbers(given, (None,), "the tokens of a string").tolist()
        if not set(tokens) <= set(range(len(goes))):
            raise CannotJudge(f"tokens below {len(goes)} are asked for, or None; got {shown(given)}")
        word = [int(token) for token in tokens]
        claim(word and snapped.answer(word)[-1] != machine.answer(word)[-1], f"{net}: you call the answer to {shown(tokens)} wrong, and it is right")
        claim(len(tokens) == len(shortest or ()), f"{net}: {shown(tokens)} is answered wrongly, but so is a shorter string")


def _counting(size: int, steps: tuple[int, ...] = (1,)) -> list[list[int]]:
    return [[(q + step) % size for q in range(size)] for step in steps]


def _counter(size: int, outputs: list[int], steps: tuple[int, ...] = (1,)) -> MooreMachine:
    """Counts modulo ``size``; letter v adds ``steps[v]``."""
    return MooreMachine(np.array(_counting(size, steps)), np.array(outputs), 0, tuple(map(str, range(len(steps)))))


def _heads(*tables: list[list[int]]) -> torch.Tensor:
    """Where heads with these tables (V, states of the head) go: (V, h, b); spare states stay where they are."""
    b = max(len(table[0]) for table in tables)
    return torch.tensor([[[*row, *range(len(row), b)] for row in rows] for rows in zip(*tables)])


def _nets() -> list[tuple[str, torch.Tensor, Callable, MooreMachine]]:
    """What a search is tried on: in words, where the heads go, readout, machine."""
    longer, five = MooreMachine(np.array([[1, 2, 3, 4, 5, 5], [0] * 6]), np.array([0, 0, 0, 0, 0, 1]), 0, ("a", "b")), tuple(range(5))
    return [
        ("two heads that count modulo 2 and 3, and sums modulo 6", _heads(_counting(2, five), _counting(3, five)),
         lambda s: (3 * s[0] + 4 * s[1]) % 6, _counter(6, list(range(6)), five)),
        ("a head that counts a up to 4 and says 1 there, b taking it back to 0, and a machine that does so up to 5",
         _heads([[1, 2, 3, 4, 4], [0] * 5]), lambda s: int(s[0] == 4), longer),
        ("a head that counts modulo 2, and a machine that counts modulo 6 with the answers 0, 1, 0, 1, 0, 0",
         _heads(_counting(2)), lambda s: s[0], _counter(6, [0, 1, 0, 1, 0, 0])),
        ("a head that counts modulo 6 with the answers 0, 1, 0, 1, 0, 0, and a machine that counts modulo 2",
         _heads(_counting(6)), lambda s: int(s[0] in (1, 3)), _counter(2, [0, 1])),
        *[("three heads that count modulo 3, 5 and 7 and say 1 when all are in their last state, and a machine that "
           "always says 0", _heads(*(_counting(n, steps) for n in (3, 5, 7))), lambda s: int(s == (2, 4, 6)),
           _counter(1, [0], steps)) for steps in ((1, 2), (2, 1))],
        ("a head that counts 1 modulo 4 and adds 2 on a 2, and the machine that does so",
         _heads(_counting(4, (0, 1, 2))), lambda s: s[0], _counter(4, [0, 1, 2, 3], (0, 1, 2))),
        ("three heads that count modulo 5, 7 and 11, and a machine that counts modulo 12, 4,620 pairs in all",
         _heads(*(_counting(n) for n in (5, 7, 11))), lambda s: 0, _counter(12, [0] * 12)),
    ]  # fmt: skip
