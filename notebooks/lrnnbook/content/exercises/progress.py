"""How far a reader has come: a plain file in the working copy, which ``check`` and ``guess`` write.

``progress.json`` holds of each exercise whose cell was run its best outcome, how often an answer was tried, the day of the
last, and of a build the digest of the cell that was kept.  Nothing else reads it, and nothing leaves the machine.  Outside of a working copy
(:mod:`lrnnbook.machinery.copies`), as in tests and when a chapter is built, nothing is written.
"""

import json
import re
import time
from html import escape
from pathlib import Path
from typing import Any

from lrnnbook.content.exercises.hints import HEADER, Text
from lrnnbook.content.exercises.judging import NOT_YET, RIGHT, UNJUDGED, UNTRIED
from lrnnbook.machinery import copies
from lrnnlab.files import alone, put, set_aside

FILE = "progress.json"
NO_COPY = "Nothing is counted here. In your own copy of the chapters, which `python bootstrap.py lab` opens, it is."
_ORDER = (UNTRIED, UNJUDGED, NOT_YET, RIGHT)
_ASKED = re.compile(r"""^(?:check|guess)\("(\d\d\.\d+)",""", re.MULTILINE)


def note(id: str, outcome: str, kept: str = "") -> str:
    """Write down how an exercise went, and the digest of what is ``kept`` of it; a sentence where that failed, else an empty text."""
    folder = copies.here()
    if folder is None:
        return ""
    try:
        with alone(folder / FILE):  # two chapters may run at a time
            done, said = _read(folder / FILE)
            one = done.setdefault(id, {"outcome": UNTRIED, "tries": 0})
            one["outcome"] = max(one["outcome"], outcome, key=_ORDER.index)
            one["tries"] += outcome != UNTRIED
            one["last"] = time.strftime("%Y-%m-%d")
            if kept:
                one["kept"] = kept
            put(folder / FILE, json.dumps(done, indent=1, sort_keys=True).encode())
    except OSError as error:
        return f"Your progress could not be written to {folder / FILE} ({error.strerror}); the answer is judged all the same."
    return said


def digest(id: str) -> str:
    """The digest of what was kept of an exercise when it was found right; an empty text where nothing was."""
    folder = copies.here()
    try:
        return str(_read(folder / FILE)[0].get(id, {}).get("kept", "")) if folder else ""
    except OSError:
        return ""


def progress(folder: Path | None = None) -> Text:
    """The reader's progress, chapter by chapter, and what to do next.

    Parameters
    ----------
    folder : Path, optional
        The working copy; default: the one that this process runs in.

    Returns
    -------
    Text
        A table in Markdown, with links to the chapters; one sentence where there is no working copy.

    Examples
    --------
    >>> progress()
    Nothing is counted here. In your own copy of the chapters, which `python bootstrap.py lab` opens, it is.
    """
    folder = folder or copies.here()
    if folder is None or not (folder / copies.AS_MADE).is_dir():
        return Text(NO_COPY)
    try:
        done, said = _read(folder / FILE)
    except OSError as error:
        done, said = {}, f"{folder / FILE} cannot be read ({error.strerror})."
    lines, following, totals = [], "", [0, 0, 0, 0]
    for chapter in copies.chapters_in(folder / copies.AS_MADE):
        points = _exercises(chapter)
        if not points:  # the glossary
            continue
        ran = [id for id in points if id in done]
        right = [id for id in ran if done[id]["outcome"] == RIGHT]
        saved = folder / copies.place(chapter)
        opened = bool(ran) or (saved.is_file() and saved.read_bytes() != chapter.read_bytes())
        state = "run to the end" if len(ran) == len(points) else "begun" if opened else "not opened"
        counts = [len(right), len(points), sum(points[id] for id in right), sum(points.values())]
        totals = [a + b for a, b in zip(totals, counts)]
        link = f"[{chapter.stem.replace('_', ' ')}]({copies.place(chapter).as_posix()})"
        worth = "{} of {}".format(*counts[2:]) if counts[3] else "–"  # a chapter may give none
        lines.append(f"| {link} | {state} | {counts[0]} of {counts[1]} | {worth} |")
        if not following and len(right) < len(points):
            open_one = next(id for id in points if id not in right)
            following = f"exercise {open_one} in {link}" if opened else f"open {link}"
    head = ["| chapter | state | exercises right | points |", "|---|---|---|---|"]
    total = "| all | | {} of {} | {} of {} |".format(*totals)
    then = f"**Next:** {following}." if following else "**All exercises that a cell checks are right.**"
    return Text("\n".join([*([said, ""] if said else []), *head, *lines, total, "", then]))


def _read(file: Path) -> tuple[dict[str, Any], str]:
    """What the file holds, and a sentence where it was damaged: then it is kept under another name."""
    try:
        text = file.read_bytes()
    except FileNotFoundError:
        return {}, ""
    try:
        done = json.loads(text)
        if all(one["outcome"] in _ORDER and isinstance(one["tries"], int) for one in done.values()):
            return done, ""
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
        pass
    return {}, f"{FILE} was damaged: it is kept as {set_aside(file).name}, and your progress is counted anew."


def _exercises(chapter: Path) -> dict[str, int]:
    """The exercises that a cell of a chapter checks, in order, with their points; ValueError for a damaged file."""
    points: dict[str, int] = {}
    asked: list[str] = []
    try:
        for cell in json.loads(chapter.read_text(encoding="utf-8"))["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "code":
                asked += _ASKED.findall(source) or built(source)
            else:
                points.update((f"{chapter.stem[:2]}.{one['number']}", int(one["points"])) for one in HEADER.finditer(source))
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{chapter} is not a notebook ({type(error).__name__}: {error}): "
                         f"lrnnlab copy start-over {chapter.stem.partition('_')[0]} puts a fresh one there") from error
    return {id: points.get(id, 0) for id in dict.fromkeys(asked)}


def built(source: str) -> list[str]:
    """The exercise of a build cell, in a list; of another cell an empty one."""
    from lrnnbook.content.exercises.building import MAGIC, build  # which writes down progress

    found = MAGIC.match(source)
    return [build(found[1]).exercise] if found else []


def my_copy() -> Any:
    """Two buttons for a chapter of the working copy: what is new in it since it was copied, and *Start over*.

    Returns
    -------
    ipywidgets.VBox or Text
        To be shown as the last value of a cell; one sentence where there is no working copy.

    Examples
    --------
    >>> my_copy()
    You are not in a copy of your own: `python bootstrap.py lab` makes one and opens it.
    """
    folder = copies.here()
    if folder is None:
        return Text("You are not in a copy of your own: `python bootstrap.py lab` makes one and opens it.")
    import ipywidgets  # here, because a grader has exercises and no notebook

    from lrnnbook.content.show.widgets import _status

    names = copies.copied(folder)
    which = ipywidgets.Dropdown(options=names, description="chapter")
    new, over = (ipywidgets.Button(description=text, layout={"width": "auto"})
                 for text in ("What is new since my copy?", "Start over"))  # fmt: skip
    says = ipywidgets.HTML(_status("Starting over keeps what you have beside the fresh chapter, with the date."))

    def answer(verb: Any) -> None:
        try:
            said = verb(which.value, folder)
        except (ValueError, OSError) as error:
            said = str(error)
        says.value = _status(f'<span style="white-space:pre-wrap">{escape(said)}</span>')

    new.on_click(lambda button: answer(copies.news))
    over.on_click(lambda button: answer(copies.start_over))
    return ipywidgets.VBox([which, ipywidgets.HBox([new, over]), says])
