"""Options shared by several commands, exit codes, standard streams and the progress display."""

from __future__ import annotations

import io
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from diptych.api.declare import REQUIRED, argument, option
from diptych.api.web import Environment
from diptych.commands._process import BriefCollections, on_signal, orderly_termination
from diptych.errors import (
    DiptychError,
    StoppedError,
    for_command_line,
    in_one_line,
    is_of_machine,
    is_system_fault,
    machine_advice,
)
from diptych.files import reason_of

if TYPE_CHECKING:
    from rich.console import Console

    from diptych.reports.display import Figures
    from diptych.reports.progress import Monitor

Shown = TypeVar("Shown", bound="Monitor")
FOUND, NOTHING, MISTAKE, MACHINE, STOPPED = 0, 1, 2, 3, 130
"""exit codes; MACHINE is for faults such as a full disk, and STOPPED for Ctrl-C"""
_IS_SAVED = "diptych.is_saved"  # in the context of a command that can be continued
_CONTINUE = "Saved results are kept; run the same command again to continue."


def say_damage(damaged: Iterable[str]) -> None:
    """Print messages about damaged archives."""
    for error in damaged:
        click.echo(
            f"error: {in_one_line(for_command_line(error))}; all intact records were used; replace"
            " the file and run the same command again, or mine an intact copy into another folder",
            err=True,
        )


def two_langs_option() -> Any:
    """Declare the option for the two languages of an alignment or a lexicon."""
    return option("The two languages, the left one first.", default=REQUIRED, metavar="de,fr")


def lists_option() -> Any:
    """Declare the option for files that list sites."""
    return option(
        "File with one site per line; - means standard input (repeatable).", "--sites",
        default=(), metavar="FILE",
    )  # fmt: skip


def as_lines() -> Any:
    """Declare the option to print one JSON object per line."""
    return option("Print one JSON object per line.", "--json", default=False)


def as_object(help: str = "Print the result as one JSON object.") -> Any:
    """Declare the option to print the result as one JSON object."""
    return option(help, "--json", default=False)


def _use_utf8() -> None:
    """Set standard streams to UTF-8 in any locale; a terminal keeps its encoding.

    File names that are not valid UTF-8 are written with their original bytes.
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
    """A group of commands in order of definition; a `DiptychError` is printed as one line."""

    def make_context(self, *arguments: Any, **extra: Any) -> click.Context:
        """Parse the command line after setting standard streams to UTF-8."""
        _use_utf8()
        with _plain_mistakes():
            return super().make_context(*arguments, **extra)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands in the order in which they were added."""
        return list(self.commands)

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command; its short help is the first sentence of its help, in full."""
        sentence = (cmd.help or "").split(".\n")[0].split(".  ")[0].removesuffix(".")
        cmd.short_help = f"{sentence}."
        super().add_command(cmd, name)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; a `DiptychError` is printed as one line."""
        try:
            _warn_if_slow(ctx)
            with orderly_termination(), _plain_mistakes():
                # Languages that a command loads are forgotten when it ends.
                return copy_context().run(super().invoke, ctx)
        except (KeyboardInterrupt, click.Abort, RuntimeError) as error:
            if not _is_interrupt(error):
                raise
            _say_stopped(ctx, "Stopped immediately." if _IS_SAVED in ctx.meta else "Stopped.")
            raise SystemExit(STOPPED) from error
        except StoppedError as error:
            _say_stopped(ctx, error.for_command_line())
            raise SystemExit(STOPPED) from error
        except DiptychError as error:
            _say_error(error.for_command_line())
            raise SystemExit(MACHINE if is_of_machine(error) else MISTAKE) from error
        except Exception as error:
            is_of_system = isinstance(error, OSError) and not isinstance(error, BrokenPipeError)
            if is_of_system or is_system_fault(error):
                _say_error(_described(error))
                raise SystemExit(MACHINE if is_system_fault(error) else MISTAKE) from error
            raise


@contextmanager
def _plain_mistakes() -> Iterator[None]:
    """Remove control characters, which arguments may have, from the messages of click."""
    try:
        yield
    except click.UsageError as error:
        vars(error)["message"] = in_one_line(error.message)  # final, but each has its own
        raise


