from __future__ import annotations

import dataclasses
import inspect
import pickle
from enum import Enum
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych import types, units
from diptych.types import (
    Bead,
    Block,
    Candidate,
    Decision,
    Evidence,
    Example,
    Failure,
    LangPair,
    LangScore,
    Lead,
    Link,
    Missing,
    Moved,
    Node,
    NodePair,
    Outlook,
    Page,
    PagePair,
    PageRecord,
    PairingResult,
    Ranked,
    Response,
    Role,
    SegmentPair,
    Site,
    Sketch,
    Url,
    VerifiedPair,
    lang_pairs,
)
from diptych.units import DocumentPair, Piece, Repeats, Side, Text, Unit

HOME = Url("http://example.org/")
RECORD = PageRecord(HOME, "en", (LangScore("en", 0.9),), "Lamp", 0, 10, 5, "sha1:A")
LINK = Link(HOME, "alternate", "fr", "Français")
BLOCK = Block("The lamp is lit.", "/html/body/p")
SIDE = Side("en", "Lamp", HOME, "/html/body/p", "0-4", 1.0, "sha1:A", "warc/a.warc.gz", 7)
TEXT = Text("en", HOME, "Lamp", (BLOCK,), 1.0, "sha1:A", "warc/a.warc.gz", 7)
VALUES = [
    LangPair("en", "fr"),
    Site("example.org", (HOME,)),
    LINK,
    Ranked(LINK, 1.5),
    BLOCK,
    LangScore("en", 0.9),
    Node("p", "", "/html/body/p", (Node("#text", "lamp", "/html/body/p/#text"),)),
    Response(HOME, 200, (("A", "b"),), b"x", 1.0),
    Failure(HOME, "timeout"),
    RECORD,
    Page(RECORD, (LINK,), (BLOCK,)),
    PagePair(HOME, HOME, "en", "fr", 0.5, "hreflang"),
    NodePair((BLOCK,), (), 0.0),
    Bead((0, 1), (0,), 0.5),
    SegmentPair("a", "b", "en", "fr", HOME, HOME, "/p", "/p", 0.5),
    Decision(False, 0.1, "too_short"),
    Evidence("hreflang", 0.9),
    Sketch("ab", 2, {"lamp": 2}, files=("lamp.png",), blocks=((7, 9.5),)),
    Candidate(PagePair(HOME, HOME, "en", "fr", 0.5, "keys"), Page(RECORD, ()), Page(RECORD, ())),
    Missing(HOME, "http_404"),
    Moved(HOME, HOME),
    VerifiedPair(
        PagePair(HOME, HOME, "en", "fr", 0.5, "keys"), Decision(True, 0.9), ((HOME, HOME),)
    ),
    PairingResult((PagePair(HOME, HOME, "en", "fr", 0.5, "keys"),)),
    Outlook(12, 0.5),
    Lead(1, HOME, "example.org", Role.BACK, (7, 9), 2),
    Example(Role.FORWARD, (7, 9), 0.5),
    SIDE,
    Unit((SIDE, SIDE._replace(lang="fr")), 0.9, 0.8, 0.7, "keys", ("noai",), 2, "filter:rules"),
    Piece(((0, 0, 4),), (), 0.0, False, "unaligned"),
    TEXT,
    DocumentPair(TEXT, TEXT, 0.9, "keys", (), (Piece(((0, 0, 4),), (), 0.0, False),)),
    Repeats(np.array([2]), np.array([3]), np.array([2])),
]


def test_every_noun_is_tried_here() -> None:
    nouns = {
        name for module in (types, units) for name, found in vars(module).items()
        if inspect.isclass(found) and found.__module__ == module.__name__
        and not issubclass(found, Enum)
    }  # fmt: skip
    assert nouns == {type(value).__name__ for value in VALUES}


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_cannot_be_changed(value: object) -> None:
    names = getattr(value, "_fields", None) or [
        field.name
        for field in dataclasses.fields(value)  # type: ignore[arg-type]
    ]
    for name in names:
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError)):
            setattr(value, name, None)
    with pytest.raises((dataclasses.FrozenInstanceError, AttributeError, TypeError)):
        value.something_new = 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_are_equal_by_what_they_hold_and_pass_between_processes(value: object) -> None:
    again = pickle.loads(pickle.dumps(value))
    assert again == value
    if not isinstance(value, Sketch | Repeats):  # they have a mapping, and arrays
        assert hash(again) == hash(value)
    assert type(again) is type(value)


@given(st.lists(st.text(min_size=1), unique=True, max_size=6))
def test_pairs_of_languages_are_all_of_them_in_order(langs: list[str]) -> None:
    assert [tuple(pair) for pair in lang_pairs(langs)] == list(combinations(langs, 2))


@pytest.mark.parametrize(
    ("name", "value"),
    [("content-type", "text/html"), ("CONTENT-TYPE", "text/html"), ("X-B", "1"), ("X-None", "")],
)
def test_headers_are_found_whatever_their_letter_case(name: str, value: str) -> None:
    headers = (("Content-Type", "text/html"), ("x-b", "1"), ("X-B", "2"))
    assert Response(HOME, 200, headers, b"", 0.0).header(name) == value


def test_letters_of_a_sketch_are_those_of_its_blocks() -> None:
    assert Sketch("", 0, {}).letters == 0
    assert Sketch("", 0, {}, blocks=((1, 2.5), (2, 4.0))).letters == 6.5


def test_page_has_the_url_and_language_of_its_record() -> None:
    page = Page(RECORD, (), ())
    assert (page.url, page.lang, page.tree) == (HOME, "en", None)
