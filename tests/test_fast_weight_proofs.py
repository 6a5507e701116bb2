"""Paper 003's propositions and constructions.  Each holds, each planted fault fails where it should; real models agree."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from proving import two_tests

from lrnnlab import models
from lrnnlab.models import ElementWiseLSTM, FastWeights, RecurrentDelta, SelfReferential
from lrnnlab.models.feature_maps import FEATURE_MAPS as MODEL_MAPS
from lrnnlab.algebra import (
    counting_bits,
    delta_counters,
    delta_spectrum,
    fast_weights,
    layer_norm_remark,
    parity_by_reflection,
    printed_examples,
    rational_recurrence,
    recurrent_parity,
    token_counts,
)
from lrnnlab.algebra.fast_weights import outputs, random_layer, states
from lrnnlab.scans.delta import delta_rule
from lrnnlab.tasks import COUNTER_TASKS, whole_string_accuracy

PROOFS = {
    "proposition_3_1": rational_recurrence.proposition_3_1,
    "rational_parts": rational_recurrence.rational_parts,
    "bits_needed": counting_bits.bits_needed,
    "proposition_3_2": counting_bits.proposition_3_2,
    "proposition_3_3": layer_norm_remark.proposition_3_3,
    "constant": layer_norm_remark.constant,
    "repair": layer_norm_remark.repair,
    "proposition_3_4": token_counts.proposition_3_4,
    "reset_dyck_1": token_counts.reset_dyck_1,
    "spectrum": delta_spectrum.spectrum,
    "stability": delta_spectrum.stability,
    "repeated_token": delta_spectrum.repeated_token,
    "parity": parity_by_reflection.parity,
    "below_two": parity_by_reflection.below_two,
    "leak": delta_counters.leak,
    "nothing_adds": delta_counters.nothing_adds,
    "reset_is_solved": delta_counters.reset_is_solved,
    "recurrent_parity": recurrent_parity.recurrent_parity,
    "srwm_parity": recurrent_parity.srwm_parity,
    "e_lstm_parity": recurrent_parity.e_lstm_parity,
    "printed": printed_examples.printed,
}


def balance(word):
    return outputs(rational_recurrence.BALANCE, word)[-1, 0]


def swapped_columns():
    """SRWM weights whose columns 2 and 3 stand in each other's place."""
    return recurrent_parity.srwm_weights()[:, [0, 2, 1, 3]]


# A fault: the proof, arguments that break one hypothesis or claim, and the steps (from 1) that must fail.
FAULTS = [
    ("proposition_3_1", {"f": balance}, {1, 2, 3}),
    ("proposition_3_1", {"f": lambda word: Fraction(word.count(0) + 1, len(word) + 1)}, {1, 3}),
    ("rational_parts", {"indicator": lambda balance: balance}, {5}),
    ("rational_parts", {"indicator": lambda balance: balance >= 0}, {5}),
    ("bits_needed", {"rule": "sum"}, {1}),
    ("bits_needed", {"stuck": 23}, {6}),
    ("proposition_3_2", {"recognise": counting_bits.one_layer}, {2}),
    ("proposition_3_3", {"bos": True}, {1}),
    ("constant", {"epsilon": 1e-5}, {2}),
    ("constant", {"placement": "post"}, {2}),
    ("constant", {"placement": "none"}, {2}),
    ("repair", {"networks": 1, "block": lambda *given: lambda t: np.cos(np.pi * t)}, {3}),
    ("proposition_3_4", {"rule": "delta"}, {1, 3}),
    ("reset_dyck_1", {"rule": "delta"}, {3}),
    ("reset_dyck_1", {"pair": ("((1()", "1(()(")}, {1, 3}),
    ("reset_dyck_1", {"pair": ("((1()",) * 2}, {2, 4}),
    ("spectrum", {"feature_map": "elu"}, {3, 4, 5}),
    ("spectrum", {"beta": 1.5}, {5}),
    ("repeated_token", {"beta": Fraction(4)}, {2, 3}),
    ("parity", {"beta": Fraction(19, 10), "T": 2000}, {1, 2, 3, 4}),
    ("parity", {"v": Fraction(0), "T": 2000}, {1, 2, 3, 4}),
    ("parity", {"v": Fraction(1, 3), "T": 2000}, {1, 2, 3, 4}),
    ("below_two", {"noise": 0.0}, {2}),
    ("leak", {"formula": lambda e, m: -m * m * e}, {1}),
    ("leak", {"formula": lambda e, m: Fraction(0)}, {1}),
    ("nothing_adds", {"rule": "sum"}, {1, 2, 3}),
    ("reset_is_solved", {"e": Fraction(1, 10)}, {2, 3}),
    ("reset_is_solved", {"e": Fraction(1, 1000)}, {3}),
    ("recurrent_parity", {"gate": 3.0, "T": 2000}, {2, 3}),
    ("recurrent_parity", {"feedback": 0.0, "T": 2000}, {1, 2}),
    ("recurrent_parity", {"feedback": -1.0, "T": 2000}, {1, 2}),
    ("srwm_parity", {"b": 2.0, "T": 500}, {1, 2, 3}),
    ("srwm_parity", {"W": swapped_columns(), "T": 500}, {2, 3}),
    ("e_lstm_parity", {"weight": 0.0, "T": 1000}, {1, 2}),
    ("printed", {"shuffle_2": "2320"}, {1}),
    ("printed", {"parity": "0010"}, {3}),
]


