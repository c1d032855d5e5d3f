from __future__ import annotations

import gzip
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.timing import processor_seconds

from diptych.page import blocks as blocks_module
from diptych.page import links as links_module
from diptych.page.languages import language_sample
from diptych.page.read import read_content, read_page
from diptych.types import Block, LangScore, Node, Page, Response, Url

HERE = Url("http://example.org/docs/page.html")
ENGLISH = "This is a paragraph about the history of the town and of the people who lived in it. "
FRENCH = "Ceci est un paragraphe sur l'histoire de la ville et des gens qui y ont vécu jadis. "


def page(
    markup: str | bytes,
    *,
    headers: tuple[tuple[str, str], ...] = (),
    with_tree: bool = False,
    langs: tuple[str, ...] = (),
) -> Page:
    body = markup.encode() if isinstance(markup, str) else markup
    told = (("Content-Type", "text/html; charset=utf-8"), *headers)
    response = Response(HERE, 200, told, body, 12.5)
    return read_page(response, depth=3, langs=langs, with_blocks=True, with_tree=with_tree)


def texts(markup: str) -> list[str]:
    return [block.text for block in page(markup).blocks]


def nodes(tree: Node | None) -> Iterator[Node]:
    waiting = [tree] if tree else []
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


# Blocks


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>One</p><p>Two</p>", ["One", "Two"]),
        ("<p>One<p>Two", ["One", "Two"]),
        ("<h1>A</h1><ul><li>b<li>c</ul><dl><dt>d<dd>e</dl>", ["A", "b", "c", "d", "e"]),
        (
            "<table><caption>cap</caption><tr><th>h<td>d</table>",
            ["cap", "h", "d"],
        ),
        ("<button>b</button><label>l</label><select><option>o</select>", ["b", "l", "o"]),
        ("<fieldset><legend>le</legend></fieldset><details><summary>su</summary>", ["le", "su"]),
        ("<figure><figcaption>f</figcaption></figure><address>ad</address>", ["f", "ad"]),
        ("<blockquote>q</blockquote><pre>p  \n  r</pre>", ["q", "p r"]),
        ("loose<div>in div<p>para</p>tail</div>end", ["loose", "in div", "para", "tail", "end"]),
        ("<p>a <b>bold</b>, <i>it<u>al</u>ic</i> word</p>", ["a bold, italic word"]),
        ("<p>  white \n\t space\u00a0folded  </p>", ["white space folded"]),
        ("<p><b>a</b> <i>b</i></p>", ["a b"]),
        ("<p><b>a</b><i>b</i></p>", ["ab"]),
        ("<p><span><b>a</b> </span>b</p>", ["a b"]),
        ("<p>a<!-- comment -->b <script>no()</script> c</p>", ["ab c"]),
        ("<p><b>a</b> <!-- c -->b</p>", ["a b"]),
        ("<p>one<br>two<br><br>three<br> <br/>four</p>", ["one two", "three", "four"]),
        ("<p>over<hr>under</p>", ["over", "under"]),
        ("<a href=a>Home</a><a href=b>News</a>", ["Home", "News"]),
        ("<p>soft\u00adhyphen zero\u200bwidth</p>", ["softhyphen zerowidth"]),
        ("<p>***</p><p>&nbsp;</p><p>→</p><p>5</p>", ["5"]),
        ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>", ["漢"]),
        ("<input type=submit value='Go now'><input value='no'>", ["Go now"]),
        ("<input type=hidden value='no'><textarea>area</textarea>", ["area"]),
        ("<my-card>card<my-part>part</my-part></my-card>", ["card", "part"]),
        ("<p>a <my-term>term</my-term> b</p>", ["a term b"]),
        ("<p>a <unheard>of</unheard> b</p>", ["a of b"]),
    ],
)
def test_blocks_are_runs_of_inline_content_in_document_order(
    markup: str, expected: list[str]
) -> None:
    assert texts(markup) == expected


