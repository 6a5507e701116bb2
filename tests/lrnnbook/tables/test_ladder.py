"""The ladder: its tasks say the state of a machine, its nets are tried again by the training length alone."""


from collections import Counter
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded import found

from lrnnbook.content.tables import ladder, ladder_restart, ladder_strings, records, results
from lrnnbook.content.tables.ladder_protocols import FAR, LENGTH, measures
from lrnnbook.content.tables.results import percent


@pytest.mark.parametrize("name", ["d_2", "d_4", "tomita_1", "tomita_2", "tomita_3", "tomita_4", "tomita_7"])
def test_half_of_the_strings_live_and_the_others_die_at_any_time(name):
    asked = ladder.ladder_task(name)
    arrows = asked.rule.transitions
    (sink,) = [state for state in range(asked.classes) if (arrows[:, state] == state).all()]
    dead = asked.sample(2000, 60, torch.Generator().manual_seed(1)).targets == sink
    died = 60 - dead.sum(1)[dead[:, -1]]
    late = (died < 15).double().mean(), (died > 45).double().mean()
    assert 0.3 < dead[:, -1].double().mean() < 0.55 and min(late) > 0.1


def test_the_next_try_is_made_where_the_training_length_is_not_known(monkeypatch):
    shares = iter([0.5, 0.7, 1.0, 0.2])
    monkeypatch.setattr(ladder, "windows", lambda right: np.array([next(shares)]))
    tries = {**ladder.TABLE.setting("elman", "parity", "live"), "tries": [(1e-2, 2), (3e-3, 3), (1e-3, 4), (1e-3, 5)]}
    made, number = ladder.trained(tries, 0)
    assert (made.steps, number) == (4, 2)
    shares = iter([0.5, 0.7, 0.6, 0.2])
    made, number = ladder.trained(tries, 0)
    assert (made.steps, number) == (3, 1)


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


def test_what_was_found_of_the_gated_rules_is_what_the_records_say():
    """As they ship none learns a machine with a group in it; the flag that lets beta reach 2 changes that on two."""
    kept, said = results.runs("ladder/gated"), found("ladder/gated")
    rwkv7 = kept[kept["row"].str.startswith("rwkv7") & (kept["task"] == "parity")]
    assert Counter(rwkv7["row"]) == {f"rwkv7{slower}{deep}": 3 for slower, deep in product(("", "_slower"), ("", ladder.DEEP))}
    one, two = (rwkv7["trained"][rwkv7["row"].str.endswith(ladder.DEEP) == deep] for deep in (False, True))
    assert set(rwkv7["kind"]) == {"never learned"} and max(one) < 0.56 and max(two) < 0.97
    assert f"at most {100 * max(one):.1f} % with one layer, {100 * min(two):.1f} to {100 * max(two):.1f} % with two" in said
    kept = kept[~kept["row"].str.contains("slower")]
    parity = kept[kept["task"] == "parity"].set_index(["row", "seed"]).sort_index()
    plain = [*(("gated_deltanet", seed) for seed in (0, 1, 2)), *((f"{row}{deep}", 0) for row, deep in product(
        ("gated_deltanet", "mamba2", "rwkv7"), ("", ladder.DEEP)))]  # fmt: skip
    assert set(parity["kind"][plain]) == {"never learned"} == {parity["kind"]["deltanet", 0]}
    assert all(f"{100 * parity['trained'][run]:.1f}" in said for run in plain)
    signed = parity.loc["gated_deltanet_negative"]
    assert set(signed["trained"]) == {1.0} and signed["first"].tolist() == [99, 70, 157]
    assert "positions 99, 70 and 157, DeltaNet at 397" in said and parity["first"]["deltanet_negative", 0] == 397
    groups = list(ladder.MACHINES)[list(ladder.MACHINES).index("parity") :]
    assert len(groups) == 10 and len(kept[(kept["seed"] == 0) & kept["row"].str.match("gated|mamba2|rwkv7")]) == 2 * 4 * 19
    known = kept[(kept["seed"] == 0) & kept["task"].isin(groups) & (kept["kind"] != "never learned")]
    assert set(zip(known["row"], known["task"])) == {
        ("deltanet_negative", "parity"), ("gated_deltanet_negative", "parity"), ("gated_deltanet_negative", "tomita_5"),
        ("deltanet_negative x2", "parity"), *(("gated_deltanet_negative x2", task) for task in (
            "parity", "tomita_3", "tomita_5", "tomita_6", "s_3", "s_4", "a_5"))}  # fmt: skip
    assert "lasts" not in set(known["kind"]) and "two layers on seven (Parity, Tomita 3, 5 and 6, S_3, S_4, A_5)" in said
    one = kept[(kept["seed"] == 0) & ~kept["row"].str.endswith(ladder.DEEP)]
    assert Counter(one["row"][one["kind"] == "lasts"]) == {
        "gated_deltanet": 3, "gated_deltanet_negative": 4, "mamba2": 2, "rwkv7": 3}
    (seems,) = (run for _, run in one[one["kind"] == "lasts"].iterrows() if ladder.predicted(run["row"], run["task"]) == "cannot")
    assert (seems["row"], seems["task"], seems["refuted.n"]) == ("gated_deltanet", "tomita_2", 3)


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


