"""Which family of transitions can compute a finite machine, in how many layers, with which words as witness; exact weights.

Exact arithmetic (fractions, SymPy) where it can be; nothing here trains or draws, or knows of torch, tasks or models.
"""
