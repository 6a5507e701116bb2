"""Plain data passes between the processes and survives; what is hostile is refused, and soon."""

import contextlib
import json
import math
import os
import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from lrnnbook.content.exercises.judging import numbers
from lrnnbook.machinery.grading import serialization
from lrnnbook.machinery.grading.serialization import MAX_MESSAGE_BYTES, Channel, Closed, decode, encode
from lrnnbook.machinery.grading.worker import Worker

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.fractions()
    | st.complex_numbers(allow_nan=False),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=20,
)  # fmt: skip


def sent(value):
    return decode(json.loads(json.dumps(encode(value))))


@given(PLAIN)
def test_plain_data_survives(value):
    assert sent(value) == value


def test_numbers_that_a_judge_takes_travel():
    value = [Decimal("0.25"), Decimal("inf"), sp.Integer(2) ** 70, sp.Rational(1, 3), sp.sqrt(4) / 4, sp.sqrt(2), 1 + 2 * sp.I,
             np.longdouble(1.5), np.clongdouble(1 + 2j)]  # fmt: skip
    found = sent(value)
    assert found == [0.25, math.inf, 2**70, Fraction(1, 3), 0.5, math.sqrt(2), 1 + 2j, 1.5, 1 + 2j]
    assert np.allclose(numbers(value[3:7], (4,)), [complex(one) for one in found[3:7]])
    assert math.isnan(sent(float("nan")))


@pytest.mark.parametrize("array", [
    np.arange(6).reshape(2, 3), np.zeros((0, 3)), np.array(2.5), np.array([True]), np.arange(4, dtype=">i2"),
    np.array([1 + 2j], dtype="c8"), np.arange(9.0).reshape(3, 3).T, np.array([1.5], np.longdouble),
    np.array([1 + 2j], np.clongdouble),
], ids=str)  # fmt: skip
def test_arrays_survive(array):
    there = sent(array)
    assert (there == array).all()
    assert there.shape == array.shape


@pytest.mark.parametrize("value", [object(), print, (x for x in ()), np.array(["a"]), np.array(["2020"], "M8[Y]"), sp.Symbol("x")])
def test_what_is_not_plain_is_refused(value):
    with pytest.raises(TypeError, match="not plain data"):
        encode(value)


HOSTILE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from([*serialization._READERS, "other", ""]), inner, max_size=2),
)


@given(HOSTILE)
def test_hostile_data_is_a_value_error_or_a_value(data):
    with contextlib.suppress(ValueError):
        decode(data)


def collide(count):
    """Whole numbers that all have the same hash."""
    return [{"int": hex((2**61 - 1) * k)} for k in range(1, count + 1)]


@pytest.mark.parametrize("data, says", [
    ({"int": "0x" + "f" * 110_000}, "more than 100000 digits"),
    ({"fraction": [hex(3**2_000_000), hex(5**1_000_000)]}, "more than 100000 digits"),
    ({"set": collide(6000)}, "more than 5000 values"), ({"dict": [[key, 1] for key in range(6000)]}, "more than 5000 values"),
    ({"array": ["f8", [10**9, 0], ""]}, "shape .1000000000, 0"), ({"array": ["f8", [-1, 0], ""]}, "cannot reshape"),
    ({"array": ["f8", [0] * 30, ""]}, "an array of type f8"), ({"array": ["O", [1], "AAAAAAAAAAA="]}, "type O"),
    ({"value": 1}, "not an encoded value"), ({"fraction": ["1", "0"]}, "ZeroDivisionError"), ({"set": [[]]}, "TypeError"),
], ids=lambda value: str(value)[:30])  # fmt: skip
def test_what_no_answer_is_is_refused(data, says):
    with pytest.raises(ValueError, match=says):
        decode(data)


def test_the_largest_that_is_read_is_read_soon():
    began = time.process_time()
    assert len(decode({"set": collide(4000)})) == 4000
    fraction = decode({"fraction": [hex(3**250_000), hex(5**170_000)]})
    assert fraction.denominator > 1
    assert len(decode({"array": ["f8", [10**6, 0], ""]}).tolist()) == 10**6
    assert time.process_time() - began < 10


def test_messages_end_and_are_no_larger_than_said():
    ends = os.pipe()
    reading, writing = os.fdopen(ends[0], "rb"), os.fdopen(ends[1], "wb", buffering=0)
    channel = Channel(reading, writing)
    for data, says in ((b"\xff{\n", "decode"), (b"[" * 0x8000 + b"\n", "too deeply"), (b"1" * 0x8000 + b"\n", "digits")):
        writing.write(data)
        with pytest.raises(ValueError, match=says):
            channel.receive()
    with pytest.raises(ValueError, match="an answer of 5 MB is too large"):
        channel.send("x" * 5_000_000)
    with open(os.devnull, "wb") as nowhere, open("/dev/zero", "rb") as zeros, pytest.raises(ValueError, match=f"more than {MAX_MESSAGE_BYTES}"):
        Channel(zeros, nowhere).receive()
    writing.write(b"{")
    writing.close()
    with pytest.raises(Closed):
        channel.receive()
    reading.close()


def test_cells_run_and_say_where_they_failed():
    worker = Worker({})
    assert worker.answer({"cell": ["print('a' * 3000)\nx = 1", 3]}) == {"printed": "a" * 2000, "notes": []}
    failed = worker.answer({"cell": ["y = x\nz = y / 0", 4]})
    assert (failed["error"], failed["kind"]) == ("ZeroDivisionError: division by zero (cell 4, line 2)", "ZeroDivisionError")
    assert worker.answer({"cell": ["def f(:", 5]})["error"].endswith("(cell 5, line 1)")
    assert worker.answer({"cell": ["raise SystemExit(3)", 6]})["kind"] == "SystemExit"


@pytest.mark.parametrize("source, names, notes", [
    ("x = 5\n%matplotlib inline", {"x": 5}, ["line 2, \"%matplotlib inline\""]), ("!ls\n?print\nx = 1", {"x": 1}, ["line 1", "line 2"]),
    ("files = !ls\na = %sql 1\nmax?\nfiles[0]??", {"files": [], "a": None}, ["line 1", "line 2", "line 3", "line 4"]),
    ("%pwd\nx = (5\n% 3\n!= 2)\n!ls", {"x": False}, ["line 1", "line 5"]),
    ('%pwd\ns = """\n%d\n"""\n!echo it\'s', {"s": "\n%d\n"}, ["line 1", "line 5"]),
    ("%time x = {1: 2}\ny = %time max(3, 4)\nif x:\n    %time y", {"x": {1: 2}, "y": 4}, []),
    ("%%time\n%pwd\nx = 1", {"x": 1}, ["line 2"]), ("%%timeit -n 1\nx = 1", {"x": 1}, []),
    ("%%writefile a.py\nx = 1", {}, ['the whole cell, which begins with "%%writefile a.py", is not run']),
    ("x = 0\nif True:\n    !ls", {"x": 0}, ["line 3"]), ("x = 1\r\n%pwd", {"x": 1}, ["line 2"]),
    ("x = get_ipython()\nx.system('ls')\nx = 2", {"x": 2}, ["line 2"]),
])  # fmt: skip
def test_commands_of_jupyter_are_noted_and_not_run(source, names, notes):
    worker = Worker({})
    reply = worker.answer({"cell": [source, 1]})
    assert "error" not in reply
    assert {name: worker.names.get(name) for name in ("x", "y", "s", "files", "a") if name in worker.names} == names
    assert len(reply["notes"]) == len(notes) and all(map(str.startswith, reply["notes"], notes)), reply["notes"]
