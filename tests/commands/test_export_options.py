"""Selection of segments for export: near-duplicates, flags, thresholds, names."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.commands import mistake, rows, run
from support.corpora import Maker, Said

from diptych.protocols import Watcher
from diptych.steps.score_segments import score_segments


class Kept:
    """A filter that does not change scores."""

    threshold = 0.5

    def rescore(self, scores, repeats):
        return scores


def texts(folder: Path, out: Path, *options: object) -> list[tuple[str, str]]:
    result = run("export", folder, "--out", out, *options)
    assert result.exit_code in (0, 1), result.output
    return [(row["left"], row["copies"]) for row in rows(out)]


def test_unfinished_run_is_exported_without_duplicates_and_with_a_note(made: Maker, tmp_path):
    store = made({("/en/a", "/fr/a"): [Said("One.", "Un.", 0.8), Said("one", "un", 0.9)]})
    out = tmp_path / "made.tsv"
    result = run("export", store.folder, "--out", out)
    assert "is not finished" in result.stderr
    assert texts(store.folder, out) == [("one", "2")]
    score_segments(store, Kept(), Watcher())
    assert "has not come" not in run("export", store.folder, "--out", out).output
    assert texts(store.folder, out) == [("one", "2")]


def test_duplicate_on_another_page_replaces_an_excluded_segment(made: Maker, tmp_path):
    store = made(
        {
            ("/en/a", "/fr/a"): [Said("Next.", "Suite.", 0.9), Said("Only.", "Seul.", 0.9)],
            ("/en/b", "/fr/b"): [Said("next", "suite", 0.8)],
        },
        flags={"/en/a": ("noai",)},
    )
    score_segments(store, Kept(), Watcher())
    assert texts(store.folder, tmp_path / "all.tsv") == [("Next.", "2"), ("Only.", "1")]
    assert texts(store.folder, tmp_path / "some.tsv", "--without", "noai") == [("next", "1")]


def test_texts_equal_after_redaction_are_merged(made: Maker, tmp_path):
    told = [Said(f"Ask {name}@example.org now.", f"Demandez à {name}@example.org.")
            for name in ("ann", "bob")]  # fmt: skip
    store = made({("/en/a", "/fr/a"): told})
    score_segments(store, Kept(), Watcher())
    assert len(texts(store.folder, tmp_path / "all.tsv")) == 2
    assert texts(store.folder, tmp_path / "some.tsv", "--redact") == [("Ask [EMAIL] now.", "2")]


def test_selective_export_does_not_replace_the_corpus(made: Maker):
    store = made({("/en/a", "/fr/a"): [Said("One.", "Un.", 0.8), Said("Two.", "Deux.", 0.6)]})
    score_segments(store, Kept(), Watcher())
    run("export", store.folder, "--format", "tsv")
    run("export", store.folder, "--format", "tsv", "--min-score", 0.7)
    assert len(rows(store.folder / "corpus.tsv")) == 2
    assert len(rows(store.folder / "corpus-selected.tsv")) == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--without", "nonsense"), "unknown flag 'nonsense'"),
        (("--without", "EMAIL"), "email"),
        (("--without", "machine,licens:x"), "licens:x"),
        (("--min-score", "nan"), "must be a finite number, not nan"),
        (("--format", "tmx"), "suffix for tsv"),
        (("--format", "docs", "--without", "email"), "--redact"),
    ],
)
def test_mistakes(made: Maker, tmp_path, options: tuple[str, ...], told: str):
    store = made({("/en/a", "/fr/a"): [Said("One.", "Un.")]})
    name = "made.docs.jsonl" if "docs" in options else "made.tsv"
    assert told in mistake("export", store.folder, "--out", tmp_path / name, *options)
    assert not (tmp_path / name).exists()


def test_documents_have_the_segments_of_another_threshold(recorded, tmp_path):
    counts = []
    for least in (0, 0.5, 0.99, 1):
        out = tmp_path / f"{least}.docs.jsonl"
        assert run("export", recorded, "--out", out, "--min-score", least).exit_code == 0
        documents = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
        segments = [each for document in documents for each in document["segments"]]
        assert {each["reason"] == "" for each in segments if each["accept"]} <= {True}
        assert all(each["score"] >= least for each in segments if each["accept"])
        counts.append(sum(each["accept"] for each in segments))
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[2]


def test_documents_of_a_truncated_archive_are_those_that_the_run_has_stored(recorded, tmp_path):
    whole, cut = tmp_path / "whole.docs.jsonl", tmp_path / "cut.docs.jsonl"
    assert run("export", recorded, "--out", whole).exit_code == 0
    shutil.copytree(recorded, tmp_path / "run")
    (archive,) = (tmp_path / "run" / "warc").iterdir()
    archive.write_bytes(archive.read_bytes()[: archive.stat().st_size // 3])
    assert run("export", tmp_path / "run", "--out", cut).exit_code == 0
    assert cut.read_bytes() == whole.read_bytes()


def test_cells_are_no_formulas_on_request(made: Maker, tmp_path):
    store = made({("/en/a", "/fr/a"): [Said("=1+1", "-- Un."), Said("Two.", "Deux.")]})
    score_segments(store, Kept(), Watcher())
    assert run("export", store.folder, "--format", "tsv", "--safe-cells").exit_code == 0
    found = rows(store.folder / "corpus-safe.tsv")
    assert [(row["left"], row["right"]) for row in found] == [
        ("'=1+1", "'-- Un."),
        ("Two.", "Deux."),
    ]
    assert not (store.folder / "corpus.tsv").exists()
    merged = tmp_path / "merged.tsv"
    assert run("merge", store.folder, "--out", merged, "--safe-cells").exit_code == 0
    assert {row["left"] for row in rows(merged)} == {"'=1+1", "Two."}
    said = mistake("export", store.folder, "--format", "tmx", "--safe-cells")
    assert "tmx is not for spreadsheets; use --safe-cells with tsv" in said