@pytest.mark.parametrize(
    "markup",
    [
        "<script>no</script>",
        "<style>no</style>",
        "<template><p>no</p></template>",
        "<noscript>no</noscript>",
        "<p hidden>no</p>",
        "<p style='color:red; DISPLAY : none'>no</p>",
        "<div hidden><p>no</p>no<b>no</b></div>",
        "<span hidden>no</span>",
        "<svg><title>no</title><text>no</text></svg>",
        "<math><mi>no</mi></math>",
        "<iframe>no</iframe>",
        "<video>no</video>",
        "<!-- no -->",
    ],
)
def test_invisible_elements_are_not_blocks(markup: str) -> None:
    assert texts(f"<p>before</p>{markup}<p>after</p>") == ["before", "after"]


@pytest.mark.parametrize(
    "markup",
    [
        "<p aria-hidden=true>yes</p>",
        "<p style='display:block'>yes</p>",
        "<p hidden=until-found>yes</p>",
        "<body style='display:none'>yes",
        "<p style='list-style:none'>yes</p>",
    ],
)
def test_elements_that_only_look_hidden_are_kept(markup: str) -> None:
    assert texts(markup) == ["yes"]


def test_title_and_description_are_blocks_of_their_own() -> None:
    found = page("<title> The  title </title><meta name=Description content='What it is'>")
    assert found.blocks == (
        Block("The title", "/html/head/title"),
        Block("What it is", "/html/head/meta[1]"),
    )
    assert found.record.title == "The title"


def test_the_text_of_an_image_is_a_block_after_the_run_it_is_in() -> None:
    assert page("<p>Press <img alt='the key' src=k.png> now</p>").blocks == (
        Block("Press now", "/html/body/p[1]"),
        Block("the key", "/html/body/p[1]/img[1]"),
    )


def test_paths_count_siblings_of_the_same_name() -> None:
    found = page("<div>a</div><p>b</p><div><p>c</p><p hidden>x</p><span><p>d</p></span></div>")
    assert [block.path for block in found.blocks] == [
        "/html/body/div[1]",
        "/html/body/p[1]",
        "/html/body/div[2]/p[1]",
        "/html/body/div[2]/span[1]/p[1]",
    ]


def test_further_runs_of_an_element_have_paths_of_their_own() -> None:
    found = page("<div>one<p>two</p>three<br><br>four</div>")
    assert [block.path for block in found.blocks] == [
        "/html/body/div[1]",
        "/html/body/div[1]/p[1]",
        "/html/body/div[1]/text()[2]",
        "/html/body/div[1]/text()[3]",
    ]


# Links


def test_a_link_has_its_five_contexts() -> None:
    found = page(
        "<p>Read this <a href='../fr/a.html#x'>in <b>French</b><img alt='flag' src='fr.png'></a>"
        " if you like</p>"
    )
    (link,) = found.links
    assert link.url == "http://example.org/fr/a.html"
    assert (link.rel, link.anchor, link.alt, link.src) == ("a", "in French", "flag", "fr.png")
    assert link.around == "Read this if you like"


def test_the_text_around_a_link_is_cut_and_stays_in_its_block() -> None:
    found = page(f"<p>Other</p><div><p>{'before ' * 30}<a href=x>here</a>{' after' * 30}</p></div>")
    around = found.links[0].around
    assert len(around) <= 2 * links_module.AROUND + 1
    assert around.count("before") >= 8
    assert around.count("after") >= 8
    assert "Other" not in around


def test_a_link_alone_in_its_item_has_nothing_around_it() -> None:
    found = page("<ul><li>Language:<li><a href=fr>FR</a><li>more</ul><p>Or <a href=x>X</a></p>")
    assert [link.around for link in found.links] == ["", "Or"]


def test_a_link_around_blocks_has_the_text_of_all() -> None:
    found = page("<a href=card><h2>Title</h2><p>Text <em>and</em> more</p></a>")
    assert found.links[0].anchor == "Title Text and more"
    assert [block.text for block in found.blocks] == ["Title", "Text and more"]


def test_scripts_are_not_in_the_text_around_a_link() -> None:
    found = page("<p><script>var a</script><a href=x>here</a> and <style>b{}</style>there</p>")
    assert found.links[0].around == "and"


