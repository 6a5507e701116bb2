"""What a submission's own code may do, as texts that run in the fence only: ``KINDS`` are all, ``QUICK`` wait for no limit."""

from __future__ import annotations

from collections.abc import Callable

import kinds
import nbformat
from kinds import Made, Scene


def _text(scene: Scene, source: str) -> str:
    names = [name for task in scene.handout.problem_set.tasks for name in task.functions]
    for word, place in {**scene.places, "NAMES": repr(names)}.items():
        source = source.replace(word, place)
    return source


def _kind(name: str, make: Callable[[Scene], Made]) -> Callable[[Scene], Made]:
    make.__name__ = name
    return make


def _code(name: str, body: str) -> Callable[[Scene], Made]:
    """A kind whose answer to one task is this body."""

    def kind(scene: Scene) -> Made:
        functions = next(task.functions for task in scene.handout.problem_set.tasks if task.id == scene.task)
        lines = "\n    ".join(body.splitlines())
        source = "\n\n".join(f"def {function}(*arguments):\n    {lines}" for function in functions)
        return scene.with_answer(source), scene.others

    return _kind(name, kind)


def _first(name: str, source: str) -> Callable[[Scene], Made]:
    """A kind with everything solved, and this in a cell in front: it must cost nothing and win nothing."""
    return _kind(name, lambda scene: (scene.with_first(_text(scene, source)), scene.full))


def _cheat(name: str, source: str) -> Callable[[Scene], Made]:
    """A kind with nothing solved, that tries to get points all the same."""
    return _kind(name, lambda scene: (scene.with_last(_text(scene, source)), 0))


def _reply(name: str, message: str) -> Callable[[Scene], Made]:
    """A kind that answers everything that it is asked with the bytes of one message, an expression."""
    return _cheat(name, f"""
import json, os, random, threading, time
from lrnnbook.machinery.grading import serialization
def framed(data): return data + b"\\n"
def value(data): return framed(json.dumps({{"functions": NAMES, "value": data}}).encode())
MESSAGE = {message}
serialization.Channel.send = lambda self, message: [os.write(self._writing.fileno(), MESSAGE[at:at + 65536])
                                                    for at in range(0, len(MESSAGE), 65536)]
""")  # fmt: skip


def _bytes(name: str, data: bytes) -> Callable[[Scene], Made]:
    return _kind(name, lambda scene: (data, 0))


def _each(*attempts: str, first: str = "") -> str:
    """A cell that tries one after the other, whatever comes of it."""
    lines = "\n".join(f"    lambda: {attempt}," for attempt in attempts)
    return f"""
import ctypes, glob, os, pathlib, shutil, signal, socket, subprocess, sys, time
native, c = ctypes.pythonapi, ctypes.CDLL(None)
{first}
for attempt in (
{lines}
):
    try:
        attempt()
    except Exception:
        pass
"""


def _many(name: str, make: Callable[[int], nbformat.NotebookNode], full: bool) -> Callable[[Scene], Made]:
    """A kind with everything solved below 10,000 cells of the student's own."""

    def kind(scene: Scene) -> Made:
        notebook = scene.handout.notebook()
        notebook.cells[:0] = [make(number) for number in range(10_000)]
        return notebook, scene.full if full else 0

    return _kind(name, kind)


# --- for points that are not earned ----------------------------------------------------------------------------------

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
import numpy as np, lrnnbook.machinery.grading, lrnnbook.content.exercises.judging as judging
from lrnnbook.machinery.grading import serialization, worker
for module in (lrnnbook.machinery.grading, judging):
    module.claim = module.expect = module.agree = lambda *arguments, **options: None
judging.same = builtins.all = lambda *arguments: True
np.allclose = np.isclose = lambda *arguments, **options: True
serialization.encode = worker.encode = lambda value: True
for name in NAMES:
    globals()[name] = lambda *arguments: True
