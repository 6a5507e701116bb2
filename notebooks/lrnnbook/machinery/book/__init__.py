"""The notebooks as one source and its executed twin: build the twin, check it, find drift.

``notebooks/py/NAME.py`` (py:percent) is the one file edited by hand; ``notebooks/NAME.ipynb`` is made from it,
executed, and committed with its outputs; lettered ones lie in ``deeper/`` of both folders.  Three verbs keep the two true::

    lrnnlab book build 02_block_diagonal    # execute the source, write the twin (or say why not, and write nothing)
    lrnnlab book check                      # execute every twin afresh and compare with what is committed
    lrnnlab book check --arithmetic all     # the same with the sums of other processors: lrnnbook.machinery.book.cpu_presets
    lrnnlab book drift                      # where source and twin no longer say the same

Tags a cell may carry (lower case; anything else that looks like one of these is reported):

``varies``               values may differ from run to run (timings, last digits of training); output must be there
``nbval-ignore-output``  given by the build, to what varies, pictures and panels: nbval compares all other outputs letter by
                         letter, and ``check`` the words and pixels of these, too
``raises-exception``     the cell must raise; the kind of error and its message are compared
``hide-input``           folded in JupyterLab and on the page: give it to what only imports or draws
"""

from lrnnbook.machinery.book.building import build_notebook
from lrnnbook.machinery.book.command import add_arguments, main
from lrnnbook.machinery.book.comparison import compare
from lrnnbook.machinery.book.inspection import Problem, inspect
from lrnnbook.machinery.book.nbval_plugin import check_notebook
from lrnnbook.machinery.book.running import BookError, Execution, execute
from lrnnbook.machinery.book.sync import drift

__all__ = [
    "BookError", "Execution", "Problem", "add_arguments", "build_notebook", "check_notebook", "compare", "drift", "execute",
    "inspect", "main",
]  # fmt: skip
