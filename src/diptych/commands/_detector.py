"""Options of the commands that test sites: detect, discover."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from diptych.commands.declare import option
from diptych.commands.options import WebOptions, langid_option, langs_option


@dataclass(frozen=True, kw_only=True)
class DetectorOptions(WebOptions):
    """Options of the detector that tests sites."""

    langs: str = langs_option()
    detect: str = option(
        "Strategy for testing a site: predictor, triggers or bits.", "--method",
        default="", metavar="NAME",
    )  # fmt: skip
    threshold: float | None = option(
        "Follow links that are at least so likely to lead to the other language.",
        type=click.FloatRange(0, 1), metavar="P",
    )  # fmt: skip
    taught: tuple[Path, ...] = langid_option()

    def detector(self, settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The detector as a recipe has it."""
        found = dict(settings or {"use": "predictor"})
        if self.detect and self.detect != found["use"]:
            found = {"use": self.detect}
        if self.threshold is not None:
            found["threshold"] = self.threshold
        return found
