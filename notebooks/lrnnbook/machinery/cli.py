"""The command line ``lrnnlab``; thin: every verb is a call of the package."""

import argparse
import contextlib
import json
import os
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import lrnnlab
from lrnnbook import without_extra
from lrnnbook.machinery.arguments import Parser

LEFT_OUT_OF_JSON = ("losses", "checks", "curves", "frames", "points", "kernels", "training", "time", "seal")  # what --json leaves out
PARSE_THEIR_OWN = {"book": "lrnnbook.machinery.book", "course": "lrnnbook.machinery.grading.command", "doctor": "lrnnbook.machinery.doctor"}
MAX_SEEDS = 10_000


def _seeds(text: str) -> list[int]:
    """``731`` is that one seed; ``0-4``, ``0,3,7`` and ``0-2,7`` are lists."""
    found: list[int] = []
    try:
        for part in text.split(","):
            first, dash, last = part.partition("-")
            several = range(int(first), int(last if dash else first) + 1)
            if not several or several[-1] - several[0] >= MAX_SEEDS or len(found) + len(several) > MAX_SEEDS:
                raise ValueError
            found += several
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither a seed (731), nor a list of at most {MAX_SEEDS:,} (0-4 or 0,3,7)"
        ) from None
    return found


def _names(text: str) -> list[str]:
    """Names with commas between them; none is refused, or an empty shell variable would ask for a whole table."""
    found = [part for part in text.split(",") if part]
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} names nothing; without this option all are meant")
    return found


def _lengths(text: str) -> tuple[int, int]:
    """``40`` is that one length, ``3-40`` all from the first to the last."""
    first, dash, last = text.partition("-")
    try:
        return int(first), int(last if dash else first)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a length (40) nor two (3-40)") from None


