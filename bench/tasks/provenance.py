"""Provenance end to end: the text of each segment is located in the WARC record that it names.

    python -m bench.tasks.provenance [--sites DIR] [--only NAME...] [--segments N] [--seed N]
        [--out FILE]

Three development sites are served on loopback, mined by the command line and exported as JSONL.
Both sides of a random sample of segments are located: with warcio and lxml, independently of
Diptych, and exactly, by the named blocks and characters.  Then the whole corpus is exported without
texts and rebuilt: the result must be the same file.  `elsewhere` is the number of texts that any
method finds in the page of another segment: the number found by chance.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import lxml.html
from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped]

from bench.sites.built import add_sites_option, built_folder, serve, site_builder
from bench.sites.crawl_sites import CrawlSite, build_sites, chosen
from bench.support.machine import machine
from bench.support.processes import give_up, last_line
from bench.support.tables import percent, show
from diptych.page.read import read_content
from diptych.run.warc import read_at
from diptych.text.spans import by_path, texts_at

SITES = ("third-utf8slug-mplayer", "partial-utf8slug-debian", "third-slug-lilypond")
"""sites in other scripts, in legacy charsets, and with much inline markup"""
WAYS = (
    "as it stands", "but for white space", "stretch by stretch", "but for marks", "in an attribute",
    "not found",
)  # fmt: skip
ATTRIBUTES = "//@alt | //@value | //meta/@content"
# Footnote marks, heading anchors, and texts for screen readers, which are in no sentence.
MARKS = (
    "//sup[.//a[contains(@href, '#')]] | //a[contains(@href, '#')][string-length(.) < 9]"
    " | //span[@aria-hidden='true' or @hidden or contains(@class, 'sr-only')]"
    " | //span[contains(@class, 'visually') or contains(@class, 'screen-reader')]"
)

_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([\w:-]+)""", re.IGNORECASE)
_XML = re.compile(r"^\s*<\?xml[^>]*>")
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))


class Found(NamedTuple):
    """One side of a segment in the corpus."""

    text: str
    url: str
    warc: Path
    offset: int
    path: str
    at: str


class Seen(NamedTuple):
    """A page as parsed by other libraries."""

    url: str
    text: str
    squeezed: str
    unmarked: str
    """the squeezed text without marks"""
    attributes: str


