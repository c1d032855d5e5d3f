"""Identify the languages of texts, with scores (py3langid: naive Bayes, Lui & Baldwin 2012).

The result contains scores for several languages, because a single wrong label could not be
corrected later.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from diptych.files import shipped_table
from diptych.kernels import return_memory
from diptych.kernels.langid import Model, label_shares_of_texts
from diptych.language.codes import accept_codes, primary, same_language, script_of, usual_script
from diptych.language.learned import LearnedLanguage
from diptych.language.model_file import open_model
from diptych.language.scripts import covers, main_script, script_shares
from diptych.types import LangScore

MIN_LETTERS = 20  # minimum letters of a text: shorter texts are names and menu items
_LETTERS = re.compile(r"[^\W\d_]+")
# An ideograph or a syllable counts as several letters.
_DENSE = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
_MAX_LANGUAGES = 3  # per result
_MIN_SCORE = 0.01
_CERTAIN = 0.97
_MAX_CHARACTERS = 2_000  # limits the running time, which grows with every byte
# Prior odds of a requested language against each of the 140 others: large enough to decide for
# menus and headings, small enough to be outweighed by the evidence of a paragraph.
_PRIOR_ODDS = 10.0
_CHINESE = ("Hans", "Hant")
# Second scripts of languages that the model knows in two scripts.
_SECOND_SCRIPTS = ("Latn", "Cyrl", "Arab", "Hant")


class Labelled(NamedTuple):
    """A language model and the language labels of its columns."""

    labels: tuple[str, ...]
    aliases: tuple[tuple[int, int], ...]
    """pairs of columns with the same label: a language in two scripts"""
    model: Model


class _Requested(NamedTuple):
    """The model's labels for the requested languages."""

    names: Mapping[str, str]
    """label -> the user's code"""
    scripts: Mapping[str, Mapping[str, str]]
    """label -> script -> the user's code, for languages requested in a script"""
    codes: int
    """number of requested languages that the model knows"""


IDENTIFIED = tuple(label for [label] in shipped_table("diptych.language", "identified.tsv"))
"""the languages of the py3langid model, listed so that the model need not be loaded"""
_MODELS = 4  # cached models with different sets of learned languages: 28 MB each
_MAX_KNOWN = 5_000  # texts whose languages are remembered: 5 MB
_MAX_KNOWN_LENGTH = 400  # characters; longer texts are hardly repeated
_learned: ContextVar[tuple[LearnedLanguage, ...]] = ContextVar("learned_languages", default=())
"""the learned languages of this thread; each run has its own"""
_shipped_model = cache(open_model)


def identify(text: str, langs: Sequence[str] = (), *, closed: bool = True) -> tuple[LangScore, ...]:
    """The most probable languages of a text, best first; empty if there is too little text.

    `langs` are the requested languages.  If `closed` is True, the text is assumed to be in one of
    them, which improves accuracy on short lines.  Otherwise, the text may be in any language, and
    the requested languages only have a higher prior.  If a language is requested in two scripts,
    the letters of the text determine the script.

    >>> identify("Le chat dort sur le canapé du salon.", ["en", "fr"])[0].lang
    'fr'
    >>> identify("Мачка спава у дневној соби.", ["sr-Latn", "sr-Cyrl"])[0].lang
    'sr-Cyrl'
    >>> identify("Home")
    ()
    """
    return identify_all([text], langs, closed=closed)[0]


def identify_all(
    texts: Sequence[str], langs: Sequence[str] = (), *, closed: bool = True
) -> list[tuple[LangScore, ...]]:
    """The same as `identify` for many texts at once, which takes a third of the time.

    >>> [scores[0].lang for scores in identify_all([
    ...     "Le chat dort sur le canapé.", "The cat sleeps on the sofa."], ["en", "fr"])]
    ['fr', 'en']
    """
    texts = [text[:_MAX_CHARACTERS] for text in texts]
    learned = _learned.get()
    memory = _known_texts(tuple(langs), learned, closed)
    found = {text: memory.get(text) for text in texts}
    missing = [text for text, scores in found.items() if scores is None]
    if missing:
        for text, scores in _identified(missing, tuple(langs), learned, closed).items():
            found[text] = scores
            if len(text) <= _MAX_KNOWN_LENGTH:
                if len(memory) >= _MAX_KNOWN:
                    memory.clear()
                memory[text] = scores
    return [found[text] or () for text in texts]


@lru_cache(maxsize=_MODELS)
def _known_texts(
    langs: tuple[str, ...], learned: tuple[LearnedLanguage, ...], closed: bool
) -> dict[str, tuple[LangScore, ...]]:
    """The languages of texts that were identified last; a site says most things on many pages."""
    return {}


