"""A class on a hub, tried out: real servers that open one chapter and run it, all at the same moment.

``lrnnlab book hub 00 --students 1,5,20`` starts a JupyterHub with the configuration that the repository has for a class
(``.jupyter/jupyterhub_config.py``), gives each student a server, and runs the chapter's cells through the hub's API.
What it needs beside the Lab is ``pip install -e '.[hub]'``.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketClientConnection, WebSocketError, websocket_connect

from workbook.book.footprint import ASK, of_process, parsed
from workbook.book.jupyter_server import end_process, free_ports
from workbook.book.running import BookError
from workbook.book.sync import read_twin

CONFIGURATION = Path(".jupyter") / "jupyterhub_config.py"
PATIENCE = 120  # seconds for the hub itself, and for each of its answers
SAMPLE = 0.5  # seconds between two looks at the machine's memory


@dataclass(frozen=True)
class Seat:
    """One student: seconds until the server was ready and until the last cell had run; MB of server and kernel."""

    name: str
    ready: float
    ran: float
    server: float
    kernel: float
    error: str = ""


@dataclass(frozen=True)
class Lesson:
    """A class that ran: its seats; MB of memory that the machine needed more than before; the share of its processors."""

    seats: tuple[Seat, ...]
    memory: float
    busy: float

    def __str__(self) -> str:
        lost, good = ([seat for seat in self.seats if bool(seat.error) is bad] for bad in (True, False))
        said = f"{len(self.seats):3} students: "
        if good:  # of those who came to the end
            ready, ran = (sorted(getattr(seat, name) for seat in good) for name in ("ready", "ran"))
            said += (f"server ready after {ready[len(ready) // 2]:.0f} s ({ready[-1]:.0f} s at most), "
                     f"chapter run after {ran[len(ran) // 2]:.0f} s more ({ran[-1]:.0f} s at most); a seat "
                     f"{sum(seat.server + seat.kernel for seat in good) / len(good):.0f} MB, ")  # fmt: skip
        said += f"all {self.memory:.0f} MB; processors busy {self.busy:.0%}"
        return said + "".join(f"\n    {seat.name}: {seat.error}" for seat in lost)


def lesson(students: int, notebook: Path, root: Path, timeout: float = 600) -> Lesson:
    """Let that many students open a chapter at once, each on a server of his or her own, and run all its cells."""
    if students < 1:
        raise BookError(f"a class has one student or more, got {students}")
    with tempfile.TemporaryDirectory(prefix="lrnnlab-class-") as place:
        hub = _Hub.start(Path(place), root)
        try:
            return asyncio.run(_lesson(hub, students, Path(notebook), timeout))
        finally:
            hub.stop()


@dataclass(frozen=True)
class _Hub:
    """A hub that runs: its address, the token that may do everything, its process, the file of its log."""

    address: str
    token: str
    process: subprocess.Popen
    log: Path

    @classmethod
    def start(cls, place: Path, root: Path) -> _Hub:
        program = Path(sys.executable).with_name("jupyterhub")
        if not program.is_file():
            raise BookError("there is no jupyterhub beside this Python: pip install -e '.[hub]'")
        ports, token, log = free_ports(3), secrets.token_hex(16), place / "hub.log"
        command = [str(program), "-f", str(root.resolve() / CONFIGURATION), f"--JupyterHub.hub_port={ports[1]}",
                   f"--JupyterHub.bind_url=http://127.0.0.1:{ports[0]}",
                   f"--ConfigurableHTTPProxy.api_url=http://127.0.0.1:{ports[2]}"]  # fmt: skip
        environment = {**os.environ, "LRNNLAB_CLASS": str(place), "LRNNLAB_CLASS_TRIAL": token}
        with log.open("w", encoding="utf-8") as said:
            process = subprocess.Popen(command, env=environment, cwd=place, stdout=said, stderr=said)
        return cls(f"http://127.0.0.1:{ports[0]}", token, process, log)

    def stop(self) -> None:
        end_process(self.process, 60)  # the hub ends its servers and its proxy

    async def ask(self, path: str, method: str = "GET", body: Any = None) -> Any:
        data = None if method in ("GET", "DELETE") else json.dumps(body or {})
        request = HTTPRequest(self.address + path, method=method, headers=self.headers, body=data,
                              request_timeout=PATIENCE, connect_timeout=PATIENCE)  # fmt: skip
        answer = await AsyncHTTPClient().fetch(request)
        return json.loads(answer.body) if answer.body else None

    def last_error(self) -> str:
        """The last line of the hub's log that names an error, after a semicolon; empty where none does."""
        lines = re.findall(r"^ *(\w*(?:Error|Exception): .*)$", self._said(), re.MULTILINE)
        return f"; the hub's log says: {lines[-1][:200]}" if lines else ""

    def _said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"token {self.token}"}

    async def answers(self) -> None:
        """Wait until it does; BookError with the end of its log where it does not."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < end:
            with suppress(OSError, HTTPClientError):
                await self.ask("/hub/api/users")
                return
            await asyncio.sleep(0.2)
        raise BookError(f"the hub does not answer; its log ends:\n{self._said()[-1500:]}")


async def _lesson(hub: _Hub, students: int, notebook: Path, timeout: float) -> Lesson:
    AsyncHTTPClient.configure(None, max_clients=4 * students + 4)
    cells = [cell.source for cell in read_twin(notebook).cells if cell.cell_type == "code"]
    await hub.answers()
    names = [f"student{n:03}" for n in range(1, students + 1)]
    await hub.ask("/hub/api/users", "POST", {"usernames": names})
    free, work = _available(), _processors()
    least = [free]
    watch = asyncio.create_task(_watch(least))
    seats = await asyncio.gather(*(_seat(hub, name, notebook.name, cells, timeout) for name in names))
    watch.cancel()
    after = _processors()
    busy = (after[0] - work[0]) / max(after[1] - work[1], 1)
    return Lesson(tuple(seats), free - min(least), busy)


async def _watch(least: list[float]) -> None:
    while True:
        least.append(_available())
        await asyncio.sleep(SAMPLE)


async def _seat(hub: _Hub, name: str, chapter: str, cells: Sequence[str], timeout: float) -> Seat:
    """One student's lesson; whatever ends it early is told in the seat's ``error``."""
    began = time.monotonic()
    ready = ran = began
    server = kernel = 0.0
    try:
        user = await _server(hub, name)
        ready = ran = time.monotonic()
        base = f"/user/{name}/api"
        session = await hub.ask(f"{base}/sessions", "POST", {"path": chapter, "name": chapter, "type": "notebook",
                                                           "kernel": {"name": "python3"}})  # fmt: skip
        id = session["kernel"]["id"]
        address = hub.address.replace("http", "ws", 1) + f"{base}/kernels/{id}/channels"
        channel = await websocket_connect(HTTPRequest(address, headers=hub.headers), max_message_size=1 << 28)
        for source in cells:
            await asyncio.wait_for(_run(channel, source), timeout)
            ran = time.monotonic()
        kernel = parsed(await asyncio.wait_for(_run(channel, ASK), timeout))[1]
        server = of_process(user["servers"][""]["state"]["pid"])[1]
        channel.close()
        error = ""
    except (OSError, HTTPClientError, WebSocketError, TimeoutError, asyncio.TimeoutError, BookError) as wrong:
        error = f"{type(wrong).__name__}: {wrong}".strip().splitlines()[0][:200] + hub.last_error()
    return Seat(name, ready - began, ran - ready, server, kernel, error)


async def _server(hub: _Hub, name: str) -> dict:
    """Start a student's server and wait until it is ready; BookError where it does not start."""
    await hub.ask(f"/hub/api/users/{name}/server", "POST")
    while True:
        user = await hub.ask(f"/hub/api/users/{name}")
        if user["servers"].get("", {}).get("ready"):
            return user
        if not user.get("pending") and not user["servers"]:
            raise BookError(f"the server of {name} did not start")
        await asyncio.sleep(0.2)


