"""Commands whose options are the fields of a dataclass: each is declared once, with its default."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import click

from diptych.text.near_misses import closest_names

REQUIRED: Any = dataclasses.MISSING
"""the default of an option that must be given"""
Asked = TypeVar("Asked")


class _Command(click.Command):
    """A command that suggests the most similar options for one that it does not have."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; options that are none are answered with those that are like them."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            known = (name for each in self.get_params(ctx) for name in each.opts)
            like = " or ".join(closest_names(error.option_name, known))
            hint = f" Did you mean {like}?" if like else ""
            raise click.UsageError(f"No such option {error.option_name}.{hint}", ctx) from error


def option(help: str, *names: str, default: Any = None, **settings: Any) -> Any:
    """A field that is an option, named after the field unless `names` says otherwise.

    `settings` are those of `click.Option`; type, multiple and is_flag follow from the field's type.
    """
    return dataclasses.field(
        default=default, metadata={"help": help, "names": names, "settings": settings}
    )


def count_option(help: str, default: int | None = None) -> Any:
    """An option that is a number of things, at least one."""
    return option(help, default=default, type=click.IntRange(1), metavar="N")


def amount_option(help: str, metavar: str) -> Any:
    """An option that is a number greater than zero."""
    return option(help, type=click.FloatRange(0, min_open=True), metavar=metavar)


def argument(metavar: str = "", *, default: Any = REQUIRED, choices: Sequence[str] = ()) -> Any:
    """A field that is an argument; many of them if the field is a tuple."""
    return dataclasses.field(default=default, metadata={"metavar": metavar, "choices": choices})


def command(
    options: type[Asked], name: str | None = None, group: click.Group | None = None
) -> Callable[[Callable[[Asked], int]], click.Command]:
    """Make a command of a function: it is given all that the user asked as one value.

    The function returns the exit code, and its docstring is the help of the command.
    """

    def made(work: Callable[[Asked], int]) -> click.Command:
        def run(**given: Any) -> None:
            raise SystemExit(work(options(**given)))

        help = inspect.cleandoc(work.__doc__ or "")
        parameters = list(_parameters(options))
        found = _Command(name or work.__name__, callback=run, params=parameters, help=help)
        if group is not None:
            group.add_command(found)
        return found

    return made


def _parameters(options: type[Any]) -> Iterator[click.Parameter]:
    """The parameters of a command: required ones, its own, those it shares with others."""
    hints = get_type_hints(options)
    fields = {field.name: field for field in dataclasses.fields(options)}
    names = [name for each in options.__mro__ for name in vars(each).get("__annotations__", {})]
    for name in sorted(dict.fromkeys(names), key=lambda name: fields[name].default is not REQUIRED):
        make = _option if "help" in fields[name].metadata else _argument
        yield make(fields[name], hints[name])


def _argument(field: dataclasses.Field[Any], hint: Any) -> click.Argument:
    kind, is_many = _kind(hint)
    choices = field.metadata["choices"]
    return click.Argument(
        [field.name], type=click.Choice(choices) if choices else kind, nargs=-1 if is_many else 1,
        required=field.default is REQUIRED, metavar=field.metadata["metavar"] or None,
    )  # fmt: skip


def _option(field: dataclasses.Field[Any], hint: Any) -> click.Option:
    kind, is_many = _kind(hint)
    is_required = field.default is REQUIRED
    names = field.metadata["names"] or [f"--{field.name.replace('_', '-')}"]
    is_shown = not is_required and field.default not in (None, "", (), False)
    kinds = {} if kind is bool else {"type": kind}
    given = {} if is_required else {"default": field.default}  # click takes None for a value
    settings = {"show_default": is_shown, **kinds, **given, **field.metadata["settings"]}
    return click.Option(
        [*names, field.name], required=is_required, multiple=is_many, is_flag=kind is bool,
        help=field.metadata["help"], **settings,
    )  # fmt: skip


def _kind(hint: Any) -> tuple[Any, bool]:
    """The type of one value of a field, and whether it takes many.

    >>> _kind(tuple[int, ...]), _kind(str | None)
    ((<class 'int'>, True), (<class 'str'>, False))
    """
    plain = next(each for each in (*get_args(hint), hint) if each is not NoneType)
    kind = click.Path(path_type=Path) if plain is Path else plain
    return kind, get_origin(hint) is tuple
