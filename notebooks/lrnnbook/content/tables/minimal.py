"""Every exact model the book knows, language by language, and the smallest: what is needed, what is enough, what is open.

Each comes with the machine that it must agree with on all words: Sum, EvenPair, subtraction and ModArith first, then
groups and bracket languages.  Lower bounds on the largest real block b of one layer with finitely many states and any readout:

* Theorem E (chapter 01): b >= the pre-period, the most repetitions of a word before its powers start to cycle;
* b >= 2 unless real diagonal gates do it (``one_layer``, turns of order 1 or 2);
* b >= 3 if a group in the monoid has derived length above 2, or none: a finite group of affine maps of the plane fixes
  a point and is cyclic or dihedral, and so is what it does on each of many blocks.

Letters: Q states, V tokens, M modulus, b block size in real numbers, p the norm of Eq. 6, s a number; w = exp(2 pi i /
M); f half the golden ratio; A_v transition of token v; a, c as in ``languages.mod_arith``: finished terms and the
growing one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial

from sympy import primefactors

from lrnnlab.automata import Classification, MooreMachine, classify
from lrnnlab.automata.languages import GROUPS, digits, language
from lrnnlab.expressivity.theorems.cascades import (
    Block,
    BlockModel,
    Channel,
    DiagonalCascade,
    field_of,
    group_cascade,
    one_hot,
    pair_up,
    table,
)
from lrnnlab.expressivity.theorems.one_layer import Verdict, possible_in_one_diagonal_layer

QUARTER_TURNS = (((1, 0), (0, 1)), ((0, -1), (1, 0)), ((-1, 0), (0, -1)), ((0, 1), (-1, 0)))
SYMBOLS = (*digits(5), "+", "-", "×")
PLUS, MINUS = 5, 6
POWERS = (1, 2, 4, 3)  # of 2, modulo 5; so times d turns by LOGS[d]
LOGS = {1: 0, 2: 1, 4: 2, 3: 3}
EXPRESSIONS = "expressions"


@dataclass(frozen=True)
class Construction:
    """A model and the machine it stands for; ``scope`` says on which strings."""

    model: BlockModel | DiagonalCascade
    machine: MooreMachine
    scope: str = "all strings"

    def confused(self) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """None: right on all words, proved by search; else two words that no readout can answer."""
        return pair_up(self.model, self.machine)[1]

    def row(self, p: float = 1.2) -> dict:
        """For ``show.table``; the norm is the largest of a column, at most 1 within Eq. 6 of paper 000."""
        answers, counterexample = pair_up(self.model, self.machine)
        norm = self.model.column_norm(p)
        return {"construction": self.model.name, "layers": self.model.depth, "b": self.model.size,
                "on": self.scope, "states": len(answers), "exact": "yes" if counterexample is None else "NO",
                f"column {p}-norm": round(norm, 3), "Eq. 6": "yes" if norm < 1 + 1e-9 else "no"}  # fmt: skip


# --- Sum, EvenPair, subtraction, ModArith -----------------------------------------------------------------------------


def identity(b: int) -> tuple:
    """b x b."""
    return tuple(tuple(int(i == j) for j in range(b)) for i in range(b))


def shift(s: int, M: int) -> tuple:
    """Adding s modulo M to a one-hot number."""
    return tuple(tuple(int((j + s) % M == i) for j in range(M)) for i in range(M))


def product(A: Sequence[Sequence], B: Sequence[Sequence]) -> tuple:
    """The matrix A B of exact entries."""
    return tuple(tuple(sum((a * b for a, b in zip(row, column)), 0 * row[0]) for column in zip(*B)) for row in A)


def scalars(name: str, symbols: Sequence[str], *rows: Sequence, root: int = 1) -> BlockModel:
    """Blocks of size 1: for each row the A of every token, in Q(w); the start is 1 and nothing is driven."""
    return BlockModel(name, tuple(symbols), (tuple(table([1], [[[a]] for a in row], root=root) for row in rows),))


def turning(M: int, name: str | None = None) -> BlockModel:
    """Sum(M) as one complex number: token s turns by s times 360 / M degrees."""
    w = field_of(M)[1]
    return scalars(name or f"a turn by 360/{M} degrees", digits(M), [w**s for s in range(M)], root=M)


def first_symbol(M: int, others: int = 0) -> Block:
    """A_s = [[1, -s/(M-1)], [0, 0]], Bu_s = (s/(M-1), 1): x_0 = 0 goes to (s/(M-1), 1) and stays there."""
    code = [Fraction(s, M - 1) for s in range(M)]
    moves = [[[1, -s], [0, 0]] for s in code] + [identity(2)] * others
    return table([0, 0], moves, [[s, 1] for s in code] + [[0, 0]] * others)


def even_pair(M: int) -> BlockModel:
    """The first symbol in a block of size 2, the last one in a block of size 1 (A = 0)."""
    last = table([0], [[[0]]] * M, [[Fraction(s, M - 1)] for s in range(M)])
    return BlockModel("first and last symbol", digits(M), ((first_symbol(M), last),))


def subtraction_expressions() -> BlockModel:
    """a-b-c-... is twice the first number less the sum of all: the first symbol, and a turn.  Expressions only."""
    M, w = 5, field_of(5)[1]
    turn = table([1], [[[w**s]] for s in range(M)] + [[[1]]], root=M)
    return BlockModel("first number and a turn", (*digits(M), "-"), ((first_symbol(M, others=1), turn),))


def subtraction_strings() -> BlockModel:
    """Every string of tokens: a real block of size 3 freezes the sum of the numbers before the first minus."""
    M, (number, w) = 5, field_of(5)
    turn = ((number(0), number(-1)), (number(1), w + w ** (M - 1)))
    power, moves = tuple(tuple(map(number, row)) for row in identity(2)), []
    for _ in range(M):
        moves.append(((*power[0], 0), (*power[1], 0), (0, 0, 1)))
        power = product(turn, power)
    frozen = table([1, 0, 0], [*moves, [[0, 0, 0], [0, 0, 0], [1, 3, 1]]], root=M)
    total = table([1], [[[w**s]] for s in range(M)] + [[[1]]], root=M)
    return BlockModel("a plane emptied into a line", (*digits(M), "-"), ((frozen, total),))


def subtraction_unit_columns() -> BlockModel:
    """Every string of tokens within Eq. 6: a one-hot sum, and e_k goes to k / (M-1) e_M at the first minus."""
    M = 5
    keep = [tuple((*row, 0) for row in shift(s, M)) + ((0,) * M + (1,),) for s in range(M)]
    freeze = ((0,) * (M + 1),) * M + ((*(Fraction(k, M - 1) for k in range(M)), 1),)
    frozen = table([1] + [0] * M, [*keep, freeze])
    total = table([1] + [0] * (M - 1), [*(shift(s, M) for s in range(M)), identity(M)])
    return BlockModel("one-hot sum, frozen", (*digits(M), "-"), ((frozen, total),))


def mod_arith_five() -> BlockModel:
    """ModArith(5), one complex block of 5: x_k = w^(a + k c)."""
    w = field_of(5)[1]
    numbers = [[[int(j == d * k % 5) for j in range(5)] for k in range(5)] for d in range(5)]
    signs = [[[w ** (sign * k % 5) if j == 1 else 0 for j in range(5)] for k in range(5)] for sign in (1, -1)]
    moves = [*numbers, *signs, identity(5)]
    return BlockModel("powers of one root", SYMBOLS, ((table([w**k for k in range(5)], moves, root=5),),))


def mod_arith_eight() -> BlockModel:
    """ModArith(5), two complex blocks of 4, with two pseudo-accumulators."""
    w = field_of(5)[1]
    double = ((1, 0, 0, 0), (0, 0, 0, 1), (0, 1, 1, -1), (0, 0, 1, 0))
    fourfold = product(double, double)
    times = (((1, 0, 0, 0),) * 4, identity(4), double, product(double, fourfold), fourfold)  # 2 * 4 = 3

    def block(column):
        def sign(s):
            return [[root if j == column else 0 for j in range(4)] for root in (1, w**s, w ** (5 - s), w**s)]

        return table([1, w, w**4, w], [*times, sign(1), sign(4), identity(4)], root=5)

    return BlockModel("two pseudo-accumulators", SYMBOLS, ((block(1), block(3)),))


def _growing_term():
    """The lower layer of ``mod_arith_two_layers``: x = (c, z), c = 2^k as the k-th power of a quarter turn."""
    moves = [((0, 0, 0, 0), (0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0))]
    for d in range(1, 5):
        moves.append((*((*row, 0, 0) for row in QUARTER_TURNS[LOGS[d]]), (0, 0, 1, 0), (0, 0, 0, 1)))
    nothing = ((0, 0, 0, 0),) * 4
    drives = [(0, 0, 0, 0)] * 5 + [(1, 0, 0, 0), (-1, 0, 0, 0), (0, 0, 0, 0)]
    return table([1, 0, 0, 0], [*moves, nothing, nothing, identity(4)], drives)


def mod_arith_two_layers(turn: bool = False) -> BlockModel:
    """ModArith(5) on every string in two layers with b <= 5 within Eq. 6 (``turn``: b <= 4, the value as a turn)."""
    value = {(row[0][0], row[1][0]): POWERS[k] for k, row in enumerate(QUARTER_TURNS)}
    w = field_of(5)[1]

    def added(token, lower):
        ((x,),) = lower
        if token == 0:
            return -value.get(x[2:], 0)
        c = value.get(x[:2], 0)
        return {PLUS: 1, MINUS: -1}.get(token, 0) if token >= PLUS else c - c * pow(token, -1, 5)

    moves = [((w**s,),) if turn else shift(s, 5) for s in range(5)]
    steps = table([w] if turn else [0, 1, 0, 0, 0], moves, root=5 if turn else 1)
    upper = Block(steps.start, lambda token, lower: steps.transition(added(token, lower) % 5, ()), steps.root)
    return BlockModel(
        "term, then value as a turn" if turn else "term, then value", SYMBOLS, ((_growing_term(),), (upper,))
    )


def mod_arith_three_layers() -> BlockModel:
    """ModArith(5) on expressions, one-hot, b <= 5 within Eq. 6: last operator, growing term, sum of finished terms."""
    operators = [[[0] * 3] * 3] * 3
    last = table([1, 0, 0], [identity(3)] * 5 + operators, [[0, 0, 0]] * 5 + list(identity(3)))

    def one_hot_map(image):
        return tuple(tuple(int(image(j) == i) for j in range(5)) for i in range(5))

    begun = table([1, 0, 0, 0, 0], [one_hot_map(lambda c, n=n: n) for n in range(5)])
    times = table([1, 0, 0, 0, 0], [one_hot_map(lambda c, d=d: c * d % 5) for d in range(5)])
    shifts = table([1, 0, 0, 0, 0], [shift(s, 5) for s in range(5)])

    def term(token, lower):
        operator = lower[0][0].index(1)  # 0, 1, 2 for + - ×
        if token >= PLUS:
            return times.transition(1, ())
        return times.transition(token, ()) if operator == 2 else begun.transition((1, -1)[operator] * token % 5, ())

    def finished(token, lower):
        return shifts.transition(lower[1][0].index(1) if token in (PLUS, MINUS) else 0, ())

    return BlockModel("operator, term, sum", SYMBOLS, (
        (last,), (Block(begun.start, term),), (Block(shifts.start, finished),)))  # fmt: skip


_CLOCK = Channel(2, lambda token, lower: ("turn", 1))  # the parity of the time


def _delayed(flag: int, clock: int) -> tuple[Channel, Channel]:
    """Copies of the first layer's channel ``flag`` (0 or 1) at even and at odd times: one is a step old."""

    def copy(parity):
        return lambda token, lower: ("reset", lower[0][flag]) if lower[0][clock] == parity else ("turn", 0)

    return Channel(1, copy(0), rings=2), Channel(1, copy(1), rings=2)


