"""Merge several link sources into one, and count their failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from diptych.errors import in_one_line
from diptych.protocols import LinkSource
from diptych.types import Failure, Link, Url

MAX_FAULTS = 20  # different faults that are counted separately
OTHER_FAULTS = "other failures"
_LINE = 300  # characters of a fault's message


@dataclass(frozen=True, slots=True)
class MergedSources:
    """Several link sources combined into one `LinkSource`.

    Results are interleaved, so that the best results of each source come first.  If several sources
    return the same page, the link with the longest text is kept.
    """

    sources: tuple[LinkSource, ...]
    _faults: dict[str, int] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def faults(self) -> Mapping[str, int]:
        """Map the message of each failure of a source to the number of times it occurred."""
        return dict(self._faults)

    def back_links(self, url: Url, limit: int) -> Sequence[Link] | Failure:
        """The back links from all sources; a `Failure` only if all sources have failed."""
        answers = [source.back_links(url, limit) for source in self.sources]
        self._note(answers)
        return _merged(answers, limit) or []

    def out_links(self, url: Url, limit: int) -> Sequence[Link] | Failure | None:
        """The out links from all sources; None if no source knows the page.

        The result is a `Failure` only if all sources have failed.
        """
        answers = [source.out_links(url, limit) for source in self.sources]
        self._note(answers)
        return _merged(answers, limit)

    def _note(self, answers: Sequence[Sequence[Link] | Failure | None]) -> None:
        for answer in answers:
            if isinstance(answer, Failure):
                fault = in_one_line(answer.detail or answer.reason)[:_LINE]
                # One entry is reserved for all other faults.
                if fault not in self._faults and len(self._faults) >= MAX_FAULTS - 1:
                    fault = OTHER_FAULTS
                self._faults[fault] = self._faults.get(fault, 0) + 1


def _merged(
    answers: Sequence[Sequence[Link] | Failure | None], limit: int
) -> Sequence[Link] | Failure | None:
    known = [answer for answer in answers if answer is not None and not isinstance(answer, Failure)]
    failures = [answer for answer in answers if isinstance(answer, Failure)]
    if not known:
        # A page unknown to one source can still be fetched, even if the others failed.
        return failures[0] if failures and len(failures) == len(answers) else None
    found: dict[Url, Link] = {}
    for row in zip_longest(*known):
        for link in row:
            if link is not None:
                found[link.url] = max(found.get(link.url, link), link, key=_text_length)
    return list(found.values())[: max(limit, 0)]


def _text_length(link: Link) -> int:
    return len(link.anchor) + len(link.around)
