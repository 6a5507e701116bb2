"""A card of a recurrent layer: which machines it learns, how far it keeps them, what is proved; a picture and a page.

What is measured is in :mod:`lrnnbook.content.tables.ladder_card`.
"""

import re
import shlex
import sys
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lrnnbook.content.show.gallery import drawn_here
from lrnnbook.content.show.labels import named
from lrnnbook.content.show.output import save
from lrnnbook.content.show.style import FAINT, GRID, INK, PAPER, SMALL, canvas, styled
from lrnnbook.content.tables import records
from lrnnbook.content.tables.ladder import DEEP, FAMILY, FAR, KNOWN, LENGTH, WINDOW, depth, ladder_task, predicted
from lrnnbook.content.tables.ladder_card import EIGHT, cells
from lrnnbook.content.tables.ladder_restart import LOST
from lrnnbook.content.tables.results import percent
from lrnnbook.content.tables.runner import run_all, time_left
from lrnnlab.expressivity.prediction import FAMILIES
from lrnnlab.files import put

THEORY = {"can": "yes", "cannot": "no", "open": "open"}
COLOURS = {"lasts": "#009E73", "lost": "#E69F00", "never learned": "#9c9c9c"}


def _state(found: dict) -> str:
    return "lost" if found["kind"] in LOST else found["kind"]


def _title(record: dict) -> str:
    task = record["task"]
    return EIGHT[task][0] if task in EIGHT else named(task.rpartition(":")[2], "ladder")


def _kept(found: dict) -> str:
    """How long a net keeps a machine."""
    if found["kind"] == "never learned":
        return f"not learned: {percent(found['trained'])}% at {LENGTH}"
    if found["kind"] == "lasts":
        return f"lasts to {FAR}"
    return f"learned; below {KNOWN:.0%} at {found['first']}"


def _proof(found: dict) -> str:
    """What is known of all strings, or, where nothing was learned, what needs no skill."""
    if found["kind"] == "never learned":
        return f"always the same answer: {percent(found['majority'])}%"
    return _refuted(found) or f"restarted: {_restarted(found)}".replace("restarted: cannot", "cannot")


def _refuted(found: dict) -> str:
    """Of a net that lasts on random strings though theory says that it cannot: whether it is wrong on the words that theory names."""
    asked = found.get("refuted") or {}
    return f"alone: wrong on {max(map(len, asked['words']))} chosen letters" if asked.get("n") else ""


def _restarted(found: dict) -> str:
    return {"proved": "proved, every string", "refuted": f"wrong on {found.get('shortest')} letters", "open": "not decided",
            "none": "cannot be restarted", None: "-"}[found.get("verdict")]  # fmt: skip


def sentences(name: str, made: Sequence[dict]) -> tuple[str, ...]:
    """What came out: learned, kept, proved."""
    by: dict[str, list[dict]] = {state: [one for one in made if _state(one["metrics"]) == state] for state in COLOURS}
    learned, lost, missed = by["lasts"] + by["lost"], by["lost"], by["never learned"]
    first = (f"{name} learned {len(learned)} of {_counted(made, 'machine')} at the training length, {LENGTH} letters, and kept "
             f"{len(by['lasts']) or 'none'} of them to letter {FAR}, on random strings.")  # fmt: skip
    ends = sorted(one["metrics"]["first"] for one in lost)
    second = [f"It falls below {KNOWN:.0%} on {_listed(lost)} {_between(ends)}"] if lost else []
    second += ["It forgot none of what it had learned, on these"] if learned and not lost else []
    second += [f"{_listed(missed)} it did not learn with this budget, which by itself does not say that it cannot"] if missed else []
    proved = [one for one in learned if one["metrics"]["verdict"] == "proved"]
    outside = [one for one in learned if one["metrics"]["verdict"] == "none"]
    third = (f"Put back after every letter to one of its own states, it is proved right on every string of every length for "
             f"{len(proved)} of the {len(learned)} learned.") if learned else "There is nothing to prove."  # fmt: skip
    if learned and len(outside) == len(learned):
        third = f"Nothing is proved, since it cannot be restarted from its own states ({outside[0]['metrics']['why']})."
    return tuple(_spaced(text) for text in (first, "; ".join(second) + ".", third))


def _spaced(text: str) -> str:
    return re.sub(r"(?<=\d)%", "\u202f%", text)


def _between(ends: Sequence[int]) -> str:
    return f"at letter {ends[0]}" if ends[0] == ends[-1] else f"between letters {ends[0]} and {ends[-1]}"


def _listed(made: Sequence[dict]) -> str:
    if len(made) > 3:
        return f"{len(made)} machines"
    titles = [f"\u201c{_title(one)}\u201d" for one in made]
    return " and ".join(filter(None, (", ".join(titles[:-1]), *titles[-1:])))


