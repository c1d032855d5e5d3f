"""Documents of a run in Python."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest
from support.corpora import Maker, Said, with_archive

import diptych


@pytest.fixture(scope="module")
def run(recorded: Path) -> diptych.Run:
    return diptych.open(recorded)


def test_documents_are_the_lines_of_the_format_docs(run: diptych.Run, tmp_path: Path) -> None:
    run.export(tmp_path / "a.jsonl", format="docs", markdown=True)
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_bytes().splitlines()]
    found = list(run.documents())
    assert len(found) == len(lines) == run.summary.pairs
    for document, line in zip(found, lines, strict=True):
        assert (document.id, document.verified) == (line["id"], line["verified"])
        assert (document.evidence, document.run) == (line["evidence"], line["run"])
        for page, row in ((document.left, line["left"]), (document.right, line["right"])):
            names = ("lang", "url", "title", "digest", "warc", "offset")
            assert [getattr(page, name) for name in names] == [row[name] for name in names]
            assert page.fetched == datetime.fromisoformat(row["fetched"])
            assert [block._asdict() for block in page.blocks] == row["blocks"]
            assert page.markdown() == row["text"]
        for segment, row in zip(document.segments, line["segments"], strict=True):
            assert [list(one) for one in segment.left_at] == row["left"]
            assert [list(one) for one in segment.right_at] == row["right"]
            assert (segment.accept, segment.reason) == (row["accept"], row["reason"])


def test_accepted_segments_of_documents_are_the_corpus(run: diptych.Run) -> None:
    found = [
        (segment.left, segment.right)
        for document in run.documents()
        for segment in document.segments
        if segment.accept
    ]
    assert found == [(segment.left, segment.right) for segment in run.segments()]


def test_segments_have_the_texts_at_their_places(run: diptych.Run) -> None:
    document = next(run.documents())
    segment = next(one for one in document.segments if len(one.right) > 60)
    ((index, start, end),) = segment.right_at
    assert document.right.blocks[index].text[start:end] == segment.right


def test_regions_restrict_the_text(run: diptych.Run) -> None:
    page = next(run.documents()).right
    body, whole = page.markdown("main", "article"), page.markdown()
    regions = {block.region for block in page.blocks}
    assert {"head", "nav", "main", "footer"} <= regions
    assert body.startswith("# ")
    assert body in whole
    assert "Accueil" not in body


def test_threshold_decides_on_segments(run: diptych.Run) -> None:
    strict, usual = (
        sum(one.accept for document in run.documents(min_score=score) for one in document.segments)
        for score in (0.97, None)
    )
    assert 0 < strict < usual


def test_flags_and_redaction(made: Maker) -> None:
    said = Said("Ask jo@example.org.", "Demandez à jo@example.org.")
    told = {("/en/a", "/fr/a"): [said], ("/en/b", "/fr/b"): [said]}
    run = diptych.open(with_archive(made, told, flags={"/fr/a": ("noai",)}).folder)
    first, second = run.documents()
    assert (first.flags, second.flags) == (("noai",), ())
    (found,) = run.documents(without="noai", redact=True)
    assert found.id == second.id
    assert (found.right.markdown(), found.segments[0].right) == ("Demandez à [EMAIL].",) * 2


def test_wrong_options_are_errors_of_the_call_itself(run: diptych.Run) -> None:
    with pytest.raises(diptych.ConfigError, match="unknown flag"):
        run.documents(without="sunday")
    with pytest.raises(diptych.ConfigError, match="contains whole pages"):
        run.documents(without="email")