test_the_proof_holds, test_a_broken_hypothesis_fails_where_it_should = two_tests(PROOFS, FAULTS)


@pytest.mark.parametrize("name, arguments", [
    ("proposition_3_1", {"sizes": (3, 14)}),
    ("rational_parts", {"n": 1, "longest": 3}),
    ("rational_parts", {"n": 3, "seed": 1}),
    ("proposition_3_2", {"k": 1, "longest": 10}),
    ("proposition_3_2", {"k": 3, "longest": 4}),
    ("proposition_3_3", {"depth": 1, "seed": 2}),
    ("repair", {"placement": "pre"}),
    ("repair", {"placement": "post_twice", "networks": 100}),
    ("repair", {"m": 2, "networks": 50}),
    ("proposition_3_4", {"V": 2, "longest": 6}),
    ("proposition_3_4", {"V": 3, "longest": 4, "rule": "sum", "seed": 1}),
    ("spectrum", {"feature_map": "elu_sum", "n": 3}),
    ("repeated_token", {"key": lambda: (Fraction(1), Fraction(0)), "beta": Fraction(1, 3)}),
    ("below_two", {"beta": Fraction(3, 2), "T": 200}),
    ("below_two", {"beta": Fraction(199, 100)}),
    ("reset_is_solved", {"e": Fraction(1, 10**6), "deepest": 100, "longest": 3}),
    ("recurrent_parity", {"gate": 6.0, "T": 5000}),
])  # fmt: skip
def test_other_sizes_hold(name, arguments):
    found = PROOFS[name](**arguments)
    assert found.holds, str(found)


# --- faults that have no argument: a piece of the machinery replaced ------------------------------------------------


def test_the_rank_sees_a_layer_that_divides_by_nothing(monkeypatch):
    monkeypatch.setattr(rational_recurrence, "outputs", lambda layer, word, rule="sum": outputs(layer, word, "sum"))
    assert [step.holds for step in rational_recurrence.proposition_3_1().steps] == [False, False, False, True]


def test_bits_see_a_counter_that_forgets(monkeypatch):
    leaky = lambda layer, word, rule="sum": outputs(layer, word[-3:], rule)
    monkeypatch.setattr(counting_bits, "outputs", leaky)
    assert {k for k, step in enumerate(counting_bits.bits_needed().steps, 1) if not step.holds} >= {1, 4}


def test_counts_see_a_layer_that_knows_positions(monkeypatch):
    def placed(layer, word, rule):
        found = outputs(layer, word, rule)
        return found + len(word) * (word[0] == 0)

    monkeypatch.setattr(token_counts, "outputs", placed)
    assert not token_counts.proposition_3_4(longest=3).steps[0].holds


def test_the_leak_sees_a_counter_without_one(monkeypatch):
    monkeypatch.setattr(delta_counters, "reset_counter", lambda e: token_counts.reset_counter(e / 2))
    assert {k for k, step in enumerate(delta_counters.leak().steps, 1) if not step.holds} == {1, 2}


