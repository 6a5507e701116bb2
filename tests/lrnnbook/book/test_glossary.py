"""The glossary is in step with the chapters and the registries: nothing is missing, and what it points to is there."""

import re
from functools import cache, partial
from pathlib import Path
from urllib.parse import unquote

import pytest
from proof_cells import sources

from lrnnbook.content.show import labels
from lrnnbook.machinery.book.site.extension import mathml
from lrnnbook.machinery.book.site.pages import PAPER
from lrnnbook.machinery.copies import chapters_in
from lrnnlab.models import MODELS, network, reads_numbers
from lrnnlab.tasks import TASKS, task

PY = Path(__file__).resolve().parents[3] / "notebooks" / "py"
CHAPTERS = [path for path in chapters_in(PY, ".py") if path.stem[0].isdigit()]
TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in CHAPTERS}
GLOSSARY = (PY / "glossary.py").read_text(encoding="utf-8")
NAMES = ["words", "letters", "models", "tasks", "papers", "theorems", "widgets"]
SECTIONS = dict(zip(NAMES, re.split(r"^# ## \d .*\n", GLOSSARY, flags=re.MULTILINE)[1:], strict=True))
LINK = re.compile(r"\]\(([\w/]+)\.ipynb(?:#([^) ]*))?\)")
OWN = ["2309.07412", "2407.07239", "2305.03796", "2310.16076", "2212.00768"]  # papers 000 to 004


def rows(name):
    """The cells of every row of a section's table, by the name in quotes that it begins with."""
    found = [re.split(r" (?<!\\)\| ", line.removeprefix("# | ").removesuffix(" |")) for line in SECTIONS[name].splitlines()]
    return {cells[0].strip('"'): cells[1:] for cells in found if cells[0].startswith('"')}


def plain(text):
    """A text in one line, without the marks of emphasis and code."""
    return re.sub(r"[*`]|^# ?(> ?)?", "", " ".join(re.sub(r"\n#? ?(> ?)?", " ", text).split()))


@cache
def headings(stem):
    """The headings of a chapter as JupyterLab would address them, by the plainest of means."""
    found = re.findall(r"^# ##+ +(.+)$", TEXTS[stem], re.MULTILINE)
    return [re.sub(r"[*`](?![^$]*\$)", "", one).strip().replace(" ", "-") for one in found]


@pytest.mark.parametrize("name", NAMES[2:])
def test_no_link_is_dead(name):
    links = [(Path(page), place) for page, place in LINK.findall(SECTIONS[name])]
    assert len(links) > 20
    dead = [(page, place) for page, place in links if not (PY / f"{page}.py").is_file() or (place and headings(page.name).count(unquote(place)) != 1)]  # fmt: skip
    assert dead == []


def class_of(made):
    """The class behind an entry of the registry of models."""
    while isinstance(made, partial):
        made = made.args[0] if made.func is network else made.func
    return getattr(made, "__self__", made)


def test_every_model_is_listed_with_what_it_reads_its_paper_and_its_class():
    found, papers = rows("models"), {paper["number"] for paper in PAPER.finditer(GLOSSARY)}
    assert list(found) == list(MODELS)
    for name, (says, reads, paper, chapter, made) in found.items():
        model = class_of(MODELS[name])
        assert made == f"`{model.__module__}.{model.__qualname__}`" and says
        assert chapter.startswith(f"[{labels.MODELS[name]['chapter']}](")
        assert reads == ("tokens, numbers" if reads_numbers(name) else "tokens")
        number, address = re.fullmatch(r"\[([\d.]+)\]\(https://arxiv\.org/abs/([\d.]+)\)", paper).groups()
        assert address in papers and address == (OWN[int(number)] if "." not in number else number)


def test_every_task_is_listed_with_its_length_its_score_and_its_levels():
    found = rows("tasks")
    assert list(found) == list(TASKS)
    for name, (reads, says, length, chance, majority, score, chapter) in found.items():
        one = task(name)
        assert chapter.startswith(f"[{labels.TASKS[name]['chapter']}](")
        levels = {level: f"{value:.2g}" for level, value in one.levels(one.train_length).items()}
        assert says and reads == f"{one.input_size} {'numbers a step' if one.reads == 'numbers' else 'letters'}"
        assert (length, levels, score) == (str(one.train_length), {"chance": chance, "majority": majority}, one.score)


