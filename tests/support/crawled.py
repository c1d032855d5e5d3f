"""A small crawl in the formats of Common Crawl: one bilingual site among others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.support.crawl_files import CRAWL, CrawledPage, CrawlFiles, other_line
from bench.support.range_server import RangeServer
from support.bilingual import HOST, plain_site

SITE = HOST
CODES = {"en": "eng", "fr": "fra"}
NAMED = ("--langs", "en,fr", "--delay", "0", "--allow-private", "--quiet")


def site_pages(host: str = HOST) -> list[CrawledPage]:
    """The pages of the bilingual site."""
    return [
        CrawledPage(host + path, html.encode(), CODES[path.split("/")[1]])
        for path, html in sorted(plain_site().items())
    ]


def others(count: int = 500) -> Iterable[bytes]:
    """Lines of the index about other sites, before and behind the site."""
    for number in range(count):
        yield other_line("aaa.example", number)
        yield other_line("zzz.example", number)


def write_crawl(
    root: Path,
    pages: Sequence[CrawledPage] | None = None,
    *,
    block_lines: int = 10,
    rest: int = 500,
    with_table: bool = False,
) -> CrawlFiles:
    """Write a crawl with small blocks; the columnar index takes a second."""
    files = CrawlFiles(root, block_lines=block_lines, with_table=with_table)
    files.write(site_pages() if pages is None else pages, others(rest))
    return files


def command(server: RangeServer | Path | str, out: Path, *more: object) -> list[object]:
    """The command that mines the site from the crawl."""
    base = server.url if isinstance(server, RangeServer) else server
    return [
        "mine", "--common-crawl", CRAWL, "--cc-base", base, *NAMED, "--out", out, *more,
    ]  # fmt: skip
