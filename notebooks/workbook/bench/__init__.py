"""How fast the scans are, beside everything else that is installed and does the same: ``lrnnlab bench``.

``step`` times a training step of the released model on every scan; ``cases`` and ``peers`` say what is scanned and by
whom; ``scans`` times them in turn, in one run; ``recording`` runs every benchmark and keeps what it finds, for the
figure and chapter 03.
"""
