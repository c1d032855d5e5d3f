"""The pages of a family, the groups that translate each other, and the links between pages."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.sites.builder.documents import Facts, resolve
from bench.sites.builder.families import Family

__all__ = ["Graph", "Groups", "Pages", "SitePage", "entry_points", "find_page", "groups_of",
           "home_of", "link_graph", "pivot_of", "reached", "without_prefix"]  # fmt: skip


@dataclass
class SitePage:
    """One page of a family."""

    path: str
    """as it is shipped"""
    file: Path
    lang: str
    key: str
    """pages of different languages with the same key translate each other"""
    facts: Facts
    state: str = "ok"
    """or why no pair with it counts: `short`, `otherlang`, `suspect`, `length`"""

    @property
    def is_fine(self) -> bool:
        """Whether a pair with it counts as true."""
        return self.state == "ok"

    @property
    def is_translated(self) -> bool:
        """Whether its text is in its language."""
        return self.state not in ("short", "otherlang")


Pages = dict[str, SitePage]
"""path as shipped -> page"""
Groups = dict[str, dict[str, SitePage]]
"""key -> language -> page"""
Graph = dict[str, set[str]]
"""page -> the pages that it links to"""

_INDEX_LIKE = re.compile(r"(index|main|contents|toc|default|readme)")


def groups_of(pages: Pages) -> Groups:
    """Pages by key and language."""
    groups: Groups = {}
    for page in pages.values():
        groups.setdefault(page.key, {})[page.lang] = page
    return groups


def pivot_of(pages: Pages) -> str:
    """English, or else the language with the most pages."""
    counts = Counter(page.lang for page in pages.values())
    return "en" if "en" in counts else counts.most_common(1)[0][0]


def home_of(family: Family, pages: Pages, lang: str) -> str:
    """The start page of a language."""
    own = [page for page in pages.values() if page.lang == lang]
    for key in family.home:
        for page in own:
            if page.key == key:
                return page.path
    return min(
        (page.path for page in own),
        key=lambda path: ("index" not in os.path.basename(path), len(path), path),
    )


def without_prefix(link: str, prefixes: Iterable[str]) -> str:
    """A link without a beginning that means the root of the site."""
    for prefix in prefixes:
        if link.startswith(prefix):
            return "/" + link.removeprefix(prefix).lstrip("/")
    return link


def find_page(pages: Collection[str], path: str, endings: Iterable[str] = ()) -> str | None:
    """The page that a path leads to: itself, an index, or with an ending that was left out.

    >>> find_page({"a/index.html", "b.html"}, "a/"), find_page({"a/index.html", "b.html"}, "b")
    ('a/index.html', 'b.html')
    """
    if path in pages:
        return path
    bare = path.rstrip("/")
    tried = [
        f"{bare}/index.html".lstrip("/"),
        f"{bare}/index.htm".lstrip("/"),
        f"{bare}.html",
        bare,
    ]
    tried += [f"{bare}{ending}".lstrip("/") for ending in endings]
    return next((each for each in tried if each in pages), None)


def link_graph(pages: Pages, prefixes: Iterable[str] = (), endings: Iterable[str] = ()) -> Graph:
    """Which page links to which."""
    graph: Graph = {}
    for path, page in pages.items():
        leads = (resolve(path, without_prefix(link, prefixes)) for link in page.facts.links)
        found = {find_page(pages, lead[0], endings) for lead in leads if lead is not None}
        graph[path] = {target for target in found if target is not None and target != path}
    return graph


def reached(graph: Mapping[str, set[str]], starts: Iterable[str]) -> set[str]:
    """All pages that links lead to from some pages, and these."""
    seen = set(starts)
    waiting = list(seen)
    while waiting:
        new = graph.get(waiting.pop(), set()) - seen
        seen |= new
        waiting += new
    return seen


def entry_points(graph: Graph, seen: set[str]) -> list[str]:
    """Pages from which all that are not seen yet can be reached, those like an index first."""

    def rank(path: str) -> tuple[bool, int, int, str]:
        is_index = _INDEX_LIKE.match(os.path.basename(path).lower()) is not None
        return not is_index, path.count("/"), -len(graph[path]), path

    known, found = set(seen), []
    for path in sorted(graph.keys() - known, key=rank):
        if path not in known:
            found.append(path)
            known |= _new(graph, path, known)
    return found


def _new(graph: Graph, start: str, known: set[str]) -> set[str]:
    """What can be reached from a page without those that are known."""
    seen, waiting = {start}, [start]
    while waiting:
        new = graph[waiting.pop()] - seen - known
        seen |= new
        waiting += new
    return seen
