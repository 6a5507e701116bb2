"""The recorded benchmark of the scans, drawn (chapter 03): times over ours, and shares of the memory's speed.

``records`` is everywhere what :func:`recorded` returns: number of threads -> the cases that ``lrnnlab bench scans
--record`` timed with them, all on one machine, which the pictures name.  A colour means a way to scan, a marker whose
code it is; what was not run is hollow, never left out.

Letters: B batch, T time, D channels, h blocks, b block size.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from lrnnbook.content.show.frames import handle, legend
from lrnnbook.content.show.style import FAINT, GRID, INK, RECORDED, SMALL, Look, new_figure, styled
from lrnnbook.content.tables import records as files
from lrnnbook.machinery.bench.recording import describe

COMMAND = "lrnnlab bench scans --threads 1 --record"
OURS = "ours"
COLOURS = {"loop": "#222222", "PScan": "#AA4499", "tree": "#117733", "token table": "#DDAA33"}
# whose code scans in which way; JAX and torch compose pairs in a tree, torch-slices in trees over chunks of 256 steps
WAYS = {
    "ours": "loop", "loop (unbind)": "loop", "JAX lax.scan": "loop", "PScan of the paper": "PScan",
    "JAX associative_scan": "tree", "torch associative_scan": "tree", "torch-slices": "tree", "torch.compile loop": "loop",
    "accelerated-scan reference": "tree",
}  # fmt: skip
MARKERS = dict(zip(WAYS, "*o^DvsXPh"))
LOOKS = {peer: Look(COLOURS[way], "-", MARKERS[peer]) for peer, way in WAYS.items()}
PARTS = {"forward + backward": "both", "forward": "forward"}
KINDS = {"block": "blocks", "table": "token table", "constant": "constant blocks", "real": "diagonal, real",
         "constant_real": "constant diagonal", "complex": "diagonal, complex"}  # fmt: skip
ROW_INCHES = 0.2  # inches between two rows


def recorded(folder: Path | None = None, device: str = "cpu") -> dict[int, dict]:
    """Number of threads -> what was timed with them on one machine (that with the most cases), on its ``device``.

    Each has ``threads``, ``machine`` (in words), ``revisions`` of the code that was timed, and ``cases``."""
    read = files.read(files.recorded_folder() if folder is None else folder, "bench/scans")
    cells: dict[str, list[dict]] = {}
    for one in read:
        if one["device"] == device:
            cells.setdefault(describe(one["machine"]), []).append(one)
    if not cells:
        raise ValueError(f"no record of the benchmark: run {COMMAND} first")
    machine = max(sorted(cells), key=lambda name: len(cells[name]))
    found: dict[int, dict] = {}
    for one in sorted(cells[machine], key=lambda one: one["threads"]):
        at = found.setdefault(one["threads"], {"threads": one["threads"], "machine": machine, "revisions": [], "cases": []})
        at["revisions"] = sorted({*at["revisions"], one["provenance"]["revision"]})
        at["cases"].append({"case": one["case"], **one["metrics"]})
    return found


def origin(record: Mapping) -> str:
    """Where a record was made: its machine, and the revisions of the code, which say so where it was not committed."""
    several = "s" if len(record["revisions"]) > 1 else ""
    return f"{record['machine']} (revision{several} {', '.join(record['revisions'])})"


class Row(NamedTuple):
    """A case as it is drawn: its name in the record, its group, and what tells it from its neighbours."""

    name: str
    group: str
    label: str


def rows(records: Mapping[int, Mapping]) -> list[Row]:
    """Every case of any record: kind by kind, small blocks first, many strings first, short ones first."""
    placed = []
    for name in dict.fromkeys(one["case"] for record in records.values() for one in record["cases"]):
        kind, *given = name.split()
        size = {letter: int(number) for letter, number in (part.split("=") for part in given)}
        group = KINDS[kind] + (f", b = {size['b']}" if "b" in size else "")
        place = list(KINDS).index(kind), size.get("b", 0), -size["B"], size["T"], size.get("D", 0)
        label = f"B = {size['B']}, T = {size['T']:,}" + (f", D = {size['D']:,}" if "D" in size else "")
        placed.append((place, Row(name, group, label)))
    return [row for _, row in sorted(placed, key=lambda one: one[0])]


def found(record: Mapping, name: str) -> dict:
    """Peer -> what the record says of it on the case ``name``; nothing where the case is not in the record."""
    return next((one["peers"] for one in record["cases"] if one["case"] == name), {})


def times_table(records: Mapping[int, Mapping], threads: int) -> list[dict]:
    """One dict a case of the record with so many threads: milliseconds of ours, forward and backward, and its shares of the
    copy's speed; by peer how many times longer it took, or why it was not run."""
    table = []
    for row in rows(records):
        peers = found(records[threads], row.name)
        if not peers:
            continue
        ours = peers.get(OURS, {})
        line = {"case": f"{row.group}, {row.label}", "ours, ms": ours["both"]["median"] * 1e3 if "both" in ours else None}
        line |= {f"{part}, of copy": f"{ours[part]['share']:.0%}" if part in ours else "–" for part in ("forward", "both")}
        table.append(line | {peer: _cell(peers.get(peer, {})) for peer in WAYS if peer != OURS})
    return table


