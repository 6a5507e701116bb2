"""Chapter 02's own functions: the numbers behind the bound for a soft network, against the network itself."""

import numpy as np
import torch

from lrnnlab.chapters import ch02
from lrnnlab.models import build, snap
from lrnnlab.tasks import EvenPair, Sum
from lrnnlab.verification import head_tables, heads_machine


def soft(seed=0, vocab=3, classes=3):
    return build("block_diagonal", vocab_size=vocab, classes=classes, h=3, b=4, rule="softmax", drive="none",
                 start="first", gain=4.0, head="linear", seed=seed).double()  # fmt: skip


def test_the_last_layer_gives_the_models_logits():
    model, tokens = soft(), torch.randint(3, (5, 20), generator=torch.Generator().manual_seed(1))
    A, W, bias, eps = ch02.last_layer(model.float())
    wanted = model.double()(tokens).detach().numpy()
    for row, logits in zip(tokens.numpy(), wanted):
        x = np.broadcast_to(np.eye(4)[0], (3, 4))
        for token, expected in zip(row, logits):
            x = (A[token] @ x[..., None])[..., 0]
            found = np.einsum("chb,hb->c", W, x - 1 / 4) / np.sqrt(x.var() + eps) + bias
            assert np.allclose(found, expected, atol=1e-5)  # the weights have been float32


def test_the_first_wrong_answer_is_the_models():
    task, model = Sum(3), soft(seed=2)
    found = ch02.first_wrong(model, task, 60)
    for string, position in found.items():
        pattern = string.removesuffix("...")
        period = 1 if len(set(pattern)) == 1 else 2
        tokens = torch.tensor([[int(c) for c in (pattern[:period] * 60)[:60]]])
        wrong = (model(tokens).argmax(-1).numpy() != task.machine.answer(tokens.numpy()))[0]
        assert wrong.argmax() + 1 == position and wrong.any()
    assert len(found) > 3  # an untrained network is soon wrong


def test_places_are_the_states_of_the_heads_machine():
    task, model = EvenPair(3), snap(soft(seed=3, vocab=3, classes=2))
    tables = head_tables(model)
    heads = (0, 2)
    to = ch02.last_layer(model)[0].argmax(2)
    found = {states for states, _ in ch02.places(to, heads, task.specification)}
    assert len(found) <= heads_machine(tables, heads, task.symbols).num_states
    x, seen = np.zeros(2, int), set()
    for token in np.random.default_rng(0).integers(3, size=3000):
        x = to[token, list(heads), x]
        seen.add(tuple(x.tolist()))
    assert seen <= found
