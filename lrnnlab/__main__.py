"""``python -m lrnnlab``: the same command as ``lrnnlab``."""

from lrnnlab.cli import main

raise SystemExit(main())
