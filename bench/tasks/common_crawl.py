"""Sites mined from Common Crawl by a command that is killed: bytes, requests and the corpus.

    python -m bench.tasks.common_crawl [--sites 20] [--blocks 1000000] [--kills 3] [--out FILE]

Small bilingual sites (see `bench.sites.small_sites`) are written as a crawl in the formats of
Common Crawl, among records of other hosts of 10 to 50 kB, as in a real archive.  `cluster.idx` is
filled up to the size of a real one (`--blocks` lines).  A server on loopback sends parts of files
and logs them.  `diptych mine --common-crawl` is killed at random points and started again.  The
corpus must be that of `diptych mine --warc` on the same pages; between two records that are fetched
together there may be at most `GAP` bytes, and only parts that were under way at a kill may be
fetched again: one per connection.  Exits with 1 if not.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.sites.small_sites import small_site
from bench.support.crawl_files import CRAWL, CrawledPage, CrawlFiles, other_line
from bench.support.processes import give_up, last_line
from bench.support.range_server import Asked, RangeServer, Refusal, serve_ranges
from bench.support.tables import show_and_keep
from diptych.run.copied_records import Capture
from diptych.run.warc import compose
from diptych.sources.crawl_records import GAP, joined
from diptych.types import Response, Url

LANGS = {"en": "eng", "fr": "fra"}
ARCHIVES = f"crawl-data/{CRAWL}/segments/"
INDEX = "cc-index/"
SEED = 5
CONNECTIONS = 2


def host_of(number: int) -> str:
    """The host of a site.

    >>> host_of(7)
    's0007.example'
    """
    return f"s{number:04d}.example"


def site_pages(number: int) -> Iterator[CrawledPage]:
    """The pages of a small site, on a host of its own."""
    for target, raw in small_site(number).pages.items():
        if not target.endswith(".xml"):
            body = raw.partition(b"\r\n\r\n")[2]
            lang = "fr" if b'<html lang="fr">' in body else "en"
            yield CrawledPage(f"https://{host_of(number)}{target}", body, LANGS[lang])


def crawl_pages(sites: int) -> list[CrawledPage]:
    """The pages of all sites, in any order, each behind up to eight pages of other hosts."""
    chance = random.Random(SEED)
    pages = [page for number in range(sites) for page in site_pages(number)]
    chance.shuffle(pages)
    found: list[CrawledPage] = []
    for page in pages:
        for _ in range(chance.choice([0, 0, 1, 2, 4, 8])):
            noise = chance.randbytes(chance.randint(10_000, 50_000))  # cannot be compressed
            url = f"https://other{len(found) % 97:02d}.example/{len(found)}"
            found.append(CrawledPage(url, noise, "deu"))
        found.append(page)
    return found


def write_crawl(root: Path, sites: int, blocks: int) -> CrawlFiles:
    """Write the crawl; lines about blocks that nobody needs fill `cluster.idx`."""
    files = CrawlFiles(root, archives=8, with_table=False)
    files.write(crawl_pages(sites), (other_line("m.example", n) for n in range(60_000)))
    path = root / f"cc-index/collections/{CRAWL}/indexes/cluster.idx"
    lines = path.read_bytes().splitlines(keepends=True)
    for number in range(blocks // 2):
        place = b"20260920103059\tcdx-00001.gz\t%d\t250000\t%d\n" % (number * 250_000, number)
        lines.append(b"com,example%07d)/products/some-page-of-it %b" % (number, place))
        lines.append(b"org,example%07d)/products/some-page-of-it %b" % (number, place))
    path.write_bytes(b"".join(sorted(lines)))
    return files


def command(server: RangeServer, sites: int, out: Path) -> list[str]:
    """The command that mines all sites from the crawl."""
    named = [f"https://{host_of(number)}/" for number in range(sites)]
    return [
        sys.executable, "-m", "diptych", "mine", "--common-crawl", CRAWL, "--cc-base", server.url,
        "--langs", "en,fr", "--delay", "0", "--connections", str(CONNECTIONS),
        "--allow-private", "--quiet", "--jobs", "1", "--out", str(out), *named,
    ]  # fmt: skip


def mine_with_kills(server: RangeServer, sites: int, out: Path, kills: int, whole: int) -> int:
    """Start the command, and kill it after a random number of requests; the kills that hit."""
    chance, hits = random.Random(SEED), 0
    for _ in range(kills):
        after = len(server.log) + chance.randrange(1, whole // (kills + 1))
        process = subprocess.Popen(command(server, sites, out), start_new_session=True)

        def refuse(
            asked: Asked, after: int = after, process: subprocess.Popen[bytes] = process
        ) -> Refusal | None:
            if len(server.log) < after or process.poll() is not None:
                return None
            os.killpg(process.pid, signal.SIGKILL)
            return Refusal()

        server.refuse = refuse
        hits += process.wait() == -signal.SIGKILL
    server.refuse = lambda asked: None
    run(command(server, sites, out))
    return hits


def run(arguments: list[str]) -> None:
    """Run a command, which must succeed."""
    done = subprocess.run(arguments, capture_output=True, text=True)
    if done.returncode:
        give_up(f"'{' '.join(arguments[2:5])}' failed: {last_line(done.stderr)}")


def write_archive(path: Path, files: CrawlFiles, urls: set[str]) -> None:
    """Write the pages with these URLs to an archive, in the order of the crawl."""
    headers = (("Content-Type", "text/html; charset=utf-8"),)
    with path.open("wb") as out:
        for record in files.records:
            if record.page.url in urls:
                at = record.page.at.timestamp()
                url = Url(record.page.url)
                out.write(compose(Response(url, 200, headers, record.page.body, at)))


def corpus(folder: Path) -> list[dict[str, str]]:
    """The corpus of a run, without the places of its bytes."""
    with (folder / "corpus.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    ends = ("_warc", "_offset")
    return [{name: row[name] for name in row if not name.endswith(ends)} for row in rows]


def figures(server: RangeServer, files: CrawlFiles, urls: set[str]) -> dict[str, Any]:
    """Requests and bytes, beside those of the records that are needed."""
    needed = [each for each in files.records if each.page.url in urls]
    captures = sorted(
        (
            Capture(Url(each.page.url), "", "", "", each.file, each.offset, each.length)
            for each in needed
        ),
        key=lambda each: (each.file, each.offset),
    )
    parts = server.parts(ARCHIVES)
    records, sent = sum(each.length for each in needed), server.sent(ARCHIVES)
    return {
        "pages": len(needed),
        "MB of records": round(records / 1e6, 2),
        "MB fetched": round(sent / 1e6, 2),
        "MB of archives": round(sum(p.stat().st_size for p in files.root.rglob("*.warc.gz")) / 1e6),
        "requests": len(parts),
        "requests without kills": sum(1 for _ in joined(captures)),
        "parts fetched twice": sum(count - 1 for count in Counter(parts).values()),
        "bytes too many per join": (sent - records) // max(1, len(needed) - len(parts)),
    }


def index_figures(server: RangeServer, files: CrawlFiles, sites: int) -> dict[str, Any]:
    """Requests and bytes of the index."""
    blocks = server.parts(f"{INDEX}collections/{CRAWL}/indexes/cdx-")
    cluster = server.parts(f"{INDEX}collections/{CRAWL}/indexes/cluster.idx")
    size = sum(path.stat().st_size for path in (files.root / "cc-index").rglob("cluster.idx"))
    return {
        "sites": sites,
        "cluster.idx, MB": round(size / 1e6, 1),
        "requests": len(cluster),
        "MB fetched": round(sum(part[2] for part in cluster) / 1e6, 2),
        "blocks, requests": len(blocks),
        "blocks, MB fetched": round(sum(part[2] for part in blocks) / 1e6, 2),
    }


def main() -> None:
    """Measure, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", type=int, default=20)
    parser.add_argument("--blocks", type=int, default=1_000_000, help="lines of cluster.idx")
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--out", type=Path, help="file for the result")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = write_crawl(folder / "cc", asked.sites, asked.blocks)
        urls = {page.url for number in range(asked.sites) for page in site_pages(number)}
        with serve_ranges(files.root) as server:
            started = time.perf_counter()
            undisturbed = folder / "undisturbed"
            run(command(server, asked.sites, undisturbed))
            seconds = time.perf_counter() - started
            whole, once = len(server.log), server.sent()
            server.log.clear()
            hits = mine_with_kills(server, asked.sites, folder / "killed", asked.kills, whole)
            records = figures(server, files, urls)
            index = index_figures(server, files, asked.sites)
            all_sent = server.sent()
        write_archive(folder / "pages.warc.gz", files, urls)
        archive = ["--warc", str(folder / "pages.warc.gz"), "--langs", "en,fr", "--quiet"]
        out = ["--out", str(folder / "archive"), "--jobs", "1"]
        run([sys.executable, "-m", "diptych", "mine", *archive, *out])
        found = {each: corpus(folder / each) for each in ("archive", "undisturbed", "killed")}
    same = {
        "kills": hits,
        "segments from the archive": len(found["archive"]),
        "the same without kills": found["undisturbed"] == found["archive"],
        "the same with kills": found["killed"] == found["archive"],
        "MB fetched without kills": round(once / 1e6, 2),
        "with kills": round(all_sent / 1e6, 2),
        "s without kills": round(seconds, 1),
    }
    show_and_keep({"Records": [records], "Index": [index], "Corpus": [same]}, asked.out)
    is_right = same["the same without kills"] and same["the same with kills"]
    is_sparing = (
        records["parts fetched twice"] <= hits * CONNECTIONS
        and records["bytes too many per join"] <= GAP
    )
    if not (is_right and is_sparing and hits == asked.kills and found["archive"]):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
