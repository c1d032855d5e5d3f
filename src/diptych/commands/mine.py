"""`diptych mine`: from what the user asked to a finished run, and what is said about it."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diptych.commands.declare import amount_option, argument, command, count_option, option
from diptych.commands.options import (
    WebOptions,
    agent_of,
    as_object,
    displayed,
    first_notes,
    langid_option,
    langs_option,
    languages,
    learned_names,
    lists_option,
    live_engine,
    summary_console,
    workers_of,
)
from diptych.errors import ConfigError

if TYPE_CHECKING:
    from diptych.engine.engine import Engine
    from diptych.frontier.politeness import Limits
    from diptych.learn.lexicon.lexicon import Lexicon
    from diptych.pipeline import Plan
    from diptych.registry import Strategies
    from diptych.reports.summary import Summary
    from diptych.run.store import Store
    from diptych.run.terms import Terms
    from diptych.types import Url

STAGES = ("crawl", "pair", "verify", "align_dom", "align_sentences", "filter")
"""the stages that have an option of their own"""


def _stage(name: str) -> Any:
    return option(f"Strategy for the {name} stage instead of the recipe's.", metavar="NAME")


@dataclass(frozen=True, kw_only=True)
class MineOptions(WebOptions):
    """Options of `diptych mine`."""

    sites: tuple[str, ...] = argument("SITE...", default=())
    langs: str = langs_option()
    lists: tuple[Path, ...] = lists_option()
    out: Path | None = option("Folder of the run.", metavar="RUN")
    archives: tuple[Path, ...] = option(
        "Mine archives instead of the web (a file or a folder; also several).", "--warc",
        default=(), metavar="FILE",
    )  # fmt: skip
    strategy: str | None = option("A recipe (see: diptych strategies).", metavar="NAME")
    crawl: str | None = _stage("crawl")
    pair: str | None = _stage("pair")
    verify: str | None = _stage("verify")
    align_dom: str | None = _stage("align-dom")
    align_sentences: str | None = _stage("align-sentences")
    filter: str | None = _stage("filter")
    lexicons: tuple[Path, ...] = option(
        "Words you know, from: diptych lexicon import (also several).", "--lexicon",
        default=(), metavar="FILE",
    )  # fmt: skip
    taught: tuple[Path, ...] = langid_option()
    also: tuple[str, ...] = option(
        "Another host that is part of the site.", default=(), metavar="URL"
    )
    scope: str = option(
        "How far a site reaches: registrable domain, host or folder.",
        default="site", type=click.Choice(["site", "host", "prefix"]),
    )  # fmt: skip
    max_pages: int | None = count_option("Pages per site, at most.")
    max_minutes: float | None = amount_option("Minutes per site, at most.", "M")
    max_megabytes: float | None = amount_option("Megabytes per site, at most.", "MB")
    share: float = option(
        "End a site when so many percent of its pairs are probably found; 100: fetch all of it.",
        default=97.0, type=click.FloatRange(0, 100), metavar="PERCENT",
    )  # fmt: skip
    patience: float = option(
        "End a site when one more pair would probably cost more downloads than this; 0: never.",
        default=0.0, type=click.FloatRange(0), metavar="N",
    )  # fmt: skip
    connections: int = option(
        "Connections to one host at a time.", default=1, type=click.IntRange(1, 64), metavar="N"
    )
    jobs: int | None = option(
        "Processes that read, pair and align pages, at most; one per processor if not given.",
        default=None, type=click.IntRange(1, 256), metavar="N",
    )  # fmt: skip
    proxy: str | None = option(
        "HTTP proxy; else HTTP_PROXY, HTTPS_PROXY, NO_PROXY count.", metavar="URL"
    )
    as_json: bool = as_object()
    quiet: bool = option("Show no progress.", default=False)

    def recipe(self) -> dict[str, Any]:
        """The recipe, with the strategies that were named instead of its own."""
        from diptych import recipes

        named = {stage: getattr(self, stage) for stage in STAGES}
        return recipes.load(
            self.strategy or recipes.DEFAULT,
            {stage: name for stage, name in named.items() if name},
        )

    def limits(self) -> Limits:
        """The limits of the crawl."""
        from diptych.frontier.politeness import Limits

        minutes, megabytes = self.max_minutes, self.max_megabytes
        return Limits(
            max_pages=self.max_pages,
            max_seconds=minutes * 60 if minutes else None,
            max_bytes=int(megabytes * 1_000_000) if megabytes else None,
            share=self.share / 100 if self.share < 100 else None,
            patience=self.patience or None,
        )


@command(MineOptions)
def mine(asked: MineOptions) -> int:
    """Crawl SITE and mine its parallel text into a corpus; a file is a list of sites.

    The run is a folder; the same command goes on where it was left, however it ended.
    """
    return mine_sites(asked)


def mine_sites(asked: MineOptions) -> int:
    """Mine what the user asked for and return the exit code."""
    from diptych.engine.replay import archive_files, index_archives
    from diptych.learn.lexicon.lexicon import read_lexicon
    from diptych.pipeline import run
    from diptych.reports.funnel import print_funnel
    from diptych.reports.progress import Progress
    from diptych.reports.run_page import write_report
    from diptych.reports.summary import summarise
    from diptych.run.terms import Terms, default_folder, opened_run

    started = time.monotonic()
    langs = languages(asked.langs, asked.taught)
    archives = archive_files(asked.archives)
    seeds = _seeds(asked, archives=bool(archives))
    recipe = asked.recipe()
    strategies = _strategies(recipe, is_complete=bool(archives and not seeds))
    names = tuple(str(file.resolve()) for file in archives)
    lexicons = [read_lexicon(path) for path in asked.lexicons]
    known = tuple(_named(lexicon, langs) for lexicon in lexicons)
    terms = Terms(langs, tuple(seeds), asked.scope, recipe, names, known, learned_names())
    folder = asked.out or default_folder(seeds, [str(path) for path in asked.archives], langs)
    agent, workers = agent_of(asked.user_agent), workers_of(asked.jobs)
    engine = _engine(asked, agent, archives)
    with opened_run(folder, terms, agent=agent) as store:
        damaged = index_archives(store, archives)
        plan = _plan(store, terms, lexicons, asked, agent)
        progress = Progress(notes=[*first_notes(langs), *store.archive.notes])
        with displayed(progress, quiet=asked.quiet or asked.as_json), workers:
            now = 0.0 if archives else time.time()  # a replay has its own clock
            run(plan, strategies, store, engine, workers, progress, now)
        summary = summarise(store, langs)
        write_report(store, terms, summary, notes := progress.final_notes(summary.ends))
    if asked.as_json:
        times = {"seconds": time.monotonic() - started, "crawl_seconds": progress.crawl_seconds}
        rounded = {name: round(value, 3) for name, value in times.items()}
        click.echo(to_json(summary, **rounded, out=str(folder), notes=notes))
    else:
        print_funnel(summary_console(stderr=True), summary, folder, notes)
    return _exit_code(summary, damaged)


def _strategies(recipe: Mapping[str, Any], *, is_complete: bool) -> Strategies:
    """The strategies of a recipe; where all pages are there, none needs to be looked for."""
    from diptych.learn.libraries import require_libraries_of
    from diptych.registry import build
    from diptych.stages.crawl.bfs import Bfs

    strategies = build(recipe)
    for stage in STAGES:
        name = recipe[stage]["use"]
        require_libraries_of(getattr(strategies, stage), f"{stage} strategy '{name}'")
    return replace(strategies, crawl=Bfs()) if is_complete else strategies


def _named(lexicon: Lexicon, langs: Sequence[str]) -> str:
    """A lexicon as the terms of a run know it; a mistake if it is of other languages."""
    from hashlib import blake2b

    from diptych.learn.lexicon.lexicon import lexicon_of
    from diptych.types import lang_pairs

    own = lexicon.left_lang, lexicon.right_lang
    if not any(lexicon_of(pair, [lexicon]) for pair in lang_pairs(langs)):
        raise ConfigError(
            f"a lexicon of {','.join(own)} is of no use for --langs {','.join(langs)}"
        )
    return f"{'-'.join(own)}:{blake2b(lexicon.to_bytes(), digest_size=8).hexdigest()}"


def _exit_code(summary: Summary, damaged: Sequence[str]) -> int:
    for error in damaged:
        click.echo(
            f"error: {error}; what stands before was used: run again with the whole file", err=True
        )
    if not summary.segments:
        return 1
    return 2 if damaged else 0


def _seeds(asked: MineOptions, *, archives: bool) -> list[Url]:
    from diptych.sources.site_list import named_sites
    from diptych.text.sites import parse_site

    sites = named_sites(asked.sites, sys.stdin, asked.lists)
    if not sites and not archives:
        raise ConfigError("name a site, such as https://example.org, or archives with --warc FILE")
    if asked.also and len(sites) != 1:
        raise ConfigError("--also adds hosts to one site: name exactly one SITE with it")
    return [*sites, *map(parse_site, asked.also)]


def _plan(
    store: Store, terms: Terms, lexicons: Sequence[Lexicon], asked: MineOptions, agent: str
) -> Plan:
    from diptych.engine.replay import PAGES_AT_ONCE
    from diptych.frontier.politeness import Politeness
    from diptych.frontier.scope import Scope, group
    from diptych.pipeline import Plan
    from diptych.registry import signature
    from diptych.run.archived import ArchiveIndex
    from diptych.types import Site, Url

    kind, replay = terms.scope, bool(terms.archives)
    seeds = [Url(url) for url in terms.seeds]
    found = group(seeds or ArchiveIndex(store).pages(), kind=kind)
    if asked.also:
        found = [Site(found[0].name, tuple(seeds))]
    politeness = Politeness(
        agent=agent,
        delay=0.0 if replay else asked.delay,
        connections=PAGES_AT_ONCE if replay else asked.connections,
        obey_robots=not replay,
    )
    limits = asked.limits()
    if replay:
        limits = replace(limits, max_seconds=None)  # its clock is not that of the user
    return Plan(
        found, Scope.of(found, kind=kind), terms.langs, politeness, limits, lexicons,
        signature(terms.recipe, terms.langs),
    )  # fmt: skip


def _engine(asked: MineOptions, agent: str, archives: Sequence[Path]) -> Engine:
    if archives:
        from diptych.engine.replay import ReplayEngine

        return ReplayEngine()
    return live_engine(asked, agent, connections=asked.connections)


def to_json(summary: Summary, **more: Any) -> str:
    """The result as one JSON object."""
    import orjson

    found: dict[str, Any] = {
        "downloads": summary.downloads,
        "pages": summary.pages,
        "pairs": summary.pairs,
        "segments": summary.segments,
        "downloads_per_pair": summary.downloads_per_pair,
        "queued": summary.queued,
        "probably_missing": _rounded(summary.missing),
        "at_most_missing": _rounded(summary.most_missing),
        "curve": summary.curve.tenths,
        "funnel": [
            {"step": step.name, "count": step.count, "lost": dict(step.lost)}
            for step in summary.steps
        ],
        "stopped_hosts": dict(summary.hosts),
        "ends": Counter(end for _, end in summary.ends),
        "marks": dict(summary.marks),
        "flags": dict(summary.flags),
        "personal_data": dict(summary.personal),
        "lang_pairs": [
            {"left": left, "right": right, "pairs": pairs, "segments": segments}
            for left, right, pairs, segments in summary.lang_pairs
        ],
        "n_way_rows": summary.rows,
        **more,
    }
    return orjson.dumps(found, option=orjson.OPT_NON_STR_KEYS).decode()  # keys: reasons


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)
