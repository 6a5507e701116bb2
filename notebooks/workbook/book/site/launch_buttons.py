"""How a reader of a page comes to run it: the notebook itself, to download, and two services that open it.

Colab opens notebooks of a repository, and knows nothing of the package; so the notebooks that lie beside the pages get a
first cell that installs it, and ``.github/workflows/site.yml`` puts them on a branch of their own, :data:`BRANCH`.
Binder builds ``.binder/`` and opens the notebooks as they are committed.
"""

from __future__ import annotations

import re
from copy import deepcopy
from urllib.parse import quote

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from workbook.book.running import BookError

BRANCH = "colab"
FOLDER = "notebooks"  # of the site, and of the repository

# The package is used from its folder, since an installation that is made while Python runs is seen by the next one only.
INSTALL = """# On Colab this takes a minute. Where the workbook is installed it does nothing.
import importlib.util, sys
if importlib.util.find_spec("lrnnlab") is None:
    !git clone --quiet --depth 1 https://github.com/{repository} lrnnlab_workbook
    %pip install --quiet anywidget ipywidgets jupytext nbclient 'aalpy>=1.4' -e ./lrnnlab_workbook
    sys.path[:0] = ["lrnnlab_workbook", "lrnnlab_workbook/notebooks"]"""


def checked(repository: str) -> str:
    """``repository`` as it was given, if it is ``owner/name``; else BookError.

    >>> checked("someone/lrnnlab")
    'someone/lrnnlab'
    >>> checked("lrnnlab")
    Traceback (most recent call last):
        ...
    workbook.book.running.BookError: a repository is owner/name, got 'lrnnlab'
    """
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
        raise BookError(f"a repository is owner/name, got {repository!r}")
    return repository


def ways(stem: str, repository: str | None) -> str:
    """The links to run a chapter: a download, and two buttons where the repository's address is known.

    >>> ways("00_start_here", None)
    '<a href="notebooks/00_start_here.ipynb" download>Download the notebook</a>'
    >>> ways("00_start_here", "someone/lrnnlab").count("<a ")
    3
    """
    file = quote(f"{stem}.ipynb")
    links = [(f"{FOLDER}/{file}", "Download the notebook", " download")]
    if repository:
        colab = f"https://colab.research.google.com/github/{repository}/blob/{BRANCH}/{file}"
        binder = f"https://mybinder.org/v2/gh/{repository}/HEAD?labpath={FOLDER}%2F{file}"
        links = [(colab, "Open in Colab", ""), (binder, "Open on Binder", ""), *links]
    return " ".join(f'<a href="{address}"{how}>{name}</a>' for address, name, how in links)


def travelling(notebook: NotebookNode, repository: str | None) -> bytes:
    """The notebook's file, with a first cell that installs the package where the repository's address is known."""
    notebook = deepcopy(notebook)
    if repository:
        notebook.cells.insert(0, new_code_cell(INSTALL.format(repository=repository), id="install"))
    return f"{nbformat.writes(notebook).rstrip()}\n".encode()
