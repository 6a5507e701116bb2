"""Records of runs and of timings: one line of JSON each, in the file of its table, with where it came from and a seal.

A record is trusted only if it can be read, its seal fits its content, it has what its readers rely on, and it answers
exactly the question that is asked (same experiment, same configuration).  Anything else is named on stderr and skipped.
"""

import errno
import hashlib
import json
import math
import os
import platform
import re
import secrets
import subprocess
import sys
import time
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timezone
from fnmatch import fnmatch
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, SupportsFloat

import numpy as np
import torch
from filelock import FileLock

import lrnnlab
from lrnnlab import __version__
from lrnnlab.files import check_file, put
from lrnnlab.training import deterministic

LIBRARY = Path(lrnnlab.__file__).resolve().parent
LRNNBOOK = Path(__file__).resolve().parents[2]
SCHEMA = 1
MAX_FILE_BYTES = 1 << 25  # bytes of a file that is read; the largest has three million
FINISHED = Path("checkpoints", "finished")  # below data/: runs that are not lines yet; git ignores it
FILE = re.compile(r"records/\w[\w-]*/\w[\w .=+-]*\.jsonl")  # where a table's records lie in data/
SOURCES = "sources.json"  # in data/records
PROBE = 1 << 20  # bytes that must find room before work begins whose outcome is to be written

# What readers rely on, in a record of a run and in one of a case that was timed.
RUN = {"experiment": str, "task": str, "row": str, "seed": int, "budget": str, "protocol": str, "metrics": dict,
       "config": dict, "fingerprint": str, "provenance": dict}  # fmt: skip
CASE = {"experiment": str, "case": str, "threads": int, "device": str, "rounds": int, "machine": dict, "metrics": dict,
        "fingerprint": str, "provenance": dict}  # fmt: skip


def data_folder() -> Path:
    """The repository's ``data/`` where the package runs from a checkout, else ``data`` in the current folder."""
    beside = LIBRARY.parent / "data"
    return beside if beside.is_dir() else Path.cwd() / "data"


def recorded_folder() -> Path:
    """Where the recorded runs are read: ``data/`` of the repository, or of the installed package."""
    packaged = LIBRARY / "data"
    return packaged if packaged.is_dir() else data_folder()


def fingerprint(config: dict) -> str:
    """A short hash of a configuration: equal exactly for equal configurations."""
    return hashlib.sha256(json.dumps(config, sort_keys=True, default=list).encode()).hexdigest()[:16]


def provenance(device: str = "cpu", source: str | None = None) -> dict:
    """Versions, revision, machine kind and date: enough to know what made a number, nothing about whose machine.

    Where ``source`` is given, the digest of the code that is run, it also says in which :func:`arithmetic` that is.
    """
    return {
        "python": platform.python_version(),
        "lrnnlab": __version__,
        **{name: version(name) for name in ("torch", "numpy", "numba")},
        "revision": _revision(),
        **({"source": source, "arithmetic": arithmetic()} if source else {}),
        "system": f"{platform.system()} {platform.machine()}",
        "device": device,
        "threads": 1,
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
    }


@cache
def arithmetic() -> str:
    """A digest of the bits that this processor and these versions of torch and NumPy give, by no code of ours."""
    with deterministic():
        x = torch.randn(96, 200, generator=torch.Generator().manual_seed(0))
        found = [x @ x.T, x.exp(), x.tanh(), x.softmax(-1), x.sum(), torch.fft.rfft(x).abs(), x.abs().pow(1.2).log1p(),
                 torch.nn.functional.layer_norm(x, (200,)), torch.nn.functional.silu(x).cumsum(-1)]  # fmt: skip
        bits = b"".join(one.numpy().tobytes() for one in found) + np.linalg.inv(x[:, :96].double().numpy()).tobytes()
    return hashlib.sha256(bits).hexdigest()[:16]


def sources() -> dict[str, list[str]]:
    """Table -> digests of all code that is known to give its recorded numbers (:mod:`lrnnbook.content.tables.code`)."""
    try:
        return json.loads((recorded_folder() / "records" / SOURCES).read_bytes())
    except (OSError, ValueError):
        return {}


