"""``lrnnlab doctor``: versions, scan backends, widgets and the fence.

Each function gives :class:`Check` lines: backends and the fence are run, and JupyterLab's half of ipywidgets is looked
for on the disk.  A part that raises is reported, and the rest is still examined.
"""

import argparse
import json
import platform
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from lrnnbook import without_extra

REQUIRED_BACKENDS = ("reference", "paper", "cpu", "auto")  # any other (a GPU's) may be absent
AnyError = Exception  # a broken part may raise what it likes


@dataclass(frozen=True)
class Check:
    """One line of the report: ``ok`` is True, False (needed, and not working) or None (optional, and absent)."""

    name: str
    ok: bool | None
    detail: str


def report() -> list[Check]:
    """Examine this Python environment, a :class:`Check` a line; changes nothing."""
    questions = (python, package, requirements, torch_build, scan_backends, widgets, fence)
    return [check for question in questions for check in _answers(question)]


def _answers(question: Callable[[], Iterator[Check]]) -> Iterator[Check]:
    """The lines of a question, the last of which says so if it could not be answered to its end."""
    try:
        yield from question()
    except ModuleNotFoundError as error:
        yield Check(question.__name__.replace("_", " "), None if error.name == "packaging" else False, str(without_extra(error)))
    except AnyError as error:
        yield Check(question.__name__.replace("_", " "), False, f"cannot be examined: {_one_line(error)}")


def python() -> Iterator[Check]:
    """Which Python, and where it lives."""
    yield Check("python", sys.version_info >= (3, 10), f"{platform.python_version()} on {platform.platform()}, {sys.executable}")


def package() -> Iterator[Check]:
    """Whether the lrnnlab that is imported is the one that is installed."""
    import lrnnlab

    where, installed = Path(lrnnlab.__file__).parent, _version("lrnnlab")
    same = installed == lrnnlab.__version__
    yield Check("lrnnlab", same, f"{installed}, {where}" if same else f"the folder {where} holds version "
                f"{lrnnlab.__version__}, and the version installed is {installed or 'none'}: start bootstrap.py again")  # fmt: skip


def requirements() -> Iterator[Check]:
    """Each requirement of pyproject.toml: needed if it belongs to the core, optional if it belongs to an extra."""
    from packaging.requirements import Requirement

    if _version("lrnnlab") is None:
        return
    extras, seen = ("", *(metadata.metadata("lrnnlab").get_all("Provides-Extra") or ())), set()
    for wanted in map(Requirement, metadata.requires("lrnnlab") or ()):
        meant = [extra for extra in extras if wanted.marker is None or wanted.marker.evaluate({"extra": extra})]
        if not meant or wanted.name in seen:  # for another system or Python, or asked for twice
            continue
        seen.add(wanted.name)
        found, extra = _version(wanted.name), meant[0]
        if found is None:
            detail = f"not installed; needed for: {extra}" if extra else "not installed: start bootstrap.py again"
        elif wanted.specifier.contains(found, prereleases=True):
            yield Check(wanted.name, True, found)
            continue
        else:
            detail = f"{found}, but {wanted.specifier} is needed{extra and f' for: {extra}'}"
        yield Check(wanted.name, None if extra else False, detail)


def torch_build() -> Iterator[Check]:
    """Which build of PyTorch, and on which device it can compute.  It is imported here, which takes seconds."""
    import torch

    detail = f"CUDA {torch.version.cuda}" if torch.version.cuda else "CPU"
    if torch.cuda.is_available():
        detail += f", {torch.cuda.get_device_name()}"
    elif torch.version.cuda:
        detail += ", but no GPU can be used: computing on the CPU"
    yield Check("torch build", True, f"{torch.__version__}: {detail}")


def scan_backends() -> Iterator[Check]:
    """Run x_t = A_t x_{t-1} + b_t with each backend and compare with the reference."""
    import torch

    from lrnnlab import scans

    generator = torch.Generator().manual_seed(0)
    A = 0.5 * torch.randn(2, 3, 2, 2, 2, generator=generator)  # (B, T, h, b, b)
    b = torch.randn(2, 3, 2, 2, generator=generator)  # (B, T, h, b)
    x0 = torch.randn(2, 2, 2, generator=generator)  # (B, h, b)
    for name in scans.BACKENDS:
        yield _backend(name, scans.linear_scan, (A, b, x0))
    devices, long = ["cpu"] + ["cuda"] * torch.cuda.is_available(), torch.zeros(1, 100, 1, 2, 2)
    chosen = ", ".join(f"takes {scans.backends(long.to(device))[-1]} on {device}" for device in devices)
    auto = _backend("auto", scans.linear_scan, (A, b, x0))
    yield Check("scan auto", True, chosen) if auto.ok else auto


