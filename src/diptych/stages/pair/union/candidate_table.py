"""A table of candidate pairs in two languages, each with a row of features and a probability.

Features are the proposals of pairers that use links and URLs, the content similarity, the
probability from the URL pair model, and the lead over rivals.  Once other pages are paired, there
are two more: votes by paired pages that link to the candidates, and common counterparts in third
languages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diptych.stages.pair.shared.memory import Measures
from diptych.stages.pair.shared.similarity import Pairs, SideBySide
from diptych.stages.pair.union.model import PagePairModel
from diptych.types import Evidence, PagePair, Url

Proposals = Mapping[tuple[Url, Url], Mapping[str, float]]
"""(left page, right page) -> name of the evidence -> its score"""

DECLARED = ("hreflang", "switcher")
"""evidence that the site itself declares; all other names are evidence from URLs"""
MEASURED = ("shared", "amount", "translated", "tags", "sizes", "text", "copied", "title")
COMPARED = ("shared", "translated", "tags", "title")
FEATURES = (
    "declared", "reciprocal", "url", "url_model", *MEASURED, "knows_words", "lead",
    "translated_lead", "neighbours", "siblings", *(f"usual_{name}" for name in COMPARED),
)  # fmt: skip
"""names of the columns of a table"""
_EXPLAINED = ("url_model", *MEASURED, "neighbours", "siblings")  # besides proposals of pairers
_MIN_SURE_PAIRS = 10  # minimum sure pairs of a site to compare others with them
_MIN_RECIPROCAL = 0.93  # minimum score of a declaration by both pages; one page cannot reach it


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Candidate pairs in two languages, each with a row of features and a probability."""

    sides: SideBySide
    pairs: Pairs
    proposals: Proposals
    measures: Measures
    """measures of content and URLs, for each candidate"""
    rows: NDArray[np.float32]
    scores: NDArray[np.float64]

    def urls(self) -> list[tuple[Url, Url]]:
        """The two URLs of each candidate."""
        return self.sides.urls(self.pairs)

    def page_pair(self, place: int) -> PagePair:
        """Convert the candidate at index `place` to a page pair with all its evidence."""
        left = self.sides.left.urls[self.pairs.left[place]]
        right = self.sides.right.urls[self.pairs.right[place]]
        proposals = self.proposals.get((left, right), {})
        row = dict(zip(FEATURES, self.rows[place].tolist(), strict=True))
        names = sorted(proposals) or [
            "neighbours" if row["neighbours"] > row["shared"] else "content"
        ]
        scores = [Evidence(name, proposals[name]) for name in sorted(proposals)]
        scores += [Evidence(name, row[name]) for name in _EXPLAINED]
        langs = self.sides.left.lang, self.sides.right.lang
        return PagePair(
            left, right, *langs, float(self.scores[place]), "+".join(names), tuple(scores)
        )


def score_candidates(
    sides: SideBySide,
    pairs: Pairs,
    proposals: Proposals,
    measures: Measures,
    model: PagePairModel,
    *,
    neighbours: Mapping[tuple[Url, Url], float] | None = None,
    siblings: Mapping[tuple[Url, Url], float] | None = None,
    sure: Mapping[str, NDArray[np.float32]] | None = None,
) -> Table:
    """Compute the features and probabilities of candidates.

    `neighbours` and `siblings` contain evidence from sure pairs.  `sure` contains the sorted values
    of each measure among sure pairs.
    """
    urls = sides.urls(pairs)
    columns: Measures = {
        **measures,
        **_proposed(urls, proposals),
        "knows_words": np.full(len(pairs), float(sides.translated is not None), np.float32),
        "lead": leads_over_rivals(sides, pairs, measures["shared"]),
        "translated_lead": leads_over_rivals(sides, pairs, measures["translated"]),
        "neighbours": _looked_up(urls, neighbours),
        "siblings": _looked_up(urls, siblings),
        **{
            f"usual_{name}": _share_below(measures[name], (sure or {}).get(name))
            for name in COMPARED
        },
    }
    rows = np.stack([columns[name] for name in FEATURES], axis=1).astype(np.float32)
    scores = model.probabilities(rows) if len(rows) else np.zeros(0)
    return Table(sides, pairs, proposals, measures, rows, scores)


def sure_measures(table: Table, sure: float) -> Measures:
    """The sorted values of each measure among candidates with a probability of at least `sure`."""
    rows = table.rows[table.scores >= sure]
    return {name: np.sort(rows[:, FEATURES.index(name)]) for name in COMPARED}


def _share_below(
    values: NDArray[np.float32], sure: NDArray[np.float32] | None
) -> NDArray[np.float32]:
    """For each value, the share of numbers in `sure` that do not exceed it.

    The share is 0.5 if `sure` contains too few numbers.
    """
    if sure is None or len(sure) < _MIN_SURE_PAIRS:
        return np.full(len(values), 0.5, np.float32)
    return (np.searchsorted(sure, values, side="right") / len(sure)).astype(np.float32)


def _proposed(urls: list[tuple[Url, Url]], proposals: Proposals) -> Measures:
    """Compute the features `declared`, `reciprocal` and `url` of each candidate from proposals."""
    declared, reciprocal, url = np.zeros((3, len(urls)), np.float32)
    for place, pair in enumerate(urls):
        if pair not in proposals:
            continue
        for name, score in proposals[pair].items():
            if name in DECLARED:
                declared[place] = max(declared[place], score)
                reciprocal[place] = max(reciprocal[place], float(score >= _MIN_RECIPROCAL))
            else:
                url[place] = max(url[place], score)
    return {"declared": declared, "reciprocal": reciprocal, "url": url}


def _looked_up(
    urls: list[tuple[Url, Url]], known: Mapping[tuple[Url, Url], float] | None
) -> NDArray[np.float32]:
    if not known:
        return np.zeros(len(urls), np.float32)
    return np.array([known.get(pair, 0.0) for pair in urls], np.float32)


def leads_over_rivals(
    sides: SideBySide, pairs: Pairs, scores: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The difference between each candidate's score and that of its best rival for either page."""
    found = scores.copy()
    for places, count in ((pairs.left, len(sides.left)), (pairs.right, len(sides.right))):
        best, second = _two_best(places, scores, count)
        rival = np.where(scores >= best[places], second[places], best[places])
        found = np.minimum(found, scores - rival)
    return found


def _two_best(
    places: NDArray[np.int32], scores: NDArray[np.float32], count: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """For each page, the scores of its best and second-best candidates; equal if they tie.

    `places` contains the page index of each candidate, and `count` is the number of pages.
    """
    best, second = np.zeros((2, count), np.float32)
    order = np.lexsort((-scores, places))
    sorted_places, sorted_scores = places[order], scores[order]
    first = np.flatnonzero(np.diff(sorted_places, prepend=-1))
    best[sorted_places[first]] = sorted_scores[first]
    after = first + 1
    after = after[after < len(order)]
    after = after[sorted_places[after] == sorted_places[after - 1]]
    second[sorted_places[after]] = sorted_scores[after]
    return best, second
