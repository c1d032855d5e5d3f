"""Queue ranked URLs in the frontier, refusing unwanted URLs and replacing aliases."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from diptych.frontier.admission import Admission
from diptych.frontier.aliases import REASON, Aliases
from diptych.frontier.guides import Guides
from diptych.frontier.hosts import HostInfo, SiteInfo
from diptych.frontier.queue import Claim, Entry, Frontier, State
from diptych.frontier.scope import Scope
from diptych.text.caches import TextMap
from diptych.text.urls import url_key
from diptych.types import Link, Missing, Moved, Page, Ranked, Url

MAX_SEEN = 96_000_000  # bytes of URLs cached to avoid database access; about 400,000 URLs


class Intake:
    """Queues URLs in the frontier, and tells guides which URLs are aliases or were refused."""

    def __init__(
        self, frontier: Frontier, scope: Scope, admission: Admission, guides: Guides,
        aliases: Aliases,
    ) -> None:  # fmt: skip
        self._frontier = frontier
        self._scope = scope
        self._admission = admission
        self._guides = guides
        self._aliases = aliases
        self._seen: TextMap[float] = TextMap(MAX_SEEN)

    def queue(self, ranked: Iterable[Ranked], depth: int, site: SiteInfo) -> bool:
        """Queue the URLs that a policy ranked; return True if any is new or has a new priority."""
        seen = self._seen
        entries: dict[Url, Entry] = {}
        moved: list[Moved] = []
        for link, priority, lowers in ranked:
            url = link.url
            known = seen.get(url, -math.inf)
            if known >= priority and (not lowers or known in (priority, math.inf)):
                continue
            if url not in seen and (target := self._alias(url, depth, priority)) is not None:
                seen.keep(url, math.inf)
                moved.append(Moved(url, target))
                if self._guides.has_memory:
                    continue
                url = target
            is_queued = -math.inf < known < math.inf
            entry = self._admission.entry(url, depth, priority, is_queued=is_queued)
            seen.keep(url, priority if entry.state is State.QUEUED else math.inf)
            entries[url] = entry._replace(lowers=lowers)
        self._frontier.add(entry for entry in entries.values() if entry.state is not State.OUTSIDE)
        for event in moved:
            self.queue(self._guides.learn(site, event), depth, site)
        for entry in entries.values():
            if entry.state is not State.QUEUED:
                self.queue(self._guides.learn(site, Missing(entry.url, entry.reason)), depth, site)
        return any(entry.state is State.QUEUED for entry in entries.values())

    def forget(self) -> None:
        """Free all caches after the crawl."""
        self._seen.clear()
        self._aliases.forget()
        self._admission.forget()

    def is_alias(self, claim: Claim, site: SiteInfo, now: float) -> bool:
        """If a claimed URL is an alias, queue its target in its place and return True."""
        if self._aliases.alias(claim.url) is None:
            return False
        self._frontier.give_back(claim, now)
        if self._replace(claim.url, claim.depth, claim.priority, site):
            return True
        again = self._frontier.claim_again(url_key(claim.url))
        assert again is not None, "it is queued"
        return False

    def save_refused_links(self, page: Page, site: SiteInfo, depth: int) -> None:
        """Save the refused links of a page, so that `diptych explain` can give the reasons."""
        name = site.site.name
        links = [
            link.url for link in page.links if not self._admission.may_be_page_of(link.url, name)
        ]
        new = [url for url in dict.fromkeys(links) if url not in self._seen]
        entries = [self._admission.entry(url, depth, 0.0) for url in new]
        refused = [entry for entry in entries if entry.state is State.REFUSED]
        for entry in refused:
            self._seen.keep(entry.url, math.inf)
        self._frontier.add(refused)

    def learn_page(self, page: Page, host: HostInfo) -> None:
        """Learn alias rules from a page, and apply the rules that have become active."""
        self._apply_rules(self._aliases.learn_page(page), host)
        self._undo_demoted(host.site)

    def learn_redirect(self, url: Url, target: Url, host: HostInfo) -> None:
        """Learn alias rules from a redirect, and apply the rules that have become active."""
        self._apply_rules(self._aliases.learn_redirect(url, target), host)
        self._undo_demoted(host.site)

    def undo_alias_of(self, url: Url, site: SiteInfo) -> None:
        """Requeue the first alias of `url`, because `url` turned out not to be a page."""
        self._seen_again(self._frontier.undo_alias_of(site.id, url))

    def _apply_rules(self, rules: Sequence[str], host: HostInfo) -> None:
        """Apply newly active alias rules to all queued URLs of a host."""
        if not rules:
            return
        for url, depth, priority in self._frontier.queued_pages(host.id):
            self._replace(url, depth, priority, host.site)

    def _undo_demoted(self, site: SiteInfo) -> None:
        """Requeue the aliases that were created by rules that have been demoted."""
        for rule in self._aliases.take_demoted():
            self._seen_again(
                self._frontier.undo_aliases(
                    site.id, rule, lambda url: self._aliases.alias(url) is not None
                )
            )

    def _seen_again(self, urls: Iterable[Url]) -> None:
        """Allow URLs that were aliases to be ranked again."""
        for url in urls:
            self._seen.keep(url, -math.inf)

    def _replace(self, url: Url, depth: int, priority: float, site: SiteInfo) -> bool:
        """Queue the target of an alias in place of `url`; return False if `url` is not an alias."""
        target = self._alias(url, depth, priority)
        if target is None:
            return False
        self._seen.keep(url, math.inf)
        if self._guides.has_memory:
            self.queue(self._guides.learn(site, Moved(url, target)), depth, site)
        else:
            self.queue([Ranked(Link(target), priority)], depth, site)
        return True

    def _alias(self, url: Url, depth: int, priority: float) -> Url | None:
        """Store a URL as an alias and return its target; return None if no alias rule applies."""
        found = self._aliases.alias(url)
        if found is None or self._scope.site_of(found.url) is None:
            return None
        entry = self._admission.entry(url, depth, priority)
        if entry.state is not State.QUEUED:
            return None
        entry = entry._replace(reason=REASON + found.rule)
        if not self._frontier.add_alias(entry, found.url):
            return None
        return found.url
