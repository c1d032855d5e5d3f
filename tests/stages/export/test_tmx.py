from __future__ import annotations

import io
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from lxml import etree
from support.examples import examples
from support.exported import DE, EN, FR, LANGS, UNIT, Given, corpora, dirty_texts, written
from translate.storage.tmx import tmxfile

from diptych._version import VERSION
from diptych.stages.export.shared.columns import unit_id
from diptych.stages.export.tmx import Tmx
from diptych.units import Side, Unit

LANG = "{http://www.w3.org/XML/1998/namespace}lang"
DTD = etree.DTD(str(Path(__file__).with_name("tmx14.dtd")))


def parse(corpus: Given, *, n_way: bool = False) -> etree._Element:
    """The document, which is valid."""
    parser = etree.XMLParser(resolve_entities=False, huge_tree=True)
    root = etree.fromstring(written(Tmx(n_way=n_way), corpus)["tmx"], parser)
    assert DTD.validate(root), DTD.error_log
    return root


def props(element: etree._Element) -> dict[str, str]:
    return {prop.get("type"): prop.text or "" for prop in element.findall("prop")}


def unit(tu: etree._Element) -> Unit:
    common = props(tu)
    sides = []
    for tuv in tu.findall("tuv"):
        found = props(tuv)
        offset = int(found.pop("offset"))
        text = tuv.findtext("seg")
        date = datetime.fromisoformat(tuv.get("creationdate")).timestamp()
        sides.append(Side(tuv.get(LANG), text, **found, offset=offset, fetched_at=date))
    return Unit(
        tuple(sides), *(float(common[name]) for name in ("score", "alignment", "verified")),
        common["evidence"], tuple(common["flags"].split(" ") if common["flags"] else ()),
        int(common["copies"]), common["run"],
        *(
            datetime.fromisoformat(common[name]).timestamp() if common[name] else 0.0
            for name in ("first_seen", "last_seen")
        ),
    )  # fmt: skip


def test_header_has_all_that_tmx_14b_requires() -> None:
    root = parse(Given([UNIT]))
    assert dict(root.attrib) == {"version": "1.4"}
    header = dict(root.find("header").attrib)
    assert header.pop("creationtoolversion")
    assert header == {
        "creationtool": "diptych", "segtype": "sentence", "o-tmf": "diptych", "adminlang": "en",
        "srclang": "en", "datatype": "plaintext",
    }  # fmt: skip
    assert written(Tmx(), Given())["tmx"].startswith(
        b'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n'
    )


def test_an_empty_corpus_is_a_valid_document() -> None:
    assert list(parse(Given()).iter("tu")) == []
    assert parse(Given(langs=())).find("header").get("srclang") == "*all*"


def test_unit_has_both_sides_with_where_they_were_found() -> None:
    (tu,) = parse(Given([UNIT])).iter("tu")
    assert dict(tu.attrib) == {"tuid": unit_id(UNIT), "srclang": "en"}
    assert props(tu) == {
        "score": "0.5000", "alignment": "0.2500", "verified": "0.7500",
        "evidence": "hreflang+keys", "flags": "noai licence:CC-BY-4.0", "copies": "3", "run": "v:1",
        "first_seen": "", "last_seen": "",
    }  # fmt: skip
    left, right = tu.findall("tuv")
    assert dict(left.attrib) == {LANG: "en", "creationdate": "20231114T221320Z"}
    assert dict(right.attrib) == {LANG: "fr", "creationdate": "20231114T221420Z"}
    assert [each.findtext("seg") for each in (left, right)] == ["A cat", "Un chat"]
    assert props(right) == {
        "url": FR.url, "path": FR.path, "at": FR.at, "digest": FR.digest, "warc": FR.warc,
        "offset": "1024",
    }  # fmt: skip


