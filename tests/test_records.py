"""Records are written whole, and nothing damaged or foreign is trusted."""

import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lrnnlab import cli, records, tables

CONFIG = {"task": "sum", "phases": (1, 2)}
RECORD = {"experiment": "lrnn/table2", "task": "sum", "row": "clip", "seed": 0, "budget": "desk", "protocol": "ours",
          "metrics": {"accuracy_last": 1.0}, "config": CONFIG, "fingerprint": records.fingerprint(CONFIG),
          "provenance": {}}  # fmt: skip


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "a" / "run.json"
    records.write(path, RECORD)
    return path


def test_what_is_written_is_read(stored):
    record = records.read(stored, records.fingerprint(CONFIG))
    assert record["metrics"] == {"accuracy_last": 1.0}
    assert [p.name for p in stored.parent.iterdir()] == ["run.json"]  # no partial file stays


def test_a_missing_record_is_silent(tmp_path, capsys):
    assert records.read(tmp_path / "none.json") is None
    assert capsys.readouterr().err == ""


def test_a_record_is_json_though_not_all_its_numbers_are(tmp_path):
    """NaN and infinities are null in the file, what they were stands beside them, and a reader has them back."""
    config = {**CONFIG, "clip": math.inf}
    metrics = {"accuracy_last": math.nan, "curve": (0.5, -math.inf, {"loss": [math.inf]})}
    path = tmp_path / "run.json"
    record = {**RECORD, "metrics": metrics, "config": config, "fingerprint": records.fingerprint(config)}
    records.write(path, record)

    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    written = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    assert written["metrics"] == {"accuracy_last": None, "curve": [0.5, None, {"loss": [None]}]}
    lost = {"accuracy_last": "NaN", "curve": {"1": "-Infinity", "2": {"loss": {"0": "Infinity"}}}}
    assert written["not_finite"] == {"metrics": lost, "config": {"clip": "Infinity"}}
    found = records.read(path, records.fingerprint(config))
    assert json.dumps(found) == json.dumps({"schema": 1, **record})  # in which NaN is NaN
    assert records.fingerprint(found["config"]) == found["fingerprint"]


def test_the_command_prints_json_though_not_all_numbers_are(monkeypatch, capsys):
    (record,) = tables.reproduce("lrnn/fig1", rows=["8"])
    strange = {**record, "metrics": {**record["metrics"], "loss": math.nan}, "recorded": False}
    monkeypatch.setattr(tables, "run_all", lambda *runs, **options: iter([strange]))
    assert cli.main("reproduce lrnn/fig1 --rows 8 --json".split()) == 0
    printed = capsys.readouterr().out
    assert json.loads(printed)["metrics"]["loss"] is None and "NaN" not in printed.replace('"NaN"', "")
    assert json.loads(printed)["not_finite"] == {"metrics": {"loss": "NaN"}}


def test_a_record_without_such_numbers_is_as_before(stored):
    assert "not_finite" not in json.loads(stored.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: "[]",
        lambda text: "{}",
        lambda text: text.replace("1.0", "0.9"),
        lambda text: text.replace('"schema": 1', '"schema": 2'),
        lambda text: "\x00\xff" + text,
    ],
)
def test_a_damaged_record_is_named_and_skipped(stored, capsys, damage):
    stored.write_text(damage(stored.read_text(encoding="utf-8")), encoding="latin-1")
    assert records.read(stored) is None
    assert "run.json" in capsys.readouterr().err


def sealed(record):
    record = {"schema": 1, **record}
    return json.dumps({**record, "seal": records._seal(record)})


