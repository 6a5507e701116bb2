"""Pictures of the recorded benchmark: every number stands where the record says, and what was not run is seen."""

import pytest

from lrnnbook import tables
from lrnnbook.content.show.bench_figures import OURS, memory_line, recorded, rows, times_ours, times_table
from lrnnbook.machinery.bench import recording, scans
from lrnnbook.machinery.bench.cases import Case

SMALL = (Case("block", 2, 96, 2, 2), Case("real", 2, 96, 3))


def lines(axes, label):
    return [line for line in axes.lines if line.get_label() == label]


def at(axes, label):
    return [float(line.get_xdata()[0]) for line in lines(axes, label)]


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """A record that the benchmark itself wrote, of small cases; the loop is refused in it."""
    folder = tmp_path_factory.mktemp("record")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scans, "COPY", 1 << 16)  # the real one copies half a gigabyte
        write_small(folder)
    return recorded(folder)


def write_small(folder):
    found = {case.name: scans.measure(case, [OURS, "PScan of the paper"], rounds=1) for case in SMALL}
    skipped = scans.measure(SMALL[0], ["loop (unbind)"], rounds=1, limit=0.0)
    found[SMALL[0].name]["peers"] |= skipped["peers"]
    list(tables.run_all(timed_before(found).chosen(""), data=folder))


def timed_before(found, threads=1):
    """A benchmark whose cases give what was found before."""
    cases = {case: lambda one=one: one for case, one in found.items()}
    return recording.Bench("scans", cases, scans.report, rounds=1, threads=threads)


def test_what_the_benchmark_writes_can_be_drawn(real):
    (axes,) = times_ours(real).axes
    (refused,) = lines(axes, "loop (unbind)")
    assert refused.get_markerfacecolor() == "none"
    assert at(axes, "PScan of the paper") == [
        one["peers"]["PScan of the paper"]["both"]["times_ours"] for one in real[1]["cases"]
    ]
    (axes,) = memory_line(real).axes
    assert sorted(at(axes, "forward")) == sorted(one["peers"][OURS]["forward"]["share"] for one in real[1]["cases"])
    (first, *_) = times_table(real, 1)
    assert first["loop (unbind)"].startswith("take about") and first["JAX lax.scan"] == "–"


def test_the_table_says_what_the_record_says(real):
    peers, table = {one["case"]: one["peers"] for one in real[1]["cases"]}, times_table(real, 1)
    assert len(table) == len(SMALL)
    for row, line in zip(rows(real), table):
        assert line["ours, ms"] == pytest.approx(1000 * peers[row.name][OURS]["both"]["median"])
        times = float(line["PScan of the paper"])
        assert times == pytest.approx(peers[row.name]["PScan of the paper"]["both"]["times_ours"], rel=0.006)
