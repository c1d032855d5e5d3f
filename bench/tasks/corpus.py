"""A million segments deduplicated, exported and merged: time and memory on one core.

    python -m bench.tasks.corpus [--segments 1000000] [--out FILE]

Runs are generated: pages, pairs and segments of artificial words with realistic frequencies; a
fifth of the segments are near-duplicates of others.  Each measurement runs in a separate process
and is repeated with a quarter of the segments to show how memory grows.  The baselines deduplicate
the same segments with a dictionary of texts and write them with the standard library's json, or use
a window function of SQLite.  Exits with 1 if counts differ from those generated.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import tomli_w

from bench.support.machine import machine
from bench.support.tables import show
from diptych import recipes
from diptych.api.export import ExportOptions, export_run
from diptych.commands.merge import MergeOptions, merge_corpora
from diptych.frontier.queue import Entry, Frontier
from diptych.protocols import Watcher
from diptych.registry import build
from diptych.run.store import Store
from diptych.run.terms import Terms, read_terms
from diptych.run.warc import Pointer
from diptych.steps.score_segments import score_segments
from diptych.types import Decision, LangPair, Page, PagePair, PageRecord, SegmentPair, Url

LANGS = LangPair("en", "fr")
PER_PAIR = 40
SHARE = 0.2  # of segments that are near-duplicates of others
FORMATS = ("tsv", "tmx", "moses", "jsonl", "parquet")
QUARTERS = 4
PER_FILE = 500_000  # lines


def words(rng: random.Random, count: int, letters: str) -> list[str]:
    """A vocabulary in which frequent words are short."""
    return ["".join(rng.choices(letters, k=2 + place.bit_length() // 2)) for place in range(count)]


def texts(count: int, seed: int) -> Iterator[tuple[str, str]]:
    """Segments, some of which differ from an earlier one only in case, full stops and numbers."""
    rng = random.Random(seed)
    vocabularies = [words(rng, 20_000, letters) for letters in ("abdeilnorst", "aeéilmnopqrsu")]
    weights = [1 / (rank + 2) for rank in range(20_000)]
    pools = [rng.choices(vocabulary, weights, k=1_000_000) for vocabulary in vocabularies]
    kept: list[tuple[str, str]] = []
    for place in range(count):
        if kept and rng.random() < SHARE:
            left, right = rng.choice(kept)
            yield f"{left.upper()} {place}", f"{right}!"
            continue
        length = min(60, 3 + int(rng.expovariate(1 / 14)))
        starts = [rng.randrange(len(pool) - 80) for pool in pools]
        left, right = (
            " ".join(pool[start : start + length])
            for pool, start in zip(pools, starts, strict=True)
        )
        made = f"{left} {place}.", f"{right} {place}."
        if len(kept) < 50_000:
            kept.append(made)
        yield made


def generate(folder: Path, count: int, seed: int) -> int:
    """Generate a run with a number of segments; returns the number of distinct ones."""
    folder.mkdir()
    recipe = recipes.load(recipes.DEFAULT, {"filter": "rules"})
    terms = Terms(tuple(LANGS), ("http://example.org/",), "site", recipe)
    (folder / "run.toml").write_text(tomli_w.dumps(terms.to_toml()), "utf-8")
    source = texts(count, seed)
    with Store(folder) as store:
        store.site_id("example.org")
        store.archive.add("warc/diptych-00001.warc.gz", 0)
        pairs = [_pair(seed, number) for number in range(-(-count // PER_PAIR))]
        _add_pages(store, pairs)
        store.replace_pairs(1, pairs)
        with store.transaction():
            for id, pair in store.pairs(1):
                store.save_decision(id, Decision(True, 0.9))
                store.save_segments(id, [_segment(pair, text) for text in _take(source, PER_PAIR)])
        return store.count("SELECT count(DISTINCT key) FROM segments")


def _take(source: Iterator[tuple[str, str]], count: int) -> list[tuple[str, str]]:
    return [text for _, text in zip(range(count), source, strict=False)]


def _pair(seed: int, number: int) -> PagePair:
    left, right = (Url(f"http://example.org/{seed}/{lang}/{number}.html") for lang in LANGS)
    return PagePair(left, right, *LANGS, 0.9, "hreflang")


def _add_pages(store: Store, pairs: list[PagePair]) -> None:
    urls = [url for pair in pairs for url in (pair.left, pair.right)]
    with store.transaction():
        Frontier(store.db).add([Entry(url, 1, 0.0) for url in urls])
        for number, url in enumerate(urls):
            lang = LANGS[number % 2]
            record = PageRecord(url, lang, (), "title", 1, 9_000, 4_000, f"sha1:{number:032d}")
            store.save_page(1, Page(record, ()), Pointer(1, 4_000 * number, 4_000))


def _segment(pair: PagePair, text: tuple[str, str]) -> tuple[SegmentPair, Decision]:
    path = "/html/body/div[2]/div[1]/p[4]"
    left, right = text
    segment = SegmentPair(
        left, right, *LANGS, pair.left, pair.right, path, path, 0.8, f"0-{len(left)}",
        f"0-{len(right)}",
    )  # fmt: skip
    return segment, Decision(True, (hash(len(left)) % 89 + 10) / 100)


# -- what is measured ------------------------------------------------------------------------------


def deduplicate(run: Path) -> int:
    """Mark the near-duplicates of a run; returns the number of segments kept."""
    with Store(run) as store:
        score_segments(store, build(read_terms(run).recipe).filter, Watcher())
        return store.count("SELECT count(*) FROM segments WHERE accept")


def export(name: str) -> Callable[[Path], int]:
    """Write the corpus of a run in a format."""

    def write(run: Path) -> int:
        options = ExportOptions(run=run, format=name, out=run / f"measured.{name}")
        return export_run(options).lines

    return write


def merge(folder: Path) -> int:
    """Merge all runs of a folder into one corpus."""
    runs = sorted(path.parent for path in folder.glob("*/run.toml"))
    return merge_corpora(
        MergeOptions(inputs=tuple(runs), format="jsonl", out=folder / "merged.jsonl")
    )


def merge_to_parts(folder: Path) -> int:
    """Merge all runs of a folder into a folder of Parquet files."""
    runs = sorted(path.parent for path in folder.glob("*/run.toml"))
    return merge_corpora(
        MergeOptions(inputs=tuple(runs), out=folder / "merged.parquet", max_lines=PER_FILE)
    )


def by_dictionary(run: Path) -> int:
    """Remove equal texts with a dictionary in memory, and write JSON with the standard library."""
    with Store(run, write=False) as store, (run / "plain.jsonl").open("w", encoding="utf-8") as out:
        found: dict[tuple[str, str], tuple[Any, ...]] = {}
        for row in store.db.execute(
            "SELECT s.left, s.right, s.score, l.url, r.url, left_path, right_path FROM segments s"
            " JOIN pairs ON pairs.id = s.pair JOIN urls l ON l.key = pairs.left"
            " JOIN urls r ON r.key = pairs.right ORDER BY l.url, r.url, position"
        ):
            found.setdefault((row[0].lower(), row[1].lower()), row)
        names = ("left", "right", "score", "left_url", "right_url", "left_path", "right_path")
        for row in found.values():
            out.write(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) + "\n")
        return len(found)


def by_window(run: Path) -> int:
    """Remove equal texts with a window function of SQLite."""
    with Store(run, write=False) as store:
        return store.count(
            "SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY s.left, s.right"
            " ORDER BY l.url, r.url, position) AS n FROM segments s"
            " JOIN pairs ON pairs.id = s.pair JOIN urls l ON l.key = pairs.left"
            " JOIN urls r ON r.key = pairs.right) WHERE n = 1"
        )


METHODS: dict[str, Callable[[Path], int]] = {
    "deduplicate": deduplicate,
    **{f"export {name}": export(name) for name in FORMATS},
    "merge 4 runs, jsonl": merge,
    "merge 4 runs, parquet in several files": merge_to_parts,
    "a dictionary and json": by_dictionary,
    "a window function": by_window,
}


def child(method: str, path: Path) -> None:
    """Run one measurement in this process, and print its cost."""
    started, worked = time.perf_counter(), time.process_time()
    count = METHODS[method](path)
    # Not by getrusage: its peak begins with that of the process this one was started by.
    status = Path("/proc/self/status").read_text("utf-8")
    peak = int(status.partition("VmHWM:")[2].split()[0]) / 1000
    figures = {
        "seconds": time.perf_counter() - started,
        "processor": time.process_time() - worked,
        "peak": peak,
        "count": count,
    }
    print(json.dumps(figures))


def measure(method: str, path: Path, segments: int) -> dict[str, Any]:
    """Run one measurement in a separate process."""
    command = [sys.executable, "-m", "bench.tasks.corpus", "--child", method, "--path", str(path)]
    done = subprocess.run(command, check=True, capture_output=True)
    answer = json.loads(done.stdout.splitlines()[-1])
    row = {
        "what": method,
        "segments": segments,
        "seconds": round(answer["seconds"], 1),
        "of a processor": round(answer["processor"], 1),
        "peak MB": round(answer["peak"]),
        "lines": answer["count"],
    }
    print(row, file=sys.stderr)
    return row


def measure_all(folder: Path, count: int) -> tuple[list[dict[str, Any]], bool]:
    """Generate runs, and measure everything on them; returns True if all counts are correct."""
    rows, is_right = [], True
    for part, segments in (("small", count // QUARTERS), ("large", count)):
        run = folder / part
        different = generate(run, segments, seed=len(part))
        for method in METHODS:
            if method.startswith("merge"):
                continue
            rows.append(measure(method, run, segments))
            if method.startswith(("deduplicate", "export")):
                is_right = is_right and rows[-1]["lines"] == different
    runs = folder / "runs"
    runs.mkdir()
    for number in range(QUARTERS):
        generate(runs / f"run{number}", count // QUARTERS, seed=number % 3)  # two are the same
        deduplicate(runs / f"run{number}")
    rows.extend(measure(name, runs, count) for name in METHODS if name.startswith("merge"))
    return rows, is_right


def main() -> int:
    """Measure, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--segments", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--child", choices=METHODS)
    parser.add_argument("--path", type=Path)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.path)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        rows, is_right = measure_all(Path(folder), options.segments)
    result = {"tables": {"A corpus deduplicated, written and merged": rows}}
    show(result["tables"])
    if options.out:
        known = machine(["numpy", "orjson", "pyarrow"])
        options.out.write_text(json.dumps({"machine": known, **result}, indent=1) + "\n", "utf-8")
    return 0 if is_right else 1


if __name__ == "__main__":
    raise SystemExit(main())
