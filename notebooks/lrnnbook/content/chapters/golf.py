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
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

from lrnnbook.content.exercises.hints import Text
from lrnnbook.content.exercises.judging import RIGHT, UNTRIED, CannotJudge, Verdict, call, claim, judge, shown
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
    reached: tuple[tuple[str, tuple[Fraction, ...], int], ...] = field(default=(), repr=False, compare=False)  # proved: word, value, state

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
        return Judged(n, True, len(values), reached=tuple((word(place), *both) for place, both in enumerate(zip(values, states))))


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


def holes() -> dict[str, Hole]:
    """The twelve machines."""
    one = "Fewer than one number is no state."
    line = "One number that never leaves a finite set can stay, flip its sign around a point or be overwritten, so it counts to two at most."
    chain = "A word passes through {} states before it stays: as many numbers must be forgotten one by one."
    finite = "A finite group of {0} x {0} matrices of fractions has at most {1} elements{2}."
    pair = MooreMachine.from_rule((0, 0), "01", lambda s, v: (s[1], v), lambda s: 2 * s[0] + s[1], lambda s: f"{s[0]}{s[1]}")
    last = MooreMachine.from_rule(0, "-ab", lambda s, v: v or s, lambda s: s, lambda s: "-ab"[s])
    six = MooreMachine.from_rule(0, "01", lambda s, v: (s + v) % 6, lambda s: s)
    known = ("Parity", "Sum(3)", "S_3", "D_2", "Sum(5)", "S_4", "Q_8", "Tomita 7", "A_5")
    told = {name: language(name).machine for name in known}
    quaternions = replace(told["Q_8"], names=("1", "i", "j", "-1", "k", "-k", "-i", "-j"))
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
        "q_8": ("Quaternions", "the product of i and j so far.", quaternions, 4, 4,
                "Finite groups of 3 x 3 matrices of fractions lie in those of the cube or of the hexagonal prism, which have no such part."),
        "tomita_7": ("Tomita 7", "0s, then 1s, then 0s, then 1s; else all is lost.", told["Tomita 7"], 3, 4,
                     "The word 01 passes through three states before it stays, so three are needed. Four are enough; whether three are, is not known."),
        "a_5": ("A_5", "sixty states: the even orders of five things.", told["A_5"], 4, 4, finite.format(3, 48, ", and these are 60")),
    }  # fmt: skip
    return {name: Hole(*rest, start=(places if name in ("s_3", "s_4", "a_5") else one_hot)(rest[2])) for name, rest in given.items()}


HOLES = holes()


def puzzle(name: str, start: Any, A: Any, b: Any = None, readout: Any = None) -> Verdict:
    """Judge an entry in numbers: of each letter the rows ``A`` and what is added, ``b``; ``readout`` of a state says its name.

    >>> puzzle("parity", start=[1], A={"0": [[1]], "1": [[-1]]}, readout=lambda x: int(x[0] < 0))
    right: proved: 1 number, 2 values. Par
    >>> puzzle("parity", start=[1], A={"0": [[1]], "1": [[-1]]}, readout=lambda x: x[0])
    not yet: after nothing the state is 1: the readout says Fraction(1, 1), and the machine is in 0
    """
    if "Ellipsis" in repr((start, A, b)):
        return Verdict(UNTRIED, "put fractions where the dots are and run the cell again; stuck? Ask for par")
    said: list[str] = []
    verdict = judge(lambda: said.append(_held(HOLES[name], start, A, {} if b is None else b, readout)))
    return Verdict(RIGHT, said[0]) if said else verdict


def _held(hole: Hole, start: Any, A: Any, b: Any, readout: Any) -> str:
    """What is said of an entry that is right; raises where it is not."""
    for what, given in (("A", A), ("b", b)):
        if not isinstance(given, dict) or (strange := {str(letter) for letter in given} - {*hole.machine.symbols}):
            raise CannotJudge(f"{what} is a dict with an entry for each letter, {' '.join(hole.machine.symbols)}; got "
                              + (f"also {', '.join(sorted(strange))}" if isinstance(given, dict) else shown(given)))  # fmt: skip
    x, b = [*chain(*_rows(start))], {str(letter): [*chain(*_rows(given))] for letter, given in b.items()}
    moves = {str(letter): (_rows(given), b.get(str(letter), [])) for letter, given in A.items()}
    for letter, (rows, added) in moves.items():
        if len(rows) != len(x) or {len(row) for row in rows} != {len(x)} or len(added) not in (0, len(x)):
            raise CannotJudge(f"start has {len(x)}: so A of {letter} is {len(x)} rows of {len(x)}, got {shown(rows)}, and b {len(x)} or none, got {shown(added)}")
    try:
        found = hole.judge(written(x, moves))
    except ValueError as error:
        raise CannotJudge(str(error)) from None
    claim(found.proved, str(found).removeprefix("refuted: "))
    for word, value, state in found.reached if readout is not None else ():
        says, due = call(readout, list(value)), hole.machine.names[state]
        if says is ...:
            break
        claim(str(says) == due, f"after {word or 'nothing'} the state is {' '.join(map(str, value))}: the readout says {shown(says)}, "
                                f"and the machine is in {due}")  # fmt: skip
    return f"{found}{'. Par' if found.numbers == hole.par else f'; par is {hole.par}' if found.numbers > hole.par else '. Below par!'}"


def _rows(given: Any) -> list[list]:
    """A matrix as lists of its rows; a vector, or one number, is one row."""
    given = given.tolist() if hasattr(given, "tolist") else given
    rows = list(given) if isinstance(given, (list, tuple)) else [given]
    nested = any(isinstance(one, (list, tuple)) or getattr(one, "shape", ()) for one in rows)
    return [*chain(*map(_rows, rows))] if nested else [rows]


def par(name: str) -> Text:
    """How few numbers hold a hole's machine, why not fewer, and an entry of the board that does."""
    hole = HOLES[name]
    _, start, lines = (recorded_folder() / f"golf/{name}.txt").read_text(encoding="utf-8").partition("start:")
    return Text(f"Par is {hole.par}. {hole.why}\n\n```\n{start}{lines}```")


def panel(only: str = "") -> Moving:
    """The game, or one hole of it."""
    holes = [HOLES[only]] if only else [*HOLES.values()]
    alt = f"A field for an entry that holds {HOLES[only].name}: it is proved, or answered with two strings that it confuses." if only else ALT
    shown = [{"name": hole.name, "about": hole.about, "symbols": list(hole.machine.symbols), "transitions": hole.machine.transitions.tolist(),
              "initial": int(hole.machine.initial), "names": list(hole.machine.names), "least": hole.least, "par": hole.par, "why": hole.why,
              "start": hole.start} for hole in holes]  # fmt: skip
    return Moving("golf", {"holes": shown}, {"hole": 0, "text": shown[0]["start"], "best": {"0": holes[0].machine.num_states}}, alt)


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
