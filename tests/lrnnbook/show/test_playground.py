"""The page in which nets run, break and are proved: torch's answers, ``verify``'s verdicts, and nothing asked of a network."""

import copy
import json
import re

import numpy as np
import pytest
import torch
from browser import MS, ROOT, violations

from lrnnbook.content.chapters import playground
from lrnnbook.content.show.interactive import module
from lrnnbook.content.show.interactive.export import page_net
from lrnnbook.content.tables import plan, train_run
from lrnnbook.machinery.book.command import main
from lrnnlab import snap, task, verify
from lrnnlab.models.exact import symbol_transitions
from lrnnlab.verification.semantics.certificate import check_certificate

BROKEN = 500


@pytest.fixture(scope="module")
def trained():
    """The two nets of chapter 00."""
    return {row: train_run(plan("lrnn/table2", tasks=["sum"], rows=[row], seeds=[seed])[0], progress=False).net.double().eval()
            for row, seed in (("softmax", 101), ("diagonal_complex", 2))}  # fmt: skip


@pytest.fixture(scope="module")
def ask(browser):
    """ask(name, values...) calls one of the page's functions."""
    page = browser.new_page()
    page.set_default_timeout(MS)
    page.evaluate("""async source => {
      const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
      window.mathematics = (await import(url)).default.mathematics;
    }""", module("playground"))  # fmt: skip
    yield lambda name, *values: page.evaluate("([name, values]) => mathematics[name](...values)", [name, values])
    page.close()


@pytest.mark.parametrize("row", ["softmax", "diagonal_complex"])
def test_every_answer_of_the_page_is_torch_s(ask, trained, row):
    words = torch.randint(5, (64, 500), generator=torch.Generator().manual_seed(7))
    with torch.no_grad():
        answers = trained[row](words).argmax(-1)
    found = ask("answers", page_net(trained[row], task("sum", 5).specification), words.tolist())
    assert (np.array(found) == answers.numpy()).all()


def with_columns(net, cuts):
    """The snapped net with some columns sent elsewhere: (token, block, from) -> to, by weights that only these tokens feel."""
    broken = copy.deepcopy(net)
    layer = broken.layers[0]
    hidden, last = layer.generator[:-1], layer.generator[-1]
    features = hidden(broken.symbol_inputs())  # (V, F), independent of each other
    alone = torch.linalg.pinv(features)  # (F, V): of these, token v feels column v only
    for (token, block, origin), to in cuts.items():
        wish = torch.zeros(layer.b, layer.h, layer.b, dtype=features.dtype)  # rows first, as the layer has them
        wish[to, block, origin] = 1000.0
        with torch.no_grad():
            last.weight += wish.flatten()[:, None] * alone[:, token]
        assert symbol_transitions(broken)[0][token, block, :, origin].argmax() == to
    return broken


@pytest.mark.thorough
def test_the_page_s_verdict_on_broken_nets_is_verify_s(ask, trained):
    """One to three columns of a proved net go elsewhere: proved alike, and wrong strings of the same length."""
    net, specification = snap(trained["softmax"]), task("sum", 5).specification
    given, draw, verdicts = page_net(trained["softmax"], specification), np.random.default_rng(11), []
    for case in range(BROKEN):
        cuts = {(int(draw.integers(5)), int(draw.integers(8)), int(draw.integers(8))): int(draw.integers(8)) for _ in range(case % 3 + 1)}
        verdict = verify(with_columns(net, cuts), specification)
        found = ask("snapped", given, {",".join(map(str, place)): to for place, to in cuts.items()})
        assert found["closed"] == verdict.proved, cuts
        assert len(found["word"] or []) == len(verdict.counterexample or []), cuts
        verdicts.append(verdict.proved)
    assert 50 < sum(verdicts) < BROKEN - 50


def test_what_is_recorded_is_proved_and_refuted_as_the_page_says(ask):
    nets = [one["net"] for one in playground.recorded()["nets"]]
    assert ask("snapped", nets[0])["closed"]
    assert [ask("restarted", net)["closed"] for net in nets[1:]] == [True, True, True]
    assert ask("snapped", nets[3])["word"]  # A_5: snapped it is wrong


