"""Predict without training which transition families can represent an automaton, in how many layers, or name two words
that rule them out.

A verdict is about *existence*, not about learning.  Unless its theorem says "with finitely many states", it is about
models that are robust (:mod:`lrnnlab.expressivity.robustness`): bounded states, and a margin between different answers,
at every length.  In the first layer A_t and b_t are functions of the token; in an upper one, of what the lower layers
answer at that position; readouts, norms and feed-forward parts act position by position and are Lipschitz.  (So a
convolution over time or a token shift before the recurrence is a layer of its own.)

Letters: Q states, V tokens, n size of a block, k reflections a token; g a word.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, overload

import numpy as np
from sympy import primefactors

from lrnnlab.automata import MooreMachine, minimise, transition_monoid
from lrnnlab.automata.algebra import Quotient, cycle_lengths, groups_in, quotients
from lrnnlab.automata.machines import apart
from lrnnlab.expressivity.robustness import (
    Counterexample,
    refute_constant,
    refute_contraction,
    refute_diagonal,
    refute_fading,
    refute_one_key,
    refute_order,
)
from lrnnlab.expressivity.theorems.cascades import solvable_cascade
from lrnnlab.expressivity.theorems.counting import states_told_by_counts
from lrnnlab.expressivity.theorems.one_layer import possible_in_one_diagonal_layer
from lrnnlab.expressivity.theorems.two_layers import lower_machine, refute_two_layers, two_layers_last
from lrnnlab.validation import checked, shown, whole_number

ORDERS = {"non-negative": 1, "signed": 2, "complex": None}  # of a diagonal's entries that keep: 1, a sign, any root of 1
MAX_MONOID = 20_000  # elements; of a larger monoid only some groups are looked at
MAX_SHORT_WORDS = 500  # actions of short words that are looked at where the monoid is larger
FAMILIES = {
    "non-negative": "diagonal A_t with entries in [0, 1] that depend on the token",
    "signed": "diagonal A_t with entries in [-1, 1] that depend on the token",
    "complex": "diagonal A_t with complex entries, |a| at most 1, that depend on the token",
    "constant": "one A for all tokens, diagonal or a rotation (S4, S5, DLR, LRU, RotRNN)",
    "fading": "what is old fades at a rate that no input changes, or leaves a window (RWKV, Liquid-S4, SGConv)",
    "sums": "A_t is the identity, so the state is a sum over the tokens; a norm behind it (ULT)",
    "blocks": "blocks n x n with columns that are non-negative and sum to 1 (one-hot at their corners); size: n",
    "blocks, clipped": "blocks n x n with columns of p-norm at most 1, of any sign; size: n",
    "reflection, beta <= 1": "A_t = I - beta k k^T with a unit key and beta in [0, 1], as in DeltaNet",
    "diagonal minus rank one": "A_t = diag(w) - (r k) k^T with a unit key, w in [.545, 1] and r in [0, 1], as in RWKV-7",
    "reflection": "A_t = I - beta k k^T with a unit key and beta in [0, 2], so that an eigenvalue may be -1",
    "reflections": "A_t a product of k such reflections (DeltaProduct); size: k",
    "one-hot columns, phases": "A_t = P D, P with one-hot columns, D diagonal and complex (PD-SSM)",
    "dictionary": "A_t one of V dense matrices, or a mixture of them (SD-SSM)",
    "non-linear": "the state is squashed and fed back (Elman, LSTM, ReLU RNN, Recurrent Delta)",
    "tree": "one map makes the value of a chunk from those of its parts, level by level (RegularGPT)",
    "attention": "softmax attention with bounded logits, or a mean with bounded weights (NLT), a fixed number of layers",
}


@dataclass(frozen=True)
class Prediction:
    """What is known of one family: which number of layers can represent the machine, and why.

    ``verdict``: "one layer", "2 layers", ..., "some number of layers", "no number of layers", "not decided".
    ``layers``: a number that is enough, None if none is known.  ``least``: fewer are not enough; None if no number is.
    ``size``: what the family calls so, enough in one layer.  ``theorem``: what proves it.
    ``counterexample``: words that refute one layer: at all large n, or, where they contain a power that grows with n, at
    infinitely many; of ``reflections`` they are an example.  ``deeper``: words that refute two layers, if known.
    """

    family: str
    verdict: str
    layers: int | None
    least: int | None
    size: int | None
    theorem: str
    counterexample: Counterexample | None = None
    deeper: Counterexample | None = None


@overload
def predict(machine: MooreMachine, family: str, *, size: int | None = None) -> Prediction: ...
@overload
def predict(machine: MooreMachine, family: None = None) -> list[Prediction]: ...
@checked
def predict(machine: MooreMachine, family: str | None = None, *, size: Any = None) -> Prediction | list[Prediction]:
    """Predict whether a family of transitions can represent a machine, or each family; no training.

    Parameters
    ----------
    machine : MooreMachine
        It is minimised first; -1 counts as an answer like any other.
    family : str, optional
        One of ``FAMILIES``; without it, all are asked.
    size : int, optional
        n for blocks (if left out, the smallest that is known), k for "reflections" (2).

    Returns
    -------
    Prediction or list of Prediction
        The verdict, its theorem, and two words where the answer is no; without ``family``, one for each of ``FAMILIES``.

    Raises
    ------
    ValueError
        For an unknown family, a size that is none, or a machine that gives one answer to all words.

    Examples
    --------
    >>> from lrnnlab.automata.languages import language
    >>> found = predict(language("S_3").machine, "complex")
    >>> found.verdict, found.counterexample.words(1)
    ('2 layers', ((0, 1, 0, 1, 0, 1), (1, 0, 0, 1, 0, 1)))
    >>> {found.family: found.verdict for found in predict(language("Parity").machine)}["non-negative"]
    'no number of layers'
    """
    if family is not None and family not in FAMILIES:
        raise ValueError(f"the families are {', '.join(map(repr, FAMILIES))}, got {shown(family)}")
    if size is not None:
        if family not in ("blocks", "blocks, clipped", "reflections"):
            raise ValueError(f"only blocks and reflections have a size, got size={shown(size)} for {family or 'all families'}")
        whole_number(size, 1, "size")
    if family is None:
        return [_prediction(machine, machine.names, one, None) for one in _RULES]
    return _prediction(machine, machine.names, family, size)


# Kept, since a table asks twenty families about one machine, and thirty models of one family.
@lru_cache(maxsize=1024)
def _prediction(machine: MooreMachine, names: tuple, family: str, size: int | None) -> Prediction:
    return _RULES[family](family, _facts(machine, names), size)


@lru_cache(maxsize=32)
def _facts(machine: MooreMachine, names: tuple) -> _Facts:
    return _Facts(machine)


# --- what is asked of the machine --------------------------------------------------------------------------------------


class _Facts:
    """What the rules ask about a machine, each found once, when it is asked for."""

    def __init__(self, machine: MooreMachine):
        self.small = minimise(machine)
        if self.small.num_states == 1:
            raise ValueError("the machine gives one answer to all words: there is nothing to compute")

    @cached_property
    def monoid(self):
        """The monoid, and whether this is all of it: of a large one the elements of short words only."""
        try:
            return transition_monoid(self.small, limit=MAX_MONOID), True
        except ValueError:
            return transition_monoid(self.small, limit=MAX_SHORT_WORDS, whole=False), False

    @cached_property
    def groups(self):
        """None where there are too many images of words to look at."""
        try:
            return groups_in(self.small)
        except ValueError:
            return None

    @cached_property
    def known(self):
        """Whether all groups are, and words that turn states by each of their primes."""
        return self.groups is not None and self.groups.primes <= set(self.primes)

    @cached_property
    def cycles(self):
        """length -> (g, q): a word g, short ones first, that turns ``length`` states in a cycle, and one of them."""
        monoid = self.monoid[0]
        length = cycle_lengths(monoid.elements)
        return {int(r): (monoid.words[rows[0]], int(states[0])) for r in np.unique(length) if r > 1
                for rows, states in [np.nonzero(length == r)]}  # fmt: skip

    @cached_property
    def primes(self):
        return sorted({p for r in self.cycles for p in primefactors(r)})

    def turned(self, r, times):
        """The words g^(r n) and g^(r n + times), g a word with a cycle of r states."""
        g, q = self.cycles[r]
        front = self.small.ways()[q]
        rest = apart(self.small, self.small.after(q, g * times), q)
        return Counterexample(front + g * times, front, ((g * r, True), (rest, False)) if rest else ((g * r, True),))

    @cached_property
    def one(self):
        """By order of turns, 1, 2 and None for any: words that refute one diagonal layer, None if there is a layer."""
        return {order: refute_diagonal(self.small, order) for order in (1, 2, None)}

    @cached_property
    def finite(self):
        return possible_in_one_diagonal_layer(self.small) if self.monoid[1] else None

    @cached_property
    def contracted(self):
        return refute_contraction(self.small)

    @cached_property
    def quotients(self):
        return known_quotients(self.small)


def known_quotients(small: MooreMachine) -> list[Quotient]:
    """The quotients of a minimised machine; of too many only the machine itself and those that one pair makes."""
    try:
        return quotients(small, limit=300)
    except ValueError:
        return quotients(small, limit=0)


def separate(small: MooreMachine, chosen: Iterable[Quotient]) -> bool:
    """Whether these quotients together tell every two states apart."""
    rows = [found.blocks for found in chosen]
    return bool(rows) and len(np.unique(np.array(rows), axis=1).T) == small.num_states


def writes_needed(found: Quotient) -> int | None:
    """How many writes I - beta k k^T a token compute a quotient in one head; None if no way is known."""
    return max(map(len, way[1])) if (way := writes_of(found)) else None


def writes_of(found: Quotient) -> tuple[int | None, list] | None:
    """The state that is the zero vector, if one is, and the writes of each token, as few as are known; None if none are."""
    known = []
    for sink in (None, *found.machine.sinks):
        rows = [writes_of_token(move, sink) for move in found.machine.transitions]
        known += [(sink, rows)] if None not in rows else []
    return min(known, key=lambda way: max(map(len, way[1])), default=None)


def writes_of_token(move: np.ndarray, sink: int | None) -> list[tuple[dict[int, int], int, int]] | None:
    """The writes (key, strength, target) that move unit vectors as a token moves states; None if no way is known."""
    kept, made = [q for q in range(len(move)) if q != sink], []
    ends = [int(move[q]) for q in kept if move[q] != sink]
    if len(set(ends)) < len(ends):  # a reset of all: one after the other, keys at right angles to each other
        if sink is not None or len(set(ends)) > 1:
            return None
        keys = [{**dict.fromkeys(kept[:i], 1), kept[i]: -i} for i in range(1, len(kept))]
        return [(key, 1, key.get(ends[0], 0)) for key in keys]
    firsts = [q for q in kept if q not in ends]  # of chains, which end in the sink; the others are on cycles
    for first in [*firsts, *kept]:
        path = [first]
        while (after := int(move[path[-1]])) != sink and after != first:
            path.append(after)
        if set(path) <= set(kept):
            kept = [q for q in kept if q not in path]
            made += [({path[-1]: 1}, 1, 0)] if after == sink else []
            made += [({first: 1, q: -1}, 2, 0) for q in path[1:]]
    return made


def _turns(facts):
    """A k for which the group of a machine has an orthogonal form of k reflections a token; found in floating point.

    The machine may have a sink beside its group, where tokens lead from all states at once.
    """
    small, maps = facts.small, facts.monoid[0].elements
    sink = next(iter(small.sinks), -1)
    kept = np.flatnonzero(np.arange(small.num_states) != sink)
    tokens, maps = (found[(found != sink).any(1)] for found in (small.transitions[:, kept], maps[:, kept]))
    tokens, maps, Q = np.searchsorted(kept, tokens), np.searchsorted(kept, maps), len(kept)
    if not facts.monoid[1] or len(maps) * Q * Q > 2_000_000 or not (np.sort(tokens) == np.arange(Q)).all():
        return None
    S = np.random.default_rng(0).normal(size=(Q, Q))
    S = S + S.T
    commuting = np.mean([S[np.ix_(g, g)] for g in maps], axis=0)
    values, vectors = np.linalg.eigh(commuting)
    parts = np.split(vectors, np.flatnonzero(np.diff(values) > 1e-8) + 1, axis=1)
    needed = [max(np.linalg.matrix_rank(part[move].T @ part - np.eye(part.shape[1]), tol=1e-6)
                  for move in tokens) for part in parts]  # fmt: skip
    for k in sorted(set(needed)):
        seen = np.round(np.concatenate([part for part, rank in zip(parts, needed) if rank <= k], axis=1), 6)
        if len(np.unique(seen, axis=0)) == Q:
            return max(int(k), 1)
    return None


# --- a rule for each family --------------------------------------------------------------------------------------------

CASCADE = "Krohn and Rhodes 1965, doi:10.1090/S0002-9947-1965-0188316-1"
TWO = ("Two do: the lower one shows the last tokens and, where its gates turn, how often each token came, modulo some "
       "number; no pair of states forbids an upper one that reads that (expressivity.theorems.two_layers).")  # fmt: skip
NOT_TWO = "Nor do two: other two words (expressivity.theorems.two_layers)."
LARGE = "Not all of the machine's groups are known: its words have too many images, or no short word turns states so."


def _answer(family, theorem, layers=None, least: int | None = 1, size=None, words=None, some=False, deeper=None):
    if least is None:
        verdict = "no number of layers"
    elif layers is not None:
        verdict = "one layer" if layers == 1 else f"{layers} layers"
    else:
        verdict = "some number of layers" if some else "not decided"
    return Prediction(family, verdict, layers, least, size, theorem, words, deeper)


def _diagonal(family, facts, size):
    order = ORDERS[family]
    words, groups = facts.one[order], facts.groups
    if refusal := _no_diagonal(family, facts, order):
        return refusal
    if words is None:
        known = facts.finite and facts.finite.possible and (order is None or facts.finite.order <= order)
        how = ("how many states that takes is not looked at" if facts.finite is None
               else "finitely many states are enough (notebook 01d)" if known
               else "old tokens must fade, so that its states are not finitely many")  # fmt: skip
        return _answer(family, f"No pair of states forbids it, hence one layer exists (expressivity.robustness); {how}.", 1)
    no = "One layer does not last: the two words (expressivity.robustness; chapter 01, Theorem D)."
    if not facts.known:
        return _answer(family, f"{no} {LARGE}", least=2, words=words)
    length = groups.derived_length
    turns = max((r.bit_length() - 1 for r in facts.cycles), default=0) if order == 2 else 0
    least = max(2, length, turns)
    if length > 2:
        no = f"{no} With finitely many states, fewer than {length} do not (chapter 01, Theorem D')."
    if groups.whole and (layers := _layers_of_group(facts, order)):
        least = max(least, layers)
        return _answer(family, f"{no} The machine is a group of derived length {layers}, which takes so many layers with "
                               "finitely many states (chapter 01, Theorem D'; arXiv:2603.01959).",
                       layers, least, words=words)  # fmt: skip
    if least == 2 and two_layers_last(facts.small, order):
        return _answer(family, f"{no} {TWO}", 2, 2, words=words)
    if least == 2 and (below := lower_machine(facts.small, facts.quotients, order)):
        return _answer(family, f"{no} Two do: the lower one holds a machine of {below.num_states} states, each of which leaves "
                               "some open, and one above holds the rest (expressivity.theorems.two_layers.lower_machine).",
                       2, 2, words=words)  # fmt: skip
    deeper = refute_two_layers(facts.small, order) if order else None
    if deeper:
        no, least = f"{no} {NOT_TWO}", max(3, least)
    made = {1: "It has no group", 2: "Its groups have orders that are powers of 2", None: "Its groups are solvable"}[order]
    return _answer(family, f"{no} {made}, so it is a cascade of resets{' and turns' * (order != 1)} ({CASCADE}); how many "
                           "layers that takes is open.", None, least, words=words, some=True, deeper=deeper)  # fmt: skip


def _no_diagonal(family, facts, order):
    """The verdict that no number of layers is enough, or None."""
    if order == 1 and facts.cycles:
        r = min(facts.cycles)
        return _answer(family, f"A word turns {r} states in a cycle. Read again and again it brings the states of every "
                               "layer with gates in [0, 1] to rest, so no margin between its repetitions is kept "
                               "(arXiv:2405.17394 for Parity).", least=None, words=facts.turned(r, 1))  # fmt: skip
    odd = [r for r in facts.cycles if r & (r - 1)]
    if order == 2 and odd:
        return _answer(family, f"A word g turns {min(odd)} states in a cycle. Read again and again it brings a layer with "
                               "gates in [-1, 1] to a cycle at most twice as long as that of the layer below, so its "
                               "length is a power of 2. The two words refute one layer; with 2^L times g in front, L.",
                       least=None, words=facts.turned(min(odd), 2))  # fmt: skip
    if order is None and facts.groups and not facts.groups.solvable:
        return _answer(family, "A group in the machine is not solvable: no number of layers with finitely many states "
                               "holds it (chapter 01, Theorem D'; arXiv:2603.01959). The two words refute one layer.",
                       least=None, words=facts.one[None])  # fmt: skip
    return None


def _layers_of_group(facts, order):
    """The derived length of a group machine, if its turns are of an order that the family has; else None."""
    if order is None:
        return facts.groups.derived_length
    if len(facts.monoid[0]) > 500:
        return None
    tokens = [tuple(map(int, move)) for move in facts.small.transitions]
    cascade = solvable_cascade("", facts.small.symbols, tokens)
    return cascade.depth if all(order % channel.order == 0 for layer in cascade.layers for channel in layer) else None


def _constant(family, facts, size):
    words, late = refute_constant(facts.small), refute_constant(facts.small, late=True)
    if words is None:
        return _answer(family, "The state follows from the length, modulo some number, and from the last tokens: a turn "
                               "for the one, fading for the others.", 1)  # fmt: skip
    if late is None:
        return _answer(family, "After some beginning the state follows from the length and the last tokens. One layer "
                               "cannot keep the beginning (chapter 01, Theorem C); two can, the lower one a clock "
                               "(notebook 01c).", 2, 2, words=words)  # fmt: skip
    return _answer(family, "An answer hangs on a token as far back and as late as one likes. With finitely many states the "
                           "state of such a layer follows from the first tokens, the length and the last tokens "
                           "(chapter 01, Theorem C), and so does that of one above it. The two words refute one layer; "
                           "behind any number of tokens that lead to the same state, every number of layers.",
                   None, None, words=late)  # fmt: skip


def _fading(family, facts, size):
    words = refute_fading(facts.small)
    if words is None:
        return _answer(family, "The answer follows from the last tokens, and gates below 1 keep as many as it takes.", 1)
    return _answer(family, "A word leads two states of the machine back to themselves. Two runs of such layers that read it "
                           "again and again come together, whatever they read before (chapter 10, Theorem 5).",
                   None, None, words=words)  # fmt: skip


def _sums(family, facts, size):
    if words := refute_order(facts.small):
        return _answer(family, "One layer does not do it: a sum does not know in which order the tokens came. No theorem here "
                               "decides more layers.", least=2, words=words)  # fmt: skip
    if facts.cycles:
        r = min(facts.cycles)
        return _answer(family, f"A word turns {r} states in a cycle. It adds the same at every reading, and what is read from "
                               "a sum that grows so comes to rest. So one layer does not last; no theorem here decides "
                               "more.", least=2, words=facts.turned(r, 1))  # fmt: skip
    if _last_token(facts):
        return _answer(family, "The answer follows from the last token.", 1)
    return _answer(family, "No theorem here decides it: the answer follows from the last token and from how often each came.")


def _last_token(facts):
    """Does the last token tell the state?"""
    return all(len(np.unique(move)) == 1 for move in facts.small.transitions)


def _blocks(family, facts, size):
    usable = sorted({found.machine.num_states for found in facts.quotients} - {1})
    enough = next(n for n in usable
                  if separate(facts.small, [q for q in facts.quotients if q.machine.num_states <= n]))  # fmt: skip
    if size is None or size >= enough:
        return _answer(family, f"One-hot blocks, one for each of the quotients of at most {enough} states that together "
                               "tell all states apart (chapter 02, section 1).", 1, size=enough)  # fmt: skip
    if family == "blocks, clipped":
        return _answer(family, "No theorem here decides it: of one-hot columns larger blocks are needed, and such columns "
                               "may be others.", size=enough)  # fmt: skip
    p, solvable = max(facts.groups.primes if facts.groups else facts.primes, default=1), facts.groups and facts.groups.solvable
    if p > size or (solvable is False and size < 5):
        what = f"of order {p}" if p > size else "that is not solvable"
        return _answer(family, f"The machine holds a group {what}. The groups of column-stochastic n x n matrices are groups "
                               f"of permutations of at most n points, and with finitely many states a cascade holds no "
                               f"simple group that no layer holds ({CASCADE}).", None, None, size=enough)  # fmt: skip
    if not facts.known:
        return _answer(family, LARGE, size=enough)
    least = 2 if solvable and facts.groups.derived_length > {1: 0, 2: 1, 3: 2}.get(size, 3 if size == 4 else 99) else 1
    if solvable and size > 1:
        one = "with finitely many states one layer does not" if least == 2 else "one layer is not excluded"
        return _answer(family, f"Cyclic groups of order at most n and resets fit, so a cascade of them does ({CASCADE}); "
                               f"{one}, how many it takes is open.", None, least, enough, some=True)  # fmt: skip
    return _answer(family, "No theorem here decides it.", None, least, enough)


def _one_key(family, facts, size):
    if facts.cycles:
        r = min(facts.cycles)
        return _answer(family, f"A word turns {r} states in a cycle. What I - beta k k^T does not shrink it does not move, "
                               "so words read again and again bring every layer to rest (chapter 09, section 3, for one "
                               "letter, notebook 09a for two; arXiv:2411.12537 for Parity).",
                       least=None, words=facts.turned(r, 1))  # fmt: skip
    if facts.one[1] is None:
        return _answer(family, "Heads with keys of one number are gates in [0, 1], which are enough.", 1)
    words = refute_one_key(facts.small)
    no = "One layer does not last: the two words (expressivity.robustness)." if words else "One layer is not decided."
    if not facts.known:
        return _answer(family, f"{no} {LARGE}", least=2 if words else 1, words=words)
    if two_layers_last(facts.small, 1):
        return _answer(family, f"{no} {TWO}", 2, 2 if words else 1, words=words)
    if deeper := refute_two_layers(facts.small, 1):
        no = f"{no} {NOT_TWO}"
    least = 3 if deeper else 2 if words else 1
    return _answer(family, f"{no} The machine has no group, so it is a cascade of resets ({CASCADE}), and heads with keys "
                           "of one number reset.", None, least, words=words, some=True, deeper=deeper)  # fmt: skip


def _rank_one(family, facts, size):
    turned = [r for r, (g, _) in facts.cycles.items() if len(g) == 1]
    if turned:
        return _answer(family, f"One token turns {turned[0]} states in a cycle. The eigenvalues of its matrix are real, above -1 "
                               "and at most 1, so that token read again and again brings every layer to rest "
                               "(expressivity.robustness; chapter 10, Theorem 9).",
                       least=None, words=facts.turned(turned[0], 1))  # fmt: skip
    gates = _diagonal("non-negative", facts, None)
    if gates.least is None:
        return _answer(family, "No theorem here decides it: a word of several tokens turns states in a cycle and no token alone "
                               "does, and a product of such matrices may turn.")  # fmt: skip
    no = "" if gates.layers == 1 else "One layer is not decided. "
    return _answer(family, f"{no}Heads with keys of one number are gates in [-.455, 1]. Of gates in [0, 1]: {gates.theorem}",
                   gates.layers, some=gates.verdict.startswith("some"))  # fmt: skip


def _reflections(family, facts, size):
    k = 1 if family == "reflection" else size or 2
    order = 2 if k == 1 else None
    heads = [found for found in facts.quotients if (needed := writes_needed(found)) is not None and needed <= k]
    if facts.one[order] is None:
        gates = "Heads with keys of one number are gates in [-1, 1]" if k == 1 else "Two reflections are a turn"
        return _answer(family, f"{gates}, so diagonal gates that last are enough.", 1, size=k)
    if separate(facts.small, heads):
        return _answer(family, f"One head for each quotient whose permutations, resets and projections take at most {k} "
                               "writes a token (expressivity.prediction.writes_needed).", 1, size=k)  # fmt: skip
    turns = _turns(facts)
    if turns is not None and turns <= k:
        flag = " A head beside it holds whether the sink is reached." if facts.small.sinks else ""
        return _answer(family, f"The group has an orthogonal form in which every token moves at most {turns} directions "
                               f"(found in floating point), so {turns} reflections make it.{flag}", 1, size=k)  # fmt: skip
    words, no = facts.contracted, "One layer is not decided."
    if words:
        no = ("One layer does not last, with any number of reflections: the two words reach a pair of states that no "
              "further word of their tokens merges (expressivity.robustness).")  # fmt: skip
    elif k == 1:
        turned = [r for r, (g, _) in facts.cycles.items() if r > 2 and len(g) == 1]
        if turned:
            words = facts.turned(turned[0], 2)
            no = (f"One layer does not last: one token turns {turned[0]} states in a cycle, and one reflection comes back "
                  "after two (notebook 09h, section 2).")  # fmt: skip
    least = 2 if words else 1
    if not facts.known:
        return _answer(family, f"{no} {LARGE}", None, least, words=words)
    if k == 1 and facts.groups.whole and facts.monoid[1] and _dihedral(facts):
        return _answer(family, f"{no} The group is dihedral, and for these two layers are enough (arXiv:2502.10297).",
                       2, least, words=words)  # fmt: skip
    below = _diagonal("signed" if k == 1 else "complex", facts, None)
    if below.layers or below.verdict == "some number of layers":
        return _answer(family, f"{no} Diagonal gates are such layers, and {below.layers or 'some number'} of theirs are "
                               "enough.", below.layers, least, words=words, some=True)  # fmt: skip
    if k == 1 and facts.groups.solvable:
        return _answer(family, f"{no} A layer whose tokens are reflections, above one that tells odd lengths from even ones, "
                               "turns by any angle a token, and mirrors at odd lengths. Gates in [0, 1] reset, and where groups "
                               f"are solvable, a machine is a cascade of turns and resets ({CASCADE}).",
                       None, least, words=words, some=True)  # fmt: skip
    if k >= facts.small.num_states:
        return _answer(family, f"{no} With as many reflections as states a layer permutes and resets as it likes, and a "
                               f"cascade of such layers is every machine ({CASCADE}; arXiv:2411.12537).",
                       None, least, words=words, some=True)  # fmt: skip
    return _answer(family, f"{no} No theorem here decides more layers.", None, least, words=words)


def _dihedral(facts):
    """Is the group one of the turns and reflections of a polygon?"""
    maps = facts.monoid[0].elements
    one, m = np.arange(maps.shape[1]), len(maps) // 2
    for turn in maps:
        powers = [one]
        while not np.array_equal(last := turn[powers[-1]], one):
            powers.append(last)
        if len(powers) == m:
            inside = {power.tobytes() for power in powers}
            return all(np.array_equal(g[g], one) for g in maps if g.tobytes() not in inside)
    return False


def _any(family, facts, size):
    Q, V = facts.small.num_states, facts.small.num_symbols
    theorem = {
        "tree": "The value of a chunk names what its word does to the states: as many values as the monoid has elements, and "
                "one map that multiplies them, the same at every level (chapter 08).",
        "one-hot columns, phases": f"One-hot states: width {Q} (arXiv:2509.22284).",
        "dictionary": f"One-hot matrices, one for each token: width {Q} (chapter 02, section 1; arXiv:2412.19350).",
        "non-linear": "A unit for each pair of a state and a token, on if the last pair led to the state and the token is "
                      "read: h = ReLU(W h + U u - 1), exactly, begun as if a pair had led to the first state; squashed units "
                      "attract to it.",
    }[family]  # fmt: skip
    return _answer(family, theorem, 1, size={"non-linear": Q * V, "tree": None}.get(family, Q))


def _attention(family, facts, size):
    if words := refute_constant(facts.small):
        told = states_told_by_counts(facts.small)
        counts = (" Without a margin that lasts: counts of the tokens tell its states, so there is a program that nets may learn "
                  "and keep for long" if told else
                  " Counts of the tokens do not tell its states by the one criterion that we have")  # fmt: skip
        return _answer(family, "An answer hangs on one token as far back as one likes. What exchanging one early token of "
                               "n changes at the end tends to 0 in such layers, so no margin is kept (Hahn 2020, "
                               f"arXiv:1906.06755).{counts} (theorems.counting).", None, None, words=words)  # fmt: skip
    if _last_token(facts):
        return _answer(family, "The answer follows from the last token.", 1)
    return _answer(family, "No theorem here decides it: the answer follows from the length and the last tokens.")


_RULES = {
    "non-negative": _diagonal, "signed": _diagonal, "complex": _diagonal, "constant": _constant,
    "fading": _fading, "sums": _sums, "blocks": _blocks, "blocks, clipped": _blocks,
    "reflection, beta <= 1": _one_key, "diagonal minus rank one": _rank_one, "reflection": _reflections,
    "reflections": _reflections,
    "one-hot columns, phases": _any, "dictionary": _any, "non-linear": _any, "tree": _any, "attention": _attention,
}  # fmt: skip
