"""Features of a link (Barbosa et al. 2011): hashed words of its host, URL, anchor and surroundings.

Words are distinguished by context: `hotel` in an anchor and `hotel` in a URL are different
features.  Words are stemmed by truncation and hashed to numbers.
"""

from __future__ import annotations

import re
from zlib import crc32

from diptych.text.cognates import folded, stem
from diptych.text.url_fields import significant, split_url, tokens
from diptych.types import Link

BUCKETS = 1 << 18
# DEVIATION(barbosa): stop word lists exist for few languages; words this short are left out, and
# the remaining stop words have no weight in Naive Bayes, being equally frequent in both classes.
_MIN_WORD = 3  # letters of a word in running text
_MAX_WORDS = 60  # words per context
_WORD = re.compile(r"[^\W_]+")


def neighbourhood(link: Link) -> tuple[int, ...]:
    """The features of a link: each word with its context, as sorted numbers below `BUCKETS`.

    >>> a = neighbourhood(Link("http://hotels.example.es/links.html", anchor="Hoteles en Madrid"))
    >>> b = neighbourhood(Link("http://hotels.example.es/links.html", anchor="Hotels in Madrid"))
    >>> len(a), a == b
    (6, True)
    """
    fields = split_url(link.url)
    found = set()
    if fields is not None:
        found |= {f"h:{stem(token)}" for token in tokens(fields.host) if token != "www"}
        path = [*tokens(fields.path), *tokens(fields.file), *tokens(fields.query)]
        found |= {f"u:{stem(token.lower())}" for token in significant(path)[:_MAX_WORDS]}
    found |= {f"a:{word}" for word in words_of(f"{link.anchor} {link.alt}")}
    found |= {f"r:{word}" for word in words_of(link.around)}
    return tuple(sorted({crc32(word.encode("utf-8", "replace")) % BUCKETS for word in found}))


def words_of(text: str) -> list[str]:
    """The stems of the words in a text, in Latin letters; very short words are omitted.

    >>> words_of("Enlaces a la Región")
    ['enlac', 'regio']
    """
    words = (folded(word) for word in _WORD.findall(text)[:_MAX_WORDS])
    return [stem(word) for word in words if len(word) >= _MIN_WORD]
