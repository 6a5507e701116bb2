"""What passes between the processes, and what came back: plain data, messages, notebooks of any kind."""

import contextlib
import json
import math
import os
import tempfile
import time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

from workbook.exercises.judging import numbers
from workbook.grading import serialization as wire
from workbook.grading.notebook_parser import Unreadable, digest, plain_python, top_names
from workbook.grading.sets import inside, without
from workbook.grading.submissions import collect, read
from workbook.grading.worker import Sink, answer

# --- the wire --------------------------------------------------------------------------------------------------------

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.fractions()
    | st.complex_numbers(allow_nan=False),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=20,
)  # fmt: skip


@given(PLAIN)
def test_plain_data_survives(value):
    assert wire.decode(json.loads(json.dumps(wire.encode(value)))) == value


def test_long_numbers_travel_as_floats():
    assert wire.decode(wire.encode([np.longdouble(1.5), np.clongdouble(1 + 2j)])) == [1.5, 1 + 2j]
    for array in (np.array([1.5], np.longdouble), np.array([1 + 2j], np.clongdouble)):
        assert (wire.decode(wire.encode(array)) == array).all()


def test_numbers_that_a_judge_takes_travel():
    value = [Decimal("0.25"), Decimal("inf"), sp.Integer(2) ** 70, sp.Rational(1, 3), sp.sqrt(4) / 4, sp.sqrt(2), 1 + 2 * sp.I]
    found = wire.decode(json.loads(json.dumps(wire.encode(value))))
    assert found == [0.25, math.inf, 2**70, Fraction(1, 3), 0.5, math.sqrt(2), 1 + 2j]
    assert np.allclose(numbers(value[3:], (4,)), [complex(one) for one in found[3:]])
    with pytest.raises(TypeError, match="a Symbol is not plain data"):
        wire.encode(sp.Symbol("x"))


@pytest.mark.parametrize("array", [
    np.arange(6).reshape(2, 3), np.zeros((0, 3)), np.array(2.5), np.array([True]), np.arange(4, dtype=">i2"),
    np.array([1 + 2j], dtype="c8"), np.arange(9.0).reshape(3, 3).T,
], ids=str)  # fmt: skip
def test_arrays_survive(array):
    there = wire.decode(wire.encode(array))
    assert (there == array).all()
    assert there.shape == array.shape
    tensor = torch.tensor([1.5, 2.5], dtype=torch.bfloat16, requires_grad=True)
    assert wire.decode(wire.encode(tensor)).tolist() == [1.5, 2.5]


@pytest.mark.parametrize("value", [object(), print, (x for x in ()), np.array(["a"]), np.array(["2020"], "M8[Y]")])
def test_what_is_not_plain_is_refused(value):
    with pytest.raises(TypeError, match="not plain data"):
        wire.encode(value)


TAGS = [name.removeprefix("read_") for name in vars(wire._Reader) if name.startswith("read_")]
HOSTILE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([*TAGS, "other", "_", ""]), inner, max_size=2)
    ),
)


@given(HOSTILE)
def test_hostile_data_is_a_value_error_or_a_value(data):
    with contextlib.suppress(ValueError):
        wire.decode(data)


def collide(count):
    """Whole numbers that all have the same hash."""
    return [{"int": hex((2**61 - 1) * k)} for k in range(1, count + 1)]


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("data, says", [
    ({"int": "0x" + "f" * 110_000}, "more than 100000 digits"),
    ([{"fraction": ["0x1", hex(2**4000 + k)]} for k in range(120)], "more than 100000 digits"),
    ({"fraction": [hex(3**2_000_000), hex(5**1_000_000)]}, "more than 100000 digits"),
    ({"set": collide(6000)}, "more than 5000 values in sets and dictionaries"),
    ([{"dict": [[key, 1] for key in range(300)]}] * 20, "more than 5000 values in sets and dictionaries"),
    ([[]] * 300_000, "more than 200000 values"), (nested(60), "nested more than 40 deep"),
    ({"array": ["f8", [10**9, 0], ""]}, "shape .1000000000, 0"), ({"array": ["f8", [-1, 0], ""]}, "cannot reshape"),
    ({"array": ["f8", [0] * 30, ""]}, "an array of type f8"), ({"array": ["O", [1], "AAAAAAAAAAA="]}, "type O"),
    ({"float": "1" * 10**6}, "KeyError"), ({"value": 1}, "not an encoded value"),
    ({"take": ["values", 1]}, "not an encoded value"),
    (10**30, "not written as one"), ({"fraction": ["1", "0"]}, "ZeroDivisionError"), ({"set": [[]]}, "TypeError"),
], ids=lambda value: str(value)[:30])  # fmt: skip
def test_what_would_take_long_is_refused_at_once(data, says):
    began = time.process_time()
    with pytest.raises(ValueError, match=says):
        wire.decode(data)
    assert time.process_time() - began < 5


