from __future__ import annotations

import os
import sqlite3
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from support.damage import fault

from diptych.errors import ArchiveError, ConfigError, SourceError, StoreError
from diptych.files import (
    cached_folder,
    model_file,
    parser_errors,
    read_file,
    reading,
    reason_of,
    refuse_links,
    replace_file,
    replacing,
    writing,
)

FAULTS = [
    ValueError("it is bad"), UnicodeDecodeError("utf-8", b"\xe9", 0, 1, "invalid"), KeyError("key"),
    EOFError(), OSError("no thrift"), TypeError("no list"), AttributeError("no items"),
    IndexError("too far"), OverflowError("too large"), RecursionError("too deep"), MemoryError(),
    NotImplementedError("no such type"), SyntaxError("no header"), ImportError("no s3fs"),
    struct.error("too short"), zlib.error("bad block"), zipfile.BadZipFile("no zip"),
    sqlite3.DatabaseError("malformed"), Exception("written in Rust"),
]  # fmt: skip


@pytest.mark.parametrize("raised", FAULTS, ids=lambda raised: type(raised).__name__)
def test_whatever_a_parser_raises_is_one_error_with_the_name_of_the_file(raised: Exception) -> None:
    def read() -> None:
        with reading("a.dat", "table", "make it again", error=SourceError):
            raise raised

    said = fault(read, SourceError)
    assert said.startswith("a.dat is not a table: ")
    assert said.endswith("; make it again")


def of_library(module: str, name: str) -> Exception:
    error = getattr(pytest.importorskip(module), name)("damaged")
    assert isinstance(error, Exception)
    return error


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("isal.igzip_lib", "IsalError"),
        ("zstandard", "ZstdError"),
        ("pyarrow", "ArrowException"),
        ("pyarrow.lib", "ArrowSerializationError"),
        ("duckdb", "Error"),
        ("aiohttp", "ClientError"),
        ("tokenize", "TokenError"),
    ],
)
def test_errors_of_libraries_are_known_once_they_are_loaded(module: str, name: str) -> None:
    raised = of_library(module, name)
    assert isinstance(raised, parser_errors())

    def read() -> None:
        with reading("a.dat"):
            raise raised

    assert fault(read, ConfigError) == "cannot read a.dat: damaged"


def test_library_that_is_being_imported_has_no_errors_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", ModuleType("duckdb"))
    assert all(issubclass(error, Exception) for error in parser_errors())


def test_no_library_is_loaded_to_know_its_errors() -> None:
    heavy = {"pyarrow", "duckdb", "zstandard", "safetensors", "aiohttp", "numpy"}
    code = (
        "import sys; from diptych.files import parser_errors; parser_errors();"
        f"print(sorted({heavy!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit, AssertionError, StopIteration])
def test_no_fault_of_a_file_passes_as_it_is(raised: type[BaseException]) -> None:
    with pytest.raises(raised), reading("a.dat"):
        raise raised


def test_an_error_of_ours_keeps_its_words() -> None:
    with pytest.raises(ArchiveError, match=r"\Ain its own words\Z"), reading("a.dat"):
        raise ArchiveError("in its own words")


def test_a_fault_of_the_system_is_not_told_as_one_of_the_format(tmp_path: Path) -> None:
    def read() -> None:
        with reading(tmp_path / "none", "table", "make it again"):
            (tmp_path / "none").read_bytes()

    expected = f"cannot read {tmp_path / 'none'}: No such file or directory; make it again"
    assert fault(read) == expected


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (KeyError("weights"), "'weights' is missing"),
        (UnicodeDecodeError("utf-8", b"\xe9", 0, 1, "invalid"), "it is not UTF-8"),
        (ValueError("two\nlines \x1b[2J"), "two lines [2J"),
        (EOFError(), "EOFError"),
        (PermissionError(13, "Permission denied", "/x"), "Permission denied"),
    ],
)
def test_reasons_are_one_line_of_plain_text(raised: Exception, said: str) -> None:
    assert reason_of(raised) == said
    assert len(reason_of(ValueError("x" * 9_999))) == 200


# -- reading within bounds -------------------------------------------------------------------------


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 1_000)
    assert read_file(path, 1_000) == b"x" * 1_000
    path.write_bytes(b"")
    assert read_file(path, 0) == b""


def test_a_file_that_is_too_large_is_refused_with_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 2_000_001)
    said = f"{path} is larger than 2 MB; use a smaller file"
    assert fault(lambda: read_file(path, 2_000_000)) == said
    assert fault(lambda: read_file(path, 2_000_000, "halve it", error=StoreError), StoreError) == (
        f"{path} is larger than 2 MB; halve it"
    )


