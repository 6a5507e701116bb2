"""RegularGPT: Eq. 1 against full matrices, both forms against each other, tables of chunks, faults."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tensors import gap, normal, strings

from lrnnlab.models import equations
from lrnnlab.models.layers import attention
from lrnnlab.models.layers.attention import (
    RegularGPT,
    WindowLayer,
    chunk_attention,
    depth_count,
    dilated_mask,
    kept_positions,
    window_attention,
)

D, H, V, C = 8, 2, 3, 4
FORMS, PADDINGS = ("tree", "masks"), ("learned", "masked")


def make(seed=0, **options):
    """A small model in double precision, with biases and pad vector large enough to matter."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        model = RegularGPT(V, C, width=D, heads=H, **options).double()
        with torch.no_grad():
            for name, weight in model.named_parameters():
                if name.endswith(".r") or name == "pad":
                    weight.normal_()
                elif weight.ndim == 1:  # norms and biases are 1 and 0 at the start
                    weight.add_(0.3 * torch.randn_like(weight))
        return model


def hidden(model, form, tokens):
    model.form = form
    return model.hidden(tokens)


def band(r, present):
    """(h,S,S): r_j at (m, m-j), written out; a row sees itself and what is present."""
    S = len(present)
    mask, at = torch.full((len(r), S, S), -math.inf, dtype=torch.float64), torch.arange(S)
    for j in range(min(r.shape[1], S)):
        seen = present[: S - j] | (j == 0)
        mask[:, at[j:], at[: S - j]] = torch.where(seen, r[:, j : j + 1], -math.inf)
    return mask


# --- both forms -----------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(
    T=st.integers(1, 130), chunk=st.integers(2, 140), thickness=st.integers(1, 3), padding=st.sampled_from(PADDINGS),
    block=st.sampled_from(["post_norm", "gpt2"]), seed=st.integers(0, 10**6),
)  # fmt: skip
def test_the_forms_agree_wherever_the_tree_has_a_position(T, chunk, thickness, padding, block, seed):
    chunk = min(chunk, 12) if padding == "learned" else chunk  # c^2 positions otherwise
    model = make(seed % 7, chunk=chunk, thickness=thickness, padding=padding, block=block)
    with torch.no_grad():
        few, all_ = (hidden(model, form, strings(V, 1, T, seed)) for form in FORMS)
    assert len(few) == len(all_) == depth_count(T, chunk)
    for depth, (p, q) in enumerate(zip(few, all_)):
        assert gap(p, q[:, kept_positions(T, chunk, depth)]) < 1e-9


def test_the_answer_at_a_prefix_depends_on_the_length_of_the_whole():
    """More depths than the prefix needs: the answers of the masks are not those of the prefixes alone."""
    model, tokens = make(form="masks"), strings(V, 1, 9)
    assert gap(model(tokens)[:, 4], model(tokens[:, :5])[:, -1]) > 1e-3
    assert gap(model(tokens[:, :8])[:, 4], model(tokens[:, :5])[:, -1]) < 1e-9  # 3 depths both


@pytest.mark.parametrize("thickness", [1, 2])
def test_a_depth_sees_the_window_that_it_should(thickness):
    """K = 1: o_m^(l) sees m - c^(l+1) + 1 .. m (Sec. 7.2); K layers reach K (c - 1) c^l further back."""
    model, T, c = make(form="masks", chunk=3, thickness=thickness), 30, 3
    e = model.embedding(strings(V, 1, T)).detach().requires_grad_()
    model.embedding.forward = lambda tokens: e
    reach = 0
    for depth, h in enumerate(model.hidden(strings(V, 1, T))):
        reach += thickness * (c - 1) * c**depth
        for m in (0, 7, 29):
            (seen,) = torch.autograd.grad(h[0, m].square().sum() + h[0, m, 0], e, retain_graph=True)
            assert (seen[0].abs().sum(-1) > 0).tolist() == [m - reach <= n <= m for n in range(T)]


# --- tables of chunks -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("B, T, fewer", [(1, 3, False), (300, 11, True), (64, 13, True), (70, 1, True)])
@pytest.mark.parametrize("form, padding", [("tree", "learned"), ("tree", "masked"), ("masks", "masked"), ("masks", "learned")])
@pytest.mark.parametrize("options", [{}, {"block": "gpt2"}, {"chunk": 3}, {"thickness": 2}], ids=str)
def test_the_tables_of_training_have_the_logits_and_gradients_of_every_depth(B, T, fewer, form, padding, options):
    model, tokens, found, places = make(form=form, padding=padding, **options), strings(V, B, T), [], []
    for layer in model.modules():
        if isinstance(layer, WindowLayer):
            layer.block.ff.register_forward_hook(lambda _, given, __: places[-1].append(given[0][..., 0].numel()))
    for training in (True, False):
        places.append([])
        logits = model.train(training)(tokens)
        found.append([logits, *torch.autograd.grad(logits.sin().sum(), list(model.parameters()), allow_unused=True)])
    looked_up, all_of_them = map(sum, places)
    by_table = fewer and "thickness" not in options and padding == attention.PADDING[form]
    assert looked_up < all_of_them if by_table else looked_up == all_of_them
    for one, other in zip(*found):
        assert (one is None) == (other is None) and (one is None or gap(one, other) < 1e-10)


@pytest.mark.parametrize("chunk", [31, 32, 41])
def test_a_chunk_too_long_for_a_number_is_not_looked_up(chunk):
    """Base 4, so 4^31 is the last that 64 bits hold: beyond, two chunks would have one number, or none."""
    model, tokens = make(chunk=chunk), strings(V, 2, chunk).repeat(4, 1)
    assert gap(model.train()(tokens), model.eval()(tokens)) < 1e-10


