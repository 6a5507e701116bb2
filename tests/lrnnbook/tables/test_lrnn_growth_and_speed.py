"""Experiments that measure (lrnn/speed, lrnn/growth, lrnn/fig1, lrnn/film): what they find, how it is kept, and how it is drawn."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.overrides import TorchFunctionMode

from lrnnbook import tables
from lrnnbook.content.tables import lrnn_fig1, lrnn_growth, lrnn_speed, records
from lrnnbook.content.tables.lrnn_fig1 import schedule
from lrnnlab.models.layers.transitions import COLUMN_RULES
from lrnnlab.scans import paper

EQ6 = ("clip", "release", "centred", "block", "unit")  # the rules that leave no column with a p-norm above 1


def made(name, **asked):
    return list(tables.run_all(tables.plan(name, **asked)))


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


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(EQ6), st.sampled_from([1.0, 1.2, 1.5, 2.0]), st.integers(2, 6), st.integers(0, 10**6))
def test_no_rule_of_eq_6_grows_faster_than_the_bound(rule, p, b, seed):
    """||A_k ... A_1 x||_1 <= b^(k (1 - 1/p)) ||x||_1."""
    for kind in lrnn_growth.TABLE.tasks:
        raw, x0 = lrnn_growth.raw_blocks(kind, 3, 20, b, seed)
        logs = lrnn_growth.log10_states(COLUMN_RULES[rule](raw * 3, p).numpy(), x0.numpy())
        assert (logs - logs[:, :1] <= lrnn_growth.bound(p, b, range(21)) + 1e-9).all()


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
    logs, products = lrnn_growth.log10_states(A, x, u), lrnn_growth.log10_products(A, 2, range(1, steps + 1))
    product = np.broadcast_to(np.eye(b), A[:, 0].shape)
    for t in range(steps):
        x = np.einsum("kij,kj->ki", A[:, t], x) + (u[:, t] if driven else 0)
        product = A[:, t] @ product
        assert 10 ** logs[:, t + 1] == pytest.approx(np.abs(x).sum(-1), rel=1e-6)
        assert 10 ** products[:, t] == pytest.approx(np.linalg.svd(product)[1][:, 0], rel=1e-6)


TINY = {"length": 5, "batch": 3, "rounds": 2}


@pytest.mark.parametrize("row", lrnn_speed.TABLE.rows)
def test_the_four_ways_compute_the_same(row):
    found = lrnn_speed.measure({**lrnn_speed.TABLE.setting(row, "sum", "live"), **TINY}, seed=1)
    assert 0 <= found["metrics"]["largest_difference"] < 1e-4
    for part in ("model", "scan"):
        assert found["metrics"][part]["sequential"]["ratio"] == 1
        assert all(len(taken) == 2 and min(taken) > 0 for taken in found["seconds"][part].values())


def test_committed_growth_can_be_made_again_and_says_what_the_picture_says():
    found = {(r["task"], r["row"]): r for r in records.recorded("lrnn/growth")}
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
    found = {record["row"]: record["metrics"] for record in records.recorded("lrnn/speed")}
    assert set(found) == set(lrnn_speed.TABLE.rows)
    for metrics in found.values():
        assert metrics["largest_difference"] < 1e-4
        for part in ("model", "scan"):
            assert metrics[part]["pscan"]["ratio_min"] > 1 > metrics[part]["table"]["ratio_max"]
