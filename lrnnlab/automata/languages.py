"""The languages of papers 000 and 002 and of the book: each once, as a small machine beside an oracle of its own.

Letters: V tokens, Q states, M modulus.  A word is typed as text, one character a token: ``"1-0-3"``, ``"abab"``; where
a symbol has more than one character (Sum(12)), a word is a tuple of symbols.

The machine says what to remember; the oracle shares no code with it and says what the language *is*, by regular
expressions, Python's own arithmetic, points carried along: one is tested against the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from lrnnlab.automata.machines import NO_LABEL, MooreMachine, leading_to
from lrnnlab.automata.parsing import acceptor
from lrnnlab.validation import named, numbered, whole_number

from_rule = MooreMachine.from_rule
MAX_MODULUS = 10_000  # the greatest modulus
MAX_POINTS = 7  # that all permutations are taken of: 5,040


@dataclass(frozen=True, eq=False)
class Language:
    """What is asked about a string, said twice: by a machine, and by an oracle that knows of no machine.

    Parameters
    ----------
    name : str
        What the language is called.
    machine : MooreMachine
        The class after a word is what the state shows that it leads to; -1 for no label.
    oracle : callable
        ``oracle(word)`` is the class after the whole word, -1 for no label.  A word is a text, or a tuple of symbols if
        some symbol has more than one character.
    says : str
        The language in a line.

    Examples
    --------
    >>> ends_in_a = Language("ends in a", MooreMachine.from_rule(0, "ab", lambda state, token: 1 - token, lambda state: state),
    ...                      lambda word: int(word[-1:] == "a"))
    >>> ends_in_a.oracle("ba"), int(ends_in_a.machine.answer([1, 0])[-1])
    (1, 1)
    """

    name: str
    machine: MooreMachine
    oracle: Callable[[Any], int]
    says: str = ""


def read(machine: MooreMachine, text: str) -> tuple[int, ...]:
    """The tokens of a text.  ValueError names a character that is no symbol of the machine."""
    wrong = [char for char in text if char not in machine.symbols]
    if wrong:
        raise ValueError(f"{wrong[0]!r} in {text!r} is no symbol; the symbols are {' '.join(machine.symbols)}")
    return tuple(machine.symbols.index(char) for char in text)


def language(name: str) -> Language:
    """A language by its name in the book, or by that of its task (``lrnnlab.task``), whatever its capitals, spaces and
    underscores.  ValueError lists the names there are, the nearest first.

    >>> found = language("a-b-c mod 5")
    >>> found.oracle("1-0-3"), int(found.machine.answer(read(found.machine, "1-0-3"))[-1])
    (3, 3)
    >>> language("sum").name, language("Sum(7)").name, language("tomita_3").name, language("s_5").machine.num_states
    ('Sum(5)', 'Sum(7)', 'Tomita 3', 120)
    """
    if name in LANGUAGES:
        return LANGUAGES[name]
    if found := group(name):
        return LANGUAGES.get(found[0]) or word_problem(*found)
    plain, numbers = numbered(name)
    called = named("language", plain, [*LANGUAGES, *MADE], ", z_M, s_N")
    if len(numbers) > (called in MADE and MADE[called] not in (odd_changes, cycle_walk)):
        raise ValueError(f"no language is called {name!r}: {called} takes no such numbers")
    moduli = [whole_number(M, 2, f"{called}: the modulus", MAX_MODULUS) for M in numbers]
    return MADE[called](*moduli) if called in MADE else LANGUAGES[called]


# --- machines ---------------------------------------------------------------------------------------------------------


def digits(M: int) -> tuple[str, ...]:
    """The symbols 0..M-1."""
    return tuple(map(str, range(M)))


def counter(M: int, symbols: Any = None, adds: Sequence[int] | None = None) -> MooreMachine:
    """Token k adds k (or ``adds[k]``), mod M: Sum(M) of paper 000, section 4.1; Sum(2) is Parity."""
    return from_rule(0, symbols or digits(M), lambda s, v: (s + (adds[v] if adds else v)) % M, lambda s: s)


def even_pair(M: int, symbols: Any = None) -> MooreMachine:
    """Is the last symbol the first one?  2M + 1 states (paper 000, section 4.1); no label before the first."""

    def step(state, token):
        first = token if state is None else state[0]
        return first, int(token == first)

    return from_rule(None, symbols or digits(M), step, lambda s: NO_LABEL if s is None else s[1])


def subtraction(M: int) -> MooreMachine:
    """The value so far of a-b-c-..., mod M: (sum, sign), the sign is -1 from the first minus on; 2M states."""

    def step(state, token):
        value, sign = state
        return (value, -1) if token == M else ((value + sign * token) % M, sign)

    return from_rule((0, 1), (*digits(M), "-"), step, lambda s: s[0])


def mod_arith(M: int, symbols: Any = None, initial: tuple[int, int] = (0, 1)) -> MooreMachine:
    """(a, c): a the sum of the finished terms, c the signed term that grows; M^2 states (paper 000, section 4.1)."""

    def step(state, token):
        a, c = state
        if token < M:
            return a, c * token % M
        return (a, c) if token == M + 2 else ((a + c) % M, 1 if token == M else M - 1)

    return from_rule(initial, symbols or (*digits(M), "+", "-", "×"), step, lambda s: sum(s) % M)


def after_the_first(machine: MooreMachine) -> MooreMachine:
    """The same answers after every token, and none, -1, before the first."""
    return from_rule(
        (machine.initial, False), machine.symbols, lambda state, token: (int(machine.transitions[token, state[0]]), True),
        lambda state: int(machine.outputs[state[0]]) if state[1] else NO_LABEL,
    )  # fmt: skip


def expressions(machine: MooreMachine, first: str = "") -> MooreMachine:
    """The same answers where they mean something: after a number of a well-formed expression; elsewhere -1.

    ``first``: a symbol that must come before the expression.
    """

    def step(state, token):
        symbol = machine.symbols[token]
        kind = "number" if symbol.isdigit() else "operator"
        if state is None or kind == state[1] or (state[1] == "start" and symbol != first):
            return None  # two numbers or two operators in a row: nothing is asked any more
        return int(machine.transitions[token, state[0]]), kind

    return from_rule(
        (machine.initial, "start" if first else "operator"),
        machine.symbols,
        step,
        lambda s: int(machine.outputs[s[0]]) if s is not None and s[1] == "number" else NO_LABEL,
    )


def repeats(word: str, symbols: Any) -> MooreMachine:
    """word, any number of times: the state is how much of it has been read, None what is no beginning of any."""

    def step(read, token):
        return None if read is None or symbols[token] != word[read] else (read + 1) % len(word)

    return from_rule(0, symbols, step, lambda read: int(read == 0))


def prefixes(machine: MooreMachine) -> MooreMachine:
    """The same answers to beginnings of strings of the language; -1 where none of it (class 1) goes on."""
    return replace(machine, outputs=np.where(leading_to(machine, machine.outputs == 1), machine.outputs, NO_LABEL))


def dyck(n: int, symbols: Any = "ab") -> MooreMachine:
    """D_n = (a D_{n-1} b)*: a opens, b closes, depth at most n, and a sink; n + 2 states (paper 002)."""

    def step(depth, token):
        depth = None if depth is None else depth + 1 - 2 * token
        return depth if depth is not None and 0 <= depth <= n else None

    return from_rule(0, symbols, step, lambda depth: int(depth == 0))


def tomita_3(later: bool = False) -> MooreMachine:
    """No odd block of 1s directly (``later``: at any time) before an odd block of 0s; 5 states.

    States: an even block of 1s; an odd one; then an odd, an even block of 0s after an odd one of 1s; the sink.  The
    automaton released with paper 002 forgets an odd block of 1s once an even block of 0s has followed it (26 actions
    of words); the written definition never forgets it (27).
    """
    transitions = np.array([[0, 2, 3, 2, 4], [1, 0, 4, 3 if later else 1, 4]])
    return MooreMachine(transitions, np.array([1, 1, 0, 1, 0]), 0, ("0", "1"))


def permuting(symbols: Sequence[str], *generators: tuple[int, ...]) -> MooreMachine:
    """The group made by permutations g (tuples, x goes to g[x]); the class after a word is which element it is."""
    machine = from_rule(
        tuple(range(len(generators[0]))),
        symbols,
        lambda s, v: tuple(generators[v][x] for x in s),
        lambda s: 0,
        lambda s: ("," if len(s) > 10 else "").join(map(str, s)),  # where two digits could be one number or two
    )
    return replace(machine, outputs=np.arange(machine.num_states))


# --- oracles: what each language is, said without a machine ------------------------------------------------------------

ODD_ONES, ODD_ZEROS = "(?<!1)1(?:11)*(?!1)", "(?<!0)0(?:00)*(?!0)"


def matches(pattern: str) -> Callable[[str], int]:
    """1 if the whole text matches, else 0.

    >>> matches("(aa)*")("aaa")
    0
    """
    return lambda text: int(re.fullmatch(pattern, text) is not None)


def lacks(pattern: str) -> Callable[[str], int]:
    """1 if no part of the text matches, else 0.

    >>> lacks("000")("1001")
    1
    """
    return lambda text: int(re.search(pattern, text) is None)


def last_is_first(text: Sequence[str]) -> int:
    """1 if the last symbol is the first one, 0 if not, -1 for the empty text.

    >>> last_is_first("010"), last_is_first("")
    (1, -1)
    """
    return int(text[0] == text[-1]) if text else NO_LABEL


def sum_of_terms(word: Sequence[str]) -> int:
    """Sum of signed products of numbers, for every word; between two signs there is an empty product, 1.

    >>> sum_of_terms("1+2-3×4"), sum_of_terms("2-+")
    (-9, 2)
    """
    _, *parts = re.split("([+-])", " ".join(("+", *word)))
    return sum(int(sign + "1") * prod(int(symbol) for symbol in part.split() if symbol != "×")
               for sign, part in zip(parts[::2], parts[1::2]))  # fmt: skip


def after_minus(text: str) -> int:
    """The numbers before the first minus less all numbers after it."""
    head, _, tail = text.partition("-")
    return sum(map(int, head)) - sum(int(char) for char in tail if char != "-")


def python_value(text: str) -> int:
    """Python's own arithmetic on a written expression, mod 5; -1 for other texts.

    >>> python_value("1+2-3×4"), python_value("1+")
    (1, -1)
    """
    if re.fullmatch(r"\d([-+×]\d)*", text) is None:
        return NO_LABEL
    return eval(text.replace("×", "*"), {"__builtins__": {}}) % 5  # the text holds checked numbers and operators only


def carried(generators: Mapping[str, tuple[int, ...]], text: Sequence[str]) -> str:
    """Where each point ends that goes through the permutations of the text (or of symbols), one after another.

    The ends are written side by side, with commas between them where there are more than ten points.

    >>> carried({"s": (1, 0, 2), "t": (1, 2, 0)}, "st")
    '210'
    """
    reached = []
    for point in range(len(next(iter(generators.values())))):
        for char in text:
            point = generators[char][point]
        reached.append(str(point))
    return ("," if len(reached) > 10 else "").join(reached)


def what_is_left(text: str, *pairs: str, times: int | None = None) -> str:
    """What is left when the pairs are taken out, again and again or as often as asked: nothing of balanced brackets."""
    before = None
    while text != before and times != 0:
        before, times = text, None if times is None else times - 1
        for pair in pairs:
            text = text.replace(pair, "")
    return text


# --- languages --------------------------------------------------------------------------------------------------------


def modular_sum(M: int = 5) -> Language:
    """Sum(M) of paper 000, section 4.1: the sum of all numbers so far, mod M."""
    return Language(f"Sum({M})", counter(M), lambda word: sum(map(int, word)) % M, f"the sum, mod {M}")


def first_is_last(M: int = 5) -> Language:
    """EvenPair(M) of paper 000, section 4.1: 1 if the last number is the first one."""
    return Language(f"EvenPair({M})", even_pair(M), last_is_first, "is the last symbol the first one?")


def arithmetic(M: int = 5, prefix: bool = False) -> Language:
    """ModArith(M) of paper 000, section 4.1: the value of an expression, × before + and -; ``prefix``: + begins it."""
    name = "modular_arithmetic_prefix" if prefix else "ModArith"
    return Language(f"{name}({M})", mod_arith(M, None, (0, 0) if prefix else (0, 1)),
                    lambda word: sum_of_terms(word[prefix:]) % M, f"sum of signed products, mod {M}")  # fmt: skip


def odd_changes() -> Language:
    """Even Pairs of paper 002, Table 1: 1 if 01 and 10 come, together, an odd number of times."""
    same = even_pair(2)
    machine = replace(same, outputs=np.where(same.outputs == NO_LABEL, NO_LABEL, 1 - same.outputs))
    return Language("EvenPairs", machine, lambda text: (text.count("01") + text.count("10")) % 2)


def cycle_walk() -> Language:
    """Cycle Navigation of paper 002, Table 1: where a walk on a cycle of five is; 0 steps back, 1 stays, 2 steps on."""
    return Language("CycleNavigation", counter(5, "012", adds=(-1, 0, 1)), lambda text: (text.count("2") - text.count("0")) % 5)


def bounded_dyck(n: int, symbols: str = "ab") -> Language:
    """D_n = (a D_{n-1} b)* of paper 002: balanced brackets a, b of depth at most n."""
    return Language(f"D_{n}", dyck(n, symbols), lambda text: int(what_is_left(text, symbols, times=n) == ""),
                    f"brackets {symbols[0]}, {symbols[1]} balanced, depth at most {n}")  # fmt: skip


def regular(pattern: str, symbols: Sequence[str] | None = None) -> Language:
    """The strings of a regular expression (:func:`acceptor`); Python's ``re`` is the oracle."""
    return Language(pattern, acceptor(pattern, symbols), matches(pattern))


