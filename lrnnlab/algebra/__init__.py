"""Mathematics that two chapters, an exercise or a table share, by its mathematical names; the proofs stand in the chapters.

Exact arithmetic (fractions, SymPy) where it can be; nothing here knows of torch, tasks or models.
"""
