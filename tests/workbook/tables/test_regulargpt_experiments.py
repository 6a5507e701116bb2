"""Experiments of paper 002, tables: the loop against a plain one, scores against a slow count, records, pictures."""

import json
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from lrnnlab import tasks
from lrnnlab.tasks import ModArith
from lrnnlab.tasks.atomic import Shift
from lrnnlab.tasks.base import Batch, draw_seed
from lrnnlab.tasks.string_tasks import STRING_TASKS, CycleNavigation, EvenPairs, ModularArithmetic, Parity
from lrnnlab.training.checkpoint import Checkpoint
from lrnnlab.training.curriculum import Curriculum, Stages, held_out, longest_at, train_strings
from lrnnlab.training.determinism import rng
from lrnnlab.training.evaluation import accuracy_at_lengths
from lrnnlab.training.loop import with_seed
from workbook import tables
from workbook.show.regulargpt_figures import NETS, accuracy_by_p, accuracy_by_task
from workbook.tables import records, regulargpt_table1, regulargpt_table2, report, results
from workbook.tables.declared import paper
from workbook.tables.regulargpt_table1 import NETWORKS, make_network
from workbook.tables.text import percent

SMALL = {"rnn": {"width": 6}, "transformer": {"width": 8, "heads": 2, "layers": 1}}


def small_net(row="regulargpt_c2", task=None, seed=0):
    return make_network(row, task or Parity(), seed=seed, **SMALL.get(row, {"width": 8, "heads": 2}))


def trained(net, task=None, **options):
    given = {
        "steps": 6,
        "rate": 0.01,
        "batch": 8,
        "longest": 9,
        "generator": rng(0, "x"),
        "progress": False,
    } | options
    return train_strings(net, task or Parity(), **given)


def weights(net):
    return torch.cat([p.detach().flatten() for p in net.parameters()])


class Machine(nn.Module):
    """A net that is right by counting; wrong, if told so, beyond a length.  It remembers which lengths it was shown."""

    def __init__(self, beyond=math.inf, certain=50.0):
        super().__init__()
        self.scale, self.beyond, self.seen = nn.Parameter(torch.tensor(certain)), beyond, []

    def forward(self, tokens):
        self.seen.append((tokens.shape[1], self.training))
        label = (tokens.sum(1) + (tokens.shape[1] > self.beyond)) % 2
        return self.scale * F.one_hot(label, 2)


# ------------------------------------------------------------------------------------------------------ training loop


def plain_loop(net, steps, rate, longest, batch, growth, gate, clip, decay, warmup):
    """The same training, written out: lengths drawn, gradients cut and Adam's formulas by hand."""
    doubled = 2
    data = rng(0, "x")
    draw_seed(data)  # what held-out strings are drawn from
    moments = {name: (torch.zeros_like(p), torch.zeros_like(p)) for name, p in net.named_parameters()}
    for step in range(steps):
        reach = max(doubled, longest if step >= growth else -(-longest * (step + 1) // growth))
        length = int(torch.randint(1, reach + 1, (), generator=data))
        tokens = Parity().sample(batch, length, data).tokens
        net.zero_grad()
        logits = net(tokens).log_softmax(-1)
        loss = (-logits[torch.arange(batch), tokens.sum(1) % 2]).mean()
        loss.backward()
        if loss < gate and length > reach / 2 and 0 < int((tokens.sum(1) % 2).sum()) < batch:
            doubled = min(2 * reach, longest)
        norm = math.sqrt(sum(float((p.grad**2).sum()) for p in net.parameters()))
        share = (
            (step + 1) / warmup if step < warmup else (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))) / 2
        )
        for name, p in net.named_parameters():
            first, second = moments[name]
            slope = p.grad * min(1.0, clip / (norm + 1e-6))  # torch keeps off zero so
            first.mul_(0.9).add_(0.1 * slope)
            second.mul_(0.999).add_(0.001 * slope**2)
            move = first / (1 - 0.9 ** (step + 1)) / ((second / (1 - 0.999 ** (step + 1))).sqrt() + 1e-8)
            with torch.no_grad():
                p.sub_(rate * share * (move + decay * p))


@pytest.mark.parametrize("fault", [None, "rate", "clip", "growth", "gate", "decay", "warmup", "longest"])
def test_training_is_the_plain_loop(fault):
    recipe = {"steps": 9, "rate": 0.01, "longest": 30, "batch": 5, "growth": 40, "gate": 0.8, "clip": 0.1, "decay": 0.1,
              "warmup": 2}  # fmt: skip
    wrong = {"rate": 0.02, "clip": 0.2, "growth": 4, "gate": 0.0, "decay": 0.0, "warmup": 1, "longest": 2}
    one, two = small_net().double(), small_net().double()
    trained(one, schedule="cosine", **(recipe if fault is None else {**recipe, fault: wrong[fault]}))
    plain_loop(two, **recipe)
    off = float((weights(one) - weights(two)).abs().max())
    assert off < 1e-9 if fault is None else off > 1e-5


