"""The package as a house: a room imports only from the rooms above it in this list, inside functions too."""

import ast
from pathlib import Path

import lrnnlab

PACKAGE = Path(lrnnlab.__file__).resolve().parent
ROOMS = (
    "errors", "files", "arguments", "records", "hints", "scans", "automata", "tasks", "models", "training", "verification", "analysis",
    "algebra", "tables", "bench", "show", "book", "copies", "course", "chapters", "doctor",
    "cli",
)  # fmt: skip


# the judges of a chapter's exercises stand in the chapter, and are found by its number
EXCEPTIONS = {"course/exercises imports workbook.chapters.ch"}


def room(module: str) -> str:
    return module.split(".")[1]


def imported(path: Path) -> set[str]:
    """The modules that a file imports; of ``import_module(f"...")`` what stands before the first brace."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("lrnnlab"):
            found |= {node.module} if "." in node.module else {f"lrnnlab.{name.name}" for name in node.names}
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names if name.name.startswith("lrnnlab.")}
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            given = getattr(node.args[0], "values", node.args)[0]
            if isinstance(given, ast.Constant) and given.value.startswith("lrnnlab."):
                found.add(given.value)
    return {module for module in found if module.split(".")[1] in ROOMS}


def test_every_room_is_known():
    rooms = {path.stem for path in PACKAGE.iterdir() if path.name[0] not in "_." and path.name != "py.typed"}
    assert {name for name in rooms if name != "data"} <= set(ROOMS)


def test_no_room_imports_from_one_below_it():
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts[0].startswith("__"):
            continue
        wrong += [
            f"{'/'.join(parts)} imports {module}"
            for module in sorted(imported(path))
            if ROOMS.index(room(module)) > ROOMS.index(parts[0])
        ]
    assert set(wrong) == EXCEPTIONS
