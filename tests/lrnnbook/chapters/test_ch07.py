"""Chapter 07: what its sentences say of the records, and its pictures."""

import math
from statistics import fmean

import numpy as np
import pytest
import torch
from recorded import by_cell

from lrnnbook.content.chapters import ch07
from lrnnbook.content.tables import dlr_table1, dlr_table3, records, results
from lrnnlab.tasks.numbers.atomic import ATOMIC


def r2(length):
    """(task, row) -> mean R2 over the recorded seeds; and task -> the level without skill."""
    kept = [record for record in records.recorded("dlr/table1") if record["task"].endswith(f"-{length}")]
    found = {(task.rsplit("-", 1)[0], row): fmean(one["metrics"]["r2"] for one in cell)
             for (task, row), cell in by_cell(kept).items()}  # fmt: skip
    return found, {record["task"].rsplit("-", 1)[0]: record["metrics"]["level"] for record in kept}


def test_what_section_6_reads_from_the_table_stands_in_it():
    found, level = r2(64)
    others = [row for task, row in found if task == "mips" and "attention" not in row]
    assert all(found[task, "dlr_1"] > 0.9 for task in ("shift", "cumsum", "select_fixed", "solve_fixed"))
    assert max(found["select_fixed", row] for row in ("dss_1", "sgconv_1", "dlr_real_1")) < 0.6
    assert max(found[task, "dlr_real_1"] for task in ("shift", "select_fixed", "solve_fixed", "reverse")) < 0.3
    linear = ("shift", "cumsum", "select_fixed", "solve_fixed", "cummax", "reverse", "solve")
    assert min(found[task, "dlr_6"] for task in linear) >= 0.9
    assert min(found[task, row] for task in ("cummax", "mips") for row in ("attention_1", "attention_2", "attention_ff_2")) >= 0.9
    for task in ("reverse", "solve", "select"):
        assert found[task, "dlr_1"] < found[task, "dlr_2"] < found[task, "dlr_6"]
    assert max(found["solve", "dlr_1"], found["select", "dlr_1"]) < 0.2
    assert 0.5 < found["cummax", "dlr_1"] < 0.8 and found["cummax", "dlr_6"] > 0.9
    assert all(found[task, "attention_2"] > 0.9 for task in ("cummax", "select", "mips"))
    assert max(found["mips", row] - level["mips"] for row in others) < 0.05
    assert max(value - level["sort"] for (task, _), value in found.items() if task == "sort") < 0.05
    assert dlr_table1.short(found["solve_fixed", "attention_1"]) == ".34"  # exercise 8: about a third
    assert max(value for (task, _), value in found.items() if task == "context_shift") < 0.1


def test_what_section_6_says_of_longer_inputs_stands_in_the_table():
    found = {length: r2(length)[0] for length in (64, 128, 512)}
    for length, task, row, printed in (
        (128, "solve", "dlr_2", ".16"), (128, "solve", "dlr_6", ".02"), (128, "select", "dlr_2", ".10"), (128, "select", "dlr_6", ".25"),
        (64, "cummax", "dlr_1", ".70"), (128, "cummax", "dlr_1", ".63"), (512, "cummax", "dlr_1", ".52"),
        (512, "select_fixed", "dlr_1", ".21"),
    ):  # fmt: skip
        assert dlr_table1.short(found[length][task, row]) == printed, (length, task, row)
    for length, cells in found.items():
        assert min(cells[task, "dlr_1"] for task in ("shift", "cumsum", "solve_fixed")) > 0.98
        assert (cells["select_fixed", "dlr_1"] > 0.9) == (length < 512)
        level = r2(length)[1]
        assert all(value < level[task] + 0.05 for (task, _), value in cells.items() if task in ("sort", "context_shift"))
    assert found[128]["cummax", "dlr_6"] > 0.9 and 0.6 < found[128]["reverse", "dlr_6"] < 0.9
    assert found[64]["solve_fixed", "dss_1"] > 0.9 > 0.5 > found[64]["solve_fixed", "attention_2"]
    assert found[64]["reverse", "attention_2"] > 0.7


def test_what_section_6_says_of_more_steps():
    r2_of = {(one["row"], one["task"]): one["metrics"]["r2"] for one in records.recorded("dlr/longer")}
    attention = [value for (row, _), value in r2_of.items() if row == "attention_6_4"]
    assert len(attention) == 3 and min(attention) > 0.9
    assert r2_of["sgconv_6_4", "solve_fixed-128"] < 0.01


