"""Pictures (arrays -> matplotlib figures) and widgets (a picture's function plus controls), all in one style.

``show`` puts a picture into a notebook with its alternative text, ``widgets`` lets the reader move its controls; the
pictures themselves are in the modules called ``..._figures``.  Only ``widgets`` needs ipywidgets (the extra ``[lab]``).
"""
