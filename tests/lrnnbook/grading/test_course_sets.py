"""The problem sets: their release leaks nothing, their tests take what is right and nothing that is planted wrong."""

import json
import re
import tempfile
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

import nbformat
import pytest
from planted import Handout, plants

from lrnnbook.content.exercises.judging import RIGHT, CannotJudge
from lrnnbook.machinery.grading.command import main
from lrnnbook.machinery.grading.fence import Limits
from lrnnbook.machinery.grading.fence import find as find_fence
from lrnnbook.machinery.grading.grading import BY_HAND, grade_notebook
from lrnnbook.machinery.grading.releasing import leaks, release
from lrnnbook.machinery.grading.sets import HIDDEN, SOLUTION, find, inside, load, source_of
from lrnnbook.machinery.grading.submissions import read

NAMES = ("ps0", "ps1", "ps2", "ps3", "ps4", "ps5", "ps6", "ps7")
ROOT = Path(__file__).parents[3]
every_set = pytest.mark.parametrize("name", NAMES)

pytest.importorskip("nbgrader", reason="a release needs nbgrader: pip install -e '.[course]'")


@pytest.fixture(scope="module")
def handouts():
    return {name: Handout.of(name) for name in NAMES}


@pytest.fixture(scope="module")
def fence():
    """The fence of this machine; where it has none, these submissions, which are ours, run without."""
    return find_fence(unfenced=True)


def as_read(notebook):
    with tempfile.TemporaryDirectory() as folder:
        nbformat.write(notebook, Path(folder) / "ps.ipynb")
        return read(Path(folder) / "ps.ipynb")


@every_set
def test_the_release_leaks_nothing(name, tmp_path):
    """Every line of a solution or a hidden test is searched for; this search shares no code with the release's own."""
    from nbgrader.nbgraderformat import MetadataValidator

    path = release(name, tmp_path)
    assert path == tmp_path / f"{name}.ipynb"
    released = json.loads(path.read_text(encoding="utf-8"))
    text = "\n".join(line for cell in released["cells"] for line in "".join(cell["source"]).splitlines())
    secret, allowed, kind = [], [], "allowed"
    for line in find(name).read_text(encoding="utf-8").splitlines():
        if "### BEGIN" in line or "### END" in line:
            kind = "secret" if "BEGIN" in line else "allowed"
        else:
            (secret if kind == "secret" else allowed).append(line.strip().removeprefix("# "))
    told = [line for line in secret if len(line) > 8 and line not in "\n".join(allowed)]
    assert len(told) > {"ps0": 4, "ps7": 14}.get(name, 30)
    raw = path.read_text(encoding="utf-8")
    for line in told:
        assert line not in text
        assert json.dumps(line)[1:-1] not in raw
    assert "### BEGIN" not in raw
    assert set(released["metadata"]) == {"kernelspec", "lrnnlab"}  # jupytext's would pair it
    assert not any(cell.get("outputs") for cell in released["cells"])
    assert release(name, tmp_path).read_text(encoding="utf-8") == raw
    assert {path.name for path in tmp_path.iterdir()} == {f"{name}.ipynb"}
    MetadataValidator().validate_nb(nbformat.reads(raw, as_version=4))


@every_set
def test_a_planted_leak_is_found(handouts, name):
    handout = handouts[name]
    clean = nbformat.writes(handout.released)
    assert leaks(handout.problem_set, clean) == []
    lines = [line.strip() for cell in handout.problem_set.notebook.cells
             for line in inside(cell.source, SOLUTION) + inside(cell.source, HIDDEN)]  # fmt: skip
    line = max(lines, key=len)
    places = (lambda nb: nb.cells[3].update(source=nb.cells[3].source + "\n" + line),
              lambda nb: nb.metadata.update(note=f"see: {line}"),
              lambda nb: nb.cells.append(nbformat.v4.new_code_cell("1", outputs=[
                  nbformat.v4.new_output("stream", text=f"{line}\n")])))  # fmt: skip
    for plant in places:
        notebook = nbformat.reads(clean, as_version=4)
        plant(notebook)
        assert leaks(handout.problem_set, nbformat.writes(notebook)) == [line]


