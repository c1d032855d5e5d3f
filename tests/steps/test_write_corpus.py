"""The files of a corpus are written once, and again if something has changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.corpora import Maker, Said, corpus_of

from diptych.corpus.from_run import Choice, NWayCorpus, RunCorpus, write_corpus
from diptych.protocols import Watcher
from diptych.run.store import Store
from diptych.stages.export import tmx, tsv
from diptych.steps.write_corpus import write_run_corpus

PAIRS = {("/en/1", "/fr/1"): [Said("One.", "Un.", 0.9), Said("Two.", "Deux.", 0.8)]}
FILES = ("corpus.tsv", "corpus.tmx")


@pytest.fixture
def store(made: Maker) -> Store:
    return made(PAIRS)


def written(store: Store, corpus: RunCorpus | None = None) -> list[tuple[int, bytes]]:
    """Number and content of each file: a file that is written again has another number."""
    write_run_corpus(store, corpus or corpus_of(store, Choice(0.5)), Watcher())
    paths = [store.folder / name for name in FILES]
    return [(path.stat().st_ino, path.read_bytes()) for path in paths]


def test_files_that_are_there_stay(store: Store) -> None:
    assert written(store) == written(store)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_missing_or_edited_is_written_again(store: Store, name: str) -> None:
    first = written(store)
    path: Path = store.folder / name
    path.unlink()
    assert [content for _, content in written(store)] == [content for _, content in first]
    path.write_bytes(path.read_bytes() + b"edited")
    assert [content for _, content in written(store)] == [content for _, content in first]


def test_files_are_written_again_if_segments_have_changed(store: Store) -> None:
    (_, before), *_ = written(store)
    (id, _), *_ = store.pairs(store.sites()[0][0])
    with store.transaction():
        store.save_segments(id, [])
    (_, after), *_ = written(store)
    assert b"Deux." in before
    assert b"Deux." not in after


def test_files_are_written_again_with_another_choice_or_signature(store: Store) -> None:
    (_, before), *_ = written(store)
    corpus = corpus_of(store, Choice(0.85))
    (_, after), *_ = written(store, corpus)
    assert len(after.splitlines()) == len(before.splitlines()) - 1
    (_, signed), *_ = written(store, replace(corpus, signature="another"))
    assert b"another" in signed


def test_segments_are_read_once_for_all_files(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    units = RunCorpus.units

    def counted(self):
        read.append(1)
        return units(self)

    monkeypatch.setattr(RunCorpus, "units", counted)
    watcher = Watcher()
    write_run_corpus(store, corpus_of(store, Choice(0.5)), watcher)
    assert (len(read), watcher.done) == (1, 4)
    (store.folder / "corpus.tmx").unlink()
    write_run_corpus(store, corpus_of(store, Choice(0.5)), watcher)
    assert len(read) == 2
    write_run_corpus(store, corpus_of(store, Choice(0.5)), watcher)
    assert len(read) == 2


def test_if_one_file_fails_no_file_is_replaced(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = written(store)
    corpus = corpus_of(store, Choice(0.85))
    monkeypatch.setattr(tmx, "_units", lambda units, *, n_way: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_run_corpus(store, corpus, Watcher())
    paths = [store.folder / name for name in FILES]
    assert [(path.stat().st_ino, path.read_bytes()) for path in paths] == first
    assert not list(store.folder.glob("*.part"))
    monkeypatch.undo()
    assert written(store, corpus) != first


def test_files_are_as_those_of_an_export(made: Maker, tmp_path: Path) -> None:
    told = {
        (f"/{left}/1", f"/{right}/1"): [Said(f"A {left}.", f"A {right}.", 0.9)]
        for left, right in (("en", "fr"), ("en", "de"), ("fr", "de"))
    }
    store = made(told, langs=("en", "fr", "de"))
    corpus = corpus_of(store, Choice(0.5))
    write_run_corpus(store, corpus, Watcher())
    for name, rows, exporter in (
        ("corpus.tsv", corpus, tsv.Tsv()),
        ("corpus.tmx", corpus, tmx.Tmx()),
        ("n-way.tsv", NWayCorpus(corpus), tsv.Tsv(n_way=True)),
    ):
        assert write_corpus(rows, exporter, tmp_path / name).lines >= 1
        assert (store.folder / name).read_bytes() == (tmp_path / name).read_bytes()
