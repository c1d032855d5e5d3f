"""Files of a built site: pages, lists of links, what is true of its pages, and what it is."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from html import escape
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bench.sites.builder.pages import Groups, Pages, SitePage

__all__ = ["begin", "link_page", "quoted", "summary", "write", "write_json", "write_truth"]

_MOST_ROWS = 400_000  # of truth.tsv; with more, only pairs with the pivot language are written


def begin(site: Path) -> Path:
    """Make the folder of a site anew; returns the folder of its pages."""
    shutil.rmtree(site, ignore_errors=True)
    docs = site / "htdocs"
    docs.mkdir(parents=True)
    return docs


def write(docs: Path, name: str, content: bytes) -> None:
    """Write one page."""
    file = docs / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def write_json(file: Path, content: Any) -> None:
    """Write a description of the site."""
    file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")


def quoted(path: str) -> str:
    """The path of a page as it is shipped, in a URL."""
    return "/" + quote(path)


def link_page(title: str, links: Iterable[tuple[str, str]]) -> bytes:
    """A page that is a list of links, given as address and HTML."""
    listed = "".join(f'<li><a href="{escape(url)}">{shown}</a></li>' for url, shown in links)
    shown = escape(title)
    return (
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{shown}</title></head>'
        f"<body><h1>{shown}</h1><ul>{listed}</ul></body></html>"
    ).encode()


def write_truth(
    site: Path, groups: Groups, url: Callable[[SitePage], str], pivot: str
) -> dict[str, Any]:
    """Write the true pairs and the groups of pages; returns the number of pairs."""
    pairs = list(_true_pairs(groups))
    pivot_only = len(pairs) > _MOST_ROWS
    if pivot_only:
        pairs = [(one, other) for one, other in pairs if pivot in (one.lang, other.lang)]
    with (site / "truth.tsv").open("w", encoding="utf-8") as stream:
        for one, other in pairs:
            print(url(one), one.lang, url(other), other.lang, sep="\t", file=stream)
    with (site / "groups.tsv").open("w", encoding="utf-8") as stream:
        for key in sorted(groups):
            for lang, page in sorted(groups[key].items()):
                row = (key.replace("\t", " "), lang, url(page), int(page.is_fine), page.state)
                print(*row, sep="\t", file=stream)
    return {"truth_pairs": len(pairs), "truth_pivot_only": pivot_only}


def _true_pairs(groups: Groups) -> Iterator[tuple[SitePage, SitePage]]:
    for _, group in sorted(groups.items()):
        fine = [page for _, page in sorted(group.items()) if page.is_fine]
        yield from combinations(fine, 2)


def summary(pages: Pages, groups: Groups) -> dict[str, Any]:
    """What meta.json says of the pages of every site."""
    counts = Counter(page.lang for page in pages.values())
    translated = Counter(page.lang for page in pages.values() if page.is_translated)
    return {
        "languages": sorted(counts),
        "pages": dict(sorted(counts.items())),
        "pages_total": len(pages),
        "really": dict(sorted(translated.items())),
        "pages_without_counterpart": sum(len(groups[page.key]) == 1 for page in pages.values()),
    }
