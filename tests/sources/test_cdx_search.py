"""The search of `cluster.idx`, held against a reading of the whole file."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.engine.ranges import Part
from diptych.errors import SourceError
from diptych.run.captures import Block
from diptych.sources import cdx_search
from diptych.sources.cdx_index import KeyRange, key_ranges
from diptych.sources.cdx_search import ClusterSearch


class File:
    """A file in memory that counts what is read."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.parts: list[Part] = []

    def read(self, part: Part) -> bytes:
        self.parts.append(part)
        assert 0 <= part.start < part.end <= len(self.data)
        return self.data[part.start : part.end]


def cluster(keys: Sequence[bytes]) -> bytes:
    lines = (
        b"%b 20260920103059\tcdx-00000.gz\t%d\t10\t%d" % (key, n * 10, n)
        for n, key in enumerate(keys)
    )
    return b"".join(line + b"\n" for line in lines)


def keys_of(count: int, seed: int = 7) -> list[bytes]:
    chance = random.Random(seed)
    names = (f"org,s{chance.randrange(count):06d})/{chance.randrange(9)}" for _ in range(count))
    return sorted(name.encode() for name in names)


def found(keys: Sequence[bytes], wanted: KeyRange, file: File | None = None) -> list[Block]:
    file = file or File(cluster(keys))
    return ClusterSearch("cluster.idx", len(file.data), file.read).blocks([wanted])


@pytest.mark.parametrize("window", [64, 100, 1000, 1 << 20])
def test_the_blocks_of_a_site_are_found(window, monkeypatch):
    monkeypatch.setattr(cdx_search, "WINDOW", window)
    keys = keys_of(300)
    for number in range(0, 300, 7):
        wanted = KeyRange(b"org,s%06d)" % number, b"org,s%06d-" % number)
        assert found(keys, wanted) == needed(keys, wanted), number


def needed(keys: Sequence[bytes], wanted: KeyRange) -> list[Block]:
    """The last block before the range, and those that begin in it, by looking at each."""
    before = [n for n, key in enumerate(keys) if key < wanted.low]
    inside = [n for n, key in enumerate(keys) if wanted.low <= key < wanted.high]
    return [Block("cdx-00000.gz", n * 10, 10) for n in before[-1:] + inside]


def test_first_and_last_sites_are_found():
    keys = [b"com,a)/", b"com,b)/", b"com,c)/"]
    first, last = (key_ranges(f"http://{name}.com/", "site")[0] for name in "az")
    assert [block.offset for block in found(keys, first)] == [0]
    assert [block.offset for block in found(keys, last)] == [20]


def test_a_large_index_takes_few_small_requests():
    keys = keys_of(60_000)
    file = File(cluster(keys))
    assert len(file.data) > 3_000_000
    search = ClusterSearch("cluster.idx", len(file.data), file.read)
    search.blocks(key_ranges("http://s030000.org/", "site"))
    assert len(file.parts) <= 10
    assert sum(part.length for part in file.parts) < len(file.data) / 9
    once = len(file.parts)
    search.blocks(key_ranges("http://s030001.org/", "site"))
    assert len(file.parts) - once <= 2, "windows of an earlier search are kept"


@given(st.lists(st.binary(max_size=300), max_size=30), st.integers(10, 200))
def test_no_file_breaks_the_search(lines, window):
    data = b"\n".join(lines)
    file = File(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cdx_search, "WINDOW", window)
        search = ClusterSearch("cluster.idx", len(data), file.read)
        with suppress(SourceError):  # a line without end
            assert all(block.length > 0 for block in search.blocks([KeyRange(b"a", b"z")]))


def test_a_site_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(cdx_search, "MAX_BLOCKS", 10)
    keys = [b"org,a)/%04d" % number for number in range(50)]
    with pytest.raises(SourceError, match="too many blocks"):
        found(keys, key_ranges("http://a.org/", "site")[0])