def test_generator_decides_all_and_watching_changes_nothing():
    made = []
    for noise, seed, watch_every in ((0, 0, 0), (17, 0, 2), (0, 1, 0)):
        torch.manual_seed(noise)
        before = torch.get_rng_state()
        net = small_net()
        run = trained(net, watch_every=watch_every, generator=rng(seed, "x"))
        assert torch.equal(torch.get_rng_state(), before)
        made.append((weights(net), run.losses))
    assert torch.equal(made[0][0], made[1][0]) and made[0][1] == made[1][1]
    assert not torch.equal(made[0][0], made[2][0])


def test_dropout_is_decided_by_the_generator_and_leaves_the_strings_as_they_are():
    def run(noise, seed, share):
        net = with_seed(lambda: nn.Sequential(nn.Embedding(2, 8), nn.Dropout(share), nn.Linear(8, 2)), 0)
        shown = []
        net.register_forward_pre_hook(lambda net, given: shown.append(given[0].tolist()))
        torch.manual_seed(noise)
        before = torch.get_rng_state()
        trained(net, generator=rng(seed, "x"))
        assert torch.equal(torch.get_rng_state(), before)
        return weights(net), shown

    first, again, other, without = run(0, 0, 0.5), run(17, 0, 0.5), run(0, 1, 0.5), run(0, 0, 0.0)
    assert torch.equal(first[0], again[0]) and not torch.equal(first[0], without[0])
    assert first[1] == without[1] != other[1]


@given(st.integers(1, 60), st.integers(0, 30))
def test_lengths_grow_to_the_longest_and_stay(longest, growth):
    reach = [longest_at(step, longest, growth) for step in range(growth + 3)]
    assert reach == sorted(reach) and 1 <= reach[0] and reach[-4:] == [longest] * len(reach[-4:])
    if growth:
        assert max(np.diff([0, *reach])) <= math.ceil(longest / growth)


def test_no_string_longer_than_the_longest_is_ever_shown():
    net = Machine()
    trained(net, steps=60, longest=12, watch_every=5, growth=10, gate=0.5)
    shown = {length for length, _ in net.seen}
    assert max(shown) == 12 and shown >= set(range(5, 13))
    assert {length for length, training in net.seen if not training} == set(range(5, 13))  # held out: the 8 longest
    assert net.training is False


def test_all_lengths_are_drawn_alike():
    net = Machine()
    trained(net, steps=600, longest=6, batch=1, rate=0.0)
    counts = np.bincount([length for length, _ in net.seen], minlength=7)[1:]
    assert counts.sum() == 600 and abs(counts - 100).max() < 40


@pytest.mark.parametrize(
    ("net", "wanted"),
    [(Machine(), 30), (Machine(beyond=8), 100), (Machine(certain=1.0), 100)],
    ids=["sure", "wrong at the longest", "right but unsure"],
)
def test_training_ends_early_only_where_held_out_strings_are_surely_right(net, wanted):
    made = trained(net, steps=100, rate=1e-9, watch_every=5, patience=3, growth=20, sure=0.01)
    assert made.steps == wanted  # looks at 20, 25 and 30: from step 19 on all lengths are drawn


def test_the_longest_length_doubles_where_the_longer_half_is_known():
    net = Machine()
    trained(net, steps=200, longest=40, growth=10_000, gate=0.1, batch=40, rate=0.0)
    lengths, reach = [length for length, _ in net.seen], 2
    for length in lengths:
        assert length <= reach
        reach = min(40, 2 * reach) if 2 * length > reach else reach
    assert reach == 40 and max(lengths) > 35
    net = Machine(certain=0.0)  # never below the gate
    trained(net, steps=60, longest=40, growth=400, gate=0.1, batch=1, rate=0.0)
    assert max(length for length, _ in net.seen) == 6  # of 6.1, what the even growth allows at step 60


@pytest.mark.parametrize(
    ("length", "targets", "certain", "reach"),
    [(5, [0, 1, 0, 0], 9, 16), (4, [0, 1, 0, 0], 9, 8), (8, [1, 1, 1, 1], 9, 8), (8, [0, 1, 0, 0], 1, 8)],
    ids=["known", "of the shorter half", "of one class", "unsure"],
)
def test_what_a_batch_must_be_for_the_longest_length_to_double(length, targets, certain, reach):
    course = Curriculum(Parity(), 4, 40, rng(0, "x"), growth=999, gate=0.1, reach=8)
    targets = torch.tensor(targets)
    logits = certain * F.one_hot(targets, 2).float()
    loss = course.loss(logits, Batch(torch.zeros(4, length, dtype=torch.long), targets, targets >= 0))
    assert loss.item() == pytest.approx(math.log(1 + math.exp(-certain)), rel=1e-3)
    assert course.reach == reach and course.full == math.inf


