"""The parts of a page that the pass in C finds are those that selectors find."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser
from support.timing import processor_seconds

import diptych
from diptych.page import links
from diptych.page.fast_scan import scan_page
from diptych.page.parts import PageParts, scanned_parts, selected_parts

BASE = "http://a.org/b/c.html?d"
SENTENCE = "Every page of this site has a text in two languages. "
PIECES = (
    "<p>", "</p>", "<div>", "</div>", "<ul><li>", "</ul>", "<span>", "</span>", "<b>", "</b>",
    "<a href=x>", "<a href='/y?z' hreflang=fr>", "<a href='#top'>", "<a href>", "<a href=''>",
    "<a>", "</a>", "<a href=x lang=de class='lang-item no-translation'>", "<a HREF='mailto:a@b.c'>",
    "<li class='lang-item lang-item-fr'>", "<li hreflang=de><span>", "<li class=wpml-ls-item-it>",
    "<li class=menu>", "</li>", "<a href=x class='wpml-ls-link'>", "<img src=' a/b.png '>",
    "<img src='data:image/png;base64,AA'>", "<img data-src=c.png alt=' two  words '>", "<img>",
    "<img src='' data-src=d.png>", "<img alt=x src=e.gif>", "<area href=m alt=' A\u00a0map '>",
    "<area href='#'>", "<iframe src=f title=T></iframe>", "<iframe src='#'></iframe>",
    "<iframe src=f name=N>raw</iframe>", "<link rel=alternate hreflang=fr href=fr>",
    "<link rel='Canonical' href=c>", "<link rel=license href=l>", "<a rel='a LICENSE' href=l2>",
    "<link rel=alternate type=rss hreflang=fr href=f>", "<link rel=next href=n>", "<link href>",
    "<meta http-equiv=Refresh content='0; url=r'>",
    "<meta http-equiv=content-language content=' ro '>",
    "<meta http-equiv=Content-Language content>", "<meta name=Robots content=noai>",
    "<meta property=og:title content=' t '>", "<meta content=c>", "<base href=/e/>", "<base href>",
    "<noscript>", "</noscript>", "<script>a<b</script>", "<style>p{}</style>", "<svg>", "</svg>",
    "<svg><a href=s>u</a></svg>", "<math>", "</math>", "<select><option>", "</select>",
    "<textarea>a</textarea>", "<template><a href=t>t</a></template>", "<!-- c -->", "<pre>",
    "</pre>", "<code>", "</code>", "<tt>", "<var>v</var>", "<main>", "</main>", "<article>",
    "</article>", "<div role=main>", "<dialog>", "</dialog>", "<div role=dialog>",
    "<div role=Dialog>", "<div aria-modal=true>", "<div id=my-Cookie-bar>", "<p class=CONSENT>",
    "<b id=a-Consent>w</b>",
    "<body class=cookie>", "<html id=consent>", "<frameset>", "<frame src=g>", "<table><tr><td>",
    "</table>", "<title>A title</title>",
    "<svg><title>T<b>t</b></title></svg>", "word", "two  words", " ", "\n\t ", "\u00a0", "\u3000",
    "élan", "中文", "😀", "&#0;", "&#1;", "&#xD800;", "\u0085", "\u200b", "é" * 80, "x y " * 400,
    SENTENCE, SENTENCE * 6,
)  # fmt: skip
MARKUP = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)
SITE = sorted((Path(diptych.__file__).parent / "demo" / "site").rglob("*.html"))


def base_of(parser: LexborHTMLParser) -> str | None:
    element = parser.css_first("base[href]")
    return None if element is None else element.attributes["href"] or ""


def bounded(parts: PageParts) -> PageParts:
    """The parts with the names and values that flags read."""
    declared = parts.declared
    metas = [each._replace(name=each.name[:100]) for each in declared.metas]
    return parts._replace(declared=declared._replace(metas=metas))


def is_same(markup: str) -> bool:
    """Compare both; True if the page was not left to the reference."""
    parser = LexborHTMLParser(markup)
    scanned = scan_page(parser)
    if scanned is None:
        return False
    assert scanned.base == base_of(parser)
    title = parser.css_first("title")
    assert scanned.title == (title.text() if title is not None else "")
    found = scanned_parts(scanned, BASE)
    assert bounded(found) == bounded(selected_parts(parser, BASE))
    return True


@pytest.mark.parametrize("path", SITE, ids=lambda path: path.name)
def test_pages_of_the_demo_site(path: Path) -> None:
    assert is_same(path.read_text("utf-8", "replace"))


@pytest.mark.parametrize("piece", PIECES)
def test_each_piece_in_and_between_texts(piece: str) -> None:
    assert is_same(piece)
    assert is_same(f"<!doctype html><p>one {piece} two<p>{piece}")
    assert is_same(f"<!doctype html><a href=x>One{piece}Two{piece}</a> beside{piece}")
    assert is_same(
        f"<!doctype html><main>{SENTENCE * 6}{piece}{SENTENCE}</main>{piece}{SENTENCE * 6}"
    )


@given(MARKUP)
def test_any_markup(markup: str) -> None:
    is_same(f"<!doctype html>{markup}")
    is_same(f"<!doctype html><body><p>text{markup}")


def test_link_goes_on_after_an_unread_element_with_a_link() -> None:
    assert is_same("<a href=x><svg><a href=y>i</a></svg><img src=z.png alt=Deutsch></a>")
    assert is_same("<p>Text<script>var a</script><frameset><frame src=f></frameset>")


def test_long_classes_of_an_item_are_cut_for_each_of_its_links() -> None:
    classes = f"lang-item {'x' * 50_000} lang-item-fr"
    markup = f"<ul><li class='{classes}'>{'<a href=x>a</a>' * 500}</ul>"
    assert is_same(markup)
    assert is_same(f"<ul><li class='lang-item-fr {classes}' hreflang={'y' * 9000}><a href=x>a</a>")
    tracemalloc.start()
    scan_page(LexborHTMLParser(markup))
    assert tracemalloc.get_traced_memory()[1] < 10_000_000  # whole classes would take 25 MB
    tracemalloc.stop()


def test_texts_around_and_inside_links_are_cut() -> None:
    for size in range(60, 80):
        text = "é" * size + " \n" + "b" * size
        assert is_same(f"<p>{text}<a href=x>{text * 9}</a>{text}")
        assert is_same(f"<p>{text}<a href=x><b>{text * 3}</b><i>{text * 5}</i></a><br>{text}")


def test_texts_of_surplus_links_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "_MAX_VISITS", 100)
    monkeypatch.setattr(links, "MAX_LINKS", 12)
    assert is_same("<a href=x><b>a</b></a>" * 5 + "<a href>b</a><a href='#'>c</a>" * 5)
    assert is_same("<a href=x><b>a</b>c</a><a href=y>b</a>" * 9)


def test_links_inside_links_are_left_to_the_reference() -> None:
    assert not is_same("<a href=x><object><a href=y>b</a></object><img src=c></a>")


@pytest.mark.parametrize(
    "markup",
    [
        "<div>" * 500 + "deep",
        "<p id=cookie>" * 400 + SENTENCE * 9,
        "<a href=x>" * 2000,
        "<p" + " a" * 900,
    ],
)
def test_unusual_pages(markup: str) -> None:
    is_same(markup)


def test_the_time_grows_with_the_page_only() -> None:
    parser = LexborHTMLParser("<a href=x><b>word </b></a><p class=cookie>a</p>" * 20_000)
    with processor_seconds():
        assert scan_page(parser) is not None


def test_code_counts_as_text_only_if_there_is_little_other_text() -> None:
    def prose(markup: str) -> str:
        return selected_parts(LexborHTMLParser(markup), BASE).prose.text

    assert prose(f"<p>{SENTENCE * 6}<pre>x = 1</pre>") == (SENTENCE * 6).strip()
    assert prose("<p>Short<pre>x = 1</pre>") == "Short\nx = 1"


def test_the_text_of_dialogs_is_left_out() -> None:
    markup = f"<div class=Cookie-Bar>We use cookies.</div><p>{SENTENCE * 6}"
    prose = selected_parts(LexborHTMLParser(markup), BASE).prose
    assert prose.rest == (SENTENCE * 6).strip()
    assert prose.text.startswith("We use cookies.\n")
