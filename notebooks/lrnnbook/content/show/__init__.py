"""Pictures (arrays -> matplotlib figures) and widgets (a picture's function plus controls), all in one style.

``show.figure`` and ``show.table`` put a picture or a table into a notebook with its alternative text, ``show.math`` a
formula; ``widgets`` lets the reader move a picture's controls, and ``moving`` holds those that move in the page itself;
the pictures that two chapters share are in the modules called ``..._figures``.  Only ``widgets`` and ``moving`` need the
extra ``[book]``.
"""

from lrnnbook.content.show.expect_failure import expect_failure
from lrnnbook.content.show.output import figure, figure_html, math, png, quick_png, save, table, table_html

__all__ = ["expect_failure", "figure", "figure_html", "math", "png", "quick_png", "save", "table", "table_html"]
