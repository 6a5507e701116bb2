"""Experiments that measure (lrnn/speed, lrnn/growth, lrnn/fig1, lrnn/film): what they find, how it is kept, and how it is drawn."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from scipy.special import digamma
from torch.overrides import TorchFunctionMode

from lrnnlab.models import COLUMN_RULES
from lrnnlab.scans import paper
from lrnnlab.training import Phase
from workbook import cli, tables
from workbook.show import gallery as pictures
from workbook.show.growth_figures import growth_by_rule
from workbook.show.output import LARGEST
from workbook.show.scan_figures import product_text, scan_schedule, speed_ratios
from workbook.tables import lrnn_fig1, lrnn_film, lrnn_growth, lrnn_speed, records, report, results
from workbook.tables import registry as plans
from workbook.tables.analysis import FLOAT32_MAX, growth_per_step, log10_products, overflow_observed, random_blocks
from workbook.tables.lrnn_fig1 import schedule, spell

EQ6 = ("clip", "release", "centred", "block", "unit")  # the rules that leave no column with a p-norm above 1


def made(name, **asked):
    return list(tables.run_all(tables.plan(name, **asked)))


# Figure 1


def test_the_schedule_is_the_one_the_paper_prints():
    assert [[spell(m.word) for m in level] for level in schedule(8)] == [
        ["A1", "A3", "A5", "A7"], ["A2", "A3A2", "A6", "A7A6"], ["A4", "A5A4", "A6A5A4", "A7A6A5A4"],
    ]  # fmt: skip
    ours, theirs = report.table(made("lrnn/fig1", rows=["8"])).splitlines()[-2:]
    assert "True" in ours and "A4, A5A4, A6A5A4, A7A6A5A4" in ours and "A4, A5A4, A6A5A4, A7A6A5A4" in theirs


@pytest.mark.parametrize("L", [2, 4, 8, 16])
def test_the_moves_give_every_state_of_the_recurrence(L):
    """Oracle: x_t is the set of words A_t ... A_(s+1) b_s, written down without any scan."""
    held = [{((), s)} for s in range(L)]
    for level in schedule(L):
        held = [set(words) for words in held]
        before = [set(words) for words in held]
        for source, target, word in level:
            held[target] |= {(word + rest, s) for rest, s in before[source]}
    assert held == [{(tuple(range(t, s, -1)), s) for s in range(t + 1)} for t in range(L)]


@pytest.mark.parametrize("L", [2, 4, 8, 16])
def test_products_are_counted_as_the_code_makes_them(L):
    class Count(TorchFunctionMode):
        made = 0

        def __torch_function__(self, function, types, args=(), kwargs=None):
            found = function(*args, **(kwargs or {}))
            if function is torch.Tensor.matmul or function is torch.Tensor.__matmul__:
                self.made += math.prod(found.shape[:-2])
            return found

    with Count() as count:
        paper.products(torch.eye(2).repeat(L - 1, 1, 1))
    metrics = lrnn_fig1.measure({"length": L}, 0)["metrics"]
    k = L.bit_length() - 1
    assert metrics["made"] == count.made == L // 2 * k - (L - 1)
    assert metrics["levels"] == k and metrics["applied"] == [L // 2] * k


def test_a_scan_that_multiplies_in_the_wrong_order_is_noticed(monkeypatch):
    right = paper.products
    # (A B)^T = B^T A^T, so this reverses every product
    monkeypatch.setattr(paper, "products", lambda A: [level.mT for level in right(A.mT)])
    assert lrnn_fig1.measure({"length": 8}, 0)["metrics"]["as_printed"] is False
    (record,) = made("lrnn/fig1", rows=["8"])
    assert "False" in lrnn_fig1.TABLE.text([record])


@pytest.mark.parametrize("wrong", [0, 1, 3, 32, "8"])
def test_a_length_without_a_schedule_is_refused(wrong):
    with pytest.raises(ValueError, match=f"got {wrong!r}"):
        schedule(wrong)


# growth


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(EQ6), st.sampled_from([1.0, 1.2, 1.5, 2.0]), st.integers(2, 6), st.integers(0, 10**6))
def test_no_rule_of_eq_6_grows_faster_than_the_bound(rule, p, b, seed):
    """||A_k ... A_1 x||_1 <= b^(k (1 - 1/p)) ||x||_1."""
    for kind in lrnn_growth.TABLE.tasks:
        raw, x0 = lrnn_growth.raw_blocks(kind, 3, 20, b, seed)
        logs = lrnn_growth.log10_states(COLUMN_RULES[rule](raw * 3, p).numpy(), x0.numpy())
        assert (logs - logs[:, :1] <= lrnn_growth.bound(p, b, range(21)) + 1e-9).all()


def test_the_bound_notices_a_rule_that_breaks_eq_6():
    raw, x0 = lrnn_growth.raw_blocks("positive", 3, 20, 8, 0)
    logs = lrnn_growth.log10_states(raw.numpy(), x0.numpy())
    assert (logs - logs[:, :1])[:, -1].min() > lrnn_growth.bound(1.2, 8, [20])[0]


@pytest.mark.parametrize("rule", EQ6)
@pytest.mark.parametrize("p", [1.0, 1.2, 2.0])
def test_every_rule_of_eq_6_reaches_the_bound_at_even_b(rule, p):
    raw, x0 = lrnn_growth.raw_blocks("worst", 1, 500, 8, 0)
    logs = lrnn_growth.log10_states(COLUMN_RULES[rule](raw, p).numpy(), x0.numpy())[0]
    assert logs - logs[0] == pytest.approx(lrnn_growth.bound(p, 8, range(501)), abs=1e-7)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 4), st.integers(1, 12), st.integers(0, 10**6), st.booleans())
def test_logarithms_agree_with_plain_multiplication(b, steps, seed, driven):
    draw = np.random.default_rng(seed)
    A, x = draw.normal(size=(2, steps, b, b)), draw.normal(size=(2, b))
    u = draw.normal(size=(2, steps, b)) if driven else None
    logs, products = lrnn_growth.log10_states(A, x, u), lrnn_growth.log10_singular_values(A, range(1, steps + 1))
    product = np.broadcast_to(np.eye(b), A[:, 0].shape)
    for t in range(steps):
        x = np.einsum("kij,kj->ki", A[:, t], x) + (u[:, t] if driven else 0)
        product = A[:, t] @ product
        assert 10 ** logs[:, t + 1] == pytest.approx(np.abs(x).sum(-1), rel=1e-6)
        assert 10 ** products[:, t] == pytest.approx(np.linalg.svd(product)[1][:, 0], rel=1e-6)


@pytest.mark.parametrize("factor", [0.0, 1e-30, 1e30])
def test_far_beyond_float64_the_input_is_added_where_it_counts(factor):
    A, u = np.full((1, 40, 1, 1), factor), np.ones((1, 40, 1))
    u[:, :20] = 0  # until then the state is 0, 10^-600 or 10^600
    logs = lrnn_growth.log10_states(A, np.ones((1, 1)), u)[0]
    assert logs[-1] == pytest.approx(40 * 30 if factor > 1 else 0, abs=1e-9)
    alone = lrnn_growth.log10_states(A, np.ones((1, 1)))[0]
    assert alone[-1] == (-math.inf if factor == 0 else pytest.approx(40 * math.log10(factor)))


def test_singular_values_lie_where_the_1_norm_says():
    """||P||_1 / sqrt b <= sigma <= sqrt b ||P||_1, against the norms that ``analysis`` computes."""
    A = random_blocks("gaussian", 200, 1.2, 8, seed=5)
    ours, norms = lrnn_growth.log10_singular_values(A[None], range(1, 201))[0], log10_products(A)[1:]
    assert (np.abs(ours - norms) <= 0.5 * math.log10(8) + 1e-9).all()


def test_free_gaussian_blocks_grow_as_theory_says():
    """E log |G x| of a Gaussian matrix is (ln 2 + digamma(b / 2)) / 2 a step, whatever x is (Newman 1986)."""
    ((record),) = made("lrnn/growth", tasks=["gaussian"], rows=["free"], seeds=[3])
    step = record["metrics"]["any"]["step"]
    assert step["median"] == pytest.approx(math.exp((math.log(2) + digamma(4)) / 2), rel=0.03)
    assert step["min"] < step["median"] < step["max"]


def test_softmax_keeps_a_distribution_and_the_worst_case_overflows_on_time():
    keeps, clips = made("lrnn/growth", tasks=["positive"], rows=["softmax", "clip"])
    assert keeps["metrics"]["any"]["step"]["median"] == pytest.approx(1, abs=1e-6)
    assert clips["metrics"]["1"]["overflow"] == {"chains": 0} and clips["metrics"]["1.2"]["overflow"]["chains"] == 8
    (worst,) = made("lrnn/growth", tasks=["worst"], rows=["release"])
    for p in (1.2, 2.0):
        assert worst["metrics"][f"{p:g}"]["overflow"]["median"] == overflow_observed(p, 8)


def test_float32_is_observed_and_not_predicted():
    A, x0 = np.full((1, 50, 1, 1), 10.0), np.full((1, 1), 1.0)
    assert lrnn_growth.observed_in_float32(A, x0)[0].tolist() == [math.floor(math.log10(FLOAT32_MAX)) + 1]
    assert lrnn_growth.observed_in_float32(A, x0 * 1e20)[0].tolist() == [19]


def test_the_note_says_what_eq_6_allows():
    steps = lrnn_growth.TABLE.declared.found["notes"]
    b = lrnn_growth.TABLE.setting("clip", "worst", "desk")["b"]
    assert f"1 at p = 1, {growth_per_step(1.2, b):.4f} at 1.2 and {growth_per_step(2, b):.4f} at 2" in " ".join(steps.split())
    assert f"never, at step {overflow_observed(1.2, b)}, at step {overflow_observed(2, b)}" in steps
    assert growth_per_step(1, b) == 1 and not overflow_observed(1, b)


def test_a_seed_gives_the_same_blocks_to_every_rule_and_other_seeds_others():
    first, again = (lrnn_growth.raw_blocks("signs", 2, 3, 4, 7)[0] for _ in range(2))
    assert torch.equal(first, again) and not torch.equal(first, lrnn_growth.raw_blocks("signs", 2, 3, 4, 8)[0])
    assert set(first.unique().tolist()) == {-1.0, 1.0}


# speed

TINY = {"length": 5, "batch": 3, "rounds": 2}


@pytest.mark.parametrize("row", lrnn_speed.TABLE.rows)
def test_the_four_ways_compute_the_same(row):
    found = lrnn_speed.measure({**lrnn_speed.TABLE.setting(row, "sum", "live"), **TINY}, seed=1)
    assert 0 <= found["metrics"]["largest_difference"] < 1e-4
    for part in ("model", "scan"):
        assert found["metrics"][part]["sequential"]["ratio"] == 1
        assert all(len(taken) == 2 and min(taken) > 0 for taken in found["seconds"][part].values())


def test_a_way_that_computes_something_else_is_noticed(monkeypatch):
    right = paper.linear_scan
    monkeypatch.setattr(paper, "linear_scan", lambda A, b, x0: right(A, b, 0 * x0))
    found = lrnn_speed.measure({**lrnn_speed.TABLE.setting("test500_b8", "sum", "live"), **TINY}, seed=1)
    assert found["metrics"]["largest_difference"] > 1e-2


def test_the_ways_take_turns_and_are_compared_round_by_round():
    called = []
    lrnn_speed.take_turns(called.append, rounds=2)
    assert called == ["sequential", "pscan", "cpu", "table"] * 3
    taken = {"sequential": [1.0, 10.0, 1.0], "pscan": [2.0, 20.0, 3.0]}  # the machine was slow in the second round
    found = lrnn_speed._ratios(taken)["pscan"]
    assert (found["ratio"], found["ratio_min"], found["ratio_max"]) == (2, 2, 3)
    assert (found["median"], found["min"], found["max"]) == (3, 2, 20)


def test_the_clock_runs_while_a_way_works_and_not_between(monkeypatch):
    clock = [0.0]

    def work(way):
        clock[0] += {"pscan": 3.0, "table": 0.5}.get(way, 1.0)

    monkeypatch.setattr(lrnn_speed.time, "perf_counter", lambda: clock[0])
    assert lrnn_speed.take_turns(work, rounds=2) == {
        "sequential": [1.0, 1.0], "pscan": [3.0, 3.0], "cpu": [1.0, 1.0], "table": [0.5, 0.5],
    }  # fmt: skip


def test_the_papers_seconds_are_shown_as_the_papers():
    record, other = ({"experiment": "lrnn/speed", "task": "sum", "row": row, "seed": 0, "budget": "live", "protocol": "ours",
                      **lrnn_speed.measure({**lrnn_speed.TABLE.setting(row, "sum", "live"), **TINY}, seed=0)}
                     for row in ("test500_b1", "train40_b1"))  # fmt: skip
    said = report.table([record])
    (theirs,) = [line for line in said.splitlines() if line.split()[:1] == ["paper"]]
    assert theirs.split() == ["paper", "0.002", "0.0008"] and "Quadro RTX 8000" in said
    assert not [line for line in report.table([other]).splitlines() if line.split()[:1] == ["paper"]]
    ratios = [lrnn_speed.paper_ratio(row) for row in lrnn_speed.TABLE.rows]
    assert "ratios, " + ", ".join(f"{ratio:.2g}" for ratio in ratios if ratio is not None).replace(", 0.4", " and 0.4") in said
    assert ratios[2] is None


# records and the command


def test_plans_of_both_kinds_and_what_they_refuse():
    assert [run.seed for run in tables.plan("lrnn/speed")] == [0] * 4
    assert len(tables.plan("lrnn/table2", tasks=["sum"], rows=["ours"])) == 5
    for name, wrong, shown in [
        ("lrnn/growth", {"rows": ["steepest"]}, "steepest"), ("lrnn/growth", {"tasks": ["sum"]}, "'sum'"),
        ("lrnn/growth", {"budget": "paper"}, "'paper'"), ("lrnn/speed", {"protocol": "paper"}, "no protocol 'paper'"),
        ("lrnn/fig1", {"rows": ["7"]}, "'7'"), ("lrnn/fig1", {"budget": "huge"}, "'huge'"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=shown):
            tables.plan(name, **wrong)
    with pytest.raises(ValueError, match="lrnn/fig1.*lrnn/growth.*lrnn/speed"):
        tables.get("lrnn/fig7")
    with pytest.raises(ValueError, match="jobs must be at least 1, got 0"):
        next(tables.run_all(tables.plan("lrnn/fig1"), jobs=0))


def test_a_measurement_is_kept_found_again_and_mistrusted(tmp_path, capfd, monkeypatch):
    plan = tables.plan("lrnn/fig1", rows=["4", "8"])
    next(tables.run_all(plan, data=tmp_path))  # interrupted after the first
    both = list(tables.run_all(plan, data=tmp_path))
    assert [record["recorded"] for record in both] == [True, False]
    (path,) = tmp_path.rglob("*.jsonl")
    assert len(records.read(tmp_path)) == 2
    path.write_text(path.read_text(encoding="utf-8").replace('"made":1,', '"made":2,', 1), encoding="utf-8")
    assert not next(iter(tables.run_all(plan[:1], data=tmp_path)))["recorded"]
    assert "its seal does not fit" in capfd.readouterr().err
    changed = replace(plan[0], setting={"length": 2})
    assert not next(iter(tables.run_all([changed], data=tmp_path)))["recorded"]
    assert "another configuration" in capfd.readouterr().err
    monkeypatch.setitem(plans.TABLES, "lrnn/fig1", replace(lrnn_fig1.TABLE, measure=None))
    assert next(iter(tables.run_all(plan[1:], data=tmp_path)))["recorded"]  # nothing is measured again


def test_the_command_measures_prints_and_resumes(tmp_path, capsys):
    call = f"reproduce lrnn/growth --tasks worst --rows unit,free --budget live --data {tmp_path}".split()
    assert cli.main(call) == 0
    first = capsys.readouterr()
    assert "1.414" in first.err and "1.414" in first.out and "257" in first.out and "(recorded)" not in first.err
    assert cli.main([*call, "--json"]) == 0
    again = capsys.readouterr()
    lines = [json.loads(line) for line in again.out.splitlines()]
    assert [line["row"] for line in lines] == ["unit", "free"] and all(line["recorded"] for line in lines)
    assert {"task", "seed", "budget", "metrics", "config", "provenance"} <= set(lines[0])
    assert "curves" not in lines[0] and "seal" not in lines[0]
    assert cli.main(["reproduce", "lrnn/speed", "--rows", "slow"]) == 2
    assert "'slow'" in capsys.readouterr().err


def test_live_measurements_leave_no_record(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(records, "data_folder", lambda: tmp_path)
    assert cli.main(["reproduce", "lrnn/fig1"]) == 0
    assert "A15A14A13A12A11A10A9A8" in capsys.readouterr().out and not list(tmp_path.rglob("*"))


def desk(name):
    return records.recorded(name)


def test_committed_growth_can_be_made_again_and_says_what_the_picture_says():
    found = {(r["task"], r["row"]): r for r in desk("lrnn/growth")}
    assert set(found) == {(task, row) for task in lrnn_growth.TABLE.tasks for row in lrnn_growth.TABLE.rows}
    (again,) = made("lrnn/growth", tasks=["positive"], rows=["block"], budget="desk")
    for p, metrics in found["positive", "block"]["metrics"].items():
        for what, numbers in metrics.items():  # other processors may round the last bits of a draw differently
            assert again["metrics"][p][what] == pytest.approx(numbers, abs=0.01)
    for rule in EQ6:
        assert found["gaussian", rule]["metrics"]["1.2"]["lost"]["chains"] == 64
        assert found["positive", rule]["metrics"]["1.2"]["overflow"]["chains"] == (64 if rule in ("clip", "unit") else 0)
        assert found["worst", rule]["metrics"]["1.2"]["step"]["median"] == pytest.approx(math.sqrt(2), abs=1e-5)


def test_committed_speed_says_what_the_picture_says():
    found = {record["row"]: record["metrics"] for record in desk("lrnn/speed")}
    assert set(found) == set(lrnn_speed.TABLE.rows)
    for metrics in found.values():
        assert metrics["largest_difference"] < 1e-4
        for part in ("model", "scan"):
            assert metrics[part]["pscan"]["ratio_min"] > 1 > metrics[part]["table"]["ratio_max"]


# pictures


def overlaps(figure):
    """Pairs of texts whose boxes share a point."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    texts = [text for axes in figure.axes for text in axes.texts]
    boxes = [Text.get_window_extent(text, renderer) for text in texts]  # an annotation without its arrow
    return [(texts[i].get_text(), texts[j].get_text())
            for i in range(len(boxes)) for j in range(i) if boxes[i].overlaps(boxes[j])]  # fmt: skip


