"""Every chapter opens in a real JupyterLab, whatever happened to its two files before, and a save ruins neither."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import nbformat
import pytest
from jupyter_client import BlockingKernelClient
from jupyter_lab import jupyter_lab

from lrnnbook.content.exercises.progress import FILE
from lrnnbook.machinery import copies
from lrnnbook.machinery.book.sync import source_of

ROOT = Path(__file__).resolve().parents[2]
NAMES = [copies.place(path).as_posix() for path in copies.chapters_in(ROOT / "notebooks")]
SOME = NAMES[::6]  # where any would do
RUN = "01_subtraction.ipynb"  # its exercises need no training, and nothing compiled
AN_HOUR_AGO = time.time() - 3600
SPEC = importlib.util.spec_from_file_location("bootstrap", ROOT / "bootstrap.py")
boot = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(boot)


def aged(*paths, seconds=0.0):
    for path in paths:
        os.utime(path, (AN_HOUR_AGO + seconds, AN_HOUR_AGO + seconds))


# What happens to a notebook and its source; each is an hour old before.
HISTORIES = {
    "the notebook is newer by seconds": lambda notebook, source: aged(notebook, seconds=5),
    "the source is newer by seconds": lambda notebook, source: aged(source, seconds=5),
    "the notebook is touched": lambda notebook, source: notebook.touch(),
    "the source is touched": lambda notebook, source: source.touch(),
    "the notebook is restored": lambda notebook, source: notebook.write_bytes(notebook.read_bytes()),
    "both are copied, the source first": lambda notebook, source: (source.touch(), notebook.touch()),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The project's folder as far as a Lab looks into it, and a copy of it in a folder of its own."""
    folder = tmp_path_factory.mktemp("project")
    for place in (folder, folder / "copy"):
        shutil.copytree(ROOT / "notebooks", place / "notebooks", copy_function=shutil.copy)
        shutil.copy(ROOT / "jupytext.toml", place)
    copies.make(folder / copies.FOLDER)
    return folder


@pytest.fixture(scope="module")
def lab(folder, tmp_path_factory):
    """A Lab on the whole project, as an author starts it, or anybody by hand."""
    with jupyter_lab(folder, tmp_path_factory.mktemp("state")) as server:
        yield server


def ask(server, path, model=None, method="PUT", api="contents"):
    """A notebook as JupyterLab gets it from the server, or what the server says to a ``model`` that is saved."""
    request = urllib.request.Request(
        server.page(f"api/{api}/{path}".rstrip("/")), method=method if model else "GET", data=json.dumps(model).encode(),
        headers={"Authorization": f"token {server.token}"},
    )  # fmt: skip
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        pytest.fail(f"{path}: {error.code}\n{error.read().decode()[:2000]}", pytrace=False)


def save(server, path, content):
    ask(server, path, {"type": "notebook", "format": "json", "content": content})


def same(opened, path):
    """Whether what was opened is the notebook at ``path``, outputs and all."""
    pairs = [[(cell["source"], cell.get("outputs")) for cell in cells]
             for cells in (opened["content"]["cells"], nbformat.read(path, 4).cells)]  # fmt: skip
    return len(pairs[0]) > 5 and pairs[0] == pairs[1]


@pytest.mark.parametrize("history", HISTORIES)
def test_every_chapter_opens(lab, folder, history):
    """Each after one of these histories."""
    for name in NAMES[list(HISTORIES).index(history) :: len(HISTORIES)]:
        notebook = folder / "notebooks" / name
        aged(notebook, source_of(notebook))
        HISTORIES[history](notebook, source_of(notebook))
        assert same(ask(lab, f"notebooks/{name}"), ROOT / "notebooks" / name)


def test_every_chapter_of_a_copied_folder_opens(lab, folder):
    for name in NAMES:
        assert same(ask(lab, f"copy/notebooks/{name}"), ROOT / "notebooks" / name)


def test_a_save_keeps_the_source_to_the_byte_and_the_chapter_opens_again(lab, folder):
    for name in NAMES:
        notebook = folder / "notebooks" / name
        source, path = source_of(notebook), f"notebooks/{name}"
        source.touch()
        save(lab, path, ask(lab, path)["content"])
        assert source.read_bytes() == source_of(ROOT / "notebooks" / name).read_bytes()
        aged(source)
        assert same(ask(lab, path), ROOT / "notebooks" / name)


def test_an_edit_of_a_chapter_is_saved_in_its_source(lab, folder):
    path, source = f"copy/notebooks/{NAMES[0]}", source_of(folder / "copy" / "notebooks" / NAMES[0])
    opened, before = ask(lab, path)["content"], source.read_text(encoding="utf-8")
    code = next(cell for cell in opened["cells"] if cell["cell_type"] == "code")
    kept, code["source"] = code["source"], f"answer = 7\n{code['source']}"
    save(lab, path, opened)
    assert source.read_text(encoding="utf-8") == before.replace(kept, code["source"], 1)
    code["source"] = kept
    save(lab, path, opened)
    assert source.read_text(encoding="utf-8") == before


