"""Paper 002, Sec. 7.2: the printed heads compose two words the wrong way round.  Where it shows, and two repairs.

With one-hot rows (Eq. 2) "first u, then v" is the product A_u A_v.  The printed heads put the later word first (r_0 = 0
for the first head), so Lemma 1 computes A_later A_earlier: the action of the mirror image of the word.  The answer is
right for all words iff every word is answered like its mirror image; commutative machines are an example, not the only
one.  Repair 1: exchange the heads.  Repair 2: one-hot columns in Eq. 2; then the printed order is right, and so is the
printed read-out A q_0, which for one-hot rows must be the row q_0^T A.

Letters: T time, V tokens, n states; A_u the matrix of the word u, q_0 the initial state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from lrnnlab.automata import MooreMachine, build, classify, equivalent, one_hot_transitions
from lrnnlab.algebra.chunk_composition import compose
from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.automata.languages import language, read
from lrnnlab.algebra.recursion import action_matrices, recursion, row_transitions, states_read, words

SHOWN = ("S_3", "Tomita 3", "D_2")
COMMUTATIVE = ("Parity", "(aa)*", "Sum(5)", "Tomita 5", "Tomita 6")
MIRRORED = ("EvenPair(2)", "EvenPair(5)", "Tomita 4")  # not commutative, but a word and its mirror image agree


def later_first(earlier: np.ndarray, later: np.ndarray) -> np.ndarray:
    """The layer as printed: head 1 reads the position itself, head 2 the one before, and Lemma 1 multiplies [1, 2].

    >>> once, back = np.array([[0, 1], [0, 1]]), np.array([[1, 0], [1, 0]])    # go to state 1; go to state 0
    >>> later_first(once, back).tolist(), compose(once, back).tolist()
    ([[0, 1], [0, 1]], [[1, 0], [1, 0]])
    """
    return compose(later, earlier)


def printed_machine(machine: MooreMachine) -> MooreMachine:
    """What the printed heads compute, as a machine of its own: its state is the product so far, as a map of states.

    A new token acts before all that was read: s goes to product[transitions[token, s]].

    >>> found = printed_machine(language("S_3").machine)
    >>> found.num_states, found.answer([0, 1]).tolist(), language("S_3").machine.answer([1, 0]).tolist()[-1]
    (6, [1, 4], 4)
    """
    tables = machine.transitions.tolist()
    return build(
        tuple(range(machine.num_states)),
        machine.symbols,
        lambda product, token: tuple(product[s] for s in tables[token]),
        lambda product: int(machine.outputs[product[machine.initial]]),
    )


def agreements(machine: MooreMachine, other: MooreMachine, longest: int, label: int | None = None) -> list[tuple]:
    """(words answered alike, words) for each length t = 1..longest; exact, by counting words for each pair of states.

    label : only the words that ``machine`` gives this class.  ValueError if the symbols differ.

    >>> parity, always = language("Parity").machine, language("Tomita 4").machine     # no 000: 1 for short words
    >>> agreements(parity, always, 3), agreements(parity, always, 3, label=0)
    ([(1, 2), (2, 4), (5, 8)], [(0, 1), (0, 2), (1, 4)])
    """
    if machine.symbols != other.symbols:
        raise ValueError(f"the machines read different symbols: {machine.symbols} and {other.symbols}")
    ways, found = Counter({(machine.initial, other.initial): 1}), []
    tables, shows = (machine.transitions.tolist(), other.transitions.tolist()), (machine.outputs, other.outputs)
    for _ in range(longest):
        following = Counter()
        for (p, q), count in ways.items():
            for mine, theirs in zip(*tables):
                following[mine[p], theirs[q]] += count
        ways = following
        asked = {pair: count for pair, count in ways.items() if label is None or shows[0][pair[0]] == label}
        found.append((sum(count for (p, q), count in asked.items() if shows[0][p] == shows[1][q]), sum(asked.values())))
    return found


def order_accuracies(name: str, longest: int = 64) -> dict:
    """How often the printed order is right on uniform random words, as fractions.

    ``by length``, t = 1..longest; ``prefixes``, their mean; ``members``, of all words of up to that length with the
    answer 1, None where there are more than two answers.

    >>> found = order_accuracies("S_3", 16)
    >>> [str(share) for share in found["by length"][:4]], round(float(found["prefixes"]), 3)
    (['1', '1/2', '3/4', '5/8'], 0.681)
    >>> order_accuracies("D_2")["members"]               # a balanced word read backwards never is balanced
    Fraction(0, 1)
    """
    machine = language(name).machine
    printed = printed_machine(machine)
    shares = [Fraction(right, words) for right, words in agreements(machine, printed, longest)]
    members = None
    if machine.outputs.max() == 1:
        right, asked = map(sum, zip(*agreements(machine, printed, longest, label=1)))
        members = Fraction(right, asked)
    return {"task": name, "by length": shares, "prefixes": sum(shares) / longest, "members": members}


def order_of_composition(
    harmless=(*COMMUTATIVE, *MIRRORED), repaired: Callable = compose, shown=SHOWN, length: int = 8, longest: int = 64
) -> Evidence:
    """The printed order gives the action of the mirrored word; where that is harmless; the order put right.

    harmless : tasks where the printed order never errs (name others to see it fail).   repaired : the layer that puts
    it right (``later_first`` to see it fail).   shown : tasks where it errs.   length : every string of so many tokens.
    Source: against paper 002, Sec. 7.2.

    >>> order_of_composition().holds
    True
    >>> [step.holds for step in order_of_composition(repaired=later_first).steps]
    [True, True, True, True, True, False]
    >>> [step.holds for step in order_of_composition(harmless=("Sum(5)", "D_2")).steps]
    [True, False, False, True, True, True]
    """
    machines = {name: language(name).machine for name in (*shown, *harmless)}
    printed = {name: printed_machine(found) for name, found in machines.items()}
    mirrored, unlike, wrong = {}, {}, {}
    for name in shown:
        machine, strings = machines[name], words(machines[name], length)
        leaves = row_transitions(machine)[strings]
        actions = recursion(leaves, later_first)[-1]
        mirrored[name] = int((actions[:, -1] != action_matrices(machine, strings[:, ::-1])[:, -1]).any((1, 2)).sum())
        answers = machine.outputs[states_read(actions, machine)]
        unlike[name] = int((answers != printed[name].answer(strings)).sum())
        right = recursion(leaves, repaired)[-1]
        wrong[name] = int((states_read(right, machine) != machine.run(strings)).sum())
    errs = {name: equivalent(machines[name], printed[name]) for name in machines}
    commutative = [name for name in machines if classify(machines[name]).commutative]
    mirrors = [name for name in machines if errs[name] is None and name not in commutative]
    first = {name: "".join(machines[name].symbols[token] for token in errs[name] or ()) for name in shown}
    shares = {name: order_accuracies(name, longest) for name in shown}
    members = {name: found["members"] for name, found in shares.items() if found["members"] is not None}
    steps = (
        Step("the printed heads make the action of the word read backwards", not any(mirrored.values()),
             f"every string of {length} tokens, wrong: {mirrored}"),
        Step("harmless for these tasks, on every word of every length",
             all(errs[name] is None for name in harmless), ", ".join(harmless)),
        Step("a commutative machine is always harmless, and not the only one: enough that a word and its mirror image "
             "are answered alike", bool(mirrors) and all(errs[name] is None for name in commutative),
             f"commutative: {', '.join(commutative)}; not: {', '.join(mirrors)}"),
        Step("elsewhere it errs: the shortest word, and how many prefixes of random strings are right",
             not any(unlike.values()) and all(errs[name] is not None for name in shown),
             "; ".join(f"{name}: {first[name]}, {float(found['prefixes']):.3f}" for name, found in shares.items())),
        Step("that flatters it: long random words are rejected either way, of D_2 it recognises only the empty word",
             order_accuracies("D_2", longest)["members"] == 0,
             "; ".join(f"{name}: {float(share):.3f}" for name, share in members.items())),
        Step("with the earlier word first every prefix is right", not any(wrong.values()),
             f"every string of {length} tokens, wrong prefixes: {wrong}"),
    )  # fmt: skip
    claim = "The printed heads answer the mirrored word; the order is harmless iff mirroring never changes an answer."
    return Evidence("Order of composition", claim, "exhaustive", steps, {"first": first, "accuracies": shares})


def read_out(name: str = "D_2", text: str = "aabab", length: int = 8, columns: bool = True) -> Evidence:
    """One-hot rows are read in row q_0; or Eq. 2 is transposed, and then the printed order and A q_0 are both right.

    text : the word whose matrix is shown.   columns=False : step 3 with rows again, to see it fail.
    Source: against paper 002, Eq. 2 and the end of Sec. 7.2.

    >>> read_out().holds, read_out().data
    (True, {'row': [0, 1, 0, 0], 'column': [0, 0, 0, 0]})
    >>> [step.holds for step in read_out(columns=False).steps]
    [True, True, False]
    """
    machine = language(name).machine
    rows, strings = row_transitions(machine), words(machine, length)
    states = machine.run(strings)
    actions = recursion(rows[strings])[-1]
    by_column = int((states_read(actions, machine, column=True) != states).sum())
    by_row = int((states_read(actions, machine) != states).sum())
    last = action_matrices(machine, np.array(read(machine, text)))[-1]
    row, column = last[machine.initial].tolist(), last[:, machine.initial].tolist()
    tables = one_hot_transitions(machine).astype(np.int64) if columns else rows
    turned = recursion(tables[strings], later_first)[-1]
    by_turned = int((states_read(turned, machine, column=True) != states).sum())
    steps = (
        Step("rows, the earlier word first: the state is row q_0 of the product", not by_row,
             f"{by_row} wrong of {states.size} prefixes; {text}: row {row}"),
        Step("column q_0, which is A q_0, says from where q_0 is reached: another question",
             by_column > 0 and row != column, f"{by_column} wrong of {states.size}; {text}: column {column}"),
        Step("one-hot columns in Eq. 2 put right both the printed order and the printed read-out A q_0", not by_turned,
             f"{by_turned} wrong of {states.size} prefixes"),
    )  # fmt: skip
    claim = "Row q_0 of A_first...A_last, or column q_0 of the transposed matrices in the printed order."
    return Evidence("Read-out", claim, "exhaustive", steps, {"row": row, "column": column})
