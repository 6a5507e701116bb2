"""Models: forward is stepping, causal, at any length; column rules keep their laws; the released architecture."""

import math

import numpy as np
import pytest
import torch
from tensors import same, stepped, strings
from torch.nn import functional as F

from lrnnlab import models
from lrnnlab.automata import MooreMachine
from lrnnlab.models import equations
from lrnnlab.tasks import EvenPair, ModArith, Sum

V, C = 5, 3
SMALL = {"vocab_size": V, "classes": C}
BLOCKS = {"h": 2, "b": 3, "hidden": 16}
AUTOMATON = {"rule": "softmax", "drive": "none", "start": "first"}
# What reaches beyond the defaults of the registry: how to build it
OTHERS = {
    **{f"rule {rule}": ("block_diagonal", {**BLOCKS, "rule": rule}) for rule in models.layers.transitions.COLUMN_RULES},
    "linear drive": ("block_diagonal", {**BLOCKS, "drive": "linear", "head": "linear"}),
    "no drive": ("block_diagonal", {**BLOCKS, **AUTOMATON, "stay": 2.0}),
    "p = inf": ("block_diagonal", {**BLOCKS, "p": math.inf}),
    "dictionary": ("dictionary", {"width": 6, "matrices": 3, "state": 4}),
    "deltaproduct": ("deltanet", {"allow_negative_eigenvalues": True, "feature_map": "unit", "householders": 3}),
    "deltanet, post": ("deltanet", {"backend": "reference", "place": "post", "residual": False, "chunk": 5}),
    "recurrent_delta, full": ("recurrent_delta", {"recurrence": "full", "feature_map": "elu_sum"}),
    "srwm, one rate": ("srwm", {"rates": 1, "backend": "reference", "place": "pre"}),
    "nlt, softmax": ("nlt", {"feature_map": "softmax", "heads": 4}),
}  # fmt: skip
EXACT = {"exact Sum": Sum(5), "exact EvenPair": EvenPair(5)}


def make(name, seed=0):
    """A small model of two layers in double precision, so that equal means equal to ten digits."""
    if name in EXACT:
        return models.exact_model(EXACT[name].machine).double()
    registered, options = OTHERS.get(name, (name, {}))
    width = {} if registered == "block_diagonal" else {"width": 8}
    return models.build(registered, **SMALL, seed=seed, **{**width, "layers": 2, **options}).double()


STEPPING = [name for name in models.MODELS if models.reads_numbers(name)]  # those that are a net of a mixer
KINDS = (*STEPPING, *OTHERS)


@pytest.mark.parametrize("name", models.MODELS)
def test_every_model_trains_under_autocast(name):
    """Linear maps are taken in bfloat16, scans in single precision; the answers are those of single precision, nearly."""
    model, tokens = models.build(name, **SMALL), strings(V, 2, 70)  # past 64 a convolution goes by FFT
    with torch.autocast("cpu", dtype=torch.bfloat16):
        short = model(tokens)
        short.float().square().mean().backward()
    single = model(tokens)
    assert (short.float() - single).abs().max() < 0.05 * (1 + single.abs().max())
    assert all(weight.grad.isfinite().all() for weight in model.parameters() if weight.grad is not None)


@pytest.mark.parametrize("name", models.MODELS)
def test_the_seed_alone_decides_the_weights_and_they_can_be_kept(name):
    torch.manual_seed(123)
    before = torch.get_rng_state()
    first, tokens = models.build(name, **SMALL, seed=7).eval(), strings(V, 2, 11)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(456)
    again, other = (models.build(name, **SMALL, seed=seed).eval() for seed in (7, 8))
    assert all(map(torch.equal, first.state_dict().values(), again.state_dict().values()))
    assert not all(map(torch.equal, first.state_dict().values(), other.state_dict().values()))
    other.load_state_dict(first.state_dict())
    assert torch.equal(first(tokens), other(tokens))


