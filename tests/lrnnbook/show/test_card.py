"""``lrnnlab card``: a picture and a page of which machines a layer learns, from a folder of one's own."""

import re
import sys

import pytest
from PIL import Image

from lrnnbook.content.show import card
from lrnnbook.content.tables import ladder_card
from lrnnbook.content.tables.ladder import FAMILY, ladder_task
from lrnnbook.content.tables.own import REGISTRIES
from lrnnbook.machinery import cli
from lrnnlab.models import build

MODULE = '''
import torch
from torch import nn
from lrnnlab.models import LinearRecurrence, network


class Signed(LinearRecurrence):
    family = "signed"

    def __init__(self, width):
        super().__init__()
        self.gate, self.drive = nn.Linear(width, width), nn.Linear(width, width)

    def transition(self, z):
        return torch.tanh(self.gate(z)), self.drive(z)

    def initial(self, batch):
        return self.gate.weight.new_zeros(batch, self.gate.out_features)


class Turning(Signed):
    family = ("turns", 3)


class Threefold(Signed):
    family = 3


def double(vocab_size, classes):
    return network(Signed, vocab_size, classes, layers=2)


def triple(vocab_size, classes):
    return network(Signed, vocab_size, classes, layers=3)


double.family = triple.family = "signed"


class Narrow(Signed):
    def __init__(self, width, rank):
        super().__init__(width)


class Flips(nn.Module):
    """Exact for parity: what one's own needs for it to be proved, and no more."""

    def __init__(self, vocab_size, classes):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(5.0))

    def initial_state(self, batch):
        return self.scale.detach().new_ones(batch, 1)

    def step(self, state, token):
        state = state * (1.0 - 2.0 * token.to(state.dtype).unsqueeze(-1))
        return state, torch.cat([self.scale * state, -self.scale * state], -1)


class Foreign(nn.Module):
    """As flash-linear-attention's layers: a width that is called hidden_size, and a tuple of which the first is the output."""

    def __init__(self, mode="chunk", hidden_size=1024, num_heads=4, **options):
        super().__init__()
        self.mixed = nn.GRU(hidden_size, hidden_size, batch_first=True)

    def forward(self, hidden_states, attention_mask=None, past_key_values=None, **options):
        return self.mixed(hidden_states)[0], None, past_key_values


class Broken(Foreign):
    def forward(self, hidden_states):
        raise RuntimeError("Triton needs a GPU")
'''


@pytest.fixture
def module(tmp_path, monkeypatch, request):
    """An empty folder with a module that no other test has imported, and trainings of a few steps."""
    name = f"card_{abs(hash(request.node.name))}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ladder_card, "TRIES", [[1e-2, 2]])
    before = [(one, dict(one)) for one in (*{id(one): one for one in REGISTRIES.values()}.values(), FAMILY)]
    yield name
    for registry, was in before:
        registry.clear()
        registry.update(was)
    sys.path[:] = [one for one in sys.path if one != str(tmp_path)]


def test_a_rule_of_ones_own_has_a_picture_and_a_page_and_is_trained_once(module, tmp_path, capsys):
    asked = ["card", f"{module}:Signed", "--machines", "parity,flip_flop", "--jobs", "1"]
    assert cli.main(asked) == 0
    said = capsys.readouterr()
    picture, page = said.out.split()
    assert "0 of them recorded" in said.err and "[2/2] Keep the last: not learned" in said.err
    with Image.open(picture) as drawn:
        assert 700 < drawn.width < 1000 and "Count to two, not learned" in drawn.text["Description"]
    text = (tmp_path / page).read_text()
    assert text.startswith("# Signed:") and f"`lrnnlab card {module}:Signed --machines parity,flip_flop --seed 0`" in text
    assert "learned 0 of 2 machines" in text and "One seed (0); at most 2 steps" in text and "lrnnlab 0." in text
    assert "| Count to two (Parity) | yes | " in text and "There is nothing to prove." in text
    assert cli.main(asked) == 0 and "2 of them recorded" in capsys.readouterr().err
    source = tmp_path / f"{module}.py"
    source.write_text(source.read_text().replace("torch.tanh", "torch.sigmoid"))
    assert cli.main(asked) == 0 and "0 of them recorded" in capsys.readouterr().err
    Image.new("L", (8, 8)).save(picture)
    assert cli.main(asked) == 2 and "was not drawn by lrnnlab" in capsys.readouterr().err


def test_a_card_of_another_seed_or_of_other_machines_lies_beside_the_first(module, tmp_path, capsys):
    calls = [["--machines", "parity"], ["--machines", "parity", "--seed", "3"], ["--machines", "flip_flop"]]
    for more in calls:
        assert cli.main(["card", f"{module}:Signed", "--jobs", "1", *more]) == 0
    pages = {tmp_path / one for one in capsys.readouterr().out.split() if one.endswith(".md")}
    commands = {re.search(r"--machines .*(?=`)", page.read_text())[0] for page in pages}
    assert commands == {"--machines parity --seed 0", "--machines parity --seed 3", "--machines flip_flop --seed 0"}


