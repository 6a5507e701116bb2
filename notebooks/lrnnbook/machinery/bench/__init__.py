"""How fast the scans are, beside everything else that is installed and does the same: ``lrnnlab bench``.

``cases`` and ``peers`` say what is scanned and by whom, ``scans`` times them in turn, in one run; ``dlr`` and ``steps`` time a
layer and training steps; ``recording`` keeps what they find, for the figure and chapter 03.
"""
