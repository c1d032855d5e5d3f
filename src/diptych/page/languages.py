"""The languages of a page, from samples of its texts and from its declared language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import compress
from operator import not_
from typing import NamedTuple

from diptych.language.codes import (
    MIN_PAGE_SHARE,
    are_close,
    asked_language,
    hreflang_language,
    same_language,
    wanted_language,
)
from diptych.language.identify import can_identify, identify, identify_all, is_identifiable
from diptych.types import LangScore

_SAMPLE = 320  # characters; identification time grows with the sample
_LONG_SAMPLE = 1_000
_CERTAIN = 0.97  # score of a language above which more text changes nothing
_DECLARED_SCORE = 0.9  # score of a declared language that cannot be identified from text
_SAMPLE_BLOCKS = 8  # places sampled, so that one untranslated paragraph does not decide
_MIN_RUNNING_TEXT = 60  # characters; shorter blocks are menu items rather than running text
_MIN_WIDE_TEXT = _MIN_RUNNING_TEXT // 4  # a character has four bytes at most
_MAX_LINES = 40  # lines identified one by one on a page in several languages


class Prose(NamedTuple):
    """The texts of a page for language identification, with one line per text node."""

    main: str = ""
    """text of the main elements; empty if there are none"""
    rest: str = ""
    """text outside dialogs"""
    text: str = ""
    """all text"""


def _languages(lines: Sequence[str], langs: Sequence[str]) -> tuple[LangScore, ...]:
    """Identify the languages of a page from a short sample, or a long one if the result is unclear.

    If menus and headings are in a different requested language than the running text, the page is
    partly translated.  Each score is then the language's share of the text.
    """
    long, rest = _by_length(lines)
    scores = identify(language_sample(long, rest), langs, closed=False)
    is_clear = bool(scores) and scores[0].score >= _CERTAIN
    if not is_clear:
        scores = identify(language_sample(long, rest, _LONG_SAMPLE), langs, closed=False)
    if len(langs) < 2 or not wanted_language(scores, langs):
        return scores
    short = "\n".join(rest[:_SAMPLE])[:_SAMPLE]
    own = identify(short, langs)
    if is_clear and (not long or not own or same_language(own[0].lang, scores[0].lang)):
        return scores
    shares = _shares([short, *long[:: len(long) // _MAX_LINES + 1]], langs)
    several = [LangScore(lang, share) for lang, share in shares.items() if share >= MIN_PAGE_SHARE]
    if len(several) < 2:
        return scores
    return tuple(sorted(several, key=lambda item: (-item.score, item.lang)))


def page_languages(prose: Prose, declared: str, langs: Sequence[str]) -> tuple[LangScore, ...]:
    """The languages of a page, corrected by its declared language.

    The declared language counts if it was requested and the identifier does not support it or
    easily confuses it with the language found.  A text that is clearly in another requested
    language overrides the declaration.
    """
    scores = _main_first(prose, langs)
    said = hreflang_language(declared)
    lang = asked_language(said, langs)
    best = scores[0] if scores else LangScore("", 0.0)
    if lang and are_close(lang, best.lang) and not asked_language(best.lang, langs):
        return LangScore(lang, best.score), *scores
    if not lang or can_identify(lang) or not is_identifiable(prose.text[:_LONG_SAMPLE]):
        return scores
    is_other = any(
        score >= _CERTAIN and same_language(best, each) for best, score in scores for each in langs
    )
    return scores if is_other else (LangScore(lang, _DECLARED_SCORE),)


def _main_first(prose: Prose, langs: Sequence[str]) -> tuple[LangScore, ...]:
    """The languages of a page; the language of its main text comes first if it is clear.

    The other parts of a page, such as dialogs, are often untranslated and may be longer.
    """
    main = _languages(prose.main.split("\n"), langs)[:1] if prose.main else ()
    if main and main[0].score >= _CERTAIN:
        return _with_rest(main[0], prose, langs)
    scores = _languages(prose.text.split("\n"), langs)
    if prose.rest == prose.text:
        return scores
    best = _languages(prose.rest.split("\n"), langs)[:1]
    same = [score for score in scores if best and score.lang == best[0].lang]
    return (*same, *(score for score in scores if score not in same)) if same else best or scores


def _with_rest(main: LangScore, prose: Prose, langs: Sequence[str]) -> tuple[LangScore, ...]:
    """The main language, and that of the other text if it is clearly another requested language.

    If there are two languages, their scores are their shares of the text.
    """
    own = set(prose.main.split("\n"))
    rest = [line for line in prose.text.split("\n") if line not in own]
    share = sum(map(len, rest)) / max(1, len(prose.text))
    if share < MIN_PAGE_SHARE or not asked_language(main.lang, langs):
        return (main,)
    sample = language_sample(*_by_length(rest))
    other = next(iter(identify(sample, langs, closed=False)), LangScore("", 0.0))
    is_other = asked_language(other.lang, langs) and not same_language(other.lang, main.lang)
    if not is_other or other.score < _CERTAIN:
        return (main,)
    return LangScore(main.lang, max(MIN_PAGE_SHARE, 1 - share)), LangScore(other.lang, share)


def _by_length(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """The long lines and the other lines."""
    # Most lines are too short in any script, or long enough in all.  Bytes are counted because an
    # ideograph carries more content than a letter.
    is_long = [
        size >= _MIN_RUNNING_TEXT
        or (
            size >= _MIN_WIDE_TEXT
            and not line.isascii()
            and len(line.encode("utf-8", "surrogatepass")) >= _MIN_RUNNING_TEXT
        )
        for line, size in zip(lines, map(len, lines), strict=True)
    ]
    return list(compress(lines, is_long)), list(compress(lines, map(not_, is_long)))


def _shares(lines: Sequence[str], langs: Sequence[str]) -> dict[str, float]:
    """The share of each language in the lines, measured in characters."""
    letters: Counter[str] = Counter()
    found = identify_all([line[:_SAMPLE] for line in lines], langs)
    for line, scores in zip(lines, found, strict=True):
        for lang, _ in scores[:1]:
            letters[lang] += len(line)
    return {lang: count / (letters.total() or 1) for lang, count in letters.items()}


def language_sample(long: Sequence[str], short: Sequence[str], size: int = _SAMPLE) -> str:
    """Sample long lines from all over a page, and add short lines if the sample is too short.

    `size` is the number of characters to sample.

    >>> language_sample(["word " * 20], ["Menu"]).split()[-2:]
    ['word', 'Menu']
    """
    step = max(1, len(long) // _SAMPLE_BLOCKS)
    # Skip half a step: pages often start and end with untranslated notices.
    chosen = long[step // 2 :: step]
    share = size // max(1, min(_SAMPLE_BLOCKS, len(chosen)))
    sample = [text[:share] for text in chosen[: _SAMPLE_BLOCKS + 1]]
    missing = size - sum(map(len, sample))
    for line in reversed(short):
        if missing <= size // 2:
            break
        sample.append(line)
        missing -= len(line)
    return "\n".join(sample)
