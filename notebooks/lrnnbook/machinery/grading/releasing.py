"""From a problem set's source to the notebook that students get: no solution, no hidden test, paired with nothing.

nbgrader's preprocessors do the cutting (so that the result is a notebook that nbgrader itself can grade); then
:func:`leaks` searches the finished file, by other means, for every line that was to be cut, and nothing is written
where it finds one.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

import lrnnlab
from lrnnbook.machinery import copies
from lrnnbook.machinery.book.building import as_bytes, give_ids
from lrnnbook.machinery.book.running import KERNEL
from lrnnbook.machinery.grading.sets import HIDDEN, NO_WORDS, SOLUTION, ProblemSet, inside, load, source_of, without
from lrnnlab.files import check_file, put, set_aside

STUB = 'raise NotImplementedError("your code here")'
# A set's first and last cell.  Where the workbook is installed the first does nothing; in the fence there is no file to look at.
INSTALL = """# Where the workbook is installed this cell does nothing. Elsewhere, as on Colab, it fetches the wheel (10 MB).
import importlib.util

if importlib.util.find_spec("lrnnbook") is None:
    get_ipython().run_line_magic("pip", "install --quiet --no-deps {wheel}")"""
CHECK = """# Save first (Ctrl + S). This says what a grader would choke on, or that it found nothing.
from lrnnbook.machinery.grading.validator import report

_ = report("{name}.ipynb")"""
TELLING = 12  # a shorter line ("else:", "return x") tells nothing, and may be anywhere


def release(name: str, folder: Path, *, source: bool = False, secret: str = "", wheel: str = "") -> Path:
    """Write ``folder/ps1.ipynb`` for the problem set ``name`` (``ps1``, or a source's path), what was there kept beside it; with
    ``source`` what nbgrader wants below ``COURSE/source/ps1``.  ValueError where the source is wrong or anything would leak."""
    problem_set = load(source_of(name), secret)
    if "notebooks" in folder.resolve().parts:
        raise ValueError(f"{folder} is below a folder called notebooks, where JupyterLab would pair it: choose another")
    notebook = _described(deepcopy(problem_set.notebook), problem_set) if source else student_version(problem_set, wheel)
    if not source and (found := leaks(problem_set, nbformat.writes(notebook))):
        raise ValueError(f"{problem_set.name} would leak {len(found)} line(s), the first: {found[0]!r}")
    path, content = folder / f"{problem_set.name}.ipynb", as_bytes(notebook)
    check_file(path)
    if path.exists() and path.read_bytes() != content:
        set_aside(path)
    put(path, content)
    return path


def new(name: str, folder: Path) -> Path:
    """Write a source of a teacher's own, ``folder/ps8_mine.py``, with two tasks of each kind to write over.  ValueError where students
    would see it, or where one is."""
    path, number = folder / f"{name}.py", name.partition("_")[0]
    if not re.fullmatch(r"ps\d+(_\w+)?", name):
        raise ValueError(f"a set is called ps and a number, as in ps8 or ps8_mine, got {name!r}")
    if path.resolve().is_relative_to(copies.PROJECT.resolve()):
        raise ValueError(f"{folder} is inside the repository, which students see: choose another --out")
    if path.exists():
        raise ValueError(f"{path} is there already")
    text = (copies.PROJECT / "notebooks" / "assignments" / "new_set.py").read_text(encoding="utf-8")
    put(path, text.replace("PSN", number).encode())
    return path


def student_version(problem_set: ProblemSet, wheel: str = "") -> NotebookNode:
    """The notebook for students, in memory; ``wheel`` is its address, by default the file beside the notebook."""
    notebook = deepcopy(problem_set.notebook)
    for preprocessor in _preprocessors():
        notebook, _ = preprocessor.preprocess(notebook, {"nbgrader": {}})
    wheel = wheel or f"lrnnlab-{lrnnlab.__version__}-py3-none-any.whl"
    notebook.cells.insert(1, new_code_cell(INSTALL.format(wheel=wheel)))
    notebook.cells.append(new_code_cell(CHECK.format(name=problem_set.name)))
    return _described(notebook, problem_set)


def _described(notebook: NotebookNode, problem_set: ProblemSet) -> NotebookNode:
    """The notebook, with its own description: which set it is, and which functions it asks for."""
    answers = [{"id": task.id, "functions": list(task.functions), "points": task.points} for task in problem_set.tasks]
    notebook.metadata = NotebookNode(
        kernelspec=NotebookNode(KERNEL),
        lrnnlab=NotebookNode(assignment=problem_set.name, version=lrnnlab.__version__, answers=answers, variant=problem_set.variant),
    )
    give_ids(notebook.cells, [], problem_set.name)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def _preprocessors() -> Iterator:
    try:
        from nbgrader import preprocessors
    except ImportError as error:
        raise ValueError(f"a release needs nbgrader ({error}): pip install -e '.[course]'") from error
    from traitlets.config import Config

    config = Config()
    config.ClearSolutions.code_stub, config.ClearSolutions.text_stub = {"python": STUB}, NO_WORDS
    config.ClearSolutions.begin_solution_delimeter = f"BEGIN {SOLUTION}"
    config.ClearSolutions.end_solution_delimeter = f"END {SOLUTION}"
    for kind in ("LockCells", "ClearSolutions", "ClearOutput", "CheckCellMetadata", "ClearHiddenTests",
                 "ClearMarkScheme", "ComputeChecksums"):  # fmt: skip
        yield getattr(preprocessors, kind)(config=config)


def leaks(problem_set: ProblemSet, released: str) -> list[str]:
    """Lines of solutions and hidden tests that a released text holds: more often than in what students may see, or, a telling
    line, as part of any other text there (an output, metadata)."""
    texts, cells = list(_texts(json.loads(released))), [cell.source for cell in problem_set.notebook.cells]
    open_text = "\n".join(without(cell, SOLUTION, HIDDEN) for cell in cells)
    secret = [line.strip() for cell in cells for line in inside(cell, SOLUTION, HIDDEN)]
    everything = "\n".join(texts)
    shown, allowed = (Counter(map(str.strip, text.splitlines())) for text in (everything, open_text))
    return [line for line in dict.fromkeys(secret) if line and (
        shown[line] > allowed[line] or (len(line) >= TELLING and line in everything and line not in open_text))]  # fmt: skip


def _texts(data) -> Iterator[str]:
    """Every text in a notebook's JSON; a cell's source, which may be a list of lines, as one."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, list) and data and all(isinstance(item, str) for item in data):
        yield "".join(data)
    elif isinstance(data, (list, dict)):
        for item in data.values() if isinstance(data, dict) else data:
            yield from _texts(item)
