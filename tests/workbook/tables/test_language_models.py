"""dlr/table5: books read from files, vocabularies, n-gram levels against counting by hand, losses against stepping, records."""

import math
import random
from collections import Counter

import pytest
import torch
from recorded import belonging, found, planned

from lrnnlab.models.attention import RotaryAttention
from lrnnlab.tasks.long_range import DataFileError, load_books
from workbook import tables
from workbook.show.language_figures import loss_by_rate, loss_by_step
from workbook.tables import character_text, dlr_table5, records, report, results
from workbook.tables.character_text import in_alphabet
from workbook.tables.language import ADDED, Vocabulary, learn_vocabulary, ngram_level

test_plans = planned(["dlr/table5"])
test_records_belong_to_their_settings = belonging(["dlr/table5"])
TEXTS = ("characters", "tokens")
SENTENCES = "the cat sat on the mat, and the dog saw 12 cats on a mat.\n"

# ---------------------------------------------------------------------------------------------------------------- books


def write_books(folder, count=3):
    for split in ("train", "validation", "test"):
        (folder / split).mkdir(parents=True)
        for number in range(count):
            words = SENTENCES.split()
            random.Random(f"{split}{number}").shuffle(words)
            (folder / split / f"{number}.txt").write_text(" ".join(words * 20) + "\n\u00e9t\u00e9\n", encoding="utf-8")
    return folder


def test_books_come_in_the_order_of_their_names(tmp_path):
    folder = write_books(tmp_path / "pg19")
    for split in ("train", "validation", "test"):
        read = [*load_books(folder, split)]
        assert read == [(folder / split / f"{number}.txt").read_text(encoding="utf-8") for number in range(3)]
    with pytest.raises(ValueError, match="train, validation, test, got 'val'"):
        load_books(folder, "val")


def test_line_ends_and_a_mark_of_byte_order_are_no_text(tmp_path):
    folder = write_books(tmp_path / "pg19")
    (folder / "test" / "1.txt").write_bytes(b"\xef\xbb\xbfOnce\r\nupon\r\n")
    assert [*load_books(folder, "test")][1] == "Once\nupon\n"


def test_what_is_wrong_with_books_is_said(tmp_path):
    folder = write_books(tmp_path / "pg19")
    with pytest.raises(DataFileError, match="train is missing.*books of PG-19"):
        load_books(tmp_path / "elsewhere", "train")
    (folder / "test" / "1.txt").write_bytes(b"caf\xe9")
    with pytest.raises(DataFileError, match="1.txt is damaged: byte 3 is no UTF-8"):
        [*load_books(folder, "test")]
    (folder / "validation" / "2.txt").write_bytes(b" \n")
    with pytest.raises(DataFileError, match="2.txt is damaged: nothing is written in it"):
        [*load_books(folder, "validation")]
    for file in (folder / "train").iterdir():
        file.unlink()
    with pytest.raises(DataFileError, match="train is damaged: no .txt file in it"):
        load_books(folder, "train")


# ----------------------------------------------------------------------------------------------------------- vocabulary


@pytest.mark.parametrize("size", [96, 120, 1024])
def test_a_text_is_what_its_tokens_stand_for(size):
    made = learn_vocabulary([SENTENCES], size)
    alphabet, draw = character_text.ALPHABET, random.Random(size)
    every = [SENTENCES, "", "a  b\n\n c1-2 ", *("".join(draw.choices(alphabet, k=200)) for _ in range(20))]
    for text in every:
        codes = made.encode(text)
        assert made.decode(codes) == text and codes.dtype == torch.int32
        assert not len(codes) or 0 <= int(codes.min()) <= int(codes.max()) < len(made) <= size
    assert (len(made.encode(SENTENCES)) < len(SENTENCES)) == (size > 96)


def test_the_most_frequent_pieces_are_kept():
    text = SENTENCES * 2 + " zebra"  # once, the others more often
    kept = learn_vocabulary([text], 96 + 3).pieces
    assert kept == (" mat", " on", " the")  # four times each, the others twice or once: in the order of the alphabet
    with pytest.raises(ValueError, match="96"):
        learn_vocabulary([text], 95)


def test_a_character_that_is_none_is_shown():
    for vocabulary in (Vocabulary(), Vocabulary((" the",))):
        with pytest.raises(ValueError, match="'\u00e9' is none of the 96"):
            vocabulary.encode("the \u00e9t\u00e9")
    assert in_alphabet("the \u00e9t\u00e9") == "the ?t?"


