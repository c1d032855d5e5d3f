"""Menus, breadcrumbs and tag clouds: one block for each link."""

from __future__ import annotations

import pytest
from support.blocks import block_texts, walk
from support.timing import processor_seconds

A, B, C = "<a href=a>Home</a>", "<a href=b>News</a>", "<a href=c>Contact us</a>"


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (f"<nav>{A}{B}{C}</nav>", ["Home", "News", "Contact us"]),
        (f"<p>{A} | {B} | {C} |</p>", ["Home", "News", "Contact us"]),
        (f"<div>{A} / {B} / Today</div>", ["Home", "News", "Today"]),
        (f"<p><span>{A} » <span>{B} » <b>Today</b></span></span></p>", ["Home", "News", "Today"]),
        (f"<p>{A} / {B} / The <b>big</b> day</p>", ["Home", "News", "The big day"]),
        (f"<div>\n {A},\n {B},\n {C}\n</div>", ["Home", "News", "Contact us"]),
        (f"<td>{A} · {B}<br>{C}</td>", ["Home", "News", "Contact us"]),
        (f"<p>{A} <svg></svg> {B}</p>", ["Home", "News"]),
        ("<p><a href=a>主页</a> » <a href=b>新闻</a></p>", ["主页", "新闻"]),
        ("<p><a href=a>الرئيسية</a> / <a href=b>أخبار</a></p>", ["الرئيسية", "أخبار"]),
        (f"<x-menu>{A} {B}</x-menu>", ["Home", "News"]),
        # sentences
        (f"<p>{A} has <sup>{B} {C}</sup> too</p>", ["Home has News Contact us too"]),
        (f"<p>{A} has <x-y>{B} {C}</x-y> too</p>", ["Home has News Contact us too"]),
        (f"<p>{A}<sup>2</sup> {B}</p>", ["Home2 News"]),
        (f"<div><span> </span>{A}</div>", ["Home"]),
        (f"<div><span> </span>{A} {B}</div>", ["Home", "News"]),
        (f"<p>{A} and {B}</p>", ["Home and News"]),
        (f"<p>See {A}, {B}</p>", ["See Home, News"]),
        (f"<p>{A}, {B}.</p>", ["Home, News."]),
        (f"<p>{A}/she said {B}</p>", ["Home/she said News"]),
        (f"<p>{A}, {B}/she said</p>", ["Home, News/she said"]),
        (f"<p>{A} <a name=x>sentence</a></p>", ["Home sentence"]),
        (f"<p><a href=x>One</a> <a href=x>half</a> {B}</p>", ["One half News"]),
        (f"<p>{A} / {B} / Today {C}</p>", ["Home / News / Today Contact us"]),
        (f"<p>{A} / one / two</p>", ["Home / one / two"]),
        (f"<p>{A}</p>", ["Home"]),
        (f"<p>{A} &gt; Today</p>", ["Home > Today"]),
        ("<p><a href=a>The whole</a> <a href=a>sentence</a></p>", ["The whole sentence"]),
        ("<p><a>The whole</a> <a>sentence</a></p>", ["The whole sentence"]),
        (f"<div>{A} {B}<p>Text</p></div>", ["Home News", "Text"]),
    ],
)
def test_block_of_links_only_yields_one_block_per_link(markup: str, expected: list[str]) -> None:
    assert block_texts(f"<table><tr>{markup}" if "<td" in markup else markup) == expected


def test_links_of_a_list_have_their_own_paths_in_the_tree_too() -> None:
    found = walk(f"<nav>{A} / <span>{B}</span> / Today</nav>")
    paths = ["/html/body/nav[1]/a[1]", "/html/body/nav[1]/span[1]/a[1]", "/html/body/nav[1]"]
    assert [block.path for block in found.blocks] == paths
    assert found.tree is not None
    (nav,) = found.tree.children[1].children
    link, _, span, _ = nav.children
    assert (link.path, span.children[0].path) == (paths[0], paths[1])


def test_many_links_in_many_runs_are_read_in_linear_time() -> None:
    run = "<a href=a>x</a> <a href=b>y</a> z<br><br>"
    links = "".join(f"<a href={number}>x</a> " for number in range(1_900))
    with processor_seconds():
        found = walk(f"<div>{links}{run * 10_000}")
    assert len(found.blocks) == 10_000
