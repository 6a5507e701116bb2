"""The ladder on machines drawn at random, and on recall; see ``ladder_random.yaml``."""

from workbook.tables.ladder import measure
from workbook.tables.table import by_setting, load

TABLE = load("ladder/random", by_setting(measure))