# --------------------------------------------------------------------------------------------------------------- levels


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


def test_a_level_needs_a_text():
    with pytest.raises(ValueError, match="texts of 6 tokens or more, got 3 in test"):
        ngram_level(torch.arange(30), torch.arange(3), 3, 40)


# ----------------------------------------------------------------------------------------------------------------- nets


def test_pieces_ask_for_every_token_once():
    tokens = torch.arange(100)
    x, y = dlr_table5.pieces(tokens, 7)
    assert (y == x + 1).all() and y.flatten().tolist() == [*range(1, 99)]  # 14 pieces
    with pytest.raises(ValueError, match="8 tokens has no piece of 8"):
        dlr_table5.pieces(tokens[:8], 8)


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


def test_bare_attention_is_attention_and_nothing_else():
    layer = RotaryAttention(8, heads=1, head_size=8, bare=True)
    with torch.no_grad():
        for map_ in (layer.Q, layer.K):
            map_.weight.zero_(), map_.bias.zero_()  # all scores alike: the mean of what came before
        for map_ in (layer.V, layer.O):
            map_.weight.copy_(torch.eye(8)), map_.bias.zero_()
    z = torch.randn(2, 5, 8)
    wanted = z.cumsum(1) / torch.arange(1, 6).view(1, 5, 1)
    torch.testing.assert_close(layer(z), wanted)


# ---------------------------------------------------------------------------------------------------------------- table


@pytest.fixture(scope="module")
def made():
    """A live record of every row and text, and of two tasks of the sweep."""
    tasks = [*TEXTS, "depth4-0.01", "depth16-0.03"]
    return [*tables.run_all(tables.plan("dlr/table5", tasks=tasks, seeds=[90]))]


def test_a_record_says_its_losses_and_levels(made):
    for record in made:
        metrics, levels = record["metrics"], record["levels"]
        assert metrics["finished"] and record["watched"][0]["step"] == 0 and record["watched"][-1]["step"] == 4
        assert levels["bigram"] < levels["unigram"] < math.log(record["text"]["vocabulary"])
        bits = metrics["test"] / math.log(2)
        assert metrics["bits_per_character"] == pytest.approx(bits, rel=1e-3) or record["task"] == "tokens"
        assert record["level_bits"]["unigram"] / levels["unigram"] == pytest.approx(
            metrics["bits_per_character"] / metrics["test"], rel=1e-3)
    characters, tokens = (next(r for r in made if r["task"] == task) for task in TEXTS)
    assert characters["text"]["vocabulary"] == 96 and tokens["text"]["vocabulary"] == 256
    assert characters["text"]["tested"] == tokens["text"]["tested"] and characters["text"]["tokens"] > tokens["text"]["tokens"]
    assert tokens["level_bits"]["unigram"] < characters["level_bits"]["unigram"]


def test_the_table_keeps_ours_and_the_papers_apart(made):
    text = report.table(made)
    ours, paper = text[: text.index("paper, PG-19")], text[text.index("paper, PG-19") :]
    assert "diverged" in paper and "2.86" in paper.split("test loss")[1] and "diverged" not in ours and "2.86" not in ours
    assert "unigram" in ours and "trigram" in ours and "transformer_post" in ours
    assert results.theirs(results.frame(made), "train_pg19").loc["16 experts", "dlr_post"] == "2.7"


def test_a_loss_that_is_no_number_is_recorded_as_that():
    setting = dlr_table5.TABLE.setting("transformer_post", "depth4-0.03", "live")
    lost = dlr_table5.measure({**setting, "rate": 1e30, "steps": 6}, seed=90)
    assert not lost["metrics"]["finished"] and lost["metrics"]["steps"] < 6 and lost["metrics"]["test"] is None
    record = {"experiment": "dlr/table5", "row": "transformer_post", "task": "depth4-0.03", "seed": 90, "budget": "live",
              "protocol": "ours", "wall_seconds": 1.0, **lost}  # fmt: skip
    assert "NaN !" in report.table([record]) and "no number" in report.table([record])
    assert verdict(record) == f"broken: no number at step {lost['metrics']['steps']:,}" and "test" not in report.line(record)


