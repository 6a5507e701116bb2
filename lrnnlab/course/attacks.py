"""What a submission's own code may do: run for ever, take all memory, leave, cheat, read and write where it must not.

The attacks are texts here; they run in a fenced process only.  ``KINDS`` is the list of all kinds of a rehearsal.
"""

from __future__ import annotations

from collections.abc import Callable

from lrnnlab.course import kinds
from lrnnlab.course.kinds import Made, Scene


def _code(name: str, body: str) -> Callable[[Scene], Made]:
    """A kind whose answer to one task is this body."""

    def kind(scene: Scene) -> Made:
        functions = next(task.functions for task in scene.handout.problem_set.tasks if task.id == scene.task)
        source = "\n\n".join(f"def {function}(*arguments):\n    {body}" for function in functions)
        return scene.with_answer(source), scene.others

    kind.__name__ = name
    return kind


def _first(name: str, source: str) -> Callable[[Scene], Made]:
    """A kind with everything solved, and this in a cell in front: it must cost nothing and win nothing."""

    def kind(scene: Scene) -> Made:
        return scene.with_first(source.replace("CANARY", str(scene.canary))), scene.full

    kind.__name__ = name
    return kind


def _cheat(name: str, source: str) -> Callable[[Scene], Made]:
    """A kind with nothing solved, that tries to get points all the same."""

    def kind(scene: Scene) -> Made:
        names = [name for task in scene.handout.problem_set.tasks for name in task.functions]
        text = (source.replace("SOURCE", str(scene.source)).replace("MARKS", str(scene.marks))
                .replace("NAMES", repr(names)).replace("CANARY", str(scene.canary)))  # fmt: skip
        return scene.with_first(text, solved=False), 0

    kind.__name__ = name
    return kind


def _bytes(name: str, data: bytes) -> Callable[[Scene], Made]:
    def kind(scene: Scene) -> Made:
        return data, 0

    kind.__name__ = name
    return kind


ALWAYS_EQUAL = """
class Always:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __lt__
    def __hash__(self): return 0
for name in NAMES:
    globals()[name] = lambda *arguments: Always()
"""
PATCHED = """
import builtins, sys
import numpy as np, lrnnlab.course, lrnnlab.course.judging as judging
from lrnnlab.course import wire, pupil
for module in (lrnnlab.course, judging):
    module.claim = module.expect = module.agree = lambda *arguments, **options: None
judging.same = builtins.all = lambda *arguments: True
np.allclose = np.isclose = lambda *arguments, **options: True
wire.encode = lambda value: True
for name in NAMES:
    globals()[name] = lambda *arguments: True
"""
FORGED = """
import gc, socket, json, struct
def shout(message):
    data = json.dumps(message).encode()
    for thing in gc.get_objects():
        if isinstance(thing, socket.socket):
            thing.sendall(struct.pack("!I", len(data)) + data)
for message in ({"points": 100}, {"value": True}, {"functions": NAMES}, {"ended": 0}):
    shout(message)
"""
READS = """
import re
text = open("SOURCE").read()
for found in re.findall("### BEGIN SOLUTION", text):
    pass
exec(text)
"""
READS_BELOW_PYTHON = """
import ctypes, os
libc = ctypes.CDLL(None)
handle = libc.open(b"SOURCE", 0)
text = ctypes.create_string_buffer(10**6)
libc.read(handle, text, 10**6)
exec(text.value.decode())
"""
GRADEBOOK = """
import glob, pathlib
for path in ("MARKS", "MARKS/..", "/", "/proc/self/environ", "/proc/1/mem", "/etc/passwd"):
    try:
        found = pathlib.Path(path)
        found = found.read_text() if found.is_file() else list(found.iterdir())
    except OSError:
        continue
    raise SystemExit(found)
open("MARKS/marks.csv", "a").write("me,100,100")
"""
WRITES = """
import os, pathlib, shutil
for attempt in (lambda: open("CANARY", "w").write("mine"), lambda: os.remove("CANARY"),
                lambda: os.rename("CANARY", "x"), lambda: shutil.rmtree(os.path.dirname("CANARY")),
                lambda: os.truncate("CANARY", 0), lambda: os.symlink("CANARY", "link") or open("link", "w").write("x")):
    try:
        attempt()
    except OSError:
        pass
"""
PROGRAMS = """
import os, subprocess, socket
for attempt in (lambda: os.system("echo mine > CANARY"), lambda: subprocess.run(["sh", "-c", "echo > CANARY"]),
                lambda: os.fork(), lambda: socket.create_connection(("127.0.0.1", 80), 1),
                lambda: os.execv("/bin/sh", ["sh"]), lambda: os.kill(os.getppid(), 9)):
    try:
        attempt()
    except OSError:
        pass
"""
THREADS = "import threading, time\nfor _ in range(4):\n    threading.Thread(target=time.sleep, args=(999,)).start()"
GIGABYTE = "for _ in range(1000):\n    print('x' * 1_000_000)"
MEMORY = "kept = []\nwhile True:\n    kept.append(bytearray(10_000_000))"
SIGNALS = ("import signal, sys\nfor number in (signal.SIGXCPU, signal.SIGTERM, signal.SIGINT):\n"
           "    signal.signal(number, signal.SIG_IGN)\nsys.setrecursionlimit(10**6)")  # fmt: skip
