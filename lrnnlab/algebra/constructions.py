"""Every exact model the book knows, language by language, each with the machine that it must agree with on all words.

Letters: Q states, b block size, p the norm of Eq. 6; w a root of unity, f the golden ratio; A_v transition of token v.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial

from lrnnlab.automata import MooreMachine
from lrnnlab.algebra import arithmetic_blocks as arithmetic
from lrnnlab.algebra.blocks import BlockModel, one_hot, table
from lrnnlab.algebra.cascades import DiagonalCascade, pair_up
from lrnnlab.algebra.depth import group_cascade, mod_arith_cascade
from lrnnlab.automata.languages import GROUPS, language
from lrnnlab.algebra.roots import field_of


@dataclass(frozen=True)
class Construction:
    """A model and the machine it stands for; ``scope`` says on which strings."""

    model: BlockModel | DiagonalCascade
    machine: MooreMachine
    scope: str = "all strings"

    def clash(self):
        """None: right on all words, proved by search; else two words that no readout can answer."""
        return pair_up(self.model, self.machine)[1]

    def row(self, p: float = 1.2) -> dict:
        """For ``show.table``; the norm is the largest of a column, at most 1 within Eq. 6 of paper 000."""
        answers, clash = pair_up(self.model, self.machine)
        norm = self.model.column_norm(p)
        return {"construction": self.model.name, "layers": self.model.depth, "b": self.model.size,
                "on": self.scope, "states": len(answers), "exact": "yes" if clash is None else "NO",
                f"column {p}-norm": round(norm, 3), "Eq. 6": "yes" if norm < 1 + 1e-9 else "no"}  # fmt: skip


def four_letters() -> BlockModel:
    """(abab)* in b = 2: e_1, e_2, -e_1, -e_2 in turn, and the zero vector as sink.

    >>> four_letters().run((0, 1))
    [(((Fraction(0, 1), Fraction(1, 1)),),), (((Fraction(-1, 1), Fraction(0, 1)),),)]
    """
    block = table([1, 0], [[[0, 0], [1, 0]], [[0, -1], [0, 0]]])
    return BlockModel("signed pair, sink 0", ("a", "b"), ((block,),))


def tomita_3_three() -> BlockModel:
    """Tomita 3 in b = 3: one state is, as a vector, the sum of two others.

    "An even block of 1s" = "an odd" + "an even block of 0s", both after an odd block of 1s; the sink is 0.
    Both tokens respect it: in the one-hot model of size 4 the difference of the two sides spans an invariant line.

    >>> tomita_3_three().size
    3
    """
    zero, one = [[0, 0, 0], [1, 0, 1], [0, 1, 0]], [[0, 0, 1], [1, 0, 0], [1, 0, 0]]
    return BlockModel("one state a sum of two, sink 0", ("0", "1"), ((table([0, 1, 1], [zero, one]),),))


def permutation_block(name: str) -> BlockModel:
    """A group as permutation matrices on a vector with distinct entries, b = number of points.

    >>> permutation_block("A_5").size
    5
    """
    generators = GROUPS[name]
    n = len(next(iter(generators.values())))
    moves = [[[int(g[j] == i) for j in range(n)] for i in range(n)] for g in generators.values()]
    return BlockModel("permutations of a vector", tuple(generators), ((table(range(1, n + 1), moves),),))


def triangle() -> BlockModel:
    """S_3 in b = 2: the symmetries of a triangle in whole numbers, on a point with six images.

    >>> triangle().size
    2
    """
    block = table([2, 1], [[[0, 1], [1, 0]], [[0, -1], [1, -1]]])
    return BlockModel("symmetries of a triangle", ("s", "t"), ((block,),))


def icosahedron() -> BlockModel:
    """A_5 in b = 3: the turns of an icosahedron, entries in Q(sqrt 5), on a point with sixty images.

    >>> icosahedron().size
    3
    """
    half, w = Fraction(1, 2), field_of(5)[1]
    f, g = -half * (w**2 + w**3), half * (w + w**4)  # half the golden ratio and half its inverse
    third, fifth = [[0, 0, 1], [1, 0, 0], [0, 1, 0]], [[f, -g, -half], [-g, half, -f], [half, f, g]]
    return BlockModel("turns of an icosahedron", ("s", "t"), ((table([1, 2, 4], [third, fifth], root=5),),))


def _hot(name: str, sink: bool = False) -> BlockModel:
    machine = language(name).machine
    found = [q for q in range(machine.num_states) if (machine.transitions[:, q] == q).all()]
    return one_hot(machine, found[0], "one-hot, sink 0") if sink else one_hot(machine)


EXPRESSIONS = "expressions"
_MAKERS: dict[str, tuple[Callable, ...]] = {
    "Parity": (lambda: arithmetic.turning(2, "a sign"),),
    "(aa)*": (lambda: arithmetic.scalars("a sign", "a", (-1,)),),
    "Sum(5)": (lambda: arithmetic.turning(5), partial(_hot, "Sum(5)")),
    "(abab)*": (four_letters,),
    "EvenPair(2)": (lambda: arithmetic.even_pair(2), partial(_hot, "EvenPair(2)")),
    "EvenPair(5)": (lambda: arithmetic.even_pair(5), partial(_hot, "EvenPair(5)")),
    "a-b-c mod 5": (arithmetic.subtraction_expressions, arithmetic.subtraction_strings,
                    arithmetic.subtraction_unit_columns, partial(_hot, "a-b-c mod 5")),
    "ModArith(5)": (arithmetic.mod_arith_eight, arithmetic.mod_arith_five, partial(_hot, "ModArith(5)"),
                    lambda: arithmetic.mod_arith_two_layers(turn=True), arithmetic.mod_arith_two_layers,
                    arithmetic.mod_arith_three_layers, mod_arith_cascade),
    **{name: (partial(_hot, name, sink=True),) for name in ("D_2", "D_3", "D_4", "D_12", "Tomita 4")},
    "Tomita 3": (tomita_3_three, partial(_hot, "Tomita 3", sink=True)),
    "Tomita 3, as written": (partial(_hot, "Tomita 3, as written", sink=True),),
    "Tomita 5": (lambda: arithmetic.scalars("two signs", "01", (-1, 1), (1, -1)),),
    "Tomita 6": (lambda: arithmetic.scalars("a turn by 120 degrees", "01",
                                             [field_of(3)[1] ** k for k in (1, 2)], root=3),
                 partial(_hot, "Tomita 6")),
    "S_3": (triangle, partial(permutation_block, "S_3"), partial(group_cascade, "S_3")),
    "A_5": (icosahedron, partial(permutation_block, "A_5")),
}  # fmt: skip


@cache
def constructions(name: str) -> tuple[Construction, ...]:
    """The exact models known for a language.  ValueError if there is none.

    >>> [(found.model.name, found.clash()) for found in constructions("S_3")]
    [('symmetries of a triangle', None), ('permutations of a vector', None), ('S_3', None)]
    """
    if name not in _MAKERS:
        raise ValueError(f"no exact model is stored for {name!r}; there are some for {', '.join(_MAKERS)}")
    found = []
    for make in _MAKERS[name]:
        asked = make in (arithmetic.subtraction_expressions, arithmetic.mod_arith_three_layers)
        machine = language(f"{name}, {EXPRESSIONS}" if asked else name).machine
        found.append(Construction(make(), machine, EXPRESSIONS if asked else "all strings"))
    return tuple(found)
