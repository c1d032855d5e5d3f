"""Ranks pending URLs by value, and recomputes only the values that matter.

After each event, values are recomputed for the URLs affected by it, for some of the URLs evaluated
least recently, and for the best URLs.  Thus the value of the next URL to be fetched is always up to
date.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from itertools import islice

from diptych.stages.crawl.hybrid.known_urls import KnownUrl, State
from diptych.stages.crawl.hybrid.memory import MILLION, Memory
from diptych.stages.crawl.hybrid.translations import Translations
from diptych.stages.crawl.hybrid.value import rounded_value
from diptych.types import Link, Ranked

_REFRESHED = 100  # URLs re-evaluated with each page, least recently evaluated first
_MAX_REVALUED = 200  # maximum number of the best URLs re-evaluated with each event
_CONFIRMED = 3  # best URLs whose value must be confirmed: several may be fetched at once
_OVERFLOW_VALUE = 0.001
_NEGLIGIBLE = 0.0025  # in pairs: one pair in 400 downloads is not worth continuing for
_MAX_OUTDATED = 10_000  # heap entries beyond two per URL before the heap is rebuilt


class Ranking:
    """Ranks the pending URLs that a guide knows."""

    def __init__(self, memory: Memory, translations: Translations) -> None:
        self._memory = memory
        self._translations = translations
        self._values = memory.values
        self._heap: list[tuple[float, int, KnownUrl]] = []
        """ranked URLs, highest value first; some entries are outdated"""
        self._rebuild()

    def changed(self, *, is_news: bool = True) -> list[Ranked]:
        """Rank the URLs whose values changed.

        If `is_news` is set, some of the values computed least recently are recomputed as well.
        """
        memory, changed = self._memory, self._memory.matches.changed
        for known in list(islice(memory.to_refresh, _REFRESHED if is_news else 0)):
            del memory.to_refresh[known]
            memory.to_refresh[known] = None
            if known.edit_rules is not memory.edit_rules:
                self._translations.predict(known)
            memory.matches.request_verification(known)  # the one it waited for may be unlikely now
            changed[known] = None
        for pair in memory.matches.accept_trusted():
            self._translations.add_pair(pair)
        ranked = [Ranked(link, _OVERFLOW_VALUE) for link in memory.overflow]
        memory.overflow.clear()
        for known in changed:
            if known.state is State.PENDING:
                own, value = self._value(known)
                if value != known.value or not known.is_ranked:
                    ranked.append(self._rank(known, own, value))
        changed.clear()
        ranked.extend(self._best())
        if len(self._heap) > 2 * len(memory.to_refresh) + _MAX_OUTDATED:
            self._rebuild()
        return ranked

    def _best(self) -> Iterator[Ranked]:
        """Re-evaluate the best URLs until a few values are confirmed.

        Yield the URLs whose values changed.
        """
        confirmed: list[tuple[float, int, KnownUrl]] = []
        for entry in islice(self._up_to_date(), _MAX_REVALUED):
            known = entry[2]
            own, value = self._value(known)
            if value == known.value:
                confirmed.append(entry)
            else:
                yield self._rank(known, own, value)
            if len(confirmed) >= _CONFIRMED:
                break
        for entry in confirmed:
            heappush(self._heap, entry)
        self._values.best = max((known.own_value for _, _, known in confirmed), default=0.0)

    def _up_to_date(self) -> Iterator[tuple[float, int, KnownUrl]]:
        """Pop entries from the heap, best first, and skip outdated ones."""
        last: tuple[float, int, KnownUrl] | None = None
        while self._heap:
            entry = heappop(self._heap)
            known = entry[2]
            is_valid = known.state is State.PENDING and -entry[0] == known.value
            if is_valid and entry != last:  # an entry may occur twice
                last = entry
                yield entry

    def _value(self, known: KnownUrl) -> tuple[float, float]:
        """The value of a URL excluding its links, and the rounded value including its links."""
        own, links = self._values.value_and_links(known)
        return own, rounded_value(own + links)

    def _rank(self, known: KnownUrl, own: float, value: float) -> Ranked:
        self._memory.pending_value += _counted(own) - _counted(known.own_value)
        if not known.is_ranked and known.source is not None and known.found_by == "link":
            self._values.yields.add_link(known.source.url, known.source.lang, own)
        known.own_value, known.value, known.is_ranked = own, value, True
        heappush(self._heap, (-value, known.number, known))
        return Ranked(Link(known.url), value, lowers=True)

    def forget(self, known: KnownUrl) -> None:
        """Reset the value of a URL that is no longer pending, and subtract it from the total."""
        self._memory.pending_value -= _counted(known.own_value)
        known.value = known.own_value = 0.0

    def _rebuild(self) -> None:
        ranked = (known for known in self._memory.to_refresh if known.is_ranked)
        pending = (known for known in ranked if known.state is State.PENDING)
        self._heap = [(-known.value, known.number, known) for known in pending]
        heapify(self._heap)


def _counted(value: float) -> int:
    """Convert the value of a URL to millionths of a pair; 0 if the value is negligible.

    The result is an integer, so that the sum over all URLs does not depend on the order of
    addition.
    """
    return round(value * MILLION) if value >= _NEGLIGIBLE else 0
