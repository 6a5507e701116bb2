"""The ladder on machines drawn at random, and on recall; see ``ladder_random.yaml``."""

from lrnnbook.content.tables.ladder import measure
from lrnnbook.content.tables.table import by_setting, load

TABLE = load("ladder/random", by_setting(measure))
