"""The fields of a URL (protocol, host, path, file, query) and their tokens (Kit & Ng 2007).

The paper's four fields are protocol, host, path and file; the query is our addition.  Nothing is
decoded or repaired: tokens are verbatim parts of the URL, so the URL can be reassembled from them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from diptych.text.caches import TextCache

_PUNCTUATION = re.compile(r"[:/.\-_]+")  # Kit & Ng 2007, section 2
_QUERY_SEPARATOR = re.compile(r"[&;]")
_QUERY_STEP = re.compile(r"[/.]")

# "Insignificant tokens such as htm and html" (section 3): the extensions of pages that the paper's
# spider requests, and similar ones.
EXTENSIONS = frozenset(
    "htm html shtml shtm xhtml xht phtml php php3 php4 php5 asp aspx jsp jspx jsf jspa cfm cgi"
    " do action mhtml dhtml".split()
)
INDEX_NAMES = frozenset({"index", "default"})
"""names of files that a server returns if their directory is requested"""


class Fields(NamedTuple):
    """The fields of a URL, each with its punctuation."""

    protocol: str
    host: str
    path: str
    file: str
    query: str = ""


def split_url(url: str) -> Fields | None:
    """Split a URL into its fields; None if it has no protocol or host.

    >>> split_url("http://www.aud.gov.hk/chi/home/home_c.htm")[:4]
    ('http://', 'www.aud.gov.hk', '/chi/home/', 'home_c.htm')
    >>> split_url("http://example.org?lang=fr#top"), split_url("mailto:a@example.org")
    (Fields(protocol='http://', host='example.org', path='', file='', query='lang=fr'), None)
    """
    scheme, separator, rest = url.partition("://")
    if not separator or not scheme:
        return None
    address, _, query = rest.partition("#")[0].partition("?")
    host, slash, path = address.partition("/")
    if not host:
        return None
    folders, last_slash, file = path.rpartition("/")
    return Fields(scheme + separator, host.lower(), slash + folders + last_slash, file, query)


def tokens(field: str) -> list[str]:
    """Split a field into tokens at the punctuation characters of the paper.

    >>> tokens("www.aud.gov.hk"), tokens("/chi/home/"), tokens("home_c.htm")
    (['www', 'aud', 'gov', 'hk'], ['chi', 'home'], ['home', 'c', 'htm'])
    """
    return [token for token in _PUNCTUATION.split(field) if token]


def significant(found: list[str]) -> list[str]:
    """Remove file extensions, such as `htm`, from a list of tokens.

    >>> significant(["home", "c", "htm"])
    ['home', 'c']
    """
    return [token for token in found if token.lower() not in EXTENSIONS]


def query_tokens(query: str) -> list[str]:
    """The tokens of a query: one per parameter, or one per path segment if its value is a path.

    >>> query_tokens("lang=en_US&id=12&print"), query_tokens("page=fr/about.php")
    (['lang=en_US', 'id=12', 'print'], ['page=fr', 'page=about', 'page=php'])
    """
    found: list[str] = []
    for parameter in _QUERY_SEPARATOR.split(query):
        name, _, value = parameter.partition("=")
        steps = [step for step in _QUERY_STEP.split(value) if step]
        if len(steps) > 1:
            found.extend(f"{name}={step}" for step in steps)
        elif parameter:
            found.append(parameter)
    return found


def tagged_tokens(url: str, *, paper: bool = False) -> list[str] | None:
    """The significant tokens of a URL, each prefixed with the first letter of its field.

    The result is None if the URL has no protocol or host.  The protocol is omitted, because http
    and https lead to the same page.  The names of index files are omitted too, unless `paper` is
    True.  Parameters are sorted.

    >>> tagged_tokens("http://x.org/fr/index_a.html?id=2")
    ['hx', 'horg', 'pfr', 'fa', 'qid=2']
    """
    fields = split_url(url)
    if fields is None:
        return None
    _, host, path, file, query = fields
    found = [*_host_tokens(host), *_path_tokens[path]]
    for token in _PUNCTUATION.split(file):
        if token:
            lowered = token.lower()
            if lowered not in EXTENSIONS and (paper or lowered not in INDEX_NAMES):
                found.append("f" + token)
    if query:
        found += sorted("q" + token for token in query_tokens(query))
    return found


# Many pages share a host and a folder.
@lru_cache(maxsize=1024)
def _host_tokens(host: str) -> tuple[str, ...]:
    return tuple("h" + token for token in tokens(host))


def _read_path(path: str) -> tuple[str, ...]:
    return tuple("p" + token for token in significant(tokens(path)))


_path_tokens = TextCache(_read_path, 16_000_000, per_character=30)
