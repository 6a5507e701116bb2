"""A reader's own copy of the chapters: made once, never overwritten, and compared with what the project has by now.

A working copy is a tree like ``notebooks/``: the sittings, ``deeper/`` with the lettered chapters, and ``.as_made``, which
holds each chapter as it was when it was copied.  ``bootstrap.py`` makes one as ``my_notebooks`` at the first start of the Lab (with whatever Python it runs in, so
nothing outside of Python's own library is imported above); ``lrnnlab copy`` makes one anywhere.  A kernel that runs in
such a folder, or in its ``deeper/``, has it as :func:`here`.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from lrnnlab.files import files_in, put, set_aside

FOLDER, AS_MADE, DEEPER = "my_notebooks", ".as_made", "deeper"
PACKAGED = Path(__file__).resolve().parents[1] / "project"  # the chapters that a wheel brings
PROJECT = PACKAGED if PACKAGED.is_dir() else Path(__file__).resolve().parents[3]


def here() -> Path | None:
    """The working copy that this process runs in; None where it runs elsewhere, as tests and builds do."""
    folder = Path.cwd()
    return next((one for one in (folder, tree(folder / "any")) if (one / AS_MADE).is_dir()), None)


def place(chapter: Path) -> Path:
    """Where a chapter lies in its tree: ``NAME.ipynb`` or ``deeper/NAME.ipynb``, and so its source and its copy."""
    return Path(*chapter.parts[-2:]) if chapter.parent.name == DEEPER else Path(chapter.name)


def tree(chapter: Path) -> Path:
    """The folder that a chapter's :func:`place` is in: ``notebooks``, ``notebooks/py``, or a working copy."""
    return chapter.parents[len(place(chapter).parts) - 1]


def make(folder: Path, project: Path = PROJECT) -> list[str]:
    """Copy into ``folder`` each chapter of ``project`` that it does not have, and return their places; what is there stays.
    ValueError where ``.as_made`` in the folder is a link: what is behind it would be written over."""
    _check_own(folder)
    added = []
    for chapter in _chapters(project):
        if not os.path.lexists(folder / place(chapter)):  # a link that leads nowhere is the reader's, too
            put(folder / AS_MADE / place(chapter), chapter.read_bytes())
            put(folder / place(chapter), chapter.read_bytes())
            added.append(place(chapter).as_posix())
    return added


def left_behind(folder: Path, project: Path = PROJECT) -> list[str]:
    """The reader's chapters that a copy made before there was ``deeper/`` has beside the sittings."""
    return [one.name for one in _chapters(project) if place(one) != Path(one.name) and (folder / AS_MADE / one.name).is_file()
            and (folder / one.name).is_file()]  # fmt: skip


def start_over(name: str, folder: Path | None = None, project: Path = PROJECT) -> str:
    """Put the project's chapter in the place of the reader's, which is kept beside it with the date in its name."""
    folder, chapter = copy_in(folder), _chapter(name, project)
    mine = folder / place(chapter)
    put(folder / AS_MADE / place(chapter), chapter.read_bytes())
    kept = set_aside(mine) if os.path.lexists(mine) else folder / chapter.name  # as it was before there was deeper/
    old = f"what you had is {kept.relative_to(folder).as_posix()}" if os.path.lexists(kept) else "you had none"
    put(mine, chapter.read_bytes())
    return f"{place(mine).as_posix()} is fresh; {old}. Where it is open, choose File, then Reload Notebook from Disk."


def news(name: str, folder: Path | None = None, project: Path = PROJECT) -> str:
    """What has changed in the project's chapter since the reader's copy of it was made: a line, then the changed cells, with
    ``-`` before a line that is gone, ``+`` before a new one.  ValueError where there is no such chapter or copy."""
    from lrnnbook.machinery.book.sync import differences, read_twin

    folder, chapter = copy_in(folder), _chapter(name, project)
    made = {one.stem: one for one in chapters_in(folder / AS_MADE)}.get(chapter.stem)
    if made is None:
        raise ValueError(f"{folder / AS_MADE / place(chapter)} is missing, which says what your copy of {chapter.stem} was made from")
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
    """The working copy meant on the command line: ``folder``, else the one here, else the ``my_notebooks`` of the checkout, or
    of the current folder where the package runs from none."""
    return folder or here() or (Path.cwd() if PROJECT == PACKAGED else PROJECT) / FOLDER


def copy_in(folder: Path | None) -> Path:
    """``folder``, or the one that this process runs in, if it is a working copy; else ValueError."""
    folder = folder or here()
    if folder is None or not (folder / AS_MADE).is_dir():
        raise ValueError(f"there is no working copy of the chapters in {folder or Path.cwd()}: "
                         "python bootstrap.py lab makes one, and so does lrnnlab copy")  # fmt: skip
    _check_own(folder)
    return folder


def _check_own(folder: Path) -> None:
    """ValueError where ``.as_made``, or its ``deeper/``, is a link: what it leads to is somebody else's, and would be overwritten."""
    for made in (folder / AS_MADE, folder / AS_MADE / DEEPER):
        if made.is_symlink():
            raise ValueError(f"{made} is a link, and nothing is written through one: choose another folder")


def chapters_in(folder: Path, suffix: str = ".ipynb") -> list[Path]:
    """The files of a folder and its ``deeper/`` whose names are words, as chapters have them, in the order of the book: not
    ``01_more (1)``, ``01_more-LAPTOP`` or ``01_more.sync-conflict``, which a program put there that keeps folders in step,
    nor Jupyter's ``01_more-Copy1``.  Of two of one name the deeper one counts: the other was there before."""
    files = files_in(folder, suffix) + (files_in(folder / DEEPER, suffix) if (folder / DEEPER).is_dir() else [])
    found = {file.stem: file for file in files if re.fullmatch(r"\w+", file.stem) and file.is_file()}
    return [found[stem] for stem in sorted(found)]


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

