"""The fence: what a student's process cannot see, reach, use up or leave behind, and what it can do all the same."""

import shutil
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from fenced import QUICK
from rehearsal import left, marked

from lrnnbook.machinery import doctor
from lrnnbook.machinery.grading import fence as fences
from lrnnbook.machinery.grading.fence import HOME, Fence, Limits, NoFence, find
from lrnnbook.machinery.grading.sandboxed_process import Gone, Process

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def fence(fence):
    """With time for a busy machine: what is about the limit of time itself takes QUICK."""
    return replace(fence, limits=Limits(seconds=20, wall=120, folder=8 << 20, processes=40))


@pytest.fixture
def process(fence):
    with closing(Process(fence)) as process:
        yield process


def run(process, cell):
    reply = process.ask("cell", cell, 1)
    reply.pop("notes", None)
    return reply


# --- what is outside -------------------------------------------------------------------------------------------------

SECRET = "a secret that no student may read"
TOUCH = {  # what must not reach a file outside
    "reads": "open({path!r}).read()",
    "reads through a link": "import os; os.symlink({path!r}, 'link'); open('link').read()",
    "reads from a relative path": "import os; open(os.path.relpath({path!r})).read()",
    "reads through numpy": "import numpy; numpy.fromfile({path!r}, 'u1')[0]",
    "reads below Python": "import ctypes; assert ctypes.pythonapi.open({path!r}.encode(), 0) >= 0",
    "reads through proc": "open('/proc/1/root' + {path!r}).read()",
    "lists": "import os; os.listdir(os.path.dirname({path!r}))",
    "writes": "open({path!r}, 'w').write('mine')",
    "makes a neighbour": "open({path!r} + '.new', 'x').write('mine')",
    "removes": "import os; os.remove({path!r})",
    "changes its mode": "import os; os.chmod({path!r}, 0o777)",
    "changes its mode below Python": "import ctypes; assert not ctypes.pythonapi.chmod({path!r}.encode(), 0o777)",
    "changes its times": "import os; os.utime({path!r}, (0, 0))",
    "through a program": "import subprocess, sys; subprocess.run([sys.executable, '-c', 'open({path!r})'], check=True)",
    "imports it": "import sys; sys.path.insert(0, {folder!r}); import secret_module",
}


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret.txt"
    path.write_text(SECRET)
    path.chmod(0o644)
    (tmp_path / "secret_module.py").write_text("x = 1")
    return path


def test_nothing_outside_can_be_read_or_written(process, secret):
    before = secret.stat()
    for way, cell in TOUCH.items():
        reply = run(process, cell.format(path=str(secret), folder=str(secret.parent)))
        assert "error" in reply, way
        assert SECRET not in str(reply), way
    assert "error" not in run(process, "open('a.txt', 'w').write('a')\nassert open('a.txt').read() == 'a'")
    assert secret.stat()[:9] == before[:9]  # before we read it ourselves, which may move the time of last access
    assert secret.read_text() == SECRET
    assert secret.stat().st_ctime_ns == before.st_ctime_ns
    assert sorted(one.name for one in secret.parent.iterdir()) == ["secret.txt", "secret_module.py"]


def test_without_a_fence_the_secret_is_read(secret):
    """So the test above can fail."""
    with closing(Process(Fence(limits=QUICK))) as process:
        for way, cell in TOUCH.items():
            if way.startswith(("reads", "imports")) and "proc" not in way:
                assert "error" not in run(process, cell.format(path=str(secret), folder=str(secret.parent))), way
        assert run(process, f"print(open({str(secret)!r}).read())") == {"printed": SECRET + "\n"}


def test_the_course_is_not_seen_and_the_package_is(process):
    listed = f"import os; print(sorted(name for name in os.listdir({str(ROOT)!r}) if name != '.venv'))"
    assert run(process, listed) == {"printed": "['lrnnlab', 'notebooks']\n"}  # and the environment, where it lies there
    listed = f"import os; print(sorted(os.listdir({str(ROOT / 'notebooks' / 'lrnnbook')!r})))"
    assert run(process, listed) == {"printed": "['__init__.py', 'content', 'machinery']\n"}
    assert "error" not in run(process, "import lrnnlab.expressivity.theorems.cascades, lrnnlab.tasks, scipy.optimize")
    for place in (Path.home() / ".profile", "/etc/passwd", "/sys", "/run", "/var", "/usr/src", Path.home() / ".ssh"):
        assert run(process, f"import os; print(os.path.exists({str(place)!r}))") == {"printed": "False\n"}, place
    walk = "import os\nprint([(at, name) for at, _, names in os.walk('/') for name in names if {}])"
    walked = run(process, walk.format("name.startswith(('ps1_subtr', 'planted_ps')) or name.endswith('.sock')"))
    assert walked == {"printed": "[]\n"}


