"""Bounded reading of untrusted files, and atomic writing of files.

Parsers raise many kinds of exceptions for damaged files.  `reading` converts all of them to one
Diptych error, which names the file and says what to do.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import struct
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.resources import as_file, files
from pathlib import Path

from diptych.errors import ConfigError, DiptychError, in_one_line, machine_advice

__all__ = [
    "cached_folder", "is_special", "model_file", "parser_errors", "read_file", "reading",
    "reason_of", "refuse_links", "replace_file", "replacing", "shipped_table", "shipped_text",
    "writing",
]  # fmt: skip

_PIECE = 1 << 24  # bytes per read
_MAX_REASON = 200  # characters kept of a parser's message
# Parsers raise these for damaged files and for files of other formats.  Code that extracts values
# from parsed data also raises errors such as KeyError and TypeError, and a file may require a
# library that is not installed.
_BUILT_IN = (
    OSError, ValueError, EOFError, LookupError, TypeError, AttributeError, ArithmeticError,
    RuntimeError, MemoryError, SyntaxError, ImportError, struct.error, zlib.error,
)  # fmt: skip
# Library errors that derive directly from Exception.  A library that is not loaded raises none.
_OF_LIBRARIES = (
    ("sqlite3", "Error"),
    ("zipfile", "BadZipFile"),
    ("tokenize", "TokenError"),  # raised by NumPy for the header of an array
    ("isal.igzip_lib", "IsalError"),
    ("zstandard", "ZstdError"),
    ("pyarrow", "ArrowException"),
    ("duckdb", "Error"),
    ("safetensors", "SafetensorError"),
    ("aiohttp", "ClientError"),  # raised by fsspec for web addresses
    ("botocore.exceptions", "BotoCoreError"),  # raised by fsspec for s3://
)


def parser_errors() -> tuple[type[Exception], ...]:
    """The exceptions that parsers raise for damaged files and for files in other formats."""
    # A module that is still being imported may not define its error yet.
    errors = (getattr(sys.modules.get(module), name, None) for module, name in _OF_LIBRARIES)
    return (*_BUILT_IN, *(error for error in errors if error is not None))


def reason_of(fault: Exception) -> str:
    """The message of an exception as one line of limited length.

    >>> reason_of(FileNotFoundError(2, "No such file or directory")), reason_of(MemoryError())
    ('No such file or directory', 'MemoryError')
    """
    text = getattr(fault, "strerror", None) or str(fault)
    if isinstance(fault, KeyError):
        text += " is missing"
    elif isinstance(fault, UnicodeDecodeError):
        text = "it is not UTF-8"
    return in_one_line(text)[:_MAX_REASON] or type(fault).__name__


@contextmanager
def reading(
    path: Path | str, what: str = "", advice: str = "", *, error: type[Exception] = ConfigError
) -> Iterator[None]:
    """Convert any exception from a parser to an exception of type `error` that names the file.

    `what` is what the file should be, and `advice` says what the user can do.

    >>> with reading("a.json", "model", "train it again"):
    ...     {}["weights"]
    Traceback (most recent call last):
    diptych.errors.ConfigError: a.json is not a model: 'weights' is missing; train it again
    """
    try:
        yield
    except Exception as fault:
        # Libraries written in Rust raise Exception itself.
        if type(fault) is Exception or isinstance(fault, parser_errors()):
            is_other = what and not getattr(fault, "strerror", None)
            advice = machine_advice(fault) or advice
            said = f"{path} is not a {what}" if is_other else f"cannot read {path}"
            said += f": {reason_of(fault)}" + (f"; {advice}" if advice else "")
            raise error(said) from fault
        raise


def read_file(
    path: Path, max_bytes: int, advice: str = "", *, error: type[DiptychError] = ConfigError
) -> bytes:
    """Read a file; raise `error` if it cannot be read or is larger than `max_bytes`.

    `advice`, which says what the user can do, becomes part of the error message.
    """
    pieces: list[bytes] = []
    room = max_bytes
    with reading(path, advice=advice, error=error), path.open("rb") as stream:
        # In pieces, because the size of a pipe is unknown.
        while room >= 0 and (piece := stream.read(min(_PIECE, room + 1))):
            pieces.append(piece)
            room -= len(piece)
    if room < 0:
        limit = f"{max_bytes / 1_000_000:,.0f} MB"
        raise error(f"{path} is larger than {limit}; {advice or 'use a smaller file'}")
    return b"".join(pieces)


@contextmanager
def model_file(folder: str, name: str, package: str) -> Iterator[Path]:
    """Yield the path of the model file `name` in `folder`.

    If `folder` is empty, yield the path of the file that ships with `package` instead.
    """
    if folder:
        yield Path(folder) / name
    else:
        with as_file(files(package) / "weights" / name) as path:
            yield path


def shipped_text(package: str, name: str) -> str:
    """The text of a data file that ships with a package."""
    return (files(package) / name).read_text("utf-8")


def shipped_table(package: str, name: str) -> list[list[str]]:
    """The rows of a tab-separated file that ships with a package, each as a list of columns.

    >>> shipped_table("diptych.language", "scripts.tsv")[0]
    ['41', 'Latn']
    """
    return [line.split("\t") for line in shipped_text(package, name).splitlines()]


def cached_folder(name: str, fill: Callable[[Path], None]) -> Path | None:
    """Return the folder `name` in the user's cache; None if it cannot be created.

    A missing folder is filled by `fill` and then appears in the cache atomically, so that several
    processes may create it at once.  The environment variable DIPTYCH_CACHE overrides the location
    of the cache.
    """
    from platformdirs import user_cache_path

    folder = Path(os.environ.get("DIPTYCH_CACHE") or user_cache_path("diptych")) / name
    if folder.is_dir():
        return folder
    part = folder.with_name(f"{name}.{os.getpid()}.part")
    try:
        part.mkdir(mode=0o700, parents=True)
        fill(part)
        os.replace(part, folder)
    except OSError:
        return folder if folder.is_dir() else None  # another process was faster
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return folder


@contextmanager
def writing(
    path: Path, advice: str = "", *, error: type[DiptychError] = ConfigError
) -> Iterator[None]:
    """Convert write errors to an exception of type `error` that names the file.

    `advice`, which says what the user can do, becomes part of the message.  The error for a closed
    pipe is not converted.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as fault:
        is_folder_missing = fault.errno == errno.ENOENT
        reason = f"there is no folder {path.parent}" if is_folder_missing else reason_of(fault)
        said = f"cannot write {path}: {reason}"
        raise error("; ".join(filter(None, [said, advice or machine_advice(fault)]))) from fault


