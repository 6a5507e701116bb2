"""Note that today's code gives the recorded numbers, once ``test_records_again`` has passed.

``python -m lrnnbook.content.tables.sources [TABLE ...]``; see :mod:`lrnnbook.content.tables.code`.
"""

import json
import sys
from collections.abc import Sequence

from lrnnbook.content.tables import records, table
from lrnnlab.files import put


def write_down(names: Sequence[str]) -> None:
    """Add the digest of today's code to those of each table that is recorded, and forget those that no record has."""
    known = records.sources()
    for name in names:
        found = records.read(records.recorded_folder(), name)
        made = {record["provenance"].get("source") for record in found}
        if found:
            known[name] = sorted(filter(None, {*made, table.source(name)}))
    lines = [f"{json.dumps(name)}: {json.dumps(known[name])}" for name in sorted(known)]
    text = ",\n".join(lines)
    put(records.recorded_folder() / "records" / records.SOURCES, f"{{\n{text}\n}}\n".encode())


if __name__ == "__main__":
    write_down(sys.argv[1:] or table.NAMES)