def test_what_is_hidden_stays_so_below_what_python_needs(fence, tmp_path, monkeypatch):
    """A checkout, and a folder of hand-ins, below the environment (as pip -e, conda or a container place them)."""
    prefix = tmp_path / "prefix"
    checkout, hand_ins = prefix / "lib" / "src" / "course", prefix / "lib" / "hand-ins"
    shutil.copytree(ROOT / "lrnnlab", checkout / "lrnnlab", ignore=shutil.ignore_patterns("__pycache__"))
    for secret in (checkout / "notebooks" / "solution.py", hand_ins / "ada.ipynb", prefix / "lib" / "library.py"):
        secret.parent.mkdir(parents=True, exist_ok=True)
        secret.write_text(SECRET)
    monkeypatch.setattr(sys, "exec_prefix", str(prefix))
    monkeypatch.setattr(fences, "PACKAGE", checkout / "lrnnlab")
    monkeypatch.setattr(fences, "SHOWN", (checkout / "lrnnlab", *fences.SHOWN[1:]))
    monkeypatch.setattr(fences, "KERNELS", checkout / "lrnnlab" / "scans" / "kernels" / "__pycache__")
    with closing(Process(fence.hiding(hand_ins))) as process:
        read = "print(open({!r}).read())"
        assert SECRET in run(process, read.format(str(prefix / "lib" / "library.py")))["printed"]
        assert "error" in run(process, read.format(str(checkout / "notebooks" / "solution.py")))
        assert "error" in run(process, read.format(str(hand_ins / "ada.ipynb")))
        assert "error" in run(process, f"open({str(checkout / 'x')!r}, 'w')")
        said = run(process, f"import lrnnlab, os; print(lrnnlab.__file__, os.listdir({str(checkout)!r}))")
        assert said == {"printed": f"{checkout / 'lrnnlab' / '__init__.py'} ['lrnnlab']\n"}


def test_nothing_can_be_written_but_one_small_folder(process):
    cell = """
import os
for at, folders, files in os.walk("/"):
    folders[:] = [one for one in folders if at != "/" or one != "proc"]
    for name in (*files[:3], "new"):
        try:
            os.close(os.open(os.path.join(at, name), os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK))
        except OSError:
            continue
        if not at.startswith(("/dev", os.getcwd())) and not at.endswith("scans/kernels/__pycache__"):
            print(os.path.join(at, name))
"""
    assert run(process, cell) == {"printed": ""}
    fill = "import pathlib\nfor name in 'ab': pathlib.Path(name).write_bytes(bytes(6 << 20))"
    assert "No space left" in run(process, fill)["error"]
    assert "File too large" in run(process, "import os\nos.truncate('a', 0)\nos.truncate('a', 9 << 20)")["error"]


def test_who_it_is_and_what_it_may(process):
    said = run(process, "import os; print(os.getuid() > 0 or os.stat('/proc/1').st_uid, os.getpid() < 9)\n"
                        "lines = dict(line.split(':', 1) for line in open('/proc/self/status').read().splitlines())\n"
                        "print(*(lines[key].strip() for key in ('CapEff', 'CapBnd', 'NoNewPrivs', 'Seccomp')))")  # fmt: skip
    assert said["printed"].split()[1:] == ["True", "0" * 16, "0" * 16, "1", "2"]
    for call in ("import socket; socket.socket()", "import os; os.memfd_create('x')",
                 "import ctypes; c = ctypes.CDLL(None, use_errno=True); assert c.unshare(0x10000000) == 0",
                 "import ctypes; assert ctypes.CDLL(None).ptrace(0x4206, 1, 0, 0) == 0",
                 "import ctypes; assert ctypes.CDLL(None).shmget(1, 4096, 0o1777) >= 0"):  # fmt: skip
        assert "error" in run(process, call), call


