"""What every verb of the command line has in common: one clear line for what is wrong, and no traceback."""

import json
import os
import shlex
import subprocess
import sys

import pytest

from lrnnbook.machinery import book, cli, doctor
from lrnnlab.tasks import TASKS


def started(*command, **options):
    """``python -m lrnnlab`` with its standard error caught, and with the buffer that stdout has in a shell."""
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run([sys.executable, "-m", "lrnnlab", *command], stderr=subprocess.PIPE, text=True, timeout=300,
                          env=buffered, **options)  # fmt: skip


@pytest.mark.parametrize("call, said", [
    ("bench scans --rounds 0", "argument --rounds: must be above 0 and at most 1000000, got 0"),
    ("reproduce lrnn/table2 --seeds 0-99999999999999999999", "'0-99999999999999999999' is neither a seed"),
    ("reproduce lrnn/table2 --rows ''", "'' names nothing"), ("reproduce lrnn/table2 --tasks ''", "'' names nothing"),
    ("reproduce lrnn/fig1 --data ''", "a folder is asked for, got ''"), ("copy --folder ''", "a folder is asked for, got ''"),
    ("task parity --out a.txt", "a .jsonl, .csv or .npz file, got 'a.txt'"), ("task pairty --out a.csv", "the nearest: parity"),
    ("task parity --out a.csv --length 9-x", "'9-x' is neither a length (40) nor two (3-40)"),
    ("task parity --out a.csv --length 9-3", "at least 9, got 3"), ("task parity --out a.csv --strings 0", "must be above 0"),
    ("task shift --out a.csv", "take .jsonl or .npz"), ("task none:here --out a.csv", "there is no module 'none'"),
    ("task parity --out a.csv --seed -1", "argument --seed: must be 0 or more and at most 1000000, got -1"),
    ("reproduce fwp/table1 --search 0", "must be above 0"), ("bench step --threads 2", "unrecognized arguments: --threads"),
])  # fmt: skip
def test_a_wrong_call_is_refused_before_anything_runs(call, said, capsys):
    try:
        status = cli.main(shlex.split(call))
    except SystemExit as stop:
        status = stop.code
    assert status == 2 and said in capsys.readouterr().err


def test_a_task_of_ones_own_becomes_a_file(tmp_path, monkeypatch, capsys):
    (tmp_path / "our_task.py").write_text("from lrnnlab.tasks import task\n\ndef ends():\n    return task('regex', '(a|b)*a')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(TASKS, "our_task:ends", None)  # known until the test ends
    del TASKS["our_task:ends"]
    for name in ("our_task:ends", "Tomita 3"):
        call = ["task", name, "--out", "strings.jsonl", "--length", "3-9", "--strings", "5"]
        assert cli.main([*call, "--overwrite"]) == 0
        about, *strings = map(json.loads, (tmp_path / "strings.jsonl").read_text().splitlines())
        assert len(strings) == 5 and about["lengths"] == [3, 9] and about["levels"]["chance"] == 0.5
    before = (tmp_path / "strings.jsonl").read_bytes()
    assert cli.main([*call, "--seed", "1"]) == 2 and "--overwrite" in capsys.readouterr().err
    assert (tmp_path / "strings.jsonl").read_bytes() == before


@pytest.mark.parametrize("call", [
    "reproduce lrnn/growth --tasks gaussian --rows clip --seeds 1 --record --data {}/x", "figures rotrnn_fig3 --folder {}/x",
    "course release ps1 --out {}/x",
])  # fmt: skip
def test_a_folder_that_cannot_be_made_is_one_line(call, tmp_path, capsys):
    (file := tmp_path / "file").touch()
    assert cli.main(call.format(file).split()) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith(("lrnnlab: Not a directory: ", "lrnnlab: File exists: "))


@pytest.mark.parametrize("call", [["--help"], ["book", "--help"], ["doctor"]])
def test_a_closed_pipe_ends_quietly(call):
    reads, writes = os.pipe()
    os.close(reads)
    try:
        ended = started(*call, stdout=writes)
    finally:
        os.close(writes)
    assert (ended.returncode, ended.stderr) == (141, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
def test_a_full_disk_behind_stdout_is_one_line():
    with open("/dev/full", "w") as full:
        ended = started("--version", stdout=full)
    assert (ended.returncode, ended.stderr) == (2, "lrnnlab: No space left on device\n")


def test_an_interrupt_is_one_line_for_every_verb(monkeypatch, capsys):
    def interrupted(argv):
        raise KeyboardInterrupt

    for verb, module in (("book", book), ("doctor", doctor)):
        monkeypatch.setattr(module, "main", interrupted)
        assert cli.main([verb]) == 130
        assert capsys.readouterr().err == "lrnnlab: interrupted\n"