def test_what_section_7_says_of_trees_with_more_steps():
    few, many = ({one["task"]: one for one in records.recorded("dlr/table3") if (one["row"], one["seed"]) == ("dlr", 0)}[task]
                 for task in ("listops-128", "listops-128-longer"))  # fmt: skip
    right = [[part["right"] for part in one["by_height"]] for one in (few, many)]
    assert 0.7 < right[0][0] < 0.8 and right[1][0] > 0.99 and right[1][1] > 0.6 and right[1][1] > right[0][1] + 0.1
    sums = [next(part["right"] for part in one["by_operator"] if part["operator"] == "SM") for one in (few, many)]
    assert sums[0] < 0.15 and sums[1] > 0.4
    known = dlr_table3.operator_levels(128, 1000)
    assert [part["right"] > known[part["height"]] for part in many["by_height"]] == [True] * 7


def test_one_layer_with_channels_enough_reverses():
    cells = results.runs("dlr/width").groupby(["task", "row"])["r2"].agg(list)
    shares = {L: {int(row) / L: r2 for row, r2 in cells[f"reverse-{L}"].items()} for L in (32, 64)}
    assert min(shares[32][2.0]) > 0.95 and max(shares[64][0.125]) < 0.2 and fmean(shares[64][1.0]) < 0.5
    readouts = ch07.best_with_channels
    for share, r2s in shares[32].items():  # between the two lines
        assert share - 0.02 < fmean(r2s) or share > 0.5
        assert fmean(r2s) < (readouts("reverse", 32, round(32 * share))[3] if share < 0.5 else 1)
    assert all(fmean(r2s) < share + 0.03 for share, r2s in shares[64].items())
    means = [fmean(shares[32][share]) for share in sorted(shares[32])]
    assert means == sorted(means)


def test_the_level_of_every_task_is_that_of_its_records():
    _, level = r2(64)
    assert level.keys() == {task.split("-")[0] for task in dlr_table1.TABLE.tasks}


def test_what_is_said_of_trees_and_pictures_stands_in_their_records():
    kept = records.recorded("dlr/table3")
    for record in (one for one in kept if one["task"] == "listops-128"):
        by_height = {one["height"]: one["right"] for one in record["by_height"]}
        by_operator = {one["operator"]: one["right"] - one["majority"] for one in record["by_operator"]}
        assert by_height[1] > 0.7 and all(0.15 < share < 0.3 for height, share in by_height.items() if height >= 4)
        assert by_operator.pop("SM") < 0.05 < 0.25 < min(by_operator.values())
    of_32 = [record for record in kept if record["task"] == "segmentation-32"]
    assert all(record["levels"]["ink"]["macro_f1"] + 0.03 < record["metrics"]["macro_f1"] < 0.7 for record in of_32)
    assert {record["row"] for record in of_32} == {"dlr", "dss", "local_attention"}
    for M, best in ((32, 0.61), (64, 0.48)):
        f1 = {one["row"]: one["metrics"]["macro_f1"] for one in kept if one["task"] == f"segmentation-{M}"}
        assert f1["local_attention"] + 0.01 < dlr_table3.local_level(M, 160) < max(f1.values()) < best + 0.005


def test_what_is_said_of_pictures_at_a_lower_rate():
    f1 = {one["task"]: one["metrics"].get("macro_f1") for one in records.recorded("dlr/table3") if one["row"] == "dlr"}
    assert [f"{f1[f'segmentation-{M}-slower']:.2f}" for M in (32, 64)] == ["0.71", "0.58"]
    assert f1["segmentation-32-longer"] < f1["segmentation-32"] + 0.01
    for M in (32, 64):
        (run,) = [one for one in records.recorded("dlr/table3") if one["task"] == f"segmentation-{M}-slower"]
        before, last = (look["macro_f1"] for look in run["curve"][-6:: 5])
        assert last > before + 0.02


def test_what_is_said_of_text_stands_in_its_records():
    tests = {key: fmean(one["metrics"]["test"] for one in cell)
             for key, cell in by_cell(records.recorded("dlr/table5")).items()}  # fmt: skip
    level = records.recorded("dlr/table5")[0]["levels"]
    assert {one["config"]["setting"]["layers"] for one in records.recorded("dlr/table5") if one["task"] in ("characters", "tokens")} == {4}
    last = [tests["characters", row] for row in ("dlr_post", "dlr_pre", "transformer_post", "transformer_pre")]
    assert max(last) < level["trigram"] - 0.3 and max(last) - min(last) < 0.03
    assert min(tests["depth4-0.03", row] for row in ("dlr_post", "transformer_post")) > level["unigram"] - 0.05
    assert tests["depth4-0.03", "dlr_pre"] < tests["depth4-0.03", "transformer_pre"] < level["unigram"] - 0.5


@pytest.mark.parametrize("name", ATOMIC)
def test_every_task_can_be_seen_and_told(name):
    inputs, answers = ch07.example(name, 16, seed=1)
    assert inputs.shape[1] >= answers.shape[1] and len(ch07.one_input(name, 16, 1).axes) == 3
    assert f"{ch07.trivial_level(ch07.skill(name), 16):.3f}" in ch07.task_sentence(name, 16, 1)