def diptych(*arguments: str) -> str:
    """Run the command line."""
    command = [sys.executable, "-m", "diptych", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        give_up(f"diptych {arguments[0]} ended with {done.returncode}: {last_line(done.stderr)}")
    return done.stdout


def mine(site: CrawlSite, run: Path) -> None:
    """Mine a site that is served on loopback."""
    with serve([built_folder() / site.name]) as served:
        home = served[site.name].home
        options = ["--langs", site.wanted, "--allow-private", "--delay", "0", "--quiet"]
        diptych("mine", home, *options, "--out", str(run))


def sides(row: dict[str, Any], run: Path) -> list[Found]:
    """Both sides of a line of JSONL."""
    return [
        Found(
            row[side], row[f"{side}_url"], run / row[f"{side}_warc"], row[f"{side}_offset"],
            row[f"{side}_path"], row[f"{side}_at"],
        )
        for side in ("left", "right")
    ]  # fmt: skip


@lru_cache(maxsize=256)
def seen(warc: Path, offset: int) -> Seen:
    """Parse a page without Diptych."""
    with warc.open("rb") as stream:
        stream.seek(offset)
        record = next(iter(ArchiveIterator(stream)))
        body = record.content_stream().read()
        content_type = record.http_headers.get_header("Content-Type") or ""
        url = record.rec_headers.get_header("WARC-Target-URI")
    tree = lxml.html.document_fromstring(_XML.sub("", decoded(body, content_type)))
    attributes = "\n".join(folded(value) for value in tree.xpath(ATTRIBUTES))
    for element in tree.xpath("//script | //style"):
        element.drop_tree()
    text = tree.text_content()
    for element in tree.xpath(MARKS):
        element.drop_tree()
    unmarked = squeezed(tree.text_content())
    return Seen(url, folded(text), squeezed(text), unmarked, attributes)


def decoded(body: bytes, content_type: str) -> str:
    """Decode a page with its declared charset, else UTF-8, else the default of browsers."""
    declared = _CHARSET.search(content_type) or _CHARSET.search(body[:2048].decode("latin-1"))
    if declared:
        return body.decode(declared[1], "replace")
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def folded(text: str) -> str:
    """A text with white space collapsed and zero-width characters removed."""
    return " ".join(text.translate(_INVISIBLE).split())


def squeezed(text: str) -> str:
    """A text without white space and zero-width characters."""
    return "".join(folded(text).split())


def way(side: Found, page: Seen) -> str:
    """The method by which the text of a side is found in its page."""
    lengths = [int(end) - int(start) for start, end in (at.split("-") for at in side.at.split())]
    starts = [sum(lengths[:number]) + number for number in range(len(lengths))]
    stretches = [
        side.text[start : start + length] for start, length in zip(starts, lengths, strict=True)
    ]
    if side.text in page.text:
        return WAYS[0]
    if "".join(side.text.split()) in page.squeezed:
        return WAYS[1]
    if stretches and all("".join(part.split()) in page.squeezed for part in stretches):
        return WAYS[2]
    if stretches and all("".join(part.split()) in page.unmarked for part in stretches):
        return WAYS[3]
    return WAYS[4] if side.text in page.attributes else WAYS[5]


@lru_cache(maxsize=256)
def own_texts(warc: Path, offset: int) -> dict[str, list[str]]:
    """The blocks of a page as parsed by Diptych."""
    with warc.open("rb") as stream:
        response = read_at(stream, offset)
    return by_path(read_content(response)[0]) if response else {}


def is_exact(side: Found) -> bool:
    """True if the named characters of the named blocks are equal to the text."""
    return side.text in texts_at(own_texts(side.warc, side.offset), side.path, side.at)


def is_rebuilt(run: Path, corpus: Path) -> tuple[bool, float]:
    """Export a corpus without texts and rebuild it; returns True if equal, and the size ratio."""
    bare, again = run / "bare.jsonl", run / "again.jsonl"
    diptych("export", str(run), "--format", "standoff", "--out", str(bare))
    diptych(
        "rebuild", str(bare), "--warc", str(run / "warc"), "--format", "jsonl", "--out", str(again)
    )
    return again.read_bytes() == corpus.read_bytes(), bare.stat().st_size / corpus.stat().st_size


def measure(site: CrawlSite, lines: int, sample: Sequence[Found], run: Path) -> dict[str, Any]:
    """Measure one site."""
    pages = [seen(side.warc, side.offset) for side in sample]
    ways = [way(side, page) for side, page in zip(sample, pages, strict=True)]
    for side, found in zip(sample, ways, strict=True):
        if found == WAYS[-1]:
            print(f"not found: {side.url} {side.path}: {side.text[:80]}", file=sys.stderr)
    is_same, size = is_rebuilt(run, run / "provenance.jsonl")
    # The same side of the segment before it in the sample, so mostly a page of the same language.
    others = [*pages[-2:], *pages[:-2]]
    elsewhere = sum(way(side, page) != WAYS[-1] for side, page in zip(sample, others, strict=True))
    named = sum(side.url == page.url for side, page in zip(sample, pages, strict=True))
    return {
        "site": site.name.removeprefix("crawl-"), "languages": site.wanted,
        "segments": lines, "sides looked for": len(sample),
        "record of that URL, %": percent(named / len(sample)),
        **{f"{key}, %": percent(ways.count(key) / len(sample)) for key in WAYS},
        "elsewhere, %": percent(elsewhere / len(sample)),
        "exact by its places, %": percent(sum(map(is_exact, sample)) / len(sample)),
        "rebuilt the same": "yes" if is_same else "no", "size without texts, %": percent(size),
    }  # fmt: skip


def is_good(row: dict[str, Any]) -> bool:
    """True if every text was found with every method."""
    everything = (row["record of that URL, %"], row["exact by its places, %"])
    return not row[f"{WAYS[-1]}, %"] and set(everything) == {100.0} and "yes" in row.values()


def measured(sites: Sequence[CrawlSite], size: int, seed: int) -> list[dict[str, Any]]:
    """Measure all sites on a sample of their segments."""
    with tempfile.TemporaryDirectory() as scratch:
        rows: list[tuple[str, dict[str, Any]]] = []
        for site in sites:
            run = Path(scratch) / site.name
            mine(site, run)
            corpus = run / "provenance.jsonl"
            diptych("export", str(run), "--format", "jsonl", "--out", str(corpus))
            rows += [(site.name, json.loads(line)) for line in corpus.open(encoding="utf-8")]
        sample = random.Random(seed).sample(rows, min(size, len(rows)))
        counts = Counter(name for name, _ in rows)
        table = []
        for site in sites:
            run = Path(scratch) / site.name
            found = [side for name, row in sample if name == site.name for side in sides(row, run)]
            table.append(measure(site, counts[site.name], found, run))
    return table


def main() -> None:
    """Mine, check, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_sites_option(parser)
    parser.add_argument("--only", nargs="*", default=SITES, metavar="NAME", help="parts of names")
    parser.add_argument("--segments", type=int, default=1_000, help="how many are looked for")
    parser.add_argument("--seed", type=int, default=8)
    parser.add_argument("--out", type=Path, help="where to keep the results")
    options = parser.parse_args()
    sites = chosen(options.only)
    build_sites(site_builder(options.sites), sites)
    table = measured(sites, options.segments, options.seed)
    total = sum(row["sides looked for"] for row in table) // 2
    shown = {f"{total:,} segments, both sides looked for in their archives": table}
    show(shown)
    if options.out:
        result = {"machine": machine(["warcio", "lxml", "fastwarc", "selectolax"]), "tables": shown}
        options.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")
    if not all(map(is_good, table)):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
