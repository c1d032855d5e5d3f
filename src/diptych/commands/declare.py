"""Commands whose options are the fields of a dataclass declared with `api.declare`."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import click

from diptych.api.declare import REQUIRED, Declaration, Values, declared
from diptych.text.near_misses import closest_names

Asked = TypeVar("Asked")


class _Command(click.Command):
    """A command that suggests similar options when it is given an unknown option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; the error for an unknown option names similar ones."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            known = (name for each in self.get_params(ctx) for name in each.opts)
            like = " or ".join(closest_names(error.option_name, known))
            hint = f" Did you mean {like}?" if like else ""
            raise click.UsageError(f"No such option {error.option_name}.{hint}", ctx) from error


def command(
    options: type[Asked], name: str | None = None, group: click.Group | None = None
) -> Callable[[Callable[[Asked], int]], click.Command]:
    """Make a command from a function that takes all options as one object.

    The function returns the exit code; its docstring is the help text of the command.
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
    """The parameters of a command: required ones first, those without a Python equivalent last."""
    hints = get_type_hints(options)
    fields = {field.name: (field, declaration) for field, declaration in declared(options)}
    order: dict[str, bool] = {}
    for each in options.__mro__:
        for name in vars(each).get("__annotations__", {}):
            order.setdefault(name, each.__module__.startswith("diptych.commands"))
    for name in sorted(
        order, key=lambda name: (fields[name][0].default is not REQUIRED, order[name])
    ):
        field, declaration = fields[name]
        make = _argument if declaration.is_argument else _option
        yield make(field, declaration, hints[name])


def _argument(field: dataclasses.Field[Any], declaration: Declaration, hint: Any) -> click.Argument:
    kind, is_many = _kind(hint)
    return click.Argument(
        [field.name], type=_type(kind, declaration.values), nargs=-1 if is_many else 1,
        required=field.default is REQUIRED, metavar=declaration.metavar or None,
    )  # fmt: skip


def _option(field: dataclasses.Field[Any], declaration: Declaration, hint: Any) -> click.Option:
    kind, is_many = _kind(hint)
    is_required = field.default is REQUIRED
    names = declaration.names or [f"--{field.name.replace('_', '-')}"]
    is_shown = not is_required and field.default not in (None, "", (), False)
    settings: dict[str, Any] = {} if kind is bool else {"type": _type(kind, declaration.values)}
    if not is_required:
        settings["default"] = field.default  # for click, None would be a value
    return click.Option(
        [*names, field.name], required=is_required, multiple=is_many, is_flag=kind is bool,
        help=declaration.help, show_default=is_shown, metavar=declaration.metavar or None,
        envvar=declaration.envvar, show_envvar=True,
        **settings,
    )  # fmt: skip


def _type(kind: Any, values: Values) -> Any:
    """The click type for the allowed values of an option."""
    if values.choices:
        return click.Choice(values.choices)
    least, above, most, _ = values
    if least is None and above is None and most is None:
        return kind
    if kind is int:
        low, high = (None if bound is None else int(bound) for bound in (least, most))
        return click.IntRange(low, high)
    return click.FloatRange(least if above is None else above, most, min_open=above is not None)


def _kind(hint: Any) -> tuple[Any, bool]:
    """The type of one value of a field, and True if the field takes several values.

    >>> _kind(tuple[int, ...]), _kind(str | None)
    ((<class 'int'>, True), (<class 'str'>, False))
    """
    plain = next(each for each in (*get_args(hint), hint) if each is not NoneType)
    kind = click.Path(path_type=Path) if plain is Path else plain
    return kind, get_origin(hint) is tuple
