"""Options that several commands have, and what the user means by them."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from diptych._version import VERSION
from diptych.commands._process import BriefCollections, on_signal, orderly_termination
from diptych.commands.declare import REQUIRED, argument, option
from diptych.errors import ConfigError, DiptychError, StoppedError
from diptych.files import read_file, reading

if TYPE_CHECKING:
    from aiohttp.abc import AbstractResolver
    from rich.console import Console

    from diptych.engine.live import LiveEngine
    from diptych.engine.workers import Workers
    from diptych.language.learned import LearnedLanguage
    from diptych.reports.progress import Progress
    from diptych.run.store import Store

Shown = TypeVar("Shown", bound="Progress")
FOUND, NOTHING, MISTAKE, STOPPED = 0, 1, 2, 130
"""exit codes; the last is that of Ctrl-C"""
AGENT = f"DiptychBot/{VERSION} (+https://github.com/diptych-corpus/diptych)"


def langs_option() -> Any:
    """The languages that the user asks for."""
    return option("Two or more languages, ISO 639 codes.", default=REQUIRED, metavar="en,fr")


def two_langs_option() -> Any:
    """The two languages of what is aligned."""
    return option("The two languages, left one first.", default=REQUIRED, metavar="de,fr")


def langid_option() -> Any:
    """Languages that the user has taught."""
    return option(
        "A language you have taught, from: diptych train langid (also several).", "--langid",
        default=(), metavar="FILE",
    )  # fmt: skip


def lists_option() -> Any:
    """Files that list sites."""
    return option(
        "List of sites, one a line; - is standard input (also several).", "--sites",
        default=(), metavar="FILE",
    )  # fmt: skip


def as_lines() -> Any:
    """Option of a command whose answer is lines: print them as JSON."""
    return option("One JSON object a line.", "--json", default=False)


def as_object(help: str = "Print the result as one JSON object.") -> Any:
    """Option of a command whose result is one value: print it as JSON."""
    return option(help, "--json", default=False)


def _use_utf8() -> None:
    """Let standard streams be UTF-8 in any locale; a terminal shows what it can.

    Names of files that are not UTF-8 keep their bytes in what is written.
    """
    for stream, errors in (
        (sys.stdin, "strict"), (sys.stdout, "surrogateescape"), (sys.stderr, "surrogateescape")
    ):  # fmt: skip
        if isinstance(stream, io.TextIOWrapper):
            if stream.isatty():
                stream.reconfigure(errors="replace")
            else:
                stream.reconfigure(encoding="utf-8", errors=errors)


class Group(click.Group):
    """Commands in the order they are written down; our errors are one line and exit 2."""

    def make_context(self, *arguments: Any, **extra: Any) -> click.Context:
        """Read what the user asks, with standard streams that are UTF-8."""
        _use_utf8()
        return super().make_context(*arguments, **extra)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """As they were added."""
        return list(self.commands)

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command; the list of commands has the whole first sentence of its help."""
        sentence = (cmd.help or "").split(".\n")[0].split(".  ")[0].removesuffix(".")
        cmd.short_help = f"{sentence}."
        super().add_command(cmd, name)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an error of ours ends it with its line."""
        from diptych.kernels import slow_kernels

        if ctx.parent is None and (warning := slow_kernels()):
            click.echo(f"warning: {warning}", err=True)
        try:
            with orderly_termination():
                # What a command learns is forgotten with it.
                return copy_context().run(super().invoke, ctx)
        except KeyboardInterrupt as error:
            click.echo(
                "interrupted: nothing that was saved is lost; the same command goes on", err=True
            )
            raise SystemExit(STOPPED) from error
        except StoppedError as error:
            click.echo(error.for_command_line(), err=True)
            raise SystemExit(STOPPED) from error
        except DiptychError as error:
            click.echo(f"error: {error.for_command_line()}", err=True)
            raise SystemExit(MISTAKE) from error


@dataclass(frozen=True, kw_only=True)
class Environment:
    """Workers and resolver that commands use; `main(obj=Environment(...))` gives others."""

    workers: int = os.cpu_count() or 1
    """processes that read, pair and align pages, at most; 0: that is done in this process"""
    resolver: AbstractResolver | None = None
    """looks up the names of hosts; None: this machine"""

    @classmethod
    def current(cls) -> Environment:
        """The one of the command that runs."""
        context = click.get_current_context(silent=True)
        given = None if context is None else context.find_object(cls)
        return cls() if given is None else given


@dataclass(frozen=True, kw_only=True)
class WebOptions:
    """Options of requests to the web."""

    delay: float = option(
        "Seconds between requests to a host; a longer Crawl-delay is kept.",
        default=1.0, type=click.FloatRange(0), metavar="S",
    )  # fmt: skip
    user_agent: str | None = option("How to present yourself to servers.", metavar="TEXT")
    proxy: str | None = option("HTTP proxy.", metavar="URL")
    allow_private: bool = option("Also fetch from private and loopback addresses.", default=False)
    as_json: bool = as_lines()
    quiet: bool = option("Show no progress and no summary.", default=False)


@dataclass(frozen=True, kw_only=True)
class UrlModelOptions:
    """Options of the commands that ask a URL model about lines: url-lang and url-pair."""

    file: Path | None = argument(default=None)
    model: str = option(
        "A model of your own: of diptych train, or of Transformers.", default="", metavar="FOLDER"
    )
    as_json: bool = as_lines()


def languages(text: str, taught: Sequence[Path] = ()) -> tuple[str, ...]:
    """The languages of `--langs`, once those of `--langid` are taught."""
    from diptych.language import identify
    from diptych.language.codes import parse_langs

    if taught or identify.learned_languages():
        use_language_files(taught)
    return parse_langs(text)


def use_language_files(files: Sequence[Path]) -> None:
    """Teach this process the languages of some files; `ConfigError` for what cannot be."""
    from diptych.language.identify import use_learned_languages

    models = [_learned(path) for path in files]
    try:
        use_learned_languages(models)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _learned(path: Path) -> LearnedLanguage:
    from diptych.language.learned import MAX_BYTES, LearnedLanguage

    advice = "make one: diptych train langid LANG FILE --out MODEL"
    with reading(path, "taught language", advice):
        return LearnedLanguage.from_bytes(read_file(path, MAX_BYTES, advice))


def learned_names() -> tuple[str, ...]:
    """The languages that were taught, as the terms of a run know them."""
    from hashlib import blake2b

    from diptych.language import identify

    return tuple(
        f"{each.lang}:{blake2b(each.to_bytes(), digest_size=8).hexdigest()}"
        for each in identify.learned_languages()
    )


def first_notes(langs: Sequence[str]) -> list[str]:
    """Notes on languages that cannot be identified by their text, and on missing kernels."""
    from diptych.kernels import slow_kernels
    from diptych.language import identify
    from diptych.language.mistakes import code_of_country

    notes = [note for lang in langs if (note := code_of_country(lang))]
    notes += [
        f"{lang} cannot be told by its text: pages that declare it are taken; teach it with:"
        f" diptych train langid {lang} FILE --out MODEL, and mine with --langid MODEL"
        for lang in langs
        if not identify.can_identify(lang)
    ]
    return [*notes, *filter(None, [slow_kernels()])]


def agent_of(text: str | None) -> str:
    """The User-Agent of requests; a `ConfigError` if it is not one line of text."""
    if text is not None and (not text.isprintable() or not text.strip()):
        raise ConfigError("--user-agent must be one line of text, such as 'MyBot/1.0 (+URL)'")
    return text or AGENT


def live_engine(
    asked: WebOptions, agent: str, *, connections: int = 1, stall: float = 20.0
) -> LiveEngine:
    """The web, as the user wants it to be asked."""
    from diptych.engine.fetch import FetchSettings
    from diptych.engine.live import LiveEngine

    environment = Environment.current()
    settings = FetchSettings(
        agent=agent, proxy=_proxy(asked.proxy), allow_private=asked.allow_private,
        concurrency=max(64, connections), stall=stall, resolver=environment.resolver,
    )  # fmt: skip
    return LiveEngine(settings)


def workers_of(jobs: int | None = None) -> Workers:
    """The worker processes of a command: at most as many as the user allows."""
    from diptych.engine.workers import Workers

    return Workers(jobs or Environment.current().workers)


@contextmanager
def displayed(progress: Shown, *, quiet: bool) -> Iterator[Shown]:
    """Show the progress of a run; Ctrl-C stops it, a second one ends it at once."""
    from rich.console import Console

    from diptych.reports.progress import progress_display

    with ExitStack() as stack:
        if stack.enter_context(on_signal(signal.SIGINT, progress.interrupt)):
            progress.on_tick = stack.enter_context(BriefCollections()).collect_if_due
        console = None if quiet else Console(stderr=True)
        yield stack.enter_context(progress_display(progress, console))


def summary_console(*, stderr: bool) -> Console:
    """Standard output or standard error, for lines as they are."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, markup=False)


def _proxy(text: str | None) -> str | None:
    """A proxy that can be, or none."""
    if text is None:
        return None
    from diptych.text.urls import normalise

    scheme, _, rest = text.partition("://")
    # A proxy may be named with a user and a password, a site may not.
    if normalise(f"{scheme}://{rest.rpartition('@')[2]}") is None:
        raise ConfigError(f"'{text}' is no HTTP proxy; give one such as http://proxy.example:8080")
    return text


def open_to_read(run: Path) -> Store:
    """A run that is there, to be read."""
    from diptych.run.store import Store
    from diptych.run.terms import read_terms

    read_terms(run)
    return Store(run, write=False)
