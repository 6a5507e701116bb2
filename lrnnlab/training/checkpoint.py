"""The file that a training run is saved in and goes on from after a kill, and what tells one run from another."""

from __future__ import annotations

import hashlib
import io
import pickle
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from torch import nn

from lrnnlab.files import check_file, put, set_aside


def plain(found: Any) -> Any:
    """The same with NumPy's and torch's single numbers as Python's: a checkpoint is read back as plain data only."""
    if isinstance(found, dict):
        return {key: plain(value) for key, value in found.items()}
    if type(found) in (list, tuple):
        return type(found)(map(plain, found))
    return found.item() if getattr(found, "ndim", None) == 0 else found


def fingerprint(model: nn.Module) -> str:
    """A digest of a model's modules, their options and its weights: it tells models of one shape apart."""
    digest = hashlib.sha256()
    for name, module in model.named_modules():
        options = {key: value for key, value in sorted(vars(module).items())
                   if key not in ("training", "_start")  # neither says what it is
                   and isinstance(value, (bool, int, float, str, tuple, type(None)))}  # fmt: skip
        digest.update(repr((name, type(module).__name__, options)).encode())
    for name, tensor in model.state_dict().items():
        digest.update(repr((name, tensor.dtype, tuple(tensor.shape))).encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


class Checkpoint:
    """The file of a run, written every ``seconds``; none where ``path`` is None.

    Its first 32 bytes are the SHA-256 of the rest, which ``torch.save`` wrote; a file of another run, or a damaged one, is
    renamed and reported, and a file that is no checkpoint is refused.
    """

    MAGIC = b"PK\x03\x04"  # how a file of torch.save begins

    def __init__(self, path: Path | str | None, identity: str, seconds: float):
        self.path = None if path is None else Path(path)
        if self.path is not None:
            try:
                check_file(self.path)
            except OSError as error:
                kind = "folder" if self.path.is_dir() and not self.path.is_symlink() else "link, pipe or device"
                raise ValueError(f"checkpoint must be a file, got the {kind} {str(path)!r}") from error
        self.identity, self.seconds = identity, seconds
        self.last = time.monotonic()

    def save(self, state: Callable[[], dict]) -> None:
        """Write ``state()`` if ``seconds`` have passed: a kill leaves the old file or the new one, never a part."""
        if self.path is None or time.monotonic() - self.last <= self.seconds:
            return
        content = io.BytesIO()
        torch.save({"identity": self.identity, **state()}, content)
        try:
            put(self.path, hashlib.sha256(content.getvalue()).digest() + content.getvalue())
        except OSError as error:
            print(f"no checkpoint {self.path}: {error.strerror}; training goes on", file=sys.stderr)
            self.seconds *= 2  # try again, and say so less and less often
        self.last = time.monotonic()

    def find(self) -> dict | None:
        """The saved state, or None if there is none of this run; ValueError for a file that is no checkpoint."""
        if self.path is None or not self.path.exists():
            return None
        content = self.path.read_bytes()
        if not any(content):  # a crash of the system may leave a file empty or full of zeros
            print(f"checkpoint {self.path} is damaged, nothing is in it: starting afresh", file=sys.stderr)
            return None
        seal, content = content[:32], content[32:]
        if not content.startswith(self.MAGIC):
            raise ValueError(f"{str(self.path)!r} is no checkpoint of lrnnlab and is not overwritten: choose another name")
        if hashlib.sha256(content).digest() != seal:
            return self._start_afresh("is damaged")
        try:
            state = torch.load(io.BytesIO(content), weights_only=True)
        except pickle.UnpicklingError:  # an evaluation gave what is neither a number, a text, nor a tensor
            return self._start_afresh("holds more than plain data")
        return state if state["identity"] == self.identity else self._start_afresh("belongs to another run")

    def _start_afresh(self, why: str) -> dict | None:
        """None; the file, which is of no use here, is renamed, and its new name is said."""
        assert self.path is not None
        kept = ""
        with suppress(OSError):  # a folder in which nothing can be renamed is one in which nothing is overwritten either
            kept = f"; it is now {set_aside(self.path).name}"
        print(f"checkpoint {self.path} {why}: starting afresh{kept}", file=sys.stderr)
        return None
