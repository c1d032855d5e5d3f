"""`diptych discover`: bilingual sites, found by following links forward and back."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diptych.commands._detector import DetectorOptions
from diptych.commands.declare import amount_option, argument, command, count_option, option
from diptych.commands.options import (
    FOUND,
    NOTHING,
    agent_of,
    languages,
    learned_names,
    lists_option,
)
from diptych.errors import ConfigError

if TYPE_CHECKING:
    from diptych.commands._search import Searched
    from diptych.protocols import DiscoverPolicy
    from diptych.run.terms import Terms
    from diptych.sources.common_crawl import SiteCandidate
    from diptych.sources.many import MergedSources
    from diptych.types import Url

INDEX = ".parquet"


@dataclass(frozen=True, kw_only=True)
class DiscoverOptions(DetectorOptions):
    """Options of `diptych discover`."""

    seeds: tuple[str, ...] = argument("SEED...", default=())
    lists: tuple[Path, ...] = lists_option()
    backlinks: tuple[str, ...] = option(
        "Where back links are known from: a web graph, WAT index, run or API (also several).",
        default=(), metavar="SOURCE",
    )  # fmt: skip
    policy: str = option("Where to look: cobfc, obfc, focc or fc.", default="", metavar="NAME")
    topic: str = option("Of focc: what pages must be about.", default="", metavar="WORDS")
    strategy: str | None = option("A recipe of your own for these two.", metavar="FILE")
    index: tuple[str, ...] = option(
        "List candidates from Common Crawl's columnar index (files, folders, patterns).",
        "--cc-index", default=(), metavar="PARQUET",
    )  # fmt: skip
    min_pages: int = count_option("Of the index: pages that a site must have in each language.", 5)
    max_candidates: int | None = count_option("Of the index: sites, at most.")
    suffixes: tuple[str, ...] = option(
        "Of the index: only hosts that end so, such as fr or co.uk (also several).", "--suffix",
        default=(), metavar="TLD",
    )  # fmt: skip
    test: bool = option("Test the candidates of the index on the web.", default=False)
    out: Path | None = option("Folder of the run.", metavar="RUN")
    max_downloads: int | None = count_option("End after so many, robots.txt not counted.")
    max_sites: int | None = count_option("End with so many sites.")
    max_minutes: float | None = amount_option("End after so many minutes.", "M")
    mine: bool = option("Then mine the sites found, each within its budget.", default=False)
    site_pages: int | None = count_option("Of --mine: pages per site, at most.")
    site_minutes: float | None = amount_option("Of --mine: minutes per site, at most.", "M")
    site_megabytes: float | None = amount_option("Of --mine: megabytes per site, at most.", "MB")


@command(DiscoverOptions)
def discover(asked: DiscoverOptions) -> int:
    """Find bilingual sites, beginning with SEED, and print one a line as they are found.

    The run is a folder; the same command goes on where it was left, however it ended.  The list
    can be handed on: diptych discover ... | diptych mine - --langs en,fr
    """
    from diptych.learn.libraries import require_libraries
    from diptych.registry import make
    from diptych.run.terms import Terms
    from diptych.sources.open import open_sources
    from diptych.sources.site_list import named_sites
    from diptych.stages.discover.seeds_only import SeedsOnly

    langs = languages(asked.langs, asked.taught)
    # A shell makes many arguments of one pattern, of which an option takes the first.
    index = [*asked.index, *(name for name in asked.seeds if name.endswith(INDEX))]
    names = [name for name in asked.seeds if not name.endswith(INDEX)]
    named = named_sites(names, sys.stdin, asked.lists)
    seeds = list(named)
    recipe = _recipe(asked)
    policy: DiscoverPolicy = make("discover", recipe["discover"])
    if index:
        require_libraries(("duckdb",), "an index of Common Crawl")
    source = open_sources(asked.backlinks, asked.proxy)
    if index:
        if not (asked.test or asked.backlinks or asked.mine):
            if seeds:
                raise ConfigError("to search from SEED and an index say --backlinks SOURCE as well")
            return _list_candidates(index, langs, asked)
        seeds += [candidate.start for candidate in _candidates(index, langs, asked)]
        if not asked.backlinks and not asked.policy and not asked.strategy:
            policy = SeedsOnly()  # they are tested, and nothing else
    _check(seeds, policy, recipe, asked)
    terms = Terms(langs, tuple(named), "site", recipe, tuple(index), taught=learned_names())
    folder = asked.out or _default_folder(named, index, langs)
    searched = _search(folder, terms, seeds, policy, source, asked)
    sites = [verdict.url for verdict in searched.verdicts][: asked.max_sites]
    if asked.mine and sites and searched.is_whole:
        return _mine(sites, folder, asked)
    return FOUND if sites else NOTHING


def _search(
    folder: Path, terms: Terms, seeds: Sequence[Url], policy: DiscoverPolicy, source: MergedSources,
    asked: DiscoverOptions,
) -> Searched:  # fmt: skip
    from diptych.commands._search import search
    from diptych.commands._verdicts import Printer, standard_output
    from diptych.frontier.search import Budget
    from diptych.run.terms import opened_run

    budget = Budget(
        downloads=asked.max_downloads,
        sites=asked.max_sites,
        seconds=asked.max_minutes * 60 if asked.max_minutes else None,
    )
    printer = Printer(standard_output(), as_json=asked.as_json, is_list=True)
    with opened_run(folder, terms, agent=agent_of(asked.user_agent)) as store:
        return search(store, seeds, policy, terms, source, asked, budget, printer)


def _recipe(asked: DiscoverOptions) -> dict[str, Any]:
    """The recipe of the search: a discovery policy and a detector."""
    from diptych import recipes

    recipe = recipes.load_discovery(asked.strategy or recipes.DISCOVERY, {})
    if asked.policy and asked.policy != recipe["discover"]["use"]:
        recipe["discover"] = {"use": asked.policy}
    if asked.topic:
        recipe["discover"] = {**recipe["discover"], "topic": asked.topic.split()}
    return {**recipe, "detect": asked.detector(recipe["detect"])}


def _check(
    seeds: Sequence[Url], policy: DiscoverPolicy, recipe: Mapping[str, Any], asked: DiscoverOptions
) -> None:
    if not seeds:
        raise ConfigError(
            "name pages to start from, such as bilingual sites that you know,"
            " or an index of Common Crawl with --cc-index FILE.parquet"
        )
    if policy.looks_back and not asked.backlinks:
        raise ConfigError(
            f"{recipe['discover']['use']} follows back links: say where they are known from with"
            " --backlinks SOURCE (see: diptych backlinks --help), or choose --policy fc"
        )
    if recipe["discover"]["use"] == "focc" and not recipe["discover"].get("topic"):
        raise ConfigError("focc stays with a topic: say --topic 'hotel travel viaje turismo'")


def _default_folder(names: Sequence[str], index: Sequence[str], langs: Sequence[str]) -> Path:
    from diptych.run.terms import default_folder

    return Path(f"diptych-sites-{default_folder(names, index, langs).name.partition('-')[2]}")


# -- candidates of Common Crawl ------------------------------------------------------------------


def _candidates(
    index: Sequence[str], langs: Sequence[str], asked: DiscoverOptions
) -> Iterator[SiteCandidate]:
    from diptych.sources.common_crawl import candidates

    return candidates(
        index, langs, at_least=asked.min_pages, limit=asked.max_candidates,
        suffixes=asked.suffixes,
    )  # fmt: skip


def _list_candidates(index: Sequence[str], langs: Sequence[str], asked: DiscoverOptions) -> int:
    """Print the candidates of an index, and fetch nothing."""
    import orjson

    count = 0
    for candidate in _candidates(index, langs, asked):
        count += 1
        if asked.as_json:
            click.echo(orjson.dumps(candidate).decode())
        else:
            pages = " ".join(f"{lang}={pages}" for lang, pages in candidate.pages)
            click.echo(f"{candidate.start}\t{candidate.score:.1f}\t{pages}")
    if not count and not asked.quiet:
        click.echo(
            f"no site has {asked.min_pages} pages in two of {', '.join(langs)};"
            " try a smaller --min-pages, or more files of the index",
            err=True,
        )
    return FOUND if count else NOTHING


# -- from discovery to mining --------------------------------------------------------------------


def _mine(sites: Sequence[Url], folder: Path, asked: DiscoverOptions) -> int:
    """Mine the sites that were found, each within its budget.

    Runs of earlier invocations are continued; sites found since then are mined into a new run.
    """
    from diptych.commands.mine import MineOptions, mine_sites
    from diptych.run.terms import read_terms

    begun = {out: read_terms(out).seeds for out in sorted(folder.glob("mined-*"))}
    known = {seed for seeds in begun.values() for seed in seeds}
    new = tuple(site for site in sites if site not in known)
    if new:
        begun[folder / f"mined-{len(begun) + 1:03}"] = new
    outcomes = []
    for out, seeds in begun.items():
        click.echo(f"mining {len(seeds):,} sites into {out}", err=True)
        asked_of_site = MineOptions(
            sites=tuple(seeds), langs=asked.langs, taught=asked.taught, out=out,
            delay=asked.delay, user_agent=asked.user_agent, proxy=asked.proxy,
            allow_private=asked.allow_private, quiet=asked.quiet, max_pages=asked.site_pages,
            max_minutes=asked.site_minutes, max_megabytes=asked.site_megabytes,
        )  # fmt: skip
        outcomes.append(mine_sites(asked_of_site))
    return min(outcomes)
