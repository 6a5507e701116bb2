"""lrnn/fading: the way to an error against counting errors, laws against their own curves, clouds with a known end."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lrnnbook.content.tables import lrnn_fading, records
from lrnnbook.content.tables.lrnn_fading import centre_scores, crossing, way_to_error, within_between
from lrnnlab.models import exact_model
from lrnnlab.tasks import Sum


@settings(max_examples=30, deadline=None)
@given(B=st.integers(3, 30), C=st.integers(2, 5), scale=st.floats(0.1, 5), seed=st.integers(0, 999))
def test_a_string_beyond_its_way_is_a_string_misread(B, C, scale, seed):
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, C, (B, 4))
    scores = scale * draw.standard_normal((B, 4, C)) + 5 * np.eye(C)[labels]
    way, lead = way_to_error(scores, labels)
    wrong = scores.argmax(-1) != labels
    assert ((way > 1) == wrong)[np.isfinite(way)].all()
    for t in range(4):  # lead: from its definition, in other words
        means = {k: scores[labels[:, t] == k, t].mean(0) for k in set(labels[:, t])}
        assert math.isclose(lead[t], min(m[k] - m[c] for k, m in means.items() for c in range(C) if c != k))
    assert np.isinf(way).any() == (lead <= 0).any()


@settings(max_examples=25, deadline=None)
@given(B=st.integers(6, 30), C=st.integers(2, 5), D=st.integers(1, 4), seed=st.integers(0, 999))
def test_centre_scores_name_the_nearest_centre_and_balls_are_the_safe_side(B, C, D, seed):
    draw = np.random.default_rng(seed)
    labels = np.stack([draw.permutation(np.arange(B) % C) for _ in range(3)], 1)
    states = draw.standard_normal((B, 3, D)) + 3 * draw.standard_normal((C, D))[labels]
    scores = centre_scores(states, labels, C)
    way, lead = way_to_error(scores, labels)
    far, gap = within_between(states, labels, quantile=1.0)
    for t in range(3):
        centres = np.stack([states[labels[:, t] == c, t].mean(0) for c in range(C)])
        distances = np.linalg.norm(states[:, t, None] - centres, axis=-1)
        assert (scores[:, t].argmax(1) == distances.argmin(1)).all()
        others = [[(x - centres[k]) @ (m - centres[k]) / ((m - centres[k]) ** 2).sum() * 2
                   for c, m in enumerate(centres) if c != k] for x, k in zip(states[:, t], labels[:, t])]  # fmt: skip
        assert np.allclose(way[:, t], np.max(others, 1), rtol=1e-6, atol=1e-8)
    assert np.allclose(np.sqrt(lead), gap, rtol=1e-6)
    assert (way.max(0) <= 2 * far / gap + 1e-9).all()


@settings(max_examples=30, deadline=None)
@given(law=st.sampled_from(["power", "exponential"]), at=st.floats(50, 1900), rate=st.floats(0.2, 3))
def test_a_law_is_recovered_with_the_place_where_it_ends(law, at, rate):
    t = np.arange(1, 201)
    curve = (t / at) ** rate if law == "power" else np.exp(rate * (t - at) / 100)
    found, end = crossing(curve, 10, 40, 1.0)
    assert found == law and end == pytest.approx(at, rel=1e-6)
    other = {"power": "exponential", "exponential": "power"}[law]
    assert crossing(curve, 10, 40, 1.0, other)[1] != pytest.approx(at, rel=0.01)  # the wrong law is not as good


def tiny(**changed):
    return {**lrnn_fading.TABLE.setting("lstm", "sum", "live"), "strings": 32, "length": 240, **changed}


def test_an_exact_model_never_fades_and_a_planted_growth_overflows_where_predicted(monkeypatch):
    task = Sum(5)
    model = exact_model(task.machine)
    model.final_norm = torch.nn.LayerNorm(model.width)  # what is largest stays largest
    with torch.no_grad():
        model.head[-1].weight *= 3
    made = lrnn_fading.look(model, task, tiny(), 0)
    leads = model(torch.tensor([[0]]))[0, 0].topk(2).values  # the same for every value: one-hot states
    assert np.allclose(made["curves"]["readout_gap"], (leads[0] - leads[1]).item(), rtol=1e-4)
    found = made["metrics"]
    assert (found["learned"], found["seen"], found["overflow"]) == (True, None, None)
    assert all(p["horizon"] is None for p in found["predicted"].values())

    grow = torch.tensor(1.25) ** torch.arange(240)[:, None]
    states = model.states
    monkeypatch.setattr(model, "states", lambda tokens: states(tokens) * grow)
    found = lrnn_fading.look(model, task, tiny(fits=((10, 40),)), 0)["metrics"]
    expected = math.log(lrnn_fading.OVERFLOW) / math.log(1.25)  # 199, and a little for the first size
    assert found["overflow"] == pytest.approx(expected, abs=5) and found["seen"] == pytest.approx(found["overflow"], abs=3)
    assert found["predicted"]["10-40"]["horizon"] == pytest.approx(found["overflow"], abs=2)
    assert found["predicted"]["10-40"]["growth"] == pytest.approx(1.25, rel=1e-3)


def test_committed_records_answer_todays_question_and_hang_together():
    made = records.recorded("lrnn/fading")
    assert {(r["row"], r["seed"]) for r in made} == {(row, seed) for row in lrnn_fading.TABLE.rows for seed in range(3)}
    for r in made:
        found, curves = r["metrics"], r["curves"]
        for predicted in found["predicted"].values():
            both = [at for at in (predicted["fade"], predicted["overflow"]) if at is not None]
            assert predicted["horizon"] == min(both, default=None)
        if found["overflow"] is not None:
            assert curves["position"][-1] == found["overflow"] - 1 and curves["size"][-1] < lrnn_fading.OVERFLOW
        for ratio, right in zip(curves["readout"], curves["accuracy"]):
            assert ratio is None or (ratio > 1) == (right < 1 - 2 / 256)  # the third from the top


def test_committed_records_say_what_chapter_and_readme_say():
    made = {(r["row"], r["seed"]): r for r in records.recorded("lrnn/fading")}
    overflowing = {("release", 0), ("release", 1), ("release", 2), ("clip", 2)}
    for key, r in made.items():
        found = r["metrics"]
        assert found["learned"] and found["nearest"] is None
        horizons = {fit: one["horizon"] or math.inf for fit, one in found["predicted"].items()}
        if key in overflowing:
            assert 0 <= found["seen"] - found["overflow"] <= 10
            assert horizons["10-200"] == pytest.approx(found["seen"], rel=0.011)
        else:
            assert found["seen"] is found["overflow"] is None and horizons["10-200"] > 2000
            assert horizons["10-40"] > 2000 or key == ("clip", 1)
    early = {key: round(made[key]["metrics"]["predicted"]["10-40"]["fade"]) for key in (("release", 0), ("clip", 1))}
    assert early == {("release", 0): 122, ("clip", 1): 448} and made["release", 0]["metrics"]["seen"] == 690
    wide = [(row, seed) for (row, seed), r in made.items() if min(r["curves"]["balls"][1:]) > 1]
    assert wide == [*(("lstm", seed) for seed in range(3)), ("softmax", 1)]
