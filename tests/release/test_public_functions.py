"""Fuzz: a public callable with one argument of a wrong kind, shape, type or device works, or says what is wrong.

Clear is a TypeError or ValueError that the package itself raises (not torch, NumPy or Python on its behalf) and that
names the argument or shows what came.  ``LRNNLAB_FUZZ=all`` tries every argument of every callable with every value of
``VALUES`` and prints the counts; without it, hypothesis draws.
"""

import dis
import inspect
import os
import re
import signal
import warnings
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from public_calls import ROOMS, Call, calls

import lrnnlab
from lrnnlab import automata, models, scans, tasks, training, verification
from lrnnlab.training import evaluation

PACKAGE = str(Path(lrnnlab.__file__).parent)
EXHAUSTIVE = os.environ.get("LRNNLAB_FUZZ") == "all"
SECONDS = 5  # a call that takes more of the processor hangs
VALUES = {
    "None": lambda: None, "text": lambda: "abc", "no text": lambda: "", "bytes": lambda: b"x", "True": lambda: True,
    "0": lambda: 0, "-1": lambda: -1, "10**18": lambda: 10**18, "2.5": lambda: 2.5, "nan": lambda: np.nan,
    "inf": lambda: np.inf, "-inf": lambda: -np.inf, "1j": lambda: 1j, "[]": list, "list": lambda: [1, 2],
    "lists": lambda: [[0, 1], [1, 1]], "()": tuple, "tuple": lambda: (1,), "{}": dict, "set": lambda: {1},
    "object": object, "class": lambda: int, "function": lambda: len, "path": lambda: Path("nowhere"),
    "array": lambda: np.zeros((2, 3)), "whole array": lambda: np.zeros((2, 3), np.int64),
    "scalar": lambda: torch.tensor(1), "empty": lambda: torch.zeros(0), "(2,3)": lambda: torch.zeros(2, 3),
    "(2,3) double": lambda: torch.zeros(2, 3).double(), "(2,3) whole": lambda: torch.zeros(2, 3).long(),
    "(2,3) bool": lambda: torch.zeros(2, 3).bool(), "(2,3) complex": lambda: torch.zeros(2, 3) + 0j,
    "(2,3) NaN": lambda: torch.full((2, 3), np.nan), "(2,3) below": lambda: torch.full((2, 3), -5),
    "(2,3) beyond": lambda: torch.full((2, 3), 99), "(2,3,4,5)": lambda: torch.zeros(2, 3, 4, 5),
    "(2,)": lambda: torch.zeros(2).long(), "sparse": lambda: torch.eye(3).to_sparse(),
    "elsewhere": lambda: torch.zeros(2, 3, device="meta"), "generator": lambda: torch.Generator(),
}  # fmt: skip
CHANGES = {  # of a tensor that is right
    "in half": lambda x: real(x).half(), "in double": lambda x: real(x).double(), "complex": lambda x: x + 0j,
    "sparse": lambda x: x.to_sparse(), "elsewhere": lambda x: x.to("meta"), "array": lambda x: x.detach().numpy(),
    "list": lambda x: x.tolist(), "shorter": lambda x: x[:-1], "one axis more": lambda x: x.unsqueeze(0),
    "turned": lambda x: x.mT if x.ndim > 1 else x, "below": lambda x: x - 100, "whole": lambda x: real(x).long(),
    "of truths": lambda x: x.bool(),
}  # fmt: skip


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Functions that write are called with a path too: not in the checkout."""
    monkeypatch.chdir(tmp_path)


def real(x):
    return x.real if x.is_complex() else x


@contextmanager
def in_time():
    def late(*_):
        raise TimeoutError(f"longer than {SECONDS} s")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def shows(message, names, value):
    """Whether a message names an argument (it may be the other one of two that do not fit), or shows what came."""
    seen, parts = [repr(value), str(value), repr(value)[:60]], []
    if isinstance(value, (torch.Tensor, np.ndarray)):
        seen = [str(tuple(value.shape)), str(value.dtype), str(getattr(value, "device", "")), *map(str, value.shape)]
        held = isinstance(value, np.ndarray) or (value.layout is torch.strided and value.device.type != "meta")
        parts = value.ravel().tolist() if held and np.prod(value.shape) < 99 else []
    elif isinstance(value, (list, tuple, set, dict, str, bytes)):
        parts = [len(value), *value, *(part for inner in value if isinstance(inner, list) for part in inner)]
    elif isinstance(value, int):
        parts = [value + 1]  # the length of a string that ends at this position
    words = {*names, *(name.removesuffix("_t") for name in names), *(name.removesuffix("s") for name in names)}
    words |= {*seen, *map(str, parts), *map(repr, parts)} - {""}
    words |= {"tokens"} if {"inputs", "input_t"} & {*names} else set()  # what a net of tokens calls its inputs
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", message) for word in words)


def verdict(call, name, value):
    """``worked``, ``clear``, or what else came of a call with one argument replaced."""
    try:
        with in_time(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call.function(**{**call.arguments(), name: value})
        return "worked"
    except (TypeError, ValueError) as error:
        trace = error.__traceback__
        while trace.tb_next:
            trace = trace.tb_next
        code = trace.tb_frame.f_code
        ours = code.co_filename.startswith(PACKAGE) and code.co_code[trace.tb_lasti] == dis.opmap["RAISE_VARARGS"]
        if ours and shows(str(error), call.arguments(), value):
            return "clear"
        return f"{type(error).__name__}{' of ours' * ours}: {str(error)[:150]}"
    except Exception as error:  # noqa: BLE001  whatever it is, it is not clear
        return f"{type(error).__name__}: {str(error)[:150]}"


def replacements(right):
    """What to put in the place of an argument, by name: ``VALUES``, and a tensor's ``CHANGES``."""
    made = {name: make() for name, make in VALUES.items() if not (callable(right) and callable(make()))}
    if isinstance(right, torch.Tensor):
        made |= {f"the right one {name}": change(right) for name, change in CHANGES.items()}
    if isinstance(right, (list, tuple)) and right and torch.is_tensor(right[0]):  # states
        made |= {"one too few": right[:-1], "one too many": [*right, right[0]]}
        made |= {f"the first {name}": [change(right[0]), *right[1:]] for name, change in CHANGES.items()}
    return made


