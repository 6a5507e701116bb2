"""Paper 002, Sec. 7.3: how many clusters the outputs of a layer should form, counted exactly for every word length.

Layer l shows the actions of words of exactly 2^(l+1) letters, so its clusters are the elements of the transition
monoid that such words realise.  With S_k the set for length k, S_(k+1) = S_k S_1: the sets repeat sooner or later, and
one table of the monoid gives them all.  "As many clusters as states" (2 for Parity, 5 for Cycle Navigation, Fig. 3) is
what cyclic groups do.  In a group the counts settle at |G| / period, the greatest common divisor
of the lengths of the words that do nothing.

Letters: V tokens, n states; m elements of the monoid; k length of the words; G a group.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lrnnlab.automata import MooreMachine, build, classify, transition_monoid
from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.automata.languages import language

LENGTHS = (1, 2, 4, 8, 16, 32, 64)
COUNTS = {  # by word length 1, 2, 4, ..., 64, over all strings
    "Parity": (2, 2, 2, 2, 2, 2, 2),
    "Cycle Navigation": (3, 5, 5, 5, 5, 5, 5),
    "(aa)*": (1, 1, 1, 1, 1, 1, 1),
    "EvenPair(2)": (2, 4, 4, 4, 4, 4, 4),
    "ModArith(5)": (7, 22, 105, 129, 129, 129, 129),
    "D_2": (2, 4, 8, 8, 8, 8, 8),
    "D_12": (2, 4, 13, 54, 259, 413, 413),
    "Tomita 3": (2, 4, 14, 21, 21, 21, 21),
    "Tomita 4": (2, 4, 9, 10, 10, 10, 10),
    "Tomita 5": (2, 2, 2, 2, 2, 2, 2),
    "Tomita 6": (2, 3, 3, 3, 3, 3, 3),
    "S_3": (2, 4, 6, 6, 6, 6, 6),
}


def cycle_navigation(M: int = 5) -> MooreMachine:
    """Steps of -1, 0 and +1 around a circle of M places; the answer is the place (paper 002, Sec. 5.1 and 7.3).

    >>> cycle_navigation().answer([0, 1, 1, 2, 1, 2]).tolist()
    [4, 4, 4, 0, 0, 1]
    """
    return build(0, "-0+", lambda s, v: (s + v - 1) % M, lambda s: s)


def machine_of(name: str) -> MooreMachine:
    """A language of the book, or "Cycle Navigation".

    >>> machine_of("Cycle Navigation").num_states, machine_of("D_2").num_states
    (5, 4)
    """
    return cycle_navigation() if name == "Cycle Navigation" else language(name).machine


def appended(machine: MooreMachine) -> tuple[np.ndarray, np.ndarray]:
    """The monoid's elements (m, n), the identity first, and right (V, m): the number of "element, then token".

    >>> elements, right = appended(language("Parity").machine)
    >>> elements.tolist(), right.tolist()
    ([[0, 1], [1, 0]], [[0, 1], [1, 0]])
    """
    elements = transition_monoid(machine).elements
    number = {element.tobytes(): place for place, element in enumerate(elements)}
    right = [[number[row[element].tobytes()] for element in elements] for row in machine.transitions]
    return elements, np.array(right)


def realised(right: np.ndarray, longest: int) -> np.ndarray:
    """(longest + 1, m) bool: row k marks the elements that words of exactly k tokens realise; right as in ``appended``.

    ValueError for a negative length.

    >>> realised(appended(language("(aa)*").machine)[1], 3).tolist()
    [[True, False], [False, True], [True, False], [False, True]]
    """
    if longest < 0:
        raise ValueError(f"the length of a word cannot be negative, got {longest}")
    found = np.zeros((longest + 1, right.shape[1]), dtype=bool)
    found[0, 0] = True
    for k in range(longest):
        found[k + 1, right[:, found[k]]] = True
    return found


def cluster_elements(machine: MooreMachine, length: int, padded: bool = False) -> np.ndarray:
    """The actions of all words of exactly ``length`` tokens, (clusters, n): where each state is led.

    padded : of 1 to ``length`` tokens, which is what a layer shows at all positions of a long string, the first ones
    (filled up with identities) included.  The machine is taken as it is: minimise it first for its answers alone.
    ValueError for a length below 1.

    >>> cluster_elements(language("Tomita 5").machine, 2).tolist()
    [[0, 1, 2, 3], [3, 2, 1, 0]]
    """
    if length < 1:
        raise ValueError(f"a layer shows words of at least one token, got length={length}")
    elements, right = appended(machine)
    found = realised(right, length)
    return elements[found[1:].any(axis=0) if padded else found[length]]


def cluster_count(machine: MooreMachine, length: int, padded: bool = False) -> int:
    """How many clusters a layer that sees words of ``length`` tokens should show; arguments of ``cluster_elements``.

    >>> [cluster_count(cycle_navigation(), 2**layer) for layer in range(4)]
    [3, 5, 5, 5]
    >>> [cluster_count(language("Tomita 5").machine, 8, padded) for padded in (False, True)]
    [2, 4]
    """
    return len(cluster_elements(machine, length, padded))


def cycle_of_counts(machine: MooreMachine) -> tuple[int, tuple[int, ...]]:
    """From which word length on the sets repeat, and the counts of one period: all lengths are covered.

    >>> cycle_of_counts(language("(aa)*").machine), cycle_of_counts(language("Tomita 4").machine)
    ((0, (1, 1)), (5, (10,)))
    """
    right = appended(machine)[1]
    now = realised(right, 0)[0]
    seen, counts = {}, []
    while now.tobytes() not in seen:
        seen[now.tobytes()] = len(counts)
        counts.append(int(now.sum()))
        following = np.zeros_like(now)
        following[right[:, now]] = True
        now = following
    start = seen[now.tobytes()]
    return start, tuple(counts[start:])


def dyck_counts(n: int) -> tuple[int, int, int]:
    """D_n's monoid in closed form: its size, and what long words of even and of odd length realise.

    A word that stays within some r + 1 neighbouring depths, r <= n, is told by r, where it starts and where it ends:
    (r + 1)^2 actions; all other words are one action, the sink.  r = 0 is the empty word.

    >>> dyck_counts(2), dyck_counts(12)
    ((15, 8, 7), (820, 413, 407))
    """
    size = sum((r + 1) ** 2 for r in range(n + 1))
    even = sum(((r + 1) ** 2 + 1) // 2 for r in range(n + 1))  # start and end of the same parity
    return size + 1, even, size - even + 1  # even: the sink comes in, the empty word goes out


def clusters(counts: Mapping = COUNTS, padded: bool = False, brute: int = 4) -> Evidence:
    """The number of clusters by word length: against all words one by one, for every length, and in closed form.

    counts : task to counts at ``LENGTHS`` (change one to see it fail).   padded : shorter words too, another question.
    brute : every word of up to so many tokens is followed.  Source: paper 002, Sec. 7.3 and Fig. 3.

    >>> clusters().holds, [step.holds for step in clusters(padded=True).steps]
    (True, [True, False, False, True, True, True])
    """
    machines = {name: machine_of(name) for name in counts}
    groups = {name: machine_of(name) for name in ("Parity", "(aa)*", "Cycle Navigation", "Tomita 5", "Tomita 6", "S_3",
                                                  "A_4", "S_4", "Q_8")}  # fmt: skip
    found = {name: tuple(cluster_count(machines[name], k, padded) for k in LENGTHS) for name in machines}
    wrong = {name: found[name] for name in counts if found[name] != tuple(counts[name])}
    unlike = [(name, k) for name, machine in machines.items() for k in range(1, brute + 1)
              if cluster_count(machine, k, padded) != len(_followed(machine, k))]  # fmt: skip
    two, five = (tuple(cluster_count(machine_of(name), 2 ** (layer + 1)) for layer in range(9))
                 for name in ("Parity", "Cycle Navigation"))  # fmt: skip
    cycles = {name: cycle_of_counts(machine) for name, machine in machines.items()}
    late = {name: max(cycle) for name, (_, cycle) in cycles.items()}
    as_states = [name for name, machine in machines.items() if {machine.num_states} == set(cycles[name][1])]
    group = {name: (classify(machine).monoid_size, cycle_of_counts(machine)[1]) for name, machine in groups.items()}
    depths = (2, 3, 4, 12)
    dyck = {n: (len(appended(language(f"D_{n}").machine)[0]), *_even_odd(language(f"D_{n}").machine)) for n in depths}
    steps = (
        Step("Fig. 3: 2 clusters for Parity and 5 for Cycle Navigation, in all 9 layers for T = 500",
             set(two) == {2} and set(five) == {5}, f"{two}; {five}"),
        Step("the counts are those of all words, followed one by one", not unlike,
             f"lengths 1..{brute}, {len(machines)} tasks, differ: {unlike}"),
        Step(f"the table, for words of {', '.join(map(str, LENGTHS))} letters", not wrong, f"differs: {wrong}"),
        Step("from some length on the counts repeat: all lengths are covered, and few tasks show their states",
             0 < len(as_states) < len(machines), f"lasting counts {late}; number of states: {as_states}"),
        Step("in a group the lasting count is |G| / period", all(set(cycle) == {order // len(cycle)}
             for order, cycle in group.values()),
             "; ".join(f"{name}: {order}/{len(cycle)}" for name, (order, cycle) in group.items())),
        Step("D_n: 1 + (1 + 4 + ... + (n+1)^2) actions, of which long words of one length show about half",
             all(dyck[n] == dyck_counts(n) for n in depths), f"{dyck}"),
    )  # fmt: skip
    claim = "Layer l shows the actions of words of exactly 2^(l+1) letters; their number is seldom that of the states."
    return Evidence("Number of clusters", claim, "exhaustive", steps, {"counts": found, "lasting": cycles})


def _followed(machine, length):
    """The distinct actions of all V^length words, each followed letter by letter, (clusters, n)."""
    actions = np.arange(machine.num_states)[None]
    for _ in range(length):
        actions = machine.transitions[:, actions].reshape(-1, machine.num_states)
    return np.unique(actions, axis=0)


def _even_odd(machine):
    """The lasting counts for even and for odd lengths."""
    start, cycle = cycle_of_counts(machine)
    return tuple(cycle[(parity - start) % len(cycle)] for parity in (0, 1))
