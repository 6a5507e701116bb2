"""Records of runs and of timings: one small JSON file each, written atomically, with where it came from and a seal.

A record is trusted only if it can be read, its seal fits its content, it has what its readers rely on, and it answers
exactly the question that is asked (same experiment, same configuration).  Anything else is named on stderr and skipped.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import platform
import secrets
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

from lrnnlab import __version__
from lrnnlab.errors import checked

SCHEMA = 1
LARGEST = 1 << 23  # bytes that are read; the longest record of a run has a hundred thousand
PROBE = 1 << 20  # bytes that must find room before work begins whose outcome is to be written

# What readers rely on, in a record of a run and in one of a case that was timed.
RUN = {"experiment": str, "task": str, "row": str, "seed": int, "budget": str, "protocol": str, "metrics": dict,
       "config": dict, "fingerprint": str, "provenance": dict}  # fmt: skip
CASE = {"experiment": str, "case": str, "threads": int, "device": str, "rounds": int, "machine": dict, "metrics": dict,
        "fingerprint": str, "provenance": dict}  # fmt: skip


def data_folder() -> Path:
    """The repository's ``data/`` where the package runs from a checkout, else ``data`` in the current folder."""
    beside = Path(__file__).resolve().parent.parent / "data"
    return beside if beside.is_dir() else Path.cwd() / "data"


def recorded_folder() -> Path:
    """Where the recorded runs are read: ``data/`` of the repository, or of the installed package.

    >>> (recorded_folder() / "records" / "lrnn").is_dir()
    True
    """
    packaged = Path(__file__).resolve().parent / "data"
    return packaged if packaged.is_dir() else data_folder()


@checked
def fingerprint(config: dict) -> str:
    """A short hash of a configuration: equal exactly for equal configurations.

    >>> fingerprint({"a": 1, "b": (2,)}) == fingerprint({"b": [2], "a": 1})
    True
    """
    return hashlib.sha256(json.dumps(config, sort_keys=True, default=list).encode()).hexdigest()[:16]


def provenance(device: str = "cpu") -> dict:
    """Versions, revision, machine kind and date: enough to know what made a number, nothing about whose machine."""
    return {
        "python": platform.python_version(),
        "lrnnlab": __version__,
        **{name: version(name) for name in ("torch", "numpy", "numba")},
        "revision": _revision(),
        "source": source(),
        "system": f"{platform.system()} {platform.machine()}",
        "device": device,
        "threads": 1,
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
    }


def source() -> str:
    """A digest of the package's own Python files: what made a number, where the revision does not tell.

    ``data/records/README.md`` says when that is.

    >>> len(source())
    16
    """
    here, found = Path(__file__).resolve().parent, hashlib.sha256()
    for path in sorted(here.rglob("*.py")):
        found.update(f"{path.relative_to(here).as_posix()}\n".encode() + path.read_bytes())
    return found.hexdigest()[:16]


def version(package: str) -> str:
    """The version of an installed package; a package that was only put on the path has none that could be known.

    >>> version("no-such-package")
    'not installed'
    """
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _revision() -> str:
    """The commit, with ``-dirty`` if the package differs from it; records that are not committed yet do not count."""
    here = Path(__file__).resolve().parent
    if not (here.parent / ".git").exists():  # else git would name a repository that the package only lies in
        return "unknown"
    try:
        said, changed = (
            subprocess.run(["git", *call], cwd=here, capture_output=True, text=True, timeout=10).stdout.strip()
            for call in (["describe", "--always", "--abbrev=12"], ["status", "--porcelain", "."])
        )
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return f"{said}-dirty" if said and changed else said or "unknown"


