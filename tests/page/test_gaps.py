"""Blanks where elements are drawn apart, and none inside words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.blocks import block_texts
from support.timing import processor_seconds

from diptych.page import gaps

APART = [
    # numbers and counters
    ("<span>01</span>Why", "01 Why"),
    ("<span>01</span>AI in practice", "01 AI in practice"),
    ("<span>03</span><strong>decision</strong>", "03 decision"),
    ("<span>7</span>Öffnen", "7 Öffnen"),
    ("<span class=num>12</span>items", "12 items"),
    ("<b>3</b>comments", "3 comments"),
    ("<a href=a>June 2021</a><span>1</span>", "June 2021 1"),
    ("<a href=a>Politics</a><span>(12)</span>", "Politics (12)"),
    ("<span>4</span><a href=b>5</a>", "4 5"),
    ("<strong>Online</strong><span>96%</span>", "Online 96%"),
    ("<span>15</span><span>Jan</span>", "15 Jan"),
    ("<span>83%</span><span>Done</span>", "83% Done"),
    # labels and their values
    ("<span>Services</span><a href=a>Custom software</a>", "Services Custom software"),
    ("<small>Magyar</small><small>Vázlat</small>", "Magyar Vázlat"),
    ("<strong>deutsch</strong><small>deutsch</small>", "deutsch deutsch"),
    ("<span>Tags</span><a href=a>certificato verde</a>", "Tags certificato verde"),
    ("<span>Note</span>Ranking details", "Note Ranking details"),
    ("<strong>Address:</strong>Main Street", "Address: Main Street"),
    ("<b>Телефон:</b>12345", "Телефон: 12345"),
    ("<b>End.</b>Next sentence", "End. Next sentence"),
    ("<b>Who?</b><i>Nobody</i>", "Who? Nobody"),
    ("one,<i>two</i>", "one, two"),
    ("Call<a href='tel:1'>+386 1 200</a>", "Call +386 1 200"),
    # addresses
    ("email<a href='mailto:maria@x.org'>maria@x.org</a>", "email maria@x.org"),
    ("taproom<a href='mailto:taproom@b.com'>taproom@b.com</a>", "taproom taproom@b.com"),
    ("<a href='mailto:a@x.org'>a@x.org</a>or call", "a@x.org or call"),
    ("see<a href='http://x.org'>www.x.org</a>", "see www.x.org"),
    ("nowadays the<a href=q>QGIS builds</a>", "nowadays the QGIS builds"),
    # evidence in attributes
    ("<span class=badge>new</span>feature", "new feature"),
    ("<span class='label label-info'>beta</span>version", "beta version"),
    ("title<span class='entry-date'>today</span>", "title today"),
    ("tab<span class='ms-2'>one</span>", "tab one"),
    ("one<span style='display:inline-block'>two</span>", "one two"),
    ("<b style='display: block'>one</b>two", "one two"),
    ("<i style='margin-right: 4px'>one</i>two", "one two"),
    ("<i style='margin-right:0.5em'>one</i>two", "one two"),
    ("<span class=date>2020年</span><span class=category>お知らせ</span>", "2020年 お知らせ"),
    # drawings
    ("home<svg></svg>news", "home news"),
    ("home<i class='fa fa-star'></i>news", "home news"),
    ("home<img src=a.png>news", "home news"),
    ("home<img src=a.png alt=star>news", "home news"),
    ("<a href=a>one<svg></svg></a><b>two</b>", "one two"),
    # dates, keys, signs
    ("posted<time>May</time>", "posted May"),
    ("<kbd>K</kbd><a href=a>Search all</a>", "K Search all"),
    ("2020<span>|</span>News", "2020 | News"),
    ("one<br>two", "one two"),
    # other scripts
    ("<b>تم.</b>قال الرجل", "تم. قال الرجل"),
    ("<span>01</span>Почему", "01 Почему"),
    ("<span>Услуги</span><span>Разработка</span>", "Услуги Разработка"),
    ("<small>العربية</small><small>Draft</small>", "العربية Draft"),
    ("<span>05</span><strong>خدمات</strong>", "05 خدمات"),
    ("<span>Είδη</span><a href=a>νέα εποχή</a>", "Είδη νέα εποχή"),
    ("<span class=tag>서울</span><span class=tag>부산</span>", "서울 부산"),
]

WORDS = [
    "<a href=d>dog</a>s",
    "<b>un</b>believable",
    "un<i>believ</i>able",
    "<span>T</span>he end",
    "<span class=dropcap>T</span>he end",
    "<span style='display:block'>T</span>he end",
    "<span style='margin-left: 0; padding-right: 0px'>un</span>done",
    "H<sub>2</sub>O",
    "1<sup>st</sup>",
    "E = mc<sup>2</sup>",
    "<b>1</b>st",
    "<span class=count>500</span>k+",
    "<b>5</b>G",
    "<b>3</b>D",
    "l'<a href=e>eau</a>",
    "d’<b>Artagnan</b>",
    "<b>Java</b>Script",
    "Linux<span>BCN</span>",
    "<i>i</i>Phone cases",
    "<span>Hop</span><span>zilla</span>",
    "<strong>VE</strong><strong>BINAR</strong>",
    "<span>4</span><span>0</span><span>4</span>",
    "the <code>Widget</code>s",
    "<code><span>std</span><span>Vector</span></code>",
    "<pre><span class=n>x1</span><span class=k>If</span></pre>",
    "super<wbr>califragilistic",
    "(<a href=x>here</a>), <b>or</b>.",
    "“<i>quoted</i>”",
    "12:<b>30</b>",
    "1,<b>500</b>",
    "J.<b>Ronald</b>",
    "<span>der</span><a href=x>selbe</a>",
    "<code>utf8</code>strings",
    "Linux<b><!-- --></b><span>BCN</span>",
    "<a href=m>jcaro</a><a href=m>n@b.com</a>",
    "<a href=x>t</a><a href=x>he Guardian</a>",
    # agglutinative suffixes: Hungarian, Turkish, Finnish, Basque, Korean
    "<a href=b>Budapest</a>en",
    "<a href=i>İstanbul</a>'da",
    "<b>ev</b>lerimizden",
    "<a href=h>Helsingi</a>ssä",
    "<a href=d>Donostia</a>ko",
    "<b>2020</b>rako",
    "<a href=s>서울</a>에서",
    "<b>10</b>명이",
    "<b>5</b>वां",
    # prefixes: Arabic, Hebrew
    "ال<a href=k>كتاب</a>",
    "و<b>قال</b>",
    "ה<a href=s>ספר</a>",
    # scripts without blanks
    "请参阅<a href=x>新闻片段</a>节",
    "使用<code>std::string</code>类型",
    "<b>成谷</b><i>さん</i>",
    "<a href=x>こちら</a>を",
    "<span class=month>3</span>月",
    "ประเทศ<b>ไทย</b>ของเรา",
    "ភាសា<b>ខ្មែរ</b>យើង",
    "ພາສາ<b>ລາວ</b>",
    "မြန်မာ<b>စာ</b>",
]


@pytest.mark.parametrize(("markup", "expected"), APART)
def test_texts_that_are_drawn_apart_are_separated(markup: str, expected: str) -> None:
    assert block_texts(f"<p>{markup}</p>")[0] == expected


@pytest.mark.parametrize("markup", WORDS)
def test_no_blank_inside_a_word(markup: str) -> None:
    (glued,) = block_texts(f"<div>{markup}</div>")
    (spaced,) = block_texts(f"<div>{markup.replace('<', ' <').replace('>', '> ')}</div>")
    assert glued != spaced, "the markup has no boundary"
    bare = "".join(part.rpartition(">")[2] for part in f">{markup}".split("<"))
    assert glued == bare


LETTERS = st.text("abcdeéжя", min_size=2, max_size=6)


@given(st.lists(LETTERS, min_size=2, max_size=5), st.sampled_from(["b", "i", "em", "span", "u"]))
def test_formatted_syllables_are_one_word(syllables: list[str], tag: str) -> None:
    markup = "".join(
        f"<{tag}>{each}</{tag}>" if n % 2 else each for n, each in enumerate(syllables)
    )
    assert block_texts(f"<p>{markup}</p>") == ["".join(syllables)]


@given(st.text("aZ1 .,|天", max_size=5), st.text("aZ1 .,(天", max_size=5))
def test_only_blanks_are_added(one: str, other: str) -> None:
    markup = f"<p>x<span class=badge>{one}</span><a href=a>{other}</a>x"
    assert "".join(block_texts(markup)[0].split()) == "".join(f"x{one}{other}x".split())


@pytest.mark.parametrize("end", ["1", ":"])
def test_a_very_long_word_before_a_gap_is_read_in_linear_time(end: str) -> None:
    word = "a" * 40_000
    with processor_seconds():
        found = block_texts(f"<p><b>{word}{end}</b><i>Next</i></p>")
    assert found == [f"{word}{end} Next"]


def test_long_class_names_do_not_fill_the_memory() -> None:
    for number in range(50):
        block_texts(f"<p>one<b class='{number} {'x' * 100_000}'>two</b></p>")
    assert sum(map(len, gaps._names_box)) <= 1_000_000
