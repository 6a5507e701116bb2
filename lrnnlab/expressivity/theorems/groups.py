"""Solvable groups in layers of rotations: as many diagonal layers as the derived series is long (chapter 01, D').

Letters: G a group of permutations, g one of its generators (a token), n, h, t(h) parts of an element x = n t(h).

A product is read from the left: ``then(x, y)`` is first x, then y.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise, product

import numpy as np
from sympy.combinatorics import Permutation, PermutationGroup

from lrnnlab.automata.languages import GROUPS
from lrnnlab.expressivity.theorems.cascades import Channel, DiagonalCascade


def then(x: Sequence[int], y: Sequence[int]) -> tuple[int, ...]:
    """First x, then y, as permutations (tuples)."""
    return tuple(y[point] for point in x)


def inverse(x: Sequence[int]) -> tuple[int, ...]:
    """The permutation that undoes x."""
    return tuple(int(point) for point in np.argsort(x))


def derived_series(generators: Sequence[Sequence[int]]) -> list[list[tuple]]:
    """G, its commutator subgroup, and so on, as sorted lists of permutations, until one repeats or is trivial."""
    found = PermutationGroup([Permutation(list(g)) for g in generators]).derived_series()
    series = [sorted(tuple(element.array_form) for element in group.elements) for group in found]
    return series if len(series[-1]) == 1 else [*series, series[-1]]


def _basis(group, below):
    """A basis of the abelian quotient: elements with their orders, and the coordinates of every element of group."""
    coset = {x: min(then(x, k) for k in below) for x in group}
    one, spanned, chosen = coset[tuple(range(len(group[0])))], {coset[tuple(range(len(group[0])))]: ()}, []

    def powers(x):
        row = [one]
        while (following := coset[then(row[-1], x)]) != one:
            row.append(following)
        return row

    rows = sorted((powers(x) for x in set(coset.values())), key=lambda row: (-len(row), row))
    for row in rows:  # longest first: a cyclic subgroup of the largest order splits off
        if len(row) > 1 and not set(row[1:]) & set(spanned):
            chosen.append(row)
            spanned = {coset[then(x, y)]: (*at, k) for x, at in spanned.items() for k, y in enumerate(row)}
    if len(spanned) * len(below) != len(group):
        raise ValueError(f"no basis found for a quotient of order {len(group) // len(below)}: is it abelian?")
    return [len(row) for row in chosen], {x: spanned[coset[x]] for x in group}, {at: x for x, at in spanned.items()}


def solvable_cascade(name: str, symbols: Iterable[str], generators: Sequence[Sequence[int]]) -> DiagonalCascade:
    """The word problem of a solvable group in as many diagonal layers as its derived series is long."""
    series = derived_series(generators)
    if len(series[-1]) > 1:
        raise ValueError(f"{name} is not solvable: its derived series has orders {[len(group) for group in series]}")
    quotients = [_basis(group, below) for group, below in pairwise(series)]

    def section(h):
        """t(h): an element with the coordinates h in the lower layers."""
        element = tuple(range(len(generators[0])))
        for at, (_, _, chosen) in zip(h, quotients):
            element = then(chosen[at], element)
        return element

    def coordinates(x, depth):
        h = ()
        for _, at, _ in quotients[:depth]:
            h += (at[then(x, inverse(section(h)))],)
        return h

    def turns(depth):
        table = {}
        for h in product(*(sorted(chosen) for _, _, chosen in quotients[:depth])):
            for token, g in enumerate(generators):
                moved = then(section(h), g)
                after = coordinates(moved, depth)
                table[token, after] = quotients[depth][1][then(moved, inverse(section(after)))]
        return table

    def channel(order, number, table):
        return Channel(order, lambda token, lower: ("turn", table[token, lower][number]))

    return DiagonalCascade(
        name,
        tuple(symbols),
        tuple(
            tuple(channel(order, number, table) for number, order in enumerate(orders))
            for (orders, _, _), table in zip(quotients, map(turns, range(len(quotients))))
        ),
    )


def group_cascade(name: str) -> DiagonalCascade:
    """The layers of one of ``languages.GROUPS``; ValueError for A_5, which has none."""
    if name not in GROUPS:
        raise ValueError(f"no group is called {name!r}; there are {', '.join(GROUPS)}")
    return solvable_cascade(name, GROUPS[name], list(GROUPS[name].values()))
