"""The parser of web graphs in C, compared with its reference, also on hostile lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.kernels import edges, native
from diptych.kernels.edges import MAX_VERTICES, parse_edges, parse_vertices

word = st.one_of(
    st.integers(0, 30).map(lambda number: b"%d" % number),
    st.sampled_from(
        [b"com.a", b"com.b", b"", b"x", b"-1", b"1x", b"00000000000000000000000007", b"9" * 40,
         b"4294967296", b"\x01", b"\x7f", b"\xc3\xa9", b"a" * 255, b"a" * 256, b"1\x00"]
    ),
)  # fmt: skip
blank = st.sampled_from([b"\t", b" ", b"\t\t", b" \t", b"\r", b"\x0b"])
line = st.tuples(blank, word, blank, word, blank, word).map(b"".join) | st.tuples(
    word, blank, word
).map(b"".join)
text = st.lists(line, max_size=20).map(lambda lines: b"\n".join([*lines, b""])) | st.binary(
    max_size=60
)


def by_definition(function, *arguments):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edges, "native", lambda: None)
        return function(*arguments)


def test_the_kernel_is_compiled() -> None:
    assert native() is not None


@given(text, st.integers(0, 25))
def test_edges_match_the_reference(data: bytes, vertices: int) -> None:
    found, wanted = parse_edges(data, vertices), by_definition(parse_edges, data, vertices)
    assert found.pairs.tolist() == wanted.pairs.tolist()
    assert found[1:] == wanted[1:]


@given(text)
def test_vertices_match_the_reference(data: bytes) -> None:
    found, wanted = parse_vertices(data), by_definition(parse_vertices, data)
    assert found.ids.tolist() == wanted.ids.tolist()
    assert found.lengths.tolist() == wanted.lengths.tolist()
    assert (found.names, found.bad, found.is_sorted) == (wanted.names, wanted.bad, wanted.is_sorted)


def test_each_kind_of_line_is_counted() -> None:
    found = parse_edges(
        b"0\t1\r\n2 1 rest\n1\t1\n0\t3\n0\n-1\t2\n\n\t\n0\t99999999999999999999\n", 3
    )
    assert found.pairs.tolist() == [1, 2 << 32 | 1]
    assert found[1:] == (2, 2, 1)


def test_a_last_line_without_a_newline_is_ignored() -> None:
    assert parse_edges(b"0\t1\n1\t2", 30).pairs.tolist() == [1]
    assert parse_vertices(b"0\tcom.a\n1\tcom.example").names == b"com.a"


def test_the_largest_ids_are_parsed_exactly() -> None:
    last = MAX_VERTICES - 1
    found = parse_edges(b"%d\t0\n0\t%d\n%d\t0\n" % (last, last, MAX_VERTICES), MAX_VERTICES)
    assert found.pairs.tolist() == [last << 32, last]
    assert found.unknown == 1
    with pytest.raises(ValueError, match="32 bits"):
        parse_edges(b"", MAX_VERTICES + 1)


@pytest.mark.parametrize(
    ("names", "is_sorted"),
    [(["a", "b"], True), (["b", "a"], False), (["a", "a"], False), (["a", "a.b"], True),
     (["a.b", "a"], False), (["com.a-b", "com.a.b"], True)],
)  # fmt: skip
def test_names_are_compared_by_their_bytes(names: list[str], is_sorted: bool) -> None:
    data = "".join(f"{number}\t{name}\n" for number, name in enumerate(names)).encode()
    assert parse_vertices(data).is_sorted is is_sorted
    assert by_definition(parse_vertices, data).is_sorted is is_sorted


def test_millions_of_the_shortest_lines_fit() -> None:
    found = parse_edges(b"0\t1\n" * 300_000, 2)
    assert len(found.pairs) == 300_000
    assert len(parse_vertices(b"0\ta\n" * 300_000).ids) == 300_000
