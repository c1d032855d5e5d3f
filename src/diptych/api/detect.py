"""`diptych.detect`: tests whether a site is bilingual, using two or three of its pages."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from diptych.api.arguments import paths
from diptych.api.declare import argument, option, require_valid
from diptych.api.detector import DetectorOptions
from diptych.api.languages import as_text, languages, learned_names
from diptych.api.watch import watched_search
from diptych.api.web import Environment, agent_of
from diptych.errors import ConfigError, StoppedError

if TYPE_CHECKING:
    from diptych.api.mine import Cancel
    from diptych.api.search import Search, Searched
    from diptych.frontier.leads import Leads, Verdict
    from diptych.reports.progress import Progress
    from diptych.types import Url


class SiteVerdict(NamedTuple):
    """The result of testing whether a site is bilingual."""

    site: str
    """registrable domain of the site; empty if the site could not be tested"""
    url: str
    """page at which the test began"""
    accept: bool
    """True if the site is bilingual"""
    score: float
    """score from 0 to 1"""
    reason: str
    """reason why the site was not accepted or could not be tested; otherwise empty"""
    pages: dict[str, str]
    """for each language that was found, the URL of a page in that language"""
    downloads: int


def site_verdict(verdict: Verdict) -> SiteVerdict:
    """Convert an internal verdict to its public form."""
    from diptych.reports.reasons import in_words

    decision = verdict.decision
    return SiteVerdict(
        verdict.site, verdict.url, decision.accept, round(decision.score, 4),
        in_words(decision.reason) if decision.reason else "", dict(verdict.pages),
        verdict.downloads,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class DetectOptions(DetectorOptions):
    """Options for testing whether sites are bilingual."""

    sites: tuple[str, ...] = argument("SITE...", default=())
    out: Path | None = option("Keep the fetched pages in a run folder.", metavar="RUN")


def detect(
    site: str,
    *,
    langs: str | Sequence[str],
    out: str | Path | None = None,
    method: str = DetectOptions.method,
    threshold: float | None = DetectOptions.threshold,
    langid: str | Path | Sequence[str | Path] = (),
    delay: float = DetectOptions.delay,
    user_agent: str | None = DetectOptions.user_agent,
    proxy: str | None = DetectOptions.proxy,
    allow_private: bool = DetectOptions.allow_private,
    progress: bool | Callable[[Progress], None] = False,
    cancel: Cancel | None = None,
) -> SiteVerdict:
    """Test whether a site is bilingual, using two or three downloads.

    The options are the same as those of `diptych detect` (see [Commands](cli.md#detect));
    `progress` and `cancel` are the same as those of `mine`.

    >>> diptych.detect(site, langs=["en", "fr"], delay=0, allow_private=True).accept
    True
    """
    from diptych.reports.reasons import in_words

    if not isinstance(site, str):
        raise ConfigError(f"detect tests one site, such as 'https://example.org', not {site!r}")
    asked = DetectOptions(
        sites=(site,), langs=as_text(langs), out=None if out is None else Path(out), method=method,
        threshold=threshold, langid=paths(langid), delay=delay, user_agent=user_agent,
        proxy=proxy, allow_private=allow_private,
    )  # fmt: skip
    with watched_search(progress, cancel) as shown:
        found = copy_context().run(detect_sites, asked, shown, Environment())
    if not found.searched.is_whole:
        raise StoppedError("Stopped before the site was tested.")
    [(url, answer)] = found.answers
    if isinstance(answer, str):
        return SiteVerdict("", url, False, 0.0, in_words(answer), {}, 0)
    return site_verdict(answer)


class Detected(NamedTuple):
    """The result of testing whether sites are bilingual."""

    answers: Sequence[tuple[Url, Verdict | str]]
    """for each given URL, the verdict, or the reason why there is no verdict"""
    searched: Searched


def detect_sites(asked: DetectOptions, shown: Search, environment: Environment) -> Detected:
    """Test whether sites are bilingual; `shown` receives each verdict when it is available."""
    from diptych.api.search import search
    from diptych.frontier.leads import Leads
    from diptych.frontier.search import Budget
    from diptych.run.terms import Terms, opened_run
    from diptych.sources.open import open_sources
    from diptych.stages.discover.seeds_only import SeedsOnly
    from diptych.text.sites import parse_site
    from diptych.text.urls import site_name

    require_valid(asked)
    langs = languages(asked.langs, asked.langid)
    named = [parse_site(text) for text in asked.sites]
    if not named:
        raise ConfigError("specify a site, such as https://example.org")
    seeds = list({site_name(url): url for url in reversed(named)}.values())[::-1]
    recipe = {"detect": asked.detector()}
    terms = Terms(langs, tuple(seeds), "site", recipe, taught=learned_names())
    agent = agent_of(asked.user_agent)
    with _folder(asked.out) as folder, opened_run(folder, terms, agent=agent) as store:
        searched = search(
            store, seeds, SeedsOnly(), terms, open_sources(()), asked, Budget(), shown, environment
        )
        answers = list(_answers(named, Leads(store, once=True)))
    return Detected(answers, searched)


def _answers(named: Sequence[Url], leads: Leads) -> Iterator[tuple[Url, Verdict | str]]:
    """Yield each URL in `named` with the verdict on its site, or the reason why it has no verdict.

    Verdicts and reasons are looked up in `leads`.
    """
    from diptych.reason import Reason
    from diptych.text.urls import site_name

    decided = {verdict.site: verdict for verdict in leads.verdicts()}
    failed = {site_name(url): reason for url, reason in leads.failed()}
    for url in dict.fromkeys(named):
        site = leads.destination(site_name(url))
        reason = failed.get(site) or failed.get(site_name(url), Reason.NOT_TRIED)
        yield url, decided.get(site) or str(reason)


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    """Yield the folder of the run: `out`, or a temporary folder."""
    if out is not None:
        yield out
        return
    with tempfile.TemporaryDirectory(prefix="diptych-detect-") as folder:
        yield Path(folder)