def test_the_spectrum_sees_a_key_counted_twice(monkeypatch):
    monkeypatch.setattr(delta_spectrum, "eigenvalue", lambda beta, k: 1 - 2 * beta * (k**2).sum(-1))
    assert {k for k, step in enumerate(delta_spectrum.spectrum().steps, 1) if not step.holds} == {3, 5}


def test_the_remark_sees_a_norm_with_an_epsilon(monkeypatch):
    real = layer_norm_remark.layer_norm
    monkeypatch.setattr(layer_norm_remark, "layer_norm", lambda x, epsilon=1e-5: real(x, epsilon + 1e-6))
    assert [step.holds for step in layer_norm_remark.constant().steps] == [True, False]


# --- independent oracles --------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 2), min_size=1, max_size=9), st.sampled_from(["sum", "delta"]))
def test_exact_layers_are_those_of_the_scan(seed, word, rule):
    layer = random_layer(np.random.default_rng(seed), 3, 2, 2)
    q, k, v, beta = (torch.tensor(np.array(part[word], dtype=float))[None, :, None]
                     for part in (layer.queries, layer.keys, layer.values / 1, layer.strengths))  # fmt: skip
    beta = beta if rule == "delta" else torch.ones_like(beta)
    y = delta_rule(q, k / 4, v, beta, removal=rule == "delta")[0, :, 0].numpy()
    scaled = fast_weights.FastLayer(layer.keys / 4, layer.queries, layer.values, layer.strengths)
    assert np.allclose(outputs(scaled, word, rule).astype(float), y, rtol=1e-9, atol=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 2), min_size=1, max_size=7))
def test_the_normalised_rule_is_attention(seed, word):
    """Eq. 16: a mean of the values with weights k.q."""
    layer = random_layer(np.random.default_rng(seed), 3, 2, 2)
    q = layer.queries[word[-1]]
    weights = [layer.keys[token] @ q for token in word]
    mean = sum(w * layer.values[token] for w, token in zip(weights, word)) / sum(weights)
    assert outputs(layer, word, "normalised")[-1].tolist() == mean.tolist()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.permutations([0, 0, 1, 2, 2, 1]), st.sampled_from(["sum", "normalised"]))
def test_order_does_not_matter_before_the_last_token(seed, word, rule):
    layer, last = random_layer(np.random.default_rng(seed), 3, 2), 1
    assert outputs(layer, (*word, last), rule)[-1] == outputs(layer, (*sorted(word), last), rule)[-1]


def test_configurations_are_those_of_all_words():
    for V, n in product((2, 3, 4), (1, 2, 3, 4)):
        seen = {token_counts.configuration(word) for word in product(range(V), repeat=n)}
        assert len(seen) == token_counts.configurations(V, n)
    assert [token_counts.configurations(3, n) for n in (1, 2, 3, 4)] == [3, 9, 18, 30]  # proofs D4
    assert token_counts.configurations(2, 50) == 2 * comb(50, 1)


def test_cauchy_determinants_are_determinants():
    for n in (1, 2, 3, 5):
        H = np.array([[i / (i + j) for j in range(1, n + 1)] for i in range(1, n + 1)])
        assert float(rational_recurrence.cauchy_determinant(n)) == pytest.approx(np.linalg.det(H), rel=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["elu", "elu_sum", "softmax", "unit"]))
def test_feature_maps_and_eigenvalues_are_those_of_matrices(seed, name):
    x = np.random.default_rng(seed).normal(size=5)
    k = delta_spectrum.FEATURE_MAPS[name](x)
    assert np.allclose(k, MODEL_MAPS[name](torch.tensor(x)).numpy(), rtol=1e-12)
    values = np.linalg.eigvalsh(np.eye(5) - 0.7 * np.outer(k, k))
    wanted = np.sort([1, 1, 1, 1, delta_spectrum.eigenvalue(0.7, k)])
    assert np.allclose(values, wanted, atol=1e-12 * max(1, np.abs(wanted).max()))


@settings(max_examples=30, deadline=None)
@given(st.fractions(Fraction(1, 50), Fraction(9, 10), max_denominator=60), st.integers(1, 12))
def test_the_leak_is_the_plain_recurrence(e, m):
    w = Fraction(0)
    for sign in [1] * m + [-1] * m:
        w = (1 - e) * w + sign
    assert w == delta_counters.leaky(e, m)