def test_a_save_in_a_reader_s_copy_touches_nothing_else(lab, folder):
    def others():
        files = [path for path in folder.rglob("*") if path.is_file() and ".ipynb_checkpoints" not in path.parts]
        return {path: path.read_bytes() for path in files if copies.tree(path) != folder / copies.FOLDER}

    before = others()
    for name in NAMES:
        path = f"{copies.FOLDER}/{name}"
        opened = ask(lab, path)["content"]
        code = next(cell for cell in opened["cells"] if cell["cell_type"] == "code")
        code["source"] = f"answer = 7\n{code['source']}"
        save(lab, path, opened)
        assert "answer = 7" in (folder / path).read_text(encoding="utf-8")
    assert others() == before
    mine = [path for shown in ("[!.]*", f"{copies.DEEPER}/[!.]*") for path in (folder / copies.FOLDER).glob(shown)]
    assert {copies.place(path).as_posix() for path in mine} == {*NAMES, copies.DEEPER}


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
def test_jupytext_finds_every_pair_and_nothing_to_do(clone):
    """``--sync`` goes by the time of the files, and either may be the newer."""
    copies.make(clone / copies.FOLDER, clone)
    pairs = [[f"notebooks/{name}" for name in NAMES], [f"notebooks/py/{name[:-6]}.py" for name in NAMES]]
    for newer, asked in zip(pairs, [pairs[1], pairs[0][::6]]):
        for path in newer:
            (clone / path).touch()
        assert "not a paired notebook" not in jupytext(clone, "--sync", *asked)
        assert git(clone, "status", "--porcelain") == ""
    jupytext(clone, "--test", "--to", "py:percent", *pairs[0])
    assert "not a paired notebook" in jupytext(clone, "--sync", f"{copies.FOLDER}/{NAMES[0]}")


def jupytext(root, *words):
    """What jupytext says; it must end well."""
    told = subprocess.run([sys.executable, "-m", "jupytext", *words], cwd=root, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr
    return told.stdout + told.stderr


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """What of the project a reader's git, Lab and kernel look into, in a repository of its own; a kernel imports it."""
    root = tmp_path / "clone"
    for name in ("lrnnlab", "notebooks", ".jupyter", ".gitignore", "bootstrap.py", "pyproject.toml", "jupytext.toml"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        root.mkdir(exist_ok=True)
        copy(ROOT / name, root / name)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(root), str(root / "notebooks")]))
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(root / ".jupyter"))
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "-c", "user.name=x", "-c", "user.email=x@localhost", "commit", "--quiet", "--message=all")
    return root


def git(root, *words):
    return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout


def run_cells(server, path, cells):
    """Run cells in the kernel of a notebook, as a page does; what each printed."""
    asked = {"path": path, "name": path, "type": "notebook", "kernel": {"name": "python3"}}
    kernel = ask(server, "", asked, "POST", "sessions")["kernel"]["id"]
    client = BlockingKernelClient()
    client.load_connection_file(str(server.state / f"kernel-{kernel}.json"))
    client.start_channels()
    client.wait_for_ready(timeout=300)
    said = []
    for source in cells:
        heard = []
        reply = client.execute_interactive(source, timeout=300, output_hook=heard.append)
        assert reply["content"]["status"] == "ok", reply["content"]
        said.append("".join(one["content"]["text"] for one in heard if one["msg_type"] == "stream"))
    client.stop_channels()
    return said


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
@pytest.mark.parametrize("author", [False, True], ids=["reader", "author"])
def test_git_has_nothing_to_say_after_a_reader_and_something_after_an_author(clone, tmp_path, author):
    if not author:
        copies.make(clone / copies.FOLDER, clone)
    _, _, _, where, _, *options = boot.final_command("lab", ["--author"] * author, clone)
    folder = Path(where.partition("=")[2])
    with jupyter_lab(folder, tmp_path / "state", options=options) as server:
        for name in SOME:
            path = f"notebooks/{name}" if author else name
            opened = ask(server, path)["content"]
            for kind in ("code", "markdown"):
                cell = next(cell for cell in opened["cells"] if cell["cell_type"] == kind)
                cell["source"] += "\n\nnote = 'mine'"
            save(server, path, opened)
            ask(server, f"{path}/checkpoints", {"a": "save makes one"}, "POST")
            assert "note = 'mine'" in (folder / path).read_text(encoding="utf-8")
        if not author:
            cells = [cell["source"] for cell in ask(server, RUN)["content"]["cells"] if cell["cell_type"] == "code"]
            said = run_cells(server, RUN, [*cells[:2], *(one for one in cells if "check(" in one)])
            assert said[1].startswith("3-1-4: the state is 11807")
            assert (folder / FILE).is_file() and (folder / ".ipynb_checkpoints").is_dir()
    changed = {line[3:] for line in git(clone, "status", "--porcelain").splitlines()}
    both = {f"notebooks/{name}" for name in SOME} | {f"notebooks/py/{name[:-6]}.py" for name in SOME}
    assert changed == (both if author else set())