def test_links_of_one_run_keep_their_own_words() -> None:
    found = page("<p><a href=a>one</a> two <a href=b>three</a></p>")
    assert [(link.anchor, link.around) for link in found.links] == [
        ("one", "two"),
        ("three", "two"),
    ]


def test_links_in_hidden_menus_count() -> None:
    found = page("<div style='display:none'><a href=/fr hreflang=fr>Français</a></div>")
    assert [(link.hreflang, link.anchor) for link in found.links] == [("fr", "Français")]
    assert found.blocks == ()
    found = page("<a hidden href=/de>Deutsch <b>x</b></a><p>seen</p>")
    assert [link.anchor for link in found.links] == ["Deutsch x"]
    assert [block.text for block in found.blocks] == ["seen"]


@pytest.mark.parametrize(
    "markup",
    [
        "<a href='#top'>a</a>",
        "<a href='mailto:a@example.org'>a</a>",
        "<a href='javascript:void(0)'>a</a>",
        "<a name=x>a</a>",
        "<a href=''>a</a>",
        "<a href='data:text/html,x'>a</a>",
        "<iframe src='about:blank'></iframe>",
        "<link rel=stylesheet href=a.css>",
        "<link rel='alternate stylesheet' hreflang=fr href=a.css>",
        "<link rel=alternate type=application/rss+xml hreflang=fr href=feed>",
        "<link rel=alternate type=application/atom+xml hreflang=fr href=feed>",
        "<link rel=alternate href=mobile>",
    ],
)
def test_targets_that_are_not_pages_are_not_links(markup: str) -> None:
    assert page(markup).links == ()


@pytest.mark.parametrize(
    ("markup", "rel", "hreflang"),
    [
        ("<a href=t rel=nofollow>x</a>", "a", ""),
        ("<map><area href=t hreflang=fr></map>", "area", "fr"),
        ("<iframe src=t></iframe>", "frame", ""),
        ("<frameset><frame src=t></frameset>", "frame", ""),
        ("<link rel='ALTERNATE' hreflang=' fr-CA ' href=t>", "alternate", "fr-CA"),
        ("<body><p>x<link rel=alternate hreflang=fr href=t>", "alternate", "fr"),
        ("<link rel=canonical href=t>", "canonical", ""),
        ("<link rel=next href=t>", "a", ""),
        ("<meta http-equiv=Refresh content='0;URL=t'>", "refresh", ""),
    ],
)
def test_every_kind_of_link_is_found(markup: str, rel: str, hreflang: str) -> None:
    (link,) = page(markup).links
    assert (link.url, link.rel, link.hreflang) == ("http://example.org/docs/t", rel, hreflang)


@pytest.mark.parametrize(
    ("markup", "hreflang"),
    [
        ("<a href=t hreflang=fr lang=en>x</a>", "fr"),
        ("<a href=t lang=fr-FR>x</a>", "fr-FR"),
        ("<ul><li hreflang=fr class=fr><a href=t class=language-link>x</a></ul>", "fr"),
        ("<ul><li class='lang-item lang-item-54 lang-item-fr'><a href=t>x</a></ul>", "fr"),
        ("<ul><li class='wpml-ls-item wpml-ls-item-pt-br'><a href=t>x</a></ul>", "pt-br"),
        ("<ul><li class='lang-item lang-item-fr'><span><a href=t>x</a></span></ul>", "fr"),
        ("<ul><li class='lang-item no-translation'><a href=t hreflang=fr>x</a></ul>", ""),
        ("<ul><li class=menu-item><a href=t>x</a></ul>", ""),
        ("<div lang=fr><a href=t>x</a></div>", ""),
    ],
)
def test_the_language_of_a_switcher_is_found_wherever_it_is_declared(
    markup: str, hreflang: str
) -> None:
    assert page(markup).links[0].hreflang == hreflang