STRANGE = {
    "nested": lambda path: path.write_text('{"a":' * 10_000 + "1" + "}" * 10_000),
    "nested where it can just be read": lambda path: path.write_text('{"a":' * 900 + '1,"seal":1' + "}" * 900),
    "a number of 5,000 digits": lambda path: path.write_text('{"seal": ' + "9" * 5000 + "}"),
    "a pipe": lambda path: os.mkfifo(path),
    "a folder": lambda path: path.mkdir(),
    "a link that leads nowhere": lambda path: path.symlink_to("nowhere"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a huge file": lambda path: path.write_text(" " * records.LARGEST + "{}"),
    "text": lambda path: path.write_text('"seal"'),
    "without metrics": lambda path: path.write_text(sealed({k: v for k, v in RECORD.items() if k != "metrics"})),
    "without a row": lambda path: path.write_text(sealed({k: v for k, v in RECORD.items() if k != "row"})),
    "not finite where nothing is": lambda path: path.write_text(sealed({**RECORD, "not_finite": {"x": "NaN"}, "metrics": []})),
    "not finite at no place": lambda path: path.write_text(sealed({**RECORD, "not_finite": {"metrics": {"x": {}}}})),
    "metrics that are none": lambda path: path.write_text(sealed({**RECORD, "metrics": [1.0]})),
}


@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a system with pipes in the file system")
def test_whatever_lies_there_is_named_and_skipped(kind, stored, capsys):
    """By both that read: one that is asked for (by a series of runs), and all below a folder (tables, figures)."""
    strange = stored.parent / "strange.json"
    STRANGE[kind](strange)
    assert records.read(strange, RECORD["fingerprint"]) is None
    assert str(strange) in capsys.readouterr().err
    assert [one["metrics"] for one in records.read_all(stored.parent.parent)] == [RECORD["metrics"]]
    assert str(strange) in capsys.readouterr().err


def test_another_schema_with_a_good_seal_is_skipped(stored, capsys):
    record = json.loads(stored.read_text(encoding="utf-8"))
    record.pop("seal")
    record["schema"] = 99
    stored.write_text(json.dumps({**record, "seal": records._seal(record)}), encoding="utf-8")
    assert records.read(stored) is None
    assert "schema 99" in capsys.readouterr().err


def test_a_foreign_record_is_named_and_skipped(stored, capsys):
    assert records.read(stored, records.fingerprint({**CONFIG, "task": "evenpair"})) is None
    assert "another configuration" in capsys.readouterr().err


def test_read_all_skips_the_bad_one(stored, capsys):
    (stored.parent / "broken.json").write_text("{", encoding="utf-8")
    assert len(records.read_all(stored.parent.parent)) == 1
    assert "broken.json" in capsys.readouterr().err


def test_an_interrupted_write_leaves_the_old_record(stored, monkeypatch):
    def dies(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(records.os, "replace", dies)
    with pytest.raises(KeyboardInterrupt):
        records.write(stored, {"metrics": {"accuracy_last": 0.0}})
    assert records.read(stored)["metrics"] == {"accuracy_last": 1.0}
    assert [path.name for path in stored.parent.iterdir()] == ["run.json"]


def test_what_cannot_be_written_names_the_place_and_leaves_nothing(tmp_path):
    """Through a limit on the size of files, which is a full disk to a program; and below a file, where no folder is."""
    script = (
        "import resource, sys; from pathlib import Path; from lrnnlab import records\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "path = Path(sys.argv[1])\n"
        "for work in (lambda: records.write(path, {'metrics': 'x' * 5000}), lambda: records.check_writable([path])):\n"
        "    try: work()\n"
        "    except OSError as error: print(error.filename, error.strerror)\n"
    )
    path = tmp_path / "a" / "run.json"
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True)
    assert done.stdout.splitlines() == [f"{path} File too large", f"{path.parent} File too large"]
    assert list(tmp_path.rglob("*")) == [tmp_path / "a"]
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="run.json"):
        records.write(tmp_path / "file" / "run.json", RECORD)
    (tmp_path / "run.json").mkdir()
    with pytest.raises(IsADirectoryError, match="run.json"):
        records.check_writable([tmp_path / "run.json"])


