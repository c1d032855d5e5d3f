from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.candidates import ENGLISH, FRENCH, candidate, of_texts
from support.fakes import make_page

from diptych.protocols import Verifier
from diptych.registry import strategies
from diptych.types import Candidate, Page, PagePair, SegmentPair, Url

VERIFIERS = [pytest.param(cls(), id=name) for name, cls in strategies("verify").items()]
GOOD = of_texts(ENGLISH, FRENCH)


@st.composite
def pages(draw: st.DrawFn) -> Page:
    texts = draw(st.lists(st.text(max_size=200), max_size=6))
    return make_page(
        draw(st.sampled_from(["/a", "/b"])), draw(st.sampled_from(["en", "zh", ""])), *texts
    )


@st.composite
def candidates(draw: st.DrawFn) -> Candidate:
    """Pages with segments that need not be of them: nothing may be relied on."""
    left, right = draw(pages()), draw(pages())
    pair = PagePair(left.url, right.url, "en", draw(st.sampled_from(["zh", "en"])), 1.0, "test")
    texts = draw(st.lists(st.tuples(st.text(max_size=60), st.text(max_size=60)), max_size=5))
    score = draw(st.floats(0, 1))
    url = Url("http://example.org/")
    segments = [SegmentPair(*text, "en", "zh", url, url, "", "", score) for text in texts]
    return Candidate(pair, left, right, segments)


@pytest.mark.parametrize("verifier", VERIFIERS)
@given(found=candidates())
def test_score_is_a_share_and_a_reject_has_a_reason(verifier: Verifier, found: Candidate) -> None:
    decision = verifier.verify(found)
    assert 0 <= decision.score <= 1
    assert decision.accept == (not decision.reason)
    assert verifier.verify(found) == decision


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_translation_is_accepted(verifier: Verifier) -> None:
    decision = verifier.verify(GOOD)
    assert decision.accept
    assert decision.score > 0.5
    assert decision.marks == ()


@pytest.mark.parametrize("verifier", VERIFIERS)
@pytest.mark.parametrize(
    "found",
    [
        candidate(make_page("/en", "en", *ENGLISH), make_page("/en2", "en", *ENGLISH)),
        candidate(make_page("/en", "en", *ENGLISH), make_page("/fr", "fr", *ENGLISH)),
        of_texts(ENGLISH, FRENCH * 5),
        of_texts(ENGLISH, ["Accueil"]),
        of_texts([], []),
    ],
    ids=["itself", "copy", "much longer", "hardly any text", "empty"],
)
def test_what_is_no_translation_scores_less_and_is_rejected(
    verifier: Verifier, found: Candidate
) -> None:
    bad = verifier.verify(found)
    assert not bad.accept
    assert bad.score < verifier.verify(GOOD).score


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_sides_may_be_changed(verifier: Verifier) -> None:
    turned = candidate(make_page("/fr", "fr", *FRENCH), make_page("/en", "en", *ENGLISH))
    there, back = verifier.verify(GOOD), verifier.verify(turned)
    assert there.accept == back.accept
    assert there.score == pytest.approx(back.score, abs=1e-3)


@pytest.mark.parametrize("cls", [pytest.param(c, id=n) for n, c in strategies("verify").items()])
def test_threshold_only_decides(cls: type) -> None:
    other = of_texts(ENGLISH, [*FRENCH[:2], "Tout autre chose, sans nombres ni rien de commun."])
    lenient, strict = cls(threshold=0.0), cls(threshold=1.01)
    assert lenient.verify(other).score == strict.verify(other).score
    assert not strict.verify(other).accept


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_what_a_machine_translates_is_marked_whether_accepted_or_not(verifier: Verifier) -> None:
    page = make_page("/fr", "fr", *FRENCH)
    marked = replace(page, record=replace(page.record, flags=("machine:google",)))
    for right in (marked, replace(marked, blocks=())):
        found = candidate(make_page("/en", "en", *ENGLISH), right)
        assert "machine_translated" in verifier.verify(found).marks
