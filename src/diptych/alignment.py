"""The pairs of a run verified and aligned: first by what is known, then by what that has taught.

The first pass aligns every pair of pages.  What it finds teaches a lexicon, which the second pass
aligns them with once more.  `pairs.aligned` says which pass a pair has been through; when other
pairs have come since, both passes begin again, so that a run that was interrupted ends like one
that was not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from diptych.cascade import align_pages
from diptych.registry import Strategies
from diptych.store import Store
from diptych.text.html import read_page
from diptych.text.langs import same_language
from diptych.types import Decision, LangPair, Page, PagePair, SegmentPair, Url
from diptych.watcher import Watcher

if TYPE_CHECKING:
    from diptych.learn.lexicon import Lexicon

__all__ = ["lexicon_of", "verify_and_align"]

FIRST, SECOND = 1, 2
_MAX_TAUGHT = 200_000  # segments that a lexicon is learned from
_SURE = 0.7  # score of a segment that teaches
_LEAST = 20  # segments: fewer teach nothing
_UNALIGNED = Decision(False, 0.0, "unaligned")


def verify_and_align(
    store: Store, strategies: Strategies, langs: LangPair, known: Lexicon | None, watcher: Watcher
) -> None:
    """Decide on all pairs of two languages, and align them; `known` is a lexicon of the user's."""
    from diptych.learn.lexicon import Lexicon

    begin = known or Lexicon.empty(*langs)
    store.begin_alignment(langs)
    watcher.stage = "aligning"
    _count(store, watcher)
    _pass(store, strategies, langs, begin, FIRST, watcher)
    if not _learns(strategies):
        return
    data = store.lexicon(langs)
    if data is None:
        watcher.stage = "learning words"
        watcher.tick()
        learned = learn(store, langs, known)
        store.save_lexicon(langs, learned.to_bytes())
    else:
        learned = Lexicon.from_bytes(data)
    watcher.stage = "aligning again"
    _pass(store, strategies, langs, learned, SECOND, watcher)


def lexicon_of(langs: LangPair, lexicons: Iterable[Lexicon]) -> Lexicon | None:
    """What lexicons of two languages say together, turned if need be; regions do not count."""
    found: Lexicon | None = None
    for lexicon in lexicons:
        own = LangPair(lexicon.left_lang, lexicon.right_lang)
        if not _are_same(own, langs) and _are_same(LangPair(own.right, own.left), langs):
            lexicon = lexicon.reversed()
        elif not _are_same(own, langs):
            continue
        if (lexicon.left_lang, lexicon.right_lang) != langs:
            lexicon = replace(lexicon, left_lang=langs.left, right_lang=langs.right)
        found = lexicon if found is None else found.merged(lexicon)
    return found


def _are_same(left: LangPair, right: LangPair) -> bool:
    return same_language(left.left, right.left) and same_language(left.right, right.right)


def _learns(strategies: Strategies) -> bool:
    return strategies.align_dom.uses_lexicon or strategies.align_sentences.uses_lexicon


def learn(store: Store, langs: LangPair, known: Lexicon | None) -> Lexicon:
    """A lexicon of all segments that the first pass has kept, and of what was known before."""
    from diptych.learn.ibm1 import train
    from diptych.learn.lexicon import Lexicon
    from diptych.learn.links import discounted
    from diptych.text.tokens import tokens

    texts = store.taught(langs, least=_SURE, most=_MAX_TAUGHT)
    if len(texts) < _LEAST:
        return known or Lexicon.empty(*langs)
    pairs = [(tokens(left, langs.left), tokens(right, langs.right)) for left, right in texts]
    learned = discounted(train(pairs, *langs))
    return learned.merged(known) if known else learned


def _count(store: Store, watcher: Watcher) -> None:
    watcher.pairs = store.count(
        "SELECT count(*) FROM pairs JOIN decisions ON pair = pairs.id WHERE aligned AND accept"
    )
    watcher.segments = store.count("SELECT count(*) FROM segments WHERE accept")


def _pass(
    store: Store,
    strategies: Strategies,
    langs: LangPair,
    lexicon: Lexicon,
    number: int,
    watcher: Watcher,
) -> None:
    """Align each pair that has not been through this pass; one transaction per pair."""
    for site, _ in store.sites():
        for id, pair in store.pairs_to_align(site, langs, number):
            left, right = _open(store, pair.left), _open(store, pair.right)
            if left is None or right is None:
                decision = Decision(False, 0.0, "unreadable")
            else:
                decision = strategies.verify.verify(left, right)
            segments: list[tuple[SegmentPair, Decision]] = []
            if decision.accept and left is not None and right is not None:
                segments = list(_judged(pair, left, right, strategies, lexicon))
            store.begin()
            store.save_decision(id, decision)
            before, after = store.save_segments(id, segments, number)
            store.commit()
            watcher.pairs += decision.accept and number == FIRST
            watcher.segments += after - before
            watcher.tick()


def _open(store: Store, url: Url) -> Page | None:
    response = store.response(url)
    return read_page(response, with_blocks=True, with_tree=True) if response is not None else None


def _judged(
    pair: PagePair, left: Page, right: Page, strategies: Strategies, lexicon: Lexicon
) -> Iterator[tuple[SegmentPair, Decision]]:
    """The segments of two pages, and what the filter says of them."""
    for segment in align_pages(
        pair, left, right, strategies.align_dom, strategies.align_sentences, lexicon
    ):
        is_whole = segment.left and segment.right
        yield segment, strategies.filter.judge(segment) if is_whole else _UNALIGNED