def test_wrong_sources_are_refused(tmp_path):
    good = find("ps2").read_text(encoding="utf-8")
    for old, new, says in (
        ('"points": 1}', '"points": 7}', "ps2.1 says 3 points, its tests give 9"),
        ('"grade_id": "ps2_2", "solution"', '"grade_id": "ps2_1", "solution"', "'ps2_1' is used twice"),
        ("## ps2.1 · ", "## ps2.1 - ", "'ps2_1' is of a task without a header: '## ps2.1 · A title', and below it '*★ · 10 minutes"),
        (" minutes · ", " min · ", "'ps2_1' is of a task without a header: '## ps2.1 · A title', and below it '*★ · 10 minutes"),
        ('"points": 1}', '"points": "1"}', "a test has points, a whole number, got '1'"),
        ('"grade_id": "ps2_2", ', "", "a dict with a grade_id"),
    ):
        source = tmp_path / "ps2_x.py"
        source.write_text(good.replace(old, new, 1), encoding="utf-8")
        with pytest.raises(ValueError, match=re.escape(says)):
            load(source)
    with pytest.raises(ValueError, match="'ps9' is no problem set; there are ps0_practice, ps1_subtraction"):
        find("ps9")
    with pytest.raises(ValueError, match="there is no file nowhere.py"):
        source_of("nowhere.py")


def test_a_release_loses_nothing_that_was_there(tmp_path):
    path = release("ps1", tmp_path)
    assert release("ps1", tmp_path) == path and len(list(tmp_path.iterdir())) == 1  # the same: nothing to keep
    path.write_text(path.read_text(encoding="utf-8") + "\nmy work", encoding="utf-8")
    release("ps1", tmp_path, source=True)
    kept = next(one for one in tmp_path.iterdir() if one != path)
    assert kept.read_text(encoding="utf-8").endswith("my work") and "BEGIN SOLUTION" in path.read_text(encoding="utf-8")


def test_a_release_is_not_written_through_a_link(tmp_path):
    (tmp_path / "thesis.ipynb").write_text("years")
    (tmp_path / "ps1.ipynb").symlink_to(tmp_path / "thesis.ipynb")
    with pytest.raises(OSError, match="a link is there"):
        release("ps1", tmp_path)
    assert (tmp_path / "thesis.ipynb").read_text() == "years" and (tmp_path / "ps1.ipynb").is_symlink()