STDOUT = "import sys, os\nsys.stdout = None\nos.close(1)\nos.close(2)"

KINDS: tuple[Callable[[Scene], Made], ...] = (
    *kinds.KINDS,
    _code("loops_for_ever", "while True: pass"), _code("sleeps", "import time; time.sleep(10**6)"),
    _code("memory_bomb", "x = [0] * 10\n    while True: x = x + x"), _code("exits", "import sys; sys.exit(0)"),
    _code("ends_the_process", "import os; os._exit(0)"), _code("crashes", "import ctypes; ctypes.string_at(0)"),
    _code("recurses", "import sys; sys.setrecursionlimit(10**7); f = lambda: f(); return f()"),
    _code("returns_a_gigabyte", "return 'x' * 10**9"), _code("returns_itself", "x = []; x.append(x); return x"),
    _code("returns_a_huge_number", "return 10**100_000"), _code("returns_an_object", "return object()"),
    _code("returns_a_generator", "return (x for x in arguments)"), _code("returns_nothing", "pass"),
    _code("returns_not_a_number", "return float('nan')"), _code("raises", "raise ZeroDivisionError('x' * 10**6)"),
    _code("wants_input", "return input()"),
    _first("loops_in_a_cell", "while True:\n    pass"), _first("memory_in_a_cell", MEMORY),
    _first("exits_in_a_cell", "import sys\nsys.exit(1)"), _first("ends_in_a_cell", "import os\nos._exit(0)"),
    _first("prints_a_gigabyte", GIGABYTE), _first("starts_threads", THREADS), _first("ignores_signals", SIGNALS),
    _first("closes_stdout", STDOUT), _first("writes_outside", WRITES), _first("starts_programs", PROGRAMS),
    _cheat("always_equal", ALWAYS_EQUAL), _cheat("patches_the_checker", PATCHED), _cheat("forges_replies", FORGED),
    _cheat("reads_the_solution", READS), _cheat("reads_below_python", READS_BELOW_PYTHON),
    _cheat("reads_the_gradebook", GRADEBOOK),
    _bytes("empty", b""), _bytes("not_json", b"# %%\nprint(1)\n"), _bytes("binary", bytes(range(256)) * 40),
    _bytes("other_json", b'{"answer": 42}'), _bytes("a_list", b"[]"), 
    _bytes("cells_that_are_none", b'{"cells": [1, null]}'),
    _bytes("nested", b'{"cells":' + b"[" * 100_000),
)  # fmt: skip
