"""Recipes: TOML files that name a strategy for each stage."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from diptych.errors import ConfigError
from diptych.files import read_file, reading
from diptych.registry import DISCOVERY_STAGES, RECIPE_STAGES

DEFAULT = "hybrid"
"""the default recipe for mining"""
DISCOVERY = "backforth"
"""the default recipe for discovering sites"""
_MAX_BYTES = 1_000_000  # of a recipe file; the shipped ones have a few hundred bytes


def names() -> list[str]:
    """The names of the shipped recipes for mining.

    >>> DEFAULT in names()
    True
    """
    folder = resources.files(__name__)
    found = (entry.name[:-5] for entry in folder.iterdir() if entry.name.endswith(".toml"))
    return sorted(name for name in found if name != DISCOVERY)


def read(name: str) -> dict[str, Any]:
    """Read a shipped recipe by name, or a user's file if the name ends in .toml."""
    if name.endswith(".toml"):
        with reading(name, "valid recipe", "see docs/extending.md"):
            return tomllib.loads(read_file(Path(name), _MAX_BYTES).decode("utf-8"))
    if name in (*names(), DISCOVERY):
        file = resources.files(__name__).joinpath(f"{name}.toml")
        return tomllib.loads(file.read_text(encoding="utf-8"))
    raise ConfigError(
        f"unknown recipe '{name}'; available: {', '.join(names())},"
        " or specify a file ending in .toml"
    )


def load(name: str, overrides: Mapping[str, str]) -> dict[str, Any]:
    """Load a recipe, take missing stages from the default recipe, and apply the overrides.

    >>> load("bfs", {"pair": "langstrip"})["pair"]
    {'use': 'langstrip'}
    """
    recipe = _complete(name, DEFAULT, RECIPE_STAGES)
    for stage, strategy in overrides.items():
        if recipe[stage].get("use") != strategy:
            recipe[stage] = _own(strategy, stage)
    return recipe


def load_discovery(name: str, overrides: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Load a recipe for discovering sites, complete it from the default, and apply overrides.

    >>> load_discovery("backforth", {"discover": {"use": "fc"}})["discover"]
    {'use': 'fc'}
    """
    return {**_complete(name, DISCOVERY, DISCOVERY_STAGES), **overrides}


def _complete(name: str, default: str, stages: Sequence[str]) -> dict[str, Any]:
    """Read a recipe, and take missing stages from the default recipe."""
    given = read(name)
    unknown = set(given) - set(stages) - {"about"}
    if unknown:
        raise ConfigError(
            f"recipe {name} has an unknown stage '{min(unknown)}'; available: {', '.join(stages)}"
        )
    for stage, settings in given.items():
        if stage != "about" and not isinstance(settings, Mapping):
            raise ConfigError(
                f'recipe {name}: {stage} must be a table ([{stage}]) with the line: use = "NAME"'
            )
    recipe = {**read(default), **given}
    recipe.pop("about", None)
    return recipe


def _own(strategy: str, stage: str) -> dict[str, Any]:
    """The table of a strategy for a stage, from the recipe with the strategy's name.

    If there is no such table, the result contains only `use`, so that all parameters have their
    defaults.

    >>> _own("pplocator", "crawl")["pair"], _own("keys", "pair")
    ({'use': 'pplocator'}, {'use': 'keys'})
    """
    own = read(strategy).get(stage, {}) if strategy in names() else {}
    return own if own.get("use") == strategy else {"use": strategy}