# --- gradients ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_single_precision_gradients_against_double(form):
    model, tokens = make(form=form), strings(V, 4, 45)
    double = torch.autograd.grad(model(tokens).square().mean(), list(model.parameters()))
    model.float()
    for p, q in zip(torch.autograd.grad(model(tokens).square().mean(), list(model.parameters())), double):
        assert p.dtype == torch.float32 and gap(p.double(), q) < 1e-4 * (1 + float(q.abs().max()))


# --- attention, masks, depths ---------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 90), st.integers(2, 60), st.integers(1, 3), st.integers(0, 10**6), st.integers(0, 5))
def test_window_attention_is_a_full_matrix(S, c, s, seed, absent):
    q, k, v = (normal(2, s, H, S, 3, seed=seed + i) for i in range(3))
    r, present = normal(H, c, seed=seed), torch.arange(S).expand(s, S) >= min(absent, S - 1)
    scores = q @ k.mT / math.sqrt(3) + torch.stack([band(r, row) for row in present])
    assert gap(window_attention(q, k, v, r, present), scores.softmax(-1) @ v) < 1e-10


def test_dilated_mask_is_eq_1():
    r = normal(2, 3)
    for T, l in ((1, 0), (7, 0), (10, 1), (30, 2), (5, 4), (5, 39), (5, 99)):
        mask = dilated_mask(T, 3, l, r)
        for m in range(T):
            for n in range(T):
                j = (m - n) / 3**l
                wanted = r[:, int(j)] if j in (0, 1, 2) else torch.full((2,), -math.inf, dtype=torch.float64)
                assert torch.equal(mask[:, m, n], wanted)


def test_depths_in_whole_numbers():
    for c in range(2, 12):
        for T in range(1, 700):
            n = depth_count(T, c)
            assert c**n >= T and (n == 1 or c ** (n - 1) < T)
    assert depth_count(125, 5) == 3 and math.ceil(math.log(125, 5)) == 4  # what the released formula gives
    assert all(depth_count(T, c) == max(1, math.ceil(math.log(T, c))) for c in (2, 3) for T in range(1, 501))
    assert [depth_count(512, c) for c in (32, 64, 128, 256)] == [2, 2, 2, 2]  # Table 3


# --- sizes, sharing, what is refused --------------------------------------------------------------------------------


def count(*sizes, **options):
    return sum(p.numel() for p in RegularGPT(*sizes, **options).parameters())


def test_parameter_counts_of_the_released_code():
    assert count(2, 2, width=256) == 790_290
    assert count(2, 2, width=64) == 50_130
    assert count(2, 2, width=256, chunk=3) == 790_290 + 8


def test_parameter_counts_of_table_5():
    """81M and 123M (cut, not rounded): GPT-2 blocks, and an embedding of 50,257 symbols that is also the readout."""
    model = RegularGPT(1, 1, width=768, heads=12, chunk=128, block="gpt2")
    layer = sum(p.numel() for p in model.layers.parameters())
    rest = sum(p.numel() for p in model.parameters()) - layer
    assert [(rest + 50_256 * 768 + K * layer) // 10**6 for K in (6, 12)] == [81, 123]


# --- faults that must show ------------------------------------------------------------------------------


def attention_of(change):
    """Chunks attended to with one argument changed."""
    def fault(q, k, v, r, present):
        return chunk_attention(*change(q, k, v, r, present))

    return attention, "chunk_attention", fault


def filled_from_the_right(model, h, multiple, right=RegularGPT._fill):
    filled, present = right(model, h.flip(1), multiple)
    return filled.flip(1), present.flip(0)


FAULTS = {
    "biases turned round": attention_of(lambda q, k, v, r, present: (q, k, v, r.flip(1), present)),  # Sec. 7.2 reversed
    "scores not scaled": attention_of(lambda q, k, v, r, present: (q * 2, k, v, r, present)),
    "padding is always seen": attention_of(lambda q, k, v, r, present: (q, k, v, r, torch.ones_like(present))),
    "one depth too many": (attention, "depth_count", lambda T, c: depth_count(T, c) + 1),
    "filled from the right": (RegularGPT, "_fill", filled_from_the_right),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_tree_is_noticed(fault, monkeypatch):
    model, tokens = make(padding="masked"), strings(V, 2, 11)
    right = equations.outputs_of(model, tokens)
    monkeypatch.setattr(*FAULTS[fault])
    assert gap(model(tokens), right) > 1e-3


@settings(max_examples=20, deadline=None)
@given(T=st.integers(1, 100), chunk=st.integers(2, 9), thickness=st.integers(1, 2), seed=st.integers(0, 10**6))
def test_masks_hold_the_trees_of_all_prefixes(T, chunk, thickness, seed):
    """At the depth where the prefix would be done: for masked padding."""
    model, tokens = make(seed % 7, chunk=chunk, thickness=thickness, padding="masked"), strings(V, 1, T, seed)
    m = seed % T
    with torch.no_grad():
        inside = hidden(model, "masks", tokens)[depth_count(m + 1, chunk) - 1][:, m]
        assert gap(inside, hidden(model, "tree", tokens[:, : m + 1])[-1][:, 0]) < 1e-9


def test_paddings_differ_only_where_a_chunk_is_not_full():
    learned, masked = make(padding="learned"), make(padding="masked")
    for T in range(1, 20):
        same = T in (2, 4, 8, 16)
        assert (gap(learned(strings(V, 1, T)), masked(strings(V, 1, T))) < 1e-12) == same
