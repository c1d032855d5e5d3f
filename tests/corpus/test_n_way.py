"""Rows of many languages, joined from segments of two languages."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st
from support.corpora import said, side, unit

from diptych.corpus.n_way import Group, groups, joined, rows_of
from diptych.units import Unit

LANGS = ("en", "fr", "de", "es")


def every(*sides, score: float = 0.9) -> list[Unit]:
    """All pairs of some texts."""
    return [unit(one, other, score=score) for one, other in combinations(sides, 2)]


def test_four_languages_make_one_row_in_their_order() -> None:
    texts = [side(lang, f"one {lang}") for lang in LANGS]
    (row,) = rows_of(every(*texts[::-1]), LANGS)
    assert row.sides == tuple(texts)


def test_row_needs_no_segment_between_all_of_its_languages() -> None:
    en, fr, de = (side(lang, lang) for lang in LANGS[:3])
    assert said(rows_of([unit(en, fr), unit(fr, de)], LANGS)) == [("en", "fr", "de")]


def test_two_languages_form_a_row_only_if_there_are_only_two() -> None:
    pair = [unit(side("en", "a"), side("fr", "b"))]
    assert rows_of(pair, LANGS) == []
    assert said(rows_of(pair, LANGS[:2])) == [("a", "b")]


def test_surest_segment_wins_where_two_texts_of_a_language_would_meet() -> None:
    en, fr, de = (side(lang, lang) for lang in LANGS[:3])
    other = side("de", "wrong", path="/p[9]")
    units = [unit(fr, other, score=0.4), unit(en, fr), unit(en, de), unit(en, other, score=0.5)]
    assert said(rows_of(units, LANGS)) == [("en", "fr", "de")]


def test_untranslated_text_is_not_in_the_row() -> None:
    en, fr, de, es = side("en", "Disc"), side("fr", "Disque"), side("de", "disc"), side("es", "X")
    units = [unit(en, fr), unit(fr, de, score=0.8), unit(en, es), unit(es, fr)]
    assert said(rows_of(units, LANGS)) == [("Disc", "Disque", "X")]


def test_rows_with_a_surplus_example_of_a_template_are_left_out() -> None:
    en, fr, de, other = (
        side("en", "a"),
        side("fr", "b"),
        side("de", "c"),
        side("de", "d", path="/x"),
    )
    units = [unit(en, fr), unit(fr, de)]
    assert rows_of(units, LANGS, [unit(en, de, score=0.1)]) == []
    assert list(joined([Group(units, [unit(de, en)])], LANGS)) == []
    # It has only one text of this row.
    assert said(rows_of(units, LANGS, [unit(en, other)])) == [("a", "b", "c")]


def test_same_text_at_another_place_is_another_row() -> None:
    first, second = (
        every(*(side(lang, lang, path=path) for lang in LANGS[:3])) for path in ("/a", "/b")
    )
    assert len(rows_of([*second, *first], LANGS)) == 2
    # Of which one is enough in a corpus.
    keys = [key for key, _ in joined([Group([*second, *first])], LANGS)]
    assert len(set(keys)) == 1
    assert [row.sides[0].path for row in rows_of([*second, *first], LANGS)] == ["/b", "/a"]


def test_row_is_as_good_as_its_worst_segment_and_has_the_flags_of_all() -> None:
    en, fr, de = (side(lang, lang) for lang in LANGS[:3])
    units = [
        unit(en, fr, score=0.9, flags=("noai",), copies=3, run="r", evidence="keys+links"),
        unit(en, de, score=0.6, flags=("email", "noai"), alignment=0.2, evidence="links"),
    ]
    (row,) = rows_of(units, LANGS)
    assert (row.score, row.alignment, row.verified) == (0.6, 0.2, 0.8)
    assert (row.flags, row.copies, row.run) == (("email", "noai"), 3, "r")
    assert row.evidence == "keys+links"


def test_pairs_hang_together_through_any_page() -> None:
    assert list(groups([(1, 2), (3, 4), (5, 6), (4, 1), (9, 9)])) == [[0, 1, 3], [2], [4]]
    assert list(groups([])) == []


@given(
    st.lists(
        st.tuples(
            st.sampled_from(list(combinations(LANGS, 2))), st.integers(0, 2), st.integers(0, 2),
            st.sampled_from([0.2, 0.5, 0.8]),
        ),
        max_size=25,
    )
)  # fmt: skip
def test_rows_have_each_language_once_and_each_text_once(told) -> None:
    units = [
        unit(
            side(left, f"{left}{a}", path=f"/{a}"), side(right, f"{right}{b}", path=f"/{b}"),
            score=score,
        )
        for (left, right), a, b, score in told
    ]  # fmt: skip
    rows = rows_of(units, LANGS)
    texts = [text for row in said(rows) for text in row]
    assert len(texts) == len(set(texts))
    for row in rows:
        langs = [side.lang for side in row.sides]
        assert len(langs) >= 3
        assert langs == [lang for lang in LANGS if lang in langs]
    assert rows == rows_of(units, LANGS)
