"""Records are written whole, and nothing damaged or foreign is trusted."""

import json

import pytest

from lrnnlab import records

CONFIG = {"task": "sum", "phases": (1, 2)}


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "a" / "run.json"
    records.write(path, {"fingerprint": records.fingerprint(CONFIG), "metrics": {"accuracy_last": 1.0}})
    return path


def test_what_is_written_is_read(stored):
    record = records.read(stored, records.fingerprint(CONFIG))
    assert record["metrics"] == {"accuracy_last": 1.0}
    assert [p.name for p in stored.parent.iterdir()] == ["run.json"]  # no partial file stays


def test_a_missing_record_is_silent(tmp_path, capsys):
    assert records.read(tmp_path / "none.json") is None
    assert capsys.readouterr().err == ""


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


def test_provenance_names_versions_and_no_machine(tmp_path):
    found = records.provenance()
    assert {"python", "torch", "numpy", "numba", "lrnnlab", "revision", "date", "threads"} <= set(found)
    assert str(tmp_path.home()) not in json.dumps(found)