def test_document_is_indented_and_has_a_source_unless_there_are_many_languages() -> None:
    lines = written(Tmx(), Given([UNIT]))["tmx"].decode().splitlines()
    assert [line for line in lines if "diptych-0" not in line][3:] == [
        f'  <header creationtool="diptych" creationtoolversion="{VERSION}" segtype="sentence"'
        ' o-tmf="diptych"',
        '          adminlang="en" srclang="en" datatype="plaintext"/>',
        "  <body>",
        f'    <tu tuid="{unit_id(UNIT)}" srclang="en">',
        '      <prop type="score">0.5000</prop>',
        '      <prop type="alignment">0.2500</prop>',
        '      <prop type="verified">0.7500</prop>',
        '      <prop type="evidence">hreflang+keys</prop>',
        '      <prop type="flags">noai licence:CC-BY-4.0</prop>',
        '      <prop type="copies">3</prop>',
        '      <prop type="run">v:1</prop>',
        '      <prop type="first_seen"></prop>',
        '      <prop type="last_seen"></prop>',
        *(
            line
            for side, date in ((EN, "20231114T221320Z"), (FR, "20231114T221420Z"))
            for line in (
                f'      <tuv xml:lang="{side.lang}" creationdate="{date}">',
                f'        <prop type="url">{side.url.replace("&", "&amp;")}</prop>',
                f'        <prop type="path">{side.path}</prop>',
                f'        <prop type="at">{side.at}</prop>',
                f'        <prop type="digest">{side.digest}</prop>',
                f'        <prop type="offset">{side.offset}</prop>',
                f"        <seg>{side.text}</seg>",
                "      </tuv>",
            )
        ),
        "    </tu>",
        "  </body>",
        "</tmx>",
    ]


def test_source_of_each_unit_is_its_left_side() -> None:
    units = [UNIT, UNIT._replace(sides=(FR, DE))]
    root = parse(Given(units, ("en", "fr", "de")))
    assert [tu.get("srclang") for tu in root.iter("tu")] == ["en", "fr"]


def test_many_languages_are_variants_of_one_unit_and_none_is_the_source() -> None:
    units = [UNIT._replace(sides=(EN, FR, DE)), UNIT]
    root = parse(Given(units, ("en", "fr", "de")), n_way=True)
    assert root.find("header").get("srclang") == "*all*"
    assert [tu.get("srclang") for tu in root.iter("tu")] == ["*all*"] * 2
    assert [[tuv.get(LANG) for tuv in tu.iter("tuv")] for tu in root.iter("tu")] == [
        ["en", "fr", "de"],
        ["en", "fr"],
    ]


def test_translate_toolkit_opens_it() -> None:
    nasty = EN._replace(text="<b> & \"c\" 'd' ]]> {0} %s עברית 🙂")
    data = written(Tmx(), Given([UNIT, UNIT._replace(sides=(nasty, FR))]))["tmx"]
    opened = tmxfile(io.BytesIO(data), sourcelanguage="en", targetlanguage="fr")
    assert [(each.source, each.target) for each in opened.units] == [
        ("A cat", "Un chat"),
        (nasty.text, "Un chat"),
    ]
    assert [each.isheader() for each in opened.units] == [False, False]


@settings(max_examples=examples(40))
@given(corpora())
def test_a_round_trip_loses_nothing(corpus: Given) -> None:
    found = list(parse(corpus).iter("tu"))
    assert [unit(tu) for tu in found] == corpus.given
    assert [tu.get("tuid") for tu in found] == list(map(unit_id, corpus.given))


@settings(max_examples=examples(40))
@given(corpora(langs=LANGS))
def test_a_round_trip_of_many_languages_loses_nothing(corpus: Given) -> None:
    found = parse(corpus, n_way=True).iter("tu")
    assert [unit(tu) for tu in found] == corpus.given


@settings(max_examples=examples(40))
@given(corpora(dirty_texts))
def test_any_text_makes_a_valid_document(corpus: Given) -> None:
    segs = [seg.text or "" for seg in parse(corpus).iter("seg")]
    texts = [side.text for unit in corpus.given for side in unit.sides]
    assert len(segs) == len(texts)
    for seg, text in zip(segs, texts, strict=True):
        kept = [letter for letter in text if letter not in "\ufffe\uffff"]
        assert len(seg) == len(kept)
        assert all(new in (old, " ", "\ufffd") for new, old in zip(seg, kept, strict=True))


def test_language_codes_cannot_break_the_template() -> None:
    hostile = 'e"n%s<&\n'
    root = parse(Given([UNIT._replace(sides=(EN._replace(lang=hostile), FR))]))
    assert [tuv.get(LANG) for tuv in root.iter("tuv")] == ['e"n%s<& ', "fr"]


@pytest.mark.parametrize("barred", ["\ufffe", "\uffff", "\x00", "\x1f", "\ud800"])
def test_characters_that_xml_forbids_are_removed(barred: str) -> None:
    units = [UNIT, UNIT._replace(sides=(EN._replace(text=f"a{barred}b"), FR))]
    segs = [seg.text for seg in parse(Given(units)).iter("seg")]
    assert segs[:2] == ["A cat", "Un chat"]
    assert segs[2] in ("ab", "a b", "a\ufffdb")
