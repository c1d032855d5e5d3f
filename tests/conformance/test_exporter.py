from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.protocols import Exporter
from diptych.registry import STRATEGIES, strategies
from diptych.types import SegmentPair, Url

EXPORTERS = [pytest.param(cls(), id=name) for name, cls in strategies("export").items()]
ANYTHING = st.text(alphabet=st.characters(), max_size=20)


def segments(count: int) -> Iterator[SegmentPair]:
    for number in range(count):
        yield SegmentPair(
            f"left{number}x",
            f"right{number}x",
            "en",
            "fr",
            Url(f"http://example.org/en/{number}"),
            Url(f"http://example.org/fr/{number}"),
            "/html/body/p[1]",
            "/html/body/p[2]",
            0.5,
        )


def written(exporter: Exporter, segs: Iterator[SegmentPair]) -> bytes:
    out = io.BytesIO()
    exporter.write(segs, out)
    return out.getvalue()


def test_suffix_is_the_name_of_the_format() -> None:
    assert {name: cls().suffix for name, cls in strategies("export").items()} == {
        name: name for name in STRATEGIES["export"]
    }


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_all_segments_are_written_once_and_in_order(exporter: Exporter) -> None:
    text = written(exporter, segments(20)).decode()
    words = [f"{side}{number}x" for number in range(20) for side in ("left", "right")]
    assert [text.count(word) for word in words] == [1] * 40
    places = [text.index(word) for word in words]
    assert places == sorted(places)


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_provenance_goes_with_each_segment(exporter: Exporter) -> None:
    text = written(exporter, segments(3)).decode()
    for number in range(3):
        assert f"http://example.org/en/{number}" in text
        assert f"http://example.org/fr/{number}" in text


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_segments_are_written_while_they_come(exporter: Exporter) -> None:
    out = io.BytesIO()

    def watched() -> Iterator[SegmentPair]:
        for number, seg in enumerate(segments(2_000)):
            if number == 1_999:
                assert b"left0x" in out.getvalue()
            yield seg

    exporter.write(watched(), out)


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_no_segments_make_a_readable_file(exporter: Exporter) -> None:
    assert written(exporter, segments(0)).decode().strip()


@pytest.mark.parametrize("exporter", EXPORTERS)
@given(texts=st.tuples(*[ANYTHING] * 8))
def test_any_text_is_written_as_utf_8(exporter: Exporter, texts: tuple[str, ...]) -> None:
    left, right, left_lang, right_lang, left_url, right_url, left_path, right_path = texts
    seg = SegmentPair(
        left,
        right,
        left_lang,
        right_lang,
        Url(left_url),
        Url(right_url),
        left_path,
        right_path,
        0.5,
    )
    assert written(exporter, iter([seg])).decode()
