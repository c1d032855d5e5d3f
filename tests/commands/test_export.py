"""`diptych export`, `merge` and `rebuild` on the command line."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest
import zstandard
from support.commands import mistake, query, rows, run, start
from support.corpora import Said

from diptych.api.export import FORMATS
from diptych.registry import STRATEGIES


def test_formats_are_those_of_the_registry():
    assert sorted(STRATEGIES["export"]) == list(FORMATS)


def export(folder: Path, out: Path, *more: object) -> list[dict]:
    """The corpus of a run as JSON objects."""
    result = run("export", folder, "--format", "jsonl", "--out", out, *more)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in out.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_written_and_counted(recorded, tmp_path, name):
    result = run("export", recorded, "--format", name, "--out", tmp_path / "made")
    assert result.exit_code == 0, result.output
    table = "pairs.tsv" if name == "docs" else "corpus.tsv"
    what = "page pairs" if name == "docs" else "segments"
    assert result.output.startswith(f"{len(rows(recorded / table)):,} {what} -> ")
    assert [path for path in tmp_path.iterdir() if path.stat().st_size]


@pytest.mark.parametrize("name", FORMATS)
def test_the_files_that_were_written_are_named(recorded, tmp_path, name):
    result = run("export", recorded, "--format", name, "--out", tmp_path / "made")
    named = result.stdout.strip().partition(" -> ")[2].split(", ")
    assert sorted(named) == sorted(map(str, tmp_path.iterdir()))
    assert len(named) == (3 if name == "moses" else 1)


def test_rows_of_many_languages_need_three(recorded, tmp_path):
    line = mistake("export", recorded, "--format", "tsv", "--n-way", "--out", tmp_path / "a.tsv")
    assert line == f"error: --n-way requires three or more languages; {recorded} has en,fr"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("more", [[], ["--format", "tsv"]])
def test_error_names_a_folder_that_is_not_a_run(tmp_path, more):
    assert f"{tmp_path} holds no run" in mistake("export", tmp_path, *more)
    missing = tmp_path / "none"
    assert f"there is no folder {missing}" in mistake("export", missing, *more)


def test_all_formats_have_the_same_content(recorded, tmp_path):
    texts = [(row["left"], row["right"]) for row in rows(recorded / "corpus.tsv")]
    units = export(recorded, tmp_path / "made.jsonl")
    assert [(unit["left"], unit["right"]) for unit in units] == texts
    run("export", recorded, "--format", "moses", "--out", tmp_path / "moses")
    sides = [(tmp_path / f"moses.en-fr.{lang}").read_text("utf-8") for lang in ("en", "fr")]
    assert list(zip(*(side.split("\n")[:-1] for side in sides), strict=True)) == texts


@pytest.mark.parametrize(
    ("ending", "opened"),
    [
        ("gz", lambda path: gzip.decompress(path.read_bytes())),
        (
            "zst",
            lambda path: zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes()),
        ),
    ],
)
def test_files_are_compressed_by_their_ending(recorded, tmp_path, ending, opened):
    path = tmp_path / f"made.tsv.{ending}"
    assert run("export", recorded, "--out", path).exit_code == 0
    assert opened(path) == (recorded / "corpus.tsv").read_bytes()


def test_threshold_is_changed_without_mining_again(recorded, tmp_path):
    every = export(recorded, tmp_path / "all.jsonl", "--min-score", 0)
    usual = export(recorded, tmp_path / "usual.jsonl")
    scores = sorted(unit["score"] for unit in every)
    middle = scores[len(scores) // 2]
    best = export(recorded, tmp_path / "best.jsonl", "--min-score", middle)
    assert len(every) >= len(usual) > len(best) > 0
    assert [unit for unit in every if unit["score"] >= middle] == best
    open_rows = query(
        recorded, "SELECT count(*) FROM segments WHERE reason IN ('', 'low_score', 'partial')"
    )
    assert open_rows == [(len(every),)]


def test_corpus_goes_to_standard_output(recorded):
    process = start("export", recorded, "--format", "tsv", "--out", "-")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out == (recorded / "corpus.tsv").read_text("utf-8")
    assert "segments -> standard output" in err


def test_exit_code_is_1_if_nothing_is_left(made, tmp_path):
    store = made({("/en/a", "/fr/a"): [Said("One.", "Un.", 0.5)]})
    result = run("export", store.folder, "--out", tmp_path / "none.tsv", "--min-score", 0.6)
    assert (result.exit_code, result.output[:10]) == (1, "0 segments")


def test_merging_a_run_with_itself_counts_everything_twice(recorded, tmp_path):
    for name in ("one", "two"):
        shutil.copytree(recorded, tmp_path / name)
    units = export(recorded, tmp_path / "made.jsonl")
    out = tmp_path / "merged.jsonl"
    result = run("merge", tmp_path / "one", tmp_path / "two", tmp_path / "made.jsonl", "--out", out)
    assert result.exit_code == 0, result.output
    told = f"{len(units):,} of {3 * len(units):,} segments in 3 corpora -> "
    assert result.output.startswith(told)
    merged = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [unit["id"] for unit in merged] == [unit["id"] for unit in units]
    assert [unit["copies"] for unit in merged] == [3 * unit["copies"] for unit in units]
    assert {unit["left_warc"] for unit in merged} == {"one/warc/diptych-00001.warc.gz"}


def test_standoff_corpus_is_rebuilt_from_the_archives(recorded, tmp_path):
    units = export(recorded, tmp_path / "made.jsonl")
    assert (
        run("export", recorded, "--format", "standoff", "--out", tmp_path / "s.gz").exit_code == 0
    )
    out = tmp_path / "rebuilt.jsonl"
    result = run("rebuild", tmp_path / "s.gz", "--warc", recorded / "warc", "--out", out)
    assert (result.exit_code, result.output) == (0, f"{len(units):,} segments rebuilt -> {out}\n")
    assert [json.loads(line) for line in out.read_text("utf-8").splitlines()] == units


def test_archives_may_have_other_names(recorded, tmp_path):
    units = export(recorded, tmp_path / "made.jsonl")
    run("export", recorded, "--format", "standoff", "--out", tmp_path / "s.jsonl")
    other = tmp_path / "other.warc.gz"
    shutil.copy(next((recorded / "warc").iterdir()), other)
    out = tmp_path / "rebuilt.tsv"
    result = run("rebuild", tmp_path / "s.jsonl", "--warc", other, "--out", out)
    assert result.exit_code == 0, result.output
    assert len(rows(out)) == len(units)


def test_segments_not_rebuilt_are_counted_by_reason(recorded, tmp_path):
    units = export(recorded, tmp_path / "made.jsonl")
    run("export", recorded, "--format", "standoff", "--out", tmp_path / "s.jsonl")
    (head, first, *rest) = (tmp_path / "s.jsonl").read_text("utf-8").splitlines()
    wrong = json.loads(first)
    wrong["sides"][0]["hash"] = "0" * 32
    (tmp_path / "s.jsonl").write_text("\n".join([head, json.dumps(wrong), *rest, ""]), "utf-8")
    out = tmp_path / "rebuilt.tsv"
    result = run("rebuild", tmp_path / "s.jsonl", "--warc", recorded / "warc", "--out", out)
    assert result.output.startswith(f"{len(units) - 1:,} segments rebuilt")
    assert "(not rebuilt: 1 " in result.output


# -- mistakes ------------------------------------------------------------------------------------


def test_mistakes_are_reported_in_one_line(recorded, tmp_path):
    assert "--format" in mistake("export", recorded, "--out", tmp_path / "made.xyz")
    assert "no run" in mistake("export", tmp_path, "--format", "tsv")
    assert "neither a run" in mistake("merge", tmp_path / "none", "--out", tmp_path / "a.tsv")
    (tmp_path / "text.txt").write_text("hello")
    assert "neither a run" in mistake("merge", tmp_path / "text.txt", "--out", tmp_path / "a.tsv")
    assert "docs" in mistake(
        "export", recorded, "--format", "docs", "--n-way", "--out", tmp_path / "a"
    )
    for command in ("export", "merge"):
        assert "whole pages; use docs" in mistake(
            command, recorded, "--markdown", "--out", tmp_path / "a.tsv"
        )
    (tmp_path / "broken.jsonl").write_text('{"left": 1}\n')
    assert "line 1" in mistake("merge", tmp_path / "broken.jsonl", "--out", tmp_path / "a.tsv")
    assert "line 1" in mistake(
        "rebuild", tmp_path / "broken.jsonl", "--warc", recorded / "warc", "--out",
        tmp_path / "a.tsv",
    )  # fmt: skip
    assert not (tmp_path / "a.tsv").exists()
    assert not list(tmp_path.glob("*.part*"))


def test_corpus_in_several_files_can_be_merged_again(tmp_path, recorded) -> None:
    parts, whole, again = tmp_path / "parts.jsonl", tmp_path / "whole.jsonl", tmp_path / "a.jsonl"
    result = run("merge", recorded, "--out", parts, "--max-lines", "100")
    assert result.exit_code == 0
    assert len(list(parts.iterdir())) == 5
    assert run("merge", recorded, "--out", whole).exit_code == 0
    assert run("merge", parts, "--out", again).exit_code == 0
    texts = [
        [(unit["left"], unit["right"], unit["copies"]) for unit in map(json.loads, lines)]
        for lines in (whole.read_text("utf-8").splitlines(), again.read_text("utf-8").splitlines())
    ]
    assert texts[0] == texts[1]
    assert "name it with --out" in mistake(
        "export", recorded, "--format", "tsv", "--max-lines", "9"
    )


def test_many_runs_are_not_open_at_the_same_time(tmp_path, recorded, monkeypatch) -> None:
    from diptych.commands import merge

    once, twice = tmp_path / "once.jsonl", tmp_path / "twice.jsonl"
    run("merge", recorded, recorded, "--out", once)
    monkeypatch.setattr(merge, "_MAX_OPEN", 0)
    run("merge", recorded, recorded, "--out", twice)
    assert once.read_bytes() == twice.read_bytes()
    assert json.loads(once.read_text("utf-8").splitlines()[0])["copies"] >= 2


@pytest.mark.parametrize("more", [(), ("--out",)])
def test_a_link_in_a_run_of_somebody_else_is_not_written_to(recorded, tmp_path, more):
    folder, outside = tmp_path / "run", tmp_path / "outside"
    shutil.copytree(recorded, folder)
    outside.write_text("precious")
    (folder / "corpus.tsv").unlink()
    (folder / "corpus.tsv").symlink_to(outside)
    more = (*more, folder / "corpus.tsv") if more else ()
    line = mistake("export", folder, "--format", "tsv", *more)
    name = folder / "corpus.tsv"
    assert line.endswith(f"{name} is not a regular file; remove it and run the same command again")
    assert outside.read_text() == "precious"


def test_links_that_the_user_made_are_written_through(recorded, tmp_path):
    (tmp_path / "run").symlink_to(recorded)
    (tmp_path / "a.tsv").symlink_to("b.tsv")
    result = run("export", tmp_path / "run", "--format", "tsv", "--out", tmp_path / "a.tsv")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "a.tsv").is_symlink()
    assert (tmp_path / "b.tsv").stat().st_size