"""
PATCHED_JSON = """
import json
json.dumps = lambda message, **options: '{"functions": %s, "value": true}' % repr(NAMES).replace("'", '"')
json.JSONEncoder.encode = lambda self, message: json.dumps(message)
real, json.loads = json.loads, lambda text, **options: {"call": [name, [], {}] for name in real(text)}
"""
PATCHED_BUILTINS = """
import builtins
for name in NAMES:
    globals()[name] = lambda *arguments: True
builtins.isinstance = lambda value, kinds: True
builtins.type = builtins.str = builtins.getattr = lambda *arguments: True
"""
FORGED = """
import json, os
for message in ({"points": 100}, {"value": True}, {"functions": NAMES}, {"ended": 0}):
    data = json.dumps(message).encode()
    for handle in map(int, os.listdir("/proc/self/fd")):
        try:
            os.write(handle, data + b"\\n")
        except OSError:
            pass
"""
READS = """
text = open("SOURCE").read()
exec(text)
"""
READS_BELOW_PYTHON = """
import ctypes
for library in (ctypes.pythonapi, ctypes.CDLL(None)):
    handle = library.open(b"SOURCE", 0)
    text = ctypes.create_string_buffer(10**6)
    if handle >= 0 and library.read(handle, text, 10**6) > 0:
        exec(text.value.decode())
"""
READS_THROUGH_TORCH = """
import torch
exec(bytes(torch.from_file("SOURCE", shared=False, size=9000, dtype=torch.uint8)).decode(errors="ignore"))
"""
READS_THROUGH_A_PROGRAM = """
import _posixsubprocess, multiprocessing, subprocess, sys
exec(subprocess.run([sys.executable, "-c", "print(open('SOURCE').read())"], capture_output=True, text=True).stdout)
"""
SEARCHES = """
import json, os
for folder, folders, files in os.walk("/"):
    folders[:] = [one for one in folders if (folder, one) not in (("/", "proc"), ("/", "usr"))]
    for file in files:
        if file.startswith(("ps1_", "ps2_", "ps3_", "ps4_", "ps5_")):
            exec(open(os.path.join(folder, file)).read())
        if file.endswith(".ipynb"):
            for cell in json.load(open(os.path.join(folder, file)))["cells"]:
                exec("".join(cell["source"]))
"""
THROUGH_PROC = """
import glob
for way in glob.glob("/proc/*/root") + glob.glob("/proc/*/cwd") + glob.glob("/proc/*/task/*/root"):
    for path in ("SOURCE", *glob.glob(way + "HANDED_IN/*.ipynb")):
        try:
            exec(open(way + path).read())
        except OSError:
            pass
"""
OTHERS_FILES = """
import glob, json
for path in glob.glob("HANDED_IN/**/*.ipynb", recursive=True) + glob.glob("/tmp/**/*.ipynb", recursive=True):
    for cell in json.load(open(path))["cells"]:
        exec("".join(cell["source"]))
"""
GRADERS_MEMORY = """
import ctypes, os, re
c = ctypes.CDLL(None)
text = b""
for pid in [int(name) for name in os.listdir("/proc") if name.isdecimal()] + list(range(1, 50)) + [GRADER]:
    c.ptrace(16, pid, 0, 0)
    try:
        for line in open(f"/proc/{pid}/maps"):
            start, end = (int(part, 16) for part in line.split()[0].split("-"))
            if pid != os.getpid() and end - start < 1 << 26:
                with open(f"/proc/{pid}/mem", "rb") as memory:
                    memory.seek(start)
                    text += memory.read(end - start)
    except (OSError, ValueError, OverflowError):
        pass
for found in re.findall(rb"def \\w+\\([^\\x00]{,2000}?### END SOLUTION", text):
    exec(found.decode())
"""
GRADEBOOK = """
import pathlib
for path in ("MARKS", "MARKS/..", "HANDED_IN", "CANARY"):
    found = pathlib.Path(path)
    if found.exists():
        raise SystemExit(found)
pathlib.Path("MARKS").mkdir(parents=True)
open("MARKS/marks.csv", "a").write("me,100,100")
"""
ANSWERS_FOR_EVER = """
import json, os, sys
program = '''
import json, os, sys
for line in open(int(sys.argv[1]), "rb"):
    os.write(int(sys.argv[2]), json.dumps({"functions": NAMES, "value": True}).encode() + b"\\\\n")
'''
for handle in (3, 4, 5, 6):
    os.set_inheritable(handle, True)
