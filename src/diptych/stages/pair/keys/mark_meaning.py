"""The language that a value removed from a URL denotes, according to its language marks.

Values are tagged: the first letter of a value stands for the URL field that contains it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from urllib.parse import unquote

from diptych.language.codes import primary
from diptych.language.marks import LANGUAGES, fold, is_language_parameter, mark_table
from diptych.language.scripts import marked_language, script_words

NO_MARK = -1
FOREIGN = -2  # mark of a language that was not requested

_JOINTS = re.compile(r"[_+\-.,]")
_NUMBER = re.compile(r"[\d\W_]*\d[\d\W_]*")
_MAX_MARK = 40  # characters; no mark is longer
_SURE_KINDS = ("code", "endonym", "name")  # marks that are unlikely to mean anything else


@dataclass(frozen=True, slots=True)
class Meaning:
    """The language that a value removed from a URL denotes.

    `lang` is the number of a requested language, `NO_MARK` or `FOREIGN`.  `is_weak` is True for
    marks that may also mean something else: single letters, prefixes, suffixes, countries, and
    words that denote a language only by convention.
    """

    lang: int
    is_weak: bool = False

    @property
    def sure_lang(self) -> int:
        """The language number, or `NO_MARK` if the mark is weak or `FOREIGN`."""
        return NO_MARK if self.is_weak or self.lang < 0 else self.lang


_NO_MEANING = Meaning(NO_MARK)


@dataclass(frozen=True, slots=True)
class MarkReader:
    """Interprets the marks of the requested languages."""

    langs: tuple[str, ...]
    exact: dict[str, int]
    by_word: dict[str, int]
    habits: frozenset[str]
    foreign: frozenset[str]

    def meaning(self, value: str) -> Meaning:
        """Interpret a tagged value as a language mark.

        >>> reader = mark_reader(("en", "pt-BR"))
        >>> [reader.meaning(value).lang for value in ("pen", "qhl=pt_BR", "fxx", "pfr", "fhome")]
        [0, 1, -1, -2, -1]
        """
        if not 1 < len(value) <= _MAX_MARK:
            return _NO_MEANING
        text = value[1:]
        if value[0] == "q" and "=" in text:
            text = text.partition("=")[2]
        is_affix = "*" in text
        text = text.replace("*", "")
        text = text.lower() if text.isascii() and "%" not in text else fold(unquote(text))
        is_weak = is_affix or text in self.habits or len(text) < 2
        words = _JOINTS.split(text)
        if len(words) > 1:
            return self._of_words(words)
        lang = self.by_word.get(text, NO_MARK)
        if lang == NO_MARK and text in self.foreign and not is_weak:
            return Meaning(FOREIGN)
        return Meaning(lang, is_weak) if lang != NO_MARK else _NO_MEANING

    def _of_words(self, words: list[str]) -> Meaning:
        """Interpret the words of a value: a language code with a region, or else the first mark."""
        for left, right in pairwise(words):
            if f"{left}-{right}" in self.exact:
                return Meaning(self.exact[f"{left}-{right}"])
        for place, word in enumerate(words):
            if word in self.by_word:
                lang = self.by_word[word]
                # `zh-cn` if `zh-TW` was requested: the right language in another variant.
                elsewhere = "-" in self.langs[lang] and place + 1 < len(words)
                return Meaning(lang, elsewhere or word in self.habits or len(word) < 2)
        return Meaning(FOREIGN) if self.foreign.intersection(words) else _NO_MEANING

    def is_parameter(self, value: str) -> bool:
        """True if a value belongs to a query parameter for languages, such as `lang`."""
        return value[:1] == "q" and is_language_parameter(value[1:].partition("=")[0])


def is_number(value: str) -> bool:
    """True if a tagged value consists of digits and punctuation only.

    >>> is_number("p12"), is_number("qid=3"), is_number("p06e"), is_number("p2.0")
    (True, True, False, True)
    """
    text = value[1:]
    return _NUMBER.fullmatch(text.partition("=")[2] or text) is not None


def differ_in_numbers(texts: tuple[str, str]) -> bool:
    """True if at least one of two tagged values is a number, apart from their common prefix.

    >>> differ_in_numbers(("pv1", "pv2")), differ_in_numbers(("p1e", "p1c"))
    (True, False)
    """
    one, two = (text[1:] for text in texts)
    same = shared_start(one, two)
    return any(map(is_number, filter(None, texts))) or one[same:].isdigit() or two[same:].isdigit()


def shared_start(left: str, right: str) -> int:
    """The length of the common prefix of two texts.

    >>> shared_start("/en/a", "/es/a"), shared_start("a", "ab")
    (2, 1)
    """
    size = min(len(left), len(right))
    return next((place for place in range(size) if left[place] != right[place]), size)


def mark_reader(langs: Sequence[str]) -> MarkReader:
    """Return the cached mark reader for the given languages, in this order."""
    return _mark_reader(tuple(langs))


@lru_cache(maxsize=64)
def _mark_reader(langs: tuple[str, ...]) -> MarkReader:
    exact = {fold(lang).replace("_", "-"): number for number, lang in enumerate(langs)}
    for number, lang in enumerate(langs):
        exact |= {f"{primary(lang)}-{word}": number for word in script_words(lang, langs)}
    table = mark_table(langs)
    by_word = {
        word: langs.index(marked_language(word, marks[0].lang, langs))
        for word, marks in table.items()
        # `gb` is English as a country and Chinese as an encoding, so it is skipped.
        if len({mark.lang for mark in marks if mark.kind == marks[0].kind}) == 1
    }
    by_word |= {code: number for code, number in exact.items() if code.isalpha()}
    foreign = frozenset(
        word
        for word, marks in mark_table(LANGUAGES).items()
        if word not in by_word and any(mark.kind in _SURE_KINDS for mark in marks)
    )
    habits = frozenset(
        word for word, marks in table.items() if marks[0].kind in ("habit", "country")
    )
    return MarkReader(langs, exact, by_word, habits - exact.keys(), foreign)
