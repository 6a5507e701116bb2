"""The tasks about regular languages, of papers 000 and 002 and of your own.

Paper 000 (Fan, Chi and Rudnicky 2024, "Advancing Regular Language Reasoning in Linear Recurrent Neural Networks", section
4.1): ``Sum``, ``EvenPair``, ``ModArith``.  The paper takes M = 5, trains at 40 symbols and tests at 500 (39 and 499 for
ModArith).  It asks for one answer to a string; its released code (tinghanf/RegluarLRNN) labels every prefix (in ModArith
every number), and so do we.

Paper 002 (Chi, Fan, Rudnicky and Ramadge 2023, "Transformer Working Memory Enables Regular Language Reasoning and Natural
Language Length Extrapolation", Table 1) asks once, after the last token.  The four tasks of its first part come from
Deletang et al. (2023); the paper trains on lengths up to 40 and scores on 41..500 (its code, chijames/regular_gpt: from
42).  The second part asks whether a string is in a language, D_n or one of Tomita's: 1 in the language, 0 outside.  The
text trains up to length 50 and scores on 51..100; the code trains these tasks up to 40 (D_12 up to 80).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from lrnnlab.automata import NO_LABEL, MooreMachine, languages, minimise
from lrnnlab.automata.languages import GROUPS, MAX_MODULUS, Language
from lrnnlab.tasks.draws import Alive, Expressions, Halves, Independent, Uniform
from lrnnlab.tasks.language_task import Task
from lrnnlab.validation import checked, number, shown, whole_number

# --- paper 000: an answer at every position ---------------------------------------------------------------------------


class _Modular(Task):
    """A task over the numbers 0..M-1."""

    def __init__(self, made: Callable[[int], Language], draw: Callable[[int], Independent], modulus: int, **options):
        modulus = whole_number(modulus, 2, f"{type(self).__name__}: the modulus", MAX_MODULUS)
        super().__init__(made(modulus), draw=draw(modulus), **options)
        self.modulus = modulus


class Sum(_Modular):
    """Label k is (s_0 + ... + s_k) mod M; tokens are 0..M-1, uniform and independent (paper 000, section 4.1).

    M states, the cyclic group of order M.  Sum(2) is parity.

    >>> task = Sum(5)
    >>> [task.answer(task.read(text)) for text in ("0324", "4444", "104")]
    [[0, 3, 0, 4], [4, 3, 2, 1], [1, 1, 0]]
    """

    def __init__(self, modulus: int = 5):
        super().__init__(languages.modular_sum, Uniform, modulus)


class EvenPair(_Modular):
    """Label k is 1 if s_k = s_0 and else 0, so label 0 is always 1; tokens uniform (paper 000, section 4.1).

    2M + 1 states: nothing read yet, or the first token and whether the last one equals it.  No group in it: the
    machine only stores and compares.  Answering 0 always is right with probability 1 - 1/M at every position but the
    first.  For M = 2 it is the Even Pairs of Deletang et al. with the two labels exchanged; for M > 2 it is not.

    >>> task = EvenPair(5)
    >>> [task.answer(task.read(text)) for text in ("0320", "11211", "43")]
    [[1, 0, 0, 1], [1, 1, 0, 1, 1], [1, 0]]
    """

    def __init__(self, modulus: int = 5):
        super().__init__(languages.first_is_last, Uniform, modulus)


class ModArith(_Modular):
    """Numbers at even positions, operators + - × at odd ones; label k, at even k only, is the value mod M so far.

    × binds tighter than + and -, equals are done from the left; numbers and operators uniform (paper 000, section
    4.1).  Tokens 0..M-1 are the numbers, M is +, M + 1 is -, M + 2 is ×; lengths are odd.

    The state of its machine is (a, c): the sum a of the finished terms and the signed product c of the current one, so
    M^2 states.  At an operator, or after a malformed string, its output means nothing.

    >>> task = ModArith(5)
    >>> [task.answer(task.read(text)) for text in ("1+2-3×4", "0-4*4-3", "4x2-3+4")]
    [[1, 3, 0, 1], [0, 1, 4, 1], [4, 3, 0, 4]]
    """

    def __init__(self, modulus: int = 5):
        super().__init__(languages.arithmetic, Expressions, modulus, lengths=(39, 499))


# --- paper 002: one answer a string -----------------------------------------------------------------------------------


def even_pairs() -> Task:
    """0 if the pairs of neighbours 01 and 10 are even in number, together, else 1; bits uniform.

    EvenPair(2) of paper 000 has the two labels the other way round.
    """
    return Task(languages.odd_changes(), "last")


def parity(p: float = 0.5) -> Task:
    """1 if the number of 1s is odd; bits independent, 1 with probability ``p`` (002, section 5.3, Table 2).

    A ``p`` like 0.1 counts as the decimal fraction that is written.
    """
    chance = Fraction(str(number(p, "Parity: p, a probability,", 0, 1)))
    odds = chance.denominator - chance.numerator, chance.numerator
    return Task(languages.language("Parity"), "last", Independent(odds), name=f"Parity({float(chance):g})")


def cycle_navigation() -> Task:
    """Where a walk on a cycle of five ends that starts at 0: 0 is a step back, 1 stays, 2 a step on."""
    return Task(languages.cycle_walk(), "last")


def modular_arithmetic(modulus: int = 5, prefix: bool = False) -> Task:
    """The value of an expression mod M, × before + and -; numbers and operators uniform (002: M = 5)."""
    modulus = whole_number(modulus, 2, "ModularArithmetic: the modulus", MAX_MODULUS)
    name = f"ModularArithmetic({modulus}{', prefix' if prefix else ''})"
    made = Task(languages.arithmetic(modulus, prefix), "last", Expressions(modulus, prefix), name=name)
    made.modulus = modulus
    return made


def recognition(language: Language, published: Callable[[int, random.Random], list[int]] | None = None) -> Task:
    """1 for strings of a language, 0 for others; half of a batch is drawn from each (paper 002, Table 1, part 2)."""
    return Task(language, "last", Halves(language.machine, published), lengths=(50, 100))


def nested(n: int, length: int, rng: random.Random) -> list[int]:
    """A string of D_n of even ``length`` as paper 002's code makes it: 0 w 1, again and again, until it is long enough.

    w is one of D_{n-1}, about three quarters as long as there is room: its length is normal, with a standard deviation
    of a tenth of its mean, made even.  So most strings begin alike, and few are deep: 500 strings of D_12 reach depth
    5 at length 20, 8 at 50, 11 at 100.
    """
    word: list[int] = []
    while n and len(word) < length:
        room = length - len(word) - 2
        inner = min(room, int(rng.gauss(0.75 * room, 0.075 * room)) // 2 * 2)
        word += [0, *nested(n - 1, inner, rng), 1]
    return word


def blocks_of_tomita_3(length: int, rng: random.Random) -> list[int]:
    """Blocks of a random bit, each of uniform length 0..what is left; after an odd block of 1s of even length."""
    word: list[int] = []
    ones = 0  # how long the last block of 1s is
    while len(word) < length:
        bit = rng.randrange(2)
        count = rng.randrange(0, length - len(word) + 1, 2 if bit == 0 and ones % 2 else 1)
        if bit and count:
            ones = count + (ones if word[-1:] == [1] else 0)
        word += [bit] * count
    return word


def bits_of_tomita_4(length: int, rng: random.Random) -> list[int]:
    """Fair bits, but always 1 after 00."""
    word: list[int] = []
    for _ in range(length):
        word.append(1 if word[-2:] == [0, 0] else rng.randrange(2))
    return word


def blocks_of_tomita_7(length: int, rng: random.Random) -> list[int]:
    """Three blocks 0, 1, 0, each of uniform length 0..what is left, then 1s."""
    word: list[int] = []
    for bit in (0, 1, 0):
        word += [bit] * rng.randrange(length - len(word) + 1)
    return word + [1] * (length - len(word))


PUBLISHED = {3: blocks_of_tomita_3, 4: bits_of_tomita_4, 7: blocks_of_tomita_7}  # the others are uniform


def tomita(k: int) -> Task:
    """Tomita's language k, 1..7; 3 to 6 are in Table 1."""
    return recognition(languages.language(f"Tomita {k}"), PUBLISHED.get(k))


