"""The page on the Python API."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from api_page import _entry, api

import diptych

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class Sample:
    """A run, as the API gives it.

    >>> 1 + 1
    2
    """

    pages: int
    """pages read"""
    _hidden: int = 0

    @property
    def pairs(self) -> int:
        """Pairs of pages."""
        return self.pages // 2

    def export(self, path: str, *, limit: int | None = None) -> None:
        """Write it to a file."""


def test_every_public_name_is_on_the_page() -> None:
    page = (ROOT / "docs/api.md").read_text("utf-8")
    for name in diptych.__all__:
        assert name.startswith("_") or f"\n## diptych.{name}\n" in page
    assert api() in page, "run: make docs"


def test_class_is_shown_with_its_fields_properties_and_methods() -> None:
    page = "\n\n".join(_entry("Sample", Sample))
    assert "A run, as the API gives it." in page
    assert "```pycon\n>>> 1 + 1\n2\n```" in page
    assert "| `pages` | `int` | pages read |" in page
    assert "### Sample.pairs\n\nPairs of pages." in page
    assert "```python\nexport(path: str, *, limit: int | None = None) -> None\n```" in page
    assert "_hidden" not in page


def test_public_name_without_docstring_is_an_error() -> None:
    with pytest.raises(SystemExit, match="no docstring"):
        list(_entry("silent", lambda: None))
