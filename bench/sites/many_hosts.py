"""An archive of any size: made documents in two languages, under many hosts.

    python -m bench.sites.many_hosts --runs RUN... --pages 10000 [--pages-per-host 200] --out FILE

The texts are segments of finished runs.  Each document has some of them, in both languages, under
`/en/` and `/fr/`; each host has a menu of its own, which all its pages show, and documents link to
others of their host.
"""

from __future__ import annotations

import argparse
import csv
import html
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from bench.support.processes import give_up
from diptych.run.warc import compose, compose_info
from diptych.types import Response, Url

SEGMENTS = 20  # of a page
LINKS = 6  # to other documents
MENU = 8  # items of the menu of a host
PAGES_PER_HOST = 200
_HEADERS = (("Content-Type", "text/html; charset=utf-8"),)
Segment = tuple[str, str]


class Texts(NamedTuple):
    """Segments to make pages of, and their languages."""

    langs: tuple[str, str]
    segments: list[Segment]


def segments_of(run: Path) -> list[Segment]:
    """The segments of a run."""
    with (run / "corpus.tsv").open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [(row["left"], row["right"]) for row in rows]


def texts_of(runs: Sequence[Path]) -> Texts:
    """The segments of several runs in the same two languages; folders are named `NAME-en-fr`."""
    named = {tuple(run.name.split("-")[-2:]) for run in runs}
    if len(named) != 1 or len(langs := named.pop()) != 2:
        give_up("the names of all runs must end with the same two languages, such as -en-fr")
    found = [segment for run in runs for segment in segments_of(run)]
    if len(found) < SEGMENTS:
        give_up(f"the runs have only {len(found)} segments")
    return Texts((langs[0], langs[1]), found)


def write_hosts(
    texts: Texts, pages: int, out: Path, *, pages_per_host: int = PAGES_PER_HOST
) -> None:
    """Write an archive of so many pages; the same arguments give the same archive."""
    chance = random.Random(pages)
    with out.open("wb") as stream:
        stream.write(compose_info(agent="bench", name=out.name, now=0.0))
        for host, first in enumerate(range(0, pages // 2, pages_per_host // 2)):
            documents = min(pages_per_host // 2, pages // 2 - first)
            for url, body in _host(texts, f"site{host}.test", documents, chance):
                _write(stream, url, body)


def _host(
    texts: Texts, name: str, documents: int, chance: random.Random
) -> Iterator[tuple[Url, str]]:
    """Yield the URL and HTML of each page of a host: its home page, then its documents."""
    menu = chance.sample(texts.segments, MENU)
    starts = "".join(f"<a href='/{lang}/0.html'>{lang}</a> " for lang in texts.langs)
    yield Url(f"http://{name}/"), f"<title>{name}</title>{starts}"
    for number in range(documents):
        chosen = chance.sample(texts.segments, SEGMENTS)
        others = [(number + 1) % documents, *(chance.randrange(documents) for _ in range(LINKS))]
        links = "".join(f"<li><a href='{other}.html'>{other}</a></li>" for other in others)
        for side, lang in enumerate(texts.langs):
            items = "".join(f"<li>{html.escape(item[side])}</li>" for item in menu)
            text = "".join(f"<p>{html.escape(segment[side])}</p>" for segment in chosen)
            title = html.escape(chosen[0][side])
            body = f"<title>{title}</title><ul>{items}</ul><ul>{links}</ul>{text}"
            yield Url(f"http://{name}/{lang}/{number}.html"), body


def _write(stream: BinaryIO, url: Url, body: str) -> None:
    stream.write(compose(Response(url, 200, _HEADERS, body.encode(), 0.0)))


def main() -> None:
    """Write an archive."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=Path, nargs="+", required=True)
    parser.add_argument("--pages", type=int, required=True)
    parser.add_argument("--pages-per-host", type=int, default=PAGES_PER_HOST)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    write_hosts(texts_of(asked.runs), asked.pages, asked.out, pages_per_host=asked.pages_per_host)


if __name__ == "__main__":
    main()