def _backend(name: str, linear_scan, inputs) -> Check:
    """Run one backend; one that is not required is tried on the GPU, if there is one."""
    import torch

    needed = name in REQUIRED_BACKENDS
    device = "cpu" if needed or not torch.cuda.is_available() else "cuda"
    started = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as warned:  # of a folder that cannot be written
            expected = linear_scan(*inputs, backend="reference")
            x = linear_scan(*(value.to(device) for value in inputs), backend=name).cpu()
    except AnyError as error:
        return Check(f"scan {name}", False if needed else None, _one_line(error))
    seconds = time.perf_counter() - started
    if x.shape != expected.shape:
        return Check(f"scan {name}", False, f"gives shape {tuple(x.shape)} where {tuple(expected.shape)} is right")
    worst = (x - expected).abs().max().item()
    right = worst <= 1e-5  # not '> 1e-5 is wrong': a NaN must fail
    runs = f"runs on {device} ({seconds:.2f} s)" if right else f"runs on {device}, but is off by {worst:.3g}"
    return Check(f"scan {name}", right, "; ".join([runs, *(str(warning.message) for warning in warned)]))


def warm() -> Iterator[Check]:
    """Compile the scan kernels, so that no first call has to wait for it, and say how long it took."""
    started = time.perf_counter()
    from lrnnlab import scans

    scans.warm()
    yield Check("warm", True, f"scan kernels compiled or found in the cache, {time.perf_counter() - started:.1f} s")


def widgets() -> Iterator[Check]:
    """Whether sliders can appear: ipywidgets, its JupyterLab half, in versions that fit, and really on the disk."""
    ours, half = _version("ipywidgets"), _version("jupyterlab_widgets")
    if ours is None:
        yield Check("widgets", None, "ipywidgets is not installed; needed for: lab")
        return
    if half is None:
        yield Check("widgets", False, f"ipywidgets {ours} is here, jupyterlab_widgets is not: nothing would be drawn")
        return
    from packaging.requirements import Requirement

    misfit = [str(line) for line in map(Requirement, metadata.requires("ipywidgets") or ())
              if line.name.replace("-", "_") == "jupyterlab_widgets" and not line.specifier.contains(half)]  # fmt: skip
    # A virtual environment's own folder: one from elsewhere on Jupyter's path may belong to another version.
    front = Path(sys.prefix, "share", "jupyter", "labextensions", "@jupyter-widgets", "jupyterlab-manager")
    if misfit:
        yield Check("widgets", False, f"ipywidgets {ours} asks for {misfit[0]}, and {half} is installed")
    elif not (front / "package.json").is_file():
        yield Check("widgets", False, f"there is no JupyterLab extension in {front}: reinstall jupyterlab_widgets")
    else:
        yield Check("widgets", True, f"ipywidgets {ours} with jupyterlab_widgets {half}, its extension in place")


def fence() -> Iterator[Check]:
    """Whether students' code can be fenced in, which only a teacher needs: it is tried."""
    try:
        from lrnnbook.machinery.grading.fence import find

        yield Check("fence", True, find().describe())
    except AnyError as error:
        yield Check("fence", None, f"{_one_line(error)}; needed for: course")


def _version(name: str) -> str | None:
    """The installed version of a distribution, or None."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _one_line(error: BaseException) -> str:
    """What an error says, on one line, with its kind: some errors say nothing else."""
    return f"{type(error).__name__}: {error}".strip().splitlines()[0].rstrip(": ")


def main(argv: list[str] | None = None) -> int:
    """Print the report; 0 if everything needed works, else 1."""
    parser = argparse.ArgumentParser(prog="lrnnlab doctor", description="Say what is installed here and what works.")
    parser.add_argument("--warm", action="store_true", help="compile the scan kernels, and say how long it took")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    options = parser.parse_args(argv)
    checks = [*_answers(warm)] if options.warm else []  # first: the backends' own times then show that it helped
    checks += report()
    healthy = all(check.ok is not False for check in checks)
    if options.json:
        print(json.dumps({"ok": healthy, "checks": [asdict(check) for check in checks]}, indent=1))
        return 0 if healthy else 1
    width = max(len(check.name) for check in checks)
    for check in checks:
        print(f"{ {True: 'ok', False: 'NO', None: '--'}[check.ok] }  {check.name:<{width}}  {check.detail}")
    broken = [check.name for check in checks if check.ok is False]
    print(f"\nNot working: {', '.join(broken)}." if broken else "\nEverything needed works.")
    return 0 if healthy else 1