@pytest.mark.parametrize("name", models.MODELS)
def test_every_model_is_made_where_torch_makes_its_tensors(name):
    with torch.device("meta"):
        model = models.build(name, **SMALL)
    assert {weights.device.type for weights in (*model.parameters(), *model.buffers())} == {"meta"}


@pytest.mark.parametrize("made, says, change", [
    (models.layers.RWKV, "with backend='reference'", ("backend", "reference")),
    (models.layers.Diagonal, "with backend='reference'", ("backend", "reference")),
    (models.layers.FastWeights, "of FastWeights with backend='reference' or 'chunkwise'", ("backend", "reference")),
    (models.layers.FastWeights, "of FastWeights with backend='reference' or 'chunkwise'", ("backend", "chunkwise")),
    (models.layers.RecurrentDelta, "of RecurrentDelta with backend='reference'", ("backend", "reference")),
    (models.layers.SelfReferential, "with backend='reference'", ("backend", "reference")), (models.layers.ElementWiseLSTM, "with backend='reference'", ("backend", "reference")),
])  # fmt: skip
def test_what_has_no_second_derivatives_says_what_has(made, says, change):
    layer, z = made(6), torch.randn(2, 9, 6, generator=torch.Generator().manual_seed(0)).requires_grad_()

    def first():
        return torch.autograd.grad(layer(z).square().sum(), z, create_graph=True)[0]

    with pytest.raises(RuntimeError, match=f"first derivatives only; there are second ones .*{says}"):
        first()
    setattr(layer, *change)
    assert torch.autograd.grad(first().square().sum(), z)[0].any()


# --- the contract of every model ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", (*KINDS, *EXACT))
def test_forward_is_stepping_from_anywhere_and_at_any_length(name):
    """A kept state can be taken up again, also after another branch was followed from it; no answer depends on a later token."""
    model, tokens = make(name), strings(V, 3, 37)
    with torch.no_grad():
        logits = model(tokens)
        assert logits.shape == (3, 37, model.classes) and logits.isfinite().all()
        same(model.readout(model.states(tokens)), logits)
        kept, first = stepped(model, tokens[:, :8])
        same(first, logits[:, :8])
        stepped(model, (tokens[:, 8:] + 1) % V, kept)
        same(stepped(model, tokens[:, 8:], kept)[1], logits[:, 8:])
        for T in (0, 1, 2, 31):
            same(model(tokens[:, :T]), logits[:, :T])
        same(model(tokens[1:2]), logits[1:2])
        assert model(tokens[:0]).shape == (0, 37, model.classes)


