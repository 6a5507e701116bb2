"""Rules and tasks of one's own, from a folder outside, in the tables of the book."""

import pickle
import subprocess
import sys

import pytest
from PIL import Image

from lrnnbook.content.tables import plan
from lrnnbook.content.tables.own import REGISTRIES, enter
from lrnnbook.machinery import cli

MODULE = '''
import torch
from torch import nn
from lrnnlab.automata import Language, MooreMachine
from lrnnlab.models import LinearRecurrence
from lrnnlab.tasks import Task


class Signed(LinearRecurrence):
    def __init__(self, width):
        super().__init__()
        self.gate, self.drive = nn.Linear(width, width), nn.Linear(width, width)

    def transition(self, z):
        return torch.tanh(self.gate(z)), self.drive(z)

    def initial(self, batch):
        return self.gate.weight.new_zeros(batch, self.gate.out_features)


class Cell(nn.Module):
    def __init__(self, vocab_size, classes, width=16):
        super().__init__()
        self.embed, self.cell, self.head = nn.Embedding(vocab_size, width), nn.GRUCell(width, width), nn.Linear(width, classes)

    def initial_state(self, batch):
        return self.head.weight.new_zeros(batch, self.cell.hidden_size)

    def step(self, state, token):
        state = self.cell(self.embed(token), state)
        return state, self.head(state)


class Shifted(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Linear(2 * width, width)

    def forward(self, x):
        return self.weight(torch.cat([x, x.roll(1, 1)], -1))


class Thing:
    pass


def last_two_equal():
    step = lambda state, token: (token, int(token == state[0]))
    machine = MooreMachine.from_rule((None, 0), "ab", step, lambda state: state[1])
    return Task(Language("last two equal", machine, lambda word: int(word[-1:] == word[-2:-1])), ask="every")
'''
MINE = """like: {like}
budgets: {{live: {{tries: [[1e-2, 12]]}}}}
tasks: {{lasttwo: {{task: "{module}:last_two_equal"}}}}
rows: {{signed: {{model: "{module}:Signed"}}, cell: {{model: "{module}:Cell", options.width: 8}}}}
"""


@pytest.fixture
def mine(tmp_path, monkeypatch, request):
    """A YAML beside a module that no other test has imported; the working folder is another."""
    module = f"own_{abs(hash(request.node.name))}"
    (tmp_path / f"{module}.py").write_text(MODULE)
    file = tmp_path / "mine.yaml"
    file.write_text(MINE.format(like="ladder_models_x_tasks", module=module))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    before = {id(one): (one, dict(one)) for one in REGISTRIES.values()}
    yield file, module
    for registry, was in before.values():
        registry.clear()
        registry.update(was)
    sys.path[:] = [one for one in sys.path if one != str(tmp_path)]


def test_own_rows_on_an_own_task_are_recorded_shown_and_drawn(mine, capsys):
    file, _ = mine
    assert cli.main(["reproduce", str(file), "--json"]) == 0
    first = capsys.readouterr().out
    assert '"row": "signed"' in first and '"row": "cell"' in first and '"code"' in first
    assert (file.parent / "data/records/ladder/models_x_tasks.jsonl").read_text().count("\n") == 2
    assert cli.main(["reproduce", str(file), "--json"]) == 0
    assert capsys.readouterr().out.count('"recorded": true') == 2
    for asked in ([str(file)], ["ladder/models_x_tasks", "--data", str(file.parent / "data")]):
        assert cli.main(["results", *asked]) == 0
        said = capsys.readouterr().out
        assert "lasttwo" in said and "signed" in said and "cell" in said
    assert cli.main(["results", str(file), "--latex"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("\\begin{tabular}{llrr}\n\\toprule\ntask & row & paper & recorded \\\\")
    assert "lasttwo & signed &  & " in said and said.endswith("\\bottomrule\n\\end{tabular}\n")
    pictures = file.parent / "pictures"
    draw = ["figures", "ladder", "--data", str(file.parent / "data"), "--folder", str(pictures)]
    assert cli.main(draw) == cli.main(draw) == 0
    svg = (pictures / "ladder.svg").read_text()
    assert "cell (live)" in svg and "LSTM" in svg and "A cell has a stripe for each seed" in svg
    assert (pictures / "ladder.pdf").read_bytes()[:4] == b"%PDF" and Image.open(pictures / "ladder.png").width > 1000
    Image.new("L", (8, 8)).save(pictures / "ladder.png")
    assert cli.main(draw) == 2 and "was not drawn by lrnnlab" in capsys.readouterr().err and Image.open(pictures / "ladder.png").width == 8


def test_another_process_imports_the_module_from_the_folder_of_the_yaml(mine):
    file, _ = mine
    (run, _) = plan(str(file))
    (file.parent / "run").write_bytes(pickle.dumps((run, run.config())))
    code = ("import pickle, sys; run, config = pickle.load(open(sys.argv[1], 'rb')); "
            "assert run.config() == config; print(type(run.measure()['metrics']['far']).__name__)")  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code, file.parent / "run"], capture_output=True, text=True)
    assert done.stdout == "float\n", done.stderr