ON_A_FULL_DISK = """
mount -t tmpfs -o size=8k none {full}/records
mount -t tmpfs -o ro none {full}/figures
"{python}" -c 'from lrnnlab.cli import main
for call in ("reproduce lrnn/fig1 --data {full}", "bench tree --data {full}",
             "figures lrnn_fig1 --folder {full}/figures"):
    print("status", main(call.split()))'
find {full}/records {full}/figures -type f
"""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare, to have a full disk")
def test_a_full_disk_is_met_before_anything_is_run(tmp_path):
    """A disk of eight kilobytes and one that is read-only, in a name space of their own."""
    inside = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    (tmp_path / "records").mkdir()
    (tmp_path / "figures").mkdir()
    if subprocess.run([*inside, f"mount -t tmpfs none {tmp_path}/records"], capture_output=True).returncode:
        pytest.skip("this system lets nobody mount anything")
    script = ON_A_FULL_DISK.format(full=tmp_path, python=sys.executable)
    environment = {**os.environ, "PYTHONPATH": str(Path(records.__file__).parent.parent)}
    done = subprocess.run([*inside, script], capture_output=True, text=True, env=environment, timeout=300)
    assert done.stdout.splitlines() == ["status 2"] * 3  # nothing measured, nothing left behind
    assert done.stderr.count("No space left on device") == 2 and "Traceback" not in done.stderr
    assert done.stderr.count("Read-only file system") == 1 and f"{tmp_path}/figures" in done.stderr


def test_a_disk_that_fills_on_the_way_loses_no_result(tmp_path, monkeypatch, capsys):
    replace = os.replace

    def full(partial, path):
        if "-8-" in path.name:
            raise OSError(28, "No space left on device", str(partial))
        replace(partial, path)

    monkeypatch.setattr(records.os, "replace", full)
    assert cli.main(f"reproduce lrnn/fig1 --rows 4,8 --data {tmp_path}".split()) == 1
    out = capsys.readouterr()
    assert "length 4" in out.out and "A7A6A5A4" in out.out  # the table has both
    assert "[2/2]" in out.err and "(not recorded)" in out.err
    last = out.err.splitlines()[-1]
    assert re.match(r"lrnnlab: 1 of 2 records could not be written: .*-8-0\.json: No space left on device", last)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["schedule-4-0.json"]


def test_provenance_names_versions_and_no_machine(tmp_path):
    found = records.provenance()
    assert {"python", "torch", "numpy", "numba", "lrnnlab", "revision", "date", "threads"} <= set(found)
    assert str(tmp_path.home()) not in json.dumps(found)


def test_a_checkout_that_is_not_installed_can_record(tmp_path):
    """The package is only on the path: the installation does not know it."""
    script = ("import sys; from importlib import metadata\n"
              "real = metadata.distribution\n"
              "def distribution(name):\n"
              "    if name == 'lrnnlab': raise metadata.PackageNotFoundError(name)\n"
              "    return real(name)\n"
              "metadata.distribution = distribution\n"
              "from lrnnlab import cli\n"
              "sys.exit(cli.main(['reproduce', 'lrnn/fig1', '--rows', '2', '--data', sys.argv[1]]))")  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(Path(records.__file__).parent.parent)}
    call = [sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(call, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    (record,) = records.read_all(tmp_path)
    assert record["provenance"]["lrnnlab"] == records.__version__


def test_a_repository_round_the_package_is_not_taken_for_its_own(tmp_path, monkeypatch):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    monkeypatch.setattr(records, "__file__", str(tmp_path / "site-packages" / "lrnnlab" / "records.py"))
    assert records.provenance()["revision"] == "unknown"


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
    monkeypatch.setattr(records, "__file__", str(package))
    record.unlink()
    clean = records.provenance()["revision"]
    assert re.fullmatch("[0-9a-f]{12}", clean)
    package.write_text("2")
    assert records.provenance()["revision"] == f"{clean}-dirty"
    git("checkout", "--", "lrnnlab")
    (package.parent / "new.py").write_text("3")
    assert records.provenance()["revision"] == f"{clean}-dirty"
