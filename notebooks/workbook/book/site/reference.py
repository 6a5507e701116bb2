"""API pages by pdoc: every module of the package with its docstrings, as files of the site."""

from __future__ import annotations

import importlib.util
import tempfile
import warnings
from pathlib import Path

import lrnnlab

# These compile for a GPU when they are imported; what they do is told by lrnnlab.scans.
APART = ("lrnnlab.scans.triton", "lrnnlab.scans.triton_block", "lrnnlab.scans.triton_diagonal",
         "lrnnlab.scans.triton_plan", "lrnnlab.scans.triton_token", "lrnnlab.__main__")  # fmt: skip


def available() -> bool:
    """Whether pdoc (the extra ``[docs]``) is installed."""
    return importlib.util.find_spec("pdoc") is not None


def reference(*modules: str) -> dict[str, bytes]:
    """The API pages of ``modules`` (default: the whole package): address below the site -> page.

    >>> reference()["api/lrnnlab/scans.html"]  # doctest: +SKIP
    """
    import pdoc

    wanted = modules or _all_modules()
    pdoc.render.configure(docformat="numpy", math=False, search=True, show_source=True)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="pdoc")  # of names that are loaded when they are used
        pdoc.pdoc(*wanted, output_directory=Path(folder))
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in Path(folder).rglob("*.*")}
    return {f"api/{name}": content for name, content in files.items()}


def _all_modules():
    """Every module of the package by name, a package without what it brings along, which comes by its own name."""
    package = Path(lrnnlab.__file__).parent
    paths = (path.relative_to(package.parent).with_suffix("") for path in package.rglob("*.py"))
    names = {".".join(path.parts).removesuffix(".__init__") for path in paths} - set(APART)
    packages = {name.rpartition(".")[0] for name in names}
    return [spec for name in sorted(names) for spec in ((name, f"!{name}.") if name in packages else (name,))]
