"""The benchmark of paper 003's models: all forms take the same step, and what is reported follows from what was timed."""

import pytest
import torch
from torch.nn import functional as F

from workbook import cli
from workbook.bench import fast_weights as bench
from workbook.bench.fast_weights import FORMS, SHAPES, Shape
from workbook.bench.recording import summary

SMALL = (Shape(3, 9, 4, 2), Shape(2, 5, 4, 1))


@pytest.mark.parametrize("name", [name for name, forms in FORMS.items() if len(forms) > 1])
def test_all_forms_take_the_same_step(name):
    found = []
    for form in FORMS[name]:
        model = SMALL[0].model(name).double()
        bench.set_form(model, form)
        tokens, labels = torch.randint(2, (2, 3, 9), generator=torch.Generator().manual_seed(0))
        F.cross_entropy(model(tokens).flatten(0, 1), labels.flatten()).backward()
        found.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
    for other in found[1:]:
        torch.testing.assert_close(found[0], other, rtol=0, atol=1e-10)
    assert found[0].abs().max() > 1e-3


def test_a_form_that_was_not_set_is_noticed():
    model = SMALL[0].model("srwm")
    bench.set_form(model, "fast")
    with pytest.raises(ValueError, match="got 'fast'"):
        model(torch.zeros(1, 2, dtype=torch.int64))


def test_steps_are_timed_and_compared():
    taken = bench.training_step("recurrent_delta", SMALL[0], rounds=3)
    assert {form: len(seconds) for form, seconds in taken.items()} == {"cpu": 3, "loop": 3}
    found = summary({"cpu": [1.0, 3.0, 2.0], "loop": [8.0, 6.0, 7.0]})
    assert found["cpu"] == {"median": 2.0, "min": 1.0, "max": 3.0, "rounds": 3, "times_ours": 1.0}
    assert found["loop"]["times_ours"] == 3.5
    text = bench.bench().report("srwm B=3", {"forms": found})
    assert "3.5x" in text and "srwm B=3" in text and len(text.splitlines()) == 3


def test_every_model_at_every_shape_is_a_case():
    assert list(bench.bench(shapes=SMALL).cases) == [f"{name} {shape.name}" for shape in SMALL for name in FORMS]


def test_wrong_calls(capsys):
    assert cli.main(["bench", "fast_weights", "--only", "T=6"]) == 2
    assert f"no case with 'T=6' in its name; there are ult {SHAPES[0].name}" in capsys.readouterr().err
    with pytest.raises(ValueError, match="no model 'elman' here; there are ult, deltanet, nlt"):
        bench.training_step("elman", SMALL[0])


def test_ours_is_faster():
    """At the first shape, by far; the record holds the numbers."""
    for name in ("recurrent_delta", "srwm"):
        assert summary(bench.training_step(name, SHAPES[0], rounds=3))["loop"]["times_ours"] > 2
