"""Writes snapshots of a guide's memory as columns of plain data.

URLs are numbered in the order of discovery.  Values that many URLs share, such as kinds, first
guesses and evidence, are numbered too.  The order of all ordered data is preserved.
"""

from __future__ import annotations

from array import array
from base64 import b64encode
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from diptych.stages.crawl.hybrid.known_urls import Kinds, KnownUrl
from diptych.stages.crawl.hybrid.memory import Memory
from diptych.stages.crawl.hybrid.page_chance import PageChances
from diptych.stages.crawl.hybrid.rates import Rates
from diptych.stages.crawl.shared.snapshots import by_column, from_mapping
from diptych.text.url_edits import Rule

VERSION = 3
FOUND_BY = ("link", "sitemap", "guess")


class _Table(dict[Any, int]):
    """Numbers items in the order in which they are first looked up."""

    def __init__(self, known: Iterable[Hashable] = ()) -> None:
        self.items_in_order: list[Any] = list(known)
        super().__init__((item, number) for number, item in enumerate(self.items_in_order))

    def __missing__(self, item: Any) -> int:
        number = self[item] = len(self.items_in_order)
        self.items_in_order.append(item)
        return number


def write_snapshot(memory: Memory) -> dict[str, Any]:
    """Convert the memory of a guide to plain data."""
    urls, kinds = _Table(memory.urls.by_url.values()), _Table([()])
    listed = len(urls)
    # References to URLs are written first, because they may add URLs that are not in the list yet.
    orders = _write_orders(memory, urls)
    relations = _write_relations(urls, kinds)
    return {
        "version": VERSION,
        "listed": listed,
        "urls": _write_urls(memory, urls.items_in_order, kinds),
        "relations": relations,
        "orders": orders,
        "same": from_mapping(memory.urls.same),
        "overflow": [list(link) for link in memory.overflow],
        "features": list(memory.values.languages.features),
        "counts": [
            [number, from_mapping(counts)]
            for number, counts in enumerate(memory.values.languages.counts)
            if counts
        ],
        "rates": [
            _write_rates(rates)
            for rates in (
                memory.values.evidence_rates, memory.values.translation_rates, memory.values.proofs,
            )
        ],
        "kinds": [[list(kind) for kind in each] for each in kinds.items_in_order],
        "unpaired": from_mapping(memory.values.unpaired),
        "pairs": by_column(memory.pairs, 6),
        "rules": [_write_rule(rule) for rule in memory.edit_rules.rules],
        "totals": [
            memory.next_rules, memory.guesses, memory.next_pairing, memory.matches.count,
            memory.pending_value,
        ],
        "is_pairing": memory.is_pairing,
        "learned": _write_learned(memory),
    }  # fmt: skip


def _write_learned(memory: Memory) -> dict[str, Any]:
    """Convert the learned counts, except evidence and translation rates, to plain data."""
    values = memory.values
    return {
        "pages": from_mapping(values.languages.total),
        "chances": [_write_chances(each) for each in (values.pages, values.texts)],
        "yields": [_write_rates(each) for each in (values.yields.worth, values.yields.links)],
        "contexts": [from_mapping(values.contexts.found), from_mapping(values.contexts.expected)],
        "numbers": [
            values.yields.seen, values.yields.foreseen, values.best
        ],
        "blocks": b64encode(array("I", sorted(memory.blocks)).tobytes()).decode(),
    }  # fmt: skip


def _write_chances(chances: PageChances) -> list[Any]:
    features = list(chances.trials)
    pages = [chances.pages.get(feature, 0.0) for feature in features]
    trials = list(chances.trials.values())
    return [[features, trials, pages], [chances.all_trials, chances.all_pages]]


