"""An edited rule is not answered with the old rule's record: a model of one's own is trained again, of ours it is said."""

import sys
from dataclasses import replace
from functools import partial
from importlib import import_module, invalidate_caches

import pytest
from recorded import TINY, tiny

from lrnnbook import tables
from lrnnbook.content.tables import code, records, runner, table
from lrnnbook.machinery import cli
from lrnnlab.models import MODELS, network
from lrnnlab.tasks import TASKS

RULE = '''"""A rule."""
import torch

from helper import GAIN
from lrnnlab.models import LinearRecurrence


class Rule(LinearRecurrence):
    """Each state has a sign of its own."""

    def __init__(self, width):
        super().__init__()
        self.gate, self.drive = torch.nn.Linear(width, width), torch.nn.Linear(width, width)

    def transition(self, z):
        return torch.tanh(GAIN * self.gate(z)), self.drive(z)

    def initial(self, batch):
        return self.gate.weight.new_zeros(batch, self.gate.out_features)
'''
PACKAGE = {  # a package and what may be written in place of one of its files
    "a.py": '"""What a table measures."""\nfrom ours.b import MODELS, half\nfrom ours import c\n\nSTEPS = 3\n\n\n'
            'def measure(x: int) -> float:\n    """Measure."""\n    # a remark\n    if x < 0:\n        raise ValueError("x is negative")\n'
            '    from ours.d import late\n    return half(x) * c.twice(x) + STEPS + MODELS["one"](x) + late(x)\n',
    "b.py": "def half(x):\n    return x / 2\n\n\ndef other(x):\n    return x\n\n\ndef two(x):\n    return 2\n\n\n"
            'MODELS = {"one": half, "two": two}\n',
    "c.py": "def twice(x):\n    return 2 * x\n\n\ndef thrice(x):\n    return 3 * x\n", "d.py": "def late(x):\n    return x\n", "__init__.py": "",
}  # fmt: skip


THE_SAME = {
    "a remark": ("a.py", "# a remark", "# another, longer one"), "a docstring": ("a.py", '"""Measure."""', '"""Measure, slowly."""'),
    "a module's docstring": ("a.py", '"""What a table measures."""', '"""What is measured."""'),
    "no docstring": ("a.py", '    """Measure."""\n', ""), "annotations": ("a.py", "x: int) -> float", "x)"),
    "what a refusal says": ("a.py", '"x is negative"', 'f"x must not be negative, got {x}"'), "blank lines": ("b.py", "\n\n\n", "\n\n\n\n\n"),
    "a function that nothing calls": ("b.py", "    return x\n", "    return 7\n"), "one in a module": ("c.py", "3 * x", "4 * x"),
    "a model that no row names": ("b.py", "return 2", "return 3"), "another model": ("b.py", '"two": two', '"two": two, "three": other'),
}  # fmt: skip
ANOTHER = {
    "its own body": ("a.py", "* c.twice", "+ c.twice"), "a constant": ("a.py", "STEPS = 3", "STEPS = 4"), "a function": ("b.py", "x / 2", "x / 3"),
    "one of a module": ("c.py", "2 * x", "x + x"), "one imported within": ("d.py", "return x", "return -x"),
    "the entry of a registry": ("b.py", '"one": half', '"one": other'), "a default": ("b.py", "half(x)", "half(x, y=1)"),
}  # fmt: skip


@pytest.fixture
def digest(tmp_path, monkeypatch):
    """The digest of the package with a file changed."""
    monkeypatch.setattr(code, "OURS", ("ours",))
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "ours").mkdir()

    def made(files):
        for name, text in files.items():
            (tmp_path / "ours" / name).write_text(text)
        code._bound.cache_clear()
        invalidate_caches()
        return code.of_table("ours.a", {"rows": {"one": {}}})

    yield made
    code._bound.cache_clear()
    sys.modules.pop("ours", None)


@pytest.mark.parametrize("kind", [*THE_SAME, *ANOTHER])
def test_a_digest_is_of_the_code_that_a_table_goes_through(digest, kind):
    file, old, new = {**THE_SAME, **ANOTHER}[kind]
    assert old in PACKAGE[file]
    same = digest(PACKAGE) == digest({**PACKAGE, file: PACKAGE[file].replace(old, new)})
    assert same == (kind in THE_SAME)