def word_problem(name: str, generators: Mapping[str, tuple[int, ...]]) -> Language:
    """Which element of a group the product of a word is; ``generators`` {symbol: permutation, x goes to g[x]}."""
    machine = permuting(tuple(generators), *generators.values())
    oracle = lambda word: machine.names.index(carried(generators, word))
    return Language(name, machine, oracle, "which element of the group")


def followed(name: str, machine: MooreMachine) -> Language:
    """The language of any machine; the oracle follows its arrows one by one."""
    arrows, answers = machine.transitions.tolist(), machine.outputs.tolist()

    def oracle(word):
        state = machine.initial
        for symbol in word:
            state = arrows[machine.symbols.index(symbol)][state]
        return answers[state]

    return Language(name, machine, oracle)


def _expression(name: str, machine: MooreMachine) -> Language:
    return Language(name, expressions(machine), python_value, "the same, asked after a number of a written expression")


def symmetric(N: int) -> dict[str, tuple[int, ...]]:
    """S_N by the exchange of two neighbours and the cycle of all."""
    return {"s": (1, 0, *range(2, N)), "t": (*range(1, N), 0)}


def group(name: str) -> tuple[str, dict[str, tuple[int, ...]]] | None:
    """Name and {symbol: permutation} of one of ``GROUPS``, of z_M, M from 2 to 9,999, or s_N, N from 3 to 7; else None."""
    found = re.fullmatch(r"([A-Z])[_ ]?([1-9]\d{0,3})", name.upper())
    if found is None:
        return None
    proper, order = f"{found[1]}_{found[2]}", int(found[2])
    if found[1] == "Z" and order >= 2:
        return proper, {"0": tuple(range(order)), "1": (*range(1, order), 0)}
    permutations = symmetric(order) if found[1] == "S" and 3 <= order <= MAX_POINTS else GROUPS.get(proper)
    return (proper, permutations) if permutations else None


