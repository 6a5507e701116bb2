"""The bar of a training: full and green in a notebook where training is done, red where it broke."""

import math

import pytest
import torch
from torch.nn import functional as F
from tqdm.notebook import tqdm as notebook_bar

from lrnnlab.models import build
from lrnnlab.tasks import Sum
from lrnnlab.training import Phase, Recipe, engine, fit
from lrnnlab.training.loop import train


@pytest.fixture
def bars(monkeypatch):
    """The bars that a notebook shows, as they come: (bar, its picture)."""
    shown = []

    def bar(**options):
        shown.append(notebook_bar(**{**options, "leave": True, "display": False}))
        return shown[-1]

    monkeypatch.setattr(engine, "tqdm", bar)
    return shown


def picture(bar):
    """(colour, share that is filled)"""
    drawn = bar.container.children[1]
    return drawn.bar_style, drawn.value / drawn.max


def elman(seed):
    return build("elman", vocab_size=2, classes=2, width=4, seed=seed)


def drawn(generator):
    x = torch.randn(4, 3, generator=generator)
    return x, x.sum(1, keepdim=True)


def train_net(**options):
    net = torch.nn.Linear(3, 1)
    return train(net, drawn, F.mse_loss, steps=50, lr=0.1, generator=torch.Generator(), **options)


def test_a_training_that_ends_early_because_it_is_done_ends_full_and_green(bars):
    fit(elman, Sum(2), Recipe((Phase(50, lr=1e-3, until=100.0), Phase(2, lr=1e-3)), batch_size=4), seed=0)
    train_net(until=lambda made: made.steps == 20)
    fit(elman, Sum(2), Recipe((Phase(5, lr=1e-3),), batch_size=4), seed=0)  # and one that takes all its steps
    assert [picture(bar) for bar in bars] == [("success", 1.0)] * 3
    assert bars[0].n < 52 and (bars[1].n, bars[2].n) == (20, 5)
    assert "20/20" in bars[1].container.children[2].value


def test_a_training_that_broke_or_was_not_accepted_ends_red(bars):
    made = train(torch.nn.Linear(3, 1), drawn, lambda *_: torch.tensor(math.nan, requires_grad=True), steps=50,
                           lr=0.1, generator=torch.Generator())  # fmt: skip
    assert not made.finished
    with pytest.raises(KeyboardInterrupt):
        train_net(until=lambda made: stop() if made.steps == 7 else False)
    refused = Recipe((Phase(5, lr=1e-3, until=1e-9), Phase(50, lr=1e-3)), batch_size=4)
    assert not fit(elman, Sum(2), refused, seed=0).accepted
    assert [picture(bar)[0] for bar in bars] == ["danger"] * 3
    assert [bar.total for bar in bars] == [50, 50, 55]


def stop():
    raise KeyboardInterrupt


@pytest.mark.parametrize("version", [7, 8])
def test_a_notebook_keeps_no_text_of_a_bar(monkeypatch, version):
    """It says how fast this run was, and another run would have to say the same (nbval).  Colab has ipywidgets 7."""
    told = []
    if version == 7:
        monkeypatch.delattr("ipywidgets.Widget._repr_mimebundle_")
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    monkeypatch.setattr(engine, "tqdm", notebook_bar)
    monkeypatch.setattr("IPython.display.display", lambda *shown, raw=False: told.append((*map(set, shown), raw)))
    engine.progress_bar(3).close()
    engine.progress_bar(3, show=False).close()
    assert told == [({"application/vnd.jupyter.widget-view+json"}, True)]
