"""Chapter 08's pictures: the tree holds the actions of its words, the masks are Eq. 1, noise stays within its bounds."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_rgb

from lrnnbook.content.chapters import ch08
from lrnnbook.content.chapters.tree_composition import letters, recursion_at_once
from lrnnbook.content.show import regulargpt_figures
from lrnnbook.content.show.regulargpt_figures import element_names
from lrnnbook.content.show.style import INK
from lrnnbook.content.tables import ladder, regulargpt_fig3, regulargpt_fig4, results
from lrnnbook.content.tables.word_actions import machine_of
from lrnnlab.automata import transition_monoid
from lrnnlab.models import build
from lrnnlab.models.layers.attention import depth_count, dilated_mask, kept_positions

TASKS = st.sampled_from(list(ch08.WORDS))


@st.composite
def grown(draw, longest=20):
    """(machine, tokens, chunk)"""
    machine = machine_of(draw(TASKS))
    tokens = tuple(draw(st.lists(st.integers(0, machine.num_symbols - 1), min_size=1, max_size=longest)))
    return machine, tokens, draw(st.integers(2, 6))


def action(machine, word):
    """Where a word leads every state, letter by letter: shares nothing with the tree."""
    states = list(range(machine.num_states))
    for token in word:
        states = [int(machine.transitions[token, state]) for state in states]
    return states


# --- the tree ---------------------------------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(grown(), st.booleans())
def test_every_position_holds_the_action_of_its_word(made, later_first):
    machine, tokens, chunk = made
    tree = ch08.grow(machine, tokens, chunk, later_first)
    for row in range(tree.depths + 1):
        for position in range(len(tokens)):
            word = tokens[max(0, position + 1 - chunk**row) : position + 1]
            expected = action(machine, word[::-1] if later_first else word)
            assert tree.monoid.elements[tree.elements[row, position]].tolist() == expected


@settings(max_examples=40, deadline=None)
@given(grown())
def test_the_root_answers_and_the_printed_order_answers_the_mirrored_word(made):
    machine, tokens, chunk = made
    assert ch08.grow(machine, tokens, chunk).answer == machine.answer(list(tokens))[-1]
    assert ch08.grow(machine, tokens, chunk, later_first=True).answer == machine.answer(list(tokens[::-1]))[-1]


def test_what_is_typed():
    assert ch08.asked("Cycle Navigation", "+\N{MINUS SIGN}0-") == ((2, 0, 1, 0), "")
    assert ch08.asked("Parity", "10" * 20) == ((1, 0) * 8, "Only the first 16 letters are drawn. ")
    tokens, note = ch08.asked("Cycle Navigation", "\N{SNOWMAN}")
    assert len(tokens) == 16 and note == "Cycle Navigation reads \N{MINUS SIGN} 0 +, so this is a word of its own. "


# --- the picture ------------------------------------------------------------------------------------------------------


def parts(figure):
    (axes,) = figure.axes
    faint, dark, out = axes.collections[:3]
    dots, nodes = axes.collections[3:]
    return axes, (faint, dark, out), (dots, nodes)


@pytest.mark.parametrize("string, C", [("1011000", 2), ("1011000", 3), ("1", 2), ("10110100", 2), ("101101001", 8)])
def test_nodes_lines_and_masks_of_figure_1(string, C):
    T, depths = len(string), depth_count(len(string), C)
    axes, (faint, dark, out), (dots, nodes) = parts(ch08.chunk_tree("Parity", string, C))
    kept = [kept_positions(T, C, depth) for depth in range(depths)]
    ends = [[position - j * C**depth for j in range(C)] for depth in range(depths) for position in kept[depth]]
    inside = sum(child >= 0 for children in ends for child in children)
    assert len(dark.get_paths()) == inside and len(out.get_paths()) == sum(map(len, ends)) - inside
    every = sum(int(np.isfinite(dilated_mask(T, C, depth).numpy()).sum()) for depth in range(depths))
    assert len(faint.get_paths()) == every - inside
    assert len(nodes.get_offsets()) == T + sum(map(len, kept))
    assert len(dots.get_offsets()) == T * depths - sum(map(len, kept))
    assert len(axes.images) == depths
    for depth, image in enumerate(axes.images):
        seen = np.isfinite(dilated_mask(T, C, depth).numpy())
        picture = np.asarray(image.get_array())
        drawn = (picture != 1).any(-1)
        assert (drawn == seen).all()
        black = (np.abs(picture - to_rgb(INK)) < 1e-6).all(-1)
        assert sorted(set(np.nonzero(black)[0].tolist())) == kept[depth]


@settings(max_examples=40, deadline=None)
@given(TASKS, st.text("0101st+-ab", max_size=20), st.sampled_from(ch08.CHUNKS), st.sampled_from(ch08.ORDERS))
def test_the_sentence_counts_and_says_wrong_where_it_is(task, string, C, order):
    said = ch08.tree_sentence(task, string, C, order)
    machine, (tokens, note) = machine_of(task), ch08.asked(task, string)
    T, depths = len(tokens), depth_count(len(tokens), C)
    nodes = sum(math.ceil(T / C ** (depth + 1)) for depth in range(depths))
    assert said.startswith(note) and f"{nodes} nodes in the tree, {T * depths} with masks" in said
    mirrored = machine.answer(list(tokens[::-1]))[-1] != machine.answer(list(tokens))[-1]
    assert ("<b>wrong</b>" in said) == (mirrored and order == ch08.ORDERS[1])


# --- noise ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layer", ch08.LAYERS)
@pytest.mark.parametrize("noise", ch08.PLACES)
@pytest.mark.parametrize("task", ch08.NOISY[1:])
def test_found_errors_stay_below_the_worst_and_none_without_noise(task, layer, noise):
    run = ch08.noisy_run(task, 0.08, layer, noise)
    assert run.errors.shape == run.worst.shape == run.right.shape == (10,)
    assert (run.errors <= run.worst + 1e-12).all() and run.right[0] == 1
    still = ch08.noisy_run(task, 0.0, layer, noise)
    assert not still.errors.any() and not still.worst.any() and (still.right == 1).all()


@pytest.mark.parametrize("noise", ch08.PLACES)
@pytest.mark.parametrize("layer", ch08.LAYERS)
def test_the_worst_is_that_of_a_string_with_all_errors_at_their_ends(layer, noise):
    """Against the recursion itself on a string, +e or -e everywhere, on the letters and (or not) on every layer."""
    machine, e = machine_of("Cycle Navigation"), 1 / 16
    leaves, function = np.stack(letters(machine, np.arange(512) ** 2 % 3)), ch08.LAYERS[layer]
    exact, expected = recursion_at_once(leaves), []
    for shift in (-e, e):
        again = shift * ch08.PLACES[noise]
        run = recursion_at_once(leaves + shift, lambda a, b, again=again: function(a, b) + again)
        expected.append(np.abs(run - exact)[:, -1].max((1, 2)))
    found = ch08.noisy_run("Cycle Navigation", e, layer, noise).worst
    assert found == pytest.approx(np.max(expected, axis=0), rel=1e-12)


@pytest.mark.parametrize("task", ch08.NOISY[:2])
def test_repaired_errors_are_gone_up_to_one_eighth_and_not_beyond(task):
    for e in (0.04, 0.125):
        assert not ch08.noisy_run(task, e, "repairing", "the letters").worst[1:].any()
        assert ch08.noisy_run(task, e, "repairing", "every layer").worst == pytest.approx(e)
    assert ch08.noisy_run(task, 0.13, "repairing", "the letters").worst[1] > 0
    assert ch08.noisy_run(task, 0.04, "Lemma 1", "every layer").worst[-1] > 10


def test_the_noise_sentence_follows_the_controls():
    assert "<b>gone</b>" in ch08.noise_sentence("S_3", 0.125, "repairing", "every layer")
    assert "nothing is proved" in ch08.noise_sentence("S_3", 0.13, "repairing", "the letters")
    assert "nothing is proved" not in ch08.noise_sentence("S_3", 0.13, "Lemma 1", "the letters")
    assert "exact at every depth" in ch08.noise_sentence("S_3", 0.0, "Lemma 1", "the letters")


# --- clusters and receptive fields -----------------------------------------------------------------------------------


@pytest.mark.parametrize("task", regulargpt_fig3.TABLE.tasks)
def test_names_of_elements_are_words_that_make_them(task):
    machine, symbols = regulargpt_fig3.build_task(task).machine, "".join(regulargpt_fig3.build_task(task).symbols)
    elements = [tuple(action(machine, [symbols.index(s) for s in name.replace("e", "")])) for name in element_names(machine)]
    assert elements == [tuple(element) for element in transition_monoid(machine).elements.tolist()]


# --- many nets, looked at alike ---------------------------------------------------------------------------------------


def untrained(name):
    task = regulargpt_fig4.build_task(name)
    nets = {row: regulargpt_fig4.build_net(regulargpt_fig4.TABLE.setting(row, name, "live"), task, seed=0)
            for row in regulargpt_fig4.TABLE.rows}  # fmt: skip
    return {**nets, **{row: build(row, task, seed=0, **ladder.TABLE.setting(row, "parity", "live")["options"]) for row in ("lstm", "deltanet")}}


class Holds(torch.nn.Module):
    """A net whose readout reads a corner for each value of what a string leads to, and nothing else."""

    def __init__(self, machine, value, corners=16):
        super().__init__()
        self.machine, self.value, self.head = machine, value, torch.nn.Linear(corners, 2)
        with torch.no_grad():
            self.head.weight.copy_(torch.eye(2)[machine.outputs[:corners].tolist()].T if corners > 2 else torch.eye(2))
            self.head.bias.zero_()

    def forward(self, tokens):
        states = self.machine.run(tokens.numpy())[:, -1]
        return self.head(torch.eye(self.head.in_features)[self.value(states)])


class LastTwo(torch.nn.Module):
    """The logits are (p, -p), p the product of the last two letters as signs (a one is -1)."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding.from_pretrained(torch.tensor([[1.0], [-1.0]]))

    def forward(self, tokens):
        product = self.embedding(tokens)[:, -2:, 0].prod(1)
        return torch.stack([product, -product], 1)


