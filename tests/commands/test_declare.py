from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from support.commands import run

from diptych.commands import main


def commands(group: click.Group, *names: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, found in group.commands.items():
        if isinstance(found, click.Group):
            yield from commands(found, *names, name)
        else:
            yield (*names, name), found


COMMANDS = list(commands(main))
REQUIRED = [
    (names, command, parameter)
    for names, command in COMMANDS
    for parameter in command.params
    if parameter.required
]


def value(parameter: click.Parameter) -> str:
    if isinstance(parameter.type, click.Choice):
        return str(parameter.type.choices[0])
    return "en,fr" if parameter.name == "langs" else "x"


@pytest.mark.parametrize(
    ("names", "command", "missing"),
    REQUIRED,
    ids=[" ".join([*names, missing.name or ""]) for names, _, missing in REQUIRED],
)
def test_what_is_required_and_missing_is_named(
    names: tuple[str, ...], command: click.Command, missing: click.Parameter
) -> None:
    is_option = isinstance(missing, click.Option)
    arguments: list[str] = []
    for parameter in command.params:
        if not parameter.required or parameter is missing:
            continue
        if isinstance(parameter, click.Option):
            arguments += [parameter.opts[0], value(parameter)]
        elif is_option:  # without one of them, the others would take its place
            arguments += [value(parameter)]
    result = run(*names, *arguments)
    assert result.exit_code == 2
    assert "Missing " in result.stderr
    assert (missing.opts[0] if is_option else "argument") in result.stderr


def test_several_commands_need_something() -> None:
    assert len({names for names, _, _ in REQUIRED}) > 10


@pytest.mark.parametrize(
    ("names", "command"), COMMANDS, ids=[" ".join(names) for names, _ in COMMANDS]
)
def test_required_options_come_first(names: tuple[str, ...], command: click.Command) -> None:
    needed = [each.required for each in command.params if isinstance(each, click.Option)]
    assert needed[: sum(needed)] == [True] * sum(needed), names