def test_without_libseccomp_the_fence_still_stands(fence, monkeypatch, secret):
    monkeypatch.setattr(fences, "_seccomp", lambda: None)
    assert "there is no libseccomp" in fence.describe()
    with closing(Process(fence)) as process:
        assert "error" in run(process, f"open({str(secret)!r})")
        assert "error" in run(process, "import ctypes; assert ctypes.CDLL(None).unshare(0x10000000) == 0")
        assert "error" in run(process, "import socket; socket.create_connection(('127.0.0.1', 22), 1)")


def test_the_environment_tells_nothing(fence, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "x")
    with closing(Process(fence)) as process:
        assert run(process, "import os; assert 'SECRET_TOKEN' not in os.environ\n"
                            "assert b'SECRET' not in open('/proc/1/environ', 'rb').read()") == {"printed": ""}  # fmt: skip
        assert run(process, "import os; print(os.getcwd(), os.environ['HOME'])") == {"printed": f"{HOME} {HOME}\n"}


def test_processes_do_not_share_anything(fence):
    with closing(Process(fence)) as first, closing(Process(fence)) as second:
        run(first, "import numpy; numpy.pi = 3; left = 1; open('note', 'w').write('x')")
        assert run(second, "import numpy, os; assert numpy.pi > 3.1 and not os.path.exists('note')") == {"printed": ""}
        assert run(second, "left")["kind"] == "NameError"
        assert run(second, "import os; print(max(int(n) for n in os.listdir('/proc') if n.isdecimal()) < 20)") == {
            "printed": "True\n"}  # fmt: skip


# --- what it can do --------------------------------------------------------------------------------------------------


def test_a_network_is_trained_with_the_package_s_own_fit_and_by_scikit_learn(fence):
    """Also: compiled kernels are read, not compiled again, which would take seconds and write them."""
    from lrnnlab import scans

    scans.warm()
    with closing(Process(fence)) as process:
        cell = """
from lrnnlab.models import build
from lrnnlab.tasks import Sum
from lrnnlab.training import Phase, Recipe, fit
make = lambda seed: build("elman", vocab_size=2, classes=2, seed=seed, width=8)
print(fit(make, Sum(2), Recipe((Phase(steps=3, lr=1e-3),), batch_size=4), seed=0, progress=False).steps)
"""
        assert run(process, cell) == {"printed": "3\n"}
        cell = ("from sklearn.cluster import KMeans\n"
                "print(len(KMeans(2, n_init=1).fit([[0.0], [0.1], [5.0]]).cluster_centers_))")  # fmt: skip
        assert run(process, cell) == {"printed": "2\n"}
        cell = ("import torch\nfrom lrnnlab.scans import linear_scan\n"
                "a = torch.full((1, 50, 3), 0.5, requires_grad=True)\n"
                "linear_scan(a, torch.ones(1, 50, 3), backend='cpu').sum().backward()\nprint(a.grad.shape)")  # fmt: skip
        assert run(process, cell) == {"printed": "torch.Size([1, 50, 3])\n"}
        cell = """
from pathlib import Path
read, now = ({(one.name, one.stat().st_mtime_ns) for one in Path(place).rglob("*.nb?")} for place in PLACES)
print(len(read) > 2, read == now, [*Path().rglob("*.nb?")])
""".replace("PLACES", repr((fences.STORED, str(fences.KERNELS))))
        assert run(process, cell) == {"printed": "True True []\n"}


CELLS = {
    "pickle": "import pickle\nclass Pair: pass\nassert type(pickle.loads(pickle.dumps(Pair()))) is Pair",
    "type hints": "import typing\nclass A: pass\nclass B:\n    a: 'A'\nassert typing.get_type_hints(B) == {'a': A}",
    "annotations": "def f(n: int): return n\nassert f.__annotations__ == {'n': int}",
    "source": "import inspect\ndef f(n):\n    return n\nassert inspect.getsource(f) == 'def f(n):\\n    return n\\n'",
    "TorchScript": "import torch\n@torch.jit.script\ndef f(x: torch.Tensor): return x + 1\nassert f(torch.tensor(1)) == 2",
    "Numba": "from numba import njit\n@njit(cache=True)\ndef f(n): return n + 1\nassert f(1) == 2",
}


def test_cells_run_as_in_jupyter(fence):
    with closing(Process(fence)) as process:
        for what, cell in CELLS.items():
            assert run(process, f"{cell}\n") == {"printed": ""}, what