def test_the_fields_of_a_net_that_is_known():
    found = ch08.fields_of(regulargpt_fig4.build_task("parity"), LastTwo(), 4)
    words = [*itertools.product(range(2), repeat=4)]
    assert [*map(int, found["answers"])] == [sum(word[2:]) % 2 for word in words]
    assert found["gradients"] == "AA//" * 16  # all of it on the last two letters of every word
    assert found["right"] == np.mean([sum(word[:2]) % 2 == 0 for word in words])


def test_every_net_answers_by_what_is_said_to_be_read():
    tokens = regulargpt_fig4.build_task("parity").sample(5, 11, torch.Generator().manual_seed(0)).tokens
    for net in untrained("parity").values():
        with torch.no_grad():
            logits, read = net(tokens), net.head(torch.from_numpy(ch08.read_vectors(net, tokens)).float())
        assert torch.allclose(read, logits if logits.ndim == 2 else logits[:, -1], atol=1e-5)


def test_what_the_picture_of_clusters_knows_of_its_words():
    told, strings = ch08.words_and_next("cycle_navigation")
    machine, words = machine_of("Cycle Navigation"), [string for group in strings for string in group.tolist()]
    assert ["".join(machine.symbols[token] for token in word) for word in words] == told["words"]
    for word, parent, letter, does in zip(words, told["parent"], told["letter"], told["action"]):
        assert transition_monoid(machine).elements[does].tolist() == action(machine, word)
        assert (letter == -1 and 5 <= len(word) <= 12) if parent < 0 else [*words[parent], letter] == word
    assert [told["circle"][told["names"].index(name)] for name in ("e", "+", "++")] in ([0, 1, 2], [0, 4, 3])


