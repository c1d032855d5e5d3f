from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.page.outline import Kind, Place, Region, places
from diptych.page.read import read_content
from diptych.types import Block, Response, Url

# path; kind, level, number; region
PATHS = [
    ("/html/head/title", "title 0 0", "head"),
    ("/html/head/meta[3]", "description 0 0", "head"),
    ("/html/body", "paragraph 0 0", "body"),
    ("/html/body/text()[2]", "paragraph 0 0", "body"),
    ("/html/body/h1[1]", "heading 1 0", "body"),
    ("/html/body/div[2]/h6[3]", "heading 6 0", "body"),
    ("/html/body/main[1]/article[1]/header[1]/h2[1]", "heading 2 0", "article"),
    ("/html/body/hgroup[1]/h1[1]/text()[2]", "heading 1 0", "body"),
    ("/html/body/a[1]/h3[1]", "heading 3 0", "body"),
    ("/html/body/blockquote[1]/h4[1]", "heading 4 0", "body"),
    ("/html/body/p[1]", "paragraph 0 0", "body"),
    ("/html/body/div[1]/div[12]", "paragraph 0 0", "body"),
    ("/html/body/section[1]/p[2]/text()[3]", "paragraph 0 0", "body"),
    ("/html/body/address[1]", "paragraph 0 0", "body"),
    ("/html/body/figure[1]", "paragraph 0 0", "body"),
    ("/html/body/ul[1]", "paragraph 0 0", "body"),
    ("/html/body/x-card[1]", "paragraph 0 0", "body"),
    ("/html/body/main[1]/ul[1]/li[2]/p[1]", "list_item 1 0", "main"),
    ("/html/body/ul[1]/li[2]/div[1]/text()[2]", "list_item 1 0", "body"),
    ("/html/body/ul[1]/li[2]/ul[1]/li[3]", "list_item 2 0", "body"),
    ("/html/body/ol[1]/li[4]", "list_item 1 4", "body"),
    ("/html/body/ol[1]/li[4]/ul[1]/li[2]", "list_item 2 0", "body"),
    ("/html/body/ul[1]/li[4]/ol[1]/li[2]", "list_item 2 2", "body"),
    ("/html/body/ul[1]/ul[1]/li[1]", "list_item 2 0", "body"),
    ("/html/body/menu[1]/li[1]", "list_item 1 0", "body"),
    ("/html/body/li[1]", "list_item 1 0", "body"),
    ("/html/body/dl[1]/dt[2]", "list_item 1 0", "body"),
    ("/html/body/dl[1]/dd[2]/p[1]", "list_item 2 0", "body"),
    ("/html/body/dl[1]/div[1]/dd[1]/ul[1]/li[1]", "list_item 3 0", "body"),
    ("/html/body/blockquote[1]/ul[1]/li[1]", "list_item 1 0", "body"),
    ("/html/body/table[1]/caption[1]", "caption 0 0", "body"),
    ("/html/body/figure[1]/figcaption[1]/p[1]", "caption 0 0", "body"),
    ("/html/body/details[1]/summary[1]", "caption 0 0", "body"),
    ("/html/body/blockquote[1]/p[2]", "quotation 0 0", "body"),
    ("/html/body/ul[1]/li[1]/blockquote[1]", "quotation 1 0", "body"),
    ("/html/body/pre[1]", "code 0 0", "body"),
    ("/html/body/ol[1]/li[3]/pre[1]", "code 1 3", "body"),
    ("/html/body/form[1]/button[1]", "button 0 0", "body"),
    ("/html/body/form[1]/input[2]", "button 0 0", "body"),
    ("/html/body/form[1]/label[1]", "label 0 0", "body"),
    ("/html/body/form[1]/fieldset[1]/legend[1]", "label 0 0", "body"),
    ("/html/body/form[1]/select[1]/option[7]", "label 0 0", "body"),
    ("/html/body/form[1]/textarea[1]", "label 0 0", "body"),
    ("/html/body/a[1]/div[1]", "link 0 0", "body"),
    ("/html/body/nav[1]/ul[1]/li[1]/a[1]/div[1]", "link 1 0", "nav"),
    ("/html/body/a[1]/div[1]/p[1]", "paragraph 0 0", "body"),
    ("/html/body/p[1]/img[1]", "image 0 0", "body"),
    ("/html/body/h1[1]/a[1]/img[1]", "image 0 0", "body"),
    ("/html/body/map[1]/area[2]", "image 0 0", "body"),
    ("/html/body/ul[1]/li[2]/a[1]/img[1]", "image 1 0", "body"),
    ("/html/body/nav[1]/div[1]", "paragraph 0 0", "nav"),
    ("/html/body/header[1]/p[1]", "paragraph 0 0", "header"),
    ("/html/body/div[1]/header[1]/nav[1]/p[1]", "paragraph 0 0", "nav"),
    ("/html/body/footer[1]/p[1]", "paragraph 0 0", "footer"),
    ("/html/body/footer[1]/article[1]/p[1]", "paragraph 0 0", "footer"),
    ("/html/body/article[1]/footer[1]/p[1]", "paragraph 0 0", "article"),
    ("/html/body/section[1]/header[1]/p[1]", "paragraph 0 0", "body"),
    ("/html/body/main[1]/header[1]/p[1]", "paragraph 0 0", "main"),
    ("/html/body/main[1]/article[1]/aside[1]/p[1]", "paragraph 0 0", "aside"),
    ("/html/body/aside[1]/article[1]/p[1]", "paragraph 0 0", "aside"),
    ("/html/body/main[1]/nav[1]/p[1]", "paragraph 0 0", "nav"),
    ("/html/body/pre-order[1]/a-nav[1]", "paragraph 0 0", "body"),
    ("/html/body/ul[1]/li[1]/*[7]", "list_item 1 0", "body"),
]


