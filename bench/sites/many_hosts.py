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
from contextlib import ExitStack
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


def write_mixed(
    texts: Texts, pages: int, folder: Path, *, files: int, pages_per_host: int = PAGES_PER_HOST,
    largest: float = 0.0, missing: float = 0.0,
) -> list[Path]:  # fmt: skip
    """Write several archives, each with pages of all hosts.

    The first host has the share `largest` of all pages.  With `missing`, this share of the segments
    is on one of the two pages only.
    """
    chance = random.Random(pages)
    paths = [folder / f"{number:05d}.warc.gz" for number in range(files)]
    with ExitStack() as at_end:
        streams = [at_end.enter_context(path.open("wb")) for path in paths]
        for stream, path in zip(streams, paths, strict=True):
            stream.write(compose_info(agent="bench", name=path.name, now=0.0))
        turn = 0
        for host, documents in enumerate(_sizes(pages // 2, pages_per_host // 2, largest)):
            for url, body in _host(texts, f"site{host}.test", documents, chance, missing):
                _write(streams[turn % files], url, body)
                turn += 1
    return paths


def _sizes(documents: int, usual: int, largest: float) -> list[int]:
    """The number of documents of each host.

    >>> _sizes(100, 40, 0.0), _sizes(100, 20, 0.5)
    ([40, 40, 20], [50, 20, 20, 10])
    """
    first = int(documents * largest)
    rest = [min(usual, documents - place) for place in range(first, documents, usual)]
    return [first, *rest] if first else rest


def _host(
    texts: Texts, name: str, documents: int, chance: random.Random, missing: float = 0.0
) -> Iterator[tuple[Url, str]]:
    """Yield the URL and HTML of each page of a host: its home page, then its documents.

    The share `missing` of the segments is left out on one side.
    """
    menu = chance.sample(texts.segments, MENU)
    starts = "".join(f"<a href='/{lang}/0.html'>{lang}</a> " for lang in texts.langs)
    yield Url(f"http://{name}/"), f"<title>{name}</title>{starts}"
    for number in range(documents):
        chosen = chance.sample(texts.segments, SEGMENTS)
        others = [(number + 1) % documents, *(chance.randrange(documents) for _ in range(LINKS))]
        links = "".join(f"<li><a href='{other}.html'>{other}</a></li>" for other in others)
        # Without missing segments, no number is drawn: the archives stay what they were.
        lost = [chance.randrange(2) if missing and chance.random() < missing else 2 for _ in chosen]
        for side, lang in enumerate(texts.langs):
            items = "".join(f"<li>{html.escape(item[side])}</li>" for item in menu)
            text = "".join(
                f"<p>{html.escape(segment[side])}</p>"
                for segment, absent in zip(chosen, lost, strict=True)
                if absent != side
            )
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
