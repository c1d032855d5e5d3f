"""The sample from which words of many runs are learned."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from diptych.errors import StoreError
from diptych.steps import shared_sample
from diptych.steps.shared_sample import sample_of
from diptych.types import LangPair

LANGS = LangPair("en", "fr")
SEGMENTS = [(f"lamp {number}", f"lampe {number}") for number in range(200)]


def written(folder: Path, parts: list[list[tuple[str, str]]]) -> list[Path]:
    paths = []
    for number, part in enumerate(parts):
        paths.append(folder / f"{number}.json")
        data = [["en", "fr", part], ["en", "de", [("lamp", "Lampe")]]]
        paths[-1].write_bytes(orjson.dumps(data))
    return paths


def test_few_segments_are_all_used_once(tmp_path: Path) -> None:
    paths = written(tmp_path, [SEGMENTS[:120], SEGMENTS[90:]])
    assert sample_of(paths, LANGS) == sorted(SEGMENTS)
    assert sample_of(paths, LangPair("en", "de")) == [("lamp", "Lampe")]
    assert sample_of(paths, LangPair("de", "fr")) == []


def test_sample_is_bounded_and_does_not_depend_on_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_sample, "MAX_LETTERS", 600)
    first = sample_of(written(tmp_path, [SEGMENTS[:50], SEGMENTS[50:]]), LANGS)
    other = sample_of(written(tmp_path, [SEGMENTS[120:], SEGMENTS[:130], []]), LANGS)
    assert first == other
    letters = sum(len(left) + len(right) for left, right in first)
    assert 500 < letters <= 600
    assert first != sorted(SEGMENTS)[: len(first)]


@pytest.mark.parametrize("data", [b"", b"{", b"[[1]]", b'[["en", "fr", [["a"]]]]', b"7"])
def test_damaged_sample_is_a_store_error(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.json").write_bytes(data)
    with pytest.raises(StoreError, match=r"a\.json is not a sample of segments"):
        sample_of([tmp_path / "a.json"], LANGS)
