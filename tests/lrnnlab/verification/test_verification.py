"""A proof must be a proof, and a counter-example must really be wrong and really be shortest."""

import itertools
import re

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from lrnnlab.automata import MooreMachine, equivalent, minimise
from lrnnlab.models import build, snap
from lrnnlab.models.block import PostNorm
from lrnnlab.tasks import EvenPair, ModArith, Sum
from lrnnlab.verification import check_certificate, digest, learned_machine, verify
from lrnnlab.verification.heads import head_tables
from lrnnlab.verification.search import Search
from lrnnlab.verification.semantics.lower_layers import live_part, quotient, reach


def snapped(vocab, classes, seed, h=2, b=3, head="linear", layers=1, gain=4.0, **options):
    options = dict(h=h, b=b, rule="softmax", drive="none", start="first", head=head, layers=layers, gain=gain, **options)
    return snap(build("block_diagonal", vocab_size=vocab, classes=classes, seed=seed, **options))


def deep(seed, vocab=2, layers=2, h=2, b=2, head="mlp"):
    return snapped(vocab, 2, seed, h, b, head, layers, gain=6.0, hidden=12)


def stepped(model, answers=lambda state, shown: shown):
    """The model as a machine: every state of every layer, by ``model.step`` alone."""

    def one_hot(state):
        return [F.one_hot(torch.tensor([part]), layer.b).double() for part, layer in zip(state, model.layers)]

    def step(state, token):
        with torch.no_grad():
            after, _ = model.step(one_hot(state), torch.tensor([token]))
        return tuple(tuple(x[0].argmax(-1).tolist()) for x in after)

    def shown(state):
        with torch.no_grad():
            return answers(state, int(model.readout(one_hot(state)[-1].flatten(1)).argmax()))

    start = tuple(tuple(layer.x0.argmax(-1).tolist()) for layer in model.layers)
    return MooreMachine.from_rule(start, "ab"[: model.vocab_size], step, shown)


def complete(model, specification):
    """The search that follows every head."""
    with torch.no_grad():
        below = reach(model, live_part(specification), 10_000)
        return Search(model, specification, below, np.arange(model.layers[-1].h))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("head", ["linear", "mlp"])
def test_a_model_is_proved_equal_to_its_own_machine(seed, head):
    model = snapped(2, 2, seed, head=head)
    verdict = verify(model, machine := stepped(model))
    assert verdict.proved and check_certificate(verdict.certificate, machine, digest=digest(model))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("head", ["linear", "mlp"])
def test_a_counterexample_is_wrong_and_shortest(seed, head):
    task = Sum(2)
    model = snapped(2, 2, seed, head=head)
    verdict = verify(model, task.specification)
    words = [word for n in range(1, 7) for word in itertools.product(range(2), repeat=n)]
    wrong = [w for w in words if int(model(torch.tensor([w]))[0, -1].argmax()) != sum(w) % 2]
    if verdict.proved:
        assert not wrong
    else:
        assert verdict.counterexample in wrong
        assert len(verdict.counterexample) == len(wrong[0])


@torch.no_grad()
def test_both_searches_agree_on_a_deep_model_and_a_shallow_one():
    task = EvenPair(2)
    for seed in range(6):
        model = snapped(2, 2, seed)
        short, general = verify(model, task.specification), complete(model, task.specification).run(10_000)
        assert short.proved == general.proved
        assert (short.counterexample is None) == (general.counterexample is None)
        if short.counterexample is not None:
            assert len(short.counterexample) == len(general.counterexample)
        deep = snapped(2, 2, seed, layers=2, head="mlp")
        assert not verify(deep, task.specification).proved


def by_hand(h=1, b=5, V=5, C=5, head="linear"):
    """``layers[0].generator[2].weight[:, v]`` are the raw blocks of symbol v, (row, head, column); if V >= h b, a multiple."""
    model = build("block_diagonal", vocab_size=V, classes=C, h=h, b=b, hidden=V, rule="hard", drive="none",
                  start="first", head=head, seed=0).double()  # fmt: skip
    first, _, last = model.layers[0].generator
    with torch.no_grad():
        model.embedding.weight.copy_(torch.eye(V, h * b))
        seen = model.symbol_inputs()
        told = torch.linalg.lstsq(seen, torch.eye(V, dtype=seen.dtype), driver="gelsd").solution  # seen @ told = 1
        first.weight.copy_(2 * told.T)
        first.bias.fill_(-1.0)
        last.bias.zero_()
    return model


