"""Which browser draws the pages: LRNNLAB_CHROMIUM names one; else the system's Chromium or Chrome, and nothing is downloaded."""

import os
import shutil
from collections.abc import Mapping

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium(environ: Mapping[str, str] = os.environ) -> str | None:
    """The browser's program, or None where there is none."""
    return next(filter(None, map(shutil.which, _names(environ))), None)


def required_chromium(environ: Mapping[str, str] = os.environ) -> str:
    """The browser's program; ``FileNotFoundError``, with the names that were tried, where there is none."""
    if (found := chromium(environ)) is None:
        raise FileNotFoundError(f"there is no browser: none of {', '.join(_names(environ))}; LRNNLAB_CHROMIUM names one")
    return found


def _names(environ: Mapping[str, str]) -> tuple[str, ...]:
    named = environ.get("LRNNLAB_CHROMIUM")
    return (named,) if named else PROGRAMS
