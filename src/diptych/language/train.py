"""Train an additional language for the identifier, as a column of its naive Bayes model.

The model's features are kept, although they were chosen for the languages that it already has.
Their probabilities in the new language are estimated from the training text with a Dirichlet prior.
The mean of the prior is a mixture of the model's columns, fitted by EM.  Because a hundred lines of
text contain few of the 100,000 features, the probabilities of most features come from similar
languages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels.langid_reference import feature_counts
from diptych.language.codes import same_language
from diptych.language.identify import base_model, fingerprint, is_identifiable, model_bytes
from diptych.language.learned import LearnedLanguage
from diptych.language.scripts import script_counts

MIN_PIECES = 30  # lines: fewer cannot be split into training and test lines
MIN_LETTERS = 2_000
_MAX_PIECES = 10_000  # more hardly change the result and take time
_MAX_PIECE = 300  # characters of a piece: a longer line is cut between words
_FOLDS = 5
_ROUNDS = 40  # iterations of EM; the weights hardly change after thirty
_STRENGTHS = (300.0, 1e3, 3e3, 1e4, 3e4, 1e5)  # prior strengths, in features; the best is chosen
# The training text is of one kind and subject, so text in a similar language on that subject looks
# like it.  Therefore all its probabilities are lowered, at the cost of at most one line in twenty.
_MAX_LOST = 0.05
_MAX_DOUBT = 0.5
_OWN_SCRIPT = 0.2  # minimum share of the letters for a script to be one of the language
_PAGE_SAMPLE = 320  # characters of the sample taken from a page
_MIN_WEIGHT = 1e-3
_MAX_REPORTED = 3
_SPACES = re.compile(r"\s+")

_Counts = tuple[NDArray[np.intp], NDArray[np.float64]]
"""features of a text and their log counts, log(1 + n) as in the model"""


class Quality(NamedTuple):
    """Accuracy of a trained language on held-out text, by cross-validation."""

    lines: float
    """share of lines that are identified correctly"""
    pages: float
    """share of texts as long as a page sample that are identified correctly"""
    before: tuple[tuple[str, float], ...]
    """the labels that the model without this language gives to most lines, with their shares"""


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """A trained language, the size of its training text, and its quality."""

    language: LearnedLanguage
    pieces: int
    letters: int
    near: tuple[tuple[str, float], ...]
    """the most similar languages and their weights: they may be confused with this one"""
    quality: Quality


class _Classified(NamedTuple):
    """A classified text, with the log odds (`margin`) of the new language against its best rival.

    The odds do not include the prior of the new language.
    """

    margin: float
    rival: str
    weight: float
    """total weight of the features of the text"""


class _Known(NamedTuple):
    """The columns of the model for all languages except the one to be trained."""

    labels: Sequence[str]
    table: NDArray[np.float16]
    priors: NDArray[np.float32]


def pieces_of(text: str) -> list[str]:
    r"""The distinct lines of a text that have enough letters; long lines are cut between words.

    >>> pieces_of("Ita-nia naran saida, senhor?\n\n12\nIta-nia naran  saida, senhor?")
    ['Ita-nia naran saida, senhor?']
    """
    lines = (_SPACES.sub(" ", line).strip() for line in text.splitlines())
    found = list(dict.fromkeys(filter(is_identifiable, chain.from_iterable(map(_cut, lines)))))
    return found[:: len(found) // _MAX_PIECES + 1]


def _cut(line: str) -> Iterable[str]:
    while len(line) > _MAX_PIECE:
        end = line.rfind(" ", _MAX_PIECE // 2, _MAX_PIECE)
        end = end if end > 0 else _MAX_PIECE
        yield line[:end]
        line = line[end:].lstrip()
    yield line


def train_language(lang: str, pieces: Sequence[str]) -> TrainingResult:
    """Learn a language from lines of text, or raise ValueError if there is too little text."""
    letters = script_counts("\n".join(pieces))
    if len(pieces) < MIN_PIECES or letters.total() < MIN_LETTERS:
        raise ValueError(
            f"{len(pieces):,} lines with {letters.total():,} letters are not enough to learn a "
            f"language; at least {MIN_PIECES} different lines and {MIN_LETTERS:,} letters are "
            "required, and 1,000 lines are recommended"
        )
    known = _others(lang)
    counts = [_counted(piece) for piece in pieces]
    near, usual = _neighbours(_sum(counts), known)
    strength = _strength(counts, usual)
    lines, pages = _cross_validated(pieces, counts, usual, strength, known)
    prior = float(np.median(known.priors))
    spare = np.quantile([(each.margin + prior) / each.weight for each in lines], _MAX_LOST)
    doubt = float(np.clip(spare, 0.0, _MAX_DOUBT))
    column = (_column(_sum(counts), usual, strength) - doubt).astype("<f2").tobytes()
    language = LearnedLanguage(lang, column, prior, _scripts(letters), fingerprint())
    quality = Quality(
        _accuracy(lines, prior, doubt), _accuracy(pages, prior, doubt), _earlier_labels(lines)
    )
    return TrainingResult(language, len(pieces), letters.total(), near, quality)


def _others(lang: str) -> _Known:
    """The model's columns for all languages other than `lang`."""
    labels, _, model = base_model()
    kept = [place for place, label in enumerate(labels) if not same_language(label, lang)]
    return _Known([labels[place] for place in kept], model.table[:, kept], model.priors[kept])


