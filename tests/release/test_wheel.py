"""A wheel that is installed without the checkout: the package is whole, and its records and chapters are there."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lrnnbook.machinery.copies import chapters_in

ROOT = Path(__file__).resolve().parents[2]
ASK = """
import lrnnbook, lrnnlab, pathlib
from lrnnbook.content.exercises import hint, solution
from lrnnbook.content.tables import records
from lrnnbook.content.tables import get, reproduce
here, book = (pathlib.Path(package.__file__).resolve().parent for package in (lrnnlab, lrnnbook))
assert here.is_relative_to({target!r}) and book.is_relative_to({target!r}), (here, book)
found = records.recorded("lrnn/table2")
print(len(found), [one["metrics"]["levels"] for one in reproduce("lrnn/fig1", rows=["8"])], (here / "py.typed").is_file())
assert hint("04.9") and solution("04.9")
assert records.data_folder() == pathlib.Path.cwd() / "data"  # what is recorded anew goes where the reader is
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder into which pip unpacked a wheel, made of an archive of sources, made of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    for name in ("lrnnlab", "data", "notebooks"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("long_range", "checkpoints"):  # what a reader has put there, and git ignores
        (source / "data" / name).mkdir(exist_ok=True)
        (source / "data" / name / "large").write_text("")
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    sdist = [sys.executable, "-c", "from setuptools import build_meta; print(build_meta.build_sdist('made'))"]
    done = subprocess.run(sdist, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    archive = source / "made" / done.stdout.split()[-1]
    for command in (["wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(archive)],
                    ["install", "--no-deps", "--no-index", "--target", str(folder / "site"), "--find-links", str(folder), "lrnnlab"]):
        done = subprocess.run([*pip, *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


def test_it_works_and_has_its_records(installed, tmp_path):
    done = subprocess.run([sys.executable, "-c", ASK.format(target=str(installed))], cwd=tmp_path, text=True, check=False,
                          env={"PYTHONPATH": str(installed), "PATH": ""}, capture_output=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    count, _, rest = done.stdout.partition(" ")
    lines = (ROOT / "data" / "records" / "lrnn" / "table2.jsonl").read_text(encoding="utf-8").splitlines()
    assert int(count) == sum('"budget":"desk"' in line for line in lines) > 0
    assert rest.strip() == "[3] True" or rest.strip() == "[[3]] True"


def test_it_brings_the_chapters_and_the_problem_sets(installed, tmp_path):
    def lrnnlab(*words):
        done = subprocess.run([sys.executable, "-m", "lrnnlab", *words], cwd=tmp_path, capture_output=True, text=True, check=False,
                              env={"PYTHONPATH": str(installed), "PATH": ""})  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert str(tmp_path / "my_notebooks") in lrnnlab("copy")
    committed = {path.relative_to(ROOT / "notebooks") for path in chapters_in(ROOT / "notebooks")}
    for chapter in committed:
        assert (tmp_path / "my_notebooks" / chapter).read_bytes() == (ROOT / "notebooks" / chapter).read_bytes()
    assert "nothing has changed" in lrnnlab("copy", "news", "03")
    lrnnlab("course", "release", "ps1", "--out", "class")
    assert list((tmp_path / "class").rglob("ps1*.ipynb"))
    assert not list((installed / "lrnnbook" / "project").rglob("lrnnbook"))  # only once
    for page in ("playground", "atlas", "golf"):  # from any folder, of what the package brings
        assert lrnnlab("book", page).startswith(f"build/{page}.html: ")
