"""Archives of real sites as jobs: what a page costs, by stage.

    python -m bench.tasks.page_costs ARCHIVES-en-fr... [--out bench/results/page_costs.json]

Each argument is a folder with the archives of one site, whose name ends with two languages.  It is
mined by `mine --warc --cluster pool:1`.  Seconds are those of the tasks, which take one processor
each, and bytes are those that a task writes.  docs/scale.md multiplies these costs by the number of
pages of a snapshot of Common Crawl.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from bench.support.machine import machine
from bench.support.tables import show
from bench.tasks.scale import Row, by_stage, mined, written


def costs(folder: Path, out: Path) -> list[Row]:
    """What the pages of a folder of archives cost in a job, by stage."""
    langs = ",".join(folder.name.rsplit("-", 2)[1:])
    mined(out, sorted(folder.iterdir()), langs, "--cluster", "pool:1")
    ledger = (json.loads(path.read_bytes()) for path in (out / "ledger").glob("read-*.json"))
    pages = sum(entry["result"]["pages"] for entry in ledger)
    own: Row = {"stage": "archives", "s": 0.0, "ms per page": 0.0}
    own["kB per page"] = round(written(folder) / 1000 / pages, 2)
    return [{"site": folder.name, "pages": pages, **row} for row in (own, *by_stage(out, pages))]


def main() -> None:
    """Measure, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("archives", type=Path, nargs="+", help="folders of archives")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        rows = [row for each in asked.archives for row in costs(each, Path(scratch) / each.name)]
    tables = {"Archives of real sites, by stage": rows}
    show(tables)
    if asked.out:
        result = {"machine": machine(["pyarrow", "numpy"]), "tables": tables}
        asked.out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
