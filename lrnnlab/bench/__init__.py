"""How fast the scans are, beside everything else that is installed and does the same: ``lrnnlab bench``.

``step`` times a training step of the released model on every scan; ``cases`` and ``peers`` say what is scanned and by
whom; ``scans`` times them in turn, in one run, and writes the record that the figure and chapter 03 read.
"""
