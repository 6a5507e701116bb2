"""Records of runs: one small JSON file each, written atomically, with where it came from and a seal.

A record is trusted only if it can be read, its seal fits its content, and it answers exactly the question that is
asked (same experiment, same configuration).  Anything else is named on stderr and skipped.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path

from lrnnlab.errors import checked

SCHEMA = 1


def data_folder() -> Path:
    """The repository's ``data/`` where the package runs from a checkout, else ``data`` in the current folder."""
    beside = Path(__file__).resolve().parent.parent / "data"
    return beside if beside.is_dir() else Path.cwd() / "data"


@checked
def fingerprint(config: dict) -> str:
    """A short hash of a configuration: equal exactly for equal configurations.

    >>> fingerprint({"a": 1, "b": (2,)}) == fingerprint({"b": [2], "a": 1})
    True
    """
    return hashlib.sha256(json.dumps(config, sort_keys=True, default=list).encode()).hexdigest()[:16]


def provenance(device: str = "cpu") -> dict:
    """Versions, revision, machine kind and date: enough to know what made a number, nothing about whose machine."""
    packages = ("lrnnlab", "torch", "numpy", "numba")
    return {
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in packages},
        "revision": _revision(),
        "system": f"{platform.system()} {platform.machine()}",
        "device": device,
        "threads": 1,
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
    }


def _revision() -> str:
    here = Path(__file__).resolve().parent
    try:
        run = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12"],
            cwd=here,
            capture_output=True,
            text=True,
            timeout=10,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return run.stdout.strip() or "unknown"


def _seal(record: dict) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


@checked
def write(path: Path, record: dict) -> None:
    """Write ``record`` (JSON-able) to ``path``: whole or not at all."""
    record = json.loads(json.dumps({"schema": SCHEMA, **record}, default=list))
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    partial.write_text(json.dumps({**record, "seal": _seal(record)}, indent=1) + "\n", encoding="utf-8")
    os.replace(partial, path)


@checked
def read(path: Path, expected: str | None = None) -> dict | None:
    """The record at ``path``, or None (and a line on stderr that says why) if it is missing, damaged or foreign.

    ``expected`` is the fingerprint of the configuration that is asked for; any will do if it is absent.
    """
    if not path.exists():
        return None
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        seal = record.pop("seal")
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, KeyError, AttributeError, TypeError) as error:
        return _skip(path, f"is damaged ({type(error).__name__})")
    if seal != _seal(record):
        return _skip(path, "was changed after it was written (its seal does not fit)")
    if record.get("schema") != SCHEMA:
        return _skip(path, f"has schema {record.get('schema')!r}, this version reads {SCHEMA}")
    if expected is not None and record.get("fingerprint") != expected:
        return _skip(path, "belongs to another configuration")
    return record


def _skip(path: Path, why: str) -> None:
    print(f"record {path.name} {why}: skipped", file=sys.stderr)
    return None


@checked
def read_all(folder: Path) -> list[dict]:
    """All good records below ``folder``, in the order of their file names."""
    found = (read(path) for path in sorted(folder.rglob("*.json")))
    return [record for record in found if record is not None]