def _seal(record: dict) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def put(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path`` in one step: a kill or a full disk leaves the old file or the new, never a part.

    ``OSError``, which names ``path``, if that cannot be done, or :func:`check_file` refuses; then nothing is left beside it.
    """
    check_file(path)
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # some file systems find out only now that they are full
        os.replace(partial, path)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        with suppress(OSError):  # it is gone where all went well
            partial.unlink()


def check_file(path: Path) -> None:
    """``OSError``, which names ``path``, where something other than a plain file is there: a link, a folder, a device."""
    if path.is_symlink():
        raise OSError(errno.EEXIST, "a link is there, and nothing is written through a link or over it", str(path))
    if path.is_dir():
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():
        raise OSError(errno.EEXIST, "a device, a pipe or a socket is there", str(path))


def set_aside(path: Path) -> Path:
    """Rename what is at ``path`` (a link itself, not what it leads to) to a free name with the date; return that path."""
    day, number = time.strftime("%Y-%m-%d"), 1
    kept = path.with_name(f"{path.stem}.{day}{path.suffix}")
    while os.path.lexists(kept):
        number += 1
        kept = path.with_name(f"{path.stem}.{day}-{number}{path.suffix}")
    path.rename(kept)
    return kept


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Within, no other process is at ``path`` by this function: for what is read, changed and written.

    A file beside it is locked, ``.NAME.lock``, which the system frees where a process ends.  Where that cannot be done (on
    Windows, in a folder that is read only) nothing is waited for.
    """
    with ExitStack() as stack:
        with suppress(ImportError, OSError):
            import fcntl

            fcntl.flock(stack.enter_context(path.with_name(f".{path.name}.lock").open("a")), fcntl.LOCK_EX)
        yield


def check_writable(paths: Iterable[Path]) -> None:
    """``OSError``, which names the place, unless files can be written at ``paths``; to be asked before work, not after.

    Each folder is made and has a megabyte written to it, which is removed again.
    """
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


@checked
def as_json(record: dict) -> dict:
    """``record`` as plain JSON, which has no NaN and no infinity: null stands for them, and ``not_finite`` says which.

    >>> as_json({"metrics": {"loss": math.nan, "r2": (0.5, -math.inf)}})
    {'metrics': {'loss': None, 'r2': [0.5, None]}, 'not_finite': {'metrics': {'loss': 'NaN', 'r2': {'1': '-Infinity'}}}}
    """
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


@checked
def write(path: Path, record: dict) -> None:
    """Write ``record`` (JSON-able) to ``path``: whole or not at all (``OSError``, see :func:`put`)."""
    record = as_json({"schema": SCHEMA, **record})
    put(path, (json.dumps({**record, "seal": _seal(record)}, indent=1) + "\n").encode())


@checked
def read(path: Path, expected: str | None = None, needs: Mapping[str, type] = RUN) -> dict | None:
    """The record at ``path``, or None (and a line on stderr that says why) if it is missing, damaged or foreign.

    Parameters
    ----------
    path : Path
        A file.
    expected : str, optional
        The fingerprint of the configuration that is asked for; any will do if it is absent.
    needs : mapping
        What the record must have, ``RUN`` or ``CASE``: names and their types.
    """
    if not os.path.lexists(path):
        return None
    try:
        if not path.is_file():  # a folder, a pipe, a link that leads nowhere
            return _skip(path, "is no file")
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            return _skip(path, f"has more than {LARGEST:,} bytes")
        record = json.loads(content.decode())
        seal = record.pop("seal")
        fits = seal == _seal(record)
        record = _put_back(record, record.pop("not_finite", {}))
    except (OSError, ValueError, RecursionError, LookupError, AttributeError, TypeError) as error:
        return _skip(path, f"is damaged ({type(error).__name__})")
    if not fits:
        return _skip(path, "was changed after it was written (its seal does not fit)")
    if record.get("schema") != SCHEMA:
        return _skip(path, f"has schema {record.get('schema')!r}, this version reads {SCHEMA}")
    lacking = [name for name, kind in needs.items() if not isinstance(record.get(name), kind)]
    if lacking:
        return _skip(path, f"has no {lacking[0]!r}, or not as {needs[lacking[0]].__name__}")
    if expected is not None and record["fingerprint"] != expected:
        return _skip(path, "belongs to another configuration")
    return record


def _skip(path: Path, why: str) -> dict | None:
    print(f"record {path} {why}: skipped", file=sys.stderr)
    return None


@checked
def read_all(folder: Path, needs: Mapping[str, type] = RUN) -> list[dict]:
    """All good records below ``folder``, in the order of their file names; ``needs`` as in :func:`read`."""
    found = (read(path, needs=needs) for path in sorted(folder.rglob("*.json")))
    return [record for record in found if record is not None]


@checked
def recorded(name: str, budget: str = "desk", protocol: str = "ours") -> list[dict]:
    """The recorded runs of a table at a budget, by one protocol, in the order of their file names; there may be none.

    >>> {record["task"] for record in recorded("lrnn/fading")}
    {'sum'}
    """
    return [one for one in read_all(recorded_folder() / "records" / name / budget) if one["protocol"] == protocol]
