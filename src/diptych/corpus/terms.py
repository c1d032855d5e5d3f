"""Terms of a site: labels and phrases with their translations, from the segments of a corpus."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from diptych.corpus.term_candidates import Extraction, Search, Segment, Survey
from diptych.corpus.term_ranking import Found, Ranking
from diptych.learn.lexicon.lexicon import Lexicon, lexicon_of
from diptych.types import LangPair
from diptych.units import Unit

LABEL, TERM = "label", "term"
_MAX_CANDIDATES = 20_000  # pairs of phrases whose places are recorded, for each language pair


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a site and its translation.

    The fields are the columns of the table that `diptych terms` prints.
    """

    left: str
    """term in the first language, in its most frequent spelling"""
    right: str
    """its translation"""
    left_lang: str
    """language code"""
    right_lang: str
    count: int
    """number of segments with the term and its translation, copies included"""
    confidence: float
    """share of the occurrences that have this translation, lower if there are few of them"""
    kind: str
    """`label` if it mostly stands alone (menu items, headings), or else `term`"""
    example_left: str
    """segment with the term"""
    example_right: str
    left_url: str
    """URL of the page with the example"""
    right_url: str


@dataclass(frozen=True, slots=True)
class TermChoice:
    """The user's choice of terms."""

    min_count: int = 2
    max_terms: int = 1000
    names: bool = False
    """True to include terms that are the same in both languages"""
    langs: frozenset[str] = frozenset()
    """languages of both sides; empty for all"""


def find_terms(
    units: Callable[[], Iterable[Unit]], lexicons: Collection[Lexicon], choice: TermChoice
) -> list[Term]:
    """The terms of a corpus, the most useful first.

    `units` returns the segments of the corpus; it is called three times, because they may not fit
    in memory.  A lexicon that is missing is learned from them.
    """
    surveys: dict[LangPair, Survey] = {}
    for langs, segment in _segments(units(), choice):
        surveys.setdefault(langs, Survey(langs)).add(segment)
    extractions = {
        langs: Extraction.of(survey, lexicon_of(langs, lexicons))
        for langs, survey in surveys.items()
    }
    for langs, segment in _segments(units(), choice):
        extractions[langs].add(segment)
    rankings = {
        langs: _ranking(surveys[langs], extraction) for langs, extraction in extractions.items()
    }
    for langs, segment in _segments(units(), choice):
        rankings[langs].search.add(segment)
    found = [
        (each, ranking.search, langs)
        for langs, ranking in rankings.items()
        for each in ranking.found()
        if _is_chosen(each, choice)
    ]
    found.sort(key=lambda entry: (-entry[0].usefulness, entry[0].keys, entry[2]))
    return [_term(*entry) for entry in found[: choice.max_terms]]


def _segments(units: Iterable[Unit], choice: TermChoice) -> Iterator[tuple[LangPair, Segment]]:
    for unit in units:
        langs = LangPair(*[side.lang for side in unit.sides])
        if not choice.langs or choice.langs.issuperset(langs):
            yield langs, Segment.of(unit)


def _ranking(survey: Survey, extraction: Extraction) -> Ranking:
    evidence = extraction.candidates(_MAX_CANDIDATES)
    return Ranking(survey, extraction, Search(evidence.keys(), survey.labels.keys()), evidence)


def _is_chosen(found: Found, choice: TermChoice) -> bool:
    left, right = found.keys[0]
    return found.count >= choice.min_count and (choice.names or left != right)


def _term(found: Found, search: Search, langs: LangPair) -> Term:
    seen = search.sightings[found.keys[0]]
    assert seen.example is not None, "every sighting sets an example"
    return Term(
        seen.left.best(), seen.right.best(), *langs, found.count, round(found.confidence, 4),
        LABEL if 2 * found.labels >= found.count else TERM, *seen.example[1:],
    )  # fmt: skip