def _write_orders(memory: Memory, urls: _Table) -> dict[str, Any]:
    """Convert the queues and sets of URLs, and the mappings from or to URLs, to plain data."""
    matches = memory.matches
    return {
        "refresh": [urls[known] for known in memory.to_refresh],
        "open": [urls[known] for known in matches.open_pages],
        "changed": [urls[known] for known in matches.changed],
        "requested": by_column(sorted(_numbers_of(pair, urls) for pair in matches.requested), 2),
        "tries": [[urls[known] for known in matches.tries], list(matches.tries.values())],
        "name_links": [[urls[known] for known in memory.name_links], [*memory.name_links.values()]],
        "digests": [list(memory.digests), [urls[known] for known in memory.digests.values()]],
        "unread": [
            [urls[known], [list(link) for link in unread]] for known, unread in memory.unread_links
        ],
    }


def _numbers_of(pair: Iterable[KnownUrl], urls: _Table) -> tuple[int, int]:
    one, other = pair
    return min(urls[one], urls[other]), max(urls[one], urls[other])


def _write_relations(urls: _Table, kinds: _Table) -> dict[str, Any]:
    """Convert the source, candidates and partners of each URL to plain data."""
    sources: list[int] = []
    counts: list[int] = []
    others: list[int] = []
    evidence_of: list[int] = []
    partners: list[tuple[int, str, int]] = []
    lists: list[list[Kinds]] = []
    places: dict[int, int] = {}  # indexes of evidence lists, each of which is shared by two URLs
    for number, known in enumerate(urls.items_in_order):  # the list may grow during the loop
        sources.append(-1 if known.source is None else urls[known.source])
        counts.append(len(known.candidates))
        if known.candidates:
            for other, evidence in known.candidates.items():
                others.append(urls[other])
                place = places.setdefault(id(evidence), len(lists))
                if place == len(lists):
                    lists.append(evidence)
                evidence_of.append(place)
        if known.partners:
            partners.extend((number, lang, urls[other]) for lang, other in known.partners.items())
    return {
        "sources": sources,
        "counts": counts,
        "candidates": [others, evidence_of],
        "evidence_counts": [len(evidence) for evidence in lists],
        "evidence": [kinds[each] for evidence in lists for each in evidence],
        "partners": by_column(partners, 3),
    }


def _write_urls(memory: Memory, known: Sequence[KnownUrl], kinds: _Table) -> dict[str, Any]:
    """Convert the attributes of each URL, except references to other URLs, to columns."""
    langs, guesses, rules = _Table(), _Table([()]), memory.edit_rules
    expected = _Table(each.url for each in known)
    found = {
        "url": [each.url for each in known],
        "found_by": [FOUND_BY.index(each.found_by) for each in known],
        "feature_counts": [len(each.features) for each in known],
        "features": [feature for each in known for feature in each.features],
        "guess": [guesses[tuple(each.first_guess.values())] for each in known],
        "state": [int(each.state) for each in known],
        "lang": [langs[each.lang] for each in known],
        "kinds": [kinds[each.kinds] for each in known],
        "value": [each.value for each in known],
        "own_value": [each.own_value for each in known],
        "is_aligned": [each.is_aligned for each in known],
        "is_counted": [each.is_counted for each in known],
        "has_unlinked": [each.has_unlinked_prediction for each in known],
        "is_ranked": [each.is_ranked for each in known],
        "is_current": [each.edit_rules is rules for each in known],
        "expected": [
            [number for number, each in enumerate(known) for _ in each.expected],
            [langs[lang] for each in known for lang in each.expected],
            [expected[url] for each in known for url in each.expected.values()],
        ],
    }
    return found | {
        "langs": langs.items_in_order,
        "guesses": [list(guess) for guess in guesses.items_in_order],
        "predicted": expected.items_in_order[len(known) :],
    }


def _write_rates(rates: Rates) -> list[list[Any]]:
    """Convert rates to three columns: the kinds, and the trials and successes of each."""
    trials, successes = rates.trials, rates.successes
    known = dict.fromkeys([*trials, *successes])
    return [
        [list(kind) if isinstance(kind, tuple) else [kind] for kind in known],
        [trials.get(kind, 0) for kind in known],
        [successes.get(kind, 0.0) for kind in known],
    ]


def _write_rule(rule: Rule) -> list[Any]:
    edits = [[list(edit.old), list(edit.new), edit.at, edit.part] for edit in rule.edits]
    return [rule.left_lang, rule.right_lang, edits, rule.key, rule.held, rule.tried]
