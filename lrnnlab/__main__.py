"""``python -m lrnnlab``: the same command as ``lrnnlab``."""

import os
import sys

# Python puts the folder that it is started in before its own library.  That may be the one with the hand-ins, and one
# of them may be called numpy.  It stays only where it holds this package.
try:
    HERE = os.path.realpath(os.getcwd())
except OSError:  # the folder is gone
    HERE = ""
if HERE != os.path.dirname(os.path.dirname(os.path.realpath(__file__))):
    sys.path[:] = [place for place in sys.path if os.path.realpath(place) != HERE]

from lrnnbook.machinery.cli import main

raise SystemExit(main())