@pytest.mark.parametrize("L", [2, 4, 8, 16])
def test_the_schedule_is_drawn_whole_and_nothing_lies_on_anything(L):
    figure = scan_schedule(L)
    shown = [text.get_text() for text in figure.axes[0].texts]
    words = [move.word for level in schedule(L) for move in level]
    assert [text for text in shown if "A_" in text] == [product_text(word) for word in words]
    levels = L.bit_length() - 1
    held = shown.count("$x_{0}$"), sum(text.startswith("$x_") for text in shown)
    assert held == (levels + 1, sum(2**k for k in range(levels + 1)))  # after level k the first 2^k states are right
    assert not overlaps(figure)


def test_the_growth_picture_draws_what_the_records_say():
    made_ = desk("lrnn/growth")
    figure = growth_by_rule(results.frame(made_))
    assert [axes.get_title("left") for axes in figure.axes[:2]] == ["p = 1, gaussian blocks", "p = 1, positive blocks"]
    (record,) = [r for r in made_ if (r["task"], r["row"]) == ("positive", "clip")]
    (drawn,) = [line for line in figure.axes[3].lines if line.get_label() == "clip"]
    assert drawn.get_ydata().tolist() == [0, *record["curves"]["1.2"]["state"]["median"]]
    assert drawn.get_xdata().tolist() == [0, *lrnn_growth.TABLE.setting("clip", "positive", "desk")["lengths"]]
    (most,) = [line for line in figure.axes[3].lines if line.get_label() == "most possible"]
    assert most.get_ydata()[-1] == pytest.approx(75.257, abs=1e-3)
    for axes in figure.axes:
        assert {text.get_text().split(",")[0] for text in axes.texts} >= set(lrnn_growth.TABLE.rows)
    assert not overlaps(figure)
    with pytest.raises(ValueError, match="no run of task 'positive'"):
        growth_by_rule(results.frame([r for r in made_ if r["task"] == "gaussian"]))


