"""Records are written whole, and nothing damaged or foreign is trusted."""

import json
import math
import os
import random
import re
import subprocess
import sys

import pytest
from recorded import HERE

from lrnnbook.content.tables import records
from lrnnbook.machinery import cli
from lrnnlab import files

CONFIG = {"task": "sum", "phases": (1, 2)}
RECORD = {"experiment": "lrnn/table2", "task": "sum", "row": "clip", "seed": 0, "budget": "desk", "protocol": "ours",
          "metrics": {"accuracy_last": 1.0}, "config": CONFIG, "fingerprint": records.fingerprint(CONFIG),
          "provenance": {}}  # fmt: skip


def run(seed=0, **other):
    return {**RECORD, "seed": seed, **other}


@pytest.fixture
def stored(tmp_path):
    """A file with three records."""
    for seed in (0, 2, 1):
        records.keep(tmp_path, run(seed))
    return tmp_path / "records" / "lrnn" / "table2.jsonl"


def seeds(data):
    return [record["seed"] for record in records.read(data)]


def test_what_is_written_is_a_line_in_the_file_of_its_table_and_is_read(stored, tmp_path):
    assert records.read(tmp_path, "lrnn/table2") == [{"schema": 1, **json.loads(json.dumps(run(seed)))} for seed in range(3)]
    assert [json.loads(line)["seed"] for line in stored.read_text(encoding="utf-8").splitlines()] == [0, 1, 2]
    assert records.read(tmp_path, "lrnn/fading") == []
    left = [path.name for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(left) in (["table2.jsonl"], [".lock", "table2.jsonl"])  # neither small files nor parts of one


def test_a_record_is_json_though_not_all_its_numbers_are(tmp_path):
    """NaN and infinities are null in the file, what they were stands beside them, and a reader has them back."""
    config = {**CONFIG, "clip": math.inf}
    metrics = {"accuracy_last": math.nan, "curve": (0.5, -math.inf, {"loss": [math.inf]})}
    record = {**RECORD, "metrics": metrics, "config": config, "fingerprint": records.fingerprint(config)}
    records.keep(tmp_path, record)

    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    written = json.loads(records.place(tmp_path, record).read_text(encoding="utf-8"), parse_constant=refuse)
    assert written["metrics"] == {"accuracy_last": None, "curve": [0.5, None, {"loss": [None]}]}
    lost = {"accuracy_last": "NaN", "curve": {"1": "-Infinity", "2": {"loss": {"0": "Infinity"}}}}
    assert written["not_finite"] == {"metrics": lost, "config": {"clip": "Infinity"}}
    (found,) = records.read(tmp_path)
    assert json.dumps(found) == json.dumps({"schema": 1, **record})  # in which NaN is NaN
    assert records.fingerprint(found["config"]) == found["fingerprint"]


def sealed(record):
    record = {"schema": 1, **record}
    return json.dumps({**record, "seal": records._seal(record)})


STRANGE = {  # what may stand in the place of the second of three lines
    "cut off": lambda line: line[: len(line) // 2],
    "an empty line": lambda line: "",
    "another number": lambda line: line.replace("1.0", "0.9"),
    "no text": lambda line: "\x00\xff" + line,
    "nested": lambda line: '{"a":' * 10_000 + "1" + "}" * 10_000,
    "a number of 5,000 digits": lambda line: '{"seal": ' + "9" * 5000 + "}",
    "another schema with a good seal": lambda line: sealed({**run(1), "schema": 99}),
    "without metrics": lambda line: sealed({key: value for key, value in run(1).items() if key != "metrics"}),
    "not finite where nothing is": lambda line: sealed({**run(1), "not_finite": {"x": "NaN"}, "metrics": []}),
    "metrics that are none": lambda line: sealed(run(1, metrics=[1.0])),
}


@pytest.mark.parametrize("kind", STRANGE)
def test_a_damaged_line_is_named_and_skipped_and_another_run_does_not_lose_it(kind, stored, tmp_path, capsys):
    lines = stored.read_text(encoding="utf-8").splitlines()
    lines[1] = STRANGE[kind](lines[1])
    stored.write_text("\n".join(lines) + "\n", encoding="latin-1")
    assert seeds(tmp_path) == [0, 2] and f"{stored}, line 2," in capsys.readouterr().err
    records.keep(tmp_path, run(3))
    assert seeds(tmp_path) == [0, 2, 3]
    assert lines[1] in stored.read_text(encoding="latin-1").split("\n")
    records.keep(tmp_path, run(1))
    assert seeds(tmp_path) == [0, 1, 2, 3]


def line_of(seed, **other):
    return json.dumps(json.loads(sealed(run(seed, **other))), separators=(",", ":")).encode()


DONE = {  # what a person, an editor, git or another program does to the bytes of three good lines
    "edited by hand": lambda text: text + line_of(1).replace(b"1.0", b"0.9") + b"\n",
    "a budget that is a list": lambda text: text + json.dumps({**run(1), "budget": ["desk"]}).encode() + b"\n",
    "a seed that is null": lambda text: json.dumps({**run(1), "seed": None}).encode() + b"\n" + text,
    "threads that are a text": lambda text: text + b'{"case":"c","machine":{},"device":"cpu","threads":"2"}\n' * 2,
    "of a later schema": lambda text: text + line_of(1, schema=2) + b"\n",
    "without a seal": lambda text: text + json.dumps(run(1)).encode() + b"\n",
    "merge marks": lambda text: b"<<<<<<< HEAD\n" + text + b"=======\n" + line_of(1, wall=2) + b"\n>>>>>>> other\n",
    "no end of the last line": lambda text: text.rstrip(b"\n"),
    "cut off": lambda text: text[:-40],
    "CRLF": lambda text: text.replace(b"\n", b"\r\n"),
    "CR": lambda text: text.replace(b"\n", b"\r"),
    "a byte order mark": lambda text: b"\xef\xbb\xbf" + text,
    "a byte order mark and a broken letter": lambda text: b"\xef\xbb\xbf" + text + b"\xe9\n",
    "blanks behind lines": lambda text: text.replace(b"\n", b" \t\n"),
    "empty lines": lambda text: b"\n\n" + text.replace(b"\n", b"\n\n"),
    "zeros of a crash": lambda text: b"\0" * 512 + text + b"\0" * 512,
    "an array, as a person would write it": lambda text: b"[\n" + text.replace(b"\n", b",\n") + b"]\n",
    "two lines in one": lambda text: text.replace(b"\n", b"", 1),
    "upside down": lambda text: b"".join(reversed(text.splitlines(keepends=True))),
    "a remark": lambda text: "# größte zuerst\n".encode("latin-1") + text,
    "another table's line of the same name": lambda text: text + line_of(1, experiment="lrnn/smoothing") + b"\n",
    "a line that leads elsewhere": lambda text: text + line_of(1, experiment="../../lrnn/table2") + b"\n",
    "nothing": lambda text: b"",
}


def check_that_only_ours_changes(data, file, text, new):
    """Record ``new``: the bytes of the file are those that were there, and its line; what could be read can be read."""
    file.write_bytes(text)
    before = records.read(data)
    records.keep(data, new)
    after, line = file.read_bytes(), line_of(new["seed"]) + b"\n"
    assert line in after and after.replace(line, b"", 1) in (text, text + b"\n")
    assert [*before, {"schema": 1, **json.loads(json.dumps(new))}] == records.read(data)


@pytest.mark.parametrize("kind", DONE)
def test_what_others_put_into_a_file_stays_byte_for_byte_and_stops_nothing(kind, stored, tmp_path, capsys):
    check_that_only_ours_changes(tmp_path, stored, DONE[kind](stored.read_bytes()), run(7))


@pytest.mark.parametrize("seed", range(60))
def test_so_do_bytes_of_all_kinds(seed, stored, tmp_path):
    chance, text = random.Random(seed), stored.read_bytes()
    for _ in range(chance.randint(1, 4)):
        at = chance.randint(0, len(text))
        done = [*DONE.values(), lambda text: text[:at] + chance.randbytes(9) + text[at:], lambda text: text[:at] + text[at + 9 :]]
        text = chance.choice(done)(text)
    check_that_only_ours_changes(tmp_path, stored, text, run(7))


def test_a_file_in_another_encoding_is_read_and_what_is_new_waits_beside_it(stored, tmp_path, capsys):
    """As a Windows editor saves it."""
    text = stored.read_text(encoding="utf-8").encode("utf-16")
    stored.write_bytes(text)
    records.keep(tmp_path, run(7))
    records.keep(tmp_path, run(2, metrics={"accuracy_last": 0.5}))
    assert "is no UTF-8: what is new waits in" in capsys.readouterr().err
    assert [(one["seed"], one["metrics"]["accuracy_last"]) for one in records.read(tmp_path)] == [(0, 1), (1, 1), (2, 0.5), (7, 1)]
    assert stored.read_bytes() == text


def test_a_run_that_git_has_merged_twice_is_one_line_again_when_it_is_recorded(stored, tmp_path):
    text = stored.read_bytes()
    stored.write_bytes(text + text)
    assert seeds(tmp_path) == [0, 1, 2]
    records.keep(tmp_path, run(1, metrics={"accuracy_last": 0.5}))
    assert [json.loads(line)["metrics"]["accuracy_last"] for line in stored.open("rb")] == [1, 1, 1, 0.5, 1]
    assert [one["metrics"]["accuracy_last"] for one in records.read(tmp_path)] == [1, 0.5, 1]


def test_a_table_whose_file_is_no_file_does_not_keep_others_waiting(tmp_path, capsys):
    (tmp_path / "records" / "lrnn" / "fading.jsonl").mkdir(parents=True)
    records.write(tmp_path / records.FINISHED / "0.json", run(1, experiment="lrnn/fading"))
    records.keep(tmp_path, run(0))
    assert (tmp_path / "records" / "lrnn" / "table2.jsonl").is_file() and len(records.read(tmp_path)) == 2


def test_a_finished_run_that_is_no_line_yet_is_read_and_moved_by_the_next(stored, tmp_path):
    (tmp_path / records.FINISHED).mkdir(parents=True, exist_ok=True)
    (tmp_path / records.FINISHED / "1.json").write_text(sealed(run(7)) + "\n", encoding="utf-8")
    assert seeds(tmp_path) == [0, 1, 2, 7]
    records.fold(tmp_path)
    assert seeds(tmp_path) == [0, 1, 2, 7] and not list((tmp_path / records.FINISHED).glob("*.json"))


def test_an_interrupted_write_loses_neither_the_old_lines_nor_the_run(stored, tmp_path, monkeypatch):
    """Killed before the run's own file is there, and before its line is."""
    replace = os.replace

    def dies_at(last):
        calls = iter(range(1, 9))

        def dies(*given):
            if next(calls) == last:
                raise KeyboardInterrupt
            replace(*given)

        return dies

    for last, kept in ((1, [0, 1, 2]), (2, [0, 1, 2, 5])):
        monkeypatch.setattr(files.os, "replace", dies_at(last))
        with pytest.raises(KeyboardInterrupt):
            records.keep(tmp_path, run(5))
        assert seeds(tmp_path) == kept and not list(tmp_path.rglob("*.part"))


def test_two_processes_at_once_lose_nothing(tmp_path):
    """Each records 10 runs in the same file, as fast as it can."""
    script = (
        "import json, sys; from pathlib import Path; from lrnnbook.content.tables import records\n"
        "record = json.loads(sys.argv[2])\n"
        "for seed in range(int(sys.argv[3]), 20, 2): records.keep(Path(sys.argv[1]), {**record, 'seed': seed})\n"
    )
    call = [sys.executable, "-c", script, str(tmp_path), json.dumps(RECORD)]
    environment = {**os.environ, "PYTHONPATH": HERE}
    both = [subprocess.Popen([*call, first], env=environment) for first in "01"]
    assert [one.wait(timeout=300) for one in both] == [0, 0]
    assert sorted(seeds(tmp_path)) == list(range(20)) and not list((tmp_path / records.FINISHED).glob("*.json"))


@pytest.mark.parametrize("name", ["checkpoints/finished/.lock", "records/lrnn/table2.jsonl"])
def test_nothing_is_written_through_a_link(stored, tmp_path, name):
    link, other = tmp_path / name, tmp_path / "mine.txt"
    link.unlink(missing_ok=True)
    other.write_text("mine")
    link.symlink_to(other)
    records.keep(tmp_path, run(5))
    assert other.read_text() == "mine" and 5 in seeds(tmp_path)


def test_a_disk_that_fills_on_the_way_loses_no_result(tmp_path, monkeypatch, capsys):
    replace, calls = os.replace, []

    def full(partial, path):
        calls.append(path)
        if path.suffix == ".json" and len(calls) > 2:  # the second run's own file, after the first and its line
            raise OSError(28, "No space left on device", str(partial))
        replace(partial, path)

    monkeypatch.setattr(files.os, "replace", full)
    monkeypatch.setattr(records, "check_writable", lambda paths: None)
    assert cli.main(f"reproduce lrnn/fig1 --rows 4,8 --data {tmp_path}".split()) == 1
    out = capsys.readouterr()
    assert re.search(r"schedule 4 +2 ", out.out) and re.search(r"\n +8 +3 ", out.out)  # the table has both
    assert "[2/2]" in out.err and "(not recorded)" in out.err
    last = out.err.splitlines()[-1]
    assert re.match(r"lrnnlab: 1 of 2 records could not be written: .*\.json: No space left on device", last)
    assert [record["row"] for record in records.read(tmp_path)] == ["4"]


def test_a_revision_is_dirty_if_the_package_differs_from_it_and_not_if_records_do(tmp_path, monkeypatch):
    def git(*call):
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *who, *call], cwd=tmp_path, check=True, capture_output=True)

    package, record = tmp_path / "lrnnlab" / "records.py", tmp_path / "data" / "a.json"
    for file in (package, record):
        file.parent.mkdir()
        file.write_text("1")
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "one")
    monkeypatch.setattr(records, "LIBRARY", package.parent)
    monkeypatch.setattr(records, "LRNNBOOK", package.parent)
    record.unlink()
    clean = records.provenance()["revision"]
    assert re.fullmatch("[0-9a-f]{12}", clean)
    package.write_text("2")
    assert records.provenance()["revision"] == f"{clean}-dirty"
    git("checkout", "--", "lrnnlab")
    (package.parent / "new.py").write_text("3")
    assert records.provenance()["revision"] == f"{clean}-dirty"
