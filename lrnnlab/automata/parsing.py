"""Machines that are typed: a regular expression, or a table of arrows.

Letters: Q states, V tokens.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lrnnlab.automata.machines import MooreMachine, minimise
from lrnnlab.validation import checked

OPERATORS = frozenset("()|*+?")
EMPTY = frozenset("εϵɛλ")  # how books write the empty word
MAX_STATES, MAX_TOKENS = 60, 10  # of a machine that is typed
MAX_STATES_READ, MAX_CHARACTERS = 2000, 300  # before it is minimised; of an expression


@checked
def acceptor(pattern: str, symbols: Sequence[str] | None = None, limit: int = 100_000) -> MooreMachine:
    """The smallest machine that shows 1 after the strings of a regular expression and 0 after all others.

    A pattern has letters, digits, ``|``, ``*``, ``+``, ``?`` and parentheses, read as Python's ``re`` reads them; an empty
    alternative is the empty word, as in ``a|``; ε is no letter unless ``symbols``, the alphabet, have it.  Two repetitions in
    a row, such as ``a*?``, are refused: there they say how to search.  ValueError shows what is wrong, or says that more than
    ``limit`` states were met before the machine was minimised.
    """
    if not pattern:
        raise ValueError(f"a regular expression is a text that is not empty, got {pattern!r}")
    strange = sorted({char for char in pattern if char not in OPERATORS and not char.isalnum()})
    if strange:
        raise ValueError(f"{strange[0]!r} in {pattern!r}: letters, digits, | * + ? and parentheses are read")
    if twice := re.search(r"[*+?][*+?]", pattern):
        raise ValueError(f"{twice[0]!r} in {pattern!r}: one repetition at a time, parentheses say of what")
    letters = sorted(set(pattern) - OPERATORS)
    symbols = tuple([x for x in letters if x not in EMPTY] or letters if symbols is None else symbols)
    if not symbols or not all(isinstance(symbol, str) for symbol in symbols):
        raise ValueError(f"{pattern!r} needs symbols that are letters, at least one, got {symbols!r}")
    if empty := sorted(EMPTY & set(letters) - set(symbols)):
        raise ValueError(f"{empty[0]!r} in {pattern!r}: the empty word is written as nothing, as in (a|) or a?; for a letter, "
                         "give symbols that have it")  # fmt: skip
    if not set(letters) <= set(symbols):
        raise ValueError(f"{pattern!r} has the letters {''.join(letters)!r}, the alphabet has {''.join(symbols)!r}")
    if len(set(symbols)) < len(symbols):
        raise ValueError(f"an alphabet has every letter once, got {''.join(symbols)!r}")
    # An import of half a second that nothing else needs.
    from automata.base.exceptions import AutomatonException, RegexException
    from automata.fa.nfa import NFA

    try:
        re.compile(pattern)
        alternatives = re.sub(r"(?<=[(|])(?=\|)|(?<=\|)(?=\))|^(?=\|)|(?<=\|)$", "()", pattern)  # () for an empty one
        nfa = NFA.from_regex(alternatives, input_symbols=set(symbols))
    except (re.error, AutomatonException, RegexException) as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from error

    def closed(states):  # with all that is reached without reading a letter
        found = set(states)
        queue = list(found)
        for state in queue:
            new = nfa.transitions.get(state, {}).get("", set()) - found
            found |= new
            queue += new
        return frozenset(found)

    try:
        rule = MooreMachine.from_rule(
            closed({nfa.initial_state}), symbols,
            lambda states, token: closed(after for state in states
                                         for after in nfa.transitions.get(state, {}).get(symbols[token], ())),
            lambda states: int(not states.isdisjoint(nfa.final_states)), limit=limit,
        )  # fmt: skip
    except ValueError as error:
        raise ValueError(f"{pattern!r} takes more than {limit} states") from error
    return replace(minimise(rule), names=())


@checked
def my_machine(text: str, symbols: str | Sequence[str] | None = None) -> MooreMachine:
    """The minimised machine of a text.

    A text of one word is a regular expression (letters, digits, ``|``, ``*``, ``+``, ``?``, parentheses), and the
    machine says 1 after its strings.  Otherwise each line is an arrow, ``state token state``, from the state that the
    first arrow leaves; a ``*`` after a state, anywhere, makes it answer 1, others 0.  Or lines ``state = answer``
    say what the states answer: any words, numbered in the order in which they come.  Empty lines and what follows a
    ``#`` are left out.  ``symbols`` is the alphabet, where it is not that of the text, in its order.  ValueError says in one
    sentence what is wrong.

    >>> my_machine("even a odd*\\n odd a even\\n even b even\\n odd b odd").answer([0, 0, 0])
    array([1, 0, 1])
    """
    lines = [line for row in text.splitlines() if (line := row.partition("#")[0].split())]
    if not lines:
        raise ValueError("nothing is typed: a regular expression such as (ab)*, or lines such as  even a odd*")
    single = len(lines) == 1 and len(lines[0]) == 1
    if single and len(lines[0][0]) > MAX_CHARACTERS:
        raise ValueError(f"an expression of {len(lines[0][0])} characters is too long: at most {MAX_CHARACTERS} are read")
    found = acceptor(lines[0][0], symbols, MAX_STATES_READ) if single else _table(lines, symbols)
    if len(found.symbols) < 2:
        raise ValueError(f"a machine that reads {found.symbols[0]!r} only hears the length of a string: "
                         "give it a second token")  # fmt: skip
    if len(found.symbols) > MAX_TOKENS or found.num_states > MAX_STATES:
        raise ValueError(f"at most {MAX_STATES} states and {MAX_TOKENS} tokens are taken; this machine has "
                         f"{found.num_states} and {len(found.symbols)} after it was minimised")  # fmt: skip
    if found.num_states == 1:
        raise ValueError("every string has the same answer: there is nothing to compute")
    return found


def _table(lines, symbols):
    arrows, answers, marked = {}, {}, set()
    def name(word):
        if word.endswith("*") and len(word) > 1:
            marked.add(word[:-1])
            return word[:-1]
        return word

    for words in lines:
        said = " ".join(words)
        if len(words) != 3:
            raise ValueError(f"{said!r} is no arrow: a line has three words, such as  even a odd  or  odd = 1")
        if words[1] == "=":
            state = name(words[0])
            if answers.setdefault(state, words[2]) != words[2]:
                raise ValueError(f"state {state!r} has two answers, {answers[state]!r} and {words[2]!r}")
            continue
        state, token, after = name(words[0]), words[1], name(words[2])
        if arrows.setdefault((state, token), after) != after:
            raise ValueError(f"two arrows leave {state!r} by {token!r}: to {arrows[state, token]!r} and to {after!r}")
    states = list(dict.fromkeys(state for state, _ in arrows))
    tokens = list(dict.fromkeys(token for _, token in arrows)) if symbols is None else list(symbols)
    if len(states) > MAX_STATES_READ:
        raise ValueError(f"{len(states)} states are too many: at most {MAX_STATES_READ} are read")
    if not states:
        raise ValueError("there is no arrow: write lines such as  even a odd*")
    for (state, token), after in arrows.items():
        if after not in states:
            raise ValueError(f"no arrow leaves state {after!r}, where {state!r} goes by {token!r}")
        if token not in tokens:
            raise ValueError(f"{token!r}, by which an arrow leaves {state!r}, is not in the alphabet {' '.join(tokens)}")
    missing = next(((state, token) for state in states for token in tokens if (state, token) not in arrows), None)
    if missing:
        raise ValueError(f"an arrow is missing: where does {missing[0]!r} go by {missing[1]!r}?")
    wrong = [state for state in (*answers, *sorted(marked)) if state not in states]
    if wrong:
        raise ValueError(f"{wrong[0]!r} has an answer and no arrows")
    if answers and marked:
        raise ValueError(f"say what states answer by a * or by lines such as  {states[0]} = 1, not by both")
    if answers and (silent := [state for state in states if state not in answers]):
        raise ValueError(f"state {silent[0]!r} has no answer: write  {silent[0]} = ...")
    if not answers and not marked:
        raise ValueError(f"no state answers anything: mark those that answer 1 by a *, such as  {states[0]}*")
    number = {state: q for q, state in enumerate(states)}
    kinds = {answer: c for c, answer in enumerate(dict.fromkeys(answers[state] for state in states))} if answers else {}
    shown = [kinds[answers[state]] if answers else int(state in marked) for state in states]
    moves = [[number[arrows[state, token]] for state in states] for token in tokens]
    return minimise(MooreMachine(np.array(moves), np.array(shown), 0, tuple(tokens), tuple(states)))