def bounded_dyck(n: int) -> Task:
    """D_n = (0 D_{n-1} 1)*, brackets 0 and 1 of depth at most n."""
    return recognition(languages.bounded_dyck(whole_number(n, 1, "D_n: the depth"), "01"), partial(nested, n))


def expression(pattern: str, symbols: Sequence[str] | None = None) -> Task:
    """Is the string in the language of a regular expression?  See ``automata.parsing.acceptor``."""
    found = languages.regular(pattern, symbols)
    accepted = set(found.machine.outputs[found.machine.transitions].ravel().tolist())  # after one letter or more
    if len(accepted) == 1:
        raise ValueError(f"{pattern!r} accepts {'every' if accepted == {1} else 'no'} string that has a letter")
    return recognition(found)


# --- tasks of your own ------------------------------------------------------------------------------------------------


@checked
class MachineTask(Task):
    """The answers of ``machine`` (a ``MooreMachine``) to uniformly random strings, wherever it shows a class.

    What is shown before the first token, or where no string leads, is no answer.  ValueError unless the machine's answers
    are the classes 0..C-1, at least two of them.

    >>> flip_flop = MooreMachine([[0, 0], [1, 1], [0, 1]], [0, 1], 0, ("off", "on", "-"))
    >>> task = MachineTask(flip_flop, "flip-flop")
    >>> task.answer(task.read("on - off on"))
    [1, 1, 0, 1]
    """

    def __init__(self, machine: MooreMachine, name: str = "machine"):
        after = machine.outputs[machine.transitions[:, machine.reachable()]]  # one token or more
        outputs = np.where(np.isin(machine.outputs, after), machine.outputs, NO_LABEL)
        super().__init__(languages.followed(name, replace(machine, outputs=outputs)))


