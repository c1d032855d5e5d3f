"""Full stops that do not end a sentence: abbreviations, initials, ordinals.

The abbreviations are those of sentencex.  CLDR's (the `ss` option of ICU) are fewer, and using them
makes ICU thirty times slower.
"""

from __future__ import annotations

import re
from functools import lru_cache

# Languages that write ordinals with a full stop: "19. stoletja"; in Korean, dates.
_ORDINAL_LANGUAGES = frozenset(
    "az bar bs cs da de dsb et eu fi fo gsw hr hsb hu is ko lb lv me nb nds nn no pl se sh sk sl sr"
    " szl tr".split()
)
# Of these, languages that capitalise nouns, so that a capital letter may go on: "am 3. Mai".
_NOUN_LANGUAGES = frozenset("bar de gsw lb nds".split())
# Common abbreviations that sentencex does not list for each language.
_TITLES = frozenset("Dr Drs Fr Hr Mlle MM Mme Mr Mrs Ms Prof Sig Sr Sra St Ste डॉ डा श्री ডা".split())
_BEFORE_NUMBERS = frozenset(
    "abb abs approx art bd ca cf chap ed eds env fig figs no nos nr núm p pp tab vol vols éd"
    " γρ σελ рис см стр".split()
)
_EVERYWHERE = frozenset(
    "bzw cf hrsg incl inkl resp sig vgl vs δρ κα κος тел ул им гр проф доц акад"
    " jan feb febr aug sept sep oct okt nov dec dez janv févr juil".split()
)
# States and units that sentencex lists for languages without a list too, where they are words.
_WORDS_TOO = frozenset("al cal del id la ma mar me miss mm ms no ok ore ut".split())
# Abbreviations after which a capital letter begins a sentence.
_LAST_WORDS = frozenset("etc usw ecc itd itp atd stb jne osv vb enz κλπ κτλ др пр ltr".split())
# Abbreviations that end a sentence only if a word follows that begins one.
_NAME_ENDS = frozenset("inc ltd co corp llc bros jr sr gmbh s.a s.r.l a.m p.m".split())
# Articles, pronouns and connectives: capitalised after a full stop, they begin a sentence.
_OPENERS = frozenset(
    "the this that these those it its he she they we you there however but and if when while after"
    " der die das dies diese dieser er sie es wir ihr ich ein eine in im am auf für mit bei nach"
    " seit dann danach damit dabei doch aber und als wenn wie auch zu zum zur von vom falls hier ob"
    " so man alle bitte da dort dieses nur nun kein keine"
    " se si una uno no non per con por para en su"
    " le la les il elle ils elles nous vous ce cette ces un une des el los las lo gli i o os as"
    " een het de hij zij deze dit и в на он она они это но".split()
)
_MAX_ORDINAL = 3  # digits; four are a year
_MAX_MARKED = 4  # characters of a letter with its marks
_MAX_WORD = 20  # letters of an abbreviation
_ROMAN = re.compile(r"[IVXL]{2,7}")
_NUMBER = re.compile(r"\S{,8}\d|[IVXL]{2,7}\b")  # 5, P2-0016, XIV
_DOTTED = re.compile(
    r"(?:[^\W\d_]{1,2}[^\w\s.]{,2}\.)+[^\W\d_]{1,3}[^\w\s.]{,2}"
)  # z.B, U.S, सी.डी
_UNIT = re.compile(r"\d\s?$")
_AND_SO_ON = re.compile(r"[тії]\.?\s?$")
_NEXT_WORD = re.compile(r"[^\W\d_]+")
_NEXT_SHORT = re.compile(r"[^\s\d.]{1,4}\.")
_ALPHABETIC = re.compile(r"[^\W\d_\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff]")


def has_ordinals(code: str) -> bool:
    """True if a language writes ordinals with a full stop."""
    return code in _ORDINAL_LANGUAGES


def is_open(before: str, word: str, after: str, code: str) -> bool:
    """True if a full stop after a word does not end the sentence.

    `before` is what stands before the word, `after` what follows the full stop.

    >>> is_open("vom ", "3", "Mai bis", "de"), is_open("I have ", "3", "Then I", "en")
    (True, False)
    >>> is_open("by ", "Dr", "Jones", "en"), is_open("ham, eggs ", "etc", "Then I", "en")
    (True, False)
    """
    if word.isdecimal():
        return _is_ordinal(word, after, code)
    name = word.lower()
    if _ALPHABETIC.fullmatch(word) or (
        _is_letter(word) and (before.endswith(". ") or _NEXT_SHORT.match(after))
    ):
        return _is_initial(before, word, after)
    if name in _NAME_ENDS:
        return not _opens(after)
    if _DOTTED.fullmatch(word):
        return word.islower() or not _opens(after)
    if name in _LAST_WORDS or len(word) > _MAX_WORD:
        return False
    if code in _NOUN_LANGUAGES and _ROMAN.fullmatch(word):
        return not _opens(after)
    if word in _TITLES or name in _EVERYWHERE:
        return True
    if name in _BEFORE_NUMBERS:
        return _NUMBER.match(after) is not None
    return (
        word.isalpha() and not word.isupper() and word not in _WORDS_TOO and _is_listed(word, code)
    )


def _is_initial(before: str, word: str, after: str) -> bool:
    """True if a single letter with a full stop is an initial or part of an abbreviation.

    >>> _is_initial("by J. R. ", "R", "Tolkien"), _is_initial("Il est 5 ", "h", "Elle dort")
    (True, False)
    >>> _is_initial("и т. ", "д", "Потом"), _is_initial("44 ", "v", "Chr. geboren")
    (False, True)
    """
    if _NEXT_SHORT.match(after):
        return True
    if _UNIT.search(before) or (word in "дп" and _AND_SO_ON.search(before)):
        return not word.islower()
    return not (before[-2:-1].islower() and _opens(after))


def _is_ordinal(word: str, after: str, code: str) -> bool:
    """True if a number with a full stop is an ordinal or part of a date.

    >>> [_is_ordinal("3", after, code) for after, code in (("Mai", "de"), ("5. 24", "cs"))]
    [True, True]
    >>> _is_ordinal("3", "Pak", "cs"), _is_ordinal("3", "Then", "en")
    (False, False)
    """
    if not has_ordinals(code) or len(word) > (4 if code == "ko" else _MAX_ORDINAL) or word == "0":
        return False
    if after[0].isdecimal():
        return True
    return code in _NOUN_LANGUAGES and not _opens(after)


def _is_letter(word: str) -> bool:
    """True for a letter with its combining marks.

    >>> _is_letter("पी"), _is_letter("J"), _is_letter("Jo"), _is_letter("F1")
    (True, True, False, False)
    """
    return len(word) <= _MAX_MARKED and word[0].isalpha() and not any(map(str.isalnum, word[1:]))


def _opens(after: str) -> bool:
    """True if a text begins with a capitalised word that often begins a sentence."""
    found = _NEXT_WORD.match(after)
    return found is not None and not after[0].islower() and found[0].lower() in _OPENERS


@lru_cache(maxsize=50_000)
def _is_listed(word: str, code: str) -> bool:
    """True if sentencex lists a word as an abbreviation of a language.

    >>> _is_listed("Mio", "de"), _is_listed("Haus", "de")
    (True, False)
    """
    import sentencex

    return len(sentencex.segment(code, f"Aa {word}. Bb")) == 1
