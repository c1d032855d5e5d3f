"""Options of the commands that test sites: detect, discover."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from diptych.commands.options import LANGID, Command, WebOptions

__all__ = ["DetectorOptions", "detector_options"]


@dataclass(frozen=True, kw_only=True)
class DetectorOptions(WebOptions):
    """How the user wants sites to be tested."""

    langs: str
    taught: tuple[Path, ...] = ()
    detect: str = ""
    threshold: float | None = None
    out: Path | None = None

    def detector(self, settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The detector as a recipe has it."""
        found = dict(settings or {"use": "predictor"})
        if self.detect and self.detect != found["use"]:
            found = {"use": self.detect}
        if self.threshold is not None:
            found["threshold"] = self.threshold
        return found


def detector_options(command: Command) -> Command:
    """How sites are tested."""
    command = LANGID(command)
    command = click.option(
        "--threshold", type=click.FloatRange(0, 1), metavar="P",
        help="Follow links that are at least so likely to lead to the other language.",
    )(command)  # fmt: skip
    return click.option(
        "--method", "detect", default="", metavar="NAME",
        help="Strategy for testing a site: predictor, triggers or bits.",
    )(command)  # fmt: skip