def _counted(made: Sequence, what: str) -> str:
    return f"{len(made)} {what}{'s' * (len(made) != 1)}"


def _layers(made: Sequence[dict]) -> str:
    return {1: "one layer", 2: "two layers"}.get(layers := depth(made[0]["row"]), f"{layers} layers")


def _foretold(made: Sequence[dict]) -> bool:
    return any(predicted(one["row"], one["task"]) != "open" for one in made)


def _budget(made: Sequence[dict]) -> str:
    tries = [f"{steps:,} steps at {rate:g}" for rate, steps in made[0]["config"]["setting"]["tries"]]
    return f"one seed ({made[0]['seed']}); at most {', then '.join(tries)}; 64 strings a step, up to {LENGTH} letters"


def _versions(made: Sequence[dict]) -> str:
    where = made[0]["provenance"]
    return f"lrnnlab {where['lrnnlab']} ({where['revision']}), torch {where['torch']}, {where['date']}"


def page(name: str, made: Sequence[dict], picture: str, command: str) -> str:
    """The card as Markdown."""
    head = ["machine", f"{_layers(made)} of its kind can last", f"right at {LENGTH - WINDOW + 1} to {LENGTH}", "how far",
            f"right at {FAR - WINDOW + 1} to {FAR}", "restarted", "tries", "always the same answer", "chance"]  # fmt: skip
    rows = [head, ["---"] * len(head)]
    for one in made:
        found = one["metrics"]
        rows.append([f"{_title(one)} ({ladder_task(one['task'])})", THEORY[predicted(one["row"], one["task"])],
                     f"{percent(found['trained'])}%", "; ".join(filter(None, (_kept(found), _refuted(found)))),
                     f"{percent(found['far'])}%", _restarted(found), str(found["tries"]), f"{percent(found['majority'])}%",
                     f"{percent(found['chance'])}%"])  # fmt: skip
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    whys = "\n".join(f"- **{title}**: {why}." for task, (title, why) in EIGHT.items() if any(one["task"] == task for one in made))
    family = FAMILY.get(made[0]["row"].removesuffix(DEEP))
    kin = (f'Its family: {FAMILIES[family[0]]}. "Yes" and "no" are theorems about {_layers(made)} and *every* length; they say nothing '
           "of training.") if family else "No family of transitions is declared, so theory says nothing."  # fmt: skip
    return f"""# {name}: which machines does it learn, and how far?

![{_alt(name, made)}]({picture})

{" ".join(sentences(name, made))}

{table}

What they tell apart, each asked for its state after every letter:

{whys}

{kin}

**How.** {_budget(made)[0].upper()}{_budget(made)[1:]}; another try is made only where the last did not know the training length.
{made[0]["metrics"]["parameters"]:,} weights ("{_title(made[0])}"). Asked on 128 fresh random strings of {FAR} letters.
*Not learned*: below {KNOWN:.0%} at letters {LENGTH - WINDOW + 1} to {LENGTH}, with this budget and seed. *Below {KNOWN:.0%} at*: where the first ten
letters begin that are below {KNOWN:.0%} together. *Lasts to {FAR}*: nowhere below, which is not for ever. *Restarted*: after every letter the state is put to one of
finitely many of the net's own states, no weight changed, in double precision; *proved* is on every string of every length, of this restarted net.

{_versions(made)}; to make it again: `{command}`
"""


def _alt(name: str, made: Sequence[dict]) -> str:
    return f"Card of {name}: " + "; ".join(f"{_title(one)}, {_kept(one['metrics'])}, {_proof(one['metrics'])}" for one in made) + "."


# --- what is drawn -----------------------------------------------------------------------------------------------------