def mod_arith_cascade() -> DiagonalCascade:
    """ModArith(5) in three diagonal layers, right on every string of tokens."""
    def power(token, lower):
        if token in (PLUS, MINUS):
            return "reset", 0 if token == PLUS else LOGS[4]  # c = 1, c = -1
        return "turn", LOGS.get(token, 0)

    def met_zero(token, lower):
        return {0: ("reset", 1), PLUS: ("reset", 0), MINUS: ("reset", 0)}.get(token, ("turn", 0))

    def value(token, lower):
        (k, zero, parity), copies = lower
        if token >= PLUS:
            return "turn", {PLUS: 1, MINUS: -1}.get(token, 0)
        if token == 0:
            return "turn", 0 if copies[1 - parity] else -POWERS[k]
        return "turn", 0 if zero else POWERS[k] - POWERS[(k - LOGS[token]) % 4]

    return DiagonalCascade("three diagonal layers", SYMBOLS, (
        (Channel(4, power), Channel(1, met_zero, rings=2), _CLOCK), _delayed(flag=1, clock=2),
        (Channel(5, value, start=1),)))  # fmt: skip


def even_pair_cascade(M: int) -> DiagonalCascade:
    """EvenPair(M) in three diagonal layers with real gates."""
    read = Channel(1, lambda token, lower: ("reset", 1), rings=2)
    last = Channel(1, lambda token, lower: ("reset", token), rings=M)

    def first(token, lower):
        (_, parity, _), copies = lower
        return ("turn", 0) if copies[1 - parity] else ("reset", token)

    return DiagonalCascade("three diagonal layers", digits(M), (
        (read, _CLOCK, last), _delayed(flag=0, clock=1), (Channel(1, first, rings=M),)))  # fmt: skip


