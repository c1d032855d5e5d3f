"""Learn from redirects and duplicate pages which URLs of a site lead to the same page.

An alias rule (`text.aliases`) rewrites a URL to another URL of the same page.  The confirmations
and exceptions of each rule are counted for each host and for each section of a host.  Once a rule
has held for several pages without an exception, it is applied to queued and new URLs.  A single
exception demotes it.  To test a rule, a few of the URLs that it applies to are still fetched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from diptych.frontier.queries import SQL
from diptych.frontier.queue import State
from diptych.language.codes import same_language
from diptych.page.distinct import content_of
from diptych.page.template import Template, block_keys, is_same_text
from diptych.reason import alias_reason
from diptych.run.store import Store
from diptych.text.aliases import path_between, rewritings
from diptych.text.caches import TextMap
from diptych.text.urls import origin_of, site_name, url_key
from diptych.types import Page, PageRecord, Url

MIN_HELD = (4, 3)  # pages for which a rule must have held: on a host, in a section
TESTED = 32  # one in this many URLs that a rule applies to is still fetched, to test the rule
MAX_TWINS = 32_000_000  # bytes of cached contents and rewritten URLs
MAX_URL = 512  # characters; no rules are learned from longer URLs, which would need too much memory
MAX_STEPS = 4  # rules applied to one URL
MAX_RULES = 500  # per host, and four times as many for its sections: a site may invent parameters
MAX_COUNTS = 200_000  # rule counts of all hosts
# A page may have many variants: only these occurrences count for a rule.  If many values of a
# parameter lead to one "not found" text, other values may still lead to pages.
_COUNTED = frozenset((1, 16, 64))
_MIN_PAGES = 10  # pages in a language; with fewer pages, its template is unknown
_MAX_BLOCKS, _MAX_TEMPLATES = 20_000, 32  # blocks per host, and hosts
REASON = alias_reason("")
"""start of the stored reason for an alias; the names of the rules follow"""
AND = " + "
"""separator between the names of the rules"""
_TELLING = ("without", "lower", "sorted", "single")  # rules that are useful without redirects


@dataclass(slots=True)
class Counts:
    """The numbers of redirects (`moved`) and duplicate pages (`same`) that confirm an alias rule.

    `broken` is the number of exceptions to the rule.
    """

    moved: int = 0
    same: int = 0
    broken: int = 0

    def is_active(self, least: int) -> bool:
        """True if the rule has held at least `least` times without an exception."""
        return self.moved + self.same >= least and not self.broken


class Alias(NamedTuple):
    """The target URL of an alias, and the names of the rules that lead to it."""

    url: Url
    rule: str


class Aliases:
    """The alias rules for all hosts of a run; their counts are kept in the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._counts: dict[tuple[str, str], Counts] = {}
        """(origin or section, rule) -> counts"""
        self._sizes: Counter[tuple[str, bool]] = Counter()
        """number of counts kept for each origin: for the origin itself, and for its sections"""
        self._active: dict[str, dict[str, None]] = {}
        """origin -> rules that have been active for any part of it"""
        self._demoted: dict[str, None] = {}
        self._contents: TextMap[Url] = TextMap(MAX_TWINS, per_entry=MAX_URL)
        """content -> the first page with that content"""
        self._twins: TextMap[Url] = TextMap(MAX_TWINS, per_character=2)
        """rule and rewritten URL -> the first page that the rule rewrites to it"""
        self._held: TextMap[int] = TextMap(MAX_TWINS // 4)
        """rule and page -> how often the rule held for the page"""
        self._templates: dict[str, Template] = {}
        for scope, rule, *counts in store.db.execute(SQL["alias_rules"], (MAX_COUNTS,)):
            if (known := self._counts_of(scope, rule)) is not None:
                known.moved, known.same, known.broken = counts
                if known.is_active(MIN_HELD[_is_section(scope)]):
                    self._active.setdefault(_origin(scope), {})[rule] = None

    def forget(self) -> None:
        """Free all caches after the crawl; the rules are in the store."""
        for cache in (self._contents, self._twins, self._held, self._templates, self._counts):
            cache.clear()

    # -- learning ----------------------------------------------------------------------------

    def learn_redirect(self, url: Url, target: Url) -> list[str]:
        """Learn alias rules from a redirect, and return the rules that have become active."""
        newly: list[str] = []
        if len(url) > MAX_URL or len(target) > MAX_URL:
            return newly
        at, path = url, path_between(url, target)
        for rule, made in path:
            if self._is_news(rule, target):
                newly += self._count(at, [rule], moved=1)
            at = made
        at = target
        for rule, made in path_between(target, url):  # the reverse direction does not hold
            self._count(at, [rule], broken=1)
            at = made
        if not path and site_name(url) == site_name(target):
            self._count(url, self._contradicted(url, target), broken=1)
        return newly

    def _contradicted(self, url: Url, target: Url) -> list[str]:
        """The active rules that rewrite `url` to a fetched page that is not its redirect target."""
        return [
            rule
            for rule, made in rewritings(url)
            if self.holds(url, rule)
            and self._store.record(made) is not None
            and not path_between(made, target)
        ]

    def learn_page(self, page: Page) -> list[str]:
        """Learn alias rules from a page and its duplicates, and return the newly active rules."""
        url, content = page.url, content_of(page.record)
        if len(url) > MAX_URL:
            return []
        if (blocks := block_keys(page)) is not None:
            self._template(url).add(page.lang, blocks)
        same: list[str] = []
        broken: list[str] = []
        made_of = [each for each in rewritings(url) if not self._is_broken(url, each.rule)]
        stored = self._store.stored([made for _, made in made_of])
        for rule, made in made_of:
            if (twin := self._twin(rule, made, url, is_stored=made in stored)) is not None:
                is_same = self._is_same(page, twin)
                if is_same and self._is_news(rule, content_of(twin)):
                    same.append(rule)
                elif is_same is False:
                    broken.append(rule)
            elif self._is_redirecting(url, rule):
                broken.append(rule)
            if rule.startswith(_TELLING) and f"{rule} {made}" not in self._twins:
                self._twins.keep(f"{rule} {made}", url)
        self._count(url, broken, broken=1)
        return self._count(url, same, same=1) + self._learn_copy(url, content)

    def _learn_copy(self, url: Url, content: str) -> list[str]:
        """Learn from an earlier page with the same content as `url`, if there is one.

        It confirms the rules that rewrite the earlier page's URL to `url`.  Return the rules that
        have become active.
        """
        other = self._contents.get(content)
        if other is None or other == url:
            self._contents.keep(content, url)
            return []
        rules = [rule for rule, made in rewritings(other) if made == url]
        return self._count(other, [r for r in rules if self._is_news(r, content)], same=1)

    def _twin(self, rule: str, made: Url, url: Url, *, is_stored: bool) -> PageRecord | None:
        """The record of another fetched page that `rule` treats as the same page as `url`, or None.

        `made` is the URL to which the rule rewrites `url`, and may be a page that is stored.
        """
        if is_stored:
            return self._store.record(made)
        twin = self._twins.get(f"{rule} {made}")
        return self._store.record(twin) if twin is not None and twin != url else None

    def _is_same(self, page: Page, twin: PageRecord) -> bool | None:
        """True if two pages have nearly the same text; None if this cannot be decided yet."""
        if content_of(page.record) == content_of(twin):
            return True
        lang, blocks = page.lang, block_keys(page)
        if not blocks or (lang and twin.lang and not same_language(lang, twin.lang)):
            return False
        other = self._store.sketch(twin.url)
        if other is None or not other.blocks:
            return False
        template = self._template(page.url)
        if template.pages[lang] < _MIN_PAGES:
            return None
        return is_same_text(template.own(lang, blocks), template.own(lang, other.blocks))

    def _template(self, url: Url) -> Template:
        """Return the template of a URL's host: counts of the text blocks that its pages share.

        A missing template is created.  If there are too many templates, the oldest is dropped.
        """
        origin = origin_of(url)
        if origin not in self._templates:
            if len(self._templates) >= _MAX_TEMPLATES:
                del self._templates[next(iter(self._templates))]
            self._templates[origin] = Template(_MAX_BLOCKS)
        return self._templates[origin]

    def _is_news(self, rule: str, page: str) -> bool:
        """Record that a rule held for a page, and return True if this occurrence is to be counted.

        `page` is the page's URL or content.  Only a few occurrences per page are counted, because a
        page may have many variants.
        """
        times = self._held.get(f"{rule} {page}", 0) + 1
        return self._held.keep(f"{rule} {page}", times) in _COUNTED

    def _is_broken(self, url: Url, rule: str) -> bool:
        """True if a rule has exceptions both on the URL's host and in the URL's section."""
        known = (self._counts.get((scope, rule)) for scope in scopes(url))
        return all(counts is not None and counts.broken for counts in known)

    def _is_redirecting(self, url: Url, rule: str) -> bool:
        """True if a rule was learned mainly from redirects.

        A page that does not redirect then contradicts the rule.
        """
        return any(
            (counts := self._counts.get((scope, rule))) is not None and counts.moved > counts.same
            for scope in scopes(url)
        )

    def _count(
        self, url: Url, rules: Iterable[str], *, moved: int = 0, same: int = 0, broken: int = 0
    ) -> list[str]:
        """Add `moved`, `same` and `broken` to the counts of rules for a URL's host and section.

        Return the rules that have become active.
        """
        newly: dict[str, None] = {}
        for rule in rules:
            for scope, least in zip(scopes(url), MIN_HELD, strict=True):
                if (counts := self._counts_of(scope, rule)) is None:
                    continue
                was_active = counts.is_active(least)
                counts.moved += moved
                counts.same += same
                counts.broken += broken
                row = scope, rule, counts.moved, counts.same, counts.broken
                self._store.db.execute("INSERT OR REPLACE INTO alias_rules VALUES (?,?,?,?,?)", row)
                if counts.is_active(least) and not was_active:
                    newly[rule] = None
                    self._active.setdefault(origin_of(url), {})[rule] = None
                elif was_active and not counts.is_active(least):
                    self._demoted[rule] = None
        return list(newly)

    def _counts_of(self, scope: str, rule: str) -> Counts | None:
        """Return the counts of a rule for a host or section, creating them if necessary.

        Return None if too many rules are already being counted.
        """
        counts = self._counts.get((scope, rule))
        if counts is None:
            is_section = _is_section(scope)
            size = _origin(scope), is_section
            most = 4 * MAX_RULES if is_section else MAX_RULES
            if self._sizes[size] < most and len(self._counts) < MAX_COUNTS:
                self._sizes[size] += 1
                counts = self._counts[scope, rule] = Counts()
        return counts

    def take_demoted(self) -> list[str]:
        """Return the rules that were demoted for any host or section since the last call.

        `Frontier.undo_aliases` requeues the URLs that these rules turned into aliases.
        """
        demoted = list(self._demoted)
        self._demoted.clear()
        return demoted

    # -- applying ----------------------------------------------------------------------------

    def alias(self, url: Url) -> Alias | None:
        """The target of `url` and the active rules applied; None if `url` is not an alias."""
        if origin_of(url) not in self._active or url_key(url) % TESTED == 0:
            return None
        passed, rules = [url], list[str]()
        while (step := next(self._steps(passed[-1]), None)) is not None:
            if step.url in passed:
                end = passed.index(self._best(passed[passed.index(step.url) :]))
                passed, rules = passed[: end + 1], rules[:end]
                break
            if len(rules) == MAX_STEPS:
                return None
            passed.append(step.url)
            rules.append(step.rule)
        if not rules or self._leads_to(passed[-1], url):
            return None
        return Alias(passed[-1], AND.join(dict.fromkeys(rules)))

    def _best(self, cycle: Iterable[Url]) -> Url:
        """Choose the target for a cycle of aliases: a fetched URL, or else the shortest URL."""
        return min(cycle, key=lambda url: (self._state(url) != State.FETCHED, len(url), url))

    def holds(self, url: Url, rule: str) -> bool:
        """True if a rule is active for a URL."""
        return self._active_counts(url, rule) is not None

    def _steps(self, url: Url) -> Iterator[Alias]:
        """Yield each URL that an active rule treats as the same page as `url`, with the rule."""
        active = self._active.get(origin_of(url), {})
        for rule, made in rewritings(url):
            counts = self._active_counts(url, rule) if rule in active else None
            if counts is None:
                continue
            if counts.moved:
                if self._state(made) not in (State.FAILED, State.REFUSED, State.OUTSIDE):
                    yield Alias(made, rule)
            elif (known := self._known(rule, made, url)) is not None:
                yield Alias(known, rule)
        for rule in active:  # other URLs may be rewritten to this one
            twin = self._twins.get(f"{rule} {url}")
            if twin is not None and (counts := self._active_counts(url, rule)) and counts.same:
                yield Alias(twin, rule)

    def _known(self, rule: str, made: Url, url: Url) -> Url | None:
        """Another known URL that `rule` treats as the same page as `url`; None if there is none.

        `made` is the URL to which the rule rewrites `url`.
        """
        if self._state(made) in (State.QUEUED, State.CLAIMED, State.FETCHED):
            return made
        twin = self._twins.get(f"{rule} {made}")
        return twin if twin is not None and twin != url else None

    def _state(self, url: Url) -> int | None:
        """The state of a URL; None if the URL is unknown or redirects to another URL."""
        query = "SELECT state FROM urls WHERE key = ? AND redirect IS NULL"
        row = self._store.db.execute(query, (url_key(url),)).fetchone()
        return row[0] if row else None

    def _leads_to(self, url: Url, end: Url) -> bool:
        """True if `url` is already an alias that leads to `end`.

        Making `end` an alias of `url` would then create a cycle.
        """
        query = f"SELECT redirect FROM urls WHERE key = ? AND state = {State.ALIAS:d}"
        key = url_key(url)
        for _ in range(2 * MAX_STEPS):
            row = self._store.db.execute(query, (key,)).fetchone()
            if row is None or row[0] == url_key(end):
                return row is not None
            key = row[0]
        return True

    def _active_counts(self, url: Url, rule: str) -> Counts | None:
        """The counts that make a rule active for a URL; None if the rule is not active."""
        host, section = (self._counts.get((scope, rule)) for scope in scopes(url))
        if section is not None and section.is_active(MIN_HELD[1]):
            return section
        return host if host is not None and host.is_active(MIN_HELD[0]) else None


@lru_cache(maxsize=64)  # asked for each rule that rewrites a URL
def scopes(url: Url) -> tuple[str, str]:
    """Return the scopes in which alias rules are counted for a URL: its host and its first folder.

    >>> scopes(Url("http://a.org/news/2024/x?y=1"))
    ('http://a.org', 'http://a.org /news/')
    """
    origin = origin_of(url)
    folder, slash, _ = url[len(origin) + 1 :].partition("?")[0].partition("/")
    return origin, f"{origin} /{folder + slash if slash else ''}"


def _origin(scope: str) -> str:
    return scope.partition(" ")[0]


def _is_section(scope: str) -> bool:
    return " " in scope