def _identified(
    texts: Sequence[str],
    langs: tuple[str, ...],
    learned: tuple[LearnedLanguage, ...],
    closed: bool,
) -> dict[str, tuple[LangScore, ...]]:
    found: dict[str, tuple[LangScore, ...]] = dict.fromkeys(texts, ())
    distinct = [text for text in found if is_identifiable(text)]
    if distinct:
        asked = _labels(langs, learned)
        is_choice = closed and asked.codes > 1
        known = _restricted(tuple(sorted(asked.names)), learned) if is_choice else _model(learned)
        for text, shares in zip(distinct, _shares(distinct, known), strict=True):
            if learned:
                shares = _with_scripts(text, known.labels, shares, learned)
            ranking = _Ranking(known.labels, shares, is_choice, closed)
            found[text] = _scores(text, ranking, asked)
    return found


class _Ranking(NamedTuple):
    """The probabilities of the labels for a text."""

    labels: Sequence[str]
    shares: list[float]
    is_choice: bool
    """True if the labels are only those of the requested languages"""
    closed: bool
    """as in `identify`"""


def _scores(text: str, ranking: _Ranking, asked: _Requested) -> tuple[LangScore, ...]:
    """The most probable languages of a text, given the probabilities of the labels."""
    labels, shares, is_choice, closed = ranking
    most = max(shares)
    # The case of nine out of ten pages: no other language has a noticeable score.
    if most >= _CERTAIN and (label := labels[shares.index(most)]) not in asked.scripts:
        return (LangScore(asked.names.get(label, label), most),)
    pairs = list(zip(labels, shares, strict=True))
    scores: dict[str, float] = {}
    for label, score in pairs if is_choice else _with_prior(asked.names, pairs):
        lang = asked.names.get(label, label)
        scores[lang] = scores.get(lang, 0.0) + score
    # Two labels may belong to one language: Uzbek and Southern Uzbek.
    for lang, label in {asked.names[label]: label for label in asked.scripts}.items():
        _split_by_script(scores, lang, text, asked.scripts[label], closed=closed)
    best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:_MAX_LANGUAGES]
    return tuple(LangScore(lang, score) for lang, score in best if score >= _MIN_SCORE)


def can_identify(lang: str) -> bool:
    """True if a language can be identified because it is in the model or has been learned.

    >>> can_identify("fr-CA"), can_identify("nb"), can_identify("tet")
    (True, True, False)
    """
    return _can_identify(lang, _learned.get())


@lru_cache(maxsize=1024)
def _can_identify(lang: str, learned: Sequence[LearnedLanguage]) -> bool:
    own = (label for label in IDENTIFIED if not _is_replaced(label, learned))
    return any(same_language(label, lang) for label in (*own, *(each.lang for each in learned)))


def use_learned_languages(models: Sequence[LearnedLanguage]) -> None:
    """Add learned languages to the model, replacing any added earlier.

    The languages are used in the current thread and in the tasks that it starts, so two runs in one
    process are independent.  Raises ValueError if a learned language is damaged or was trained for
    another version of the model.
    """
    for model in models:
        if model.model != fingerprint() or len(model.column) != 2 * len(base_model().model.table):
            raise ValueError(
                f"the model for {model.lang} was trained for another version of Diptych;"
                " train it again"
            )
        if not np.isfinite(np.frombuffer(model.column, "<f2")).all():
            raise ValueError(f"the learned model for {model.lang} is damaged; train it again")
    learned = tuple({model.lang: model for model in models}.values())
    _learned.set(learned)
    accept_codes(model.lang for model in learned)


def learned_languages() -> tuple[LearnedLanguage, ...]:
    """Return the learned languages that have been added to the model."""
    return _learned.get()


def is_identifiable(text: str) -> bool:
    """True if a text has enough letters for language identification.

    >>> is_identifiable("1999, 2000, 2001, 2002"), is_identifiable("Our opening hours in winter")
    (False, True)
    """
    if sum(map(str.isalpha, text[: 2 * MIN_LETTERS])) >= MIN_LETTERS:
        return True
    letters = sum(map(len, _LETTERS.findall(text)))
    return letters + 3 * len(_DENSE.findall(text)) >= MIN_LETTERS


def _with_prior(
    names: Mapping[str, str], ranking: Sequence[tuple[str, float]]
) -> Sequence[tuple[str, float]]:
    """Reweight a ranking of labels to give the requested languages, `names`, a higher prior."""
    if not names:
        return ranking
    raised = [(label, score * _PRIOR_ODDS if label in names else score) for label, score in ranking]
    total = sum(score for _, score in raised) or 1.0
    return [(label, score / total) for label, score in raised]


def _split_by_script(
    scores: dict[str, float], lang: str, text: str, codes: Mapping[str, str], *, closed: bool
) -> None:
    """Divide the score of `lang` in `scores` among its scripts, according to the letters of `text`.

    `codes` maps each requested script of the language to the user's code.
    """
    others = () if closed or len(codes) > 1 else _other_scripts(text, *codes)
    shares = script_shares(text, (*codes, *others))
    if not shares:
        return
    score = scores.pop(lang, 0.0)
    for script, share in shares.items():
        # If only traditional characters were requested, a text in simplified ones does not match.
        code = codes.get(script) or f"{primary(lang)}-{script}"
        scores[code] = scores.get(code, 0.0) + score * share


