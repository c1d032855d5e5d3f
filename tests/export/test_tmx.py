from __future__ import annotations

import io
import re
from dataclasses import replace
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from diptych.export.tmx import Tmx
from diptych.types import SegmentPair, Url

LANG = "{http://www.w3.org/XML/1998/namespace}lang"
SEGMENT = SegmentPair(
    "A cat",
    "Un chat",
    "en",
    "fr",
    Url("http://a.org/?l=en&p=1"),
    Url("http://a.org/?l=fr&p=1"),
    "/html/body/p[1]",
    "/html/body/p[2]",
    0.5,
)


def written(*segs: SegmentPair) -> bytes:
    out = io.BytesIO()
    Tmx().write(segs, out)
    return out.getvalue()


def parse(*segs: SegmentPair) -> ElementTree.Element:
    return ElementTree.fromstring(written(*segs))


def test_header_has_all_that_tmx_14b_requires() -> None:
    header = parse(SEGMENT).find("header")
    assert header is not None
    assert set(header.attrib) == {
        "creationtool",
        "creationtoolversion",
        "segtype",
        "o-tmf",
        "adminlang",
        "srclang",
        "datatype",
    }
    assert parse(SEGMENT).attrib == {"version": "1.4"}
    assert written().startswith(b'<?xml version="1.0" encoding="UTF-8"?>')


def test_source_language_is_that_of_the_first_segment() -> None:
    other = replace(SEGMENT, left_lang="de")
    root = parse(SEGMENT, other)
    assert root.find("header").attrib["srclang"] == "en"  # type: ignore[union-attr]
    assert [unit.attrib["srclang"] for unit in root.iter("tu")] == ["en", "de"]


def test_without_segments_it_is_any_language() -> None:
    root = parse()
    assert root.find("header").attrib["srclang"] == "*all*"  # type: ignore[union-attr]
    assert list(root.iter("tu")) == []
    assert root.find("body") is not None


def test_unit_has_both_sides_with_where_they_were_found() -> None:
    (unit,) = parse(SEGMENT).iter("tu")
    assert [prop.attrib["type"] for prop in unit.findall("prop")] == ["score"]
    assert unit.findtext("prop") == "0.5000"
    left, right = unit.findall("tuv")
    assert (left.attrib[LANG], left.findtext("seg")) == ("en", "A cat")
    assert (right.attrib[LANG], right.findtext("seg")) == ("fr", "Un chat")
    found = [{prop.attrib["type"]: prop.text for prop in tuv.iter("prop")} for tuv in (left, right)]
    assert found == [
        {"url": SEGMENT.left_url, "path": SEGMENT.left_path},
        {"url": SEGMENT.right_url, "path": SEGMENT.right_path},
    ]


@given(st.text(alphabet=st.characters(), max_size=30))
def test_any_text_that_xml_can_hold_comes_back(text: str) -> None:
    legal = re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "", text)
    legal = re.sub(r"\r\n?", "\n", legal)
    (unit,) = parse(replace(SEGMENT, left=text)).iter("tu")
    assert unit.find("tuv").findtext("seg") == legal  # type: ignore[union-attr]


def test_markup_in_any_field_is_text() -> None:
    nasty = '</seg><x a="1">&amp;]]>\x00\ufffe\ud800'
    seg = SegmentPair(nasty, nasty, nasty, nasty, Url(nasty), Url(nasty), nasty, nasty, 1.0)
    (unit,) = parse(seg).iter("tu")
    assert unit.find("tuv").findtext("seg") == '</seg><x a="1">&amp;]]>'  # type: ignore[union-attr]
    assert unit.find("tuv").attrib[LANG] == '</seg><x a="1">&amp;]]>'  # type: ignore[union-attr]


def test_braces_in_a_text_are_kept() -> None:
    (unit,) = parse(replace(SEGMENT, left="{left} {0} {}")).iter("tu")
    assert unit.find("tuv").findtext("seg") == "{left} {0} {}"  # type: ignore[union-attr]
