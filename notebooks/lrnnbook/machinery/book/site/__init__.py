"""The book as static pages, by Sphinx: what is committed, with pictures in place of widgets, and no network.

``lrnnlab book site --out DIR`` writes a page a chapter, the papers, and the public names of the library.  Nothing is
executed but the cells that the widgets need, whose pictures over the values of one or two controls become a flipbook.
"""

import io
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell

from lrnnbook.machinery.book.outputs import without_colour
from lrnnbook.machinery.book.running import BookError
from lrnnbook.machinery.book.site.pages import write_pages
from lrnnbook.machinery.book.site.slides import write_slides
from lrnnbook.machinery.copies import place

__all__ = ["BRANCH", "build_site"]

HERE = Path(__file__).parent
BRANCH = "colab"  # .github/workflows/site.yml puts there the notebooks that Colab and Binder open
# On Colab the package is used from its folder, since what is installed while Python runs is seen by the next one only.
INSTALL = """# On Colab this takes a minute. Where the workbook is installed it does nothing.
import importlib.util, sys
if importlib.util.find_spec("lrnnlab") is None:
    !git clone --quiet --depth 1 https://github.com/{repository} lrnnlab_workbook
    %pip install --quiet anywidget ipywidgets jupytext nbclient 'aalpy>=1.4' matplotlib scikit-learn pandas joblib filelock -e ./lrnnlab_workbook
    sys.path[:0] = ["lrnnlab_workbook", "lrnnlab_workbook/notebooks"]"""


def build_site(notebooks: Sequence[Path], out: Path, *, books: bool = True, repository: str | None = None,
               wheel: Path | None = None, whole: bool = True, say: Callable[[str], None] = print) -> list[str]:  # fmt: skip
    """Write the pages of ``notebooks`` into ``out``; return what Sphinx found wrong.

    Parameters
    ----------
    notebooks : sequence of Path
        The chapters, in the order of the book.
    out : Path
        The folder of the site: a new one, an empty one, or one that a site was written into before.  Nothing in it is
        deleted.
    books : bool
        Make flipbooks; else a sentence takes the place of each widget.
    repository : str, optional
        ``owner/name`` on GitHub: then every page has buttons for Colab and Binder.
    wheel : Path, optional
        The package as a file: it is put beside the first page, which says what a class does with it.
    whole : bool
        All chapters are there; else a link to one that is not is no fault.
    say : callable
        Called with a line of text on every step.
    """
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace

    if repository is not None and not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
        raise BookError(f"a repository is owner/name, got {repository!r}")
    out = Path(out)
    if out.exists() and not (out / ".buildinfo").is_file() and (not out.is_dir() or any(out.iterdir())):
        raise BookError(f"{out} holds something that is no site: choose another folder")
    warnings = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        read, made = Path(folder) / "pages", Path(folder) / "site"
        say(f"pictures of the widgets of {len(notebooks)} chapters" if books else f"{len(notebooks)} chapters")
        write_pages(notebooks, read, books, wheel.name if wheel else "")
        shutil.copy(HERE / "conf.py", read)
        shutil.copytree(HERE / "static", read / "_static", dirs_exist_ok=True)
        say("pages")
        options = _launch(repository) if repository else {}
        own = {f"html_theme_options.{name}": value for name, value in options.items()}
        own |= {} if whole else {"suppress_warnings": ["myst.header", "myst.xref_missing"]}
        with docutils_namespace():  # what Sphinx registers is forgotten, so that the process may build another site
            app = Sphinx(read, read, made, Path(folder) / "doctrees", "html", own, status=None, warning=warnings, keep_going=True)
            started: list[str] = []
            app.connect("source-read", lambda app, name, source: started.append(name))
            app.connect("html-page-context", lambda app, name, *_: started.append(name))
            try:
                app.build()
            except Exception as error:
                raise BookError(f"{started[-1] if started else read}: no page can be made of it ({type(error).__name__}: {error})") from error
        for path in notebooks:
            if path.name[0].isdigit() and place(path).parent == Path():
                write_slides(made / place(path).with_suffix(".html"))
            (made / "_sources" / place(path)).write_text(travelling(path, repository), encoding="utf-8")
        if wheel:
            shutil.copy(wheel, made)
        shutil.copytree(made, out, dirs_exist_ok=True)
    return without_colour(warnings.getvalue()).replace(f"{folder}/", "").splitlines()


def _launch(repository: str) -> dict:
    """The theme's options for buttons that open a page's notebook elsewhere."""
    return {
        "repository_url": f"https://github.com/{repository}",
        "repository_branch": BRANCH,
        "path_to_docs": "notebooks",
        "launch_buttons": {"colab_url": "https://colab.research.google.com", "binderhub_url": "https://mybinder.org",
                           "notebook_interface": "jupyterlab"},
    }  # fmt: skip


def travelling(path: Path, repository: str | None) -> str:
    """The notebook to download, with a first cell that installs the package where the repository is known."""
    notebook = nbformat.read(path, as_version=4)
    if repository:
        notebook.cells.insert(0, new_code_cell(INSTALL.format(repository=repository), id="install"))
    return f"{nbformat.writes(notebook).rstrip()}\n"
