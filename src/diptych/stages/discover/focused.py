"""The focused crawler (FocC of Barbosa et al. 2011, after Chakrabarti et al. 2002): a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from diptych.page.neighbourhood import words_of
from diptych.protocols import Ranking
from diptych.stages.discover.shared.following import page_links
from diptych.stages.discover.shared.naive_bayes import fit
from diptych.types import Example, Lead, Link, Page, Role


@dataclass(frozen=True, slots=True)
class Focused:
    """Follows links on pages about a topic, preferring links likely to lead to more such pages."""

    # DEVIATION(barbosa): the paper's classifier was trained on pages about travel; here the user
    # gives words of the topic, and a page is on topic if its title and links contain enough of
    # them.
    topic: tuple[str, ...] = ()
    """words that occur on pages about the topic"""
    at_least: int = 3
    """minimum number of occurrences of topic words in the title and links of a page on the topic"""
    per_site: int = 10
    """maximum number of pages per site; without a limit, the crawl would stay on the first sites
    about the topic"""
    learns_every: int = 500
    """number of pages between the first updates of the classifier"""

    looks_back: ClassVar[bool] = False

    def follow(self, page: Page, role: Role) -> Sequence[Link]:
        """Return the links of a page that should be followed.

        These are all links of a seed or of a page on the topic, and the links with topic words on
        any other page.
        """
        links = page_links(page)
        if role is Role.SEED or self._is_on_topic(page):
            return links
        topic = self._topic_words()
        return [link for link in links if topic & set(words_of(f"{link.anchor} {link.url}"))]

    def outcome(self, page: Page, *, is_bilingual: bool) -> float:
        """Return 1 if the page is on the topic, else 0."""
        return float(self._is_on_topic(page))

    def rank(self, examples: Sequence[Example]) -> Ranking:
        """Return a ranking by the probability that a link leads to a page on the topic."""
        model = fit([each.words for each in examples], [each.share for each in examples])

        def ranking(leads: Sequence[Lead]) -> Sequence[float]:
            return [float(p) for p in model.probabilities([lead.words for lead in leads])]

        return ranking

    def _topic_words(self) -> set[str]:
        return {word for text in self.topic for word in words_of(text)}

    def _is_on_topic(self, page: Page) -> bool:
        topic = self._topic_words()
        said = page.record.title + " " + " ".join(link.anchor for link in page.links[:500])
        # `words_of` cuts a text after some words, so it is called for each word.
        count = sum(any(word in topic for word in words_of(word)) for word in said.split())
        return count >= self.at_least
