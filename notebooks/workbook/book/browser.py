"""Which browser draws the pages: LRNNLAB_CHROMIUM names one; else the system's Chromium or Chrome, and nothing is downloaded."""

import os
import shutil
from collections.abc import Mapping

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium(environ: Mapping[str, str] = os.environ) -> str | None:
    """The browser's program, or None where there is none."""
    named = environ.get("LRNNLAB_CHROMIUM")
    return shutil.which(named) if named else next(filter(None, map(shutil.which, PROGRAMS)), None)