def test_a_film_of_nets_that_are_known():
    """One that holds the state has a cluster for each action; one that holds nothing mixes them, and guesses."""
    machine, (told, strings) = regulargpt_fig4.build_task("parity").machine, ch08.words_and_next("parity")
    film = {0: Holds(machine, lambda states: np.arange(len(states)) % 2, corners=2), 7: Holds(machine, lambda states: states, corners=2)}
    found = ch08.clusters_of_film("parity", film, strings)
    mixed, apart = ({(does, label) for does, label in zip(told["action"], frame["cluster"])} for frame in found["frames"])
    assert len(mixed) == 4 and len(apart) == 2 and found["steps"] == [0, 7]
    assert abs(found["frames"][0]["right"] - 0.5) < 0.2 and found["frames"][1]["right"] == 1
    ends = [value for frame in found["frames"] for value in (*frame["x"], *frame["y"])]
    assert min(ends) >= 0 and max(ends) <= 1000


def test_nets_are_kept_as_they_were_at_each_step():
    film = ch08.small_films("parity", ["rnn"], (0, 3))["rnn"]
    assert list(film) == [0, 3] and not torch.equal(film[0].head.weight, film[3].head.weight)


def test_some_tasks_of_table_1_have_a_row_each():
    picture = regulargpt_figures.accuracy_by_task(results.runs("regulargpt/table1"), tasks=("parity", "d_2"))
    assert [label.get_text() for label in picture.axes[0].get_yticklabels()] == ["Parity", "D₂"]