def test_every_widget_is_listed():
    for stem, text in TEXTS.items():
        shown = re.findall(r"^(\w+_widget)$", text, re.MULTILINE)
        assert re.findall(rf"^# \* \[`(\w+)`\]\((?:deeper/)?{stem}", SECTIONS["widgets"], re.MULTILINE) == shown
    assert SECTIONS["widgets"].count("_widget`") > 30


def test_every_claim_is_listed_in_the_words_of_its_chapter():
    """Each paragraph of a chapter that begins with the bold word."""
    for stem, text in TEXTS.items():
        begun = re.findall(r"^# (?:> )?\*\*(?:The paper, )?((?:Theorem|Lemma|Proposition|Corollary|Claim)\b[^*]*)\*\*( \()?", text, re.M)
        said = [name.rstrip(".") for name, remark in begun if name.endswith(".") or remark]
        listed = re.findall(rf"^# \* \[\*\*(?:The paper, )?(.+?)\*\*\]\((?:deeper/)?{stem}[^ ]*\): (.*)$", SECTIONS["theorems"], re.MULTILINE)
        assert [name for name, _ in listed] == said, stem
        chapter = plain(text)
        for name, says in listed:
            assert plain(says.removesuffix(" ...").strip('"')) in chapter, (stem, name)
    assert SECTIONS["theorems"].count("\n# * ") > 70


def test_no_formula_is_cut():
    formulas = [formula for name in NAMES[2:] for formula in re.findall(r"(?<!\\)\$([^$\n]+)\$", SECTIONS[name])]
    assert len(formulas) > 100 and all("<math " in mathml(formula) for formula in formulas)  # raises for half a formula
    assert all(line.replace(r"\$", "").count("$") % 2 == 0 for line in SECTIONS["theorems"].splitlines())


def read_on(path):
    return path.read_text(encoding="utf-8").rpartition("Read on\n")[2].partition("\n# %%")[0]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_number_of_an_arxiv_paper_is_a_link_with_a_title(path):
    numbers = re.findall(r"\d{4}\.\d{5}(?!\d)", re.sub(r"\(https://[^)]*\)", "", read_on(path)))
    linked = re.findall(r"\*[^*]+\*(?!\*)[^*]*?\[arXiv:([^\]]+)\]\(https://arxiv\.org/abs/\1\)", read_on(path))
    assert linked == numbers
    assert numbers or path.stem[2] != "_"  # a lettered notebook may leave them to its sitting


def test_every_paper_of_a_read_on_is_listed_once_with_its_chapters_the_book_s_first():
    named = {}
    for path in CHAPTERS:
        for number in dict.fromkeys(re.findall(r"\[(?:arXiv|doi):([^\]]+)\]\(https", read_on(path))):
            named.setdefault(number.lower(), []).append(path.stem.partition("_")[0])
    lines = re.findall(r"^# \* .*\[(?:arXiv|doi):.*$", SECTIONS["papers"], re.MULTILINE)
    papers = [PAPER.match(line) for line in lines]
    assert all(papers) and [paper["number"] for paper in papers[:5]] == OWN
    assert {paper["number"].lower(): re.findall(r"\[(\d\d\w?)\]\([\w/]+\.ipynb\)", line) for paper, line in zip(papers, lines)} == named
    assert len(papers) == len(named) and all(paper["number"].lower() in paper["address"].lower() for paper in papers)
    book = plain(" ".join(read_on(path) for path in CHAPTERS))
    assert [paper["title"] for paper in papers if plain(paper["title"]) not in book] == []
    surnames = [re.split(r",| and | et al", paper["authors"])[0].split()[-1].lower() for paper in papers[5:]]
    assert surnames == sorted(surnames)


WORDS = re.findall(r"^# \| (\*\*.+?) \| (.+) \| (\d\d) \|$", SECTIONS["words"], re.MULTILINE)


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


@pytest.mark.parametrize("known", [labels.MODELS, labels.TASKS], ids=["models", "tasks"])
def test_models_and_tasks_occur_where_they_live(known):
    living = {name: label for name, label in known.items() if "chapter" in label}
    assert [name for name, label in living.items() if missing(label.get("text", label["name"]), label["chapter"])] == []
