"""A class on a hub: real servers, each with a working copy of its own, run a notebook at the same moment."""

import asyncio
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from tornado.websocket import WebSocketClosedError

from workbook.book import hub_load_test as classroom
from workbook.book.command import main
from workbook.book.jupyter_server import end_process
from workbook.book.running import BookError

ROOT = Path(__file__).resolve().parents[2]
linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")


def notebook(folder, *codes):
    path = folder / "00_small.ipynb"
    nbformat.write(new_notebook(cells=[new_markdown_cell("# Small"), *map(new_code_cell, codes)]), path)
    return path


@linux
def test_each_student_runs_the_cells_in_a_copy_of_his_own(tmp_path):
    out = tmp_path / "where"
    out.mkdir()
    code = f"from pathlib import Path; here = Path.cwd()\n(Path({str(out)!r}) / here.parent.name).write_text(str(here))"
    asks = "assert (here / '.as_made').is_dir() and (here / '00_start_here.ipynb').is_file() and not (here / 'py').exists()"
    held = classroom.lesson(2, notebook(tmp_path, code, asks), ROOT)
    assert [(seat.name, seat.error) for seat in held.seats] == [("student001", ""), ("student002", "")]
    assert {file.name for file in out.iterdir()} == {"student001", "student002"}
    assert len({file.read_text() for file in out.iterdir()}) == 2
    assert all(seat.ready > 0 and seat.ran > 0 and seat.server > 30 and seat.kernel > 30 for seat in held.seats)
    assert 0 < held.busy <= 1 and held.memory > 0
    assert str(held).startswith("  2 students: server ready after ")


@linux
def test_a_cell_that_raises_is_told_with_the_students_name(tmp_path, monkeypatch, capsys):
    path = notebook(tmp_path, "1 / 0", "never = 1")
    monkeypatch.setattr("workbook.book.command.find_sources", lambda root, names: [path])
    monkeypatch.setattr("workbook.book.command.twin_of", lambda source: source)
    assert main(["hub", "00", "--students", "1", "--root", str(ROOT)]) == 1
    assert "student001: BookError: ZeroDivisionError: division by zero" in capsys.readouterr().out


def test_what_cannot_be_tried_out_is_said_in_a_sentence(tmp_path, monkeypatch, capsys):
    with pytest.raises(BookError, match="one student or more, got 0"):
        classroom.lesson(0, tmp_path / "x.ipynb", ROOT)
    assert main(["hub", "00", "--students", "many", "--root", str(ROOT)]) == 2
    assert "got 'many'" in capsys.readouterr().err
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(BookError, match=r"pip install -e '.\[hub\]'"):
        classroom.lesson(1, tmp_path / "x.ipynb", ROOT)


@linux
def test_a_hub_that_ends_at_once_is_told_with_its_log(tmp_path):
    (tmp_path / ".jupyter").mkdir()
    (tmp_path / classroom.CONFIGURATION).write_text("raise SystemExit('the class is full')\n")
    with pytest.raises(BookError, match="the hub does not answer; its log ends:(.|\n)*the class is full"):
        classroom.lesson(1, notebook(tmp_path, "1"), tmp_path)


def test_a_connection_that_is_lost_ends_one_seat_and_not_the_lesson(monkeypatch):
    async def ask(path, method="GET", body=None):
        return {"kernel": {"id": "k"}} if "sessions" in path else {"servers": {"": {"ready": True}}}

    async def connect(request, **options):
        def lost(message):
            raise WebSocketClosedError("lost")

        return SimpleNamespace(write_message=lost)

    monkeypatch.setattr(classroom, "websocket_connect", connect)
    hub = SimpleNamespace(ask=ask, address="http://127.0.0.1:1", headers={}, last_error=lambda: "")
    assert asyncio.run(classroom._seat(hub, "ada", "00.ipynb", ["1"], 5)).error == "WebSocketClosedError: lost"


@linux
def test_a_server_that_does_not_end_is_killed_and_waited_for():
    stays = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", stays], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        end_process(process, 0.1)
        assert process.returncode == -9
