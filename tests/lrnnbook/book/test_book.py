"""The checker of notebooks, checked on one that is built and run once: every planted fault is found, and nothing else."""

import asyncio
import base64
import io
import os
import re
import shutil
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from queue import Empty

import jupytext
import nbformat
import numpy as np
import pytest
import torch
import warm
from matplotlib.figure import Figure
from nbformat.v4 import new_output
from PIL import Image

from lrnnbook.content.exercises.hints import MARK, folded
from lrnnbook.content.show.output import WIDGET
from lrnnbook.content.show.widgets import explore
from lrnnbook.machinery.book import BookError, build_notebook, check_notebook, compare, drift, execute, main, running
from lrnnbook.machinery.book import nbval_plugin as plugin
from lrnnbook.machinery.book.building import give_ids
from lrnnbook.machinery.book.comparison import picture_difference
from lrnnbook.machinery.book.cpu_presets import ASK, SETTINGS
from lrnnbook.machinery.book.outputs import WIDGET_VIEW
from lrnnbook.machinery.book.running import Channel, Manager
from lrnnbook.machinery.book.sync import KEPT, as_built, pairing
from lrnnbook.machinery.book.text import difference
from lrnnbook.machinery.book.widget_sweep import sweep_explorers

SAMPLE = """\
# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # A chapter

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import base64, io, time
from IPython.display import HTML, display
from ipywidgets import IntSlider, Output, VBox, interact
from PIL import Image
from tqdm import tqdm
from lrnnlab.training.engine import progress_bar

def figure(colour, alt):
    file = io.BytesIO()
    Image.new("RGB", (64, 48), colour).save(file, "PNG")
    code = base64.b64encode(file.getvalue()).decode()
    image = f'<img alt="{alt}" src="data:image/png;base64,{code}">'
    display(HTML(f"<figure>{image}<figcaption>Blue.</figcaption></figure>"))


# %%
print("5 of 5 seeds")
for _ in tqdm(range(3)):
    progress_bar(3).close()
print(f"loss {0.693147:.6f}")

# %% tags=["nbval-ignore-output"]
figure("blue", "a blue sheet")

# %% tags=["nbval-ignore-output"]
VBox([IntSlider(3), Output()])

# %% tags=["varies", "nbval-ignore-output"]
interact(lambda x: x + 1, x=(0, 3));

# %% tags=["varies", "nbval-ignore-output"]
for _ in tqdm(range(3)):
    pass
print(f"{time.time()} seconds since 1970, {object()}")

# %% tags=["raises-exception"]
raise ValueError("p must be at least 1")

# %%
[1, 2]
"""
ROOT = Path(__file__).resolve().parents[3]
CLOCK = re.compile(rb"\d+\.\d+ seconds since 1970, <object object at 0x[0-9a-f]+>")
MOST = 60  # seconds for a cell; where a message comes and nobody is woken, so long is waited for it
TITLE, SETUP, PRINTS, FIGURE, PANEL, CONTROLS, TIMES, RAISES, RESULT = range(9)


