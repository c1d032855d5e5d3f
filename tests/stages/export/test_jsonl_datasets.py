"""Exports as `datasets` reads them, without a network."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from support.exported import DE, EN, FR, UNIT, Given, written

from diptych.protocols import Exporter
from diptych.stages.export.jsonl import Jsonl
from diptych.stages.export.parquet import Parquet

WHOLE = UNIT._replace(sides=(EN, FR, DE))


pytestmark = pytest.mark.needs_torch  # `datasets` is in the same group


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Write a corpus, and load it."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it imports warns of itself
        import datasets
    datasets.disable_progress_bars()

    def loaded(exporter: Exporter, corpus: Given):
        path = tmp_path / f"corpus.{exporter.suffix}"
        path.write_bytes(written(exporter, corpus)[exporter.suffix])
        kind = {"jsonl": "json", "parquet": "parquet"}[exporter.suffix]
        return datasets.load_dataset(
            kind, data_files=str(path), split="train", cache_dir=str(tmp_path / "cache")
        )

    return loaded


@pytest.mark.parametrize("exporter", [Jsonl(), Parquet()], ids=["jsonl", "parquet"])
def test_types_are_the_same_though_the_first_flag_comes_late(load, exporter: Exporter) -> None:
    plain = UNIT._replace(flags=())
    found = load(exporter, Given([plain] * 30_000 + [UNIT]))
    assert found.num_rows == 30_001
    first, last = found[0], found[30_000]
    assert [first["left"], first["right"], first["left_url"]] == ["A cat", "Un chat", EN.url]
    assert [last["score"], last["left_offset"], last["copies"]] == [0.5, 512, 3]
    flags = UNIT.flags if exporter.suffix == "parquet" else " ".join(UNIT.flags)
    assert last["flags"] == (list(flags) if exporter.suffix == "parquet" else flags)
    assert str(last["left_fetched"])[:10] == "2023-11-14"


@pytest.mark.parametrize(
    "exporter", [Jsonl(n_way=True), Parquet(n_way=True)], ids=["jsonl", "parquet"]
)
def test_many_languages_are_read_though_one_comes_late(load, exporter: Exporter) -> None:
    found = load(exporter, Given([UNIT] * 20_000 + [WHOLE], ("en", "fr", "de")))
    assert found[0]["texts"]["fr"] == "Un chat"
    assert not found[0]["texts"]["de"]
    last = found[20_000]
    assert last["texts"] == {"en": "A cat", "fr": "Un chat", "de": "Eine Katze"}
    assert [side["url"] for side in last["sides"]] == [EN.url, FR.url, DE.url]
