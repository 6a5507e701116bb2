"""The mathematics behind the chapters, by its mathematical names; the proofs stand in the chapters.

Exact arithmetic (fractions, SymPy) where it can be; nothing here trains or draws, or knows of torch, tasks or models.
"""
