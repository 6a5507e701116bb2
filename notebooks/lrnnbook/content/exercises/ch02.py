"""The judges of chapter 02's exercises; hints and solutions are in ch02.md."""

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from lrnnbook.content.exercises.judging import CannotJudge, call, claim, number, numbers, shown
from lrnnbook.content.exercises.prediction import prediction
from lrnnlab.automata import MooreMachine, equivalent

MODULI, SIZES = (6, 12, 30, 360), (3, 4, 5, 9)  # the least block is the greatest prime power that divides M
LARGEST_P = 1 / (1 - math.log(10) / (500 * math.log(8)))


def _largest_p(answer) -> None:
    p = number(answer)
    claim(p > 0, f"p is positive, got {p:g}")
    claim(p > 1, f"at p = {p:g} the 1-norm does not grow at all: a larger p is still allowed")
    log_growth = 500 * (1 - 1 / p) * math.log(8)
    grown = f"{math.exp(log_growth):.4g}" if log_growth < 700 else f"e^{log_growth:.0f}"
    claim(p <= LARGEST_P + 1e-5, f"at p = {p:g} a state can grow by a factor of {grown} in 500 steps")
    claim(p >= LARGEST_P - 1e-5, f"at p = {p:g} it grows at most by a factor of {grown}: a larger p is still allowed")


def _least_blocks(answer) -> None:
    for M, given, least in zip(MODULI, numbers(answer, (len(MODULI),), "the four sizes", real=True).tolist(), SIZES):
        claim(given.is_integer(), f"M = {M}: a size is whole, got {given:g}")
        claim(given <= least, f"M = {M}: not {given:g}; heads of different sizes may share the work")
        claim(given >= least, f"M = {M}: with b = {given:g} no head has the period that is needed")


def _tables(answer) -> None:
    draw = np.random.default_rng(2)
    for V, b in ((1, 1), (2, 3), (3, 5), (5, 4)):
        goes = draw.integers(b, size=(V, b)).tolist()
        A = numbers(call(answer, goes), (V, b, b), f"A for the table {goes}")
        for token in range(V):
            for state in range(b):
                reached, wanted = A[token][:, state], np.eye(b)[goes[token][state]]
                claim((reached == wanted).all(), f"for the table {goes}, token {token} sends state {state} to "
                                                 f"{reached.tolist()}, not to state {goes[token][state]}")  # fmt: skip


def _growing(answer) -> None:
    A = numbers(answer, (2, 2), "A", real=True)
    norms = np.linalg.norm(A, axis=0)
    claim((norms <= 1 + 1e-9).all(), f"the columns' 2-norms are {norms.round(9).tolist()}, and 1 is the most allowed")
    most = float(np.abs(np.linalg.matrix_power(A, 100)).max())
    claim(most >= 1e10, f"the largest entry of its 100th power is {most:.3g}")


def _tokens(answer) -> None:
    for e, s in ((0.01, 0.5), (0.001, 0.5), (0.0005, 0.6), (0.2, 0.9), (0.3, 0.01), (0.00002, 0.75), (0.5, 0.25), (0.75, 0.0625)):
        t, given = math.ceil(math.log(s) / math.log(1 - e)) - 1, number(call(answer, e, s))
        claim(given.is_integer() and given >= 0, f"e = {e:g}, s = {s:g}: {given:g} is no number of tokens")
        claim(given <= t, f"e = {e:g}, s = {s:g}: after {given:g} tokens (1 - e)^t is no longer above s")
        claim(given >= t, f"e = {e:g}, s = {s:g}: one token after {given:g} (1 - e)^t is still above s")


def _blocks_of(goes: list[list[int]]) -> np.ndarray:
    return np.eye(len(goes[0]))[np.array(goes)].swapaxes(1, 2)


def _columns(raw: np.ndarray) -> np.ndarray:
    lifted = np.exp(raw - raw.max(axis=-2, keepdims=True))
    return lifted / lifted.sum(axis=-2, keepdims=True)


def _layer(answer) -> None:
    draw = np.random.default_rng(5)
    for (V, h, b), size in (((1, 1, 2), 1), ((2, 1, 3), 1), ((3, 2, 4), 1), ((2, 3, 3), 1000)):
        raw = (size * draw.normal(size=(V, h, b, b))).round(1)
        A, wanted = numbers(call(answer, raw), raw.shape, "the blocks"), _columns(raw)
        for v, k, j in itertools.product(range(V), range(h), range(b)):
            column = A[v, k, :, j]
            claim(np.allclose(column, wanted[v, k, :, j]),
                  f"the column {raw[v, k, :, j].tolist()} of the raw numbers {raw[v, k].tolist()} becomes "
                  f"{column.round(4).tolist()}, whose sum is {column.sum():.4g}")  # fmt: skip


def _by_loops(A: np.ndarray, readout: Callable, tokens: Sequence[int]) -> list[int]:
    x, answers = np.eye(A.shape[-1])[[0] * A.shape[1]], []
    for token in tokens:
        x = np.stack([block @ part for block, part in zip(A[token], x)])
        answers.append(readout(x))
    return answers


