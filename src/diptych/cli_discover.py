"""Commands that find bilingual sites: `detect` and `discover`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from diptych.cli_parts import AS_LINES, FILE, LANGID, LANGS

__all__ = ["detect", "discover"]

Command = Callable[..., Any]


def _web_options(command: Command) -> Command:
    """How the web is asked."""
    options = (
        click.option(
            "--delay", type=click.FloatRange(0), default=1.0, show_default=True, metavar="S",
            help="Seconds between requests to a host; a longer Crawl-delay is kept.",
        ),
        click.option("--user-agent", metavar="TEXT", help="How to present yourself to servers."),
        click.option("--proxy", metavar="URL", help="HTTP proxy."),
        click.option(
            "--allow-private", is_flag=True, help="Also fetch from private and loopback addresses."
        ),
        AS_LINES,
        click.option("--quiet", is_flag=True, help="Show no progress and no summary."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def _detect_options(command: Command) -> Command:
    """How sites are tested."""
    command = LANGID(command)
    command = click.option(
        "--threshold", type=click.FloatRange(0, 1), metavar="P",
        help="Follow links that are at least so likely to lead to the other language.",
    )(command)  # fmt: skip
    return click.option(
        "--method", "detect", default="", metavar="NAME",
        help="Strategy for testing a site: predictor, triggers or bits.",
    )(command)  # fmt: skip


@click.command()
@click.argument("sites", nargs=-1, metavar="SITE...")
@LANGS
@_detect_options
@click.option("--out", type=FILE, metavar="RUN", help="Keep what was fetched, and go on with it.")
@_web_options
def detect(sites: tuple[str, ...], **options: Any) -> None:
    """Tell whether SITE is bilingual, from two or three of its pages.

    Each line of the answer has the site, bilingual, no or unknown, a score, the pages asked for,
    and what shows it or why not, with tabs between them.  - is a list on standard input.
    """
    from diptych.commands.discover import detect as run_detect

    raise SystemExit(run_detect(sites, **options))


@click.command()
@click.argument("seeds", nargs=-1, metavar="SEED...")
@LANGS
@click.option(
    "--backlinks", multiple=True, metavar="SOURCE",
    help="Where back links are known from: a web graph, WAT index, run or API (also several).",
)  # fmt: skip
@click.option(
    "--policy", default="", metavar="NAME", help="Where to look: cobfc, obfc, focc or fc."
)
@click.option("--topic", default="", metavar="WORDS", help="Of focc: what pages must be about.")
@_detect_options
@click.option("--strategy", metavar="FILE", help="A recipe of your own for these two.")
@click.option(
    "--cc-index", "index", multiple=True, metavar="PARQUET",
    help="List candidates from Common Crawl's columnar index (files, folders, patterns).",
)  # fmt: skip
@click.option(
    "--min-pages", type=click.IntRange(1), default=5, show_default=True, metavar="N",
    help="Of the index: pages that a site must have in each language.",
)  # fmt: skip
@click.option(
    "--max-candidates", type=click.IntRange(1), metavar="N", help="Of the index: sites, at most."
)
@click.option(
    "--suffix", "suffixes", multiple=True, metavar="TLD",
    help="Of the index: only hosts that end so, such as fr or co.uk (also several).",
)  # fmt: skip
@click.option("--test", is_flag=True, help="Test the candidates of the index on the web.")
@click.option("--out", type=FILE, metavar="RUN", help="Folder of the run.")
@click.option("--max-downloads", type=click.IntRange(1), metavar="N",
              help="End after so many, robots.txt not counted.")  # fmt: skip
@click.option("--max-sites", type=click.IntRange(1), metavar="N", help="End with so many sites.")
@click.option("--max-minutes", type=click.FloatRange(0, min_open=True), metavar="M",
              help="End after so many minutes.")  # fmt: skip
@click.option("--mine", is_flag=True, help="Then mine the sites found, each within its budget.")
@click.option("--site-pages", type=click.IntRange(1), metavar="N",
              help="Of --mine: pages per site, at most.")  # fmt: skip
@click.option("--site-minutes", type=click.FloatRange(0, min_open=True), metavar="M",
              help="Of --mine: minutes per site, at most.")  # fmt: skip
@click.option("--site-megabytes", type=click.FloatRange(0, min_open=True), metavar="MB",
              help="Of --mine: megabytes per site, at most.")  # fmt: skip
@_web_options
def discover(seeds: tuple[str, ...], **options: Any) -> None:
    """Find bilingual sites, beginning with SEED, and print one a line as they are found.

    The run is a folder; the same command goes on where it was left, however it ended.  The list
    can be handed on: diptych discover ... | diptych mine - --langs en,fr
    """
    from diptych.commands.discover import discover as run_discover

    raise SystemExit(run_discover(seeds, **options))
