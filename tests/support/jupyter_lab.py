"""A JupyterLab of its own, with its own port, token and settings, to test in a browser."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

WAIT = 180  # seconds for the first page
# A newcomer is asked about news in a toast that takes the focus; this JupyterLab has a newcomer every time.
NOTIFICATIONS = {"fetchNews": "false", "checkForUpdates": False}


@dataclass(frozen=True)
class Server:
    """``page(path)`` is the address of a page, with the token; ``process`` runs it, ``state`` is where it writes."""

    port: int
    token: str
    process: subprocess.Popen
    state: Path

    def page(self, path: str = "lab") -> str:
        return f"http://127.0.0.1:{self.port}/{path}?token={self.token}"


@contextlib.contextmanager
def jupyter_lab(folder: Path, state: Path, options: Sequence[str] = ()) -> Iterator[Server]:
    """JupyterLab on ``folder``, from its first answer on; all it writes about itself goes into ``state``."""
    settings = Path(state) / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "notification.jupyterlab-settings").write_text(json.dumps(NOTIFICATIONS), encoding="utf-8")
    token = secrets.token_hex(16)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {f"JUPYTER_{kind}_DIR": str(state) for kind in ("CONFIG", "DATA", "RUNTIME")} | {"IPYTHONDIR": str(state)}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", f"--port={port}", "--ServerApp.port_retries=0",
               f"--ServerApp.root_dir={Path(folder).resolve()}", f"--IdentityProvider.token={token}",
               *options]  # fmt: skip
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")  # in a container one often is root; jupyter would balk
    log = Path(state) / "server.log"
    with log.open("w", encoding="utf-8") as said:
        process = subprocess.Popen(command, env={**os.environ, **own}, stdout=said, stderr=said)
    server = Server(port, token, process, Path(state))
    try:
        _first_answer(server, log)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _first_answer(server: Server, log: Path) -> None:
    end = time.monotonic() + WAIT
    while True:
        try:
            with urllib.request.urlopen(server.page(), timeout=5):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError) as error:
            if server.process.poll() is not None or time.monotonic() > end:
                tail = log.read_text(encoding="utf-8", errors="replace")[-2000:]
                raise RuntimeError(f"JupyterLab gave no page within {WAIT} s ({error}); it said\n{tail}") from error
            time.sleep(0.1)
