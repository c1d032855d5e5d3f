"""`diptych detect`: whether a site is bilingual, from two or three of its pages."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from diptych.commands._detector import DetectorOptions
from diptych.commands.declare import argument, command, option
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
    from diptych.commands._verdicts import Printer
    from diptych.frontier.leads import Leads
    from diptych.types import Url


@dataclass(frozen=True, kw_only=True)
class DetectOptions(DetectorOptions):
    """Options of `diptych detect`."""

    sites: tuple[str, ...] = argument("SITE...", default=())
    lists: tuple[Path, ...] = lists_option()
    out: Path | None = option("Keep what was fetched, and go on with it.", metavar="RUN")


@command(DetectOptions)
def detect(asked: DetectOptions) -> int:
    """Tell whether SITE is bilingual, from two or three of its pages.

    Each line of the answer has the site, bilingual, no or unknown, a score, the pages asked for,
    and what shows it or why not, with tabs between them.  A file is a list of sites.
    """
    from diptych.commands._search import search
    from diptych.commands._verdicts import Printer, standard_output
    from diptych.frontier.leads import Leads
    from diptych.frontier.search import Budget
    from diptych.run.terms import Terms, opened_run
    from diptych.sources.open import open_sources
    from diptych.sources.site_list import named_sites
    from diptych.stages.discover.seeds_only import SeedsOnly
    from diptych.text.urls import site_name

    langs = languages(asked.langs, asked.taught)
    named = named_sites(asked.sites, sys.stdin, asked.lists)
    if not named:
        raise ConfigError("name a site, such as https://example.org, or a list with --sites FILE")
    seeds = list({site_name(url): url for url in reversed(named)}.values())[::-1]
    recipe = {"detect": asked.detector()}
    terms = Terms(langs, tuple(seeds), "site", recipe, taught=learned_names())
    printer = Printer(standard_output(), as_json=asked.as_json)
    agent = agent_of(asked.user_agent)
    with _folder(asked.out) as folder, opened_run(folder, terms, agent=agent) as store:
        searched = search(
            store, seeds, SeedsOnly(), terms, open_sources(()), asked, Budget(), printer
        )
        _say_the_rest(named, Leads(store, once=True), printer)
    return FOUND if searched.verdicts else NOTHING


def _say_the_rest(named: Sequence[Url], leads: Leads, printer: Printer) -> None:
    """Say what is known of sites that were named twice, have moved, or could not be tested."""
    from diptych.reason import Reason
    from diptych.text.urls import site_name

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
            printer.say_untested(
                url, failed.get(site) or failed.get(site_name(url), Reason.NOT_TRIED)
            )


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    """The folder of the run; a temporary one unless the user named one, since it is a few pages."""
    if out is not None:
        yield out
        return
    with tempfile.TemporaryDirectory(prefix="diptych-detect-") as folder:
        yield Path(folder)