def _other_scripts(text: str, script: str) -> Sequence[str]:
    """The scripts other than the requested one, `script`, in which a text may be written."""
    if script in _CHINESE:
        return [each for each in _CHINESE if each != script]
    found = main_script(text)
    return [] if not found or covers(script, found) else [found]


def _with_scripts(
    text: str, labels: Sequence[str], shares: list[float], learned: Sequence[LearnedLanguage]
) -> list[float]:
    """Exclude the learned languages that do not use the script of the text, and renormalise.

    `shares` are the probabilities of `labels`; excluded languages get 0.  If only learned languages
    use the script of the text, all languages of the py3langid model are excluded too, because that
    model has no features for the script.
    """
    script = main_script(text)
    own = {model.lang for model in learned if any(covers(script, each) for each in model.scripts)}
    own |= {model.lang for model in learned if any(covers(each, script) for each in model.scripts)}
    others = {model.lang for model in learned} - own
    if own.intersection(labels) and script not in _model_scripts():
        others = set(labels) - own
    kept = [0.0 if label in others else share for label, share in zip(labels, shares, strict=True)]
    total = sum(kept)
    return [share / total for share in kept] if total else shares


def model_bytes(text: str) -> bytes:
    r"""Encode a text as bytes, normalised like the model's training data.

    >>> model_bytes("ÉTÉ")
    b'\xc3\xa9t\xc3\xa9'
    """
    folded = unicodedata.normalize("NFC", text.lower() if text.isupper() else text)
    return folded.encode("utf-8", "surrogatepass")


def _shares(texts: Sequence[str], known: Labelled) -> list[list[float]]:
    """The probability of each label of `known` for texts, as in py3langid with `norm_probs`."""
    data = [model_bytes(text) for text in texts]
    rows: list[list[float]] = label_shares_of_texts(known.model, data).tolist()
    for first, again in known.aliases:
        for shares in rows:
            shares[first] += shares[again]
            shares[again] = 0.0
    return rows


@lru_cache(maxsize=1024)
def _labels(langs: tuple[str, ...], learned: tuple[LearnedLanguage, ...]) -> _Requested:
    """Find the model's labels for the requested languages, and map them to the user's codes."""
    names: dict[str, str] = {}
    scripts: dict[str, dict[str, str]] = {}
    known: set[str] = set()
    for label in dict.fromkeys(_model(learned).labels):
        codes = [lang for lang in langs if same_language(label, lang)]
        if codes:
            names[label] = codes[0]
        known.update(codes)
        if written := {script: lang for lang in reversed(codes) if (script := script_of(lang))}:
            scripts[label] = written
    return _Requested(names, scripts, len(known))


@cache
def base_model() -> Labelled:
    """The py3langid model, without learned languages."""
    labels, model, _ = _shipped_model()
    return_memory()
    return Labelled(labels, _aliases(labels), model)


def fingerprint() -> str:
    """Return a hash of the model's languages and features."""
    return _shipped_model().fingerprint


@cache
def _model_scripts() -> frozenset[str]:
    """The scripts of the languages in the py3langid model."""
    usual = map(usual_script, IDENTIFIED)
    return frozenset((*usual, "Hani", "Hira", "Kana", "Hang", *_SECOND_SCRIPTS))


def whole_model() -> Labelled:
    """The py3langid model with all learned languages, some of which replace the model's columns."""
    return _model(_learned.get())


@lru_cache(maxsize=_MODELS)
def _model(learned: tuple[LearnedLanguage, ...]) -> Labelled:
    base = base_model()
    if not learned:
        return base
    kept = [column for column, label in enumerate(base.labels) if not _is_replaced(label, learned)]
    labels = (*(base.labels[column] for column in kept), *(each.lang for each in learned))
    columns = [np.frombuffer(each.column, "<f2") for each in learned]
    model = base.model.restricted(kept).widened(columns, [each.prior for each in learned])
    return Labelled(labels, _aliases(labels), model)


def _is_replaced(label: str, learned: Sequence[LearnedLanguage]) -> bool:
    """True if a learned language replaces a label of the py3langid model.

    A learned language in a less usual script is added as a new column and replaces no label.
    """
    return any(
        same_language(label, each.lang) and script_of(each.lang) in ("", usual_script(label))
        for each in learned
    )


@lru_cache(maxsize=64)
def _restricted(labels: tuple[str, ...], learned: tuple[LearnedLanguage, ...]) -> Labelled:
    """The model with the learned languages, restricted to the given labels."""
    whole = _model(learned)
    columns = [column for column, label in enumerate(whole.labels) if label in labels]
    chosen = tuple(whole.labels[column] for column in columns)
    return Labelled(chosen, _aliases(chosen), whole.model.restricted(columns))


def _aliases(labels: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Pairs of indices with equal labels: the first occurrence of a label and each later one.

    >>> _aliases(["sr", "fr", "sr"])
    ((0, 2),)
    """
    return tuple(
        (labels.index(label), place)
        for place, label in enumerate(labels)
        if labels.index(label) < place
    )