def test_the_page_s_certificates_pass_python_s_check_and_changed_ones_neither(ask):
    nets = [one["net"] for one in playground.recorded()["nets"]]
    texts = [ask("certificate", nets[0], False), *(ask("certificate", net, True) for net in nets[1:])]
    for text in texts:
        check_certificate(text)
        assert ask("whyNoProof", text) == ""
        for spoil in SPOILED:
            found = json.loads(text)
            spoil(found)
            changed = json.dumps(found)
            assert ask("whyNoProof", changed) != ""
            with pytest.raises(ValueError):
                check_certificate(changed)


SPOILED = (
    lambda found: found["places"].pop(),
    lambda found: found["net"]["arrows"][1].reverse(),
    lambda found: found["net"]["answers"].__setitem__(1, (found["net"]["answers"][1] + 1) % 2),
    lambda found: found["task"].__setitem__("start", len(found["task"]["arrows"]) - 1),
    lambda found: found.__setitem__("format", "lrnnlab certificate 2"),
    lambda found: found["net"].__setitem__("weights", []),
    lambda found: found["places"].append([10**6, 0]),
)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    out = tmp_path_factory.mktemp("alone") / "new" / "playground.html"
    assert main(["playground", "--out", str(out)]) == 0
    return out


def test_the_page_in_figures_is_what_the_command_makes(alone):
    assert (ROOT / "figures/playground.html").read_bytes() == alone.read_bytes()


def test_arrows_go_from_tile_to_tile_and_from_cell_to_cell(visit, alone, tmp_path):
    assert main(["atlas", "--out", str(tmp_path / "atlas.html")]) == 0
    page = visit(tmp_path / "atlas.html")
    tiles, met = page.locator(".tiles button"), set()
    tiles.first.focus()
    for key in ["ArrowRight"] * 215 + ["ArrowLeft", "ArrowUp", "ArrowDown"]:
        met.add(page.evaluate("document.activeElement.getAttribute('aria-label')"))
        page.keyboard.press(key)
    assert len(met) == tiles.count() == 216 and page.locator(".tiles [tabindex='0']").count() == 1
    page = visit(alone)
    page.locator("[data-cell='0,0']").focus()
    for row in range(8):
        for _ in range(7):
            page.keyboard.press("ArrowLeft" if row % 2 else "ArrowRight")
        assert page.evaluate("document.activeElement.dataset.cell") == f"{row},{0 if row % 2 else 7}"
        page.keyboard.press("ArrowDown")


def test_a_file_that_is_no_such_page_is_not_written_over(tmp_path, capsys):
    notes = tmp_path / "notes.md"
    notes.write_text("mine", encoding="utf-8")
    assert main(["atlas", "--out", str(notes)]) == 2 and str(notes) in capsys.readouterr().err
    assert notes.read_text(encoding="utf-8") == "mine"


def proof(page):
    page.get_by_role("button", name="search").click()
    return page.locator(".verdict").inner_text()


@pytest.mark.parametrize("width, scheme", [(390, "dark"), (1280, "light")])
def test_the_page_alone_proves_at_the_first_click(visit, alone, width, scheme):
    page = visit(alone, width, scheme, reduced_motion="reduce")
    score = page.get_by_role("status")
    page.get_by_role("textbox", name="your word").fill("04321")
    assert "Right at every position" in score.inner_text()
    assert "right on every string of every length" in proof(page)
    page.get_by_role("combobox", name="network", exact=True).select_option(index=2)
    page.get_by_role("button", name="restart", exact=True).click()
    page.get_by_role("button", name="500 random letters").click()
    assert "Right at every position" in score.inner_text() and "restarted net is right on every string" in proof(page)
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width
    assert violations(page) == []


def test_a_net_is_broken_by_the_keyboard_and_its_shortest_wrong_string_is_in_the_box(visit, alone):
    page = visit(alone, reduced_motion="reduce")
    followed = re.search(r"of blocks? (\d)", proof(page))[1]
    page.get_by_role("combobox", name="block", exact=True).select_option(followed)
    page.locator("[data-cell='0,0']").focus()
    for _ in range(8):  # every state goes to state 0: nothing is counted any more
        page.keyboard.press("Enter")
        page.keyboard.press("ArrowRight")
    said, word = proof(page), page.get_by_role("textbox", name="your word").input_value()
    assert f"the shortest wrong string is {word} " in said and "Wrong at 1 of" in page.get_by_role("status").inner_text()
