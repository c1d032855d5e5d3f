"""Declaration of options: each option is declared once, for both Python and the command line.

The options of a function are the fields of a frozen dataclass.  A field declares its default, its
help text and its allowed values; `require_valid` checks values, and the command line shows the
declarations as help.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any, NamedTuple

from diptych.errors import ConfigError, option_name

REQUIRED: Any = dataclasses.MISSING
"""the default of a required option"""


class Values(NamedTuple):
    """The allowed values of an option."""

    least: float | None = None
    """smallest allowed number"""
    above: float | None = None
    """exclusive lower bound"""
    most: float | None = None
    """largest allowed number"""
    choices: Sequence[str] = ()
    """allowed strings; empty if any string is allowed"""

    def problem(self, value: Any) -> str:
        """The reason why a value is not allowed; empty if it is allowed.

        >>> Values(least=1).problem(0), Values(choices=("a", "b")).problem("c")
        ('must be at least 1, not 0', "must be one of a, b, not 'c'")
        """
        if self.choices and value not in self.choices:
            return f"must be one of {', '.join(self.choices)}, not {value!r}"
        # Negated comparisons: they also refuse NaN.
        if self.least is not None and not value >= self.least:
            return f"must be at least {self.least}, not {value}"
        if self.above is not None and not value > self.above:
            return f"must be greater than {self.above}, not {value}"
        if self.most is not None and not value <= self.most:
            return f"must be at most {self.most}, not {value}"
        return ""


class Declaration(NamedTuple):
    """The declaration of an option or argument, stored as the metadata of its field."""

    help: str
    """help text; arguments of the command line have none"""
    names: tuple[str, ...]
    """names on the command line, if they differ from the name of the field"""
    metavar: str
    values: Values
    is_argument: bool = False
    envvar: str | None = None
    """environment variable that the command line reads if the option is not given"""


def option(
    help: str, *names: str, default: Any = None, metavar: str = "", least: float | None = None,
    above: float | None = None, most: float | None = None, choices: Sequence[str] = (),
    envvar: str | None = None,
) -> Any:  # fmt: skip
    """Declare a field as an option; it is named after the field unless `names` is given."""
    values = Values(least, above, most, tuple(choices))
    found = Declaration(help, names, metavar, values, envvar=envvar)
    return dataclasses.field(default=default, metadata={"declared": found})


def count_option(help: str, default: int | None = None) -> Any:
    """Declare an option that is an integer of at least 1."""
    return option(help, default=default, least=1, metavar="N")


def amount_option(help: str, metavar: str) -> Any:
    """Declare an option that is a number greater than zero."""
    return option(help, above=0, metavar=metavar)


def argument(metavar: str = "", *, default: Any = REQUIRED, choices: Sequence[str] = ()) -> Any:
    """Declare a field as an argument of the command line; a tuple field takes several arguments."""
    found = Declaration("", (), metavar, Values(choices=tuple(choices)), is_argument=True)
    return dataclasses.field(default=default, metadata={"declared": found})


def declared(options: Any) -> Iterator[tuple[dataclasses.Field[Any], Declaration]]:
    """The fields of a dataclass of options, with their declarations."""
    for field in dataclasses.fields(options):
        yield field, field.metadata["declared"]


def require_valid(options: Any) -> None:
    """Raise `ConfigError` if the value of an option is not allowed."""
    for field, declaration in declared(options):
        value = getattr(options, field.name)
        if value is None or value is field.default:
            continue
        problem = _wrong_type(value, str(field.type)) or declaration.values.problem(value)
        if problem:
            raise ConfigError(f"{option_name(field.name)} {problem}")


def _wrong_type(value: Any, annotation: str) -> str:
    """The reason why the type of a value is wrong; empty if it is right.

    >>> _wrong_type(1.5, "int | None"), _wrong_type(float("inf"), "float"), _wrong_type(3, "float")
    ('must be a whole number, not 1.5', 'must be a finite number, not inf', '')
    """
    kind = annotation.split(" ")[0]
    if kind == "int" and (not isinstance(value, int) or isinstance(value, bool)):
        return f"must be a whole number, not {value!r}"
    if kind == "float":
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not isfinite(value):
            return f"must be a finite number, not {value!r}"
    if kind == "bool" and not isinstance(value, bool):
        return f"must be True or False, not {value!r}"
    if kind == "str" and not isinstance(value, str):
        return f"must be a string, not {value!r}"
    return ""