@pytest.mark.parametrize("name", [name for name in KINDS if name not in ("rule hard", "sgconv")])  # one piece of a kernel has no decay
def test_no_parameter_is_dead(name):
    model = make(name)
    loss = F.cross_entropy(model(strings(V, 8, 12)).flatten(0, 1), torch.arange(96) % C)
    loss.backward()
    dead = [key for key, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    assert not dead
    assert all(p.grad.isfinite().all() for p in model.parameters())


@pytest.mark.parametrize("layers", [1, 3])
def test_trace(layers):
    model = models.build("block_diagonal", **SMALL, **BLOCKS, layers=layers)
    trace = model.trace(strings(V, 4, 7))
    assert [tuple(x.shape) for x in trace.mixed] == [(4, 7, 6)] * layers
    assert [tuple(A.shape) for A in trace.transitions] == [(V, 2, 3, 3), *[(4, 7, 2, 3, 3)] * (layers - 1)]
    assert torch.equal(trace.mixed[-1], model.states(strings(V, 4, 7)))
    trace = models.build("lstm", **SMALL, width=6, layers=2).trace(strings(V, 4, 7))
    assert trace.transitions == [None, None] and trace.mixed[1].shape == (4, 7, 6)


@pytest.mark.parametrize("name, options, message", [
    ("perceptron", {}, "no model 'perceptron'; there are block_diagonal, lstm, elman"),
    ("block_diagonal", {"rule": "cilp"}, "no column rule 'cilp'; there are clip, release"),
    ("block_diagonal", {"p": 0.5}, "p >= 1, got p=0.5"), ("block_diagonal", {"layers": 0}, "layers must be .* got 0"),
    ("lstm", {"width": 2**31}, "no lstm can be made with .*'width': 2147483648"), ("lstm", {"dropout": 1.0}, "0 <= dropout < 1, got 1.0"),
    ("lstm", {"place": "mid"}, "place is one of pre, post, skip, got 'mid'"), ("s4", {"state": 7}, "even and at least 2 .*, got 7"),
    ("rotrnn", {"state": 6, "heads": 2}, "multiple of 2 heads .*, got state 6, heads 2"), ("ult", {"heads": 4, "width": 6}, "got heads=4 and width=6"),
    ("deltanet", {"no_such_option": 3}, "no_such_option"), ("regulargpt", {"chunk": 1}, "chunk must be a whole number, at least 2, got 1"),
])
def test_what_cannot_be_built(name, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        models.build(name, **SMALL, **options)


# --- column rules -----------------------------------------------------------------------------------------------------

PS = (1, 1.2, 2, 3.5, math.inf)


def blocks(n=5, seed=0):
    """Random blocks (60, n, n), from tiny to large, some columns long and some short."""
    generator = torch.Generator().manual_seed(seed)
    scale = torch.logspace(-2, 2, 60, dtype=torch.float64).view(60, 1, 1)
    columns = torch.logspace(-1, 1, n, dtype=torch.float64)
    return torch.randn(60, n, n, dtype=torch.float64, generator=generator) * scale * columns


def norms(A, p):
    """p-norms of columns, from the definition."""
    A = np.abs(A.numpy())
    return torch.from_numpy(A.max(-2) if p == math.inf else (A**p).sum(-2) ** (1 / p))


@pytest.mark.parametrize("p", PS)
@pytest.mark.parametrize("rule", models.layers.transitions.COLUMN_RULES)
def test_rules_are_their_formulas(rule, p):
    """Of columns long and short, and of those that a rule leaves as they are."""
    raw, apply = blocks(), models.layers.transitions.COLUMN_RULES[rule]
    size = norms(raw, p)
    assert (size > 1).any() and (size < 1).any()
    A = apply(raw, p)
    same(A, equations.COLUMNS[rule](raw, p))
    assert A.dtype == raw.dtype and (rule != "hard" or torch.equal(A.argmax(-2), raw.argmax(-2)))
    assert rule not in ("clip", "hard", "free") or torch.equal(apply(torch.eye(5), p), torch.eye(5))
    assert rule in ("softmax", "hard") or not apply(torch.zeros(2, 3, 3), p).any()


@pytest.mark.parametrize("rule", models.layers.transitions.COLUMN_RULES)
@pytest.mark.parametrize("p", PS)
def test_rules_work_along_another_axis(rule, p):
    """(h, n, n) with columns along -2, against (n, h, n) with columns along -3."""
    A = models.layers.transitions.COLUMN_RULES[rule](blocks(), p)
    same(models.layers.transitions.COLUMN_RULES[rule](blocks().transpose(0, 1).contiguous(), p, -3).transpose(0, 1), A)


@pytest.mark.parametrize("rule", ["clip", "release", "centred", "block", "softmax", "free"])
@pytest.mark.parametrize("p", PS)
def test_a_column_of_zeros_does_no_harm(rule, p):
    raw = blocks()[20].clone()
    raw[:, 2] = 0
    raw.requires_grad_()
    A = models.layers.transitions.COLUMN_RULES[rule](raw, p)
    (A * torch.arange(25.0).view(5, 5)).sum().backward()
    assert A.isfinite().all() and raw.grad.isfinite().all()


@pytest.mark.parametrize("rule", ["clip", "unit"])
@pytest.mark.parametrize("p", [1.0, 1.2, 1.7, 2.0, 3.0])
def test_derivatives_of_a_norm_are_those_of_torch(rule, p):
    """First and second ones, against autograd through ``vector_norm``, which the rules do not use."""
    raw = blocks()[:6].requires_grad_()
    weight = torch.randn(raw.shape, dtype=raw.dtype, generator=torch.Generator().manual_seed(3))

    def derivatives(A):
        (first,) = torch.autograd.grad((A * weight).sum(), raw, create_graph=True)
        return first, torch.autograd.grad((first * weight.flip(0)).sum(), raw)[0]

    size = torch.linalg.vector_norm(raw, p, -2, keepdim=True)
    by_torch = raw / (size.clamp(min=1) if rule == "clip" else size)
    for found, wanted in zip(derivatives(models.layers.transitions.COLUMN_RULES[rule](raw, p)), derivatives(by_torch)):
        torch.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-10)


def test_equation_7_holds_for_p_1_and_not_for_the_papers_p():
    """Products of clipped matrices stay within 1 in the 1-norm for p = 1; for p = 1.2 one step can gain 8^(1/6)."""
    raw = 3 * torch.randn(50, 8, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    product = torch.eye(8, dtype=torch.float64)
    for A in models.layers.transitions.COLUMN_RULES["clip"](raw, 1):
        product = A @ product
        assert (norms(product, 1) <= 1 + 1e-12).all()
    flat = models.layers.transitions.COLUMN_RULES["clip"](torch.ones(8, 8, dtype=torch.float64), 1.2)
    same(norms(flat, 1), torch.full((8,), 8 ** (1 / 6), dtype=torch.float64))
    same(norms(torch.linalg.matrix_power(flat, 100), 1), torch.full((8,), 8 ** (100 / 6), dtype=torch.float64))


# --- the block-diagonal model -----------------------------------------------------------------------------------------


def test_released_architecture():
    """Paper 000's released model at its own size: width 64, a hidden layer of 512 in front of 8 blocks of 8 x 8."""
    model = models.build("block_diagonal", vocab_size=5, classes=5, rule="release")
    shapes = {key: tuple(p.shape) for key, p in model.named_parameters()}
    assert shapes == {
        "encoder.weight": (5, 64),
        "blocks.0.norm.weight": (64,), "blocks.0.norm.bias": (64,),
        "blocks.0.mixer.generator.0.weight": (512, 64), "blocks.0.mixer.generator.0.bias": (512,),
        "blocks.0.mixer.generator.2.weight": (512, 512), "blocks.0.mixer.generator.2.bias": (512,),
        "blocks.0.mixer.value.0.weight": (64, 64), "blocks.0.mixer.value.0.bias": (64,),
        "blocks.0.mixer.value.2.weight": (64, 64), "blocks.0.mixer.value.2.bias": (64,),
        "blocks.0.mixer.x0": (8, 8),
        "final_norm.weight": (64,), "final_norm.bias": (64,),
        "head.0.weight": (64, 64), "head.0.bias": (64,), "head.2.weight": (5, 64), "head.2.bias": (5,),
    }  # fmt: skip
    assert [(key, b.any().item()) for key, b in model.named_buffers()] == [("blocks.0.mixer.frozen", False)]
    assert sum(p.numel() for p in model.parameters()) == 309_381
    A, b = models.exact.symbol_transitions(model)
    assert A.shape == (5, 8, 8, 8) and b.shape == (5, 8, 8)
    same(A.sum(-2), torch.zeros(5, 8, 8), 1e-6)
    same(norms(A, 1.2).amax(-1), torch.ones(5, 8), 1e-6)


def layer_norm(x, weights, prefix):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * weights[prefix + ".weight"] + weights[prefix + ".bias"]


def linear(x, weights, prefix):
    return x @ weights[prefix + ".weight"].T + weights[prefix + ".bias"]


def mlp(x, weights, prefix):
    return linear(np.maximum(linear(x, weights, prefix + ".0"), 0), weights, prefix + ".2")


def places_of_blocks(h, n):
    """(h, n, n): which output of g becomes which entry of which block; any order will do."""
    layer = models.layers.BlockDiagonal(h, n, hidden=2, rule="free").double()
    with torch.no_grad():
        layer.generator[2].weight.zero_()
        layer.generator[2].bias.copy_(torch.arange(h * n * n))
        places = layer.transition(torch.zeros(h * n, dtype=torch.float64))[0].long()
    assert sorted(places.flatten().tolist()) == list(range(h * n * n))
    return places.numpy()


def released(weights, tokens, places, layers, rule):
    """The forward pass of the released code, written from its description; weights by name, tokens (B, T)."""
    h, n, _ = places.shape
    a = weights["encoder.weight"][tokens]  # (B, T, D)
    for i in range(layers):
        z, own = layer_norm(a, weights, f"blocks.{i}.norm"), f"blocks.{i}.mixer"
        raw = mlp(z, weights, own + ".generator")[..., places]  # (B, T, h, n, n)
        if rule == "release":
            raw = raw - raw.mean(-2, keepdims=True)
            A = raw / (np.abs(raw) ** 1.2).sum(-2, keepdims=True).max(-1, keepdims=True) ** (1 / 1.2)
        else:
            A = raw / np.maximum(1, (np.abs(raw) ** 1.2).sum(-2, keepdims=True) ** (1 / 1.2))
        v = mlp(z, weights, own + ".value").reshape(*tokens.shape, h, n)
        x, out = np.broadcast_to(weights[own + ".x0"], (len(tokens), h, n)), []
        for t in range(tokens.shape[1]):
            x = np.einsum("bhij,bhj->bhi", A[:, t], x) + v[:, t]
            out.append(x.reshape(len(tokens), h * n))
        o = np.stack(out, 1)
        a = o if i == layers - 1 else o + a  # no residual around the last layer
    return mlp(layer_norm(a, weights, "final_norm"), weights, "head")


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("rule", ["release", "clip"])
def test_the_model_is_its_description(layers, rule):
    model = models.build("block_diagonal", **SMALL, seed=3, h=4, b=3, hidden=20, layers=layers, rule=rule, gain=3.0).double()
    tokens = strings(V, 2, 17)
    weights = {key: p.detach().numpy() for key, p in model.named_parameters()}
    wanted = released(weights, tokens.numpy(), places_of_blocks(4, 3), layers, rule)
    same(model(tokens).detach(), torch.from_numpy(wanted))


@pytest.mark.parametrize("cell", ["elman", "lstm"])
def test_the_orthogonal_start(cell):
    own = dict(models.layers.Nonlinear(6, cell, start="orthogonal").network.named_parameters())
    W = own["weight_hh_l0"]
    assert torch.allclose(W.mT @ W, torch.eye(6), atol=1e-5)
    assert not own["bias_ih_l0"].any() and not own["bias_hh_l0"].any()


# --- snapping ---------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("layers", [1, 2])
def test_a_snapped_model_is_an_automaton(layers):
    """Every state is exactly one-hot in every block, for thousands of steps."""
    model = models.build("block_diagonal", **SMALL, h=3, b=4, hidden=16, layers=layers, gain=4.0, **AUTOMATON)
    with torch.no_grad():
        for states in models.snap(model).trace(strings(V, 4, 3000)).mixed:
            states = states.view(4, 3000, 3, 4)
            assert ((states == 0) | (states == 1)).all() and (states.sum(-1) == 1).all()
            assert len(states[:, :, 0].argmax(-1).unique()) > 1, "a block that never moves tests nothing"


def test_snapping_takes_the_largest_entries_and_leaves_the_model_alone():
    model, tokens = models.build("block_diagonal", **SMALL, **BLOCKS, **AUTOMATON), strings(V, 3, 20)
    with torch.no_grad():
        before = model(tokens)
        snapped = models.snap(model)
        soft, hard = models.exact.symbol_transitions(model)[0], models.exact.symbol_transitions(snapped)[0]
        assert model.layers[0].rule == "softmax" and snapped.layers[0].rule == "hard"
        assert torch.equal(hard.argmax(-2), soft.argmax(-2)) and hard.amax(-2).eq(1).all()
        assert torch.equal(models.snap(snapped)(tokens), snapped(tokens))
        for p in snapped.parameters():
            p.zero_()
        assert torch.equal(model(tokens), before)


def test_other_models_cannot_be_snapped():
    for options, says in (({"drive": "mlp"}, "drive='mlp'"), ({"rule": "clip"}, "rule='clip'"), ({"start": "learned"}, "learned x_0")):
        with pytest.raises(ValueError, match=says):
            models.snap(models.build("block_diagonal", **SMALL, **BLOCKS, **{**AUTOMATON, **options}))


# --- weights made by hand -----------------------------------------------------------------------------------------


def answers(task, tokens):
    """Labels (B, T) by a route of their own, -1 where none is due; tokens is a NumPy array."""
    M = task.modulus
    if isinstance(task, Sum):
        return np.cumsum(tokens, 1) % M
    if isinstance(task, EvenPair):
        return (tokens == tokens[:, :1]).astype(int)
    out = np.full(tokens.shape, -1)
    closed, product, sign = np.zeros(len(tokens), int), np.ones(len(tokens), int), np.ones(len(tokens), int)
    for t in range(tokens.shape[1]):
        token = tokens[:, t]
        if t % 2 == 0:
            product = product * token % M
            out[:, t] = (closed + sign * product) % M
        else:
            ends = token != M + 2
            closed = np.where(ends, (closed + sign * product) % M, closed)
            sign = np.where(ends, np.where(token == M, 1, -1), sign)
            product = np.where(ends, 1, product)
    return out


@pytest.mark.parametrize("task", [kind(M) for kind in (Sum, EvenPair, ModArith) for M in (2, 3, 5, 7)], ids=str)
def test_exact_models_are_right_on_every_prefix(task):
    tokens = task.sample(2, 9_999, torch.Generator().manual_seed(1)).tokens
    model, wanted = models.exact_model(task.machine), torch.from_numpy(answers(task, tokens.numpy()))
    states = model.states(tokens)
    assert ((states == 0) | (states == 1)).all() and (states.sum(-1) == 1).all()
    assert torch.equal(model(tokens).argmax(-1)[wanted >= 0], wanted[wanted >= 0])
    assert (wanted >= 0).sum() >= 9_999


def test_an_exact_model_has_a_class_for_each_answer():
    assert [models.exact_model(MooreMachine([[1, 0]], [first, 1], 0, "a")).classes for first in (-1, 0, 4)] == [2, 2, 5]
    assert models.exact_model(MooreMachine([[0]], [-1], 0, "a")).classes == 1  # it asks for nothing


def test_exact_models_start_where_the_machine_starts():
    machine = MooreMachine([[1, 2, 0], [0, 0, 2]], [0, 1, 1], initial=2, symbols="ab")
    tokens = torch.randint(2, (5, 30), generator=torch.Generator().manual_seed(0))
    assert torch.equal(models.exact_model(machine)(tokens).argmax(-1), torch.from_numpy(machine.answer(tokens.numpy())))


def test_hard_columns_pass_no_gradient():
    """Why ``hard`` is a rule to snap to, not to train with."""
    model = make("rule hard")
    model(strings(V, 8, 12)).sum().backward()
    assert all(p.grad is None for p in model.layers[0].generator.parameters())
