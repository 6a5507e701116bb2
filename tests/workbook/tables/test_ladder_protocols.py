"""ladder/protocols: every rule's number against a count by hand, and rules that meet on a net that is always right."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded import found

from workbook.tables import ladder_protocols, records, results
from workbook.tables.ladder_protocols import FAR, LENGTH, RULES, TABLE, chosen, measure, measures
from workbook.tables.results import percent


def test_what_was_found_is_what_the_records_say():
    kept = records.recorded("ladder/protocols")
    said, runs = found("ladder/protocols"), results.frame(kept)
    last = [f"weights.last.{name}" for name in ("trained", "last", "past", "bin0", "bin1")]
    weights = [f"weights.{name}.past" for name in ("last", "held_out", "test_last", "test_bins")]
    for names, numbers in ((list(runs.filter(like="rules.")), ("39.1", "99.2")), (weights, ("11.8", "43.9")), (last, ("35.2", "100.0"))):
        spread = 100 * (runs[names].max(axis=1) - runs[names].min(axis=1))
        assert (f"{spread.mean():.1f}", f"{spread.max():.1f}") == numbers and all(number in said for number in numbers)
    widest = runs.loc[(runs[weights].max(axis=1) - runs[weights].min(axis=1)).idxmax()]
    assert {percent(widest[name]) for name in weights} >= {"56.0", "99.9"} and "56.0" in said and "99.9" in said
    (block,) = (one for one in kept if (one["task"], one["row"]) == ("z_5", "block_softmax"))
    shares = [percent(share) for share in block["metrics"]["rules"].values()]
    assert shares.count("100") == 4 and {"61.7", "22.6"} < set(shares)
    assert f"Seed 0, {len(kept)} nets" in said and "61.7" in said and "22.6" in said


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_measures_are_what_a_count_by_hand_says(seed):
    draw = np.random.default_rng(seed)
    right = draw.random((4, FAR)) > 10 ** draw.uniform(-3, -0.5)
    counted = measures(right)

    def whole(lengths):
        return np.mean([all(string[:length]) for length in lengths for string in right])

    assert counted["bin0"] == pytest.approx(whole(range(1, LENGTH + 1)))
    assert counted["bin1"] == pytest.approx(whole(range(LENGTH + 1, 2 * LENGTH + 1)))
    assert counted["past"] == pytest.approx(np.mean([string[length - 1] for length in range(42, FAR + 1) for string in right]))
    assert (counted["trained"], counted["last"]) == (right[:, 39].mean(), right[:, 499].mean())


def test_the_first_of_the_best_looks_counts():
    looks = [dict(step=step, held_out=held, trained=0, last=last, past=0, bin0=bin0, bin1=bin1)
             for step, held, last, bin0, bin1 in [(15, 0.2, 0.9, 0, 0), (30, 1, 0.8, 1, 0.5), (45, 1, 0.9, 0.9, 0.6),
                                                  (60, 0.9, 0.1, 1, 0)]]  # fmt: skip
    assert {name: look["step"] for name, look in chosen(looks).items()} == {
        "last": 60, "held_out": 30, "test_last": 15, "test_bins": 30}  # fmt: skip


def test_a_net_that_is_always_right_has_one_number(monkeypatch):
    monkeypatch.setattr(ladder_protocols, "right", lambda net, asked, strings, length, generator: np.ones((strings, length), bool))
    record = measure({**TABLE.setting("lstm", "s_3", "live"), "steps": 4, "looks": 4, "strings": 8}, seed=1)
    metrics = record["metrics"]
    assert set(metrics["rules"].values()) == {1.0} and list(metrics["rules"]) == list(RULES)
    assert (metrics["kind"], metrics["first"], metrics["weights"]["held_out"]["step"]) == ("lasts", None, 1)
    assert all(one["step"] < other["step"] for one, other in pairwise(record["curve"]))
