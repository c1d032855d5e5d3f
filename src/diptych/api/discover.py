"""`diptych.discover`: finds bilingual sites by following links forward and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from diptych.api.arguments import paths, texts
from diptych.api.common_crawl import (
    max_candidates_option,
    min_pages_option,
    require_index,
    suffix_option,
)
from diptych.api.declare import amount_option, argument, count_option, option, require_valid
from diptych.api.detect import SiteVerdict, site_verdict
from diptych.api.detector import DetectorOptions
from diptych.api.languages import as_text, languages, learned_names
from diptych.api.watch import stop_when, watched_search
from diptych.api.web import Environment, agent_of
from diptych.errors import ConfigError, StoppedError, option_name

if TYPE_CHECKING:
    from diptych.api.mine import Cancel
    from diptych.api.search import Search, Searched
    from diptych.protocols import DiscoverPolicy
    from diptych.reports.progress import Progress
    from diptych.sources.common_crawl import SiteCandidate
    from diptych.types import Url


@dataclass(frozen=True, kw_only=True)
class DiscoverOptions(DetectorOptions):
    """Options for a search for bilingual sites."""

    seeds: tuple[str, ...] = argument("SEED...", default=())
    backlinks: tuple[str, ...] = option(
        "Source of backlinks: a web graph, WAT index, run or API (repeatable).",
        default=(), metavar="SOURCE",
    )  # fmt: skip
    policy: str = option("Search policy: cobfc, obfc, focc or fc.", default="", metavar="NAME")
    topic: str = option(
        "With --policy focc: words that describe the topic.", default="", metavar="WORDS"
    )
    strategy: str | None = option("Recipe with a discovery policy and a detector.", metavar="FILE")
    cc_index: tuple[str, ...] = option(
        "List candidates from Common Crawl's columnar index (files, folders, patterns).",
        default=(), metavar="PARQUET",
    )  # fmt: skip
    min_pages: int = min_pages_option()
    max_candidates: int | None = max_candidates_option()
    suffix: tuple[str, ...] = suffix_option()
    test: bool = option("With --cc-index: test the candidates on the live web.", default=False)
    out: Path | None = option("Folder for the run.", metavar="RUN")
    max_downloads: int | None = count_option(
        "Maximum number of downloads, not counting robots.txt."
    )
    max_sites: int | None = count_option("Maximum number of bilingual sites to find.")
    max_minutes: float | None = amount_option("Maximum duration in minutes.", "M")

    def recipe(self) -> dict[str, Any]:
        """The recipe of the search: a discovery policy and a detector."""
        from diptych import recipes

        recipe = recipes.load_discovery(self.strategy or recipes.DISCOVERY, {})
        if self.policy and self.policy != recipe["discover"]["use"]:
            recipe["discover"] = {"use": self.policy}
        if self.topic:
            recipe["discover"] = {**recipe["discover"], "topic": self.topic.split()}
        return {**recipe, "detect": self.detector(recipe["detect"])}

    def folder(self, langs: Sequence[str]) -> Path:
        """The folder of the run: `out`, or a folder named after the seeds and the languages."""
        from diptych.run.terms import default_folder

        usual = default_folder(self.seeds, self.cc_index, langs).name.partition("-")[2]
        return self.out or Path(f"diptych-sites-{usual}")


def discover(
    seeds: str | Sequence[str] = (),
    *,
    langs: str | Sequence[str],
    backlinks: str | Path | Sequence[str | Path] = (),
    policy: str = DiscoverOptions.policy,
    topic: str = DiscoverOptions.topic,
    strategy: str | None = DiscoverOptions.strategy,
    cc_index: str | Path | Sequence[str | Path] = (),
    min_pages: int = DiscoverOptions.min_pages,
    max_candidates: int | None = DiscoverOptions.max_candidates,
    suffix: str | Sequence[str] = (),
    out: str | Path | None = None,
    max_downloads: int | None = DiscoverOptions.max_downloads,
    max_sites: int | None = DiscoverOptions.max_sites,
    max_minutes: float | None = DiscoverOptions.max_minutes,
    method: str = DiscoverOptions.method,
    threshold: float | None = DiscoverOptions.threshold,
    langid: str | Path | Sequence[str | Path] = (),
    delay: float = DiscoverOptions.delay,
    user_agent: str | None = DiscoverOptions.user_agent,
    proxy: str | None = DiscoverOptions.proxy,
    allow_private: bool = DiscoverOptions.allow_private,
    progress: bool | Callable[[Progress], None] = False,
    cancel: Cancel | None = None,
) -> Iterator[SiteVerdict]:
    """Find bilingual sites, starting from known ones, and yield each as soon as it is found.

    `backlinks` names sources of backlinks: the folder of a web graph, an index of WAT files, an
    earlier run, or the description of a service.  `cc_index` names files of Common Crawl's index,
    whose sites are tested as well.  The run is stored in the folder `out`; the same call continues
    it.  Leaving the loop ends the search.  The options are the same as those of `diptych discover`
    (see [Commands](cli.md#discover)); `progress` and `cancel` are the same as those of `mine`.

    >>> found = diptych.discover(
    ...     site, langs="en,fr", policy="fc", out=folder / "sites", delay=0, allow_private=True
    ... )
    >>> [each.accept for each in found]
    [True]
    """
    from diptych.engine.background import stream

    asked = DiscoverOptions(
        seeds=texts(seeds), langs=as_text(langs), backlinks=texts(backlinks), policy=policy,
        topic=topic, strategy=strategy, cc_index=texts(cc_index), min_pages=min_pages,
        max_candidates=max_candidates, suffix=texts(suffix), test=True,
        out=None if out is None else Path(out), max_downloads=max_downloads, max_sites=max_sites,
        max_minutes=max_minutes, method=method, threshold=threshold,
        langid=paths(langid), delay=delay, user_agent=user_agent, proxy=proxy,
        allow_private=allow_private,
    )  # fmt: skip
    require_valid(asked)
    require_index(asked)
    copy_context().run(languages, asked.langs, asked.langid)  # an error now, not in the loop

    def work(emit: Callable[[SiteVerdict], None], is_over: Callable[[], bool]) -> None:
        with watched_search(progress, cancel) as shown:
            shown.say = lambda verdict: (
                emit(site_verdict(verdict)) if verdict.decision.accept else None
            )
            stop_when(shown, is_over)
            found = discover_sites(asked, shown, Environment())
            if not found.searched.is_whole:
                raise StoppedError("Stopped. Repeat the call to continue the search.")

    return stream(work)


class Discovered(NamedTuple):
    """The result of a search for sites."""

    sites: Sequence[Url]
    folder: Path
    searched: Searched


def discover_sites(asked: DiscoverOptions, shown: Search, environment: Environment) -> Discovered:
    """Search for bilingual sites; `shown` receives each verdict when it is available."""
    from diptych.api.search import search
    from diptych.frontier.search import Budget
    from diptych.learn.libraries import require_libraries
    from diptych.registry import make
    from diptych.run.terms import Terms, opened_run
    from diptych.sources.open import open_sources
    from diptych.sources.site_list import named_sites
    from diptych.stages.discover.seeds_only import SeedsOnly

    require_valid(asked)
    require_index(asked)
    langs = languages(asked.langs, asked.langid)
    named = named_sites(asked.seeds, ())
    recipe = asked.recipe()
    policy: DiscoverPolicy = make("discover", recipe["discover"])
    if asked.cc_index:
        require_libraries(("duckdb",), "the Common Crawl index")
    source = open_sources(asked.backlinks, asked.proxy)
    seeds = named
    if asked.cc_index:
        seeds = [*named, *(candidate.start for candidate in index_candidates(asked))]
        if not asked.backlinks and not asked.policy and not asked.strategy:
            policy = SeedsOnly()  # only these sites are tested
    _require_start(seeds, policy, recipe, asked)
    terms = Terms(
        langs, tuple(named), "site", recipe, tuple(asked.cc_index), taught=learned_names()
    )
    budget = Budget(
        downloads=asked.max_downloads,
        sites=asked.max_sites,
        seconds=asked.max_minutes * 60 if asked.max_minutes else None,
    )
    folder = asked.folder(langs)
    with opened_run(folder, terms, agent=agent_of(asked.user_agent)) as store:
        searched = search(store, seeds, policy, terms, source, asked, budget, shown, environment)
    sites = [verdict.url for verdict in searched.verdicts][: asked.max_sites]
    return Discovered(sites, folder, searched)


def index_candidates(asked: DiscoverOptions) -> Iterator[SiteCandidate]:
    """The sites in Common Crawl's index with enough pages in at least two requested languages."""
    from diptych.sources.common_crawl import candidates

    return candidates(
        asked.cc_index, languages(asked.langs, asked.langid), at_least=asked.min_pages,
        limit=asked.max_candidates, suffixes=asked.suffix,
    )  # fmt: skip


def _require_start(
    seeds: Sequence[Url], policy: DiscoverPolicy, recipe: Mapping[str, Any], asked: DiscoverOptions
) -> None:
    name = recipe["discover"]["use"]
    if not seeds:
        raise ConfigError(
            "specify seeds, such as bilingual sites that you know,"
            f" or a Common Crawl index with {option_name('cc_index')}"
        )
    if policy.looks_back and not asked.backlinks:
        raise ConfigError(
            f"{name} follows backlinks: specify a source with {option_name('backlinks')}"
            f" (see: diptych backlinks --help), or choose {option_name('policy')} fc"
        )
    if name == "focc" and not recipe["discover"].get("topic"):
        raise ConfigError(
            f"focc requires a topic, such as {option_name('topic')} 'hotel travel viaje turismo'"
        )