def test_what_a_restart_mends_is_what_the_records_say():
    kept, said = results.runs("ladder/restart"), found("ladder/restart")
    lost = kept[kept["kind"].isin(ladder_restart.LOST)]
    assert (len(kept), len(kept) - len(lost)) == (494, 4)
    for deep, counts in ((False, [209, 206, 200, 183, 11, 206]), (True, [281, 273, 263, 233, 11, 272])):
        here = lost[lost["row"].str.endswith(ladder.DEEP) == deep]
        right = [int((here[name] >= ladder.KNOWN).sum()) for name in ("right.1", "right.5", "right.20", "alone")]
        assert [len(here), *right, (here["verdict"] == "proved").sum()] == counts
        assert all(str(number) in said for number in counts)
        assert right[0] >= 0.9 * len(here) and (here["verdict"] == "proved").mean() >= 0.6
    left = lost[lost["verdict"] != "proved"]
    assert (left["task"] == "modarith_3").sum() == 10 and left["why"].str.contains("more than 100 classes").sum() == 10
    others = left[left["task"] != "modarith_3"]
    assert {(run.row, run.task, run.verdict) for run in others.itertuples()} == {
        ("ult", "tomita_2", "refuted"), ("nlt x2", "tomita_2", "refuted")}


def test_machines_drawn_at_random_are_what_the_records_say():
    kept, said = results.runs("ladder/random"), found("ladder/random")
    lasts = kept[kept["kind"] == "lasts"]
    assert len(kept) == 160 and lasts.groupby("row").size().to_dict() == {
        "lstm": 20, "elman": 17, "block_softmax": 12, "one_hot": 12, "diagonal_complex": 4, "product_3": 2}  # fmt: skip
    assert "LSTM lasts on all 20 machines, Elman on 17" in said
    assert all(ladder.predicted(run.row, run.task) != "cannot" for run in lasts.itertuples())


def test_machines_are_drawn_with_all_states_in_reach_and_recall_keeps_the_last_value():
    for name in ("maps_8_0", "turns_8_1"):
        machine = ladder.ladder_task(name).machine
        assert machine.num_states == 8 == len(machine.reachable())
        assert (np.sort(machine.transitions).tolist() == [list(range(8))] * 2) == name.startswith("turns")
    recall = ladder.ladder_task("recall_3")
    tokens = np.random.default_rng(0).integers(7, size=200).tolist()
    kept = {}
    for at, token in enumerate(tokens):
        if token:
            kept[(token - 1) // 2] = (token - 1) % 2
        held = [kept.get(key, 0) for key in range(3)]
        name = recall.machine.names[recall.machine.run(tokens[: at + 1])[-1]]
        assert name == str(tuple(held)), (at, name, held)


def test_the_table_is_complete_when_every_pair_was_seen():
    asked = ladder.ladder_task("maps_8_0")
    strings = asked.sample_near(4, 40, torch.Generator().manual_seed(0))
    table = ladder_strings.TransitionTable(strings, asked, asked.machine.initial)
    assert table.unseen == 0 and (table.after.T.numpy() == asked.machine.transitions).all()
    few = ladder_strings.TransitionTable(asked.sample_near(1, 4, torch.Generator().manual_seed(0)), asked, asked.machine.initial)
    assert few.unseen >= 12


def test_how_far_depth_carries_is_what_the_records_say():
    half, said = results.runs("ladder/depth").set_index(["task", "row"])["half"], found("ladder/depth")
    for machine, positions in (("a_5", [11, 27, 37, 45]), ("s_4", [18, 37, 55, 66])):
        assert [half[machine, f"diagonal_complex-{layers}"] for layers in (1, 2, 3, 4)] == positions
    assert "from position 11, 27, 37 and 45" in said and "18, 37, 55 and 66" in said