# --- brackets, groups, Tomita's languages -----------------------------------------------------------------------------


def four_letters() -> BlockModel:
    """(abab)* in b = 2: e_1, e_2, -e_1, -e_2 in turn, and the zero vector as sink."""
    block = table([1, 0], [[[0, 0], [1, 0]], [[0, -1], [0, 0]]])
    return BlockModel("signed pair, sink 0", ("a", "b"), ((block,),))


def tomita_3_three() -> BlockModel:
    """Tomita 3 in b = 3: one state is, as a vector, the sum of two others."""
    zero, one = [[0, 0, 0], [1, 0, 1], [0, 1, 0]], [[0, 0, 1], [1, 0, 0], [1, 0, 0]]
    return BlockModel("one state a sum of two, sink 0", ("0", "1"), ((table([0, 1, 1], [zero, one]),),))


def permutation_block(name: str) -> BlockModel:
    """A group as permutation matrices on a vector with distinct entries, b = number of points."""
    generators = GROUPS[name]
    n = len(next(iter(generators.values())))
    moves = [[[int(g[j] == i) for j in range(n)] for i in range(n)] for g in generators.values()]
    return BlockModel("permutations of a vector", tuple(generators), ((table(range(1, n + 1), moves),),))


def triangle() -> BlockModel:
    """S_3 in b = 2: the symmetries of a triangle in whole numbers, on a point with six images."""
    block = table([2, 1], [[[0, 1], [1, 0]], [[0, -1], [1, -1]]])
    return BlockModel("symmetries of a triangle", ("s", "t"), ((block,),))


