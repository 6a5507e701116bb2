"""A reader's own copy of the chapters: made once, never overwritten, and compared with what the project has by now.

A working copy is a folder of notebooks with a folder ``.as_made`` in it, which holds each chapter as it was when it was
copied.  ``bootstrap.py`` makes one as ``my_notebooks`` at the first start of the Lab (with whatever Python it runs in, so
nothing outside of Python's own library is imported above); ``lrnnlab copy`` makes one anywhere.  A kernel that runs in
such a folder has it as :func:`here`.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from lrnnlab.files import files_in, put, set_aside

FOLDER, AS_MADE = "my_notebooks", ".as_made"
PROJECT = Path(__file__).resolve().parents[3]


def here() -> Path | None:
    """The working copy that this process runs in; None where it runs elsewhere, as tests and builds do."""
    folder = Path.cwd()
    return folder if (folder / AS_MADE).is_dir() else None


def make(folder: Path, project: Path = PROJECT) -> list[str]:
    """Copy into ``folder`` each chapter of ``project`` that it does not have, and return their names; what is there stays.
    ValueError where ``.as_made`` in the folder is a link: what is behind it would be written over."""
    _check_own(folder)
    added = []
    for chapter in _chapters(project):
        if not os.path.lexists(folder / chapter.name):  # a link that leads nowhere is the reader's, too
            put(folder / AS_MADE / chapter.name, chapter.read_bytes())
            put(folder / chapter.name, chapter.read_bytes())
            added.append(chapter.name)
    return added


def start_over(name: str, folder: Path | None = None, project: Path = PROJECT) -> str:
    """Put the project's chapter in the place of the reader's, which is kept beside it with the date in its name."""
    folder, chapter = copy_in(folder), _chapter(name, project)
    mine = folder / chapter.name
    put(folder / AS_MADE / chapter.name, chapter.read_bytes())
    kept = set_aside(mine) if os.path.lexists(mine) else None
    put(mine, chapter.read_bytes())
    old = f"what you had is {kept.name}" if kept else "you had none"
    return f"{mine.name} is fresh; {old}. Where it is open, choose File, then Reload Notebook from Disk."


def news(name: str, folder: Path | None = None, project: Path = PROJECT) -> str:
    """What has changed in the project's chapter since the reader's copy of it was made: a line, then the changed cells, with
    ``-`` before a line that is gone, ``+`` before a new one.  ValueError where there is no such chapter or copy."""
    from lrnnbook.machinery.book.sync import differences, read_twin

    folder, chapter = copy_in(folder), _chapter(name, project)
    made = folder / AS_MADE / chapter.name
    if not made.is_file():
        raise ValueError(f"{made} is missing, which says what your copy of {chapter.stem} was made from")
    try:
        before = read_twin(made)
    except ValueError as error:
        raise ValueError(f"{made} is not a notebook; lrnnlab copy start-over {chapter.stem.partition('_')[0]} puts a fresh one there, and "
                         "keeps what you have") from error  # fmt: skip
    found = differences(read_twin(chapter).cells, before.cells, "new version", "old version")
    if not found:
        return f"{chapter.stem}: nothing has changed since your copy was made."
    count = f"{len(found)} change{'s' * (len(found) != 1)} since your copy was made"
    return "\n".join([f"{chapter.stem}: {count}; starting over gives you the new version.", *found])


def copied(folder: Path) -> list[str]:
    """The chapters that a working copy has or had, by name; ``ValueError`` where there is no working copy."""
    return [one.stem for one in chapters_in(copy_in(folder) / AS_MADE)]


def find(folder: Path | None = None) -> Path:
    """The working copy meant on the command line: ``folder``, else the one here, else the project's ``my_notebooks``."""
    return folder or here() or PROJECT / FOLDER


def copy_in(folder: Path | None) -> Path:
    """``folder``, or the one that this process runs in, if it is a working copy; else ValueError."""
    folder = folder or here()
    if folder is None or not (folder / AS_MADE).is_dir():
        raise ValueError(f"there is no working copy of the chapters in {folder or Path.cwd()}: "
                         "python bootstrap.py lab makes one, and so does lrnnlab copy")  # fmt: skip
    _check_own(folder)
    return folder


def _check_own(folder: Path) -> None:
    """ValueError where ``.as_made`` is a link: what it leads to is somebody else's, and would be overwritten."""
    if (folder / AS_MADE).is_symlink():
        raise ValueError(f"{folder / AS_MADE} is a link, and nothing is written through one: choose another folder")


def chapters_in(folder: Path, suffix: str = ".ipynb") -> list[Path]:
    """The files of a folder whose names are words, as chapters have them: not ``01_more (1)``, ``01_more-LAPTOP`` or
    ``01_more.sync-conflict``, which a program put there that keeps folders in step, nor Jupyter's ``01_more-Copy1``."""
    return [file for file in files_in(folder, suffix) if re.fullmatch(r"\w+", file.stem) and file.is_file()]


def _chapters(project: Path) -> list[Path]:
    """The notebooks of a project that are made from a source of the same name; others, as Untitled, are somebody's."""
    sources = project / "notebooks" / "py"
    known = {source.stem for source in chapters_in(sources, ".py")} if sources.is_dir() else set()
    return [one for one in chapters_in(project / "notebooks") if one.stem in known] if known else []


def _chapter(name: str, project: Path) -> Path:
    every = {one.stem: one for one in _chapters(project)}
    return every[meant(name.removesuffix(".ipynb"), every)]


def meant(name: str, chapters: Iterable[str]) -> str:
    """The one chapter that ``name`` is, or begins: 01 is not 01a.  ``ValueError`` where it is none or several."""
    every = sorted(chapters)
    found = [one for one in every if name in (one, one.partition("_")[0])]
    found = found or [one for one in every if name and one.startswith(name)]
    if len(found) != 1:
        raise ValueError(f"{name!r} means {', '.join(found) or 'none'} of: {', '.join(every) or 'no chapters'}")
    return found[0]

