"""State golf: hold a machine in as few numbers as you can, by x <- A x + b with fractions; judged by a proof.

An entry is a text: a line ``start: numbers``, and a line ``letter: row; row + b`` for each letter (A by rows; without ``+`` b is
0).  ``data/golf`` holds one file an entry, with the lines ``hole:`` and ``author:`` before; a trained network names the file of
:func:`lrnnlab.verification.save_proof` in a line ``net:`` instead.  ``python -m lrnnbook.content.chapters.golf`` judges them all
and writes the table, ``data/golf/README.md``.  The page judges by the same rules in ``show/interactive/golf.js``.

>>> HOLES["parity"].judge("start: 1\\n0: 1\\n1: -1").proved
True
>>> print(HOLES["parity"].judge("start: 1\\n0: 1\\n1: 1"))
refuted: after nothing and after 1 the state is the same, the machine's is not
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

from lrnnbook.content.show.interactive import Moving
from lrnnbook.content.tables.records import data_folder, recorded_folder
from lrnnlab.automata import MooreMachine, language, one_hot_transitions
from lrnnlab.files import put
from lrnnlab.tasks import StateTracking
from lrnnlab.verification import load_proof

LIMIT, LARGEST, WIDEST = 5000, 10**100, 100  # values that are followed, how large numbers may grow, numbers in a state
FRACTION = re.compile(r"[+-]?[0-9]{1,30}(/[0-9]{1,30}|\.[0-9]{1,30})?")
Rows = tuple[tuple[Fraction, ...], ...]
TITLE = "State golf: how few numbers hold a machine for ever?"
LEAD = ("Hold a machine in as few numbers as you can: x \u2190 A x + b, an A and a b of your own for each letter, fractions allowed. You win when "
        "the state takes finitely many values and tells the machine's states apart, after every string of every length. The page proves it, "
        "or shows two strings that you cannot tell apart.")  # fmt: skip
ALT = ("A game of twelve machines. A box holds an entry: the first state and, for each letter, a matrix and a vector of fractions. "
       "The page proves that it holds the machine for ever, or answers with two strings that it confuses.")  # fmt: skip


@dataclass(frozen=True)
class Judged:
    """What is known of an entry: proved, refuted by two words (tokens), or not closed (``why``)."""

    numbers: int
    proved: bool
    values: int
    clash: tuple[str, str] | None = None
    never: tuple[str, Fraction] | None = None  # a word whose matrix shows that the state never closes, and its trace

    def __str__(self) -> str:
        if self.proved:
            return f"proved: {self.numbers} number{'s' * (self.numbers > 1)}, {self.values} values"
        if self.clash:
            one, other = (word or "nothing" for word in self.clash)
            return f"refuted: after {one} and after {other} the state is the same, the machine's is not"
        if self.never:
            return f"never closes: the matrix of {self.never[0]} has the trace {self.never[1]}, and a whole one is needed"
        return f"not closed after {self.values} values: a counter, or a drift"


@dataclass(frozen=True)
class Hole:
    """A machine to hold: ``least`` numbers are needed (``why``), ``par`` are enough; ``start`` is an entry that is proved."""

    name: str
    about: str
    machine: MooreMachine
    least: int
    par: int
    why: str
    start: str

    def judge(self, entry: str) -> Judged:
        """Follow every string in exact fractions; ``ValueError`` if the entry cannot be read."""
        machine = self.machine
        start, moves = read(entry, machine.symbols)
        states, known, came = [machine.initial], {start: 0}, [(0, "")]  # came: from which value, by which letter
        values, n = [start], len(start)

        def word(place: int, *after: str) -> str:
            while place:
                place, symbol = came[place]
                after = (symbol, *after)
            return " ".join(after)

        for place, x in enumerate(values):
            for token, (A, b) in enumerate(moves):
                to = tuple(b[i] + sum((value * x[j] for j, value in enumerate(row) if value), Fraction()) for i, row in enumerate(A))
                if any(max(abs(value.numerator), value.denominator) > LARGEST for value in to):
                    return Judged(n, False, len(values), never=never(values, moves, machine.symbols))
                state, symbol = int(machine.transitions[token, states[place]]), machine.symbols[token]
                if to not in known:
                    known[to] = len(values)
                    for line, one in ((values, to), (states, state), (came, (place, symbol))):
                        line.append(one)
                elif states[known[to]] != state:
                    return Judged(n, False, len(values), (word(known[to]), word(place, symbol)))
                if len(values) > LIMIT:
                    return Judged(n, False, len(values), never=never(values, moves, machine.symbols))
        return Judged(n, True, len(values))


def never(values: Sequence[tuple[Fraction, ...]], moves: Sequence[tuple[Rows, Any]], symbols: Sequence[str]) -> tuple[str, Fraction] | None:
    """A word (a letter, up to three times) whose matrix has a trace that is not whole, if the values span the space.

    A matrix of fractions that maps finitely many states, which span the space, to themselves has eigenvalues 0 and roots of
    unity: its trace is whole.
    """
    n = len(values[0])
    if sp.Matrix([[*x, 1] for x in values[: 4 * (n + 1)]]).rank() <= n:
        return None
    for symbol, (rows, _) in zip(symbols, moves):
        A = power = np.array(rows, dtype=object)
        for times in (1, 2, 3):
            if (trace := power.trace()).denominator > 1:
                return " ".join([symbol] * times), trace
            power = A @ power
    return None


def fractions(text: str) -> tuple[Fraction, ...]:
    """The numbers of a text."""
    for one in text.split():
        if not FRACTION.fullmatch(one) or ("/" in one and not int(one.split("/")[1])):
            raise ValueError(f"{one} is no fraction: write -3, 1/2 or 0.25")
    return tuple(map(Fraction, text.split()))


def fields(text: str) -> dict[str, str]:
    """The lines of an entry, ``name: rest``; empty ones and those after # are left out."""
    given: dict[str, str] = {}
    for line in (one.strip() for one in text.replace("\u2212", "-").split("\n")):
        if line and not line.startswith("#"):
            name, colon, rest = (part.strip() for part in line.partition(":"))
            if not colon:
                raise ValueError(f"{line}: a line is a name, a colon and numbers")
            if name in given:
                raise ValueError(f"{name} is given twice")
            given[name] = rest
    return given


