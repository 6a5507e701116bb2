"""A rehearsal: made-up submissions of every kind (``kinds``, ``attacks``), graded, and all that must hold afterwards.

``rehearse`` writes them to a folder, grades them as ``lrnnlab course grade`` does, and returns every mark that is not
as expected, every file outside that was touched, every process that is left.  The whole of it, 200 of them::

    python tests/support/rehearsal.py [--set ps1] [--count 200] [--jobs 2] [--kinds WORD]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import secrets
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from attacks import KINDS
from kinds import Made, Scene
from planted import Handout, plants

from lrnnbook.machinery.grading import fence
from lrnnbook.machinery.grading.fence import LRNNBOOK, PACKAGE, Fence
from lrnnbook.machinery.grading.gradebook import grade_folder
from lrnnbook.machinery.grading.sets import find

CANARY = "untouched"


def write(kind: Callable[[Scene], Made], scene: Scene, folder: Path) -> tuple[str, int]:
    """Write one submission; return the student's name and the points earned."""
    student = f"{scene.number:03d}_{kind.__name__.strip('_')}"
    made, points = kind(scene)
    if made is None:
        (folder / student).mkdir()
    elif isinstance(made, bytes):
        (folder / f"{student}.ipynb").write_bytes(made)
    else:
        text = json.dumps(made)
        if scene.number % 2:  # both ways to lay out a folder
            (folder / student).mkdir()
            (folder / student / f"{scene.handout.problem_set.name}.ipynb").write_text(text, encoding="utf-8")
        else:
            (folder / f"{student}.ipynb").write_text(text, encoding="utf-8")
    return student, points


def rehearse(
    name: str,
    count: int,
    jobs: int = 1,
    *,
    within: Fence | None = None,
    kinds: Sequence = KINDS,
    say: Callable[[str], None] | None = None,
) -> list[str]:
    """Make ``count`` submissions, kind after kind, grade them, and say what is not as it must be."""
    source, handout, planted_ones = find(name), Handout.of(name), plants(name)
    within = marked(within or fence.find())
    with tempfile.TemporaryDirectory(prefix="lrnnlab-rehearsal-") as place, listeners(Path(place)) as (words, heard):
        folder, marks, canary = Path(place) / "submitted", Path(place) / "marks", Path(place) / "canary"
        folder.mkdir()
        canary.write_text(CANARY)
        number = {"x86_64": (250, 248, 155), "aarch64": (219, 217, 41)}.get(platform.machine(), (-1, -1, -1))
        words |= {"CANARY": str(canary), "SOURCE": str(source.resolve()), "MARKS": str(marks), "HANDED_IN": str(folder),
                  "PACKAGE": str(PACKAGE), "GRADER": str(os.getpid()), "KEYCTL": str(number[0]),
                  "ADD_KEY": str(number[1]), "PIVOT_ROOT": str(number[2])}  # fmt: skip
        due = dict(write(kinds[number % len(kinds)],
                         Scene(handout, planted_ones, number // len(kinds) + number, words), folder)
                   for number in range(count))  # fmt: skip
        watched = canary, folder, PACKAGE, LRNNBOOK, source.parent
        before, shared = traces(*watched), segments()
        reports = grade_folder(folder, source, marks, within, jobs=jobs, say=say or str)
        wrong = [f"{report.student}: {report.points} points, and should have {due[report.student]}"
                 for report in reports if report.points != due[report.student]]  # fmt: skip
        if len(reports) != count:
            wrong.append(f"{count} submissions, {len(reports)} reports")
        after = traces(*watched)
        wrong += [f"{path} was touched" for path in sorted({*before, *after})
                  if before.get(path) != after.get(path)]  # fmt: skip
        wrong += [f"process {pid} is left" for pid in left(within)]
        wrong += [f"shared memory is left: {line}" for line in segments() - shared] + heard()
        return wrong


def traces(*places: Path) -> dict[str, tuple]:
    """Mode, owner, links, size and times of each file, of a folder mode and owner; compiled files are ours and left out."""
    found = {}
    for place in places:
        for path in (place, *place.rglob("*")):
            if "__pycache__" not in path.parts:
                stat = path.lstat()
                more = () if path.is_dir() else (stat.st_nlink, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
                found[str(path)] = (stat.st_mode, stat.st_uid, *more)
    return found


def marked(within: Fence) -> Fence:
    """The same fence with a limit that no other has, by which :func:`left` knows its processes."""
    return replace(within, limits=replace(within.limits, whole=within.limits.whole + secrets.randbits(40) * 1e-9))


def left(within: Fence) -> list[str]:
    """The processes of a :func:`marked` fence that live: its first one stands for all, and tells its command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(within.limits.whole).encode() in path.read_bytes():
                found.append(path.parts[2])
        except OSError:  # it has ended
            continue
    return found


def segments() -> set[str]:
    """System V's shared memory."""
    path = Path("/proc/sysvipc/shm")
    return {line.split()[1] for line in path.read_text().splitlines()} if path.is_file() else set()


@contextmanager
def listeners(place: Path) -> Iterator[tuple[dict[str, str], Callable[[], list[str]]]]:
    """Sockets of every kind that nobody may reach: the words for them, and who did."""
    abstract = f"lrnnlab-{os.getpid()}"
    unix, hidden, tcp = (socket.socket(kind) for kind in (socket.AF_UNIX, socket.AF_UNIX, socket.AF_INET))
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with unix, hidden, tcp, udp:
        unix.bind(str(place / "socket"))
        hidden.bind(f"\0{abstract}")
        tcp.bind(("127.0.0.1", 0))
        udp.bind(tcp.getsockname())
        for one in (unix, hidden, tcp):
            one.listen()
        for one in (unix, hidden, tcp, udp):
            one.setblocking(False)

        def heard() -> list[str]:
            found = []
            for name, ask in (("unix", unix.accept), ("abstract", hidden.accept), ("TCP", tcp.accept),
                              ("UDP", lambda: udp.recv(1))):  # fmt: skip
                try:
                    ask()
                except BlockingIOError:
                    continue
                found.append(f"somebody reached the {name} socket")
            return found

        yield {"SOCKET": str(place / "socket"), "ABSTRACT": abstract, "PORT": str(tcp.getsockname()[1])}, heard


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="rehearsal.py", description=__doc__.partition("\n")[0])
    parser.add_argument("--set", default="ps1", help="ps1 to ps5")
    parser.add_argument("--count", type=int, default=200, help="how many (200)")
    parser.add_argument("--jobs", type=int, default=2, help="submissions at a time (2)")
    parser.add_argument("--kinds", default="", help="only kinds whose name contains this")
    options = parser.parse_args()
    chosen = [kind for kind in KINDS if options.kinds in kind.__name__]
    began = time.perf_counter()
    wrong = rehearse(options.set, options.count, options.jobs, kinds=chosen,
                     say=lambda line: print(f"{time.perf_counter() - began:6.0f} s  {line}", flush=True))  # fmt: skip
    print(*wrong, sep="\n")
    print(f"{options.count} submissions of {len(chosen)} kinds, {options.jobs} at a time: "
          f"{len(wrong)} things not as they must be, {time.perf_counter() - began:.0f} s")  # fmt: skip
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