def test_the_largest_that_is_read_is_read_soon():
    began = time.process_time()
    assert len(wire.decode({"set": collide(4000)})) == 4000
    fractions = wire.decode([{"fraction": ["0x1", hex(2**1000 + 2 * k + 1)]} for k in range(200)])
    assert sum(fractions).denominator > 1
    assert len(wire.decode({"array": ["f8", [10**6, 0], ""]}).tolist()) == 10**6
    assert time.process_time() - began < 10


def test_messages_end_and_are_no_larger_than_said():
    reading, writing = os.pipe()
    line = wire.Line(reading, writing)
    for data, says in ((b"\xff\xff\xff\xff", "a message of 4294967295 bytes"), (b"\0\0\0\2\xff{", "decode"),
                       (b"\0\0\x80\0" + b"[" * 0x8000, "too deeply"),
                       (b"\0\0\x80\0" + b"1" * 0x8000, "digits")):  # fmt: skip
        os.write(writing, data)
        with pytest.raises(ValueError, match=says):
            line.receive()
    with pytest.raises(ValueError, match="an answer of 5 MB is too large"):
        line.send("x" * 5_000_000)
    os.write(writing, b"\0\0\0\5{")
    os.close(writing)
    with pytest.raises(wire.Closed):
        line.receive()
    os.close(reading)
    with pytest.raises(wire.Closed):
        line.send(1)


# --- a student's process, without one --------------------------------------------------------------------------------


def test_cells_run_and_say_where_they_failed():
    names = {}
    assert answer({"cell": "print('a' * 10)\nx = 1", "number": 3}, names) == {"printed": "aaaaaaaaaa\n"}
    failed = answer({"cell": "y = x\nz = y / 0", "number": 4}, names)
    assert failed == {"error": "ZeroDivisionError: division by zero (cell 4, line 2)", "kind": "ZeroDivisionError"}
    assert answer({"cell": "def f(:", "number": 5}, names)["error"].endswith("(cell 5, line 1)")
    assert answer({"cell": "raise SystemExit(3)"}, names)["kind"] == "SystemExit"


def test_a_flood_is_not_kept():
    sink = Sink(5)
    for _ in range(1000):
        sink.write("abc")
    assert sink.kept == "abcab"


# --- what came back --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data, says", [
    (b"", "is empty"), (b" \n", "is empty"), (b"# %%\nprint(1)", "not a notebook .not JSON"),
    (b"\xff\xfe", "not a notebook"),
    (b"[]", "no list of cells"), (b'{"worksheets": []}', "no list of cells"), (b'{"cells": [7]}', "cell 1 is damaged"),
    (b'{"cells":' + b"[" * 100_000, "not a notebook"),
])  # fmt: skip
def test_what_is_no_notebook_is_said_in_words(tmp_path, data, says):
    path = tmp_path / "x.ipynb"
    path.write_bytes(data)
    with pytest.raises(Unreadable, match=says):
        read(path)


KEYS = st.sampled_from(
    ["cells", "cell_type", "source", "metadata", "nbgrader", "grade_id", "lrnnlab", "answers", "grade"]
)
JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
)


@given(JSON)
def test_any_json_is_a_notebook_or_unreadable(content):
    with contextlib.suppress(Unreadable):
        digest(json.dumps({"cells": [content], "metadata": content}).encode())