def _folder(text: str) -> Path:
    """A path; none is refused, or an empty shell variable would mean the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("a folder is asked for, got ''")
    return Path(text)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="lrnnlab", description=lrnnlab.__doc__.splitlines()[0])
    parser.add_argument("--version", action="version", version=lrnnlab.__version__)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    reproduce = verbs.add_parser("reproduce", help="run (part of) a table or figure of a paper and print what came out")
    reproduce.add_argument("experiment", help="for example lrnn/table2, which trains, or lrnn/speed, which measures; or a .yaml "
                           "of your own rows")  # fmt: skip
    reproduce.add_argument("--budget", default="live", help="live (seconds a run), desk (hours a table), paper")
    reproduce.add_argument("--protocol", help="ours (last weights, every position, no choice on test data) or paper "
                           "(best of 40 checks, last position); default: paper for --budget paper, else ours")
    reproduce.add_argument("--tasks", type=_names, help="comma-separated; default: all columns of that budget")
    reproduce.add_argument(
        "--rows", type=_names, help="comma-separated, 'ours' for the best of ours; default: all rows"
    )
    reproduce.add_argument("--seeds", type=_seeds, help="which: one (731) or several (0-4 or 0,3,7); default: 0-4 of "
                           "lrnn/table2 and lrnn/smoothing, 101 of lrnn/film, 0 of the others")  # fmt: skip
    reproduce.add_argument("--jobs", type=int, default=1, help="runs at a time, one thread each; the numbers stay the same "
                           "(what measures time runs alone)")  # fmt: skip
    reproduce.add_argument("--engine", help="where the runs go: dask://HOST:PORT, slurm or local, see the README; needs "
                           "lrnnlab[cluster]; on processors of one kind the numbers stay the same")  # fmt: skip
    reproduce.add_argument("--json", action="store_true", help="one JSON object a run on stdout instead of a table")
    reproduce.add_argument("--data", type=_folder, help="where records are kept; default: the repository's data/, or data/ "
                           "beside a .yaml of your own")  # fmt: skip
    reproduce.add_argument("--record", action=argparse.BooleanOptionalAction, default=None,
                           help="keep and reuse records; default: yes (--budget live: only with --data or --engine)")  # fmt: skip
    reproduce.add_argument("--again", action="store_true", help="make what is recorded again, and record that")
    reproduce.add_argument("--search", type=int, nargs="?", const=sys.maxsize, metavar="N",
                           help="of fwp/table1 and fwp/table2: train the first N configurations of the paper's grid "
                           "(default: all) and say which is best")
    card = verbs.add_parser("card", help="which machines can my layer learn, and how far? a picture and a page, in minutes")
    card.add_argument("name", help="a model (deltanet), a class or function of your own (my_module:MyRule), or of a library "
                      "(fla.layers.DeltaNet)")  # fmt: skip
    card.add_argument("--machines", type=_names, help="comma-separated, of chapter 10's; default: eight")
    card.add_argument("--seed", type=_seeds, default=[0], help="which one (0)")
    card.add_argument("--jobs", type=int, default=2, help="machines at a time, one thread each (2)")
    card.add_argument("--out", type=_folder, default=Path("cards"), help="where to (cards); what is finished is kept there, in data/")
    results = verbs.add_parser("results", help="recorded runs of a table: as text, or as a file for other programs")
    results.add_argument("experiment", help="for example fwp/table1; or a .yaml of your own rows")
    results.add_argument("--budget", help="desk, paper or live; default: the first of these that has runs")
    results.add_argument("--data", type=_folder, help="where records are kept; default: those that come with the project, or "
                         "data/ beside a .yaml of your own")  # fmt: skip
    results.add_argument("--protocol", default="ours", help="ours (the default) or paper")
    results.add_argument("--latex", action="store_true", help="the score as LaTeX (booktabs), the paper's beside what is recorded")
    results.add_argument("--csv", type=Path, metavar="FILE", help="write one line a run, one column a metric; Parquet "
                         "where the name ends in .parquet")  # fmt: skip
    task = verbs.add_parser("task", help="a task's strings as a file, for other programs: JSON lines, CSV or NumPy")
    task.add_argument("name", help="a task (parity, 'Sum(7)'), or a function or class of your own that makes one (my_module:my_task)")
    task.add_argument("--out", type=Path, metavar="FILE", required=True, help="ends in .jsonl, .csv or .npz; says in itself what it "
                      "is: symbols, chance and majority levels, oracle, seed")  # fmt: skip
    task.add_argument("--length", type=_lengths, help="40, or 3-40: each string its own; default: the training length")
    task.add_argument("--strings", type=int, default=1000, help="how many (1000)")
    task.add_argument("--seed", type=int, default=0, help="what decides them (0)")
    task.add_argument("--split", default="train", help="train (the default), validation or test")
    task.add_argument("--overwrite", action="store_true", help="replace the file where there is one")
    bench = verbs.add_parser("bench", help="time our scans beside every other that is installed, in turn, in one run")
    whats = bench.add_subparsers(dest="what", required=True, metavar="WHAT")
    for what, does in {
        "scans": "forward and backward",
        "step": "one optimiser step of the released model",
        "dlr": "a DLR layer beside paper 004's Figure 4",
        "tree": "RegularGPT's tree beside its masks",
        "fast_weights": "a step of paper 003's models beside a loop of its equations",
        "delta": "the delta rule beside flash-linear-attention's naive forms",
    }.items():
        one = whats.add_parser(what, help=does, description=does)
        one.add_argument("--only", default="", help="cases whose name contains this, like 'b=8'")
        one.add_argument("--rounds", type=int, help="timed calls each (by benchmark 5 to 9)")
        one.add_argument("--record", action="store_true", help="keep every case as soon as it is timed, in "
                         "data/records/bench/, and take from there what was timed on this machine before")  # fmt: skip
        one.add_argument("--again", action="store_true", help="time what is recorded again, and record that")
        one.add_argument("--data", type=_folder, help="keep records here instead of in the repository's data/")
        if what in ("scans", "dlr"):
            one.add_argument("--threads", type=int, default=1, help="cores to use (1)")
        if what in ("scans", "delta"):
            one.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="where the scans run")
        if what == "scans":
            one.add_argument("--limit", type=float, default=20.0, help="skip calls of more seconds than this (20)")
    figures = verbs.add_parser("figures", help="draw the pictures in figures/ again")
    figures.add_argument("names", nargs="*", metavar="NAME", help="which; default: all")
    figures.add_argument("--data", type=_folder, help="with the name ladder: draw the ladder with your own rows that are recorded "
                         "there, as .png, .svg and .pdf")  # fmt: skip
    figures.add_argument("--folder", type=_folder, help="where to; default: figures/ beside data/, or here with --data")
    copy = verbs.add_parser("copy", help="a copy of the chapters of your own: make it, start one over, see what is new")
    copy.add_argument("what", nargs="?", choices=["make", "start-over", "news", "progress", "export"], default="make", help="make: "
                      "copy the chapters that are not there yet (the default); start-over: a fresh chapter, the old one "
                      "kept beside it; news: what has changed in the project's chapters since they were copied; progress: "
                      "how far you have come; export: what you built, as one file that trains and proves with torch alone")  # fmt: skip
    copy.add_argument("names", nargs="*", metavar="NAME", help="of start-over and news: 03, or the whole name")
    copy.add_argument("--folder", type=_folder, help="the copy; default: where you are, or the project's my_notebooks")
    copy.add_argument("--out", type=Path, help="of export: the file; default: my_library.py where you are")
    verbs.add_parser("book", help="build, check or compare the notebooks", add_help=False)
    verbs.add_parser("course", help="hand out problem sets, grade what comes back", add_help=False)
    verbs.add_parser("doctor", help="what is installed, which scans work, whether widgets can render", add_help=False)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Entry of the ``lrnnlab`` command; returns the exit status."""
    if hasattr(sys.stdout, "reconfigure"):  # a character that its encoding lacks becomes a question mark
        sys.stdout.reconfigure(errors="replace")
    try:
        try:
            return _run(list(sys.argv[1:] if argv is None else argv))
        finally:
            sys.stdout.flush()  # or a full disk and a closed pipe show when Python ends, where nobody can catch it
    except ModuleNotFoundError as error:
        if (told := without_extra(error)) is error:
            raise
        print(f"lrnnlab: {told}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return _let_go_of_stdout(141)  # as of a program that SIGPIPE ends: lrnnlab doctor | head -1
    except OSError as error:
        said = f"{error.strerror}: {error.filename}" if error.filename is not None else error.strerror or error
        print(f"lrnnlab: {said}", file=sys.stderr)
        return _let_go_of_stdout(2)
    except KeyboardInterrupt:
        print("lrnnlab: interrupted", file=sys.stderr)
        return 130


def _let_go_of_stdout(status: int) -> int:
    """Return ``status``; point stdout at /dev/null where it is closed, so that Python's final flush does not fail."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


def _run(argv: list[str]) -> int:
    if argv and argv[0] in PARSE_THEIR_OWN:  # loaded only now: book needs Jupyter's machinery, which the other verbs do without
        return import_module(PARSE_THEIR_OWN[argv[0]]).main(argv[1:])
    options = _parser().parse_args(argv)
    try:
        return {"copy": _copy, "card": _card, "figures": _figures, "bench": _bench, "reproduce": _reproduce,
                "results": _results, "task": _task}[options.verb](options)
    except ValueError as error:
        print(f"lrnnlab: {error}", file=sys.stderr)
        return 2


def _reproduce(options: argparse.Namespace) -> int:
    from lrnnbook import tables
    from lrnnbook.content.tables import records
    from lrnnbook.content.tables.registry import search_plan
    from lrnnbook.content.tables.runner import time_left

    chosen = {name: getattr(options, name) for name in ("tasks", "rows", "seeds", "budget")}
    if options.search is None:
        runs = tables.plan(options.experiment, protocol=options.protocol, **chosen)
    else:
        if options.protocol is not None:
            raise ValueError(f"--search has one protocol, got --protocol {options.protocol}")
        runs = search_plan(options.experiment, first=options.search, **chosen)
    asked_for = tables.get(options.experiment)
    beside = _beside(asked_for)
    keep = options.budget != "live" or any(one is not None for one in (options.data, options.engine, beside))
    keep = keep if options.record is None else options.record
    data = (options.data or beside or records.data_folder()) if keep else None
    if asked_for.clock and options.jobs > 1:
        print(f"{options.experiment} measures time: one run at a time, not {options.jobs}", file=sys.stderr)
    asked = {asked_for.aliases.get(row, row): row for row in options.rows or ()}  # print the name that was asked for
    start, done, made, missing = time.monotonic(), [], 0, 0

    def announce(planned: int, recorded: int) -> None:
        nonlocal missing
        missing = planned - recorded
        where = f", {recorded} of them recorded in {data}" if data else ", none taken from records or kept"
        seeds = list(dict.fromkeys(run.seed for run in runs))
        parts = [_counted(len({getattr(run, name) for run in runs}), name) for name in ("task", "row")]
        print(f"{options.experiment}, budget {options.budget}: {_counted(planned, 'run')} planned{where}\n"
              f"({', '.join(parts)}; {_seeds_as_text(seeds)})", file=sys.stderr, flush=True)  # fmt: skip

    found = tables.run_all(
        runs, jobs=options.jobs, engine=options.engine, data=data, reuse=not options.again, progress=not options.json,
        announce=announce,
    )  # fmt: skip
    try:
        for number, record in enumerate(found, 1):
            from lrnnbook.content.tables import results  # with pandas: only now, so that training begins at once

            done.append(record)
            made += not record["recorded"]
            shown = {**record, "row": asked.get(record["row"], record["row"]), "model_row": record["row"]}
            if options.json:
                print(json.dumps(records.as_json({k: v for k, v in shown.items() if k not in LEFT_OUT_OF_JSON})), flush=True)
            left = time_left(time.monotonic() - start, made, missing)
            print(f"[{number}/{len(runs)}] {results.line(shown)}{left and f'; {left}'}", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        return _interrupted(data)
    if not options.json:
        print(results.text(done))
        if "score" in asked_for.declared.found and options.search is None and options.budget == "live" and done:
            cells = {(record["task"], record["row"]) for record in done}
            desk = [record for record in records.recorded(asked_for.name, protocol=done[0]["protocol"])
                    if (record["task"], record["row"]) in cells]
            body = results.beside(asked_for.name, desk, done).to_string(index=False)
            print(f"\n{asked_for.scored}, in percent: in the paper, recorded at the desk, live\n{body}")
    return _unwritten([record["unwritten"] for record in done if "unwritten" in record], len(done))


def _results(options: argparse.Namespace) -> int:
    from lrnnbook import tables
    from lrnnbook.content.tables import records, results

    table = tables.get(options.experiment)
    every = [one for one in records.read(options.data or _beside(table) or records.recorded_folder(), table.name)
             if one["protocol"] == options.protocol and (not table.declared.outside or one["row"] in table.rows)]  # fmt: skip
    there = {one["budget"] for one in every}
    budget = options.budget or next((one for one in ("desk", "paper", "live") if one in there), "desk")
    found = [one for one in every if one["budget"] == budget]
    if options.latex:
        print(results.latex(table.name, found))
    elif options.csv is None:
        print(results.text(found))
    else:
        results.write(results.frame(found), options.csv)
        print(f"{options.csv}: {_counted(len(found), 'run')}")
    return 0


def _beside(table: Any) -> Path | None:
    """Where the records of a ``.yaml`` of one's own are kept; None for a table of ours."""
    return table.declared.file.parent / "data" if table.declared.outside else None


def _counted(number: int, what: str) -> str:
    """``1 run``, ``2 runs``."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def _seeds_as_text(seeds: Sequence[int]) -> str:
    """Which seeds are meant, at a glance: ``seed 7``, ``seeds 0 to 4``, ``2 seeds, 0 to 7``."""
    if len(seeds) == 1:
        return f"seed {seeds[0]}"
    whole = max(seeds) - min(seeds) == len(seeds) - 1
    return f"{'seeds' if whole else f'{len(seeds)} seeds,'} {min(seeds)} to {max(seeds)}"


def _unwritten(failed: Sequence[str], planned: int) -> int:
    """Say at the end what is printed above but could not be written, and where; the exit status."""
    if failed:
        print(f"lrnnlab: {len(failed)} of {planned} records could not be written: {failed[0]}", file=sys.stderr)
    return 1 if failed else 0


def _interrupted(data: Path | None) -> int:
    """Say what is kept of work that is recorded in ``data``, or nowhere; the exit status."""
    kept = f"; what is finished is in {data}, and the same call does the rest" if data else ""
    print(f"lrnnlab: interrupted{kept}", file=sys.stderr)
    return 130


def _figures(options: argparse.Namespace) -> int:
    from lrnnbook.content.show import gallery as pictures
    from lrnnbook.content.tables import records

    if options.data is not None:
        if options.names != ["ladder"]:
            raise ValueError(f"figures --data draws the ladder: figures ladder --data FOLDER, got {' '.join(options.names) or 'no name'}")
        from lrnnbook.content.chapters import ch10

        drawn = ch10.draw_ladder(options.data, options.folder or Path())
    else:
        drawn = pictures.draw(options.folder or records.data_folder().parent / "figures", options.names)
    for path in drawn:
        print(path)
    return 0


def _card(options: argparse.Namespace) -> int:
    from lrnnbook.content.show import card

    if len(options.seed) > 1:
        raise ValueError(f"a card is of one seed, got {_seeds_as_text(options.seed)}")
    try:
        for path in card.make(options.name, options.machines, options.out, options.seed[0], options.jobs):
            print(path)
    except KeyboardInterrupt:
        return _interrupted(options.out / "data")
    return 0


def _task(options: argparse.Namespace) -> int:
    from lrnnlab import task

    if ":" in options.name:
        from lrnnbook.content.tables import own

        own.enter(str(Path.cwd()), {"task": options.name})
    data = task(options.name).dataset(options.length, options.strings, options.seed, options.split)
    print(f"{data.save(options.out, options.overwrite)}: {_counted(options.strings, 'string')}")
    return 0


def _copy(options: argparse.Namespace) -> int:
    from lrnnbook.machinery import copies

    folder, names = copies.find(options.folder), options.names
    if (options.what in ("make", "progress", "export") and names) or (options.what == "start-over" and not names):
        raise ValueError(f"copy {options.what} asks for {'no names' if names else 'the names of chapters, like 03'}")
    if options.what == "make":
        added = copies.make(folder)
        if not (folder / copies.AS_MADE).is_dir():
            if not copies._chapters(copies.PROJECT):
                raise ValueError(f"the chapters come with a checkout of the project, and {copies.PROJECT} has none")
            raise ValueError(f"{folder} has files of the chapters' names that lrnnlab did not copy there: choose another folder")
        old = copies.left_behind(folder) if added else []
        moved = [f"Lettered chapters are in {copies.DEEPER}/ now; yours from before stay as they are: {', '.join(old)}"] * bool(old)
        print("\n".join([*added, *moved, f"Your copy of the chapters is {folder}"]))
    elif options.what == "progress":
        from lrnnbook.content.exercises import progress

        print(progress(folder and copies.copy_in(folder)))
    elif options.what == "export":
        from lrnnbook.content.exercises import library

        out = Path(options.out or library.FILE).absolute()
        os.chdir(copies.copy_in(folder))  # whose mine/ is meant
        whys = library.write(out)
        ours, rest = (", ".join(step for step in whys if bool(whys[step]) == theirs) for theirs in (False, True))
        told = [f"{step}: the package's, {why}" for step, why in whys.items() if why and not why.startswith("until")]
        print(f"{out}: yours are {ours or 'none yet'}; the package's are {rest or 'none'}. Run it: python {out.name}", *told, sep="\n")
    else:
        verb, failed = copies.news if options.what == "news" else copies.start_over, 0
        for name in names or copies.copied(folder):
            try:
                print(verb(name, folder))
            except ValueError as error:
                if names:
                    raise
                print(error)  # and on to the others
                failed = 1
        return failed
    return 0


def _bench(options: argparse.Namespace) -> int:
    from lrnnbook import tables
    from lrnnbook.content.tables import records
    from lrnnbook.machinery.bench import recording

    data = options.data or (records.data_folder() if options.record or options.again else None)
    asked = {name: getattr(options, name, None) for name in ("rounds", "threads", "device", "limit")}
    bench = recording.get(options.what, **{name: value for name, value in asked.items() if value is not None})
    cases, done = bench.chosen(options.only), []

    def announce(planned: int, recorded: int) -> None:
        if data is not None:
            known = f"{recorded} recorded for this machine in {data}"
            print(f"bench {bench.name}: {_counted(planned, 'case')}, {known}", file=sys.stderr, flush=True)

    try:
        for record in tables.run_all(cases, data=data, reuse=not options.again, announce=announce):
            done.append(record)
            end = "\n  (recorded)" if record["recorded"] else ""
            print(f"{bench.report(record['case'], record['metrics'])}{end}", flush=True)
    except KeyboardInterrupt:
        return _interrupted(data)
    return _unwritten([record["unwritten"] for record in done if "unwritten" in record], len(done))
