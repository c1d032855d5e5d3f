from __future__ import annotations

import pytest
from fakes import make_page
from hypothesis import given
from hypothesis import strategies as st

from diptych.protocols import Verifier
from diptych.registry import strategies
from diptych.types import Page

VERIFIERS = [pytest.param(cls(), id=name) for name, cls in strategies("verify").items()]
ENGLISH = (
    "The harbour of the town is old.",
    "In 1956 the first ships came here from the north, with wood and iron, and left with wool.",
    "Today the harbour has a museum, which is open from 9 to 17 in summer.",
)
FRENCH = (
    "Le port de la ville est ancien.",
    "En 1956 les premiers navires vinrent du nord avec du bois et du fer, et partirent chargés.",
    "Aujourd'hui le port a un musée, qui est ouvert de 9 à 17 heures en été.",
)


@st.composite
def pages(draw: st.DrawFn) -> Page:
    texts = draw(st.lists(st.text(max_size=200), max_size=6))
    return make_page(
        draw(st.sampled_from(["/a", "/b"])), draw(st.sampled_from(["en", "zh", ""])), *texts
    )


@pytest.mark.parametrize("verifier", VERIFIERS)
@given(left=pages(), right=pages())
def test_score_is_a_share_and_a_reject_has_a_reason(
    verifier: Verifier, left: Page, right: Page
) -> None:
    decision = verifier.verify(left, right)
    assert 0 <= decision.score <= 1
    assert decision.accept == (not decision.reason)
    assert verifier.verify(left, right) == decision


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_translation_is_accepted(verifier: Verifier) -> None:
    decision = verifier.verify(make_page("/en", "en", *ENGLISH), make_page("/fr", "fr", *FRENCH))
    assert decision.accept
    assert decision.score > 0.5


@pytest.mark.parametrize("verifier", VERIFIERS)
@pytest.mark.parametrize(
    ("left", "right"),
    [
        (make_page("/en", "en", *ENGLISH), make_page("/en", "en", *ENGLISH)),
        (make_page("/en", "en", *ENGLISH), make_page("/fr", "fr", *ENGLISH)),
        (make_page("/en", "en", *ENGLISH), make_page("/fr", "fr", *FRENCH * 5)),
        (make_page("/en", "en", *ENGLISH), make_page("/fr", "fr", "Accueil")),
        (make_page("/en", "en"), make_page("/fr", "fr")),
    ],
    ids=["itself", "copy", "much longer", "hardly any text", "empty"],
)
def test_what_is_no_translation_scores_less_and_is_rejected(
    verifier: Verifier, left: Page, right: Page
) -> None:
    good = verifier.verify(make_page("/en", "en", *ENGLISH), make_page("/fr", "fr", *FRENCH))
    bad = verifier.verify(left, right)
    assert not bad.accept
    assert bad.score < good.score