os.write(4, b"{}\\n")
os.execv(sys.executable, [sys.executable, "-c", program, "3", "4"])
"""

# --- to reach what is outside, or to use up what others need ---------------------------------------------------------

WRITES = _each(
    'open("CANARY", "w").write("mine")', 'os.remove("CANARY")', 'os.rename("CANARY", "x")', 'os.truncate("CANARY", 0)',
    'shutil.rmtree(os.path.dirname("CANARY"))', 'os.symlink("CANARY", "link")', 'open("link", "w").write("x")',
)  # fmt: skip
PROGRAMS = _each(
    'os.system("echo mine > CANARY")', 'subprocess.run(["sh", "-c", "echo > CANARY"])', 'os.execv("/bin/sh", ["sh"])',
    'subprocess.run([sys.executable, "-c", "open(\'CANARY\', \'w\')"])', "os.fork() or os._exit(0)",
)  # fmt: skip
NATIVE = _each(
    'native.chmod(b"CANARY", 0)', 'native.chmod(b"HANDED_IN", 0)', 'native.chmod(b"PACKAGE/tasks", 0)',
    'native.chmod(b"SOURCE", 0)', 'native.unlink(b"CANARY")', 'native.chown(b"CANARY", 1, 1)',
    'c.lchown(b"CANARY", 1, 1)',
    'c.utimes(b"CANARY", None)', 'c.setxattr(b"CANARY", b"user.x", b"1", 1, 0)', 'c.rename(b"CANARY", b"x")',
    'c.truncate(b"CANARY", 0)', 'c.system(b"echo mine > CANARY")', 'c.creat(b"CANARY", 0o777)',
)  # fmt: skip
LINKS = _each(
    'os.link("CANARY", "hard")', 'os.chmod("hard", 0)', 'os.symlink("CANARY", "soft")', 'os.chmod("soft", 0)',
    'os.utime("soft")', 'open("soft", "a").write("x")', 'os.symlink("HANDED_IN", "folder")',
    'open("folder/new.ipynb", "w").write("x")', 'os.symlink("/", "root")', 'os.chmod("root", 0)', 'os.chmod(".", 0)',
)  # fmt: skip
INSTALLATION = _each(
    'open(lrnnlab.__file__, "a").write("#")', 'open(lrnnbook.content.exercises.judging.__file__, "a").write("#")',
    'open(numpy.__file__, "a").write("#")', 'open(os.__file__, "a").write("#")', 'os.remove(numpy.__file__)',
    'os.rename(os.path.dirname(numpy.__file__), os.path.dirname(numpy.__file__) + "_")',
    'open(os.path.join(os.path.dirname(os.path.dirname(numpy.__file__)), "sitecustomize.py"), "w").write("1/0")',
    'os.chmod(sys.executable, 0)', 'open("PACKAGE/scans/evil.py", "w").write("1/0")', 'os.chmod("PACKAGE", 0)',
    'open("/etc/ld.so.preload", "w").write("x")', 'open("/x", "w")', 'open("/kernels/x", "w")',
    first="import lrnnbook.content.exercises.judging, lrnnlab, numpy",
)  # fmt: skip
SOCKETS = _each(
    'native.connect(native.socket(1, 1, 0), b"\\x01\\x00SOCKET\\x00", len(b"SOCKET") + 3)',
    'socket.socket(socket.AF_UNIX).connect("SOCKET")', 'socket.socket(socket.AF_UNIX).connect("\\0ABSTRACT")',
    'socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", PORT))',
    'socket.create_connection(("127.0.0.1", PORT), 1)', 'socket.socket(40, socket.SOCK_STREAM).connect((2, 1))',
    'socket.socket(38, 5).bind(("hash", "sha1"))', 'socket.socketpair()[0].sendmsg([b"x"])',
    'os.write([handle for handle in range(3, 128)][0], b"")',
)  # fmt: skip
SHARED = _each(
    "c.shmget(1, 1 << 20, 0o1777)", "c.msgget(1, 0o1777)", "c.semget(1, 1, 0o1777)", 'os.memfd_create("x")',
    "os.truncate(os.memfd_create('x'), 1 << 34)", 'c.shm_open(b"/x", 0o102, 0o777)',
    'c.mq_open(b"/x", 0o102, 0o777, None)', 'c.syscall(KEYCTL, 1, 0)',
    'c.syscall(ADD_KEY, b"user", b"x", b"y", 1, -4)', 'c.syscall(ADD_KEY, b"user", b"x", b"y", 1, -3)',
)  # fmt: skip
SIGNALLED = _each(
    "os.kill(1, signal.SIGKILL)", "os.kill(1, signal.SIGSTOP)", "os.kill(1, signal.SIGTERM)", "c.ptrace(16, 1, 0, 0)",
    "c.ptrace(0x4206, 1, 0, 0)", "os.kill(os.getppid(), 9)", "os.kill(GRADER, 9)", "os.kill(-GRADER, 9)",
    "[os.kill(pid, 19) for pid in range(3, 400) if pid != os.getpid()]", "os.kill(-1, 9)",
)  # fmt: skip
NAMESPACES = _each(
    "c.unshare(0x10000000)", "c.unshare(0x10020000)", "c.unshare(0x20000)", 'c.setns(os.open("/proc/1/ns/mnt", 0), 0)',
    'c.mount(b"tmpfs", b"/submission", b"tmpfs", 0, None)', 'c.umount2(b"PACKAGE", 2)', 'c.umount2(b"/submission", 2)',
    'c.mount(None, b"/usr/lib", None, 0x1020, None)', 'c.mount(None, b"/", None, 0x20, None)', 'c.chroot(b".")',
    'c.syscall(PIVOT_ROOT, b".", b".")', 'c.pivot_root(b".", b".")', 'os.mknod("disk", 0o60777, os.makedev(254, 0))',
    'open("/proc/sys/kernel/core_pattern", "w").write("|/x")', 'open("/proc/sysrq-trigger", "w").write("b")',
    'open("/proc/self/uid_map", "w").write("0 0 1")', 'open("/proc/1/oom_score_adj", "w").write("1000")',
    'open("/sys/kernel/x", "w")', 'c.sethostname(b"x", 1)', 'c.setuid(0)', 'c.personality(0x0040000)',
)  # fmt: skip
DEVICES = _each(
    *(f'open("/dev/{name}", "r+b", 0).write(b"x")'
      for name in ("tty", "mem", "kmsg", "vda", "sda", "full", "fuse", "ptmx")),
    'open("/dev/new", "w")', 'open("/dev/shm/new", "w").write("x")', "c.inotify_init()", "c.fanotify_init(0, 0)",
    "c.syscall(323, 0)", "c.syscall(425, 8, ctypes.create_string_buffer(200))", "c.syscall(321, 0, 0, 0)",
    "c.syscall(298, ctypes.create_string_buffer(120), 0, -1, -1, 0)", "c.epoll_create1(0)", "fcntl.ioctl(0, 0x5412, b'x')", first="import fcntl",
)  # fmt: skip
LIMITS = _each(
    *(f"resource.setrlimit({number}, (-1, -1))" for number in range(16)), "os.setpriority(0, 0, -20)", "os.nice(-20)",
    "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99))", "c.prctl(4, 0, 0, 0, 0)", "c.prctl(36, 1, 0, 0, 0)",
    "c.mlockall(3)", first="import resource",
)  # fmt: skip
HYDRA = "import os\nwhile True:\n    try:\n        os.fork() and os.fork()\n    except OSError:\n        pass"
LEAVING = """
import ctypes
native = ctypes.pythonapi
while True:  # each child goes on where its parent leaves
    if native.fork() > 0:
        native._exit(0)