def test_places_without_a_label_are_no_answer_of_another_class():
    arithmetic = ModArith(5)
    course = Curriculum(arithmetic, 1, 39, rng(0, "x"), growth=999, gate=5.0, reach=2)
    batch = arithmetic.labelled(torch.tensor([[2, 5, 0, 5, 0]]))  # 2 + 0 + 0: 2 is asked for, and 2, and 2
    assert batch.targets[batch.mask].unique().numel() == 1 < batch.targets.unique().numel()
    course.loss(torch.zeros(1, 5, 5), batch)
    assert course.reach == 2


def test_held_out_lengths_are_ones_that_the_task_has():
    assert [batch.inputs.shape[1] for batch in held_out(tasks.task("dyck_1"), 8, rng(0, "x"), 4)][0] >= 2


def test_stages_come_one_after_the_other_when_known_and_the_newest_make_half():
    net, stages = Machine(), (3, 4, 12)
    trained(net, steps=400, longest=12, stages=stages, gate=0.1, symbols=96, batch=8, rate=0.0)
    lengths = [length for length, _ in net.seen]
    first = [next(place for place, length in enumerate(lengths) if length > reach) for reach in (0, 3, 4)]
    assert first[1] >= 15 and first[2] >= first[1] + 14 and max(lengths) == 12
    whole = lengths[first[2] :]
    newest = sum(length > 4 for length in whole) / len(whole)
    assert abs(newest - (0.5 + 0.5 * 8 / 12)) < 0.1 and set(whole) == set(range(1, 13))
    net = Machine(certain=0.0)  # never below the gate, whatever the step
    trained(net, steps=100, longest=12, stages=stages, gate=0.1, rate=0.0)
    assert max(length for length, _ in net.seen) == 3


@pytest.mark.parametrize(
    ("length", "targets", "certain", "stage"),
    [(5, [0, 1, 0, 0], 9, 1), (4, [0, 1, 0, 0], 9, 0), (5, [1, 1, 1, 1], 9, 0), (5, [0, 1, 0, 0], 1, 0)],
    ids=["known", "an older length", "of one class", "unsure"],
)
def test_what_batches_must_be_for_the_next_stage(length, targets, certain, stage):
    course = Stages(Parity(), 4, (4, 8, 40), rng(0, "x"), gate=0.1, stage=1)
    targets = torch.tensor(targets)
    logits = certain * F.one_hot(targets, 2).float()
    for _ in range(15):
        assert course.stage == 1
        course.loss(logits, Batch(torch.zeros(4, length, dtype=torch.long), targets, targets >= 0))
    assert course.stage == 1 + stage and (course.count == 0) == (stage or course.mean == 0)


