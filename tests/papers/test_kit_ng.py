"""The worked examples of Kit & Ng 2007."""

from __future__ import annotations

import pytest
from support.key_reference import Key, key_of, linking_power, reference_pairs

from diptych.stages.pair.keys.strategy import PAPER, Keys, pair_urls
from diptych.text.url_fields import significant, split_url, tagged_tokens, tokens

TABLE_1 = "http://www.aud.gov.hk/chi/home/home_c.htm"


def test_table_1_fields_and_tokens() -> None:
    fields = split_url(TABLE_1)
    assert fields is not None
    assert fields[:4] == ("http://", "www.aud.gov.hk", "/chi/home/", "home_c.htm")
    assert [tokens(field) for field in fields[:4]] == [
        ["http"],
        ["www", "aud", "gov", "hk"],
        ["chi", "home"],
        ["home", "c", "htm"],
    ]
    assert significant(tokens(fields.file)) == ["home", "c"]


def key(left: str, right: str) -> str:
    one, two = tagged_tokens(left, paper=True), tagged_tokens(right, paper=True)
    assert one is not None
    assert two is not None
    return str(key_of(one, two))


LOGISTICS = (
    "http://www.logisticshk.gov.hk/text.html",
    "http://www.logisticshk.gov.hk/chinese/text.html",
)


@pytest.mark.parametrize("keys", [PAPER, Keys()])
@pytest.mark.parametrize("langs", [("en", "zh"), ("", "")])
def test_null_and_chinese(keys: Keys, langs: tuple[str, str]) -> None:
    assert key(*LOGISTICS) == "(null):chinese"
    (pair,) = pair_urls(list(zip(LOGISTICS, langs, strict=True)), ["en", "zh"], keys)
    assert (pair.left, pair.right, pair.key) == (*LOGISTICS, "(null):chinese")


IN_PATH = """en:tc eng:chi en:hk english:chinese en:ch eng:b5 eng:cn ehtml:chtml ehtml:zhtml
 (null):chinese en:gb (null):chi ekey:ckey en:sc texten:sc texten:tc texten:texttc texten:textsc
 en:textsc en:texttc EN:TC eng:ctext etext:chi""".split()
SEVERAL_IN_PATH = """english:tc_chi english:sc_chi eng_text:big5_text eng_text:gb_text eng_text:gb
 eng_text:big5""".split()
IN_FILE = """(null):c e:c (null):tc t:tc 1e:1c 2e:2c 3e:3c regione:regionc 12e:12c 09e:09c 06e:06c
 02e:02c 03e:03c 07e:07c vismape:vismapc 08e:08c 01e:01c 05e:05c hko:chko""".split()


def in_path(token: str, page: str) -> str:
    folder = "" if token == "(null)" else f"/{token}"
    return f"http://www.gov.hk{folder}/about/{page}.htm"


def in_file(token: str, page: str) -> str:
    ending = "" if token == "(null)" else f"_{token}"
    return f"http://www.gov.hk/about/{page}{ending}.htm"


def site(name: str, page: str, lang: bool) -> list[tuple[str, str]]:
    make = in_file if page == "file" else in_path
    sides = zip(name.split(":"), ("en", "zh"), strict=True)
    return [
        (make(token, page), side if lang else "")
        for token, side in sides
        for page in ("news", "staff", "law", "map", "links", "history")
    ]


@pytest.mark.parametrize("name", IN_PATH)
def test_keys_of_table_3_in_paths(name: str) -> None:
    found = key(*(in_path(token, "news") for token in name.split(":")))
    assert sorted(found.split(":")) == sorted(name.split(":"))


@pytest.mark.parametrize("name", IN_FILE)
def test_keys_of_table_3_in_files(name: str) -> None:
    found = key(*(in_file(token, "news") for token in name.split(":")))
    assert sorted(found.split(":")) == sorted(name.split(":"))


