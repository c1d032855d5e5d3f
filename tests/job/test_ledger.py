"""The ledger keeps what is finished; a damaged file counts as missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from diptych.job.ledger import Entry, Ledger


def test_entries_are_read_as_they_were_written(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    done = Entry(name="b", signature="s", result={"pages": 3}, attempts=2, seconds=1.5, host="h")
    failed = Entry(name="a", error="TimeoutError", message="too slow")
    for entry in (done, failed):
        ledger.write(entry)
    assert list(ledger.entries()) == [failed, done]
    assert (done.is_done, failed.is_done) == (True, False)
    assert (done.reason, failed.reason) == ("", "TimeoutError: too slow")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "b.json"]


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"[]", b"null", b'{"name": "b"}', b'{"name": "a", "result": 3}',
        b'{"name": "a", "attempts": "1"}', b'{"name": "a", "unknown": 1}',
        b'{"name": "a", "error": ["x"]}', b" " * (2 << 20),
    ],
)  # fmt: skip
def test_a_damaged_entry_counts_as_missing(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(data)
    assert Ledger(tmp_path).read("a") is None
    assert list(Ledger(tmp_path).entries()) == []