def read(text: str, symbols: Sequence[str]) -> tuple[tuple[Fraction, ...], list[tuple[Rows, tuple[Fraction, ...]]]]:
    """The first state (n,), and for each letter A (n, n) and b (n,)."""
    given = fields(text)
    for name in given:
        if name not in ("start", *symbols, "hole", "author"):
            raise ValueError(f"{name} is no letter of this hole, which has {' '.join(symbols)}")
    for name in ("start", *symbols):
        if name not in given:
            raise ValueError(f"there is no line for {name}")
    start, moves = fractions(given["start"]), []
    n = len(start)
    if not 1 <= n <= WIDEST:
        raise ValueError(f"start has {n} numbers; a state has 1 to {WIDEST}")
    for symbol in symbols:
        first, *rest = re.split(r"\s\+\s", given[symbol])
        A, b = tuple(map(fractions, first.split(";"))), fractions(" ".join(rest)) if rest else (Fraction(),) * n
        if len(A) != n or any(len(row) != n for row in A) or len(b) != n:
            raise ValueError(f"{symbol} needs {n} rows of {n} numbers, with ; between rows, and may add {n} after a +")
        moves.append((A, b))
    return start, moves


def written(start: Sequence, moves: dict[str, tuple[Any, Any]]) -> str:
    """An entry as text: ``moves`` has a letter's A and b."""

    def line(A: Any, b: Any) -> str:
        shift = f" + {' '.join(map(str, b))}" if any(b) else ""
        return "; ".join(" ".join(map(str, row)) for row in A) + shift

    return "\n".join([f"start: {' '.join(map(str, start))}", *(f"{name}: {line(A, b)}" for name, (A, b) in moves.items())]) + "\n"


def one_hot(machine: MooreMachine) -> str:
    """Any machine of Q states in Q numbers: each state is a unit vector."""
    moves = one_hot_transitions(machine).astype(int).tolist()  # (V, Q, Q)
    start = np.eye(machine.num_states, dtype=int)[machine.initial]
    return written(start, {symbol: (A, []) for symbol, A in zip(machine.symbols, moves)})