def placed(*paths: str) -> list[Place]:
    return places(Block("text", path) for path in paths)


@pytest.mark.parametrize(("path", "kind", "region"), PATHS)
def test_path_decides(path: str, kind: str, region: str) -> None:
    place, _ = placed(path, "/html/body/div[99]")
    assert f"{place.kind} {place.level} {place.number}" == kind
    assert place.region == region
    assert (place.row, place.column, place.table_row) == (0, 0, "")


def test_each_kind_and_region_is_in_the_table() -> None:
    assert {kind.split()[0] for _, kind, _ in PATHS} | {"table_cell"} == set(Kind)
    assert {region for _, _, region in PATHS} == set(Region)


TABLE = "/html/body/ul[1]/li[1]/table[1]"


def test_rows_and_columns_count_through_the_sections_of_a_table() -> None:
    paths = [
        f"{TABLE}/caption[1]", f"{TABLE}/thead[1]/tr[1]/th[1]", f"{TABLE}/thead[1]/tr[1]/th[3]",
        f"{TABLE}/tbody[1]/tr[1]/th[1]", f"{TABLE}/tbody[1]/tr[1]/td[2]/p[1]",
        f"{TABLE}/tbody[1]/tr[3]/td[1]", f"{TABLE}/tbody[1]/tr[3]/td[1]/p[1]",
        f"{TABLE}/tbody[2]/tr[1]/td[1]", f"{TABLE}/tbody[2]/tr[1]/th[1]/img[1]",
    ]  # fmt: skip
    found = placed(*paths)
    assert [(place.row, place.column) for place in found] == [
        (0, 0), (1, 1), (1, 3), (2, 1), (2, 3), (4, 1), (4, 1), (5, 1), (5, 2),
    ]  # fmt: skip
    assert [place.kind for place in found] == ["caption", *["table_cell"] * 7, "image"]
    assert found[-1].table_row == f"{TABLE}/tbody[2]/tr[1]"
    assert {place.item for place in found} == {""}, "the item around a table is no mark of a row"


def test_list_in_a_cell_has_both_places() -> None:
    cell = f"{TABLE}/tbody[1]/tr[2]/td[2]"
    found = placed(f"{TABLE}/thead[1]/tr[1]/th[1]", f"{cell}/ol[1]/li[3]")[1]
    assert (found.kind, found.level, found.number) == ("list_item", 1, 3)
    assert (found.row, found.column) == (3, 2)


GRID = [f"/html/body/table[1]/tbody[1]/tr[{row}]/td[{cell}]" for row in (1, 2) for cell in (1, 2)]


@pytest.mark.parametrize(
    ("paths", "is_data"),
    [
        (GRID, True),
        ([f"{path}/p[{number}]" for path in GRID for number in (1, 2)], True),
        ([f"{path}/p[{number}]" for path in GRID for number in (1, 2, 3)], False),
        ([*GRID, f"{GRID[0]}/h2[1]"], False),
        ([*GRID, f"{GRID[0]}/table[1]/tbody[1]/tr[1]/td[1]"], False),
        (GRID[:2], False),
        (GRID[::2], False),
        (["/html/body/table[1]/thead[1]/tr[1]/td[1]"], True),
        (["/html/body/table[1]/tbody[1]/tr[1]/th[1]/h3[1]"], True),
        ([GRID[0], "/html/body/table[1]/caption[1]"], True),
    ],
    ids=["grid", "two_blocks", "many_blocks", "heading", "nested", "one_row", "one_column",
         "thead", "th", "caption"],
)  # fmt: skip
def test_tables_that_arrange_a_page_are_no_tables(paths: list[str], is_data: bool) -> None:
    assert (placed(*paths)[0].row > 0) == is_data
    if not is_data:
        assert {place.kind for place in placed(*paths)} <= {"paragraph", "heading"}


