"""The papers' theorems, walked and checked: one function per theorem, which states it, checks it and returns evidence.

Exact arithmetic (fractions, SymPy) where it can be; nothing here knows of torch, tasks or models.
"""

from lrnnlab.algebra.evidence import Evidence, Step

__all__ = ["Evidence", "Step"]
