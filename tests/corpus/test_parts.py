"""Corpora in several files."""

from __future__ import annotations

import gzip
import os

import pytest
from support.corpora import Maker, Said, corpus_of, said

from diptych.corpus.from_file import read_units
from diptych.corpus.from_run import write_corpus
from diptych.corpus.parts import parts_of
from diptych.errors import ConfigError
from diptych.registry import exporter

TOLD = {
    ("/en/a", "/fr/a"): [Said(f"Text {word}.", f"Texte {word}.") for word in "one two six".split()],
    ("/en/b", "/fr/b"): [Said("Four seas.", "Quatre mers."), Said("Five.", "Cinq.")],
}


@pytest.mark.parametrize(("most", "sizes"), [(2, [2, 2, 1]), (5, [5]), (1, [1] * 5), (9, [5])])
def test_parts_have_all_lines_in_order(made: Maker, tmp_path, most: int, sizes: list[int]) -> None:
    corpus = corpus_of(made(TOLD))
    out = tmp_path / "corpus.jsonl.gz"
    written = write_corpus(corpus, exporter("jsonl"), out, max_lines=most)
    assert written.lines == 5
    assert [path.name for path in written.files] == [
        f"part-{number:05d}.jsonl.gz" for number in range(len(sizes))
    ]
    found = [list(read_units(path)) for path in written.files]
    assert [len(units) for units in found] == sizes
    assert said(unit for units in found for unit in units) == said(corpus.units())
    assert not list(tmp_path.glob("*.part"))


def test_documents_are_counted_too(made: Maker, tmp_path) -> None:
    from support.corpora import with_archive

    corpus = corpus_of(with_archive(made, TOLD))
    out = tmp_path / "pages"
    written = write_corpus(corpus, exporter("docs"), out, max_lines=1)
    assert written.lines == 2
    assert [len(path.read_text("utf-8").splitlines()) for path in written.files] == [1, 1]


def test_empty_corpus_is_one_file_without_lines(made: Maker, tmp_path) -> None:
    corpus = corpus_of(made({("/en/a", "/fr/a"): []}))
    written = write_corpus(corpus, exporter("tsv"), tmp_path / "c.tsv.gz", max_lines=3)
    (path,) = written.files
    assert written.lines == 0
    assert len(gzip.decompress(path.read_bytes()).splitlines()) == 1  # the header


def test_earlier_parts_are_replaced_whole(made: Maker, tmp_path) -> None:
    corpus, out = corpus_of(made(TOLD)), tmp_path / "corpus"
    write_corpus(corpus, exporter("tsv"), out, max_lines=1)
    written = write_corpus(corpus, exporter("tsv"), out, max_lines=3)
    assert len(written.files) == 2
    assert parts_of(out) == sorted(out.iterdir()) == list(written.files)


def test_other_folders_and_files_are_not_replaced(made: Maker, tmp_path) -> None:
    corpus, out = corpus_of(made(TOLD)), tmp_path / "corpus"
    out.mkdir()
    (out / "notes.txt").write_text("mine", "utf-8")
    (out / "part-00000.tsv").write_text("mine", "utf-8")
    with pytest.raises(ConfigError, match="choose another name"):
        write_corpus(corpus, exporter("tsv"), out, max_lines=3)
    assert (out / "part-00000.tsv").read_text("utf-8") == "mine"
    with pytest.raises(ConfigError, match="choose another name"):
        write_corpus(corpus, exporter("tsv"), out / "notes.txt", max_lines=3)
    assert parts_of(out) == []


def test_fault_while_writing_leaves_the_earlier_parts(made: Maker, tmp_path) -> None:
    store = made(TOLD)
    corpus, out = corpus_of(store), tmp_path / "corpus"
    before = [path.read_bytes() for path in write_corpus(
        corpus, exporter("tsv"), out, max_lines=2
    ).files]  # fmt: skip

    class Faulty:
        langs = corpus.langs

        def units(self):
            yield from list(corpus.units())[:3]
            raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        write_corpus(Faulty(), exporter("tsv"), out, max_lines=2)
    assert [path.read_bytes() for path in parts_of(out)] == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("corpus")] == [
        "corpus"
    ]


def test_parts_of_a_killed_process_are_removed(made: Maker, tmp_path) -> None:
    from diptych.corpus.files import partial_name

    out = tmp_path / "corpus"
    name = partial_name(out, str(out)).replace(f".{os.getpid()}-", ".999999999-")
    (tmp_path / name).mkdir()
    (tmp_path / name / "part-00000.tsv").write_text("half", "utf-8")
    write_corpus(corpus_of(made(TOLD)), exporter("tsv"), out, max_lines=2)
    assert not list(tmp_path.glob("*.part"))
