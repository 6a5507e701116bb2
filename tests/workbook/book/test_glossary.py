"""The glossary: nothing of the registries is missing, and what it says stands in a chapter stands there."""

import re
from pathlib import Path

import pytest
from proof_cells import sources

from lrnnlab.models import MODELS
from lrnnlab.tasks import TASKS
from workbook.book.glossary import model_map, task_map
from workbook.show import labels

PY = Path(__file__).resolve().parents[3] / "notebooks" / "py"
TEXT = (PY / "glossary.py").read_text(encoding="utf-8")
WORDS = re.findall(r"^# \| (\*\*.+?) \| (.+) \| (\d\d) \|$", TEXT, re.MULTILINE)  # of the tables of section 1


def chapter(number):
    """The source of a chapter in small letters, on one line."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources(number))
    return " ".join(text.replace("\n#", "\n").lower().split())


def terms():
    """(term, chapter) of every word in bold."""
    return [(term.lower(), number) for head, _, number in WORDS for term in re.findall(r"\*\*(.+?)\*\*", head)]


def missing(found, number):
    return found.lower() not in chapter(number)


def test_every_word_is_explained_once_in_one_or_two_sentences():
    heads = [head for head, _, _ in WORDS]
    assert len(WORDS) > 70 and len(set(heads)) == len(heads)
    assert len(WORDS) == len(re.findall(r"^# \| \*\*[^0-9]", TEXT, re.MULTILINE)), "a row of another form"
    assert all(30 < len(says) < 330 for _, says, _ in WORDS)


@pytest.mark.parametrize("term, number", terms())
def test_a_word_occurs_in_the_chapter_it_points_to(term, number):
    assert not missing(term, number)


def test_every_model_and_every_task_has_a_label():
    for known, registry in ((labels.MODELS, MODELS), (labels.TASKS, TASKS)):
        assert {name for name, label in known.items() if "says" in label} == set(registry)


@pytest.mark.parametrize("known", [labels.MODELS, labels.TASKS], ids=["models", "tasks"])
def test_models_and_tasks_occur_where_they_live(known):
    living = {name: label for name, label in known.items() if "chapter" in label}
    assert [name for name, label in living.items() if missing(label.get("text", label["name"]), label["chapter"])] == []


def test_one_of_your_own_is_listed_too(monkeypatch):
    monkeypatch.setitem(MODELS, "mine", MODELS["lstm"])
    monkeypatch.setitem(TASKS, "mine", TASKS["sum"])
    assert all("one of your own" in shown.splitlines()[-1] for shown in (model_map(), task_map()))
