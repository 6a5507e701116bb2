"""The judges of chapter 08's exercises; hints and solutions are in ch08.md."""

import itertools
from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from lrnnbook.content.exercises.building import Build
from lrnnbook.content.exercises.judging import CannotJudge, agree, call, claim, numbers, one_number, shown, wrong_step
from lrnnbook.content.exercises.prediction import prediction
from lrnnbook.content.tables.word_actions import cluster_count, machine_of
from lrnnlab.automata import MooreMachine, classify, equivalent, transition_monoid
from lrnnlab.automata.languages import LANGUAGES, language
from lrnnlab.models.layers.attention import depth_count, kept_positions


def _twice(answer) -> None:
    row = list(answer) if isinstance(answer, (set, frozenset)) else answer
    given = set(numbers(row, (None,), "the distances").tolist())
    routes = [first + second for first in (0, 1, 2) for second in (0, 2, 4)]
    for distance in sorted(given):
        ways = "one route" if routes.count(distance) == 1 else "no route at all"
        claim(routes.count(distance) == 2, f"the distance {distance:g} comes by {ways}")
    claim(given == {one for one in routes if routes.count(one) == 2}, "not all: another one comes by two routes")


def _triple(answer) -> None:
    draw = np.random.default_rng(0)
    for n in (2, 3):
        layer = call(answer, n)
        if not isinstance(layer, (tuple, list)) or len(layer) != 3:
            raise CannotJudge(f"W1, c and W2 are asked for, and n = {n} gave {shown(layer)}")
        W1 = numbers(layer[0], (3 * n * n, None), "W1")
        units = W1.shape[1]
        c, W2 = numbers(layer[1], (units,), "c"), numbers(layer[2], (units, n * n), "W2")
        claim(units <= n**4, f"n = {n}: {units} hidden units, and fewer do")
        maps = np.eye(n, dtype=int)[np.array(list(itertools.product(range(n), repeat=n)))]
        for A, B, C in maps[draw.integers(len(maps), size=(300, 3))]:
            made = np.maximum(np.concatenate([A.ravel(), B.ravel(), C.ravel()]) @ W1 + c, 0) @ W2
            claim(np.allclose(made, (A @ B @ C).ravel()),
                  f"{A.tolist()}, {B.tolist()}, {C.tolist()} gave {shown(made.round(3).reshape(n, n))}")  # fmt: skip


def _word(answer) -> None:
    if not isinstance(answer, str) or not set(answer) <= set("st") or not answer:
        raise CannotJudge(f"a text of the letters s and t is asked for, got {shown(answer)}")
    machine = machine_of("S_3")
    forward, backward = ([machine.symbols.index(letter) for letter in text] for text in (answer, answer[::-1]))
    claim(machine.answer(forward)[-1] != machine.answer(backward)[-1],
          f"{answer!r} and, backwards, {answer[::-1]!r} have one answer: there the printed order is right")  # fmt: skip
    claim(len(answer) == 2, f"{answer!r} is one, but not the shortest")


def printed_machine(machine: MooreMachine) -> MooreMachine:
    """What the printed heads compute, as a machine of its own: its state is the product so far, as a map of states."""
    tables = machine.transitions.tolist()
    return MooreMachine.from_rule(
        tuple(range(machine.num_states)),
        machine.symbols,
        lambda product, token: tuple(product[s] for s in tables[token]),
        lambda product: int(machine.outputs[product[machine.initial]]),
    )


def _harmless(answer) -> None:
    if not isinstance(answer, str):
        raise CannotJudge(f"the name of a language is asked for, got {shown(answer)}")
    if answer not in LANGUAGES:
        raise CannotJudge(f"the book knows no language {shown(answer)}; names are written as in 'Tomita 5' and 'D_2'")
    machine = language(answer).machine
    claim(not classify(machine).commutative, f"the letters of {answer} commute")
    differ = equivalent(machine, printed_machine(machine))
    where = "".join(machine.symbols[token] for token in differ or ())
    claim(differ is None, f"the printed order is wrong on {where!r} of {answer}")


def _clusters(answer) -> None:
    given = numbers(answer, (2,)).tolist()
    for name, count in zip(("Tomita 5", "(aa)*"), given):
        due = cluster_count(machine_of(name), 8)
        claim(count == due, f"{name}: not {count:g}; which actions have words of 8 letters?")


def _many_actions(answer) -> None:
    moves = numbers(answer, (None, None), "a row for each letter", real=True)
    n = moves.shape[1]
    claim(2 <= n <= 5, f"a machine of 2 to 5 states will do, got {n}")
    claim(np.isin(moves, range(n)).all(), f"with {n} states each entry is one of 0 to {n - 1}, got {shown(answer)}")
    m = len(transition_monoid(MooreMachine(moves.astype(int), np.arange(n), 0, tuple(map(str, range(len(moves)))))))
    claim(m * m >= n**3, f"m = {m} actions on n = {n} states: {m * m} gates are fewer than {n**3} units")


def _zeros(answer) -> None:
    grown = [1]
    for layers in range(20):
        grown.append(2 * (2**layers + grown[-1]))
    agree(answer, lambda layers: grown[layers], ((layers,) for layers in range(21)))


def merge(chunk):  # C matrices (n, n), each entry off by at most an eighth -> their exact product, the earlier word first
    made, *later = chunk
    for B in later:
        s = made[:, :, None] + B[None] - 1  # places i, k, j
        made = (np.maximum(2 * s - 0.5, 0) - np.maximum(2 * s - 1.5, 0)).sum(1)
    return made