async def _run(channel: WebSocketClientConnection, source: str) -> str:
    """What a cell writes to standard output; BookError with its error where it raises, or where the kernel is gone."""
    id, said, done, idle = uuid4().hex, [], False, False
    header = {"msg_id": id, "msg_type": "execute_request", "username": "", "session": id, "version": "5.3"}
    content = {"code": source, "silent": False, "store_history": False, "allow_stdin": False}
    await channel.write_message(json.dumps({"header": header, "parent_header": {}, "metadata": {}, "content": content,
                                            "channel": "shell", "buffers": []}))  # fmt: skip
    while not (done and idle):
        message = await channel.read_message()
        if message is None:
            raise BookError("the kernel is gone")
        if isinstance(message, bytes):  # a widget's buffers
            continue
        told = json.loads(message)
        if told["parent_header"].get("msg_id") != id:
            continue
        kind, content = told["msg_type"], told["content"]
        if kind == "stream" and content["name"] == "stdout":
            said.append(content["text"])
        if kind == "execute_reply" and content["status"] != "ok":
            raise BookError(f"{content.get('ename', 'stopped')}: {content.get('evalue', '')}")
        done = done or kind == "execute_reply"
        idle = idle or (kind == "status" and content["execution_state"] == "idle")
    return "".join(said)


def _available() -> float:
    """MB of memory that the machine can still give; BookError where it is no Linux."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except FileNotFoundError as error:
        raise BookError("memory is read from /proc/meminfo, which only Linux has") from error
    return int(next(line for line in lines if line.startswith("MemAvailable")).split()[1]) / 1000


def _processors() -> tuple[int, int]:
    """(busy, all) ticks of all processors so far."""
    ticks = [int(one) for one in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)  # less idle and waiting for disks