def is_special(path: Path, *, follow_links: bool = True) -> bool:
    """True for a device, pipe or folder; False for a regular file or a path that does not exist.

    A symbolic link is resolved, or counts as special if `follow_links` is False.
    """
    try:
        return not stat.S_ISREG(path.stat(follow_symlinks=follow_links).st_mode)
    except FileNotFoundError:
        return False


def open_without_links(path: str, flags: int) -> int:
    """An `opener` for `open` that refuses symbolic links where the system supports this."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)  # Windows lacks this flag


def refuse_links(
    folder: Path, *, is_deep: bool = True, error: type[DiptychError] = ConfigError
) -> None:
    """Raise `error` if a folder has a link, a pipe or a device in it.

    Its subfolders are searched as well, at any depth, unless `is_deep` is False.  What is written
    to a link may go outside of the folder.  Other processes may remove files.
    """
    folders = [str(folder)]
    with writing(folder, error=error):
        while folders:
            with suppress(FileNotFoundError), os.scandir(folders.pop()) as found:
                for entry in found:
                    if entry.is_dir(follow_symlinks=False):
                        folders += [entry.path] * is_deep
                    elif not entry.is_file(follow_symlinks=False):
                        raise error(
                            f"{entry.path} is not a regular file; remove it and run the same"
                            " command again"
                        )


@contextmanager
def replacing(path: Path, *, error: type[DiptychError] = ConfigError) -> Iterator[Path]:
    """Yield a temporary path; on success, the file written there replaces the file at `path`."""
    with writing(path, error=error):
        real = Path(os.path.realpath(path))
        if is_special(real):
            yield real
            return
        part = real.with_name(real.name + ".part")
        if part.is_symlink():  # of somebody else: what it leads to would be overwritten
            part.unlink()
        try:
            yield part
            os.replace(part, real)
        finally:
            part.unlink(missing_ok=True)


def replace_file(path: Path, data: bytes, *, error: type[DiptychError] = ConfigError) -> None:
    """Write a file atomically."""
    with replacing(path, error=error) as part:
        part.write_bytes(data)