def tries(room):
    for call in calls(room):  # what is right works, and has imported what it needs before the clock runs
        if ... not in call.arguments().values():
            call.function(**call.arguments())
    return [(call, name, what, value) for call in calls(room) for name, right in call.arguments().items()
            for what, value in replacements(right).items()]  # fmt: skip


WITHIN = {"provenance", "version", "put", "check_writable", "alone", "at_rest"}  # what the package calls, and readers do not


def test_the_table_has_every_function():
    """Of the modules that a first hour meets."""
    for module in (scans, automata, evaluation, models, tasks, training, verification):
        there = {inspect.unwrap(call.function) for room in ROOMS for call in calls(room)}
        for name, function in inspect.getmembers(module, inspect.isfunction):
            bare = inspect.unwrap(function)
            if bare.__module__ == module.__name__ and not name.startswith("_") and inspect.signature(bare).parameters:
                assert bare in there or name in WITHIN, f"{module.__name__}.{name}"


def test_what_is_not_clear_is_noticed():
    def unclear(x):
        return x.no_such_thing

    def elsewhere(x):
        raise ValueError(f"x must be better, got {x!r}")  # names all, but the package does not say it

    for function in (unclear, elsewhere, lambda x: automata.MooreMachine(x, [0], 0, "a")):
        call = Call("here", "one", function, lambda: {"y": 1, "x": 0})
        assert verdict(call, "x", 0) not in ("worked", "clear")
    assert verdict(Call("here", "two", tasks.task, lambda: {"name": "sum", "length": 3}), "name", 5) == "clear"


@pytest.mark.parametrize("room", ROOMS)
def test_wrong_arguments_are_refused_by_name(room):
    everything = tries(room)
    if EXHAUSTIVE:
        found = [(call.name, name, what, verdict(call, name, value)) for call, name, what, value in everything]
        unclear = [row for row in found if row[3] not in ("worked", "clear")]
        counts = Counter(row[3] if row[3] in ("worked", "clear") else "unclear" for row in found)
        print(f"\n{room}: {len(found)} calls, {dict(counts)}")
        assert not unclear, "\n".join(map(repr, unclear))
        return

    @settings(max_examples=400, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(everything))
    def drawn(one):
        call, name, what, value = one
        found = verdict(call, name, value)
        assert found in ("worked", "clear"), f"{call.name}({name} = {what}): {found}"

    drawn()