def test_a_device_without_end_is_refused() -> None:
    assert "larger than 1 MB" in fault(lambda: read_file(Path("/dev/zero"), 1_000_000))


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    for path, reason in ((tmp_path / "none", "No such file"), (tmp_path, "Is a directory")):
        assert fault(lambda path=path: read_file(path, 9)).startswith(
            f"cannot read {path}: {reason}"
        )
    with pytest.raises(ConfigError, match="null"):
        read_file(Path("a\0b"), 9)


def test_a_model_is_in_the_folder_of_the_user_or_in_the_package(tmp_path: Path) -> None:
    with model_file(str(tmp_path), "model.json", "diptych.stages.detect.predictor") as path:
        assert path == tmp_path / "model.json"
    with model_file("", "model.json", "diptych.stages.detect.predictor") as path:
        assert path.read_bytes().startswith(b"{")


# -- writing whole or not at all -------------------------------------------------------------------


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for content in (b"first", b"second"):
        replace_file(path, content)
        assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["a"]


def test_what_is_not_whole_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def stopped() -> None:
        with replacing(path) as part:
            part.write_bytes(b"ne")
            assert path.read_bytes() == b"old"
            raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"):
        stopped()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    replace_file(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_link_in_the_place_of_a_temporary_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").write_bytes(b"precious")
    (tmp_path / "a.json.part").symlink_to(tmp_path / "outside")
    replace_file(tmp_path / "a.json", b"new")
    assert (tmp_path / "outside").read_bytes() == b"precious"
    assert (tmp_path / "a.json").read_bytes() == b"new"
    assert not (tmp_path / "a.json").is_symlink()


def test_a_device_is_written_to_and_not_replaced() -> None:
    replace_file(Path(os.devnull), b"text")
    assert Path(os.devnull).is_char_device()
    if not Path("/dev/full").exists():
        return  # only some systems have a device that is always full
    said = fault(lambda: replace_file(Path("/dev/full"), b"text", error=StoreError), StoreError)
    assert said.startswith("cannot write /dev/full: No space left on device; free some disk space")


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        (lambda folder: folder / "none" / "a", "there is no folder {0}/none"),
        (lambda folder: folder, "Is a directory"),
        (lambda folder: folder / ("a" * 300), "File name too long"),
    ],
)
def test_files_that_cannot_be_written_are_named(
    tmp_path: Path, place: Callable[[Path], Path], reason: str
) -> None:
    path = place(tmp_path)
    said = fault(lambda: replace_file(path, b"x"), ConfigError)
    assert said == f"cannot write {path}: {reason.format(tmp_path)}"


def test_a_closed_pipe_is_no_error_of_ours() -> None:
    with pytest.raises(BrokenPipeError), writing(Path("-")):
        raise BrokenPipeError


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DIPTYCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_cached_folder_is_filled_once(cache: Path) -> None:
    filled: list[Path] = []

    def fill(folder: Path) -> None:
        filled.append(folder)
        (folder / "a").write_text("1")

    assert cached_folder("x", fill) == cached_folder("x", fill) == cache / "x"
    assert len(filled) == 1
    assert [path.name for path in cache.iterdir()] == ["x"]
    assert (cache / "x" / "a").read_text() == "1"


def test_a_cached_folder_that_cannot_be_filled_leaves_nothing(cache: Path) -> None:
    def fill(folder: Path) -> None:
        (folder / "a").write_text("1")
        raise OSError(28, "No space left on device")

    assert cached_folder("x", fill) is None
    assert not list(cache.iterdir())


def test_a_cached_folder_that_another_process_has_filled_meanwhile_is_used(cache: Path) -> None:
    def fill(folder: Path) -> None:
        (folder / "a").write_text("ours")
        (cache / "x").mkdir()
        (cache / "x" / "a").write_text("theirs")

    assert cached_folder("x", fill) == cache / "x"
    assert (cache / "x" / "a").read_text() == "theirs"
    assert [path.name for path in cache.iterdir()] == ["x"]


def test_a_link_is_found_below_any_number_of_folders(tmp_path: Path) -> None:
    below = tmp_path.joinpath("job", *["a"] * 1_200)
    for folder in (*reversed(below.parents), below):
        folder.mkdir(exist_ok=True)
    try:
        (below / "link").symlink_to(tmp_path)
        with pytest.raises(ConfigError, match="is not a regular file"):
            refuse_links(tmp_path)
        (below / "link").unlink()
        refuse_links(tmp_path)
    finally:
        subprocess.run(["rm", "-r", tmp_path / "job"], check=True)  # pytest cannot go so deep