def version(package: str) -> str:
    """The version of an installed package; a package that was only put on the path has none that could be known."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _revision() -> str:
    """The commit, with ``-dirty`` if a package differs from it; records that are not committed yet do not count."""
    here = LIBRARY.parent
    if not (here / ".git").exists():  # else git would name a repository that the package only lies in
        return "unknown"
    try:
        said, changed = (
            subprocess.run(["git", *call], cwd=here, capture_output=True, text=True, timeout=10).stdout.strip()
            for call in (["describe", "--always", "--abbrev=12"], ["status", "--porcelain", LIBRARY, LRNNBOOK])
        )
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return f"{said}-dirty" if said and changed else said or "unknown"


def _seal(record: dict) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def check_writable(paths: Iterable[Path]) -> None:
    """``OSError``, which names the place, unless files can be written at ``paths``; to be asked before work, not after."""
    folders = {}
    for path in paths:
        check_file(path)
        folders[path.parent] = path
    for folder in folders:
        probe = folder / f".{secrets.token_hex(4)}.probe"
        try:
            put(probe, os.urandom(PROBE))  # random, since some file systems compress
            probe.unlink()
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(folder)) from error


def as_json(record: dict) -> dict:
    """``record`` as plain JSON, which has no NaN and no infinity: null stands for them, and ``not_finite`` says which."""
    finite, lost = _take_out(json.loads(json.dumps(record, default=list)))
    return {**finite, "not_finite": lost} if lost else finite


def _take_out(found: Any) -> tuple[Any, Any]:
    """``found`` with None for NaN and infinities, and what stood there, nested in the same way."""
    if isinstance(found, float) and not math.isfinite(found):
        return None, json.dumps(found)
    if not isinstance(found, (dict, list)):
        return found, {}
    parts = {key: _take_out(value) for key, value in (found.items() if isinstance(found, dict) else enumerate(found))}
    finite = {key: part for key, (part, _) in parts.items()}
    lost = {str(key): part for key, (_, part) in parts.items() if part}
    return (finite if isinstance(found, dict) else [*finite.values()]), lost


def _put_back(finite: Any, lost: Any) -> Any:
    """What :func:`_take_out` was given, of what it returned."""
    if isinstance(lost, str):
        return float(lost)
    for name, part in lost.items():
        key = name if isinstance(finite, dict) else int(name)
        finite[key] = _put_back(finite[key], part)
    return finite


def identity(record: Mapping) -> tuple:
    """What two records of one run, or of one case that was timed, have in common; records are kept in this order."""
    if "case" in record:
        return json.dumps(record["machine"], sort_keys=True), record["device"], record["threads"], record["case"]
    protocol = "" if record["protocol"] == "ours" else f"-{record['protocol']}-protocol"
    return record["budget"], f"{record['task']}-{record['row']}-{record['seed']}{protocol}."


def place(data: Path, record: Mapping) -> Path:
    """The file of a record: that of its table.  Rows of a variant (``lstm x2``) have one of their own, or it would be large.
    """
    variant = record.get("row", "").partition(" ")[2]
    return data / "records" / f"{record['experiment']}{variant and '-'}{variant}.jsonl"


def write(path: Path, record: dict) -> None:
    """Write ``record`` (JSON-able) to ``path``, as one sealed line: whole or not at all (``OSError``, see ``files.put``)."""
    record = as_json({"schema": SCHEMA, **record})
    put(path, f"{json.dumps({**record, 'seal': _seal(record)}, separators=(',', ':'))}\n".encode())


def keep(data: Path, record: dict) -> None:
    """Record a run or a case in ``data``: as a small file of its own, then as a line of its table's file."""
    write(data / FINISHED / f"{time.time_ns():x}-{secrets.token_hex(4)}.json", record)
    fold(data)


def fold(data: Path) -> None:
    """Move what is finished from the small files into the tables' files; where no lock is to be had it stays, and is read."""
    lock = data / FINISHED / ".lock"
    with suppress(OSError, NotImplementedError):
        check_file(lock)  # a lock empties its file, through a link too
        with FileLock(lock):
            _fold(data)


def _fold(data: Path) -> None:
    moved: dict[Path, list[tuple[Path, dict, bytes]]] = {}
    for small in sorted((data / FINISHED).glob("*.json")):
        for record, line in _good(small):
            if small.stat().st_size <= len(line) + 1:  # else somebody wrote into it: it stays, and is read
                moved.setdefault(place(data, record), []).append((small, record, line))
    for path, finished in moved.items():
        with suppress(OSError):  # they wait; those of other tables do not
            mark, lines = _lines(path)
            if mark is None:
                _skip(path, f"is no UTF-8: what is new waits in {data / FINISHED}", "not added to")
                continue
            keyed = [(None if isinstance(found := _trusted(line), str) else _key(found), line) for line in lines]
            for _, record, line in finished:
                _insert(keyed, _key(record), line)
            put(path, mark + b"\n".join(line for _, line in keyed))
            for small, *_ in finished:
                small.unlink()


