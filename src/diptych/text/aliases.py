"""Rewrite rules for URLs that often lead to the same page: trailing slash, index files, parameters.

The name of a rule describes its effect.  `frontier.aliases` learns which rules apply to a host and
its sections.  The literature calls such URLs DUST (different URLs with similar text).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from diptych.text.urls import normalise, origin_of
from diptych.types import Url

MAX_STEPS = 3  # rules that one redirect may combine: http to https, www, a slash
MAX_PARAMETERS = 12  # of a query; a URL with more counts as a crawler trap
MAX_NAME = 64  # characters of a parameter name; longer ones are data
_INDEX = re.compile(r"/(?:index|default|home|welcome)\.(?:x?html?|shtml|php\d?|aspx?|jsp)\Z", re.I)
_EXTENSION = re.compile(r"\.(?:x?html?|shtml|php\d?|aspx?|jsp)\Z", re.I)
_PATH_PARAMETER = re.compile(r";[^/;]*")
_TWIN = re.compile(r"/(amp|print|printable)/?\Z", re.I)
_TWIN_FOLDER = re.compile(r"\A/(amp|print|printable)(?=/.)", re.I)
_TWIN_NAME = re.compile(r"(?<=[^/])[._-](amp|print|printable)(?=(?:\.[a-z]{3,5})?\Z)", re.I)
_SLASHES = re.compile(r"/{2,}")


class Rewriting(NamedTuple):
    """A rewritten URL and the name of the rule that produced it."""

    rule: str
    url: Url


def rewritings(url: Url) -> Iterator[Rewriting]:
    """Yield every rewrite of a URL that a single rule produces.

    >>> [made.rule for made in rewritings(Url("http://a.org/News?b=1&a"))]
    ['https', 'www', 'slash', 'lower case', 'without ?b', 'without ?a', 'sorted parameters']
    >>> [made.url for made in rewritings(Url("https://www.a.org/x/index.html"))][1:]
    ['https://a.org/x/index.html', 'https://www.a.org/x/', 'https://www.a.org/x/index']
    """
    scheme, _, rest = url.partition("://")
    address, _, query = rest.partition("?")
    host, _, path = address.partition("/")
    for rule, changed in _of_parts(scheme, host, "/" + path, query):
        made = normalise(changed)
        if made is not None and made != url:
            yield Rewriting(rule, made)


def _of_parts(scheme: str, host: str, path: str, query: str) -> Iterator[tuple[str, str]]:
    end = f"?{query}" if query else ""
    other = "https" if scheme == "http" else "http"
    yield other, f"{other}://{host}{path}{end}"
    if host.startswith("www."):
        yield "without www", f"{scheme}://{host[4:]}{path}{end}"
    elif "." in host:
        yield "www", f"{scheme}://www.{host}{path}{end}"
    start = f"{scheme}://{host}"
    yield from ((rule, f"{start}{changed}{end}") for rule, changed in _of_path(path))
    yield from ((rule, f"{start}{path}{changed}") for rule, changed in _of_query(query))


def _of_path(path: str) -> Iterator[tuple[str, str]]:
    last = path.rpartition("/")[2]
    if path.endswith("/") and path != "/":
        yield "without slash", path[:-1]
    elif last and not _EXTENSION.search(last):
        yield "slash", path + "/"
    if _INDEX.search(path):
        yield "without index file", _INDEX.sub("/", path)
    if _EXTENSION.search(last):
        yield "without extension", _EXTENSION.sub("", path)
    if path != path.lower():
        yield "lower case", path.lower()
    if ";" in path:
        yield "without ;parameter", _PATH_PARAMETER.sub("", path)
    if "//" in path:
        yield "single slashes", _SLASHES.sub("/", path)
    yield from _of_twin(path)


def _of_twin(path: str) -> Iterator[tuple[str, str]]:
    """If a path is that of an AMP or print version, yield (rule, path of the main page)."""
    if twin := _TWIN.search(path):
        yield f"without /{twin[1].lower()}", path[: twin.start()] + "/"
        yield f"without /{twin[1].lower()} and slash", path[: twin.start()]
    if twin := _TWIN_FOLDER.search(path):
        yield f"without folder {twin[1].lower()}", path[twin.end() :]
    if twin := _TWIN_NAME.search(path):
        yield f"without -{twin[1].lower()}", path[: twin.start()] + path[twin.end() :]


def _of_query(query: str) -> Iterator[tuple[str, str]]:
    items = query.split("&") if query else []
    if len(items) > MAX_PARAMETERS:
        return
    names = [item.partition("=")[0] for item in items]
    for name in dict.fromkeys(names):
        kept = [item for item, own in zip(items, names, strict=True) if own != name]
        if 0 < len(name) <= MAX_NAME:
            yield f"without ?{name}", "?" + "&".join(kept) if kept else ""
    filled = [item for item in items if item and not item.endswith("=")]
    if filled != items:
        yield "without empty parameters", "?" + "&".join(filled) if filled else ""
    if items != sorted(items):
        yield "sorted parameters", "?" + "&".join(sorted(items))


def path_between(url: Url, target: Url) -> tuple[Rewriting, ...]:
    """The shortest sequence of rewrites that turns one URL into another; empty if there is none.

    >>> [made.url for made in path_between(Url("http://a.org/x"), Url("https://a.org/x/"))]
    ['https://a.org/x', 'https://a.org/x/']
    """
    if not _may_be_related(url, target):
        return ()
    longest = max(len(url), len(target)) + len("https://www./") - len("http://")
    found: dict[Url, tuple[Rewriting, ...]] = {url: ()}
    newest = [url]
    for _ in range(MAX_STEPS):
        newest, last = [], newest
        for each in last:
            for step in rewritings(each):
                if step.url in found or len(step.url) > longest:
                    continue
                found[step.url] = (*found[each], step)
                newest.append(step.url)
                if step.url == target:
                    return found[target]
    return ()


def _may_be_related(url: Url, target: Url) -> bool:
    """False if no rules can turn `url` into `target`; this quickly excludes most redirects."""
    host, other = (origin_of(each).partition("://")[2] for each in (url, target))
    names, others = (
        {item.partition("=")[0] for item in each.partition("?")[2].split("&")}
        for each in (url, target)
    )
    is_same_host = host.removeprefix("www.") == other.removeprefix("www.")
    return is_same_host and others <= names | {""} and len(names - others) <= MAX_STEPS


def rules_between(url: Url, target: Url) -> tuple[str, ...]:
    """The shortest sequence of rules that turns one URL into another; empty if there is none.

    >>> rules_between(Url("http://a.org/x"), Url("https://www.a.org/x/"))
    ('https', 'www', 'slash')
    >>> rules_between(Url("http://a.org/x"), Url("http://a.org/y"))
    ()
    """
    return tuple(step.rule for step in path_between(url, target))


def are_aliases(url: Url, other: Url) -> bool:
    """True if rewrite rules can turn one of two URLs into the other.

    >>> are_aliases(Url("http://a.org/x/"), Url("http://a.org/x/index.html"))
    True
    """
    return bool(path_between(url, other) or path_between(other, url))
