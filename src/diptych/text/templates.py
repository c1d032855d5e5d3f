"""Templates: texts of a site that differ from many others only in one word, names or numbers.

An address counts as a name, and so does a word that is on both sides.
"""

from __future__ import annotations

import re

from diptych.text.digests import signed_hash

# An e-mail address begins where its letters do, or a search in long texts would be quadratic.
ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"']+|(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+")
"""a URL or an e-mail address"""
SLOT = "\0"
"""replaces what varies in a template"""
Words = tuple[list[str], list[str]]
"""the words of two texts; a slot stands for each run of names, numbers and addresses"""
HALVES = ((0, 0), (0, 1), (1, 0), (1, 1))
"""choices of a half of each side: 0 is the first half, 1 is the second"""
_MAX_LENGTH = 300  # characters; longer texts are not templates
# Where one word varies, at least two other words on each side are the same.  If one were enough,
# good labels would be left out on two of 34 runs: "Our team" and "Our mission", "No mistakes".
_MIN_FIXED = 2
_MAX_WORDS = 12  # with one that varies; longer texts are sentences, and would have too many keys
_TOKEN = re.compile(rf"{SLOT}|[^\W_]+(?:['’.-][^\W_]+)*")


def masked_words(left: str, right: str) -> Words | None:
    """The words of two texts, with slots instead of names, numbers and addresses; None if long.

    A word that both texts contain counts as a name.

    >>> words = masked_words("Square tag Why Russian? (2018)", "Etiqueta Why Russian?")
    >>> [" ".join(side).replace(SLOT, "_") for side in words]
    ['square tag _', 'etiqueta _']
    """
    if len(left) > _MAX_LENGTH or len(right) > _MAX_LENGTH:
        return None
    ours, theirs = (_TOKEN.findall(_without_addresses(text).casefold()) for text in (left, right))
    shared = {*ours} & {*theirs}
    return _masked(ours, shared), _masked(theirs, shared)


def _without_addresses(text: str) -> str:
    """Replace each address by a slot; most texts have no part that every address has."""
    if "@" in text or "://" in text or "www." in text:
        return ADDRESS.sub(SLOT, text)
    return text


def name_key(words: Words) -> int:
    """A hash of what is fixed if names, numbers and addresses vary; 0 if nothing is, or none do.

    >>> one = masked_words("Square tag Cloudy Fever", "Etiqueta cuadrada Cloudy Fever")
    >>> other = masked_words("Square tag Ghoul", "Etiqueta cuadrada Ghoul")
    >>> name_key(one) == name_key(other) != 0
    True
    >>> name_key(masked_words("Contact us", "Contacto")), name_key(masked_words("Ghoul", "Ghoul"))
    (0, 0)
    """
    if any(SLOT not in side for side in words) or words == ([SLOT], [SLOT]):
        return 0
    return signed_hash("\n".join(map(" ".join, words)).encode("utf-8", "surrogatepass")) or 1


def half_keys(words: Words) -> tuple[int, ...]:
    """Hashes of a half of each side, in the order of `HALVES`; none if there are no word keys.

    Texts with the same word key have the same hash of those halves.  Both are equal only in the
    same process.

    >>> red = masked_words("Square tag red", "Etiqueta cuadrada roja")
    >>> blue = masked_words("Square tag blue", "Etiqueta cuadrada azul")
    >>> [one == other for one, other in zip(half_keys(red), half_keys(blue))]
    [True, False, False, False]
    >>> half_keys(masked_words("Our team", "Notre équipe"))
    ()
    """
    if any(
        not _MIN_FIXED < len(side) <= _MAX_WORDS or len(side) - side.count(SLOT) < _MIN_FIXED
        for side in words
    ):
        return ()
    ours, theirs = (_halves(side) for side in words)
    return tuple([hash((ours[one], theirs[other])) for one, other in HALVES])


def word_keys(words: Words, halves: tuple[int, int]) -> list[int]:
    """Hashes of what is fixed if one word of each side varies, but not in these halves.

    There is one for each word that may be meant.  It may stand in the place of names or numbers.

    >>> red = word_keys(masked_words("Square tag red", "Etiqueta cuadrada roja"), HALVES[0])
    >>> ghoul = word_keys(masked_words("Square tag Ghoul", "Etiqueta cuadrada Ghoul"), HALVES[0])
    >>> len(red), len(ghoul), len({*red} & {*ghoul})
    (4, 1, 1)
    """
    ours, theirs = (_without_one(side, half) for side, half in zip(words, halves, strict=True))
    return [hash((one, other)) for one in ours for other in theirs]


def _halves(side: list[str]) -> tuple[int, int]:
    size = len(side)
    middle = size // 2
    return hash((size, *side[:middle])), hash((size, *side[middle:]))


def _without_one(side: list[str], half: int) -> set[int]:
    """Hashes of a side with a word outside this half replaced by a slot, if enough is fixed."""
    middle = len(side) // 2
    places = range(middle) if half else range(middle, len(side))
    fixed = len(side) - side.count(SLOT)
    return {
        hash((*side[:place], SLOT, *side[place + 1 :]))
        for place in places
        if fixed - (side[place] != SLOT) >= _MIN_FIXED
    }


def _masked(tokens: list[str], shared: set[str]) -> list[str]:
    """Replace each run of shared tokens, numbers and addresses by a slot."""
    if not shared and "".join(tokens).isalpha():
        return tokens
    found: list[str] = []
    for token in tokens:
        is_word = token.isalpha() or (token != SLOT and not any(map(str.isdigit, token)))
        if is_word and token not in shared:
            found.append(token)
        elif not found or found[-1] != SLOT:
            found.append(SLOT)
    return found