def test_a_planted_fault_is_found():
    """A counter modulo 5 whose weights are set by hand is proved; with one arrow bent it is refuted."""
    model = by_hand()
    good = torch.stack([torch.roll(torch.eye(5), s, 0) for s in range(5)])  # token, to, from
    bad = good.clone()
    bad[3, :, 4] = torch.eye(5)[0]  # 4 + 3 = 0 instead of 2
    with torch.no_grad():
        model.head[0].weight.copy_(torch.eye(5))
        model.head[0].bias.zero_()
        for table, proved in ((good, True), (bad, False)):
            model.layers[0].generator[2].weight.copy_(table.flatten(1).T)
            verdict = verify(model, Sum(5).specification)
            assert verdict.proved is proved
    assert verdict.counterexample in {(4, 3), (1, 3, 3), (2, 2, 3)} and len(verdict.counterexample) == 2


def constant(answers, V=1, **options):
    """A snapped model whose logits are ``answers`` whatever it has read."""
    model = snapped(V, len(answers), 0, **options)
    with torch.no_grad():
        model.head[-1].weight.zero_()
        model.head[-1].bias.copy_(torch.tensor(answers, dtype=torch.float64))
    return model


ALWAYS_0 = MooreMachine([[0], [0]], [0], 0, "ab")


@pytest.mark.parametrize("head", ["linear", "mlp"])
@pytest.mark.parametrize("h", [19, 20, 21, 40])
def test_any_number_of_heads_is_searched(h, head):
    """Two of the heads count modulo 8, and the network is wrong where they come to 7: (8^20) (10) is more than 2^63."""
    model = by_hand(h, 8, V=2, C=2, head=head)
    stay, count = torch.eye(8), torch.roll(torch.eye(8), 1, 0)
    raw = torch.stack([stay] * (h - 2) + [count] * 2, 1)  # row, head, column
    with torch.no_grad():
        model.layers[0].generator[2].weight.copy_(raw.flatten()[:, None].expand(-1, 2))
        for weight in model.head.parameters():
            weight.zero_()
        model.head[0].weight[-1, -1] = 1.0
        model.head[-1].weight[1, -1] = 10.0
        model.head[-1].bias[0] = 1.0
    ten = MooreMachine([[*range(1, 9), 8, 0]] * 2, [0] * 10, 0, "ab")  # ten states, all of which answer 0
    assert model(torch.zeros(1, 8, dtype=torch.int64)).argmax(-1).tolist() == [[0] * 6 + [1, 0]]
    verdict = verify(model, ten)
    assert len(verdict.counterexample) == 7 and not verdict.proved
    assert learned_machine(model, ten).num_states == 8


def test_many_states_of_a_head_and_of_the_grammar_are_told_apart():
    """State 256 is not state 0: of a head, or of a grammar that asks its one hard question after 255 symbols."""
    model = by_hand(1, 300, V=1, C=2)
    with torch.no_grad():
        model.layers[0].generator[2].weight.copy_(torch.roll(torch.eye(300), 1, 0).flatten()[:, None])
        model.head[0].weight.zero_()
        model.head[0].bias.zero_()
        model.head[0].weight[1, 256] = 1.0
        model.head[0].bias[0] = 0.5
    assert len(verify(model, MooreMachine([[0]], [0], 0, "a")).counterexample) == 256
    last, final, dead = 255, 256, 257  # only after 255 times a may b follow, and then 1 is right
    to = [[*range(1, 256), dead, dead, dead], [*[dead] * 255, final, dead, dead]]
    asked = MooreMachine(to, [0] * 256 + [1, -1], 0, "ab")
    assert verify(constant([1.0, 0.0], 2), asked).counterexample == (0,) * last + (1,)


