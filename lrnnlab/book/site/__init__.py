"""The book as static pages: what is committed, with mathematics, links and pictures that need no kernel and no network.

``lrnnlab book site --out DIR`` writes one page a chapter, an index and one style sheet.  The text and all outputs are
those of the committed notebooks; nothing is executed but the cells that the widgets need, whose pictures over the
values of one control become a flipbook (:mod:`lrnnlab.book.site.flipbooks`).  :func:`faults` checks what was written.
"""

from lrnnlab.book.site.building import build
from lrnnlab.book.site.faults import faults

__all__ = ["build", "faults"]
