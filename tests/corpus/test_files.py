from __future__ import annotations

import errno
import gzip
import io
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import zstandard
from support.exported import UNIT, Given, numbered
from support.filenames import file_name

from diptych.corpus.files import OutFiles, format_of
from diptych.errors import ConfigError
from diptych.stages.export.moses import Moses
from diptych.stages.export.parquet import Parquet
from diptych.stages.export.tsv import Tsv

CORPUS = Given([UNIT])


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def exported(path: Path, corpus: Given = CORPUS) -> bytes:
    with OutFiles(path, "tsv") as files:
        Tsv().write(corpus, files)
    return path.read_bytes()


def test_a_format_of_one_file_is_written_to_the_path(tmp_path: Path) -> None:
    plain = exported(tmp_path / "corpus.tsv")
    assert plain.count(b"\n") == 2
    assert exported(tmp_path / "whatever.tmx") == plain
    assert names(tmp_path) == ["corpus.tsv", "whatever.tmx"]


def test_the_ending_says_how_it_is_compressed(tmp_path: Path) -> None:
    plain = exported(tmp_path / "a.tsv")
    assert gzip.decompress(exported(tmp_path / "a.tsv.gz")) == plain
    packed = exported(tmp_path / "a.tsv.zst")
    assert zstandard.ZstdDecompressor().decompressobj().decompress(packed) == plain


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_the_same_corpus_is_the_same_file(tmp_path: Path, ending: str) -> None:
    first = exported(tmp_path / f"a.tsv.{ending}", Given(list(numbered(3_000))))
    assert exported(tmp_path / f"b.tsv.{ending}", Given(list(numbered(3_000)))) == first


@pytest.mark.parametrize(
    ("path", "expected"),
    [("corpus", "corpus.en-fr.{}"), ("corpus.gz", "corpus.en-fr.{}.gz"),
     ("corpus.moses", "corpus.en-fr.{}"), ("v1.0.zst", "v1.0.en-fr.{}.zst")],
)  # fmt: skip
def test_several_files_have_their_endings_behind_the_path(
    tmp_path: Path, path: str, expected: str
) -> None:
    with OutFiles(tmp_path / path, "moses") as files:
        Moses().write(CORPUS, files)
    assert names(tmp_path) == sorted(expected.format(end) for end in ("en", "fr", "ids"))
    assert [path.name for path in files.targets] == [
        expected.format(end) for end in ("en", "fr", "ids")
    ]


def test_parquet_can_be_written_and_is_not_compressed_twice(tmp_path: Path) -> None:
    with OutFiles(tmp_path / "a.parquet", "parquet") as files:
        Parquet().write(CORPUS, files)
    assert (tmp_path / "a.parquet").read_bytes().endswith(b"PAR1")
    with pytest.raises(ConfigError, match=r"compressed internally; use a name without \.gz"):
        OutFiles(tmp_path / "a.parquet.gz", "parquet")


@pytest.mark.parametrize("path", ["a.tsv", "a.tsv.gz", "a.tsv.zst"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, OSError, SystemExit])
def test_incomplete_files_do_not_appear(
    tmp_path: Path, path: str, error: type[BaseException]
) -> None:
    def stopped() -> None:
        with OutFiles(tmp_path / path, "tsv") as files:
            files("tsv").write(b"x" * 3_000_000)
            assert len(names(tmp_path)) == 2
            raise error

    (tmp_path / path).write_bytes(b"before")
    with pytest.raises(error):
        stopped()
    assert names(tmp_path) == [path]
    assert (tmp_path / path).read_bytes() == b"before"


