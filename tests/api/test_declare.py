from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from diptych.api.declare import (
    Values,
    amount_option,
    argument,
    count_option,
    option,
    require_valid,
)
from diptych.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Asked:
    name: str = argument()
    pages: int | None = count_option("Pages.")
    minutes: float | None = amount_option("Minutes.", "M")
    share: float = option("Share.", default=97.0, least=0, most=100)
    scope: str = option("Scope.", default="site", choices=("site", "host"))


VALID = Asked(name="a", pages=1, minutes=0.1, share=100, scope="host")


def test_valid_values_pass() -> None:
    require_valid(VALID)
    require_valid(Asked(name="a"))


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("pages", 0, "pages must be at least 1, not 0"),
        ("minutes", 0, "minutes must be greater than 0, not 0"),
        ("share", 100.5, "share must be at most 100, not 100.5"),
        ("share", float("nan"), "share must be a finite number, not nan"),
        ("minutes", float("inf"), "minutes must be a finite number, not inf"),
        ("share", True, "share must be a finite number, not True"),
        ("pages", 1.5, "pages must be a whole number, not 1.5"),
        ("pages", True, "pages must be a whole number, not True"),
        ("scope", 3, "scope must be a string, not 3"),
        ("scope", "all", "scope must be one of site, host, not 'all'"),
        ("pages", "many", "pages must be a whole number, not 'many'"),
    ],
)
def test_other_values_are_refused(name: str, value: Any, said: str) -> None:
    with pytest.raises(ConfigError) as raised:
        require_valid(replace(VALID, **{name: value}))
    assert str(raised.value) == said
    assert raised.value.for_command_line() == f"--{said}"


def test_bounds_are_within() -> None:
    assert not Values(least=0, most=1).problem(0)
    assert not Values(least=0, most=1).problem(1)