def icosahedron() -> BlockModel:
    """A_5 in b = 3: the turns of an icosahedron, entries in Q(sqrt 5), on a point with sixty images."""
    half, w = Fraction(1, 2), field_of(5)[1]
    f, g = -half * (w**2 + w**3), half * (w + w**4)  # half the golden ratio and half its inverse
    third, fifth = [[0, 0, 1], [1, 0, 0], [0, 1, 0]], [[f, -g, -half], [-g, half, -f], [half, f, g]]
    return BlockModel("turns of an icosahedron", ("s", "t"), ((table([1, 2, 4], [third, fifth], root=5),),))


def _hot(name: str, sink: bool = False) -> BlockModel:
    machine = language(name).machine
    return one_hot(machine, machine.sinks[0], "one-hot, sink 0") if sink else one_hot(machine)


_MAKERS: dict[str, tuple[Callable, ...]] = {
    "Parity": (lambda: turning(2, "a sign"),),
    "(aa)*": (lambda: scalars("a sign", "a", (-1,)),),
    "Sum(5)": (lambda: turning(5), partial(_hot, "Sum(5)")),
    "(abab)*": (four_letters,),
    "EvenPair(2)": (lambda: even_pair(2), partial(_hot, "EvenPair(2)"), partial(even_pair_cascade, 2)),
    "EvenPair(5)": (lambda: even_pair(5), partial(_hot, "EvenPair(5)"), partial(even_pair_cascade, 5)),
    "a-b-c mod 5": (subtraction_expressions, subtraction_strings,
                    subtraction_unit_columns, partial(_hot, "a-b-c mod 5")),
    "ModArith(5)": (mod_arith_eight, mod_arith_five, partial(_hot, "ModArith(5)"),
                    lambda: mod_arith_two_layers(turn=True), mod_arith_two_layers,
                    mod_arith_three_layers, mod_arith_cascade),
    **{name: (partial(_hot, name, sink=True),) for name in ("D_2", "D_3", "D_4", "D_12")},
    "Tomita 3": (tomita_3_three, partial(_hot, "Tomita 3", sink=True)),
    "Tomita 3, as written": (partial(_hot, "Tomita 3, as written", sink=True),),
    "Tomita 4": (partial(_hot, "Tomita 4", sink=True),),
    "Tomita 5": (lambda: scalars("two signs", "01", (-1, 1), (1, -1)),),
    "Tomita 6": (lambda: scalars("a turn by 120 degrees", "01",
                                             [field_of(3)[1] ** k for k in (1, 2)], root=3),
                 partial(_hot, "Tomita 6")),
    "S_3": (triangle, partial(permutation_block, "S_3"), partial(group_cascade, "S_3")),
    "A_5": (icosahedron, partial(permutation_block, "A_5")),
}  # fmt: skip
TASKS = tuple(_MAKERS)


