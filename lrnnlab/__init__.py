"""lrnnlab: a workbook on linear recurrent networks and formal languages.

One sentence holds the whole package together::

    x_t = A_t x_{t-1} + b_t,      y_t = h(x_t)

``scans`` runs it, ``tasks`` asks questions of it, ``models`` say what A_t and b_t are,
``training`` and ``evaluation`` fit and measure, ``experiments`` are the papers' tables and
figures, ``explore`` shows them.  A room imports only from the floors below it.
"""

__version__ = "0.1.0"
