"""Pairs the URLs of a site with the URL pair model (`learn.url.pair`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from diptych.learn.logistic import log_odds, probability
from diptych.learn.url.concepts import Concepts
from diptych.learn.url.pair import UrlPair, load
from diptych.learn.url.pair_url import WHOLE, parse_url, plain
from diptych.protocols import SiteView
from diptych.stages.pair.shared.blocking import candidates
from diptych.stages.pair.shared.one_partner import one_partner_each
from diptych.stages.pair.shared.page_languages import urls_by_language
from diptych.text.caches import TextCache
from diptych.types import PagePair, Url

_Pairs = Mapping[tuple[str, str], float]
_MIN_SURE = 0.7
_HABIT_ODDS = 0.7  # log odds: twice as likely


@dataclass(frozen=True, slots=True)
class UrlModel:
    """Pairs each URL with the most probable counterpart according to the URL pair model.

    The most probable pairs show the habits of a site, which are evidence for its other pairs.
    Habits are the marks that the site uses for languages, and its translations of folder names.
    """

    model: str = ""
    """folder of a URL pair model; if empty, the one shipped with the package"""
    least: float = 0.2
    """minimum probability of a pair"""
    habits: bool = True
    """True to adjust the probabilities of pairs to the site's habits"""

    def pair(self, site: SiteView) -> list[PagePair]:
        """Return the page pairs found on a site, strongest first, with `url_model` as evidence."""
        if len(site.langs) < 2:
            return []
        model, by_lang = _loaded(self.model), urls_by_language(site)
        unknown = sorted(url for url, record in site.pages.items() if not record.lang)
        return one_partner_each(
            PagePair(Url(one), Url(other), left, right, score, "url_model")
            for left, right in combinations(site.langs, 2)
            for (one, other), score in self._scores(
                model, [*by_lang[left], *unknown], [*by_lang[right], *unknown]
            ).items()
            if score >= self.least
        )

    def _scores(self, model: UrlPair, lefts: Sequence[str], rights: Sequence[str]) -> _Pairs:
        found = list(candidates(lefts, rights, _traits(model)))
        scores = model.probabilities([pair[0] for pair in found], [pair[1] for pair in found])
        probable = dict(zip(found, scores.tolist(), strict=True))
        return _with_habits(probable) if self.habits else probable


@lru_cache(maxsize=2)
def _loaded(folder: str) -> UrlPair:
    """Load a model once for all sites."""
    return load(folder)


@lru_cache(maxsize=2)
def _traits(model: UrlPair) -> Callable[[str], frozenset[object]]:
    concepts: Concepts = model.features.concepts

    def traits(url: str) -> frozenset[object]:
        """The words and numbers in a URL, and the meanings of its words."""
        words = [token.word for token in parse_url(plain(url)).tokens]
        meant = [sense for word in words for sense in concepts.senses(word)]
        return frozenset([*words, *meant])

    return TextCache(traits, 200_000_000, per_character=25).__getitem__


def site_habits(pairs: Iterable[tuple[str, str]]) -> Counter[object]:
    """Count how often each pair of marks and each pair of folders occurs in a site's pairs."""
    habits: Counter[object] = Counter()
    for left, right in pairs:
        habits.update(_habits(left, right))
    return habits


def _habits(left: str, right: str) -> list[object]:
    (marks, folders), (other_marks, other_folders) = _shape(left), _shape(right)
    found: list[object] = [(marks, other_marks)]
    if len(folders) == len(other_folders):
        found += [pair for pair in zip(folders, other_folders, strict=True) if pair[0] != pair[1]]
    return found


def _shape(url: str) -> tuple[object, tuple[bytes, ...]]:
    """The strong marks of a URL with their positions, and its folders."""
    return _shapes[url]


def _read_shape(url: str) -> tuple[object, tuple[bytes, ...]]:
    read = parse_url(plain(url))
    marks = tuple(mark[:1] + mark[2:4] for mark in read.marks if mark.strength >= WHOLE)
    return (read.labels[0], marks), tuple(read.segments[:-1])


_shapes = TextCache(_read_shape, 100_000_000, per_entry=200, per_character=6)


def _with_habits(probable: _Pairs) -> _Pairs:
    """Adjust probabilities to the habits observed in the site's most probable pairs."""
    best: dict[str, float] = {}
    for (left, right), score in probable.items():
        best[left], best[right] = max(score, best.get(left, 0)), max(score, best.get(right, 0))
    sure = [
        pair for pair, score in probable.items()
        if score >= _MIN_SURE and score >= max(best[pair[0]], best[pair[1]])
    ]  # fmt: skip
    if len(sure) < 3:
        return probable
    habits, counted = site_habits(sure), set(sure)
    return {
        pair: probability(log_odds(score) + _habit_odds(pair, habits, len(sure), pair in counted))
        for pair, score in probable.items()
    }


def _habit_odds(pair: tuple[str, str], habits: Counter[object], pairs: int, counted: bool) -> float:
    """The amount to add to the log odds of a pair, according to the habits of its site.

    `pairs` is the number of pairs from which habits were counted.  `counted` is True if this pair
    is one of them.
    """
    marks, *folders = _habits(*pair)
    itself = 1 if counted else 0
    seen = habits[marks] - itself
    usual = _HABIT_ODDS if seen >= max(2, pairs / 10) else 0.0 if seen else -_HABIT_ODDS
    known = sum(habits[folder] > itself for folder in folders)
    return usual + (_HABIT_ODDS if folders and known == len(folders) else 0.0)
