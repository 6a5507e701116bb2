"""environment.yml, bootstrap.py, pyproject.toml and the tested versions say the same thing."""

import os
import re
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lrnnbook.machinery.bench.alone import needed

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
    assert by_pip == {"pip": ["-e .[book,test]"]} and {"book", "test"} <= set(project["optional-dependencies"])


PYTHONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]
SYSTEMS = {"Linux": ("linux", "posix"), "Darwin": ("darwin", "posix"), "Windows": ("win32", "nt")}


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_one_tested_version_of_every_package_is_written_down_for_every_python(python, system):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    platform, name = SYSTEMS[system]
    where = {"python_version": python, "python_full_version": python + ".9", "sys_platform": platform, "os_name": name,
             "platform_system": system, "platform_machine": "x86_64", "platform_python_implementation": "CPython",
             "implementation_name": "cpython", "extra": ""}  # fmt: skip
    tested = {}
    for line in (ROOT / "tests" / "constraints.txt").read_text(encoding="utf-8").splitlines():
        one = None if line.startswith("#") else Requirement(line)
        if one and (one.marker is None or one.marker.evaluate(where)):
            (only,) = one.specifier
            assert only.operator == "==" and canonicalize_name(one.name) not in tested, line
            tested[canonicalize_name(one.name)] = only.version
    missing = []
    for line in [*project["dependencies"], *extras["book"], *extras["test"]]:
        one = Requirement(line)
        fits = one.specifier.contains(tested.get(canonicalize_name(one.name), "0"), prereleases=True)
        if (one.marker is None or one.marker.evaluate(where)) and not fits and one.name != "triton":  # which torch brings
            missing.append(line)
    assert missing == []
    assert not [name for name in tested if name.startswith(("nvidia-cu", "triton", "cuda-"))]  # they differ by torch's build


def test_torch_has_one_line_that_bootstrap_can_ask_a_cpu_build_of():
    text = (ROOT / "tests" / "constraints.txt").read_text(encoding="utf-8")
    assert len(re.findall(r"(?m)^torch==[\d.]+$", text)) == len(re.findall("(?m)^torch", text)) == 1


def test_what_github_is_told_to_run_is_there():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))["jobs"]
    assert {system.partition("-")[0] for system in jobs["test"]["strategy"]["matrix"]["os"]} == {"ubuntu", "macos", "windows"}
    matrix = jobs["test"]["strategy"]["matrix"]
    assert {*matrix["python"], *(one["python"] for one in matrix["include"])} == set(PYTHONS)
    runs = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    assert runs == ["python bootstrap.py test", ".ci/run", "python -m pip install uv", ".ci/newest", ".ci/run"]
    assert all(os.access(ROOT / run, os.X_OK) for run in runs if run.startswith(".ci/"))
    said = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1]
    assert "python bootstrap.py test --all" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert said == "exec python3 bootstrap.py test --all" and os.access(ROOT / ".ci" / "run", os.X_OK)


def test_the_library_alone_asks_for_few_packages_beside_torchs_own():
    """All that pip would install, by what is installed here: numpy, scipy, numba and what these and the small ones need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    more = needed(Requirement(line).name for line in project["dependencies"]) - needed(["torch"])
    assert {"numpy", "scipy", "numba"} < more and len(more) <= 8, more