def test_what_rounding_could_change_is_not_proved():
    """Ties, and leads that may be lost in rounding; with more of a lead, or of digits, the proof is there."""
    for logits in ([1.0, 1.0], [1e6, 1e6 - 1e-3]):
        verdict = verify(constant(logits, 2).float(), ALWAYS_0)
        assert not verdict.proved and not verdict.robust and verdict.counterexample is None
        assert str(verdict).startswith("not decided: columns lead by")
    close = constant([1e6, 1e6 - 1e-3], 2)
    assert verify(close, ALWAYS_0).proved and verify(close, ALWAYS_0).logit_lead == pytest.approx(1e-3)
    for lead, proved in ((0.0, False), (1e-15, False), (1e-6, True)):  # the lead of one column, of a head that contributes
        model = by_hand(1, 3, V=2, C=3)
        blocks = torch.eye(3, dtype=torch.float64)
        blocks[1, 0] = 1 - lead
        with torch.no_grad():
            model.layers[0].generator[2].weight.copy_(blocks.flatten()[:, None].expand(-1, 2))
            model.head[0].weight.copy_(torch.eye(3))
            model.head[0].bias.zero_()
        verdict = verify(model, ALWAYS_0)
        assert verdict.proved is proved and abs(verdict.column_lead - lead) < 1e-12


@pytest.mark.parametrize("change, named", [
    (lambda m: m.layers[0].register_buffer("x0", torch.full((2, 3), 1 / 3)), "layer 1 starts from an x_0 that"),
    (lambda m: setattr(m.layers[0], "x0", torch.nn.Parameter(torch.randn(2, 3))), "layer 1 starts from a learned x_0"),
    (lambda m: setattr(m.layers[0], "drive", "linear"), "layer 1 is rule='hard', drive='linear'"),
    (lambda m: setattr(m.layers[0], "rule", "clip"), "layer 1 is rule='clip', drive='none'"),
    (lambda m: setattr(m.layers[0], "rule", "softmax"), "layer 1 is rule='softmax', drive='none'"),
    (lambda m: setattr(m.layers[0], "raw_blocks", lambda z: z), "blocks.0.mixer has its own raw_blocks"),
    (lambda m: setattr(m, "readout", lambda x: x), "the model has its own readout"),
    (lambda m: setattr(m, "__class__", type("Louder", (type(m),), {})), "it is a Louder"),
    (lambda m: setattr(m.layers[0], "__class__", type("Other", (type(m.layers[0]),), {})), "layer 1 is Other"),
    (lambda m: m.head.append(torch.nn.Dropout()), "head.1 is Dropout"),
    (lambda m: setattr(m, "final_norm", torch.nn.RMSNorm(6)), "the last norm RMSNorm"),
    (lambda m: setattr(m.blocks[0], "norm", torch.nn.Tanh()), "block 1 is place='pre', norm Tanh"),
    (lambda m: setattr(m.blocks[0], "__class__", PostNorm), "block 1 is place='post'"),
    (lambda m: setattr(m.blocks[0], "residual", True), "residual=True, without feed-forward part"),
    (lambda m: setattr(m.blocks[0].gate, "activation", "relu"), "block 1 has the gate 'none' of 'relu'"),
    (lambda m: setattr(m.blocks[0].gate.dropout, "share", 0.5), "dropout 0.5"),
    (lambda m: setattr(m.blocks[0], "ff", torch.nn.Linear(6, 6)), "with feed-forward part"),
    (lambda m: setattr(m, "pool", "mean"), "pool='mean'"),
    (lambda m: setattr(m, "last_outputs", 3), "last_outputs=3"),
    (lambda m: setattr(m, "encoder", torch.nn.Linear(2, 6)), "the encoder Linear"),
    (lambda m: setattr(m, "final_norm", torch.nn.LayerNorm(6, elementwise_affine=False)), "final_norm has no weight"),
    (lambda m: m.final_norm.register_forward_hook(lambda *_: None), "final_norm has its own forward hooks"),
    (lambda m: m.head[0].register_forward_pre_hook(lambda *_: None), "head.0 has its own forward hooks"),
    (lambda m: torch.nn.utils.parametrizations.spectral_norm(m.head[0]), "head.0 is ParametrizedLinear"),
    (lambda m: setattr(m.embedding, "max_norm", 1.0), "rescaled to max_norm=1.0"),
    (lambda m: m.head[0].bias.data[0].fill_(torch.nan), "head.0.bias is not finite"),
    (lambda m: m.head[0].bias.data.fill_(torch.inf), "head.0.bias is not finite"),
    (lambda m: m.layers[0].generator[2].weight.data.fill_(1e308), "a generator overflows torch.float64"),
    (lambda m: setattr(m.final_norm, "normalized_shape", (3,)), "final_norm normalises over (3,), its weight is (6,)"),
    (lambda m: setattr(m.blocks[0].norm, "normalized_shape", (2, 6)), "blocks.0.norm normalises over (2, 6)"),
    (lambda m: setattr(m.head[0], "weight", torch.nn.Parameter(torch.ones(2, 5).double())), "do not fit together"),
    (lambda m: m.layers[0].float(), "torch.float32 on cpu, torch.float64 on cpu"),
    (lambda m: m.half(), "got torch.float16 on cpu"),
    (lambda m: m.to("meta"), "meta device"),
])  # fmt: skip
def test_what_could_change_the_function_is_refused_by_name(change, named):
    model = snapped(2, 2, 0)
    verify(model, ALWAYS_0)
    change(model)
    for read in (lambda: verify(model, ALWAYS_0), lambda: learned_machine(model, ALWAYS_0)):
        with pytest.raises(ValueError, match=re.escape(named)):
            read()