def test_base_holds_for_all_links_even_those_before_it() -> None:
    found = page("<link rel=next href=a><base href='/b/'><base href='/c/'><a href=d>x</a>")
    assert [link.url for link in found.links] == [
        "http://example.org/b/a",
        "http://example.org/b/d",
    ]


def test_links_from_headers_come_first() -> None:
    found = page(
        "<link rel=canonical href=/other>",
        headers=(
            ("Link", '</fr>; rel="alternate"; hreflang="fr", </style.css>; rel=preload'),
            ("link", "</page>; rel=canonical"),
            ("Refresh", "5; url=/next"),
        ),
    )
    assert [(link.rel, link.url.rpartition("/")[2]) for link in found.links] == [
        ("alternate", "fr"),
        ("canonical", "page"),
        ("refresh", "next"),
        ("canonical", "other"),
    ]
    assert found.record.canonical == "http://example.org/page"


# Record


def test_the_record_has_the_facts_of_the_response() -> None:
    body = gzip.compress(f"<html lang=' fr-CA '><title>T</title><p>{FRENCH}".encode())
    found = page(body, headers=(("Content-Encoding", "gzip"), ("content-language", " fr ")))
    record = found.record
    assert (record.url, record.depth, record.fetched_at, record.size) == (HERE, 3, 12.5, len(body))
    assert (record.html_lang, record.content_language, record.title) == ("fr-CA", "fr", "T")
    assert record.text_length == len(FRENCH.strip())
    assert (record.lang, record.langs[0].lang, found.lang) == ("fr", "fr", "fr")


def test_the_digest_is_of_the_body_without_its_encoding() -> None:
    plain = page("abc")
    assert plain.record.digest == "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5"
    packed = page(gzip.compress(b"abc"), headers=(("Content-Encoding", "gzip"),))
    assert packed.record.digest == plain.record.digest


def test_a_canonical_link_to_itself_is_ignored() -> None:
    assert page("<link rel=canonical href=page.html>").record.canonical is None
    assert page("<link rel=canonical href=/x>").record.canonical == "http://example.org/x"


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<html xml:lang=fr>", "fr"),
        ("<html>", ""),
        ("<html lang=''>", ""),
    ],
)
def test_the_language_of_the_html_element_is_kept_as_written(markup: str, expected: str) -> None:
    assert page(markup).record.html_lang == expected


def test_content_language_is_taken_from_the_page_if_no_header_has_it() -> None:
    markup = "<meta http-equiv=content-language content=de>"
    assert page(markup).record.content_language == "de"


def test_too_little_text_has_no_language() -> None:
    assert page("<p>Home</p>").lang == ""
    assert page("").record.langs == ()


def test_the_language_is_that_of_the_running_text_and_not_of_the_menu() -> None:
    menu = "".join(f"<li>Menu item number {i}</li>" for i in range(60))
    assert page(f"<ul>{menu}</ul>" + f"<p>{FRENCH * 3}</p>" * 4).lang == "fr"


def test_one_foreign_paragraph_does_not_decide() -> None:
    assert page(f"<p>{FRENCH * 3}</p>" * 7 + f"<p>{ENGLISH * 40}</p>").lang == "fr"


def test_a_requested_language_has_the_users_own_code() -> None:
    assert page(f"<p>{FRENCH}", langs=("en", "fr-CA")).record.langs[0].lang == "fr-CA"


def test_a_language_not_requested_is_identified_too() -> None:
    german = "Dies ist ein Absatz über die Geschichte der Stadt und der Menschen, die dort lebten."
    assert page(f"<p>{german}", langs=("en", "fr")).lang == "de"


def test_the_sample_is_bounded() -> None:
    assert 250 < len(language_sample([ENGLISH * 50] * 1000, [])) < 400
    assert 120 < len(language_sample([], ["Contact us"] * 1000)) < 400


def test_sample_comes_from_eight_places_all_over_the_page() -> None:
    lines = [f"{number:02}" * 60 for number in range(32)]
    sample = language_sample(lines, []).split("\n")
    assert sample == [f"{number:02}" * 20 for number in range(2, 32, 4)]
    few = language_sample(lines[:3], []).split("\n")
    assert few == [f"{number:02}" * 53 for number in range(3)]
    assert [len(text) for text in language_sample(lines[:2], [], 100).split("\n")] == [50, 50]