def test_the_leak_breaks_one_bracket_later_than_the_audit_says():
    """At 7, 22 and 70 (leaks 1e-2, 1e-3, 1e-4) the counter is still right; it is wrong from 8, 23 and 71 on."""
    for digits, deep in ((2, 7), (3, 22), (4, 70)):
        e = Fraction(1, 10**digits)
        assert delta_counters.leaky(e, deep) > -Fraction(1, 2) > delta_counters.leaky(e, deep + 1)


def test_a_piece_may_have_four_zeros_before_the_norm():
    """The bound for "pre" is not that of "post": (p + q t) sqrt(Q) = -(u + w t), squared, has degree 4."""
    assert layer_norm_remark.zeros_of_a_piece("pre") == 2 * layer_norm_remark.zeros_of_a_piece("post")
    blocks = {place: layer_norm_remark.random_block(np.random.default_rng(3), 4, 3, place) for place in ("post", "pre")}
    t = np.array([1.0, 10.0, 1e4, 1e5])
    post, pre = (blocks[place](t) for place in ("post", "pre"))
    assert abs(post[3] - post[2]) < 1e-2 < abs(pre[3] - pre[2])  # one settles, the other grows with t


# --- the real models, with the explicit weights ---------------------------------------------------------------------


def one_hot(bits):
    return torch.nn.functional.one_hot(torch.as_tensor(bits), 2).float()[None]


def filled(layer, **tensors):
    """The layer with these parameters, by name."""
    with torch.no_grad():
        for name, value in tensors.items():
            layer.get_parameter(name.replace("__", ".")).copy_(torch.as_tensor(value))
    return layer.eval()


def random_bits(T):
    return np.random.default_rng(0).integers(0, 2, T)


@pytest.mark.parametrize("form, T", [("chunkwise", 100_000), ("sequential", 2000)])
def test_deltanet_with_beta_2_computes_parity(form, T):
    layer = FastWeights(2, heads=1, feature_map="unit", allow_negative_eigenvalues=True, form=form)
    q, k = [[1, 1], [0, 0]], [[0, 1], [1, 0]]
    filled(layer, slow__weight=[*q, *k, [0, 0.5], [0, 0], [0, 40]])
    bits = np.stack([random_bits(T), np.ones(T, int)])
    with torch.no_grad():
        y = layer(torch.cat([one_hot(row) for row in bits]))[:, :, 0].numpy()
        assert (y == bits.cumsum(1) % 2).all()
        layer.greatest = 1.0  # the paper's sigmoid
        forgot = layer(one_hot(bits[1, :2000]))[0, :, 0].numpy()
    assert recurrent_parity.share_right(forgot, bits[1, :2000]) < 0.6


def test_recurrent_delta_computes_parity_for_100_000_tokens():
    layer, bits = RecurrentDelta(2, heads=2), random_bits(100_000)
    slow = torch.zeros(2, 4, 2)
    slow[0, 2], slow[0, 3] = 1, torch.tensor([-40.0, 40.0])  # v and b of head 0
    R = torch.zeros(2, 4, 1)
    R[0, 2] = -1 / np.tanh(1)
    filled(layer, slow__weight=slow.flatten(0, 1), R=R)
    with torch.no_grad():
        y = layer(one_hot(bits))[0, :, 0].numpy()
    assert np.abs(y - bits.cumsum() % 2).max() < 1e-5
    assert np.abs(y[:500] - recurrent_parity.recurrent_delta(bits[:500])).max() < 1e-5


@pytest.mark.parametrize("rates", [1, 4])
def test_srwm_computes_parity_for_100_000_tokens(rates):
    layer, bits = SelfReferential(4, heads=1, rates=rates), random_bits(100_000)
    W = recurrent_parity.srwm_weights()
    filled(layer, W0=np.concatenate([W[:12], *[W[12:]] * rates])[None])
    with torch.no_grad():
        y = layer(torch.tensor(recurrent_parity.TOKENS[bits]).float()[None])[0, :, 0].numpy()
    assert (y == bits.cumsum() % 2).all()


