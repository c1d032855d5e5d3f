"""`diptych detect`: tests whether sites are bilingual, using two or three of their pages."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from diptych.api.detect import Detected, DetectOptions, detect_sites
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

if TYPE_CHECKING:
    from diptych.commands._verdicts import Printer


@dataclass(frozen=True, kw_only=True)
class DetectCommandOptions(OutputOptions, DetectOptions):
    """Options of `diptych detect`."""

    lists: tuple[Path, ...] = lists_option()


@command(DetectCommandOptions)
def detect(asked: DetectCommandOptions) -> int:
    """Test whether SITE is bilingual, using two or three of its pages.

    Each output line has tab-separated columns: the site, the verdict (bilingual, no or unknown), a
    score, the number of pages requested, and a page in each language or the reason for the verdict.
    SITE can also be a file with a list of sites; if its name looks like a host name (such as
    sites.org), use --sites.
    """
    from diptych.api.search import Search
    from diptych.commands._verdicts import Printer, advise_on_private, print_end, standard_output
    from diptych.sources.site_list import named_sites

    sites = named_sites(asked.sites, sys.stdin, asked.lists)
    options = replace(asked, sites=tuple(sites))
    printer = Printer(standard_output(), as_json=asked.as_json)
    shown = Search(say=printer.say)
    if asked.out is not None:
        mark_saved()
    with displayed(shown, quiet=asked.quiet, figures=shown.figures):
        detected = detect_sites(options, shown, environment())
    if not asked.quiet:
        print_end(detected.searched, follows_links=False, can_continue=asked.out is not None)
    _say_the_rest(detected, printer)
    if not asked.quiet:
        advise_on_private(reason for _, reason in detected.searched.failed)
    return FOUND if detected.searched.verdicts else NOTHING


def _say_the_rest(detected: Detected, printer: Printer) -> None:
    """Print the results for sites that were listed twice, have moved, or could not be tested."""
    for url, answer in detected.answers:
        if isinstance(answer, str):
            printer.say_untested(url, answer)
        elif answer.named != url:
            printer.say(replace(answer, named=url))
