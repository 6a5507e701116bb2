"""The certificate of a proof (``verify(...).certificate``), and its check: plain Python on plain JSON, without torch.

::

    {"format": "lrnnlab certificate 1",
     "task": {"letters": ["0", "1"], "start": 0, "arrows": [[0, 1], [1, 0]], "answers": [0, 1]},
     "net": {"digest": "sha256 ...", "start": 0, "arrows": [[0, 1], [1, 0]], "answers": [0, 1]},
     "places": [[0, 0], [1, 1]]}

``arrows[state][letter]`` is the next state, ``answers[state]`` the class shown in it.  Of the task -1 is "no answer is
asked for".  Of the net it is "not claimed"; as an arrow it is "not followed, as no answer is asked for ever after".  A place
is a state of the net beside a state of the task.

The check proves that these two tables agree: the places hold the start, every letter leads from a place to a place, and
where a letter leads the net answers what the task asks.  By induction this holds after every string.  The check does not
look at the net: that its table is the net's is what ``verify``'s bounds of rounding say, of the net with this digest.  It
shares no code with the search that wrote the places, and this file runs alone: ``python certificate.py FILE``.
"""

from __future__ import annotations

import json
from typing import Any


def check_certificate(text: str, specification: Any = None, *, digest: str = "") -> dict[str, Any]:
    """Check a certificate; returns it, read. ``ValueError``, with the reason, unless it is a proof.

    Parameters
    ----------
    text : str
        The certificate, JSON.
    specification : MooreMachine, optional
        The task that you mean.  Without it, what is proved is about the task in the certificate: look at it.
    digest : str, optional
        Of the net that you mean (``lrnnlab.verification.digest(net)``).

    Examples
    --------
    >>> from lrnnlab.automata import language
    >>> parity = language("Parity").machine
    >>> same = {"start": 0, "arrows": [[0, 1], [1, 0]], "answers": [0, 1]}
    >>> claim = {"format": "lrnnlab certificate 1", "task": {"letters": ["0", "1"], **same},
    ...          "net": {"digest": "of nobody", **same}, "places": [[0, 0], [1, 1]]}
    >>> len(check_certificate(json.dumps(claim), parity)["places"])
    2
    >>> claim["places"].pop()
    [1, 1]
    >>> check_certificate(json.dumps(claim), parity)
    Traceback (most recent call last):
        ...
    ValueError: no proof: letter '1' leads from the place [0, 0] to [1, 1], which is not among the places
    """
    try:
        found = json.loads(text, object_pairs_hook=_once)
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"no certificate: {error}") from error
    _need(_keys(found) == "format net places task" and found["format"] == "lrnnlab certificate 1",
          "not of the format 'lrnnlab certificate 1'")  # fmt: skip
    task, net, places = found["task"], found["net"], found["places"]
    _need(_keys(task) == "answers arrows letters start", "the task has other keys than letters, start, arrows, answers")
    _need(_keys(net) == "answers arrows digest start", "the net has other keys than digest, start, arrows, answers")
    letters = task["letters"]
    _need(type(letters) is list and all(type(one) is str for one in letters) and len({*letters}) == len(letters) > 0,
          "the letters are not distinct texts")  # fmt: skip
    for name, machine, least in (("task", task, 0), ("net", net, -1)):
        arrows, answers = machine["arrows"], machine["answers"]
        _need(type(arrows) is list and all(_whole(row, least, len(arrows), len(letters)) for row in arrows)
              and _whole(answers, -1, 2**53, len(arrows)) and _whole([machine["start"]], 0, len(arrows), 1),
              f"the {name} is no table of states")  # fmt: skip
    _need(specification is None or task == described(specification), "it is about another task")
    _need(type(net["digest"]) is str and digest in ("", net["digest"]), f"it is about another net, {net['digest']!r}")
    states = range(len(task["arrows"]))
    asked = {state for state in states if task["answers"][state] >= 0}
    for _ in states:  # from here some string leads to an answer
        asked |= {state for state in states if asked & {*task["arrows"][state]}}
    _need(type(places) is list and all(_whole(place, 0, 2**53, 2) for place in places), "the places are no pairs of states")
    known, compared = {(state, wanted) for state, wanted in places}, 0
    _need(all(s < len(net["arrows"]) and q < len(states) for s, q in known), "a place has a state that there is not")
    _need((net["start"], task["start"]) in known, "the start is not among the places")
    for state, wanted in places:
        for letter, after, due in zip(letters, net["arrows"][state], task["arrows"][wanted]):
            here = f"letter {letter!r} leads from the place {[state, wanted]} to"
            if after < 0:
                _need(due not in asked, f"{here} nowhere, though the task asks for answers beyond")
                continue
            _need((after, due) in known, f"{here} {[after, due]}, which is not among the places")
            right, said = task["answers"][due], net["answers"][after]
            _need(right in (-1, said), f"{here} {[after, due]}, where the net answers {said} and {right} is right")
            compared += right >= 0
    _need(compared > 0, "the task never asks for an answer")
    return found


def described(machine: Any) -> dict[str, Any]:
    """A MooreMachine as the certificate tells it."""
    return {"letters": [*map(str, machine.symbols)], "start": int(machine.initial),
            "arrows": machine.transitions.T.tolist(), "answers": machine.outputs.tolist()}  # fmt: skip


def _need(true: bool, why: str) -> None:
    if not true:
        raise ValueError(f"no proof: {why}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    _need(len({key for key, _ in pairs}) == len(pairs), f"a key twice among {', '.join(key for key, _ in pairs)}")
    return dict(pairs)


def _keys(value: Any) -> str:
    return " ".join(sorted(value)) if type(value) is dict else ""


def _whole(row: Any, least: int, below: int, length: int) -> bool:
    """Whether ``row`` is a list of ``length`` whole numbers; true is none."""
    return type(row) is list and len(row) == length and all(type(x) is int and least <= x < below for x in row)


if __name__ == "__main__":
    import sys

    with open(sys.argv[1]) as file:
        print(f"{len(check_certificate(file.read())['places'])} places, closed, every answer right")
