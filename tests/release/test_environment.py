"""environment.yml, bootstrap.py and pyproject.toml say the same thing."""

import os
import re
from pathlib import Path

import pytest
import yaml

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10, where pytest brings tomli along
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def conda():
    return yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))


def test_the_python_floor_is_the_same(project, conda):
    assert "python" + project["requires-python"] in conda["dependencies"]


def test_conda_brings_python_and_pip_and_pip_brings_the_rest(conda):
    plain = [line for line in conda["dependencies"] if isinstance(line, str)]
    by_pip = [line for line in conda["dependencies"] if isinstance(line, dict)]
    assert sorted(re.match(r"[\w-]+", line)[0] for line in plain) == ["pip", "python"]
    assert len(by_pip) == 1
    assert list(by_pip[0]) == ["pip"]
    # One line only: a version named here could disagree with pyproject.toml.
    assert len(by_pip[0]["pip"]) == 1
    assert by_pip[0]["pip"][0].startswith("-e .[")


def test_the_extras_exist_and_are_those_of_bootstrap(project, conda):
    line = next(line for line in conda["dependencies"] if isinstance(line, dict))["pip"][0]
    extras = re.fullmatch(r"-e \.\[([\w,]+)\]", line)[1].split(",")
    assert set(extras) <= set(project["optional-dependencies"])
    assert set(extras) == {"lab", "test"}


def test_what_github_is_told_to_run_is_there():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))["jobs"]
    assert {system.partition("-")[0] for system in jobs["test"]["strategy"]["matrix"]["os"]} == {"ubuntu", "macos", "windows"}
    assert [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step] == ["python bootstrap.py test", ".ci/run"]
    said = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1]
    assert said == "exec python3 bootstrap.py test --all" and os.access(ROOT / ".ci" / "run", os.X_OK)
