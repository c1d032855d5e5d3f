"""The lock files name one version of every library, with hashes, as pyproject.toml allows."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
GROUPS: dict[str, list[Any]] = PROJECT["dependency-groups"]
FILES = {"requirements.lock": ("build",), "requirements-dev.lock": ("build", "dev")}
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def needed(groups: tuple[str, ...]) -> Iterator[Requirement]:
    yield from map(Requirement, PROJECT["project"]["dependencies"])
    yield from (Requirement(each) for group in groups for each in GROUPS[group])


def entries(name: str) -> list[str]:
    """The requirements in a lock file, each with its hashes."""
    text = (ROOT / name).read_text("utf-8").replace("\\\n", " ")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


@pytest.mark.parametrize("name", FILES)
def test_each_entry_has_one_version_and_hashes(name: str) -> None:
    for entry in entries(name):
        requirement = Requirement(entry.partition(" --hash")[0])
        assert [each.operator for each in requirement.specifier] == ["=="], entry[:80]
        assert requirement.url is None
        assert HASH.search(entry), entry[:80]


@pytest.mark.parametrize(("name", "groups"), FILES.items())
def test_each_library_is_locked_to_a_version_that_is_allowed(
    name: str, groups: tuple[str, ...]
) -> None:
    found = [Requirement(entry.partition(" --hash")[0]) for entry in entries(name)]
    locked = {canonicalize_name(each.name): each for each in found}
    for wanted in needed(groups):
        entry = locked.get(canonicalize_name(wanted.name))
        assert entry is not None, f"{wanted} is not in {name}: run make lock"
        (version,) = (each.version for each in entry.specifier)
        assert wanted.specifier.contains(version), f"{entry} is not {wanted}: run make lock"


@pytest.mark.parametrize("name", FILES)
def test_a_lock_file_names_no_place(name: str) -> None:
    assert "://" not in (ROOT / name).read_text("utf-8")