def _insert(keyed: list[tuple[tuple | None, bytes]], key: tuple, line: bytes) -> None:
    """Replace the lines of a key by this one, or put it where the key belongs; a line without a key is not ours and stays."""
    ours = [(at, other) for at, (other, _) in enumerate(keyed) if other is not None]
    same = [at for at, other in ours if other == key]
    if same:
        keyed[same[-1]] = key, line
    else:
        end = ours[-1][0] + 1 if ours else 0
        keyed.insert(next((at for at, other in ours if other > key), end), (key, line))
    for at in reversed(same[:-1]):
        del keyed[at]
    if keyed[-1][1] is line:  # a line ends
        keyed.append((None, b""))


def _key(record: Mapping) -> tuple:
    return (record["experiment"], *identity(record))


def _lines(path: Path) -> tuple[bytes | None, list[bytes]]:
    """A file's mark of its encoding (None: not UTF-8), and its lines; the last is what follows the last end, often nothing.

    ``OSError``, with the reason, for what is no file or too large.
    """
    if not os.path.lexists(path):
        return b"", [b""]
    if not path.is_file():  # a folder, a pipe, a link that leads nowhere
        raise OSError(errno.EEXIST, "is no file")
    if path.stat().st_size > MAX_FILE_BYTES:
        raise OSError(errno.EFBIG, f"has more than {MAX_FILE_BYTES:,} bytes")
    found = path.read_bytes()
    with suppress(UnicodeError):
        if found.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            return None, found.decode("utf-16").encode().split(b"\n")
    mark = BOM_UTF8 if found.startswith(BOM_UTF8) else b""
    return mark, found.removeprefix(mark).split(b"\n")


def read(data: Path, name: str = "*/*") -> list[dict]:
    """All good records of a table in ``data`` (by default of all tables), in order; what is not good is named on stderr."""
    timed = name.startswith("bench/")
    waiting = [record for path in sorted((data / FINISHED).glob("*.json")) for record, _ in _good(path)]  # before they move
    files = {path for end in ("", "-*") for path in (data / "records").glob(f"{name}{end}.jsonl")}
    lines = [record for path in sorted(files) if timed or path.parent.name != "bench" for record, _ in _good(path, data)]
    found = {_key(one): one for one in (*lines, *waiting)
             if fnmatch(one["experiment"], name) and timed == ("case" in one)}  # fmt: skip
    return [found[key] for key in sorted(found)]


def _good(path: Path, data: Path | None = None) -> Iterator[tuple[dict, bytes]]:
    """The records, each with its line, that can be trusted and whose file in ``data`` this is; of other lines, why not."""
    try:
        lines = _lines(path)[1]
    except OSError as error:
        return _skip(path, f"cannot be read ({error.strerror})")
    for number, line in enumerate(lines if lines[-1] else lines[:-1], 1):
        found = _trusted(line)
        if not isinstance(found, str) and data is not None and place(data, found) != path:
            found = f"belongs to {place(data, found)}"
        if isinstance(found, str):
            _skip(f"{path}, line {number},", found)
        else:
            yield found, line


def _trusted(line: bytes) -> dict | str:
    """The record of a line, or why it is none."""
    try:
        record = json.loads(line)
        if record.pop("seal") != _seal(record):
            return "was changed after it was written (its seal does not fit)"
        record = _put_back(record, record.pop("not_finite", {}))
    except (ValueError, RecursionError, LookupError, AttributeError, TypeError) as error:
        return f"is damaged ({type(error).__name__})"
    if record.get("schema") != SCHEMA:
        return f"has schema {record.get('schema')!r}, this version reads {SCHEMA}"
    needs = CASE if "case" in record else RUN
    lacking = [name for name, kind in needs.items() if not isinstance(record.get(name), kind)]
    if lacking:
        return f"has no {lacking[0]!r}, or not as {needs[lacking[0]].__name__}"
    name = place(Path(), record).as_posix()
    return record if FILE.fullmatch(name) else f"is of no table ({name})"


def _skip(where: Path | str, why: str, then: str = "skipped") -> None:
    print(f"record {where} {why}: {then}", file=sys.stderr)


def who(record: Mapping) -> str:
    """Task, row and seed of a record, as most lines begin."""
    return f"{record['task']} {record['row']} seed {record['seed']}"


def significant(value: SupportsFloat, digits: int = 5) -> float | None:
    """For a record: so many significant digits, None where there is no number."""
    value = float(value)
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def recorded(name: str, budget: str = "desk", protocol: str = "ours") -> list[dict]:
    """The recorded runs of a table at a budget, by one protocol, in order of task, row and seed; there may be none."""
    return [one for one in read(recorded_folder(), name) if (one["budget"], one["protocol"]) == (budget, protocol)]
