"""Sketches of pages for pairing by content: tags, words, file names, block lengths, languages."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import islice

from diptych.language.codes import asked_language
from diptych.language.identify import identify_all
from diptych.text.caches import TextCache
from diptych.text.lengths import text_length
from diptych.text.stems import stem_counts
from diptych.text.urls import origin_of, site_name
from diptych.types import Block, LangScore, Link, Sketch, Url

MAX_TAGS = 4_000  # bounds the work of comparing two pages
_MAX_FILES = 400
_MAX_TEXT = 400_000  # characters of a page whose words are counted
_UNKNOWN_TAG = 1
_MIN_LETTERS = 60  # letters; the language of shorter blocks cannot be identified
_SAMPLED_PLACES = 3  # places sampled to decide if a page is in several languages
_SAMPLE_LENGTH = 150  # characters of a block
_MIN_SHARE = 0.15  # minimum share of each language on a page in several languages
_PAGE_NAME = re.compile(r"(?:\.(?:[sx]?html?|php\d?|aspx?|jsp|cgi|pl|do)|/[^/.]*)\Z", re.IGNORECASE)


def make_sketch(
    images: Iterable[str],
    tags: str,
    texts: Sequence[str],
    links: Sequence[Link],
    url: Url,
    lang: str,
    langs: Sequence[str],
) -> Sketch:
    """Create the sketch of a page in language `lang`.

    `images` are the addresses of its images; `tags` and the `texts` of its blocks come from a walk
    over the page; `langs` are the requested languages.
    """
    bag, block_words = stem_counts(_first_characters(texts, _MAX_TEXT), lang)
    return Sketch(
        tags=tags,
        words=sum(bag.values()),
        bag=bag,
        block_words=block_words,
        files=tuple(sorted(file_names(images, links, url))[:_MAX_FILES]),
        blocks=tuple([_keys[text] for text in texts]),
        shares=language_shares(texts, langs),
    )


def _first_characters(texts: Sequence[str], count: int) -> Sequence[str]:
    """The texts, cut where they have more characters together."""
    if sum(map(len, texts)) <= count:
        return texts
    cut = []
    for text in texts:
        cut.append(text[:count])
        count = max(0, count - len(text))
    return cut


def spell_tags(tags: Iterable[int]) -> str:
    """Encode the parser's tag numbers as characters; closing tags are negative numbers.

    >>> spell_tags([52, -52]) == chr(52) + chr(256 + 52)
    True
    """
    return "".join(map(_TAGS.__getitem__, islice(tags, MAX_TAGS)))


class _Tags(dict[int, str]):
    """The characters of all tag numbers."""

    def __missing__(self, tag: int) -> str:
        return chr(_UNKNOWN_TAG + 256 * (tag < 0))


_TAGS = _Tags(
    {sign * tag: chr(tag + 256 * (sign < 0)) for tag in range(1, 256) for sign in (1, -1)}
)


def _key(text: str) -> tuple[int, float]:
    """A hash of a text, and its length in letters."""
    data = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=7).digest(), "big"), text_length(text)


_keys = TextCache(_key, 8_000_000, per_entry=120)


def file_names(images: Iterable[str], links: Sequence[Link], url: Url) -> set[str]:
    """The names of a page's images and linked files, and the URLs of links to other sites.

    The folders of images and files are omitted, because they often depend on the language.
    """
    found = set(map(_name, images))
    own, home = site_name(url), f"{origin_of(url)}/"
    for target in {link[0] for link in links if link[1] in ("a", "area")}:
        if not target.startswith(home) and site_name(target) != own:
            found.add(target)
        elif not _PAGE_NAME.search(target.partition("?")[0]):
            found.add(_name(target))
    found.discard("")
    return found


def _name(address: str) -> str:
    """The last path segment of an address, in lower case.

    >>> _name("/pictures/fr/Tool%20box.png?v=2")
    'tool%20box.png'
    """
    return address.partition("?")[0].rstrip("/").rpartition("/")[2].lower()[:100]


def language_shares(texts: Sequence[str], langs: Sequence[str]) -> tuple[LangScore, ...]:
    """The share of each language in the texts of a page; empty if the page is in one language.

    Only a few blocks are sampled at first, because nearly all pages are in one language.
    """
    if len(set(langs)) < 2:
        return ()
    long = [text for text in texts if _keys[text][1] >= _MIN_LETTERS]
    # Sample adjacent blocks too, since the languages may alternate.
    places = range(0, len(long), max(2, len(long) // _SAMPLED_PLACES))
    sampled = _text_languages([text for at in places for text in long[at : at + 2]], langs)
    if len({lang for lang in sampled if lang}) < 2:
        return ()
    letters: dict[str, float] = defaultdict(float)
    for text, lang in zip(long, _text_languages(long, langs), strict=True):
        letters[lang] += text_length(text)
    total = sum(letters.values())
    shares = [
        LangScore(lang, round(letters[lang] / total, 3))
        for lang in langs
        if letters[lang] >= _MIN_SHARE * total
    ]
    return tuple(shares) if len(shares) > 1 else ()


def block_languages(
    blocks: Sequence[Block], langs: Sequence[str], *, closed: bool = True
) -> list[str]:
    """The language of each block, out of the requested languages; '' if it is not identified.

    If `closed` is False, a block may also be in a language that is not requested.
    """
    return _text_languages([block.text for block in blocks], langs, closed=closed)


def _text_languages(
    texts: Sequence[str], langs: Sequence[str], *, closed: bool = True
) -> list[str]:
    found = []
    for scores in identify_all([text[:_SAMPLE_LENGTH] for text in texts], langs, closed=closed):
        best = scores[0].lang if scores else ""
        other = "" if closed else best
        found.append(asked_language(best, langs) or other)
    return found