def test_the_budget_paper_is_the_papers():
    for row in dlr_table5.TABLE.rows:
        setting = dlr_table5.TABLE.setting(row, "tokens", "paper")
        assert (setting["layers"], setting["width"], setting["length"], setting["steps"]) == (16, 384, 4096, 60_000)
        assert setting["rate"] == 1e-3 and setting["recurrent_rate"] == pytest.approx(2e-4) and setting["device"] == "cuda"
        with torch.device("meta"):
            net = dlr_table5.build_net(setting, 32_000, seed=0)
        inner = sum(p.numel() for block in net.blocks for p in block.parameters())
        if row.startswith("transformer"):  # the paper's 36M are these and an embedding of 32,000 x 128, tied
            assert inner + 32_000 * 128 == pytest.approx(36e6, rel=0.02)
    with pytest.raises(ValueError, match="depth4-0.01"):
        dlr_table5.TABLE.setting("dlr_pre", "depth4-0.01", "paper")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_the_budget_paper_says_that_it_needs_a_gpu():
    with pytest.raises(ValueError, match="dlr/table5 at the budget paper needs a GPU"):
        next(tables.run_all(tables.plan("dlr/table5", rows=["ours"], tasks=["tokens"], seeds=[0], budget="paper")))


@pytest.mark.parametrize("task", TEXTS)
def test_the_budget_paper_reads_the_books(task, tmp_path, monkeypatch):
    monkeypatch.setenv("LRNNLAB_LONG_RANGE", str(tmp_path))
    (run,) = tables.plan("dlr/table5", rows=["dlr_pre"], tasks=[task], seeds=[90], budget="paper")
    run.setting.update(device="cpu", steps=2, looks=1, batch=2, layers=1, width=8, length=40, shown=2)
    run.setting["options"]["state"] = 4
    with pytest.raises(DataFileError, match="pg19 is missing.*LRNNLAB_LONG_RANGE"):
        next(tables.run_all([run]))
    folder = write_books(tmp_path / "pg19")
    record = next(tables.run_all([run]))
    tested = "".join(in_alphabet(text) + "\n" for text in load_books(folder, "test"))
    assert record["text"]["name"] == "PG-19" and record["text"]["tested"] == len(tested)
    assert "test loss, nats a token" in report.table([record]) and "?t?" in tested


# -------------------------------------------------------------------------------------------------------------- figures


def test_losses_are_drawn_as_they_are(made):
    figure = loss_by_step(results.frame(made), "tokens")
    levels = made[0]["levels"]
    for axes, place in zip(figure.axes, ("post", "pre")):
        drawn = [[float(y) for y in line.get_ydata()] for line in axes.lines]
        for mixer in ("dlr", "transformer"):
            (record,) = [r for r in made if (r["row"], r["task"]) == (f"{mixer}_{place}", "tokens")]
            assert [look["test"] for look in record["watched"]] in drawn
            assert [value for _, value in record["losses"]] in drawn
            levels = record["levels"]
        assert all([level, level] in drawn for level in levels.values())
    with pytest.raises(ValueError, match="got 0"):
        loss_by_step(results.frame([]), "tokens")


def test_rates_are_drawn_as_they_are(made):
    figure = loss_by_rate(results.frame(made))
    for axes, (layers, rate) in zip(figure.axes, ((4, "0.01"), (16, "0.03"))):
        points = {(float(x), float(y)) for line in axes.lines[:-1] for x, y in zip(line.get_xdata(), line.get_ydata())}
        assert points == {(float(rate), r["metrics"]["test"]) for r in made if r["task"] == f"depth{layers}-{rate}"}


# -------------------------------------------------------------------------------------------------------------- records


def recorded():
    return records.recorded("dlr/table5")


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
    text, by_cell = found("dlr/table5"), {(one["task"], one["row"]): one for one in recorded()}
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
    assert set(by_cell) == {(task, row) for task in dlr_table5.TABLE.tasks for row in dlr_table5.TABLE.rows}
    small = {task for (task, row), one in by_cell.items() if row == "dlr_post_small" and verdict(one).startswith("broken")}
    assert small == {"depth16-0.01", "depth16-0.03"}
    assert f"at .03 ({by_cell['depth4-0.03', 'dlr_post_small']['metrics']['test']:.2f})" in text
    at = {row: by_cell["depth16-0.001", row]["metrics"]["test"] for row in (*four, "dlr_post_small")}
    assert f"DLR is at {at['dlr_post']:.2f} where the Transformer has {at['transformer_post']:.2f}" in text
    assert at["dlr_post_small"] < at["dlr_post"] - 0.5 and f"{at['dlr_post_small']:.2f}" in text
