"""Paper 003's layers against other ways to compute them; and the weights of chapter 09's proofs in the real models."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from proof_cells import proofs

from lrnnbook.content.chapters import fast_weight_solutions as fast_weights
from lrnnbook.content.chapters.fast_weight_solutions import outputs, random_layer
from lrnnlab import models
from lrnnlab.models.layers import ElementWiseLSTM, FastWeights, RecurrentDelta, SelfReferential
from lrnnlab.scans.delta import delta_rule
from lrnnlab.tasks.counter_languages import COUNTER_TASKS
from lrnnlab.training import whole_string_accuracy


def of_the_proof(name, upto=None):
    """What the names of a proof's cells mean after its first cells."""
    space = {"__name__": "__main__"}
    for source in proofs("09")[name][: upto and upto + 1]:
        exec(compile(source, f"chapter 09, {name}", "exec"), space)
    return space


def share_right(found, bits, level=0.5):
    return float(((found > level) == bits.cumsum() % 2).mean())


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


def test_the_leak_breaks_one_bracket_later_than_the_audit_says():
    """At 7, 22 and 70 (leaks 1e-2, 1e-3, 1e-4) the counter is still right; it is wrong from 8, 23 and 71 on."""
    for digits, deep in ((2, 7), (3, 22), (4, 70)):
        e = Fraction(1, 10**digits)
        assert fast_weights.leaky(e, deep) > -Fraction(1, 2) > fast_weights.leaky(e, deep + 1)


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


@pytest.mark.parametrize("backend, T", [("chunkwise", 100_000), ("reference", 2000)])
def test_deltanet_with_beta_2_computes_parity(backend, T):
    layer = FastWeights(2, heads=1, feature_map="unit", allow_negative_eigenvalues=True, backend=backend)
    q, k = [[1, 1], [0, 0]], [[0, 1], [1, 0]]
    filled(layer, slow__weight=[*q, *k, [0, 0.5], [0, 0], [0, 40]])
    bits = np.stack([random_bits(T), np.ones(T, int)])
    with torch.no_grad():
        y = layer(torch.cat([one_hot(row) for row in bits]))[:, :, 0].numpy()
        assert (y == bits.cumsum(1) % 2).all()
        layer.greatest = 1.0  # the paper's sigmoid
        forgot = layer(one_hot(bits[1, :2000]))[0, :, 0].numpy()
    assert share_right(forgot, bits[1, :2000]) < 0.6


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
    assert np.abs(y[:500] - of_the_proof("recurrent_delta", 4)["run"](bits[:500])).max() < 1e-5


@pytest.mark.parametrize("rates", [1, 4])
def test_srwm_computes_parity_for_100_000_tokens(rates):
    layer, bits = SelfReferential(4, heads=1, rates=rates), random_bits(100_000)
    proof = of_the_proof("srwm", 2)
    W = proof["weights"](120.0)
    filled(layer, W0=np.concatenate([W[:12], *[W[12:]] * rates])[None])
    with torch.no_grad():
        y = layer(torch.tensor(proof["inputs"][bits]).float()[None])[0, :, 0].numpy()
    assert (y == bits.cumsum() % 2).all()


def test_an_e_lstm_computes_parity():
    layer, bits = ElementWiseLSTM(1, inputs=2), random_bits(20_000)
    filled(layer, drive__weight=[[40, -40], [0.6, 0.6]], drive__bias=[0, 0], w=[[0], [-4]], W_o=[[0]])
    with torch.no_grad():
        y = layer(one_hot(bits))[0, :, 0].numpy()
    assert share_right(y, bits, 0.0) == 1


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


PAIR = ("((1()", "1((()")


def last_answers(name, layers, seed, **options):
    """The logits (2, C) after the two words of ``PAIR``, of a network with random weights."""
    model = models.build(name, vocab_size=3, classes=2, seed=seed, width=8, layers=layers, heads=2, **options).double()
    words = torch.tensor([[fast_weights.BRACKETS.index(char) for char in text] for text in PAIR])
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
    model = models.build("ult", vocab_size=1, classes=2, seed=1, width=8, layers=1, heads=2).double()
    with torch.no_grad():
        before = model.embedding(torch.zeros(1, 40, dtype=torch.int64))
        mixed = model.layers[0](before)
        for read, epsilon, alike in ((mixed, 0.0, True), (mixed, 1e-5, False), (before + mixed, 0.0, False)):
            seen = torch.nn.functional.layer_norm(read, read.shape[-1:], eps=epsilon)[0]
            assert (float((seen - seen[0]).abs().max()) < 1e-12) == alike, epsilon
