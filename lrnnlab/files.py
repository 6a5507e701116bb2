"""Files in folders that are not ours alone: what is no data there, and how to write without losing anybody's work.

Only Python's own library is imported: ``bootstrap.py`` uses this before there is any other.
"""

from __future__ import annotations

import errno
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

# What systems, network drives, archives, Jupyter and office programs leave in folders; compared in lower case.
CLUTTER = {
    ".ds_store", ".localized", ".appledouble", ".spotlight-v100", ".trashes", ".fseventsd", ".temporaryitems", "icon\r",
    "thumbs.db", "ehthumbs.db", "desktop.ini", "$recycle.bin", "system volume information",
    "lost+found", ".directory", "@eadir", "__macosx", ".ipynb_checkpoints",
}  # fmt: skip
CLUTTER_BEGINS = ("._", ".nfs", ".trash-", ".~lock.", "~$")  # "._a.txt" is what macOS knows of a.txt on a foreign disk


def is_clutter(name: str) -> bool:
    """Tell whether a file or folder of this name is left by a system or a program, and is nobody's data."""
    return name.lower() in CLUTTER or name.lower().startswith(CLUTTER_BEGINS)


def files_in(folder: Path, suffix: str) -> list[Path]:
    """The files of a folder that end in ``suffix`` (in any case) and are not clutter, in the order of their names."""
    return sorted(path for path in folder.iterdir() if path.suffix.lower() == suffix and not is_clutter(path.name))


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