def tree(leaves, C, merge):  # the matrices of T letters -> the rows of nodes, depth by depth; the last row has one
    row, rows = list(leaves), []
    while len(row) > 1:
        row = [np.eye(len(row[0]))] * (-len(row) % C) + row  # before the start: the empty word
        row = [merge(row[i : i + C]) for i in range(0, len(row), C)]
        rows.append(row)
    return rows


def _matrix(value, of: str) -> None:
    if not hasattr(value, "argmax"):
        raise CannotJudge(f"{of} is {shown(value)}: make it an array (np.array)")


def _judge_merge(answer: Callable) -> None:
    """The product of C maps of n states, Parity first; then with each entry off by an eighth."""
    draw = np.random.default_rng(0)
    parity = [np.eye(2)[list(rows)] for rows in ((0, 1), (1, 0))]
    cases: list[Sequence[np.ndarray]] = [*itertools.product(parity, repeat=2)]
    cases += [[*np.eye(n)[draw.integers(n, size=(C, n))]] for n, C in ((2, 2), (2, 3), (3, 2), (3, 3), (4, 5)) for _ in range(20)]
    for e, maps in itertools.product((0, 1 / 8), cases):
        given = np.array(maps) + draw.choice([-e, e], np.shape(maps))
        product, due = call(answer, list(given)), reduce(np.matmul, maps)
        _matrix(product, "the next merge reads what comes out, and that")
        made = numbers(product, maps[0].shape, "the product", real=True)
        which = f"the chunk {', '.join(str(one.astype(int).tolist()) for one in maps)}" + ", each entry off by an eighth" * (e > 0)
        claim(np.allclose(made, due), f"{which}: you return {shown(made.round(3))}, and the node should be {due.astype(int).tolist()}")


def _judge_tree(answer: Callable) -> None:
    """Every node of the tree holds the action of its word, Parity in chunks of two first; and it is made by ``merge``."""
    draw, calls = np.random.default_rng(0), []
    cases = [("Parity", 2, word) for word in ((1, 1), (1, 0, 0), (1, 1, 1, 0, 1))]
    cases += [(name, C, draw.integers(2, size=T).tolist()) for name in ("S_3", "Tomita 3")
              for C, T in ((2, 2), (2, 8), (2, 11), (3, 9), (3, 14), (2, 64))]  # fmt: skip
    for name, C, word in cases:
        machine, letters = machine_of(name), lambda tokens, name=name: "".join(machine_of(name).symbols[token] for token in tokens)
        n, text = machine.num_states, f"{name}, C = {C}, the word {letters(word)}"

        def merge(chunk):
            calls.append(1)
            claim(len(calls) < 10_000, f"{text}: merge was called 10,000 times, and the root is not reached: does every row get shorter?")
            claim(isinstance(chunk, (list, tuple)) and len(chunk) == C, f"{text}: merge takes a list of C = {C} matrices, and is given {shown(chunk)}")
            return reduce(np.matmul, chunk)

        rows = call(answer, [np.eye(n)[machine.transitions[token]] for token in word], C, merge)
        if not isinstance(rows, (list, tuple)):
            raise CannotJudge(f"a list of rows is asked for, one for each depth, got {shown(rows)}")
        depths = depth_count(len(word), C)
        claim(len(rows) == depths, f"{text}: you return {len(rows)} rows, and it takes {depths} depth{'s' * (depths > 1)}")
        for depth, row in enumerate(rows):
            places = kept_positions(len(word), C, depth)
            made = numbers(row, (None, n, n), f"depth {depth}", real=True)
            _matrix(row[-1], f"a node is read as a matrix, and the last one at depth {depth}")
            claim(len(made) == len(places), f"{text}: {len(made)} nodes at depth {depth}, and there should be {len(places)}")
            for node, last in zip(made, places):
                piece, states = word[max(0, last + 1 - C ** (depth + 1)) : last + 1], np.arange(n)
                for letter in piece:
                    states = machine.transitions[letter][states]
                short = " (before it comes the empty word)" * (len(piece) % C > 0)
                claim(np.allclose(node, np.eye(n)[states]),
                      f"{text}: at depth {depth} the node over {letters(piece)} should be {np.eye(n, dtype=int)[states].tolist()}, "
                      f"what this word does{short}; yours is {shown(node.round(3))}")  # fmt: skip
    claim(calls, "the merge that you are given is never called")


BUILDS = {
    "merge": Build("08.4", _judge_merge, merge, "errors of up to an eighth are gone after one merge, so no depth can add them up"),
    "tree": Build("08.5", _judge_tree, tree, "each letter reached the root by one route, in as many merges as there are nodes"),
}


EXERCISES = (  # in the order in which they are asked: the sitting's first
    ("08.1", one_number(sum(len(kept_positions(500, 2, depth)) for depth in range(9)),
                        "{} is too few: is every letter under a node, and the last one of an odd row too?",
                        "{} is too many: the letters are not counted, nor what only pads a row")),
    ("08.3", _triple),
    prediction("08.2", ("about half", "most, not all", "all"), "all"),
    ("08.6", _twice), ("08.7", _word), ("08.8", _harmless), ("08.11", _zeros),
    ("08.12", one_number(1 / 4 - 1 / 12, "set g = 3 in the margin that you have proved: it is not {}", within=6e-3)),
    ("08.13", _clusters),
    ("08.9", wrong_step(2, {
        1: "the square of m is less than the cube of n exactly if m is less than n to the power 3/2",
        3: "n to the power 3/2 is n times the root of n",
        4: "m is at most n by step 2, and n is less by step 3",
    }, _many_actions)),
    ("08.14", one_number(512 / (64 * depth_count(512, 64)), "not {}: how many whole depths do 512 letters take?")),
)  # fmt: skip
