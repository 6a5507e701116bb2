"""The README's code runs as it stands there, and its commands are the ones that exist."""

import re
from pathlib import Path

import pytest
import torch

from lrnnlab.course.exercises import Exercise
from lrnnlab.course.judging import RIGHT, expect, judge
from lrnnlab.models import MODELS, build
from lrnnlab.tasks import TASKS, task
from lrnnlab.training import Phase, Recipe, fit

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.S)


@pytest.fixture
def registries():
    tasks, models = dict(TASKS), dict(MODELS)
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), {})
    yield
    for registry, before in ((TASKS, tasks), (MODELS, models)):
        registry.clear()
        registry.update(before)


def test_the_blocks_are_short():
    assert len(BLOCKS) == 3
    assert all(len([line for line in block.splitlines() if line.strip()]) <= 20 for block in BLOCKS)


def test_the_task_agrees_with_its_oracle(registries):
    lasttwo = task("lasttwo")
    tokens = torch.randint(2, (200, 17), generator=torch.Generator().manual_seed(0))
    assert lasttwo.targets(tokens).tolist() == [lasttwo.answer(row) for row in tokens]
    assert lasttwo.targets(lasttwo.read("abbaa")[None]).tolist() == [[0, 0, 1, 0, 1]]


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
        Recipe((Phase(steps=60, lr=1e-2),), batch=16), seed=0, progress=False,
    )  # fmt: skip
    assert result.losses[-1][1] < result.losses[0][1]


def test_ci_runs_the_readmes_test_command():
    assert "python bootstrap.py test" in README
    assert "python3 bootstrap.py test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


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


def test_the_exercise_of_teaching_md_is_one():
    text = (ROOT / "notebooks" / "TEACHING.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    space = {"expect": expect}
    exec(code, space)
    assert judge(lambda: Exercise(*space["EXERCISES"][0]).test(lambda n: 2 * n)).outcome == RIGHT
