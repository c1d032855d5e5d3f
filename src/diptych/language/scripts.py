"""The script of a text (ISO 15924: `Latn`, `Cyrl`, `Hant`), and script marks in URLs."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache

from diptych.files import shipped_table
from diptych.language.codes import asked_language, primary, script_of

# The first code point of each run of letters of one script, from the Script property of Unicode 15;
# characters other than letters belong to the preceding script.
_STARTS = shipped_table("diptych.language", "scripts.tsv")
_FIRST_POINTS = [int(point, 16) for point, _ in _STARTS]
_FIRST_SCRIPTS = [script for _, script in _STARTS]
_LETTERS = re.compile(r"[^\W\d_]+")
_COVERED: Mapping[str, frozenset[str]] = {
    "Jpan": frozenset({"Hira", "Kana", "Hani"}),
    "Kore": frozenset({"Hang", "Hani"}),
    "Hans": frozenset({"Hani"}),
    "Hant": frozenset({"Hani"}),
    "Aran": frozenset({"Arab"}),
}
"""for each script that combines other scripts or is a variant of one, those scripts"""
_LATIN_DIVISOR = 3.0  # reduces Latin letters, since texts in all scripts contain Latin names

SCRIPT_WORDS: Mapping[str, tuple[str, ...]] = {
    script: tuple(words) for script, *words in shipped_table("diptych.language", "script_words.tsv")
}
"""names of scripts in URLs and in language switchers"""


def script_counts(text: str) -> Counter[str]:
    """Count the letters of a text by script.

    >>> sorted(script_counts("Ђоковић 2:1 ATP").items())
    [('Cyrl', 7), ('Latn', 3)]
    """
    found: Counter[str] = Counter()
    letters = "".join(_LETTERS.findall(text))
    if letters.isascii():
        return Counter({"Latn": len(letters)} if letters else {})
    for letter, count in Counter(letters).items():
        found[_script(letter)] += count
    del found[""]
    return found


def main_script(text: str) -> str:
    """The most frequent script of a text; empty if the text has no letters.

    For Chinese, the result is `Hans` or `Hant`, whichever has more unambiguous characters, or
    `Hani` if neither has more.

    >>> main_script("Вести дана"), main_script("市长昨天为新图书馆揭幕"), main_script("市長昨天")
    ('Cyrl', 'Hans', 'Hant')
    >>> main_script("中文"), main_script("1999")
    ('Hani', '')
    """
    counts = script_counts(text)
    best = max(sorted(counts), key=lambda name: counts[name], default="")
    if best != "Hani" or counts["Hira"] + counts["Kana"]:
        return best
    simplified, traditional = _chinese(text)
    if simplified == traditional:
        return best
    return "Hans" if simplified > traditional else "Hant"


def script_shares(text: str, scripts: Sequence[str]) -> dict[str, float]:
    """For each script in `scripts`, the probability that a text is written in it.

    The result is empty if the text contains no letters of these scripts.

    >>> script_shares("Нови IBM PC", ["Cyrl", "Latn"])["Cyrl"] > 0.8
    True
    >>> script_shares("中文", ["Hans", "Hant"]), script_shares("Ελλάδα", ["Cyrl", "Latn"])
    ({'Hans': 0.5, 'Hant': 0.5}, {})
    """
    counts = script_counts(text)
    letters = {script: float(sum(counts[each] for each in _parts(script))) for script in scripts}
    if not any(letters.values()):
        return {}
    if "Latn" in letters:
        letters["Latn"] /= _LATIN_DIVISOR
    if {"Hans", "Hant"} <= letters.keys() and letters["Hans"]:
        simplified, traditional = _chinese(text)
        is_open = not simplified + traditional
        letters |= {"Hans": simplified + is_open, "Hant": traditional + is_open}
    # Squares, so that a few names in the other script have little weight.
    total = sum(count * count for count in letters.values())
    return {script: count * count / total for script, count in letters.items()}


def covers(script: str, found: str) -> bool:
    """True if texts in `script` normally contain letters of the script `found`.

    >>> covers("Jpan", "Hira"), covers("Hant", "Hani"), covers("Hant", "Hans")
    (True, True, False)
    """
    return script == found or found in _COVERED.get(script, ())


@lru_cache(maxsize=4096)
def mark_script(mark: str) -> str:
    """The script that a URL mark or a link text denotes, or '' if it denotes none.

    >>> mark_script("sr-latn"), mark_script("big5"), mark_script("ћирилица"), mark_script("sr")
    ('Latn', 'Hant', 'Cyrl', '')
    """
    words = re.split(r"[\s_+.,()/-]+", mark.casefold())
    known = _words()
    return next((known[word] for word in reversed(words) if word in known), "")


def marked_language(word: str, lang: str, langs: Sequence[str]) -> str:
    """The requested language that the mark `word` stands for, or '' if there is none.

    `lang` is the language of the mark, and `langs` are the requested languages.  If the language is
    requested in two scripts, the script of the mark decides; a mark without a definite script, such
    as `sr`, stands for the usual script of the language.

    >>> asked = ["en", "sr-Latn", "sr-Cyrl"]
    >>> [marked_language(word, "sr", asked) for word in ("latinica", "српски", "sr")]
    ['sr-Latn', 'sr-Cyrl', 'sr-Cyrl']
    >>> marked_language("en", "en", asked), marked_language("fr", "fr", asked)
    ('en', '')
    """
    name = primary(lang)
    same = [each for each in langs if primary(each) == name]
    # Latin letters prove nothing: all codes and most names are written in them.
    script = mark_script(word) or main_script(word).replace("Latn", "")
    by_script = next((each for each in same if script_of(each) == script), "")
    return "".join(same) if len(same) < 2 else by_script or asked_language(name, same)


def script_words(lang: str, langs: Sequence[str]) -> Sequence[str]:
    """The marks for the script of `lang` if `langs` contains the language in two scripts, else ().

    >>> script_words("sr-Latn", ["sr-Cyrl", "sr-Latn"])[:2]
    ('latn', 'lat')
    >>> script_words("sr-Latn", ["en", "sr-Latn"])
    ()
    """
    is_twin = sum(primary(each) == primary(lang) for each in langs) > 1
    return SCRIPT_WORDS.get(script_of(lang), ()) if is_twin else ()


@cache
def _words() -> Mapping[str, str]:
    return {word: script for script, words in SCRIPT_WORDS.items() for word in words}


@lru_cache(maxsize=1 << 14)
def _script(letter: str) -> str:
    """The script of a letter.

    >>> _script("ꭰ"), _script("ߊ"), _script("𞤀")
    ('Cher', 'Nkoo', 'Adlm')
    """
    place = bisect_right(_FIRST_POINTS, ord(letter))
    return _FIRST_SCRIPTS[place - 1] if place else ""


def _parts(script: str) -> Iterable[str]:
    return {script, *_COVERED.get(script, ())}


def _chinese(text: str) -> tuple[int, int]:
    """Count the simplified-only and the traditional-only characters of a text."""
    simplified, traditional = _unambiguous_characters()
    return sum(map(simplified.__contains__, text)), sum(map(traditional.__contains__, text))


@cache
def _unambiguous_characters() -> tuple[frozenset[str], frozenset[str]]:
    """The characters used only in simplified Chinese, and those used only in traditional Chinese.

    GB 2312 (1980) is a standard for simplified characters, Big5 (1984) one for traditional
    characters; each has a half with frequent and a half with rare characters.  A character counts
    as simplified if it is in the frequent half of GB 2312 but not in that of Big5.  It counts as
    traditional if it is in the frequent half of Big5 but not in GB 2312 at all.
    """
    han = [chr(point) for point in range(0x4E00, 0xA000)]
    mainland = {char for char in han if b"" < char.encode("gb2312", "ignore") < b"\xd8"}
    taiwan = {char for char in han if b"" < char.encode("big5", "ignore") < b"\xc6\x7f"}
    rare = {char for char in taiwan if char.encode("gb2312", "ignore")}
    return frozenset(mainland - taiwan), frozenset(taiwan - mainland - rare)