GROUPS: dict[str, dict[str, tuple[int, ...]]] = {
    "S_3": symmetric(3),
    "A_4": {"s": (1, 0, 3, 2), "t": (1, 2, 0, 3)},
    "S_4": symmetric(4),
    "Q_8": {"i": (1, 2, 3, 0, 5, 6, 7, 4), "j": (4, 7, 6, 5, 2, 1, 0, 3)},
    "A_5": {"s": (1, 2, 0, 3, 4), "t": (1, 2, 3, 4, 0)},
}

LANGUAGES = {
    found.name: found
    for found in (
        Language("Parity", counter(2), lambda text: text.count("1") % 2, "how many 1s, mod 2"),
        Language("(aa)*", repeats("aa", "a"), matches("(aa)*"), "an even number of a"),
        modular_sum(5),
        Language("(abab)*", repeats("abab", "ab"), matches("(abab)*"), "abab, any number of times"),
        first_is_last(2),
        first_is_last(5),
        Language("a-b-c mod 5", subtraction(5), lambda text: after_minus(text) % 5,
                 "numbers before the first minus less numbers after it"),
        _expression("a-b-c mod 5, expressions", subtraction(5)),
        arithmetic(5),
        _expression("ModArith(5), expressions", mod_arith(5)),
        *map(bounded_dyck, (2, 3, 4, 12)),
        Language("Tomita 1", repeats("1", "01"), lacks("0"), "only 1s"),
        Language("Tomita 2", repeats("10", "01"), matches("(10)*"), "10, any number of times"),
        Language("Tomita 3", tomita_3(), lacks(ODD_ONES + ODD_ZEROS),
                 "no odd block of 1s directly before an odd block of 0s"),
        Language("Tomita 3, as written", tomita_3(later=True), lacks(f"{ODD_ONES}.*?{ODD_ZEROS}"),
                 "no odd block of 1s at any time before an odd block of 0s"),
        Language("Tomita 4", from_rule(0, "01", lambda s, v: 3 if s == 3 else (1 - v) * (s + 1), lambda s: int(s < 3)),
                 lacks("000"), "no 000"),
        Language("Tomita 5", from_rule((0, 0), "01", lambda s, v: (s[0] ^ (v == 0), s[1] ^ (v == 1)), lambda s: int(s == (0, 0))),
                 lambda text: int(text.count("0") % 2 == text.count("1") % 2 == 0), "an even number of 0s and of 1s"),
        Language("Tomita 6", from_rule(0, "01", lambda s, v: (s + 1 - 2 * v) % 3, lambda s: int(s == 0)),
                 lambda text: int((text.count("0") - text.count("1")) % 3 == 0), "as many 0s as 1s, mod 3"),
        Language("Tomita 7", from_rule(0, "01", lambda s, v: min(4, s + (v != s % 2)), lambda s: int(s < 4)),
                 matches("0*1*0*1*"), "0*1*0*1*: 10 once at the most"),
        *(word_problem(name, generators) for name, generators in GROUPS.items()),
    )
}  # fmt: skip

MADE: dict[str, Callable[..., Language]] = {  # as their tasks are called; with a modulus, 5 if none is given, but two
    "sum": modular_sum, "evenpair": first_is_last, "modarith": arithmetic, "modular_arithmetic": arithmetic,
    "modular_arithmetic_prefix": partial(arithmetic, prefix=True), "even_pairs": odd_changes, "cycle_navigation": cycle_walk,
}  # fmt: skip
