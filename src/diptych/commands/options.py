"""Options that several commands have, exit codes, standard streams and the progress display."""

from __future__ import annotations

import io
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from diptych.api.declare import REQUIRED, argument, option
from diptych.api.web import Environment
from diptych.commands._process import BriefCollections, on_signal, orderly_termination
from diptych.errors import DiptychError, StoppedError

if TYPE_CHECKING:
    from rich.console import Console

    from diptych.reports.display import Figures
    from diptych.reports.progress import Monitor

Shown = TypeVar("Shown", bound="Monitor")
FOUND, NOTHING, MISTAKE, STOPPED = 0, 1, 2, 130
"""exit codes; the last is that of Ctrl-C"""
_CONTINUE = "Nothing saved is lost; run the same command again to continue."


def two_langs_option() -> Any:
    """The two languages of what is aligned."""
    return option("The two languages, the left one first.", default=REQUIRED, metavar="de,fr")


def lists_option() -> Any:
    """Declare the option for files that list sites."""
    return option(
        "List of sites, one per line; - is standard input (repeatable).", "--sites",
        default=(), metavar="FILE",
    )  # fmt: skip


def as_lines() -> Any:
    """Option of a command whose answer is lines: print them as JSON."""
    return option("Print one JSON object per line.", "--json", default=False)


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
        except (KeyboardInterrupt, click.Abort) as error:  # the latter: in a command of a command
            _say_stopped("Stopped at once.")
            raise SystemExit(STOPPED) from error
        except StoppedError as error:
            _say_stopped(error.for_command_line())
            raise SystemExit(STOPPED) from error
        except DiptychError as error:
            click.echo(f"error: {error.for_command_line()}", err=True)
            raise SystemExit(MISTAKE) from error


def environment() -> Environment:
    """The environment of the command that runs; `main(obj=Environment(...))` sets another one."""
    context = click.get_current_context(silent=True)
    given = None if context is None else context.find_object(Environment)
    return Environment() if given is None else given


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Options of commands that print lines while they work: detect and discover."""

    as_json: bool = as_lines()
    quiet: bool = option("Show no progress and no summary.", default=False)


@dataclass(frozen=True, kw_only=True)
class UrlModelOptions:
    """Options of the commands that ask a URL model about lines: url-lang and url-pair."""

    file: Path | None = argument(default=None)
    model: str = option(
        "Your own model, from diptych train or in the format of Transformers.",
        default="",
        metavar="FOLDER",
    )
    as_json: bool = as_lines()


@contextmanager
def displayed(monitor: Shown, *, quiet: bool, figures: Figures | None = None) -> Iterator[Shown]:
    """Show the progress of a run; Ctrl-C stops it, a second Ctrl-C ends it at once."""
    from rich.console import Console

    from diptych.reports.display import mining_figures, progress_display

    with ExitStack() as stack:
        if stack.enter_context(on_signal(signal.SIGINT, monitor.interrupt)):
            monitor.on_tick = stack.enter_context(BriefCollections()).collect_if_due
        console = None if quiet else Console(stderr=True)
        yield stack.enter_context(progress_display(monitor, console, figures or mining_figures))


def summary_console(*, stderr: bool) -> Console:
    """Standard output or standard error, for lines as they are."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, markup=False)


def _say_stopped(how: str) -> None:
    """Say how a command was stopped, and how to continue; in a terminal wrapped between words."""
    with on_signal(signal.SIGINT, lambda: None):  # some press Ctrl-C again and again
        console = summary_console(stderr=True)
        console.print(f"{how} {_CONTINUE}", soft_wrap=not console.is_terminal)
