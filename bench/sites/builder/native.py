"""Sites as their authors shipped them, with lists of the pages that no link leads to."""

from __future__ import annotations

from collections import defaultdict
from html import escape
from pathlib import Path
from typing import Any

from bench.sites.builder.collect import collect
from bench.sites.builder.documents import decode, read_bytes
from bench.sites.builder.families import Family
from bench.sites.builder.languages import own_name
from bench.sites.builder.output import (
    begin,
    link_page,
    quoted,
    summary,
    write,
    write_json,
    write_truth,
)
from bench.sites.builder.pages import (
    Pages,
    entry_points,
    find_page,
    groups_of,
    home_of,
    link_graph,
    pivot_of,
    reached,
)

__all__ = ["build_native"]

_LISTED = 400  # links on one list of pages


def build_native(family: Family, work: Path) -> dict[str, Any]:
    """Build the site of a family as it was shipped; returns its meta.json."""
    pages = collect(family, work)
    site = work / "built" / family.name
    docs = begin(site)
    for path, page in pages.items():
        write(docs, path, read_bytes(page.file))
    langs = sorted({page.lang for page in pages.values()})
    homes = {lang: home_of(family, pages, lang) for lang in langs}
    graph, root = link_graph(pages), find_page(pages, "index.html")
    seen = reached(graph, [root] if root else homes.values())
    unlinked = [lang for lang in langs if homes[lang] not in seen]
    orphans = entry_points(graph, reached(graph, [*seen, *(homes[lang] for lang in unlinked)]))
    lists = _write_lists(docs, pages, orphans)
    if root is None:
        shown = [(quoted(homes[lang]), own_name(lang)) for lang in langs]
        write(docs, "index.html", link_page(family.name, [*shown, *lists]))
    elif unlinked or lists:
        shown = [(quoted(homes[lang]), own_name(lang)) for lang in unlinked]
        write(docs, root, _with_links(read_bytes(pages[root].file), [*shown, *lists]))
    groups, pivot = groups_of(pages), pivot_of(pages)
    meta = {
        "site": family.name, "family": family.name, "scheme": "native", "pivot": pivot,
        "home": "/", **summary(pages, groups),
        **write_truth(site, groups, lambda page: quoted(page.path), pivot),
        "synthetic_home": root is None,
        "home_links_injected": bool(root and (unlinked or lists)),
        "orphans_listed": len(orphans), "source": family.packages, "hosts": None,
    }  # fmt: skip
    write_json(site / "meta.json", meta)
    return meta


def _write_lists(docs: Path, pages: Pages, orphans: list[str]) -> list[tuple[str, str]]:
    """Write lists of pages that no link leads to; returns their addresses and names."""
    by_lang: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(orphans):
        by_lang[pages[path].lang].append(path)
    lists = []
    for lang, paths in by_lang.items():
        for number, start in enumerate(range(0, len(paths), _LISTED), start=1):
            name = f"_list/{lang}-{number}.html"
            links = [
                (quoted(path), escape(pages[path].facts.title or path))
                for path in paths[start : start + _LISTED]
            ]
            write(docs, name, link_page(f"Index {own_name(lang)}", links))
            lists.append((quoted(name), f"Index {own_name(lang)} {number}"))
    return lists


def _with_links(content: bytes, links: list[tuple[str, str]]) -> bytes:
    """A page with links added at its end, in its own encoding."""
    text, encoding = decode(content)
    shown = " | ".join(f'<a href="{url}">{name}</a>' for url, name in links)
    added = f"<div>{shown}</div>".encode("ascii", "xmlcharrefreplace").decode()
    end = text.lower().rfind("</body>")
    text = text[:end] + added + text[end:] if end >= 0 else text + added
    return text.encode(encoding, "xmlcharrefreplace")
