"""Sketches: the content features by which pages are paired."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.page.read import read_content, read_page
from diptych.page.sketch import block_languages, language_shares, spell_tags
from diptych.run.encoding import read_sketch, write_sketch
from diptych.types import Block, Response, Sketch, Url

HERE = Url("http://www.example.org/docs/page.html")
ENGLISH = "The keeper of the lighthouse climbed the stairs every evening to light the great lamp."
FRENCH = "Le gardien du phare montait chaque soir les marches pour allumer la grande lampe."
GERMAN = "Der Wärter des Leuchtturms stieg jeden Abend die Treppe hinauf und zündete die Lampe an."
CHINESE = "灯塔的看守人每天晚上都爬上楼梯，点亮那盏巨大的灯，好让海上的船只找到回家的路。"


def response(markup: str | bytes, url: Url = HERE) -> Response:
    body = markup if isinstance(markup, bytes) else markup.encode("utf-8", "surrogatepass")
    return Response(url, 200, (("Content-Type", "text/html; charset=utf-8"),), body, 0.0)


def sketch(
    markup: str | bytes, *, url: Url = HERE, langs: tuple[str, ...] = ("en", "fr")
) -> Sketch:
    """The sketch of this markup, with an English sentence added so that the page has a language."""
    tail = f"<p>{ENGLISH}</p>"
    whole = markup + tail if isinstance(markup, str) else markup + tail.encode()
    found = read_page(response(whole, url), langs=langs, with_sketch=True).sketch
    assert found is not None
    return found


def blocks(*texts: str) -> list[Block]:
    return [Block(text, f"/html/body/p[{number}]") for number, text in enumerate(texts, 1)]


# Tags


def tags(markup: str) -> str:
    """The tags that a piece of markup adds to a page."""
    before, with_it = sketch(""), sketch(f"<body>{markup}")
    start = next(
        n for n, (a, b) in enumerate(zip(before.tags, with_it.tags, strict=False)) if a != b
    )
    return with_it.tags[start : start + len(with_it.tags) - len(before.tags)]


def test_opening_and_closing_tags_are_different_characters() -> None:
    assert spell_tags([5, 7, -7, -5]) == "\x05\x07" + chr(256 + 7) + chr(256 + 5)
    assert spell_tags([]) == ""


def test_unknown_tag_numbers_share_one_character() -> None:
    known = set(spell_tags([*range(1, 256), *range(-255, 0)]))
    assert len(known) == 510
    opened, closed = spell_tags([2**40, -(2**40)])
    assert spell_tags([300, 256, 0]) == opened * 3
    assert spell_tags([-300, -256]) == closed * 2
    assert opened != closed


def test_every_tag_that_is_opened_is_closed() -> None:
    one = tags("<ul><li><b>a</b></li></ul>")
    assert len(one) == 6
    assert [ord(tag) - 256 for tag in one[3:]] == [ord(tag) for tag in reversed(one[:3])]
    image = tags("<img src=a.png>")
    assert ord(image[1]) == ord(image[0]) + 256


def test_tags_do_not_depend_on_text_and_attributes() -> None:
    plain = tags("<div><h2>Words</h2></div>")
    assert tags("<DIV class=x id=y><h2 lang=fr>D'autres mots, et plus encore</h2></DIV>") == plain
    assert tags("<div><h3>Words</h3></div>") != plain


def test_skipped_elements_have_no_tags() -> None:
    assert tags("<hr>") == tags(
        "<script>if (a<b) x('<p>')</script><style>p{}</style><hr><!-- c -->"
    )


def test_custom_elements_share_one_tag() -> None:
    one, other = tags("<my-card>a</my-card>"), tags("<other-thing>a</other-thing>")
    assert one == other
    assert len(one) == 2
    assert one != tags("<div>a</div>")


def test_any_tags_can_be_stored() -> None:
    found = sketch("<x-a>1<x-b>2</x-b></x-a><blink>3</blink><marquee>4")
    assert read_sketch(write_sketch(found)).tags == found.tags
    assert not any("\ud800" <= tag <= "\udfff" for tag in found.tags)


# Files


def files(markup: str, url: Url = HERE) -> tuple[str, ...]:
    return sketch(markup, url=url).files


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<img src=/pictures/fr/Tool%20Box.PNG?v=2>", ("tool%20box.png",)),
        ("<img src=../de/lamp.png><img src=../en/lamp.png>", ("lamp.png",)),
        ("<img src='http://cdn.net/a/b.svg'>", ("b.svg",)),
        ("<img src=''><img><img src='data:image/png;base64,AAAA/BB'>", ()),
        ("<a href=/files/Manual.pdf>m</a>", ("manual.pdf",)),
        ("<a href=manual.zip?lang=fr>m</a>", ("manual.zip",)),
        ("<a href=other.html>o</a><a href=/fr/>o</a><a href=/>o</a><a href=/a/b>o</a>", ()),
        ("<a href=o.php?id=3>o</a><a href=o.asp>o</a><a href=o.XHTML>o</a><a href=o.jsp>o</a>", ()),
        ("<a href='http://other.net/page.html'>o</a>", ("http://other.net/page.html",)),
        ("<a href='http://other.net/b'>o</a><a href='http://other.net/a'>o</a>",
         ("http://other.net/a", "http://other.net/b")),
        ("<a href='http://fr.example.org/x'>f</a><a href='http://example.org/y'>e</a>", ()),
        ("<a href='http://fr.example.org/x.pdf'>f</a>", ("x.pdf",)),
        ("<link rel=alternate hreflang=fr href='http://other.net/fr'>", ()),
        ("<link rel=canonical href='http://other.net/c'>", ()),
        ("<map><area href='http://other.net/area'></map>", ("http://other.net/area",)),
        ("<a href='mailto:a@b.net'>m</a><a href='javascript:go()'>j</a>", ()),
    ],
)  # fmt: skip
def test_files_are_image_names_and_external_links(markup: str, expected: tuple[str, ...]) -> None:
    assert files(markup) == expected


def test_sites_below_one_suffix_are_not_one_site() -> None:
    url = Url("http://www.museum.co.uk/lamp.html")
    outside = "<a href='http://www.gallery.co.uk/lamp'>g</a>"
    assert files(outside, url) == ("http://www.gallery.co.uk/lamp",)


def test_no_more_files_than_can_be_compared() -> None:
    found = files("".join(f"<img src=a{number:04}.png>" for number in range(3000)))
    assert len(found) == 400
    assert found == tuple(sorted(found))


# Shares


def test_a_page_in_one_language_has_no_shares() -> None:
    assert language_shares([*[ENGLISH] * 9], ("en", "fr")) == ()
    assert language_shares([*[GERMAN] * 9], ("en",)) == ()
    assert language_shares([ENGLISH, FRENCH], ("en", "en-GB")) == ()
    assert language_shares([], ("en", "fr")) == ()


def test_a_page_in_two_languages_has_the_share_of_each() -> None:
    shares = language_shares([*[ENGLISH, FRENCH] * 4], ("en", "fr", "de"))
    assert [share.lang for share in shares] == ["en", "fr"]
    assert sum(share.score for share in shares) == pytest.approx(1, abs=0.01)
    half = sketch(f"<p>{ENGLISH}</p><p>{FRENCH}</p>" * 3)
    assert {share.lang for share in half.shares} == {"en", "fr"}


def test_shares_have_the_codes_and_the_order_of_the_user() -> None:
    shares = language_shares([*[ENGLISH, FRENCH] * 4], ("fr-CA", "en-GB"))
    assert [share.lang for share in shares] == ["fr-CA", "en-GB"]


def test_a_quotation_does_not_make_a_page_bilingual() -> None:
    assert language_shares([FRENCH, *[ENGLISH] * 7], ("en", "fr")) == ()


def test_short_lines_have_no_language() -> None:
    menu = ["Accueil", "Contact", "Plan du site", "Recherche"] * 9
    assert language_shares([*menu, *[ENGLISH] * 3], ("en", "fr")) == ()


def test_ideographs_have_their_share() -> None:
    # The same sentences: as much is said in either language, if in fewer characters.
    shares = language_shares([*[ENGLISH, CHINESE] * 4], ("en", "zh"))
    assert [share.lang for share in shares] == ["en", "zh"]
    assert all(share.score > 0.3 for share in shares)


def test_blocks_in_no_known_language_have_none() -> None:
    found = block_languages(blocks(ENGLISH, FRENCH, "1 2 3", ""), ("fr", "en"))
    assert found == ["en", "fr", "", ""]


# The whole


def test_words_are_counted_by_their_stems_and_numbers_are_whole() -> None:
    found = sketch("<p>Lighthouses 1956789 lighthouse 3,500</p><pre>code_1</pre>")
    assert found.bag["light"] == 4  # of the sentence behind it, lighthouse and to light
    assert (found.bag["1956789"], found.bag["3500"]) == (1, 1)
    assert found.words == sum(found.bag.values())


def test_blocks_are_the_same_wherever_they_stand() -> None:
    one, other = sketch("<p>Same text</p><p>Other</p>"), sketch("<div><b>Same</b> text</div>")
    assert one.blocks[0] == other.blocks[0]
    assert one.blocks[0][1] == len("Same text")
    assert one.blocks[1][0] not in {hash for hash, _ in other.blocks}
    assert one.letters == sum(length for _, length in one.blocks)


def test_only_pages_in_requested_languages_are_sketched() -> None:
    german = response(f"<p>{GERMAN * 4}")
    assert read_page(german, langs=("en", "fr"), with_sketch=True).sketch is None
    assert read_page(german, langs=("en", "de"), with_sketch=True).sketch is not None
    assert read_page(german, langs=(), with_sketch=True).sketch is not None
    assert read_page(german, langs=("en", "de")).sketch is None
    assert read_page(response("<p>Home"), langs=("en", "fr"), with_sketch=True).sketch is None


def test_a_body_that_is_not_html_has_no_sketch_and_no_content() -> None:
    picture = Response(HERE, 200, (("Content-Type", "image/png"),), b"\x89PNG\r\n\x1a\n" * 99, 0.0)
    assert read_page(picture, langs=("en", "fr"), with_sketch=True).sketch is None
    assert read_content(picture) == ((), None)


def test_content_is_what_a_page_has() -> None:
    markup = response(f"<h1>Lamp</h1><p>{ENGLISH}</p><ul><li>a<li>b</ul>")
    whole = read_page(markup, with_blocks=True, with_tree=True)
    assert read_content(markup) == (whole.blocks, whole.tree)
    assert whole.tree is not None


def test_a_sketch_is_the_same_with_blocks_and_tree() -> None:
    markup = response(f"<p>{ENGLISH}</p><img src=a.png><pre>x</pre><my-box>{FRENCH}</my-box>")
    alone = read_page(markup, langs=("en", "fr"), with_sketch=True).sketch
    both = read_page(
        markup, langs=("en", "fr"), with_blocks=True, with_tree=True, with_sketch=True
    ).sketch
    assert alone == both


# Bad input


@pytest.mark.slow
@pytest.mark.parametrize(
    "markup",
    [
        "<b>" * 100_000, "<div>" * 100_000, "<p>a" * 100_000, "<x-y>" * 100_000,
        "<img src=a>" * 100_000, "<a href=//b.net/>" * 100_000, "word " * 100_000,
        "".join(f"w{number} " for number in range(100_000)), "</p>" * 100_000,
    ],
    ids=lambda markup: markup[:8],
)  # fmt: skip
def test_a_hundred_thousand_elements_give_a_bounded_sketch(markup: str) -> None:
    found = read_page(
        response(f"<p>{ENGLISH}</p>" * 20 + markup), langs=("en", "fr"), with_sketch=True
    ).sketch
    assert found is not None
    assert len(found.tags) <= 4_000
    assert len(found.files) <= 400
    assert found.words <= 400_000
    assert len(write_sketch(found)) < 2_000_000


def test_lone_surrogates_do_no_harm() -> None:
    half = b"\xed\xa0\x80".decode("utf-8", "surrogatepass")
    found = sketch(f"<p>{half} a{half}b &#xD800; &#xDFFF;</p><img src=a&#xD800;{half}.png>")
    again = read_sketch(write_sketch(found))
    assert again.words == found.words
    assert again.blocks == found.blocks


def test_lone_surrogates_in_blocks_do_no_harm() -> None:
    # A store may hold what another reader made of a page.
    shares = language_shares([ENGLISH + "\ud800", FRENCH + "\udfff"], ("en", "fr"))
    assert {share.lang for share in shares} == {"en", "fr"}


MARKUP = st.lists(
    st.sampled_from(
        ["<p>", "</p>", "<b>", "<img src=", "a.png", ">", "<a href=", "http://b.net/", "'", "<x-y",
         "&#xD800;", "data:", "<pre>", "<script>", "</script>", ENGLISH, FRENCH, CHINESE, "\x00"]
    )
    | st.text(max_size=8),
    max_size=30,
).map("".join)  # fmt: skip


@given(MARKUP)
def test_the_sketch_of_any_page_can_be_stored(markup: str) -> None:
    found = read_page(response(markup), langs=("en", "fr", "zh"), with_sketch=True).sketch
    if found is not None:
        assert read_sketch(write_sketch(found)) == found
        assert found.words == sum(found.bag.values())
        assert [share.lang for share in found.shares] == [
            lang for lang in ("en", "fr", "zh") if lang in dict(found.shares)
        ]