def _cell(one: Mapping) -> str:
    if "skipped" in one:
        return one["skipped"].removeprefix("would ")
    return f"{one['both']['times_ours']:.3g}" if "times_ours" in one.get("both", ()) else "–"


@styled
def times_ours(records: Mapping[int, Mapping], part: str = "both") -> Figure:
    """How many times longer than our compiled loop each peer takes, case by case; a panel for each record.  Hollow was not run:
    too long (at what a short part leads one to expect), or, crossed, too much memory; else it is at the right edge."""
    cases = rows(records)
    figure, panels, heights = _panels(records, cases, top=1.0)
    farthest = 1.6 * max([10.0, *(at for r in records.values() for c in cases for _, at, _ in _marks(r, c.name, part)
                                  if at is not None)])  # fmt: skip
    for axes, record in zip(panels, records.values()):
        axes.axvline(1, color=INK, lw=1.4)
        for case, y in zip(cases, heights):
            marks = [(peer, at or farthest, one) for peer, at, one in _marks(record, case.name, part)]
            if marks:
                axes.plot([1, max(at for _, at, _ in marks)], [y, y], color=GRID, lw=1.0, zorder=1)
            elif "skipped" in (ours := found(record, case.name).get(OURS, {})):
                axes.text(1.1, y, f"ours not run: {ours['skipped']}", va="center", fontsize=9)
            for peer, at, one in marks:
                _mark(axes, peer, at, y, one.get("skipped"))
        axes.set(xscale="log", xlim=(0.25, 1.5 * farthest), xlabel="time / time of ours")
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.xaxis.set_minor_locator(NullLocator())
    shown = [(peer, LOOKS[peer], {}) for peer in WAYS if peer != OURS]
    shown += [("hollow: not run, would take too long", Look(FAINT, "-", "o"), {"mfc": "none"}),
              ("crossed: not run, too much memory", Look(FAINT, "-", "x"), {"ms": 8})]  # fmt: skip
    _legend(figure, shown, 3, handletextpad=0.2, columnspacing=1.0)
    return figure


def _marks(record, name, part):
    """(peer, how many times ours or None, what the record says) of every other peer on a case that ours has run."""
    peers = found(record, name)
    if part not in peers.get(OURS, {}):
        return []
    ours, marks = peers[OURS][part]["median"], []
    for peer, one in peers.items():
        if peer == OURS:
            continue
        if part in one:
            marks.append((peer, one[part]["times_ours"], one))
        elif "skipped" in one:
            expected = one.get("expected_seconds") if part == "both" else None
            marks.append((peer, expected and expected / ours, one))
    return marks


