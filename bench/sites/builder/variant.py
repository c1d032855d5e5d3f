"""Variants of a family: other URL schemes, fewer languages and pages, other signs of languages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from random import Random
from typing import Any

from bench.sites.builder.collect import JOBS, collect
from bench.sites.builder.families import Family
from bench.sites.builder.languages import label
from bench.sites.builder.output import begin, link_page, summary, write, write_json, write_truth
from bench.sites.builder.pages import (
    Graph,
    Groups,
    Pages,
    SitePage,
    entry_points,
    groups_of,
    home_of,
    link_graph,
    reached,
)
from bench.sites.builder.rewrite import Look, Plan, absolute, rewritten
from bench.sites.builder.schemes import BY_QUERY, addresses, list_address

__all__ = ["Variant", "build_variant"]

_LISTED = 300  # links on one list of pages


@dataclass(frozen=True)
class Variant:
    """What is asked of a variant."""

    name: str
    family: Family
    scheme: str
    langs: tuple[str, ...] = ()
    """languages that are kept; all if there are none"""
    look: Look = field(default_factory=Look)
    drop: Mapping[str, float] = field(default_factory=dict)
    """language -> share of its pages that is left out"""
    only_ok: bool = False
    """pages that are not in their language are left out"""
    max_pages: int | None = None
    """keys that are sampled; start pages are always there"""
    seed: int = 1


def build_variant(asked: Variant, work: Path) -> dict[str, Any]:
    """Build one variant; returns its meta.json."""
    rng = Random(f"{asked.name}/{asked.seed}")
    pages, homes, dropped = _chosen(asked, collect(asked.family, work), rng)
    langs = sorted(homes)
    pivot = "en" if "en" in langs else langs[0]
    site = work / "built" / asked.name
    docs = begin(site)
    groups = groups_of(pages)
    plan = Plan(
        asked.family, pages, asked.look, addresses(asked.scheme, pages, pivot, rng), homes,
        _alternates(groups),
    )  # fmt: skip
    orphans = _orphans(plan, pivot)
    routes = _write_lists(docs, plan, asked, pivot, orphans, rng)
    _write_pages(docs, plan)
    if asked.scheme in BY_QUERY:
        routes |= {address.path: address.file for address in plan.addresses.values()}
    redirects = _start(docs, plan, asked, pivot)
    if routes or redirects:
        write_json(site / "routes.json", {"routes": routes, "redirects": redirects})

    def url(page: SitePage) -> str:
        address = plan.addresses[page.path]
        return f"//{address.host}{address.path}" if address.host else address.path

    meta = {
        "site": asked.name, "family": asked.family.name, "scheme": asked.scheme, "pivot": pivot,
        "home": f"//{pivot}/" if asked.scheme == "subdomain" else "/",
        **summary(pages, groups), **write_truth(site, groups, url, pivot),
        "options": {
            **asdict(asked.look), "drop": dict(asked.drop), "only_ok": asked.only_ok,
            "seed": asked.seed, "max_pages": asked.max_pages,
        },
        "dropped": dropped, "orphans_listed": sum(map(len, orphans.values())),
        "hosts": langs if asked.scheme == "subdomain" else None,
        "source": asked.family.packages,
    }  # fmt: skip
    write_json(site / "meta.json", meta)
    return meta


def _chosen(
    asked: Variant, pages: Pages, rng: Random
) -> tuple[Pages, dict[str, str], dict[str, int]]:
    """The pages of the variant, the start page of each language, and how many were left out."""
    pages = {
        path: page
        for path, page in pages.items()
        if (not asked.langs or page.lang in asked.langs)
        and (not asked.only_ok or page.is_translated)
    }
    langs = sorted({page.lang for page in pages.values()})
    homes = {lang: home_of(asked.family, pages, lang) for lang in langs}
    if asked.max_pages:
        keys = sorted({page.key for page in pages.values()})
        rng.shuffle(keys)
        kept = {pages[home].key for home in homes.values()} | set(keys[: asked.max_pages])
        pages = {path: page for path, page in pages.items() if page.key in kept}
    dropped = {}
    for lang, share in asked.drop.items():
        own = sorted(path for path, page in pages.items() if page.lang == lang)
        own = [path for path in own if path != homes.get(lang)]
        gone = rng.sample(own, round(share * len(own)))
        dropped[lang] = len(gone)
        for path in gone:
            del pages[path]
    return pages, homes, dropped


def _alternates(groups: Groups) -> dict[str, dict[str, str]]:
    """Page -> language -> its translation."""
    return {
        page.path: {other: each.path for other, each in group.items() if other != lang}
        for group in groups.values()
        for lang, page in group.items()
    }


def _orphans(plan: Plan, pivot: str) -> dict[str, list[str]]:
    """Pages that no link of the variant leads to, as few as needed, by language."""
    graph = _graph(plan)
    has_switcher = plan.look.switcher != "none"
    seen = reached(graph, [plan.homes[pivot]] if has_switcher else plan.homes.values())
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in entry_points(graph, seen):
        found[plan.pages[path].lang].append(path)
    return found


def _graph(plan: Plan) -> Graph:
    """The links that the variant will have."""
    look, pages = plan.look, plan.pages
    graph = link_graph(pages, plan.family.prefixes, plan.family.endings)
    for path, targets in graph.items():
        lang = pages[path].lang
        if look.crosslinks != "keep":
            targets -= {target for target in targets if pages[target].lang != lang}
        if look.switcher == "all":
            targets |= set(plan.alternates[path].values())
        if look.switcher != "none" and path == plan.homes[lang]:
            targets |= set(plan.homes.values())
    return graph


def _write_lists(
    docs: Path, plan: Plan, asked: Variant, pivot: str, orphans: dict[str, list[str]], rng: Random
) -> dict[str, str]:
    """Write lists of orphans, linked from the start pages; returns the routes to them."""
    routes, overall = {}, 0
    for lang, paths in orphans.items():
        rng.shuffle(paths)
        for number, start in enumerate(range(0, len(paths), _LISTED), start=1):
            overall += 1
            address = list_address(
                asked.scheme, asked.name, lang, pivot, number=number, overall=overall
            )
            links = [
                (plan.addresses[path].path, escape(plan.pages[path].facts.title or "page"))
                for path in paths[start : start + _LISTED]
            ]
            write(docs, address.file, link_page(f"list{number}", links))
            plan.lists.setdefault(plan.homes[lang], []).append((address.path, str(number)))
            if asked.scheme in BY_QUERY:
                routes[address.path] = address.file
    return routes


_plan: Plan
"""of a process that rewrites pages"""


def _set_plan(plan: Plan) -> None:
    global _plan
    _plan = plan


def _rewritten(path: str) -> bytes:
    return rewritten(_plan, path)


def _write_pages(docs: Path, plan: Plan) -> None:
    paths = sorted(plan.pages)
    with ProcessPoolExecutor(JOBS, initializer=_set_plan, initargs=(plan,)) as writers:
        for path, content in zip(paths, writers.map(_rewritten, paths, chunksize=20), strict=True):
            write(docs, plan.addresses[path].file, content)


def _start(docs: Path, plan: Plan, asked: Variant, pivot: str) -> dict[str, str]:
    """Let the root of the site lead to its pages: by a redirect, or by a page of links."""
    homes = {lang: plan.addresses[path] for lang, path in plan.homes.items()}
    if asked.scheme == "subdomain":
        return {
            f"//{lang}/": home.path
            for lang, home in homes.items()
            if not (docs / lang / "index.html").exists()
        }
    if asked.scheme not in BY_QUERY and (docs / "index.html").exists():
        return {}
    if plan.look.switcher != "none" and asked.scheme in ("null", "suffix", *BY_QUERY):
        return {"/": homes[pivot].path}
    links = [
        (absolute(home), label(lang, plan.look.switcher_style)) for lang, home in homes.items()
    ]
    write(docs, "index.html", link_page(asked.family.name, links))
    return {}
