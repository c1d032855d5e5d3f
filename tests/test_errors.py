from __future__ import annotations

import inspect

import pytest

from diptych import errors
from diptych.errors import DiptychError, in_one_line, option_name

CLASSES = [found for _, found in inspect.getmembers(errors, inspect.isclass)]


def drawn_tree() -> dict[str, str]:
    """Class -> its base, as drawn in the docstring: deeper lines belong to the one above."""
    assert errors.__doc__ is not None
    found: dict[str, str] = {}
    above: list[tuple[int, str]] = []
    for line in errors.__doc__.splitlines():
        word = line.replace("+--", "   ").split("  ")
        name = next((part.strip() for part in word if part.strip()), "")
        if not name.endswith("Error") or " " in name:
            continue
        depth = line.index(name)
        above = [(indent, other) for indent, other in above if indent < depth]
        found[name] = above[-1][1] if above else "Exception"
        above.append((depth, name))
    return found


def test_every_error_is_drawn_in_the_tree_where_it_stands() -> None:
    real = {cls.__name__: cls.__bases__[0].__name__ for cls in CLASSES}
    assert drawn_tree() == real


def test_there_is_one_root() -> None:
    assert all(issubclass(cls, DiptychError) for cls in CLASSES)
    assert [cls for cls in CLASSES if cls.__bases__ == (Exception,)] == [DiptychError]


def test_every_error_is_public_and_documented() -> None:
    assert set(errors.__all__) == {cls.__name__ for cls in CLASSES} | {
        "for_command_line", "for_python", "in_one_line", "is_of_machine", "is_system_fault",
        "machine_advice", "message_of", "option_name", "without_password",
    }  # fmt: skip
    assert all(cls.__doc__ and cls.__doc__ != cls.__bases__[0].__doc__ for cls in CLASSES)


@pytest.mark.parametrize("cls", CLASSES)
def test_message_is_all_that_is_said(cls: type[DiptychError]) -> None:
    assert str(cls("what is wrong; what to do")) == "what is wrong; what to do"


def test_option_is_named_as_its_user_types_it() -> None:
    error = DiptychError(f"raise {option_name('max_pages')} or {option_name('share')}")
    assert str(error) == "raise max_pages or share"
    assert error.for_command_line() == "raise --max-pages or --share"


def test_text_from_outside_cannot_look_like_an_option() -> None:
    error = DiptychError(in_one_line(option_name("max_pages")))
    assert error.for_command_line() == "max_pages"


def test_placeholder_is_nowhere_to_be_seen() -> None:
    error = DiptychError(f"set {option_name('max_pages')}")
    assert "\x0e" not in f"{error!r} {error.args} {error}"
    assert DiptychError(error.with_context("line 3")).for_command_line() == (
        "line 3: set --max-pages"
    )