def test_the_command_releases(tmp_path, capsys):
    assert main(["release", str(find("ps1")), "--out", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert said.out.strip() == str(tmp_path / "ps1.ipynb") and f"pip wheel --no-deps --wheel-dir {tmp_path} ." in said.err
    (tmp_path / "lrnnlab-0.1.0-py3-none-any.whl").touch()
    assert main(["release", "ps1", "--out", str(tmp_path)]) == 0 and not capsys.readouterr().err
    assert main(["release", "ps9", "--out", str(tmp_path)]) == 2
    assert main(["release", "ps1", "--out", str(tmp_path / "notebooks")]) == 2
    assert "JupyterLab would pair it" in capsys.readouterr().err


@every_set
def test_solutions_get_all_points_and_stubs_none(handouts, fence, name):
    handout = handouts[name]
    solved = grade_notebook("solved", as_read(handout.notebook()), handout.problem_set, fence)
    assert [part for part in solved.parts if part.verdict.outcome not in (RIGHT, BY_HAND)] == []
    assert (solved.points, solved.possible) == (handout.points(), handout.problem_set.points)
    assert solved.notes == ()
    empty = grade_notebook("empty", as_read(handout.released), handout.problem_set, fence)
    assert empty.points == 0
    assert {part.verdict.says for part in empty.parts if part.verdict.outcome != BY_HAND} == {"not attempted"}


@every_set
def test_planted_answers_get_what_they_earn(handouts, fence, name):
    """A submission has one planted answer to each task, and what each task gets is its plant's own."""
    handout, by_task = handouts[name], {task.id: [] for task in handouts[name].problem_set.tasks if task.functions}
    for plant in plants(name):
        by_task[plant.task].append(plant)
    for together in zip_longest(*by_task.values()):
        planted = [plant for plant in together if plant]
        made = {plant.task.replace(".", "_"): plant.source for plant in planted}
        quick = Limits(seconds=1) if any("too slow" in plant.what for plant in planted) else fence.limits
        report = grade_notebook("planted", as_read(handout.notebook(**made)), handout.problem_set, replace(fence, limits=quick))
        for plant in planted:
            got = sum(part.points for part in report.parts if part.id.startswith(plant.task.replace(".", "_")))
            full = handout.points() - handout.points(plant.task)
            assert got == plant.points, (plant.task, plant.what, report.parts)
            assert plant.what.startswith("right") == (got == full), plant.what
    for found in by_task.values():
        rights = sum(plant.what.startswith("right") for plant in found)
        assert rights >= 1 and len(found) - rights >= 3


@every_set
def test_the_source_and_the_release_run_as_notebooks(handouts, name):
    """Top to bottom in one process, as in JupyterLab: the solutions pass every test, the stubs none."""
    names = {}
    for cell in handouts[name].problem_set.notebook.cells:
        if cell.cell_type == "code":
            exec(cell.source, names)
    names = {}
    for cell in handouts[name].released.cells:
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("grade") and "print(" in cell.source:
            with pytest.raises(CannotJudge, match="^not attempted$"):
                exec(cell.source, names)
        elif cell.cell_type == "code":
            exec(cell.source, names)


# --- variants ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES[1:])
def test_a_secret_draws_other_inputs_and_the_solutions_stay_right(name, handouts):
    """As a notebook, in one process; ps6 trains, so of it the drawn lines alone are looked at."""
    public, hidden = handouts[name].problem_set, 0
    for secret in ("autumn", "spring 27"):
        drawn = load(find(name), secret)
        assert "# vary" not in nbformat.writes(drawn.notebook) and drawn.variant != public.variant == ""
        assert load(find(name), secret).tasks == drawn.tasks
        changed = {id for task, other in zip(public.tasks, drawn.tasks) for (id, old, _), (_, new, _) in zip(task.tests, other.tests) if old != new}
        hidden += len(changed)
        names = {}
        for cell in drawn.notebook.cells if name != "ps6" else ():
            if cell.cell_type == "code":
                exec(cell.source, names)
    assert hidden >= 2  # an input for each secret at least
    assert sum(load(find(name), f"s{n}").tasks != public.tasks for n in range(9)) == 9


@pytest.mark.parametrize("name", [name for name in NAMES[1:] if name != "ps6"])  # which asks for what it trains
def test_what_knows_the_public_inputs_fails_a_variant(name):
    """Answers written down from the public source, input by input."""
    public, known, names = load(find(name)), {}, {}

    def noted(function, right):
        return lambda *given: known.setdefault((function, repr(given)), right(*given))

    for cell in public.notebook.cells:
        exec(cell.source if cell.cell_type == "code" else "", names)
        names |= {one: noted(one, names[one]) for one in public.functions if f"def {one}(" in cell.source}
    for secret in ("autumn", "spring 27"):
        names |= {one: lambda *given, one=one: known[one, repr(given)] for one in public.functions}
        lost = set()
        for id, source, _ in (test for task in load(find(name), secret).tasks for test in task.tests):
            try:
                exec(source, names)
            except CannotJudge:
                lost.add(id)
        assert {"ps1_2_hidden", "ps1_5_hidden"} <= lost if name == "ps1" else any("hidden" in id for id in lost)
    assert len({load(find(name), f"s{n}").tasks for n in range(9)}) >= 3


def test_a_source_of_ones_own_is_written_outside_and_its_answers_are_right(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "ps8_mine"]) == 0
    source = tmp_path / "ps8_mine.py"
    for secret in ("", "autumn"):
        made, names = load(source, secret), {}
        assert [len(task.functions) for task in made.tasks] == [1, 1, 1, 1, 0, 0] and made.points == 12
        for cell in made.notebook.cells:
            exec(cell.source if cell.cell_type == "code" else "", names)
    assert f"lrnnlab course release {source.name} --out" in capsys.readouterr().out
    assert main(["release", source.name, "--out", "out"]) == 0 and (tmp_path / "out" / "ps8.ipynb").is_file()
    right = source.read_text(encoding="utf-8")
    for old, new, says in (("return M\n", "return 2 * M\n", "with the source's own answers ps8_3_hidden gives no points"),
                           ("for _n in (3, 4, 9)", "for _n in (1,)", "ps8_2_hidden gives no points")):  # fmt: skip
        source.write_text(right.replace(old, new), encoding="utf-8")
        assert main(["release", source.name, "--out", "wrong"]) == 2 and not (tmp_path / "wrong").exists()
        assert says in capsys.readouterr().err
    for asked, says in ((["ps8_mine"], "is there already"), (["mine"], "as in ps8 or ps8_mine, got 'mine'"),
                        (["ps9", "--out", str(Path(__file__).parent)], "is inside the repository, which students see")):  # fmt: skip
        assert main(["new", *asked]) == 2
        assert says in capsys.readouterr().err
    assert not (Path(__file__).parent / "ps9.py").exists()


# --- where a page sends a student ------------------------------------------------------------------------------------

PY = ROOT / "notebooks" / "py"


def sections(chapter):
    """The headings of a chapter's sections, with their numbers where they have one, as they are read."""
    [path] = [*PY.glob(f"{chapter}_*.py"), *PY.glob(f"deeper/{chapter}_*.py")]
    return {title.replace("$", "") for title in re.findall(r"^# ## (.+)", path.read_text(encoding="utf-8"), re.MULTILINE)}


@every_set
def test_each_task_names_a_section_and_each_hidden_test_has_a_sentence(handouts, name):
    for task in handouts[name].problem_set.tasks:
        for id, source, _ in task.tests:
            assert not inside(source, HIDDEN) or re.search(r"^# says: \S", "\n".join(inside(source, HIDDEN)), re.MULTILINE), id
        found = re.search(r"\((?:.+; )?chapter (\d\d[a-z]?)(?:, section (\d+))?: (.+)\)$", task.teaches)
        assert found or not task.functions, f"{task.id} names no section: {task.teaches}"
        if found:
            chapter, number, title = found.groups()
            assert (f"{number} {title}" if number else title) in sections(chapter), task.id


def test_every_section_and_exercise_that_a_teacher_is_sent_to_exists():
    """"02 sections 2 and 5", "06, its section 1", "exercise 01.14", in the texts for teachers and in the sets."""
    exercises = set(re.findall(r"^## (\d\d[a-z]?\.\d+)", "\n".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "notebooks/lrnnbook/content/exercises").glob("ch*.md")), re.MULTILINE))
    places = [*(ROOT / "notebooks").glob("TEACHING*.md"), *(ROOT / "notebooks/assignments").glob("ps*.py")]
    told = 0
    for path in places:
        text = path.read_text(encoding="utf-8")
        for chapter, one, two in re.findall(r"\b(\d\d[a-z]?),?(?: its)? sections? (\d+)(?: and (\d+))?", text):
            numbers = {title.partition(" ")[0] for title in sections(chapter)}
            assert {one, two} - {""} <= numbers, f"{path.name}: chapter {chapter} has no section {one} {two}"
            told += 1
        for id in re.findall(r"(?:exercises? |check\(\"|hint\(\"|solution\(\")(\d\d[a-z]?\.\d+)\b", text):
            assert id in exercises, f"{path.name}: there is no exercise {id}"
            told += 1
    assert len(exercises) > 100 and told > 30