def collected(folder):
    """What each student has handed in, or what is wrong with it; the copies must be all that is left to read."""
    with tempfile.TemporaryDirectory() as place:
        found = collect(folder, "ps1", Path(place))
        assert all(one.path is None or one.path.parent == Path(place) for one in found)
        return {one.student: one.path.read_text() if one.path else one.problem for one in found}


def test_both_ways_to_lay_out_a_folder(tmp_path):
    (tmp_path / "ada.ipynb").write_text("{}")
    (tmp_path / "bob" / "ps1").mkdir(parents=True)
    for name in ("bob/ps1/ps1.ipynb", "bob/other.ipynb"):
        (tmp_path / name).write_text("{}")
    (tmp_path / "cy").mkdir()
    (tmp_path / "dan.ipynb").symlink_to(tmp_path / "ada.ipynb")
    for name in (".DS_Store", "desktop.ini", "Thumbs.db", "._ada.ipynb", "~$ada.ipynb", "Icon\r", "bob/._ps1.ipynb", "bob/ps1/._ps1.ipynb"):
        (tmp_path / name).write_text("")
    for name in ("__MACOSX", "$RECYCLE.BIN", "bob/.ipynb_checkpoints", "bob/@eaDir"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "ps1.ipynb").write_text("")
    assert collected(tmp_path) == {
        "ada": "{}", "bob": "{}", "cy": "holds no notebook", "dan": "is a link, not a file"}  # fmt: skip
    (tmp_path / "ada").mkdir()
    assert collected(tmp_path)["ada"] == "holds no notebook"
    assert collected(tmp_path)["ada.ipynb"] == "{}"


@pytest.mark.parametrize("source, python, notes", [
    ("x = 5\n%matplotlib inline", "x = 5\nNone", 1), ("!ls\n?print\nx = 1", "None\nNone\nx = 1", 2),
    ("files = !ls\na, b = %sql 1\nmath.pi?\nx[0]??", "files = []\na, b = None\nNone\nNone", 4),
    ("%pwd\nx = a(b)  # right?\ny = 5 %x", "None\nx = a(b)  # right?\ny = 5 %x", 1),
    ("max?\na != b", "None\na != b", 1), ("%pwd\nx = (5\n% 3\n!= 2)\n!ls", "None\nx = (5\n% 3\n!= 2)\nNone", 2),
    ('%pwd\ns = """\n%d\n"""\n!echo it\'s', 'None\ns = """\n%d\n"""\nNone', 2), ("def f(:\n%pwd", "def f(:\nNone", 1),
    ("%time x = {1: 2}\ny = %time max(3, 4)\n%time\nif x:\n    %time y", "x = {1: 2}\ny = max(3, 4)\nNone\nif x:\n    y", 1),
    ("%%time\n%pwd\nx = 1", "\nNone\nx = 1", 1),
    ("%%time\nx = 1", "\nx = 1", 0),
    ("%%writefile a.py\nx = 1", "", 1), ("x = (5\n% 3)", "x = (5\n% 3)", 0), ("if x:\n    !ls", "if x:\n    None", 1),
    ("def f(:", "def f(:", 0), ("x = 1\r\n%pwd", "x = 1\nNone", 1),
    ("# pasted\u2028text\nx = 1", "# pasted\u2028text\nx = 1", 0), ("s = 'a\x0cb'", "s = 'a\x0cb'", 0),  # no ends of lines
])  # fmt: skip
def test_commands_of_jupyter_are_left_out(source, python, notes):
    found, said = plain_python(source)
    assert found == python
    assert len(said) == notes


def test_regions():
    text = "a\n  ### BEGIN SOLUTION\n  b\n  ### END SOLUTION\nc"
    assert without(text, "SOLUTION") == "a\nc"
    assert inside(text, "SOLUTION") == ["  b"]
    assert without(text, "HIDDEN TESTS") == text
    assert top_names("import x\nf = lambda: 0\nclass C: pass\ndef g():\n    def h(): pass\nn = 3\nm = max") == [
        "f", "C", "g", "m"]  # fmt: skip
