"""Output of verdicts on sites, as lines of text, a list of URLs, or JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TextIO

import click
import orjson

from diptych.api.search import Searched
from diptych.errors import for_command_line, in_one_line, option_name
from diptych.frontier.leads import Verdict
from diptych.frontier.retries import NETWORK_FAULTS
from diptych.reason import Reason
from diptych.reports.reasons import counted, in_words

_MAX_NOTES = 10


def print_end(searched: Searched, *, follows_links: bool, can_continue: bool = True) -> None:
    """Print the summary and the notes of a search to standard error.

    `follows_links` is False for `detect`; `can_continue` is False if the run is not kept.
    """
    notes, summary = searched.notes, searched.summary
    lines = summary.lines(follows_links=follows_links)
    if not searched.is_whole:
        lines.append(summary.interruption(follows_links=follows_links, can_continue=can_continue))
    lines += [f"note: {note}" for note in notes[:_MAX_NOTES]]
    if len(notes) > _MAX_NOTES:
        lines.append(f"note: {counted(len(notes) - _MAX_NOTES, 'more note')} not shown")
    for line in lines:
        click.echo(line, err=True)


def advise_on_private(reasons: Iterable[str]) -> None:
    """If private addresses are among the `reasons` for failure, name the option that allows them.

    The message is printed to standard error.
    """
    private = {Reason.PRIVATE_ADDRESS, NETWORK_FAULTS[Reason.PRIVATE_ADDRESS]}
    if not private.isdisjoint(reasons):
        line = f"to test private addresses, add {option_name('allow_private')}"
        click.echo(for_command_line(line), err=True)


def standard_output() -> TextIO | None:
    """The stream to use as `Printer.out` for standard output.

    For a terminal, this is None: a progress display can replace `sys.stdout`, so `Printer` must
    look it up for each write.  For a pipe or a file, which no display replaces, it is `sys.stdout`.
    """
    return None if sys.stdout.isatty() else sys.stdout


@dataclass(frozen=True, slots=True)
class Printer:
    """Writes verdicts, each as soon as it is available."""

    out: TextIO | None
    """None means `sys.stdout` at the time of writing"""
    as_json: bool = False
    is_list: bool = False
    """True to print only the addresses of bilingual sites"""

    def say(self, verdict: Verdict) -> None:
        """Write a verdict."""
        decision = verdict.decision
        if self.is_list and not decision.accept:
            return
        if self.as_json:
            self._json(
                site=verdict.site, url=verdict.named, start=verdict.url, bilingual=decision.accept,
                score=round(decision.score, 4), reason=decision.reason,
                pages=dict(verdict.pages), downloads=verdict.downloads,
            )  # fmt: skip
        elif self.is_list:
            self._line(verdict.url)
        else:
            shown = " ".join(f"{lang}={url}" for lang, url in verdict.pages)
            answer = "bilingual" if decision.accept else "no"
            why = shown if decision.accept else in_words(decision.reason)
            self._line(verdict.named, answer, f"{decision.score:.3f}", str(verdict.downloads), why)

    def say_untested(self, url: str, reason: str) -> None:
        """Write that a site could not be tested."""
        if self.as_json:
            self._json(
                site="", url=url, bilingual=None, score=0.0, reason=reason, pages={}, downloads=0
            )
        elif not self.is_list:
            self._line(url, "unknown", "0.000", "0", in_words(reason))

    def _line(self, *fields: str) -> None:
        self._write("\t".join(in_one_line(field) for field in fields))

    def _json(self, **fields: Any) -> None:
        self._write(orjson.dumps(fields).decode())

    def _write(self, line: str) -> None:
        out = self.out or sys.stdout
        out.write(line + "\n")
        out.flush()  # a reader at the other end of a pipe may be waiting
