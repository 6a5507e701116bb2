"""A program of the warm Python ends, says and reads what the same program of Python does, and is killed with who asked for it."""

import os
import subprocess
import sys
import time

import pytest
import warm

pytestmark = [pytest.mark.thorough, pytest.mark.skipif(sys.platform != "linux", reason="there it is Python itself")]
PROGRAMS = [
    "import sys; print(sys.argv, sys.path[0], sys.stdin.read(), sorted(name for name in sys.modules if name.startswith('lrnn')))",
    "import os; print(os.getcwd(), os.environ['OF_THIS_CALL'], os.environ['PATH'])",
    "import atexit; atexit.register(print, 'late'); print('no end of line', end='')",
    "import sys; sys.exit(3)", "import sys; sys.exit('words')", "raise ValueError('no')", "import os; os.abort()",
    "import signal, os; os.kill(os.getpid(), signal.SIGTERM)",
]  # fmt: skip


@pytest.fixture(scope="module")
def program():
    with warm.python(dict(os.environ) | {"OMP_NUM_THREADS": "1"}) as program:
        yield program


@pytest.mark.parametrize("source", PROGRAMS)
def test_it_does_what_python_does(program, source, tmp_path):
    (tmp_path / "of_ours.py").write_text(source, encoding="utf-8")
    wanted, found = (
        subprocess.run([one, "-m", "of_ours", "a", "-b"], cwd=tmp_path, env={**os.environ, "OF_THIS_CALL": "x"}, input="read",
                       capture_output=True, text=True, check=False) for one in (sys.executable, program)
    )  # fmt: skip
    assert (found.returncode, found.stdout, found.stderr[-60:]) == (wanted.returncode, wanted.stdout, wanted.stderr[-60:])


@pytest.mark.parametrize("way, code", [("terminate", -15), ("kill", -9)])
def test_it_ends_with_who_asked_for_it(program, way, code, tmp_path):
    (tmp_path / "of_ours.py").write_text("import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(100)", encoding="utf-8")
    asking = subprocess.Popen([program, "-m", "of_ours"], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    running = int(asking.stdout.readline())
    getattr(asking, way)()
    assert asking.wait(10) == code
    with pytest.raises(ProcessLookupError):
        for _ in range(100):
            os.kill(running, 0)
            time.sleep(0.1)
