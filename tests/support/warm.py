"""A Python that has its libraries already: each ``python -m MODULE`` is a fork of one process that has imported them.

They take a process up to eight seconds, and the check of a notebook starts two.  Nothing of this project is imported before, so
that each finds what it finds alone.  What is started otherwise, with ``-c`` or as a file, gets Python itself.
"""

import os
import sys
from contextlib import contextmanager, suppress

LIBRARIES = [
    "ipykernel.kernelapp", "ipykernel.zmqshell", "IPython", "ipywidgets", "jupytext", "matplotlib.backends.backend_agg",
    "matplotlib.font_manager", "nbclient", "nbformat.v4", "nbval.plugin", "numba", "pandas", "pytest", "scipy.linalg",
    "scipy.special", "sympy", "torch", "yaml",
]  # fmt: skip
CODE = [0]  # with which a fork ends


@contextmanager
def python(environment):
    """The path of such a Python, whose libraries are imported in ``environment``; where there is no Linux, of Python itself."""
    import shlex
    import socket
    import subprocess
    import tempfile
    from pathlib import Path

    if sys.platform != "linux":
        yield sys.executable
        return
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        program, address = Path(folder) / "python", f"{folder}/asked"
        listener.bind(address)
        listener.listen()
        program.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, "-IS", __file__, address])} "$@"\n', encoding="utf-8")
        program.chmod(0o755)
        command = [sys.executable, __file__, "serve", str(listener.fileno()), os.fspath(program)]
        server = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, pass_fds=[listener.fileno()])
        try:
            yield os.fspath(program)
        finally:
            server.communicate()


def ask(address, *arguments):
    """In place of Python: have the process at ``address`` run the module, pass signals on, and end as it ends."""
    if arguments[:1] != ("-m",):
        os.execv(sys.executable, [sys.executable, *arguments])
    import json
    import signal
    import socket

    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        socket.send_fds(server, [b"."], [0, 1, 2])
        server.sendall(json.dumps([arguments[1:], os.getcwd(), dict(os.environ)]).encode() + b"\n")
        answers = server.makefile()
        program = int(answers.readline())
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            signal.signal(getattr(signal, name), lambda number, frame: os.kill(program, number))
        code = int(answers.readline() or 1)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def serve(listener, program):
    """Fork for each that asks, until who started this ends; it returns in a fork alone, which has become what was asked for."""
    import atexit
    import gc
    import importlib
    import select
    import signal

    atexit.register(leave)

    # A kernel would see both before it imports them.
    os.environ |= {"MPLBACKEND": "module://matplotlib_inline.backend_inline", "JPY_PARENT_PID": str(os.getpid())}
    for library in LIBRARIES:
        importlib.import_module(library)
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that wait
    while select.select([listener, sys.stdin], [], [])[0] == [listener]:
        asking, _ = listener.accept()
        if not os.fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            return become(asking, program)
        asking.close()
    os._exit(0)


def leave():
    """The last thing in each process: to take its libraries apart would take half a second."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(CODE[0])


def become(asking, program):
    """A process that is what was asked for, and in which the module is yet to be run; this one waits for it."""
    import json
    import socket
    from threading import Thread

    _, descriptors, *_ = socket.recv_fds(asking, 1, 3)
    (module, *arguments), folder, environment = json.loads(asking.makefile().readline())
    if child := os.fork():
        for descriptor in descriptors:
            os.close(descriptor)
        with suppress(OSError):  # who asked was killed, and so the child is
            asking.sendall(b"%d\n" % child)
            Thread(target=end_with, args=(asking, child), daemon=True).start()
            asking.sendall(b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        os._exit(0)
    os.setsid()
    asking.close()
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    paths = environment.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:1] = [folder, *(path for path in paths if path and path not in sys.path)]
    sys.executable, sys.argv = program, ["-m", *arguments]
    return module


def end_with(asking, child):
    """Kill the child where who asked for it is killed."""
    import signal

    if not asking.recv(1):
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)


if __name__ == "__main__":
    if sys.argv[1] != "serve":
        ask(*sys.argv[1:])
    import runpy
    import socket

    module = serve(socket.socket(fileno=int(sys.argv[2])), sys.argv[3])
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        CODE[0] = end.code if isinstance(end.code, int) else int(end.code is not None)
        raise
    except BaseException:
        CODE[0] = 1
        raise
