"""Mining of sites or archives into a run folder with a corpus: options and work."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from diptych.api.common_crawl import (
    CommonCrawlOptions,
    CrawlSource,
    captured_sites,
    require_effect,
)
from diptych.api.declare import amount_option, argument, count_option, option, require_valid
from diptych.api.export import keep_templates_option
from diptych.api.languages import (
    first_notes,
    langid_option,
    langs_option,
    languages,
    learned_names,
)
from diptych.api.recipe import STAGES, lexicon_name, strategies_of
from diptych.api.seeds import named_groups, seeds_of
from diptych.api.web import Environment, WebOptions, agent_of, cluster_option
from diptych.errors import for_command_line

if TYPE_CHECKING:
    from diptych.engine.engine import Engine
    from diptych.engine.workers import Workers
    from diptych.frontier.politeness import Limits
    from diptych.learn.lexicon.lexicon import Lexicon
    from diptych.pipeline import Plan
    from diptych.registry import Strategies
    from diptych.reports.profile import Profile, Profiler
    from diptych.reports.progress import Monitor
    from diptych.reports.summary import Summary
    from diptych.run.store import Store
    from diptych.run.terms import Terms


def _stage(name: str) -> Any:
    return option(f"Strategy for the {name} stage; overrides the recipe.", metavar="NAME")


@dataclass(frozen=True, kw_only=True)
class MineOptions(CommonCrawlOptions, WebOptions):
    """Options for mining; `mine` and `diptych mine` take their defaults from this class."""

    sites: tuple[str, ...] = argument("SITE...", default=())
    langs: str = langs_option()
    out: Path | None = option("Folder for the run.", metavar="RUN")
    warc: tuple[str, ...] = option(
        "Mine WARC or WACZ archives instead of the web (file, folder, pattern or URL; repeatable).",
        default=(), metavar="FILE",
    )  # fmt: skip
    strategy: str | None = option("Recipe to use (see: diptych strategies).", metavar="NAME")
    crawl: str | None = _stage("crawl")
    pair: str | None = _stage("pair")
    verify: str | None = _stage("verify")
    align_dom: str | None = _stage("align-dom")
    align_sentences: str | None = _stage("align-sentences")
    filter: str | None = _stage("filter")
    lexicon: tuple[Path, ...] = option(
        "Lexicon made with diptych lexicon import (repeatable).", default=(), metavar="FILE"
    )
    langid: tuple[Path, ...] = langid_option()
    also: tuple[str, ...] = option(
        "Another host that belongs to the site (repeatable).", default=(), metavar="URL"
    )
    scope: str = option(
        "Extent of a site: registrable domain (site), host, or folder (prefix).",
        default="site", choices=("site", "host", "prefix"),
    )  # fmt: skip
    max_pages: int | None = count_option("Maximum number of pages per site.")
    max_minutes: float | None = amount_option("Maximum duration per site, in minutes.", "M")
    max_megabytes: float | None = amount_option("Maximum data per site, in megabytes.", "MB")
    share: float = option(
        "Stop crawling a site when this percentage of its pairs has probably been found;"
        " 100 means fetch everything.",
        default=97.0, least=0, most=100, metavar="PERCENT",
    )  # fmt: skip
    patience: float = option(
        "Stop crawling a site when the next pair would probably take more downloads than this;"
        " 0 means never.",
        default=0.0, least=0, metavar="N",
    )  # fmt: skip
    keep_templates: bool = keep_templates_option()
    connections: int = option(
        "Maximum number of simultaneous connections to a host.",
        default=1,
        least=1,
        most=64,
        metavar="N",
    )
    cluster: str | None = cluster_option("Mine each site separately, as a job:")
    site_minutes: float | None = amount_option(
        "With --cluster: stop an attempt at a site after so many minutes.", "M"
    )
    jobs: int | None = option(
        "Maximum number of processes that read, pair and align pages; default: one per processor.",
        least=1, most=256, metavar="N",
    )  # fmt: skip
    profile: bool = option(
        "Measure the CPU time, duration and peak memory of each stage (profile.toml).",
        default=False,
    )

    def recipe(self) -> dict[str, Any]:
        """The recipe, in which the user's strategies replace those of the recipe file."""
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


class Cancel(Protocol):
    """An object that another thread can set to stop a run, such as a `threading.Event`."""

    def is_set(self) -> bool:
        """True if the run should stop."""
        ...


class Mined(NamedTuple):
    """The result of mining."""

    folder: Path
    notes: Sequence[str]
    """notes for the user, with placeholders for the names of options"""
    summary: Summary
    damaged: Sequence[str]
    """for each archive that could not be read to the end, the reason"""
    crawl_seconds: float
    profile: Profile | None
    """the cost of each stage, if it was measured"""


