"""Segments with the noise of the web, each made from a correct segment.

    neighbour       the translation of the sentence before or after
    random          the translation of another sentence of the page with a similar length
    partial         an additional sentence on one side
    truncated       one side cut in its middle
    third language  the translation into a third language, or another text in that language
    untranslated    the original on both sides, or with a few words left out
    spam            shuffled words, repeated phrases, lists of words, word-by-word translation
    mojibake        one side decoded in the wrong encoding

A noisy segment keeps the score of the original, so that the score does not reveal the noise.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from diptych.language.codes import primary
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.text.tokens import tokens
from diptych.text.words import words
from diptych.types import SegmentPair

_UNSPACED = frozenset({"ja", "zh", "th", "km", "lo", "my"})
_LEAST_CUT = 30  # characters of a text that can be cut so that anybody can see it
_LEAST_WORDS = 6  # fewer may stand in many orders
_LEGACY = ("cp1252", "cp1251", "euc-jp", "gb18030", "iso8859-2", "koi8-r", "shift_jis")


class Around(NamedTuple):
    """The context of a segment, from which noise is made."""

    segs: Sequence[SegmentPair]
    """all correct segments of the page, in order"""
    at: int
    third: Mapping[str, str]
    """translations of left texts into a third language"""
    others: Sequence[str]
    """texts in the third language"""
    lexicon: Lexicon


Maker = Callable[[Around, random.Random], SegmentPair | None]


def neighbour(around: Around, rng: random.Random) -> SegmentPair | None:
    """The segment with one side of the previous or next segment."""
    places = [at for at in (around.at - 1, around.at + 1) if 0 <= at < len(around.segs)]
    return _crossed(around, rng.choice(places), rng) if places else None


def anywhere(around: Around, rng: random.Random) -> SegmentPair | None:
    """The segment with one side of another segment of its page: of five, the closest in length."""
    if len(around.segs) < 3:
        return None
    length = len(around.segs[around.at].right)
    some = [rng.randrange(len(around.segs)) for _ in range(5)]
    some = [at for at in some if at != around.at]
    if not some:
        return None
    place = min(some, key=lambda at: abs(len(around.segs[at].right) - length))
    return _crossed(around, place, rng)


def _crossed(around: Around, place: int, rng: random.Random) -> SegmentPair | None:
    seg, other = around.segs[around.at], around.segs[place]
    if seg.left == other.left or seg.right == other.right:
        return None
    return _either(seg, other.left, other.right, rng)


def _either(seg: SegmentPair, left: str, right: str, rng: random.Random) -> SegmentPair:
    """The segment with another text on the left or on the right."""
    return seg._replace(left=left) if rng.random() < 0.5 else seg._replace(right=right)


def partial(around: Around, rng: random.Random) -> SegmentPair | None:
    """The segment with an additional sentence on one side."""
    if around.at + 1 >= len(around.segs):
        return None
    seg, after = around.segs[around.at], around.segs[around.at + 1]
    if min(len(after.left), len(after.right)) * 4 < max(len(seg.left), len(seg.right)):
        return None  # a word or two too many is no error that anybody can see
    left, right = (
        f"{one}{'' if primary(lang) in _UNSPACED else ' '}{other}"
        for one, other, lang in (
            (seg.left, after.left, seg.left_lang), (seg.right, after.right, seg.right_lang),
        )
    )  # fmt: skip
    return _either(seg, left, right, rng)


def truncated(around: Around, rng: random.Random) -> SegmentPair | None:
    """The segment with one side cut to between a third and two thirds."""
    seg = around.segs[around.at]
    if min(len(seg.left), len(seg.right)) < _LEAST_CUT:
        return None
    share = rng.uniform(0.33, 0.67)
    return _either(seg, _cut(seg.left, share), _cut(seg.right, share), rng)


def _cut(text: str, share: float) -> str:
    end = round(len(text) * share)
    space = text.find(" ", end)
    return text[: space if 0 <= space < end + 10 else end].strip()


def third_language(around: Around, rng: random.Random) -> SegmentPair | None:
    """The segment with its right side in another language."""
    seg = around.segs[around.at]
    text = around.third.get(seg.left)
    if text is None and around.others:
        length = len(seg.right)
        some = [rng.choice(around.others) for _ in range(5)]
        text = min(some, key=lambda other: abs(len(other) - length))
    return None if text is None or text in (seg.left, seg.right) else seg._replace(right=text)


def untranslated(around: Around, rng: random.Random) -> SegmentPair | None:
    """The original on both sides; in half of the cases, one word in ten is left out."""
    seg = around.segs[around.at]
    copy = seg.left
    if rng.random() < 0.5:
        kept = [word for word in copy.split() if rng.random() > 0.1]
        copy = " ".join(kept) or copy
    return seg._replace(right=copy)


def spam(around: Around, rng: random.Random) -> SegmentPair | None:
    """The segment with one side replaced by spam of one of four kinds."""
    makers = [_shuffled, _repeated, _listed, _word_by_word]
    return rng.choice(makers)(around, rng)


def _pieces(text: str, lang: str) -> tuple[list[str], str]:
    """The words with their punctuation, and the separators between them."""
    return (words(text, lang), "") if primary(lang) in _UNSPACED else (text.split(), " ")


def _shuffled(around: Around, rng: random.Random) -> SegmentPair | None:
    seg = around.segs[around.at]
    pieces, between = _pieces(seg.right, seg.right_lang)
    if len(pieces) < _LEAST_WORDS:
        return None
    rng.shuffle(pieces)
    return seg._replace(right=between.join(pieces))


def _repeated(around: Around, rng: random.Random) -> SegmentPair | None:
    """A few words of the translation, repeated to about its length."""
    seg = around.segs[around.at]
    pieces, between = _pieces(seg.right, seg.right_lang)
    if len(pieces) < 6:
        return None
    size = rng.randint(1, 3)
    start = rng.randrange(len(pieces) - size)
    phrase = pieces[start : start + size]
    return seg._replace(right=between.join(phrase * (len(pieces) // size)))


def _listed(around: Around, rng: random.Random) -> SegmentPair | None:
    """A list of long words of the page, as for search engines."""
    seg = around.segs[around.at]
    own, between = _pieces(seg.right, seg.right_lang)
    pool = sorted({
        word for other in around.segs for word in words(other.right, other.right_lang)
        if len(word) >= (2 if not between else 6)
    })  # fmt: skip
    if len(own) < 4 or len(pool) < 6:
        return None
    chosen = [rng.choice(pool) for _ in range(len(own) * 3 // 4 + 1)]
    return seg._replace(right=rng.choice([", ", " "]).join(chosen))


def _word_by_word(around: Around, rng: random.Random) -> SegmentPair | None:
    """The most probable translation of each word, in random order."""
    seg = around.segs[around.at]
    found = [
        best[0][0]
        for word in tokens(seg.left, seg.left_lang)
        if (best := around.lexicon.best(word, n=1))
    ]
    if len(found) < _LEAST_WORDS:
        return None
    rng.shuffle(found)
    between = "" if primary(seg.right_lang) in _UNSPACED else " "
    return seg._replace(right=between.join(found).capitalize())


def mojibake(around: Around, rng: random.Random) -> SegmentPair | None:
    """The segment with one side decoded in the wrong encoding, then cleaned like a page."""
    seg = around.segs[around.at]
    sides = [text for text in (seg.left, seg.right) if not text.isascii()]
    if not sides:
        return None
    text = rng.choice(sides)
    if rng.random() < 0.6:
        wrong = _as_western(text.encode())
    else:
        legacy = rng.choice([code for code in _LEGACY if _can(text, code)] or ["utf-16-le"])
        wrong = text.encode(legacy).decode("utf-8", "replace")
    wrong = " ".join("".join(char for char in wrong if unicodedata.category(char) != "Cc").split())
    if wrong in ("", text):
        return None
    return seg._replace(left=wrong) if text is seg.left else seg._replace(right=wrong)


_UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")


def _as_western(data: bytes) -> str:
    return _UNDEFINED.sub(b"", data).decode("cp1252", "replace")


def _can(text: str, code: str) -> bool:
    try:
        return bool(text.encode(code))
    except UnicodeEncodeError:
        return False


NOISES: Mapping[str, Maker] = {
    "neighbour": neighbour, "random": anywhere, "partial": partial, "truncated": truncated,
    "third language": third_language, "untranslated": untranslated, "spam": spam,
    "mojibake": mojibake,
}  # fmt: skip