"""
DAEMON = """
import os, signal, time
if not os.fork():
    os.setsid()
    if os.fork():
        os._exit(0)
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    os.chdir("/")
    os.closerange(0, 3)
    while True:
        time.sleep(1000)
os.wait()
"""
BURNERS = "import os\nfor _ in range(8):\n    if not os.fork():\n        while True:\n            pass"
MEMORY_OF_MANY = """
import os, time
for _ in range(8):
    if not os.fork():
        kept = bytearray(400 << 20)
        kept[::4096] = bytes(len(kept[::4096]))
        time.sleep(1000)
time.sleep(30)
"""
MAPPED = "import mmap\nkept = mmap.mmap(-1, 8 << 30)\nfor at in range(0, 8 << 30, 4096):\n    kept[at] = 1"
ARENAS = """
import ctypes
c = ctypes.CDLL(None)
c.malloc.restype = ctypes.c_void_p
c.mmap.restype = ctypes.c_void_p
for _ in range(10**4):
    kept = c.mmap(None, 64 << 20, 3, 0x22, -1, 0)
    if kept in (None, ctypes.c_void_p(-1).value):
        break
    ctypes.memset(kept, 1, 64 << 20)
raise MemoryError
"""
DISK = """
import os
try:
    for number in range(10**4):
        with open(f"big{number}", "wb") as file:
            file.write(bytes(8 << 20))
