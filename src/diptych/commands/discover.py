"""`diptych discover`: finds bilingual sites by following links forward and back."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from diptych.api.declare import amount_option, count_option, option
from diptych.api.discover import DiscoverOptions, discover_sites, index_candidates
from diptych.commands.declare import command
from diptych.commands.options import (
    FOUND,
    NOTHING,
    OutputOptions,
    displayed,
    environment,
    lists_option,
    mark_saved,
)
from diptych.errors import ConfigError, option_name

if TYPE_CHECKING:
    from diptych.types import Url

INDEX = ".parquet"
_OF_SEARCHES = (
    "policy", "topic", "strategy", "out", "max_downloads", "max_sites", "max_minutes", "method",
    "threshold",
)  # fmt: skip
"""options of `DiscoverOptions` that need the web"""


@dataclass(frozen=True, kw_only=True)
class DiscoverCommandOptions(OutputOptions, DiscoverOptions):
    """Options of `diptych discover`."""

    lists: tuple[Path, ...] = lists_option()
    mine: bool = option("Mine the sites found, each within the --site-* limits.", default=False)
    site_pages: int | None = count_option("With --mine: maximum number of pages per site.")
    site_minutes: float | None = amount_option(
        "With --mine: maximum duration per site, in minutes.", "M"
    )
    site_megabytes: float | None = amount_option(
        "With --mine: maximum data per site, in megabytes.", "MB"
    )


@command(DiscoverCommandOptions)
def discover(asked: DiscoverCommandOptions) -> int:
    """Find bilingual sites, starting from SEED, and print each as soon as it is found.

    The run is stored in a folder.  Run the same command again to continue it at any time.  The list
    can be piped: diptych discover ... | diptych mine - --langs en,fr
    """
    from diptych.api.search import Search
    from diptych.commands._verdicts import Printer, advise_on_private, print_end, standard_output

    options = _with_lists(asked)
    if asked.test and not options.cc_index:
        name = option_name("cc_index")
        raise ConfigError(
            f"{option_name('test')} tests sites of an index: specify its files with {name}"
        )
    if options.cc_index and not (asked.test or asked.backlinks or asked.mine):
        if options.seeds:
            name = option_name("backlinks")
            raise ConfigError(
                f"to start from both SEED and an index, add a source of backlinks: {name} SOURCE"
            )
        _require_listing(options)
        return _list_candidates(options, as_json=asked.as_json, quiet=asked.quiet)
    printer = Printer(standard_output(), as_json=asked.as_json, is_list=True)
    shown = Search(say=printer.say)
    mark_saved()
    with displayed(shown, quiet=asked.quiet, figures=shown.figures):
        found = discover_sites(options, shown, environment())
    if not asked.quiet:
        print_end(found.searched, follows_links=True)
        advise_on_private(reason for _, reason in found.searched.failed)
    if asked.mine and found.sites and found.searched.is_whole:
        return _mine(found.sites, found.folder, asked)
    return FOUND if found.sites else NOTHING


def _with_lists(asked: DiscoverCommandOptions) -> DiscoverOptions:
    """Add the sites in list files to the seeds, and move index files from the seeds to `cc_index`.

    If the value of `--cc-index` is a pattern, the shell expands it to several arguments: the option
    takes only the first one, and the others become seeds.
    """
    from diptych.sources.site_list import named_sites

    index = (*asked.cc_index, *(name for name in asked.seeds if name.endswith(INDEX)))
    names = [name for name in asked.seeds if not name.endswith(INDEX)]
    seeds = named_sites(names, sys.stdin, asked.lists)
    return replace(asked, cc_index=index, seeds=tuple(seeds))


def _require_listing(asked: DiscoverOptions) -> None:
    """Raise `ConfigError` for an option of searches, if sites of an index are only listed."""
    for name in _OF_SEARCHES:
        if getattr(asked, name) != getattr(type(asked), name):
            raise ConfigError(
                f"{option_name(name)} does nothing while sites of an index are listed; to test them"
                f" on the web, add {option_name('test')}"
            )


def _list_candidates(asked: DiscoverOptions, *, as_json: bool, quiet: bool) -> int:
    """Print the candidate sites in Common Crawl's index, and return the exit code.

    Nothing is downloaded from these sites.
    """
    import orjson

    from diptych.reports.reasons import counted

    count = 0
    for candidate in index_candidates(asked):
        count += 1
        if as_json:
            click.echo(orjson.dumps(candidate).decode())
        else:
            pages = " ".join(f"{lang}={pages}" for lang, pages in candidate.pages)
            click.echo(f"{candidate.start}\t{candidate.score:.1f}\t{pages}")
    if not count and not quiet:
        click.echo(
            f"no site has at least {counted(asked.min_pages, 'page')} in each of two languages from"
            f" {asked.langs}; try a smaller --min-pages or more index files",
            err=True,
        )
    return FOUND if count else NOTHING


def _mine(sites: Sequence[Url], folder: Path, asked: DiscoverCommandOptions) -> int:
    """Mine the sites that were found, within the limits for each site, and return the exit code.

    Mining runs that already exist in `folder` are continued.  Sites that are in none of these runs
    are mined into a new run.
    """
    from diptych.api.mine import MineOptions
    from diptych.commands.mine import mine_and_print
    from diptych.reports.reasons import counted
    from diptych.run.terms import read_terms

    begun = {out: read_terms(out).seeds for out in sorted(folder.glob("mined-*"))}
    known = {seed for seeds in begun.values() for seed in seeds}
    new = tuple(site for site in sites if site not in known)
    if new:
        begun[folder / f"mined-{len(begun) + 1:03}"] = new
    outcomes = []
    for out, seeds in begun.items():
        click.echo(f"mining {counted(len(seeds), 'site')} into {out}", err=True)
        of_sites = MineOptions(
            sites=tuple(seeds), langs=asked.langs, langid=asked.langid, out=out, delay=asked.delay,
            user_agent=asked.user_agent, proxy=asked.proxy, allow_private=asked.allow_private,
            max_pages=asked.site_pages, max_minutes=asked.site_minutes,
            max_megabytes=asked.site_megabytes,
        )  # fmt: skip
        outcomes.append(mine_and_print(of_sites, quiet=asked.quiet))
    return min(outcomes)