@checked
class StateTracking(Task):
    """Which state the smallest machine with the answers of ``machine`` is in, after every token.

    Uniform strings ask little of some machines: a flip-flop is written again before anything could be forgotten, and
    brackets are soon beyond mending.  So ``weights`` (V,) says how often each symbol comes (alike, if not given); and
    where the machine has a state that cannot be left, strings are drawn as by ``draws.Alive``.  ValueError for weights
    that are not V positive numbers, or a machine with one state.

    >>> from lrnnlab.automata.languages import language
    >>> task = StateTracking(language("D_2").machine, "D_2")
    >>> task.classes, task.answer(task.read("aabb"))
    (4, [1, 3, 1, 0])
    >>> import torch
    >>> drawn = task.sample(1000, 40, torch.Generator().manual_seed(0))
    >>> 0.5 < float((drawn.targets[:, -1] != 2).double().mean()) < 0.65
    True
    """

    def __init__(self, machine: MooreMachine, name: str = "machine", weights: Sequence[float] | None = None):
        small = minimise(machine)
        small = replace(small, outputs=np.arange(small.num_states))
        odds = [1] * small.num_symbols if weights is None else list(weights)
        if len(odds) != small.num_symbols or not all(np.isfinite(odds)) or min(odds) <= 0:
            raise ValueError(f"{name}: weights are {small.num_symbols} positive numbers, one a symbol, got {weights!r}")
        many = small.num_states if small.num_states > 1 else None  # the initial state too, where no token leads back to it
        super().__init__(languages.followed(name, small), draw=Alive(small, odds), classes=many)


@checked
class WordProblem(Task):
    """Which element of a group the product of the tokens so far is: tokens are generators, classes the n elements.

    ``generators``: {symbol: permutation as a tuple, x goes to g[x]}.  The oracle carries the points one by one.

    >>> task = WordProblem({"s": (1, 0, 2), "t": (1, 2, 0)}, "S_3")
    >>> task.classes, task.answer(task.read("stst"))
    (6, [1, 3, 5, 0])
    """

    def __init__(self, generators: Mapping[str, tuple[int, ...]], name: str = "group"):
        points = {tuple(sorted(g)) for g in generators.values()}
        if points != {tuple(range(max(map(len, points), default=0)))}:
            raise ValueError(f"{name}: generators are permutations of the same points 0, 1, ..., got {shown(generators)}")
        super().__init__(languages.word_problem(name, generators))


def group(name: str) -> WordProblem:
    """The word problem of a group: ``a_4``, ``q_8``, ``a_5``, ``z_M``, M from 2 to 9,999, or ``s_N``, N from 3 to 7."""
    found = languages.group(name)
    if found is None:
        raise ValueError(f"no group is called {name!r}; there are {', '.join(map(str.lower, GROUPS))}, z_M and s_N, "
                         "M from 2 to 9999, N from 3 to 7")
    return WordProblem(found[1], found[0])


STRING_TASKS: dict[str, Callable[..., Task]] = {
    "even_pairs": even_pairs,
    "modular_arithmetic": modular_arithmetic,
    "modular_arithmetic_prefix": partial(modular_arithmetic, prefix=True),
    "parity": parity,
    "cycle_navigation": cycle_navigation,
    **{f"d_{n}": partial(bounded_dyck, n) for n in (2, 3, 4, 12)},
    **{f"tomita_{k}": partial(tomita, k) for k in range(1, 8)},
}