except OSError:
    pass
for number in range(10**4):
    os.path.exists(f"big{number}") and os.remove(f"big{number}")
"""
SMALL_FILES = """
import os
for number in range(100_000):
    try:
        os.close(os.open(f"file{number}", os.O_CREAT))
    except OSError:
        break
for _ in range(300):
    os.mkdir("deep")
    os.chdir("deep")
"""
AT_EXIT = """
import atexit, os, threading, time
class Last:
    def __del__(self, sleep=time.sleep): sleep(1000)
last = Last()
last.itself = last
atexit.register(lambda: time.sleep(1000))
atexit.register(lambda: os.fork())
threading.Thread(target=lambda: time.sleep(1000)).start()
"""
FLOOD = """
import os
for handle in map(int, os.listdir("/proc/self/fd")):
    try:
        for _ in range(200):
            os.write(handle, b"x" * (1 << 20))
    except OSError:
        pass
"""
THREADS = "import threading, time\nfor _ in range(4):\n    threading.Thread(target=time.sleep, args=(999,)).start()"
THREADS_WITHOUT_END = """
import threading, time
try:
    while True:
        threading.Thread(target=time.sleep, args=(999,), daemon=True).start()
except RuntimeError:
    pass
"""
GIGABYTE = "for _ in range(1000):\n    print('x' * 1_000_000)"
MEMORY = "kept = []\nwhile True:\n    kept.append(bytearray(10_000_000))"
SIGNALS = ("import signal, sys\nfor number in (signal.SIGXCPU, signal.SIGTERM, signal.SIGINT):\n"
           "    signal.signal(number, signal.SIG_IGN)\nsys.setrecursionlimit(10**6)")  # fmt: skip
IGNORES_THE_LIMIT = "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True:\n    pass"
STDOUT = "import sys, os\nsys.stdout = None\nos.close(1)\nos.close(2)"
SHADOWS = """
import pathlib
for name in ("numpy", "torch", "lrnnlab", "nbformat", "json", "sitecustomize"):
    pathlib.Path(name + ".py").write_text("raise SystemExit")
    pathlib.Path(name).mkdir()
    pathlib.Path(name, "__init__.py").write_text("raise SystemExit")
