"""The README's code runs as it stands there, and the commands that it and other pages show are ones that exist."""

import argparse
import re
import shlex
import sys
from pathlib import Path

import pytest
import torch

from lrnnbook import tables
from lrnnbook.machinery import cli
from lrnnlab.models import MODELS, build
from lrnnlab.tasks import TASKS, task
from lrnnlab.training import Phase, Recipe, fit

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.S)


def run(*blocks):
    """Run the blocks as cells of one notebook."""
    names = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)


@pytest.fixture
def restored():
    """Registries that are afterwards what they were."""
    tasks, models = dict(TASKS), dict(MODELS)
    yield
    for registry, before in ((TASKS, tasks), (MODELS, models)):
        registry.clear()
        registry.update(before)


@pytest.fixture
def registries(restored):
    for block in BLOCKS[1:3]:
        run(block)


def test_all_that_is_shown_runs_in_one_notebook(restored, capsys):
    (proof,) = re.findall(r"`(verify\(quantise[^`]*)`", README)
    run(*BLOCKS, f"from lrnnlab import quantise, verify\nasked = last_two_equal()\nprint({proof})")
    *others, verdict = capsys.readouterr().out.splitlines()
    assert others == ["1.0", "True", "1.0"] and verdict.startswith("proved for every string")


def test_the_files_to_read_first_are_there_and_can_be_read_in_a_day():
    files = [ROOT / name for name in re.findall(r"^\d+\. `(lrnnlab/\S+\.py)`: ", README, re.M)]
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
    said = int(re.search(r"these nine files have ([\d,]+) lines", README)[1].replace(",", ""))
    assert len(files) == 9 and lines <= 3000 and abs(lines - said) < 100


def test_what_is_shown_last_runs_alone(registries, capsys):
    run(BLOCKS[3])
    assert capsys.readouterr().out.splitlines() == ["1.0"]


def test_the_model_trains_and_steps(registries):
    lasttwo = task("lasttwo")
    model = build("signed_diagonal", vocab_size=2, classes=2, seed=3)
    tokens = torch.tensor([[0, 1, 1, 0, 1]])
    state, stepped = model.initial_state(1), []
    for t in range(5):
        state, logits = model.step(state, tokens[:, t])
        stepped.append(logits)
    assert torch.allclose(model(tokens), torch.stack(stepped, 1), atol=1e-5)
    result = fit(
        lambda seed: build("signed_diagonal", vocab_size=2, classes=2, seed=seed), lasttwo,
        Recipe((Phase(steps=60, lr=1e-2),), batch_size=16), seed=0, progress=False,
    )  # fmt: skip
    assert result.losses[-1][1] < result.losses[0][1]


def commands():
    """(file, arguments) of every ``lrnnlab ...`` that a page, a chapter or an exercise shows: in backticks, or a line's own."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "notebooks").glob("*.md"),
             *(ROOT / "notebooks" / "py").rglob("*.py"), *(ROOT / "notebooks" / "lrnnbook" / "content" / "exercises").glob("*.md")]  # fmt: skip
    for page in sorted(pages):
        text = page.read_text(encoding="utf-8")
        found = re.findall(r"`(?:python -m )?lrnnlab ([a-z][^`\n]*)`", text)
        found += re.findall(r"^(?:# )?(?:python -m )?lrnnlab ([a-z].*)$", text, re.MULTILINE)
        for line in dict.fromkeys(found):
            words = tuple(shlex.split(line, comments=True))
            if words not in (("reproduce",), ("bench",), ("course",)):  # a verb alone is named, not called
                yield pytest.param(words, id=f"{page.name}: {' '.join(words)}")


class Parsed(Exception):
    """The call was understood; nothing has run."""


@pytest.mark.parametrize("words", list(commands()))
def test_a_command_that_a_page_shows_is_understood(words, monkeypatch, tmp_path, restored):
    def only(parse):
        def parsed(parser, argv):
            raise Parsed(parse(parser, argv))

        return parsed

    for way in ("parse_args", "parse_intermixed_args"):
        monkeypatch.setattr(argparse.ArgumentParser, way, only(getattr(argparse.ArgumentParser, way)))
    with pytest.raises(Parsed) as found:
        cli.main(words)
    options = found.value.args[0]
    if "mine.yaml" in words:  # as the README has it, beside its module
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "path", [*sys.path])
        Path("mine.yaml").write_text(re.search(r"```yaml\n(like:.*?)```", README, re.S)[1], encoding="utf-8")
        Path("my_module.py").write_text(next(block for block in BLOCKS if "class SignedDiagonal" in block), encoding="utf-8")
    if words[0] == "reproduce":  # and every name in it is one
        names = {name: getattr(options, name) for name in ("budget", "protocol", "tasks", "rows", "seeds")}
        assert tables.plan(options.experiment, **names)
    if words[0] == "book":
        shown = [name for name in options.names if name not in ("NAME", "NN")]
        assert all(list((ROOT / "notebooks").rglob(f"{name}*.ipynb")) for name in shown)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "notebooks/TEACHING.md"])
def test_every_file_that_a_page_names_exists(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    named = [(ROOT / page).parent / target for target in re.findall(r"\]\(([^)#:]+)\)", text)]
    named += [ROOT / path for path in re.findall(r"`((?:lrnnlab|tests|notebooks)/[a-z0-9_/.]+)`", text)]  # NN is any
    assert not [str(path) for path in named if not path.exists()]


@pytest.mark.parametrize("text", ["README.md", "notebooks/py/00_start_here.py"])
def test_a_map_links_every_chapter_that_is_open(text):
    rows = re.findall(r"^(?:# )?\| (\[?.*?) \|", (ROOT / text).read_text(encoding="utf-8"), re.MULTILINE)
    linked = {Path(found[1]).stem for row in rows if (found := re.search(r"\((.*?\.ipynb)\)", row))}
    there = {notebook.stem for notebook in (ROOT / "notebooks").glob("*.ipynb")}
    assert there - linked <= {Path(text).stem}
    assert linked <= there


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks" / "deeper").glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_lettered_notebook_and_its_sitting_link_each_other(path):
    (sitting,) = path.parents[1].glob(f"{path.stem[:2]}_*.ipynb")
    assert f"(deeper/{path.name})" in sitting.read_text(encoding="utf-8") and f"(../{sitting.name})" in path.read_text(encoding="utf-8")


def test_who_cites_finds_the_same_in_every_place():
    """CITATION.cff, README's BibTeX and the wheel's metadata; what a reader copies is what the release says."""
    yaml, tomllib = pytest.importorskip("yaml"), pytest.importorskip("tomllib")  # tomllib comes with Python 3.11
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ((name, fields),) = re.findall(r"```bibtex\n@software\{(\w+),\n(.*?)\n\}\n```", README, re.S)
    told = {key: value.strip("{}") for key, value in re.findall(r"(\w+) = (\{.*\})", fields)}
    authors = " and ".join(author["name"] for author in cited["authors"])
    assert told == {"title": cited["title"], "author": authors, "version": cited["version"],
                    "date": str(cited["date-released"]), "license": cited["license"]}  # fmt: skip
    assert [name, told["version"], told["license"]] == [project["name"], project["version"], project["license"]]
    assert [[one["name"] for one in project["authors"]], project["keywords"]] == [[authors], cited["keywords"]]
