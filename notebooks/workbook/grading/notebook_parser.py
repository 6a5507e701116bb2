"""Read one notebook in a process of its own, since what stands in it can fill the memory or crash Python's parser.

Run as a program (:func:`workbook.grading.submissions.read` does) it takes a file's bytes from standard input and writes
as JSON what a grader needs: the code cells, without outputs, within :data:`CODE` characters in all.  It runs nothing of
what it reads, and needs the standard library alone, so that it starts in a few hundredths of a second.
"""

from __future__ import annotations

import ast
import json
import re
import sys

FILE = 50_000_000  # bytes of a notebook
CODE, CELLS = 1_000_000, 2_000  # characters and cells of code
MEMORY, SECONDS = 2 << 30, 20  # of this process
NOTES, NAME = 10, 100  # notes on one cell; characters of a name
_TOO_MUCH = (SyntaxError, ValueError, RecursionError, MemoryError)  # what the parser says to what it cannot parse


class Unreadable(ValueError):
    """A file that is no notebook; the message says so in plain words."""


def digest(data: bytes) -> dict:
    """What a grader needs of a notebook's bytes, as plain data; Unreadable says what the file is instead.

    >>> digest(b'{"cells": [{"cell_type": "code", "source": "x = max"}]}')["cells"]
    [{'number': 1, 'source': 'x = max', 'grade_id': '', 'is_test': False, 'is_setup': False, 'notes': (), 'defines': ['x']}]
    """
    if not data.strip():
        raise Unreadable("the file is empty")
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(f"the file is not a notebook (not JSON: {str(error)[:80]}); "
                         "save it in JupyterLab as .ipynb, not as .py or .html") from error  # fmt: skip
    if not isinstance(content, dict) or not isinstance(content.get("cells"), list):
        raise Unreadable("the file is JSON, but not a notebook of version 4 (it has no list of cells)")
    cells: list = []
    marks: dict = {}
    room = CODE
    for number, cell in enumerate(content["cells"], 1):
        if not isinstance(cell, dict):
            raise Unreadable(f"cell {number} is damaged: not a cell but of type {type(cell).__name__}")
        mark = _dict(_dict(cell.get("metadata")).get("nbgrader"))
        grade_id = _name(mark.get("grade_id"))
        if grade_id:
            marks[grade_id] = marks.get(grade_id, 0) + 1
        source = _text(cell.get("source"))
        if cell.get("cell_type") != "code" or not source.strip():
            continue
        room -= len(source)
        if room < 0 or len(cells) == CELLS:
            raise Unreadable(f"it holds more than {CODE:,} characters or {CELLS:,} cells of code: hand in your answers "
                             "alone, and read data from nowhere")  # fmt: skip
        source, notes = plain_python(source)
        is_test = bool(mark.get("grade"))
        is_setup = bool(grade_id) and not is_test and not mark.get("solution")
        cells.append({"number": number, "source": source, "grade_id": grade_id, "is_test": is_test, "is_setup": is_setup,
                      "notes": notes[:NOTES], "defines": top_names(source)})  # fmt: skip
    about = _dict(_dict(content.get("metadata")).get("lrnnlab"))
    answers = [_name(name) for answer in _list(about.get("answers")) for name in _list(_dict(answer).get("functions"))]
    return {"cells": cells, "marks": dict(list(marks.items())[:CELLS]), "assignment": _name(about.get("assignment")),
            "answers": [name for name in answers[:CELLS] if name]}  # fmt: skip


def _dict(value) -> dict:
    return value if isinstance(value, dict) else {}


def _list(value) -> list:
    return value if isinstance(value, list) else []


def _name(value) -> str:
    return value[:NAME] if isinstance(value, str) else ""


def _text(source) -> str:
    """A cell's source, which is one text or a list of lines."""
    return "".join(part for part in ([source] if isinstance(source, str) else _list(source)) if isinstance(part, str))


def plain_python(source: str) -> tuple[str, tuple[str, ...]]:
    """A cell without Jupyter's own commands, which no grader runs, and a note for each; lines keep their numbers."""
    lines = re.split("\r\n?|\n", source)  # splitlines would also cut at a form feed or U+2028 inside a text or comment
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    if lines[first].lstrip().startswith("%%"):
        if re.match(r"\s*%%(time|timeit|capture|prun)\b", lines[first]):
            lines[first] = ""
        else:
            return "", (f'the whole cell, which begins with "{lines[first].strip()[:40]}", is not run',)
    notes = {}
    while wrong := _wrong_line("\n".join(lines)):  # one line at a time: in Python, too, a line may go on with a % or a !=
        commands = {number: found for number, line in enumerate(lines) if (found := _COMMAND.fullmatch(line))}
        if not commands:
            break
        number = wrong - 1 if wrong - 1 in commands else min(commands)
        found, timed = commands[number], _TIMED.fullmatch(lines[number])
        if timed:
            lines[number] = timed["before"] + timed["statement"]
        else:
            notes[number] = f'line {number + 1}, "{lines[number].strip()[:40]}", is a command of Jupyter and is not run'
            lines[number] = found["before"] + ("[]" if found["sign"] == "!" and found["before"].strip() else "None")
    return "\n".join(lines), tuple(notes[number] for number in sorted(notes))


def _wrong_line(source: str) -> int:
    """The line, counted from 1, at which Python stumbles over a cell; 0 where it does not, or cannot tell."""
    try:
        ast.parse(source)
    except SyntaxError as error:
        return error.lineno or 0
    except _TOO_MUCH:
        pass
    return 0


# A magic, a line for the shell, or either of them assigned; a question about a name, in front or behind.
_COMMAND = re.compile(r"(?P<before>\s*(?:[\w.]+(?:\s*,\s*[\w.]+)*\s*=\s*)?)"
                      r"(?:(?P<sign>[%!]).*|\?{1,2}\s*[\w.]+\s*|[\w.]+(?:\[[0-9]+\])*\s?\?{1,2}\s*)")  # fmt: skip


_TIMED = re.compile(r"(?P<before>[^%]*)%time\s+(?P<statement>\S.*)")


def parsed(source: str) -> ast.Module | None:
    """A cell's syntax tree, None where it is not Python or too deep for Python's own parser."""
    try:
        return ast.parse(source)
    except _TOO_MUCH:
        return None


def top_names(source: str) -> list[str]:
    """The functions that a cell defines at its top level, in order; ``[]`` where it does not parse."""
    found = []
    for part in getattr(parsed(source), "body", ()):
        if isinstance(part, (ast.FunctionDef, ast.ClassDef)):
            found.append(part.name)
        elif isinstance(part, ast.Assign) and isinstance(part.value, (ast.Lambda, ast.Name, ast.Call, ast.Attribute)):
            found += [target.id for target in part.targets if isinstance(target, ast.Name)]
    return found


def definitions(source: str) -> list[str]:
    """The statements of a test cell that define and do not run: imports, functions, classes, values without a call."""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    return [ast.unparse(part) for part in getattr(parsed(source), "body", ()) if isinstance(part, kinds)
            or (isinstance(part, ast.Assign) and not any(isinstance(inner, ast.Call) for inner in ast.walk(part)))]  # fmt: skip


def main() -> None:
    """The program: bounds on itself first, then standard input to standard output."""
    if sys.platform.startswith("linux"):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    try:
        found = digest(sys.stdin.buffer.read(FILE + 1))
    except Unreadable as error:
        found = {"unreadable": str(error)}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
