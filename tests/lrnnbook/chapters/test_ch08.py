"""Chapter 08's pictures: the tree holds the actions of its words, the masks are Eq. 1, noise stays within its bounds."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_hex, to_rgb

from lrnnbook.content.chapters import ch08
from lrnnbook.content.chapters.tree_composition import letters, recursion_at_once
from lrnnbook.content.show.regulargpt_figures import element_names
from lrnnbook.content.show.style import INK, RECORDED
from lrnnbook.content.tables import ladder, regulargpt_fig3, regulargpt_fig4
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


def test_the_cluster_sentence_tells_agreement_from_disagreement():
    at = {"word": 8, "found": 6, "predicted": 6, "purity": 1.0, "wholeness": 0.5, "points": 120}
    said = ch08.gathering_sentence(ch08.Seen("s_3", "recorded", {"depths": [at]}), 0)
    assert "<b>6 clusters</b>" in said and "50% of the states lie" in said and "the same" not in said and "mix" not in said
    blob = {"word": 8, "found": 1, "predicted": 2, "purity": 0.55, "wholeness": 1.0, "points": 64, "right": 0.51, "guessing": 0.5}
    said = ch08.gathering_sentence(ch08.Seen("parity", "live", {"depths": [blob]}), 0)
    assert said.startswith("The net is right on <b>51%</b> (guessing: 50%).") and "mix actions: only 55%" in said and "100%" not in said
    assert "the same" in ch08.gathering_sentence(ch08.Seen("s_3", "live", {"depths": [{**at, "wholeness": 1.0}]}), 0)


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


def test_the_field_of_a_net_that_is_known():
    field = ch08.field_of(LastTwo(), "parity", "0 11 01")
    assert field.share.tolist() == [0, 0, 0, 0.5, 0.5] and field.turns.tolist() == [False] * 3 + [True] * 2
    assert field.counts.all() and (field.answer, field.right) == (1, 1)
    said = ch08.field_sentence(field)
    assert "<b>1</b>, rightly" in said and "<b>2 of 5</b> places, and the right answer at 5" in said and "last <b>1</b>" in said
    assert "<b>1</b>, wrongly" in ch08.field_sentence(ch08.field_of(LastTwo(), "suffix", "11001"))


@pytest.mark.parametrize("text", ["", "  ", "012", "snow\N{SNOWMAN}", "01" * 13])
def test_what_is_no_string_is_said_in_one_sentence(text):
    with pytest.raises(ValueError, match=r"^Type 1 to 24 of the letters 0 and 1; this is '[^']*'$"):
        ch08.field_of(LastTwo(), "parity", text)


def test_every_net_answers_by_what_is_said_to_be_read():
    tokens = regulargpt_fig4.build_task("parity").sample(5, 11, torch.Generator().manual_seed(0)).tokens
    for net in untrained("parity").values():
        with torch.no_grad():
            logits, read = net(tokens), net.head(torch.from_numpy(ch08.read_vectors(net, tokens)).float())
        assert torch.allclose(read, logits if logits.ndim == 2 else logits[:, -1], atol=1e-5)


def test_clusters_by_length_of_nets_that_are_known():
    """One that holds the state has a cluster for each; one that holds the answer has two, and each has one answer alone."""
    machine = regulargpt_fig4.build_task("suffix").machine
    states = ch08.across_lengths(Holds(machine, lambda states: states), "suffix", (8, 64))
    for at in states.found["depths"]:
        assert (at["predicted"], at["found"], at["purity"], at["wholeness"], at["right"]) == (16, at["present"], 1, 1, 1)
    answers = ch08.across_lengths(Holds(machine, lambda states: machine.outputs[states], corners=2), "suffix", (8, 64))
    for at in answers.found["depths"]:
        assert (at["found"], at["wholeness"], at["right"]) == (2, 1, 1) and at["purity"] < 0.5
    assert "Strings of 64 letters: <b>2 clusters</b> among 64 states" in ch08.gathering_sentence(answers, 1)
    assert len(ch08.gathering(answers, 1).axes) == 2


def test_a_cluster_of_two_actions_is_named_by_both():
    machine = regulargpt_fig4.build_task("parity").machine
    words = {"mixed": Holds(machine, lambda states: np.arange(len(states)) % 2, corners=2), "apart": Holds(machine, lambda states: states, corners=2)}
    named = {kind: {text.get_text() for text in ch08.gathering(ch08.across_lengths(net, "parity", (8, 64)), 1).axes[0].texts}
             for kind, net in words.items()}  # fmt: skip
    assert named == {"mixed": {"e/1"}, "apart": {"e", "1"}}


@pytest.mark.parametrize("turns", [(True, True), (False, False), (True, False)])
def test_the_legend_shows_bars_as_they_are_drawn(turns):
    field = ch08.Field("01", np.array([0.4, 0.6]), np.array(turns), np.array([True, True]), 0, 0)
    changes, does_not, _ = ch08.field_picture(field).axes[0].get_legend().legend_handles
    assert to_hex(changes.get_facecolor()) == to_hex(RECORDED) and does_not.get_facecolor()[3] == 0
    for bar, turned in zip(sorted(ch08.field_picture(field).axes[0].patches, key=lambda bar: bar.get_x()), turns):
        assert bar.get_facecolor() == (changes if turned else does_not).get_facecolor()


def test_every_control_of_both_widgets_changes_the_picture():
    small = {name: {row: net for row, net in untrained(name).items() if row in ("rnn", "lstm")} for name in ("parity", "suffix")}
    typed = ch08.typed_widget(small)
    for widget in (ch08.models_widget(small), typed):
        for control in widget.controls.values():
            before = widget.image.value
            if hasattr(control, "options"):
                control.index = len(control.options) - 1
            else:
                control.value = "110"
            assert widget.image.value != before
    picture = typed.image.value
    typed.controls["string"].value = "2"
    assert "Type 1 to 24 of the letters 0 and 1" in typed.sentence.value and typed.image.value == picture
