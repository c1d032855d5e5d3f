"""Options for the detector of bilingual sites, which `detect` and `discover` use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diptych.api.declare import option
from diptych.api.languages import langid_option, langs_option
from diptych.api.web import WebOptions


@dataclass(frozen=True, kw_only=True)
class DetectorOptions(WebOptions):
    """Options for the detector of bilingual sites."""

    langs: str = langs_option()
    method: str = option(
        "Strategy for testing a site: predictor, triggers or bits.", default="", metavar="NAME"
    )
    threshold: float | None = option(
        "Minimum probability that a link leads to the other language;"
        " less likely links are not followed.",
        least=0, most=1, metavar="P",
    )  # fmt: skip
    langid: tuple[Path, ...] = langid_option()

    def detector(self, settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The recipe table for the detector; these options take precedence over `settings`."""
        found = dict(settings or {"use": "predictor"})
        if self.method and self.method != found["use"]:
            found = {"use": self.method}
        if self.threshold is not None:
            found["threshold"] = self.threshold
        return found
