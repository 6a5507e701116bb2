"""Chapter 02's own functions: the numbers behind the bound for a soft network, against the network itself."""

import numpy as np
import torch

from lrnnbook.content.chapters import ch02
from lrnnlab.models import build, snap
from lrnnlab.models.exact import symbol_transitions
from lrnnlab.tasks import EvenPair, Sum
from lrnnlab.verification.heads import head_tables, heads_machine


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


def soft_blocks():
    return symbol_transitions(soft(seed=4))[0].numpy()


def test_products_and_states_are_the_networks_own():
    model, tokens = soft(seed=4), np.array([2, 0, 1, 1, 2, 0, 0])
    A, products, x = ch02.token_by_token(soft_blocks(), tokens)
    assert np.abs(products[:, :, :, 0] - x[1:]).max() < 1e-12  # every head starts in state 0
    logits = model.readout(torch.from_numpy(x[1:]).flatten(1)).detach()
    assert torch.allclose(logits, model(torch.from_numpy(tokens)[None])[0], atol=1e-12)
    assert np.abs(A[3] @ A[2] @ A[1] @ A[0] - products[3]).max() < 1e-12
    assert np.abs(A[0] @ A[1] @ A[2] @ A[3] - products[3]).max() > 1e-3  # a planted fault: the wrong order
    assert np.abs(A[5] @ x[5][..., None] - x[6][..., None]).max() < 1e-12


def test_columns_apart_is_what_is_left_of_two_starts():
    _, products, _ = ch02.token_by_token(soft_blocks(), np.array([0, 1, 2, 2, 1, 0]))
    draw = np.random.default_rng(0)
    for product in products[:, 1]:
        starts = draw.dirichlet(np.full(4, 0.3), size=(500, 2))
        left = np.abs((starts[:, 0] - starts[:, 1]) @ product.T).sum(1) / np.abs(starts[:, 0] - starts[:, 1]).sum(1)
        corners = [np.abs(product[:, i] - product[:, j]).sum() / 2 for i in range(4) for j in range(4)]
        assert left.max() <= ch02.columns_apart(product) + 1e-12 and ch02.columns_apart(product) == max(corners)


def test_the_widget_shows_the_numbers_of_its_position_and_follows_every_control():
    task, A = Sum(3), soft_blocks()
    nets = {"trained": A, "snapped": np.eye(4)[A.argmax(2)].swapaxes(2, 3)}
    widget = ch02.token_widget(nets, lambda x: x.argmax(2)[:, 0], task, "012", head=1)
    assert widget.controls["head"].value == 1
    for name, value in (("position", 20), ("head", 2), ("net", "snapped"), ("digits", "2")):
        before = widget.image.value
        widget.controls[name].value = value
        assert widget.image.value != before
    assert f"and {2 * 20 % 3} is right" in widget.sentence.value
    for text, said in (("1" * 13, "Type 1 to 12 tokens; this is 13"), ("9", "is none of"), ("", "at least one symbol")):
        widget.controls["digits"].value = text
        assert said in widget.sentence.value and "Traceback" not in widget.sentence.value
