"""Diptych mines parallel text from the web.

`diptych.mine` mines a site, and `diptych.open` opens a run; `docs/api.md` describes all functions.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from diptych._version import VERSION as __version__
from diptych.errors import (
    ArchiveError,
    ConfigError,
    CorpusError,
    DiptychError,
    MachineError,
    SourceError,
    StoppedError,
    StoreError,
)

if TYPE_CHECKING:
    from diptych.api.align import align
    from diptych.api.detect import SiteVerdict, detect
    from diptych.api.discover import discover
    from diptych.api.documents import AlignedText, Document, PageText, TextBlock
    from diptych.api.export import Exported
    from diptych.api.job import Job
    from diptych.api.job import open_run as open
    from diptych.api.mining import mine
    from diptych.api.run import PageInfo, Pair, Run, Segment
    from diptych.api.urls import url_languages, url_pairs
    from diptych.corpus.terms import Term
    from diptych.reports.progress import Progress
    from diptych.reports.summary import Step, Summary
    from diptych.types import Bead, LangScore, SegmentPair

__all__ = [
    "AlignedText",
    "ArchiveError",
    "Bead",
    "ConfigError",
    "CorpusError",
    "DiptychError",
    "Document",
    "Exported",
    "Job",
    "LangScore",
    "MachineError",
    "PageInfo",
    "PageText",
    "Pair",
    "Progress",
    "Run",
    "Segment",
    "SegmentPair",
    "SiteVerdict",
    "SourceError",
    "Step",
    "StoppedError",
    "StoreError",
    "Summary",
    "Term",
    "TextBlock",
    "__version__",
    "align",
    "detect",
    "discover",
    "mine",
    "open",
    "url_languages",
    "url_pairs",
]

_PLACES = {
    "AlignedText": "api.documents",
    "Bead": "types",
    "Document": "api.documents",
    "Exported": "api.export",
    "Job": "api.job",
    "LangScore": "types",
    "PageInfo": "api.run",
    "PageText": "api.documents",
    "Pair": "api.run",
    "Progress": "reports.progress",
    "Run": "api.run",
    "Segment": "api.run",
    "SegmentPair": "types",
    "SiteVerdict": "api.detect",
    "Step": "reports.summary",
    "Summary": "reports.summary",
    "Term": "corpus.terms",
    "TextBlock": "api.documents",
    "align": "api.align",
    "detect": "api.detect",
    "discover": "api.discover",
    "mine": "api.mining",
    "open": "api.job",
    "url_languages": "api.urls",
    "url_pairs": "api.urls",
}
"""names that are imported on first use, and the modules that define them"""


if not TYPE_CHECKING:  # type checkers know the names from above, and no others

    def __getattr__(name: str) -> Any:
        if name not in _PLACES:
            raise AttributeError(f"module 'diptych' has no attribute {name!r}")
        found = import_module(f"diptych.{_PLACES[name]}")
        value = getattr(found, "open_run" if name == "open" else name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