# --- what it may use up ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell, why", [
    ("import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass", "used more than 1 seconds of"),
    ("import os\nfor _ in range(6):\n    if not os.fork():\n        while True: pass\nos.wait()",
     "used more than 1 seconds of computing time"),
    ("import os; os._exit(3)", "ended the whole process .exit status 3"), ("import ctypes; ctypes.string_at(0)", "crashed"),
    ("import os, time\nfor _ in range(4):\n    if not os.fork():\n        kept = b'x' * (300 << 20)\n"
     "        time.sleep(99)\ntime.sleep(99)", "used more than 1024 MiB of memory"),
    ("import os\nfor at in range(10**6):\n    os.close(os.open(f'f{at}', os.O_CREAT))", "made more than 20000 files"),
])  # fmt: skip
def test_why_a_process_ended(fence, cell, why):
    fence = replace(fence, limits=QUICK) if "seconds" in why else fence
    with closing(Process(fence)) as process, pytest.raises(Gone, match=why):
        run(process, cell)


def test_memory_is_limited_and_the_process_goes_on(process):
    assert run(process, "kept = []\nwhile True: kept.append(bytearray(10**7))")["kind"] == "MemoryError"
    assert run(process, "del kept; x = 1") == {"printed": ""}


def test_processes_are_counted(process):
    assert run(process, "import os, time\nmade = 0\ntry:\n    while made < 200:\n        if not os.fork():\n"
                        "            time.sleep(999)\n        made += 1\nexcept OSError:\n    pass\nprint(10 < made < 41)"
               ) == {"printed": "True\n"}  # fmt: skip


@pytest.mark.parametrize("cell", [
    "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass",
    "import ctypes\nnative = ctypes.pythonapi\nwhile True:\n    if native.fork() > 0: native._exit(0)",
    "import os, time\nif not os.fork():\n    os.setsid()\n    if not os.fork(): time.sleep(999)\n    os._exit(0)\n"
    "os._exit(0)",
    "import os, signal\nfor n in range(1, 32):\n    try: signal.signal(n, signal.SIG_IGN)\n    except OSError: pass\n"
    "os.fork()\nimport time\ntime.sleep(999)",
], ids=["bombs", "leaves and leaves", "leaves a daemon", "ignores signals"])  # fmt: skip
def test_the_whole_tree_ends(fence, cell):
    fence = marked(replace(fence, limits=replace(QUICK, wall=2)))
    began = time.monotonic()
    with closing(Process(fence)) as process:
        assert left(fence)
        with pytest.raises(Gone):
            run(process, cell)
    assert time.monotonic() - began < 60
    assert not left(fence)


def test_it_ends_with_the_grader(fence):
    code = ("import os, sys; sys.path.insert(0, sys.argv[1])\n"
            "from fenced import the_fence; from lrnnbook.machinery.grading.sandboxed_process import Process\n"
            "process = Process(the_fence()); process.ask('cell', 'import os, time\\nos.fork() or time.sleep(999)', 1)\n"
            "print(process._root, flush=True); os.kill(os.getpid(), 9)")  # fmt: skip
    said = subprocess.run([sys.executable, "-c", code, str(ROOT / "tests" / "support")], capture_output=True, text=True, cwd=ROOT,
                          timeout=120)  # fmt: skip
    path, until = Path(f"/proc/{int(said.stdout)}"), time.monotonic() + 20
    while path.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not path.exists()


@pytest.mark.parametrize("cell", [
    "import time; time.sleep(999)", "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "import os, time\nfor _ in range(999):\n    os.write(4, b'\\0'); time.sleep(0.5)",
], ids=["sleeps", "stops itself", "drips"])  # fmt: skip
def test_nobody_waits_for_it_without_end(fence, cell):
    why = "took more than 1 seconds by the clock|sent the grader what"
    with closing(Process(replace(fence, limits=replace(QUICK, wall=1)))) as process, pytest.raises(Gone, match=why):
        run(process, cell)


# --- which fence there is --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("there, why", [
    (False, "there is no bubblewrap.*install bubblewrap.*--unfenced"),
    (True, "is there and does not work: bwrap: No permissions to create new namespace"),  # user namespaces are refused
])  # fmt: skip
def test_without_a_fence_that_works_grading_is_refused_or_says_so(monkeypatch, tmp_path, there, why):
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(fences.shutil, "which", lambda name: str(program) if there and name == "bwrap" else None)
    with pytest.raises(NoFence, match=why):
        find()
    assert not find(unfenced=True).program
    if not there:
        [said] = doctor.fence()
        assert said.ok is None and "there is no bubblewrap" in said.detail and said.detail.endswith("needed for: course")