def test_menus_fill_up_a_short_sample_from_the_end() -> None:
    assert language_sample(["x" * 160], ["menu"]) == "x" * 160
    assert language_sample(["x" * 159], ["other", "menu"]) == "x" * 159 + "\nmenu"
    assert language_sample([], ["a" * 100, "b" * 100, "c" * 100], 320) == (
        "\n".join(["c" * 100, "b" * 100])
    )


@pytest.mark.parametrize(
    "tag", ["script", "style", "template", "noscript", "svg", "math", "textarea", "select"]
)
def test_skipped_elements_do_not_count_for_the_text_length(tag: str) -> None:
    inner = "<option>unread text</option>" if tag == "select" else "unread text"
    assert page(f"<body><p>lamp</p><{tag}>{inner}</{tag}>").record.text_length == 4


def test_content_alone_is_that_of_the_whole_page() -> None:
    body = f"<base href=/other/><title>T</title><p>{ENGLISH}<a href=x>link</a>".encode()
    told = (("Content-Type", "text/html"), ("Content-Encoding", "gzip"))
    response = Response(HERE, 200, told, gzip.compress(body), 0.0)
    whole = read_page(response, with_blocks=True, with_tree=True)
    assert read_content(response) == (whole.blocks, whole.tree)
    assert [node.href for node in nodes(whole.tree) if node.tag == "a"] == [
        "http://example.org/other/x"
    ]
    assert len(whole.blocks) == 2
    picture = Response(HERE, 200, (("Content-Type", "image/png"),), b"\x89PNG", 0.0)
    assert read_content(picture) == ((), None)


def test_title_is_cut_at_two_thousand_characters() -> None:
    assert page(f"<title>{'t' * 3000}</title>").record.title == "t" * 2000
    assert page("<p>x").record.title == ""


def test_language_of_a_header_takes_precedence_over_the_page() -> None:
    markup = "<meta http-equiv=Content-Language content=' de '>"
    assert page(markup).record.content_language == "de"
    assert page("<p>x").record.content_language == ""
    header = (("Content-Language", "fr"),)
    assert page(markup, headers=header).record.content_language == "fr"


def test_refresh_header_is_a_link() -> None:
    found = page("<p>x", headers=(("Refresh", "0; url=/next"), ("Refresh", "5")))
    assert [link.url for link in found.links] == ["http://example.org/next"]


def test_blocks_are_read_only_on_request() -> None:
    response = Response(HERE, 200, (("Content-Type", "text/html"),), b"<title>T</title><p>x", 0.0)
    found = read_page(response)
    assert (found.blocks, found.tree, found.record.title) == ((), None, "T")
    assert found.record == read_page(response, with_blocks=True).record


def test_a_body_that_is_not_html_gives_an_empty_page() -> None:
    response = Response(HERE, 200, (("Content-Type", "application/pdf"),), b"%PDF-1.4 <p>x", 0.0)
    found = read_page(response, with_tree=True)
    assert (found.blocks, found.links, found.tree) == ((), (), None)
    assert found.record.size == 13


def test_the_charset_is_found() -> None:
    body = "<meta charset=windows-1251><p>Привет, мир".encode("cp1251")
    response = Response(HERE, 200, (("Content-Type", "text/html"),), body, 0.0)
    assert read_page(response, with_blocks=True).blocks[0].text == "Привет, мир"


# Tree


def test_the_tree_has_every_element_and_text_but_the_hidden() -> None:
    found = page(
        "<title>t</title><body><div>a <b>b</b></div><p hidden>x</p><script>y</script>"
        "<a href=c>c<img alt='d'></a><br><span></span>",
        with_tree=True,
    )
    assert [(node.tag, node.text, node.href) for node in nodes(found.tree)] == [
        ("html", "", ""),
        ("body", "", ""),
        ("div", "", ""),
        ("#text", "a", ""),
        ("b", "", ""),
        ("#text", "b", ""),
        ("a", "", "http://example.org/docs/c"),
        ("#text", "c", ""),
        ("img", "", ""),
        ("#text", "d", ""),
        ("br", "", ""),
        ("span", "", ""),
    ]


