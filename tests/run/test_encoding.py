"""Encoding of values for the database."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from diptych.run.encoding import (
    read_event,
    read_evidence,
    read_scores,
    read_sketch,
    valid_text,
    write_event,
    write_scores,
    write_sketch,
)
from diptych.types import (
    CrawlEvent,
    Decision,
    Evidence,
    LangScore,
    Missing,
    Moved,
    PagePair,
    PairingResult,
    Sketch,
    VerifiedPair,
)

names = st.text(max_size=8)
any_text = st.text(st.characters(exclude_categories=()), max_size=8)  # half characters too
counts = st.integers(1, 2**31)


@st.composite
def sketches(draw: st.DrawFn, text: st.SearchStrategy[str] = names) -> Sketch:
    bag = draw(st.dictionaries(text, counts, max_size=6))
    block = st.tuples(st.integers(0, 2**56 - 1), st.floats(0, 1e9))
    blocks = draw(st.lists(block, max_size=4))
    words = st.lists(st.integers(0, max(len(bag) - 1, 0)), max_size=5 if bag else 0).map(tuple)
    return Sketch(
        tags=draw(st.text(st.characters(min_codepoint=1, max_codepoint=511), max_size=9)),
        words=sum(bag.values()),
        bag=bag,
        files=tuple(sorted(draw(st.sets(text, max_size=4)))),
        blocks=tuple(blocks),
        block_words=tuple(draw(words) for _ in blocks),
        shares=tuple(map(LangScore, ("en", "fr"), draw(st.tuples(*[st.floats(0, 1)] * 2)))),
    )


@given(sketches())
def test_a_sketch_survives_storage(sketch: Sketch) -> None:
    assert read_sketch(write_sketch(sketch)) == sketch


@given(sketches(any_text))
def test_a_sketch_with_lone_surrogates_can_be_stored(sketch: Sketch) -> None:
    again = read_sketch(write_sketch(sketch))
    assert again.files == tuple(valid_text(name) for name in sketch.files)
    assert (again.tags, again.words, again.blocks) == (sketch.tags, sketch.words, sketch.blocks)
    # Words are places in the bag: it must keep them all, in their order.
    assert list(again.bag.values()) == list(sketch.bag.values())
    assert all(place < len(again.bag) for words in again.block_words for place in words)


def test_words_that_differ_in_a_lone_surrogate_stay_different() -> None:
    bag = dict(zip(("\ud800", "\ud801", "x"), (1, 2, 3), strict=True))
    sketch = Sketch("", 6, bag, (), ((1, 9.0),), ((0, 1, 2),))
    again = read_sketch(write_sketch(sketch))
    assert max(again.block_words[0]) < len(again.bag)
    assert list(again.bag)[again.block_words[0][2]] == "x"


def test_an_empty_sketch_is_kept() -> None:
    assert read_sketch(write_sketch(Sketch("", 0, {}))) == Sketch("", 0, {})


def test_a_sketch_is_small() -> None:
    words = tuple(place % 900 for place in range(3_000))
    bag = {f"word{number}": 3 for number in range(1_000)}
    large = Sketch("ab" * 2_000, 3_000, bag, (), ((1, 9.0),), (words,))
    assert len(write_sketch(large)) < 20_000


@given(st.lists(st.tuples(st.sampled_from(["en", "fr", "zh-TW"]), st.floats(0, 1)), max_size=3))
def test_scores_are_kept_to_three_digits(scores: list[tuple[str, float]]) -> None:
    found = read_scores(write_scores(LangScore(*score) for score in scores))
    assert [lang for lang, _ in found] == [lang for lang, _ in scores]
    assert all(abs(one - other) < 0.001 for (_, one), (_, other) in zip(found, scores, strict=True))


def test_evidence_is_kept_by_name() -> None:
    scores = (Evidence("hreflang", 0.99), Evidence("url_model", 0.5), Evidence("lead", -0.25))
    assert read_evidence(write_scores(scores)) == scores
    assert read_evidence(write_scores(())) == ()


urls = st.text(max_size=20).map("http://example.org/".__add__)
shares = st.floats(0, 1)
pairs = st.builds(PagePair, urls, urls, names, names, shares, names)
decisions = st.builds(Decision, st.booleans(), shares, names, st.just(()))
events = st.one_of(
    st.builds(Missing, urls, names),
    st.builds(Moved, urls, urls),
    st.builds(
        VerifiedPair, pairs, decisions, st.lists(st.tuples(urls, urls), max_size=4).map(tuple)
    ),
    st.builds(PairingResult, st.lists(pairs, max_size=4).map(tuple)),
)


@given(events)
def test_events_survive_storage(event: CrawlEvent) -> None:
    assert read_event(*write_event(event)) == event


def test_events_are_stored_by_name() -> None:
    pair = PagePair("http://a/", "http://b/", "en", "fr", 0.5, "x")  # type: ignore[arg-type]
    found = VerifiedPair(pair, Decision(True, 0.5))
    each = [Missing(pair.left, "x"), Moved(pair.left, pair.right), found, PairingResult(())]
    names = ["missing", "moved", "found", "settled"]
    assert [write_event(event)[0] for event in each] == names, "earlier runs have these"
