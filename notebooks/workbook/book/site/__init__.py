"""The book as static pages: what is committed, with mathematics, links and pictures that need no kernel and no network.

``lrnnlab book site --out DIR`` writes one page a chapter, with its contents beside the text and what only imports or
draws under a fold; an index; one style sheet, one script, and the words that the search reads.  The text and all outputs
are those of the committed notebooks; nothing is executed but the cells that the widgets need, whose pictures over the
values of one or two controls become a flipbook (:mod:`workbook.book.site.flipbooks`).  Where pdoc is installed, the package's
own pages stand beside the chapters.  :func:`faults` checks what was written.
"""

from workbook.book.site.building import build
from workbook.book.site.faults import faults
from workbook.book.site.reference import available, reference

__all__ = ["available", "build", "faults", "reference"]
