"""What stands behind the notebooks: tables of recorded runs, pictures, exercises, the book's build, grading.

``lrnnlab`` is the library and knows nothing of this package; here a room imports from the library and from rooms above
it: tables, bench, show, exercises, chapters, book, grading, and the thin ``copies``, ``doctor`` and ``cli``.
"""