def places(machine: MooreMachine) -> str:
    """A machine whose states are permutations: each letter permutes the places of n numbers."""
    n = len(machine.names[0])
    moves = {}
    for symbol, to in zip(machine.symbols, machine.transitions):
        letter = machine.names[to[machine.initial]]
        moves[symbol] = np.eye(n, dtype=int)[[int(one) for one in letter]].tolist(), []
    return written(range(n), moves)


def quaternions() -> MooreMachine:
    """Which of 1, i, j, k and their negatives has been multiplied together, by i and by j."""
    names = {(sign, unit): "-" * (sign < 0) + "1ijk"[unit] for sign in (1, -1) for unit in range(4)}
    times = {(0, 1): (1, 1), (1, 1): (-1, 0), (2, 1): (-1, 3), (3, 1): (1, 2), (0, 2): (1, 2), (1, 2): (1, 3), (2, 2): (-1, 0), (3, 2): (-1, 1)}

    def step(state: tuple[int, int], token: int) -> tuple[int, int]:
        sign, unit = times[state[1], token + 1]
        return state[0] * sign, unit

    return MooreMachine.from_rule((1, 0), "ij", step, list(names).index, names.__getitem__)


def holes() -> dict[str, Hole]:
    """The twelve machines."""
    one = "Fewer than one number is no state."
    line = "One number that never leaves a finite set can stay, flip its sign around a point or be overwritten, so it counts to two at most."
    chain = "A word passes through {} states before it stays: as many numbers must be forgotten one by one."
    finite = "A finite group of {0} x {0} matrices of fractions has at most {1} elements{2}."
    pair = MooreMachine.from_rule((0, 0), "01", lambda s, v: (s[1], v), lambda s: 2 * s[0] + s[1], lambda s: f"{s[0]}{s[1]}")
    last = MooreMachine.from_rule(0, "-ab", lambda s, v: v or s, lambda s: s, lambda s: "-ab"[s])
    six = MooreMachine.from_rule(0, "01", lambda s, v: (s + v) % 6, lambda s: s)
    told = {name: language(name).machine for name in ("Parity", "Sum(3)", "S_3", "D_2", "Sum(5)", "S_4", "Tomita 7", "A_5")}
    given = {
        "parity": ("Parity", "is the number of ones odd?", told["Parity"], 1, 1, one),
        "flip_flop": ("Flip-flop", "which of a and b was written last? The letter - keeps.", last, 1, 1, one),
        "z_3": ("Sum modulo 3", "each digit is added.", told["Sum(3)"], 2, 2, line),
        "last_two": ("The last two letters", "begins as after 00.", pair, 2, 2, chain.format("two")),
        "z_6": ("Count to six", "1 counts, 0 waits.", six, 2, 2, line),
        "s_3": ("S_3", "the orders of three things, by a swap and a cycle.", told["S_3"], 2, 2, line),
        "d_2": ("D_2", "a opens a bracket, b closes one, at most two are open; else all is lost.", told["D_2"], 3, 3, chain.format("three")),
        "z_5": ("Sum modulo 5", "each digit is added.", told["Sum(5)"], 4, 4,
                "A matrix of fractions with a fifth root of 1 as eigenvalue has the other three too."),
        "s_4": ("S_4", "the orders of four things.", told["S_4"], 3, 3, finite.format(2, 12, ", and these are 24")),
        "q_8": ("Quaternions", "the product of i and j so far.", quaternions(), 4, 4,
                "Finite groups of 3 x 3 matrices of fractions lie in those of the cube or of the hexagonal prism, which have no such part."),
        "tomita_7": ("Tomita 7", "0s, then 1s, then 0s, then 1s; else all is lost.", told["Tomita 7"], 3, 4,
                     "The word 01 passes through three states before it stays, so three are needed. Four are enough; whether three are, is not known."),
        "a_5": ("A_5", "sixty states: the even orders of five things.", told["A_5"], 4, 4, finite.format(3, 48, ", and these are 60")),
    }  # fmt: skip
    return {name: Hole(*rest, start=(places if name in ("s_3", "s_4", "a_5") else one_hot)(rest[2])) for name, rest in given.items()}


