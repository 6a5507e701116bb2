"""nbval, run on notebooks the way our own checker runs them: same kernel, same environment, same patterns.

This module is also the pytest plugin that the run loads: nbval compares raw outputs, a committed notebook holds tidy
ones, so each side is tidied before nbval compares (a progress bar is no fault, a widget is its sentence).
"""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from lrnnlab.book.outputs import tidy
from lrnnlab.book.running import kernel_environment


def nbval(notebooks: Sequence[Path], config: Path, *, timeout: float = 600) -> subprocess.CompletedProcess[str]:
    """Run ``pytest --nbval`` on ``notebooks`` in a process of its own; ``returncode`` 0 means that all passed.

    ``config`` is ``tests/nbval_sanitize.cfg``.  In this process it could not run: pytest inside pytest shares plugins,
    capture and options.  ``timeout`` is in seconds, for one cell.

    >>> nbval([Path("notebooks/00_start_here.ipynb")], Path("tests/nbval_sanitize.cfg")).returncode  # doctest: +SKIP
    0
    """
    command = [sys.executable, "-m", "pytest", "-p", "nbval.plugin", "-p", __name__, "--nbval", "--nbval-current-env"]
    command += ["--nbval-sanitize-with", str(config), "--nbval-cell-timeout", str(timeout)]
    # The options and plugins of the repository's tests are not for these (one that shuffles would shuffle cells).
    environment = kernel_environment() | {"PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command += ["-o", "addopts=", "-p", "no:cacheprovider", "-q", "--color=no", "--tb=short", *map(str, notebooks)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def pytest_collection_modifyitems(items: list) -> None:
    """Let nbval's cells compare tidy outputs.  (A hook of pytest, called in the run that :func:`nbval` starts.)"""
    for item in items:
        if hasattr(item, "compare_outputs"):
            item.compare_outputs = functools.partial(_compare_tidy, item.compare_outputs)


def _compare_tidy(compare_outputs: Callable, fresh: list, committed: list, **options) -> bool:
    return compare_outputs(tidy(fresh), tidy(committed), **options)
