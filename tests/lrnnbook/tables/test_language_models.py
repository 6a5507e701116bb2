"""dlr/table5: books read from files, vocabularies, n-gram levels against counting by hand, losses against stepping, records."""

import math
import random
from collections import Counter

import pytest
import torch
from recorded import found

from lrnnbook.content.tables import dlr_table5, records, texts
from lrnnbook.content.tables.texts import ADDED, learn_vocabulary, ngram_level

TEXTS = ("characters", "tokens")
SENTENCES = "the cat sat on the mat, and the dog saw 12 cats on a mat.\n"

@pytest.mark.parametrize("size", [96, 120, 1024])
def test_a_text_is_what_its_tokens_stand_for(size):
    made = learn_vocabulary([SENTENCES], size)
    alphabet, draw = texts.ALPHABET, random.Random(size)
    every = [SENTENCES, "", "a  b\n\n c1-2 ", *("".join(draw.choices(alphabet, k=200)) for _ in range(20))]
    for text in every:
        codes = made.encode(text)
        assert made.decode(codes) == text and codes.dtype == torch.int32
        assert not len(codes) or 0 <= int(codes.min()) <= int(codes.max()) < len(made) <= size
    assert (len(made.encode(SENTENCES)) < len(SENTENCES)) == (size > 96)


def by_hand(train, test, n, V, k):
    """The mean loss of an n-gram model, by dictionaries."""
    whole = Counter(tuple(train[i : i + n]) for i in range(len(train) - n + 1))
    before = Counter()
    for gram, count in whole.items():
        before[gram[:-1]] += count
    losses = []
    for i in range(n - 1, len(test)):
        gram = tuple(test[i - n + 1 : i + 1])
        losses.append(-math.log((whole[gram] + k) / (before[gram[:-1]] + k * V)))
    return sum(losses) / len(losses)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_levels_are_those_of_counting_by_hand(n, seed):
    draw = random.Random(seed)
    V = 5
    train, test = ([draw.choices(range(V), (5, 4, 3, 2, 0))[0] for _ in range(T)] for T in (300, 80))
    for text in (train, test):
        for i in range(3, len(text), 4):  # something that a trigram can know
            text[i] = (text[i - 1] + text[i - 2]) % V
    loss, k = ngram_level(torch.tensor(train), torch.tensor(test), n, V)
    assert loss == pytest.approx(by_hand(train, test, n, V, k), rel=1e-12)
    seen, held = train[:270], train[270 - n + 1 :]
    assert k == min(ADDED, key=lambda one: by_hand(seen, held, n, V, one))


@pytest.mark.parametrize("row", dlr_table5.TABLE.rows)
def test_the_loss_is_that_of_a_net_that_reads_one_token_at_a_time(row):
    net = dlr_table5.build_net(dlr_table5.TABLE.setting(row, "characters", "live"), 96, seed=90).eval()
    x, y = dlr_table5.pieces(torch.randint(96, (61,), generator=torch.Generator().manual_seed(0)), 12)
    state, losses = net.initial_state(len(x)), []
    for t in range(12):
        state, logits = net.step(state, x[:, t])
        losses.append(-logits.detach().log_softmax(-1).gather(1, y[:, t : t + 1]))
    assert dlr_table5.mean_loss(net, x, y) == pytest.approx(float(torch.cat(losses).mean()), rel=1e-4)
    assert [block.place for block in net.blocks] == [row.split("_")[1]] * 2
    assert isinstance(net.final_norm, torch.nn.LayerNorm) == row.endswith("pre")


def verdict(record):
    """What became of a run, by its levels: who is no further than a tenth of a nat below the unigram level has learned no order."""
    test, levels = record["metrics"]["test"], record["levels"]
    if not record["metrics"]["finished"] or test is None:
        return f"broken: no number at step {record['metrics']['steps']:,}"
    if test > levels["unigram"] - 0.1:
        return "broken: only frequencies"
    passed = [name for name in ("bigram", "trigram") if test < levels[name]]
    return f"below {min(passed, key=levels.__getitem__)}" if passed else "above bigram"


def test_what_the_records_say():
    text, by_cell = found("dlr/table5"), {(one["task"], one["row"]): one for one in records.recorded("dlr/table5")}
    four = dlr_table5.TABLE.rows[:4]
    for task in TEXTS:
        assert all(verdict(by_cell[task, row]).startswith("below") for row in four)
        level = by_cell[task, "dlr_pre"]["levels"]
        losses = {row: by_cell[task, row]["metrics"]["test"] for row in four}
        assert max(losses.values()) < min(level.values()) and f"{level['bigram']:.2f}" in text
        if task == "characters":
            assert f"{min(losses.values()):.2f} to {max(losses.values()):.2f}" in text and f"{level['trigram']:.2f}" in text
        else:
            assert f"DLR {losses['dlr_post']:.2f} and {losses['dlr_pre']:.2f}, the Transformer" in text
            assert {f"{losses[row]:.2f}" for row in four[2:]} == {"2.55"}
    speed = {key: one["metrics"]["tokens_per_second"] for key, one in by_cell.items()}
    ratios = [speed[task, f"dlr_{place}"] / speed[task, f"transformer_{place}"] for task in TEXTS for place in ("post", "pre")]
    assert f"{min(ratios):.1f} to {max(ratios):.1f} times as fast" in text
    swept = {(task, row): verdict(one).startswith("broken") for (task, row), one in by_cell.items() if row in four}
    broken = {key for key, lost in swept.items() if lost}
    assert broken == {("depth4-0.03", "dlr_post"), ("depth4-0.03", "transformer_post"), ("depth16-0.003", "dlr_post"),
                      ("depth16-0.01", "dlr_post"), ("depth16-0.01", "transformer_post"), ("depth16-0.03", "dlr_post"),
                      ("depth16-0.03", "transformer_post")}  # fmt: skip