def mine_sites(
    asked: MineOptions, monitor: Monitor, environment: Environment, *, keep_empty: bool = False
) -> Mined:
    """Mine sites or archives into a run folder, or continue the run in that folder.

    A new folder is removed again if no server responded, unless `keep_empty` is True.
    """
    from diptych.learn.lexicon.lexicon import read_lexicon
    from diptych.reports.profile import Profiler
    from diptych.run.terms import Terms, default_folder, opened_run
    from diptych.sources.archives import archive_names, index_archives

    profiler = Profiler(monitor) if asked.profile else None
    require_valid(asked)
    require_effect(asked)
    langs = languages(asked.langs, asked.langid)
    agent = agent_of(asked.user_agent)
    with ExitStack() as stack:
        downloads = stack.enter_context(environment.downloads(asked, agent, monitor))
        archives, crawls = archive_names(asked.warc, downloads), asked.sources()
        seeds = seeds_of(asked, archives=bool(archives))
        recipe = asked.recipe()
        names = (*archives, *crawls)
        lexicons = [read_lexicon(path) for path in asked.lexicon]
        known = tuple(lexicon_name(lexicon, langs) for lexicon in lexicons)
        terms = Terms(langs, tuple(seeds), asked.scope, recipe, names, known, learned_names())
        folder = asked.out or default_folder(seeds, (*asked.warc, *crawls), langs)
        workers = stack.enter_context(environment.start_workers(asked.jobs))
        if not crawls:
            workers.prepare()  # while this process imports the strategies
        strategies = strategies_of(recipe, is_complete=bool(crawls or (archives and not seeds)))
        store = stack.enter_context(opened_run(folder, terms, agent=agent, keep_empty=keep_empty))
        index = partial(index_archives, store, archives, downloads, seeds=seeds, scope=asked.scope)
        mining = Mining(asked, monitor, environment, store, terms, strategies, workers, profiler)
        return mining.run(index, lexicons, agent)


@dataclass(frozen=True, slots=True)
class Mining:
    """Mines into an open run folder."""

    asked: MineOptions
    monitor: Monitor
    environment: Environment
    store: Store
    terms: Terms
    strategies: Strategies
    workers: Workers
    profiler: Profiler | None = None
    is_update: bool = False

    def run(self, index: Callable[[], list[str]], lexicons: Sequence[Lexicon], agent: str) -> Mined:
        """Run all steps, and write the report.

        `index` reads the archives, and returns messages about those that could not be read.
        """
        from diptych.pipeline import run

        store, monitor, langs = self.store, self.monitor, self.terms.langs
        if self.asked.common_crawl:
            self._copy_pages(agent)
        with self.workers as workers:
            workers.prepare()  # while this process imports the engine
            engine = _engine(self.asked, self.terms, agent, self.environment)
            if self.profiler is not None:
                self.profiler.processes = lambda: workers.processes
                self.profiler.begin("indexing")
            damaged = index()
            plan = plan_of(store, self.terms, lexicons, self.asked, agent)
            plan = replace(plan, is_update=self.is_update)
            monitor.notes.extend([*first_notes(langs), *store.archive.notes])
            now = 0.0 if self.terms.archives else time.time()  # a replay uses a clock of its own
            run(plan, self.strategies, store, engine, workers, monitor, now)
            if self.profiler is not None:
                self.profiler.begin("reporting")
        return report_run(store, self.terms, monitor, damaged, self.profiler)

    def _copy_pages(self, agent: str) -> None:
        """Copy the pages of the sites from Common Crawl into the archive of the run."""
        asked = self.asked
        settings = self.environment.fetch_settings(asked, agent, connections=asked.connections)
        named = named_groups(self.terms, is_one=bool(asked.also))
        source = CrawlSource(
            asked, self.terms.langs, named, settings, asked.delay, asked.connections,
            asked.max_pages, self.terms.scope,
        )  # fmt: skip
        source.copy(self.store, self.monitor)


def report_run(
    store: Store, terms: Terms, monitor: Monitor, damaged: Sequence[str],
    profiler: Profiler | None = None,
) -> Mined:  # fmt: skip
    """Write the report of a run that has ended, and return its results."""
    from diptych.reports.profile import write_profile
    from diptych.reports.run_page import write_report
    from diptych.reports.summary import summarise

    summary = summarise(store, terms.langs)
    notes = monitor.final_notes(summary.ends)
    write_report(store, terms, summary, list(map(for_command_line, notes)))
    profile = None if profiler is None else profiler.end(summary)
    if profile is not None:
        write_profile(store.folder, profile)
    return Mined(store.folder, notes, summary, damaged, monitor.crawl_seconds, profile)


def plan_of(
    store: Store, terms: Terms, lexicons: Sequence[Lexicon], asked: MineOptions, agent: str
) -> Plan:
    """The sites to mine with all limits; those of archives, if none was requested."""
    from diptych.engine.replay import PAGES_AT_ONCE
    from diptych.frontier.politeness import Politeness
    from diptych.frontier.scope import Scope, group
    from diptych.pipeline import Plan
    from diptych.registry import signature
    from diptych.run.archived import ArchiveIndex

    kind, replay = terms.scope, bool(terms.archives)
    found = named_groups(terms, is_one=bool(asked.also)) or group(
        ArchiveIndex(store).pages(), kind=kind
    )
    scope = Scope.of(found, kind=kind)
    if asked.common_crawl:
        found = captured_sites(store, scope)
    politeness = Politeness(
        agent=agent,
        delay=0.0 if replay else asked.delay,
        connections=PAGES_AT_ONCE if replay else asked.connections,
        obey_robots=not replay,
    )
    limits = asked.limits()
    if replay:
        limits = replace(limits, max_seconds=None)  # its clock does not measure real time
    return Plan(
        found, scope, terms.langs, politeness, limits, lexicons,
        signature(terms.recipe, terms.langs), asked.keep_templates,
    )  # fmt: skip


def _engine(asked: MineOptions, terms: Terms, agent: str, environment: Environment) -> Engine:
    if terms.archives:
        from diptych.engine.replay import ReplayEngine

        return ReplayEngine()
    return environment.live_engine(asked, agent, connections=asked.connections)
