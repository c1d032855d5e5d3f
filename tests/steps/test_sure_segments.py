"""Segments of pairs that were aligned during the crawl."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.runs import context, crawled

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.run.store import Store
from diptych.steps.sure_segments import (
    SURE_SEGMENTS,
    PairContent,
    SureSegments,
    random_order,
)
from diptych.steps.tasks import LexiconTask, TaskContext, VerifyTask
from diptych.types import PagePair, SegmentPair


def pair_of(name: str) -> PagePair:
    return PagePair(f"http://x.org/en/{name}", f"http://x.org/fr/{name}", "en", "fr", 0.9, "keys")


def content_of(pair: PagePair) -> PairContent:
    return PairContent("run", (pair.left, pair.right, "en", "fr"), ("1", "2"))


def segments(pair: PagePair, letters: int) -> list[SegmentPair]:
    text = "a" * (letters // 2)
    return [SegmentPair(text, text, "en", "fr", pair.left, pair.right, "/p", "/p", 0.9)]


def test_pairs_that_are_learned_last_are_forgotten_first() -> None:
    pairs = sorted((pair_of(str(number)) for number in range(6)), key=random_order)
    for order in (pairs, pairs[::-1]):
        kept = SureSegments(max_letters=60)
        for pair in order:
            kept.keep(pair, content_of(pair), segments(pair, 20))
        found = [pair for pair in pairs if kept.get(content_of(pair)) is not None]
        assert found == pairs[:3]
        assert kept.get(content_of(pairs[0])) == segments(pairs[0], 20)


def test_the_same_pair_counts_once() -> None:
    kept, pair = SureSegments(max_letters=30), pair_of("a")
    for _ in range(9):
        kept.keep(pair, content_of(pair), segments(pair, 20))
    assert kept.get(content_of(pair)) == segments(pair, 20)
    kept.clear()
    assert kept.get(content_of(pair)) is None


def test_one_pair_that_does_not_fit_leaves_nothing() -> None:
    kept, pair = SureSegments(max_letters=30), pair_of("a")
    kept.keep(pair, content_of(pair), segments(pair, 40))
    assert kept.get(content_of(pair)) is None


# -- in tasks ----------------------------------------------------------------------------------


@pytest.fixture
def store(recorded: Path, tmp_path: Path) -> Iterator[Store]:
    SURE_SEGMENTS.clear()
    with crawled(recorded, tmp_path / "run") as opened:
        yield opened
    SURE_SEGMENTS.clear()


@pytest.fixture
def pair(recorded: Path) -> PagePair:
    with Store(recorded, write=False) as store:
        return next(pair for site, _ in store.sites() for _, pair in store.verified_pairs(site))


def without_pages(own: TaskContext, monkeypatch) -> TaskContext:
    """Let a task fail that reads the pages of a pair."""

    def read(*_: object) -> None:
        raise AssertionError("pages are read again")

    monkeypatch.setattr(TaskContext, "pages", read)
    return own


def test_a_verified_pair_is_not_aligned_again_to_learn_words(store, pair, monkeypatch) -> None:
    own = context(store).of(store)
    anew = LexiconTask(pair).run(own)
    assert len(anew) > 3
    assert VerifyTask(pair).run(own).aligned.decision.accept
    assert LexiconTask(pair).run(without_pages(own, monkeypatch)) == anew


@pytest.mark.parametrize("what", ["page", "lexicon", "aligner"])
def test_what_has_changed_since_is_aligned_again(store, pair, what: str) -> None:
    own = context(store).of(store)
    VerifyTask(pair).run(own)
    for segment in SURE_SEGMENTS._found.values():
        segment.clear()  # so that it shows which were used
    assert LexiconTask(pair).run(own) == []
    if what == "page":
        store.db.execute("UPDATE pages SET digest = digest || 'x'")
    elif what == "lexicon":
        lexicon = Lexicon.of_links("en", "fr", [("zyzzyva", "charançon", 1)])
        own = replace(own, lexicons={pair.langs: lexicon})
    else:
        own = context(store, align_dom="flat").of(store)
    assert LexiconTask(pair).run(own)