@styled
def draw(name: str, made: Sequence[dict], command: str) -> Figure:
    """The card as a picture: a tile for each machine with the accuracy by position, the three sentences, and how it was made."""
    width, margin, gap, down, head = 5.9, 0.18, 0.14, 1.6, 1.42
    said = [textwrap.wrap(text, 72) for text in sentences(name, made)]
    small = textwrap.wrap(f"{_budget(made)}. {_versions(made)}", 82) + textwrap.wrap(f"$ {command}", 82)
    rows, wide = -(-len(made) // 2), (width - 2 * margin - gap) / 2
    height = head + rows * down + sum(0.2 * len(lines) + 0.06 for lines in said) + 0.17 * len(small) + 0.1
    figure, paper = canvas(height, width)
    paper.text(margin, height - 0.2, name, fontsize=min(22, 22 * 26 / max(1, len(name))), weight="bold", va="top")
    paper.text(margin, height - 0.64, "Which machines does it learn, and how far does it keep them?", fontsize=11.5, va="top")
    key = "Right answers by position. Grey: lengths of training. Dashed: always the same answer."
    theory = f"\nTheory: can {_layers(made)} of its kind be right at every length?" * _foretold(made)
    paper.text(margin, height - 0.92, key + theory, fontsize=SMALL, va="top", color=PAPER)
    for number, one in enumerate(made):
        _tile(figure, paper, one, margin + (number % 2) * (wide + gap), height - head - (number // 2) * down, wide, down - gap)
    y = height - head - rows * down - 0.04
    for lines, size, colour in [*((lines, 10.5, INK) for lines in said), (small, SMALL, PAPER)]:
        for line in lines:
            paper.text(margin, y, line, fontsize=size, va="top", color=colour)
            y -= 0.2 if size > SMALL else 0.17
        y -= 0.06
    return figure


def _tile(figure: Figure, paper: Any, one: dict, left: float, top: float, wide: float, tall: float) -> None:
    """A machine: what it asks for, how long the net keeps it, what is proved, and the accuracy by position."""
    found, (width, height) = one["metrics"], figure.get_size_inches()
    colour, theory = COLOURS[_state(found)], THEORY[predicted(one["row"], one["task"])]
    paper.add_patch(Rectangle((left, top - tall), wide, tall, color="#f4f5f6", lw=0))
    paper.add_patch(Rectangle((left, top - tall), 0.08, tall, color=colour, lw=0))
    proved = {"weight": "bold", "color": "#00664a"} if found.get("verdict") == "proved" else {}
    for at, text, how in ((0.07, _title(one), {"fontsize": 11, "weight": "bold"}), (0.28, _spaced(_kept(found)), {"fontsize": 10}),
                          (0.47, _spaced(_proof(found)), {"fontsize": 9.5, **proved})):
        paper.text(left + 0.18, top - at, text, va="top", **how)
    if theory != "open":
        paper.text(left + wide - 0.1, top - 0.09, f"theory: {theory}", va="top", ha="right", fontsize=SMALL, color=PAPER)
    axes = figure.add_axes(((left + 0.6) / width, (top - tall + 0.24) / height, (wide - 0.8) / width, (tall - 1.0) / height))
    axes.axvspan(0, LENGTH, color=GRID, lw=0)
    axes.axhline(found["majority"], color=FAINT, lw=1, ls=(0, (3, 2)))
    shares = one["accuracy_by_ten"]
    axes.plot((np.arange(len(shares)) + 0.5) * WINDOW, shares, color=colour, lw=2.4, clip_on=False)
    axes.set(xlim=(0, FAR), ylim=(0, 1), facecolor="none", xticks=[LENGTH, FAR // 2, FAR], yticks=[0, 1], yticklabels=["0", "100 %"])
    axes.tick_params(length=0, pad=3)
    axes.grid(False)


def make(name: str, machines: Sequence[str] | None = None, out: Path | None = None, seed: int = 0, jobs: int = 2) -> list[Path]:
    """Train, ask, draw and write; what is trained is kept in ``out``, and the same call goes on after an interrupt."""
    runs = cells(name, machines, seed)
    out = out or Path("cards")
    row = runs[0].row
    called = "-".join([row, *(machines or ()), *([f"seed{seed}"] if seed else [])])[:200]
    paths = [out / f"{re.sub(r'[^0-9A-Za-z_]+', '-', called)}.{end}" for end in ("png", "md")]
    if found := [path for path in paths if path.exists() and not drawn_here(paths[0])]:
        raise ValueError(f"{found[0]} was not drawn by lrnnlab: choose another --out, or move it away")
    records.check_writable(paths)
    command = shlex.join(["lrnnlab", "card", name, *(["--machines", ",".join(machines)] if machines else []), "--seed", str(seed)])
    start, done, new, missing = time.monotonic(), [], 0, 0

    def announce(planned: int, recorded: int) -> None:
        nonlocal missing
        missing = planned - recorded
        print(f"card of {row}: {planned} machines, {recorded} of them recorded in {out / 'data'}", file=sys.stderr, flush=True)

    for number, record in enumerate(run_all(runs, jobs=jobs, data=out / "data", progress=jobs == 1, announce=announce), 1):
        done.append(record)
        new += not record["recorded"]
        left = time_left(time.monotonic() - start, new, missing)
        said = f"{_title(record)}: {_kept(record['metrics'])}; {_proof(record['metrics'])}{left and f'; {left}'}"
        print(f"[{number}/{len(runs)}] {said}", file=sys.stderr, flush=True)
    shown = row.rpartition(":")[2] if ":" in row else named(row.removesuffix(DEEP), "ladder") + ", 2 layers" * row.endswith(DEEP)
    save(draw(shown, done, command), paths[0], _alt(shown, done), Records="ladder/card")
    put(paths[1], page(shown, done, paths[0].name, command).encode())
    return paths