@pytest.mark.parametrize("name", ch07.LINEAR)
def test_weights_by_lag_give_the_answers(name):
    """The table of weights, applied to fresh inputs; what inputs share adds a constant."""
    task = ch07.skill(name)
    asks, seen = ch07.lags(task, 16)
    inputs = task.draw(8, 16, torch.Generator().manual_seed(5)).double()
    T, answers = inputs.shape[1], task.targets(inputs)[..., 0].numpy()
    summed = np.array([[sum(asks[j, s] * float(x[T - len(asks) + j - s, 0]) for s in np.flatnonzero(seen[j]))
                        for j in range(len(asks))] for x in inputs])  # fmt: skip
    assert np.allclose(np.diff(summed, axis=0), np.diff(answers, axis=0), atol=1e-5)


def test_channels_come_to_what_theory_says():
    one = sum(1 / k for k in range(1, 8, 2)) * 2 / 8  # a single convolution without a readout by place, chapter 05
    assert one < ch07.best_with_channels("reverse", 8, 1)[3] < ch07.best_with_channels("reverse", 8, 2)[3] < 0.95
    assert math.isclose(ch07.best_with_channels("reverse", 8, 4)[3], 1, abs_tol=1e-3)  # L / 2
    assert math.isclose(ch07.best_with_channels("solve_fixed", 24, 1)[3], 1, abs_tol=1e-3)
    assert math.isclose(ch07.best_with_channels("cumsum", 8, 1)[3], 1, abs_tol=1e-3)


@pytest.mark.parametrize("L, H", [(8, 3), (8, 1), (6, 2), (12, 5)])
def test_two_inputs_that_no_kernel_tells_apart_need_different_answers(L, H):
    left, middle, right = ch07.look_alike(L, H).axes
    inputs, handed, wanted = ([line.get_ydata() for line in axes.lines if line.get_marker() in "os"] for axes in (left, middle, right))
    place = int(middle.get_title(loc="left").split()[-1])
    assert [x[2 * L - 1 - place] for x in inputs] == [y[0] for y in wanted] and abs(wanted[0][0] - wanted[1][0]) > 1
    assert handed[0] == pytest.approx(handed[1], abs=1e-9) and len(handed[0]) == H and np.abs(inputs).max() < 2


def test_three_skills_are_those_of_the_records():
    found, _ = r2(64)
    bars = [[bar.get_width() for bar in axes.patches] for axes in ch07.three_skills(results.runs("dlr/table1")).axes]
    assert bars == [pytest.approx([max(found[task, row], 0) for row in ch07.THREE_NETS]) for task in ch07.THREE]


def test_rings_and_a_readers_own_come_with_the_levels():
    alone, beside = ch07.published_scores().axes[0], ch07.published_scores(levels=True, yours={"sort": 0.3}).axes[0]
    assert len(alone.lines) == 5 and len(beside.lines) == 11
    assert [one.get_xdata()[0] for one in beside.lines if one.get_marker() == "s"] == [0.3]


def test_open_gates_hold_the_answer():
    texts = {tuple(text.get_position()): text.get_text() for text in ch07.reverse_gates(6).axes[0].texts}
    for place in range(6, 12):
        assert texts[place, place - 6] == texts[place, 6.1] == f"$x_{11 - place}$"  # Reverse, at length 6
    assert [texts[place, 0] for place in range(12)] == ["0", *(f"$x_{k}$" for k in range(6)), *"00000"]  # one step later


def test_the_soft_maximum_is_within_its_bound():
    numbers, *soft, largest = (line.get_ydata() for line in ch07.soft_maximum((3, 10, 30)).axes[0].lines)
    assert np.array_equal(largest, [max(numbers[: i + 1]) for i in range(48)])
    for beta, curve in zip((3, 10, 30), soft):
        assert (curve >= largest - 1e-12).all() and (curve <= largest + np.log(np.arange(1, 49)) / beta + 1e-12).all()


def test_only_what_changes_is_looked_at():
    inputs = torch.randn(4, 6, 1)
    inputs[:, 4:] = 0
    found = ch07.sensitivity(torch.nn.Identity(), inputs)
    assert found.diagonal().tolist() == [1, 1, 1, 1, 0, 0]
    assert ch07.sensitivity(torch.nn.Identity(), inputs[:1]).diagonal().tolist() == [1] * 6  # one input alone tells nothing


def test_columns_of_an_answer_do_not_cancel():
    class Both(torch.nn.Module):
        def forward(self, x):
            return torch.cat([x, -x], -1)

    assert ch07.sensitivity(Both(), torch.randn(3, 2, 1)).tolist() == [[1, 0], [0, 1]]
