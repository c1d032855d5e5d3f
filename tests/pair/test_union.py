from __future__ import annotations

import pytest
from fakes import FakeSite, paths

from diptych.pair.langstrip import LangStrip
from diptych.pair.links import Links
from diptych.pair.union import Union


def rivals() -> FakeSite:
    """/en/a is declared to be /fr/b, and marked as /fr/a; /en/c is both /fr/c."""
    built = FakeSite("en", "fr")
    for page in "abc":
        built.page(f"/en/{page}", "en").page(f"/fr/{page}", "fr")
    return built.alternates("/en/a", "/fr/b").link("/en/c", "/fr/c", "Français")


def test_evidence_of_all_is_settled_together() -> None:
    pairs = Union().pair(rivals())
    assert paths(pairs) == [("/en/a", "/fr/b"), ("/en/c", "/fr/c")]
    assert [pair.evidence for pair in pairs] == ["hreflang", "langstrip+switcher"]
    assert pairs[1].score == pytest.approx(1 - 0.1 * 0.3)


def test_pairers_are_a_parameter() -> None:
    site = rivals()
    assert Union((LangStrip(),)).pair(site) == LangStrip().pair(site)
    assert Union((Links(),)).pair(site) == Links().pair(site)
    assert Union(()).pair(site) == []
    assert Union((Links(), LangStrip())).pair(site) == Union((LangStrip(), Links())).pair(site)
