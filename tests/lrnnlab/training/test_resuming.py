"""Every table that trains: a run that is killed on the way goes on from its checkpoint, to the same record."""

import json
from dataclasses import asdict, replace

import pytest

from lrnnbook import tables
from lrnnbook.content.tables import dlr_table5, runner
from lrnnbook.content.tables.table import Setting
from lrnnlab.training import Phase, Recipe, deterministic
from lrnnlab.training.engine import Checkpoint, TrainState

ELMAN = Setting("elman", {"width": 8}, Recipe((Phase(steps=8, lr=1e-2),), batch_size=8))
FILMED = replace(tables.plan("lrnn/film")[0].setting, recipe=Recipe((Phase(steps=12, lr=1e-2),), batch_size=8))
SHORT = {"steps": 8, "warmup": 0, "watch_every": 3}
STAGES = {"stages": [(3, 8), (5, 10)], "pool": 20, "tests": 5, "watch_every": 3}
CELLS = {  # table: row, task, and what makes it a matter of a moment
    "lrnn/table2": ("elman", "sum", ELMAN),
    "lrnn/smoothing": ("plain", "sum", ELMAN),
    "lrnn/film": ("softmax", "sum", FILMED),
    "lrnn/fading": ("lstm", "sum", {"training": ELMAN.plain(), "strings": 8, "length": 60, "fits": []}),
    "lrnn/baseline_rates": ("elman-0.01", "sum", {"strings": 8, "phase": asdict(Phase(steps=12, lr=1e-2))}),
    "dlr/table1": ("dlr_1", "solve-64", {"steps": 8, "looks": 2, "tests": 8}),
    "dlr/longer": ("2", "reverse-128", {"steps": 8, "looks": 2, "tests": 8}),
    "dlr/width": ("8", "reverse-32", {"steps": 8, "looks": 2, "tests": 8}),
    "dlr/table2": ("dlr_small", "256", {"length": 72, "steps": 8, "looks": 2}),
    "dlr/table3": ("dss", "listops-128", {"steps": 8, "looks": 2}),
    "dlr/kernels": ("dlr_half", "one_hot", {"steps": 8}),
    "dlr/table5": ("transformer_post", "characters", {"steps": 8, "looks": 2}),
    "dlr/table4": ("dlr", "listops", {"steps": 8, "warmup": 0, "looks": 2}),
    "rotrnn/fig3": ("rotrnn", "layers1", {**SHORT, "strings": 8, "length": 24}),
    "rotrnn/table1": ("lru_learned", "listops", {"steps": 8, "warmup": 0, "looks": 2}),
    "regulargpt/table1": ("rnn", "even_pairs", {"stride": 200, "strings": 4, "training": {**SHORT, "rate": 1e-3, "growth": 4}}),
    "regulargpt/table2": ("rnn", "0.9", {"stride": 200, "strings": 4, "training": {**SHORT, "rate": 1e-3}}),
    "regulargpt/fig3": ("regulargpt_c2", "parity", {"length": 8, "strings": 6, "training": {**SHORT, "rate": 1e-3}}),
    "regulargpt/fig4": ("rnn", "suffix", {"length": 12, "training": {**SHORT, "rate": 1e-3}}),
    "regulargpt/table3": ("c8k1", "text", {"steps": 8, "warmup": 0, "length": 20, "lengths": [20, 70]}),
    "fwp/table1": ("lstm", "aa", STAGES),
    "fwp/table2": ("deltanet", "dyck_1", STAGES),
    "fwp/negative": ("beta2_nh2", "sum5", STAGES),
    "fwp/search": ("lstm-3", "aa", STAGES),
    "ladder/models_x_tasks": ("lstm", "s_3", {"tries": [(1e-2, 8)]}),
    "ladder/protocols": ("lstm", "s_3", {"steps": 8, "looks": 4, "strings": 8}),
    "ladder/restart": ("lstm", "s_3", {"tries": [(1e-2, 8)]}),
    "ladder/random": ("lstm", "maps_4_0", {"tries": [(1e-2, 8)]}),
    "ladder/depth": ("deltanet_negative-2", "s_3", {"tries": [(1e-2, 8)]}),
    "ladder/strings": ("lstm", "s_3-2", {"steps": 8}),
    "ladder/gated": ("mamba2", "s_3", {"tries": [(1e-2, 8)]}),
}


class Killed(BaseException):
    """The process is gone."""


def test_no_table_that_trains_is_left_out():
    assert set(tables.NAMES) - set(CELLS) == {"lrnn/fig1", "lrnn/growth", "lrnn/speed", "lra/levels", "ladder/atlas"}


@pytest.mark.parametrize("name", CELLS)
def test_a_run_that_is_killed_goes_on_to_the_same_record(name, tmp_path, monkeypatch):
    row, task, changes = CELLS[name]
    (run,) = tables.plan(name, rows=[row], tasks=[task], seeds=[1])
    run = replace(run, setting=changes if isinstance(changes, Setting) else {**run.setting, **changes})
    monkeypatch.setattr(dlr_table5, "tokens_per_second", lambda *batch: 0.0)  # a clock's number
    goes_on(run, tmp_path, monkeypatch)


def test_the_papers_own_setting_goes_on(tmp_path, monkeypatch):
    """Eq. 6 with p = 1.2, the paper's checks on the way; fewer and smaller steps, else as ``--budget paper`` has it."""
    (run,) = tables.plan("lrnn/table2", rows=["clip"], tasks=["sum"], seeds=[1], budget="paper")
    recipe = run.setting.recipe
    assert (run.protocol, recipe.steps, recipe.batch_size) == ("paper", 40_000, 128)
    recipe = replace(recipe, phases=(replace(recipe.phases[0], steps=8),), batch_size=2)
    goes_on(replace(run, setting=replace(run.setting, recipe=recipe)), tmp_path, monkeypatch)


def goes_on(run, tmp_path, monkeypatch):
    """Kill ``run`` at its fifth checkpoint, and ask for it again."""
    steps, saves, save = [], [], Checkpoint.save
    step = TrainState.step
    monkeypatch.setattr(TrainState, "step", lambda self, *loss: (steps.append(loss), step(self, *loss))[1])

    def performed():
        steps.clear()
        with deterministic():
            found = runner.perform(run, checkpoint=tmp_path / "run.pt")
        return {k: v for k, v in json.loads(json.dumps(found, default=list)).items() if "seconds" not in k}, len(steps)

    def killed(self, state):
        self.seconds = -1.0
        save(self, state)
        saves.append(self.path.stat().st_size)
        if len(saves) == 5:
            raise Killed

    whole, all_steps = performed()
    (tmp_path / "run.pt").unlink(missing_ok=True)  # there, if that took longer than it takes to be saved
    monkeypatch.setattr(Checkpoint, "save", killed)
    with pytest.raises(Killed):
        performed()
    monkeypatch.setattr(Checkpoint, "save", save)
    again, left = performed()
    assert left == all_steps - 5 > 0 and again == whole