def test_an_edited_rule_has_another_configuration_and_a_moved_folder_the_same(mine, tmp_path):
    file, module = mine
    before = plan(str(file))[0].config()
    assert str(tmp_path) not in str(before)
    source = tmp_path / f"{module}.py"
    source.write_text(source.read_text() + "# a remark\n")
    assert plan(str(file))[0].config() == before
    source.write_text(source.read_text().replace("torch.tanh", "torch.sigmoid"))
    assert plan(str(file))[0].config() != before


def test_a_list_takes_a_table_s_own_names_and_new_ones(mine, capsys):
    file, _ = mine
    written = file.read_text().replace("tasks: {", "tasks: [parity, {").replace('equal"}}', 'equal"}}]').replace("rows: {", "rows: [lstm, {")
    file.write_text(f"{written.rstrip()}]\n")
    assert {(run.row, run.task) for run in plan(str(file))} == {(row, task) for row in ("lstm", "signed", "cell") for task in ("parity", "lasttwo")}
    for twice, said in (("{s_3: {}}", "tasks, s_3: ladder/models_x_tasks has this name already"), ("{lasttwo: {}}", "'lasttwo' appears twice"),
                        ("1.5", "got 1.5"), ("nowhere", "no name in tasks: 'nowhere'")):  # fmt: skip
        file.write_text(file.read_text().replace("[parity, {lasttwo", f"[parity, {twice}, {{lasttwo"))
        assert cli.main(["reproduce", str(file)]) == 2 and said in capsys.readouterr().err
        file.write_text(file.read_text().replace(f"{twice}, ", ""))


@pytest.mark.parametrize("way", ["link", "elsewhere/.."])
def test_a_folder_may_be_named_by_another_way(mine, way):
    """A link, or a path with dots: Python says from which file a module comes by the plain one."""
    file, module = mine
    (file.parent / "link").symlink_to(file.parent)
    enter(str(file.parent / way), {"model": f"{module}:Signed"})
    enter("..", {"model": f"{module}:Cell"})
    assert {f"{module}:Signed", f"{module}:Cell"} <= {*REGISTRIES["model"]}


@pytest.mark.parametrize("change, says", [
    (("ladder_models_x_tasks", "ladder/model"), "has no table in like: 'ladder/model'; there are lrnn/table2"),
    (("ladder_models_x_tasks", "fwp"), "has no table in like: 'fwp'"),
    (("like: ladder_models_x_tasks", ""), "has no table in like: None"),
    (("rows:", "row:"), "mine.yaml has no key 'row'"),
    ((":Signed", ":Sign"), "has no 'Sign'; there are Signed, Cell, Shifted, Thing, last_two_equal"),
    ((":Signed", ":Thing"), ":Thing' is no recurrence"),
    ((":last_two_equal", ":Thing"), ":Thing' makes no task"),
    (('signed: {model: "', 'signed: {model: "not_'), "there is no module 'not_own_"),
    (("{signed:", "{lstm:"), "rows, lstm: ladder/models_x_tasks has this name already"),
    (("lasttwo:", "parity:"), "tasks, parity: ladder/models_x_tasks has this name already"),
])  # fmt: skip
def test_what_cannot_be_is_refused_in_a_sentence(mine, change, says, capsys):
    file, _ = mine
    assert change[0] in file.read_text()
    file.write_text(file.read_text().replace(*change))
    assert cli.main(["reproduce", str(file)]) == 2
    said = capsys.readouterr().err
    assert says in said and said.count("\n") == 1


def test_a_table_of_no_models_refuses_one(mine, capsys):
    file, module = mine
    file.write_text(f'like: lrnn/fig1\nrows: {{a: {{model: "{module}:Signed"}}}}\n')
    assert cli.main(["reproduce", str(file)]) == 2
    assert "lrnn/fig1 has no 'model' that could be set" in capsys.readouterr().err


@pytest.mark.parametrize("like, tasks, row", [
    ("dlr/table2", "['128']", '{mixer: "MODULE:Shifted", _kernel_rate: 1e-2}'), ("lrnn/table2", "[sum]", '{model: "MODULE:Signed"}'),
    ("fwp/table1", "[parity]", '{model: "MODULE:Signed", rate: 1e-2}'), ("ladder/restart", "[parity]", '{model: "MODULE:Signed"}'),
])  # fmt: skip
def test_a_rule_of_ones_own_is_planned_in_other_tables(mine, like, tasks, row):
    file, module = mine
    file.write_text(f"like: {like}\ntasks: {tasks}\nrows: {{a: {row.replace('MODULE', module)}}}\n")
    (run, *_) = plan(str(file), budget="desk", seeds=[3])
    config = run.config()
    assert (run.experiment, run.row, run.seed) == (like, "a", 3) and config["code"] and f"{module}:" in str(config["setting"])


def test_a_net_without_a_step_is_told_how_to_write_one(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    tmp_path.joinpath("half_a_net.py").write_text("""
from torch import nn
class Half(nn.Module):
    def initial_state(self, batch): ...
""")
    with pytest.raises(ValueError, match=r"'half_a_net:Half' reads neither .* Half has no step: a row takes a net with\n.*\n.*\n +def step"):
        enter(str(tmp_path), {"model": "half_a_net:Half"})
