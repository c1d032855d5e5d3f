"""`diptych discover` and `diptych detect`: what the user asked for, found and said."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import orjson

from diptych import recipes
from diptych.discover.leads import Leads
from diptych.discover.seeds_only import SeedsOnly
from diptych.errors import ConfigError
from diptych.linksources import open_sources
from diptych.options import agent_of, languages, listed, seed
from diptych.registry import make
from diptych.run import Terms, default_folder, open_run
from diptych.searching import Searched, search
from diptych.text.urls import site_name
from diptych.types import Url
from diptych.verdictlines import Printer

if TYPE_CHECKING:
    from diptych.discover.columnar import SiteCandidate
    from diptych.protocols import DiscoverPolicy, LinkSource

__all__ = ["detect", "discover"]

FOUND, NOTHING = 0, 1
INDEX = ".parquet"


# -- detect --------------------------------------------------------------------------------------


def detect(sites: Sequence[str], **options: Any) -> int:
    """Say of each site whether it is bilingual, and return the exit code."""
    langs = languages(options["langs"])
    named = [seed(text) for text in listed(sites, sys.stdin)]
    if not named:
        raise ConfigError("name a site, such as https://example.org, or - for a list")
    seeds = list({site_name(url): url for url in reversed(named)}.values())[::-1]
    settings = _detector(options)
    terms = Terms(langs, tuple(seeds), "site", {"detect": settings})
    printer = Printer(sys.stdout, as_json=options["as_json"])
    agent = agent_of(options["user_agent"])
    with _folder(options["out"]) as folder, open_run(folder, terms, agent=agent) as store:
        for verdict in Leads(store, once=True).verdicts():
            printer.say(verdict)
        detector = make("detect", settings)
        searched = search(
            store, seeds, SeedsOnly(), detector, terms, open_sources(()), options, printer.say
        )
    for url, reason in searched.failed:
        printer.say_untested(url, reason)
    return FOUND if searched.verdicts else NOTHING


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    """Where the run goes: a few pages need not be kept unless the user says so."""
    if out is not None:
        yield out
        return
    with tempfile.TemporaryDirectory(prefix="diptych-detect-") as folder:
        yield Path(folder)


def _detector(options: Mapping[str, Any], settings: Mapping[str, Any] | None = None) -> Any:
    """The detector as a recipe has it."""
    found = dict(settings or {"use": "predictor"})
    if options["detect"] and options["detect"] != found["use"]:
        found = {"use": options["detect"]}
    if options["threshold"] is not None:
        found["threshold"] = options["threshold"]
    return found


# -- discover ------------------------------------------------------------------------------------


def discover(names: Sequence[str], **options: Any) -> int:
    """Find bilingual sites, mine them if asked, and return the exit code."""
    langs = languages(options["langs"])
    # A shell makes many arguments of one pattern, of which an option takes the first.
    index = [*options["index"], *(name for name in names if name.endswith(INDEX))]
    named = listed([name for name in names if not name.endswith(INDEX)], sys.stdin)
    seeds = [seed(text) for text in named]
    recipe = _recipe(options)
    policy: DiscoverPolicy = make("discover", recipe["discover"])
    source = open_sources(options["backlinks"])
    if index:
        if not (options["test"] or options["backlinks"] or options["mine"]):
            return _list_candidates(index, langs, options)
        seeds += [candidate.start for candidate in _candidates(index, langs, options)]
        policy = policy if options["backlinks"] else SeedsOnly()
    _check(seeds, policy, recipe, options)
    terms = Terms(langs, tuple(map(seed, named)), "site", recipe, tuple(index))
    folder = options["out"] or _default_folder(named, index, langs)
    searched = _search(folder, terms, seeds, policy, source, options)
    sites = [verdict.url for verdict in searched.verdicts]
    if options["mine"] and sites and searched.is_whole:
        return _mine(sites, folder, options)
    return FOUND if sites else NOTHING


def _search(
    folder: Path, terms: Terms, seeds: Sequence[Url], policy: DiscoverPolicy, source: LinkSource,
    options: dict[str, Any],
) -> Searched:  # fmt: skip
    printer = Printer(sys.stdout, as_json=options["as_json"], is_list=True)
    with open_run(folder, terms, agent=agent_of(options["user_agent"])) as store:
        for verdict in Leads(store, once=policy.per_site == 1).verdicts("accept"):
            printer.say(verdict)  # of an earlier invocation: the list is always whole
        detector = make("detect", terms.recipe["detect"])
        return search(store, seeds, policy, detector, terms, source, options, printer.say)


def _recipe(options: Mapping[str, Any]) -> dict[str, Any]:
    """What to search by."""
    recipe = recipes.load_discovery(options["strategy"] or recipes.DISCOVERY, {})
    if options["policy"] and options["policy"] != recipe["discover"]["use"]:
        recipe["discover"] = {"use": options["policy"]}
    if options["topic"]:
        recipe["discover"] = {**recipe["discover"], "topic": options["topic"].split()}
    return {**recipe, "detect": _detector(options, recipe["detect"])}


def _check(
    seeds: Sequence[Url], policy: DiscoverPolicy, recipe: Mapping[str, Any], options: Any
) -> None:
    if not seeds:
        raise ConfigError(
            "name pages to start from, such as bilingual sites that you know,"
            " or an index of Common Crawl with --cc-index FILE.parquet"
        )
    if policy.looks_back and not options["backlinks"]:
        raise ConfigError(
            f"{recipe['discover']['use']} follows back links: say where they are known from with"
            " --backlinks SOURCE (see: diptych backlinks --help), or choose --policy fc"
        )


def _default_folder(names: Sequence[str], index: Sequence[str], langs: Sequence[str]) -> Path:
    return Path(f"diptych-sites-{default_folder(names, index, langs).name.partition('-')[2]}")


# -- candidates of Common Crawl ------------------------------------------------------------------


def _candidates(
    index: Sequence[str], langs: Sequence[str], options: Mapping[str, Any]
) -> Iterator[SiteCandidate]:
    from diptych.discover.columnar import candidates

    return candidates(
        index, langs, at_least=options["min_pages"], limit=options["max_candidates"],
        suffixes=options["suffixes"],
    )  # fmt: skip


def _list_candidates(index: Sequence[str], langs: Sequence[str], options: Mapping[str, Any]) -> int:
    """Print what an index knows, and fetch nothing."""
    count = 0
    for candidate in _candidates(index, langs, options):
        count += 1
        if options["as_json"]:
            click.echo(orjson.dumps(candidate).decode())
        else:
            pages = " ".join(f"{lang}={pages}" for lang, pages in candidate.pages)
            click.echo(f"{candidate.start}\t{candidate.score:.1f}\t{pages}")
    if not count and not options["quiet"]:
        click.echo(
            f"no site has {options['min_pages']} pages in two of {', '.join(langs)};"
            " try a smaller --min-pages, or more files of the index",
            err=True,
        )
    return FOUND if count else NOTHING


# -- from discovery to mining --------------------------------------------------------------------


def _mine(sites: Sequence[Url], folder: Path, options: Mapping[str, Any]) -> int:
    """Mine what was found, each site within its budget."""
    from diptych.mining import DEFAULTS, mine

    out = folder / f"mined-{len(sites)}-sites"
    click.echo(f"mining {len(sites):,} sites into {out}", err=True)
    same = ("langs", "delay", "user_agent", "proxy", "allow_private", "quiet")
    return mine(
        sites,
        **{
            **DEFAULTS, **{name: options[name] for name in same}, "out": out,
            "max_pages": options["site_pages"], "max_minutes": options["site_minutes"],
            "max_megabytes": options["site_megabytes"],
        },
    )  # fmt: skip