def test_items_with_headings_are_containers() -> None:
    card, plain = "/html/body/ol[1]/li[1]", "/html/body/ol[1]/li[2]"
    found = placed(f"{card}/h3[1]", f"{card}/p[1]", f"{card}/ul[1]/li[5]", plain)
    assert [(place.kind, place.level, place.number) for place in found] == [
        ("heading", 3, 0), ("paragraph", 0, 0), ("list_item", 1, 0), ("list_item", 1, 2),
    ]  # fmt: skip
    dl = "/html/body/dl[1]"
    found = placed(f"{dl}/dt[1]/h3[1]", f"{dl}/dd[1]", "/html/body/dl[2]/dd[1]")
    assert [place.kind for place in found] == ["heading", "paragraph", "list_item"]


def test_main_around_the_whole_page_leaves_header_and_footer_their_regions() -> None:
    main = "/html/body/main[1]"
    paths = ["/html/head/title", f"{main}/header[1]/p[1]", f"{main}/p[1]",
             f"{main}/article[1]/header[1]", f"{main}/section[1]/footer[1]",
             f"{main}/footer[1]"]  # fmt: skip
    whole = [place.region for place in placed(*paths)]
    assert whole == ["head", "header", "main", "article", "main", "footer"]
    part = [place.region for place in placed(*paths, "/html/body/div[1]")]
    assert part == ["head", "main", "main", "article", "main", "main", "body"]


STEPS = st.sampled_from(
    "ul[1] ol[1] li[1] li[2] dl[1] dt[1] dd[1] table[1] thead[1] tbody[1] tr[1] tr[2] td[1] td[2]"
    " th[1] h2[1] p[1] div[1] blockquote[1] a[1] main[1] nav[1] header[1] article[1] section[1]"
    " caption[1] img[1] button[1] pre[1] text()[2] *[3] x-y[1]".split()
)
ANY_PATHS = st.lists(st.lists(STEPS, max_size=9).map("/".join), max_size=12)


@given(ANY_PATHS)
def test_each_block_has_one_place_that_is_sound(tails: list[str]) -> None:
    found = placed(*(f"/html/body/{tail}".rstrip("/") for tail in tails))
    assert len(found) == len(tails)
    for place in found:
        assert place.kind in set(Kind)
        assert place.region in set(Region) - {Region.HEAD}
        assert (place.row > 0) == (place.column > 0) == bool(place.table_row)
        assert place.level >= 1 if place.item or place.kind is Kind.HEADING else place.level == 0
        assert bool(place.item) or not place.number
        assert place.item or place.kind is not Kind.LIST_ITEM
        assert place.table_row or place.kind is not Kind.TABLE_CELL


# Texts of an element, or elements in an element; `{}` is replaced by a new word.
LEAVES = st.sampled_from(
    ["<p>{}</p>", " {} ", "<p>{}<br><br>{}</p>", "<img alt={}>", "<h2>{}</h2>", "<b> {} </b>",
     "<p hidden>hidden</p>", "<td> {} </td>", "<pre>{}</pre>", "<input type=submit value={}>"]
)  # fmt: skip
PAGES = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag}>",
        st.sampled_from("div ul li main nav blockquote section dl dd".split()),
        st.lists(inner, max_size=4),
    ),
    max_leaves=12,
)


@given(PAGES)
def test_blocks_are_in_document_order(body: str) -> None:
    words = [f"w{number:03}x" for number in range(body.count("{}"))]
    html = f"<title>first</title><meta name=description content=second>{body.format(*words)}"
    answer = Response(
        Url("http://a.org/"),
        200,
        (("content-type", "text/html; charset=utf-8"),),
        html.encode(),
        0.0,
    )
    blocks = read_content(answer)[0]
    kinds = [place.kind for place in places(blocks)]
    assert kinds[:2] == ["title", "description"]
    # The text of an image stands after the text around it.
    asides = {Kind.IMAGE, Kind.BUTTON}
    for is_aside in (False, True):
        said = " ".join(
            block.text
            for block, kind in list(zip(blocks, kinds, strict=True))[2:]
            if (kind in asides) == is_aside
        ).split()
        assert said == sorted(said)
    assert sorted(" ".join(block.text for block in blocks[2:]).split()) == words


def test_outline_of_many_deep_blocks_takes_little_memory() -> None:
    deep = "/html/body" + "/ul[1]/li[1]" * 75
    blocks = [Block("text", f"{deep}/p[{number}]") for number in range(500)]
    tracemalloc.start()
    try:
        found = places(blocks)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [place.level for place in found] == [75] * 500
    assert peak < 10_000_000  # 49 MB if each block has paths of its own