def _is_interrupt(error: BaseException) -> bool:
    """True if a command ends because of Ctrl-C; a nested command aborts."""
    # Python 3.11 replaces an exception in `__set_name__`, which runs while modules are imported.
    is_replaced = isinstance(error.__cause__, KeyboardInterrupt)
    return is_replaced or isinstance(error, KeyboardInterrupt | click.Abort)


def environment() -> Environment:
    """The environment of the running command; tests set it with `main(obj=Environment(...))`."""
    context = click.get_current_context(silent=True)
    given = None if context is None else context.find_object(Environment)
    return Environment() if given is None else given


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Options of commands that print lines while they work: detect and discover."""

    as_json: bool = as_lines()
    quiet: bool = option("Do not show progress or a summary.", default=False)


@dataclass(frozen=True, kw_only=True)
class UrlModelOptions:
    """Options of the commands that apply a URL model to lines: url-lang and url-pair."""

    file: Path | None = argument(default=None)
    model: str = option(
        "Your own model, made with diptych train or in Transformers format.",
        default="",
        metavar="FOLDER",
    )
    as_json: bool = as_lines()


@contextmanager
def displayed(monitor: Shown, *, quiet: bool, figures: Figures | None = None) -> Iterator[Shown]:
    """Show the progress of a run; Ctrl-C stops the run, a second Ctrl-C stops it immediately."""
    with ExitStack() as stack:
        if stack.enter_context(on_signal(signal.SIGINT, monitor.interrupt)):
            monitor.on_tick = stack.enter_context(BriefCollections()).collect_if_due
        if not quiet:
            _show(monitor, figures, stack)
        yield monitor


def _show(monitor: Monitor, figures: Figures | None, stack: ExitStack) -> None:
    """Show progress on standard error until the stack is closed."""
    from rich.console import Console

    from diptych.reports.display import OutputAbove, mining_figures, progress_display

    console = Console(stderr=True)
    stack.enter_context(progress_display(monitor, console, figures or mining_figures))
    if console.is_interactive and sys.stdout.isatty():
        # The display has replaced standard output by a stream that wraps lines.
        stack.enter_context(redirect_stdout(OutputAbove(console)))


def summary_console(*, stderr: bool) -> Console:
    """A console for plain text on standard output, or on standard error if `stderr` is True."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, markup=False)


def mark_saved() -> None:
    """Record that the running command saves its results in a run folder and can be continued."""
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta[_IS_SAVED] = True


def _warn_if_slow(ctx: click.Context) -> None:
    from diptych.kernels import slow_kernels

    if ctx.parent is None and (warning := slow_kernels()):
        click.echo(f"warning: {warning}", err=True)


def _described(error: Exception) -> str:
    """The message for an error of the system that nothing has described yet.

    >>> _described(OSError(28, "No space left on device", "a.tsv"))
    'a.tsv: No space left on device; free some disk space, then run the same command again'
    >>> _described(OSError(36, "File name too long", "a"))
    'a: File name too long'
    """
    name = getattr(error, "filename", None)
    said = f"{in_one_line(name)}: {reason_of(error)}" if name else reason_of(error)
    if not is_system_fault(error):
        return said
    advice = "free some memory, then " if isinstance(error, MemoryError) else ""
    return f"{said}; {machine_advice(error) or f'{advice}run the same command again'}"


def _say_error(message: str) -> None:
    """Print an error as one line; standard error may be on the disk that is full."""
    with suppress(OSError):  # a path or an argument in the message may have control characters
        click.echo(f"error: {in_one_line(message)}", err=True)


def _say_stopped(ctx: click.Context, how: str) -> None:
    """Print `how` a command was stopped and, if its results are saved, how to continue it.

    On a terminal, long lines are wrapped at spaces.
    """
    with on_signal(signal.SIGINT, lambda: None):  # some users press Ctrl-C repeatedly
        console = summary_console(stderr=True)
        line = f"{how} {_CONTINUE}" if _IS_SAVED in ctx.meta else how
        console.print(line, soft_wrap=not console.is_terminal)