def test_the_speed_picture_puts_every_ratio_in_its_place():
    made_ = desk("lrnn/speed")
    whole, alone = speed_ratios(results.frame(made_)).axes
    points = sorted(line.get_xdata()[0] for line in whole.lines if line.get_marker() == "o")
    assert points == sorted(r["metrics"]["model"][way]["ratio"] for r in made_ for way in ("pscan", "cpu", "table"))
    diamonds = sorted(line.get_xdata()[0] for line in whole.lines if line.get_marker() == "D")
    assert diamonds == pytest.approx([0.4, 0.021 / 0.033, 1.0])
    assert not [line for line in alone.lines if line.get_marker() == "D"]  # the paper timed no scan alone


@pytest.mark.parametrize("name", ["lrnn_fig1", "lrnn_growth", "lrnn_speed"])
def test_the_pictures_are_small_and_told_in_words(name):
    committed = records.data_folder().parent / "figures" / f"{name}.png"
    assert committed.stat().st_size <= LARGEST and len(pictures.PICTURES[name].alt) > 40


def test_without_records_a_picture_names_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "data_folder", lambda: tmp_path)
    with pytest.raises(ValueError, match="reproduce lrnn/growth --budget desk"):
        pictures.PICTURES["lrnn_growth"].figure()


def test_a_film_shows_one_start_though_the_recipe_has_several():
    (run,) = tables.plan("lrnn/film")
    phase = Phase(steps=3, lr=1e-3, until=1e-9)  # which is not reached
    run = replace(run, setting=replace(run.setting, recipe=replace(run.setting.recipe, phases=(phase,), batch=4)))
    found = lrnn_film.measure(run)
    assert run.setting.recipe.attempts > 1 and found["steps"] == found["frames"][-1]["step"] == 3