def test_a_text_in_the_tree_has_the_path_of_its_block() -> None:
    found = page("<div>one <b>two</b><p>three</p>four<img alt=five></div>", with_tree=True)
    paths = {node.text: node.path for node in nodes(found.tree) if node.tag == "#text"}
    assert paths == {
        "one": "/html/body/div[1]",
        "two": "/html/body/div[1]",
        "three": "/html/body/div[1]/p[1]",
        "four": "/html/body/div[1]/text()[2]",
        "five": "/html/body/div[1]/img[1]",
    }
    assert {block.path for block in found.blocks} == set(paths.values())


def test_no_tree_unless_requested() -> None:
    assert page("<p>x").tree is None


# Hostile and broken pages

PIECES = (
    "<p>,<p hidden>,</p>,<div>,</div>,<a href=x>,<a>,</a>,<b>,</b>,<br>,<hr>,<img alt=i>,<li>,<ul>"
    ",<table>,<td>,</table>,<select>,<option>,<svg>,</svg>,<x-y>,</x-y>,<title>,</title>,<body>"
    ",<base href=/b/>,<html>,<frameset>,<frame src=f>,<template>,<!--,-->,<,>,&amp;,text,word,é,中"
    ",<span style=display:none>,</span>,<meta http-equiv=refresh content=0;url=r>,<a hidden href=h>"
).split(",")


@given(st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join))
def test_any_markup_gives_unique_paths_and_the_same_blocks_with_a_tree(markup: str) -> None:
    plain = page(markup)
    treed = page(markup, with_tree=True)
    assert (plain.blocks, plain.links, plain.record) == (treed.blocks, treed.links, treed.record)
    paths = [block.path for block in plain.blocks]
    assert len(set(paths)) == len(paths)
    assert treed.tree is not None
    in_tree = {node.path for node in nodes(treed.tree) if node.tag == "#text"}
    assert {path for path in paths if "/head" not in path} <= in_tree
    assert all(" ".join(block.text.split()) == block.text != "" for block in plain.blocks)


@given(st.binary(max_size=300))
def test_any_bytes_are_read(body: bytes) -> None:
    found = page(body, with_tree=True)
    assert found.record.size == len(body)


@pytest.mark.slow
@pytest.mark.parametrize(
    "markup",
    [
        "<div>" * 100_000 + "kept",
        "<b><i><font color=red>" * 30_000 + "kept",
        "<table><tr><td>" * 30_000 + "</td></tr></table>" * 30_000 + "kept",
        "<ul><li>" * 50_000 + "kept",
        "<p " + "a b=c " * 100_000 + ">kept",
        "<a href=x>" * 50_000 + "kept",
    ],
)
def test_deep_or_crowded_markup_is_read_in_bounded_time(markup: str) -> None:
    with processor_seconds():  # unguarded it would be a minute
        found = page(markup, with_tree=True)
    assert found.blocks[-1].text == "kept"
    assert len(found.blocks[-1].path) < 1_200


def test_huge_pages_are_read_up_to_a_bound() -> None:
    links = "<p><a href=x>link</a></p>" * (links_module.MAX_LINKS + 10)
    assert len(page(links).links) == links_module.MAX_LINKS
    run = "<a href=x>link</a> " * (links_module.MAX_LINKS + 10)
    assert len(page(run).links) == links_module.MAX_LINKS
    many = "<p>x</p>" * (blocks_module.MAX_BLOCKS + 10)
    assert len(page(many).blocks) == blocks_module.MAX_BLOCKS


def test_scores_of_the_record_are_soft() -> None:
    langs = page(f"<p>{FRENCH}</p><p>{ENGLISH}</p>").record.langs
    assert all(isinstance(score, LangScore) and 0 < score.score <= 1 for score in langs)