"""
# whole numbers that all have one hash, as text
COLLIDING = '[{"int": hex((2**61 - 1) * k)} for k in range(1, 16_000)]'

SLOW: tuple[Callable[[Scene], Made], ...] = (  # each waits for a limit of time
    _code("loops_for_ever", "while True: pass"),
    _code("returns_a_dictionary_without_end",
          "import itertools\nclass Endless(dict):\n    def items(self): return zip(itertools.count(), itertools.count())\nreturn Endless()"),
    _code("compares_without_end", "class Stuck(int):\n    def __abs__(self):\n        while True: pass\nreturn Stuck(1)"),
    _code("sleeps", "import time; time.sleep(10**6)"),
    _first("loops_in_a_cell", "while True:\n    pass"), _first("ignores_the_limit", IGNORES_THE_LIMIT),
    _first("burns_with_many", BURNERS + "\nimport time\ntime.sleep(1000)"), _first("hydra", HYDRA),
    _first("stops_itself", "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"),
    _first("leaves_and_leaves", LEAVING),
    _reply("drips_its_replies", 'b""\nthreading.Thread(target=lambda: [(os.write(4, b"\\\\0"), time.sleep(1)) '
           "for _ in range(10**6)], daemon=True).start()\ntime.sleep(2)"),
)  # fmt: skip
QUICK: tuple[Callable[[Scene], Made], ...] = (
    *kinds.KINDS,
    _code("memory_bomb", "x = [0] * 10\nwhile True: x = x + x"), _code("exits", "import sys; sys.exit(0)"),
    _code("ends_the_process", "import os; os._exit(0)"), _code("crashes", "import ctypes; ctypes.string_at(0)"),
    _code("recurses", "import sys; sys.setrecursionlimit(10**7); f = lambda: f(); return f()"),
    _code("returns_a_gigabyte", "return 'x' * 10**9"), _code("returns_itself", "x = []; x.append(x); return x"),
    _code("returns_a_huge_number", "return 10**100_000"), _code("returns_an_object", "return object()"),
    _code("returns_nothing", "pass"), _code("returns_not_a_number", "return float('nan')"), _code("raises", "raise ZeroDivisionError('x' * 10**6)"),
    _code("wants_input", "return input()"),
    _code("returns_a_slow_fraction", "from fractions import Fraction\nfrom random import getrandbits as bits\n"
          "return Fraction(bits(10**6) | 1, bits(10**6) | 1, _normalize=False)"),
    _code("returns_colliding_numbers", "return {(2**61 - 1) * k for k in range(9000)}"),
    _code("returns_many_rows_of_nothing", "import numpy as np; return np.zeros((10**9, 0))"),
    _code("returns_many_lists", "return [[]] * 10**6"),
    _code("raises_half_a_character", "raise ValueError('\\ud800\\x1b[2J\\u202e' * 10**5)"),
    _code("raises_what_cannot_be_told", "class E(Exception):\n    def __str__(self): return 1 / 0\nraise E"),
    _code("returns_what_claims_to_be_an_array", "import numpy\nclass Spoof:\n    __class__ = numpy.ndarray\n"
          "    def __getattr__(self, name): return self\nreturn Spoof()"),
    _code("returns_a_deep_list", "x = []\nfor _ in range(400): x = [x]\nreturn x"),
    _code("raises_a_long_name", "raise type('\\ud800<b>' * 10**6, (Exception,), {})(arguments)"),
    _code("raises_while_it_is_read", "class Bomb(list):\n    def __iter__(self): raise SystemExit\nreturn Bomb([1])"),
    _code("returns_a_liar", "class Liar(float):\n    def __eq__(self, other): return True\nreturn Liar(1)"),
    _first("memory_in_a_cell", MEMORY), _first("exits_in_a_cell", "import sys\nsys.exit(1)"),
    _first("ends_in_a_cell", "import os\nos._exit(0)"), _first("prints_a_gigabyte", GIGABYTE),
    _first("starts_threads", THREADS), _first("starts_threads_without_end", THREADS_WITHOUT_END),
    _first("ignores_signals", SIGNALS), _first("closes_stdout", STDOUT), _first("writes_outside", WRITES),
    _first("starts_programs", PROGRAMS), _first("changes_modes_natively", NATIVE), _first("makes_links", LINKS),
    _first("writes_into_the_installation", INSTALLATION), _first("connects", SOCKETS), _first("shares_memory", SHARED),
    _first("signals_all", SIGNALLED), _first("nests_namespaces", NAMESPACES), _first("opens_devices", DEVICES),
    _first("lifts_its_limits", LIMITS), _first("leaves_a_daemon", DAEMON), _first("memory_of_many", MEMORY_OF_MANY),
    _first("maps_shared_memory", MAPPED), _first("native_memory", ARENAS), _first("fills_its_folder", DISK),
    _first("makes_many_files", SMALL_FILES), _first("waits_at_exit", AT_EXIT), _first("floods_all_files", FLOOD),
    _first("shadows_modules", SHADOWS), _first("raises_in_a_cell", "raise ValueError('\\ud800' * 10**6)"),
    _first("adds_up_ones", "x = " + "+".join(["1"] * 20_000)), _first("many_minuses", "x = " + "-" * 50_000 + "1"),
    _cheat("always_equal", ALWAYS_EQUAL), _cheat("patches_the_checker", PATCHED), _cheat("forges_replies", FORGED),
    _cheat("patches_json", PATCHED_JSON), _cheat("patches_builtins", PATCHED_BUILTINS),
    _cheat("reads_the_solution", READS), _cheat("reads_below_python", READS_BELOW_PYTHON),
    _cheat("reads_through_torch", READS_THROUGH_TORCH), _cheat("reads_through_a_program", READS_THROUGH_A_PROGRAM),
    _cheat("searches_everywhere", SEARCHES), _cheat("goes_through_proc", THROUGH_PROC),
    _cheat("reads_others_files", OTHERS_FILES), _cheat("reads_the_grader_s_memory", GRADERS_MEMORY),
    _cheat("reads_the_gradebook", GRADEBOOK), _cheat("answers_for_ever", ANSWERS_FOR_EVER),
    _reply("answers_true", "value(True)"), _reply("answers_nothing", 'framed(b"null")'),
    _reply("names_numbers", "framed(b'{\"functions\": [1, null, {}], \"error\": [1], \"kind\": {}}')"),
    _reply("names_a_million", 'framed(json.dumps({"functions": ["f"] * 400_000}).encode())'),
    _reply("answers_without_end", 'b"x" * (8 << 20)'),
    _reply("answers_no_json", 'framed(b"\\xff{")'), _reply("answers_deep_json", 'framed(b"[" * 1_000_000)'),
    _reply("answers_a_fraction", 'value({"fraction": [hex(random.getrandbits(7_000_000) | 1) for _ in range(2)]})'),
    _reply("answers_by_zero", 'value({"fraction": ["0x1", "0x0"]})'),
    _reply("answers_collisions", f'value({{"set": {COLLIDING}}})'),
    _reply("answers_empty_rows", 'value({"array": ["f8", [10**9, 0], ""]})'),
    _reply("answers_strange_shapes", 'value({"array": ["f8", [-1, 10**30, "a"], ""]})'),
    _reply("raises_megabytes",
           'framed(json.dumps({"error": "\\ud800<b>" * 100_000, "kind": "NotImplementedError"}).encode())'),
    _reply("answers_twice", 'value(True) + value({"error": "x"}) * 3'),
    _bytes("empty", b""), _bytes("not_json", b"# %%\nprint(1)\n"),
    _many("many_cells", lambda number: nbformat.v4.new_code_cell(f"x = {number}"), full=False),
    _many("many_texts", lambda number: nbformat.v4.new_markdown_cell(f"{number}"), full=True),
    _bytes("a_number_of_many_digits", b'{"cells": [], "nbformat": ' + b"9" * 100_000 + b"}"),
    _bytes("wrong_kinds", b'{"cells": [{"cell_type": ["code"], "source": {"a": 1}, "metadata": [1]}, {"cell_type": "code", "source": '
           b'["def f(", 1, null, "): pass"], "metadata": {"nbgrader": {"grade_id": ["x"], "grade": {}, "solution": [1]}}}], "metadata": '
           b'{"lrnnlab": {"answers": [{"functions": [1, null, "a b"]}, 2], "assignment": {"x": 1}, "variant": []}}}'),
    _bytes("cells_that_are_none", b'{"cells": [1, null]}'), _bytes("nested", b'{"cells":' + b"[" * 100_000),
)  # fmt: skip
KINDS = (*QUICK, *SLOW)
