"""`diptych discover` and `diptych detect`: what the user asked for, found and said."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import orjson

from diptych import recipes
from diptych.commands._search import Searched, search
from diptych.commands._verdicts import Printer, standard_output
from diptych.commands.options import agent_of, languages, listed, seed, taught_names
from diptych.errors import ConfigError
from diptych.frontier.leads import Leads
from diptych.registry import make
from diptych.run.terms import Terms, default_folder, open_run, read_terms
from diptych.sources.open import open_sources
from diptych.stages.discover.seeds_only import SeedsOnly
from diptych.text.urls import site_name
from diptych.types import Url

if TYPE_CHECKING:
    from diptych.protocols import DiscoverPolicy
    from diptych.sources.common_crawl import SiteCandidate
    from diptych.sources.many import Sources

__all__ = ["detect", "discover"]

FOUND, NOTHING = 0, 1
INDEX = ".parquet"


# -- detect --------------------------------------------------------------------------------------


def detect(sites: Sequence[str], **options: Any) -> int:
    """Say of each site whether it is bilingual, and return the exit code."""
    langs = languages(options["langs"], options["taught"])
    named = [seed(text) for text in listed(sites, sys.stdin)]
    if not named:
        raise ConfigError("name a site, such as https://example.org, or - for a list")
    seeds = list({site_name(url): url for url in reversed(named)}.values())[::-1]
    settings = _detector(options)
    terms = Terms(langs, tuple(seeds), "site", {"detect": settings}, taught=taught_names())
    printer = Printer(standard_output(), as_json=options["as_json"])
    agent = agent_of(options["user_agent"])
    with _folder(options["out"]) as folder, open_run(folder, terms, agent=agent) as store:
        leads, detector = Leads(store, once=True), make("detect", settings)
        for verdict in leads.verdicts():
            printer.say(verdict)
        searched = search(
            store, seeds, SeedsOnly(), detector, terms, open_sources(()), options, printer.say
        )
        _say_the_rest(named, leads, printer)
    return FOUND if searched.verdicts else NOTHING


def _say_the_rest(named: Sequence[Url], leads: Leads, printer: Printer) -> None:
    """Say what is known of sites that were named twice, have moved, or could not be tested."""
    verdicts = leads.verdicts()
    decided = {verdict.site: verdict for verdict in verdicts}
    failed = {site_name(url): reason for url, reason in leads.failed()}
    said = {verdict.named for verdict in verdicts}
    for url in dict.fromkeys(named):
        if url in said:
            continue
        site = leads.destination(site_name(url))
        if site in decided:
            printer.say(replace(decided[site], named=url))
        else:
            printer.say_untested(url, failed.get(site) or failed.get(site_name(url), "not tried"))


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
    langs = languages(options["langs"], options["taught"])
    # A shell makes many arguments of one pattern, of which an option takes the first.
    index = [*options["index"], *(name for name in names if name.endswith(INDEX))]
    named = listed([name for name in names if not name.endswith(INDEX)], sys.stdin)
    seeds = [seed(text) for text in named]
    recipe = _recipe(options)
    policy: DiscoverPolicy = make("discover", recipe["discover"])
    source = open_sources(options["backlinks"], options["proxy"])
    if index:
        if not (options["test"] or options["backlinks"] or options["mine"]):
            if seeds:
                raise ConfigError("to search from SEED and an index say --backlinks SOURCE as well")
            return _list_candidates(index, langs, options)
        seeds += [candidate.start for candidate in _candidates(index, langs, options)]
        if not options["backlinks"] and not options["policy"] and not options["strategy"]:
            policy = SeedsOnly()  # they are tested, and nothing else
    _check(seeds, policy, recipe, options)
    terms = Terms(
        langs, tuple(map(seed, named)), "site", recipe, tuple(index), taught=taught_names()
    )
    folder = options["out"] or _default_folder(named, index, langs)
    searched = _search(folder, terms, seeds, policy, source, options)
    sites = [verdict.url for verdict in searched.verdicts][: options["max_sites"]]
    if options["mine"] and sites and searched.is_whole:
        return _mine(sites, folder, options)
    return FOUND if sites else NOTHING


def _search(
    folder: Path, terms: Terms, seeds: Sequence[Url], policy: DiscoverPolicy, source: Sources,
    options: dict[str, Any],
) -> Searched:  # fmt: skip
    printer = Printer(standard_output(), as_json=options["as_json"], is_list=True)
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
    if recipe["discover"]["use"] == "focc" and not recipe["discover"].get("topic"):
        raise ConfigError("focc stays with a topic: say --topic 'hotel travel viaje turismo'")


def _default_folder(names: Sequence[str], index: Sequence[str], langs: Sequence[str]) -> Path:
    return Path(f"diptych-sites-{default_folder(names, index, langs).name.partition('-')[2]}")


# -- candidates of Common Crawl ------------------------------------------------------------------


def _candidates(
    index: Sequence[str], langs: Sequence[str], options: Mapping[str, Any]
) -> Iterator[SiteCandidate]:
    from diptych.sources.common_crawl import candidates

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
    """Mine what was found, each site within its budget.

    What an earlier invocation has begun with is gone on with; sites found since are a run of
    their own.
    """
    from diptych.commands.mine import DEFAULTS, mine

    begun = {out: read_terms(out).seeds for out in sorted(folder.glob("mined-*"))}
    known = {seed for seeds in begun.values() for seed in seeds}
    new = tuple(site for site in sites if site not in known)
    if new:
        begun[folder / f"mined-{len(begun) + 1:03}"] = new
    same = ("langs", "taught", "delay", "user_agent", "proxy", "allow_private", "quiet")
    given = {
        **DEFAULTS, **{name: options[name] for name in same}, "max_pages": options["site_pages"],
        "max_minutes": options["site_minutes"], "max_megabytes": options["site_megabytes"],
    }  # fmt: skip
    outcomes = []
    for out, seeds in begun.items():
        click.echo(f"mining {len(seeds):,} sites into {out}", err=True)
        outcomes.append(mine(seeds, **{**given, "out": out}))
    return min(outcomes)