def _counted(text: str) -> _Counts:
    seen = feature_counts(base_model().model, model_bytes(text))
    numbers = np.fromiter(seen.values(), np.float64, len(seen))
    return np.fromiter(seen, np.intp, len(seen)), np.log1p(numbers)


def _sum(counts: Iterable[_Counts]) -> NDArray[np.float64]:
    total = np.zeros(len(base_model().model.table))
    for features, numbers in counts:
        total[features] += numbers
    return total


def _neighbours(
    total: NDArray[np.float64], known: _Known
) -> tuple[tuple[tuple[str, float], ...], NDArray[np.float64]]:
    """Fit a mixture of known languages to the feature counts of a text.

    The result is the languages with the largest weights, and the probability of each feature in the
    mixture.
    """
    seen = np.flatnonzero(total)
    weights = np.full(len(known.labels), 1 / len(known.labels))
    chances = np.exp(known.table[seen].astype(np.float64))
    for _ in range(_ROUNDS if len(seen) else 0):
        parts = chances * weights
        parts *= (total[seen] / parts.sum(axis=1))[:, None]
        weights = parts.sum(axis=0) / parts.sum()
    usual = np.zeros(len(total))
    for place in np.flatnonzero(weights > _MIN_WEIGHT):
        usual += weights[place] * np.exp(known.table[:, place].astype(np.float64))
    best = np.argsort(-weights, kind="stable")[:_MAX_REPORTED]
    return tuple((known.labels[place], float(weights[place])) for place in best), usual


def _column(
    total: NDArray[np.float64], usual: NDArray[np.float64], strength: float
) -> NDArray[np.float64]:
    """The log probability of each feature, smoothed by a prior with mean `usual`.

    `total` has the feature counts of the text; `strength` is the weight of the prior.
    """
    made: NDArray[np.float64] = np.log((total + strength * usual) / (total.sum() + strength))
    return made


def _strength(counts: Sequence[_Counts], usual: NDArray[np.float64]) -> float:
    """The prior strength that maximises the probability of a held-out fifth of the text.

    `counts` holds the features of each line; `usual` is the mean of the prior.
    """
    held, rest = _sum(counts[::_FOLDS]), _sum(_without(counts, 0))
    return max(_STRENGTHS, key=lambda each: float(held @ _column(rest, usual, each)))


def _without(counts: Sequence[_Counts], fold: int) -> Iterable[_Counts]:
    return (each for place, each in enumerate(counts) if place % _FOLDS != fold)


def _cross_validated(
    pieces: Sequence[str], counts: Sequence[_Counts], usual: NDArray[np.float64], strength: float,
    known: _Known,
) -> tuple[list[_Classified], list[_Classified]]:  # fmt: skip
    """Classify lines and page-sized texts by cross-validation, and return the results for both.

    The new language's column is trained on the other folds, with a prior as in `_column`; `known`
    holds the columns of its rivals.
    """
    lines: list[_Classified] = []
    pages: list[_Classified] = []
    for fold in range(_FOLDS):
        column = _column(_sum(_without(counts, fold)), usual, strength)
        lines += [_classified(each, column, known) for each in counts[fold::_FOLDS]]
        joined = _joined(pieces[fold::_FOLDS])
        pages += [_classified(_counted(text), column, known) for text in joined]
    return lines, pages


def _classified(counts: _Counts, column: NDArray[np.float64], known: _Known) -> _Classified:
    features, numbers = counts
    scores = numbers @ known.table[features] + known.priors
    best = int(scores.argmax())
    margin = float(numbers @ column[features] - scores[best])
    return _Classified(margin, known.labels[best], float(numbers.sum()) or 1.0)


def _joined(lines: Sequence[str]) -> list[str]:
    """Join lines into page-sized texts."""
    pages: list[str] = []
    page = ""
    for line in lines:
        page = f"{page}\n{line}"
        if len(page) >= _PAGE_SAMPLE:
            pages.append(page[1 : _PAGE_SAMPLE + 1])
            page = ""
    return pages


def _accuracy(judged: Sequence[_Classified], prior: float, doubt: float) -> float:
    right = sum(each.margin + prior > doubt * each.weight for each in judged)
    return right / max(len(judged), 1)


def _earlier_labels(judged: Sequence[_Classified]) -> tuple[tuple[str, float], ...]:
    """The most frequent labels of the judged texts before the new language was added to the model.

    Each label comes with its share of the texts.
    """
    found = Counter(each.rival for each in judged)
    return tuple((lang, count / len(judged)) for lang, count in found.most_common(_MAX_REPORTED))


def _scripts(letters: Counter[str]) -> tuple[str, ...]:
    """The main scripts of a training text, most frequent first."""
    return tuple(
        script for script, count in letters.most_common() if count >= _OWN_SCRIPT * letters.total()
    )