def _run(answer) -> None:
    draw = np.random.default_rng(6)
    for V, h, b, C, T in ((2, 1, 2, 2, 1), (2, 1, 3, 3, 4), (3, 2, 3, 4, 8), (5, 4, 5, 5, 12)):
        turns = np.array([np.eye(b)[draw.permutation(b)] for _ in range(V * h)]).reshape(V, h, b, b)
        A = _columns(5 * turns + draw.normal(size=turns.shape))  # near to permutations: else the start is soon forgotten
        W = draw.normal(size=(C, h, b))

        def readout(x, W=W):
            return int((W * numbers(x, W.shape[1:], "what the readout is given")).sum((1, 2)).argmax())

        tokens = draw.integers(V, size=T).tolist()
        given = numbers(call(answer, A, readout, tokens), (T,), f"the answers to the tokens {tokens}").tolist()
        wanted = _by_loops(A, readout, tokens)
        blocks = f" with the blocks {A.round(2).tolist()}" if A.size < 10 else ""
        claim(given == wanted, f"{h} head{'s' * (h > 1)} of {b} states{blocks}: to the tokens {tokens} your answers are "
                               f"{given}, and should be {wanted}")  # fmt: skip


def _snapped(A: np.ndarray, readout: Callable, symbols: Sequence[str]) -> MooreMachine:
    """What heads with these soft blocks (V, h, b, b) and the readout do once they are snapped."""
    goes = A.argmax(2)  # (token, head, from)
    heads = range(goes.shape[1])
    return MooreMachine.from_rule((0,) * len(heads), symbols, lambda s, token: tuple(goes[token][heads, s].tolist()), readout)


def _counter(size: int, outputs: Sequence[int], steps: Sequence[int] = (1,)) -> MooreMachine:
    """Counts modulo ``size``; letter v adds ``steps[v]``."""
    return MooreMachine(np.array(_counting(size, steps)), np.array(outputs), 0, tuple(map(str, range(len(steps)))))


def _heads(*tables: list[list[int]]) -> np.ndarray:
    """Soft blocks (V, h, b, b) of heads with these tables (V, states of the head); spare states stay where they are."""
    b, draw = max(len(table[0]) for table in tables), np.random.default_rng(7)
    hard = np.stack([_blocks_of([[*row, *range(len(row), b)] for row in table]) for table in tables], axis=1)
    return _columns(np.log(draw.uniform(0.2, 1, hard.shape)) + 2 * hard)


def _counting(size: int, steps: Sequence[int] = (1,)) -> list[list[int]]:
    return [[(q + step) % size for q in range(size)] for step in steps]


def _nets() -> list[tuple[str, np.ndarray, Callable, MooreMachine]]:
    """What a search is tried on: in words, blocks, readout, machine."""
    longer = MooreMachine(np.array([[1, 2, 3, 4, 5, 5], [0] * 6]), np.array([0, 0, 0, 0, 0, 1]), 0, ("a", "b"))
    return [
        ("two heads that count modulo 2 and 3, and sums modulo 6", _heads(_counting(2, range(5)), _counting(3, range(5))),
         lambda s: (3 * s[0] + 4 * s[1]) % 6, _counter(6, range(6), range(5))),
        ("a head that counts a up to 4 and says 1 there, b taking it back to 0, and a machine that does so up to 5",
         _heads([[1, 2, 3, 4, 4], [0] * 5]), lambda s: int(s[0] == 4), longer),
        ("a head that counts modulo 2, and a machine that counts modulo 6 with the answers 0, 1, 0, 1, 0, 0",
         _heads(_counting(2)), lambda s: s[0], _counter(6, [0, 1, 0, 1, 0, 0])),
        ("a head that counts modulo 6 with the answers 0, 1, 0, 1, 0, 0, and a machine that counts modulo 2",
         _heads(_counting(6)), lambda s: int(s[0] in (1, 3)), _counter(2, [0, 1])),
        *[("three heads that count modulo 3, 5 and 7 and say 1 when all are in their last state, and a machine that "
           "always says 0", _heads(*(_counting(n, steps) for n in (3, 5, 7))), lambda s: int(s == (2, 4, 6)),
           _counter(1, [0], steps)) for steps in ((1, 2), (2, 1))],
    ]  # fmt: skip


def _search(answer) -> None:
    for net, A, readout, machine in _nets():

        def answers(states, readout=readout):
            return readout(tuple(numbers(states, (None,), "what the readout is given").astype(int).tolist()))

        snapped = _snapped(A, readout, machine.symbols)
        given, shortest = call(answer, A, answers, machine), equivalent(snapped, machine)
        if given is None:
            claim(shortest is None, f"{net}: you find no wrong string, and there is one")
            continue
        tokens = numbers(given, (None,), "the tokens of a string").tolist()
        if not set(tokens) <= set(range(len(A))):
            raise CannotJudge(f"a list of tokens below {len(A)} is asked for, or None; got {shown(given)}")
        word = [int(token) for token in tokens]
        claim(word and snapped.answer(word)[-1] != machine.answer(word)[-1], f"{net}: the answer to {shown(tokens)} is right")
        claim(len(tokens) == len(shortest or ()), f"{net}: {shown(tokens)} is answered wrongly, but so is a shorter string")


EXERCISES = (
    ("02.1", _tables), ("02.3", _growing), ("02.4", _largest_p),
    prediction("02.5", ("after about 15 steps", "after about 150", "after about 1,500", "never: the norm is kept"),
               "after about 15 steps"),
    ("02.6", _tokens), ("02.7", _least_blocks), ("02.8", _layer), ("02.9", _run), ("02.10", _search),
)  # fmt: skip