def page(root, source=SAMPLE, name="sample"):
    """``root`` with one source under notebooks/py."""
    path = root / "notebooks" / "py" / f"{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source, encoding="utf-8")
    shutil.copy(ROOT / "jupytext.toml", root)
    return path


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A repository with the sample, built: (root, source, twin)."""
    root = tmp_path_factory.mktemp("book")
    source = page(root)
    return root, source, build_notebook(source, root, timeout=MOST)


@pytest.fixture(scope="module")
def warm_python():
    with warm.python(running.kernel_environment()) as program:
        yield program


@pytest.fixture
def forks(warm_python, monkeypatch):
    """Pytest and kernels start at once; their threads and the order of their sets are those of the process they come from."""
    monkeypatch.setattr(sys, "executable", warm_python)


@pytest.fixture(scope="module")
def second_run(book):
    return execute(nbformat.read(book[2], as_version=4), book[2].parent, timeout=MOST).notebook


@pytest.fixture
def pair(book, second_run):
    """The committed notebook and a fresh run of it, to plant faults in."""
    return nbformat.read(book[2], as_version=4), deepcopy(second_run)


# --- a good notebook -------------------------------------------------------------------------------------------------


def test_a_clean_notebook_has_no_problem(pair):
    assert compare(*pair) == []


def test_a_message_that_wakes_nobody_is_found_within_a_second():
    """Also that :class:`Channel` is what a run listens with."""

    class Asleep:
        asked = 0

        async def poll(self, timeout):
            self.asked += 1
            await asyncio.sleep(min(timeout, 10) / 1000)
            return self.asked > 2

    channel = Channel.__new__(Channel)
    channel.socket = Asleep()
    channel._recv = lambda: asyncio.sleep(0, {"found": True})
    assert asyncio.run(channel.get_msg(timeout=None)) == {"found": True} and channel.socket.asked == 3
    channel.socket = Asleep()
    with pytest.raises(Empty):
        asyncio.run(channel.get_msg(timeout=0.01))
    client = Manager().client()
    assert client.shell_channel_class is client.iopub_channel_class is Channel


def test_the_page_shows_no_noise(pair):
    shown, _ = pair
    assert shown.cells[PRINTS].outputs == [new_output("stream", text="5 of 5 seeds\nloss 0.693147\n")]
    for panel in (PANEL, CONTROLS):
        assert [output.data for output in shown.cells[panel].outputs] == [{"text/plain": WIDGET}]
    assert [output.output_type for output in shown.cells[TIMES].outputs] == ["stream"]  # tqdm is silent
    assert set(shown.metadata) == {"jupytext", "kernelspec", "language_info"} and "version" not in shown.metadata.language_info
    assert all(set(cell.metadata) <= {"tags", "jupyter"} for cell in shown.cells)


def test_a_cell_is_folded_in_the_twin_where_its_source_says_so(book, tmp_path):
    committed = nbformat.read(book[2], as_version=4)
    hidden = [i for i, cell in enumerate(committed.cells) if cell.metadata.get("jupyter", {}).get("source_hidden")]
    assert hidden == [SETUP]
    committed.cells[SETUP].metadata.pop("jupyter")
    opened = tmp_path / book[2].name
    nbformat.write(committed, opened)
    assert "source_hidden" in drift(book[1], opened)[0]


def test_building_twice_gives_the_same_bytes(book, tmp_path):
    _, _, twin = book
    again = build_notebook(page(tmp_path), tmp_path)  # in another folder, with no older notebook to take ids from
    first, second = (CLOCK.sub(b"", path.read_bytes()) for path in (twin, again))
    assert first == second


def test_the_command_checks_it(book, capsys, forks):
    assert main(["check", "sam", "--root", str(book[0])]) == 0
    said = capsys.readouterr().out
    assert "sample: cell 8 of 8: passed" in said and "of the 120 s" in said and "sample: no problem" in said


# --- planted faults --------------------------------------------------------------------------------------------------


def picture(colour):
    file = io.BytesIO()
    Image.new("RGB", (64, 48), colour).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


def reads(cell, old, new):
    """What a cell shows, changed: ``old`` reads ``new``."""

    def change(cells):
        output = cells[cell].outputs[0]
        holder, key = (output, "text") if output.output_type == "stream" else (output.data, min(output.data))
        assert old in holder[key]
        holder[key] = holder[key].replace(old, new)

    return change


def committed(*changes):
    """A fault in what is committed alone."""
    return lambda notebook, fresh: [change(notebook.cells) for change in changes]


def in_both(change):
    """A fault that was there when the notebook was built, and is there again."""
    return lambda notebook, fresh: [change(notebook.cells), change(fresh.cells)]


def text(cell, old, new):
    return committed(reads(cell, old, new))


def of_cell(cell, **values):
    return committed(lambda cells: cells[cell].update(values))


def tags(cell, *names):
    return lambda cells: cells[cell].metadata.update(tags=list(names))


def adds(cell, *outputs):
    return in_both(lambda cells: cells[cell].outputs.extend(deepcopy(outputs)))


ERROR = new_output("error", ename="ValueError", evalue="bad", traceback=[])
FAULTS = [
    ("integer", text(PRINTS, "5 of 5", "4 of 5"), {(PRINTS, "text")}),
    ("word", text(PRINTS, "seeds", "runs"), {(PRINTS, "text")}),
    ("result", text(RESULT, "[1, 2]", "[1, 3]"), {(RESULT, "text")}),
    ("float", text(PRINTS, "0.693147", "0.793147"), {(PRINTS, "number")}),
    ("float within tolerance", text(PRINTS, "0.693147", "0.6932"), set()),
    ("every picture replaced", text(FIGURE, picture("blue"), picture("red")), {(FIGURE, "picture")}),
    ("caption changed", text(FIGURE, "Blue.", "Red."), {(FIGURE, "text")}),
    ("no alt", in_both(reads(FIGURE, 'alt="a blue sheet"', 'alt=" "')), {(FIGURE, "alt")}),
    ("bare png", adds(RESULT, new_output("display_data", {"image/png": picture("blue")})), {(RESULT, "alt")}),
    ("svg", adds(RESULT, new_output("display_data", {"text/html": "<svg></svg>"})), {(RESULT, "alt")}),
    ("text cell's picture", in_both(lambda cells: cells[TITLE].update(source="![](a.png)")), {(TITLE, "alt")}),
    ("a pasted picture", in_both(lambda cells: cells[TITLE].update(source="![a sheet](attachment:a.png)")), {(TITLE, "picture")}),
    ("a pasted picture's bytes", of_cell(TITLE, attachments={"a.png": {"image/png": ""}}), {(TITLE, "picture")}),
    ("one cell never run", of_cell(SETUP, execution_count=None), {(SETUP, "never run")}),
    ("order", lambda c, f: [c.cells[cell].update(execution_count=n) for cell, n in ((PRINTS, 3), (FIGURE, 2))], {(PRINTS, "order")}),
    ("no output", of_cell(PRINTS, outputs=[]), {(PRINTS, "output")}),
    ("no output where values are ignored", of_cell(TIMES, outputs=[]), {(TIMES, "output")}),
    ("output from nowhere", of_cell(SETUP, outputs=[new_output("stream", text="hi")]), {(SETUP, "output")}),
    ("error", adds(PRINTS, ERROR), {(PRINTS, "error")}),
    ("error where values are ignored", adds(TIMES, ERROR), {(TIMES, "error")}),
    ("no error where one is meant", in_both(lambda cells: cells[RAISES].outputs.clear()), {(RAISES, "error")}),
    ("another error", lambda c, f: c.cells[RAISES].outputs[0].update(evalue="q is odd"), {(RAISES, "text")}),
    ("warning", adds(PRINTS, new_output("stream", name="stderr", text="UserWarning: x")), {(PRINTS, "warning")}),
    ("path", adds(RESULT, new_output("stream", text="saved /home/ada/lrnnlab/x.pt")), {(RESULT, "path")}),
    ("path in a picture's caption", text(FIGURE, "Blue.", "in /tmp/xyz"), {(FIGURE, "path"), (FIGURE, "text")}),
    ("upper case tag", committed(tags(SETUP, "NBVAL-Ignore-Output")), {(SETUP, "tag")}),
    ("a picture that nbval would compare", committed(tags(FIGURE)), {(FIGURE, "tag")}),
    ("values that nbval would compare", committed(tags(TIMES, "varies")), {(TIMES, "tag")}),
    ("a text that nbval would not compare", committed(tags(PRINTS, "nbval-ignore-output")), {(PRINTS, "tag")}),
    ("misspelt tag", committed(tags(SETUP, "nbval-ignore-outputs")), {(SETUP, "tag")}),
    ("widget not tidied", lambda c, f: c.cells[PANEL].outputs[0].data.update({WIDGET_VIEW: {"model_id": "1f"}}), {(PANEL, "widget")}),
    ("semicolon", lambda c, f: c.cells[RESULT].update(source="[1, 2];"), {(RESULT, "semicolon")}),
    ("a name bound anew", in_both(lambda cells: cells[RESULT].update(source="progress_bar = 3\n[1, 2]")), {(PRINTS, "again")}),
    ("fresh run raises", lambda c, f: f.cells[FIGURE].update(outputs=[ERROR]), {(FIGURE, "error"), (FIGURE, "output")}),
    ("kernel", lambda c, f: c.metadata.kernelspec.update(name="my-venv"), {(-1, "kernel")}),
]  # fmt: skip


@pytest.mark.parametrize("plant, expected", [fault[1:] for fault in FAULTS], ids=[fault[0] for fault in FAULTS])
def test_a_planted_fault_is_found_and_nothing_else(pair, plant, expected):
    plant(*pair)
    found = compare(*pair, "sample")
    assert {(problem.cell - 1, problem.kind) for problem in found} == expected
    assert all(str(problem).startswith("sample, cell ") for problem in found if problem.cell)


# --- source and twin -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("5 of 5", "6 of 6", "    -print(\"5 of 5 seeds\")"),
        (', tags=["raises-exception"]', "", None),
        (' tags=["raises-exception"]', "", "-[code] [('tags', ['raises-exception'])]"),
        ("# %%\n[1, 2]", "# %%\n[1, 2]\n\n# %%\nx = 1", 'only in the source: cell 10 (In [9], "x = 1")'),
        ("# %%\n[1, 2]\n", "", 'only in the twin: cell 9 (In [8], "[1, 2]")'),
    ],
)  # fmt: skip
def test_an_edited_source_has_drifted(book, tmp_path, old, new, said):
    source = page(tmp_path, SAMPLE.replace(old, new))
    found = "\n".join(drift(source, book[2]))
    assert said in found if said else found == ""


def test_a_source_is_built_with_the_blank_lines_of_a_save(book, tmp_path):
    """Else JupyterLab, where it pairs the two, takes them for different notebooks."""
    _, source, twin = book
    untidy = page(tmp_path, SAMPLE.partition("# ---\n\n")[2].replace("\n\n\n# %%", "\n\n# %%"), "untidy")
    [said] = drift(untidy, twin)
    assert said.startswith("line 1 of untidy.py: the head, the blank lines")
    assert as_built(untidy) == source.read_text(encoding="utf-8") == SAMPLE

    small = page(tmp_path, "# %%\ndef f():\n    return 1\n# %%\nf()\n\n\n", "small")
    assert drift(small, build_notebook(small, tmp_path)) == []
    assert small.read_text(encoding="utf-8").endswith("# ---\n\n# %%\ndef f():\n    return 1\n\n\n# %%\nf()\n")


def test_a_source_is_built_with_the_hints_of_their_file(tmp_path):
    mark = MARK.format("00.1", "00")
    stale = page(tmp_path, f"# %% [markdown]\n# {mark}\n#\n# An older hint.\n", "stale")
    assert "An older hint." not in (built := as_built(stale))
    assert jupytext.reads(built, fmt="py:percent").cells[0].source == folded("00.1")
    for id, says in (("77.1", "no chapter '77' has exercises"), ("00.77", "ch00.md has no section '00.77'")):
        none = page(tmp_path, f"# %% [markdown]\n# {MARK.format(id, '00')}\n", "none")
        with pytest.raises(BookError, match=says):
            as_built(none)


def test_a_build_gives_nbval_s_tags_and_folds_to_the_source(book, tmp_path, forks):
    """By what the cells show: also where an author has put them elsewhere."""
    _, source, _ = book
    bare = re.sub(r'(, )?"nbval-ignore-output"|jupyter=.*? (?=tags)', "", SAMPLE).replace(" tags=[]", "")
    bare = bare.replace("# %%\n[1, 2]", '# %% tags=["nbval-ignore-output"]\n[1, 2]')
    again = page(tmp_path, bare)
    assert "source_hidden" not in bare and drift(again, build_notebook(again, tmp_path)) == []
    assert again.read_text(encoding="utf-8") == source.read_text(encoding="utf-8") == SAMPLE


def test_what_cells_have_beside_their_text_is_what_jupytext_keeps():
    kept = pairing(ROOT / "notebooks" / "py" / "00_start_here.py").cell_metadata_filter.split(",")
    assert kept == [*KEPT, "-all"]


def test_a_source_without_jupytext_s_settings_is_no_pair(tmp_path):
    source = page(tmp_path)
    (tmp_path / "jupytext.toml").unlink()
    with pytest.raises(BookError, match=r"no jupytext.toml in a folder above .*sample.py"):
        as_built(source)


def test_what_a_save_would_lose_is_not_built(tmp_path, capsys):
    source = page(tmp_path, '# %% planted="n"\nn = 1\n')
    assert main(["build", "--root", str(tmp_path)]) == 1
    said = 'sample.py, cell 1 (In [1], "n = 1"): jupytext.toml keeps jupyter, nbgrader, tags, and would lose planted'
    assert said in capsys.readouterr().err
    assert source.read_text(encoding="utf-8").startswith("# %% planted")


def test_a_missing_or_damaged_partner_is_named(book, tmp_path):
    _, source, twin = book
    assert drift(source, tmp_path / "sample.ipynb") == ["sample.py has no partner sample.ipynb"]
    assert drift(tmp_path / "sample.py", twin) == ["sample.ipynb has no partner sample.py"]
    half = tmp_path / "half.ipynb"
    half.write_text(twin.read_text(encoding="utf-8")[:200], encoding="utf-8")
    with pytest.raises(BookError, match="half.ipynb is not a notebook"):
        drift(source, half)


def test_an_edited_cell_keeps_its_id_and_a_new_one_gets_its_own(book):
    old = nbformat.read(book[2], as_version=4).cells
    new = deepcopy(old)
    new[PRINTS].source = "print(6)"
    new.insert(RESULT, deepcopy(new[SETUP]))
    for cell in new:
        cell.id = "random"
    give_ids(new, old, "sample")
    assert [cell.id for cell in new[:RESULT] + new[RESULT + 1 :]] == [cell.id for cell in old]
    assert len({cell.id for cell in new}) == len(new)


# --- what is not written ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code, said",
    [
        ("n = 0\n1 / n", ['cell 1 (In [1], "n = 0")', "    1 / n", "ZeroDivisionError: division by zero"]),
        ("import ipywidgets\nipywidgets.interact(lambda x: 1 / x, x=[0, 1]);", ["[widget] a callback raised Zero"]),
        ("1\n\n# %% [markdown]\n# ![a sheet](attachment:a.png)", ["[picture] the pasted picture 'a.png'"]),
    ],
    ids=["a cell that raises", "interact whose callback raises on its first value", "a pasted picture"],
)  # fmt: skip
def test_a_notebook_with_an_error_is_not_written(tmp_path, capsys, code, said):
    twin = page(tmp_path, f"# %%\n{code}\n").parent.parent / "sample.ipynb"
    twin.write_text(nbformat.writes(nbformat.v4.new_notebook()), encoding="utf-8")
    before = twin.read_bytes()
    assert main(["build", "--root", str(tmp_path)]) == 1
    message = capsys.readouterr().err
    assert all(part in message for part in [*said, "sample.ipynb is not written"])
    assert twin.read_bytes() == before and [path.name for path in twin.parent.iterdir()] == ["py", "sample.ipynb"]


def test_a_cell_without_end_is_stopped(tmp_path):
    source = page(tmp_path, "# %%\nwhile True:\n    pass\n")
    with pytest.raises(BookError, match=r'"while True:"\) took longer than 1 s'):
        build_notebook(source, tmp_path, timeout=1)


# --- other arithmetic ------------------------------------------------------------------------------------------------

def said_under(code, *arithmetic):
    """What ``code`` prints in a process with the environment of a kernel of this arithmetic."""
    environ = running.kernel_environment(*arithmetic)
    told = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    return told.stdout


@pytest.mark.parametrize("name", SETTINGS)
def test_an_arithmetic_takes_effect(name):
    if name == "avx2" and not torch.backends.cpu.get_cpu_capability().startswith("AVX"):
        pytest.skip("this processor has no AVX2")
    assert SETTINGS[name].missed(said_under(ASK, name)) == []


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system binds no process to a core")
def test_two_threads_take_effect_on_one_core_too_and_whatever_libraries_are_told(monkeypatch):
    for name in ("MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_THREAD_LIMIT"):
        monkeypatch.setenv(name, "1")
    on_one = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
    assert SETTINGS["two-threads"].missed(said_under(on_one + ASK, "two-threads")) == []


# --- nbval -----------------------------------------------------------------------------------------------------------


def test_one_run_serves_nbval_and_the_checker(book, tmp_path, forks):
    """What only nbval says is a problem too, and a cell that raises is named once."""
    source = page(tmp_path, SAMPLE.replace("[1, 2]", "[1, 2]  # seven"), "other")
    twin = build_notebook(source, tmp_path)
    before = twin.read_text(encoding="utf-8")
    twin.write_text(before.replace("5 of 5 seeds", "4 of 5 seeds", 1), encoding="utf-8")
    assert [problem.kind for problem in check_notebook(twin)] == ["text"]
    twin.write_text(before.replace("loss 0.693147", "loss 0.6932", 1), encoding="utf-8")
    assert [problem.kind for problem in check_notebook(twin)] == ["nbval"]  # which knows no tolerance
    twin.write_text(before.replace("[1, 2]  # seven", "1 / 0  # seven"), encoding="utf-8")
    told = check_notebook(twin)
    assert [problem.kind for problem in told] == ["drift", "error"] and "ZeroDivisionError" in told[1].message


def test_nbval_alone_with_the_plugin_says_what_check_says(book, tmp_path, forks):
    twin = tmp_path / "notebooks" / "sample.ipynb"
    twin.parent.mkdir()
    before = book[2].read_text(encoding="utf-8")
    twin.write_text(before.replace(picture("blue"), picture("red")).replace("loss 0.693147", "loss 0.793147"), encoding="utf-8")
    call = [sys.executable, "-m", "pytest", "--nbval", "-p", plugin.__name__, "-p", "no:xdist", "-o", "addopts=", str(twin)]
    told = subprocess.run(call, capture_output=True, text=True, cwd=tmp_path, check=False).stdout
    assert "2 failed, 8 passed" in told and "[picture] pixels differ" in told and "[number] committed 0.793147" in told


def test_a_proof_s_cells_run_again(tmp_path, forks):
    """``rows`` grows each time, which no text shows: the second cell does not hold again after the first."""
    proof = '# %% tags=["proof-count"]\nrows.append(len(rows))\n\n# %% tags=["proof-count"]\nassert len(rows) == 1, "step 1"\n'
    source = page(tmp_path, SAMPLE + "\n# %%\nrows = []\n\n" + proof, "again")
    found = check_notebook(build_notebook(source, tmp_path))
    assert [(problem.cell, problem.kind) for problem in found] == [(RESULT + 4, "again")], found
    assert "AssertionError: step 1" in found[0].message


# --- the parts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "committed, fresh, same",
    [
        ("took 3.2 s", "took 14.8 s", True),
        ("mean 0.5 min 0.4 max 0.6", "mean 0.5 min 0.1 max 0.6", False),
        ("<f at 0x7f00aa11bb>", "<f at 0x7f22cc33dd>", True),
        ("rate -0.5", "rate 0.5", False),
        ("torch 2.4.1", "torch 2.4.9", False),
        ("100.0 %", "99.5 %", True),
        ("100 %", "99 %", False),
        ("norm 1,999.0", "norm 2,999.0", False),
        ("1,999 words", "2,000 words", False),
        ("a  b", "a b", True),
        ("a\nb", "a b", False),
    ],
)
def test_texts_that_say_the_same(committed, fresh, same):
    assert (difference(committed, fresh) is None) == same


def test_a_kernel_takes_one_thread_but_gives_more_to_who_asks(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    code = "import torch; print(torch.get_num_threads()); torch.set_num_threads(2); print(torch.get_num_threads())"
    assert said_under(code).split() == ["1", "2"]


def drawing(line, **style):
    figure = Figure(figsize=(6.4, 4), dpi=160)
    axes = figure.subplots()
    x = np.linspace(0, 10, 200)
    axes.plot(x, line(np, x), **style)
    axes.set(xlabel="length T", ylabel="accuracy", title="accuracy by length")
    file = io.BytesIO()
    figure.savefig(file)
    return base64.b64encode(file.getvalue()).decode()


def test_pictures_are_compared_as_an_eye_would():
    sine = drawing(lambda np, x: np.sin(x))
    assert picture_difference(sine, drawing(lambda np, x: np.sin(x), antialiased=False)) is None
    assert "pixels differ" in picture_difference(sine, drawing(lambda np, x: 0 * x + np.sin(0)))
    assert "committed 1024 x 640 pixels, fresh run 64 x 48" == picture_difference(sine, picture("blue"))
    assert "not a readable picture" in picture_difference(sine, "V1JPTkc=")


# --- widgets are moved through their values ------------------------------------------------------------------------
def test_every_value_of_every_control_is_tried():
    seen = []

    def draw(n, kind):
        seen.append((n, kind))
        if (n, kind) == (3, "b"):  # only a corner shows it
            raise ZeroDivisionError("planted")
        return Figure(figsize=(1, 1))

    panel = explore(draw, {"n": [1, 2, 3], "kind": ["a", "b"]}, alt="nothing")
    faults = sweep_explorers({"panel": panel, "other": 3})
    assert len(faults) == 1 and "planted" in faults[0] and faults[0].startswith("panel")
    assert {n for n, _ in seen} == {1, 2, 3} and {kind for _, kind in seen} == {"a", "b"}
    assert panel.values == {"n": 1, "kind": "a"}


def test_of_many_values_both_ends_and_some_between_are_tried():
    seen = set()
    panel = explore(lambda n: seen.add(n) or Figure(figsize=(1, 1)), {"n": range(100)}, alt="nothing")
    assert sweep_explorers({"panel": panel}) == [] and {0, 99} < seen and 7 < len(seen) < 12 and max(np.diff(sorted(seen))) < 15