@pytest.mark.parametrize("field", ["path", "file"])
@pytest.mark.parametrize("lang", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("name", IN_PATH + SEVERAL_IN_PATH + IN_FILE)
def test_all_keys_of_table_3_are_found(name: str, lang: bool, field: str) -> None:
    pages = site(name, field, lang)
    pairs = pair_urls(pages, ["en", "zh"])
    assert len(pairs) == 6
    half = [url for url, _ in pages[:6]]
    assert {pair.left for pair in pairs} | {pair.right for pair in pairs} == {u for u, _ in pages}
    assert all((pair.left in half) != (pair.right in half) for pair in pairs)
    if lang:
        assert {pair.left for pair in pairs} == set(half)


def test_weak_keys_become_one_strong_key() -> None:
    pages = [
        (f"http://www.gov.hk/chapter/{number:02}{letter}.htm", lang)
        for number in range(1, 13)
        for letter, lang in (("e", "en"), ("c", "zh"))
    ]
    assert pair_urls(pages, ["en", "zh"], PAPER) == []  # each links 1 of 24 URLs
    weak = linking_power(pages)
    assert {len(matches) for matches in weak.values()} == {1}
    assert Key("f", "06c", "06e") in weak
    general = Keys(fields=("path", "file"), several=False, suppress=False)
    for keys in (general, Keys()):
        pairs = pair_urls(pages, ["en", "zh"], keys)
        assert {(pair.left[-7:], pair.right[-7:]) for pair in pairs} == {
            (f"{number:02}e.htm", f"{number:02}c.htm") for number in range(1, 13)
        }
        assert {pair.key for pair in pairs} == {"e:c"}


def test_regione_and_vismape_are_e_and_c_too() -> None:
    words = ("region", "vismap", "wind", "rain", "tide")
    pages = [(f"http://hko.gov.hk/{word}{end}.htm", "") for word in words for end in "ec"]
    pairs = pair_urls(pages, ["en", "zh"])
    assert {pair.key for pair in pairs} == {"e:c"}
    assert len(pairs) == len(words)


def test_competition_stronger_key_first() -> None:
    """<u, v> of a stronger key keeps <u, v'> of a weaker one out."""
    root = "http://x.hk/"
    pages = [(f"{root}{lang}/{n}/{n}.htm", "") for lang in ("en", "tc") for n in "abcdef"]
    pages += [(f"{root}sc/{n}/{n}.htm", "") for n in "abc"]
    matched = linking_power(pages)
    assert len(matched[Key("p", "en", "tc")]) == 6
    assert len(matched[Key("p", "en", "sc")]) == len(matched[Key("p", "sc", "tc")]) == 3
    union = reference_pairs(pages)
    assert {str(match.key) for match in union} == {"en:tc"}
    assert len(union) == 6
    found = pair_urls(pages, ["en", "zh"], PAPER)
    assert [(p.left, p.right, p.key) for p in found] == [
        (m.left, m.right, str(m.key)) for m in union
    ]


def test_url_left_over_by_a_stronger_key_goes_to_a_weaker() -> None:
    root = "http://x.hk/"
    pages = [(f"{root}{lang}/{n}.htm", "") for lang in ("en", "tc") for n in "abcdef"]
    pages += [(f"{root}en/g.htm", ""), (f"{root}sc/g.htm", ""), (f"{root}sc/a.htm", "")]
    keys = [str(match.key) for match in reference_pairs(pages)]
    assert keys == ["en:tc"] * 6 + ["en:sc"]


def test_threshold_is_a_tenth_of_the_urls() -> None:
    pages = [(f"http://x.hk/{n}/{n}{n}.htm", "") for n in range(16)]
    pages += [(f"http://x.hk/{lang}/a.htm", "") for lang in ("en", "tc")]
    pages += [(f"http://x.hk/{lang}/b.htm", "") for lang in ("en", "tc")]
    assert len(pages) == 20
    assert len(reference_pairs(pages)) == 2
    assert reference_pairs([*pages, ("http://x.hk/more/z.htm", "")]) == []


def test_no_cross_field_linkage() -> None:
    assert key("http://x.hk/en/a.htm", "http://x.hk/a_tc.htm") == "None"


def test_a_url_is_a_set_of_tokens() -> None:
    assert key("http://x.hk/a/en/b.htm", "http://x.hk/b/tc/a.htm") == "None"
    assert key("http://x.hk/a/en/b.htm", "http://x.hk/tc/a/b.htm") == "en:tc"


def test_key_of_one_language_only_is_none() -> None:
    pages = [(f"http://x.hk/{folder}/{n}.htm", "en") for folder in ("en", "print") for n in "abc"]
    assert reference_pairs(pages) == []
    assert pair_urls(pages, ["en", "zh"], PAPER) == []
