"""Are the records those of an older checkout?  ``python tests/support/old_records.py OLD``: what only one of the two has.

OLD is a checkout of any revision, of one file a run or one file a table.  Two records are the same if their configuration,
metrics and seal are.  And every record's configuration must still be what is planned for its cell.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from workbook import tables
from workbook.tables import records


def stored(checkout: Path) -> Counter:
    """All records of a checkout, as (experiment, configuration, metrics, seal) -> how many."""
    folder = checkout / "data" / "records"
    texts = [path.read_text(encoding="utf-8") for path in folder.rglob("*.json")]
    texts += [line for path in folder.rglob("*.jsonl") for line in path.read_text(encoding="utf-8").splitlines()]
    found = map(json.loads, texts)
    return Counter(
        (one["experiment"], *(json.dumps(one.get(part), sort_keys=True) for part in ("config", "metrics", "seal"))) for one in found
    )


def planned(record: dict) -> str:
    cell = {"tasks": [record["task"]], "rows": [record["row"]], "seeds": [record["seed"]]}
    (run,) = tables.plan(record["experiment"], budget=record["budget"], protocol=record["protocol"], **cell)
    return records.fingerprint(run.config())


def main(old: Path) -> int:
    here = Path(__file__).resolve().parents[2]
    before, now = stored(old), stored(here)
    gone, new = before - now, now - before
    for name, which in (("gone", gone), ("new", new)):
        print(f"{name}: {which.total()}", *Counter(key[0] for key in which.elements()).items())
    other = [record for record in records.read(here / "data") if planned(record) != record["fingerprint"]]
    print(f"in both: {(before & now).total()}; planned otherwise: {len(other)} of {len(records.read(here / 'data'))}")
    return bool(gone or other)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