def _mark(axes, peer, at, y, skipped):
    look = LOOKS[peer]
    face = look.colour if skipped is None else "none"
    axes.plot(at, y, look.marker, color=look.colour, mfc=face, ms=6, label=peer, zorder=3, clip_on=False)
    if skipped and "need" in skipped:
        axes.plot(at, y, "x", color=look.colour, ms=9, mew=0.9, label=f"{peer}: memory", zorder=3, clip_on=False)


@styled
def memory_line(records: Mapping[int, Mapping]) -> Figure:
    """Bytes that must move over time, as a share of the copying speed measured in the same minute (the line).  Filled: ours;
    grey: the fastest of the others, forward.  A short case can lie right of the line: it stays in the cache."""
    cases = rows(records)
    figure, panels, heights = _panels(records, cases, top=0.62)
    for axes, record in zip(panels, records.values()):
        axes.axvline(1, color=INK, lw=1.6)
        for case, y in zip(cases, heights):
            peers = found(record, case.name)
            others = [one["forward"]["share"] for peer, one in peers.items() if peer != OURS and "forward" in one]
            if others:
                axes.plot(max(others), y, "o", color=FAINT, ms=5, label="others", zorder=2)
            for part, marker in (("backward", "<"), ("forward", ">")):
                if part in peers.get(OURS, {}):
                    axes.plot(peers[OURS][part]["share"], y, marker, color=RECORDED, ms=6.5, label=part, zorder=3)
        axes.set(xscale="log", xlim=(0.008, 4), xlabel="share of the copying speed")
        axes.set_xticks([0.01, 0.03, 0.1, 0.3, 1, 3], ["1 %", "3 %", "10 %", "30 %", "100 %", "300 %"])
        axes.xaxis.set_minor_locator(NullLocator())
    marks = ((">", RECORDED, "ours, forward"), ("<", RECORDED, "ours, backward"), ("o", FAINT, "fastest other, forward"))
    shown = [*((label, Look(colour, "-", marker), {}) for marker, colour, label in marks),
             ("as fast as memory is copied", Look(INK), {"ls": "-", "lw": 1.6, "marker": ""})]  # fmt: skip
    _legend(figure, shown, 4)
    return figure


def _legend(figure, shown, ncols, **where):
    handles = [handle(name, look, **{"ls": "none", "marker": look.marker, **line}) for name, look, line in shown]
    legend(figure, handles, ncols, loc="upper left", borderaxespad=0.2, **where)


def _panels(records, cases, top):
    """A figure with a panel for each record, its rows grouped under headings, and the height of each case's row."""
    heights, ticks, names, headings, y, group = [], [], [], [], 0.0, None
    for case in cases:
        if case.group != group:
            group, y = case.group, y + (0.35 if heights else 0)
            ticks, names, headings, y = [*ticks, y], [*names, group], [*headings, len(ticks)], y + 1
        heights, ticks, names, y = [*heights, y], [*ticks, y], [*names, case.label], y + 1
    figure, panels = new_figure(ROW_INCHES * (y + 0.4) + top + 0.75, columns=len(records), left=2.0, top=top, bottom=0.75,
                                gap=0.25, sharey=True, squeeze=False)  # fmt: skip
    machines = dict.fromkeys(record["machine"] for record in records.values() if "machine" in record)
    figure.text(0.99, 0.05 / figure.get_size_inches()[1], f"measured on: {'; '.join(machines)}" if machines else "",
                ha="right", va="bottom", fontsize=SMALL)  # fmt: skip
    for axes, threads in zip(panels[0], records):
        axes.set_title(f"{threads} thread{'s' if threads > 1 else ''}")
        axes.grid(False, axis="y")
        axes.tick_params(axis="y", length=0)
    panels[0, 0].set_yticks(ticks, names)
    panels[0, 0].set_ylim(y - 0.4, -0.7)
    for number in headings:
        panels[0, 0].get_yticklabels()[number].set_fontweight("bold")
    return figure, list(panels[0]), heights
