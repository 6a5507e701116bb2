"""Look-alikes: copies with other names are found, answers of one kind are not, and nothing is claimed."""

import pytest
from planted import Handout, plants

from lrnnbook.machinery.grading.alike import alike
from lrnnbook.machinery.grading.grading import Report

pytest.importorskip("nbgrader", reason="a release needs nbgrader: pip install -e '.[course]'")


def test_a_copy_with_other_names_is_found_and_own_work_is_not():
    """Of a set that builds: the source's own answer, a copy of it in disguise, and each planted one."""
    own = Handout.of("ps6").answers["ps6.4"]
    disguised = own.replace("heads", "where").replace("queue", "todo").replace('"""A shortest wrong word, or None."""', '"""Mine!"""  # really')
    others = [plant.source for plant in plants("ps6") if plant.task == "ps6.4"]
    answers = {"ann": own, "bob": disguised.replace("    ", "  "), **{f"own{n}": text for n, text in enumerate(others)}}
    found = list(alike([Report(name, (), answers={"ps6.4": text}) for name, text in answers.items()]))
    assert found[:-1] == ["ps6.4: ann and bob wrote the same, but for names and comments"]
    assert found[-1].startswith("This proves nothing")


def test_short_answers_are_alike_by_nature_and_an_import_is_named():
    short = "def f(n):\n    return n + 1\n"
    own = "def f(n):\n    from lrnnbook.content.exercises.contracts import scan\n    return scan(n)\n"
    found = list(alike([Report(name, (), answers={"t": text}) for name, text in (("a", short), ("b", short), ("c", own), ("d", "def f(:"))]))
    assert found[:-1] == ["t: c imports the package"]
