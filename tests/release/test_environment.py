"""environment.yml, bootstrap.py and pyproject.toml say the same thing."""

import os
import re
from pathlib import Path

import yaml

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10, where pytest brings tomli along
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]


def test_conda_brings_the_python_of_pyproject_and_pip_and_pip_brings_the_rest():
    """pip in one line of existing extras: a version named here could disagree with pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    *plain, by_pip = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    assert sorted(re.match(r"[\w-]+", line)[0] for line in plain) == ["pip", "python"]
    assert "python" + project["requires-python"] in plain
    assert by_pip == {"pip": ["-e .[lab,test]"]} and {"lab", "test"} <= set(project["optional-dependencies"])


def test_what_github_is_told_to_run_is_there():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))["jobs"]
    assert {system.partition("-")[0] for system in jobs["test"]["strategy"]["matrix"]["os"]} == {"ubuntu", "macos", "windows"}
    assert [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step] == ["python bootstrap.py test", ".ci/run"]
    said = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1]
    assert "python bootstrap.py test --all" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert said == "exec python3 bootstrap.py test --all" and os.access(ROOT / ".ci" / "run", os.X_OK)
