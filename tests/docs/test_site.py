"""The documentation as a website: what can be checked without building it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SETTINGS = (ROOT / "mkdocs.yml").read_text("utf-8")
NAV = re.findall(r": ([\w./-]+\.md)$", SETTINGS.partition("\nnav:\n")[2], re.MULTILINE)
BESIDE = {"contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}


def test_every_page_of_docs_is_in_the_navigation_once() -> None:
    pages = [path.name for path in sorted((ROOT / "docs").glob("*.md"))]
    assert sorted(name for name in NAV if "/" not in name) == sorted([*pages, *BESIDE])


@pytest.mark.parametrize("name", NAV)
def test_navigation_leads_to_pages_that_there_are(name: str) -> None:
    assert (ROOT / BESIDE.get(name, f"docs/{name}")).is_file()


def test_site_asks_no_other_machine_and_fails_on_broken_links() -> None:
    assert re.search(r"^  font: false$", SETTINGS, re.MULTILINE)
    assert "repo_url" not in re.sub("#.*", "", SETTINGS), "the theme would ask that server"
    assert re.search(r"^strict: true$", SETTINGS, re.MULTILINE)


def test_site_is_no_part_of_the_repository() -> None:
    assert "/site/\n" in (ROOT / ".gitignore").read_text("utf-8")
