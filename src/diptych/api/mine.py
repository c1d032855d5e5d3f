"""`diptych.mine`: mines sites or archives into a run folder with a corpus."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from diptych.api.arguments import paths, texts
from diptych.api.declare import amount_option, argument, count_option, option, require_valid
from diptych.api.export import keep_templates_option
from diptych.api.languages import (
    as_text,
    first_notes,
    langid_option,
    langs_option,
    languages,
    learned_names,
)
from diptych.api.run import Run
from diptych.api.watch import watched
from diptych.api.web import Environment, WebOptions, agent_of
from diptych.errors import ConfigError, for_command_line, for_python, option_name

if TYPE_CHECKING:
    from diptych.engine.engine import Engine
    from diptych.frontier.politeness import Limits
    from diptych.learn.lexicon.lexicon import Lexicon
    from diptych.pipeline import Plan
    from diptych.registry import Strategies
    from diptych.reports.profile import Profile, Profiler
    from diptych.reports.progress import Monitor, Progress
    from diptych.reports.summary import Summary
    from diptych.run.store import Store
    from diptych.run.terms import Terms
    from diptych.types import Url

STAGES = ("crawl", "pair", "verify", "align_dom", "align_sentences", "filter")
"""stages whose strategies can be set by options"""


def _stage(name: str) -> Any:
    return option(f"Strategy for the {name} stage; overrides the recipe.", metavar="NAME")


@dataclass(frozen=True, kw_only=True)
class MineOptions(WebOptions):
    """Options for mining; `mine` and `diptych mine` take their defaults from this class."""

    sites: tuple[str, ...] = argument("SITE...", default=())
    langs: str = langs_option()
    out: Path | None = option("Folder for the run.", metavar="RUN")
    warc: tuple[Path, ...] = option(
        "Mine WARC archives instead of the web (file or folder; repeatable).",
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


def mine(
    sites: str | Sequence[str] = (),
    *,
    langs: str | Sequence[str],
    out: str | Path | None = None,
    warc: str | Path | Sequence[str | Path] = (),
    strategy: str | None = MineOptions.strategy,
    crawl: str | None = MineOptions.crawl,
    pair: str | None = MineOptions.pair,
    verify: str | None = MineOptions.verify,
    align_dom: str | None = MineOptions.align_dom,
    align_sentences: str | None = MineOptions.align_sentences,
    filter: str | None = MineOptions.filter,
    lexicon: str | Path | Sequence[str | Path] = (),
    langid: str | Path | Sequence[str | Path] = (),
    also: str | Sequence[str] = (),
    scope: str = MineOptions.scope,
    max_pages: int | None = MineOptions.max_pages,
    max_minutes: float | None = MineOptions.max_minutes,
    max_megabytes: float | None = MineOptions.max_megabytes,
    share: float = MineOptions.share,
    patience: float = MineOptions.patience,
    keep_templates: bool = MineOptions.keep_templates,
    connections: int = MineOptions.connections,
    jobs: int | None = MineOptions.jobs,
    profile: bool = MineOptions.profile,
    delay: float = MineOptions.delay,
    user_agent: str | None = MineOptions.user_agent,
    proxy: str | None = MineOptions.proxy,
    allow_private: bool = MineOptions.allow_private,
    progress: bool | Callable[[Progress], None] = False,
    cancel: Cancel | None = None,
) -> Run:
    """Crawl one or more sites and mine their parallel text into a corpus.

    The run is the folder `out`, by default a folder named after the site and the languages.  The
    same call continues an interrupted run.  With `warc`, archives are mined instead of the web.
    The options are the same as those of `diptych mine`; see [Commands](cli.md#mine).

    `progress` is a function that is called with a `Progress` several times a second, possibly in
    another thread, or True to show a display on standard error.  `cancel` is a `threading.Event`:
    once it is set, the run stops and `StoppedError` is raised; the same call continues the run.

    Raises `ConfigError` for an invalid option and `StoreError` for a folder that cannot be used.

    >>> run = diptych.mine(site, langs="en,fr", out=folder / "run", delay=0, allow_private=True)
    >>> run.summary.pairs, run.summary.segments
    (16, 427)
    """
    asked = MineOptions(
        sites=texts(sites), langs=as_text(langs), out=None if out is None else Path(out),
        warc=paths(warc), strategy=strategy, crawl=crawl, pair=pair, verify=verify,
        align_dom=align_dom, align_sentences=align_sentences, filter=filter,
        lexicon=paths(lexicon), langid=paths(langid), also=texts(also), scope=scope,
        max_pages=max_pages, max_minutes=max_minutes, max_megabytes=max_megabytes, share=share,
        patience=patience, keep_templates=keep_templates, connections=connections, jobs=jobs,
        profile=profile, delay=delay, user_agent=user_agent, proxy=proxy,
        allow_private=allow_private,
    )  # fmt: skip
    with watched(progress, cancel) as monitor:
        mined = copy_context().run(mine_sites, asked, monitor, Environment(), keep_empty=True)
    return Run(mined.folder, tuple(map(for_python, _all_notes(mined))))


def _all_notes(mined: Mined) -> Iterator[str]:
    """All notes for users of Python, including those about damaged archives or an empty corpus."""
    from diptych.reports.nothing_found import why_nothing

    yield from mined.notes
    yield from mined.damaged
    if not mined.summary.segments:
        yield f"nothing found: {'; '.join(why_nothing(mined.summary, mined.folder).lines())}"


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
    from diptych.engine.replay import archive_files
    from diptych.learn.lexicon.lexicon import read_lexicon
    from diptych.reports.profile import Profiler
    from diptych.run.terms import Terms, default_folder, opened_run

    profiler = Profiler(monitor) if asked.profile else None
    require_valid(asked)
    langs = languages(asked.langs, asked.langid)
    archives = archive_files(asked.warc)
    seeds = _seeds(asked, archives=bool(archives))
    recipe = asked.recipe()
    strategies = strategies_of(recipe, is_complete=bool(archives and not seeds))
    names = tuple(str(file.resolve()) for file in archives)
    lexicons = [read_lexicon(path) for path in asked.lexicon]
    known = tuple(named_lexicon(lexicon, langs) for lexicon in lexicons)
    terms = Terms(langs, tuple(seeds), asked.scope, recipe, names, known, learned_names())
    folder = asked.out or default_folder(seeds, [str(path) for path in asked.warc], langs)
    agent = agent_of(asked.user_agent)
    with opened_run(folder, terms, agent=agent, keep_empty=keep_empty) as store:
        mining = Mining(asked, monitor, environment, store, terms, strategies, profiler)
        return mining.run(archives, lexicons, agent)


@dataclass(frozen=True, slots=True)
class Mining:
    """Mines into an open run folder."""

    asked: MineOptions
    monitor: Monitor
    environment: Environment
    store: Store
    terms: Terms
    strategies: Strategies
    profiler: Profiler | None = None
    is_update: bool = False

    def run(self, archives: Sequence[Path], lexicons: Sequence[Lexicon], agent: str) -> Mined:
        """Run all steps, and write the report."""
        from diptych.engine.replay import index_archives
        from diptych.pipeline import run

        store, monitor, langs = self.store, self.monitor, self.terms.langs
        workers = self.environment.start_workers(self.asked.jobs)
        engine = _engine(self.asked, agent, archives, self.environment)
        if self.profiler is not None:
            self.profiler.processes = lambda: workers.processes
            self.profiler.begin("indexing")
        with workers:
            if archives:
                workers.prepare()
            damaged = index_archives(store, archives)
            plan = _plan(store, self.terms, lexicons, self.asked, agent)
            plan = replace(plan, is_update=self.is_update)
            monitor.notes.extend([*first_notes(langs), *store.archive.notes])
            now = 0.0 if archives else time.time()  # a replay uses a clock of its own
            run(plan, self.strategies, store, engine, workers, monitor, now)
            if self.profiler is not None:
                self.profiler.begin("reporting")
        return self._report(damaged)

    def _report(self, damaged: Sequence[str]) -> Mined:
        from diptych.reports.profile import write_profile
        from diptych.reports.run_page import write_report
        from diptych.reports.summary import summarise

        store, monitor = self.store, self.monitor
        summary = summarise(store, self.terms.langs)
        notes = monitor.final_notes(summary.ends)
        write_report(store, self.terms, summary, list(map(for_command_line, notes)))
        profile = None if self.profiler is None else self.profiler.end(summary)
        if profile is not None:
            write_profile(store.folder, profile)
        return Mined(store.folder, notes, summary, damaged, monitor.crawl_seconds, profile)


def strategies_of(recipe: Mapping[str, Any], *, is_complete: bool) -> Strategies:
    """Build the strategies of a recipe.

    `is_complete` is True if whole archives are mined, without seeds; `Bfs` then replaces the crawl
    strategy of the recipe.
    """
    from diptych.learn.libraries import require_libraries_of
    from diptych.registry import build
    from diptych.stages.crawl.bfs import Bfs

    strategies = build(recipe)
    for stage in STAGES:
        name = recipe[stage]["use"]
        require_libraries_of(getattr(strategies, stage), f"{stage} strategy '{name}'")
    return replace(strategies, crawl=Bfs()) if is_complete else strategies


def named_lexicon(lexicon: Lexicon, langs: Sequence[str]) -> str:
    """The name under which `run.toml` lists a lexicon: its two languages and a digest.

    Raises `ConfigError` unless both languages of the lexicon are among `langs`.
    """
    from hashlib import blake2b

    from diptych.learn.lexicon.lexicon import lexicon_of
    from diptych.types import lang_pairs

    own = lexicon.left_lang, lexicon.right_lang
    if not any(lexicon_of(pair, [lexicon]) for pair in lang_pairs(langs)):
        raise ConfigError(
            f"a lexicon for {','.join(own)} cannot be used with"
            f" {option_name('langs')} {','.join(langs)}"
        )
    return f"{'-'.join(own)}:{blake2b(lexicon.to_bytes(), digest_size=8).hexdigest()}"


def _seeds(asked: MineOptions, *, archives: bool) -> list[Url]:
    from diptych.sources.site_list import named_sites
    from diptych.text.sites import parse_site

    sites = named_sites(asked.sites, ())
    if not sites and not archives:
        raise ConfigError(
            f"specify a site, such as https://example.org, or archives with {option_name('warc')}"
        )
    if asked.also and len(sites) != 1:
        name = option_name("also")
        raise ConfigError(f"{name} adds hosts to a site: specify exactly one site")
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
        limits = replace(limits, max_seconds=None)  # its clock does not measure real time
    return Plan(
        found, Scope.of(found, kind=kind), terms.langs, politeness, limits, lexicons,
        signature(terms.recipe, terms.langs), asked.keep_templates,
    )  # fmt: skip


def _engine(
    asked: MineOptions, agent: str, archives: Sequence[Path], environment: Environment
) -> Engine:
    if archives:
        from diptych.engine.replay import ReplayEngine

        return ReplayEngine()
    return environment.live_engine(asked, agent, connections=asked.connections)
