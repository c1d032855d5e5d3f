"""Language of a text, as soft scores (py3langid: multinomial naive Bayes, Lui & Baldwin 2012).

Scores are kept rather than one label, because a wrong label at this point cannot be mended later.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from diptych.text.langs import same_language
from diptych.types import LangScore

if TYPE_CHECKING:
    from diptych.kernels.langid import Model

__all__ = ["identify", "is_identifiable"]

MIN_LETTERS = 20  # of a text to be identified: shorter ones are names and menu items
_LETTERS = re.compile(r"[^\W\d_]+")
# An ideograph or a syllable says as much as several letters.
_DENSE = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
_MANY = 3  # languages reported
_MIN_SCORE = 0.01
_CERTAIN = 0.97
_MAX_CHARACTERS = 2_000  # a bound on work: the model walks over every byte
# How much likelier a language the user asked for is than one of the 140 others: chosen so that it
# settles menus and headings, while on a paragraph the evidence outweighs it.
_PRIOR = 10.0


class _Labelled(NamedTuple):
    """A model, and the label of each of its columns."""

    labels: tuple[str, ...]
    aliases: tuple[tuple[int, int], ...]
    """columns of one label: a language in two scripts"""
    model: Model


def identify(text: str, langs: Sequence[str] = (), *, closed: bool = True) -> tuple[LangScore, ...]:
    """The likeliest languages of a text, best first; none for too little text.

    langs are the languages in question.  In a closed choice the text is in one of them: that
    raises accuracy on short lines.  In an open one it may be in any, and they are only preferred.

    >>> identify("Le chat dort sur le canapé du salon.", ["en", "fr"])[0].lang
    'fr'
    >>> identify("Home")
    ()
    """
    text = text[:_MAX_CHARACTERS]
    if not is_identifiable(text):
        return ()
    names = _labels(tuple(langs)) if langs else {}
    is_choice = closed and len(set(names.values())) > 1
    known = _restricted(tuple(sorted(names))) if is_choice else _whole()
    shares = _shares(text, known)
    most = max(shares)
    if most >= _CERTAIN:  # nine of ten pages: the other languages share what is left
        label = known.labels[shares.index(most)]
        return (LangScore(names.get(label, label), most),)
    ranking = list(zip(known.labels, shares, strict=True))
    scores: dict[str, float] = {}
    for label, score in ranking if is_choice else _preferring(names, ranking):
        lang = names.get(label, label)
        scores[lang] = scores.get(lang, 0.0) + score
    best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:_MANY]
    return tuple(LangScore(lang, score) for lang, score in best if score >= _MIN_SCORE)


def is_identifiable(text: str) -> bool:
    """Whether a text has letters enough to tell its language.

    >>> is_identifiable("1999, 2000, 2001, 2002"), is_identifiable("Our opening hours in winter")
    (False, True)
    """
    if len(text) > 4 * MIN_LETTERS and text[: 2 * MIN_LETTERS].replace(" ", "a").isalpha():
        return True
    letters = sum(map(len, _LETTERS.findall(text)))
    return letters + 3 * len(_DENSE.findall(text)) >= MIN_LETTERS


def _preferring(
    names: Mapping[str, str], ranking: Sequence[tuple[str, float]]
) -> Sequence[tuple[str, float]]:
    """The ranking with a prior for the languages in question."""
    if not names:
        return ranking
    raised = [(label, score * _PRIOR if label in names else score) for label, score in ranking]
    total = sum(score for _, score in raised) or 1.0
    return [(label, score / total) for label, score in raised]


def _shares(text: str, known: _Labelled) -> list[float]:
    """The probability of each label, as py3langid computes it with `norm_probs`."""
    from diptych.kernels.langid import label_shares

    folded = unicodedata.normalize("NFC", text.lower() if text.isupper() else text)
    data = folded.encode("utf-8", "surrogatepass")
    shares: list[float] = label_shares(known.model, data).tolist()
    for first, again in known.aliases:
        shares[first] += shares[again]
        shares[again] = 0.0
    return shares


@cache
def _labels(langs: tuple[str, ...]) -> dict[str, str]:
    """The model's labels for the user's languages, each with the user's own code."""
    return {
        label: lang
        for lang in reversed(langs)
        for label in dict.fromkeys(_whole().labels)
        if same_language(label, lang)
    }


@cache
def _whole() -> _Labelled:
    """All languages there are."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    from diptych.kernels.langid import Model

    found = LanguageIdentifier.from_model_file(MODEL_FILE)
    labels = tuple(found.nb_classes)
    model = Model.of(found.tk_nextmove, found.tk_row, found.tk_output, found.nb_ptc, found.nb_pc)
    return _Labelled(labels, _aliases(labels), model)


@cache
def _restricted(labels: tuple[str, ...]) -> _Labelled:
    """A choice of languages."""
    whole = _whole()
    columns = [column for column, label in enumerate(whole.labels) if label in labels]
    chosen = tuple(whole.labels[column] for column in columns)
    return _Labelled(chosen, _aliases(chosen), whole.model.restricted(columns))


def _aliases(labels: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """The places of labels that occur again, each with the first.

    >>> _aliases(["sr", "fr", "sr"])
    ((0, 2),)
    """
    return tuple(
        (labels.index(label), place)
        for place, label in enumerate(labels)
        if labels.index(label) < place
    )
