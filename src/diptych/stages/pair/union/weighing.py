"""All evidence on the candidates of two languages, as one table with a probability for each.

What pairers propose by links and URLs, what the contents have in common, what the URLs say to a
model, how each candidate compares with its rivals; and, once others are paired, what pages that
link to both and pages in third languages say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diptych.stages.pair.shared.similarity import Measures, Pairs, Panel
from diptych.stages.pair.union.model import PagePairModel
from diptych.types import Evidence, PagePair, Url

__all__ = ["DECLARED", "FEATURES", "Said", "Table", "leads", "usual_measures", "weigh"]

Said = Mapping[tuple[Url, Url], Mapping[str, float]]
"""(left page, right page) -> what proposes them, and how strongly"""

DECLARED = ("hreflang", "switcher")
"""evidence that the site itself gives; other names are of URLs"""
MEASURED = ("shared", "amount", "translated", "tags", "sizes", "text", "copied", "title")
COMPARED = ("shared", "translated", "tags", "title")
FEATURES = (
    "declared", "reciprocal", "url", "url_model", *MEASURED, "knows_words", "lead",
    "translated_lead", "neighbours", "siblings", *(f"usual_{name}" for name in COMPARED),
)  # fmt: skip
"""the columns of a table"""
_SHOWN = ("url_model", *MEASURED, "neighbours", "siblings")  # beside what pairers propose
_ENOUGH = 10  # sure pairs that tell what is usual on a site
_RECIPROCAL = 0.93  # the score of what both pages declare: more than either could by itself


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Candidates of two languages in order, a row of features for each, and its probability."""

    panel: Panel
    pairs: Pairs
    said: Said
    measures: Measures
    """of content and of URLs, for each candidate"""
    rows: NDArray[np.float32]
    scores: NDArray[np.float64]

    def urls(self) -> list[tuple[Url, Url]]:
        """Both URLs of each candidate."""
        left, right = self.panel.left.urls, self.panel.right.urls
        return [(left[one], right[other]) for one, other in zip(*self.pairs, strict=True)]

    def page_pair(self, place: int) -> PagePair:
        """A candidate with all that is known of it."""
        left = self.panel.left.urls[self.pairs.left[place]]
        right = self.panel.right.urls[self.pairs.right[place]]
        said = self.said.get((left, right), {})
        row = dict(zip(FEATURES, self.rows[place].tolist(), strict=True))
        names = sorted(said) or ["neighbours" if row["neighbours"] > row["shared"] else "content"]
        scores = [Evidence(name, said[name]) for name in sorted(said)]
        scores += [Evidence(name, row[name]) for name in _SHOWN]
        langs = self.panel.left.lang, self.panel.right.lang
        return PagePair(
            left, right, *langs, float(self.scores[place]), "+".join(names), tuple(scores)
        )


def weigh(
    panel: Panel,
    pairs: Pairs,
    said: Said,
    measures: Measures,
    model: PagePairModel,
    *,
    neighbours: Mapping[tuple[Url, Url], float] | None = None,
    siblings: Mapping[tuple[Url, Url], float] | None = None,
    usual: Mapping[str, NDArray[np.float32]] | None = None,
) -> Table:
    """The table of some candidates; `usual` are the measures of pairs that are sure, in order."""
    urls = [
        (panel.left.urls[one], panel.right.urls[other]) for one, other in zip(*pairs, strict=True)
    ]
    columns: Measures = {
        **measures,
        **_proposed(urls, said),
        "knows_words": np.full(len(pairs), float(panel.translated is not None), np.float32),
        "lead": leads(panel, pairs, measures["shared"]),
        "translated_lead": leads(panel, pairs, measures["translated"]),
        "neighbours": _looked_up(urls, neighbours),
        "siblings": _looked_up(urls, siblings),
        **{f"usual_{name}": _rank(measures[name], (usual or {}).get(name)) for name in COMPARED},
    }
    rows = np.stack([columns[name] for name in FEATURES], axis=1).astype(np.float32)
    scores = model.probabilities(rows) if len(rows) else np.zeros(0)
    return Table(panel, pairs, said, measures, rows, scores)


def usual_measures(table: Table, sure: float) -> Measures:
    """What candidates that are sure have of each measure, in order."""
    rows = table.rows[table.scores >= sure]
    return {name: np.sort(rows[:, FEATURES.index(name)]) for name in COMPARED}


def _rank(values: NDArray[np.float32], usual: NDArray[np.float32] | None) -> NDArray[np.float32]:
    """The share of the site's sure pairs that have no more of it; half where they are too few."""
    if usual is None or len(usual) < _ENOUGH:
        return np.full(len(values), 0.5, np.float32)
    return (np.searchsorted(usual, values, side="right") / len(usual)).astype(np.float32)


def _proposed(urls: list[tuple[Url, Url]], said: Said) -> Measures:
    """What the site declares, and the strongest of what is said of the URLs."""
    declared, reciprocal, url = np.zeros((3, len(urls)), np.float32)
    for place, pair in enumerate(urls):
        for name, score in said.get(pair, {}).items():
            if name in DECLARED:
                declared[place] = max(declared[place], score)
                reciprocal[place] = max(reciprocal[place], float(score >= _RECIPROCAL))
            else:
                url[place] = max(url[place], score)
    return {"declared": declared, "reciprocal": reciprocal, "url": url}


def _looked_up(
    urls: list[tuple[Url, Url]], known: Mapping[tuple[Url, Url], float] | None
) -> NDArray[np.float32]:
    return np.array([(known or {}).get(pair, 0.0) for pair in urls], np.float32)


def leads(panel: Panel, pairs: Pairs, scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """How far each candidate is ahead of the best rival of either page, or behind it."""
    found = scores.copy()
    for places, count in ((pairs.left, len(panel.left)), (pairs.right, len(panel.right))):
        best, second = _two_best(places, scores, count)
        rival = np.where(scores >= best[places], second[places], best[places])
        found = np.minimum(found, scores - rival)
    return found


def _two_best(
    places: NDArray[np.int32], scores: NDArray[np.float32], count: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The best and the second best score at each place; of equal ones both are the best."""
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
