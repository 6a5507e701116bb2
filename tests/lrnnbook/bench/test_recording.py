"""How benchmarks are kept: a case a record, as soon as it is timed; no case is lost, and no machine renamed."""


import pytest

from lrnnbook import tables
from lrnnbook.content.show import bench_figures
from lrnnbook.content.tables import records
from lrnnbook.machinery import cli
from lrnnbook.machinery.bench import recording
from lrnnbook.machinery.bench.recording import Bench


class Clock:
    """Cases that say how often they were timed; one of them may be interrupted."""

    def __init__(self, *names, interrupted=None):
        self.timed = dict.fromkeys(names, 0)
        self.interrupted = interrupted

    def bench(self, **options):
        cases = {name: lambda name=name: self.time(name) for name in self.timed}
        return Bench("tree", cases, lambda name, found: f"{name}: {found['times']}", **{"rounds": 3, **options})

    def time(self, name):
        if name == self.interrupted:
            raise KeyboardInterrupt
        self.timed[name] += 1
        return {"times": self.timed[name]}


def perform(bench, only="", data=None, again=False):
    """As ``lrnnlab bench`` does it; what is printed, too."""
    for record in tables.run_all(bench.chosen(only), data=data, reuse=not again):
        print(bench.report(record["case"], record["metrics"]), "(recorded)" if record["recorded"] else "")


def kept(data):
    return {record["case"]: record["metrics"]["times"] for record in records.read(data, "bench/*")}


def test_an_interrupted_benchmark_keeps_what_it_has_and_a_second_call_does_the_rest(tmp_path, capsys):
    clock = Clock("a", "b", "c", interrupted="c")
    with pytest.raises(KeyboardInterrupt):
        perform(clock.bench(), data=tmp_path)
    assert kept(tmp_path) == {"a": 1, "b": 1}
    clock.interrupted = None
    perform(clock.bench(), data=tmp_path)
    assert clock.timed == {"a": 1, "b": 1, "c": 1} and kept(tmp_path) == clock.timed
    out = capsys.readouterr()
    assert out.out.count("(recorded)") == 2


def test_only_and_again_touch_no_other_case(tmp_path):
    clock = Clock("x one", "x two", "y")
    perform(clock.bench(), data=tmp_path)
    (path,) = tmp_path.rglob("*.jsonl")
    before = path.read_text(encoding="utf-8").splitlines()
    perform(clock.bench(), "y", data=tmp_path, again=True)
    assert kept(tmp_path) == {"x one": 1, "x two": 1, "y": 2}
    after = path.read_text(encoding="utf-8").splitlines()
    assert [one != other for one, other in zip(before, after, strict=True)] == [False, False, True]
    perform(clock.bench(), data=tmp_path)
    assert clock.timed == {"x one": 1, "x two": 1, "y": 2}


def test_a_record_of_fewer_rounds_is_made_again_and_one_of_more_is_not(tmp_path):
    clock = Clock("a")
    for rounds, times in ((3, 1), (9, 2), (3, 2)):
        perform(clock.bench(rounds=rounds), data=tmp_path)
        assert clock.timed == {"a": times}
    perform(clock.bench(rounds=3, limit=20.0), data=tmp_path)  # the other was not allowed to take so long
    assert clock.timed == {"a": 3}


def test_a_folder_that_cannot_be_written_is_met_before_anything_is_timed(tmp_path, capsys, monkeypatch):
    clock = Clock("a")
    monkeypatch.setattr(recording, "get", lambda what, **_: clock.bench())
    (tmp_path / "file").write_text("")
    assert cli.main(["bench", "tree", "--data", str(tmp_path / "file")]) == 2
    assert clock.timed == {"a": 0} and str(tmp_path / "file") in capsys.readouterr().err.splitlines()[-1]


def test_a_small_case_of_each_that_has_small_ones_is_recorded_and_told_again(tmp_path, capsys):
    """The real thing, through the command: timed, kept, read, and printed from the record as it was when timed."""
    call = ["bench", "fast_weights", "--only", "plain_lstm B=16", "--rounds", "1", "--data", str(tmp_path)]
    assert cli.main(call) == 0
    first = capsys.readouterr().out
    assert cli.main(call) == 0
    assert capsys.readouterr().out == first + "  (recorded)\n"
    (record,) = records.read(tmp_path, "bench/*")
    assert record["metrics"]["forms"]["torch"]["rounds"] == 1 == record["rounds"]
    assert record["machine"] == recording.machine() and record["provenance"]["threads"] == 1


def test_the_pictures_are_of_one_machine_and_name_it(tmp_path):
    def put(machine, case, threads, seconds, revision):
        config = {"experiment": "bench/scans", "case": case, "threads": threads, "device": "cpu", "machine": machine}
        peers = {"ours": {"forward": {"median": seconds, "share": 0.5, "times_ours": 1.0}}}
        records.keep(tmp_path, {
            **config, "rounds": 1, "metrics": {"copy_bytes_per_second": 1e10, "peers": peers},
            "fingerprint": records.fingerprint(config), "provenance": {"revision": revision},
        })  # fmt: skip

    big, small = {"cores": 64, "instructions": "AVX512"}, {"cores": 2, "instructions": "AVX2", "processor": "Small"}
    put(small, "real B=1 T=2 D=3", 1, 1.0, "aaa")
    put(small, "real B=1 T=2 D=4", 1, 2.0, "bbb-dirty")
    put(small, "real B=1 T=2 D=4", 2, 3.0, "aaa")
    put(big, "real B=1 T=2 D=3", 1, 9.0, "ccc")
    put(big, "real B=1 T=2 D=3", 8, 9.0, "ccc")
    found = bench_figures.recorded(tmp_path)
    cases = {threads: [one["case"][-1] for one in record["cases"]] for threads, record in found.items()}
    assert cases == {1: ["3", "4"], 2: ["4"]}
    assert bench_figures.found(found[1], "real B=1 T=2 D=3")["ours"]["forward"]["median"] == 1.0
    assert bench_figures.origin(found[1]) == "Small, 2 cores, AVX2 (revisions aaa, bbb-dirty)"
    for draw in (bench_figures.times_ours, bench_figures.memory_line):
        assert "measured on: Small, 2 cores, AVX2" in [text.get_text() for text in draw(found).texts]