def test_several_files_appear_all_or_none(tmp_path: Path) -> None:
    def stopped() -> None:
        with OutFiles(tmp_path / "a", "moses") as files:
            files("en").write(b"a\n")
            files("fr").write(b"b\n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert names(tmp_path) == []


WRITER = """
import os, signal, sys
from diptych.commands._process import orderly_termination
from diptych.corpus.files import OutFiles
with orderly_termination(), OutFiles(sys.argv[1], "moses") as files:
    for ending in ("en", "fr"):
        files(ending).write(b"x" * 3_000_000)
    assert len(os.listdir(os.path.dirname(sys.argv[1]))) == 2
    os.kill(os.getpid(), int(sys.argv[2]))
    signal.pause()
"""


def killed(path: Path, number: int) -> int:
    done = subprocess.run([sys.executable, "-c", WRITER, str(path), str(number)], timeout=60)
    return done.returncode


@pytest.mark.parametrize("name", ["a", "a.gz", "a.zst"])
def test_terminated_process_leaves_no_partial_files(tmp_path: Path, name: str) -> None:
    assert killed(tmp_path / name, signal.SIGTERM) == -signal.SIGTERM
    assert names(tmp_path) == []


def test_partial_files_of_a_killed_process_are_removed_by_the_next(tmp_path: Path) -> None:
    assert killed(tmp_path / "a", signal.SIGKILL) == -signal.SIGKILL
    assert len(names(tmp_path)) == 2
    mine = [tmp_path / "mine.part", tmp_path / "a.1-2.part"]
    for path in mine:
        path.write_bytes(b"")
    with OutFiles(tmp_path / "other", "moses") as other:  # of another export
        other("en")
        assert len(names(tmp_path)) == 2 + 2 + 1
    with OutFiles(tmp_path / "a", "moses") as first, OutFiles(tmp_path / "a", "moses") as second:
        first("de")
        second("fr")  # does not take what the first one writes for a rest
        assert len(names(tmp_path)) == 1 + 2 + 2
    assert names(tmp_path) == ["a.1-2.part", "a.de", "a.fr", "mine.part", "other.en"]


def test_no_signal_is_changed(tmp_path: Path) -> None:
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    with OutFiles(tmp_path / "a", "tsv") as files:
        files("tsv")
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.parametrize("letter", ["a", "é", "\U0001f600"])
def test_a_name_may_be_as_long_as_names_can_be(tmp_path: Path, letter: str) -> None:
    name = file_name(letter * (251 // len(letter.encode())) + ".tsv")
    exported(tmp_path / name)
    assert names(tmp_path) == [name]


@pytest.mark.parametrize("ending", ["bz2", "xz", "zip", "7z", "ZIP"])
def test_other_compressions_are_reported(tmp_path: Path, ending: str) -> None:
    with pytest.raises(
        ConfigError, match=rf"compressed as \.gz or \.zst, not as \.{ending.lower()}"
    ):
        OutFiles(tmp_path / f"x.jsonl.{ending}", "jsonl")


def test_too_many_files_are_not_compressed_at_a_time(tmp_path: Path) -> None:
    def many() -> None:
        with OutFiles(tmp_path / "a.gz", "moses") as files:
            for number in range(500):
                files(f"q{number}")

    with pytest.raises(ConfigError, match=r"at most 400 files .* omit \.gz .* or export fewer"):
        many()
    assert names(tmp_path) == []


def test_a_removed_partial_file_is_reported(tmp_path: Path) -> None:
    def robbed() -> None:
        with OutFiles(tmp_path / "a", "tsv") as files:
            out = files("tsv")
            next(tmp_path.iterdir()).unlink()
            out.write(b"x" * 3_000_000)

    with pytest.raises(ConfigError, match=f"cannot write {tmp_path}/a"):
        robbed()
    assert names(tmp_path) == []


def test_two_exports_at_a_time_do_not_mix(tmp_path: Path) -> None:
    with OutFiles(tmp_path / "a", "tsv") as first, OutFiles(tmp_path / "a", "tsv") as second:
        one, other = first("tsv"), second("tsv")
        one.write(b"first\n")
        other.write(b"second\n")
        one.write(b"first\n")
    assert (tmp_path / "a").read_bytes() == b"first\nfirst\n"
    assert names(tmp_path) == ["a"]


def test_a_link_stays_one_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "a.tsv").symlink_to(tmp_path / "there/b.tsv")
    exported(tmp_path / "a.tsv")
    assert (tmp_path / "a.tsv").is_symlink()
    assert names(tmp_path / "there") == ["b.tsv"]


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    reader.start()
    with OutFiles(pipe, "tsv") as files:
        files("tsv").write(b"a\n")
    reader.join(10)
    assert found == [b"a\n"]
    assert pipe.is_fifo()


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "a.tsv"
    with pytest.raises(ConfigError) as caught:
        exported(path)
    assert str(caught.value) == f"cannot write {path}: there is no folder {path.parent}"


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=f"cannot write {tmp_path}: Is a directory"):
        OutFiles(tmp_path, "tsv")("tsv")


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_a_full_disk_is_reported_with_the_name(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"full{ending}"
    path.symlink_to("/dev/full")
    with pytest.raises(ConfigError, match=f"cannot write {path}: No space left"):  # noqa: SIM117
        with OutFiles(path, "tsv") as files:
            files("tsv").write(os.urandom(5_000_000))
    with (
        pytest.raises(ConfigError, match=f"cannot write {path}: No space left"),
        OutFiles(path, "tsv") as files,
    ):
        files("tsv").write(b"little, so that it is noticed at the end")


def test_an_unwritable_file_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*paths: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "replace", denied)  # who runs the tests may be allowed everything
    with pytest.raises(ConfigError, match=f"cannot write {tmp_path}/a.tsv: Permission denied"):
        exported(tmp_path / "a.tsv")
    assert names(tmp_path) == []


@pytest.mark.parametrize("ending", ["../x", "a/b", "", ".x", "a..b", "a\\b", "a\0"])
def test_no_language_leads_out_of_the_folder(tmp_path: Path, ending: str) -> None:
    with (
        pytest.raises(ConfigError, match="invalid corpus file name"),
        OutFiles(tmp_path / "a", "moses") as files,
    ):
        files(ending)
    assert names(tmp_path) == []


def test_a_file_is_opened_once(tmp_path: Path) -> None:
    with OutFiles(tmp_path / "a", "moses") as files:
        files("en")
        with pytest.raises(ConfigError):
            files("en")


class Captured:
    def __init__(self, raw: io.RawIOBase) -> None:
        self.buffer = io.BufferedWriter(raw)


class Kept(io.RawIOBase):
    def __init__(self, fault: OSError | None = None) -> None:
        self.data = b""
        self.fault = fault

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:
        if self.fault:
            raise self.fault
        self.data += bytes(data)
        return len(data)


@pytest.mark.parametrize("exporter", [Tsv(), Parquet()], ids=["tsv", "parquet"])
def test_standard_output_is_written_and_stays_open(exporter, monkeypatch) -> None:
    kept = Kept()
    monkeypatch.setattr("sys.stdout", Captured(kept))
    with OutFiles("-", exporter.suffix, sys.stdout.buffer) as files:
        exporter.write(CORPUS, files)
    assert kept.data[:4] in (b"left", b"PAR1")
    assert not kept.closed


def test_standard_output_holds_no_format_of_several_files() -> None:
    with pytest.raises(ConfigError, match="several files"), OutFiles("-", "moses") as files:
        Moses().write(CORPUS, files)


def test_reader_of_standard_output_may_stop_early(monkeypatch) -> None:
    out = Captured(Kept(BrokenPipeError(errno.EPIPE, "Broken pipe")))
    monkeypatch.setattr("sys.stdout", out)
    with pytest.raises(BrokenPipeError), OutFiles("-", "tsv", sys.stdout.buffer) as files:
        Tsv().write(CORPUS, files)
    out.buffer.raw.fault = None


def test_a_full_standard_output_is_reported(monkeypatch) -> None:
    out = Captured(Kept(OSError(errno.ENOSPC, "No space left on device")))
    monkeypatch.setattr("sys.stdout", out)
    with (
        pytest.raises(ConfigError, match="cannot write standard output: No space left"),
        OutFiles("-", "tsv", sys.stdout.buffer) as files,
    ):
        Tsv().write(CORPUS, files)
    out.buffer.raw.fault = None


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.tsv", "tsv"), ("a.TSV.GZ", "tsv"), ("x/a.tmx.zst", "tmx"), ("a.jsonl", "jsonl"),
     ("a.docs.jsonl.gz", "docs"), ("a.standoff.jsonl", "standoff"), ("a.parquet", "parquet"),
     ("a.moses", "moses"), ("a", None), ("tsv", None), ("a.tsv.bz2", None), ("a.gz", None)],
)  # fmt: skip
def test_format_is_derived_from_the_ending(name: str, expected: str | None) -> None:
    assert format_of(name) == format_of(Path(name)) == expected
