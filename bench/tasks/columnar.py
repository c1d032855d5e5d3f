"""Candidates from Common Crawl's columnar index: time, memory and completeness.

    python -m bench.tasks.columnar [--rows 6000000] [--hosts 100000] [--out FILE]

Parquet files in the real schema are generated (`columnar_pages.py` describes their content) and
queried for sites in English and French: by Diptych (DuckDB), with less memory, for one top-level
domain, and for comparison by a pyarrow scan that counts in Python.  Each query runs in a separate
process.  Exits with 1 if the sites found differ from those generated.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.support.columnar_pages import AT_LEAST, generate
from bench.support.machine import machine
from bench.support.tables import show
from diptych.sources.common_crawl import candidates

Found = dict[str, tuple[int, int]]
LANGS = ("en", "fr")
SUFFIX = "fr"
HTML = ("text/html", "application/xhtml+xml")
COLUMNS = (
    "url", "url_host_name", "url_host_private_domain", "content_digest", "content_languages",
)  # fmt: skip


def by_duckdb(folder: str, suffixes: Sequence[str], memory: int) -> Found:
    """The pages in both languages of each candidate, found by Diptych."""
    found = candidates([folder], LANGS, at_least=AT_LEAST, suffixes=suffixes, memory=memory)
    return {each.site: (each.pages[0][1], each.pages[1][1]) for each in found}


def by_pyarrow(folder: str, suffixes: Sequence[str], memory: int) -> Found:
    """The same counts from a pyarrow scan that keeps digests and best URLs in Python.

    It does not know platforms that are missing from the public suffix list, and returns their
    domain, such as wordpress.com.
    """
    import pyarrow.dataset as ds

    condition = (ds.field("fetch_status") == 200) & ds.field("content_mime_detected").isin(HTML)
    if suffixes:
        condition = condition & ds.field("url_host_tld").isin(list(suffixes))
    digests: dict[tuple[str, str], set[str]] = {}
    starts: dict[str, tuple[int, str]] = {}
    index = ds.dataset(folder, format="parquet", partitioning="hive")
    for batch in index.to_batches(columns=list(COLUMNS), filter=condition):
        columns = (batch.column(name).to_pylist() for name in COLUMNS)
        for url, host, domain, digest, languages in zip(*columns, strict=True):
            if languages and (code := languages.partition(",")[0]) in ("eng", "fra"):
                site = domain or host
                digests.setdefault((site, code), set()).add(digest)
                starts[site] = min(starts.get(site, (9999, "")), (len(url), url))
    counts = {
        site: (len(digests.get((site, "eng"), ())), len(digests.get((site, "fra"), ())))
        for site in starts
    }
    return {site: both for site, both in counts.items() if min(both) >= AT_LEAST}


METHODS = {"diptych": by_duckdb, "pyarrow and Python": by_pyarrow}


def child(method: str, folder: str, suffix: str, memory: int) -> None:
    """Run one method in this process, and print its results and its cost."""
    started = time.perf_counter()
    found = METHODS[method](folder, [suffix] if suffix else [], memory)
    seconds = time.perf_counter() - started
    # Not by getrusage: its peak begins with that of the process this one was started by.
    status = Path("/proc/self/status").read_text("utf-8")
    peak = int(status.partition("VmHWM:")[2].split()[0]) / 1000
    json.dump({"seconds": seconds, "peak": peak, "found": found}, sys.stdout)


def measure(method: str, folder: Path, suffix: str, memory: int) -> dict[str, Any]:
    """Run one method in a separate process."""
    command = [sys.executable, "-m", "bench.tasks.columnar"]
    command += ["--child", method, "--folder", str(folder)]
    command += ["--suffix", suffix, "--memory", str(memory)]
    done = subprocess.run(command, check=True, capture_output=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    answer["found"] = {site: tuple(both) for site, both in answer["found"].items()}
    return answer


def compared(answer: dict[str, Any], true: Found, rows: int) -> dict[str, Any]:
    """The figures of one run, compared with the generated truth."""
    found: Found = answer["found"]
    return {
        "seconds": round(answer["seconds"], 2),
        "rows per second": round(rows / answer["seconds"]),
        "peak MB": round(answer["peak"]),
        "true sites": len(true),
        "found": len(found.keys() & true.keys()),
        "with the right counts": sum(found.get(site) == both for site, both in true.items()),
        "wrong sites": len(found.keys() - true.keys()),
    }


def measure_all(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Generate the files, and query them with every method."""
    started = time.perf_counter()
    made = generate(folder, rows=options.rows, hosts=options.hosts, seed=options.seed)
    written = time.perf_counter() - started
    size = sum(path.stat().st_size for path in folder.rglob("*.parquet"))
    print(f"{made.rows:,} rows, {size / 1e6:,.0f} MB, written in {written:.0f} s", file=sys.stderr)
    plans = [("diptych", "", 2000), ("diptych", "", 100), ("pyarrow and Python", "", 0)]
    plans += [("diptych", SUFFIX, 2000), ("pyarrow and Python", SUFFIX, 0)]
    rows = []
    for method, suffix, memory in plans:
        end = f".{suffix}"
        true = {site: both for site, both in made.sites.items() if not suffix or site.endswith(end)}
        figures = compared(measure(method, folder, suffix, memory), true, made.rows)
        limit = {"memory limit, MB": memory or "none", "hosts": end if suffix else "all"}
        rows.append({"method": method, **limit, **figures})
        print(rows[-1], file=sys.stderr)
    about = {
        "rows of the index": made.rows,
        "hosts": made.hosts,
        "files": made.files,
        "MB": round(size / 1e6),
    }
    return {**about, "tables": {"Candidates from a columnar index": rows}}


def main() -> int:
    """Measure, print and save the results; returns 1 if sites are missing or wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=6_000_000)
    parser.add_argument("--hosts", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="where to put the files; default: temporary")
    parser.add_argument("--out", type=Path, help="where to keep the results")
    parser.add_argument("--child", choices=METHODS, help=argparse.SUPPRESS)
    parser.add_argument("--suffix", default="", help=argparse.SUPPRESS)
    parser.add_argument("--memory", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, str(options.folder), options.suffix, options.memory)
        return 0
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        result = measure_all(Path(folder), options)
    show(result["tables"])
    if options.out:
        result = {"seed": options.seed, "machine": machine(["duckdb", "pyarrow"]), **result}
        options.out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    (rows,) = result["tables"].values()
    wrong = [
        row
        for row in rows
        if row["method"] == "diptych"
        and (row["with the right counts"] < row["true sites"] or row["wrong sites"])
    ]
    for row in wrong:
        print(f"FAILED: found is not what was generated: {row}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
