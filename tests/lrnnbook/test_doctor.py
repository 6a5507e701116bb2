"""The doctor: every way in which a part can be missing or broken becomes a line, never a traceback."""

import json
import types
from functools import partial

import pytest
import torch

import lrnnlab
from lrnnbook.machinery import doctor
from lrnnbook.machinery.doctor import Check
from lrnnlab import scans


def states(checks):
    return {check.name: check.ok for check in checks}


loop = partial(scans.linear_scan, backend="reference")  # of A, b, x0


def fake_scans(monkeypatch, **backends):
    """Give the doctor these backends (functions of A, b, x0) beside a right reference."""
    table = {"reference": loop, "auto": loop, **backends}

    def linear_scan(A, b, x0=None, *, backend):
        return table[backend](A, b, x0)

    module = types.SimpleNamespace(
        BACKENDS=("reference", *(name for name in backends if name != "auto")), linear_scan=linear_scan, warm=lambda: None, backends=lambda A: ("reference",)
    )
    monkeypatch.setattr(lrnnlab, "scans", module)
    return module


def raises(error):
    def backend(A, b, x0):
        raise error

    return backend


def test_every_backend_here_works():
    found = states(doctor.scan_backends())
    assert set(found) == {f"scan {name}" for name in (*scans.BACKENDS, "auto")}
    for name in doctor.REQUIRED_BACKENDS:
        assert found[f"scan {name}"] is True


def test_the_report_as_text_and_as_json_and_its_exit_code(capsys):
    code = doctor.main(["--json"])
    answer = json.loads(capsys.readouterr().out)
    assert code == (0 if answer["ok"] else 1)
    assert {"python", "lrnnlab", "torch", "numpy", "numba", "torch build", "scan reference", "widgets"} <= {check["name"] for check in answer["checks"]}
    assert all(check["ok"] in (True, False, None) and check["detail"] for check in answer["checks"])
    assert doctor.main([]) == code
    text = capsys.readouterr().out
    assert torch.__version__ in text
    assert "\n\n" in text  # the verdict stands apart


def test_a_backend_that_fails_is_reported_with_its_error(monkeypatch):
    for error in (RuntimeError("no kernel"), ImportError("numba"), OSError("cache is read-only")):
        fake_scans(monkeypatch, cpu=raises(error), auto=raises(error))
        checks = {check.name: check for check in doctor.scan_backends()}
        assert checks["scan reference"].ok is True
        assert checks["scan cpu"].ok is checks["scan auto"].ok is False
        assert str(error) in checks["scan cpu"].detail


def test_a_wrong_value_a_nan_and_a_wrong_shape_are_caught(monkeypatch):
    fake_scans(monkeypatch, paper=lambda A, b, x0: loop(A, b, x0) + 1e-3,
               cpu=lambda A, b, x0: loop(A, b, x0) * torch.nan, short=lambda A, b, x0: loop(A, b, x0)[:, :-1])
    checks = {check.name: check for check in doctor.scan_backends()}
    assert checks["scan paper"].ok is False
    assert "0.001" in checks["scan paper"].detail
    assert checks["scan cpu"].ok is False
    assert checks["scan short"].ok is False
    assert "(2, 2, 2, 2)" in checks["scan short"].detail


@pytest.fixture
def versions(monkeypatch):
    """Installed versions, as the test sets them, with lrnnlab asking for one package in each way."""
    installed = {"lrnnlab": lrnnlab.__version__, "numpy": "2.1", "pytest": "8.2"}
    asked = ["numpy>=1.26", 'pytest>=8; extra == "test"', 'winonly>=1; sys_platform == "no such system"']
    monkeypatch.setattr(doctor, "_version", installed.get)
    monkeypatch.setattr(doctor.metadata, "requires", lambda name: asked)
    return installed


def test_a_core_package_is_needed_and_one_of_an_extra_is_not(versions):
    assert states(doctor.requirements()) == {"numpy": True, "pytest": True}
    del versions["numpy"], versions["pytest"]
    checks = {check.name: check for check in doctor.requirements()}
    assert checks["numpy"].ok is False
    assert checks["pytest"].ok is None
    assert "test" in checks["pytest"].detail


def test_too_old_a_version_and_another_lrnnlab_than_the_installed_one_are_told(versions):
    versions["numpy"] = "1.20"
    assert next(iter(doctor.requirements())) == Check("numpy", False, "1.20, but >=1.26 is needed")
    assert states(doctor.package()) == {"lrnnlab": True}
    versions["lrnnlab"] = "0.0.1"
    assert states(doctor.package()) == {"lrnnlab": False}
    del versions["lrnnlab"]
    assert states(doctor.package()) == {"lrnnlab": False} and list(doctor.requirements()) == []


@pytest.fixture
def front(versions, monkeypatch, tmp_path):
    """A prefix in which the widgets' JupyterLab extension is installed; gives its package.json."""
    versions.update(ipywidgets="8.1.9", jupyterlab_widgets="3.0.17")
    monkeypatch.setattr(doctor.metadata, "requires", lambda name: ["jupyterlab_widgets~=3.0.15", "traitlets>=4"])
    monkeypatch.setattr(doctor.sys, "prefix", str(tmp_path))
    file = tmp_path / "share/jupyter/labextensions/@jupyter-widgets/jupyterlab-manager/package.json"
    file.parent.mkdir(parents=True)
    file.write_text("{}")
    return file


def test_widgets_need_both_halves_in_fitting_versions_and_on_the_disk(versions, front):
    assert states(doctor.widgets()) == {"widgets": True}
    versions["jupyterlab_widgets"] = "1.1.0"
    assert states(doctor.widgets()) == {"widgets": False}
    versions["jupyterlab_widgets"] = None
    assert states(doctor.widgets()) == {"widgets": False}
    versions["jupyterlab_widgets"] = "3.0.17"
    front.unlink()
    assert states(doctor.widgets()) == {"widgets": False}
    versions["ipywidgets"] = None
    assert states(doctor.widgets()) == {"widgets": None}
