"""The whole repository is clean under the rules, and the types, that pyproject.toml chooses."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def found(tool, *arguments, folder=ROOT):
    """(whether ``python -m tool`` is content, what it says)."""
    if importlib.util.find_spec(tool) is None:
        pytest.skip(f"{tool} is not installed (the extra [test] brings it)")
    run = subprocess.run([sys.executable, "-m", tool, *arguments], cwd=folder, capture_output=True, text=True)
    return run.returncode == 0, run.stdout + run.stderr


def test_ruff():
    clean, said = found("ruff", "check", "--output-format", "concise", ".")
    assert clean, said


def test_nothing_is_left_of_a_merge():
    left = re.compile(r"^(<{7} .*|={7}|>{7} .*)$", re.MULTILINE)
    assert left.search("a\n=======\nb")
    rooms = [ROOT, ROOT / "data/records", *map(ROOT.joinpath, ("lrnnlab", "notebooks/workbook/chapters", "notebooks", "notebooks/py"))]
    files = [*(ROOT / "lrnnlab").rglob("*.py"), *(ROOT / "tests").glob("*.py")]
    files += [path for room in rooms for end in ("py", "md") for path in room.glob(f"*.{end}")]
    assert not [str(path) for path in files if left.search(path.read_text(encoding="utf-8"))]


def test_mypy():
    clean, said = found("mypy")
    assert clean, said