def test_a_definition_may_move_to_another_file(digest):
    """Where files are merged, and a name is still called as it was."""
    before = digest(PACKAGE)
    merged = {**PACKAGE, "b.py": PACKAGE["b.py"] + PACKAGE["d.py"], "a.py": PACKAGE["a.py"].replace("ours.d", "ours.b"), "d.py": ""}
    assert digest(merged) == before


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A run of a model of one's own, which lies in a file, and what edits it."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "helper.py").write_text("GAIN = 1.0\n")
    (tmp_path / "my_rule.py").write_text(RULE)
    rule = import_module("my_rule").Rule
    monkeypatch.setitem(MODELS, "mine", partial(network, rule))

    def edit(name, old, new):
        file = tmp_path / name
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))

    yield tiny(setting=replace(TINY, model="mine", options={"width": 8})), edit
    del sys.modules["my_rule"], sys.modules["helper"]


def test_a_rule_of_ones_own_that_was_edited_is_trained_again(mine, tmp_path, capfd):
    run, edit = mine
    before, shipped = records.fingerprint(run.config()), records.fingerprint(tiny().config())
    (first,) = tables.run_all([run], data=tmp_path)
    edit("my_rule.py", '"""Each state has a sign of its own."""', "# A rule.")
    (again,) = tables.run_all([run], data=tmp_path)
    assert not first["recorded"] and again["recorded"] and "code has changed" not in capfd.readouterr().err
    for name, old, new in (("my_rule.py", "torch.tanh(GAIN", "torch.tanh(0 * GAIN"), ("helper.py", "1.0", "2.0")):
        edit(name, old, new)
        (made,) = tables.run_all([run], data=tmp_path)
        assert not made["recorded"] and made["fingerprint"] != before
        assert "another configuration" in capfd.readouterr().err
    assert len(records.read(tmp_path)) == 1 and records.fingerprint(tiny().config()) == shipped


def test_a_task_of_ones_own_and_what_a_notebook_defines_are_told_apart_too(mine, monkeypatch):
    """In a notebook there is no file: what Python has compiled is compared."""
    found = []
    for answer in ("1", "2", "1"):
        notebook = type(sys)("__main__")
        exec(f"def make():\n    return helped()\n\n\ndef helped():\n    return {answer}\n", vars(notebook))
        with monkeypatch.context() as at_once:
            at_once.setitem(sys.modules, "__main__", notebook)
            found.append(code.of_others(({"made": notebook.make},), {"task": "made"}))
    assert found[0] == found[2] != found[1]
    monkeypatch.setitem(TASKS, "mine", import_module("my_rule").Rule)
    assert "code" in tiny(task="mine").config() and "code" not in tiny().config()


def test_a_shipped_rule_that_was_edited_is_said_and_made_again_if_asked(tmp_path, monkeypatch, capfd):
    run = tiny()
    (first,) = tables.run_all([run], data=tmp_path)
    assert first["provenance"]["source"] == table.source("lrnn/table2")
    assert [one["recorded"] for one in tables.run_all([run], data=tmp_path)] == [True] and capfd.readouterr().err == ""
    monkeypatch.setattr(table, "source", lambda name: "edited")
    assert [one["recorded"] for one in tables.run_all([run], data=tmp_path)] == [True]
    said = "lrnn/table2: the code has changed since 1 of these records were made (the first: sum elman seed 0); --again makes"
    assert capfd.readouterr().err.startswith(said)
    assert [one["recorded"] for one in tables.run_all([run], data=tmp_path, reuse=False)] == [False]
    assert [one["provenance"]["source"] for one in records.read(tmp_path)] == ["edited"]
    assert list(tables.run_all([run], data=tmp_path))[0]["recorded"] and capfd.readouterr().err == ""


def test_codes_that_are_known_to_give_the_same_numbers_are_the_same():
    same = runner.same
    assert same("a", "a", []) and same("a", "b", ["a", "b"]) and same(None, "b", ["b"])
    assert not same("a", "b", ["b"]) and not same("a", "b", ["a"]) and not same(None, "b", ["a"]) and not same(None, "b", [])


def test_the_command_makes_a_run_again(tmp_path, capsys):
    asked = f"reproduce lrnn/fig1 --rows 4 --data {tmp_path} --json".split()
    for again in ([], ["--again"]):
        assert cli.main([*asked, *again]) == 0
        assert '"recorded": false' in capsys.readouterr().out
    assert cli.main(asked) == 0 and '"recorded": true' in capsys.readouterr().out


def test_what_is_written_down_holds_for_every_table_that_is_recorded():
    known = records.sources()
    assert {*known} == {name for name in tables.NAMES if records.read(records.recorded_folder(), name)}
    for name, digests in known.items():
        made = {one["provenance"].get("source") for one in records.read(records.recorded_folder(), name)}
        assert made - {None} <= {*digests} == {*digests} - {"", None}