def test_the_limit_gives_no_verdict_rather_than_a_wrong_one():
    model = snapped(2, 2, 0, h=4, b=4, head="mlp")
    verdict = verify(model, stepped(model), limit=3)
    assert not verdict.proved and verdict.counterexample is None and "not decided" in str(verdict)


def test_a_tie_where_nothing_is_asked_is_nobodys_business():
    """One head that goes from its first state to its second and stays there; only then is anything asked."""
    seeds = (snapped(1, 2, seed, h=1, b=2) for seed in range(100))
    model = next(one for one in seeds if head_tables(one).moves.tolist() == [[[1, 1]]])
    with torch.no_grad():
        first = model.final_norm(torch.eye(2, dtype=torch.float64)[:1])[0, 0]
        model.head[0].weight.copy_(torch.tensor([[-1.0, 0.0], [0.0, 0.0]]))
        model.head[0].bias.copy_(torch.stack([first, torch.zeros_like(first)]))
    asks_later = MooreMachine([[1, 1]], [-1, 0], 0, "a")
    assert verify(model, asks_later).proved and learned_machine(model, asks_later) == asks_later
    with pytest.raises(ValueError, match="not decided"):
        learned_machine(model, MooreMachine([[1, 1]], [1, 0], 0, "a"))


# --- several layers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("head", ["mlp", "linear"])
@pytest.mark.parametrize("layers", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_proved_equal_to_itself_and_refuted_when_one_state_answers_otherwise(seed, layers, head):
    model = deep(seed, layers=layers, head=head)
    machine = stepped(model)
    assert verify(model, machine).proved
    outputs = machine.outputs.copy()
    outputs[-1] = 1 - outputs[-1]  # the last state that was found is the farthest from the start
    bent = MooreMachine(machine.transitions, outputs, 0, machine.symbols)
    verdict = verify(model, bent)
    shortest = next(
        word for n in range(1, 30) for word in itertools.product(range(2), repeat=n) if machine.answer(word)[-1] != bent.answer(word)[-1]
    )  # fmt: skip
    assert len(verdict.counterexample) == len(shortest) and not verdict.proved
    word = verdict.counterexample
    assert int(model(torch.tensor([word]))[0, -1].argmax()) != bent.answer(word)[-1]


def test_only_strings_that_are_asked_about_count():
    """A model that is wrong only where nothing is asked is proved; a grammar of alternating letters hides the rest."""
    for seed in range(6):
        model = deep(seed)
        inner = stepped(model)

        def step(state, token, inner=inner):
            if state is None or state[1] == token:
                return None
            return int(inner.transitions[token, state[0]]), token

        spec = MooreMachine.from_rule((0, -1), "ab", step, lambda s, inner=inner: -1 if s is None else int(inner.outputs[s[0]]))
        assert verify(model, spec).proved
        assert learned_machine(model, spec) == minimise(spec)
        assert live_part(spec).num_states == 4  # start, after a, after b, dead


def test_the_learned_machine_is_the_models_own():
    for seed in range(6):
        model = deep(seed, layers=3)
        asked = MooreMachine([[0], [0]], [0], 0, "ab")  # everything is asked about; the answers are not looked at
        assert learned_machine(model, asked) == minimise(stepped(model))
        assert equivalent(learned_machine(model, asked), stepped(model)) is None
    with pytest.raises(ValueError, match="more than 1 states"):
        learned_machine(deep(0, layers=3, b=4), MooreMachine([[0], [0]], [0], 0, "ab"), limit=1)


def test_a_quotient_forgets_nothing_that_the_followed_heads_see():
    model = deep(3, layers=3, h=3, b=3)
    with torch.no_grad():
        below = reach(model, live_part(stepped(model)), 100_000)
    small = quotient(below, np.array([1]))
    assert len(small.follow) <= len(below.follow)
    big = little = 0
    for token in np.random.default_rng(0).integers(0, 2, 500):
        here, there = below.tables[below.kind[big, token], 1], small.tables[small.kind[little, token], 0]
        assert (here == there).all()
        big, little = below.follow[big, token], small.follow[little, token]


def test_many_counterexamples_are_all_wrong_and_come_shortest_first():
    model, wrong = deep(1, layers=2), 0
    machine = stepped(model)
    against = MooreMachine(machine.transitions, 1 - machine.outputs, 0, machine.symbols)
    verdict = verify(model, against, wanted=9)
    assert len(verdict.counterexamples) >= min(9, machine.num_states - 1) > 1
    lengths = [len(word) for word in verdict.counterexamples]
    assert lengths == sorted(lengths) and len(set(verdict.counterexamples)) == len(lengths)
    for word in verdict.counterexamples:
        wrong += int(model(torch.tensor([word]))[0, -1].argmax()) != against.answer(word)[-1]
    assert wrong == len(lengths)


def test_depth_bounds_what_is_claimed():
    model = deep(0, layers=2, h=3, b=3)
    machine = stepped(model)
    outputs = machine.outputs.copy()
    outputs[-1] = 1 - outputs[-1]
    bent = MooreMachine(machine.transitions, outputs, 0, machine.symbols)
    length = len(verify(model, bent).counterexample)
    assert length > 1
    below, at = verify(model, bent, depth=length - 1), verify(model, bent, depth=length)
    assert not below.counterexamples and not below.proved and below.depth == length - 1
    assert f"up to {length - 1} symbols" in str(below)
    assert len(at.counterexample) == length


def test_an_untrained_model_is_refuted_on_modarith_by_a_legal_expression():
    task = ModArith(5)
    options = dict(h=2, b=3, rule="softmax", drive="none", start="first", gain=6.0, layers=3)
    model = snap(build("block_diagonal", vocab_size=8, classes=5, seed=0, **options))
    word = verify(model, task.specification).counterexample
    tokens = task.check_tokens(torch.tensor([word]))
    assert int(model(tokens)[0, -1].argmax()) != task.answer(tokens[0])[-1]


def test_a_tie_in_a_layer_below_the_last_is_not_proved():
    model = deep(0)
    layer = model.layers[0]
    last = layer.generator[-1]
    with torch.no_grad():
        for weight in (last.weight.view(layer.b, layer.h, layer.b, -1), last.bias.view(layer.b, layer.h, layer.b)):
            weight[1] = weight[0]  # both entries of every column are alike
    verdict = verify(model, stepped(model))
    assert verdict.exhausted and not verdict.proved and verdict.column_lead == 0