def test_an_e_lstm_computes_parity():
    layer, bits = ElementWiseLSTM(1, inputs=2), random_bits(20_000)
    filled(layer, drive__weight=[[40, -40], [0.6, 0.6]], drive__bias=[0, 0], w=[[0], [-4]], W_o=[[0]])
    with torch.no_grad():
        y = layer(one_hot(bits))[0, :, 0].numpy()
    assert recurrent_parity.share_right(y, bits, 0.0) == 1


def leaky_model(e):
    """``reset_counter`` as a DeltaNet layer of three heads of size 1, of which the first is used, in float64."""
    layer = FastWeights(3, heads=3, feature_map="unit").double()
    slow = torch.zeros(3, 4, 3, dtype=torch.float64)
    slow[0, :2], slow[0, 2] = 1, torch.tensor([1 / e, -1 / e, 0])
    slow[0, 3] = torch.tensor([np.log(e / (1 - e))] * 2 + [40])
    return filled(layer, slow__weight=slow.flatten(0, 1))


@pytest.mark.parametrize("k", [0, 1])
def test_one_deltanet_layer_solves_the_papers_reset_dyck_1(k):
    task = COUNTER_TASKS["reset_dyck_1"]()
    batch = task.batch(task.test_strings(100, task.bin(k), torch.Generator().manual_seed(k)))
    z = torch.nn.functional.one_hot(batch.tokens, 3).double()
    for e, right in ((1e-6, True), (0.2, False)):
        with torch.no_grad():
            counter = leaky_model(e)(z)[..., 0]
        assert (whole_string_accuracy((counter > 0.5).long(), batch) == 1) == right


def last_answers(name, layers, seed, **options):
    """The logits (2, C) after the two words of ``token_counts.PAIR``, of a network with random weights."""
    model = models.build(name, vocab_size=3, classes=2, seed=seed, width=8, layers=layers, heads=2, **options).double()
    words = torch.tensor([[token_counts.BRACKETS.index(char) for char in text] for text in token_counts.PAIR])
    with torch.no_grad():
        return model(words)[:, -1]


@pytest.mark.parametrize("name, layers, alike", [
    ("ult", 1, True), ("nlt", 1, True), ("transformer", 1, True),
    ("ult", 2, False), ("nlt", 2, False), ("deltanet", 1, False), ("recurrent_delta", 1, False), ("srwm", 1, False),
])  # fmt: skip
def test_one_layer_without_removal_cannot_tell_the_two_words_apart(name, layers, alike):
    for seed in range(3):
        first, second = last_answers(name, layers, seed)
        assert (float((first - second).abs().max()) < 1e-12) == alike


def test_a_normalised_network_says_one_thing_on_a_to_the_t():
    for name, alike in (("nlt", True), ("ult", False)):
        model = models.build(name, vocab_size=1, classes=2, width=8, layers=3, heads=2).double()
        with torch.no_grad():
            logits = model(torch.zeros(1, 40, dtype=torch.int64))[0]
        assert (float((logits - logits[0]).abs().max()) < 1e-10) == alike


def test_the_layer_norm_remark_on_the_real_block():
    """App. C.1: only a norm right behind the mixer, without what comes before it, and with epsilon 0."""
    for place, epsilon, alike in (("output", 0.0, True), ("output", 1e-5, False), ("post", 0.0, False), ("pre", 0.0, False)):
        model = models.build("ult", vocab_size=1, classes=2, seed=1, width=8, layers=1, heads=2, place=place,
                             epsilon=epsilon).double()  # fmt: skip
        with torch.no_grad():
            logits = model(torch.zeros(1, 40, dtype=torch.int64))[0]
        assert (float((logits - logits[0]).abs().max()) < 1e-12) == alike, (place, epsilon)


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call, shown", [
    (lambda: states(rational_recurrence.SHARE, (0,), "softmax"), "softmax"),
    (lambda: counting_bits.proposition_3_2(k=3, longest=9), r"\(2 \* 3\)\^9"),
    (lambda: token_counts.proposition_3_4(V=1), "V=1"),
    (lambda: delta_spectrum.spectrum("relu"), "relu"),
    (lambda: parity_by_reflection.below_two(Fraction(2)), "got 2"),
    (lambda: layer_norm_remark.constant("before"), "before"),
    (lambda: layer_norm_remark.repair("none"), "none"),
])  # fmt: skip
def test_bad_input_is_shown(call, shown):
    with pytest.raises(ValueError, match=shown):
        call()
