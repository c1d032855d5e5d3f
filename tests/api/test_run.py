"""`diptych.open` and `diptych.Run`."""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.corpora import Maker, Said

import diptych
from diptych.stages.export.shared.columns import PAIR_COLUMNS


@pytest.fixture(scope="module")
def run(recorded: Path) -> diptych.Run:
    return diptych.open(recorded)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_segment_has_the_columns_of_the_corpus() -> None:
    assert diptych.Segment._fields == PAIR_COLUMNS


def test_segments_are_the_corpus(run: diptych.Run) -> None:
    written, found = rows(run.folder / "corpus.tsv"), list(run.segments())
    assert len(found) == len(written) == run.summary.segments > 400
    for segment, row in zip(found, written, strict=True):
        assert (segment.left, segment.right) == (row["left"], row["right"])
        assert segment.score == float(row["score"])
        assert (segment.left_url, segment.id) == (row["left_url"], row["id"])
        assert segment.left_fetched == datetime.fromisoformat(row["left_fetched"])
        assert segment.flags == tuple(row["flags"].split())


def test_threshold_can_be_changed(run: diptych.Run) -> None:
    usual, strict, all_of_them = (
        list(run.segments(min_score=score)) for score in (None, 0.97, 0.0)
    )
    assert 0 < len(strict) < len(usual) < len(all_of_them)
    assert all(segment.score >= 0.97 for segment in strict)


def test_pairs_are_the_list_of_pairs(run: diptych.Run) -> None:
    written, found = rows(run.folder / "pairs.tsv"), list(run.pairs())
    assert [pair.left_url for pair in found] == [row["left_url"] for row in written]
    assert [pair.evidence for pair in found] == [row["evidence"] for row in written]
    assert len(found) == run.summary.pairs == 16
    assert found[0].left_lang == "en"


def test_pages_are_those_of_the_summary(run: diptych.Run) -> None:
    found = list(run.pages())
    assert len(found) == run.summary.pages
    assert {page.lang for page in found} >= {"en", "fr"}
    assert all(page.url.startswith("http://127.0.0.1") for page in found)
    assert all(page.fetched.tzinfo is UTC for page in found)


def test_languages_and_summary(run: diptych.Run) -> None:
    assert run.langs == ("en", "fr")
    assert run.summary.downloads_per_pair == pytest.approx(
        run.summary.downloads / run.summary.pairs, abs=0.001
    )


@pytest.mark.parametrize("name", ["corpus.tmx", "c.jsonl.zst", "c.parquet", "corpus.tsv.gz"])
def test_export_writes_a_file(run: diptych.Run, tmp_path: Path, name: str) -> None:
    written = run.export(tmp_path / name)
    assert written.lines == run.summary.segments
    assert written.files == (tmp_path / name,)
    assert (tmp_path / name).stat().st_size > 1000


def test_export_names_all_files(run: diptych.Run, tmp_path: Path) -> None:
    written = run.export(str(tmp_path / "corpus"), format="moses", min_score=0.9)
    assert {path.name for path in written.files} >= {"corpus.en-fr.en", "corpus.en-fr.fr"}
    assert all(path.exists() for path in written.files)


@pytest.mark.parametrize("path", ["-", "corpus.what", "corpus.zip"])
def test_export_to_no_file_is_a_mistake(run: diptych.Run, path: str) -> None:
    with pytest.raises(diptych.ConfigError) as raised:
        run.export(path)
    assert "--" not in str(raised.value)


def test_unknown_flag_and_wrong_score_are_errors_of_the_call_itself(run: diptych.Run) -> None:
    for flags in ("nothing", ["nothing"]):
        with pytest.raises(diptych.ConfigError, match="unknown flag 'nothing'"):
            run.segments(without=flags)
    with pytest.raises(diptych.ConfigError, match="min_score must be at most 1"):
        run.segments(min_score=2)


def test_folder_may_be_a_text(run: diptych.Run) -> None:
    assert diptych.Run(str(run.folder)).langs == run.langs  # type: ignore[arg-type]


def test_pandas_data_frame(run: diptych.Run) -> None:
    frame = run.to_pandas()
    assert tuple(frame.columns) == PAIR_COLUMNS
    assert len(frame) == run.summary.segments
    assert frame["score"].min() >= 0.6
    assert list(frame["left"]) == [segment.left for segment in run.segments()]
    assert len(run.to_pandas(min_score=0.97)) < len(frame)


def test_arrow_table(run: diptych.Run) -> None:
    table = run.to_arrow()
    assert tuple(table.column_names) == PAIR_COLUMNS
    assert table.num_rows == run.summary.segments
    assert run.to_arrow(min_score=1.0).num_rows < table.num_rows


def test_explain(run: diptych.Run) -> None:
    pair = next(run.pairs())
    assert pair.left_url in run.explain(pair.left_url)
    assert "verified" in run.explain(pair.left_url, pair.right_url)
    assert "rejected" in run.explain()
    with pytest.raises(diptych.ConfigError):
        run.explain("http://elsewhere.example/")


def test_run_shows_itself_in_a_notebook(run: diptych.Run) -> None:
    shown = run._repr_html_()
    assert shown.startswith("<div>")
    assert shown.count("<table>") == 2
    assert "page pairs verified" in shown
    assert shown.count('lang="fr"') == 10
    assert "<script" not in shown


def test_text_of_pages_is_escaped_in_a_notebook(made: Maker) -> None:
    said = Said("<script>alert(1)</script> In 1956 a & b", "<img src=x> En 1956 a et b", 0.99)
    store = made({("/en/a", "/fr/a"): [said]})
    shown = diptych.open(store.folder)._repr_html_()
    assert "<script" not in shown
    assert "<img" not in shown
    assert "&lt;script&gt;" in shown


@pytest.mark.parametrize("name", ["nothing", "empty"])
def test_folder_without_a_run_is_an_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(diptych.StoreError) as raised:
        diptych.open(tmp_path / name)
    assert "--" not in str(raised.value)