@pytest.mark.parametrize("name, layers, theory", [("Signed", "one layer", "no"), ("double", "two layers", "yes"), ("triple", "3 layers", "yes")])
def test_theory_is_about_as_many_layers_as_the_net_has(module, tmp_path, capsys, name, layers, theory):
    """Signed gates keep the first letter and compare it with each in two layers, not in one."""
    assert cli.main(["card", f"{module}:{name}", "--machines", "evenpair", "--jobs", "2"]) == 0
    text = (tmp_path / capsys.readouterr().out.split()[1]).read_text()
    assert f"{layers} of its kind can last" in text and re.search(rf"^\| Keep the first \(.*\) \| {theory} \| ", text, re.M)
    assert f"theorems about {layers} and" in text


def test_what_is_finished_is_kept_after_an_interrupt(module, monkeypatch, capsys):
    real, asked = card.run_all, ["card", f"{module}:Signed", "--machines", "parity,flip_flop", "--jobs", "1"]

    def stopped(runs, **how):
        yield next(real(runs, **how))
        raise KeyboardInterrupt

    monkeypatch.setattr(card, "run_all", stopped)
    assert cli.main(asked) == 130
    assert "what is finished is in cards/data, and the same call does the rest" in capsys.readouterr().err
    monkeypatch.setattr(card, "run_all", real)
    assert cli.main(asked) == 0 and "2 machines, 1 of them recorded" in capsys.readouterr().err


def test_a_net_of_ones_own_with_a_step_alone_is_proved_and_a_layer_without_one_says_why(module, tmp_path):
    asked = ladder_task("parity")
    ladder_card.cells(f"{module}:Flips", ["parity"])
    found = ladder_card.restart(build(f"{module}:Flips", asked), asked, 0)
    assert found["verdict"] == "proved" and found["restarted"] == 1.0
    ladder_card.cells(f"{module}.Foreign", ["parity"])  # with a dot, as flash-linear-attention's are written
    found = ladder_card.restart(build(f"{module}:Foreign", asked), asked, 0)
    assert found["verdict"] == "none" and found["why"]


@pytest.mark.parametrize("asked, says", [
    (["deltane"], "no model 'deltane'; the nearest are deltanet, deltanet x2, gated_deltanet; or"),
    (["deltanet", "--machines", "parrity"], "no machine 'parrity'; the nearest are parity"),
    (["deltanet", "--seed", "0-2"], "a card is of one seed, got seeds 0 to 2"),
    (["MODULE:Sign"], "has no 'Sign'; there are Signed"),
    (["MODULE:Narrow"], "rank"),
    (["MODULE:Narrow"], "name a function that fills in the rest"),
    (["MODULE:Turning"], "the families are 'non-negative', 'signed'"),
    (["MODULE:Threefold"], "family is a name, or a name and a size, got 3"),
    (["MODULE:Broken"], "cannot learn from 4 strings of 40 letters on the CPU: RuntimeError: Triton needs a GPU"),
    (["nowhere_at_all:Rule"], "there is no module 'nowhere_at_all'"),
    (["MODULE.part:Rule"], "there is no module 'MODULE.part'"),
    (["faulty:Rule"], "faulty:Rule cannot be imported: ModuleNotFoundError: No module named 'not_here'"),
])  # fmt: skip
def test_what_cannot_be_is_refused_in_a_sentence(module, tmp_path, asked, says, capsys):
    (tmp_path / "faulty.py").write_text("import not_here")
    assert cli.main(["card", *(one.replace("MODULE", module) for one in asked)]) == 2
    said = capsys.readouterr()
    assert says.replace("MODULE", module) in said.err and said.err.count("\n") == 1 and not said.out and not (tmp_path / "cards").exists()


def test_a_library_that_is_missing_is_named_with_what_to_type(module, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "fla", None)
    assert cli.main(["card", "fla.layers.DeltaNet"]) == 2
    assert "none is installed: pip install flash-linear-attention" in capsys.readouterr().err


def made(kind, **more):
    first = {"lasts": None, "never learned": 1}.get(kind, 120)
    metrics = {"kind": kind, "first": first, "trained": 0.6 if kind == "never learned" else 1.0, "majority": 0.5, **more}
    return {"task": "parity", "row": "lstm", "metrics": metrics}


@pytest.mark.parametrize("runs, says", [
    ([made("never learned")], ("learned 0 of 1 machine ", "did not learn with this budget", "nothing to prove")),
    ([made("drifts", verdict="proved")], ("kept none of them to letter 500", "falls below 99", "on every string of every length for 1 of the 1")),
    ([made("lasts", verdict="open")], ("kept 1 of them to letter 500", "forgot none", "for 0 of the 1")),
    ([made("aliases", verdict="none", why="no step")], ("kept none of them", "at letter 120", "Nothing is proved")),
])  # fmt: skip
def test_not_learned_lost_lasting_and_proved_are_kept_apart(runs, says):
    assert all(text in sentence for text, sentence in zip(says, card.sentences("Mine", runs)))


def test_a_net_that_lasts_against_theory_is_shown_with_the_words_that_refute_it():
    found = made("lasts", verdict="proved", refuted={"n": 2, "words": ["0110", "011"]})["metrics"]
    assert card._proof(found) == "alone: wrong on 4 chosen letters"


@pytest.mark.thorough
def test_a_model_of_the_ladder_comes_out_as_chapter_10_has_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["card", "deltanet", "--machines", "flip_flop,parity,s_3"]) == 0
    said = capsys.readouterr().err
    assert "Keep the last: learned; below 99% at" in said and "restarted: proved, every string" in said
    assert "Count to two: not learned" in said and "Shuffle three cups: not learned" in said
