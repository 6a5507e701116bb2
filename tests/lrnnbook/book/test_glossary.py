"""The glossary and its maps: nothing of the chapters and the registries is missing, what they point to is there."""

import importlib
import inspect
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest
from proof_cells import sources

from lrnnbook.content.show import labels
from lrnnbook.machinery.book import glossary as maps
from lrnnbook.machinery.book.site.extension import mathml
from lrnnbook.machinery.copies import chapters_in
from lrnnlab.models import MODELS
from lrnnlab.tasks import TASKS

PY = Path(__file__).resolve().parents[3] / "notebooks" / "py"
CHAPTERS = [path for path in chapters_in(PY, ".py") if path.stem[0].isdigit()]
TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in CHAPTERS}
LINK = re.compile(r"\]\(([\w/]+)\.ipynb(?:#([^) ]*))?\)")


@pytest.fixture(scope="module")
def every():
    """name -> Markdown of each map."""
    return {"theorems": maps.theorem_map(), "widgets": maps.widget_map(), "models": maps.model_map(),
            "tasks": maps.task_map(), "papers": maps.bibliography()}  # fmt: skip


@cache
def headings(stem):
    """The headings of a chapter as JupyterLab would address them, by the plainest of means."""
    found = re.findall(r"^# ##+ +(.+)$", TEXTS[stem], re.MULTILINE)
    return [re.sub(r"[*`](?![^$]*\$)", "", one).strip().replace(" ", "-") for one in found]


@pytest.mark.parametrize("name", ["theorems", "widgets", "models", "tasks", "papers"])
def test_no_link_of_a_map_is_dead(every, name):
    links = [(Path(page), place) for page, place in LINK.findall(every[name])]
    assert len(links) > 20
    dead = [(page, place) for page, place in links if not (PY / f"{page}.py").is_file() or (place and headings(page.name).count(unquote(place)) != 1)]  # fmt: skip
    assert dead == []


def test_every_model_stands_in_its_map_with_its_class(every):
    rows = re.findall(r'^\| "(\w+)" \|.*\| `([\w.]+)` \|$', every["models"], re.MULTILINE)
    assert [name for name, _ in rows] == list(MODELS)
    for _, place in rows:
        module, _, name = place.rpartition(".")
        made = getattr(importlib.import_module(module), name)
        assert inspect.isclass(made) and made.__module__ == module


def test_every_model_names_a_paper_that_the_book_links(every):
    rows = [line for line in every["models"].splitlines() if line.startswith('| "')]
    known = {paper.number for path in CHAPTERS for paper in maps.references(path)}
    named = [re.search(r"\[(\d{3}|[\d.]+)\]\(https://arxiv\.org/abs/([\d.]+)\)", row) for row in rows]
    assert all(named) and {found[2] for found in named} <= known
    for found in named:
        assert maps.PAPERS.get(found[1], found[1]) == found[2]


def test_every_task_stands_in_its_map_with_its_levels(every):
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in every["tasks"].splitlines()]
    assert {row[0].strip('"') for row in rows[2:]} == set(TASKS)
    column = rows[0].index("majority")
    for name, level in {"sum": 1 / 5, "evenpair": 4 / 5, "s_4": 2 / 24, "parity": 1 / 2}.items():  # by hand
        [row] = [row for row in rows if row[0] == f'"{name}"']
        assert float(row[column]) == pytest.approx(level, rel=0.01)


def test_every_widget_stands_in_its_map(every):
    for stem, text in TEXTS.items():
        shown = re.findall(r"^(\w+_widget)$", text, re.MULTILINE)
        assert re.findall(rf"^\* \[`(\w+)`\]\((?:deeper/)?{stem}", every["widgets"], re.MULTILINE) == shown
    assert every["widgets"].count("_widget`") > 30
    assert all(": " in line for line in every["widgets"].splitlines() if "`kernel_widget`" in line or "`norm_widget`" in line)


def test_every_claim_stands_in_its_map(every):
    """Each paragraph of a chapter that begins with the bold word; the exact forms are the map's own matter."""
    for stem, text in TEXTS.items():
        begun = re.findall(r"^# (?:> )?\*\*(?:The paper, )?((?:Theorem|Lemma|Proposition|Corollary|Claim)\b[^*]*)\*\*( \()?", text, re.M)
        said = [name.rstrip(".") for name, remark in begun if name.endswith(".") or remark]
        listed = re.findall(rf"^\* \[\*\*(?:The paper, )?(.+?)\*\*\]\((?:deeper/)?{stem}", every["theorems"], re.MULTILINE)
        assert listed == said, stem
    assert every["theorems"].count("\n* ") > 70


def test_no_formula_of_a_map_is_cut(every):
    formulas = [formula for text in every.values() for formula in re.findall(r"(?<!\\)\$([^$\n]+)\$", text)]
    assert len(formulas) > 100 and all("<math " in mathml(formula) for formula in formulas)  # raises for half a formula
    assert all(line.replace(r"\$", "").count("$") % 2 == 0 for line in every["theorems"].splitlines())


def read_on(path):
    return path.read_text(encoding="utf-8").rpartition("Read on\n")[2]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_number_of_an_arxiv_paper_is_a_link_with_a_title(path):
    numbers = re.findall(r"\d{4}\.\d{5}(?!\d)", re.sub(r"\(https://[^)]*\)", "", read_on(path)))
    papers = maps.references(path)
    assert [paper.number for paper in papers if "arxiv" in paper.address] == numbers
    assert numbers or path.stem[2] != "_"  # a lettered notebook may leave them to its sitting
    for paper in papers:
        assert paper.title and paper.authors and paper.number.lower() in paper.address.lower(), paper


def test_the_bibliography_has_every_paper_once_the_book_s_first(every):
    numbers = re.findall(r"\[(?:arXiv|doi):([^\]]+)\]", every["papers"])
    assert {number.lower() for number in numbers} == {
        paper.number.lower() for path in CHAPTERS for paper in maps.references(path)}  # fmt: skip
    assert len(numbers) == len(set(numbers)) and numbers[:5] == list(maps.PAPERS.values())
    lines = every["papers"].splitlines()[5:]
    assert lines[0].startswith("* M. Arjovsky") and lines[-1].startswith("* S. Yang")


GLOSSARY = (PY / "glossary.py").read_text(encoding="utf-8")
WORDS = re.findall(r"^# \| (\*\*.+?) \| (.+) \| (\d\d) \|$", GLOSSARY, re.MULTILINE)  # of the tables of section 1


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
    assert len(WORDS) == len(re.findall(r"^# \| \*\*[^0-9]", GLOSSARY, re.MULTILINE)), "a row of another form"
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
    assert all("one of your own" in shown.splitlines()[-1] for shown in (maps.model_map(), maps.task_map()))