def test_short_strings_come_in_greater_numbers():
    shapes = {(len(b.tokens), b.tokens.shape[1]) for b in (
        course() for course in [Stages(Parity(), 4, (40,), rng(0, "x"), gate=0.1, symbols=60)] for _ in range(300))}
    assert shapes == {(max(4, min(32, 60 // T)), T) for T in range(1, 41)}


def test_best_weights_are_those_of_the_least_loss_on_held_out_strings():
    net, task = small_net(), Parity()
    made = trained(net, steps=30, rate=0.3, watch_every=3)
    batches = held_out(task, 9, torch.Generator().manual_seed(draw_seed(rng(0, "x"))))
    kept = small_net(seed=5)

    @torch.no_grad()
    def loss():
        logits = torch.cat([kept(batch.tokens) for batch in batches])
        return F.cross_entropy(logits, torch.cat([batch.targets for batch in batches])).item()

    kept.load_state_dict(made.best)
    assert loss() == pytest.approx(-made.best_validation, rel=1e-5)
    kept.load_state_dict(net.state_dict())
    assert loss() == pytest.approx(-made.last_validation, rel=1e-5)
    assert made.best_validation == max(seen["validation"] for seen in made.watched) > made.last_validation


def test_held_out_strings_are_not_the_training_strings():
    held = {tuple(row) for batch in held_out(Parity(), 40, rng(0, "x")) for row in batch.tokens.tolist()}
    net, shown = Machine(), set()
    net.register_forward_pre_hook(
        lambda net, given: shown.update(map(tuple, given[0].tolist())) if net.training else None
    )
    trained(net, steps=50, longest=40, watch_every=25)
    assert len(held) == 8 * 64 and not held & shown


def test_training_breaks_off_where_the_loss_is_no_number():
    net = small_net()
    with torch.no_grad():
        net.head.weight.fill_(math.nan)
    made = trained(net)
    assert (made.finished, made.steps) == (False, 0)


@pytest.mark.parametrize("row", NETWORKS)
def test_every_net_learns_a_little(row):
    task = EvenPairs()
    net = small_net(row, task)
    made = trained(net, task, steps=40, longest=2, batch=32, rate=0.02, watch_every=20)
    assert made.watched[-1]["validation"] > made.watched[0]["validation"] + 0.1


# ------------------------------------------------------------------------------------------------------------- scores


def test_scoring_takes_one_thread_whatever_is_allowed():
    torch.set_num_threads(2)
    seen = []

    class Spy(nn.Module):
        def forward(self, tokens):
            seen.append(torch.get_num_threads())
            return torch.zeros(len(tokens), 2)

    accuracy_at_lengths(Spy(), Parity(), [3], strings=4, generator=rng(0, "x"))
    assert seen == [1] and torch.get_num_threads() == 2


def test_accuracy_is_the_share_of_strings_that_the_slow_answer_agrees_with():
    net, task = small_net("regulargpt_c3", CycleNavigation()), CycleNavigation()
    found = accuracy_at_lengths(net, task, [1, 4, 11], strings=30, generator=rng(3, "x"))
    again, slow = rng(3, "x"), {}
    for length in (1, 4, 11):
        tokens = task.sample(30, length, again).tokens
        slow[length] = np.mean([int(net(row.unsqueeze(0)).argmax()) == task.answer(row) for row in tokens])
    assert found == pytest.approx(slow) and len(set(found.values())) > 1


def test_a_net_is_judged_at_every_length_by_itself():
    found = accuracy_at_lengths(Machine(beyond=5), Parity(), range(4, 8), strings=9, generator=rng(0, "x"))
    assert found == {4: 1, 5: 1, 6: 0, 7: 0}


def test_parts_make_no_difference_and_the_net_stays_in_its_mode(monkeypatch):
    net = small_net("transformer").train()
    whole = accuracy_at_lengths(net, Parity(), [7, 30], strings=64, generator=rng(0, "x"))
    monkeypatch.setattr("lrnnlab.training.evaluation.PAIRS", 100)
    assert accuracy_at_lengths(net, Parity(), [7, 30], strings=64, generator=rng(0, "x")) == whole
    assert net.training


def test_of_an_answer_at_every_position_the_last_counts():
    class Prefixes(nn.Module):
        def forward(self, tokens):
            return F.one_hot(tokens.cumsum(1) % 2, 2).float()

    assert accuracy_at_lengths(Prefixes(), Parity(), [9], strings=50, generator=rng(0, "x")) == {9: 1.0}


@pytest.mark.parametrize("course", [{}, {"stages": (4, 9), "gate": 0.1}], ids=["growing", "staged"])
def test_a_checkpoint_of_another_batch_is_of_another_run(course, tmp_path, monkeypatch, capsys):
    save = Checkpoint.save
    monkeypatch.setattr(Checkpoint, "save", lambda self, state: (setattr(self, "seconds", -1.0), save(self, state)))
    for batch, said in ((8, ""), (8, ""), (16, "another run")):
        made = trained(make_network("rnn", Parity(), seed=0, width=8), batch=batch, checkpoint=tmp_path / "run.pt", **course)
        assert made.steps == 6 and said in (heard := capsys.readouterr().err) and bool(said) == bool(heard)


def test_a_checkpoint_of_another_end_is_of_another_run(tmp_path, monkeypatch, capsys):
    save = Checkpoint.save
    monkeypatch.setattr(Checkpoint, "save", lambda self, state: (setattr(self, "seconds", -1.0), save(self, state)))
    for patience, said in ((0, ""), (0, ""), (2, "another run"), (2, "")):
        trained(make_network("rnn", Parity(), seed=0, width=8), watch_every=2, patience=patience, checkpoint=tmp_path / "run.pt")
        assert said in (heard := capsys.readouterr().err) and bool(said) == bool(heard)


def test_levels_of_a_guesser():
    assert STRING_TASKS["d_2"]().chance == 0.5 and STRING_TASKS["d_2"]().average_majority([52, 53]) == 0.75
    assert CycleNavigation().average_majority([500]) == pytest.approx(0.2, abs=1e-3)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: make_network("lstm", Parity(), seed=0), "lstm"),
        (lambda: make_network("rnn", Parity(), "huge", seed=0), "huge"),
        (lambda: train_strings(Machine(), Shift(), steps=1, rate=1, generator=rng(0, "x")), "Shift"),
        (lambda: trained(Machine(), steps=0), "steps=0"),
        (lambda: trained(Machine(), longest=0), "got 0"),
        (lambda: trained(Machine(), batch=0), "got 0"),
        (lambda: trained(Machine(), growth=-1), "growth=-1"),
        (lambda: trained(Machine(), patience=2), "patience=2"),
        (lambda: trained(Machine(), stages=(4, 2, 9)), r"stages=\[4, 2, 9\]"),
        (lambda: trained(Machine(), stages=(4, 8)), r"stages=\[4, 8\]"),
        (lambda: accuracy_at_lengths(Machine(), Parity(), [], strings=1, generator=rng(0, "x")), r"lengths=\[\]"),
        (lambda: accuracy_at_lengths(Machine(), Parity(), [3], strings=0, generator=rng(0, "x")), "got 0"),
        (lambda: regulargpt_table1.TABLE.setting("rnn", "tomita_9", "desk"), "tomita_9"),
        (lambda: regulargpt_table1.TABLE.setting("lstm", "parity", "desk"), "lstm"),
        (lambda: regulargpt_table1.TABLE.setting("rnn", "parity", "weeks"), "weeks"),
        (lambda: regulargpt_table2.TABLE.setting("rnn", "0.2", "desk"), "0.2"),
        (lambda: regulargpt_table2.TABLE.setting("regulargpt_c3", "0.1", "desk"), "regulargpt_c3"),
    ],
)
def test_bad_input_is_refused_and_shown(call, said):
    with pytest.raises(ValueError, match=said):
        call()


# ------------------------------------------------------------------------------------------------------------- tables


def tiny(module, row, task, seeds=(0,)):
    """Records of two training steps."""
    runs = tables.plan(module.TABLE.name, tasks=[task], rows=[row], seeds=seeds)
    for run in runs:
        run.setting["training"].update({"steps": 2, "warmup": 0, "growth": 0, "watch_every": 1})
        run.setting.update({"stride": 150, "strings": 8})
    return list(tables.run_all(runs))


@pytest.fixture(scope="module")
def made():
    return tiny(regulargpt_table1, "ours", "parity", (0, 1)) + tiny(
        regulargpt_table1, "rnn", "modular_arithmetic_prefix"
    )


def test_records_are_plain_repeatable_and_shown(made):
    assert json.loads(json.dumps(made)) == made
    setting = made[0]["config"]["setting"]
    again = regulargpt_table1.measure(setting, seed=0)
    assert all(again[name] == made[0][name] for name in ("metrics", "training", "accuracy_by_length"))
    assert made[1]["training"] != made[0]["training"]
    here, best, *_ = report.table(made).split("\n\n")
    assert here.startswith("percent right beyond") and "majority" in here and "82.6" in here and "21.2" not in here
    assert best.startswith("the paper's best of 3 seeds") and "96.4" in best
    assert report.line(made[0]).startswith("parity regulargpt_c2 seed 0: ")


def test_the_score_leaves_out_the_first_length_beyond_training_and_says_which_weights(monkeypatch):
    """Last weights answer 0 always, the best ones 1: each is scored as such, by the strings that were drawn."""
    setting = regulargpt_table1.TABLE.setting("rnn", "parity", "live") | {"stride": 1, "strings": 3}
    monkeypatch.setattr(Parity, "test_length", 44)

    def constant(net, answer):
        net.head.weight.data.zero_()
        net.head.bias.data.copy_(F.one_hot(torch.tensor(answer), 2))
        return {name: value.clone() for name, value in net.state_dict().items()}

    def fake(net, task, **_):
        best = constant(net, 1)
        constant(net, 0)
        return regulargpt_table1.Trained(net, steps=5, best=best, best_step=1)

    monkeypatch.setattr(regulargpt_table1, "train_strings", fake)
    found = regulargpt_table1.measure(setting, seed=3)
    generator, ones = rng(3, "regulargpt/test"), {}
    for length in (41, 42, 43, 44):
        ones[length] = float(Parity().sample(3, length, generator).targets.double().mean())
    assert found["accuracy_by_length"] == [round(1 - ones[length], 4) for length in (41, 42, 43, 44)]
    wanted = np.mean([ones[length] for length in (42, 43, 44)])
    assert found["metrics"]["best_accuracy"] == pytest.approx(wanted) and ones[41] != wanted
    assert found["metrics"]["accuracy"] == pytest.approx(1 - wanted)
    assert found["metrics"]["worst_length"] == pytest.approx(1 - max(ones.values())) and not found["metrics"]["exact"]


def runs(*shares, **more):
    """A frame of runs of one cell: (accuracy beyond training, accuracy at its end)."""
    cell = {"experiment": "regulargpt/table1", "task": "d_2", "row": "rnn", "budget": "desk", "protocol": "ours"}
    return results.frame([
        {**cell, "seed": seed, "metrics": {"accuracy": beyond, "accuracy_seen": seen, "majority": 0.75}, **more}
        for seed, (beyond, seen) in enumerate(shares)
    ])


def test_a_cell_shows_the_range_of_its_seeds_the_paper_and_the_level():
    shown = regulargpt_table1.TABLE.declared.found["shown"][0]
    found = results.grid(runs((0.5, 0.75), (0.9999, 0.75), (1.0, 0.75)), "accuracy", printed=True, level=shown["level"])
    assert found.loc[("d_2", ""), "rnn"] == "83.3 (50.0 to 100)" and found.loc[("d_2", "paper"), "rnn"] == "100"
    assert found.loc[("d_2", ""), "majority"] == "75.0"


def test_every_low_net_has_one_of_two_reasons():
    (why,) = results.reasons(runs((0.97, 0.5), (0.9699, 0.97), (0.6, 1.0), (0.7, 0.9)))["why"]
    assert why == "1 not learned, 2 lost with length"
    seam = runs((0.5, 1.0), (0.5, 1.0), over_the_seam={"40": [1.0, 0.5]})
    assert results.grid(seam, "over_the_seam.40.1").loc["d_2", "rnn"] == "50.0"


def test_products_are_told_by_the_right_half_of_the_root():
    task, asked = STRING_TASKS["modular_arithmetic_prefix"](), []

    class Judge(nn.Module):  # right unless the right half begins with a ×; of all strings the label is known
        def forward(self, tokens):
            asked.append(tokens)
            half = {8: 4, 16: 8, 40: 32}[tokens.shape[1]]
            wrong = tokens[:, -half] == task.symbols.index("×")
            return F.one_hot((task.label(tokens) + wrong) % 5, 5)

    for length in (8, 16, 40):
        found = regulargpt_table1.over_the_seam(Judge(), task, length, rng(0, "x"))
        assert found == [1.0, 0.0, 0.0] and asked[-1].shape == (2048, length)


def test_table2_asks_every_net_at_every_p():
    made = tiny(regulargpt_table2, "rnn", "0.5") + tiny(regulargpt_table2, "rnn", "0.9")
    assert [record["config"]["setting"]["p"] for record in made] == [0.5, 0.9]
    assert regulargpt_table1.build_task(made[1]["config"]["setting"]).weights == (1, 9)
    assert made[1]["metrics"]["majority"] == pytest.approx(np.mean([0.5 + 0.5 * 0.8**T for T in (191, 341, 491)]))
    made[0]["elsewhere"]["500"], made[1]["elsewhere"]["500"] = [0.1, 0.2, 0.3, 0.4, 1.0], [0.0] * 5
    text = report.table(made)
    assert [line.split() for line in text.splitlines()].count(["paper", "100"]) == 4  # two grids, two p
    (line,) = [line for line in text.splitlines() if line.startswith("0.5 rnn") and "40.0" in line]
    assert line.split()[2:] == ["10.0", "20.0", "30.0", "40.0", "100"]


def test_printed_numbers_are_the_papers():
    """What Table 1's Transformer gets where it only knows the majority; greatest is never below the mean."""
    theirs = paper("regulargpt/table1").pivot(index=["task", "row"], columns="metric", values="value")
    assert set(theirs.index.get_level_values("task")) == set(regulargpt_table1.TABLE.tasks) - {"modular_arithmetic"}
    assert len(theirs) == 12 * 4 and (theirs["greatest"] >= theirs["accuracy"]).all()
    for task in ("tomita_5", "tomita_6"):
        known = 100 * STRING_TASKS[task]().average_majority(range(52, 101))
        assert theirs.loc[(task, "transformer")].tolist() == [pytest.approx(known, abs=0.05)] * 2
    means = theirs["accuracy"].groupby("row").mean().sort_values()
    assert means.index.tolist() == ["transformer", "regulargpt_c3", "regulargpt_c2", "rnn"]


def test_the_papers_budget_is_the_papers_and_needs_a_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    setting = regulargpt_table1.TABLE.setting("regulargpt_c2", "parity", "paper")
    assert (setting["training"]["steps"], setting["training"]["batch"], setting["options"]["width"]) == (
        100_000,
        128,
        256,
    )
    for module, task in ((regulargpt_table1, "parity"), (regulargpt_table2, "0.1")):
        with pytest.raises(ValueError, match="GPU"):
            module.measure(module.TABLE.setting("rnn", task, "paper"), seed=0)


# --------------------------------------------------------------------------------------------------- what is recorded


@pytest.fixture(scope="module", params=[regulargpt_table1, regulargpt_table2], ids=["table1", "table2"])
def desk(request):
    return request.param, records.recorded(request.param.TABLE.name)


def test_the_records_answer_the_present_settings(desk):
    module, found = desk
    prints = {records.fingerprint(run.config()) for run in tables.plan(module.TABLE.name, budget="desk", seeds=range(9))}
    assert {record["fingerprint"] for record in found} <= prints
    cells = {(record["task"], record["row"]) for record in found}
    assert cells == {(task, row) for task in module.TABLE.tasks for row in module.TABLE.rows}


def test_what_must_be_reached_is_reached(desk):
    """Parity, Cycle Navigation and Even Pairs with C = 2 are exact in at least one seed at every length."""
    module, found = desk
    first = module is regulargpt_table1
    for task in ("parity", "cycle_navigation", "even_pairs") if first else regulargpt_table2.TABLE.tasks:
        best = max(
            (r for r in found if (r["task"], r["row"]) == (task, "regulargpt_c2")),
            key=lambda r: r["metrics"]["accuracy"],
        )
        assert best["lengths"] == list(range(41, 501, 1 if first else 9)) and set(best["accuracy_by_length"]) == {1.0}
        assert best["metrics"]["exact"] and best["metrics"]["accuracy"] == 1


def test_what_table1_says_was_found():
    """What ``data/records/README.md`` says of them."""
    found = records.recorded("regulargpt/table1")
    every, three = regulargpt_table1.TABLE.tasks, range(3)
    assert sorted((r["row"], r["task"], r["seed"]) for r in found) == sorted(
        (row, task, seed) for row in regulargpt_table1.TABLE.rows for task in every for seed in three
    )

    def shares(row, *tasks, name="accuracy"):
        """(tasks, seeds)"""
        values = {(r["task"], r["seed"]): r["metrics"][name] for r in found if r["row"] == row}
        return np.array([[values[task, seed] for seed in three] for task in tasks])

    arithmetic = ("modular_arithmetic", "modular_arithmetic_prefix")
    assert shares("regulargpt_c2", "parity", "cycle_navigation", name="exact").all()
    assert shares("regulargpt_c2", "even_pairs", name="exact").sum() == 2 and shares("regulargpt_c2", "even_pairs").min() > 0.9998
    assert shares("regulargpt_c2", "d_3", "tomita_3", "tomita_5", "tomita_6").min() == 1
    known = [task for task in every if task not in arithmetic]
    worst = sorted(shares("regulargpt_c2", *known).ravel())
    assert shares("regulargpt_c2", *known).max(1).min() > 0.998 and worst[1] > 0.988
    assert worst[0] == shares("regulargpt_c2", "d_12").min() > 0.937 and shares("regulargpt_c2", "d_12", name="accuracy_seen").min() > 0.998
    assert shares("rnn", *every).min() > 0.99 and shares("rnn", "d_3", "d_4").min() == 1
    assert shares("rnn", "d_12").min() > 0.9979
    assert abs(shares("regulargpt_c3", *arithmetic) - 0.2).max() < 0.03
    seen, beyond = (shares("regulargpt_c2", "modular_arithmetic", name=name) for name in ("accuracy_seen", "accuracy"))
    assert np.round(100 * seen, 1).tolist() == [[98.8, 98.2, 98.6]] and np.round(100 * beyond).tolist() == [[85, 74, 81]]
    seen, beyond = (shares("regulargpt_c2", "modular_arithmetic_prefix", name=name) for name in ("accuracy_seen", "accuracy"))
    assert 0.976 < seen.min() < seen.max() < 0.989 and 0.64 < beyond.min() < beyond.max() < 0.785
    seams = {T: np.mean([r["over_the_seam"][T] for r in found if "over_the_seam" in r], axis=0) for T in ("16", "40")}
    assert seams["16"].min() == 1 and 0.994 < seams["40"][0] and 0.95 < seams["40"][1] < 0.952
    fine = ("parity", "even_pairs", "cycle_navigation", "tomita_3", "tomita_4", "tomita_6", "d_2")
    assert shares("regulargpt_c3", *fine).min() > 0.98
    (tomita_5,) = shares("regulargpt_c3", "tomita_5")
    assert (tomita_5 > 0.97).sum() == 1 and tomita_5.mean() > 0.841 - 0.03
    assert shares("transformer", "tomita_3", "tomita_4").min() > 0.99 and shares("transformer", "d_2").min() > 0.988
    theirs = paper("regulargpt/table1").query("row == 'transformer' and metric == 'accuracy'").set_index("task")["value"]
    for task in every[5:-2]:
        assert shares("transformer", task).mean() > theirs[task] / 100
    assert shares("transformer", "d_3", "d_4", "d_12").min() > 0.83
    assert shares("transformer", "d_4", "d_12", name="accuracy_seen").min() > 0.997
    pairs = shares("transformer", "even_pairs")
    assert shares("transformer", "even_pairs", name="accuracy_seen").min() == 1 and 0.63 < pairs.min() < pairs.max() < 0.77
    many = ("d_3", "d_4", "d_12")
    at_50 = shares("regulargpt_c3", *many, name="accuracy_seen")
    assert 0.95 < at_50.min() < at_50.max() < 0.9985 and 0.89 < shares("regulargpt_c3", *many).min() < 0.9


def test_what_table2_says_was_found():
    """What ``data/records/README.md`` says of them."""
    found = {(r["row"], r["task"], r["seed"]): r for r in records.recorded("regulargpt/table2")}
    assert sorted(found) == sorted(
        (row, task, seed) for row in regulargpt_table2.TABLE.rows for task in regulargpt_table2.TABLE.tasks for seed in range(3)
    )
    wrong = {run: r["metrics"]["accuracy"] for run, r in found.items() if not r["metrics"]["exact"]}
    assert {run for run in wrong if run[0] != "transformer"} == {("rnn", "0.9", 0), ("regulargpt_c2", "0.1", 1)}
    assert [percent(wrong[run]) for run in (("rnn", "0.9", 0), ("regulargpt_c2", "0.1", 1))] == ["98.1", "52.3"]
    for (row, task, _), record in found.items():
        if row != "transformer" and task == "0.5":
            assert set(record["elsewhere"]["40"] + record["elsewhere"]["500"]) == {1.0}
        if row == "transformer":
            assert record["metrics"]["accuracy_seen"] < 0.56


# ----------------------------------------------------------------------------------------------------------- pictures


def dots(axes, colour, marker="o"):
    """All (x, y) of one colour's markers in a panel."""
    return sorted((x, y) for line in axes.lines if line.get_color() == colour and line.get_marker() == marker
                  for x, y in zip(line.get_xdata(), line.get_ydata()))  # fmt: skip


def test_table1_is_drawn_as_it_stands(made):
    figure = accuracy_by_task(results.frame(made), live={("parity", "regulargpt_c2"): [made[0]["metrics"]["accuracy"]]})
    panel = figure.axes[list(NETS).index("regulargpt_c2")]
    shares = [record["metrics"]["accuracy"] for record in made]
    assert dots(panel, "#0072B2") == sorted(zip(shares[:2], (3 - 0.125, 3 + 0.125)))
    assert dots(panel, "#D55E00", "s") == [(shares[0], 3)]
    assert dots(figure.axes[0], "#0072B2") == [(shares[2], 1)]
    greys = {(round(100 * line.get_xdata()[0], 6), line.get_ydata()[0]) for line in panel.lines if line.get_marker() == "D"}
    assert (96.4, 1) in greys and (82.6, 1) in greys and len(greys) == 21  # three tasks have 100 and 100


def test_table2_is_drawn_as_it_stands():
    runs = [{"experiment": "regulargpt/table2", "task": task, "row": "transformer", "budget": "desk", "metrics": {"accuracy": 0.5, "accuracy_seen": share}}
            for task, share in (("0.1", 0.9), ("0.1", 0.8), ("0.9", 0.7))]  # fmt: skip
    figure = accuracy_by_p(results.frame(runs))
    seen, beyond = figure.axes[2], figure.axes[5]
    np.testing.assert_allclose(dots(seen, "#0072B2"), [(0.085, 90), (0.115, 80), (0.9, 70)])
    np.testing.assert_allclose(dots(beyond, "#0072B2"), [(0.085, 50), (0.115, 50), (0.9, 50)])
    greys = next(line for line in seen.lines if line.get_marker() == "D")
    assert greys.get_ydata().tolist() == [98.4, 99.8, 99.6, 97.8, 77.2]


@pytest.mark.parametrize("draw", [accuracy_by_task, accuracy_by_p])
def test_a_picture_shows_one_budget(draw, made):
    for wrong in ([], [made[0], {**made[0], "budget": "desk"}]):
        with pytest.raises(ValueError, match=f"got {len(wrong)} of"):
            draw(results.frame(wrong))


def test_sizes_are_named_for_every_net():
    assert set(NETWORKS) == set(regulargpt_table1.TABLE.rows) >= set(regulargpt_table2.TABLE.rows)
    assert isinstance(STRING_TASKS["modular_arithmetic_prefix"](), ModularArithmetic)


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(sorted(STRING_TASKS)), st.integers(1, 30))
def test_every_task_can_be_held_out(task, longest):
    task = STRING_TASKS[task]()
    for batch in held_out(task, longest, rng(0, "x"), strings=3):
        assert [task.answer(row) for row in batch.tokens] == batch.targets.tolist()