@cache
def constructions(name: str) -> tuple[Construction, ...]:
    """The exact models known for a language.  ValueError if there is none."""
    if name not in _MAKERS:
        raise ValueError(f"no exact model is stored for {name!r}; there are some for {', '.join(_MAKERS)}")
    found = []
    for make in _MAKERS[name]:
        asked = make in (subtraction_expressions, mod_arith_three_layers)
        machine = language(f"{name}, {EXPRESSIONS}" if asked else name).machine
        found.append(Construction(make(), machine, EXPRESSIONS if asked else "all strings"))
    return tuple(found)


# --- the smallest -------------------------------------------------------------------------------------------------------


def lower_bound(found: Classification, verdict: Verdict) -> int:
    """The least real b of one layer that the three bounds above leave."""
    real_gates = verdict.possible and verdict.order <= 2
    flat = found.solvable and found.derived_length <= 2
    return max(found.pre_period, 1 if real_gates else 2 if flat else 3)


def smallest_models(tasks: tuple[str, ...] = TASKS) -> list[dict]:
    """The table of exact models, a row a language, each model run on all words: ``b found`` is the smallest block of one layer
    exact on all strings, ``within Eq. 6`` (1.2-norm) the smallest there; "tight" if found = needed."""
    return [_row(name) for name in tasks]


def _row(name):
    machine = language(name).machine
    found, verdict = classify(machine), possible_in_one_diagonal_layer(machine)
    known = [item.row() for item in constructions(name)]
    one = [row for row in known if row["layers"] == 1 and row["on"] == "all strings" and row["exact"] == "yes"]
    best, needed = min(one, key=lambda row: row["b"]), lower_bound(found, verdict)
    rest = [row for row in known if row not in one]
    kind = "aperiodic" if found.aperiodic else "group" if found.group else "mixed"
    return {
        "task": name, "|Q|": found.num_states, "|monoid|": found.monoid_size, "class": kind,
        "pre-period": found.pre_period,
        "derived length": "never ends" if found.derived_length is None else found.derived_length,
        "one diagonal layer": f"yes, order {verdict.order}" if verdict.possible else "no",
        "b needed": needed, "b found": best["b"], "tight": "yes" if needed == best["b"] else "open",
        "construction": best["construction"],
        "within Eq. 6": min((row["b"] for row in one if row["Eq. 6"] == "yes"), default=None),
        "also": "; ".join(f"{row['construction']}: {row['layers']} layer{'s' * (row['layers'] > 1)}, b = {row['b']}"
                          f"{', expressions' * (row['on'] == 'expressions')}" for row in rest),
    }  # fmt: skip


@dataclass(frozen=True)
class Fit:
    """``known``: True (an exact construction fits), False (none can), None (open here); ``why`` in words."""

    known: bool | None
    why: str
    construction: Construction | None = None


def fits(task: str, b: int, layers: int) -> Fit:
    """Is there an exact model with blocks of at most b real numbers in at most so many layers (any number of blocks)?"""
    fitting = [item for item in constructions(task) if item.model.size <= b and item.model.depth <= layers]
    if fitting:  # prefer what reads all strings, then what obeys Eq. 6, then few layers
        best = min(fitting, key=lambda item: (item.scope != "all strings", item.model.column_norm(1.2) > 1 + 1e-9,
                                              item.model.depth))  # fmt: skip
        scope = "" if best.scope == "all strings" else f", {best.scope}"
        return Fit(True, f"{best.model.name}: {best.model.depth} layer{'s' * (best.model.depth > 1)}, "
                         f"b = {best.model.size}{scope}", best)  # fmt: skip
    why = _impossible(language(task).machine, b, layers)
    return Fit(False, why) if why else Fit(None, "open: no construction is known here, and no bound forbids one")


def _impossible(machine: MooreMachine, b, layers):
    """A reason, or "" if no bound forbids it."""
    found, verdict = classify(machine), possible_in_one_diagonal_layer(machine)
    length, N = found.derived_length, verdict.order
    needed = lower_bound(found, verdict)
    if layers == 1 and b < needed:
        return f"one layer needs b >= {needed}"
    if b == 1 and (odd := [p for p in primefactors(N) if p > 2]):
        return f"real gates turn by 180 degrees only: no cycle of length {min(odd)}"
    if b <= 2 and (length is None or length > b * layers):
        return f"blocks of size {b} in {layers} layers have groups of derived length at most {b * layers}"
    return ""
