from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from support.commands import run

from diptych.commands import main
from diptych.commands.mine import mine


def commands(group: click.Group, *names: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name in group.list_commands(click.Context(group)):
        found = group.get_command(click.Context(group), name)
        assert found is not None
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
def test_missing_required_options_are_named(
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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mine", "--lang", "en,fr"], "No such option --lang. Did you mean --langs or --langid?"),
        (["mine", "--maxpages", "3"], "No such option --maxpages. Did you mean --max-pages?"),
        (["export", "--fromat", "tsv"], "No such option --fromat. Did you mean --format?"),
        (["mine", "--qqqqq"], "No such option --qqqqq."),
    ],
)
def test_the_most_similar_options_are_suggested(arguments: list[str], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == f"Error: {said}"


@pytest.mark.parametrize("columns", [80, 110, 200])
def test_help_is_whole_and_as_wide_as_the_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    top = main.make_context("diptych", ["mine"])
    shown = main.get_help(top)
    assert "..." not in shown.partition("Commands:")[2]
    assert (
        "Estimate the probability that the pages at two URLs are translations of each other."
        in (" ".join(shown.split()))
    )
    of_mine = mine.get_help(click.Context(mine, parent=top, info_name="mine"))
    widest = max(len(line) for line in of_mine.splitlines())
    assert min(columns, 110) - 12 < widest <= min(columns, 110)


def test_enough_commands_have_required_options() -> None:
    assert len({names for names, _, _ in REQUIRED}) > 10


@pytest.mark.parametrize(
    ("names", "command"), COMMANDS, ids=[" ".join(names) for names, _ in COMMANDS]
)
def test_required_options_come_first(names: tuple[str, ...], command: click.Command) -> None:
    needed = [each.required for each in command.params if isinstance(each, click.Option)]
    assert needed[: sum(needed)] == [True] * sum(needed), names