HOLES = holes()


def panel() -> Moving:
    """The game."""
    shown = [{"name": hole.name, "about": hole.about, "symbols": list(hole.machine.symbols), "transitions": hole.machine.transitions.tolist(),
              "initial": int(hole.machine.initial), "names": list(hole.machine.names), "least": hole.least, "par": hole.par, "why": hole.why,
              "start": hole.start} for hole in HOLES.values()]  # fmt: skip
    return Moving("golf", {"holes": shown}, {"hole": 0, "text": shown[0]["start"], "best": {"0": HOLES["parity"].machine.num_states}}, ALT)


@dataclass(frozen=True)
class Line:
    """An entry on the board: its file, hole and author; trained or not; numbers in its state, and what the judge says."""

    file: str
    hole: str
    author: str
    trained: bool
    numbers: int
    proved: bool
    said: str


def judged(file: Path) -> Line:
    """Judge a file of the board, a trained network's with ``verify``; ``ValueError`` if it cannot be read."""
    text = file.read_text(encoding="utf-8")
    given = fields(text)
    if (name := given.get("hole", "")) not in HOLES:
        raise ValueError(f"{file.name}: hole: {name} is none of {', '.join(HOLES)}")
    if not given.get("author"):
        raise ValueError(f"{file.name} has no author")
    if "net" in given:
        net, verdict = load_proof(file.with_name(Path(given["net"]).name), StateTracking(HOLES[name].machine).specification)
        return Line(file.name, name, given["author"], True, net.codebook.shape[1], verdict.proved, str(verdict))
    found = HOLES[name].judge(text)
    return Line(file.name, name, given["author"], False, found.numbers, found.proved, str(found))


def entries(folder: Path | None = None) -> list[Line]:
    """The board's entries, by file name; each must be proved, or ``ValueError`` says which is not."""
    lines = [judged(file) for file in sorted((folder or recorded_folder() / "golf").glob("*.txt"))]
    if wrong := [line for line in lines if not line.proved]:
        raise ValueError("\n".join(f"{line.file}: {line.said}" for line in wrong))
    return lines


def board(lines: Sequence[Line]) -> str:
    """The table, in Markdown: the fewest numbers of each hole, of the first author by file name."""

    def best(hole: str, trained: bool) -> str:
        found = min((line for line in lines if line.hole == hole and line.trained == trained), key=lambda line: line.numbers, default=None)
        return f"[{found.numbers}]({found.file}) {found.author}" if found else "-"

    rows = [f"| {hole.name} | {hole.machine.num_states} | {hole.least if hole.least == hole.par else f'{hole.least} or {hole.par}'} | "
            f"{best(name, False)} | {best(name, True)} |" for name, hole in HOLES.items()]  # fmt: skip
    return "\n".join(["| Hole | States | Needed by hand | Hand-made | Trained |", "| --- | --- | --- | --- | --- |", *rows]) + "\n"


README = """# State golf

{lead}

One file is one entry: its `hole`, its `author`, then what the box of the page holds (`lrnnlab book golf` makes the page), or the
`net`, a file of `lrnnlab.verification.save_proof` beside it, for a network that was trained (any rule, put back to a code after each
letter). Its score is the numbers in its state. That an entry is right is proved; that it was trained is its author's word.
Holes: {names}.

`python -m lrnnbook.content.chapters.golf` judges every entry, refuses what is not proved, and writes this page.

{table}"""


def page_of(folder: Path) -> str:
    """The board's page, after judging all that is in the folder."""
    lead = LEAD.removesuffix(" The page proves it, or shows two strings that you cannot tell apart.")
    return README.format(lead=lead, names=", ".join(f"`{name}`" for name in HOLES), table=board(entries(folder)))


if __name__ == "__main__":
    try:
        put(data_folder() / "golf/README.md", page_of(data_folder() / "golf").encode())
    except ValueError as error:
        sys.exit(str(error))
