"""The sites that the user names for mining: their seeds, and the sites of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from diptych.errors import ConfigError, option_name

if TYPE_CHECKING:
    from diptych.api.mine import MineOptions
    from diptych.run.terms import Terms
    from diptych.types import Site, Url


def seeds_of(asked: MineOptions, *, archives: bool) -> list[Url]:
    """The seeds that the user named; `archives` is True if there are archives to mine."""
    from diptych.sources.site_list import named_sites
    from diptych.text.sites import parse_site

    sites = named_sites(asked.sites, ())
    if asked.common_crawl and archives:
        raise ConfigError(
            f"use either {option_name('common_crawl')} or {option_name('warc')}, not both"
        )
    if not sites and asked.common_crawl and not asked.cc_index:
        raise ConfigError(
            "specify the sites to mine, such as https://example.org, or index files that choose"
            f" them with {option_name('cc_index')}"
        )
    if not sites and not archives and not asked.common_crawl:
        raise ConfigError(
            f"specify a site, such as https://example.org, or archives with {option_name('warc')}"
        )
    if asked.also and len(sites) != 1:
        name = option_name("also")
        raise ConfigError(f"{name} adds hosts to a site: specify exactly one site")
    return [*sites, *map(parse_site, asked.also)]


def named_groups(terms: Terms, *, is_one: bool) -> list[Site]:
    """The sites that the user named; `is_one` is True if all hosts belong to one site."""
    from diptych.frontier.scope import group
    from diptych.types import Site, Url

    seeds = [Url(url) for url in terms.seeds]
    found = group(seeds, kind=terms.scope)
    return [Site(found[0].name, tuple(seeds))] if is_one else found
