"""The packages as houses: a room imports only from the rooms that pyproject.toml puts below it, in functions too."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import lrnnlab

ROOT = Path(__file__).resolve().parents[2]


def test_the_order_of_the_rooms_holds():
    pytest.importorskip("importlinter")
    program = Path(sys.executable).with_name("lint-imports")
    said = subprocess.run([program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout + said.stderr


def test_the_library_does_without_the_workbook():
    rooms = "scans, automata, expressivity, tasks, models, training, verification"
    code = f"import sys; from lrnnlab import {rooms}; print([name for name in sys.modules if name.startswith('lrnnbook')])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_a_name_of_the_package_loads_its_room_alone():
    assert set(lrnnlab.__all__) == set(lrnnlab.ROOMS)
    code = "import sys, lrnnlab; lrnnlab.linear_scan; print(sorted({'sympy', 'aalpy', 'lrnnlab.tasks'} & {*sys.modules}))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_machines_and_predictions_need_no_torch():
    code = """
import sys
sys.modules["torch"] = None  # an import of it fails
from lrnnlab import predict
from lrnnlab.automata import classify, language, lstar, minimise
from lrnnlab.expressivity import construct
machine = minimise(language("Tomita 4").machine)
print(len(predict(machine)) > 1, construct(language("Parity").machine, "signed").family, classify(machine).aperiodic)
try:
    minimise(range(3))
except TypeError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert said.stdout.splitlines() == ["True signed True", "minimise: machine must be a MooreMachine, got range(0, 3)"], said.stderr


# What the library itself needs beside Python; the rest comes with the extra "book" and the others.
ALONE = """
import sys

class Without:
    def __init__(self, finder):
        self.finder = finder
    def __getattr__(self, name):
        return getattr(self.finder, name)
    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in %r else self.finder.find_spec(name, path, target)

sys.meta_path[:] = map(Without, sys.meta_path)
"""
BOOK = {"matplotlib", "sklearn", "pandas", "joblib", "yaml", "filelock", "packaging", "PIL", "IPython", "ipywidgets", "anywidget",
        "jupytext", "nbclient", "nbformat", "nbconvert", "jupyterlab", "ipykernel", "latex2mathml", "aalpy"}  # fmt: skip


def alone(code, *arguments):
    return subprocess.run([sys.executable, "-c", ALONE % BOOK + code, *arguments], capture_output=True, text=True, check=False)


def test_the_library_does_without_the_extras():
    """Every room, its hello-world and its public examples; L* alone says what it needs."""
    code = """
import doctest, importlib
failed = []
for room in ("scans", "automata", "expressivity", "tasks", "models", "models.layers", "training", "verification"):
    there = importlib.import_module(f"lrnnlab.{room}")
    things = [(name, getattr(there, name)) for name in there.__all__] + [(room, there)]
    for name, thing in things:
        for test in doctest.DocTestFinder(recurse=False).find(thing, name) if hasattr(thing, "__doc__") else ():
            failed += [name] * bool(doctest.DocTestRunner(verbose=False).run(test, out=lambda text: None).failed)
print(sorted(set(failed)))
from lrnnlab.tasks.long_range.standins import image
try:
    image(1, 0, 0)
except ModuleNotFoundError as error:
    print(error)
"""
    said = alone(code)
    assert said.stdout.splitlines() == ["['extract', 'lstar']", "sklearn.datasets is not installed: pip install 'lrnnlab[book]'"], said


@pytest.mark.parametrize("words", ["book --help", "book site", "figures", "results lrnn/table2", "reproduce lrnn/table2",
                                   "bench scans", "card deltanet", "course release ps1 --out ."])  # fmt: skip
def test_a_command_without_the_extras_is_told_what_to_type(words):
    said = alone("from lrnnbook.machinery.cli import main\nraise SystemExit(main(sys.argv[1:]))", *words.split())
    assert said.returncode == 2 and re.fullmatch(r"lrnnlab: the book needs \w+, which is not installed: "
                                                 r"pip install 'lrnnlab\[book\]'\n", said.stderr), said  # fmt: skip


@pytest.mark.parametrize("words", ["--help", "copy --help", "course --help", "task parity --out parity.jsonl"])
def test_what_needs_no_extra_works_without(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = alone("from lrnnbook.machinery.cli import main\nraise SystemExit(main(sys.argv[1:]))", *words.split())
    assert said.returncode == 0 and said.stdout and not said.stderr, said


def test_the_doctor_without_the_extras_finds_the_library_well():
    said = alone("from lrnnbook.machinery.cli import main\nraise SystemExit(main(sys.argv[1:]))", "doctor")
    assert said.returncode == 0 and "needs packaging, which is not installed: pip install 'lrnnlab[book]'" in said.stdout, said
