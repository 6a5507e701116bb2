"""A machine of your own, typed: a regular expression, or a table of arrows.

Letters: Q states, V tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lrnnlab.automata.languages import acceptor
from lrnnlab.automata.machines import MooreMachine, minimise
from lrnnlab.validation import checked

STATES, TOKENS = 60, 10
READ, LONGEST = 2000, 300  # states before a machine is minimised; characters of an expression


@checked
def my_machine(text: str, symbols: str | Sequence[str] | None = None) -> MooreMachine:
    """The minimised machine of a text.

    A text of one word is a regular expression (letters, digits, ``|``, ``*``, ``+``, ``?``, parentheses), and the
    machine says 1 after its strings.  Otherwise each line is an arrow, ``state token state``, from the state that the
    first arrow leaves; a ``*`` behind a state, anywhere, makes it answer 1, others 0.  Or lines ``state = answer``
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
    if single and len(lines[0][0]) > LONGEST:
        raise ValueError(f"an expression of {len(lines[0][0])} characters is too long: at most {LONGEST} are read")
    found = acceptor(lines[0][0], symbols, READ) if single else _table(lines, symbols)
    if len(found.symbols) < 2:
        raise ValueError(f"a machine that reads {found.symbols[0]!r} only hears the length of a string: "
                         "give it a second token")  # fmt: skip
    if len(found.symbols) > TOKENS or found.num_states > STATES:
        raise ValueError(f"at most {STATES} states and {TOKENS} tokens are taken; this machine has {found.num_states} and "
                         f"{len(found.symbols)} after it was minimised")  # fmt: skip
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
    if len(states) > READ:
        raise ValueError(f"{len(states)} states are too many: at most {READ} are read")
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
